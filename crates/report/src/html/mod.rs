//! The report: one HTML page that needs no network, no script and no other file.
//!
//! Everything untrusted passes through `maud`, which escapes it; what is inserted as is comes from
//! this crate alone.

mod answer;
mod compare;
mod fleet;
mod fleet_links;
mod fleet_page;
mod fleet_words;
mod fleet_worst;
mod method;
mod sections;
mod strip;

pub use compare::comparison_page;
pub use fleet::{FLEET_STYLE, fleet_page, matrix_fragment};
pub use fleet_links::Links;
pub use fleet_page::{PAGE_SCHEMA, page_json};

use crate::figure::{self, Paint};
use crate::sockets::SocketRow;
use crate::{number, words};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use v6gap_judge::analysis::Analysis;

/// What the page says besides the analysis.
#[derive(Debug, Clone, Default)]
pub struct PageInfo<'a> {
    /// Title of the document; empty makes one from the hosts.
    pub title: &'a str,
    /// The command line that repeats the run.
    pub command: &'a str,
    /// What the kernel granted to the sockets, from [`crate::sockets`].
    pub sockets: &'a [SocketRow],
    /// Whether figures as printed by the study that the plan repeats are drawn too.
    pub facsimile: bool,
}

const STYLE: &str = include_str!("style.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The whole page.
pub fn page(analysis: &Analysis, info: &PageInfo<'_>) -> String {
    let title = match info.title {
        "" => {
            let (client, server) = words::hosts(analysis);
            let names = &analysis.arm_names;
            format!("{} compared with {}: {client} to {server}", names.b, names.a)
        }
        title => title.to_owned(),
    };
    document(&title, &analysis.run.tool, &content(analysis, info))
}

/// What differs between the pages.
struct Page {
    /// What it is, in a word.
    kind: &'static str,
    /// When what it tells of was measured, if at one time.
    when: Option<String>,
    main: Markup,
    /// The sentence before the last one.
    origin: String,
    /// Styles of this kind alone.
    style: &'static str,
}

/// A whole document.
fn document(title: &str, tool: &str, page: &Page) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "v6gap " (tool) };
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(page.style)) }
            }
            body {
                a.skip href="#answer" { "Skip to the answer" }
                div.wrap {
                    header.top {
                        span.brand { i { "v6" } b { "gap" } }
                        span { (page.kind) }
                        @if let Some(when) = &page.when { span.when { (when) } }
                    }
                    main id="answer" { (page.main) }
                    footer { (page.origin) ". This page is complete: it loads nothing." }
                }
            }
        }
    };
    // Escaping makes markup harmless; characters that turn or hide text remain, and go here.
    words::harmless(&page.into_string())
}

fn content(analysis: &Analysis, info: &PageInfo<'_>) -> Page {
    let figures = figure::all(analysis, Paint::Page, info.facsimile);
    let sections = sections::all(analysis, info, &figures);
    let main = html! {
        (answer::opening(analysis))
        (answer::table(analysis))
        (answer::boxes(analysis))
        nav aria-label="Contents" {
            @for s in &sections { a href={ "#" (s.id) } { (s.name) } }
        }
        @for s in &sections { section id=(s.id) { (s.body) } }
    };
    let run = &analysis.run;
    let origin = format!("Run {}, measured and written by v6gap {}", run.id, run.tool);
    Page { kind: "report", when: Some(when(analysis)), main, origin, style: "" }
}

/// "19 Nov 2026, 14:02 – 14:31 UTC".
fn when(analysis: &Analysis) -> String {
    let start = analysis.run.started_unix_ns;
    let (date, from) = number::utc(start);
    let (end_date, to) = number::utc(start.saturating_add(analysis.span_ns));
    match date == end_date {
        true => format!("{date}, {from} – {to} UTC"),
        false => format!("{date}, {from} – {end_date}, {to} UTC"),
    }
}
