//! The history of a path for pages: a picture of each question with its spells in words, when a
//! family did not answer, and the runs of each day.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use v6gap_core::family::Family;
use v6gap_perform::always::history::{History, Point, Spells, Wanted};
use v6gap_report::figure::{Course, Strip, silence_in_words, strip};
use v6gap_report::{changes, date, json_escaped};

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.watch.strips/1";

/// A history up to now, in ns since the Unix epoch.
pub fn document(wanted: &Wanted, found: &History, now_unix_ns: u64) -> String {
    let silences: Vec<(Family, u64, Option<u64>)> =
        found.silences.iter().map(|of| (of.family, of.since_unix_ns, of.until_unix_ns)).collect();
    let of_question = |spells: &Spells| {
        let own = |point: &&Point| {
            point.seen.cell == spells.asked.cell && point.seen.metric == spells.asked.metric
        };
        let visits = found.visits.iter().filter(own).map(|of| (of.began_unix_ns, of.effect));
        let visits: Vec<(u64, f64)> = visits.collect();
        let course = Course {
            path: &wanted.path,
            spells,
            visits: &visits,
            silences: &silences,
            to_unix_ns: now_unix_ns,
        };
        strip(&course).map(|strip| of_strip(&wanted.path, spells, &strip))
    };
    let outages =
        silences.iter().map(|(family, since, until)| silence_in_words(*family, *since, *until));
    let document = json!({
        "schema": SCHEMA,
        "path": wanted.path,
        "since_unix_ns": wanted.since_unix_ns,
        "at_unix_ns": now_unix_ns,
        "strips": found.spells.iter().filter_map(of_question).collect::<Vec<_>>(),
        "outages": outages.collect::<Vec<_>>(),
        "runs": runs(found),
    });
    json_escaped(document.to_string())
}

fn of_strip(path: &str, spells: &Spells, strip: &Strip) -> Value {
    let asked = &spells.asked;
    let changes = spells.all.iter().filter_map(|spell| spell.change.as_ref()).map(|change| {
        let said = changes::sentences(path, asked, change);
        json!({"first": date(change.first.unix_ns), "sentences": said})
    });
    json!({
        "cell": asked.cell,
        "metric": asked.metric,
        "label": asked.label,
        "title": strip.title,
        "desc": strip.desc,
        "svg": strip.svg,
        "edges": strip.edges,
        "ends": strip.ends,
        "foot": strip.foot,
        "columns": strip.table.heads,
        "rows": strip.table.rows,
        "changes": changes.collect::<Vec<_>>(),
    })
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
