//! `index`: makes the index of stored results anew, and puts what they say into an archive or a
//! database.

mod archive;
mod look;
mod postgres;
mod progress;
mod stores;
mod tally;

use crate::args::{IndexArgs, IndexCommand, IndexRebuildArgs};
use crate::failure::{Failure, Outcome, results};
use crate::index::judged;
use crate::output;
use crate::settings::Context;
use progress::Progress;
use serde_json::json;
use v6gap_judge::analysis::summary::Summary;
use v6gap_store::Rebuilt;

/// Does with the index what was asked for.
///
/// # Errors
/// If another process writes to it or to the archive, or one of them or a database cannot be
/// written.
pub fn execute(args: &IndexArgs, context: &Context) -> Result<Outcome, Failure> {
    match &args.command {
        IndexCommand::Rebuild(args) => rebuild(args, context),
        IndexCommand::Archive(args) => archive::execute(args, context),
        IndexCommand::Postgres(args) => postgres::execute(args, context),
    }
}

fn rebuild(args: &IndexRebuildArgs, context: &Context) -> Result<Outcome, Failure> {
    let progress = Progress::new();
    let told = |done: usize, all: usize| progress.told(done, all);
    // What another version judged it may have judged otherwise; what could not be judged stays so.
    let is_ours = |text: &str| Summary::decode(text).is_some_and(|summary| summary.is_ours());
    let fits = |text: Option<&str>| !args.afresh && text.is_none_or(is_ours);
    let rebuilt = context.store.rebuild_index(&fits, &judged, &told)?;
    output::to_stdout(&output::fit(&context.output.results, &in_words(args, &rebuilt)));
    for why in &rebuilt.left_out {
        output::to_stderr(&output::fit(&context.output.errors, &format!("note: {why}")));
    }
    Ok(Outcome::Done)
}

fn in_words(args: &IndexRebuildArgs, rebuilt: &Rebuilt) -> String {
    let Rebuilt { runs, judged, measured, left_out } = rebuilt;
    if args.json {
        let document = json!({
            "schema": "v6gap.index/1",
            "results": runs,
            "judged": judged,
            "being_measured": measured,
            "left_out": left_out,
        });
        return format!("{document:#}");
    }
    let mut text = format!("In the index: {}; judged for it: {judged}.", results(*runs));
    if *measured > 0 {
        text += &format!(" Being measured, and left for later: {measured}.");
    }
    text
}
