//! What each form looks like, kept as files: a change of looks is a change that someone reads.
//!
//! `V6GAP_BLESS=1` writes the files anew.

#![expect(
    clippy::disallowed_methods,
    reason = "snapshots are files, and whether to write them is asked of the environment"
)]

use crate::fixtures::runs::{among, another_day, comparison};
use crate::fixtures::views::{varied, visited};
use crate::fixtures::{hostile, invalid, journal, lab, null_run};
use std::path::PathBuf;
use v6gap_core::record::{anonymise, decode};
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_report::figure::{Kind, Paint, all};
use v6gap_report::html::{PageInfo, comparison_page, page};
use v6gap_report::paper;
use v6gap_report::text::{self, Glyphs, Style, table, verbose};
use v6gap_report::{
    CiteForm, bibtex, cite, csv_comparison, csv_questions, csv_trials, json, json_comparison,
    latex, latex_comparison, markdown, markdown_comparison, sockets,
};

/// Compares with the file of that name, or writes it.
pub fn check(name: &str, text: &str) {
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
fn texts() {
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

/// What the first version stored says for ever what it said.
#[test]
fn a_journal_of_version_1_says_the_same() {
    let journal = include_str!("../../core/testdata/v1/journal.jsonl");
    check("v1.json", &json(&analysed(journal)));
}

/// The same run in the present form, with an attempt that failed, which is said beside the same.
#[test]
fn a_journal_of_version_2_says_the_same() {
    let mut analysis = analysed(include_str!("../../core/testdata/v2/journal.jsonl"));
    let failures = analysis.failures.take().expect("an attempt failed");
    assert_eq!((failures.attempts.a, failures.attempts.b), (0, 1));
    check("v1.json", &json(&analysis));
}

/// Figures do not depend on what hosts are called.
#[test]
fn an_anonymised_run_has_the_same_figures() {
    let journal = include_str!("../../core/testdata/v2/journal.jsonl");
    let lines: Vec<_> = journal.lines().map(|line| decode(line).expect("a record")).collect();
    let nameless = anonymise(&lines).expect("a run");
    assert_ne!(lines, nameless);
    let figures = |lines| csv_questions(&analyse(lines).expect("a run"));
    assert_eq!(figures(&lines), figures(&nameless));
}

fn analysed(journal: &str) -> Analysis {
    let lines: Vec<_> = journal.lines().map(|line| decode(line).expect("a record")).collect();
    analyse(&lines).expect("a run")
}

#[test]
fn tables_for_papers() {
    check("lab.tex", &latex(&lab()));
    check("lab.csv", &csv_questions(&lab()));
    let two = comparison(&[lab(), another_day("8m1c3e")]);
    check("two.tex", &latex_comparison(&two));
    check("two.md", &markdown_comparison(&two));
    check("two.csv", &csv_comparison(&two));
    let three = comparison(&[lab(), another_day("8m1c3e"), another_day("9x2d4f")]);
    check("three.tex", &latex_comparison(&three));
    check("hostile.tex", &latex(&hostile()));
}

#[test]
fn what_papers_say() {
    let command = "v6gap demo --seed 6168134 --margin rtt=2%";
    check("lab-cite.txt", &cite(&lab(), command, CiteForm::Text));
    check("lab-cite.tex", &cite(&lab(), command, CiteForm::Latex));
    check("lab-cite.bib", &bibtex(&lab()));
    check("hostile-cite.tex", &cite(&hostile(), command, CiteForm::Latex));
    let figure = &all(&lab(), Paint::Paper, false)[0];
    check("lab-caption.txt", &paper::caption(figure, &[&lab()]));
    check("lab-figure.csv", &paper::csv(figure));
}

#[test]
fn comparisons() {
    let two = comparison(&[lab(), another_day("8m1c3e")]);
    let style = Style::default();
    check("two.txt", &text::comparison(&two, &style));
    check("two-narrow.txt", &text::comparison(&two, &Style { width: 40, ..style }));
    check("two-plain.txt", &text::comparison(&two, &Style { plain: true, ..style }));
    let alone = among(&[lab(), another_day("8m1c3e")], &[]);
    check("two-alone.txt", &text::comparison(&alone, &style));
    check("two.json", &json_comparison(&two));
    check("two.html", &comparison_page(&two, &[], "0.1.0"));
    let three = comparison(&[lab(), another_day("8m1c3e"), another_day("9x2d4f")]);
    check("three.txt", &text::comparison(&three, &Style { width: 120, ..style }));
    check("three.html", &comparison_page(&three, &[], "0.1.0"));
    let failed = comparison(&[lab(), Analysis { run: another_day("x").run, ..invalid() }]);
    check("two-failed.txt", &text::comparison(&failed, &style));
}

fn html(analysis: &Analysis) -> String {
    let sockets = sockets(&journal::lines());
    let info = PageInfo {
        title: "",
        command: "v6gap run lab-b --seed 0x5eed46",
        sockets: &sockets,
        facsimile: false,
    };
    page(analysis, &info)
}

#[test]
fn pages() {
    check("lab.html", &html(&lab()));
    check("invalid.html", &html(&invalid()));
    check("views.html", &html(&varied()));
    check("visited.html", &html(&visited()));
}

#[test]
fn figures_for_paper() {
    for figure in all(&lab(), Paint::Paper, false).iter().filter(|f| f.id.starts_with("size-")) {
        check(&format!("{}.svg", figure.id), &figure.svg);
        assert!(!figure.svg.contains("var("), "a figure that stands alone has no page to ask");
    }
    let once = [Kind::Window, Kind::Amount, Kind::Opening, Kind::Cost, Kind::Path];
    let of_visits = [Kind::Visit, Kind::Ladder];
    let drawn = |analysis: &Analysis, kinds: &[Kind]| {
        let mut figures = all(analysis, Paint::Paper, false);
        figures.retain(|figure| kinds.contains(&figure.kind));
        figures
    };
    for figure in drawn(&varied(), &once).iter().chain(&drawn(&visited(), &of_visits)) {
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
