//! The measuring loops: free functions with plain arguments and buffers made beforehand.
//!
//! Nothing here locks, logs or allocates, and nothing waits without bound: every wait ends after
//! [`TICK_NS`] to look at a [`Watch`]. Both families go the same way, as the sockets come from
//! outside.

pub mod answer;
pub mod bulk;
pub mod capacity;
pub mod connect;
pub mod datagram_bulk;
pub mod echo;
pub mod load;
pub mod pace;
pub mod ping;
pub mod probe;
pub mod reflected;
pub mod sequence;
pub mod series;
pub mod stack;
pub mod table;
pub mod turns;
pub mod window;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::arm::Arm;
use v6gap_core::workload::Wait;
use v6gap_sys::socket::{ErrorClass, Stream};
use v6gap_sys::{clock, cpu};

/// Longest single wait in the kernel, in ns: the time it takes to notice an order to stop.
pub const TICK_NS: u64 = 50_000_000;

/// The last part of each wait for a time to send is spent awake, because a sleep may end late by as
/// much, in ns.
const SLEEP_LATE_NS: u64 = 150_000;

static NEVER: AtomicBool = AtomicBool::new(false);

/// When a loop must stop although its own end has not come.
#[derive(Debug, Clone, Copy)]
pub struct Watch<'a> {
    /// How to wait for the peer.
    pub wait: Wait,
    /// The sockets return at once although the end is to sleep: it asks the kernel when to go on.
    pub asks: bool,
    /// Longest time in which nothing comes, in ns.
    pub silence_ns: u64,
    /// Latest time, by the monotonic clock in ns, however much comes.
    pub deadline_ns: u64,
    /// Set from outside: give up.
    pub abort: &'a AtomicBool,
    /// Set from outside: the peer has done its part, nothing more will come.
    pub finish: &'a AtomicBool,
}

impl Watch<'static> {
    /// Stops for nothing but silence.
    pub fn silence(wait: Wait, silence_ns: u64) -> Self {
        Watch {
            wait,
            asks: false,
            silence_ns,
            deadline_ns: u64::MAX,
            abort: &NEVER,
            finish: &NEVER,
        }
    }
}

impl Watch<'_> {
    /// These bounds for what is to be brought to its end although the peer has done its part.
    fn unfinished(&self) -> Watch<'_> {
        Watch { finish: &NEVER, ..*self }
    }

    /// To be called whenever a socket had nothing; says whether to go on waiting. `quiet` holds
    /// since when there was nothing and is to be cleared when something comes.
    #[inline]
    pub(crate) fn idle(&self, quiet: &mut Option<u64>) -> Result<(), Cause> {
        if self.finish.load(Ordering::Relaxed) {
            return Err(Cause::Finished);
        }
        let now_ns = clock::now_ns();
        let since_ns = *quiet.get_or_insert(now_ns);
        if now_ns - since_ns >= self.silence_ns {
            return Err(Cause::Silent);
        }
        self.busy(now_ns)?;
        if self.wait == Wait::Yield {
            cpu::yield_now();
            linger();
        }
        Ok(())
    }

    /// To be called in loops whose end is in the peer's hands; says whether to go on.
    #[inline]
    fn busy(&self, now_ns: u64) -> Result<(), Cause> {
        if self.abort.load(Ordering::Relaxed) {
            return Err(Cause::Aborted);
        }
        if now_ns >= self.deadline_ns { Err(Cause::TooLong) } else { Ok(()) }
    }
}

/// Mean time that an end which yields lingers between two looks, in ns.
const LINGER_NS: f64 = 2_000.0;

/// Stays for a random time. Where ends and links share a processor and yield to each other, each
/// looks once a round, of some µs, and the rounds begin anew with every message: the messages of
/// one family would always come just before a look, those of the other just after one. Times of an
/// exponential law forget when the last look was, so that the looks are late by the same mean for
/// both (docs/method.md section B.3).
fn linger() {
    let from_ns = clock::now_ns();
    // The last digits of a time are as good as random; Knuth's multiplier spreads them. Above 0.
    let share = ((from_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) + 1) as f64 / 16_777_216.0;
    let until_ns = from_ns + (-LINGER_NS * share.ln()) as u64;
    while clock::now_ns() < until_ns {}
}

/// How often an end that spins asks before it looks at the clock again: reading it takes a good
/// part of the time of asking, and what comes meanwhile waits. Far less than [`TICK_NS`] in all.
const SPINS: u32 = 64;

/// Makes a call that finds nothing again, if `watch` says that this end spins.
#[inline]
fn spinning<T>(watch: &Watch<'_>, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    if watch.wait == Wait::Spin {
        for _ in 1..SPINS {
            match call() {
                Err(error) if ErrorClass::of(&error).is_timeout() => {}
                outcome => return outcome,
            }
        }
    }
    call()
}

/// Why a loop ended before its time.
#[derive(Debug)]
pub enum Cause {
    /// The system said no.
    Io(io::Error),
    /// The peer ended the connection.
    Closed,
    /// Nothing came until the deadline, or nothing was answered however often it was sent.
    Silent,
    /// The peer did not come to an end in time.
    TooLong,
    /// A message came that does not belong here.
    Foreign,
    /// It was told to give up.
    Aborted,
    /// It was told that nothing more will come.
    Finished,
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        match ErrorClass::of(&error) {
            ErrorClass::Closed => Cause::Closed,
            _ => Cause::Io(error),
        }
    }
}

/// A loop that ended before its time, and where.
#[derive(Debug)]
pub struct Broken {
    /// On which arm's socket.
    pub arm: Arm,
    /// In the middle of what.
    pub operation: &'static str,
    /// Why.
    pub cause: Cause,
}

impl Broken {
    pub(crate) fn at(arm: Arm, operation: &'static str) -> impl Fn(Cause) -> Broken {
        move |cause| Broken { arm, operation, cause }
    }
}

/// Times of like events, in the order of time, in memory taken beforehand.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Single times, in ns.
    pub times_ns: Vec<u64>,
    /// How many times there were at the end of each turn.
    pub turn_ends: Vec<usize>,
    /// From the start of the first exchange of each turn to the end of the last, in ns; `None` if
    /// any of them was lost.
    pub turn_totals_ns: Vec<Option<u64>>,
    /// Events that failed or whose time is unknown because the request had to be repeated.
    pub lost: u64,
    /// For how long the far end held the request of each of the single times, in ns; empty where
    /// it does not tell.
    pub held_ns: Vec<u64>,
}

impl Tally {
    /// Room for `turns` turns of `events` each.
    pub fn with_room(turns: usize, events: usize) -> Self {
        Tally {
            times_ns: Vec::with_capacity(turns.saturating_mul(events)),
            turn_ends: Vec::with_capacity(turns),
            turn_totals_ns: Vec::with_capacity(turns),
            lost: 0,
            held_ns: Vec::new(),
        }
    }

    /// With as much room for what the far end says that it held.
    #[must_use]
    pub fn with_held(mut self) -> Self {
        self.held_ns.reserve_exact(self.times_ns.capacity());
        self
    }
}

impl Tally {
    /// Closes a turn that began at `start_ns`, when `lost_before` events had been lost.
    #[inline]
    fn end_turn(&mut self, start_ns: u64, end_ns: u64, lost_before: u64) {
        self.turn_ends.push(self.times_ns.len());
        let whole = self.lost == lost_before;
        self.turn_totals_ns.push(whole.then_some(end_ns - start_ns));
    }
}

/// Fills `bytes`.
#[inline]
fn fill(stream: &Stream, bytes: &mut [u8], watch: &Watch<'_>) -> Result<(), Cause> {
    let (mut done, mut quiet) = (0, None);
    while done < bytes.len() {
        match spinning(watch, || stream.read(&mut bytes[done..])) {
            Ok(0) => return Err(Cause::Closed),
            Ok(count) if done + count == bytes.len() => return Ok(()),
            Ok(count) => {
                done += count;
                quiet = None;
                // A peer that goes on byte by byte is never silent.
                watch.busy(clock::now_ns())?;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => watch.idle(&mut quiet)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes all `bytes`.
#[inline]
fn put(stream: &Stream, bytes: &[u8], watch: &Watch<'_>) -> Result<(), Cause> {
    let (mut done, mut quiet) = (0, None);
    while done < bytes.len() {
        match stream.write(&bytes[done..]) {
            Ok(count) if done + count == bytes.len() => return Ok(()),
            Ok(count) => {
                done += count;
                quiet = None;
                // A peer that goes on byte by byte is never silent.
                watch.busy(clock::now_ns())?;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => watch.idle(&mut quiet)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
