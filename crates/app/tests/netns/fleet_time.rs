//! Whether a round of all paths takes as long as `fleet estimate` said before anything was sent.

use super::fleet::{PATHS, PLAN, mesh};
use super::fleet_truth::between_sites;
use super::machines::Machines;
use super::programs::{Running, until};
use super::support::{figure, number};
use serde_json::Value;
use std::time::Instant;
use v6gap_sys::clock;

/// How far a round may be off what was said, as a share of that.
const OFF: f64 = 0.1;

/// A round trip between the sites, in the middle of both families: that is what holds a round up.
const ROUND_TRIP: &str = "12500us";

/// What the round measures by, which nothing was measured by before: so all paths are due at once.
const AGAIN: &str = "again.toml";

/// A round of all paths.
pub struct Round {
    /// How long it was said to take, in s.
    said_s: f64,
    /// When it began, in ns since 1970.
    began_unix_ns: u64,
    took_s: f64,
}

/// Has all paths measured once more, by themselves.
pub fn round(machines: &Machines, hubs: &mut [Running]) -> Round {
    let creds = "--creds /srv/v6gap/operator.creds";
    machines.run("hub1", &format!("v6gap fleet apply mesh.toml --remove {creds}"));
    let folder = machines.folder("hub1");
    std::fs::write(folder.join(AGAIN), PLAN).unwrap();
    std::fs::write(folder.join("round.toml"), mesh("round", AGAIN)).unwrap();
    let said = machines.run(
        "hub1",
        &format!("v6gap fleet estimate round.toml --rate 100M --rtt {ROUND_TRIP} --json"),
    );
    let said: Value = serde_json::from_str(&said).unwrap();
    let round = &said["measures"][0]["longest"];
    assert_eq!(round["paths"], PATHS, "{said:#}");
    let said_s = number(&round["time_ns"]) / 1e9;

    let (start, began_unix_ns) = (Instant::now(), clock::wall_ns());
    machines.run("hub1", &format!("v6gap fleet apply round.toml {creds}"));
    until("a round of all paths", || (measured(hubs) == PATHS).then_some(()));
    let took_s = start.elapsed().as_secs_f64();
    for line in lines(hubs).iter().filter(|line| line.contains(": failed")) {
        figure("an attempt that failed", line);
    }
    machines.run("hub1", &format!("v6gap fleet apply round.toml --remove {creds}"));
    Round { said_s, began_unix_ns, took_s }
}

impl Round {
    /// Holds the time that it took against what was said, once the archive has all of it.
    pub fn is_as_estimated(&self, machines: &Machines) {
        let off = self.took_s / self.said_s - 1.0;
        let Round { said_s, took_s, .. } = self;
        figure("a round as estimated and as it was", format!("{said_s:.1} s, {took_s:.1} s"));
        figure("off what was estimated", format!("{:+.1} %", off * 100.0));
        let runs = between_sites(machines, self.began_unix_ns);
        let mut ended_s = 0.0;
        let mut parts = Vec::new();
        for [began_s, end_s] in runs {
            parts.push(format!("{:.1}+{:.1}", began_s - ended_s, end_s - began_s));
            ended_s = end_s;
        }
        figure("between the sites, set up + measured, in s", parts.join(" "));
        assert!(off.abs() <= OFF, "{took_s:.1} s, and {said_s:.1} s were estimated");
    }
}

/// How many paths coordinators say were measured in the round. One that was given up would be
/// measured later, and none that is counted twice.
fn measured(hubs: &mut [Running]) -> usize {
    let lines = lines(hubs);
    let of = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!(of(": given up"), 0, "{lines:#?}");
    of(": measured")
}

/// What coordinators say of paths in the round.
fn lines(hubs: &mut [Running]) -> Vec<String> {
    let by = format!("({AGAIN}): ");
    let all = hubs.iter_mut().flat_map(|hub| hub.said().to_vec());
    all.filter(|line| line.contains(&by)).collect()
}
