//! Opening TCP connections one after the other or several at a time.
//!
//! A first connection, which is not timed, tells the server whom it deals with and when the trial
//! is over; it also has the first packets of a cold path in it.

use super::client::ClientContext;
use super::evidence::{Before, stream_endpoints, stream_granted};
use super::server::DataFlows;
use super::sockets::{Locals, introduced, stream_waits};
use super::times::times;
use super::{TrialError, flows, only_arm};
use crate::hot::answer::{Answered, Door, Other, answer as hot_answer};
use crate::hot::connect::{Failure, Manner, Slots, Steps};
use crate::hot::{Broken, Cause, Tally, Watch, bulk, connect as hot};
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::observation::{ConnectionMemory, Connections, EndReport, Measured};
use v6gap_core::task::Task;
use v6gap_core::wire::preamble::Data;
use v6gap_core::workload::{Connect, Purpose, Wait};
use v6gap_sys::host::memory;
use v6gap_sys::socket::{Domain, Stream, StreamOptions};
use v6gap_sys::{Unavailable, clock, files};

/// Room of the listener's queue that is advised where there is too little.
const QUEUE_ADVISED: u32 = 4096;

const CONNECTING: &str = "connecting and asking";

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

pub(super) fn client(task: &Task, workload: &Connect, context: &ClientContext) -> Reports {
    let (arm, family) = only_arm(task);
    let remote = context.remote(family)?;
    let failed = TrialError::socket(family, Some(remote));
    let options = StreamOptions::default();
    let timeout_ns = context.timeout_ns;
    make_room(family, workload)?;
    let before = Before::look(context.processor());
    let mut locals = Locals::new(task, context, arm, family, workload.count.saturating_add(1));
    let first = introduced(task.token, (arm, 0), remote, &options, timeout_ns, &mut locals)?;
    let endpoints = stream_endpoints(&first).map_err(&failed)?;
    locals.stay_at(endpoints.local);
    let mut steps = Steps::with_room(workload.count as usize);
    let mut notes = Vec::new();
    let memory_before = Memory::read(family);
    let start_ns = clock::now_ns();
    let (span_ns, memory) = if workload.purpose == Purpose::Open {
        hot::connect(remote, &options, timeout_ns, workload.count, &mut locals, &mut steps)
            .map_err(&failed)?;
        (clock::now_ns() - start_ns, None)
    } else {
        let manner = Manner {
            remote,
            options: &options,
            timeout_ns,
            // Checked against [`Connect::COUNT_MAX`].
            count: workload.count as u16,
            concurrent: workload.concurrent as usize,
            request: Data { token: task.token, arm, connection: 0 },
        };
        let held = if workload.purpose == Purpose::Hold { workload.count } else { 0 };
        let mut slots = Slots::with_room(workload.concurrent as usize, held as usize);
        hot::several(&manner, &mut locals, &mut slots, &mut steps).map_err(|f| match f {
            Failure::Connect(error) => failed(error),
            Failure::Ask(cause) => {
                let broken = Broken { arm, operation: CONNECTING, cause };
                TrialError::of(broken, family, Some(remote))
            }
        })?;
        let span_ns = clock::now_ns() - start_ns;
        (span_ns, memory_before.growth(family, &slots.held, &mut notes))
    };
    let (granted, _) = stream_granted(&first).map_err(&failed)?;
    if workload.purpose == Purpose::Open {
        // The server resets it, but not before it has looked at its end.
        first.shutdown_write().map_err(&failed)?;
        stream_waits(&first, Wait::Block).map_err(&failed)?;
        bulk::await_close(arm, &first, &Watch::silence(Wait::Block, timeout_ns))
            .map_err(|b| TrialError::of(b, family, Some(remote)))?;
    } else {
        first.linger_zero().map_err(&failed)?;
    }
    let lost = steps.connect.lost;
    let summary = |tally: &Tally| times(&tally.times_ns, &[], lost);
    let asked = workload.purpose != Purpose::Open;
    let measured = Measured::Connections(Box::new(Connections {
        socket: summary(&steps.socket),
        connect: summary(&steps.connect),
        first_byte: asked.then(|| summary(&steps.first_byte)),
        span_ns,
        memory,
    }));
    let mut report = EndReport { measured, endpoints: Some(endpoints), granted, ..before.report() };
    report.unavailable.extend(notes);
    Ok(vec![(arm, report)])
}

/// Makes sure that this process may hold the connections of the trial.
fn make_room(family: Family, workload: &Connect) -> Result<(), TrialError> {
    files::make_room(u64::from(workload.open_max()))
        .map_err(|missing| TrialError::Unavailable { family, missing })
}

/// What the kernel spends on TCP, in bytes, where it tells.
struct Memory {
    slab: Result<u64, Unavailable>,
    pages: Result<u64, Unavailable>,
}

impl Memory {
    fn read(family: Family) -> Self {
        let domain = match family {
            Family::V4 => Domain::V4,
            Family::V6 => Domain::V6,
        };
        Memory { slab: memory::tcp_slab_bytes(domain), pages: memory::tcp_page_bytes() }
    }

    /// What has come since for each of `held`; `None` if there are none. `notes` gets what could
    /// not be had.
    fn growth(
        self,
        family: Family,
        held: &[Stream],
        notes: &mut Vec<String>,
    ) -> Option<ConnectionMemory> {
        let connections = u32::try_from(held.len()).ok().filter(|&count| count > 0)?;
        let now = Memory::read(family);
        let mut each = |before: Result<u64, Unavailable>, after: Result<u64, Unavailable>| {
            match (before, after) {
                // The rest of the host may have let go of some.
                (Ok(a), Ok(b)) => Some((b as f64 - a as f64) / f64::from(connections)),
                (Err(missing), _) | (_, Err(missing)) => {
                    notes.push(missing.to_string());
                    None
                }
            }
        };
        let slab_bytes_each = each(self.slab, now.slab);
        let page_bytes_each = each(self.pages, now.pages);
        let bytes: Result<Vec<u64>, Unavailable> = held.iter().map(Stream::memory_bytes).collect();
        let sum = bytes.map(|bytes| bytes.iter().sum::<u64>());
        let socket_bytes_each = each(Ok(0), sum);
        Some(ConnectionMemory { connections, slab_bytes_each, page_bytes_each, socket_bytes_each })
    }
}

/// The listener's queue must hold all connections that are in the making at a time: what it turns
/// away comes again after a second, which would be measured. Held ones have left it.
fn queue_fits(queue_max: u32, workload: &Connect) -> Result<(), Unavailable> {
    // One more leads the trial.
    let needed = workload.concurrent.saturating_add(1);
    if queue_max >= needed {
        return Ok(());
    }
    Err(Unavailable::new(
        "so many connections at a time",
        format_args!(
            "the server's queue has room for {queue_max} of {needed}; on the server, run \
             `sysctl -w net.core.somaxconn={QUEUE_ADVISED}` and start v6gap serve again"
        ),
    ))
}

pub(super) fn server(
    task: &Task,
    workload: &Connect,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let (_, family) = only_arm(task);
    // A system that does not tell is taken at its word.
    if let Some(queue_max) = flows.listener(task, family).and_then(|l| l.queue_max().ok()) {
        queue_fits(queue_max, workload)
            .map_err(|missing| TrialError::Unavailable { family, missing })?;
    }
    match workload.purpose {
        Purpose::Open => accept_only(task, flows, ready),
        Purpose::FirstByte | Purpose::Rate | Purpose::Hold => answer(task, workload, flows, ready),
    }
}

/// Accepts the first connection; the others end before anybody here has seen them.
fn accept_only(task: &Task, flows: &DataFlows<'_>, ready: impl FnOnce()) -> Reports {
    let (arm, family) = only_arm(task);
    let failed = TrialError::socket(family, None);
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, Wait::Block);
    ready();
    let streams = flows::collect(task, 1, flows, &watch)?;
    let mut reports = Vec::new();
    if let Some(first) = streams.get(arm).first() {
        let endpoints = stream_endpoints(first).map_err(&failed)?;
        let (granted, _) = stream_granted(first).map_err(&failed)?;
        stream_waits(first, Wait::Block).map_err(&failed)?;
        // The first connection is silent by design until the last of the others was made.
        let patient = Watch { silence_ns: u64::MAX, ..watch };
        bulk::await_close(arm, first, &patient)
            .map_err(|b| TrialError::of(b, family, Some(endpoints.peer)))?;
        first.linger_zero().map_err(&failed)?;
        let report = EndReport { endpoints: Some(endpoints), granted, ..before.report() };
        reports.push((arm, report));
    }
    Ok(reports)
}

/// Answers each connection with what it said and keeps as many as the task may hold; reports the
/// times between them.
fn answer(task: &Task, workload: &Connect, flows: &DataFlows<'_>, ready: impl FnOnce()) -> Reports {
    let (arm, family) = only_arm(task);
    let missing = |what| TrialError::Missing { family, what };
    let listener = flows.listener(task, family).ok_or_else(|| missing("listening socket"))?;
    make_room(family, workload)?;
    let hold = if workload.purpose == Purpose::Hold { workload.count as usize } else { 0 };
    let mut answered = Answered::with_room(hold, workload.count as usize);
    let mut lead = None;
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, Wait::Block);
    let door = Door {
        listener,
        access: flows.access,
        token: task.token,
        arm,
        concurrent: workload.concurrent as usize,
    };
    let mut handed = || flows.streams.try_recv().ok();
    let mut others = |other| match other {
        // It is gone by the time that the client says so.
        Other::Lead(stream) => {
            let seen = stream_endpoints(&stream).and_then(|e| Ok((e, stream_granted(&stream)?.0)));
            lead = Some((seen, stream));
        }
        Other::Stranger(arrival) => flows.strangers.pass(arrival),
    };
    ready();
    hot_answer(&door, &mut handed, &mut others, &mut answered, &watch)
        .map_err(|broken| TrialError::of(broken, family, None))?;
    let (seen, _) = lead.ok_or_else(|| {
        // The client could not open it: a route may have been away for a moment.
        let (operation, cause) = ("waiting for connections", Cause::Finished);
        TrialError::of(Broken { arm, operation, cause }, family, None)
    })?;
    let (endpoints, granted) = seen.map_err(TrialError::socket(family, None))?;
    let measured = Measured::Times(times(&answered.between.times_ns, &[], 0));
    let report = EndReport { measured, endpoints: Some(endpoints), granted, ..before.report() };
    Ok(vec![(arm, report)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_too_short_is_refused_with_what_mends_it() {
        let rate = Connect { count: 100, purpose: Purpose::Rate, concurrent: 8 };
        assert_eq!(queue_fits(9, &rate), Ok(()));
        let missing = queue_fits(8, &rate).unwrap_err();
        assert!(missing.because.contains("room for 8 of 9"), "{missing}");
        assert!(missing.because.contains("sysctl -w net.core.somaxconn=4096"), "{missing}");
        // However many are held, each has left the queue when it was accepted.
        let held = Connect { count: 20_000, purpose: Purpose::Hold, concurrent: 8 };
        assert_eq!(queue_fits(9, &held), Ok(()));
    }
}
