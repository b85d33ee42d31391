//! `watch history`: what the visits of a path found.

use crate::args::{HistoryFormat, WatchHistoryArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::family::PerFamily;
use v6gap_core::metric::{Metric, Quantity};
use v6gap_core::unit::{format_rate, format_share, format_span, significant};
use v6gap_perform::always;
use v6gap_perform::always::history::{self, Day, History, Point, Wanted};
use v6gap_report::date;

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.watch.history/1";

/// A day in ns.
const DAY_NS: u64 = 86_400_000_000_000;

/// Shows what the visits of a path found.
///
/// # Errors
/// If there is no such path, or the log cannot be read.
pub fn execute(args: &WatchHistoryArgs, context: &Context) -> Result<Outcome, Failure> {
    let wanted = Wanted {
        path: args.path.clone(),
        measure: args.measure.clone(),
        since_unix_ns: always::now().unix_ns.saturating_sub(args.since),
    };
    let found = history::read(&context.store, &wanted)?;
    if !found.paths.contains(&wanted.path) {
        let what = format!("no path that was watched lately is called \"{}\"", wanted.path);
        let known = match found.paths.is_empty() {
            true => "None was.".to_owned(),
            false => format!("There is {}.", found.paths.join(", ")),
        };
        return Err(Failure::usage(what).seen(known).run("v6gap watch status", "how all paths do"));
    }
    let format = if args.json { HistoryFormat::Json } else { args.format };
    output::to_stdout(&match format {
        HistoryFormat::Text => output::fit(&context.output.results, &table(&found)),
        HistoryFormat::Csv => csv(&wanted.path, &found),
        HistoryFormat::Json => format!("{:#}", document(&wanted, &found)),
    });
    Ok(Outcome::Done)
}

/// A line for each day and question, the questions one after the other.
fn table(found: &History) -> String {
    let mut days: Vec<&Day> = found.days.iter().collect();
    days.sort_by(|a, b| (&a.cell, a.metric, a.day).cmp(&(&b.cell, b.metric, b.day)));
    if days.is_empty() {
        return "No visit measured it.\n".to_owned();
    }
    let heads = ["QUESTION", "DAY (UTC)", "VISITS", "IPV4", "IPV6", "ANSWER", ""];
    let row = |day: &&Day| {
        let PerFamily { v4, v6 } = day.values.map(|value| value_of(day.metric, value));
        let (answer, text, label) = match &day.answer {
            Some(answer) => (answer.answer.clone(), answer.text.clone(), answer.label.clone()),
            None => ("–".to_owned(), String::new(), format!("{} {}", day.cell, day.metric)),
        };
        let when = date(day.day.saturating_mul(DAY_NS));
        let when = when.split(' ').next().unwrap_or_default().to_owned();
        [label, when, day.visits.to_string(), v4, v6, answer, text]
    };
    let mut rows = vec![heads.map(str::to_owned)];
    rows.extend(days.iter().map(row));
    let width = |column: usize| output::column(rows.iter().map(|row| row[column].as_str()));
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// A value with its unit.
fn value_of(metric: Metric, value: f64) -> String {
    match metric.quantity() {
        Quantity::Rate => format_rate(value),
        Quantity::Frequency => format!("{} /s", significant(value, 3)),
        Quantity::Time => format_span(value * 1e9),
        Quantity::Share => format_share(value),
        Quantity::Cost => format!("{} s/GB", significant(value * 1e9, 3)),
    }
}

/// A row for each visit and question, in SI units and full precision.
fn csv(path: &str, found: &History) -> String {
    let mut out = "path,kind,began_unix_ns,run,cell,metric,blocks,v4,v6,effect\n".to_owned();
    for Point { began_unix_ns, kind, run, seen, effect } in &found.visits {
        let run = run.as_ref().map_or("", |run| run.as_str());
        let PerFamily { v4, v6 } = seen.values;
        out.push_str(&format!(
            "{},{},{began_unix_ns},{run},{},{},{},{v4},{v6},{effect}\n",
            quoted(path),
            kind.name(),
            seen.cell,
            seen.metric,
            seen.blocks,
        ));
    }
    out
}

/// A text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn document(wanted: &Wanted, found: &History) -> Value {
    let visit = |of: &Point| {
        json!({
            "began_unix_ns": of.began_unix_ns,
            "kind": of.kind,
            "run": of.run,
            "cell": of.seen.cell,
            "metric": of.seen.metric,
            "blocks": of.seen.blocks,
            "v4": of.seen.values.v4,
            "v6": of.seen.values.v6,
            "effect": of.effect,
        })
    };
    let day = |of: &Day| {
        json!({
            "day_unix_ns": of.day.saturating_mul(DAY_NS),
            "cell": of.cell,
            "metric": of.metric,
            "visits": of.visits,
            "v4": of.values.v4,
            "v6": of.values.v6,
            "answer": of.answer,
        })
    };
    json!({
        "schema": SCHEMA,
        "path": wanted.path,
        "since_unix_ns": wanted.since_unix_ns,
        "visits": found.visits.iter().map(visit).collect::<Vec<_>>(),
        "days": found.days.iter().map(day).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_field_of_a_table() {
        assert_eq!(quoted("lab-b"), "lab-b");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn values_have_the_unit_of_their_metric() {
        assert_eq!(value_of(Metric::Rtt, 145e-6), "145 µs");
        assert_eq!(value_of(Metric::Throughput, 94.1e6), "94.1 Mbit/s");
        assert_eq!(value_of(Metric::Loss, 0.01), "1 %");
    }
}
