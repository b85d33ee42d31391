//! A figure as files of its own: the SVG with a size and where it came from, its caption, and its
//! numbers.

use crate::csv::push_row;
use crate::figure::{Figure, WIDTH};
use crate::number::utc;
use crate::words;
use v6gap_core::analysis::Analysis;

/// The figure `width_mm` wide, with the run, the plan and the version in its metadata.
pub fn svg(figure: &Figure, analysis: &Analysis, width_mm: f64) -> String {
    let height_mm = width_mm * figure.height / WIDTH;
    let run = &analysis.run;
    let about = format!(
        "run {}, plan {}, seed {:#x}, v6gap {}",
        run.id, run.plan.name, run.plan.seed, run.tool
    );
    let root = format!("<svg width=\"{width_mm}mm\" height=\"{height_mm:.1}mm\" ");
    let svg = figure.svg.replacen("<svg ", &root, 1);
    let metadata = format!("</desc><metadata>{}</metadata>", escape(&about));
    let mut text = svg.replacen("</desc>", &metadata, 1);
    text.push('\n');
    text
}

/// What stands under it: what it shows, how to read it, and what it rests on.
pub fn caption(figure: &Figure, analysis: &Analysis) -> String {
    let (client, server) = words::hosts(analysis);
    let path = words::path(analysis).map(|p| format!(", {p}")).unwrap_or_default();
    let names = &analysis.arm_names;
    let (date, _) = utc(analysis.run.started_unix_ns);
    let text = format!(
        "{}. {} {} and {} between {client} and {server}{path}; {}; ranges are 95 %. v6gap {}, run \
         {}, {date}.\n",
        figure.title,
        figure.foot,
        names.a,
        names.b,
        words::pairs_in(analysis),
        analysis.run.tool,
        analysis.run.id
    );
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

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace(words::is_unsafe, "?")
}
