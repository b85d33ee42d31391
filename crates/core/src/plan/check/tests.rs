//! Drafts that are right become what they say; drafts that are wrong name every wrong key.

use super::super::draft::{Design, Draft, Lab, Levels, Measure, Range, VERSION};
use super::*;
use crate::workload::Workload;

fn measure(metric: &str) -> Measure {
    let text = format!(r#"{{"metric":"{metric}"}}"#);
    serde_json::from_str(&text).unwrap()
}

fn draft(measures: Vec<Measure>) -> Draft {
    Draft { v6gap: VERSION, measure: measures, ..Draft::default() }
}

fn keys(draft: &Draft) -> Vec<String> {
    check(draft, 1).unwrap_err().into_iter().map(|p| p.key).collect()
}

#[test]
fn defaults_are_made_explicit() {
    let plan = check(&draft(alloc::vec![measure("throughput"), measure("rtt")]), 7).unwrap();
    let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["throughput-tcp", "rtt-tcp-64", "rtt-tcp-1024", "rtt-tcp-16384"]);
    assert_eq!(plan.seed, 7);
    assert_eq!(plan.margin(Metric::Throughput), 0.02);
    assert_eq!(plan.design.null_cells, [0, 1]);
}

#[test]
fn ranges_and_lists_make_cells() {
    let range =
        Range { from: "64 B".to_string(), to: "64 KiB".to_string(), factor: Some(2), step: None };
    let mut rtt = measure("rtt");
    rtt.message = Some(Levels::Range(range));
    let plan = check(&draft(alloc::vec![rtt.clone()]), 1).unwrap();
    assert_eq!(plan.cells.len(), 11);
    assert!(matches!(&plan.cells[10].workload, Workload::Echo(e) if e.message_bytes == 65_536));
    rtt.protocol = Some(Levels::Many(["tcp", "udp"].map(ToString::to_string).to_vec()));
    assert_eq!(keys(&draft(alloc::vec![rtt])), ["measure[0].message"]);
}

#[test]
fn every_problem_is_named() {
    let mut bad = measure("rtt");
    bad.message = Some(Levels::Many(["4 B", "12 apples"].map(ToString::to_string).to_vec()));
    let mut wrong = draft(alloc::vec![bad, measure("troughput"), measure("connect")]);
    wrong.measure[2].count = Some(0);
    wrong.design = Design { pairs: Some(1), ..Design::default() };
    wrong.design.margin.insert("rtt".to_string(), "200 %".to_string());
    wrong.lab = Some(Lab { mtu: Some(900), model: Some("wired".to_string()), ..Lab::default() });
    let expected = [
        "lab.model",
        "lab.mtu",
        "measure[0].message",
        "measure[0].message",
        "measure[1].metric",
        "measure[2].count",
        "design.pairs",
        "design.margin.rtt",
    ];
    assert_eq!(keys(&wrong), expected);
    let problems = check(&wrong, 1).unwrap_err();
    assert_eq!(problems[0].help.as_deref(), Some("did you mean \"wire\"?"));
    assert_eq!(problems[4].help.as_deref(), Some("did you mean \"throughput\"?"));
}

#[test]
fn the_same_cell_twice_is_a_problem() {
    let twice = draft(alloc::vec![measure("connect"), measure("connect")]);
    assert_eq!(keys(&twice), ["measure[1]"]);
}

#[test]
fn a_lab_becomes_a_world() {
    let mut with_lab = draft(alloc::vec![measure("throughput")]);
    with_lab.lab = Some(Lab {
        topology: Some("client-router-router-server".to_string()),
        rate: Some("10 Mbit/s".to_string()),
        v6: Some(crate::plan::draft::Conditions {
            delay: Some("1 ms".to_string()),
            ..Default::default()
        }),
        ..Lab::default()
    });
    let world = check(&with_lab, 1).unwrap().world.unwrap();
    assert_eq!(world.nodes, ["client", "router1", "router2", "server"]);
    assert_eq!(world.links.len(), 3);
    assert_eq!(world.links[0].conditions.v6.delay_ns, 1_000_000);
    assert_eq!(world.links[0].conditions.v4.delay_ns, 0);
    assert_eq!(world.links[1].conditions.v6.rate_bps, Some(10_000_000));
}

#[test]
fn suggestions_are_near_or_none() {
    assert_eq!(nearest("mesage", &["message", "metric"]), Some("message"));
    assert_eq!(nearest("zebra", &["message", "metric"]), None);
}
