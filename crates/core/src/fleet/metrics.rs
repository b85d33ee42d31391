//! What a hub counts for collectors of metrics.

use super::clock::ahead_ns;
use super::id::Epoch;
use super::message::{Heartbeat, State};
use super::names::HostName;
use super::timetable::Standing;
use super::work::{Now, Outcome};
use super::{SECOND_NS, SILENT_NS};
use alloc::collections::BTreeMap;
use alloc::string::String;

/// All states of an agent, as labels have them.
pub const STATES: [&str; 6] = ["idle", "ready", "measuring", "taken", "closed", "silent"];

/// All ways in which a job comes out, as labels have them.
pub const RESULTS: [&str; 4] = ["measured", "failed", "given-up", "lost"];

/// A millisecond in ns.
const MS_NS: u64 = SECOND_NS / 1_000;

/// Ends of the classes by which grants are counted, in ns: from what a broker with a quick disk
/// takes to the time after which nobody waits any more.
pub const GRANT_NS: [u64; 12] = [
    MS_NS,
    2 * MS_NS,
    5 * MS_NS,
    10 * MS_NS,
    20 * MS_NS,
    50 * MS_NS,
    100 * MS_NS,
    200 * MS_NS,
    500 * MS_NS,
    SECOND_NS,
    2 * SECOND_NS,
    5 * SECOND_NS,
];

/// How long grants took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Took {
    /// How many took longer than the end before and no longer than that of [`GRANT_NS`]; the last
    /// ones longer than all.
    pub counts: [u64; GRANT_NS.len() + 1],
    /// All of them together, in ns.
    pub sum_ns: u64,
}

/// An agent.
#[derive(Debug, Clone, PartialEq)]
pub struct OfAgent {
    /// What it said last.
    pub said: Heartbeat,
    /// When that was by the clock of deadlines, in ns.
    at_ns: u64,
    /// How far its wall clock was ahead of the hub's then, in ns.
    pub clock_ahead_ns: i64,
    /// Whether nothing was heard of it for [`SILENT_NS`].
    pub is_silent: bool,
}

/// What there is to tell of a hub.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// Whether the coordinator here leads.
    pub leads: bool,
    /// Its lead, while it leads and once it said so.
    pub epoch: Option<Epoch>,
    /// How far behind each mesh plan is, by its name; as it is known to who leads.
    pub meshes: BTreeMap<String, Standing>,
    /// How long it took until jobs were granted.
    pub grants: Took,
    /// Agents that were heard.
    pub agents: BTreeMap<HostName, OfAgent>,
    /// Jobs by how they came out, one of [`RESULTS`].
    pub jobs: BTreeMap<&'static str, u64>,
    /// How often something could not be written, by where to.
    pub unwritten: BTreeMap<&'static str, u64>,
}

impl OfAgent {
    /// What it does: one of [`STATES`].
    pub fn state(&self) -> &'static str {
        if self.is_silent {
            return "silent";
        }
        match self.said.state {
            State::Idle => "idle",
            State::Ready { .. } => "ready",
            State::Measuring { .. } => "measuring",
            State::Taken => "taken",
            State::Closed => "closed",
        }
    }
}

impl Took {
    fn add(&mut self, took_ns: u64) {
        let class = GRANT_NS.partition_point(|end_ns| *end_ns < took_ns);
        if let Some(count) = self.counts.get_mut(class) {
            *count += 1;
        }
        self.sum_ns = self.sum_ns.saturating_add(took_ns);
    }
}

impl Metrics {
    /// The coordinator here leads from now on, or no more.
    pub fn lead(&mut self, leads: bool) {
        self.leads = leads;
        if !leads {
            self.epoch = None;
            self.meshes.clear();
        }
    }

    /// It leads for that time, and so far behind the mesh plans are.
    pub fn stands(&mut self, epoch: Epoch, meshes: BTreeMap<String, Standing>) {
        (self.epoch, self.meshes) = (Some(epoch), meshes);
    }

    /// Jobs were granted so long after they were asked for, in ns.
    pub fn granted(&mut self, took_ns: u64) {
        self.grants.add(took_ns);
    }

    /// An agent said something.
    pub fn beat(&mut self, said: Heartbeat, now: Now) {
        let clock_ahead_ns = ahead_ns(said.unix_ns, now.wall.unix_ns);
        let agent = said.from.clone();
        self.agents
            .insert(agent, OfAgent { said, at_ns: now.ns, clock_ahead_ns, is_silent: false });
    }

    /// A job came out so.
    pub fn came(&mut self, outcome: &Outcome) {
        let result = match outcome {
            Outcome::Measured { .. } => "measured",
            Outcome::Failed { .. } => "failed",
            Outcome::GivenUp { .. } => "given-up",
            Outcome::Lost { .. } => "lost",
        };
        *self.jobs.entry(result).or_default() += 1;
    }

    /// Something could not be written there.
    pub fn unwritten(&mut self, to: &'static str) {
        *self.unwritten.entry(to).or_default() += 1;
    }

    /// Time passed: who was heard long ago is silent, and who is not invited any more is nobody's
    /// concern.
    pub fn pass(&mut self, now_ns: u64, is_invited: &dyn Fn(&HostName) -> bool) {
        self.agents.retain(|agent, _| is_invited(agent));
        for agent in self.agents.values_mut() {
            agent.is_silent = now_ns.saturating_sub(agent.at_ns) > SILENT_NS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Moment;
    use alloc::string::ToString;

    fn now(s: u64) -> Now {
        Now { ns: s * SECOND_NS, wall: Moment { unix_ns: s * SECOND_NS, offset_s: 0 } }
    }

    #[test]
    fn grants_are_counted_by_how_long_they_took() {
        let mut metrics = Metrics::default();
        let times = [0, MS_NS, MS_NS + 1, 5 * SECOND_NS, 5 * SECOND_NS + 1, u64::MAX];
        times.into_iter().for_each(|took_ns| metrics.granted(took_ns));
        let Took { counts, sum_ns } = metrics.grants;
        assert_eq!((counts[0], counts[1], counts[11], counts[12]), (2, 1, 1, 2));
        assert_eq!(counts.iter().sum::<u64>(), 6);
        assert_eq!(sum_ns, u64::MAX);
    }

    /// Whoever leads knows better than one that did.
    #[test]
    fn who_leads_no_more_says_nothing_of_the_lead() {
        let mut metrics = Metrics::default();
        metrics.lead(true);
        let standing = Standing { paths: 2, overdue: 1 };
        metrics.stands(Epoch(3), [("two".to_string(), standing)].into());
        metrics.lead(true);
        assert_eq!((metrics.epoch, metrics.meshes.len()), (Some(Epoch(3)), 1));
        metrics.lead(false);
        assert_eq!(metrics, Metrics::default());
    }

    #[test]
    fn who_is_not_heard_is_silent_and_who_is_revoked_is_nobody() {
        let mut metrics = Metrics::default();
        for name in ["rome/a", "oslo/b"] {
            let json = serde_json::json!({
                "from": name, "version_lowest": 1, "version_highest": 1, "program": "",
                "unix_ns": 7 * SECOND_NS, "state": "idle", "highest": 0, "free_bytes": 0,
                "unarchived": 0,
            });
            metrics.beat(serde_json::from_value(json).unwrap(), now(10));
        }
        let states = |metrics: &Metrics| -> alloc::vec::Vec<&str> {
            metrics.agents.values().map(OfAgent::state).collect()
        };
        metrics.pass(10 * SECOND_NS + SILENT_NS, &|_| true);
        assert_eq!(states(&metrics), ["idle", "idle"]);
        metrics.pass(11 * SECOND_NS + SILENT_NS, &|_| true);
        assert_eq!(states(&metrics), ["silent", "silent"]);
        metrics.pass(0, &|agent| agent.to_string() == "rome/a");
        assert_eq!(metrics.agents.len(), 1);
        let agent = metrics.agents.values().next().unwrap();
        assert_eq!(agent.clock_ahead_ns, -3 * SECOND_NS.cast_signed());
        assert!(STATES.contains(&agent.state()));
    }
}
