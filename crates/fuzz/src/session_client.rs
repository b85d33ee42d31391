//! The client's machine of a session, driven as its shell drives it, against a server that says
//! anything in any order.
//!
//! Whatever comes: few actions wait at a time, nothing is done that this end did not propose, a
//! limit of time that has come wins against whatever else comes, and in the end the session is
//! closed.

use crate::templates::{TASKS, addresses, any_message, hello, queued, welcome};
use arbitrary::{Result, Unstructured};
use v6gap_core::session::{ACTIONS_MAX, Client, ClientAction};
use v6gap_core::task::Task;
use v6gap_core::wire::control::{Message, Report, TaskFailure};
use v6gap_core::wire::foreign::is_unsafe;
use v6gap_core::wire::whereabouts::{ADDRESSES_MAX, PROOFS_MAX};

/// Most events of a sequence.
const EVENTS_MAX: usize = 256;

/// The bytes are events, each with what it needs.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut shell = Shell::new();
    shell.drain();
    for _ in 0..EVENTS_MAX {
        if bytes.is_empty() || shell.event(&mut bytes).is_err() {
            break;
        }
    }
    shell.leave();
}

/// What this end is about, as its shell knows it.
#[derive(Debug, Clone, PartialEq)]
enum Doing {
    Greeting,
    Nothing,
    Asking,
    Preparing(Box<Task>),
    Running(u32),
    Reporting(u32),
    Closed,
}

struct Shell {
    machine: Client,
    now: u64,
    doing: Doing,
    number: u32,
    /// The server's last question about the clock.
    asked_ns: u64,
    said_bye: bool,
}

impl Shell {
    fn new() -> Self {
        let machine = Client::new(hello(), 0);
        let doing = Doing::Greeting;
        Shell { machine, now: 0, doing, number: 0, asked_ns: 0, said_bye: false }
    }

    fn event(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let now = self.now;
        let kind: u8 = bytes.arbitrary()?;
        match kind % 16 {
            0 => self.now = now.saturating_add(u64::from(bytes.arbitrary::<u32>()?)),
            1 => self.now = now.saturating_add(u64::from(bytes.arbitrary::<u8>()?) << 30),
            2 => self.now = self.machine.deadline().unwrap_or(now).max(now),
            3 => self.machine.on_message(Message::Welcome(Box::new(welcome())), now),
            4 => self.machine.on_message(Message::Queued(queued()), now),
            5 | 6 => {
                let (asked_ns, server_ns) = (self.asked_ns, bytes.arbitrary()?);
                self.machine.on_message(Message::ClockReply { asked_ns, server_ns }, now);
            }
            7 | 8 => self.prepare(bytes.arbitrary()?),
            9 => self.machine.on_message(Message::Ready { number: self.number }, now),
            10 => self.finish(),
            11 => {
                let report = Report { number: self.number, ends: Vec::new() };
                self.machine.on_message(Message::Report(report), now);
            }
            12 => {
                let (number, failure) = (self.number, TaskFailure::passing("no"));
                self.machine.on_message(Message::Failed { number, failure }, now);
            }
            13 | 14 => self.any_message(bytes)?,
            _ => self.rare(bytes.arbitrary()?),
        }
        self.drain();
        self.look_at_the_clock();
        Ok(())
    }

    fn prepare(&mut self, kind: u8) {
        let mut task = TASKS[usize::from(kind) % TASKS.len()].clone();
        self.number = self.number.saturating_add(1);
        task.number = self.number;
        let free = self.doing == Doing::Nothing;
        let taken = self.machine.prepare(task.clone(), self.now).is_ok();
        assert_eq!(taken, free, "while {:?}", self.doing);
        if taken {
            self.doing = Doing::Preparing(Box::new(task));
        }
    }

    fn finish(&mut self) {
        let taken = self.machine.finish(self.now).is_ok();
        match self.doing {
            Doing::Running(number) => {
                assert!(taken);
                self.doing = Doing::Reporting(number);
            }
            _ => assert!(!taken, "while {:?}", self.doing),
        }
    }

    fn ask(&mut self) {
        let free = self.doing == Doing::Nothing;
        let taken = self.machine.ask_addresses(self.now).is_ok();
        assert_eq!(taken, free, "while {:?}", self.doing);
        if taken {
            self.doing = Doing::Asking;
        }
    }

    fn any_message(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        if let Some(message) = any_message(bytes)? {
            let before = self.machine.deadline();
            let buys_no_time = matches!(message, Message::Unknown | Message::Ping);
            self.machine.on_message(message, self.now);
            let after = self.machine.deadline();
            assert!(!buys_no_time || after.is_none() || after == before, "it buys time");
        }
        Ok(())
    }

    fn rare(&mut self, kind: u8) {
        match kind % 8 {
            0 => self.machine.on_lost(self.now),
            1 => self.machine.close(self.now),
            2 => self.machine.on_message(Message::Bye, self.now),
            // A clock that goes backwards.
            3 => self.now /= 2,
            4 => self.ask(),
            5 => self.machine.on_message(Message::Addresses(addresses()), self.now),
            _ => self.machine.on_message(Message::Unknown, self.now),
        }
    }

    /// As a shell does it: the limit comes before whatever may have come meanwhile. Only between
    /// tasks, where nothing is awaited, there is none.
    fn look_at_the_clock(&mut self) {
        if let Some(at) = self.machine.deadline()
            && self.now >= at
        {
            self.machine.on_timer(self.now);
            self.drain();
            assert_eq!(self.doing, Doing::Closed, "open after its time");
        }
        let waits = !matches!(self.doing, Doing::Nothing | Doing::Closed);
        assert_eq!(self.machine.deadline().is_some(), waits, "while {:?}", self.doing);
    }

    /// Does what the machine wants, and looks whether it may want that.
    fn drain(&mut self) {
        let mut count = 0;
        while let Some(action) = self.machine.poll() {
            count += 1;
            assert!(count <= ACTIONS_MAX, "more than {ACTIONS_MAX} actions");
            assert_ne!(self.doing, Doing::Closed, "{action:?} after the end");
            self.act(action);
        }
        assert_eq!(self.machine.is_closed(), self.doing == Doing::Closed);
    }

    fn act(&mut self, action: ClientAction) {
        let doing = std::mem::replace(&mut self.doing, Doing::Closed);
        self.doing = match (action, doing) {
            (ClientAction::Send(message), doing) => {
                self.send(&message);
                doing
            }
            (ClientAction::Waiting(queued), Doing::Greeting) => {
                harmless(&queued.by);
                Doing::Greeting
            }
            (ClientAction::Opened(opened), Doing::Greeting) => {
                let welcome = &opened.welcome;
                [&welcome.tool, &welcome.host.name].into_iter().for_each(harmless);
                let facts = &welcome.host.facts;
                facts.iter().flat_map(|(name, fact)| [name, fact]).for_each(harmless);
                Doing::Nothing
            }
            (ClientAction::Told(told), Doing::Asking) => {
                assert!(told.addresses.len() <= ADDRESSES_MAX && told.proofs.len() <= PROOFS_MAX);
                Doing::Nothing
            }
            (ClientAction::Start(task), Doing::Preparing(proposed)) => {
                assert_eq!(task, *proposed);
                Doing::Running(task.number)
            }
            (ClientAction::Report(report), Doing::Reporting(number)) => {
                assert_eq!(report.number, number);
                Doing::Nothing
            }
            (ClientAction::Failed { number, failure }, doing) => {
                harmless(&failure.why);
                match doing {
                    Doing::Preparing(task) => assert_eq!(number, task.number),
                    Doing::Running(of) | Doing::Reporting(of) => assert_eq!(number, of),
                    other => panic!("nothing can fail while {other:?}"),
                }
                Doing::Nothing
            }
            (ClientAction::Close(ending), _) => {
                harmless(&ending.to_string());
                Doing::Closed
            }
            (action, doing) => panic!("{action:?} while {doing:?}"),
        };
    }

    fn send(&mut self, message: &Message) {
        assert!(!self.said_bye, "{message:?} after the farewell");
        match message {
            Message::Clock { asked_ns } => self.asked_ns = *asked_ns,
            Message::Bye => self.said_bye = true,
            Message::Hello(_)
            | Message::Whereabouts
            | Message::Prepare(_)
            | Message::Finish { .. }
            | Message::Pong => {}
            other => panic!("a client does not say {other:?}"),
        }
    }

    /// However it stands, it can leave at once.
    fn leave(&mut self) {
        self.machine.close(self.now);
        self.drain();
        assert_eq!(self.doing, Doing::Closed);
        assert_eq!(self.machine.deadline(), None);
    }
}

/// What the server said goes to the person's terminal as it is.
fn harmless(text: &String) {
    assert!(!text.contains(is_unsafe), "{text:?}");
}
