//! Who performs the two halves of each kind of workload.

use super::client::ClientContext;
use super::server::DataFlows;
use super::udp_bulk::{self, Aim, Reports};
use super::{TrialError, capacity, connect, echo, probe, tcp_bulk};
use v6gap_core::task::Task;
use v6gap_core::workload::{Impossible, Workload};

/// The client's half of `task`.
pub(super) fn client(task: &Task, context: &ClientContext) -> Reports {
    match &task.workload {
        Workload::Echo(workload) => echo::client(task, workload, context),
        Workload::TcpBulk(workload) => tcp_bulk::client(task, workload, context),
        Workload::UdpBulk(workload) => udp_bulk::client(task, workload, Aim::Transfer, context),
        Workload::Connect(workload) => connect::client(task, workload, context),
        Workload::Probe(workload) => probe::client(task, workload, context),
        Workload::Capacity(workload) => capacity::client(task, workload, context),
        Workload::Frames(workload) => {
            udp_bulk::client(task, &workload.stream(), Aim::Frames(workload), context)
        }
        Workload::Visit(_) | Workload::Lookup(_) => Err(of_strangers(task)),
    }
}

/// The server's half of `task`; calls `ready` once data flows may come.
pub(super) fn server(task: &Task, flows: &DataFlows<'_>, ready: impl FnOnce()) -> Reports {
    match &task.workload {
        Workload::Echo(workload) => echo::server(task, workload, flows, ready),
        Workload::TcpBulk(workload) => tcp_bulk::server(task, workload, flows, ready),
        Workload::UdpBulk(workload) => {
            udp_bulk::server(task, workload, Aim::Transfer, flows, ready)
        }
        Workload::Connect(workload) => connect::server(task, workload, flows, ready),
        Workload::Probe(workload) => probe::server(task, workload, flows, ready),
        Workload::Capacity(workload) => capacity::server(task, workload, flows, ready),
        Workload::Frames(workload) => {
            udp_bulk::server(task, &workload.stream(), Aim::Frames(workload), flows, ready)
        }
        Workload::Visit(_) | Workload::Lookup(_) => Err(of_strangers(task)),
    }
}

/// Tasks are refused that no server of ours takes part in ([`Task::check`]).
fn of_strangers(task: &Task) -> TrialError {
    TrialError::Unsuitable { number: task.number, why: Impossible::OF_STRANGERS }
}
