//! The two coordinators, and their way to the broker.

use crate::bug::Bug;
use crate::clock::Clock;
use crate::process::{Node, Process, Trouble, Up};
use crate::random::Random;
use crate::table::Table;
use crate::world::{Ev, MS, SECOND, World};
use std::collections::BTreeMap;
use std::rc::Rc;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::fleet::coordinator::{Action, Coordinator, Event, Setup};
use v6gap_core::fleet::grant::{Batch, Entry, Key, NotCommitted, Stage, Value};
use v6gap_core::fleet::message::{Command, Order};
use v6gap_core::fleet::work::Work;
use v6gap_core::fleet::{COMMIT_NS, REQUEST_NS, agent};

/// What the broker is asked.
#[derive(Debug)]
pub enum Request {
    Look,
    List(u64),
    Commit(u64, Batch),
}

pub struct CoordinatorNode {
    pub process: Process<Coordinator, Event, Action>,
    pub table: Table,
    pub no_broker: bool,
    pub no_agents: bool,
}

fn machine(at: usize, life: u32, random: &mut Random) -> Coordinator {
    let (who, addresses, seed) = (format!("c{at}.{life}"), BTreeMap::new(), random.seed());
    Coordinator::new(Setup { who, addresses, seed })
}

impl CoordinatorNode {
    pub fn new(at: usize, works: &Rc<Vec<Work>>, random: &mut Random) -> CoordinatorNode {
        let process = Process::new(machine(at, 0, random), Clock::new(random));
        CoordinatorNode { process, table: Table::new(works), no_broker: false, no_agents: false }
    }
}

/// How long its answer is waited for, in ns.
fn patience_ns(request: &Request) -> u64 {
    match request {
        Request::Look | Request::Commit(..) => COMMIT_NS,
        Request::List(_) => REQUEST_NS,
    }
}

fn unknown(request: &Request) -> Event {
    match request {
        Request::Look => Event::Looked(None),
        Request::List(number) => Event::Listed { number: *number, entries: None },
        Request::Commit(number, _) => {
            Event::Committed { number: *number, came: Err(NotCommitted::Unknown) }
        }
    }
}

/// What the keys of hosts say, to who takes the lead with a bug.
fn seen_with(bug: Option<Bug>, mut entries: Vec<Entry>) -> Vec<Entry> {
    if !matches!(bug, Some(Bug::NoHold | Bug::FreeAtExpiry)) {
        return entries;
    }
    let taken: Vec<Key> =
        entries.iter().filter(|e| e.value.is_some()).map(|e| e.key.clone()).collect();
    let lives = |key: &Key| taken.contains(key);
    entries.retain(|entry| match (&entry.value, bug) {
        (Some(Value::Job(_)), Some(Bug::NoHold)) => false,
        (Some(Value::Job(record)), Some(Bug::FreeAtExpiry)) => {
            record.stage == Stage::Over || lives(&Key::Host(record.from.clone()))
        }
        _ => true,
    });
    entries
}

impl World {
    pub fn coordinator_event(&mut self, at: usize, event: Event) {
        let CoordinatorNode { process, table, .. } = &mut self.coordinators[at];
        match process.up {
            Up::Down => {}
            Up::Asleep => process.inbox.push(event),
            Up::Awake => {
                table.now_ns = self.now;
                let now = process.clock.now(self.now);
                let actions = process.machine.step(event, now, table);
                self.coordinator_does(at, actions);
            }
        }
    }

    fn coordinator_does(&mut self, at: usize, actions: Vec<Action>) {
        let mut actions = actions.into_iter();
        while let Some(action) = actions.next() {
            match self.coordinators[at].process.burn() {
                Some(Trouble::Crash) => return self.crash_coordinator(at),
                Some(Trouble::Sleep) => {
                    self.note(|| format!("c{at} falls asleep"));
                    let left = std::iter::once(action).chain(actions).collect();
                    return self.coordinators[at].process.sleep(left);
                }
                None => self.coordinator_acts(at, action),
            }
        }
        let (now, process) = (self.now, &mut self.coordinators[at].process);
        let wake_ns = process.clock.when_boot(process.machine.wake_ns());
        if let Some(in_ns) = process.wake_at(wake_ns, now) {
            self.push(in_ns, Ev::Wake(Node::Coordinator(at)));
        }
    }

    fn coordinator_acts(&mut self, at: usize, action: Action) {
        if self.trace.is_some() && !matches!(action, Action::Look) {
            self.note(|| format!("c{at} {action:?}"));
        }
        match action {
            Action::Look => self.request(at, Request::Look),
            Action::List { number } => self.request(at, Request::List(number)),
            Action::Commit { number, batch } => self.request(at, Request::Commit(number, batch)),
            Action::Send(command) => self.command(at, &command),
            Action::Came { .. } | Action::Leads(_) => {}
        }
    }

    /// An order goes to an agent. G5: nothing is prepared that was not granted.
    fn command(&mut self, at: usize, command: &Command) {
        let mut asked = None;
        if let Order::Prepare(prepare) = &command.order {
            let granted = self.broker.granted.get(&prepare.token.0);
            let good = granted.is_some_and(|granted| {
                granted.job == prepare.job && granted.hosts.contains(&command.to)
            });
            if !good {
                self.oracle.broken(format!("G5: {} was never granted", prepare.job));
            }
            let time_ns = prepare.longest_ns - SECOND;
            let bytes = Some(1);
            asked = Some(Ok(Asked { kinds: Vec::new(), rate_bps: None, bytes, time_ns }));
        }
        let Some(agent) = self.index.get(&command.to).copied() else { return };
        if self.coordinators[at].no_agents || self.agents[agent].cut {
            return;
        }
        for way in self.ways() {
            let (command, asked) = (Box::new(command.clone()), asked.clone());
            self.push(way, Ev::Agent(agent, agent::Event::Command { command, asked }));
        }
    }

    fn request(&mut self, at: usize, request: Request) {
        let life = self.coordinators[at].process.life;
        let (noise, patience_ns) = (!self.is_calm(), patience_ns(&request));
        if self.coordinators[at].no_broker || noise && self.random.chance(1) {
            return self.push(patience_ns, Ev::Answer(at, life, unknown(&request)));
        }
        let slow = noise && self.random.chance(2);
        let there = self.random.between(MS, if slow { 12 * SECOND } else { 20 * MS });
        let back = self.random.between(MS, 20 * MS);
        let lost = noise && self.random.chance(1);
        let answers = there + back < patience_ns && !lost;
        if !answers {
            self.push(patience_ns, Ev::Answer(at, life, unknown(&request)));
        }
        self.push(there, Ev::Request(at, life, request, answers.then_some(back)));
    }

    pub fn requested(&mut self, at: usize, life: u32, request: Request, answers: Option<u64>) {
        if self.broker_down {
            if answers.is_some() {
                self.push(patience_ns(&request), Ev::Answer(at, life, unknown(&request)));
            }
            return;
        }
        let answer = match request {
            Request::Look => Event::Looked(Some(self.broker.leader(self.now))),
            Request::List(number) => {
                let entries = seen_with(self.bug, self.broker.list(self.now));
                Event::Listed { number, entries: Some(entries) }
            }
            Request::Commit(number, batch) => {
                let compares = self.bug != Some(Bug::NoCompare);
                let (mut came, found) = self.broker.commit(&batch, self.now, compares);
                if let Err(broken) = found {
                    self.oracle.broken(broken);
                }
                self.note(|| format!("broker: {number} of c{at}: {came:?}"));
                if came.is_err() && self.bug == Some(Bug::ErrorAsSuccess) {
                    came = Ok(0);
                }
                Event::Committed { number, came }
            }
        };
        if let Some(back) = answers {
            self.push(back, Ev::Answer(at, life, answer));
        }
    }

    pub fn crash_coordinator(&mut self, at: usize) {
        self.note(|| format!("c{at} dies"));
        self.coordinators[at].process.die();
    }

    /// It begins anew, or goes on.
    pub fn heal_coordinator(&mut self, at: usize) {
        let (works, node) = (Rc::clone(&self.works), &mut self.coordinators[at]);
        match node.process.up {
            Up::Awake => return node.process.calm(),
            Up::Asleep => {}
            Up::Down => {
                node.process.machine = machine(at, node.process.life, &mut self.random);
                node.table = Table::new(&works);
            }
        }
        let (left, inbox) = node.process.rise();
        self.note(|| format!("c{at} is up"));
        self.coordinator_does(at, left);
        for event in inbox {
            self.coordinator_event(at, event);
        }
        self.coordinator_event(at, Event::Time);
    }
}
