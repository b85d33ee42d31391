//! `fleet history`, `fleet report` and `fleet export`: runs of a path, or of all.

use super::archive::{self, ends};
use super::strips;
use crate::args::{
    FleetExportArgs, FleetHistoryArgs, FleetHistoryFormat, FleetReportArgs, PathArgs,
};
use crate::commands::list::in_columns;
use crate::commands::stored;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::fleet::names::HostName;
use v6gap_core::record::Line;
use v6gap_judge::analysis::analyse;
use v6gap_judge::analysis::summary::{Answer, Summary};
use v6gap_report::html::{self, PageInfo};
use v6gap_report::{answer_in_words, date, sockets};
use v6gap_store::{Lying, RunName, Store};

/// Name and version of the document's form.
const HISTORY_SCHEMA: &str = "v6gap.fleet.history/1";

/// Shows what the runs of a path answered, the latest first.
///
/// # Errors
/// If they cannot be read, or there is none.
pub(super) fn history(args: &FleetHistoryArgs, context: &Context) -> Result<Outcome, Failure> {
    let runs = runs_of(&args.path, context)?;
    let is_asked_for = |answer: &Answer| {
        let asked = args.measure.as_deref();
        asked.is_none_or(|asked| answer.cell == asked || answer.metric.name() == asked)
    };
    let answers = |run: &Lying| -> Vec<Answer> {
        let summary = run.judged.as_deref().and_then(Summary::decode);
        let questions = summary.map(|summary| summary.questions).unwrap_or_default();
        questions.into_iter().filter(is_asked_for).collect()
    };
    let format = if args.json { FleetHistoryFormat::Json } else { args.format };
    output::to_stdout(&match format {
        FleetHistoryFormat::Json => {
            let runs: Vec<Value> = runs.iter().map(|run| as_json(run, &answers(run))).collect();
            output::document(&json!({ "schema": HISTORY_SCHEMA, "runs": runs }))
        }
        FleetHistoryFormat::Strips => strips::document(args, &runs),
        FleetHistoryFormat::Text => output::fit(&context.output.results, &table(&runs, &answers)),
    });
    Ok(Outcome::Done)
}

/// A line for each answer of each run.
fn table(runs: &[Lying], answers: &dyn Fn(&Lying) -> Vec<Answer>) -> String {
    let heads = ["RESULT", "STARTED (UTC)", "FROM", "QUESTION", "VERDICT", "DIFFERENCE", "95 %"];
    let of = |run: &Lying| -> Vec<[String; 7]> {
        let (id, began) = (run.head.id.to_string(), date(run.head.started_unix_ns));
        let from = ends(&run.head).map_or(String::new(), |(from, _)| from.to_string());
        let row = |answer: &Answer| {
            let [question, verdict, effect, range] = answer_in_words(answer);
            [id.clone(), began.clone(), from.clone(), question, verdict, effect, range]
        };
        answers(run).iter().map(row).collect()
    };
    in_columns(heads, runs.iter().flat_map(of))
}

fn as_json(run: &Lying, answers: &[Answer]) -> Value {
    json!({
        "run": run.head.id,
        "between": run.head.between,
        "started_unix_ns": run.head.started_unix_ns,
        "plan": run.head.plan,
        "answers": answers,
    })
}

/// Writes the report of the newest run of a path, or of one that is named.
///
/// # Errors
/// If there is none, or it cannot be read or written.
pub(super) fn report(args: &FleetReportArgs, context: &Context) -> Result<Outcome, Failure> {
    let runs = runs_of(&args.path, context)?;
    let is_it = |run: &&Lying| args.run.as_ref().is_none_or(|asked| run.head.id == *asked);
    let Some(run) = runs.iter().find(is_it) else {
        let (one, other) = (&args.path.from, &args.path.to);
        let what = format!("no run of that name between {one} and {other} is stored here");
        return Err(Failure::new("E502", Outcome::Usage, what)
            .run(format!("v6gap fleet history {one} {other}"), "runs between them"));
    };
    let lines = lines(run, context)?;
    let analysis = analyse(&lines)?;
    let command = session::repeat(&analysis, None);
    let sockets = sockets(&lines);
    let title = format!("{} to {}", args.path.from, args.path.to);
    let info = PageInfo { title: &title, command: &command, sockets: &sockets, facsimile: false };
    stored::write(&html::page(&analysis, &info), args.output.as_deref())?;
    Ok(Outcome::Done)
}

/// Writes runs as files that can be imported elsewhere.
///
/// # Errors
/// If they cannot be read, or a file cannot be written.
pub(super) fn export(args: &FleetExportArgs, context: &Context) -> Result<Outcome, Failure> {
    let runs = archive::read(&args.runs, context, &|_, _| true)?;
    for run in &runs {
        let (_, text) = context.store.lines_and_text(&RunName::File(run.folder.clone()))?;
        let path = args.output.join(format!("{}.jsonl", run.head.id));
        Store::write_file(&path, stored::for_others(text))?;
    }
    let folder = output::shown(&args.output);
    output::to_stdout(&format!("{} runs are in {folder}; v6gap import stores them.", runs.len()));
    Ok(Outcome::Done)
}

fn lines(run: &Lying, context: &Context) -> Result<Vec<Line>, Failure> {
    Ok(context.store.read(&RunName::File(run.folder.clone()))?)
}

/// The runs between two hosts, whichever of them was the near end; the latest first.
fn runs_of(args: &PathArgs, context: &Context) -> Result<Vec<Lying>, Failure> {
    let (one, other) = (&args.from, &args.to);
    let is_of =
        |from: &HostName, to: &HostName| (from, to) == (one, other) || (from, to) == (other, one);
    let runs = archive::read(&args.runs, context, &is_of)?;
    if runs.is_empty() {
        let what = format!("no run between {one} and {other} is stored here");
        return Err(Failure::new("E502", Outcome::Usage, what)
            .run("v6gap fleet matrix", "paths that were measured")
            .run(format!("v6gap fleet history {one} {other} --since 90d"), "further back"));
    }
    Ok(runs)
}
