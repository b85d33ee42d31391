//! What each form looks like, kept as files: a change of looks is a change that someone reads.
//!
//! `V6GAP_BLESS=1` writes the files anew.

#![expect(
    clippy::disallowed_methods,
    reason = "snapshots are files, and whether to write them is asked of the environment"
)]

use crate::fixtures::{hostile, invalid, journal, lab, null_run};
use std::path::PathBuf;
use v6gap_core::analysis::Analysis;
use v6gap_report::figure::{Paint, all};
use v6gap_report::html::{PageInfo, page};
use v6gap_report::text::{Glyphs, Style, table, verbose};
use v6gap_report::{csv_trials, json, markdown, sockets};

/// Compares with the file of that name, or writes it.
fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("V6GAP_BLESS").is_some() {
        std::fs::write(&path, text).expect("the snapshot can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).expect("the snapshot exists; V6GAP_BLESS=1 makes it");
    let differs = kept.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(kept == text, "{name} differs from line {differs:?} on; V6GAP_BLESS=1 accepts it");
}

#[test]
fn text() {
    let style = Style::default();
    check("lab.txt", &table(&lab(), &style));
    check("lab-wide.txt", &table(&lab(), &Style { width: 120, ..style }));
    check("lab-narrow.txt", &table(&lab(), &Style { width: 40, ..style }));
    check("lab-ascii.txt", &table(&lab(), &Style { glyphs: Glyphs::Ascii, ..style }));
    check("lab-plain.txt", &table(&lab(), &Style { plain: true, ..style }));
    check("lab-colour.txt", &table(&lab(), &Style { colour: true, ..style }));
    check("lab-verbose.txt", &verbose(&lab(), &journal::lines(), &style));
    check("invalid.txt", &table(&invalid(), &style));
    check("null.txt", &table(&null_run(), &style));
    check("hostile.txt", &table(&hostile(), &style));
}

#[test]
fn exports() {
    check("lab.md", &markdown(&lab()));
    check("lab.json", &json(&lab()));
    check("invalid.json", &json(&invalid()));
    check("null.json", &json(&null_run()));
    check("trials.csv", &csv_trials(&journal::lines()));
}

fn html(analysis: &Analysis) -> String {
    let sockets = sockets(&journal::lines());
    let info =
        PageInfo { title: "", command: "v6gap run lab-b --seed 0x5eed46", sockets: &sockets };
    page(analysis, &info)
}

#[test]
fn pages() {
    check("lab.html", &html(&lab()));
    check("invalid.html", &html(&invalid()));
}

#[test]
fn figures_for_paper() {
    for figure in all(&lab(), Paint::Paper).iter().filter(|f| f.id.starts_with("size-")) {
        check(&format!("{}.svg", figure.id), &figure.svg);
        assert!(!figure.svg.contains("var("), "a figure that stands alone has no page to ask");
    }
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    assert!(html(&lab()) == html(&lab()), "two renderings of a page differ");
    assert_eq!(json(&lab()), json(&lab()));
    assert_eq!(csv_trials(&journal::lines()), csv_trials(&journal::lines()));
    let style = Style::default();
    let lines = journal::lines();
    assert_eq!(verbose(&lab(), &lines, &style), verbose(&lab(), &lines, &style));
}
