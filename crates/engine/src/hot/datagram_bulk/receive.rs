//! The receiving end: what came, until nothing late is waited for any more.

use super::{GRACE_NS, Line, RECEIVING};
use crate::hot::capacity::Reporter;
use crate::hot::sequence::{Arrival, Sequence};
use crate::hot::series::Series;
use crate::hot::{Broken, Cause, Watch};
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::session::validation::PROOF;
use v6gap_core::wire::datagram::{End, Flags};
use v6gap_core::workload::FrameCount;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, ReceiveBatch};

/// The same where datagrams are missing: those that were held back on the way are late, not lost.
const MISSING_NS: u64 = 100_000_000;

/// Longest time after the end message in which something late is waited for, whatever comes, in ns.
const GRACE_NS_MAX: u64 = 300_000_000;

/// A call that brought no more than this part of what there was room for brought few messages.
const FEW_PARTS: usize = 4;

/// What a receiver of datagrams counted; made before the loop.
#[derive(Debug)]
pub struct Counted {
    /// Bytes over time.
    pub series: Series,
    /// Which datagrams.
    pub sequence: Sequence,
    /// Whether anything of the transfer came.
    pub began: bool,
    /// How many datagrams the sender says it sent, modulo 2^32; `None` before the end message.
    pub announced: Option<u32>,
    payload_bytes: usize,
    /// How long the receiver rests after a call that brought few messages, in ns. Waking it costs
    /// the sender more than the datagram; what comes meanwhile must fit the receive buffer.
    pub rest_ns: u64,
    /// Tells the sender what comes, if it wants to know.
    pub reporter: Option<Reporter>,
    /// Which frames, if it is a stream of them.
    pub frames: Option<FrameCount>,
}

impl Counted {
    /// Nothing so far, with room for a transfer that lasts `duration_ns`, of datagrams of at most
    /// `payload_bytes`; longer ones are not of the task.
    pub fn new(duration_ns: u64, payload_bytes: usize) -> Self {
        let (series, sequence) = (Series::new(duration_ns), Sequence::default());
        Counted {
            series,
            sequence,
            began: false,
            announced: None,
            payload_bytes,
            rest_ns: 0,
            reporter: None,
            frames: None,
        }
    }

    /// Whether the sender says that it sent more than came.
    fn lacks_some(&self) -> bool {
        self.announced.is_some_and(|announced| announced != self.sequence.packets as u32)
    }
}

/// What a receiver says, in memory taken beforehand.
#[derive(Debug)]
pub struct Replies<'a> {
    /// Answers knocks and the end message, cut to their length: this end's own payload.
    pub answer: &'a mut [u8],
    /// Asks for data; repeated until some come.
    pub knock: Option<&'a [u8]>,
    /// How many more it answers.
    left: u32,
}

impl<'a> Replies<'a> {
    /// Knocks and ends that are answered in a task, of which a sender needs one each that is not
    /// lost.
    const MAX: u32 = 1024;

    /// What is said by whom.
    pub fn new(answer: &'a mut [u8], knock: Option<&'a [u8]>) -> Self {
        Replies { answer, knock, left: Self::MAX }
    }
}

/// Receives until the end message came and nothing late follows it, or until told that nothing more
/// will come. The socket blocks and has a read timeout; datagrams of other tasks are passed over.
pub fn receive(
    (arm, tag): (Arm, [u8; 8]),
    line: Line<'_>,
    batch: &mut ReceiveBatch,
    counted: &mut Counted,
    replies: &mut Replies<'_>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(arm, RECEIVING);
    let socket = line.socket;
    let (mut until_ns, mut quiet) = (None, None);
    loop {
        if let Some(until_ns) = until_ns {
            let quiet_ns = if counted.lacks_some() { MISSING_NS } else { GRACE_NS };
            let grace_ns = quiet_ns.min(u64::saturating_sub(until_ns, clock::now_ns()));
            if grace_ns == 0 || !socket.wait_readable(grace_ns).map_err(|e| broken(e.into()))? {
                return Ok(());
            }
        }
        let messages = match batch.receive(socket) {
            Ok(messages) => messages,
            Err(error) if ErrorClass::of(&error).is_timeout() => 0,
            // The other end is gone, as it may be after the end.
            Err(error) if until_ns.is_some() && ErrorClass::of(&error) == ErrorClass::Refused => {
                return Ok(());
            }
            Err(error) => return Err(broken(error.into())),
        };
        let now_ns = clock::now_ns();
        let look = look(line, tag, batch, messages, counted, replies, now_ns);
        if let Some(reporter) = &mut counted.reporter {
            reporter.tell(now_ns, line, &counted.sequence);
        }
        if look.bytes > 0 {
            counted.series.add(now_ns, look.bytes);
        }
        if look.ended {
            until_ns.get_or_insert(now_ns + GRACE_NS_MAX);
        }
        if look.ours {
            quiet = None;
            watch.busy(now_ns).map_err(&broken)?;
            if counted.rest_ns > 0 && messages * FEW_PARTS <= batch.messages() && !look.ended {
                clock::rest(Duration::from_nanos(counted.rest_ns));
            }
            continue;
        }
        // Datagrams of others are as good as none: they must not keep the task going.
        match watch.idle(&mut quiet) {
            Err(Cause::Finished) => return Ok(()),
            other => other.map_err(&broken)?,
        }
        if let Some(knock) = replies.knock.filter(|_| !counted.began) {
            // As good as lost if it cannot be sent; the next tick repeats it.
            let _ = socket.send(knock);
        }
    }
}

/// What was in the messages of one call.
#[derive(Debug, Default)]
struct Look {
    ours: bool,
    ended: bool,
    bytes: u64,
}

#[inline]
fn look(
    line: Line<'_>,
    tag: [u8; 8],
    batch: &ReceiveBatch,
    messages: usize,
    counted: &mut Counted,
    replies: &mut Replies<'_>,
    now_ns: u64,
) -> Look {
    let mut look = Look::default();
    for index in 0..messages {
        for datagram in batch.message(index).datagrams() {
            let Some(header) = line.end.heard(datagram, tag) else { continue };
            if datagram.len() > counted.payload_bytes {
                continue;
            }
            look.ours = true;
            if header.flags == Flags::NONE {
                counted.began = true;
                let arrival = counted.sequence.record(header.sequence);
                if arrival == Arrival::New {
                    look.bytes += datagram.len() as u64;
                    if let Some(frames) = &mut counted.frames {
                        frames.note(header.sequence, now_ns);
                    }
                }
                if let Some(reporter) = &mut counted.reporter {
                    reporter.note(now_ns, &header, datagram, arrival);
                }
                continue;
            }
            if header.flags == Flags::STATUS {
                if let Some(reporter) = &mut counted.reporter {
                    reporter.answer(header, datagram.len(), line, &counted.sequence);
                }
                continue;
            }
            let end = header.flags.contains(Flags::END);
            let knock = header.flags.contains(Flags::WARMUP) && line.end == End::Server;
            // Who has data, or goes on to knock or to end, has been answered.
            let is_owed = (end || knock && !counted.began) && replies.left > 0;
            if is_owed {
                replies.left -= 1;
                let bytes = datagram.len().min(replies.answer.len());
                let answer = &mut replies.answer[..bytes];
                line.said(header).encode(answer);
                // What cannot be sent is as good as lost on the way, and the other end asks again.
                let _ = line.send(answer);
            }
            if end {
                (look.ended, counted.began) = (true, true);
                counted.announced.get_or_insert(header.sequence);
            } else if !knock && header.flags == PROOF && line.end == End::Server {
                line.accept(header);
            }
        }
    }
    look
}
