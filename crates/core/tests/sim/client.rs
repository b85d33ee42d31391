//! The client's host: the machine, its clock, and a small workload of datagrams in place of a
//! trial.

use crate::MS;
use crate::clock::HostClock;
use crate::ring::{Node, Output, Parcel};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::record::Host;
use v6gap_core::session::clock::Offset;
use v6gap_core::session::{Client, ClientAction, Ending};
use v6gap_core::task::{Task, TaskArm, Token, native};
use v6gap_core::wire::control::Hello;
use v6gap_core::wire::datagram::{Flags, HEADER_BYTES, Header};
use v6gap_core::wire::frame::{self, FrameReader};
use v6gap_core::workload::{Connect, Workload};

/// Exchanges of each task.
pub const EXCHANGES: u32 = 5;

/// How long an answer is waited for; longer than two calm delays.
const ANSWER: u64 = 500 * MS;

/// The exchange of a task that is under way.
struct Exchange {
    task: Task,
    number: u32,
    until: u64,
}

/// The client's host.
pub struct ClientHost {
    machine: Client,
    pub clock: HostClock,
    rng: ChaCha12Rng,
    reader: FrameReader,
    outbox: VecDeque<Parcel>,
    exchange: Option<Exchange>,
    ending: Option<Ending>,
    /// What the session found out about the clocks, and when.
    pub offset: Option<(Offset, u64)>,
    tasks_left: u32,
    next_task: u32,
    /// Tasks whose report came.
    pub tasks_done: u32,
    /// Exchanges whose answer came in time.
    pub exchanges: u32,
    /// Datagrams that belonged to nothing under way.
    pub strays: u32,
}

impl ClientHost {
    /// A client that wants to do so many tasks.
    pub fn new(clock: HostClock, seed: u64, tasks: u32) -> Self {
        let host = Host { name: "client".to_string(), ..Host::default() };
        let hello = Hello { tool: "sim".to_string(), host, want: Vec::new(), wait: true };
        ClientHost {
            machine: Client::new(hello, clock.show(0)),
            clock,
            rng: ChaCha12Rng::seed_from_u64(seed),
            reader: FrameReader::new(),
            outbox: VecDeque::new(),
            exchange: None,
            ending: None,
            offset: None,
            tasks_left: tasks,
            next_task: 0,
            tasks_done: 0,
            exchanges: 0,
            strays: 0,
        }
    }

    /// How its session ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending.clone()
    }

    fn perform(&mut self, now: u64) {
        let mut pending = 0;
        while let Some(action) = self.machine.poll() {
            pending += 1;
            assert!(pending <= v6gap_core::session::ACTIONS_MAX);
            match action {
                ClientAction::Send(message) => {
                    let bytes = frame::encode(&message).expect("small messages");
                    self.outbox.push_back(Parcel::Stream(bytes));
                }
                ClientAction::Waiting(queued) => assert!(queued.place > 0),
                ClientAction::Told(_) => panic!("nobody asked where else the server is"),
                ClientAction::Opened(opened) => {
                    self.offset = opened.offset.map(|offset| (offset, now));
                    return self.next_task(now);
                }
                ClientAction::Start(task) => {
                    self.exchange = Some(Exchange { task, number: 0, until: now + ANSWER });
                    self.ask();
                }
                ClientAction::Report(report) => {
                    assert_eq!(report.number + 1, self.next_task, "report of another task");
                    self.tasks_done += 1;
                    return self.next_task(now);
                }
                ClientAction::Failed { .. } => {
                    self.exchange = None;
                    return self.next_task(now);
                }
                ClientAction::Close(ending) => {
                    self.exchange = None;
                    self.ending = Some(ending);
                    self.outbox.push_back(Parcel::End);
                }
            }
        }
    }

    fn next_task(&mut self, now: u64) {
        let shown = self.clock.show(now);
        if self.tasks_left == 0 {
            self.machine.close(shown);
        } else {
            self.tasks_left -= 1;
            let mut token = [0; 16];
            self.rng.fill_bytes(&mut token);
            let task = Task {
                number: self.next_task,
                workload: Workload::Connect(Connect { count: 1, ..Connect::default() }),
                arms: vec![TaskArm { arm: Arm::A, family: Family::V6 }],
                order: TurnOrder::Ab,
                seed: 0,
                token: Token(token),
                arrives: native(),
                draw: None,
            };
            self.next_task += 1;
            self.machine.prepare(task, shown).expect("the session is idle");
        }
        self.perform(now);
    }

    fn ask(&mut self) {
        if let Some(Exchange { task, number, .. }) = &self.exchange {
            let mut bytes = vec![0; HEADER_BYTES];
            // The task's number rides along, so that the test sees what the tag alone lets through.
            let header = Header {
                tag: task.token.tag(),
                sequence: *number,
                turn: task.number as u16,
                next: 0,
                arm: Arm::A,
                flags: Flags::NONE,
            };
            header.encode(&mut bytes);
            self.outbox.push_back(Parcel::Datagram(bytes));
        }
    }

    fn on_datagram(&mut self, bytes: &[u8], now: u64) {
        let Some(header) = Header::decode(bytes) else {
            panic!("the simulated network does not change bytes");
        };
        match &self.exchange {
            Some(exchange) if header.tag == exchange.task.token.tag() => {
                assert_eq!(u32::from(header.turn), exchange.task.number, "another task's tag");
                if header.sequence == exchange.number {
                    self.exchanges += 1;
                    self.go_on(now);
                } else {
                    self.strays += 1;
                }
            }
            _ => self.strays += 1,
        }
    }

    fn go_on(&mut self, now: u64) {
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        exchange.number += 1;
        exchange.until = now + ANSWER;
        if exchange.number < EXCHANGES {
            return self.ask();
        }
        self.exchange = None;
        if self.machine.finish(self.clock.show(now)).is_ok() {
            self.perform(now);
        }
    }
}

impl Node for ClientHost {
    fn process(&mut self, input: Option<Parcel>, now: u64) -> Output {
        match input {
            Some(Parcel::Datagram(bytes)) => self.on_datagram(&bytes, now),
            Some(Parcel::Stream(bytes)) => {
                self.reader.push(&bytes);
                while let Some(message) = self.reader.next().expect("the server's own frames") {
                    self.machine.on_message(message, self.clock.show(now));
                    self.perform(now);
                }
            }
            Some(Parcel::End) => self.machine.on_lost(self.clock.show(now)),
            None => self.machine.on_timer(self.clock.show(now)),
        }
        self.perform(now);
        if self.exchange.as_ref().is_some_and(|exchange| now >= exchange.until) {
            self.go_on(now);
        }
        if let Some(parcel) = self.outbox.pop_front() {
            return Output::Parcel(parcel);
        }
        let timer = self.machine.deadline().map(|deadline| self.clock.when(deadline, now));
        let answer = self.exchange.as_ref().map(|exchange| exchange.until);
        match timer.into_iter().chain(answer).min() {
            Some(at) => Output::CallAt(at),
            None => Output::Nothing,
        }
    }
}
