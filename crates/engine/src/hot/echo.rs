//! Request and answer in turns over connections of both arms that stay open.
//!
//! The server is sticky: it serves the connection whose turn it is, and the last message of a turn
//! tells it where to go next. So no order of polling can favour an arm, and both ends may sleep in
//! the kernel on exactly the socket that matters.

use super::turns::{Turn, Turns};
use super::{Broken, Cause, TICK_NS, Tally, Watch, fill, put, spinning};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::session::validation::{Handling, Validation};
use v6gap_core::wire::datagram::{End, Flags, HEADER_BYTES, Header};
use v6gap_sys::clock;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, ErrorClass, Stream};

/// Shortest time to wait for the answer to a datagram, in ns.
pub(super) const PATIENCE_NS_MIN: u64 = 200_000_000;

/// Longest time to wait for the answer to a datagram, in ns (RFC 2681 asks for a threshold; most
/// paths answer within 2 s or not at all).
pub(super) const PATIENCE_NS_MAX: u64 = 2_000_000_000;

/// How often a datagram is sent at most.
const TRIES_MAX: u32 = 8;

/// Requests over UDP that are answered, as often as there are exchanges: of a path that loses so
/// much that more are sent again nothing is to be learnt, and a client gets no more than its task.
const ANSWERED_MAX: u64 = 4;

/// Copies of the message that ends the block; over UDP one may be lost.
const END_COPIES: u32 = 3;

pub(crate) const EXCHANGE: &str = "exchanging messages";

/// Answers up to this length, in bytes, are compared with what they must be in less time than the
/// clock takes to be read.
const COMPARED_AT_ONCE: usize = 512;

/// Memory for one message each way, which both arms share: where it lies favours neither.
#[derive(Debug)]
pub struct Buffers {
    out: Bytes,
    back: Bytes,
    expected: Bytes,
    /// Bytes at the end of each that are none of the arm's whose turn it is.
    shorter: usize,
}

impl Buffers {
    /// `out` is the longest that is sent, whose start a header is written over; `back` as long as
    /// what comes back, and `expected` what that must be, but for its header.
    pub fn new(out: Bytes, back: Bytes, expected: Bytes) -> Self {
        Buffers { out, back, expected, shorter: 0 }
    }

    /// For messages so much shorter than the longest.
    pub(super) fn shorten(&mut self, by: usize) {
        self.shorter = by;
    }

    /// What is sent.
    #[inline]
    pub(super) fn out(&mut self) -> &mut [u8] {
        let end = self.out.len() - self.shorter;
        &mut self.out[..end]
    }

    /// What comes back.
    #[inline]
    pub(super) fn back(&mut self) -> &mut [u8] {
        let end = self.back.len() - self.shorter;
        &mut self.back[..end]
    }

    /// What was sent, and the room for what comes back.
    #[inline]
    pub(super) fn both(&mut self) -> (&[u8], &mut [u8]) {
        let [out, back] = [self.out.len(), self.back.len()].map(|len| len - self.shorter);
        (&self.out[..out], &mut self.back[..back])
    }

    /// Whether what came back has the server's own payload behind a header.
    #[inline]
    pub(super) fn has_payload(&self) -> bool {
        let [back, expected] = [&self.back, &self.expected].map(|b| &b[..b.len() - self.shorter]);
        back[HEADER_BYTES..] == expected[HEADER_BYTES..]
    }

    /// Whether what came back answers what was sent: with its header, and with the server's own
    /// payload.
    #[inline]
    pub(super) fn is_answered(&mut self) -> bool {
        let header = &mut self.expected[..HEADER_BYTES];
        header.copy_from_slice(&self.out[..HEADER_BYTES]);
        Header::make_answer(header);
        let [back, expected] = [&self.back, &self.expected].map(|b| &b[..b.len() - self.shorter]);
        back == expected
    }
}

/// The times of a turn.
#[derive(Debug)]
pub(super) struct Lap {
    /// When the last exchange ended, which is when the next one begins, in ns.
    now_ns: u64,
    /// Time in which answers were looked at, which is no part of the turn, in ns.
    apart_ns: u64,
}

impl Lap {
    pub(super) fn new(now_ns: u64) -> Self {
        Lap { now_ns, apart_ns: 0 }
    }

    /// Rests for so long; the time is no part of the turn.
    pub(super) fn rest(&mut self, ns: u64) {
        clock::rest(Duration::from_nanos(ns));
        let now_ns = clock::now_ns();
        self.apart_ns += now_ns - self.now_ns;
        self.now_ns = now_ns;
    }

    /// Ends an exchange whose answer has just come over TCP, and looks at that.
    #[inline]
    pub(super) fn answered(&mut self, buffers: &mut Buffers) -> Exchanged {
        let end_ns = clock::now_ns();
        let ns = end_ns - self.now_ns;
        if !buffers.is_answered() {
            return Err(Cause::Foreign);
        }
        self.end(end_ns, buffers.back().len());
        Ok(Some(Took { ns, held_ns: None }))
    }

    /// Ends an exchange at `end_ns`, after whose answer of so many bytes was looked at.
    #[inline]
    fn end(&mut self, end_ns: u64, bytes: usize) {
        self.now_ns = end_ns;
        if bytes > COMPARED_AT_ONCE {
            self.now_ns = clock::now_ns();
            self.apart_ns += self.now_ns - end_ns;
        }
    }
}

/// An exchange whose time is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    /// From the request to its answer, without what the far end held, in ns.
    pub ns: u64,
    /// For how long the far end held the request, if it tells, in ns.
    pub held_ns: Option<u64>,
}

/// An exchange, `None` if its time is not known because the request had to be repeated.
pub(super) type Exchanged = Result<Option<Took>, Cause>;

/// Takes all turns over TCP. `tallies` get the times of the counted exchanges.
pub fn stream_client(
    turns: &Turns,
    tag: [u8; 8],
    streams: &PerArm<Vec<Stream>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let exchange = |stream: &Stream, buffers: &mut Buffers, header: &mut Header, lap: &mut Lap| {
        header.encode(buffers.out());
        put(stream, buffers.out(), watch)?;
        fill(stream, buffers.back(), watch)?;
        lap.answered(buffers)
    };
    // The answer to the last message ends the block: nothing is lost, so nothing more need be said.
    take_turns(turns, tag, streams, buffers, tallies, exchange).map(drop)
}

/// Takes all turns over UDP. An exchange that was lost is repeated and only counts as lost.
pub fn datagram_client(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<Datagram>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let last = lossy_client(turns, tag, sockets, buffers, tallies, watch)?;
    let socket = &sockets.get(last.arm)[usize::from(last.connection)];
    say_end(socket, buffers.out());
    Ok(())
}

/// Takes all turns over sockets that may lose messages; returns the last of them.
pub(super) fn lossy_client<S: Lossy>(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<S>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<Turn, Broken> {
    let mut patience_ns = PATIENCE_NS_MIN;
    let exchange = |socket: &S, buffers: &mut Buffers, header: &mut Header, lap: &mut Lap| {
        let pause_ns = socket.pause_ns();
        if pause_ns > 0 {
            lap.rest(pause_ns);
        }
        ask(socket, buffers, header, lap, &mut patience_ns, watch)
    };
    take_turns(turns, tag, sockets, buffers, tallies, exchange)
}

/// Sends the message that ends the block. The server also ends when it is told over the control
/// connection.
pub(super) fn say_end(socket: &Datagram, end: &[u8]) {
    for _ in 0..END_COPIES {
        let _ = socket.send(end);
    }
}

/// All turns with any kind of socket; leaves the message that ends the block in `buffers` and
/// returns the turn whose connection it goes over.
///
/// An exchange gets the time at which the one before it ended, which is when it begins, and leaves
/// that of its own end there: one read of the clock for each exchange, not two. What lies between
/// (keeping the time, looking at a short answer, writing the next header) takes less than the read
/// that is saved. Where looking at an answer takes longer, the clock is read after it, and the time
/// is no part of any exchange nor of the turn.
pub(super) fn take_turns<S>(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<S>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    mut exchange: impl FnMut(&S, &mut Buffers, &mut Header, &mut Lap) -> Exchanged,
) -> Result<Turn, Broken> {
    let mut sequences = PerArm { a: 0_u32, b: 0_u32 };
    let mut last = Turn { arm: Arm::A, connection: 0, exchanges: 0, warmup: true };
    for number in 0..turns.count {
        let Some(turn) = turns.at(number) else { break };
        let next = turns.at(number + 1).unwrap_or(turn).connection;
        let socket = &sockets.get(turn.arm)[usize::from(turn.connection)];
        let tally = tallies.get_mut(turn.arm);
        let sequence = sequences.get_mut(turn.arm);
        let lost_before = tally.lost;
        buffers.shorten(turns.shorter(turn.arm));
        let start_ns = clock::now_ns();
        let mut lap = Lap::new(start_ns);
        for left in (0..turn.exchanges).rev() {
            let flags = flags(turn.warmup, left == 0);
            let mut header =
                Header { tag, sequence: *sequence, turn: number, next, arm: turn.arm, flags };
            let took = exchange(socket, buffers, &mut header, &mut lap)
                .map_err(Broken::at(turn.arm, EXCHANGE))?;
            *sequence = header.sequence.wrapping_add(1);
            match took {
                _ if turn.warmup => {}
                Some(Took { ns, held_ns }) => {
                    tally.times_ns.push(ns);
                    tally.held_ns.extend(held_ns);
                }
                None => tally.lost += 1,
            }
        }
        if !turn.warmup {
            tally.end_turn(start_ns, lap.now_ns - lap.apart_ns, lost_before);
        }
        last = turn;
    }
    let sequence = *sequences.get(last.arm);
    let turn = turns.count - 1;
    let end = Header { tag, sequence, turn, next: 0, arm: last.arm, flags: Flags::END };
    end.encode(buffers.out());
    Ok(last)
}

pub(super) fn flags(warmup: bool, last_of_turn: bool) -> Flags {
    let warm = if warmup { Flags::WARMUP } else { Flags::NONE };
    if last_of_turn { warm.with(Flags::LAST_OF_TURN) } else { warm }
}

/// A socket over which requests and answers may be lost.
pub(super) trait Lossy {
    /// Pause before each request, in ns.
    fn pause_ns(&self) -> u64 {
        0
    }

    /// Writes what a request begins with into its place in what is sent.
    fn encode(&self, header: &Header, buffers: &mut Buffers);

    /// When a request begins that follows what ended at `ns`: at once, unless writing it takes
    /// long.
    fn begins(&self, ns: u64) -> u64 {
        ns
    }

    /// Sends the request.
    fn send_request(&self, header: &Header, buffers: &mut Buffers) -> io::Result<usize>;

    /// Waits until a request can be sent, at most `timeout_ns`.
    fn wait_to_send(&self, timeout_ns: u64) -> io::Result<bool>;

    /// When the answer to it came; `None` if it did not until `until_ns`. Answers to
    /// earlier requests and other messages are passed over; the answer itself has been looked at.
    fn answer(
        &self,
        header: &Header,
        buffers: &mut Buffers,
        until_ns: u64,
        watch: &Watch<'_>,
    ) -> Result<Option<Answered>, Cause>;
}

/// An answer that came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    /// When, in ns.
    pub ns: u64,
    /// For how long the other end held the request, if it tells, in ns: no part of the round trip.
    pub held_ns: Option<u64>,
}

impl Answered {
    /// From an end that does not tell.
    pub(super) fn at(ns: u64) -> Self {
        Answered { ns, held_ns: None }
    }

    /// A datagram of so many bytes that has just come, if it is the answer.
    #[inline]
    pub(super) fn by(
        count: usize,
        buffers: &mut Buffers,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, Cause> {
        let now_ns = clock::now_ns();
        if count == buffers.back().len() && buffers.is_answered() {
            return Ok(Some(Answered::at(now_ns)));
        }
        watch.busy(now_ns).map(|()| None)
    }
}

impl Lossy for Datagram {
    fn encode(&self, header: &Header, buffers: &mut Buffers) {
        header.encode(buffers.out());
    }

    fn send_request(&self, _: &Header, buffers: &mut Buffers) -> io::Result<usize> {
        self.send(buffers.out())
    }

    fn wait_to_send(&self, timeout_ns: u64) -> io::Result<bool> {
        self.wait_writable(timeout_ns)
    }

    fn answer(
        &self,
        _: &Header,
        buffers: &mut Buffers,
        until_ns: u64,
        watch: &Watch<'_>,
    ) -> Result<Option<Answered>, Cause> {
        let mut quiet = None;
        loop {
            match spinning(watch, || self.recv(buffers.back())) {
                Ok(count) => {
                    if let Some(answered) = Answered::by(count, buffers, watch)? {
                        return Ok(Some(answered));
                    }
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => {
                    watch.idle(&mut quiet)?;
                    if watch.asks {
                        self.wait_readable(TICK_NS.min(until_ns.saturating_sub(clock::now_ns())))?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
            if clock::now_ns() >= until_ns {
                return Ok(None);
            }
        }
    }
}

/// Sends a request until one is answered, each time with a number of its own, so that a late answer
/// is not taken for that to the repetition. `None` if the first was not answered in time. `lap`
/// begins with the first and ends with the answer.
pub(super) fn ask<S: Lossy>(
    socket: &S,
    buffers: &mut Buffers,
    header: &mut Header,
    lap: &mut Lap,
    patience_ns: &mut u64,
    watch: &Watch<'_>,
) -> Exchanged {
    let mut wait_ns = *patience_ns;
    for tried in 0..TRIES_MAX {
        socket.encode(header, buffers);
        let start_ns = if tried == 0 { socket.begins(lap.now_ns) } else { clock::now_ns() };
        let start_ns = send(socket, header, buffers, watch)?.unwrap_or(start_ns);
        if let Some(answered) = socket.answer(header, buffers, start_ns + wait_ns, watch)? {
            let Answered { ns: end_ns, held_ns } = answered;
            // No longer than the exchange: whatever an answer says, the turn must not be below 0.
            let held_ns = held_ns.map(|ns| ns.min(end_ns - start_ns));
            let ns = end_ns - start_ns - held_ns.unwrap_or(0);
            lap.end(end_ns, buffers.back().len());
            lap.apart_ns += held_ns.unwrap_or(0);
            *patience_ns = (4 * ns).clamp(*patience_ns, PATIENCE_NS_MAX);
            return Ok((tried == 0).then_some(Took { ns, held_ns }));
        }
        // From the longest on as at first: a path that is slow all of a sudden was given its time,
        // and who is cut off must not keep the server's turn for long.
        wait_ns = match wait_ns {
            PATIENCE_NS_MAX.. => *patience_ns,
            _ => (2 * wait_ns).min(PATIENCE_NS_MAX),
        };
        header.sequence = header.sequence.wrapping_add(1);
    }
    Err(Cause::Silent)
}

/// Sends a request once there is room for it: until then it is not on its way, and not lost. Says
/// when that was if there was none at first, in ns.
#[inline]
fn send<S: Lossy>(
    socket: &S,
    header: &Header,
    buffers: &mut Buffers,
    watch: &Watch<'_>,
) -> Result<Option<u64>, Cause> {
    let (mut quiet, mut waited) = (None, None);
    loop {
        match socket.send_request(header, buffers) {
            Ok(_) => return Ok(waited),
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                watch.idle(&mut quiet)?;
                socket.wait_to_send(TICK_NS)?;
                waited = Some(clock::now_ns());
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Answers over TCP until the last message of the last turn, of each turn as many as it has.
/// `request` is as long as the longest request and `answer` as the longest answer, whose payload it
/// holds.
pub fn stream_server(
    turns: &Turns,
    tag: [u8; 8],
    streams: &PerArm<Vec<Stream>>,
    (request, answer): (&mut [u8], &mut [u8]),
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let Some(mut turn) = turns.at(0) else { return Ok(()) };
    let (mut number, mut answered) = (0, 0);
    loop {
        let broken = Broken::at(turn.arm, EXCHANGE);
        let stream = &streams.get(turn.arm)[usize::from(turn.connection)];
        let shorter = turns.shorter(turn.arm);
        let [asked, told] = [request.len(), answer.len()].map(|len| len - shorter);
        let (request, answer) = (&mut request[..asked], &mut answer[..told]);
        fill(stream, request, watch).map_err(&broken)?;
        // One beyond those that are counted, see [`Turns::exchanges`].
        let is_due = |header: &Header| header.turn == number && answered <= turn.exchanges;
        let Some(header) = End::Server.heard(request, tag).filter(is_due) else {
            return Err(broken(Cause::Foreign));
        };
        answered += 1;
        Header { flags: End::Server.says(header.flags), ..header }.encode(answer);
        put(stream, answer, watch).map_err(&broken)?;
        watch.busy(clock::now_ns()).map_err(&broken)?;
        match following(turns, &header) {
            Some(next) => (turn, number, answered) = (next, number + 1, 0),
            None if header.flags.contains(Flags::LAST_OF_TURN) => return Ok(()),
            None => {}
        }
    }
}

/// Answers over UDP until the message that ends the block, or until told that nothing more will
/// come. Only sources that have proved themselves are answered, never with more bytes than they
/// sent, and only they end it. `peers` gets the first one of each arm that asked for something;
/// `request` is as long as a request and `answer` as an answer, whose payload it holds.
pub fn datagram_server(
    turns: &Turns,
    validation: &mut Validation<'_>,
    sockets: &PerArm<&Datagram>,
    (request, answer): (&mut [u8], &mut [u8]),
    peers: &mut PerArm<Option<SocketAddr>>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let mut arm = turns.at(0).map_or(Arm::A, |turn| turn.arm);
    let (mut newest, mut left) = (0, ANSWERED_MAX * turns.exchanges());
    let mut last_ns = clock::now_ns();
    let mut quiet = None;
    loop {
        let socket = *sockets.get(arm);
        let broken = Broken::at(arm, EXCHANGE);
        let ours = heard(socket, request, validation, watch)
            .map_err(|error| broken(error.into()))?
            .filter(|(header, ..)| left > 0 || header.flags.contains(Flags::END));
        // Datagrams of others are as good as none: they must not keep the task going.
        let Some((header, count, source)) = ours else {
            match watch.idle(&mut quiet) {
                Err(Cause::Finished) => return Ok(()),
                other => other.map_err(&broken)?,
            }
            // The message that would have led elsewhere may be lost: look at both.
            if clock::now_ns() - last_ns >= TICK_NS {
                arm = arm.other();
            }
            continue;
        };
        peers.get_mut(header.arm).get_or_insert(source);
        if header.flags.contains(Flags::END) {
            return Ok(());
        }
        left = left.saturating_sub(1);
        let bytes = count.min(answer.len() - turns.shorter(header.arm));
        let answer = &mut answer[..bytes];
        Header { flags: End::Server.says(header.flags), ..header }.encode(answer);
        // What cannot be sent is as good as lost on the way, and the client will ask again; but
        // what does not fit the path never will be.
        match socket.send_to(answer, source) {
            Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => {
                return Err(broken(error.into()));
            }
            _ => {}
        }
        // After the answer, which the client waits for.
        last_ns = clock::now_ns();
        quiet = None;
        watch.busy(last_ns).map_err(&broken)?;
        // A copy of an old message is answered, and leads nowhere.
        if header.turn >= newest {
            newest = header.turn;
            arm = following(turns, &header).map_or(arm, |turn| turn.arm);
        }
    }
}

/// What a source that has proved itself sent, with its length and the source; others are answered
/// at once, or passed over.
#[inline]
fn heard(
    socket: &Datagram,
    request: &mut [u8],
    validation: &mut Validation<'_>,
    watch: &Watch<'_>,
) -> io::Result<Option<(Header, usize, SocketAddr)>> {
    let (count, source) = match spinning(watch, || socket.recv_from(request)) {
        Ok(came) => came,
        // Nothing; or what a socket with a peer hears when the client has closed its own, before
        // the message that ends the block where that one is late; or, on Windows, a datagram longer
        // than the buffer, which is a stranger's.
        Err(error) => {
            let class = ErrorClass::of(&error);
            let passes = matches!(class, ErrorClass::Refused | ErrorClass::TooBig);
            return if passes || class.is_timeout() { Ok(None) } else { Err(error) };
        }
    };
    Ok(match validation.judge(source, &request[..count]) {
        Handling::Valid { header, .. } => Some((header, count, source)),
        Handling::Answer(told) | Handling::Proved { answer: told, .. } => {
            // As good as lost on the way if it cannot be sent.
            let _ = socket.send_to(&told, source);
            None
        }
        Handling::Ignore => None,
    })
}

/// The turn after that of `header`, if it ends its turn and is not the last.
fn following(turns: &Turns, header: &Header) -> Option<Turn> {
    let ends = header.flags.contains(Flags::LAST_OF_TURN);
    header.turn.checked_add(1).filter(|_| ends).and_then(|number| turns.at(number))
}
