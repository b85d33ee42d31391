//! Rounds are measured by workers: processes of this program, at both ends.

use super::support::Sandbox;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use v6gap_sys::cpu;

/// Both ends are in one process, each with workers of its own.
const RUN: &str = "demo --loopback --measure connect";

/// The same with rounds that take longer.
const RTT: &str = "demo --loopback --measure rtt,tcp";

/// Longest wait for anything that comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether this system has what workers need.
fn has_workers() -> bool {
    let has = Path::new("/proc/self/exe").exists();
    if !has {
        println!("not tested: there are no workers here");
    }
    has
}

/// The lines of a sandbox's only run.
fn lines(sandbox: &Sandbox) -> Vec<Value> {
    let run = std::fs::read_dir(sandbox.path("runs")).unwrap().next().unwrap().unwrap();
    let journal = std::fs::read_to_string(run.path().join("journal.jsonl")).unwrap();
    journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The numbers of the workers of each round, of the client and of the server.
fn processes(lines: &[Value]) -> BTreeMap<u64, [BTreeSet<u64>; 2]> {
    let mut found: BTreeMap<u64, [BTreeSet<u64>; 2]> = BTreeMap::new();
    for trial in lines.iter().filter(|line| line["line"] == "trial") {
        let ends = [&trial["ends"]["client"], &trial["ends"]["server"]["seen"]];
        let numbers = found.entry(trial["round"].as_u64().unwrap()).or_default();
        for (numbers, end) in numbers.iter_mut().zip(ends) {
            numbers.insert(end["process"].as_u64().expect("a worker measured"));
        }
    }
    found
}

/// The processors of each round, where ends on loopback are on the same one, and all of them.
fn processors(lines: &[Value]) -> (Vec<BTreeSet<u64>>, BTreeSet<u64>) {
    let mut found: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for trial in lines.iter().filter(|line| line["line"] == "trial") {
        let ends = [&trial["ends"]["client"], &trial["ends"]["server"]["seen"]];
        let [client, server] = ends.map(|end| end["processor"].as_u64().expect("it was held"));
        assert_eq!(client, server, "{trial:#}");
        found.entry(trial["round"].as_u64().unwrap()).or_default().insert(client);
    }
    let all = found.values().flatten().copied().collect();
    (found.split_off(&1).into_values().collect(), all)
}

/// The workers that a thread of a process has started: its own, or any other's.
fn workers(program: &Child, of_first: bool) -> Vec<u32> {
    let id = program.id();
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let threads = threads
        .filter(|thread| (thread.file_name().to_string_lossy() == id.to_string()) == of_first);
    let children =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|line| line.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    let is_worker = |id: &u32| {
        std::fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.ends_with(b"--worker\0"))
    };
    children.into_iter().filter(is_worker).collect()
}

/// Descriptors that a process has open.
fn open(program: &Child) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", program.id())).map_or(0, Iterator::count)
}

/// Waits for a run, which measures to its end; so few pairs beside other work may be without a
/// verdict.
fn measured(program: &mut Child) {
    let status = program.wait().unwrap();
    assert!(matches!(status.code(), Some(0 | 6)), "{status}");
}

#[test]
fn each_round_has_workers_of_its_own_at_both_ends_and_leaves_nothing_open() {
    if !has_workers() {
        return;
    }
    let sandbox = Sandbox::new();
    let mut program = sandbox.start(&format!("{RUN} --pairs 8 --seed 1"));
    let mut counts = Vec::new();
    while program.try_wait().unwrap().is_none() {
        counts.push(open(&program));
        std::thread::yield_now();
    }
    measured(&mut program);

    let lines = lines(&sandbox);
    let (of_rounds, all) = processors(&lines);
    assert!(of_rounds.iter().all(|round| round.len() == 1), "{of_rounds:?}");
    let may_be = cpu::alike(cpu::allowed().unwrap()[0]);
    assert!(may_be.len() == 1 || all.len() > 1, "of {may_be:?}: {all:?}");

    let rounds = processes(&lines);
    let mut seen = BTreeSet::new();
    for (round, ends) in &rounds {
        for numbers in ends {
            // Before the first comparison each block has its own.
            assert!(*round == 0 || numbers.len() == 1, "round {round}: {ends:?}");
            assert!(numbers.iter().all(|number| seen.insert(*number)), "round {round}: {ends:?}");
        }
    }
    assert!(rounds.len() >= 9 && rounds[&0][0].len() > 1, "{rounds:?}");

    // A descriptor that each worker left behind would be counted 8 times more in the end. What is
    // open for a moment only, while a worker starts, is met by chance and does not count.
    let usual = |counts: &[usize]| {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    };
    let quarter = counts.len() / 4;
    let (early, late) = (usual(&counts[quarter..2 * quarter]), usual(&counts[3 * quarter..]));
    assert!(late <= early + 3, "{early} open early on, {late} late");
}

/// One end's worker is killed in the middle of a round, which has several cells of some 0.1 s.
fn killed(of_client: bool) -> Vec<Value> {
    let sandbox = Sandbox::new();
    let mut program = sandbox.start_heard(&format!("{RTT} --pairs 6"));
    let mut told = BufReader::new(program.stderr.take().unwrap()).lines().map_while(Result::ok);
    told.find(|line| line.starts_with("pair 1 ")).expect("a round is over");
    let before = workers(&program, of_client);
    let start = Instant::now();
    let worker = loop {
        let is_new = |id: &u32| !before.contains(id);
        if let Some(worker) = workers(&program, of_client).into_iter().find(is_new) {
            break worker;
        }
        assert!(start.elapsed() < PATIENCE && program.try_wait().unwrap().is_none());
        std::thread::yield_now();
    };
    let killed = Command::new("kill").args(["-9", &worker.to_string()]).status().unwrap();
    assert!(killed.success());
    told.for_each(drop);
    measured(&mut program);
    let lines = lines(&sandbox);
    assert_eq!(processes(&lines).len(), 7, "round 0 and six others");
    lines
}

#[test]
fn a_killed_worker_is_a_failed_attempt_and_the_run_goes_on() {
    if !has_workers() {
        return;
    }
    for of_client in [true, false] {
        let lines = killed(of_client);
        let failed: Vec<&Value> = lines.iter().filter(|line| line["line"] == "failed").collect();
        let [failed] = failed[..] else { panic!("{failed:?}") };
        let why = failed.to_string();
        assert!(!of_client || why.contains("\"worker\""), "{why}");
        assert!(why.contains("the process that measured ended (signal: 9"), "{why}");
        assert_eq!(lines.last().unwrap()["why"], "complete");
    }
}
