//! The ways to a host over both families, router by router, side by side.

use super::grid::{Cell, Column, Grid};
use super::style::{Style, Tone};
use crate::ways;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_judge::analysis::Analysis;

const NS_PER_MS: f64 = 1e6;

/// Adds a line for each distance, with who answered from there and the shortest time to an answer.
pub(super) fn add(analysis: &Analysis, style: &Style, out: &mut String) {
    let Some(hops) = &analysis.run.hops else { return };
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
    if let Some(text) = (Grid { columns, rows }).render(style) {
        out.push_str(&text);
        out.push('\n');
    }
}
