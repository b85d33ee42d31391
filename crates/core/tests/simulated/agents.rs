//! The agents, their hosts' disks, and what they begin.

use crate::bug::Bug;
use crate::clock::Clock;
use crate::process::{Node, Process, Trouble, Up};
use crate::random::Random;
use crate::world::{Ev, MS, SECOND, World};
use std::collections::BTreeMap;
use v6gap_core::fleet::agent::limits::{LimitsDraft, check};
use v6gap_core::fleet::agent::{Action, Agent, Event, Kept, Known, Setup};
use v6gap_core::fleet::id::Token;
use v6gap_core::fleet::message::{Ack, Order, Prepare, RunHeld, State};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::work::Now;
use v6gap_core::fleet::{DISK_BYTES_MIN, REQUEST_NS, coordinator};
use v6gap_core::record::RunId;

/// How long a clock stands at most, with a bug.
const STANDS_NS: u64 = 100 * SECOND;

/// What an agent has begun.
pub struct Child {
    pub process: u64,
    pub prepare: Box<Prepare>,
    /// Of a server: whether it listens, and who is there.
    pub listens: bool,
    pub client: Option<u64>,
    /// Of a client: what it measures into, and since when it does, by true time.
    pub run: Option<RunId>,
    pub since_ns: Option<u64>,
}

/// What outlives an agent.
#[derive(Default)]
pub struct Disk {
    pub known: Known,
    /// The highest token that it ever had there, for the oracle.
    highest: Token,
    /// Bytes of each journal.
    pub runs: BTreeMap<RunId, u64>,
    held: BTreeMap<RunId, u64>,
}

pub struct AgentNode {
    pub name: HostName,
    pub process: Process<Agent, Event, Action>,
    pub disk: Disk,
    pub child: Option<Child>,
    /// Whether something is measured there that is not the fleet's.
    pub local: bool,
    pub cut: bool,
    pub full: bool,
    /// With a bug: how far behind its clock is, and since when it stands.
    lag_ns: u64,
    stands_ns: Option<u64>,
    /// Whether it has stood for long enough.
    stood: bool,
}

impl Disk {
    fn kept(&self) -> Vec<Kept> {
        let kept = |(run, bytes): (&RunId, &u64)| {
            let held = self.held.get(run).copied().unwrap_or(0);
            Kept { run: run.clone(), bytes: *bytes, held, since_unix_ns: 0 }
        };
        self.runs.iter().map(kept).collect()
    }
}

fn machine(name: &HostName, disk: &Disk, random: &mut Random) -> Agent {
    let (me, features) = (name.clone(), vec!["echo".to_string()]);
    let (known, kept, seed) = (disk.known, disk.kept(), random.seed());
    Agent::new(Setup { me, features, known, kept, seed })
}

impl AgentNode {
    pub fn new(name: &HostName, random: &mut Random) -> AgentNode {
        let disk = Disk::default();
        let mut process = Process::new(machine(name, &disk, random), Clock::new(random));
        process.die();
        AgentNode {
            name: name.clone(),
            process,
            disk,
            child: None,
            local: false,
            cut: false,
            full: false,
            lag_ns: 0,
            stands_ns: None,
            stood: false,
        }
    }

    /// The time that the agent is told.
    fn now(&self, true_ns: u64, bug: Option<Bug>) -> Now {
        let now = self.process.clock.now(true_ns);
        let ns = match bug {
            Some(Bug::WallDeadline) => now.wall.unix_ns,
            _ => self.stands_ns.unwrap_or(now.ns - self.lag_ns),
        };
        Now { ns, ..now }
    }

    pub fn told_ns(&self, true_ns: u64, bug: Option<Bug>) -> u64 {
        self.now(true_ns, bug).ns
    }

    /// When its clock will show that, by true time.
    fn when(&self, ns: u64, true_ns: u64, bug: Option<Bug>) -> u64 {
        match bug {
            _ if self.stands_ns.is_some() => true_ns + SECOND,
            Some(Bug::WallDeadline) => self.process.clock.when_wall(ns),
            _ => self.process.clock.when_boot(ns.saturating_add(self.lag_ns)),
        }
    }

    /// With a bug its clock stands while it is ready, but not for ever.
    fn stand(&mut self, true_ns: u64) {
        let ready = matches!(self.process.machine.state(), State::Ready { .. });
        let boot_ns = self.process.clock.boot_ns(true_ns);
        match self.stands_ns {
            None if ready && !self.stood => self.stands_ns = Some(boot_ns - self.lag_ns),
            None => self.stood &= ready,
            Some(since_ns) => {
                let long = boot_ns - self.lag_ns - since_ns > STANDS_NS;
                if !ready || long {
                    (self.lag_ns, self.stands_ns) = (boot_ns - since_ns, None);
                    self.stood = ready;
                }
            }
        }
    }
}

impl World {
    pub fn agent_event(&mut self, at: usize, event: Event) {
        let bug = self.bug;
        let node = &mut self.agents[at];
        match node.process.up {
            Up::Down => return,
            Up::Asleep => return node.process.inbox.push(event),
            Up::Awake => {}
        }
        let is_order = matches!(&event, Event::Command { command, .. }
            if matches!(command.order, Order::Prepare(_)));
        let idle = node.child.is_none() && node.process.machine.state().token().is_none();
        if bug == Some(Bug::NoTokenCheck) && is_order && idle {
            self.forget(at);
        }
        let taken = match &event {
            Event::Published { run, end, taken: true } if bug == Some(Bug::AckByStream) => {
                Some(RunHeld { run: run.clone(), bytes: *end })
            }
            _ => None,
        };
        self.step_agent(at, event);
        if let Some(held) = taken {
            let to = self.agents[at].name.clone();
            self.agent_event(at, Event::Ack(Ack { version: 1, to, runs: vec![held] }));
        }
    }

    /// Its machine begins anew without what it knew of orders.
    fn forget(&mut self, at: usize) {
        let node = &mut self.agents[at];
        let known = std::mem::replace(&mut node.disk.known.highest, Token(0));
        node.process.machine = machine(&node.name, &node.disk, &mut self.random);
        node.disk.known.highest = known;
        self.tell_surroundings(at);
    }

    fn step_agent(&mut self, at: usize, event: Event) {
        let (now, bug, node) = (self.now, self.bug, &mut self.agents[at]);
        if node.process.up != Up::Awake {
            return;
        }
        let told = node.now(now, bug);
        let actions = node.process.machine.step(event, told);
        if bug == Some(Bug::NoNonceAge) {
            node.stand(now);
        }
        self.agent_does(at, actions);
    }

    fn agent_does(&mut self, at: usize, actions: Vec<Action>) {
        let mut actions = actions.into_iter();
        while let Some(action) = actions.next() {
            match self.agents[at].process.burn() {
                Some(Trouble::Crash) => return self.crash_agent(at),
                Some(Trouble::Sleep) => {
                    self.note(|| format!("a{at} falls asleep"));
                    let left = std::iter::once(action).chain(actions).collect();
                    self.agents[at].process.sleep(left);
                    return self.ends_itself(at);
                }
                None => {
                    if !self.agent_acts(at, action) {
                        actions = self.unremembered(at, actions.collect()).into_iter();
                    }
                }
            }
        }
        let (now, bug, node) = (self.now, self.bug, &mut self.agents[at]);
        let wake_ns = node.when(node.process.machine.wake_ns(), now, bug);
        if let Some(in_ns) = node.process.wake_at(wake_ns, now) {
            self.push(in_ns, Ev::Wake(Node::Agent(at)));
        }
    }

    /// What is to be done in place of what was to follow.
    fn unremembered(&mut self, at: usize, rest: Vec<Action>) -> Vec<Action> {
        let (now, bug, node) = (self.now, self.bug, &mut self.agents[at]);
        let told = node.now(now, bug);
        node.process.machine.unremembered(rest, told)
    }

    /// Does it; returns false if it was to be remembered and the disk is full.
    fn agent_acts(&mut self, at: usize, action: Action) -> bool {
        if self.trace.is_some() && !matches!(action, Action::Beat(_)) {
            self.note(|| format!("a{at} {action:?}"));
        }
        match action {
            Action::Remember(_) if self.agents[at].full => return false,
            Action::Remember(known) => {
                let disk = &mut self.agents[at].disk;
                if known.highest <= disk.highest {
                    let what = format!("G5: a{at} obeys an order of the past, {}", known.highest);
                    self.oracle.broken(what);
                }
                disk.highest = known.highest.max(disk.highest);
                disk.known = known;
            }
            Action::Serve(prepare) => self.serve(at, prepare),
            Action::Measure { prepare, until_ns } => self.measure(at, prepare, until_ns),
            Action::Kill => {
                if let Some(process) = self.agents[at].child.as_ref().map(|child| child.process) {
                    let in_ns = self.random.between(20 * MS, 2 * SECOND);
                    self.push(in_ns, Ev::Ends(at, process, false));
                }
            }
            Action::Reply(reply) => self.says(at, &coordinator::Event::Reply(reply)),
            Action::Beat(beat) => self.says(at, &coordinator::Event::Heartbeat(beat)),
            Action::Publish { run, job, at: begins, bytes } => {
                self.publish(at, run, job, begins, bytes);
            }
            Action::Held { run, bytes } => self.held(at, run, bytes),
            Action::Remove(run) => self.remove(at, run),
        }
        true
    }

    /// An agent says something to all coordinators.
    fn says(&mut self, at: usize, event: &coordinator::Event) {
        for to in 0..self.coordinators.len() {
            if self.agents[at].cut || self.coordinators[to].no_agents {
                continue;
            }
            for way in self.ways() {
                self.push(way, Ev::Coordinator(to, event.clone()));
            }
        }
    }

    /// G3: an agent believes that the archive has so much of a run, and may remove it.
    fn held(&mut self, at: usize, run: RunId, bytes: u64) {
        let node = &mut self.agents[at];
        let of = (node.name.clone(), run);
        self.oracle.may_remove(&of, bytes);
        let (_, run) = of;
        let in_use = node.child.as_ref().is_some_and(|child| child.run.as_ref() == Some(&run));
        let whole = node.disk.runs.get(&run) == Some(&bytes);
        if whole && !in_use && self.random.chance(50) {
            node.disk.runs.remove(&run);
        } else {
            node.disk.held.insert(run, bytes);
        }
    }

    /// G3: an agent removes a run that it has kept long enough.
    fn remove(&mut self, at: usize, run: RunId) {
        let node = &mut self.agents[at];
        let of = (node.name.clone(), run);
        let bytes = node.disk.runs.remove(&of.1).unwrap_or(0);
        node.disk.held.remove(&of.1);
        self.oracle.may_remove(&of, bytes);
        let (life, event) = (node.process.life, Event::Removed(of.1));
        self.push(MS, Ev::AgentAnswer(at, life, event));
    }

    pub fn crash_agent(&mut self, at: usize) {
        self.note(|| format!("a{at} dies"));
        self.agents[at].process.die();
        // What it has begun dies with it.
        self.child_dies(at);
    }

    pub fn restart_agent(&mut self, at: usize) {
        self.note(|| format!("a{at} is up"));
        let node = &mut self.agents[at];
        node.process.machine = machine(&node.name, &node.disk, &mut self.random);
        (node.lag_ns, node.stands_ns, node.stood) = (0, None, false);
        node.process.rise();
        self.tell_surroundings(at);
    }

    pub fn wake_agent(&mut self, at: usize) {
        let (left, inbox) = self.agents[at].process.rise();
        self.note(|| format!("a{at} wakes up"));
        self.agent_does(at, left);
        for event in inbox {
            self.agent_event(at, event);
        }
        self.agent_event(at, Event::Time);
    }

    /// What an agent that begins finds out.
    fn tell_surroundings(&mut self, at: usize) {
        let keep = Some("1 h".to_string());
        let draft = LimitsDraft { v6gap: 1, keep, ..LimitsDraft::default() };
        let limits = check(&draft).map(Box::new).map_err(|wrong| format!("{wrong:?}"));
        self.step_agent(at, Event::Limits(limits));
        self.tell_disk(at);
        self.tell_taken(at);
    }

    pub fn tell_disk(&mut self, at: usize) {
        let free = if self.agents[at].full { 0 } else { 10 * DISK_BYTES_MIN };
        self.agent_event(at, Event::Disk(free));
    }

    pub fn tell_taken(&mut self, at: usize) {
        let taken = self.agents[at].local && self.bug != Some(Bug::NoHostLock);
        self.agent_event(at, Event::Taken(taken));
    }

    /// Something else is measured on a host from now on, unless that is taken.
    pub fn local_begins(&mut self, at: usize) -> bool {
        let node = &self.agents[at];
        let state = node.process.machine.state();
        let claimed = node.process.up != Up::Down && state.token().is_some();
        // With the bug nobody looks, so it is only not begun where it would be the fault itself.
        if claimed || node.child.is_some() || self.oracle.is_measured(&node.name) {
            return false;
        }
        self.note(|| format!("a{at} measures something else"));
        self.agents[at].local = true;
        self.tell_taken(at);
        true
    }

    pub fn local_over(&mut self, at: usize) {
        if std::mem::take(&mut self.agents[at].local) {
            self.tell_taken(at);
        }
    }

    /// The answer to something that takes too long.
    pub fn not_published(&mut self, at: usize, run: RunId, end: u64) {
        let life = self.agents[at].process.life;
        let event = Event::Published { run, end, taken: false };
        self.push(REQUEST_NS, Ev::AgentAnswer(at, life, event));
    }
}
