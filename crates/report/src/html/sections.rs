//! The sections below the first screen: figures with their numbers, checks, how to repeat, method.

use super::PageInfo;
use crate::beside;
use crate::figure::{Figure, Kind, Table};
use crate::number;
use crate::resources;
use crate::sentences;
use crate::studies::{self, Rows};
use crate::words::{self, Told};
use maud::{Markup, PreEscaped, html};
use v6gap_core::family::Family;
use v6gap_judge::analysis::sizes::SizeEffect;
use v6gap_judge::analysis::{Analysis, CheckState};

/// A section: anchor, short name for the list of contents, and what it holds.
pub(super) struct Section {
    pub id: &'static str,
    pub name: &'static str,
    pub body: Markup,
}

/// All sections that have something to say, in order.
pub(super) fn all(analysis: &Analysis, info: &PageInfo<'_>, figures: &[Figure]) -> Vec<Section> {
    let drawn = |id, name, title: &str, say: String, kind| {
        let shown: Vec<_> =
            figures.iter().enumerate().filter(|(_, figure)| figure.kind == kind).collect();
        (!shown.is_empty()).then(|| Section { id, name, body: figure_section(title, &say, &shown) })
    };
    let question = "The same question for several sizes: where does a difference begin to matter?";
    let size = sentences::predicted(analysis).unwrap_or_else(|| question.to_owned());
    let trials = "Each pair was measured within a short time, so what changes slowly on the path \
                  changes both values and not their difference.";
    let spread = "A mean hides how often a delay is much longer than usual; these curves show it.";
    let printed = "Drawn from this run as the study drew its own, to hold page and paper side by \
                   side. The figures above show the same with what is known about it.";
    let visited = match sentences::races(analysis) {
        Some(races) => format!("{VISIT} {races}"),
        None => VISIT.to_owned(),
    };
    let [amount, windows, opening, visit, ladder, cost] = [
        ("Throughput by amount of data", Kind::Amount),
        ("Throughput by window and data size", Kind::Window),
        ("Opening connections", Kind::Opening),
        ("Visits by phase", Kind::Visit),
        ("The ways there", Kind::Ladder),
        ("Processor cost", Kind::Cost),
    ]
    .map(|(subject, kind)| headline(subject, figures, kind));
    let mut sections: Vec<Section> = [
        drawn("size", "By size", "By message size", size.to_owned(), Kind::Size),
        suspects(analysis),
        costs(analysis),
        sizes(analysis),
        drawn("amount", "By amount", &amount, AMOUNT.to_owned(), Kind::Amount),
        drawn("window", "By window", &windows, WINDOW.to_owned(), Kind::Window),
        drawn("trials", "Pairs", "Pairs in order", trials.to_owned(), Kind::Trials),
        drawn("spread", "Spread", "Spread of the single delays", spread.to_owned(), Kind::Spread),
        drawn("opening", "Opening", &opening, OPENING.to_owned(), Kind::Opening),
        drawn("visit", "Visits", &visit, visited, Kind::Visit),
        drawn("ladder", "Ways", &ladder, LADDER.to_owned(), Kind::Ladder),
        drawn("cost", "Processor", &cost, COST.to_owned(), Kind::Cost),
    ]
    .into_iter()
    .flatten()
    .collect();
    sections.extend(taken(analysis));
    sections.extend(beside(analysis));
    sections.extend(study(analysis));
    let title = "As the study printed it";
    sections.extend(drawn("printed", "As printed", title, printed.to_owned(), Kind::Facsimile));
    sections.push(Section { id: "checks", name: "Checks", body: checks(analysis, figures) });
    sections.push(Section { id: "again", name: "Run it again", body: again(analysis, info) });
    sections.push(Section { id: "method", name: "Method", body: super::method::method(analysis) });
    sections.push(Section { id: "words", name: "Words used", body: super::method::glossary() });
    sections
}

const AMOUNT: &str = "Short transfers are over before a connection is up to speed: what does the \
    amount of data change?";
const WINDOW: &str = "A window bounds what may be under way, so throughput is at most one window \
    for each round trip. Rows are what was offered, not what was asked for.";
const OPENING: &str = "What a program waits for before the first byte comes, one stage after the \
    other.";
const VISIT: &str = "A visit is a connection of its own, which asks once and ends; each phase \
    waits for the one before it.";
const LADDER: &str = "Packets that end at each distance, sent to the service itself before \
    anything was measured, so that they go the way of its users’ packets.";
const COST: &str = "Where transfers spend processor time: at the sender or the receiver, in the \
    program, in the kernel for it, or in interrupts.";

/// What was found, as the figures of a kind have it behind the colon of their titles; of those that
/// found different things none speaks for the others.
fn headline(subject: &str, figures: &[Figure], kind: Kind) -> String {
    let own = figures.iter().filter(|figure| figure.kind == kind);
    let mut found = own.filter_map(|figure| Some(figure.title.split_once(": ")?.1));
    match found.next() {
        Some(first) if found.all(|other| other == first) => format!("{subject}: {first}"),
        Some(_) | None => subject.to_owned(),
    }
}

pub(super) fn figure_section(title: &str, say: &str, figures: &[(usize, &Figure)]) -> Markup {
    html! {
        h2 { (title) }
        p.say { (say) }
        div class=(if figures.len() == 1 { "figures alone" } else { "figures" }) {
            @for (i, figure) in figures { (one_figure(i + 1, figure)) }
        }
    }
}

pub(super) fn one_figure(number: usize, figure: &Figure) -> Markup {
    html! {
        figure.card id={ "fig-" (figure.id) } {
            h3 { "Figure " (number) ". " (figure.title) }
            (PreEscaped(&figure.svg))
            figcaption { (figure.foot) }
            details {
                summary { "The numbers behind figure " (number) }
                (data_table(&figure.table, &figure.title))
            }
        }
    }
}

pub(super) fn data_table(table: &Table, caption: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Table: " (caption) } {
            table.data {
                caption.sr { (caption) }
                thead { tr { @for head in &table.heads { th scope="col" { (head) } } } }
                tbody { @for row in &table.rows { tr {
                    @for (i, cell) in row.iter().enumerate() {
                        @if i == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                    }
                } } }
            }
        }
    }
}

/// What may lie behind what the headers do not explain.
fn suspects(analysis: &Analysis) -> Option<Section> {
    let found = sentences::suspects(analysis);
    let body = html! {
        h2 { "What else may be behind it" }
        p.say {
            "Only what the record of this run shows to differ between the families, or to go with \
            their difference. That it does so does not make it the cause: each can be tested."
        }
        div.card.text { ul { @for text in &found { li { (text) } } } }
    };
    (!found.is_empty()).then_some(Section { id: "suspects", name: "Suspects", body })
}

/// What constant, packets and bytes of round trips cost.
fn costs(analysis: &Analysis) -> Option<Section> {
    let found = crate::costs::costs(analysis);
    let table = |costs: &crate::costs::Costs| Table {
        heads: costs.heads.to_vec(),
        rows: costs.rows.iter().map(|row| row.to_vec()).collect(),
    };
    let body = html! {
        h2 { "What a message costs" }
        p.say {
            "A round trip taken apart: what it takes whatever its size, what each packet adds, and \
            what each byte on the line adds. 95 % ranges from resampled rounds."
        }
        @for costs in &found {
            div.card.text {
                @if !costs.rows.is_empty() { (data_table(&table(costs), &costs.heads[0])) }
                @for sentence in &costs.sentences { p { (sentence) } }
            }
        }
    };
    (!found.is_empty()).then_some(Section { id: "costs", name: "Costs", body })
}

/// Whether the size of transfers matters.
fn sizes(analysis: &Analysis) -> Option<Section> {
    let found = &analysis.transfer_sizes;
    let row = |size: &SizeEffect| {
        let answer = Told::size(size).word();
        vec![size.label.clone(), size.text.clone(), size.range_text.clone(), answer]
    };
    let table = Table {
        heads: ["transfer", "largest against smallest", "95 % range", "verdict"]
            .map(str::to_owned)
            .to_vec(),
        rows: found.iter().map(row).collect(),
    };
    let body = html! {
        h2 { "Does the size of a transfer matter?" }
        p.say {
            "The largest size against the smallest, within each round, so that what changes slowly \
            on the path changes both."
        }
        div.card.text {
            (data_table(&table, "size of transfers"))
            @for size in found { p { (size.sentence) } }
        }
    };
    (!found.is_empty()).then_some(Section { id: "sizes", name: "Transfer sizes", body })
}

fn taken(analysis: &Analysis) -> Option<Section> {
    let rows = resources::rows(analysis, true);
    let row = |row: resources::Row| vec![row.name, row.values.v4, row.values.v6];
    let table = Table {
        heads: resources::HEADS.map(str::to_owned).to_vec(),
        rows: rows.into_iter().map(row).collect(),
    };
    let body = html! {
        h2 { "What it took from the hosts" }
        p.say { "Medians of the trials that count; no verdict is given on them here." }
        div.card { (data_table(&table, "What it took from the hosts")) }
    };
    (!table.rows.is_empty()).then_some(Section { id: "hosts", name: "Hosts", body })
}

/// Published, predicted, measured; and the runs as the study would have combined them.
fn study(analysis: &Analysis) -> Option<Section> {
    let made = studies::as_published(analysis);
    let beside = studies::beside(analysis);
    let tables = [(beside, "Published, predicted, measured"), (made, "As the study combined runs")];
    let tables: Vec<_> =
        tables.into_iter().filter_map(|(rows, title)| Some((rows?, title))).collect();
    let doubts = analysis.published.as_ref().map(studies::doubts).unwrap_or_default();
    let table = |rows: &Rows| Table { heads: rows.heads.clone(), rows: rows.rows.clone() };
    let body = html! {
        h2 { "Published, predicted, measured" }
        @if let Some(published) = &analysis.published { p.say { (studies::source(published)) } }
        @for (rows, title) in &tables {
            div.card.text {
                h3 { (title) }
                (data_table(&table(rows), title))
                @for note in &rows.notes { p { (note) } }
            }
        }
        @if !doubts.is_empty() {
            div.card.text.below {
                h3 { "What is doubtful about what was published" }
                ul { @for doubt in &doubts { li { (doubt) } } }
            }
        }
    };
    let any = !tables.is_empty() || !doubts.is_empty();
    any.then_some(Section { id: "published", name: "Published", body })
}

fn beside(analysis: &Analysis) -> Option<Section> {
    let table = Table {
        heads: beside::HEADS.map(str::to_owned).to_vec(),
        rows: beside::rows(analysis).into_iter().map(|row| row.to_vec()).collect(),
    };
    let body = html! {
        h2 { "What others counted" }
        p.say { (beside::WHY) }
        div.card { (data_table(&table, "What others counted")) }
    };
    (!table.rows.is_empty()).then_some(Section { id: "beside", name: "Other counts", body })
}

fn checks(analysis: &Analysis, figures: &[Figure]) -> Markup {
    let (summary, _) = sentences::checks::summary(analysis);
    let notes = notes(analysis);
    let shape = |state| match state {
        CheckState::Ok => ("ok", "✓", "passed"),
        CheckState::Note => ("note", "i", "note"),
        CheckState::Failed => ("failed", "!", "failed"),
    };
    html! {
        h2 { "Can these numbers be trusted?" }
        p.say { "Checks: " (summary) ". A check that fails takes the place of the verdict." }
        ul.card.checks {
            @for check in sentences::checks::told(analysis) {
                @let (class, glyph, word) = shape(check.state);
                li class=(class) {
                    span.mark aria-hidden="true" { (glyph) }
                    span {
                        b { (check.id) } span.sr { " " (word) } ": "
                        (words::sentence(&check.text))
                    }
                }
            }
        }
        @if !notes.is_empty() || !analysis.nulls.is_empty() || !analysis.discarded.is_empty() {
            div.card.text.below { (caveats(&notes)) (nulls(analysis)) (discarded(analysis)) }
        }
        div.figures.alone.below {
            @for (at, figure) in figures.iter().enumerate() {
                @if figure.kind == Kind::Path { (one_figure(at + 1, figure)) }
            }
        }
    }
}

/// Everything that was noticed and does not take the place of a verdict.
fn notes(analysis: &Analysis) -> Vec<String> {
    let of_questions = words::caveats(analysis).into_iter();
    let refused = analysis.run.refused.iter().map(|(cell, why)| format!("{cell} refused: {why}"));
    let set_up = analysis.checks.iter().filter(|check| check.id == "set-up");
    of_questions.chain(set_up.map(|check| check.text.clone())).chain(refused).collect()
}

fn caveats(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            h3 { "Reasons for doubt" }
            ul { @for note in notes { li { (words::sentence(note)) } } }
        }
    }
}

fn nulls(analysis: &Analysis) -> Markup {
    if analysis.nulls.is_empty() {
        return html! {};
    }
    let rows = analysis.nulls.iter().map(|null| {
        vec![
            null.cell.clone(),
            null.family.to_string(),
            null.metric.noun().to_owned(),
            words::signed_amount(null.metric, null.estimate),
            words::signed_range(null.metric, &null.range),
            match null.within.is_finite() {
                true => number::at_most(null.metric, null.within),
                false => "–".to_owned(),
            },
            null.blocks.to_string(),
            sentences::checks::null_told(null.told).to_owned(),
        ]
    });
    let heads = ["cell", "family", "metric", "seen", "99 % range", "within", "blocks", "check"];
    let table = Table { heads: heads.map(str::to_owned).to_vec(), rows: rows.collect() };
    html! {
        details {
            summary { "Each family against itself" }
            (data_table(&table, "Difference seen where there is none"))
        }
    }
}

fn discarded(analysis: &Analysis) -> Markup {
    if analysis.discarded.is_empty() {
        return html! {};
    }
    let row = |d: &v6gap_judge::analysis::Discarded| {
        vec![d.block.to_string(), d.cell.clone(), d.kind.to_string(), d.why.clone()]
    };
    let heads = ["block", "cell", "kind", "why"];
    let rows = analysis.discarded.iter().map(row).collect();
    let table = Table { heads: heads.map(str::to_owned).to_vec(), rows };
    let n = analysis.discarded.len();
    let kept = words::with_discarded(analysis);
    html! {
        details {
            summary { (n) @if n == 1 { " discarded block" } @else { " discarded blocks" } }
            (data_table(&table, "Discarded blocks"))
            @if let Some(text) = sentences::discards::discards(analysis) { p { (text) } }
            @let tipping = sentences::discards::tipping(analysis);
            @if !tipping.is_empty() { ul { @for text in &tipping { li { (text) } } } }
            @if !kept.is_empty() {
                p { "With them kept the answers would be:" }
                ul { @for kept in kept { li { (kept) } } }
            }
        }
    }
}

fn again(analysis: &Analysis, info: &PageInfo<'_>) -> Markup {
    let run = &analysis.run;
    let address = |family| {
        let address = run.addresses.get(family);
        address.map_or_else(|| "unknown".to_owned(), |a| a.to_string())
    };
    html! {
        h2 { "Run it again" }
        p.say { "The same seed gives the same order of trials." }
        div.card.text {
            pre tabindex="0" aria-label="Command" { code { (info.command) } }
            dl {
                dt { "Run" } dd { (run.id) }
                dt { "Seed" } dd { (format!("{:#x}", run.plan.seed)) }
                dt { "Server" } dd {
                    (run.target) ", IPv4 " (address(Family::V4)) ", IPv6 " (address(Family::V6))
                }
                dt { "Program" } dd { "v6gap " (run.tool) ", " (words::protocol(run)) }
            }
            h3 { "Both ends" }
            dl {
                @for (end, host) in [("client", &run.hosts.client), ("server", &run.hosts.server)] {
                    dt { (host.name) } dd {
                        (end)
                        @for (name, value) in &host.facts { "; " (name) ": " (value) }
                    }
                }
            }
            (sockets(info))
        }
    }
}

fn sockets(info: &PageInfo<'_>) -> Markup {
    if info.sockets.is_empty() {
        return html! {};
    }
    let row = |s: &crate::SocketRow| {
        let asked = s.asked.clone().unwrap_or_else(|| "the system’s choice".to_owned());
        vec![
            s.cell.clone(),
            s.end.to_owned(),
            s.setting.to_owned(),
            asked,
            s.v4.clone(),
            s.v6.clone(),
        ]
    };
    let heads = ["cell", "end", "setting", "asked", "IPv4 got", "IPv6 got"];
    let rows = info.sockets.iter().map(row).collect();
    let table = Table { heads: heads.map(str::to_owned).to_vec(), rows };
    html! {
        details {
            summary { "What the sockets asked for and got" }
            (data_table(&table, "Settings of the sockets"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_headed_by_what_all_its_figures_found() {
        let figure = |title: &str| Figure {
            kind: Kind::Amount,
            id: String::new(),
            title: title.to_owned(),
            desc: String::new(),
            svg: String::new(),
            picture: None,
            height: 0.0,
            table: Table::default(),
            foot: String::new(),
        };
        let head = |titles: &[&str]| {
            let figures: Vec<Figure> = titles.iter().map(|title| figure(title)).collect();
            headline("Amounts", &figures, Kind::Amount)
        };
        assert_eq!(head(&["sent: slower", "charts", "received: slower"]), "Amounts: slower");
        assert_eq!(head(&["sent: slower", "received: no difference that matters"]), "Amounts");
        assert_eq!(head(&["charts"]), "Amounts");
        assert_eq!(head(&[]), "Amounts");
    }
}
