//! Accepting connections and answering each with what it says first.
//!
//! The loop accepts them itself: to be handed from thread to thread would cost a connection more
//! than all else that happens to it. It may be anybody's that it accepts. One that does not name
//! the task goes to others, and nobody is waited for.

use super::{Broken, Cause, Tally, Watch};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::session::access::Access;
use v6gap_core::task::Token;
use v6gap_core::wire::preamble::{self, Data, Preamble, Progress};
use v6gap_core::workload::Connect;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, Interest, Listener, SocketError, Stream, wait_some};

/// How often it is looked whether the client is done, in ns, and how long nothing is accepted after
/// the system refused.
const LOOK_NS: u64 = 2_000_000;

/// Most connections at a time that have not said all: those that the client may have in the making,
/// and the one that leads the trial.
const SILENT_MAX: usize = Connect::CONCURRENT_MAX as usize + 1;

/// What can be waited for at a time: the listener too.
const PLACES: usize = SILENT_MAX + 1;

/// A connection just accepted, which does not wait, and what it has said so far.
#[derive(Debug)]
pub struct Arrival {
    /// The connection.
    pub stream: Stream,
    /// Where it came from.
    pub peer: SocketAddr,
    said: [u8; Data::BYTES],
    count: usize,
}

impl Arrival {
    /// One that has said nothing yet.
    pub fn new(stream: Stream, peer: SocketAddr) -> Self {
        Arrival { stream, peer, said: [0; Data::BYTES], count: 0 }
    }

    /// One that has said this, of which no more is kept than a data preamble has.
    pub(crate) fn having_said(stream: Stream, peer: SocketAddr, said: &[u8]) -> Self {
        let mut arrival = Arrival::new(stream, peer);
        arrival.count = said.len().min(arrival.said.len());
        arrival.said[..arrival.count].copy_from_slice(&said[..arrival.count]);
        arrival
    }

    /// First bytes of the connection; those of any other kind of connection are no more.
    pub fn said(&self) -> &[u8] {
        &self.said[..self.count]
    }
}

/// Whose connections are answered.
#[derive(Debug, Clone, Copy)]
pub struct Door<'a> {
    /// Where they come.
    pub listener: &'a Listener,
    /// From where they may come.
    pub access: &'a Access,
    /// What they have to name.
    pub token: Token,
    /// The arm that they have to be of.
    pub arm: Arm,
    /// How many the client has in the making at a time, at most [`Connect::CONCURRENT_MAX`].
    pub concurrent: usize,
}

/// What the loop leaves to others.
#[derive(Debug)]
pub enum Other {
    /// The connection that leads the trial, which gets no answer.
    Lead(Stream),
    /// One that is not the task's, or has not shown it and left its place to later ones.
    Stranger(Arrival),
}

/// Memory for connections and what is known of them.
#[derive(Debug)]
pub struct Answered {
    /// Connections that have not said all, the oldest first.
    silent: Vec<Arrival>,
    /// Connections that stay open.
    pub held: Vec<Stream>,
    /// Times between answers.
    pub between: Tally,
    last_ns: Option<u64>,
    /// How many more the task has.
    left: usize,
}

impl Answered {
    /// Room for `held` connections that stay open and the times of `count`.
    pub fn with_room(held: usize, count: usize) -> Self {
        Answered {
            silent: Vec::with_capacity(SILENT_MAX),
            held: Vec::with_capacity(held),
            between: Tally::with_room(1, count),
            last_ns: None,
            left: count,
        }
    }

    /// Answers a connection of the task with what it said. It stays open as long as there is room.
    /// What is more than the task has is closed, whoever asks for it.
    pub fn answer(&mut self, data: &Data, stream: Stream) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let now_ns = clock::now_ns();
        // What cannot be written is for the client to notice.
        let _ = stream.write(&data.encode());
        self.between.times_ns.extend(self.last_ns.map(|last_ns| now_ns - last_ns));
        self.last_ns = Some(now_ns);
        if self.held.len() < self.held.capacity() {
            self.held.push(stream);
        }
    }
}

/// Answers connections until the client is done. `handed` gives those of the task that others have
/// accepted; `others` takes what is not answered here.
///
/// # Errors
/// What `watch` says, or the system's answer to waiting.
pub fn answer(
    door: &Door<'_>,
    handed: &mut dyn FnMut() -> Option<(Data, Stream)>,
    others: &mut dyn FnMut(Other),
    answered: &mut Answered,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = |cause| Broken { arm: door.arm, operation: "answering connections", cause };
    // Where several are in the making, asking for the next must not wait.
    let alone = door.concurrent == 1;
    let patient = alone.then(|| door.listener.patient(LOOK_NS).ok()).flatten();
    let mut quiet_ns = clock::now_ns();
    while !watch.finish.load(Ordering::Relaxed) {
        let before_ns = answered.last_ns;
        match &patient {
            Some(patient) if answered.silent.is_empty() => {
                door.accept(|| patient.accept(), others, answered);
            }
            _ => door.wait(others, answered).map_err(|error| broken(error.into()))?,
        }
        while let Some((data, stream)) = handed() {
            door.admit(data, stream, others, answered);
        }
        let now_ns = clock::now_ns();
        if answered.last_ns != before_ns {
            quiet_ns = now_ns;
        }
        watch.busy(now_ns).map_err(broken)?;
        if now_ns.saturating_sub(quiet_ns) >= watch.silence_ns {
            return Err(broken(Cause::Silent));
        }
    }
    answered.silent.drain(..).for_each(|arrival| others(Other::Stranger(arrival)));
    Ok(())
}

impl Door<'_> {
    /// Waits for those that have not said all and for the next, and does what they are ready for.
    fn wait(&self, others: &mut dyn FnMut(Other), answered: &mut Answered) -> io::Result<()> {
        let silent = &answered.silent;
        let interest = |number: usize| match number.checked_sub(1) {
            None => Interest::Accept(self.listener),
            Some(number) => Interest::Read(&silent[number].stream),
        };
        let ready = wait_some::<PLACES>(1 + silent.len(), interest, LOOK_NS)?;
        for number in (0..answered.silent.len()).rev() {
            if ready[1 + number] {
                let arrival = answered.silent.remove(number);
                self.hear(arrival, others, answered);
            }
        }
        if ready[0] {
            self.accept(|| self.listener.accept_now(), others, answered);
        }
        Ok(())
    }

    /// Accepts as many as the client may have begun at once, and hears what they say.
    fn accept(
        &self,
        next: impl Fn() -> Result<Option<(Stream, SocketAddr)>, SocketError>,
        others: &mut dyn FnMut(Other),
        answered: &mut Answered,
    ) {
        for _ in 0..self.concurrent {
            match next() {
                Ok(Some((stream, peer))) => {
                    let arrival = Arrival::new(stream, peer);
                    if self.access.admits(peer.ip()) {
                        self.hear(arrival, others, answered);
                    } else {
                        others(Other::Stranger(arrival));
                    }
                }
                Ok(None) => return,
                // It has run out of something, and asking on would only take the processor.
                Err(_) => return clock::rest(Duration::from_nanos(LOOK_NS)),
            }
        }
    }

    /// Reads what is there and does what follows from it.
    fn hear(&self, mut arrival: Arrival, others: &mut dyn FnMut(Other), answered: &mut Answered) {
        match arrival.stream.read(&mut arrival.said[arrival.count..]) {
            Ok(0) => return,
            Ok(count) => arrival.count += count,
            Err(error) if ErrorClass::of(&error).is_timeout() => {}
            Err(_) => return,
        }
        match preamble::decode(arrival.said()) {
            Ok(Progress::Complete(Preamble::Data(data))) if data.token == self.token => {
                self.admit(data, arrival.stream, others, answered);
            }
            Ok(Progress::Needs(_)) => {
                // Who is silent for long must not take the places of those that have just come.
                if answered.silent.len() > self.concurrent.min(SILENT_MAX - 1) {
                    others(Other::Stranger(answered.silent.remove(0)));
                }
                answered.silent.push(arrival);
            }
            _ => others(Other::Stranger(arrival)),
        }
    }

    /// Takes a connection that has named the task.
    fn admit(
        &self,
        data: Data,
        stream: Stream,
        others: &mut dyn FnMut(Other),
        answered: &mut Answered,
    ) {
        match data {
            Data { arm, .. } if arm != self.arm => {}
            Data { connection: 0, .. } => others(Other::Lead(stream)),
            data => answered.answer(&data, stream),
        }
    }
}
