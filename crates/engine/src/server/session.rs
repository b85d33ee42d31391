//! One client's session at the server: the machine, its sealed connection and what waits to be
//! sent.

use crate::control::seal::Sealed;
use crate::control::{ALIVE, ChannelError, acknowledge};
use std::net::{IpAddr, SocketAddr};
use v6gap_core::session::backlog::Backlog;
use v6gap_core::session::{Server, ServerFacts};
use v6gap_core::wire::control::{Message, TaskFailure};
use v6gap_core::wire::preamble::Nonce;
use v6gap_core::wire::whereabouts;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, Interest, Stream};

/// Bytes read at a time; others have their turn in between.
const READ_BYTES: usize = 64 << 10;

/// Longest time that the last words to a client may take, in ns.
const CLOSING_NS: u64 = 2_000_000_000;

/// A session, also one that only says its last words.
pub(super) struct Session {
    pub(super) id: u64,
    pub(super) machine: Server,
    pub(super) peer: SocketAddr,
    stream: Stream,
    sealed: Box<Sealed>,
    unsent: Vec<u8>,
    backlog: Backlog,
    closing: Option<Closing>,
}

/// The end of a connection: what is unsent goes out, then we wait for the client to close, because
/// closing first could destroy our last words on their way.
struct Closing {
    deadline_ns: u64,
    gone: bool,
}

impl Session {
    /// A session with a client that knows the key.
    pub(super) fn new(
        id: u64,
        (peer, stream): (SocketAddr, Stream),
        sealed: Box<Sealed>,
        facts: ServerFacts,
    ) -> Self {
        // Where the system cannot, a client that vanishes is noticed by its silence alone.
        let _ = stream.keep_alive(&ALIVE);
        let machine = Server::new(facts, clock::now_ns());
        let (unsent, backlog, closing) = (Vec::new(), Backlog::default(), None);
        Session { id, machine, peer, stream, sealed, unsent, backlog, closing }
    }

    /// It is its turn.
    pub(super) fn admit(&mut self, now_ns: u64) {
        self.sealed.trust();
        self.machine.admit(now_ns);
    }

    /// The address at which the client reached the server; `None` if it is gone.
    pub(super) fn local(&self) -> Option<IpAddr> {
        self.stream.local().ok().map(|local| local.ip())
    }

    /// What shows its client that this server gave `nonce` to another connection.
    pub(super) fn proof(&self, nonce: &Nonce) -> u64 {
        whereabouts::proof(nonce, self.sealed.handshake())
    }

    /// What to wait for. A client that does not take its answers is not asked for more questions.
    pub(super) fn interest(&self) -> Interest<'_> {
        if self.unsent.is_empty() {
            Interest::Read(&self.stream)
        } else {
            Interest::Write(&self.stream)
        }
    }

    /// When [`Session::on_timer`] is due.
    pub(super) fn deadline_ns(&self) -> Option<u64> {
        match &self.closing {
            Some(closing) => Some(closing.deadline_ns),
            None => self.machine.deadline().into_iter().chain(self.backlog.deadline()).min(),
        }
    }

    /// Time has passed.
    pub(super) fn on_timer(&mut self, now_ns: u64) {
        match &mut self.closing {
            Some(closing) => closing.gone |= now_ns >= closing.deadline_ns,
            None if self.backlog.is_stalled(now_ns) => self.machine.on_lost(now_ns),
            None => self.machine.on_timer(now_ns),
        }
    }

    /// The connection is ready for what was waited for.
    pub(super) fn on_ready(&mut self) {
        if self.unsent.is_empty() {
            return self.read();
        }
        let waited = self.unsent.len();
        self.flush();
        if self.unsent.len() < waited {
            self.machine.on_taken(clock::now_ns());
        }
    }

    /// The next whole message that has come.
    pub(super) fn next_message(&mut self) -> Option<Message> {
        match self.sealed.next() {
            Ok(message) => message,
            Err(_) => {
                self.lose();
                None
            }
        }
    }

    /// Queues a message and sends as much as the system takes.
    pub(super) fn send(&mut self, message: &Message) {
        // The next one says it better than one that was not taken in time.
        if matches!(message, Message::Queued(_)) && !self.unsent.is_empty() {
            return;
        }
        if !self.backlog.has_room() {
            return self.lose();
        }
        let sealed = match (self.sealed.seal(message), message) {
            (Err(ChannelError::Frame(error)), Message::Report(report)) => {
                let failure = TaskFailure::passing(error.to_string());
                self.sealed.seal(&Message::Failed { number: report.number, failure })
            }
            (sealed, _) => sealed,
        };
        match sealed {
            Ok(bytes) => {
                self.unsent.extend_from_slice(&bytes);
                self.flush();
            }
            Err(_) => self.lose(),
        }
    }

    /// Begins to close, as the machine asked.
    pub(super) fn close(&mut self) {
        if self.closing.is_none() {
            let deadline_ns = clock::now_ns().saturating_add(CLOSING_NS);
            self.closing = Some(Closing { deadline_ns, gone: false });
            self.flush();
        }
    }

    /// True once only its last words matter.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.is_some()
    }

    /// True once nothing remains to be done.
    pub(super) fn is_gone(&self) -> bool {
        self.closing.as_ref().is_some_and(|closing| closing.gone)
    }

    fn read(&mut self) {
        let mut buffer = [0; READ_BYTES];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.lose(),
            Ok(_) if self.closing.is_some() => {}
            Ok(bytes) => {
                acknowledge(&self.stream);
                if self.sealed.take(&buffer[..bytes]).is_err() {
                    self.lose();
                }
            }
            Err(error) if ErrorClass::of(&error) == ErrorClass::WouldBlock => {}
            Err(_) => self.lose(),
        }
    }

    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(written) => drop(self.unsent.drain(..written)),
                Err(error) if ErrorClass::of(&error) == ErrorClass::WouldBlock => break,
                Err(_) => {
                    self.unsent.clear();
                    return self.lose();
                }
            }
        }
        self.backlog.holds(self.unsent.len(), clock::now_ns());
        if !self.unsent.is_empty() {
            return;
        }
        if self.closing.is_some() && self.stream.shutdown_write().is_err() {
            self.lose();
        }
    }

    fn lose(&mut self) {
        match &mut self.closing {
            Some(closing) => closing.gone = true,
            None => self.machine.on_lost(clock::now_ns()),
        }
    }
}
