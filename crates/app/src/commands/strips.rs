//! The history of a path for pages: a picture of each question with its spells in words, and when a
//! family did not answer.

use serde_json::{Value, json};
use v6gap_core::family::Family;
use v6gap_perform::always::history::{History, Point, Spells, Wanted};
use v6gap_report::figure::{Course, Strip, silences_in_words, strip};
use v6gap_report::{changes, date, json_escaped};

/// A history up to now, in ns since the Unix epoch, with the runs that it is of, in the form of
/// that name.
pub(super) fn document(
    schema: &str,
    wanted: &Wanted,
    found: &History,
    now_unix_ns: u64,
    runs: &[Value],
) -> String {
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
    let document = json!({
        "schema": schema,
        "path": wanted.path,
        "since_unix_ns": wanted.since_unix_ns,
        "at_unix_ns": now_unix_ns,
        "strips": found.spells.iter().filter_map(of_question).collect::<Vec<_>>(),
        "outages": silences_in_words(&silences),
        "runs": runs,
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
