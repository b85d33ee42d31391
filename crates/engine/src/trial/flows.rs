//! The server's side of a task's connections: waiting for exactly those that the task needs.

use super::TrialError;
use super::server::DataFlows;
use crate::hot::{Broken, Cause, TICK_NS, Watch};
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::task::Task;
use v6gap_sys::clock;
use v6gap_sys::socket::Stream;

/// Waits for `connections` connections of each arm of `task`, in any order. Those that the task
/// does not need are closed.
pub(super) fn collect(
    task: &Task,
    connections: u16,
    flows: &DataFlows<'_>,
    watch: &Watch<'_>,
) -> Result<PerArm<Vec<Stream>>, TrialError> {
    let wanted = |arm| task.arms.iter().any(|a| a.arm == arm);
    let mut places: PerArm<Vec<Option<Stream>>> = PerArm::from_fn(|arm| {
        let count = if wanted(arm) { usize::from(connections) } else { 0 };
        (0..count).map(|_| None).collect()
    });
    let marks = super::sockets::marks(&task.workload.marking());
    let mut last_ns = clock::now_ns();
    while let Some(missing) = first_missing(&places) {
        match flows.streams.recv_timeout(Duration::from_nanos(TICK_NS)) {
            Ok((data, stream)) => {
                let place = places.get_mut(data.arm).get_mut(usize::from(data.connection));
                if let Some(place @ None) = place {
                    let family = super::family(task, data.arm);
                    stream.mark(&marks).map_err(TrialError::socket(family, None))?;
                    *place = Some(stream);
                    last_ns = clock::now_ns();
                }
            }
            Err(RecvTimeoutError::Timeout) if !is_over(watch, last_ns) => {}
            Err(over) => {
                let cause = match over {
                    RecvTimeoutError::Timeout if watch.abort.load(Ordering::Relaxed) => {
                        Cause::Aborted
                    }
                    RecvTimeoutError::Timeout if watch.finish.load(Ordering::Relaxed) => {
                        Cause::Finished
                    }
                    RecvTimeoutError::Timeout => Cause::Silent,
                    RecvTimeoutError::Disconnected => Cause::Aborted,
                };
                let broken = Broken { arm: missing, operation: "waiting for connections", cause };
                return Err(TrialError::of(broken, super::family(task, missing), None));
            }
        }
    }
    Ok(places.map(|arm| arm.into_iter().flatten().collect()))
}

fn first_missing(places: &PerArm<Vec<Option<Stream>>>) -> Option<Arm> {
    Arm::BOTH.into_iter().find(|&arm| places.get(arm).iter().any(Option::is_none))
}

/// Whether nobody is waited for any more, of whom the last came at `last_ns`.
fn is_over(watch: &Watch<'_>, last_ns: u64) -> bool {
    let now_ns = clock::now_ns();
    watch.abort.load(Ordering::Relaxed)
        || watch.finish.load(Ordering::Relaxed)
        || now_ns - last_ns >= watch.silence_ns
        || now_ns >= watch.deadline_ns
}
