//! Everything that there is in a simulation, and one queue of what happens.

use crate::agents::AgentNode;
use crate::archive::{SinkNode, Stream};
use crate::broker::Broker;
use crate::bug::Bug;
use crate::coordinators::{CoordinatorNode, Request};
use crate::oracle::Oracle;
use crate::process::Node;
use crate::random::Random;
use std::collections::BTreeMap;
use std::rc::Rc;
use v6gap_core::fleet::message::ChunkHeader;
use v6gap_core::fleet::names::{HostName, LinkName};
use v6gap_core::fleet::work::{Class, SentPlan, Work};
use v6gap_core::fleet::{agent, coordinator, hold_ns, sink};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1000 * MS;

/// How often each path is wanted.
const EVERY: u64 = 60 * SECOND;

/// Longest time of any job.
pub const LONGEST: u64 = 30 * SECOND;

/// Fewest jobs and faults of a simulation.
pub const JOBS_MIN: usize = 100;
pub const FAULTS_MIN: usize = 3;

/// What happens.
pub enum Ev {
    /// Something reaches a coordinator, whichever of its lives it is in.
    Coordinator(usize, coordinator::Event),
    /// The answer to a request reaches the life of a coordinator that asked.
    Answer(usize, u32, coordinator::Event),
    /// A request reaches the broker, which answers after so long if at all.
    Request(usize, u32, Request, Option<u64>),
    Agent(usize, agent::Event),
    AgentAnswer(usize, u32, agent::Event),
    /// A server listens.
    Listens(usize, u64),
    /// A process of an agent ends by itself, well or not.
    Ends(usize, u64, bool),
    Publish(usize, u32, ChunkHeader),
    Deliver(u64),
    Synced(u64),
    SinkAnswer(u32, sink::Event),
    Wake(Node),
    Heal(Node),
    Reconnect(Node),
    /// What was measured there besides the fleet is over.
    LocalOver(usize),
    /// An agent's or the hub's clock is set right.
    ClockRight(Node),
    DiskFree(Node),
    BrokerUp,
    Fault,
}

enum Phase {
    Faults,
    Calm(u64),
    Drain(u64),
}

pub struct World {
    pub now: u64,
    next: u64,
    queue: BTreeMap<(u64, u64), Ev>,
    pub random: Random,
    pub bug: Option<Bug>,
    phase: Phase,
    pub coordinators: Vec<CoordinatorNode>,
    pub agents: Vec<AgentNode>,
    pub index: BTreeMap<HostName, usize>,
    pub sink: SinkNode,
    pub broker: Broker,
    pub broker_down: bool,
    pub stream: Stream,
    pub works: Rc<Vec<Work>>,
    /// When the last measurement of each path began that came out well.
    pub fresh_ns: Vec<u64>,
    pub oracle: Oracle,
    pub faults: usize,
    pub processes: u64,
    /// What happened, if somebody wants to see it.
    pub trace: Option<Vec<String>>,
}

fn works(random: &mut Random, hosts: &[HostName]) -> Vec<Work> {
    let needs = vec!["echo".to_string()];
    let (name, text, hash) = ("light".to_string(), String::new(), "0".repeat(16));
    let plan = std::sync::Arc::new(SentPlan { name, text, hash, needs });
    let mut works = Vec::new();
    let mut add = |from: &HostName, to: &HostName, to_is_agent: bool, random: &mut Random| {
        let class = if random.chance(70) { Class::Exclusive } else { Class::Light };
        let apart = from.site() != to.site() && class == Class::Exclusive;
        let sites = if apart { vec![from.site(), to.site()] } else { Vec::new() };
        let links = sites
            .into_iter()
            .map(|site| format!("up-{site}").parse::<LinkName>().unwrap())
            .collect();
        works.push(Work {
            from: from.clone(),
            to: to.clone(),
            to_is_agent,
            class,
            links,
            plan: plan.clone(),
            longest_ns: random.between(8, LONGEST / SECOND + 1) * SECOND,
            every_ns: EVERY,
            port: None,
            failed: 0,
            continued: None,
        });
    };
    let count = hosts.len();
    for at in 0..count {
        add(&hosts[at], &hosts[(at + 1) % count], true, &mut *random);
        if random.chance(40) {
            add(&hosts[at], &hosts[(at + 3) % count], true, &mut *random);
        }
    }
    add(&hosts[0], &HostName::new("ext", "nas").unwrap(), false, &mut *random);
    works
}

impl World {
    pub fn new(seed: u64, bug: Option<Bug>, traces: bool) -> World {
        let mut random = Random::new(seed);
        let count = random.between(6, 13) as usize;
        let name = |at: usize| HostName::new(["a", "b", "c"][at % 3], &format!("h{at}")).unwrap();
        let hosts: Vec<HostName> = (0..count).map(name).collect();
        let works = Rc::new(works(&mut random, &hosts));
        let index = hosts.iter().cloned().zip(0..).collect();
        let coordinators = (0..2).map(|at| CoordinatorNode::new(at, &works, &mut random)).collect();
        let agents = hosts.iter().map(|name| AgentNode::new(name, &mut random)).collect();
        let marks = random.chance(50);
        let mut world = World {
            now: 0,
            next: 0,
            queue: BTreeMap::new(),
            bug,
            phase: Phase::Faults,
            coordinators,
            agents,
            index,
            sink: SinkNode::new(&mut random),
            broker: Broker::new(marks),
            broker_down: false,
            stream: Stream::default(),
            fresh_ns: vec![0; works.len()],
            works,
            oracle: Oracle::default(),
            faults: 0,
            processes: 0,
            random,
            trace: traces.then(Vec::new),
        };
        for at in 0..count {
            world.restart_agent(at);
        }
        for at in 0..world.coordinators.len() {
            world.coordinator_event(at, coordinator::Event::Time);
        }
        world.push(5 * SECOND, Ev::Fault);
        world
    }

    /// Has something happen in so long.
    pub fn push(&mut self, in_ns: u64, event: Ev) {
        self.next += 1;
        self.queue.insert((self.now.saturating_add(in_ns), self.next), event);
    }

    pub fn note(&mut self, what: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>12.6} {}", now as f64 / 1e9, what()));
        }
    }

    pub fn is_calm(&self) -> bool {
        !matches!(self.phase, Phase::Faults)
    }

    /// Whether nothing more is to be measured.
    pub fn is_draining(&self) -> bool {
        matches!(self.phase, Phase::Drain(_))
    }

    /// In how long a message arrives, once for each time that it does.
    pub fn ways(&mut self) -> Vec<u64> {
        if self.is_calm() {
            return vec![self.random.between(MS, 50 * MS)];
        }
        let mut ways = Vec::new();
        if !self.random.chance(2) {
            let slow = self.random.chance(4);
            let most = if slow { 25 * SECOND } else { 100 * MS };
            ways.push(self.random.between(MS, most));
        }
        if self.random.chance(4) {
            let slow = self.random.chance(50);
            let most = if slow { 60 * SECOND } else { SECOND };
            ways.push(self.random.between(MS, most));
        }
        ways
    }

    /// Goes on until everything is done, or something does not hold.
    ///
    /// # Errors
    /// What did not hold.
    pub fn run(&mut self) -> Result<(), String> {
        let mut events = 0_u64;
        while let Some(((now, _), event)) = self.queue.pop_first() {
            self.now = now;
            self.happens(event);
            events += 1;
            if let Some(broken) = self.oracle.broken.take() {
                return Err(broken);
            }
            if events > 3_000_000 {
                return Err("it does not come to rest".to_string());
            }
            if self.goes_on(events)? {
                return Ok(());
            }
        }
        Err("nothing happens any more".to_string())
    }

    /// Goes on until that is so; when that is.
    pub fn until(&mut self, is_so: impl Fn(&World) -> bool) -> u64 {
        while !is_so(self) {
            let ((now, _), event) = self.queue.pop_first().expect("something happens");
            assert!(now < 3600 * SECOND, "it does not come to that");
            self.now = now;
            self.happens(event);
        }
        self.now
    }

    /// Whether everything is done.
    fn goes_on(&mut self, events: u64) -> Result<bool, String> {
        match self.phase {
            Phase::Faults => {
                if self.broker.granted.len() >= JOBS_MIN && self.faults > FAULTS_MIN {
                    self.calm();
                } else if self.now > 4 * 3600 * SECOND {
                    return Err(format!("G6: only {} jobs", self.broker.granted.len()));
                }
            }
            Phase::Calm(since) => {
                let late = self.fresh_ns.iter().position(|began| *began < since);
                let works = self.works.len() as u64;
                let most = EVERY + 2 * hold_ns(LONGEST) + 60 * SECOND + works * LONGEST;
                match late {
                    None => {
                        self.note(|| "all paths were measured again".to_string());
                        self.phase = Phase::Drain(self.now);
                        (0..self.coordinators.len()).for_each(|at| self.crash_coordinator(at));
                    }
                    Some(late) if self.now > since + most => {
                        let Work { from, to, .. } = &self.works[late];
                        return Err(format!("G6: {from} to {to} is not measured any more"));
                    }
                    Some(_) => {}
                }
            }
            Phase::Drain(since) => {
                let quiet = self.agents.iter().all(|agent| agent.child.is_none());
                if events.is_multiple_of(16) && quiet && self.oracle.all_archived() {
                    return Ok(true);
                }
                if self.now > since + 12 * 3600 * SECOND {
                    return Err("G3: something never came to the archive".to_string());
                }
            }
        }
        Ok(false)
    }

    /// All faults end.
    pub fn calm(&mut self) {
        self.phase = Phase::Calm(self.now);
        self.note(|| "all faults end".to_string());
        self.broker_down = false;
        let coordinators = (0..self.coordinators.len()).map(Node::Coordinator);
        let agents = (0..self.agents.len()).map(Node::Agent);
        for node in coordinators.chain(agents).chain([Node::Sink]) {
            self.reconnect(node);
            self.clock_right(node);
            self.disk_free(node);
            self.heal(node);
            if let Node::Agent(at) = node {
                self.local_over(at);
            }
        }
    }

    fn happens(&mut self, event: Ev) {
        match event {
            Ev::Coordinator(at, event) => self.coordinator_event(at, event),
            Ev::Answer(at, life, event) => {
                if self.coordinators[at].process.life == life {
                    self.coordinator_event(at, event);
                }
            }
            Ev::Request(at, life, request, answers) => self.requested(at, life, request, answers),
            Ev::Agent(at, event) => self.agent_event(at, event),
            Ev::AgentAnswer(at, life, event) => {
                if self.agents[at].process.life == life {
                    self.agent_event(at, event);
                }
            }
            Ev::Listens(at, process) => self.listens(at, process),
            Ev::Ends(at, process, well) => self.ends(at, process, well),
            Ev::Publish(at, life, header) => self.published(at, life, header),
            Ev::Deliver(message) => self.deliver(message),
            Ev::Synced(write) => self.synced(write),
            Ev::SinkAnswer(life, event) => {
                if self.sink.process.life == life {
                    self.sink_event(event);
                }
            }
            Ev::Wake(node) => self.wakes(node),
            Ev::Heal(node) => self.heal(node),
            Ev::Reconnect(node) => self.reconnect(node),
            Ev::LocalOver(at) => self.local_over(at),
            Ev::ClockRight(node) => self.clock_right(node),
            Ev::DiskFree(node) => self.disk_free(node),
            Ev::BrokerUp => self.broker_down = false,
            Ev::Fault => self.fault(),
        }
    }
}
