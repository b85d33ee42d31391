//! Mesh plans that are applied, which a coordinator reads from the broker, and credentials, which
//! come by any way.

use super::{message, same};
use crate::document;
use arbitrary::Unstructured;
use serde_json::{Value, json};
use std::sync::LazyLock;
use v6gap_core::fleet::timetable::Standing;
use v6gap_core::fleet::work::{Now, Timetable};
use v6gap_core::watch::Moment;
use v6gap_fleet::Letter;
use v6gap_fleet::coordinator::{Applied, Meshes};

/// A plan that can be performed between two hosts.
const PLAN: &str = "v6gap = 1\nname = \"x\"\n[[measure]]\nmetric = \"rtt\"\n";

/// A mesh plan of two hosts.
const MESH: &str = include_str!("../../../core/tests/common/two.mesh.toml");

/// What it calls the plan.
const NAME: &str = "smoke.toml";

/// Sections of credentials, of which the last may be missing.
const SECTIONS: [&str; 4] = ["NATS USER JWT", "USER NKEY SEED", "V6GAP FLEET", "CERTIFICATE"];

static APPLIED: LazyLock<Value> =
    LazyLock::new(|| json!({ "v6gap": 1, "mesh": MESH, "plans": { NAME: PLAN }, "afresh": true }));

static REST: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "v6gap": 1, "name": "rome/a", "hubs": ["tls://hub1:4222"], "jobs": "UA", "seals": "XA",
        "seal": "SXA",
    })
});

/// Either of them.
pub fn run(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    match kind % 3 {
        0 => {
            let applied = serde_json::from_slice::<Applied>(&message(&APPLIED, data));
            applied.iter().for_each(timetable);
        }
        1 => {
            let Ok(mesh) = std::str::from_utf8(data) else { return };
            let plans = [(NAME.to_owned(), PLAN.to_owned())].into();
            timetable(&Applied { v6gap: 1, mesh: mesh.to_owned(), plans, afresh: false });
        }
        _ => letter(data),
    }
}

/// It is refused in words, or has paths between two hosts each, of which all are due and none is
/// overdue.
fn timetable(applied: &Applied) {
    same(applied);
    let wall = Moment { unix_ns: 1_795_426_200_000_000_000, offset_s: 3600 };
    let table = match applied.timetable(wall) {
        Ok(table) => table,
        Err(why) => return assert!(!why.is_empty(), "it is refused without a word"),
    };
    let mut meshes = Meshes::default();
    meshes.set("x", Some(table));
    let paths = meshes.names()[0].1;
    assert_eq!(meshes.standing(wall)["x"], Standing { paths, overdue: 0 });
    if let Some(work) = meshes.next(Now { ns: 0, wall }, &|_| true) {
        assert_ne!(work.from, work.to);
        assert!(work.every_ns > 0 && work.longest_ns > 0, "{work:?}");
        assert_eq!(applied.plans.get(&work.plan.name), Some(&work.plan.text));
    }
}

/// Text as it is, or sections of which one has changes: what is read of them is written and read
/// again alike, and is not shown.
fn letter(data: &[u8]) {
    let text = match data.split_first() {
        Some((0, text)) => String::from_utf8_lossy(text).into_owned(),
        Some((_, changes)) => {
            let mut rest = REST.clone();
            document::change(&mut rest, &mut Unstructured::new(changes));
            let rest = rest.to_string();
            let inner = ["a.b.c", "SUAA", rest.as_str(), "AAAA"];
            let section = |(label, inner): (&&str, &str)| {
                format!("-----BEGIN {label}-----\n{inner}\n-----END {label}-----\n")
            };
            SECTIONS.iter().zip(inner).map(section).collect()
        }
        None => return,
    };
    let Ok(letter) = Letter::parse(&text) else { return };
    assert!(!letter.token.is_empty() && !letter.user.is_empty());
    assert_eq!(format!("{letter:?}"), format!("Letter({})", letter.name), "a key is shown");
    let written = letter.text();
    // What has lines in it like those between sections is not what anybody writes.
    let lines: Vec<usize> =
        SECTIONS.iter().map(|label| written.matches(&format!(" {label}-----")).count()).collect();
    if lines == [2, 2, 2, if letter.authority.is_some() { 2 } else { 0 }] {
        assert_eq!(Letter::parse(&written), Ok(letter));
    }
}
