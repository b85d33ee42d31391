//! A load of TCP streams.

use super::super::super::client::ClientContext;
use super::super::super::server::DataFlows;
use super::super::super::sockets::{
    Locals, accepted_options, introduced, payload, stream_options, stream_waits,
};
use super::super::super::{TrialError, family, flows};
use super::{MOVING, Processors, connections, no_thread, way};
use crate::hot::{Broken, Cause, Watch, load as hot};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::arm::Arm;
use v6gap_core::observation::Loaded;
use v6gap_core::task::Task;
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::datagram::End;
use v6gap_core::workload::{Direction, Load, Marking, Wait};
use v6gap_sys::clock;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::Stream;

/// Bytes of one write and of one read.
const CHUNK_BYTES: u32 = 128 * 1024;

/// The streams of a load at one end, and which way each goes for this end.
pub(super) struct Streams {
    ways: Vec<(Stream, bool)>,
    chunk: Bytes,
    arm: Arm,
    /// Bytes per second that each stream sends at most, and at the server also takes.
    pace: Option<u64>,
    processors: Processors,
}

/// The client's end of the load for `arm`. To be called before the thread is held on a processor.
pub(super) fn connect(
    task: &Task,
    load: &Load,
    arm: Arm,
    context: &ClientContext,
) -> Result<Streams, TrialError> {
    let family = load.family_beside(family(task, arm));
    let remote = context.remote(family)?;
    let count = connections(load);
    // Ports of the probe's own arm are drawn from the stream of numbers of that arm.
    let mut locals = Locals::new(task, context, arm.other(), family, count.into());
    let options = stream_options(&load.settings, &Marking::default());
    let mut ways = Vec::with_capacity(count.into());
    for number in 0..count {
        let place = (arm, number);
        let stream =
            introduced(task.token, place, remote, &options, context.timeout_ns, &mut locals)?;
        ways.push((stream, way(load, number) == Direction::Send));
    }
    Streams::new(task, arm, ways, held(task, load, &context.limits), context.processor())
}

/// The server's end, once the client has connected.
pub(super) fn accept(
    task: &Task,
    load: &Load,
    arm: Arm,
    flows: &DataFlows<'_>,
    watch: &Watch<'_>,
) -> Result<Streams, TrialError> {
    let mut streams = flows::collect(task, connections(load), flows, watch)?;
    let streams = std::mem::take(streams.get_mut(arm));
    let options = accepted_options(&load.settings);
    for stream in &streams {
        // What this host lacks is that of its system: a load needs no congestion control of a name.
        let _ = stream.set_options(&options);
    }
    let ways = streams.into_iter().zip(0..);
    let ways = ways.map(|(stream, number)| (stream, way(load, number) == Direction::Receive));
    Streams::new(task, arm, ways.collect(), held(task, load, &flows.limits), flows.processor)
}

/// Bytes per second to which the server's limits hold each stream, if they do.
fn held(task: &Task, load: &Load, limits: &Limits) -> Option<u64> {
    let held_bps = task.workload.held_bps(limits)?;
    Some((held_bps / 8 / u64::from(load.streams.max(1))).max(1))
}

impl Streams {
    fn new(
        task: &Task,
        arm: Arm,
        ways: Vec<(Stream, bool)>,
        pace: Option<u64>,
        processor: Option<usize>,
    ) -> Result<Self, TrialError> {
        for (stream, _) in &ways {
            let failed = TrialError::socket(family(task, arm), None);
            stream_waits(stream, Wait::Block).map_err(failed)?;
        }
        let chunk = payload(task, End::Client, CHUNK_BYTES);
        Ok(Streams { ways, chunk, arm, pace, processors: Processors::beside(processor) })
    }

    /// Does `work` while all streams move. A stream that ends too early is an error at the client;
    /// at the server it is how a load ends.
    pub(super) fn beside<T>(
        self,
        watch: &Watch<'_>,
        is_client: bool,
        work: impl FnOnce() -> T,
    ) -> Result<(T, Loaded), Broken> {
        let over = AtomicBool::new(false);
        let start_ns = clock::now_ns();
        let (outcome, moved) = thread::scope(|scope| {
            let one = |place: usize, stream, sends| {
                let (over, chunk, processors) = (&over, &self.chunk, &self.processors);
                // What a client takes the server has held back already.
                let pace = self.pace.filter(|_| sends || !is_client);
                thread::Builder::new().spawn_scoped(scope, move || {
                    processors.take(place);
                    one(stream, sends, chunk, pace, (over, watch))
                })
            };
            let ways = self.ways.iter().enumerate();
            let threads = ways.map(|(place, (stream, sends))| one(place, stream, *sends));
            let threads = threads.collect::<Result<Vec<_>, _>>().inspect_err(|_| {
                // Those that have begun must not be waited for.
                over.store(true, Ordering::Relaxed);
            })?;
            let outcome = work();
            // The client ends the streams: at its end, one that the server closed would be broken.
            over.store(is_client, Ordering::Relaxed);
            let moved: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
            Ok((outcome, moved))
        })
        .map_err(|error: io::Error| no_thread(self.arm, error))?;
        let span_ns = clock::now_ns() - start_ns;
        let mut loaded = Loaded { span_ns, ..Loaded::default() };
        for (moved, (stream, sends)) in moved.into_iter().zip(&self.ways) {
            let moved = moved.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let bytes = match moved {
                Ok(bytes) => bytes,
                Err((_, bytes)) if !is_client => bytes,
                Err((cause, _)) => {
                    return Err(Broken { arm: self.arm, operation: MOVING, cause });
                }
            };
            let sum = if *sends { &mut loaded.sent_bytes } else { &mut loaded.received_bytes };
            *sum += bytes;
            // What is still in queues must not meet the next trial.
            let _ = stream.linger_zero();
        }
        Ok((outcome, loaded))
    }
}

/// One stream until it is over.
fn one(
    stream: &Stream,
    sends: bool,
    chunk: &[u8],
    pace: Option<u64>,
    (over, watch): (&AtomicBool, &Watch<'_>),
) -> Result<u64, (Cause, u64)> {
    if sends {
        if let Some(pace) = pace {
            // Where the kernel keeps no pace, the loop does.
            let _ = stream.set_pace(pace);
        }
        hot::send(stream, chunk, pace, over, watch)
    } else {
        let mut buffer = Bytes::zeroed(chunk.len());
        hot::receive(stream, &mut buffer, pace, over, watch)
    }
}
