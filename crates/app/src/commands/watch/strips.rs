//! The history of a path for pages: a picture of each question with its spells in words, when a
//! family did not answer, and the runs of each day.

use crate::commands::strips;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use v6gap_perform::always::history::{History, Wanted};
use v6gap_report::date;

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.watch.strips/1";

/// A history up to now, in ns since the Unix epoch.
pub fn document(wanted: &Wanted, found: &History, now_unix_ns: u64) -> String {
    strips::document(SCHEMA, wanted, found, now_unix_ns, &runs(found))
}

/// The runs that visits measured into, the latest first: when the first of their visits began, and
/// how many there were.
fn runs(found: &History) -> Vec<Value> {
    let mut runs: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for point in &found.visits {
        let Some(run) = &point.run else { continue };
        let began = runs.entry(run.as_str()).or_default();
        // A visit has a point for each question.
        if began.last() != Some(&point.began_unix_ns) {
            began.push(point.began_unix_ns);
        }
    }
    let first = |(run, began): (_, Vec<u64>)| Some((*began.first()?, run, began.len()));
    let mut runs: Vec<(u64, &str, usize)> = runs.into_iter().filter_map(first).collect();
    runs.sort_unstable_by(|one, other| other.cmp(one));
    let told = |(began, run, visits): (u64, &str, usize)| {
        json!({
            "run": run,
            "began": date(began),
            "visits": visits,
        })
    };
    runs.into_iter().map(told).collect()
}
