//! What is below `share/grafana` is what the program writes, and it asks for what is told.

use crate::snapshots::check;
use serde_json::Value;
use std::collections::BTreeSet;
use v6gap_report::grafana::{DASHBOARDS, DATASOURCES, dashboard};
use v6gap_report::metrics::names;

#[test]
fn files_are_what_is_written() {
    for (name, text) in [
        ("path.json", &*dashboard()),
        ("dashboards.yml", DASHBOARDS),
        ("datasources.yml", DATASOURCES),
    ] {
        check(&format!("../../../../share/grafana/{name}"), text);
    }
}

/// Names of metrics in a text.
fn asked(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with("v6gap_"))
}

#[test]
fn every_metric_is_asked_for_and_no_other() {
    let dashboard: Value = serde_json::from_str(&dashboard()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let exprs: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    let found: BTreeSet<&str> = exprs.iter().flat_map(|expr| asked(expr)).collect();
    let told: BTreeSet<&str> = names().collect();
    assert_eq!(found, told);
    let rules = include_str!("../../../share/prometheus/v6gap.rules.yml");
    for name in asked(rules) {
        assert!(found.contains(name), "{name}");
    }
}

/// No panel lies on another one, and none reaches over the edge.
#[test]
fn panels_lie_beside_each_other() {
    let dashboard: Value = serde_json::from_str(&dashboard()).unwrap();
    let mut taken = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let of = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        assert!(of("x") + of("w") <= 24, "{panel}");
        for x in of("x")..of("x") + of("w") {
            for y in of("y")..of("y") + of("h") {
                assert!(taken.insert((x, y)), "{panel}");
            }
        }
    }
}
