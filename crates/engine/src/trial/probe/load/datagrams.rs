//! A load of UDP datagrams. Each stream has a source of its own at the client, and at the server a
//! socket of its own on the port of the service, so that probes of the same family do not wait
//! behind the load in a socket's buffer, where no path is.

use super::super::super::client::ClientContext;
use super::super::super::server::DataFlows;
use super::super::super::sockets::{Locals, datagram, datagram_waits, payload};
use super::super::super::udp_bulk::{RECEIVE_BUFFER_BYTES, challenge, full_speed_rest_ns};
use super::super::super::{TrialError, family as family_of};
use super::{Processors, connections, way};
use crate::hot::datagram_bulk::{self as bulk, Counted, DatagramsSent, Line, Role, Sending};
use crate::hot::pace::{CATCH_UP_MAX, Pace};
use crate::hot::{Broken, Cause, Watch, load as hot};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::observation::{LoadDatagrams, Loaded};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Direction, Load, Marking, Probe, UdpBulk, UdpLoad, Wait};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, ReceiveBatch, SendBatch};

/// Memory for the datagrams of one call of a stream, in bytes; large ones go and come in fewer.
const CALL_BYTES_MAX: usize = 1 << 20;

/// Datagrams of one call.
const CALL_DATAGRAMS: usize = 64;

/// Time after the end in which what is still on its way is waited for, in ns.
const LATE_NS_MAX: u64 = 3_000_000_000;

/// How often it is looked whether all streams have ended, in ns.
const LOOK_NS: u64 = 2_000_000;

const MOVING: &str = "keeping the load up";

/// What both ends know of a load beforehand.
pub(super) struct Plan<'a> {
    task: &'a Task,
    load: &'a Load,
    bulk: UdpBulk,
    arm: Arm,
    family: Family,
}

/// The streams of a load at one end, and which way each goes for this end.
pub(super) struct Datagrams {
    ways: Vec<(Datagram, bool)>,
    bulk: UdpBulk,
    payload: Vec<u8>,
    header: Header,
    seed: u64,
    processors: Processors,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        task: &'a Task,
        probe: &Probe,
        load: &'a Load,
        udp: UdpLoad,
        arm: Arm,
    ) -> Self {
        let bulk = udp.stream(probe.longest_ns(2).saturating_add(LATE_NS_MAX));
        Plan { task, load, bulk, arm, family: load.family_beside(family_of(task, arm)) }
    }

    fn header(&self, flags: Flags) -> Header {
        let tag = self.task.token.load_tag();
        Header { tag, sequence: 0, turn: 0, next: 0, arm: self.arm, flags }
    }

    fn ready(self, ways: Vec<(Datagram, bool)>, processor: Option<usize>) -> Datagrams {
        Datagrams {
            ways,
            payload: payload(self.task, self.bulk.payload_bytes),
            header: self.header(Flags::NONE),
            seed: self.task.seed,
            processors: Processors::beside(processor),
            bulk: self.bulk,
        }
    }
}

/// The client's end.
pub(super) fn connect(
    plan: Plan<'_>,
    context: &ClientContext,
    watch: &Watch<'_>,
) -> Result<Datagrams, TrialError> {
    let remote = context.remote(plan.family)?;
    let failed = TrialError::socket(plan.family, Some(remote));
    let broken = |b| TrialError::of(b, plan.family, Some(remote));
    let count = connections(plan.load);
    // Ports of the probe's own arm are drawn from the stream of numbers of that arm.
    let mut locals = Locals::new(plan.task, context, plan.arm.other(), plan.family, count.into());
    let mut message = payload(plan.task, plan.bulk.payload_bytes);
    let mut ways = Vec::with_capacity(count.into());
    for number in 0..count {
        let socket = datagram(remote, &Marking::default(), &mut locals)?;
        socket.set_nonblocking(true).map_err(&failed)?;
        let line = Line { socket: &socket, peer: None };
        let knock = plan.header(Flags::WARMUP);
        let challenged = bulk::ask(line, &mut message, knock, watch).map_err(broken)?;
        hot::prove(line, &mut message, challenged, watch).map_err(broken)?;
        ways.push((socket, way(plan.load, number) == Direction::Send));
    }
    Ok(plan.ready(ways, context.processor))
}

/// The server's end: one socket for each source that has shown that it gets what is sent to it.
pub(super) fn accept(
    plan: Plan<'_>,
    flows: &DataFlows<'_>,
    watch: &Watch<'_>,
) -> Result<Datagrams, TrialError> {
    let family = plan.family;
    let missing = TrialError::Missing { family, what: "UDP socket" };
    let service = flows.datagram(plan.task, family).ok_or(missing)?;
    let failed = TrialError::socket(family, None);
    service.set_nonblocking(true).map_err(&failed)?;
    let tag = plan.task.token.load_tag();
    let mut buffer = payload(plan.task, plan.bulk.payload_bytes);
    let mut known: Vec<(SocketAddr, Datagram)> = Vec::new();
    for _ in 0..connections(plan.load) {
        let secret = (tag, challenge(plan.task.number)?);
        let (source, count) =
            hot::await_another(plan.arm, service, &known, secret, &mut buffer, watch)
                .map_err(|b| TrialError::of(b, family, None))?;
        let failed = TrialError::socket(family, Some(source));
        let socket = service
            .apart_for(source)
            .map_err(&failed)?
            .map_err(|missing| TrialError::Unavailable { family, missing })?;
        socket.set_nonblocking(true).map_err(&failed)?;
        // As good as lost on the way if it cannot be sent; the client will ask again.
        let _ = socket.send(&buffer[..count]);
        known.push((source, socket));
    }
    // As the probes need it, or else as it was.
    let arrives = |family| plan.task.arrives.get(family);
    let shared = arrives(plan.family) == arrives(family_of(plan.task, plan.arm));
    service.set_nonblocking(shared).map_err(&failed)?;
    let ways = known.into_iter().zip(0..).map(|((_, socket), number)| {
        let sends = way(plan.load, number) == Direction::Receive;
        (socket, sends)
    });
    let ways = ways.collect();
    Ok(plan.ready(ways, flows.processor))
}

/// What one stream did at this end, and why it ended early, if it did.
struct Moved {
    sent_bytes: u64,
    received_bytes: u64,
    /// From the first datagram that came to the last, in ns.
    received_ns: u64,
    datagrams: LoadDatagrams,
    early: Option<Cause>,
}

impl Datagrams {
    /// Does `work` while all streams move. A stream that cannot be sent is an error at the client.
    pub(super) fn beside(
        self,
        watch: &Watch<'_>,
        is_client: bool,
        work: impl FnOnce() -> Result<(), Broken>,
    ) -> Result<Loaded, Broken> {
        let (over, given_up) = (AtomicBool::new(false), AtomicBool::new(false));
        // Who receives is told of the end by who sends.
        let receiving = Watch { abort: &given_up, ..*watch };
        let sending = Watch { finish: &over, ..receiving };
        let start_ns = clock::now_ns();
        let (outcome, span_ns, moved) = thread::scope(|scope| {
            let one = |place: usize, socket, sends| {
                let (all, sending, receiving) = (&self, &sending, &receiving);
                scope.spawn(move || {
                    all.processors.take(place);
                    match sends {
                        true => all.send(place, socket, sending, receiving),
                        false => all.receive(socket, is_client, receiving),
                    }
                })
            };
            let ways = self.ways.iter().enumerate();
            let threads: Vec<_> =
                ways.map(|(place, (socket, sends))| one(place, socket, *sends)).collect();
            let outcome = work();
            over.store(true, Ordering::Relaxed);
            let span_ns = clock::now_ns() - start_ns;
            let all_over = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
            if outcome.is_ok() {
                wait_for_the_end(all_over, watch, is_client);
            }
            given_up.store(true, Ordering::Relaxed);
            let moved: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
            (outcome, span_ns, moved)
        });
        outcome?;
        let mut loaded = Loaded { span_ns, ..Loaded::default() };
        let mut sum = LoadDatagrams { announced: Some(0), dropped: Some(0), ..Default::default() };
        let (mut receives, mut received_ns) = (false, 0);
        for (moved, (_, sends)) in moved.into_iter().zip(&self.ways) {
            let moved = moved.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if let Some(cause) = moved.early.filter(|_| is_client) {
                return Err(Broken { arm: self.header.arm, operation: MOVING, cause });
            }
            loaded.sent_bytes += moved.sent_bytes;
            loaded.received_bytes += moved.received_bytes;
            let each = moved.datagrams;
            sum.sent += each.sent;
            sum.skipped += each.skipped;
            sum.received += each.received;
            if !sends {
                receives = true;
                received_ns = received_ns.max(moved.received_ns);
                sum.announced = sum.announced.zip(each.announced).map(|(a, b)| a + b);
                sum.dropped = sum.dropped.zip(each.dropped).map(|(a, b)| a + b);
            }
        }
        if receives {
            // What came first may have been long under way, and what came last still is when the
            // probes are over.
            loaded.span_ns = received_ns;
        } else {
            (sum.announced, sum.dropped) = (None, None);
        }
        Ok(Loaded { datagrams: Some(sum), ..loaded })
    }

    /// One stream that this end sends, until `sending` says that it is over.
    fn send(
        &self,
        place: usize,
        socket: &Datagram,
        sending: &Watch<'_>,
        receiving: &Watch<'_>,
    ) -> Moved {
        let mut message = self.payload.clone();
        let slots = (CALL_BYTES_MAX / message.len().max(1)).clamp(1, CALL_DATAGRAMS);
        // At most `CALL_DATAGRAMS`.
        let mut batch = SendBatch::new(slots as u16, &message, false, None);
        let duration_ns = self.bulk.duration_ns;
        let seed = self.seed ^ place as u64;
        let catch_up = CATCH_UP_MAX.max(slots as u64);
        let paced = |schedule| Pace::new(clock::now_ns(), schedule, duration_ns, catch_up);
        let mut order = Sending {
            pace: self.bulk.schedule(seed).map(paced),
            duration_ns,
            packets_max: u64::MAX,
            header: self.header,
        };
        let outcome = bulk::send(socket, &mut batch, &mut order, sending);
        let (sent, early) = match outcome {
            Ok(DatagramsSent { sent, .. }) => (sent, None),
            Err(broken) => (Default::default(), Some(broken.cause)),
        };
        if early.is_none() {
            // The number wraps; the receiver knows which one is meant.
            let end = Header { sequence: sent.packets as u32, flags: Flags::END, ..self.header };
            let line = Line { socket, peer: None };
            // An end that is not answered leaves the receiver without the number sent, no more.
            let _ = bulk::knock(line, &mut message, end, receiving);
        }
        let datagrams =
            LoadDatagrams { sent: sent.packets, skipped: sent.skipped, ..LoadDatagrams::default() };
        Moved { sent_bytes: sent.bytes, received_bytes: 0, received_ns: 0, datagrams, early }
    }

    /// One stream that this end receives, until its end comes.
    fn receive(&self, socket: &Datagram, is_client: bool, watch: &Watch<'_>) -> Moved {
        let payload_bytes = self.payload.len();
        // What is granted bounds how long a receiver may be put aside; drops are counted below.
        let _ = socket.set_receive_buffer(RECEIVE_BUFFER_BYTES);
        let messages = (CALL_BYTES_MAX / (payload_bytes + 1)).clamp(1, CALL_DATAGRAMS);
        // One byte more than a datagram has, so that a longer one is not taken for it.
        let mut batch = ReceiveBatch::new(messages as u16, payload_bytes + 1);
        let mut counted = Counted::new(self.bulk.duration_ns, payload_bytes);
        if self.bulk.rate_bps.is_none() {
            counted.rest_ns = full_speed_rest_ns(socket, self.bulk.payload_bytes).unwrap_or(0);
        }
        let dropped_before = socket.drops();
        let role = match is_client {
            true => Role::Listening,
            false => Role::Answering,
        };
        let (arm, tag) = (self.header.arm, self.header.tag);
        let outcome =
            datagram_waits(socket, Wait::Block).map_err(|_| Cause::Silent).and_then(|()| {
                bulk::receive(arm, socket, tag, &mut batch, &mut counted, &role, watch)
                    .map_err(|broken| broken.cause)
            });
        let early = outcome.err().filter(|cause| !matches!(cause, Cause::Aborted));
        let dropped = match (dropped_before, socket.drops()) {
            (Ok(before), Ok(after)) => Some(u64::from(after.wrapping_sub(before))),
            _ => None,
        };
        let datagrams = LoadDatagrams {
            received: counted.sequence.packets,
            announced: counted.announced.map(u64::from),
            dropped,
            ..LoadDatagrams::default()
        };
        let received_bytes = counted.series.bytes();
        let received_ns = counted.series.received(None, self.bulk.duration_ns).span_ns;
        Moved { sent_bytes: 0, received_bytes, received_ns, datagrams, early }
    }
}

/// Waits until all streams have ended, not for ever. The server waits until the client has said
/// that its half is over: until then ends may be on their way.
fn wait_for_the_end(all_over: impl Fn() -> bool, watch: &Watch<'_>, is_client: bool) {
    let mut since_ns = None;
    while !all_over() {
        let now_ns = clock::now_ns();
        let told = watch.finish.load(Ordering::Relaxed) || watch.abort.load(Ordering::Relaxed);
        if is_client || told {
            since_ns.get_or_insert(now_ns);
        }
        if since_ns.is_some_and(|since| now_ns - since > LATE_NS_MAX) || now_ns >= watch.deadline_ns
        {
            return;
        }
        clock::rest(Duration::from_nanos(LOOK_NS));
    }
}
