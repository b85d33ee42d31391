//! What is below `share/grafana` is what the program writes, and it asks for what is told.

use crate::snapshots::check;
use serde_json::Value;
use std::collections::BTreeSet;
use v6gap_report::fleet::metric_names;
use v6gap_report::grafana::{DASHBOARDS, DATASOURCES, dashboard, fleet_dashboard};
use v6gap_report::metrics::names;

#[test]
fn files_are_what_is_written() {
    for (name, text) in [
        ("path.json", &*dashboard()),
        ("fleet.json", &*fleet_dashboard()),
        ("dashboards.yml", DASHBOARDS),
        ("datasources.yml", DATASOURCES),
    ] {
        check(&format!("../../../../share/grafana/{name}"), text);
    }
}

/// Names of metrics in a text, that of a histogram for its classes.
fn asked(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let names = words.filter(|word| word.starts_with("v6gap_"));
    names.map(|name| name.trim_end_matches("_bucket"))
}

fn panels(dashboard: &str) -> Vec<Value> {
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    dashboard["panels"].as_array().unwrap().clone()
}

#[test]
fn every_metric_is_asked_for_and_no_other() {
    let rules = include_str!("../../../share/prometheus/v6gap.rules.yml");
    let of_fleet = include_str!("../../../share/prometheus/v6gap-fleet.rules.yml");
    let all: [(String, BTreeSet<&str>, &str); 2] = [
        (dashboard(), names().collect(), rules),
        (fleet_dashboard(), metric_names().collect(), of_fleet),
    ];
    for (dashboard, told, rules) in all {
        let panels = panels(&dashboard);
        let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
        let exprs: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
        let found: BTreeSet<&str> = exprs.iter().flat_map(|expr| asked(expr)).collect();
        assert_eq!(found, told);
        for name in asked(rules) {
            assert!(found.contains(name), "{name}");
        }
    }
}

/// No panel lies on another one, and none reaches over the edge.
#[test]
fn panels_lie_beside_each_other() {
    for dashboard in [dashboard(), fleet_dashboard()] {
        let mut taken = BTreeSet::new();
        for panel in panels(&dashboard) {
            let of = |name: &str| panel["gridPos"][name].as_u64().unwrap();
            assert!(of("x") + of("w") <= 24, "{panel}");
            for x in of("x")..of("x") + of("w") {
                for y in of("y")..of("y") + of("h") {
                    assert!(taken.insert((x, y)), "{panel}");
                }
            }
        }
    }
}
