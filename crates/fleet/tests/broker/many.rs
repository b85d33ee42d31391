//! Many agents with the true transport and machines, on three nodes; measuring is made up. Every
//! part is killed and put to sleep meanwhile. No host and no link has two measurements at once, as
//! reckoned from when they were, and the archive has every run that came to its end. What it took
//! is printed, and judged in the night.

use crate::cluster::until;
use crate::figures::{self, megabytes, quantile};
use crate::fleet::{Fleet, Phase};
use crate::process::Line;
use crate::taken::{self, Interval};
use crate::{faults, mesh, results};
use std::collections::BTreeMap;
use std::path::Path;
use v6gap_sys::clock;

/// The variable that says how many agents there are, and how many there are without it.
const AGENTS: (&str, usize) = ("V6GAP_AGENTS", 500);

/// With how many it is compared what each measurement takes.
const FEWER: usize = 50;

/// How long it is left alone, in s.
const QUIET_S: u64 = 30;

/// Names of the times in which nothing is done to it.
const IDLE: &str = "nothing to measure";
const BEFORE: &str = "before the faults";
const AFTER: &str = "after the faults";

/// Least measurements in a second, with 500 agents.
const RATE_MIN: f64 = 50.0;

/// Most memory of a node, and of a coordinator, in bytes.
const MEMORY_MAX: u64 = 200_000_000;

/// What a second took, of all nodes and of loopback.
#[derive(Debug, Clone, Copy)]
struct Cost {
    bytes: f64,
    processor: f64,
}

pub fn all(server: &Path) {
    let given = std::env::var(AGENTS.0).ok().map(|text| text.parse().expect("a number of agents"));
    let count = given.unwrap_or(AGENTS.1).max(mesh::FEWEST);
    taken::finds_what_is_there();
    if count > FEWER {
        let mut fleet = begin(server, FEWER);
        judge(&mut fleet, false);
    }
    let mut fleet = begin(server, count);
    faults::all(&mut fleet);
    fleet.quiet(AFTER, QUIET_S);
    judge(&mut fleet, true);
}

/// A fleet that measures, and what that takes.
fn begin(server: &Path, count: usize) -> Fleet {
    println!("{count} agents");
    let mut fleet = Fleet::begin(server, count);
    let idle = cost(&mut fleet, IDLE);
    fleet.apply();
    until("a first measurement", || {
        let all = taken::read(&fleet.folder, &fleet.died, clock::boot_ns());
        all.iter().any(|interval| interval.run.is_some()).then_some(())
    });
    let busy = cost(&mut fleet, BEFORE);
    let all = taken::read(&fleet.folder, &fleet.died, clock::boot_ns());
    let rate = rate(&all, last(&fleet));
    assert!(rate > 0.0, "nothing is measured");
    println!(
        "{count} agents: {rate:.1} measurements/s; for each {:.1} kB on loopback and {:.1} ms of \
         the nodes' processors beyond {:.1} kB/s and {:.1} ms/s that they take idle",
        (busy.bytes - idle.bytes) / rate / 1e3,
        (busy.processor - idle.processor) / rate * 1e3,
        idle.bytes / 1e3,
        idle.processor * 1e3,
    );
    fleet
}

/// What a quiet time takes in a second.
fn cost(fleet: &mut Fleet, what: &'static str) -> Cost {
    let before = (figures::loopback_bytes(), fleet.cluster.processor_s());
    fleet.quiet(what, QUIET_S);
    let after = (figures::loopback_bytes(), fleet.cluster.processor_s());
    let s = seconds(last(fleet));
    Cost { bytes: (after.0 - before.0) as f64 / s, processor: (after.1 - before.1) / s }
}

fn last(fleet: &Fleet) -> &Phase {
    fleet.phases.last().unwrap()
}

fn seconds(phase: &Phase) -> f64 {
    (phase.to_ns - phase.from_ns) as f64 / 1e9
}

/// Measurements that came to their end in a second of a time.
fn rate(all: &[Interval], phase: &Phase) -> f64 {
    let within = |interval: &&Interval| {
        interval.run.is_some() && (phase.from_ns..phase.to_ns).contains(&interval.end_ns)
    };
    all.iter().filter(within).count() as f64 / seconds(phase)
}

/// Ends it, and says and judges what came of it.
fn judge(fleet: &mut Fleet, has_failed: bool) {
    fleet.take_away();
    let kept = results::all_kept(&fleet.folder, fleet.count);
    let memory = fleet.memory();
    (0..fleet.agents.len()).for_each(|at| fleet.kill_agents(at));
    let all = taken::read(&fleet.folder, &fleet.died, clock::boot_ns());
    let ended = results::each_is_kept(&fleet.folder, &all);
    let exclusive = all.iter().filter(|interval| interval.exclusive).count();
    let [hosts, links] = taken::overlaps(&all, &mesh::links);
    println!(
        "{} measurements were begun, {exclusive} of them exclusive, and {ended} came to their \
         end; results lost: 0 of {kept}; overlaps: {hosts} at hosts, {links} on links",
        all.len()
    );
    assert_eq!((hosts, links), (0, 0), "measured by two at once");
    assert!(exclusive > 0 && ended > 0, "nothing was measured");
    let said = fleet.said();
    let lines = |start: &str| said.iter().filter(|line| line.text.starts_with(start)).count();
    println!("{} attempts failed, {} jobs were given up", lines("failed "), lines("given-up "));
    tell_grants(&said, fleet.phases.iter().find(|phase| phase.what == BEFORE).unwrap());
    let largest = tell_memory(fleet, memory);
    let mut wrong = tell_phases(fleet, &all, has_failed);
    if largest >= MEMORY_MAX {
        wrong.push(format!("{largest} bytes of memory"));
    }
    assert!(wrong.is_empty() || !figures::full(), "{wrong:#?}");
}

/// Says how long grants took.
fn tell_grants(said: &[Line], phase: &Phase) {
    let mut took: Vec<u64> = Vec::new();
    for line in said.iter().filter(|line| (phase.from_ns..phase.to_ns).contains(&line.at_ns)) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if let ["answered", grants, took_ns, "true"] = words[..] {
            let (grants, took_ns): (usize, u64) =
                (grants.parse().unwrap(), took_ns.parse().unwrap());
            took.extend(std::iter::repeat_n(took_ns, grants));
        }
    }
    assert!(!took.is_empty(), "no grant was told");
    let (middle, most) = (quantile(&mut took, 0.5), quantile(&mut took, 0.99));
    let ms = |ns: u64| ns as f64 / 1e6;
    println!("{} grants: p50 {:.1} ms, p99 {:.1} ms", took.len(), ms(middle), ms(most));
}

/// Says how much memory each part took at most; the most of a node or of the coordinator, in bytes.
fn tell_memory(fleet: &Fleet, memory: [u64; 3]) -> u64 {
    let [coordinator, sink, agents] = memory;
    let nodes = [0, 1, 2].map(|index| fleet.cluster.memory(index));
    println!(
        "largest memory: nodes {:?} MB, coordinator {} MB, sink {} MB, most agents of a process \
         {} MB",
        nodes.map(megabytes),
        megabytes(coordinator),
        megabytes(sink),
        megabytes(agents)
    );
    let judged = [coordinator, nodes[0], nodes[1], nodes[2]];
    assert!(!judged.contains(&0), "the system does not tell how much memory a process takes");
    judged.into_iter().fold(0, u64::max)
}

/// Says how fast it was and how long nothing began at each fault; what is to be complained of.
fn tell_phases(fleet: &Fleet, all: &[Interval], has_failed: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for phase in fleet.phases.iter().filter(|phase| phase.what != IDLE) {
        let gap_s = taken::longest_gap_ns(all, phase.from_ns, phase.to_ns) as f64 / 1e9;
        let rate = rate(all, phase);
        println!("{}: {rate:.1}/s, longest time without a new one {gap_s:.1} s", phase.what);
        assert!(rate > 0.0 || phase.most_s.is_some(), "{}: nothing is measured", phase.what);
        if phase.most_s.is_some_and(|most_s| gap_s > most_s as f64) {
            wrong.push(format!("{}: {gap_s:.1} s without a new measurement", phase.what));
        }
        wrong.extend(not_soon_back(phase, all));
        let is_quiet = has_failed && phase.most_s.is_none();
        if is_quiet && fleet.count >= AGENTS.1 && rate < RATE_MIN {
            wrong.push(format!("{}: {rate:.1} measurements/s", phase.what));
        }
    }
    wrong
}

/// Says when half of the hosts whose agents failed were measured again, from when these were there
/// again; what is to be complained of, if that was late. That others were measured meanwhile says
/// nothing of them.
fn not_soon_back(phase: &Phase, all: &[Interval]) -> Option<String> {
    let most_s = phase.most_s.filter(|_| !phase.hosts.is_empty())?;
    let is_after = |interval: &&Interval| interval.begin_ns >= phase.mended_ns;
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for interval in all.iter().filter(is_after) {
        for host in [&interval.from, &interval.to] {
            first.entry(host.as_str()).or_insert(interval.begin_ns - phase.mended_ns);
        }
    }
    let names = phase.hosts.iter().map(|number| mesh::name(*number));
    let mut back: Vec<u64> = names.filter_map(|name| first.get(&*name).copied()).collect();
    back.sort_unstable();
    let half_s = back.get(phase.hosts.len() / 2).map(|ns| *ns as f64 / 1e9);
    match half_s {
        Some(s) => println!("{}: half of these measure again after {s:.1} s", phase.what),
        None => println!("{}: {} of these measured again", phase.what, back.len()),
    }
    let is_soon = half_s.is_some_and(|s| s <= most_s as f64);
    (!is_soon).then(|| format!("{}: half of the agents back after {half_s:?} s", phase.what))
}
