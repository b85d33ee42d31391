//! UDP bulk transfer at both ends; either may be the one that sends. The server's is a socket of
//! the task's own, whose peer is the source that has proved itself.

use super::client::ClientContext;
use super::evidence::{Before, datagram_endpoints, datagram_granted};
use super::server::DataFlows;
use super::sockets::{Locals, datagram, datagram_waits, marks, payload};
use super::validation::{Basis, Served, Unproved, Unread, gather_apart, prove};
use super::{TrialError, capacity, only_arm};
use crate::hot::datagram_bulk::{self as hot, Counted, Line, Replies, Sending};
use crate::hot::pace::{CATCH_UP_MAX, Pace};
use crate::hot::{Broken, Cause, Watch};
use std::net::SocketAddr;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Measured, Received};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_core::workload::{Capacity, Direction, FrameCount, Frames, UdpBulk, Wait};
use v6gap_sys::clock;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, ReceiveBatch, SendBatch, SocketError};

/// Receive buffer asked for, in bytes, so that a receiver which is put aside for a moment loses
/// nothing that the network delivered.
pub(super) const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;

/// Messages taken in one call, so that a receiver which was put aside catches up in few.
const RECEIVE_MESSAGES: u16 = 128;

/// Messages of many datagrams each that are taken in one call.
const COALESCED_MESSAGES: u16 = 16;

/// Room for a message of many datagrams, in bytes: as much as an IP packet holds.
const COALESCED_BYTES: usize = 1 << 16;

/// Datagrams per second that a receiver of one a call is prepared for while it rests.
const RATE_MAX: u64 = 1_000_000;

/// Longest rest of a receiver, in ns.
const REST_NS_MAX: u64 = 200_000;

/// What the kernel counts for a datagram in a receive buffer besides its payload, in bytes, about.
const DATAGRAM_COST_BYTES: u64 = 768;

/// Memory for the messages of one call, in bytes; large datagrams come in fewer.
const RECEIVE_BYTES_MAX: usize = 4 << 20;

/// Time that the client waits for what the server sends beyond the time it lasts, in ns.
const LATE_NS_MAX: u64 = 30_000_000_000;

pub(super) type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

/// What a stream of datagrams is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Aim<'a> {
    /// Data.
    Transfer,
    /// Finding the rate that the path carries.
    Search(&'a Capacity),
    /// Frames of a video.
    Frames(&'a Frames),
}

pub(super) fn client(
    task: &Task,
    bulk: &UdpBulk,
    aim: Aim<'_>,
    context: &ClientContext,
) -> Reports {
    let (arm, family) = only_arm(task);
    let bulk = &bulk.over(family);
    let remote = context.remote(family)?;
    let before = Before::look(context.processor());
    let socket = datagram(remote, &bulk.marking, &mut Locals::new(task, context, arm, family, 1))?;
    let unproved = Unproved { arm, family, remote, socket: &socket };
    prove(task.token.tag(), &[unproved], context.timeout_ns)?;
    let silence = Watch::silence(Wait::Block, context.timeout_ns);
    let longest_ns = task.workload.longest_ns().unwrap_or(0).saturating_add(LATE_NS_MAX);
    let watch = Watch { deadline_ns: clock::now_ns().saturating_add(longest_ns), ..silence };
    let line = Line { socket: &socket, end: End::Client };
    let half = Half { task, bulk, aim, arm, family, line, peer: remote, watch };
    let report = match bulk.direction {
        Direction::Send => half.send(before),
        Direction::Receive | Direction::Both => half.receive(before),
    }?;
    Ok(vec![(arm, report)])
}

pub(super) fn server(
    task: &Task,
    bulk: &UdpBulk,
    aim: Aim<'_>,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let (arm, family) = only_arm(task);
    let bulk = &bulk.over(family);
    let service = flows.datagram(task, family)?;
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, Wait::Block);
    let (basis, tag) = (Basis::new(task, flows)?, task.token.tag());
    let mut validation = basis.validation(flows, tag, PerArm::from_fn(|of| u16::from(of == arm)));
    ready();
    let prepare = |socket: &Datagram| socket.mark(&marks(&bulk.marking));
    let apart = gather_apart((arm, family), service, &mut validation, prepare, &watch)?;
    let _unread = Unread::of(service);
    let missing = TrialError::Missing { family, what: "source of datagrams" };
    let Served { source: peer, socket, .. } = apart.first().ok_or(missing)?;
    let line = Line { socket, end: End::Server };
    let half = Half { task, bulk, aim, arm, family, line, peer: *peer, watch };
    let report = match bulk.direction {
        Direction::Send => half.receive(before),
        Direction::Receive | Direction::Both => half.send(before),
    }?;
    Ok(vec![(arm, report)])
}

/// One end's half of a transfer, after its source has proved itself.
pub(super) struct Half<'a> {
    pub(super) task: &'a Task,
    bulk: &'a UdpBulk,
    aim: Aim<'a>,
    arm: Arm,
    pub(super) family: Family,
    pub(super) line: Line<'a>,
    pub(super) peer: SocketAddr,
    pub(super) watch: Watch<'a>,
}

impl Half<'_> {
    fn broken(&self, broken: Broken) -> TrialError {
        TrialError::of_datagrams(broken, self.family, self.peer, self.bulk.payload_bytes)
    }

    /// The header of a message of this task, before it is said by either end.
    pub(super) fn header(&self, flags: Flags) -> Header {
        let tag = self.task.token.tag();
        Header { tag, sequence: 0, turn: 0, next: 0, arm: self.arm, flags }
    }

    /// What the datagrams that this end sends start with.
    pub(super) fn data(&self) -> Header {
        self.header(self.line.end.says(Flags::NONE))
    }

    fn payload(&self) -> Bytes {
        payload(self.task, self.line.end, self.bulk.payload_bytes)
    }

    fn send(&self, before: Before) -> Result<EndReport, TrialError> {
        let broken = |b| self.broken(b);
        let Line { socket, end } = self.line;
        let mut missing = Vec::new();
        let offload = self.bulk.offload
            && socket.segments().map_err(|why| missing.push(why.to_string())).is_ok();
        let mut message = self.payload();
        let mut batch = SendBatch::new(self.bulk.batch, &message, offload);
        socket.set_nonblocking(true).map_err(TrialError::socket(self.family, Some(self.peer)))?;
        match end {
            // It is as long as the data, and the answer shows that the path carries that.
            End::Client => {
                let knock = self.header(Flags::WARMUP);
                hot::knock(self.line, &mut message, knock, &self.watch).map_err(broken)?;
            }
            End::Server => {
                let tag = self.task.token.tag();
                hot::await_knock(self.arm, self.line, tag, &self.watch).map_err(broken)?;
            }
        }
        let measured = match self.aim {
            Aim::Transfer | Aim::Frames(_) => {
                self.transfer(&mut batch, &mut missing).map_err(broken)?
            }
            Aim::Search(search) => {
                let searched = capacity::search(self, search, &mut batch, &mut message)?;
                Measured::Searched(Box::new(searched))
            }
        };
        // The number wraps, as those of the datagrams do.
        let sequence = measured.sent().map_or(0, |sent| sent.packets) as u32;
        let last = Header { sequence, ..self.header(Flags::END) };
        hot::end(self.line, last, &self.watch).map_err(broken)?;
        self.report(measured, before, missing)
    }

    /// Sends what the workload says.
    fn transfer(
        &self,
        batch: &mut SendBatch,
        missing: &mut Vec<String>,
    ) -> Result<Measured, Broken> {
        let start_ns = clock::now_ns();
        let catch_up = match self.aim {
            // A frame is late, but never left out: the numbers of its datagrams say which it is.
            Aim::Frames(frames) => frames.datagrams_in_all(),
            Aim::Transfer | Aim::Search(_) => CATCH_UP_MAX.max(u64::from(self.bulk.batch)),
        };
        let duration_ns = self.bulk.duration_ns;
        let paced = |schedule| Pace::new(start_ns, schedule, duration_ns, catch_up);
        let mut sending = Sending {
            pace: self.bulk.schedule(self.task.seed).map(paced),
            duration_ns,
            packets_max: self.bulk.packets.unwrap_or(u64::MAX),
            header: self.data(),
        };
        let outcome = hot::send(self.line.socket, batch, &mut sending, &self.watch)?;
        if outcome.offload_refused {
            missing.push("UDP segmentation offload refused for these datagrams".to_owned());
        }
        Ok(Measured::Sent(outcome.sent))
    }

    fn receive(&self, before: Before) -> Result<EndReport, TrialError> {
        let failed = TrialError::socket(self.family, Some(self.peer));
        let broken = |b| self.broken(b);
        let Line { socket, end } = self.line;
        let mut missing = Vec::new();
        // What is granted is read back below.
        let _ = socket.set_receive_buffer(RECEIVE_BUFFER_BYTES);
        let payload_bytes = self.bulk.payload_bytes as usize;
        let coalesced = self.bulk.offload
            && socket.set_coalescing(true).map_err(|w| missing.push(w.to_string())).is_ok();
        let mut batch = receive_batch(payload_bytes, coalesced);
        let mut counted = Counted::new(self.bulk.duration_ns, payload_bytes);
        counted.series.pauses(self.bulk.pause_ns());
        counted.rest_ns = self.rest_ns(coalesced).map_err(&failed)?;
        let dropped_before = socket.drops();
        if let Aim::Search(search) = self.aim {
            let dropped = dropped_before.as_ref().copied().unwrap_or(0);
            counted.reporter = Some(capacity::reporter(self, search, dropped));
        }
        if let Aim::Frames(frames) = self.aim {
            counted.frames = Some(FrameCount::new(frames));
        }
        let (mut answer, mut knock) = (self.payload(), self.payload());
        self.header(Flags::WARMUP).encode(&mut knock);
        datagram_waits(socket, Wait::Block).map_err(&failed)?;
        let knock = (end == End::Client).then_some(&knock[..]);
        if let Some(knock) = knock {
            // As good as lost if it cannot be sent; the loop repeats it.
            let _ = socket.send(knock);
        }
        let mut replies = Replies::new(&mut answer, knock);
        let of = (self.arm, self.task.token.tag());
        hot::receive(of, self.line, &mut batch, &mut counted, &mut replies, &self.watch)
            .map_err(broken)?;
        if !counted.began {
            let (operation, cause) = (hot::RECEIVING, Cause::Finished);
            return Err(broken(Broken { arm: self.arm, operation, cause }));
        }
        let dropped = match (dropped_before, socket.drops()) {
            (Ok(before), Ok(after)) => Some(u64::from(after.wrapping_sub(before))),
            (Err(why), _) | (_, Err(why)) => {
                missing.push(why.to_string());
                None
            }
        };
        let arrivals = counted.sequence.arrivals(counted.announced);
        // So many datagrams may end before their time.
        let counts = self.bulk.packets.map(|_| counted.series.span_ns());
        let until_ns = counts.map_or(self.bulk.duration_ns, |ns| ns.min(self.bulk.duration_ns));
        let received = Received {
            packets: counted.sequence.packets,
            duplicates: counted.sequence.duplicates,
            reordered: counted.sequence.reordered,
            dropped,
            arrivals: Some(arrivals),
            frames: counted.frames.as_ref().map(FrameCount::arrivals),
            ..counted.series.received(Some(self.bulk.warmup_ns), until_ns)
        };
        self.report(Measured::Received(received), before, missing)
    }

    /// How long the receiver may rest: at full speed a quarter of what fills the receive buffer at
    /// [`RATE_MAX`] datagrams per second, and not where calls bring many datagrams anyway.
    fn rest_ns(&self, coalesced: bool) -> Result<u64, SocketError> {
        if coalesced || self.bulk.asked_bps().is_some() {
            return Ok(0);
        }
        full_speed_rest_ns(self.line.socket, self.bulk.payload_bytes)
    }

    fn report(
        &self,
        measured: Measured,
        before: Before,
        missing: Vec<String>,
    ) -> Result<EndReport, TrialError> {
        let failed = TrialError::socket(self.family, Some(self.peer));
        let endpoints = datagram_endpoints(self.line.socket, self.peer).map_err(&failed)?;
        let granted = datagram_granted(self.line.socket).map_err(&failed)?;
        let mut report = before.report();
        report.unavailable.extend(missing);
        Ok(EndReport { measured, endpoints: Some(endpoints), granted, ..report })
    }
}

/// A quarter of what fills the receive buffer at [`RATE_MAX`] datagrams per second, in ns.
pub(super) fn full_speed_rest_ns(
    socket: &Datagram,
    payload_bytes: u32,
) -> Result<u64, SocketError> {
    // The kernel counts its bookkeeping and rounds up.
    let each = DATAGRAM_COST_BYTES + 2 * u64::from(payload_bytes);
    let room = u64::from(socket.receive_buffer()?) / each;
    Ok((room * 1_000_000_000 / RATE_MAX / 4).min(REST_NS_MAX))
}

fn receive_batch(payload_bytes: usize, coalesced: bool) -> ReceiveBatch {
    if coalesced {
        return ReceiveBatch::new(COALESCED_MESSAGES, COALESCED_BYTES);
    }
    // One byte more than a datagram of the task has, so that a longer one is not taken for it.
    let bytes = payload_bytes + 1;
    let messages = (RECEIVE_BYTES_MAX / bytes).clamp(1, usize::from(RECEIVE_MESSAGES));
    // At most `RECEIVE_MESSAGES`.
    ReceiveBatch::new(messages as u16, bytes)
}
