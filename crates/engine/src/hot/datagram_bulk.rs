//! UDP bulk transfer, paced or as fast as the socket takes it, with a number in each datagram.
//!
//! Before the data the client knocks ([`knock`]): the server answers a source only after that, with
//! as many bytes. The data end with a message that the server answers too.

use super::pace::{Pace, Step};
use super::sequence::{Arrival, Sequence};
use super::series::Series;
use super::{Broken, Cause, TICK_NS, Watch};
use std::net::SocketAddr;
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::observation::Sent;
use v6gap_core::wire::datagram::{Flags, HEADER_BYTES, Header};
use v6gap_sys::socket::{Datagram, ErrorClass};
use v6gap_sys::{clock, cpu};

/// Waits up to this long are spent yielding, because a sleep may end late by as much, in ns.
const SLEEP_LATE_NS: u64 = 150_000;

/// How often a message is repeated that has no answer.
const TRIES_MAX: u32 = 6;

/// Time until the first repetition, in ns; it doubles each time.
const PATIENCE_NS: u64 = 100_000_000;

/// Time without any datagram after which nothing late is waited for any more, in ns.
const GRACE_NS: u64 = 30_000_000;

/// Longest time after the end message in which something late is waited for, whatever comes, in ns.
const GRACE_NS_MAX: u64 = 300_000_000;

/// What a sender of datagrams did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DatagramsSent {
    /// As it is stored.
    pub sent: Sent,
    /// Datagrams of the schedule left out because the sender was held up.
    pub skipped: u64,
}

/// Sends `message` with the given header until its answer comes; `Silent` if none does.
pub fn knock(
    socket: &Datagram,
    message: &mut [u8],
    header: Header,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(header.arm, "waiting for the answer to a datagram");
    header.encode(message);
    let mut back = [0; HEADER_BYTES];
    let (mut wait_ns, mut quiet) = (PATIENCE_NS, None);
    for _ in 0..TRIES_MAX {
        put(socket, message, watch).map_err(&broken)?;
        let until_ns = clock::now_ns() + wait_ns;
        loop {
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 || !socket.wait_readable(left_ns).map_err(|e| broken(e.into()))? {
                break;
            }
            match socket.recv(&mut back) {
                Ok(HEADER_BYTES..) if back == message[..HEADER_BYTES] => return Ok(()),
                Ok(_) => {}
                Err(error) if ErrorClass::of(&error).is_timeout() => {}
                // Windows reports a datagram longer than the buffer as an error, others cut it.
                Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => {}
                Err(error) => return Err(broken(error.into())),
            }
        }
        watch.idle(&mut quiet).map_err(&broken)?;
        wait_ns *= 2;
    }
    Err(broken(Cause::Silent))
}

/// Sends datagrams for `duration_ns`: at `rate_bps` payload bits per second, or as fast as the
/// socket takes them. `message` holds the payload; `header` gets a number for each. The socket does
/// not block.
pub fn send(
    socket: &Datagram,
    message: &mut [u8],
    mut header: Header,
    rate_bps: Option<u64>,
    duration_ns: u64,
    watch: &Watch<'_>,
) -> Result<DatagramsSent, Broken> {
    let broken = Broken::at(header.arm, "sending datagrams");
    let start_ns = clock::now_ns();
    let payload_bytes = message.len() as u32;
    let mut pace = rate_bps.map(|rate| Pace::new(start_ns, payload_bytes, rate, duration_ns));
    let mut packets: u64 = 0;
    let mut last_ns = start_ns;
    loop {
        let now_ns = clock::now_ns();
        let step = match &mut pace {
            Some(pace) => pace.step(now_ns),
            None if now_ns - start_ns < duration_ns => Step::Send,
            None => Step::Done,
        };
        match step {
            Step::WaitUntil(due_ns) => wait_until(now_ns, due_ns),
            Step::Done => break,
            Step::Send => {
                // A number that wraps after 4 * 10^9 datagrams would need more than an hour at 1
                // Mpps.
                header.sequence = packets as u32;
                header.encode(message);
                put(socket, message, watch).map_err(&broken)?;
                packets += 1;
                last_ns = now_ns;
            }
        }
    }
    let bytes = packets * u64::from(payload_bytes);
    let sent = Sent { bytes, packets, span_ns: last_ns - start_ns, retransmitted_segments: None };
    Ok(DatagramsSent { sent, skipped: pace.map_or(0, |pace| pace.skipped) })
}

fn put(socket: &Datagram, message: &[u8], watch: &Watch<'_>) -> Result<(), Cause> {
    let mut quiet = None;
    loop {
        match socket.send(message) {
            Ok(_) => return Ok(()),
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                if !socket.wait_writable(TICK_NS)? {
                    watch.idle(&mut quiet)?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn wait_until(now_ns: u64, due_ns: u64) {
    let left_ns = due_ns - now_ns;
    if left_ns > SLEEP_LATE_NS {
        clock::rest(Duration::from_nanos(left_ns - SLEEP_LATE_NS));
    } else {
        cpu::yield_now();
    }
}

/// What a receiver of datagrams counted; made before the loop.
#[derive(Debug)]
pub struct Counted {
    /// Bytes over time.
    pub series: Series,
    /// Which datagrams.
    pub sequence: Sequence,
    /// The first source whose datagram had the right tag.
    pub peer: Option<SocketAddr>,
}

/// Receives until the end message came and nothing late follows it, or until told that nothing more
/// will come. The socket blocks and has a read timeout; datagrams of other tasks are passed over.
pub fn receive(
    arm: Arm,
    socket: &Datagram,
    tag: [u8; 8],
    buffer: &mut [u8],
    counted: &mut Counted,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(arm, "receiving datagrams");
    let (mut until_ns, mut quiet) = (None, None);
    loop {
        if let Some(until_ns) = until_ns {
            let grace_ns = GRACE_NS.min(u64::saturating_sub(until_ns, clock::now_ns()));
            if grace_ns == 0 || !socket.wait_readable(grace_ns).map_err(|e| broken(e.into()))? {
                return Ok(());
            }
        }
        let ours = match socket.recv_from(buffer) {
            Ok((count, source)) => Header::decode(&buffer[..count])
                .filter(|header| header.tag == tag)
                .map(|header| (header, count, source)),
            Err(error) if ErrorClass::of(&error).is_timeout() => None,
            Err(error) => return Err(broken(error.into())),
        };
        // Datagrams of others are as good as none: they must not keep the task going.
        let Some((header, count, source)) = ours else {
            match watch.idle(&mut quiet) {
                Err(Cause::Finished) => return Ok(()),
                other => other.map_err(&broken)?,
            }
            continue;
        };
        let now_ns = clock::now_ns();
        quiet = None;
        watch.busy(now_ns).map_err(&broken)?;
        counted.peer.get_or_insert(source);
        let end = header.flags.contains(Flags::END);
        if end || header.flags.contains(Flags::WARMUP) {
            if end {
                until_ns.get_or_insert(now_ns + GRACE_NS_MAX);
            }
            // What cannot be sent is as good as lost on the way, and the client will ask again.
            let _ = socket.send_to(&buffer[..count], source);
        } else if counted.sequence.record(header.sequence) == Arrival::New {
            counted.series.add(now_ns, count as u64);
        }
    }
}
