//! What is known of hosts, and why one is given no job.

use super::{Coordinator, Out};
use crate::fleet::SILENT_NS;
use crate::fleet::clock::{Clocks, ahead_ns};
use crate::fleet::id::Token;
use crate::fleet::message::{Heartbeat, SPOKEN, State};
use crate::fleet::names::HostName;
use crate::fleet::work::{Now, Work};
use alloc::string::String;

/// What a host said last.
#[derive(Debug)]
pub(super) struct Heard {
    heartbeat: Heartbeat,
    at_ns: u64,
    /// How its clock of the wall goes against the one here.
    clocks: Clocks,
    /// The job that is under way there, as far as was said.
    busy: Option<Token>,
    /// Whether it has answered all that it was asked since.
    answers: bool,
}

/// Why a host is given no job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Nothing was heard of it for [`SILENT_NS`], or since it was asked for something.
    Silent,
    /// It takes part in a job, or is held for one that may still run.
    Busy,
    /// Something that is not the fleet's is measured there.
    Taken,
    /// It takes no jobs, in its words.
    Closed(String),
    /// It speaks no version of the messages that is spoken here.
    Version,
    /// It cannot do what the work needs.
    Feature(String),
    /// Its clock of the wall is too far from the one here.
    Clock,
}

impl Coordinator {
    /// A host says that it is there.
    pub(super) fn heard(&mut self, heartbeat: Heartbeat, out: &mut Out<'_>) {
        let from = heartbeat.from.clone();
        let (now, busy) = (out.now, heartbeat.state.token());
        let clocks = Clocks::of(ahead_ns(heartbeat.unix_ns, now.wall.unix_ns));
        self.over_at(&from, |token| heartbeat.is_over(token));
        self.has_not_seen(&from, heartbeat.highest, now.ns);
        let heard = Heard { heartbeat, at_ns: now.ns, clocks, busy, answers: true };
        self.hosts.insert(from, heard);
    }

    /// A host has said how that job ended there.
    pub(super) fn is_done_with(&mut self, host: &HostName, token: Token) {
        if let Some(heard) = self.hosts.get_mut(host) {
            heard.busy = heard.busy.filter(|busy| *busy != token);
        }
    }

    /// Whether a host has said that this job is under way there.
    pub(super) fn is_at(&self, host: &HostName, token: Token) -> bool {
        self.hosts.get(host).is_some_and(|heard| heard.busy == Some(token))
    }

    /// A host has answered.
    pub(super) fn answers(&mut self, host: &HostName) {
        self.hosts.get_mut(host).into_iter().for_each(|heard| heard.answers = true);
    }

    /// A host has not answered in time, so that it is given no job before it is heard.
    pub(super) fn falls_silent(&mut self, host: &HostName) {
        self.hosts.get_mut(host).into_iter().for_each(|heard| heard.answers = false);
    }

    /// What a host said last, and how long ago that was at `now`, in ns.
    pub fn last_heard(&self, host: &HostName, now: Now) -> Option<(&Heartbeat, u64)> {
        let heard = self.hosts.get(host)?;
        Some((&heard.heartbeat, now.ns.saturating_sub(heard.at_ns)))
    }

    /// Why work is not given to its hosts now: the host and the reason. Links are not looked at.
    pub fn obstacle(&self, work: &Work, now: Now) -> Option<(HostName, Obstacle)> {
        let ends = [(&work.from, true), (&work.to, work.to_is_agent)];
        ends.into_iter().find_map(|(host, is_agent)| {
            let agent = || self.obstacle_of_agent(host, &work.plan.needs, now);
            let busy = self.busy_hosts.contains(host).then_some(Obstacle::Busy);
            let found = busy.or_else(|| if is_agent { agent() } else { None });
            found.map(|obstacle| (host.clone(), obstacle))
        })
    }

    fn obstacle_of_agent(&self, host: &HostName, needs: &[String], now: Now) -> Option<Obstacle> {
        let Some(heard) = self.hosts.get(host) else { return Some(Obstacle::Silent) };
        let ago_ns = now.ns.saturating_sub(heard.at_ns);
        let silent = (!heard.answers).then_some(Obstacle::Silent);
        let found = silent.or_else(|| unfit(&heard.heartbeat, ago_ns, heard.clocks, needs));
        found.or(heard.busy.map(|_| Obstacle::Busy))
    }
}

/// Why an agent that said this so long ago, in ns, and whose clock of the wall goes so, is given no
/// job that needs these features. What is under way there is not looked at.
pub fn unfit(said: &Heartbeat, ago_ns: u64, clocks: Clocks, needs: &[String]) -> Option<Obstacle> {
    if ago_ns > SILENT_NS {
        return Some(Obstacle::Silent);
    }
    if said.versions().is_none_or(|range| range.agree(SPOKEN).is_err()) {
        return Some(Obstacle::Version);
    }
    if let Some(name) = needs.iter().find(|name| !said.features.contains(name)) {
        return Some(Obstacle::Feature(name.clone()));
    }
    match said.state {
        State::Taken => return Some(Obstacle::Taken),
        State::Closed => {
            return Some(Obstacle::Closed(said.trouble.clone().unwrap_or_default()));
        }
        State::Idle | State::Ready { .. } | State::Measuring { .. } => {}
    }
    (clocks == Clocks::TooFar).then_some(Obstacle::Clock)
}
