//! The ways to a host over both families, router by router, side by side.

use super::grid::{Cell, Column, Grid};
use super::say;
use super::style::{Style, Tone};
use crate::{sentences, ways};
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::ladder::Rung;
use v6gap_core::path_mtu::PathMtu;
use v6gap_judge::analysis::Analysis;

const NS_PER_MS: f64 = 1e6;

/// Adds what a run knows of the ways, if it looked for them.
pub(super) fn add(analysis: &Analysis, style: &Style, out: &mut String) {
    let run = &analysis.run;
    out.push_str(&table(run.hops.as_ref(), run.path_mtu.as_ref(), style));
}

/// A line for each distance, with who answered from there and the shortest time to an answer, and
/// what follows of them; sentences where a table does not fit or is not wanted.
///
/// No line is longer than `style.width` (at least [`Style::WIDTH_MIN`]).
pub fn table(
    hops: Option<&PerFamily<Vec<Rung>>>,
    path_mtu: Option<&PerFamily<PathMtu>>,
    style: &Style,
) -> String {
    let mut out = String::new();
    if let Some(hops) = hops {
        match grid(hops, style).render(style).filter(|_| !style.plain) {
            Some(text) => out.push_str(&text),
            None => (0..ways::distances(hops)).for_each(|index| {
                let answer =
                    |family: Family| (family.to_string(), ways::answer(hops.get(family), index));
                say(style, &mut out, &ways::told(index, Family::BOTH.map(answer)));
            }),
        }
    }
    for sentence in sentences::way(hops, path_mtu) {
        say(style, &mut out, &sentence);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn grid(hops: &PerFamily<Vec<Rung>>, style: &Style) -> Grid {
    let cell = |text: String, tone| Cell::new(style.clean(&text), tone);
    let plain = |text: &str| cell(text.to_owned(), Tone::Plain);
    let mut rows = vec![vec![
        plain("Path"),
        cell("○ IPv4".to_owned(), Tone::Arm(Arm::A)),
        plain("ms"),
        cell("◆ IPv6".to_owned(), Tone::Arm(Arm::B)),
        plain("ms"),
    ]];
    for index in 0..ways::distances(hops) {
        let mut row = vec![plain(&(index + 1).to_string())];
        for (family, arm) in [(Family::V4, Arm::A), (Family::V6, Arm::B)] {
            let (who, best_ns) = ways::answer(hops.get(family), index).unwrap_or_default();
            let ms = best_ns.map(|ns| format!("{:.1}", ns as f64 / NS_PER_MS));
            row.extend([cell(who, Tone::Arm(arm)), plain(&ms.unwrap_or_default())]);
        }
        rows.push(row);
    }
    let columns = vec![
        Column::right(),
        Column::left(Some(15)),
        Column::right(),
        Column::left(Some(15)),
        Column::right(),
    ];
    Grid { columns, rows }
}
