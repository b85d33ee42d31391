//! Whether what a fleet of two sites found is what its world is: the matrix and what worse paths
//! share, the results of all agents, and what was measured at the same time.

use super::fleet::{AGENTS, BETWEEN, PATHS, host_of};
use super::machines::Machines;
use super::programs::until;
use super::support::{figure, number};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use v6gap_core::record::Line;
use v6gap_store::{Store, read_journal};

/// How much longer a round trip between the sites is over IPv6, in s.
const FARTHER_S: f64 = 5e-3;

/// How far what is found may be off, in s: the headers and one more link on the wire are 40 µs of
/// it, and three pairs of hosts share the processors with all else. One of six pairs that was held
/// up for longer is in its path's range.
const OFF_S: f64 = 250e-6;

/// The router that IPv6 passes between the sites and IPv4 does not, as the east sees it, and the
/// router behind it.
const ADDED: &str = "fd46:8::2";
const BEHIND: &str = "fd46:9::2";

/// The question of the plan.
const CELL: &str = "rtt-tcp-64";

/// Where the hub has what an agent measured.
fn archived(machines: &Machines, agent: &str) -> Store {
    Store::at(&machines.folder("hub1").join("srv/v6gap/archive").join(agent))
}

/// Waits until all that agents measured is in the archive to the last byte.
pub fn kept(machines: &Machines) {
    let runs = until("all runs in the archive", || {
        let mut runs = 0;
        for agent in AGENTS {
            let (own, there) =
                (Store::at(&machines.results(&host_of(agent))), archived(machines, agent));
            for run in own.list().unwrap() {
                let id = run.header.id;
                let read = |store: &Store| std::fs::read(store.journal_path(&id)).ok();
                if read(&own) != read(&there) {
                    return None;
                }
                runs += 1;
            }
        }
        Some(runs)
    });
    figure("runs of agents, all in the archive", runs);
}

/// The document that a line on the hub's first host writes.
fn document(machines: &Machines, line: &str) -> Value {
    serde_json::from_str(&machines.run("hub1", line)).unwrap()
}

/// Whether a path stays within a site.
fn is_inside(from: &str, to: &str) -> bool {
    from.split('/').next() == to.split('/').next()
}

/// The matrix: what is between the sites is worse by what the world says, nothing else is, and the
/// router that all of that shares is named.
pub fn as_the_world_is(machines: &Machines) {
    let matrix = document(
        machines,
        &format!("v6gap fleet matrix --runs /srv/v6gap/archive --measure {CELL} --json"),
    );
    let cells = matrix["cells"].as_array().unwrap();
    assert_eq!(cells.len(), PATHS, "{matrix:#}");
    let mut missed = Vec::new();
    let mut off_most = [0.0_f64; 2];
    for cell in cells {
        let [from, to] = ["from", "to"].map(|end| cell[end].as_str().unwrap());
        let (inside, verdict) = (is_inside(from, to), cell["verdict"].as_str().unwrap());
        let [farther_s, half_s] = farther_s(machines, from, to, &cell["run"]);
        let off_s = farther_s - if inside { 0.0 } else { FARTHER_S };
        let at = usize::from(inside);
        off_most[at] = off_most[at].max(off_s.abs());
        let right: &[&str] = if inside { &["same", "inconclusive"] } else { &["worse"] };
        if !right.contains(&verdict) || off_s.abs() > OFF_S.max(half_s) {
            let [is_ms, half_ms] = [farther_s, half_s].map(|s| s * 1e3);
            missed.push(format!(
                "{from} to {to}: {verdict}, {is_ms:.3} ms, give or take {half_ms:.3}"
            ));
        }
    }
    let [between, inside] = off_most.map(|off_s| format!("{:.0} µs", off_s * 1e6));
    figure("off the truth at most, between the sites and inside", format!("{between}, {inside}"));
    assert!(missed.is_empty(), "{missed:#?}");
    names_the_router(&matrix);
}

/// How much longer the round trip of a run was over IPv6, and half of its range, in s.
fn farther_s(machines: &Machines, from: &str, to: &str, run: &Value) -> [f64; 2] {
    let history = document(
        machines,
        &format!("v6gap fleet history {from} {to} --runs /srv/v6gap/archive --json"),
    );
    let runs = history["runs"].as_array().unwrap();
    let found = runs.iter().find(|of| of["run"] == *run);
    let found = found.unwrap_or_else(|| panic!("{run} is not in {history:#}"));
    let answers = found["answers"].as_array().unwrap();
    let answer = answers.iter().find(|of| of["cell"] == CELL && of["metric"] == "rtt");
    let answer = answer.unwrap_or_else(|| panic!("{found:#}"));
    let [v4_s, v6_s] = [0, 1].map(|at| number(&answer["values"][at]));
    // Without a range nothing is in it.
    let [low, high] = [1, 2].map(|at| answer["effect"][at].as_f64().unwrap_or(0.0));
    [v6_s - v4_s, (high - low) / 2.0 * v4_s]
}

/// What IPv6 passes on all paths between the sites and on no others is the added way and nothing
/// else.
fn names_the_router(matrix: &Value) {
    let shared = matrix["shared"].as_array().unwrap();
    let of_six = shared.iter().filter(|of| of["is"] == "hop" && of["family"] == "v6");
    let addresses: Vec<&str> = of_six.map(|of| of["address"].as_str().unwrap()).collect();
    figure("routers of IPv6 that the worse paths share", addresses.join(", "));
    let is_added = |address: &&str| [ADDED, BEHIND].contains(address);
    assert!(!addresses.is_empty() && addresses.iter().all(is_added), "{shared:#?}");
    let added = &shared[0];
    assert_eq!(added["address"], ADDED, "{shared:#?}");
    assert_eq!(added["worse"]["with"], BETWEEN, "{added:#}");
    assert_eq!(added["worse"]["of"], BETWEEN, "{added:#}");
    assert_eq!(added["others"]["with"], 0, "{added:#}");
    assert_eq!(added["distance"], serde_json::json!([2, 2]), "{added:#}");
}

/// A trial of a run, with both of its hosts.
struct Trial {
    run: String,
    hosts: [String; 2],
    began_ns: u64,
    ended_ns: u64,
}

impl Trial {
    /// Whether both took some time of the same clock.
    fn is_beside(&self, other: &Trial) -> bool {
        self.began_ns < other.ended_ns && other.began_ns < self.ended_ns
    }

    /// Whether they may not be at once: they share a host, or what lies between the sites.
    fn excludes(&self, other: &Trial) -> bool {
        let is_between = |trial: &Trial| !is_inside(&trial.hosts[0], &trial.hosts[1]);
        let shares_host = self.hosts.iter().any(|host| other.hosts.contains(host));
        shares_host || is_between(self) && is_between(other)
    }
}

/// All trials in the archive; the clock is that of this computer for all of them.
fn trials(machines: &Machines) -> Vec<Trial> {
    let mut trials = Vec::new();
    for agent in AGENTS {
        let store = archived(machines, agent);
        let journals: Vec<PathBuf> = store
            .list()
            .unwrap()
            .iter()
            .map(|entry| store.journal_path(&entry.header.id))
            .collect();
        for journal in journals {
            trials.extend(trials_of(&read_journal(&journal).unwrap()));
        }
    }
    trials
}

fn trials_of(lines: &[Line]) -> Vec<Trial> {
    let Some(Line::Run(header)) = lines.first() else { panic!("a journal without a head") };
    let hosts = header.between.clone().expect("a run of a fleet says between whom");
    let of = |line: &Line| match line {
        Line::Trial(trial) => Some(Trial {
            run: header.id.to_string(),
            hosts: hosts.clone(),
            began_ns: trial.started_unix_ns,
            ended_ns: trial.started_unix_ns + trial.duration_ns,
        }),
        Line::Run(_)
        | Line::Block(_)
        | Line::Failed(_)
        | Line::Allotted(_)
        | Line::GaveUp(_)
        | Line::End(_) => None,
    };
    lines.iter().filter_map(of).collect()
}

/// When paths between the sites were measured since then, from their first trials to their last
/// ones, in s from then on and one after the other.
pub fn between_sites(machines: &Machines, since_unix_ns: u64) -> Vec<[f64; 2]> {
    let mut runs: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    let is_of = |trial: &Trial| {
        trial.began_ns >= since_unix_ns && !is_inside(&trial.hosts[0], &trial.hosts[1])
    };
    for trial in trials(machines).into_iter().filter(is_of) {
        let run = runs.entry(trial.run).or_insert([trial.began_ns, trial.ended_ns]);
        *run = [run[0].min(trial.began_ns), run[1].max(trial.ended_ns)];
    }
    let mut runs: Vec<[u64; 2]> = runs.into_values().collect();
    runs.sort_unstable();
    let since_s = |ns: u64| (ns - since_unix_ns) as f64 / 1e9;
    runs.into_iter().map(|run| run.map(since_s)).collect()
}

/// No host and no link had two measurements at once, by the times of the trials themselves.
pub fn none_at_once(machines: &Machines) {
    let trials = trials(machines);
    let mut overlaps = Vec::new();
    let mut beside = 0;
    for (n, one) in trials.iter().enumerate() {
        let others = trials[n + 1..].iter().filter(|other| other.run != one.run);
        for other in others.filter(|other| one.is_beside(other)) {
            match one.excludes(other) {
                true => overlaps.push(format!("{} and {}", one.run, other.run)),
                false => beside += 1,
            }
        }
    }
    figure("trials", trials.len());
    figure("pairs of trials at once, of other hosts and links", beside);
    figure("overlaps at a host or a link", overlaps.len());
    assert!(trials.len() >= PATHS && overlaps.is_empty(), "{overlaps:#?}");
    assert!(beside > 0, "nothing was measured beside anything: there was nothing to overlap");
}
