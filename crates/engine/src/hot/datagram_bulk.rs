//! UDP bulk transfer, paced or as fast as the socket takes it, with a number in each datagram.
//!
//! Both ends have a socket with a fixed peer, for the server knows by then that the client gets
//! what is sent there. Before the data the client knocks with a datagram of their size ([`knock`]),
//! which the server answers or, if it is to send itself, waits for ([`await_knock`]). The data end
//! with a message that is answered too.

use super::pace::{Pace, Step};
use super::{Broken, Cause, SLEEP_LATE_NS, TICK_NS, Watch};
use std::sync::atomic::Ordering;
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::observation::Sent;
use v6gap_core::session::validation::PROOF;
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_core::wire::status::STATUS_BYTES;
use v6gap_core::workload::UdpBulk;
use v6gap_sys::socket::{Datagram, ErrorClass, SendBatch};
use v6gap_sys::{clock, cpu};

mod receive;

pub use receive::{Counted, Replies, receive};

pub(crate) const RECEIVING: &str = "receiving datagrams";

const MS: u64 = 1_000_000;

/// How long an answer is waited for each time that a message is sent, in ns.
type Waits = [u64; 6];

/// Of a message whose answer the other end waits to give.
pub(super) const QUESTION: Waits = [100 * MS, 200 * MS, 400 * MS, 800 * MS, 1600 * MS, 3200 * MS];

/// Of the end message. Whoever answers it listens for [`GRACE_NS`] more: so it is said three times
/// within that, while an answer that was lost can be given again, and then not before one from far
/// away would have come.
const LAST: Waits = [10 * MS, 10 * MS, 280 * MS, 600 * MS, 1200 * MS, 2400 * MS];

/// How often the end is said at once.
const ENDS_AT_ONCE: u32 = 3;

/// Time without any datagram after which nothing late is waited for any more, in ns.
const GRACE_NS: u64 = 30_000_000;

/// What a sender of datagrams is to do.
#[derive(Debug)]
pub struct Sending {
    /// When each is due; `None` as fast as the socket takes them.
    pub pace: Option<Pace>,
    /// How long it sends, in ns.
    pub duration_ns: u64,
    /// How many datagrams it sends at most.
    pub packets_max: u64,
    /// What every datagram of this end starts with; the number is that of the first.
    pub header: Header,
}

/// What a sender of datagrams did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DatagramsSent {
    /// As it is stored.
    pub sent: Sent,
    /// Whether the kernel refused to cut pieces, so that single datagrams were sent.
    pub offload_refused: bool,
}

/// Where a message goes that is no part of a batch: to the peer of a socket.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The socket, which has a fixed peer.
    pub socket: &'a Datagram,
    /// Which end this is.
    pub end: End,
}

impl Line<'_> {
    /// The header with its properties as this end sends them.
    pub(super) fn said(&self, header: Header) -> Header {
        Header { flags: self.end.says(header.flags), ..header }
    }

    pub(super) fn send(&self, message: &[u8]) -> std::io::Result<usize> {
        self.socket.send(message)
    }

    /// Answers a source that proves again who it is, since the answer was lost.
    fn accept(&self, proof: Header) {
        // As good as lost on the way if it cannot be sent; it will come again.
        let _ = self.send(&self.said(proof).alone());
    }

    /// Sends one message, waiting for room.
    fn put(&self, message: &[u8], watch: &Watch<'_>) -> Result<(), Cause> {
        let mut quiet = None;
        loop {
            match self.send(message) {
                Ok(_) => return Ok(()),
                Err(error) if ErrorClass::of(&error).is_timeout() => {
                    if !self.socket.wait_writable(TICK_NS)? {
                        watch.idle(&mut quiet)?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What comes before `until_ns`, if anything of the task does: the header, and in `back` as
    /// much of the message as there is room for.
    fn message_before(
        &self,
        until_ns: u64,
        tag: [u8; 8],
        back: &mut [u8],
    ) -> Result<Option<(Header, usize)>, Cause> {
        loop {
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 || !self.socket.wait_readable(left_ns)? {
                return Ok(None);
            }
            if let Came::Own(header, count) = self.message(tag, back)? {
                return Ok(Some((header, count)));
            }
        }
    }

    /// The next message, if one is there.
    pub(super) fn message(&self, tag: [u8; 8], back: &mut [u8]) -> Result<Came, Cause> {
        match self.socket.recv(back) {
            Ok(count) => {
                let count = count.min(back.len());
                let header = self.end.heard(&back[..count], tag);
                Ok(header.map_or(Came::Foreign, |header| Came::Own(header, count)))
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => Ok(Came::Nothing),
            // Windows reports a datagram longer than the buffer as an error, others cut it.
            Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => Ok(Came::Foreign),
            Err(error) => Err(error.into()),
        }
    }
}

/// What came over a line.
#[derive(Debug)]
pub(super) enum Came {
    /// Nothing is there.
    Nothing,
    /// Something that is not of the task.
    Foreign,
    /// A message of the other end: its header, and how many bytes of it there was room for.
    Own(Header, usize),
}

/// Longest answer that is looked at, in bytes.
const ANSWER_BYTES: usize = STATUS_BYTES;

/// Sends `message` with the given header until `answers` makes something of an answer, which it
/// returns with how often it was sent; `Silent` if none comes.
pub(super) fn until_answered<T>(
    line: Line<'_>,
    (message, waits): (&mut [u8], Waits),
    header: Header,
    watch: &Watch<'_>,
    answers: impl Fn(&Header, &[u8]) -> Option<T>,
) -> Result<(T, u32), Broken> {
    let broken = Broken::at(header.arm, "waiting for the answer to a datagram");
    line.said(header).encode(message);
    let mut quiet = None;
    let mut back = [0; ANSWER_BYTES];
    for (wait_ns, sent) in waits.into_iter().zip(1..) {
        line.put(message, watch).map_err(&broken)?;
        let until_ns = clock::now_ns() + wait_ns;
        loop {
            let came = line.message_before(until_ns, header.tag, &mut back).map_err(&broken)?;
            let Some((header, count)) = came else { break };
            if let Some(answer) = answers(&header, &back[..count]) {
                return Ok((answer, sent));
            }
        }
        watch.idle(&mut quiet).map_err(&broken)?;
    }
    Err(broken(Cause::Silent))
}

/// Sends `message` with the given header until one with the same header answers it; `Silent` if
/// none ever does.
pub fn knock(
    line: Line<'_>,
    message: &mut [u8],
    header: Header,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let message = (message, QUESTION);
    let answers = |back: &Header, _: &[u8]| (*back == header).then_some(());
    until_answered(line, message, header, watch, answers).map(|((), _)| ())
}

/// Says with the header of the last message that all was sent, and waits for the answer. That none
/// comes is no error: the other end is told over the control connection too, and may be gone. It is
/// a header alone, so that repetitions are next to nothing beside the data.
pub fn end(line: Line<'_>, header: Header, watch: &Watch<'_>) -> Result<(), Broken> {
    let message = &mut header.alone()[..];
    let answers = |back: &Header, _: &[u8]| (*back == header).then_some(());
    match until_answered(line, (message, LAST), header, watch, answers) {
        Ok(((), sent)) => {
            // The other answers come as closely. Were the socket gone, ICMP would tell their
            // sender, and the trial would be noted for that.
            let mut back = [0; ANSWER_BYTES];
            for _ in 1..sent.min(ENDS_AT_ONCE) {
                let until_ns = clock::now_ns() + GRACE_NS;
                if !matches!(line.message_before(until_ns, header.tag, &mut back), Ok(Some(_))) {
                    break;
                }
            }
            Ok(())
        }
        Err(Broken { cause: Cause::Silent | Cause::Finished, .. }) => Ok(()),
        Err(Broken { cause: Cause::Io(error), .. })
            if ErrorClass::of(&error) == ErrorClass::Refused =>
        {
            Ok(())
        }
        Err(other) => Err(other),
    }
}

/// Waits until the client knocks, which it does when it is ready for data. The socket does not
/// block.
pub fn await_knock(
    arm: Arm,
    line: Line<'_>,
    tag: [u8; 8],
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(arm, "waiting for who asked for data");
    let (mut quiet, mut back) = (None, [0; ANSWER_BYTES]);
    loop {
        match line.message(tag, &mut back).map_err(&broken)? {
            Came::Own(header, _) if header.flags == Flags::WARMUP => return Ok(()),
            Came::Own(header, _) if header.flags == PROOF => line.accept(header),
            Came::Own(..) | Came::Foreign => {}
            Came::Nothing => {
                line.socket.wait_readable(TICK_NS).map_err(|e| broken(e.into()))?;
            }
        }
        watch.idle(&mut quiet).map_err(&broken)?;
    }
}

/// Sends datagrams as `sending` says, in batches of at most the slots of `batch`. The slots hold
/// the payload; each datagram gets the header with its number. The socket does not block. Ends
/// early when told that the other end has finished.
pub fn send(
    socket: &Datagram,
    batch: &mut SendBatch,
    sending: &mut Sending,
    watch: &Watch<'_>,
) -> Result<DatagramsSent, Broken> {
    let broken = Broken::at(sending.header.arm, "sending datagrams");
    let start_ns = clock::now_ns();
    for slot in 0..batch.slots() {
        sending.header.encode(batch.slot(slot));
    }
    let mut done = DatagramsSent::default();
    let mut blocked_ns = 0;
    let mut last_ns = start_ns;
    while !watch.finish.load(Ordering::Relaxed) {
        let now_ns = clock::now_ns();
        watch.busy(now_ns).map_err(&broken)?;
        let sent = &mut done.sent;
        let room = (sending.packets_max - sent.packets).min(batch.slots() as u64) as usize;
        let (count, bytes) = match &mut sending.pace {
            _ if room == 0 => break,
            Some(pace) => match pace.step(now_ns) {
                Step::WaitUntil(due_ns) => {
                    wait_until(now_ns, due_ns);
                    continue;
                }
                Step::Done => break,
                Step::Send(first) => gather(pace, first, now_ns, batch, room),
            },
            None if now_ns - start_ns >= sending.duration_ns => break,
            None => (room, (room * batch.slot(0).len()) as u64),
        };
        for slot in 0..count {
            // The number wraps; the receiver knows which one is meant.
            let number = sending.header.sequence.wrapping_add((sent.packets + slot as u64) as u32);
            Header::encode_sequence(number, batch.slot(slot));
        }
        let refused = put_batch(socket, batch, count, watch, &mut blocked_ns).map_err(&broken)?;
        done.offload_refused |= refused;
        done.sent.packets += count as u64;
        done.sent.bytes += bytes;
        last_ns = now_ns;
    }
    done.sent.span_ns = last_ns - start_ns;
    done.sent.blocked_ns = Some(blocked_ns);
    done.sent.skipped = sending.pace.as_ref().map_or(0, |pace| pace.skipped);
    Ok(done)
}

/// Puts the datagrams into the slots that go out together with `first`: how many, and their bytes.
pub(super) fn gather(
    pace: &mut Pace,
    first: v6gap_core::workload::law::Due,
    now_ns: u64,
    batch: &mut SendBatch,
    room: usize,
) -> (usize, u64) {
    let until_ns = first.at_ns.saturating_add(UdpBulk::BATCH_SPAN_NS).max(now_ns);
    let (mut count, mut bytes) = (0, 0);
    let mut next = Some(first);
    while let Some(due) = next {
        batch.set_length(count, due.bytes as usize);
        count += 1;
        bytes += u64::from(due.bytes);
        // A piece that the kernel cuts has one size but for its end.
        let cut = batch.segments() > 1 && (due.bytes as usize) < batch.slot(0).len();
        next = if count < room && !cut { pace.also(until_ns) } else { None };
    }
    (count, bytes)
}

/// Hands the datagrams of the first `count` slots to the kernel, waiting for room. True if it
/// refused to cut pieces and took them one by one. All of them are put in: that the other end has
/// finished is for the caller to see, and a slow line has no room for long.
pub(super) fn put_batch(
    socket: &Datagram,
    batch: &mut SendBatch,
    count: usize,
    watch: &Watch<'_>,
    blocked_ns: &mut u64,
) -> Result<bool, Cause> {
    let (mut next, mut quiet, mut refused) = (0, None, false);
    let watch = watch.unfinished();
    while next < count {
        match batch.send(socket, next..count) {
            Ok(taken) => {
                next += taken;
                quiet = None;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                let since_ns = clock::now_ns();
                let ready = socket.wait_writable(TICK_NS)?;
                *blocked_ns += clock::now_ns() - since_ns;
                if !ready {
                    watch.idle(&mut quiet)?;
                }
            }
            // Pieces whose datagrams would have to be fragmented, and devices that cannot.
            Err(_) if batch.segments() > 1 => {
                batch.stop_offload();
                refused = true;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(refused)
}

pub(super) fn wait_until(now_ns: u64, due_ns: u64) {
    let left_ns = due_ns.saturating_sub(now_ns);
    if left_ns > SLEEP_LATE_NS {
        clock::rest(Duration::from_nanos(left_ns - SLEEP_LATE_NS));
    } else {
        cpu::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::workload::Wait;

    /// What is said at once comes before the other end leaves, even if it heard the first alone.
    const _: () = assert!(LAST[0] + LAST[1] < GRACE_NS);

    #[test]
    fn an_end_whose_answer_is_lost_is_said_again() {
        let [near, far] =
            [(); 2].map(|()| Datagram::bind((std::net::Ipv4Addr::LOCALHOST, 0).into()).unwrap());
        near.connect(far.local().unwrap()).unwrap();
        far.connect(near.local().unwrap()).unwrap();
        let header =
            Header { tag: [7; 8], sequence: 9, turn: 0, next: 0, arm: Arm::A, flags: Flags::END };
        let heard = std::thread::spawn(move || {
            let line = Line { socket: &far, end: End::Server };
            let until_ns = clock::now_ns() + 10_000_000_000;
            let mut back = [0; ANSWER_BYTES];
            let mut hear = || line.message_before(until_ns, [7; 8], &mut back).unwrap().unwrap();
            let (first, second) = (hear(), hear());
            let answer = line.said(second.0).alone();
            line.send(&answer).unwrap();
            [first, second]
        });
        let watch = Watch::silence(Wait::Block, 10_000_000_000);
        end(Line { socket: &near, end: End::Client }, header, &watch).unwrap();
        let heard = heard.join().unwrap();
        let is_end = |(said, bytes): &(Header, usize)| said.sequence == 9 && *bytes < 32;
        assert!(heard.iter().all(is_end), "{heard:?}");
    }
}
