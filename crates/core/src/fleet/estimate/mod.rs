//! How long a mesh plan takes, what holds it up, and what it moves, before anything is measured: by
//! letting its timetable happen, and what no timetable can be quicker than.

mod round;

pub use round::{Busiest, Round};

use super::mesh::{Carriers, Class, Measure, Mesh, Pair};
use crate::plan::{Plan, Stop, estimate};
use crate::watch::SECOND_NS;
use crate::workload::Path;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// What a measurement takes besides what its plan does, from when its hosts are taken until they
/// are free, in ns; as it was seen with agents that run the program near their hub
/// (docs/validation/2026-11-27-fleet.md).
pub const SET_UP_NS: u64 = SECOND_NS;

/// The timetable takes no more than this many times as long as what nothing can be quicker than.
const SLACK: f64 = 1.15;

/// Times between measurements that people think in, in s.
const NICE_S: [u64; 20] = [
    60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 10_800, 14_400, 21_600, 28_800,
    43_200, 86_400, 172_800, 345_600, 604_800,
];

/// How long the measuring of a plan takes, and what it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Takes {
    /// If everything settles at once, in ns.
    pub shortest_ns: u64,
    /// At most, in ns.
    pub longest_ns: u64,
    /// Bytes of payload, at most.
    pub bytes: f64,
}

impl Takes {
    /// What `plan` takes on such a path.
    pub fn of(plan: &Plan, path: Path) -> Takes {
        let all = estimate::estimate(plan, path).total;
        // Saturates.
        let whole_ns = all.time_ns as u64;
        match plan.design.stop {
            Stop::Pairs { .. } => {
                Takes { shortest_ns: whole_ns, longest_ns: whole_ns, bytes: all.bytes }
            }
            Stop::Adaptive { time_ns_max, pairs_min } => {
                let least = plan.clone().ending(Stop::Pairs { pairs: pairs_min });
                let least_ns = estimate::estimate(&least, path).total.time_ns as u64;
                Takes {
                    shortest_ns: least_ns.min(time_ns_max),
                    longest_ns: time_ns_max,
                    bytes: all.bytes,
                }
            }
        }
    }
}

/// What a mesh plan takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Each measurement by itself, in the order of the plan.
    pub measures: Vec<Measured>,
    /// The share of its time for which all measurements together take the busiest host; above 1
    /// they cannot be made as often as the plan says.
    pub busiest_host: Option<(usize, f64)>,
    /// The same of the busiest link.
    pub busiest_link: Option<(usize, f64)>,
}

/// What a measurement takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// A round of all of its paths in which each ends somewhere between its shortest and its
    /// longest time.
    pub settling: Round,
    /// A round in which each takes its longest time.
    pub longest: Round,
    /// The same two where no link were in the way, in ns; none if there is none.
    pub hosts_alone_ns: Option<[u64; 2]>,
    /// Bytes of a round, at most.
    pub bytes: f64,
    /// Whether each path can be measured as often as the plan says, if nothing else is.
    pub fits: bool,
    /// The shortest usual time between measurements that would be long enough, in ns.
    pub allow_ns: u64,
    /// With so many others each host could be measured in the time of the plan, if hosts hold it
    /// up.
    pub partners: Option<usize>,
}

/// What `mesh` takes, whose measurements take `takes`, as many as there are.
pub fn estimate_mesh(mesh: &Mesh, takes: &[Takes]) -> Estimate {
    let measures = takes.iter().enumerate().take(mesh.measures.len());
    let measures: Vec<Measured> = measures.map(|(at, takes)| measured(mesh, at, takes)).collect();
    let shares = shares(mesh, takes);
    let (hosts, links) = shares.split_at(mesh.hosts.len().min(shares.len()));
    let busiest = |of: &[f64]| of.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    Estimate { measures, busiest_host: busiest(hosts), busiest_link: busiest(links) }
}

fn measured(mesh: &Mesh, at: usize, takes: &Takes) -> Measured {
    let of = mesh.measures.get(at);
    let every_ns = of.map_or(u64::MAX, |of| of.every_ns);
    let has_links = of.is_some_and(|of| of.class == Class::Exclusive) && !mesh.links.is_empty();
    let settling = round::settling(mesh, at, takes);
    let longest = round::longest(mesh, at, takes);
    let hosts_alone_ns = has_links.then(|| {
        let alone = Mesh { links: Vec::new(), ..mesh.clone() };
        [round::settling(&alone, at, takes), round::longest(&alone, at, takes)]
            .map(|round| round.time_ns)
    });
    let needed_s = longest.time_ns.div_ceil(SECOND_NS);
    let nice = NICE_S.into_iter().find(|s| *s >= needed_s).unwrap_or(needed_s);
    let slot_ns = takes.longest_ns.saturating_add(SET_UP_NS);
    let fitting = every_ns as f64 / (slot_ns as f64 * SLACK);
    let by_hosts = matches!(longest.busiest, Busiest::Host(_));
    Measured {
        bytes: takes.bytes * longest.jobs as f64,
        fits: longest.time_ns <= every_ns,
        allow_ns: nice.saturating_mul(SECOND_NS),
        partners: by_hosts.then_some(fitting as usize),
        hosts_alone_ns,
        settling,
        longest,
    }
}

/// The share of its time for which each host, and behind them each link, is taken.
fn shares(mesh: &Mesh, takes: &[Takes]) -> Vec<f64> {
    let carriers = Carriers::of(mesh);
    let mut shares = vec![0.0; mesh.hosts.len() + mesh.links.len()];
    for ((pair, _), (measure, takes)) in visits(mesh, takes) {
        let slot_ns = takes.longest_ns.saturating_add(SET_UP_NS);
        let share = slot_ns as f64 / measure.every_ns as f64;
        let links = match measure.class {
            Class::Light => Vec::new(),
            Class::Exclusive => carriers.links(pair),
        };
        let links = links.into_iter().map(|link| mesh.hosts.len() + link);
        for resource in [pair.from, pair.to].into_iter().chain(links) {
            if let Some(of) = shares.get_mut(resource) {
                *of += share;
            }
        }
    }
    shares
}

/// Each path with each plan that it is measured by. Where several groups have one, what is measured
/// for the one that wants it most often is enough for all; among equals for what takes links, too.
fn visits<'a>(
    mesh: &'a Mesh,
    takes: &'a [Takes],
) -> BTreeMap<(Pair, &'a str), (&'a Measure, &'a Takes)> {
    let mut all = BTreeMap::new();
    for (at, of) in mesh.measures.iter().zip(takes).enumerate() {
        for pair in mesh.paths(at, 0) {
            let most = all.entry((pair, of.0.plan.as_str())).or_insert(of);
            let rank = |of: &(&Measure, &Takes)| (of.0.every_ns, of.0.class == Class::Light);
            if rank(&of) < rank(most) {
                *most = of;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
