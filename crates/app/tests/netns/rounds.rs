//! Labs that are made anew for each round of a run.

use super::demo::{namespaces_and_interfaces, processes_of};
use super::support::{Home, PROGRAM, figure, goes_on, text, told};
use super::two_hosts::Lab;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// The lines of the last run.
fn journal(home: &Home) -> Vec<Value> {
    let exported = text(&home.v6gap(&["export", "last", "--format", "jsonl"]).stdout);
    exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The labs of each round, with the ports of the far end there.
fn labs(lines: &[Value]) -> BTreeMap<u64, BTreeSet<(Option<u64>, u64)>> {
    let mut found: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut trial = None;
    for line in lines {
        match line["line"].as_str().unwrap() {
            "trial" => {
                let peer = line["ends"]["client"]["endpoints"]["peer"].as_str().unwrap();
                let port = peer.rsplit(':').next().unwrap().parse().unwrap();
                trial = Some((line["round"].as_u64().unwrap(), port));
            }
            "block" => {
                let (round, port) = trial.take().expect("its trials come before it");
                let lab = line["drawn"]["lab"].as_u64();
                found.entry(round).or_default().insert((lab, port));
            }
            _ => {}
        }
    }
    found
}

/// Six pairs in a lab, whatever is found.
fn measured(home: &Home, more: &[&str]) -> Output {
    let mut command = home.command();
    command.args(["run", "--measure", "connect", "--pairs", "6", "--json", "-q", "--no-report"]);
    let output = command.args(more).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", told(&output));
    output
}

/// Six rounds, each in another lab, after null blocks in up to four, and nothing is left of any;
/// but where somebody listens along at a lab's interfaces, and in one that others hold, it stays.
pub fn in_labs_of_their_own() {
    let home = Home::new("rounds");
    let before = namespaces_and_interfaces();
    measured(&home, &["--lab", "bare"]);
    let drawn = labs(&journal(&home));
    assert!(drawn.len() >= 7, "{drawn:?}");
    for (round, labs) in &drawn {
        let expected = if *round == 0 { 2..=4 } else { 1..=1 };
        assert!(expected.contains(&labs.len()), "round {round} was in other labs: {drawn:?}");
    }
    let numbers: Vec<Option<u64>> = drawn.values().flatten().map(|(lab, _)| *lab).collect();
    let in_order: Vec<Option<u64>> = (1..=numbers.len() as u64).map(Some).collect();
    assert_eq!(numbers, in_order, "{drawn:?}");
    let ports: BTreeSet<u64> = drawn.values().flatten().map(|(_, port)| *port).collect();
    figure("labs, and their servers' ports", format!("{drawn:?}"));
    // Two are the same once in some ten thousand runs.
    assert!(ports.len() >= numbers.len() - 1, "{ports:?}");
    assert_eq!(namespaces_and_interfaces(), before);
    assert_eq!(processes_of(Path::new(PROGRAM)), 0);

    let capture = format!("--capture={}", home.path().join("seen").display());
    measured(&home, &["--lab", "bare", &capture]);
    let stays = labs(&journal(&home));
    assert!(stays.len() >= 7 && stays.values().all(|labs| *labs == [(Some(1), 4466)].into()));
    let lab = Lab::up("rounds", &["bare"]);
    measured(&home, &["--lab", lab.name()]);
    let held = labs(&journal(&home));
    assert!(held.len() >= 7 && held.values().all(|labs| *labs == [(None, 4466)].into()));
}

/// From the second round on the system gives no further namespaces: the run ends and says so, and
/// what it had measured is there.
pub fn keep_what_was_measured() {
    let home = Home::new("no-further-lab");
    let lab = Lab::up("no-further", &["--model", "bare", "--rate", "none"]);
    let mut command = lab.command(&home, "client");
    command.args(["run", "--lab", "bare", "--measure", "connect", "--pairs", "500", "-q"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let run = wait_for_round(&home, 2, run);
    let none = "echo 0 > /proc/sys/user/max_net_namespaces";
    let refuse = lab.exec(&home, "client").args(["sh", "-c", none]).status().unwrap();
    assert!(refuse.success());
    let ended = run.wait_with_output().unwrap();
    let said = text(&ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!ended.status.success(), "{said}");
    for part in ["No lab could be made for the next round.", "is kept as", "--continue"] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let lines = journal(&home);
    let last = lines.last().unwrap();
    assert_eq!((&last["line"], &last["why"]), (&"end".into(), &"failed".into()), "{last}");
    assert!(last["error"].as_str().unwrap().contains("network namespace"), "{last}");
    let rounds = labs(&lines);
    assert!((2..500).contains(&rounds.len()), "{rounds:?}");
    let shown = home.v6gap(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["trials"].as_u64(), Some(trials(&lines)), "{:#}", shown["trials"]);
}

fn trials(lines: &[Value]) -> u64 {
    lines.iter().filter(|line| line["line"] == "trial").count() as u64
}

/// Waits until a block of that round is stored.
fn wait_for_round(home: &Home, round: u64, mut run: Child) -> Child {
    let start = Instant::now();
    let is_there = || {
        let runs = std::fs::read_dir(home.path().join("runs")).into_iter().flatten().flatten();
        let journals =
            runs.filter_map(|run| std::fs::read_to_string(run.path().join("journal.jsonl")).ok());
        let wanted = format!("\"round\":{round},");
        journals.into_iter().any(|journal| journal.contains(&wanted))
    };
    while !is_there() {
        goes_on(&mut run, &format!("round {round}"));
        assert!(start.elapsed() < Duration::from_secs(60), "no round {round} within 60 s");
        std::thread::yield_now();
    }
    run
}
