//! The load beside probes: streams of TCP or UDP on threads of their own, from before the first
//! probe until after the last.

mod datagrams;
mod streams;

use super::super::client::ClientContext;
use super::super::server::DataFlows;
use super::super::validation::{Basis, Unread};
use super::super::{TrialError, family as family_of};
use crate::hot::{Broken, Watch};
use datagrams::Datagrams;
use std::io;
use streams::Streams;
use v6gap_core::arm::Arm;
use v6gap_core::observation::Loaded;
use v6gap_core::task::Task;
use v6gap_core::workload::{Direction, Load, Probe};
use v6gap_sys::cpu;
use v6gap_sys::socket::Loan;

/// A load at one end, ready to move.
pub(super) struct Prepared(Kind);

enum Kind {
    Streams(Streams),
    Datagrams(Datagrams),
}

/// The client's end of the load of `probe` for `arm`, if it has one. To be called before the thread
/// is held on a processor.
pub(super) fn connect(
    task: &Task,
    probe: &Probe,
    arm: Arm,
    context: &ClientContext,
) -> Result<Option<Prepared>, TrialError> {
    let Some(load) = &probe.load else { return Ok(None) };
    Ok(Some(Prepared(match load.udp {
        None => Kind::Streams(streams::connect(task, load, arm, context)?),
        Some(udp) => {
            let plan = datagrams::Plan::new(task, probe, load, udp, arm);
            Kind::Datagrams(datagrams::connect(plan, context)?)
        }
    })))
}

/// Has the streams of a load begin with its congestion control as long as the value lives.
pub(super) fn lend(task: &Task, probe: &Probe, arm: Arm, flows: &DataFlows<'_>) -> Option<Loan> {
    let load = probe.load.as_ref().filter(|load| load.udp.is_none())?;
    flows.lend_congestion(task, load.family_beside(family_of(task, arm)), &load.settings)
}

/// The server's end, once the client has connected or shown where it is.
pub(super) fn accept(
    task: &Task,
    probe: &Probe,
    arm: Arm,
    flows: &DataFlows<'_>,
    basis: &Basis,
    watch: &Watch<'_>,
) -> Result<Option<Prepared>, TrialError> {
    let Some(load) = &probe.load else { return Ok(None) };
    Ok(Some(Prepared(match load.udp {
        None => Kind::Streams(streams::accept(task, load, arm, flows, watch)?),
        Some(udp) => {
            let plan = datagrams::Plan::new(task, probe, load, udp, arm);
            Kind::Datagrams(datagrams::accept(plan, flows, basis, watch)?)
        }
    })))
}

/// The service's socket of the family of a load over UDP, if no probe is answered over it: its
/// sources have sockets of their own.
pub(super) fn unread<'a>(
    task: &Task,
    probe: &Probe,
    arm: Arm,
    flows: &DataFlows<'a>,
) -> Option<Unread<'a>> {
    let load = probe.load.as_ref().filter(|load| load.udp.is_some())?;
    let arrives = |family| *task.arrives.get(family);
    let of_load = load.family_beside(family_of(task, arm));
    let is_probed = task.arms.iter().any(|probed| arrives(probed.family) == arrives(of_load));
    flows.datagram(task, of_load).ok().filter(|_| !is_probed).map(Unread::of)
}

/// Does `work` while the load moves, if there is one. A load that ends too early is an error at the
/// client; at the server it is how a load ends.
pub(super) fn beside(
    load: Option<Prepared>,
    watch: &Watch<'_>,
    is_client: bool,
    work: impl FnOnce() -> Result<(), Broken>,
) -> Result<Option<Loaded>, Broken> {
    match load.map(|Prepared(kind)| kind) {
        None => work().map(|()| None),
        Some(Kind::Streams(streams)) => {
            let (outcome, loaded) = streams.beside(watch, is_client, work)?;
            outcome.map(|()| Some(loaded))
        }
        Some(Kind::Datagrams(datagrams)) => datagrams.beside(watch, is_client, work).map(Some),
    }
}

/// In the middle of what a load ends too early.
const MOVING: &str = "keeping the load up";

/// No thread could be started for a stream of the load of `arm`.
fn no_thread(arm: Arm, error: io::Error) -> Broken {
    Broken::at(arm, "starting a thread for the load")(error.into())
}

/// Connections of a load, or sources of its datagrams.
fn connections(load: &Load) -> u16 {
    // At most 64, which the check of the task has seen.
    (load.streams as usize * load.ways().len()) as u16
}

/// The way of connection `number`, seen from the client.
fn way(load: &Load, number: u16) -> Direction {
    let index = usize::from(number) / load.streams.max(1) as usize;
    load.ways().get(index).copied().unwrap_or(Direction::Send)
}

/// Where the threads of a load run: if the measuring thread is held on a processor, they are held
/// on others as far as there are any.
struct Processors(Option<Vec<usize>>);

impl Processors {
    fn beside(held: Option<usize>) -> Self {
        let Some(held) = held else { return Processors(None) };
        let allowed = cpu::allowed().unwrap_or_default();
        let others: Vec<usize> = allowed.iter().copied().filter(|&cpu| cpu != held).collect();
        let all = if others.is_empty() { allowed } else { others };
        Processors((!all.is_empty()).then_some(all))
    }

    /// Holds this thread on the processor of stream `place`.
    fn take(&self, place: usize) {
        if let Some(all) = &self.0 {
            // A load moves wherever the system lets it.
            let _ = cpu::pin_thread(all[place % all.len()]);
        }
    }
}
