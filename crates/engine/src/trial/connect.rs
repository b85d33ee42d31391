//! Opening TCP connections one after the other.
//!
//! A first connection, which is not timed, tells the server whom it deals with and when the trial
//! is over; it also has the first packets of a cold path in it.

use super::client::ClientContext;
use super::evidence::{Before, stream_endpoints, stream_granted};
use super::server::DataFlows;
use super::sockets::{Locals, introduced, stream_waits};
use super::times::times;
use super::{TrialError, flows, only_arm};
use crate::hot::{Tally, Watch, bulk, connect as hot};
use v6gap_core::arm::Arm;
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::task::Task;
use v6gap_core::workload::{Connect, Wait};
use v6gap_sys::socket::StreamOptions;

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

pub(super) fn client(task: &Task, workload: &Connect, context: &ClientContext) -> Reports {
    let (arm, family) = only_arm(task);
    let remote = context.remote(family)?;
    let failed = TrialError::socket(family, Some(remote));
    let options = StreamOptions::default();
    let timeout_ns = context.timeout_ns;
    let before = Before::look(context.processor);
    let mut locals = Locals::new(task, arm, family, workload.count.saturating_add(1));
    let first = introduced(task.token, (arm, 0), remote, &options, timeout_ns, &mut locals)?;
    let endpoints = stream_endpoints(&first).map_err(&failed)?;
    let mut tally = Tally::with_room(1, workload.count as usize);
    hot::connect(remote, &options, timeout_ns, workload.count, &mut locals, &mut tally)
        .map_err(&failed)?;
    let (granted, _) = stream_granted(&first).map_err(&failed)?;
    // The server resets it, but not before it has looked at its end.
    first.shutdown_write().map_err(&failed)?;
    stream_waits(&first, Wait::Block).map_err(&failed)?;
    bulk::await_close(arm, &first, &Watch::silence(Wait::Block, timeout_ns))
        .map_err(|b| TrialError::of(b, family, Some(remote)))?;
    let measured = Measured::Times(times(&tally.times_ns, &[], tally.lost));
    let report = EndReport { measured, endpoints: Some(endpoints), granted, ..before.report() };
    Ok(vec![(arm, report)])
}

pub(super) fn server(task: &Task, flows: &DataFlows<'_>, ready: impl FnOnce()) -> Reports {
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
