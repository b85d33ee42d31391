//! The stream of results, and the sink with the archive's disk.

use crate::bug::Bug;
use crate::clock::Clock;
use crate::process::{Process, Trouble, Up};
use crate::random::Random;
use crate::world::{Ev, MS, SECOND, World};
use std::collections::BTreeMap;
use v6gap_core::fleet::agent;
use v6gap_core::fleet::id::JobId;
use v6gap_core::fleet::message::ChunkHeader;
use v6gap_core::fleet::sink::{AGAIN_NS, Action, Event, RunOf, Sink};
use v6gap_core::record::RunId;

/// After how long a message comes again of which nothing was heard.
const UNHEARD_NS: u64 = 30 * SECOND;

/// What the stream was sent.
#[derive(Default)]
pub struct Stream {
    all: Vec<ChunkHeader>,
    /// Messages that are not done with, and when they come next.
    alive: BTreeMap<u64, u64>,
}

impl Stream {
    /// It loses everything.
    pub fn wipe(&mut self) {
        self.alive.clear();
    }
}

/// What is being written.
struct Write {
    of: RunOf,
    at: u64,
    bytes: u64,
}

pub struct SinkNode {
    pub process: Process<Sink, Event, Action>,
    writes: BTreeMap<u64, Write>,
    next: u64,
    pub full: bool,
    pub cut: bool,
}

impl SinkNode {
    pub fn new(random: &mut Random) -> SinkNode {
        let process = Process::new(Sink::new(), Clock::new(random));
        SinkNode { process, writes: BTreeMap::new(), next: 0, full: false, cut: false }
    }
}

impl World {
    /// An agent sends a part.
    pub fn publish(&mut self, at: usize, run: RunId, job: Option<JobId>, begins: u64, bytes: u64) {
        let (from, hash) = (self.agents[at].name.clone(), String::new());
        let noise = !self.is_calm();
        if self.agents[at].cut || noise && self.random.chance(3) {
            return self.not_published(at, run, begins + bytes);
        }
        let header = ChunkHeader { version: 1, from, run, job, at: begins, bytes, hash };
        let life = self.agents[at].process.life;
        let in_ns = self.random.between(MS, 200 * MS);
        self.push(in_ns, Ev::Publish(at, life, header));
    }

    pub fn published(&mut self, at: usize, life: u32, header: ChunkHeader) {
        let (run, end) = (header.run.clone(), header.end());
        if self.broker_down {
            return self.not_published(at, run, end);
        }
        let message = self.stream.all.len() as u64;
        self.stream.all.push(header);
        // Some take so long that others are first.
        let slow = !self.is_calm() && self.random.chance(10);
        let most = if slow { 10 * SECOND } else { 50 * MS };
        let in_ns = self.random.between(MS, most);
        self.comes(message, in_ns);
        // The stream has it, whether or not the agent hears of that.
        if !self.is_calm() && self.random.chance(2) {
            return self.not_published(at, run, end);
        }
        let event = agent::Event::Published { run, end, taken: true };
        let back = self.random.between(MS, 50 * MS);
        self.push(back, Ev::AgentAnswer(at, life, event));
    }

    fn comes(&mut self, message: u64, in_ns: u64) {
        self.stream.alive.insert(message, self.now + in_ns);
        self.push(in_ns, Ev::Deliver(message));
    }

    pub fn deliver(&mut self, message: u64) {
        if self.stream.alive.get(&message) != Some(&self.now) {
            return;
        }
        if self.sink.process.up != Up::Awake || self.sink.cut || self.broker_down {
            return self.comes(message, AGAIN_NS);
        }
        self.comes(message, UNHEARD_NS);
        let twice = !self.is_calm() && self.random.chance(5);
        for _ in 0..=u8::from(twice) {
            let header = Box::new(self.stream.all[message as usize].clone());
            let on_disk = self.on_disk(&header);
            self.sink_event(Event::Chunk { message, header, on_disk });
        }
    }

    /// What the sink is told that the archive has of a run.
    fn on_disk(&self, header: &ChunkHeader) -> u64 {
        let of = (header.from.clone(), header.run.clone());
        let has = self.oracle.archived.get(&of).copied().unwrap_or(0);
        if self.bug == Some(Bug::CountedTwice) { has.min(header.at) } else { has }
    }

    pub fn sink_event(&mut self, event: Event) {
        if self.sink.process.up == Up::Down {
            return;
        }
        if self.sink.process.up == Up::Asleep {
            return self.sink.process.inbox.push(event);
        }
        let mut actions = self.sink.process.machine.step(event).into_iter();
        while let Some(action) = actions.next() {
            match self.sink.process.burn() {
                Some(Trouble::Crash) => return self.crash_sink(),
                Some(Trouble::Sleep) => {
                    let left = std::iter::once(action).chain(actions).collect();
                    return self.sink.process.sleep(left);
                }
                None => self.sink_acts(action),
            }
        }
    }

    fn sink_acts(&mut self, action: Action) {
        self.note(|| format!("sink {action:?}"));
        match action {
            Action::Append { message, run, skip } => self.append(message, run, skip),
            Action::Done(message) => {
                self.stream.alive.remove(&message);
            }
            Action::Again(message) => {
                if self.stream.alive.contains_key(&message) {
                    self.comes(message, AGAIN_NS);
                }
            }
            Action::Ack(ack) => {
                let Some(at) = self.index.get(&ack.to).copied() else { return };
                if self.agents[at].cut || self.sink.cut {
                    return;
                }
                for way in self.ways() {
                    self.push(way, Ev::Agent(at, agent::Event::Ack(ack.clone())));
                }
            }
        }
    }

    fn append(&mut self, message: u64, of: RunOf, skip: u64) {
        let life = self.sink.process.life;
        let answer = |on_disk| Event::Appended { run: of.clone(), on_disk };
        if self.sink.full {
            return self.push(10 * MS, Ev::SinkAnswer(life, answer(false)));
        }
        if self.bug == Some(Bug::AckBeforeSync) {
            self.push(0, Ev::SinkAnswer(life, answer(true)));
        }
        let header = &self.stream.all[message as usize];
        let (at, bytes) = (header.at + skip, header.bytes - skip);
        self.sink.next += 1;
        let write = self.sink.next;
        self.sink.writes.insert(write, Write { of, at, bytes });
        let slow = self.random.chance(10);
        let in_ns = self.random.between(5 * MS, if slow { 5 * SECOND } else { 100 * MS });
        self.push(in_ns, Ev::Synced(write));
    }

    pub fn synced(&mut self, write: u64) {
        let Some(Write { of, at, bytes }) = self.sink.writes.remove(&write) else { return };
        self.oracle.append((of.host.clone(), of.run.clone()), at, bytes);
        if self.bug != Some(Bug::AckBeforeSync) {
            self.sink_event(Event::Appended { run: of, on_disk: true });
        }
    }

    pub fn crash_sink(&mut self) {
        self.note(|| "the sink dies".to_string());
        self.sink.process.die();
        // What was not synced is on the disk or not.
        for (_, Write { of, at, bytes }) in std::mem::take(&mut self.sink.writes) {
            if self.random.chance(50) {
                self.oracle.append((of.host, of.run), at, bytes);
            }
        }
    }

    pub fn heal_sink(&mut self) {
        let node = &mut self.sink;
        match node.process.up {
            Up::Awake => return node.process.calm(),
            Up::Asleep => {}
            Up::Down => node.process.machine = Sink::new(),
        }
        let (left, inbox) = node.process.rise();
        for action in left {
            self.sink_acts(action);
        }
        for event in inbox {
            self.sink_event(event);
        }
    }
}
