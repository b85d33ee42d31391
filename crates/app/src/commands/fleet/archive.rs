//! Runs between hosts of a fleet, wherever they lie.

use crate::args::RunsArgs;
use crate::failure::Failure;
use crate::index::judged;
use crate::output;
use crate::settings::Context;
use std::path::PathBuf;
use v6gap_core::fleet::names::HostName;
use v6gap_judge::analysis::summary::Summary;
use v6gap_judge::matrix::Said;
use v6gap_store::{Head, Lying, Store, runs_below};
use v6gap_sys::clock::wall_ns;

/// The runs that are asked for, the latest first.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn read(
    args: &RunsArgs,
    context: &Context,
    keep: &(dyn Fn(&HostName, &HostName) -> bool + Sync),
) -> Result<Vec<Lying>, Failure> {
    let folder = folder(args, context);
    if args.runs.is_none() && !Store::exists(&folder) {
        return Ok(Vec::new());
    }
    let since_unix_ns = now_unix_ns(args).saturating_sub(args.since);
    let to_unix_ns = args.at_unix_ns.unwrap_or(u64::MAX);
    let is_kept = |head: &Head| {
        let is_then = head.started_unix_ns <= to_unix_ns;
        is_then && ends(head).is_some_and(|(from, to)| keep(&from, &to))
    };
    let found = runs_below(&folder, since_unix_ns, &is_kept, &judged)?;
    for why in &found.left_out {
        output::to_stderr(&output::fit(&context.output.errors, &format!("note: {why}")));
    }
    Ok(found.runs)
}

/// Where the runs lie.
pub(super) fn folder(args: &RunsArgs, context: &Context) -> PathBuf {
    args.runs.clone().unwrap_or_else(|| context.store.data().join("runs"))
}

/// The time of which is told, in ns since the Unix epoch.
pub(super) fn now_unix_ns(args: &RunsArgs) -> u64 {
    args.at_unix_ns.unwrap_or_else(wall_ns)
}

/// The hosts that a run is between, if it is one of a fleet.
pub(super) fn ends(head: &Head) -> Option<(HostName, HostName)> {
    let [from, to] = head.between.as_ref()?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// What a run says, if it can be judged.
pub(super) fn said(run: &Lying) -> Option<Said> {
    let (from, to) = ends(&run.head)?;
    Some(Said {
        from,
        to,
        run: run.head.id.clone(),
        began_unix_ns: run.head.started_unix_ns,
        summary: Summary::decode(run.judged.as_deref()?)?,
    })
}
