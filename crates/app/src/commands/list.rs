//! `list`: what is stored, the latest first.

use crate::args::ListArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::record::Ending;
use v6gap_core::unit::format_bytes;
use v6gap_store::{Entry, Listed, Note};

/// Lists stored results.
///
/// # Errors
/// If the folder of results cannot be read.
pub fn execute(args: &ListArgs, context: &Context) -> Result<Outcome, Failure> {
    let Listed { runs: entries, left_out } = context.store.survey()?;
    let text = match args.json {
        true => format!(
            "{:#}",
            Value::from(entries.iter().map(|entry| as_json(entry, context)).collect::<Vec<_>>())
        ),
        false if entries.is_empty() => "Nothing is stored yet.  v6gap demo --quick".to_owned(),
        false => table(&entries, context),
    };
    output::to_stdout(&output::fit(&context.output.results, &text));
    for why in left_out {
        output::to_stderr(&output::fit(&context.output.errors, &format!("note: {why}")));
    }
    Ok(Outcome::Done)
}

fn as_json(entry: &Entry, context: &Context) -> Value {
    let header = &entry.header;
    let Note { title, note } = context.store.note(&header.id);
    json!({
        "id": header.id,
        "started_unix_ns": header.started_unix_ns,
        "target": header.target,
        "plan": header.plan.name,
        "ending": ending(entry),
        "journal_bytes": entry.bytes,
        "title": title,
        "note": note,
    })
}

fn ending(entry: &Entry) -> &'static str {
    match entry.ending {
        Some(Ending::Complete) => "complete",
        Some(Ending::Stopped) => "stopped",
        Some(Ending::Failed { .. }) => "failed",
        None => "broken off",
    }
}

/// Columns as wide as their widest entry, the last one left open.
fn table(entries: &[Entry], context: &Context) -> String {
    let titles = entries.iter().map(|entry| context.store.note(&entry.header.id).title);
    let titles: Vec<String> = titles.collect();
    let title = if titles.iter().all(String::is_empty) { "" } else { "TITLE" };
    let heads = ["RESULT", "STARTED (UTC)", "AGAINST", "PLAN", "ENDED", "SIZE", title];
    let heads = heads.map(str::to_owned);
    let row = |(entry, title): (&Entry, &String)| {
        let header = &entry.header;
        [
            header.id.to_string(),
            date(header.started_unix_ns),
            header.target.clone(),
            header.plan.name.clone(),
            ending(entry).to_owned(),
            format_bytes(entry.bytes),
            title.clone(),
        ]
    };
    let rows = std::iter::once(heads).chain(entries.iter().zip(&titles).map(row));
    let rows: Vec<[String; 7]> = rows.collect();
    let width = |column: usize| output::column(rows.iter().map(|r| r[column].as_str()));
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Date and time of a moment, in UTC, to the minute (civil calendar from days since 1970).
fn date(unix_ns: u64) -> String {
    let minutes = unix_ns / 60_000_000_000;
    let (days, minute) = (minutes / 1440, minutes % 1440);
    // Days since 1 March of year 0: a year that begins in March has its leap day at its end.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_civil_calendar() {
        let at = |seconds: u64| date(seconds * 1_000_000_000);
        assert_eq!(at(0), "1970-01-01 00:00");
        assert_eq!(at(951_827_696), "2000-02-29 12:34");
        assert_eq!(at(1_709_251_199), "2024-02-29 23:59");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00");
    }
}
