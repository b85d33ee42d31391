//! The page of a comparison: answer, runs, one table of changes for each run, what differs.

use super::strip::{self, Axis, Shown};
use super::{Page, sections};
use crate::comparison::{self, Line};
use crate::figure::{self, Figure, Paint, Table};
use crate::sentences::comparison as said;
use crate::studies::Rows;
use crate::words::{self, Told};
use maud::{Markup, html};
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::compare::{Change, Comparison, Of, Side};

/// The whole page; `printed` are pictures of the systems as a study printed its own, and `tool` is
/// the version that writes it.
pub fn comparison_page(found: &Comparison, printed: &[Figure], tool: &str) -> String {
    let ids: Vec<&str> = found.runs.iter().map(|run| run.id.as_str()).collect();
    let title = format!("{} compared", ids.join(", "));
    super::document(&title, tool, &content(found, printed, tool))
}

fn content(found: &Comparison, printed: &[Figure], tool: &str) -> Page {
    let lines = comparison::lines(found);
    let all = found.changes().map(|(row, change)| Shown::change(row, change));
    let axis = Axis::over(all);
    let systems = figure::systems(found, Paint::Page);
    let numbered: Vec<(usize, &Figure)> = systems.iter().chain(printed).enumerate().collect();
    let (systems, printed) = numbered.split_at(systems.len());
    let main = html! {
        h1 { (said::headline(found)) }
        p.lede { (said::details(found).join(" ")) }
        @for run in &found.runs { p.context { (comparison::run(run)) } }
        @for (place, run) in found.runs.iter().skip(1).enumerate() {
            (changes(found, &lines, place, run, axis))
        }
        section id="systems" { (heat(found, &lines)) (beside(systems)) }
        @if let Some(rows) = comparison::published(found) {
            section id="published" { (published(&rows)) }
        }
        @if !printed.is_empty() {
            section id="printed" {
                (sections::figure_section("As the study printed it", PRINTED, printed))
            }
        }
        section id="notes" { (notes(found)) }
        section id="set-up" { (set_up(found)) }
    };
    let origin = format!("Written by v6gap {tool}");
    Page { kind: "comparison", when: None, main, origin, style: WORDS }
}

/// Numbers keep to one line, and what a run says of a difference may be a range in words.
const WORDS: &str = ".num .words { white-space: normal; }";

fn changes(found: &Comparison, lines: &[Line<'_>], place: usize, run: &Side, axis: Axis) -> Markup {
    html! {
        h2 { (words::capital(&comparison::from_to(run))) }
        div.card.answer {
            table {
                caption.sr {
                    "Changes from A to " (run.letter) ", three rows for each question, with the \
                    95 % range and the verdict"
                }
                thead { tr {
                    th scope="col" { "Question" }
                    th.num scope="col" { "A" }
                    th.num scope="col" { (run.letter) }
                    th.strip-cell scope="col" {
                        div.sides { span { "◂ worse" } span { "better ▸" } }
                    }
                    th scope="col" { (words::capital(&comparison::from_to(run))) " it is …" }
                    th.verdict scope="col" { "Verdict" }
                } }
                tbody {
                    @for line in lines {
                        @if let Some(change) = line.changes[place] {
                            (row(line, change, place, axis))
                        }
                    }
                }
                tfoot { tr {
                    td colspan="3" {} td.strip-cell { (axis.scale()) } td colspan="2" {}
                } }
            }
            p.legend {
                span { "bar: the 95 % range; grey: too small to matter, as chosen before the runs" }
                span { (comparison::margins(found)) }
            }
        }
    }
}

fn row(line: &Line<'_>, change: &Change, place: usize, axis: Axis) -> Markup {
    let class = strip::class(change.verdict);
    let subject = line.named();
    let arm = match line.of.arm() {
        None => "words",
        Some(Arm::A) => "arm-a",
        Some(Arm::B) => "arm-b",
    };
    html! {
        tr {
            th scope="row" {
                @if line.of == Of::Difference { span.name { (line.label) } }
                span.sub { (subject) }
            }
            td.num { span class=(arm) { (line.values[0]) } }
            td.num { span class=(arm) { (line.values[place + 1]) } }
            td.strip-cell { (strip::strip(Shown::change(line.row, change), axis)) }
            td.effect {
                @if change.effect.is_none() {
                    b class=(class) { "not compared" }
                    @if let Some(why) = &change.why_none { span.range { (why) } }
                } @else {
                    b class=(class) { (change.text) }
                    @if change.verdict != Verdict::CannotTell {
                        span.range { (words::named_range(&change.range_text)) }
                    } @else {
                        span.range { "that is the 95 % range" }
                    }
                }
            }
            td.verdict { (strip::chip(Told::change(line.row, change))) }
        }
    }
}

/// All changes at a glance: a row for each line, a column for each run, words in tinted cells.
fn heat(found: &Comparison, lines: &[Line<'_>]) -> Markup {
    html! {
        h2 { "Systems compared: " (tally(found)) }
        p.say {
            "A: its values. The other columns: the change against A in words, tinted where it is \
            worse or better and grey where it is too small to matter."
        }
        div.card { div.scroll tabindex="0" role="region" aria-label="Table: all changes" {
            table.data.heat {
                caption.sr { "All changes, a row for each question and family" }
                thead { tr {
                    th scope="col" { "Question" } th scope="col" { "A" }
                    @for run in found.runs.iter().skip(1) { th scope="col" { (run.letter) } }
                } }
                tbody { @for line in lines { tr {
                    th scope="row" { (line.label) ", " (line.named()) }
                    td { (line.values[0]) }
                    @for change in &line.changes { (tinted(line, *change)) }
                } } }
            }
        } }
    }
}

fn tinted(line: &Line<'_>, change: Option<&Change>) -> Markup {
    let Some(change) = change else { return html! { td { "–" } } };
    let (class, told) = (strip::class(change.verdict), Told::change(line.row, change));
    let small = match told.within {
        Some(_) => told.word(),
        None => "too small to matter".to_owned(),
    };
    let glyph = html! { span aria-hidden="true" { (told.glyph()) } " " };
    html! {
        td class=(class) {
            @match (&change.effect, change.verdict) {
                (None, _) => { (glyph) "not compared" }
                (_, Verdict::CannotTell) => { (glyph) "can’t tell: " (change.text) }
                // Before a figure it could pass for a part of it, as in "= < 0.1 %".
                (_, Verdict::Same) => { (change.text) ", " (glyph) (small) }
                _ => { (glyph) (change.text) }
            }
        }
    }
}

/// "2 worse, 6 same, 1 within the margin".
fn tally(found: &Comparison) -> String {
    let all: Vec<Told> = found.changes().map(|(row, change)| Told::change(row, change)).collect();
    let tiny = all.iter().filter(|told| told.within.is_some()).count();
    let count = |verdict: Verdict| {
        let plain = all.iter().filter(|told| told.within.is_none());
        (plain.filter(|told| told.verdict == verdict).count(), words::verdict(verdict))
    };
    let [worse, better, same] = [Verdict::Worse, Verdict::Better, Verdict::Same].map(count);
    let [open, none] = [Verdict::CannotTell, Verdict::None].map(count);
    let parts = [worse, better, same, (tiny, "within the margin"), open, none];
    let part = |(n, word): (usize, &str)| (n > 0).then(|| format!("{n} {word}"));
    parts.into_iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

fn beside(figures: &[(usize, &Figure)]) -> Markup {
    html! {
        div class=(if figures.len() == 1 { "figures alone below" } else { "figures below" }) {
            @for (at, figure) in figures { (sections::one_figure(at + 1, figure)) }
        }
    }
}

/// What is said of pictures of several systems.
const PRINTED: &str = "\
Drawn from these runs as the study drew its own, to hold page and paper side by side. The tables \
above say what is known about the changes.";

fn published(rows: &Rows) -> Markup {
    let table = Table { heads: rows.heads.clone(), rows: rows.rows.clone() };
    html! {
        h2 { "Published of other systems" }
        div.card.text {
            (sections::data_table(&table, "What was published of other systems"))
            @for note in &rows.notes { p { (note) } }
        }
    }
}

fn notes(found: &Comparison) -> Markup {
    html! {
        h2 { "How sure is this?" }
        ul {
            li { (comparison::between_runs(found)) }
            @for note in comparison::notes(found) { li { (note) } }
        }
    }
}

fn set_up(found: &Comparison) -> Markup {
    html! {
        h2 { "What differs in the set-up" }
        @if found.set_up.is_empty() {
            p.say { "Nothing is known to differ." }
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Table: what differs in the set-up" {
                table.data {
                    caption.sr { "What differs in the set-up, a column for each run" }
                    thead { tr {
                        th scope="col" { "What" }
                        @for run in &found.runs { th scope="col" { (run.letter) } }
                    } }
                    tbody {
                        @for differs in &crate::set_up::told(found) {
                            tr {
                                th scope="row" { (differs.what) }
                                @for value in &differs.values { td { (value) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
