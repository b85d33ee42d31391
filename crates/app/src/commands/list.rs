//! `list`: what is stored, the latest first, and what it answered.

use crate::args::ListArgs;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::unit::format_bytes;
use v6gap_judge::analysis::summary::Summary;
use v6gap_report::{answer_in_words, date};
use v6gap_store::{Ended, Head, Index, Row, Store};

/// So many results that are not in the index are worth a word.
const MANY: usize = 100;

/// Lists stored results.
///
/// # Errors
/// If the folder of results cannot be read.
pub fn execute(args: &ListArgs, context: &Context) -> Result<Outcome, Failure> {
    let found = index::with(&context.store, &|head| args.answers && is_asked_for(args, head))?;
    let asked = found.rows().iter().filter(|row| is_asked_for(args, &row.head));
    let rows: Vec<&Row> = asked.take(args.last.unwrap_or(usize::MAX)).collect();
    let text = match args.json {
        true => {
            let rows = rows.iter().map(|row| as_json(row, args.answers, &context.store));
            output::document(&Value::from(rows.collect::<Vec<_>>()))
        }
        false => {
            let words = match (found.rows().is_empty(), rows.is_empty(), args.answers) {
                (true, ..) => "Nothing is stored yet.  v6gap demo --quick".to_owned(),
                (_, true, _) => "Nothing like that is stored.  v6gap list".to_owned(),
                (.., true) => answers(&rows),
                (.., false) => table(&rows, &context.store),
            };
            output::fit(&context.output.results, &words)
        }
    };
    output::to_stdout(&text);
    let unjudged = if args.answers { not_judged(&rows, &context.store) } else { 0 };
    notes(&found, unjudged, context);
    drop(rows);
    // The program ends here; giving a long list back piece by piece would only take time.
    std::mem::forget(found);
    Ok(Outcome::Done)
}

/// How many of these have no answers yet, and would get them if the index were made anew.
fn not_judged(rows: &[&Row], store: &Store) -> usize {
    let is_behind = |row: &&&Row| row.lags() && !store.is_measured(&row.head.id);
    rows.iter().filter(is_behind).count()
}

/// Says what is left out, and what would make the next list quick; `unjudged` of the runs that it
/// has say nothing yet.
fn notes(found: &Index, unjudged: usize, context: &Context) {
    let say = |why: &str| {
        output::to_stderr(&output::fit(&context.output.errors, &format!("note: {why}")));
    };
    found.left_out().iter().for_each(|why| say(why));
    if unjudged > 0 {
        let of_these = if unjudged == 1 { "of these is" } else { "of these are" };
        say(&format!("{unjudged} {of_these} not judged yet: v6gap index rebuild"));
        return;
    }
    let behind = found.lagging().count();
    if behind >= MANY {
        say(&format!("{behind} results are not in the index: v6gap index rebuild puts them in"));
    }
}

fn is_asked_for(args: &ListArgs, head: &Head) -> bool {
    let is = |wanted: &Option<String>, text: &str| wanted.as_ref().is_none_or(|w| w == text);
    is(&args.against, &head.target)
        && is(&args.plan, &head.plan)
        && args.before_unix_ns.is_none_or(|before| head.started_unix_ns < before)
}

fn as_json(row: &Row, answers: bool, store: &Store) -> Value {
    let head = &row.head;
    let mut document = json!({
        "id": head.id,
        "started_unix_ns": head.started_unix_ns,
        "target": head.target,
        "plan": head.plan,
        "ending": ending(head, store),
        "journal_bytes": head.journal_bytes,
        "title": head.title,
        "note": head.note,
    });
    if answers {
        // As it is kept (docs/record.md); nothing where it is not known yet.
        let judged = row.judged().and_then(|judged| serde_json::from_str(judged).ok());
        document["summary"] = judged.unwrap_or(Value::Null);
    }
    document
}

fn ending(head: &Head, store: &Store) -> &'static str {
    match head.ended {
        Some(Ended::Complete) => "complete",
        Some(Ended::Stopped) => "stopped",
        Some(Ended::Failed) => "failed",
        None if store.is_measured(&head.id) => "going on",
        None => "broken off",
    }
}

fn table(rows: &[&Row], store: &Store) -> String {
    let title = if rows.iter().all(|row| row.head.title.is_empty()) { "" } else { "TITLE" };
    let heads = ["RESULT", "STARTED (UTC)", "AGAINST", "PLAN", "ENDED", "SIZE", title];
    let row = |row: &&Row| {
        let head = &row.head;
        [
            head.id.to_string(),
            date(head.started_unix_ns),
            head.target.clone(),
            head.plan.clone(),
            ending(head, store).to_owned(),
            format_bytes(head.journal_bytes),
            head.title.clone(),
        ]
    };
    in_columns(heads, rows.iter().map(row))
}

/// A line for each question of each run.
fn answers(rows: &[&Row]) -> String {
    let heads = ["RESULT", "STARTED (UTC)", "QUESTION", "VERDICT", "DIFFERENCE", "95 %"];
    let of = |row: &&Row| {
        let head = &row.head;
        let (id, date) = (head.id.to_string(), date(head.started_unix_ns));
        let summary = row.judged().and_then(Summary::decode);
        let questions = summary.map(|summary| summary.questions).unwrap_or_default();
        let line = move |[question, verdict, effect, range]: [String; 4]| {
            [id.clone(), date.clone(), question, verdict, effect, range]
        };
        questions.into_iter().map(move |answer| line(answer_in_words(&answer)))
    };
    in_columns(heads, rows.iter().flat_map(of))
}

/// Columns as wide as their widest entry, the last one left open.
pub(super) fn in_columns<const N: usize>(
    heads: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let rows: Vec<[String; N]> = std::iter::once(heads.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| output::column(rows.iter().map(|r| r[column].as_str()));
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            text += cell;
            let missing = width.saturating_sub(cell.chars().count());
            text.extend(std::iter::repeat_n(' ', missing + 2));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
