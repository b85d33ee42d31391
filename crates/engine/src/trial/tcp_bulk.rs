//! TCP bulk transfer at both ends: one thread for each connection, whichever end sends over it.

use super::client::ClientContext;
use super::evidence::{Before, Used, account, add_used, stream_endpoints, stream_granted, using};
use super::server::DataFlows;
use super::sockets::{Locals, accepted_options, introduced, payload, stream_options, stream_waits};
use super::{TrialError, flows, only_arm};
use crate::hot::bulk::{self as hot, Extent, Sink, Source};
use crate::hot::series::Series;
use crate::hot::{Broken, Cause, Watch};
use std::{panic, thread};
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::observation::{Connection, EndReport, Granted, Measured, Sent};
use v6gap_core::task::Task;
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::datagram;
use v6gap_core::workload::{Direction, TcpBulk, Wait, ZeroCopy};
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{ErrorClass, MemoryFile, Stream, StreamOptions};
use v6gap_sys::{Unavailable, cpu};

/// Most bytes for which a receiver sleeps: more would outgrow the processor's cache.
const LOW_WATER_BYTES_MAX: u64 = 256 * 1024;

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

/// Whether the peer has acknowledged so many bytes, if the kernel tells.
fn has_acknowledged(stream: &Stream, bytes: u64) -> bool {
    stream.info().ok().and_then(|info| info.bytes_acked).is_some_and(|acked| acked >= bytes)
}

/// The options of a transfer: of one with a window the sender has more room than the window needs.
fn windowed(bulk: &TcpBulk, options: StreamOptions) -> StreamOptions {
    StreamOptions { send_buffer: bulk.send_buffer_bytes(), ..options }
}

pub(super) fn client(task: &Task, bulk: &TcpBulk, context: &ClientContext) -> Reports {
    let (arm, family) = only_arm(task);
    let remote = context.remote(family)?;
    let count = connections(bulk);
    let places = places(context.processor(), count);
    let before = Before::look(context.processor());
    let mut locals = Locals::new(task, context, arm, family, count.into());
    let options = windowed(bulk, stream_options(&bulk.settings, &bulk.marking));
    let connect = |number: u16| {
        introduced(task.token, (arm, number), remote, &options, context.timeout_ns, &mut locals)
    };
    let streams = (0..count).map(connect).collect::<Result<Vec<Stream>, TrialError>>()?;
    let watch = Watch::silence(Wait::Block, context.timeout_ns);
    let limits = &context.limits;
    let end = End { task, bulk, arm, family, watch, is_client: true, limits };
    Ok(vec![(arm, end.perform(streams, &places, before, Vec::new())?)])
}

pub(super) fn server(
    task: &Task,
    bulk: &TcpBulk,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let (arm, family) = only_arm(task);
    let count = connections(bulk);
    let places = places(flows.processor, count);
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, Wait::Block);
    let mut notes = Vec::new();
    // Of the window only what is offered with the first segment needs this.
    let lent = bulk.settings.buffer_bytes.zip(flows.listener(task, family));
    let lent = lent.and_then(|(bytes, listener)| {
        listener.lend_receive_buffer(bytes).map_err(|missing| notes.push(missing.to_string())).ok()
    });
    let lent = (lent, flows.lend_congestion(task, family, &bulk.settings));
    ready();
    let mut streams = flows::collect(task, count, flows, &watch)?;
    drop(lent);
    let streams = std::mem::take(streams.get_mut(arm));
    let limits = &flows.limits;
    let end = End { task, bulk, arm, family, watch, is_client: false, limits };
    let options = windowed(bulk, accepted_options(&bulk.settings));
    for stream in &streams {
        // A congestion control that this host lacks is told with what it has instead.
        if let Err(refused) = stream.set_options(&options) {
            notes.push(refused.to_string());
        }
    }
    Ok(vec![(arm, end.perform(streams, &places, before, notes)?)])
}

/// Connections of the transfer; the check of the task has seen that they fit.
fn connections(bulk: &TcpBulk) -> u16 {
    u16::try_from(bulk.connections()).unwrap_or(u16::MAX)
}

/// A processor for each thread: the first as given, the others in turn as far as there are any.
/// None if the first is not held on one.
fn places(first: Option<usize>, count: u16) -> Vec<Option<usize>> {
    let allowed = cpu::allowed().unwrap_or_default();
    let start = first.and_then(|first| allowed.iter().position(|&cpu| cpu == first));
    let place = |i: usize| match start {
        Some(start) => Some(allowed[(start + i) % allowed.len()]),
        None => first,
    };
    (0..usize::from(count)).map(place).collect()
}

/// What both ends have in common.
struct End<'a> {
    task: &'a Task,
    bulk: &'a TcpBulk,
    arm: Arm,
    family: Family,
    watch: Watch<'a>,
    is_client: bool,
    /// The server's.
    limits: &'a Limits,
}

/// What one thread did.
struct Done {
    sent: Option<Sent>,
    series: Option<Series>,
    connection: Connection,
    granted: Granted,
    /// Writes in place that the kernel copied all the same.
    copied: u64,
}

impl End<'_> {
    /// Does this end's half of every connection and reports.
    fn perform(
        &self,
        streams: Vec<Stream>,
        places: &[Option<usize>],
        before: Before,
        mut notes: Vec<String>,
    ) -> Result<EndReport, TrialError> {
        for stream in &streams {
            stream_waits(stream, Wait::Block).map_err(TrialError::socket(self.family, None))?;
            self.insist(stream)?;
        }
        let chunk = payload(self.task, datagram::End::Client, self.bulk.write_bytes);
        let file = self.prepare(&streams, &chunk, &mut notes);
        let source = match (&file, self.bulk.zero_copy) {
            (Some(file), _) => Source::File(file, chunk.len()),
            (None, Some(ZeroCopy::Memory)) if self.in_place(&streams, &mut notes) => {
                Source::InPlace(&chunk)
            }
            (None, _) => Source::Copied(&chunk),
        };
        let (done, used) = self.threads(streams, places, source)?;
        if done.iter().any(|one| one.copied > 0) {
            notes.push("sending memory without copying: the kernel copied all the same".into());
        }
        let mut report = before.report();
        used.iter().for_each(|used| add_used(&mut report, used));
        report.unavailable.extend(notes);
        if let (true, Some(first)) = (done.iter().any(|d| d.sent.is_some()), done.first())
            && let Some(asked) = &self.bulk.settings.congestion
            && first.granted.congestion.as_ref() != Some(asked)
        {
            report.unavailable.push(format!("congestion control {asked} at the sender"));
        }
        Ok(self.summed(done, report))
    }

    /// Bytes per second to which the server's limits hold one connection, if they do.
    fn held(&self) -> Option<u64> {
        let held_bps = self.task.workload.held_bps(self.limits)?;
        Some((held_bps / 8 / u64::from(self.bulk.streams.max(1))).max(1))
    }

    /// Bytes per second that one connection sends at most, if anything holds it.
    fn pace(&self) -> Option<u64> {
        self.bulk.pace_bytes().into_iter().chain(self.held()).min()
    }

    /// Whether this end sends over the connection of that number, and how much and how fast.
    fn extent(&self, number: u64) -> (bool, Extent) {
        let sends = self.bulk.client_sends(number) == self.is_client;
        // A receiver reads as fast as data come, but where this server limits what others send.
        let pace = if sends { self.pace() } else { self.held().filter(|_| !self.is_client) };
        let duration_ns = self.bulk.duration_ns;
        (sends, Extent { duration_ns, bytes: self.most_bytes(number), pace })
    }

    /// Bytes that the connection of that number moves at most.
    fn most_bytes(&self, number: u64) -> u64 {
        let each = |bytes: u64| (bytes / u64::from(self.bulk.streams.max(1))).max(1);
        let allowed = self.limits.task_bytes.map_or(u64::MAX, each);
        self.bulk.share_bytes(number).min(allowed)
    }

    /// Whether this end sends over any connection.
    fn sends(&self) -> bool {
        self.bulk.direction == Direction::Both || self.bulk.client_sends(0) == self.is_client
    }

    /// Sets the pace and looks for what the system lacks; the file to send from, if that is how.
    fn prepare(
        &self,
        streams: &[Stream],
        chunk: &[u8],
        notes: &mut Vec<String>,
    ) -> Option<MemoryFile> {
        let mut told = |missing: Unavailable| notes.push(missing.to_string());
        if self.bulk.truncate && (!self.sends() || self.bulk.direction == Direction::Both) {
            Stream::can_discard().unwrap_or_else(&mut told);
        }
        if !self.sends() {
            return None;
        }
        if let Some(pace) = self.pace() {
            let refused = streams.iter().find_map(|stream| stream.set_pace(pace).err());
            refused.into_iter().for_each(&mut told);
        }
        let wanted = self.bulk.zero_copy == Some(ZeroCopy::File);
        wanted.then(|| MemoryFile::new(chunk).map_err(&mut told).ok()).flatten()
    }

    /// Allows the streams to send without copying; `false` if the system refuses.
    fn in_place(&self, streams: &[Stream], notes: &mut Vec<String>) -> bool {
        if !self.sends() {
            return false;
        }
        let refused = streams.iter().find_map(|stream| stream.allow_in_place().err());
        notes.extend(refused.iter().map(ToString::to_string));
        refused.is_none()
    }

    /// Fails if the plan insists on the size of the buffers and the system has another.
    fn insist(&self, stream: &Stream) -> Result<(), TrialError> {
        let settings = &self.bulk.settings;
        let Some(asked) = settings.buffer_bytes.filter(|_| settings.require_buffer) else {
            return Ok(());
        };
        let got = stream.got().map_err(TrialError::socket(self.family, None))?;
        if got.window_as_asked(asked) {
            return Ok(());
        }
        let (send, receive) = (got.send_buffer, got.receive_buffer);
        let got = format!("{send} B to send and {receive} B to receive");
        Err(TrialError::Buffers { family: self.family, asked, got })
    }

    /// Each connection on a thread of its own, the first on the calling thread. Returns also what
    /// the other threads used.
    fn threads(
        &self,
        streams: Vec<Stream>,
        places: &[Option<usize>],
        source: Source<'_>,
    ) -> Result<(Vec<Done>, Vec<Used>), TrialError> {
        let another = |number: usize, stream: Stream| {
            let place = places[number].filter(|&cpu| cpu::pin_thread(cpu).is_ok());
            using(|| self.one(number, stream, place, source))
        };
        thread::scope(|scope| {
            let mut streams = streams.into_iter().enumerate();
            let first = streams.next();
            let spawn = |(number, stream)| {
                let thread = thread::Builder::new().name(format!("stream {number}"));
                thread.spawn_scoped(scope, move || another(number, stream))
            };
            let others = streams.map(spawn).collect::<Result<Vec<_>, _>>();
            let others = others.map_err(TrialError::thread)?;
            let first = first.map(|(number, stream)| self.one(number, stream, places[0], source));
            let mut done = Vec::from_iter(first);
            let mut used = Vec::new();
            for thread in others {
                let (one, spent) = thread.join().unwrap_or_else(|p| panic::resume_unwind(p));
                done.push(one);
                used.push(spent);
            }
            Ok((done.into_iter().collect::<Result<_, _>>()?, used))
        })
    }

    /// One connection from its first byte to its end. It is closed at once, whatever the others
    /// still do: the other end waits for that.
    fn one(
        &self,
        number: usize,
        stream: Stream,
        place: Option<usize>,
        source: Source<'_>,
    ) -> Result<Done, TrialError> {
        let number = number as u64;
        let failed = TrialError::socket(self.family, None);
        let endpoints = stream_endpoints(&stream).map_err(&failed)?;
        let broken = |b| TrialError::of(b, self.family, Some(endpoints.peer));
        let duration_ns = self.bulk.duration_ns;
        let (sends, extent) = self.extent(number);
        let mut connection = Connection {
            endpoints,
            sent_bytes: 0,
            received_bytes: 0,
            rtt_mean_us: None,
            window_mean_bytes: None,
            processor: place.and_then(|cpu| u32::try_from(cpu).ok()),
            account: None,
        };
        let (mut sent, mut series, mut copied) = (None, None, 0);
        let granted;
        if sends {
            // Also where the kernel keeps the pace: what waited in the socket's buffer would come
            // after the end.
            let sending = hot::send(self.arm, &stream, source, extent, &self.watch, None);
            let sending = sending.map_err(broken)?;
            granted = stream_granted(&stream).map_err(&failed)?.0;
            match stream.shutdown_write() {
                // The other end has all its bytes and is gone.
                Err(error) if error.class() == ErrorClass::Closed => {}
                other => other.map_err(&failed)?,
            }
            self.closed(&stream, sending.sent.bytes).map_err(broken)?;
            // Only now is all acknowledged, so that the kernel's counts are complete.
            let info = stream.info().ok();
            let mut of_it = sending.sent;
            of_it.retransmitted_segments = info.map(|info| u64::from(info.total_retrans));
            connection.sent_bytes = of_it.bytes;
            connection.rtt_mean_us = sending.rtt_mean_us;
            connection.window_mean_bytes = sending.window_mean_bytes;
            connection.account = info.as_ref().map(account);
            copied = sending.reaped.copied;
            sent = Some(of_it);
        } else {
            let read_bytes = TcpBulk::read_bytes(self.task.seed);
            let discards = self.bulk.truncate && Stream::can_discard().is_ok();
            let mut buffer = Bytes::zeroed(if discards { 0 } else { read_bytes });
            let sink = match discards {
                true => Sink::Nowhere(read_bytes),
                false => Sink::Buffer(&mut buffer),
            };
            let mut of_it = Series::one_of(self.bulk.streams, duration_ns);
            let low_water = self.low_water_max();
            hot::receive(self.arm, &stream, sink, &mut of_it, extent, low_water, &self.watch)
                .map_err(broken)?;
            let (has, info) = stream_granted(&stream).map_err(&failed)?;
            granted = has;
            connection.received_bytes = of_it.bytes();
            connection.account = info.as_ref().map(account);
            series = Some(of_it);
        }
        // The reset tells a sender that all was read and leaves nothing behind at either end.
        stream.linger_zero().map_err(&failed)?;
        Ok(Done { sent, series, connection, granted, copied })
    }

    /// Waits until the peer has closed a connection over which it was sent so many bytes. It resets
    /// it once, and the path may lose that.
    fn closed(&self, stream: &Stream, bytes: u64) -> Result<(), Broken> {
        match hot::await_close(self.arm, stream, &self.watch) {
            Err(Broken { cause: Cause::Silent, .. }) if has_acknowledged(stream, bytes) => Ok(()),
            other => other,
        }
    }

    /// A receiver with a window to keep to wakes for every segment, as programs do: sleeping would
    /// hold the sender up.
    fn low_water_max(&self) -> u64 {
        match self.bulk.settings.buffer_bytes {
            Some(_) => 1,
            None => LOW_WATER_BYTES_MAX,
        }
    }

    /// All connections in one report.
    fn summed(&self, done: Vec<Done>, mut report: EndReport) -> EndReport {
        let (mut all_sent, mut all_series) = (Vec::new(), Vec::new());
        for (number, one) in done.into_iter().enumerate() {
            if number == 0 {
                report.endpoints = Some(one.connection.endpoints);
                report.granted = one.granted;
            }
            all_sent.extend(one.sent);
            all_series.extend(one.series);
            report.connections.push(one.connection);
        }
        let warmup_ns = self.bulk.bytes.is_none().then_some(self.bulk.warmup_ns);
        let received = (!all_series.is_empty())
            .then(|| Series::sum(all_series).received(warmup_ns, self.bulk.duration_ns));
        let sent = all_sent.into_iter().reduce(add_sent);
        report.measured = match (received, sent) {
            (Some(received), Some(sent)) => Measured::BothWays { received, sent },
            (Some(received), None) => Measured::Received(received),
            (None, Some(sent)) => Measured::Sent(sent),
            (None, None) => Measured::Nothing,
        };
        report
    }
}

/// What was sent over two connections at the same time.
pub fn add_sent(a: Sent, b: Sent) -> Sent {
    let retransmitted = a.retransmitted_segments.zip(b.retransmitted_segments);
    Sent {
        bytes: a.bytes + b.bytes,
        span_ns: a.span_ns.max(b.span_ns),
        retransmitted_segments: retransmitted.map(|(a, b)| a + b),
        ..a
    }
}
