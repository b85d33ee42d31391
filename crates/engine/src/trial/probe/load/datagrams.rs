//! A load of UDP datagrams. Each stream has a source of its own at the client, and at the server a
//! socket of its own on the port of the service, so that probes of the same family do not wait
//! behind the load in a socket's buffer, where no path is.

use super::super::super::client::ClientContext;
use super::super::super::server::DataFlows;
use super::super::super::sockets::{Locals, datagram, datagram_waits, payload};
use super::super::super::udp_bulk::{RECEIVE_BUFFER_BYTES, full_speed_rest_ns};
use super::super::super::validation::{Basis, Served, Unproved, gather_apart, prove};
use super::super::super::{TrialError, family as family_of};
use super::{MOVING, Processors, connections, no_thread, way};
use crate::hot::datagram_bulk::{self as bulk, Counted, DatagramsSent, Line, Replies, Sending};
use crate::hot::pace::{CATCH_UP_MAX, Pace};
use crate::hot::{Broken, Cause, Watch};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::observation::{LoadDatagrams, Loaded};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_core::workload::{Direction, Load, Marking, Probe, UdpBulk, UdpLoad, Wait};
use v6gap_sys::clock;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, ReceiveBatch, SendBatch};

/// Memory for the datagrams of one call of a stream, in bytes; large ones go and come in fewer.
const CALL_BYTES_MAX: usize = 1 << 20;

/// Datagrams of one call.
const CALL_DATAGRAMS: usize = 64;

/// Time after the end in which what is still on its way is waited for, in ns.
const LATE_NS_MAX: u64 = 3_000_000_000;

/// How often it is looked whether all streams have ended, in ns.
const LOOK_NS: u64 = 2_000_000;

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
    end: End,
    ways: Vec<(Datagram, bool)>,
    bulk: UdpBulk,
    payload: Bytes,
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
        let bulk = udp.stream(probe.both_arms_ns().saturating_add(LATE_NS_MAX));
        Plan { task, load, bulk, arm, family: load.family_beside(family_of(task, arm)) }
    }

    fn ready(self, end: End, ways: Vec<(Datagram, bool)>, processor: Option<usize>) -> Datagrams {
        let (tag, arm, flags) = (self.task.token.load_tag(), self.arm, Flags::NONE);
        Datagrams {
            end,
            ways,
            payload: payload(self.task, end, self.bulk.payload_bytes),
            header: Header { tag, sequence: 0, turn: 0, next: 0, arm, flags },
            seed: self.task.seed,
            processors: Processors::beside(processor),
            bulk: self.bulk,
        }
    }
}

/// The client's end.
pub(super) fn connect(plan: Plan<'_>, context: &ClientContext) -> Result<Datagrams, TrialError> {
    let remote = context.remote(plan.family)?;
    let count = connections(plan.load);
    // Ports of the probe's own arm are drawn from the stream of numbers of that arm.
    let mut locals = Locals::new(plan.task, context, plan.arm.other(), plan.family, count.into());
    let mut ways = Vec::with_capacity(count.into());
    for number in 0..count {
        let socket = datagram(remote, &Marking::default(), &mut locals)?;
        ways.push((socket, way(plan.load, number) == Direction::Send));
    }
    // Their ways go by the order in which they prove themselves: those to the server first.
    for sends in [true, false] {
        let unproved = ways.iter().filter(|(_, of)| *of == sends).map(|(socket, _)| Unproved {
            arm: plan.arm,
            family: plan.family,
            remote,
            socket,
        });
        let unproved: Vec<Unproved<'_>> = unproved.collect();
        prove(plan.task.token.load_tag(), &unproved, context.timeout_ns)?;
    }
    Ok(plan.ready(End::Client, ways, context.processor()))
}

/// The server's end: one socket for each source that has proved itself.
pub(super) fn accept(
    plan: Plan<'_>,
    flows: &DataFlows<'_>,
    basis: &Basis,
    watch: &Watch<'_>,
) -> Result<Datagrams, TrialError> {
    let (arm, family) = (plan.arm, plan.family);
    let service = flows.datagram(plan.task, family)?;
    let count = connections(plan.load);
    let sources = PerArm::from_fn(|of| if of == arm { count } else { 0 });
    let mut validation = basis.validation(flows, plan.task.token.load_tag(), sources);
    let prepare = |_: &Datagram| Ok(());
    let apart = gather_apart((arm, family), service, &mut validation, prepare, watch)?;
    // As the probes need it, or else as it was.
    let arrives = |family| plan.task.arrives.get(family);
    let shared = arrives(family) == arrives(family_of(plan.task, arm));
    service.set_nonblocking(shared).map_err(TrialError::socket(family, None))?;
    let ways = apart.into_iter().zip(0..).map(|(Served { socket, .. }, number)| {
        let sends = way(plan.load, number) == Direction::Receive;
        (socket, sends)
    });
    let ways = ways.collect();
    Ok(plan.ready(End::Server, ways, flows.processor))
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
                thread::Builder::new().spawn_scoped(scope, move || {
                    all.processors.take(place);
                    match sends {
                        true => all.send(place, socket, sending, receiving),
                        false => all.receive(socket, receiving),
                    }
                })
            };
            let ways = self.ways.iter().enumerate();
            let threads = ways.map(|(place, (socket, sends))| one(place, socket, *sends));
            let threads = threads.collect::<Result<Vec<_>, _>>().inspect_err(|_| {
                // Those that have begun must not be waited for.
                over.store(true, Ordering::Relaxed);
                given_up.store(true, Ordering::Relaxed);
            })?;
            let outcome = work();
            over.store(true, Ordering::Relaxed);
            let span_ns = clock::now_ns() - start_ns;
            let all_over = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
            if outcome.is_ok() {
                wait_for_the_end(all_over, watch, is_client);
            }
            given_up.store(true, Ordering::Relaxed);
            let moved: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
            Ok((outcome, span_ns, moved))
        })
        .map_err(|error: io::Error| no_thread(self.header.arm, error))?;
        outcome?;
        self.summed(moved, span_ns, is_client)
    }

    /// What all streams did together. One that ended early is an error at the client.
    fn summed(
        &self,
        moved: Vec<thread::Result<Moved>>,
        span_ns: u64,
        is_client: bool,
    ) -> Result<Loaded, Broken> {
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
        let mut batch = SendBatch::new(slots as u16, &message, false);
        let duration_ns = self.bulk.duration_ns;
        let seed = self.seed ^ place as u64;
        let catch_up = CATCH_UP_MAX.max(slots as u64);
        let paced = |schedule| Pace::new(clock::now_ns(), schedule, duration_ns, catch_up);
        let mut order = Sending {
            pace: self.bulk.schedule(seed).map(paced),
            duration_ns,
            packets_max: u64::MAX,
            header: Header { flags: self.end.says(Flags::NONE), ..self.header },
        };
        let outcome = bulk::send(socket, &mut batch, &mut order, sending);
        let (sent, early) = match outcome {
            Ok(DatagramsSent { sent, .. }) => (sent, None),
            Err(broken) => (Default::default(), Some(broken.cause)),
        };
        if early.is_none() {
            // The number wraps; the receiver knows which one is meant.
            let end = Header { sequence: sent.packets as u32, flags: Flags::END, ..self.header };
            let line = Line { socket, end: self.end };
            // An end that is not answered leaves the receiver without the number sent, no more.
            let _ = bulk::knock(line, &mut message, end, receiving);
        }
        let datagrams =
            LoadDatagrams { sent: sent.packets, skipped: sent.skipped, ..LoadDatagrams::default() };
        Moved { sent_bytes: sent.bytes, received_bytes: 0, received_ns: 0, datagrams, early }
    }

    /// One stream that this end receives, until its end comes.
    fn receive(&self, socket: &Datagram, watch: &Watch<'_>) -> Moved {
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
        let mut answer = self.payload.clone();
        let mut replies = Replies::new(&mut answer, None);
        let (of, line) = ((self.header.arm, self.header.tag), Line { socket, end: self.end });
        let outcome =
            datagram_waits(socket, Wait::Block).map_err(|_| Cause::Silent).and_then(|()| {
                bulk::receive(of, line, &mut batch, &mut counted, &mut replies, watch)
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
