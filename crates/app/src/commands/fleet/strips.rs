//! The history of a path of a fleet for pages: ranges and changes of each question as a picture,
//! and every run.

use super::archive;
use crate::args::FleetHistoryArgs;
use crate::commands::strips;
use serde_json::{Value, json};
use v6gap_judge::matrix::Said;
use v6gap_perform::always::fleet;
use v6gap_perform::always::history::Wanted;
use v6gap_report::date;
use v6gap_store::Lying;

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.fleet.strips/1";

/// The history of the runs of a path, the latest first. Both directions of a path are two: pictures
/// are of the way that is asked for, or of the way back where that alone was measured.
pub(super) fn document(args: &FleetHistoryArgs, runs: &[Lying]) -> String {
    let (from, to) = (&args.path.from, &args.path.to);
    let said: Vec<Said> = runs.iter().filter_map(archive::said).collect();
    let there: Vec<&Said> = said.iter().filter(|said| said.from == *from).collect();
    let (shown, path) = match there.is_empty() {
        true => (said.iter().collect(), format!("{to} to {from}")),
        false => (there, format!("{from} to {to}")),
    };
    let now_unix_ns = archive::now_unix_ns(&args.path.runs);
    let wanted = Wanted {
        path,
        measure: args.measure.clone(),
        since_unix_ns: now_unix_ns.saturating_sub(args.path.runs.since),
        to_unix_ns: u64::MAX,
    };
    let found = fleet::history(&wanted, &shown);
    strips::document(SCHEMA, &wanted, &found, now_unix_ns, &told(runs))
}

/// Each run, also one without figures.
fn told(runs: &[Lying]) -> Vec<Value> {
    let told = |run: &Lying| {
        let said = archive::said(run);
        json!({
            "run": run.head.id,
            "began": date(run.head.started_unix_ns),
            "from": run.head.between.as_ref().map(|[from, _]| from),
            "headline": said.map(|said| said.summary.headline),
        })
    };
    runs.iter().map(told).collect()
}
