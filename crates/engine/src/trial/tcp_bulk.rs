//! TCP bulk transfer at both ends; either may be the one that sends.

use super::client::ClientContext;
use super::evidence::{Before, stream_endpoints, stream_granted};
use super::server::DataFlows;
use super::sockets::{Locals, introduced, payload, stream_options, stream_waits};
use super::{TrialError, flows, only_arm};
use crate::hot::series::Series;
use crate::hot::{Watch, bulk as hot};
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::task::Task;
use v6gap_core::workload::{Direction, TcpBulk, Wait};
use v6gap_sys::socket::Stream;

/// Bytes of one read: so many that a receiver which was put aside catches up in few calls.
const READ_BYTES: usize = 512 * 1024;

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

pub(super) fn client(task: &Task, bulk: &TcpBulk, context: &ClientContext) -> Reports {
    let (arm, family) = only_arm(task);
    let remote = context.remote(family)?;
    let before = Before::look(context.processor);
    let mut locals = Locals::new(task, arm, family, 1);
    let options = stream_options(&bulk.settings);
    let stream =
        introduced(task.token, (arm, 0), remote, &options, context.timeout_ns, &mut locals)?;
    let end =
        End { task, bulk, arm, family, watch: Watch::silence(Wait::Block, context.timeout_ns) };
    let report = match bulk.direction {
        Direction::Send => end.send(&stream, before),
        Direction::Receive => end.receive(&stream, before),
    }?;
    Ok(vec![(arm, report)])
}

pub(super) fn server(
    task: &Task,
    bulk: &TcpBulk,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let (arm, family) = only_arm(task);
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, Wait::Block);
    ready();
    let streams = flows::collect(task, 1, flows, &watch)?;
    let end = End { task, bulk, arm, family, watch };
    let mut reports = Vec::new();
    if let Some(stream) = streams.get(arm).first() {
        let report = match bulk.direction {
            Direction::Send => end.receive(stream, before),
            Direction::Receive => end.send(stream, before),
        }?;
        reports.push((arm, report));
    }
    Ok(reports)
}

/// What both ends have in common.
struct End<'a> {
    task: &'a Task,
    bulk: &'a TcpBulk,
    arm: Arm,
    family: Family,
    watch: Watch<'a>,
}

impl End<'_> {
    fn send(&self, stream: &Stream, before: Before) -> Result<EndReport, TrialError> {
        let failed = TrialError::socket(self.family, None);
        let endpoints = stream_endpoints(stream).map_err(&failed)?;
        stream_waits(stream, Wait::Block).map_err(&failed)?;
        let broken = |b| TrialError::of(b, self.family, Some(endpoints.peer));
        let chunk = payload(self.task, self.bulk.write_bytes);
        let mut sent = hot::send(self.arm, stream, &chunk, self.bulk.duration_ns, &self.watch)
            .map_err(broken)?;
        let (granted, info) = stream_granted(stream).map_err(&failed)?;
        sent.retransmitted_segments = info.map(|info| u64::from(info.total_retrans));
        stream.shutdown_write().map_err(&failed)?;
        hot::await_close(self.arm, stream, &self.watch).map_err(broken)?;
        stream.linger_zero().map_err(&failed)?;
        let mut report = before.report();
        if let Some(asked) = &self.bulk.settings.congestion
            && granted.congestion.as_ref() != Some(asked)
        {
            report.unavailable.push(format!("congestion control {asked} at the sender"));
        }
        let measured = Measured::Sent(sent);
        Ok(EndReport { measured, endpoints: Some(endpoints), granted, ..report })
    }

    fn receive(&self, stream: &Stream, before: Before) -> Result<EndReport, TrialError> {
        let failed = TrialError::socket(self.family, None);
        let endpoints = stream_endpoints(stream).map_err(&failed)?;
        stream_waits(stream, Wait::Block).map_err(&failed)?;
        let mut buffer = vec![0; READ_BYTES];
        let duration_ns = self.bulk.duration_ns;
        let mut series = Series::new(duration_ns);
        hot::receive(self.arm, stream, &mut buffer, &mut series, duration_ns, &self.watch)
            .map_err(|b| TrialError::of(b, self.family, Some(endpoints.peer)))?;
        let (granted, _) = stream_granted(stream).map_err(&failed)?;
        // The reset tells the sender that all was read and leaves nothing behind at either end.
        stream.linger_zero().map_err(&failed)?;
        let measured = Measured::Received(series.received(self.bulk.warmup_ns, duration_ns));
        Ok(EndReport { measured, endpoints: Some(endpoints), granted, ..before.report() })
    }
}
