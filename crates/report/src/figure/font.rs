//! The two fonts of the figures: how wide a text is, what its letters look like, and the font cut
//! down to what one figure needs. They come with the program, so no computer's own fonts matter.

use super::picture::{Path, Step};
use std::collections::BTreeSet;
use ttf_parser::{Face, GlyphId, OutlineBuilder, RawFace, Tag};

/// Family that files name first; it is in them.
pub(crate) const FAMILY: &str = "DejaVu Sans Condensed";

const REGULAR: &[u8] = include_bytes!("../../fonts/regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/bold.ttf");

/// Both fonts.
pub(crate) struct Fonts {
    regular: Font,
    bold: Font,
}

/// One of them.
pub(crate) struct Font {
    data: &'static [u8],
    pub face: Face<'static>,
    /// Name of the font in PostScript.
    pub name: &'static str,
    pub bold: bool,
}

impl Default for Fonts {
    fn default() -> Self {
        Self {
            regular: Font::new(REGULAR, "DejaVuSansCondensed", false),
            bold: Font::new(BOLD, "DejaVuSansCondensed-Bold", true),
        }
    }
}

impl Fonts {
    pub(crate) fn of(&self, bold: bool) -> &Font {
        if bold { &self.bold } else { &self.regular }
    }
}

impl Font {
    fn new(data: &'static [u8], name: &'static str, bold: bool) -> Self {
        let face =
            Face::parse(data, 0).expect("the fonts are files of this crate, and tests read them");
        Self { data, face, name, bold }
    }

    /// The glyph of a character, or that of an unknown one.
    pub(crate) fn glyph(&self, c: char) -> GlyphId {
        let known = self.face.glyph_index(c);
        known.or_else(|| self.face.glyph_index('\u{fffd}')).unwrap_or(GlyphId(0))
    }

    /// Width of a glyph, as a share of the size of the text.
    pub(crate) fn advance(&self, glyph: GlyphId) -> f32 {
        f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * self.unit()
    }

    /// Width of a text of that size.
    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        text.chars().map(|c| self.advance(self.glyph(c))).sum::<f32>() * size
    }

    /// One unit of the font, as a share of the size of the text.
    pub(crate) fn unit(&self) -> f32 {
        1.0 / f32::from(self.face.units_per_em())
    }

    /// The letters of a text as one path, from where its base line begins.
    pub(crate) fn outline(&self, text: &str, [x, y]: [f32; 2], size: f32) -> Vec<Step> {
        let mut pen = Pen { path: Path::default(), x, y, scale: size * self.unit() };
        for c in text.chars() {
            let glyph = self.glyph(c);
            // A glyph without an outline, such as a space, only moves on.
            let _ = self.face.outline_glyph(glyph, &mut pen);
            pen.x += self.advance(glyph) * size;
        }
        pen.path.steps
    }

    /// The font with no outlines but those of these glyphs, which keep their numbers.
    pub(crate) fn cut(&self, glyphs: &BTreeSet<u16>) -> Vec<u8> {
        cut(self.data, self.face.number_of_glyphs(), glyphs).unwrap_or_else(|| self.data.to_vec())
    }
}

struct Pen {
    path: Path,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    /// Fonts count upwards.
    fn at(&self, x: f32, y: f32) -> [f32; 2] {
        [self.x + x * self.scale, self.y - y * self.scale]
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.at(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.at(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.at(x1, y1), self.at(x, y));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.curve_to(self.at(x1, y1), self.at(x2, y2), self.at(x, y));
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// The font file with empty outlines but for `glyphs`; `None` if it is not built as ours are:
/// outlines below 128 KiB, none made of others (the TrueType reference of Apple, `loca`).
fn cut(data: &[u8], count: u16, glyphs: &BTreeSet<u16>) -> Option<Vec<u8>> {
    let raw = RawFace::parse(data, 0).ok()?;
    let table = |tag: &[u8; 4]| raw.table(Tag::from_bytes(tag));
    let (head, loca, glyf) = (table(b"head")?, table(b"loca")?, table(b"glyf")?);
    let long = *head.get(51)? != 0;
    let start = |glyph: usize| -> Option<usize> {
        Some(match long {
            true => u32::from_be_bytes(*loca.get(glyph * 4..)?.first_chunk()?) as usize,
            false => usize::from(u16::from_be_bytes(*loca.get(glyph * 2..)?.first_chunk()?)) * 2,
        })
    };
    let (mut places, mut outlines) = (Vec::new(), Vec::new());
    for glyph in 0..count {
        places.extend(u16::try_from(outlines.len() / 2).ok()?.to_be_bytes());
        if glyph == 0 || glyphs.contains(&glyph) {
            let at = usize::from(glyph);
            outlines.extend(glyf.get(start(at)?..start(at + 1)?)?);
            outlines.resize(outlines.len().next_multiple_of(2), 0);
        }
    }
    places.extend(u16::try_from(outlines.len() / 2).ok()?.to_be_bytes());
    let mut head = head.to_vec();
    // The sum over the file is taken with this field empty; places are halves of 16 bits.
    head[8..12].fill(0);
    head[50..52].fill(0);
    let tables: Vec<([u8; 4], &[u8])> = raw
        .table_records
        .into_iter()
        .filter_map(|record| {
            let tag = record.tag.to_bytes();
            Some(match &tag {
                b"head" => (tag, head.as_slice()),
                b"loca" => (tag, places.as_slice()),
                b"glyf" => (tag, outlines.as_slice()),
                _ => (tag, raw.table(record.tag)?),
            })
        })
        .collect();
    Some(file(&tables))
}

/// A font file of these tables, which are in the order of their tags.
fn file(tables: &[([u8; 4], &[u8])]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.checked_ilog2().unwrap_or(0) as u16;
    let range = 16 << power;
    let mut out = vec![0, 1, 0, 0];
    for value in [count, range, power, count * 16 - range] {
        out.extend(value.to_be_bytes());
    }
    let mut offset = out.len() + tables.len() * 16;
    for (tag, table) in tables {
        out.extend(tag);
        for value in [sum(table), offset as u32, table.len() as u32] {
            out.extend(value.to_be_bytes());
        }
        offset += table.len().next_multiple_of(4);
    }
    let mut adjust = 0;
    for (tag, table) in tables {
        if tag == b"head" {
            adjust = out.len() + 8;
        }
        out.extend(*table);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    let whole = 0xB1B0_AFBA_u32.wrapping_sub(sum(&out));
    if let Some(field) = out.get_mut(adjust..adjust + 4) {
        field.copy_from_slice(&whole.to_be_bytes());
    }
    out
}

/// The sum of 32-bit words, the last filled up.
fn sum(table: &[u8]) -> u32 {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_be_bytes(word)
    };
    table.chunks(4).map(word).fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the texts of figures are made of.
    const TEXT: &str = "Round trip, µs ± 0.5 – 1,024 KiB: “IPv6 ▼ worse” × ÄöşЖω →≤≥";

    #[test]
    fn the_fonts_are_whole_and_no_glyph_needs_another() {
        let fonts = Fonts::default();
        for font in [fonts.of(false), fonts.of(true)] {
            let raw = RawFace::parse(font.data, 0).unwrap();
            let glyf = raw.table(Tag::from_bytes(b"glyf")).unwrap();
            let cut = font.cut(&(0..font.face.number_of_glyphs()).collect());
            let again = RawFace::parse(&cut, 0).unwrap();
            assert_eq!(again.table(Tag::from_bytes(b"glyf")).unwrap().len(), glyf.len());
            for c in TEXT.chars() {
                assert!(font.face.glyph_index(c).is_some(), "{c} is missing");
            }
            assert_eq!(font.glyph('字'), font.glyph('\u{fffd}'));
        }
    }

    #[test]
    fn a_cut_font_draws_the_same_letters_and_no_others() {
        let fonts = Fonts::default();
        let font = fonts.of(true);
        let glyphs: BTreeSet<u16> = "IPv6 Ä".chars().map(|c| font.glyph(c).0).collect();
        let data = font.cut(&glyphs);
        assert!(data.len() < font.data.len() / 2, "{} of {}", data.len(), font.data.len());
        assert_eq!(sum(&data), 0xB1B0_AFBA, "the sum over the file");
        let face = Face::parse(&data, 0).unwrap();
        let drawn = |face: &Face<'_>, c| {
            let mut pen = Pen { path: Path::default(), x: 0.0, y: 0.0, scale: 1.0 };
            let _ = face.outline_glyph(face.glyph_index(c).unwrap(), &mut pen);
            pen.path.steps
        };
        for c in "IPv6Ä".chars() {
            assert!(!drawn(&face, c).is_empty() && drawn(&face, c) == drawn(&font.face, c), "{c}");
        }
        assert!(drawn(&face, 'w').is_empty() && !drawn(&font.face, 'w').is_empty());
    }

    #[test]
    fn texts_are_as_wide_as_their_letters() {
        let fonts = Fonts::default();
        let font = fonts.of(false);
        let one = font.width("i", 10.0);
        assert!(one > 1.0 && one < font.width("m", 10.0));
        assert!((font.width("iii", 20.0) - 6.0 * one).abs() < 1e-3);
    }
}
