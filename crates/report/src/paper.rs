//! A figure as files of its own: as SVG, PDF and PNG with a size and where it came from, its
//! caption, and its numbers.

use crate::csv::push_row;
use crate::figure::drawing::escape;
use crate::figure::font::{FAMILY, Fonts};
use crate::figure::pdf::About;
use crate::figure::{Figure, Picture, WIDTH, pdf as pages, png as pixels};
use crate::number::utc;
use crate::words;
use serde::Serialize;
use v6gap_judge::analysis::Analysis;

/// The figure `width_mm` wide as SVG, with the run, the plan and the version in its metadata, and
/// the letters that it uses. `runs` are the results that it shows.
pub fn svg(figure: &Figure, runs: &[&Analysis], width_mm: f64) -> String {
    let height_mm = width_mm * figure.height / WIDTH;
    let root = format!("<svg width=\"{width_mm}mm\" height=\"{height_mm:.1}mm\" ");
    let svg = figure.svg.replacen("<svg ", &root, 1);
    let letters = figure.picture.as_ref().map(style).unwrap_or_default();
    let source = escape(&source(runs));
    let metadata = format!("</desc><metadata>{source}</metadata>{letters}");
    let mut text = svg.replacen("</desc>", &metadata, 1);
    text.push('\n');
    text
}

/// A figure as PDF, a page of its size; nothing of a figure that does not stand alone.
pub fn pdf(figure: &Figure, runs: &[&Analysis], width_mm: f64) -> Option<Vec<u8>> {
    let title = clean(&figure.title);
    let tool = runs.first().map_or("", |analysis| analysis.run.tool.as_str());
    let maker = format!("v6gap {}", clean(tool));
    let about = About { title: &title, source: &source(runs), maker: &maker };
    Some(pages::pdf(figure.picture.as_ref()?, width_mm, &about))
}

/// A figure as PNG, 300 pixels in an inch; nothing of a figure that does not stand alone.
pub fn png(figure: &Figure, runs: &[&Analysis], width_mm: f64) -> Option<Vec<u8>> {
    let (title, source) = (clean(&figure.title), source(runs));
    let said = [("Title", title.as_str()), ("Source", source.as_str())];
    // Fails only where a text cannot be stored, and these are clean.
    pixels::png(figure.picture.as_ref()?, width_mm, said).ok()
}

/// Where a figure came from.
fn source(runs: &[&Analysis]) -> String {
    let of = |analysis: &&Analysis| {
        let run = &analysis.run;
        format!(
            "run {}, plan {}, seed {:#x}, v6gap {}",
            run.id, run.plan.name, run.plan.seed, run.tool
        )
    };
    clean(&runs.iter().map(of).collect::<Vec<_>>().join("; "))
}

/// The letters of a picture, as the fonts of an SVG.
fn style(picture: &Picture) -> String {
    let fonts = Fonts::default();
    let face = |bold: bool| {
        let font = fonts.of(bold);
        let own = picture.texts().filter(|text| text.bold == bold);
        let glyphs = own.flat_map(|text| text.content.chars()).map(|c| font.glyph(c).0).collect();
        let (weight, data) = (if bold { "bold" } else { "normal" }, base64(&font.cut(&glyphs)));
        format!(
            "@font-face{{font-family:\"{FAMILY}\";font-weight:{weight};\
             src:url(data:font/ttf;base64,{data})}}"
        )
    };
    format!("<style>{}{}</style>", face(false), face(true))
}

/// Bytes as text (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize & 63];
            out.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

/// What stands under it: what it shows, how to read it, and what it rests on.
pub fn caption(figure: &Figure, runs: &[&Analysis]) -> String {
    let of = |analysis: &&Analysis| {
        let (client, server) = words::hosts(analysis);
        let path = words::and_path(analysis);
        let names = &analysis.arm_names;
        let (date, _) = utc(analysis.run.started_unix_ns);
        format!(
            "{} and {} between {client} and {server}{path}; {}; ranges are 95 %. v6gap {}, run \
             {}, {date}.",
            names.a,
            names.b,
            words::pairs_in(analysis),
            analysis.run.tool,
            analysis.run.id
        )
    };
    let runs = runs.iter().map(of).collect::<Vec<_>>().join(" ");
    let text = format!("{}. {} {runs}\n", figure.title, figure.foot);
    text.replace(|c| c != '\n' && words::is_unsafe(c), "?")
}

/// The numbers behind it.
pub fn csv(figure: &Figure) -> String {
    let mut out = String::new();
    for row in std::iter::once(&figure.table.heads).chain(&figure.table.rows) {
        push_row(&mut out, row.iter().map(String::as_str));
    }
    out
}

/// What a figure says without its picture.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    id: String,
    title: String,
    foot: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The numbers behind a figure with its name, its title and what stands under it, as one JSON
/// document: every text as the page has it.
pub fn json(figure: &Figure) -> String {
    let all = |cells: &Vec<String>| cells.iter().map(|cell| words::harmless(cell)).collect();
    let document = Document {
        schema: "v6gap.figure/1",
        id: figure.id.clone(),
        title: words::harmless(&figure.title),
        foot: words::harmless(&figure.foot),
        columns: all(&figure.table.heads),
        rows: figure.table.rows.iter().map(all).collect(),
    };
    // Plain texts: nothing in them can fail to become JSON.
    let mut text = words::json_escaped(serde_json::to_string_pretty(&document).unwrap_or_default());
    text.push('\n');
    text
}

/// Without characters that could change how others are read.
fn clean(text: &str) -> String {
    text.replace(words::is_unsafe, "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4648, section 10.
    #[test]
    fn bytes_become_text_as_the_standard_says() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
