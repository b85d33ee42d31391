//! `index`: makes the index of stored results anew.

use crate::args::{IndexArgs, IndexCommand, IndexRebuildArgs};
use crate::failure::{Failure, Outcome};
use crate::index::judged;
use crate::output;
use crate::settings::Context;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use v6gap_store::Rebuilt;
use v6gap_sys::clock::now_ns;

/// How often is said how far it is, in ns.
const EVERY_NS: u64 = 1_000_000_000;

/// Does with the index what was asked for.
///
/// # Errors
/// If another process writes to it, or it cannot be written.
pub fn execute(args: &IndexArgs, context: &Context) -> Result<Outcome, Failure> {
    let IndexCommand::Rebuild(args) = &args.command;
    let said_ns = AtomicU64::new(now_ns());
    let told = |done: usize, all: usize| {
        let (last, now) = (said_ns.load(Ordering::Relaxed), now_ns());
        // Of several threads one says it.
        let is_due = now.saturating_sub(last) >= EVERY_NS
            && said_ns.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due {
            output::to_stderr(&format!("{done} of {all} results"));
        }
    };
    let rebuilt = context.store.rebuild_index(args.afresh, &judged, &told)?;
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
    let mut text = format!("{runs} results are in the index; {judged} were judged for it.");
    if *measured > 0 {
        text += &format!(" {measured} are being measured, and get in when they end.");
    }
    text
}
