//! Whether hosts are fit for measuring, for a person.

use crate::text::{Style, column, wrap};
use crate::words;
use v6gap_core::metric::Quantity;
use v6gap_core::unit::{format_rate, format_span, significant};
use v6gap_judge::fitness::noise::{Found, Noise};
use v6gap_judge::fitness::{self, Finding, State};

/// Columns that the page fills at most.
const WIDTH: usize = 90;

/// Columns before what was seen.
const INDENT: usize = 23;

/// What was found of the hosts.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The far host as it was named, if there is one.
    pub target: Option<&'a str>,
    /// The command that measures to it.
    pub next: &'a str,
    /// What was seen of both.
    pub findings: &'a [Finding],
    /// The noise of each family and question; none if it was not measured.
    pub noises: &'a [Noise],
    /// What can be found above it, by question.
    pub found: &'a [Found],
    /// What the usual runs are called, in the order of [`Found::runs`].
    pub runs: &'a [&'a str],
}

/// The whole page.
pub fn page(found: &Page<'_>, style: &Style) -> String {
    let width = style.width.clamp(60, WIDTH);
    let mut out = format!("{}\n", wrap(&answer(found), width, ""));
    for near in [true, false] {
        let of: Vec<&Finding> = found.findings.iter().filter(|f| f.near == near).collect();
        let Some(first) = of.first() else { continue };
        let who = if near { "this host" } else { "the other host" };
        out.push_str(&format!("\n{} ({who})\n", first.host));
        of.into_iter().for_each(|finding| out.push_str(&in_words(finding, width)));
    }
    out.push_str(&floor(found));
    if found.target.is_some() && fitness::is_fit(found.findings) {
        out.push_str(&format!("\nReady:  {}\n", found.next));
    }
    out
}

fn answer(found: &Page<'_>) -> String {
    let count = |state| found.findings.iter().filter(|f| f.state == state).count();
    let who = match found.target {
        Some(target) => format!("This host and {target} are"),
        None => "This host is".to_owned(),
    };
    match (count(State::Trouble), count(State::Note)) {
        (0, 0) => format!("{who} fit for measuring."),
        (0, 1) => format!("{who} fit for measuring. One thing adds noise or limits it."),
        (0, notes) => {
            format!("{who} fit for measuring. {notes} things add noise or limit it.")
        }
        (_, _) => format!("{who} not fit for measuring as things stand."),
    }
}

fn in_words(finding: &Finding, width: usize) -> String {
    let mark = match finding.state {
        State::Ok => "ok",
        State::Unavailable => "-",
        State::Note => "note",
        State::Trouble => "TROUBLE",
    };
    let indent = " ".repeat(INDENT);
    let room = width - INDENT;
    let below = |text: &str| {
        let lines = wrap(text, room, "");
        lines.lines().map(|line| format!("{indent}{line}\n")).collect::<String>()
    };
    let seen = wrap(&finding.seen, room, "");
    let mut lines = seen.lines();
    let first = lines.next().unwrap_or_default();
    let mut out = format!(" {mark:<7} {:<13} {first}\n", finding.topic);
    lines.for_each(|line| out.push_str(&format!("{indent}{line}\n")));
    if let Some(effect) = &finding.effect {
        out.push_str(&below(&format!("So: {effect}.")));
    }
    // Commands stay whole, so that they can be copied.
    finding.improve.iter().for_each(|command| out.push_str(&format!("{indent}$ {command}\n")));
    out
}

/// The noise and what can be found above it.
fn floor(found: &Page<'_>) -> String {
    if found.noises.is_empty() {
        return String::new();
    }
    let place = found.target.unwrap_or("loopback");
    let mut out = format!("\nNoise: a family against itself, to {place}\n");
    let width = column(found.noises.iter().map(|noise| noise.label.as_str())).max(8);
    out.push_str(&format!(
        "{:width$}  {:6} {:>5}  {:>11}  {:>12}  {:>18}\n",
        "", "family", "pairs", "value", "SD of a pair", "95 % range"
    ));
    for noise in found.noises {
        let spread = format!("{} %", significant(noise.sd.exp_m1() * 100.0, 2));
        out.push_str(&format!(
            "{:width$}  {:6} {:>5}  {:>11}  {spread:>12}  {:>18}\n",
            noise.label,
            noise.family.to_string(),
            noise.pairs,
            value(noise),
            words::signed_range(noise.metric, &noise.range),
        ));
    }
    out.push_str("\nSmallest difference that a run finds in four of five times\n");
    out.push_str(&format!("{:width$}", ""));
    for (name, length) in found.runs.iter().zip(found.found.iter().flat_map(|f| &f.runs)) {
        out.push_str(&format!("  {:>16}", format!("{name} ({})", length.pairs)));
    }
    out.push('\n');
    for found in found.found {
        out.push_str(&format!("{:width$}", found.label));
        for length in &found.runs {
            let smallest = length.smallest.map(|s| format!("{} %", significant(s * 100.0, 2)));
            out.push_str(&format!("  {:>16}", smallest.unwrap_or_else(|| "nothing".to_owned())));
        }
        out.push('\n');
    }
    out.push_str("In brackets: pairs that it has time for. Longer trials are often less noisy.\n");
    out
}

fn value(noise: &Noise) -> String {
    match (noise.value, noise.metric.quantity()) {
        (None, _) => "–".to_owned(),
        (Some(value), Quantity::Rate) => format_rate(value),
        (Some(value), _) => format_span(value * 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::Family;
    use v6gap_core::metric::Metric;
    use v6gap_judge::analysis::Range;

    /// A figure has its range, or says what it is.
    #[test]
    fn noise_is_told_by_name_and_with_a_range() {
        let noise = |family, range| Noise {
            family,
            cell: "rtt-tcp-64".to_owned(),
            label: "Round trip 64 B, TCP".to_owned(),
            metric: Metric::Rtt,
            pairs: 20,
            discarded: 0,
            value: Some(145e-6),
            sd: 0.0049,
            estimate: 0.0004,
            range,
            passed: Some(true),
        };
        let noises = [
            noise(Family::V4, Range { low: -0.00131, high: 0.00214 }),
            noise(Family::V6, Range { low: -0.5, high: f64::INFINITY }),
        ];
        let found =
            Page { target: None, next: "", findings: &[], noises: &noises, found: &[], runs: &[] };
        let said = page(&found, &Style::default());
        assert!(said.contains("SD of a pair          95 % range\n"), "{said}");
        assert!(said.contains("145 µs        0.49 %    −0.14 to +0.22 %\n"), "{said}");
        assert!(said.contains("0.49 %           unbounded\n"), "{said}");
        assert!(!said.contains('±'), "{said}");
    }
}
