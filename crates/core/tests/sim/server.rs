//! The server's host: the machine, its clock, a queue that is busy at first, and a workload that
//! answers datagrams.

use crate::clock::HostClock;
use crate::ring::{Node, Output, Parcel};
use crate::{MS, SECOND};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use v6gap_core::arm::Arm;
use v6gap_core::observation::EndReport;
use v6gap_core::record::Host;
use v6gap_core::session::{Ending, Server, ServerAction, ServerFacts};
use v6gap_core::task::Task;
use v6gap_core::wire::control::{Limits, Queued};
use v6gap_core::wire::datagram::Header;
use v6gap_core::wire::frame::{self, FrameReader};
use v6gap_core::wire::whereabouts::Addresses;

/// What the host does with a task next, and when.
enum Due {
    Ready(u64),
    End(u64),
}

/// The server's host.
pub struct ServerHost {
    machine: Server,
    pub clock: HostClock,
    rng: ChaCha12Rng,
    reader: FrameReader,
    outbox: VecDeque<Parcel>,
    task: Option<Task>,
    due: Option<Due>,
    ending: Option<Ending>,
    /// Times that the queue still answers "later".
    busy: u64,
    /// Tasks begun.
    pub tasks_started: u32,
    /// Datagrams that belonged to no task under way.
    pub strays: u32,
}

impl ServerHost {
    /// A server that waits for a greeting.
    pub fn new(clock: HostClock, seed: u64) -> Self {
        let limits = Limits { task_ns: 30 * SECOND, idle_ns: 20 * SECOND, ..Limits::default() };
        let host = Host { name: "server".to_string(), ..Host::default() };
        let facts = ServerFacts { tool: "sim".to_string(), host, limits, clock_ahead_ns: 0 };
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let busy = rng.next_u64() % 3;
        ServerHost {
            machine: Server::new(facts, clock.show(0)),
            clock,
            rng,
            reader: FrameReader::new(),
            outbox: VecDeque::new(),
            task: None,
            due: None,
            ending: None,
            busy,
            tasks_started: 0,
            strays: 0,
        }
    }

    /// How its session ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending.clone()
    }

    /// Some junk arrives on the control connection: noise, a frame of noise, or JSON of the wrong
    /// kind.
    pub fn on_junk(&mut self, rng: &mut ChaCha12Rng, now: u64) {
        let mut bytes = vec![0; (rng.next_u64() % 64) as usize];
        rng.fill_bytes(&mut bytes);
        let body = match rng.next_u64() % 4 {
            0 => return drop(self.process(Some(Parcel::Stream(bytes)), now)),
            1 => bytes,
            2 => br#"{"message":"prepare","number":1}"#.to_vec(),
            _ => br#"{"message":"tea","sugar":true}"#.to_vec(),
        };
        let mut framed = (body.len() as u32).to_be_bytes().to_vec();
        framed.extend(body);
        self.process(Some(Parcel::Stream(framed)), now);
    }

    fn perform(&mut self, now: u64) {
        let mut pending = 0;
        while let Some(action) = self.machine.poll() {
            pending += 1;
            assert!(pending <= v6gap_core::session::ACTIONS_MAX);
            let shown = self.clock.show(now);
            match action {
                ServerAction::Send(message) => {
                    let bytes = frame::encode(&message).expect("small messages");
                    self.outbox.push_back(Parcel::Stream(bytes));
                }
                ServerAction::Ask { .. } if self.busy > 0 => {
                    self.busy -= 1;
                    let queued = Queued { place: 1, seconds: 0, by: "another".to_string() };
                    self.machine.queued(queued, shown);
                }
                ServerAction::Ask { .. } => self.machine.admit(shown),
                ServerAction::Start(task) => {
                    assert!(self.task.is_none(), "two tasks at a time");
                    self.tasks_started += 1;
                    self.task = Some(task);
                    self.due = Some(Due::Ready(now + self.rng.next_u64() % (100 * MS)));
                }
                ServerAction::Locate => self.machine.located(Addresses::default(), shown),
                ServerAction::Finish => {
                    self.due = Some(Due::End(now + self.rng.next_u64() % (100 * MS)));
                }
                ServerAction::Abort => {
                    self.task = None;
                    self.due = None;
                }
                ServerAction::Close(ending) => {
                    assert!(self.task.is_none(), "closed with a task running");
                    self.ending = Some(ending);
                    self.outbox.push_back(Parcel::End);
                }
            }
        }
    }

    fn on_datagram(&mut self, bytes: Vec<u8>) {
        let header = Header::decode(&bytes).expect("the simulated network does not change bytes");
        match &self.task {
            Some(task) if header.tag == task.token.tag() => {
                assert_eq!(u32::from(header.turn), task.number, "another task's tag");
                self.outbox.push_back(Parcel::Datagram(bytes));
            }
            _ => self.strays += 1,
        }
    }

    fn on_due(&mut self, now: u64) {
        let shown = self.clock.show(now);
        match self.due {
            Some(Due::Ready(at)) if now >= at => {
                self.due = None;
                self.machine.ready(shown);
            }
            Some(Due::End(at)) if now >= at => {
                self.due = None;
                self.task = None;
                self.machine.ended(Ok(vec![(Arm::A, EndReport::default())]), shown);
            }
            _ => {}
        }
    }
}

impl Node for ServerHost {
    fn process(&mut self, input: Option<Parcel>, now: u64) -> Output {
        match input {
            Some(Parcel::Datagram(bytes)) => self.on_datagram(bytes),
            Some(Parcel::Stream(bytes)) => {
                self.reader.push(&bytes);
                loop {
                    match self.reader.next() {
                        Ok(Some(message)) => {
                            self.machine.on_message(message, self.clock.show(now));
                            self.perform(now);
                        }
                        Ok(None) => break,
                        Err(_) => {
                            self.machine.on_lost(self.clock.show(now));
                            break;
                        }
                    }
                }
            }
            Some(Parcel::End) => self.machine.on_lost(self.clock.show(now)),
            None => self.machine.on_timer(self.clock.show(now)),
        }
        self.perform(now);
        self.on_due(now);
        self.perform(now);
        if let Some(parcel) = self.outbox.pop_front() {
            return Output::Parcel(parcel);
        }
        let timer = self.machine.deadline().map(|deadline| self.clock.when(deadline, now));
        let due = self.due.as_ref().map(|(Due::Ready(at) | Due::End(at))| *at);
        match timer.into_iter().chain(due).min() {
            Some(at) => Output::CallAt(at),
            None => Output::Nothing,
        }
    }
}
