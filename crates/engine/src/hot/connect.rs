//! TCP connections opened one after the other or several at a time, each timed and closed by a
//! reset, so that none is left in TIME_WAIT.

use super::{Cause, TICK_NS, Tally};
use std::net::SocketAddr;
use v6gap_core::wire::preamble::Data;
use v6gap_core::workload::Connect;
use v6gap_sys::socket::{
    Begun, ConnectTimes, ErrorClass, Interest, SocketError, Stream, StreamOptions, wait_some,
};
use v6gap_sys::{Interrupter, clock};

/// Failures in a row after which there is no use in going on.
const FAILURES_MAX: u32 = 3;

/// Most connections in the making at a time.
const SLOTS: usize = Connect::CONCURRENT_MAX as usize;

/// Times of the steps of many connections.
#[derive(Debug, Default)]
pub struct Steps {
    /// Creating the socket.
    pub socket: Tally,
    /// From the call of `connect` until the connection stood.
    pub connect: Tally,
    /// From the call of `connect` until the first byte of the answer.
    pub first_byte: Tally,
}

impl Steps {
    /// Room for so many connections.
    pub fn with_room(count: usize) -> Self {
        let tally = || Tally::with_room(1, count);
        Steps { socket: tally(), connect: tally(), first_byte: tally() }
    }
}

/// Opens `count` connections to `remote`, each from the next address of `locals`. Addresses in use
/// are passed over; other failures are counted as lost.
///
/// # Errors
/// The last of three failures in a row, or what the last address said if `locals` ends.
pub fn connect(
    remote: SocketAddr,
    options: &StreamOptions,
    timeout_ns: u64,
    count: u32,
    locals: &mut impl Iterator<Item = SocketAddr>,
    steps: &mut Steps,
) -> Result<(), SocketError> {
    let mut failures = 0;
    for _ in 0..count {
        match next(remote, options, timeout_ns, locals) {
            Ok((stream, times)) => {
                stream.linger_zero()?;
                steps.socket.times_ns.push(times.socket_ns);
                steps.connect.times_ns.push(times.connect_ns);
                failures = 0;
            }
            Err(error) => {
                steps.connect.lost += 1;
                failures += 1;
                if failures == FAILURES_MAX {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// One connection from the first of `locals` that is free, and how long its steps took.
///
/// # Errors
/// The system's answer; "address in use" only if `locals` ends. Without any address in `locals` the
/// system chooses.
pub fn next(
    remote: SocketAddr,
    options: &StreamOptions,
    timeout_ns: u64,
    locals: &mut impl Iterator<Item = SocketAddr>,
) -> Result<(Stream, ConnectTimes), SocketError> {
    from_free(locals, |local| Stream::connect_timed(local, remote, options, timeout_ns))
}

/// What `attempt` makes of the first of `locals` that is free.
fn from_free<T>(
    locals: &mut impl Iterator<Item = SocketAddr>,
    attempt: impl Fn(Option<SocketAddr>) -> Result<T, SocketError>,
) -> Result<T, SocketError> {
    let mut local = locals.next();
    loop {
        match attempt(local) {
            Ok(made) => return Ok(made),
            // Another socket has the port, or this host still remembers a connection from it.
            Err(error) if error.class() == ErrorClass::AddressInUse => {
                local = Some(locals.next().ok_or(error)?);
            }
            Err(error) => return Err(error),
        }
    }
}

/// How several connections are made and used.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// The server.
    pub remote: SocketAddr,
    /// Options of every socket.
    pub options: &'a StreamOptions,
    /// Longest time of one connection until its answer is there, in ns.
    pub timeout_ns: u64,
    /// How many in all.
    pub count: u16,
    /// How many in the making at a time, at most [`Connect::CONCURRENT_MAX`].
    pub concurrent: usize,
    /// The request; each connection has a number of its own in it, from 1 on.
    pub request: Data,
}

/// Why a connection or all of them failed.
#[derive(Debug)]
pub enum Failure {
    /// It did not come about.
    Connect(SocketError),
    /// It did, and was of no use.
    Ask(Cause),
}

/// A connection in the making.
#[derive(Debug)]
pub struct Slot {
    stream: Stream,
    start_ns: u64,
    request: [u8; Data::BYTES],
    stands: bool,
    read: usize,
}

/// Memory for connections.
#[derive(Debug)]
pub struct Slots {
    making: Vec<Slot>,
    /// Connections that stay open.
    pub held: Vec<Stream>,
}

impl Slots {
    /// Room for `concurrent` connections in the making and `held` that stay open.
    pub fn with_room(concurrent: usize, held: usize) -> Self {
        Slots { making: Vec::with_capacity(concurrent), held: Vec::with_capacity(held) }
    }
}

/// Opens connections, sends the request over each and waits for the same bytes as the answer. They
/// are then reset, or held as long as `places` has room for them. Those that fail are counted as
/// lost. One at a time is made in calls that wait, where something can interrupt them.
///
/// # Errors
/// The last of three failures in a row.
pub fn several(
    manner: &Manner<'_>,
    locals: &mut impl Iterator<Item = SocketAddr>,
    slots: &mut Slots,
    steps: &mut Steps,
) -> Result<(), Failure> {
    if manner.concurrent <= 1
        && let Ok(_interrupter) = Interrupter::every(TICK_NS)
    {
        return one_by_one(manner, locals, &mut slots.held, steps);
    }
    let (mut begun, mut failures) = (0, 0);
    let room = manner.concurrent.clamp(1, SLOTS);
    while begun < manner.count || !slots.making.is_empty() {
        while begun < manner.count && slots.making.len() < room {
            begun += 1;
            match begin(manner, begun, locals, steps) {
                Ok(slot) => slots.making.push(slot),
                Err(failure) => failed(steps, &mut failures, failure)?,
            }
        }
        let waited = ready(&slots.making);
        let ready = waited.map_err(|error| Failure::Ask(error.into()))?;
        let now_ns = clock::now_ns();
        for number in (0..slots.making.len()).rev() {
            let slot = &mut slots.making[number];
            let done = if ready[number] { go_on(slot, manner, steps) } else { Ok(false) };
            match done.and_then(|done| in_time(done, slot, manner, now_ns)) {
                Ok(false) => {}
                Ok(true) => {
                    let Slot { stream, .. } = slots.making.swap_remove(number);
                    failures = 0;
                    over(stream, &mut slots.held);
                }
                Err(failure) => {
                    slots.making.swap_remove(number);
                    failed(steps, &mut failures, failure)?;
                }
            }
        }
    }
    Ok(())
}

/// [`several`] with one in the making at a time.
fn one_by_one(
    manner: &Manner<'_>,
    locals: &mut impl Iterator<Item = SocketAddr>,
    held: &mut Vec<Stream>,
    steps: &mut Steps,
) -> Result<(), Failure> {
    let mut failures = 0;
    for number in 1..=manner.count {
        match one(manner, number, locals, steps) {
            Ok(stream) => {
                failures = 0;
                over(stream, held);
            }
            Err(failure) => failed(steps, &mut failures, failure)?,
        }
    }
    Ok(())
}

/// One connection with its answer.
fn one(
    manner: &Manner<'_>,
    number: u16,
    locals: &mut impl Iterator<Item = SocketAddr>,
    steps: &mut Steps,
) -> Result<Stream, Failure> {
    let Manner { remote, options, timeout_ns, .. } = *manner;
    let attempt = |local| Stream::connect_waiting(local, remote, options, timeout_ns);
    let begun = from_free(locals, attempt).map_err(Failure::Connect)?;
    let mut slot = made(begun, manner, number, steps);
    ask(&mut slot, manner, steps).map_err(Failure::Connect)?;
    loop {
        if go_on(&mut slot, manner, steps)? {
            return Ok(slot.stream);
        }
        in_time(false, &slot, manner, clock::now_ns())?;
    }
}

/// A connection that has had its answer is reset, or held as long as there is room: closing it as
/// it is would leave TIME_WAIT behind.
fn over(stream: Stream, held: &mut Vec<Stream>) {
    let _ = stream.linger_zero();
    if held.len() < held.capacity() {
        held.push(stream);
    }
}

/// Whether a connection is done, unless it takes too long.
fn in_time(done: bool, slot: &Slot, manner: &Manner<'_>, now_ns: u64) -> Result<bool, Failure> {
    let late = now_ns.saturating_sub(slot.start_ns) > manner.timeout_ns;
    if late && !done { Err(Failure::Ask(Cause::Silent)) } else { Ok(done) }
}

/// Which connections can go on.
fn ready(making: &[Slot]) -> std::io::Result<[bool; SLOTS]> {
    let interest = |number: usize| match &making[number] {
        slot if slot.stands => Interest::Read(&slot.stream),
        slot => Interest::Write(&slot.stream),
    };
    wait_some::<SLOTS>(making.len(), interest, TICK_NS)
}

/// Counts a failure, and returns it if there were too many in a row.
fn failed(steps: &mut Steps, failures: &mut u32, failure: Failure) -> Result<(), Failure> {
    steps.connect.lost += 1;
    *failures += 1;
    if *failures >= FAILURES_MAX { Err(failure) } else { Ok(()) }
}

fn begin(
    manner: &Manner<'_>,
    number: u16,
    locals: &mut impl Iterator<Item = SocketAddr>,
    steps: &mut Steps,
) -> Result<Slot, Failure> {
    let attempt = |local| Stream::begin(local, manner.remote, manner.options);
    let begun = from_free(locals, attempt).map_err(Failure::Connect)?;
    let mut slot = made(begun, manner, number, steps);
    ask(&mut slot, manner, steps).map_err(Failure::Connect)?;
    Ok(slot)
}

/// What connection `number` is in the making.
fn made(begun: Begun, manner: &Manner<'_>, number: u16, steps: &mut Steps) -> Slot {
    let Begun { stream, socket_ns, start_ns } = begun;
    steps.socket.times_ns.push(socket_ns);
    let request = Data { connection: number, ..manner.request }.encode();
    Slot { stream, start_ns, request, stands: false, read: 0 }
}

/// Sends the request if the connection stands. A fresh socket has room for so few bytes.
fn ask(slot: &mut Slot, manner: &Manner<'_>, steps: &mut Steps) -> Result<(), SocketError> {
    let now_ns = clock::now_ns();
    slot.stands = slot.stream.write_if_connected(manner.remote, &slot.request)?;
    if slot.stands {
        steps.connect.times_ns.push(now_ns - slot.start_ns);
    }
    Ok(())
}

/// Does the next step of a connection that is ready for it; `true` after the last one.
fn go_on(slot: &mut Slot, manner: &Manner<'_>, steps: &mut Steps) -> Result<bool, Failure> {
    if !slot.stands {
        ask(slot, manner, steps).map_err(Failure::Connect)?;
        if !slot.stands {
            // There are systems on which writing does not tell why.
            slot.stream.connected(manner.remote).map_err(Failure::Connect)?;
        }
        return Ok(false);
    }
    let mut answer = [0; Data::BYTES];
    match slot.stream.read_interruptible(&mut answer[slot.read..]) {
        Ok(0) => Err(Failure::Ask(Cause::Closed)),
        Ok(count) => {
            if slot.read == 0 {
                let now_ns = clock::now_ns();
                steps.first_byte.times_ns.push(now_ns - slot.start_ns);
            }
            let part = slot.read..slot.read + count;
            if answer[part.clone()] != slot.request[part] {
                return Err(Failure::Ask(Cause::Foreign));
            }
            slot.read += count;
            Ok(slot.read == slot.request.len())
        }
        Err(error) if to_be_continued(ErrorClass::of(&error)) => Ok(false),
        Err(error) => Err(Failure::Ask(error.into())),
    }
}

/// Whether reading only has to go on.
fn to_be_continued(class: ErrorClass) -> bool {
    class.is_timeout() || class == ErrorClass::Interrupted
}
