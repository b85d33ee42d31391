//! What a hub counts for collectors of metrics.

use super::SILENT_NS;
use super::clock::ahead_ns;
use super::message::{Heartbeat, State};
use super::names::HostName;
use super::work::{Now, Outcome};
use alloc::collections::BTreeMap;

/// All states of an agent, as labels have them.
pub const STATES: [&str; 6] = ["idle", "ready", "measuring", "taken", "closed", "silent"];

/// All ways in which a job comes out, as labels have them.
pub const RESULTS: [&str; 3] = ["measured", "given-up", "lost"];

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

impl Metrics {
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
            Outcome::GivenUp { .. } => "given-up",
            Outcome::Lost => "lost",
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
    use crate::fleet::SECOND_NS;
    use crate::watch::Moment;
    use alloc::string::ToString;

    fn now(s: u64) -> Now {
        Now { ns: s * SECOND_NS, wall: Moment { unix_ns: s * SECOND_NS, offset_s: 0 } }
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
