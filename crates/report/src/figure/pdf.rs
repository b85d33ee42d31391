//! A picture as a PDF file of one page: shapes stay shapes, text stays text, and the letters that
//! it uses are in the file (ISO 32000-1: text 9, fonts 9.7, embedded fonts 9.9). The same picture
//! gives the same bytes: no date is in it.

use super::drawing::Ink;
use super::font::{Font, Fonts};
use super::picture::{At, Line, Mark, Picture, Shape, Step, Text};
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;

/// Points in a millimetre.
const POINTS_PER_MM: f32 = 72.0 / 25.4;

/// How hard streams are compressed, of 10.
const LEVEL: u8 = 8;

/// What the file says of itself.
pub(crate) struct About<'a> {
    /// What it shows.
    pub title: &'a str,
    /// Where it came from.
    pub source: &'a str,
    /// What made it.
    pub maker: &'a str,
}

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
/// The first of [`PER_FONT`] objects of each font.
const FONTS: i32 = 6;
const PER_FONT: i32 = 5;

/// The whole file, the picture as wide as that.
pub(crate) fn pdf(picture: &Picture, width_mm: f64, about: &About<'_>) -> Vec<u8> {
    let width = width_mm as f32 * POINTS_PER_MM;
    let scale = width / picture.width;
    let height = picture.height * scale;
    let fonts = Fonts::default();
    let used = [false, true].map(|bold| Used::of(picture, fonts.of(bold)));
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES).lang(TextStr("en"));
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.parent(PAGES).media_box(Rect::new(0.0, 0.0, width, height)).contents(CONTENT);
    let mut resources = page.resources();
    let mut listed = resources.fonts();
    for (place, font) in used.iter().enumerate() {
        listed.pair(name(font.font.bold), object(place, 0));
    }
    listed.finish();
    resources.finish();
    page.finish();
    let drawn = content(picture, scale, height, &fonts, &used);
    let drawn = compress_to_vec_zlib(&drawn, LEVEL);
    pdf.stream(CONTENT, &drawn).filter(Filter::FlateDecode);
    for (place, font) in used.iter().enumerate() {
        font.write(&mut pdf, place);
    }
    let mut info = pdf.document_info(INFO);
    info.title(TextStr(about.title)).subject(TextStr(about.source)).creator(TextStr(about.maker));
    info.finish();
    pdf.finish()
}

fn object(font: usize, part: i32) -> Ref {
    Ref::new(FONTS + font as i32 * PER_FONT + part)
}

/// What the font is called on the page.
fn name(bold: bool) -> Name<'static> {
    Name(if bold { b"B" } else { b"R" })
}

fn content(
    picture: &Picture,
    scale: f32,
    height: f32,
    fonts: &Fonts,
    used: &[Used<'_>; 2],
) -> Vec<u8> {
    let mut content = Content::new();
    // PDF counts from the lower edge upwards.
    content.transform([scale, 0.0, 0.0, -scale, 0.0, height]).set_miter_limit(4.0);
    for mark in &picture.marks {
        match mark {
            Mark::Shape(shape) => draw(&mut content, shape),
            Mark::Text(text) => {
                write(&mut content, text, text.start(fonts), &used[usize::from(text.bold)]);
            }
        }
    }
    content.finish().into_vec()
}

fn unit(ink: Ink) -> [f32; 3] {
    ink.rgb().map(|of| f32::from(of) / 255.0)
}

fn draw(content: &mut Content, shape: &Shape) {
    if let Some([r, g, b]) = shape.fill.map(unit) {
        content.set_fill_rgb(r, g, b);
    }
    if let Some(Line { ink, width, stroke }) = shape.line {
        let [r, g, b] = unit(ink);
        content.set_stroke_rgb(r, g, b).set_line_width(width);
        content.set_dash_pattern(stroke.dashes().iter().copied(), 0.0);
    }
    for step in shape.form.steps().iter() {
        match *step {
            Step::Move([x, y]) => content.move_to(x, y),
            Step::Line([x, y]) => content.line_to(x, y),
            Step::Curve([[x1, y1], [x2, y2], [x, y]]) => content.cubic_to(x1, y1, x2, y2, x, y),
            Step::Close => content.close_path(),
        };
    }
    match (shape.fill.is_some(), shape.line.is_some()) {
        (true, true) => content.fill_nonzero_and_stroke(),
        (true, false) => content.fill_nonzero(),
        (false, true) => content.stroke(),
        (false, false) => content.end_path(),
    };
}

fn write(content: &mut Content, text: &Text, [x, y]: At, used: &Used<'_>) {
    let [r, g, b] = unit(text.ink);
    let glyph = |c: char| used.font.glyph(c).0.to_be_bytes();
    let shown: Vec<u8> = text.content.chars().flat_map(glyph).collect();
    content.begin_text().set_fill_rgb(r, g, b).set_font(name(text.bold), text.size);
    content.set_text_matrix([1.0, 0.0, 0.0, -1.0, x, y]).show(Str(&shown)).end_text();
}

/// A font and the glyphs of it that are used, with the characters that they stand for.
struct Used<'a> {
    font: &'a Font,
    glyphs: BTreeMap<u16, char>,
}

impl<'a> Used<'a> {
    fn of(picture: &Picture, font: &'a Font) -> Self {
        let own = picture.texts().filter(|text| text.bold == font.bold);
        let glyphs = own.flat_map(|text| text.content.chars()).map(|c| (font.glyph(c).0, c));
        Used { font, glyphs: glyphs.collect() }
    }

    /// The objects of a font: the font, its part with the widths, its description, the file, and
    /// which characters its glyphs stand for.
    fn write(&self, pdf: &mut Pdf, place: usize) {
        let [whole, part, description, file, characters] =
            [0, 1, 2, 3, 4].map(|n| object(place, n));
        // A font that is cut down has six letters before its name (ISO 32000-1, 9.6.4).
        let name = format!("FIGURE+{}", self.font.name);
        let name = Name(name.as_bytes());
        let info =
            SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        pdf.type0_font(whole)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(part)
            .to_unicode(characters);
        let mut cid = pdf.cid_font(part);
        cid.subtype(CidFontType::Type2).base_font(name).system_info(info);
        cid.font_descriptor(description).default_width(0.0);
        cid.cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = cid.widths();
        for glyph in self.glyphs.keys() {
            widths.consecutive(*glyph, [self.font.advance(ttf_parser::GlyphId(*glyph)) * 1000.0]);
        }
        widths.finish();
        cid.finish();
        self.describe(pdf, name, description, file);
        let data = self.font.cut(&self.glyphs.keys().copied().collect());
        let packed = compress_to_vec_zlib(&data, LEVEL);
        let mut stream = pdf.stream(file, &packed);
        stream.filter(Filter::FlateDecode).pair(Name(b"Length1"), data.len() as i32);
        stream.finish();
        let mut map = UnicodeCmap::<u16>::new(Name(b"Characters"), info);
        self.glyphs.iter().for_each(|(glyph, c)| map.pair(*glyph, *c));
        let map = compress_to_vec_zlib(map.finish().as_slice(), LEVEL);
        pdf.cmap(characters, &map).filter(Filter::FlateDecode);
    }

    fn describe(&self, pdf: &mut Pdf, name: Name<'_>, description: Ref, file: Ref) {
        let face = &self.font.face;
        let size = |units: i16| f32::from(units) * self.font.unit() * 1000.0;
        let all = face.global_bounding_box();
        let bounds = Rect::new(size(all.x_min), size(all.y_min), size(all.x_max), size(all.y_max));
        pdf.font_descriptor(description)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(bounds)
            .italic_angle(0.0)
            .ascent(size(face.ascender()))
            .descent(size(face.descender()))
            .cap_height(size(face.capital_height().unwrap_or(face.ascender())))
            // Not in the font: usual widths of stems.
            .stem_v(if self.font.bold { 140.0 } else { 80.0 })
            .font_file2(file);
    }
}
