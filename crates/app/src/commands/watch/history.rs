//! `watch history`: what the visits of a path found.

use super::strips;
use crate::args::{HistoryFormat, WatchHistoryArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::family::PerFamily;
use v6gap_perform::always;
use v6gap_perform::always::history::{self, Day, History, Point, Silence, Spells, Wanted};
use v6gap_report::{changes, date};

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.watch.history/1";

/// A day in ns.
const DAY_NS: u64 = 86_400_000_000_000;

/// Shows what the visits of a path found.
///
/// # Errors
/// If there is no such path, or the log cannot be read.
pub fn execute(args: &WatchHistoryArgs, context: &Context) -> Result<Outcome, Failure> {
    let now_unix_ns = args.at_unix_ns.unwrap_or_else(|| always::now().unix_ns);
    let wanted = Wanted {
        path: args.path.clone(),
        measure: args.measure.clone(),
        since_unix_ns: now_unix_ns.saturating_sub(args.since),
        // Where a clock was set back, what came before that is later than now.
        to_unix_ns: args.at_unix_ns.unwrap_or(u64::MAX),
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
        HistoryFormat::Text => output::fit(&context.output.results, &table(&wanted.path, &found)),
        HistoryFormat::Csv => csv(&wanted.path, &found),
        HistoryFormat::CsvSpells => csv_of_spells(&wanted.path, &found),
        HistoryFormat::Json => output::document(&document(&wanted, &found)),
        HistoryFormat::Strips => strips::document(&wanted, &found, now_unix_ns),
    });
    Ok(Outcome::Done)
}

/// A line for each spell, the questions one after the other, and what is to be said of changes.
fn table(path: &str, found: &History) -> String {
    let heads =
        ["QUESTION", "FROM (UTC)", "TO", "VISITS", "EFFECT", "95 % RANGE", "ANSWER", "FOUND"];
    let mut rows = vec![heads.map(str::to_owned)];
    let mut said = String::new();
    for Spells { asked, all } in &found.spells {
        for (number, spell) in all.iter().enumerate() {
            // The question stands in its first line alone.
            let label = if number == 0 { asked.label.clone() } else { String::new() };
            let words = changes::spell_in_words(asked, spell, number + 1 == all.len());
            let [from, to, visits, effect, range, answer, when] = words;
            rows.push([label, from, to, visits, effect, range, answer, when]);
            if let Some(change) = &spell.change {
                let of = format!("{}, {}: ", asked.label, date(change.first.unix_ns));
                said.push_str(&of);
                said.push_str(&changes::sentences(path, asked, change).join(" "));
                said.push('\n');
            }
        }
    }
    if rows.len() == 1 {
        return "No visit measured it.\n".to_owned();
    }
    let width = |column: usize| output::column(rows.iter().map(|row| row[column].as_str()));
    let widths: [usize; 8] = std::array::from_fn(width);
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect::<String>() + &said
}

/// A row for each spell.
fn csv_of_spells(path: &str, found: &History) -> String {
    let mut out = format!("path,{}\n", changes::SPELL_CSV_HEAD);
    for Spells { asked, all } in &found.spells {
        for (number, spell) in all.iter().enumerate() {
            let row = changes::spell_csv(asked, spell, number + 1 == all.len());
            out.push_str(&format!("{},{row}\n", quoted(path)));
        }
    }
    out
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
    let spells = found.spells.iter().flat_map(|Spells { asked, all }| {
        all.iter().enumerate().map(move |(number, spell)| {
            changes::spell_json(&wanted.path, asked, spell, number + 1 == all.len())
        })
    });
    let outage = |of: &Silence| {
        json!({
            "family": of.family,
            "since_unix_ns": of.since_unix_ns,
            "until_unix_ns": of.until_unix_ns,
        })
    };
    json!({
        "schema": SCHEMA,
        "path": wanted.path,
        "since_unix_ns": wanted.since_unix_ns,
        "outages": found.silences.iter().map(outage).collect::<Vec<_>>(),
        "spells": spells.collect::<Vec<_>>(),
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
}
