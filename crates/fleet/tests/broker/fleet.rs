//! A whole fleet on this host: three nodes, two coordinators, a sink and the agents of many hosts,
//! each in a process of its own but for the agents, which are three: one half of all hosts, a few
//! of the other half, and the rest.

use crate::cluster::{Cluster, block_on, until};
use crate::process::{Line, Process};
use crate::{mesh, roles};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use v6gap_fleet::{Role, operate};
use v6gap_sys::clock;

/// The first half of the agents, and a few others.
pub const HALF: usize = 0;
pub const FEW: usize = 1;

/// A time that was looked at.
#[derive(Debug, Clone)]
pub struct Phase {
    pub what: &'static str,
    pub from_ns: u64,
    /// When what failed in it was there again.
    pub mended_ns: u64,
    pub to_ns: u64,
    /// Longest that no measurement may begin in it, in s; none if nothing failed.
    pub most_s: Option<u64>,
    /// Hosts whose agents failed in it.
    pub hosts: Vec<usize>,
}

/// A fleet.
pub struct Fleet {
    pub folder: PathBuf,
    pub count: usize,
    pub coordinators: Vec<Process>,
    pub sink: Process,
    /// Processes of agents, with the hosts of each.
    pub agents: Vec<(Vec<usize>, Process)>,
    /// When processes died, in ns.
    pub died: BTreeMap<u32, u64>,
    /// Coordinators, sinks and agents that were killed.
    gone: BTreeMap<&'static str, Vec<Process>>,
    pub phases: Vec<Phase>,
    /// The last to end, and its folder with it.
    pub cluster: Cluster,
}

impl Fleet {
    /// Begins all parts of a fleet of so many hosts, and waits until its agents are there.
    pub fn begin(server: &Path, count: usize) -> Fleet {
        let cluster = Cluster::start(server, 3, true);
        let folder = cluster.hub.folder.clone();
        for number in 0..count {
            cluster.invited(&mesh::name(number));
        }
        let few = |number: &usize| number % 2 == 1 && *number >= count - mesh::OF_A_SITE;
        let (half, others): (Vec<usize>, Vec<usize>) = (0..count).partition(|n| n % 2 == 0);
        let (few, rest): (Vec<usize>, Vec<usize>) = others.into_iter().partition(few);
        let coordinators =
            [0, 1].map(|_| Process::begin("coordinator", &[], &folder)).into_iter().collect();
        let sink = Process::begin("sink", &[], &folder);
        let agents = [half, few, rest].map(|which| {
            let process = Process::begin("agents", &[&roles::listed(&which)], &folder);
            (which, process)
        });
        let (died, gone, phases) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let agents = agents.into_iter().collect();
        let fleet =
            Fleet { folder, count, coordinators, sink, agents, died, gone, phases, cluster };
        let operator = fleet.cluster.hub.part(Role::Operator);
        until("all agents at the hub", || {
            let known = block_on(operate::status(&operator)).ok()?.known?;
            (known.agents.len() == count).then_some(())
        });
        fleet
    }

    /// Has the mesh plan measured.
    pub fn apply(&self) {
        let operator = self.cluster.hub.part(Role::Operator);
        let applied = mesh::applied(self.count);
        until("a mesh plan that is applied", || {
            block_on(operate::apply(&operator, "many", &applied)).ok()
        });
    }

    /// Has it measured no more.
    pub fn take_away(&self) {
        let operator = self.cluster.hub.part(Role::Operator);
        until("a mesh plan that is taken away", || {
            block_on(operate::take_away(&operator, "many")).ok()
        });
    }

    /// Looks at a time of that many s, in which nothing is done to it.
    pub fn quiet(&mut self, what: &'static str, s: u64) {
        self.watch(what, s, None, |_| {});
    }

    /// Does something to it, and looks at it until `s` after that.
    pub fn watch(
        &mut self,
        what: &'static str,
        s: u64,
        most_s: Option<u64>,
        does: impl FnOnce(&mut Fleet),
    ) {
        println!("{what}");
        let from_ns = clock::boot_ns();
        does(self);
        let mended_ns = clock::boot_ns();
        std::thread::sleep(Duration::from_secs(s));
        let (to_ns, hosts) = (clock::boot_ns(), Vec::new());
        self.phases.push(Phase { what, from_ns, mended_ns, to_ns, most_s, hosts });
    }

    /// What was looked at last was about the agents of that process.
    pub fn was_about(&mut self, at: usize) {
        if let Some(phase) = self.phases.last_mut() {
            phase.hosts.clone_from(&self.agents[at].0);
        }
    }

    /// The coordinator that leads.
    pub fn leading(&self) -> usize {
        until("a coordinator that leads", || {
            let leads = |process: &Process| {
                let began = process.said_last("leads true")?;
                (process.said_last("leads false") < Some(began)).then_some(began)
            };
            let all = self.coordinators.iter().enumerate();
            let leading = all.filter_map(|(at, process)| Some((leads(process)?, at)));
            leading.max().map(|(_, at)| at)
        })
    }

    /// Kills a coordinator and begins another one in its place.
    pub fn replace_coordinator(&mut self, at: usize) {
        let new = Process::begin("coordinator", &[], &self.folder);
        let mut old = std::mem::replace(&mut self.coordinators[at], new);
        old.kill();
        self.gone.entry("coordinator").or_default().push(old);
    }

    /// Kills the sink and begins another one.
    pub fn replace_sink(&mut self) {
        self.sink.kill();
        let new = Process::begin("sink", &[], &self.folder);
        let old = std::mem::replace(&mut self.sink, new);
        self.gone.entry("sink").or_default().push(old);
    }

    /// Kills the agents of a process.
    pub fn kill_agents(&mut self, at: usize) {
        let (id, died_ns) = self.agents[at].1.kill();
        self.died.insert(id, died_ns);
    }

    /// Begins them again.
    pub fn begin_agents(&mut self, at: usize) {
        let (which, process) = &mut self.agents[at];
        let new = Process::begin("agents", &[&roles::listed(which)], &self.folder);
        let old = std::mem::replace(process, new);
        self.gone.entry("agents").or_default().push(old);
    }

    /// What coordinators said, also those that are gone.
    pub fn said(&self) -> Vec<Line> {
        let gone = self.gone.get("coordinator").into_iter().flatten();
        self.coordinators.iter().chain(gone).flat_map(Process::said).collect()
    }

    /// Largest resident memory of a coordinator, the sink and a process of agents, in bytes.
    pub fn memory(&mut self) -> [u64; 3] {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        let mut seen = |what: &'static str, process: &mut Process| {
            let most = all.entry(what).or_default();
            *most = (*most).max(process.memory());
        };
        self.coordinators.iter_mut().for_each(|process| seen("coordinator", process));
        seen("sink", &mut self.sink);
        self.agents.iter_mut().for_each(|(_, process)| seen("agents", process));
        for (what, processes) in &mut self.gone {
            processes.iter_mut().for_each(|process| seen(what, process));
        }
        ["coordinator", "sink", "agents"].map(|what| all.get(what).copied().unwrap_or(0))
    }
}
