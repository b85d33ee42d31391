//! Figures as files: what a reader of PDF and a decoder of PNG that are not ours find in them.

use crate::fixtures::views::{varied, visited};
use crate::fixtures::{lab, null_run};
use hayro_syntax::Pdf;
use hayro_syntax::content::ops::TypedInstruction as Does;
use hayro_syntax::object::{Dict, Stream};
use std::collections::BTreeMap;
use v6gap_judge::analysis::Analysis;
use v6gap_report::figure::{Figure, Kind, Paint, all};
use v6gap_report::paper;

/// Every figure that a result of a study has, those as printed too.
fn figures() -> Vec<(Analysis, Figure)> {
    let studied = ["raicu/tcp-100", "soorty/tcp"].map(|reference| {
        let mut analysis = lab();
        analysis.run.plan.parts_mut().reference = Some(reference.to_owned());
        analysis
    });
    let runs = studied.into_iter().chain([null_run(), varied(), visited()]);
    let drawn = |analysis: Analysis| {
        let figures = all(&analysis, Paint::Paper, true);
        figures.into_iter().map(move |figure| (analysis.clone(), figure))
    };
    runs.flat_map(drawn).collect()
}

/// The texts of an SVG, and how many shapes it has.
fn of_svg(svg: &str) -> (Vec<String>, usize) {
    let unescape = |text: &str| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        text.replace("&apos;", "'").replace("&amp;", "&")
    };
    let text = |part: &str| {
        let (_, rest) = part.split_once('>').unwrap();
        unescape(rest.split_once("</text>").unwrap().0)
    };
    let texts = svg.split("<text ").skip(1).map(text).collect();
    let shapes = ["<line ", "<path ", "<circle ", "<rect ", "<polyline "];
    (texts, shapes.iter().map(|shape| svg.matches(shape).count()).sum())
}

/// Which character each glyph of a font stands for, as the file says (ISO 32000-1, 9.10.3).
fn characters(font: &Dict<'_>) -> BTreeMap<u16, char> {
    let map = font.get::<Stream<'_>>("ToUnicode").unwrap().decoded().unwrap();
    let hex = |text: &str| u16::from_str_radix(text.trim_matches(['<', '>']), 16);
    let pair = |line: &str| {
        let (glyph, c) = line.split_once(' ')?;
        let c = char::from_u32(hex(c).ok()?.into())?;
        Some((hex(glyph).ok()?, c))
    };
    String::from_utf8_lossy(&map).lines().filter_map(pair).collect()
}

/// The texts of a PDF of one page, and how many paths it paints.
fn of_pdf(pdf: &Pdf) -> (Vec<String>, usize) {
    let page = &pdf.pages()[0];
    let fonts = ["R", "B"].map(|name| {
        let font = page.resources().fonts.get::<Dict<'_>>(name).unwrap();
        (name.as_bytes().to_vec(), characters(&font))
    });
    let (mut texts, mut shapes, mut font) = (Vec::new(), 0, Vec::new());
    let mut does = page.typed_operations();
    while let Some(done) = does.next() {
        match done {
            Does::TextFont(set) => font = set.0.to_vec(),
            Does::ShowText(shown) => {
                let (_, map) = fonts.iter().find(|(name, _)| *name == font).unwrap();
                let glyphs = shown.0.as_bytes().chunks(2);
                let c = |two: &[u8]| map[&u16::from_be_bytes([two[0], two[1]])];
                texts.push(glyphs.map(c).collect());
            }
            Does::StrokePath(_) | Does::FillPathNonZero(_) | Does::FillAndStrokeNonZero(_) => {
                shapes += 1;
            }
            Does::EndPath(_) | Does::Fallback(_) => panic!("{done:?}"),
            _ => {}
        }
    }
    (texts, shapes)
}

#[test]
fn a_pdf_holds_every_text_and_every_shape_of_the_svg() {
    let figures = figures();
    assert!(figures.len() > 12, "{}", figures.len());
    for (analysis, figure) in figures {
        let file = paper::pdf(&figure, &[&analysis], 122.0).unwrap();
        assert!(file.starts_with(b"%PDF-1."));
        assert_eq!(
            paper::pdf(&figure, &[&analysis], 122.0).as_ref(),
            Some(&file),
            "the same bytes"
        );
        let pdf = Pdf::new(file).unwrap();
        assert_eq!(pdf.pages().len(), 1);
        let page = pdf.pages()[0].media_box();
        // 122 mm in points, and as high as the figure is.
        let (width, height) = (122.0 / 25.4 * 72.0, figure.height / 520.0 * 122.0 / 25.4 * 72.0);
        assert!((page.x1 - width).abs() < 0.01 && (page.y1 - height).abs() < 0.01, "{page:?}");
        assert_eq!(of_pdf(&pdf), of_svg(&figure.svg), "{}", figure.id);
        let said = pdf.metadata();
        assert!(said.subject.as_ref().unwrap().starts_with(b"run 7k2f9q, plan "));
        assert_eq!(said.creator.as_deref(), Some(b"v6gap 0.1.0".as_slice()));
    }
}

#[test]
fn a_png_has_its_size_and_the_inks_of_both_families() {
    // One of each kind: where nothing is optimised pixels take their time.
    let mut figures = figures();
    figures.sort_by_key(|(_, figure)| figure.kind);
    figures.dedup_by_key(|(_, figure)| figure.kind);
    assert_eq!(figures.len(), 11);
    for (analysis, figure) in figures {
        let file = paper::png(&figure, &[&analysis], 50.8).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let found = reader.next_frame(&mut pixels).unwrap();
        // Two inches of 300 pixels.
        let height = (600.0 * figure.height / 520.0).ceil() as u32;
        assert_eq!((found.width, found.height), (600, height), "{}", figure.id);
        assert_eq!(reader.info().pixel_dims.unwrap().xppu, 11_811);
        let count = |rgb: [u8; 3]| pixels.chunks(3).filter(|pixel| **pixel == rgb).count();
        let all = pixels.len() / 3;
        // The cells of a map are filled.
        let paper = if figure.kind == Kind::Window { 2 } else { 7 };
        assert!(count([255; 3]) * 10 > all * paper, "{}: paper", figure.id);
        // The path is one of both families, and of maps only the names are in their inks.
        if matches!(figure.kind, Kind::Path | Kind::Window) {
            continue;
        }
        for ink in [[0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00]] {
            assert!(count(ink) > 20, "{}: {ink:?}", figure.id);
        }
    }
}

#[test]
fn an_svg_brings_its_letters() {
    let (analysis, figure) = figures().swap_remove(0);
    let svg = paper::svg(&figure, &[&analysis], 160.0);
    let fonts: Vec<&str> = svg.split("data:font/ttf;base64,").skip(1).collect();
    assert_eq!(fonts.len(), 2);
    // The first four bytes of a font file of TrueType, 0x00010000.
    assert!(fonts.iter().all(|font| font.starts_with("AAEAA")), "{fonts:?}");
    assert!(svg.contains("font-family=\"DejaVu Sans Condensed, Arial, sans-serif\""));
    assert!(svg.len() < 100_000, "{}", svg.len());
}

#[test]
fn a_figure_for_the_page_has_no_files_of_fixed_colours() {
    let analysis = lab();
    let figure = &all(&analysis, Paint::Page, false)[0];
    assert_eq!(paper::pdf(figure, &[&analysis], 160.0), None);
    assert_eq!(paper::png(figure, &[&analysis], 160.0), None);
    assert!(!paper::svg(figure, &[&analysis], 160.0).contains("font-face"));
}
