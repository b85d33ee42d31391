//! UDP bulk transfer from the client to the server.

use super::client::ClientContext;
use super::evidence::{Before, datagram_endpoints, datagram_granted};
use super::server::DataFlows;
use super::sockets::{Locals, Marked, datagram, datagram_waits, payload};
use super::{TrialError, only_arm};
use crate::hot::datagram_bulk::{self as hot, Counted};
use crate::hot::sequence::Sequence;
use crate::hot::series::Series;
use crate::hot::{Broken, Cause, Watch};
use v6gap_core::arm::Arm;
use v6gap_core::observation::{EndReport, Measured, Received};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{UdpBulk, Wait};

/// Receive buffer asked for, in bytes, so that a receiver which is put aside for a moment loses
/// nothing that the network delivered.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

pub(super) fn client(task: &Task, bulk: &UdpBulk, context: &ClientContext) -> Reports {
    let (arm, family) = only_arm(task);
    let remote = context.remote(family)?;
    let failed = TrialError::socket(family, Some(remote));
    let broken = |b| TrialError::of(b, family, Some(remote));
    let watch = Watch::silence(Wait::Block, context.timeout_ns);
    let before = Before::look(context.processor);
    let mut message = payload(task, bulk.payload_bytes);
    let socket = datagram(remote, &bulk.marking, &mut Locals::new(task, arm, family, 1))?;
    socket.set_nonblocking(true).map_err(&failed)?;
    let mut header =
        Header { tag: task.token.tag(), sequence: 0, turn: 0, next: 0, arm, flags: Flags::WARMUP };
    // The answer also is what shows that the family carried something back to this end.
    hot::knock(&socket, &mut message, header, &watch).map_err(broken)?;
    header.flags = Flags::NONE;
    let outcome = hot::send(&socket, &mut message, header, bulk.rate_bps, bulk.duration_ns, &watch)
        .map_err(broken)?;
    header.flags = Flags::END;
    match hot::knock(&socket, &mut message, header, &watch) {
        // The server also ends when it is told over the control connection.
        Ok(()) | Err(Broken { cause: Cause::Silent, .. }) => {}
        Err(error) => return Err(broken(error)),
    }
    let endpoints = datagram_endpoints(&socket, remote).map_err(&failed)?;
    let granted = datagram_granted(&socket).map_err(&failed)?;
    let mut report = before.report();
    if outcome.skipped > 0 {
        let skipped = outcome.skipped;
        report.unavailable.push(format!("{skipped} datagrams in time: the sender was held up"));
    }
    let measured = Measured::Sent(outcome.sent);
    Ok(vec![(arm, EndReport { measured, endpoints: Some(endpoints), granted, ..report })])
}

pub(super) fn server(
    task: &Task,
    bulk: &UdpBulk,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let (arm, family) = only_arm(task);
    let missing = TrialError::Missing { family, what: "UDP socket" };
    let socket = flows.datagrams.get(family).as_ref().ok_or(missing)?;
    let failed = TrialError::socket(family, None);
    let mut counted = Counted {
        series: Series::new(bulk.duration_ns),
        sequence: Sequence::default(),
        peer: None,
    };
    // One byte more than a datagram of the task has, so that a longer one is not taken for it.
    let mut buffer = vec![0; bulk.payload_bytes as usize + 1];
    datagram_waits(socket, Wait::Block).map_err(&failed)?;
    let _marked = Marked::new(socket, &bulk.marking).map_err(&failed)?;
    // What is granted is read back below.
    let _ = socket.set_receive_buffer(RECEIVE_BUFFER_BYTES);
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, Wait::Block);
    ready();
    hot::receive(arm, socket, task.token.tag(), &mut buffer, &mut counted, &watch)
        .map_err(|b| TrialError::of(b, family, None))?;
    let silent = Broken { arm, operation: "receiving datagrams", cause: Cause::Finished };
    let peer = counted.peer.ok_or_else(|| TrialError::of(silent, family, None))?;
    let endpoints = datagram_endpoints(socket, peer).map_err(&failed)?;
    let granted = datagram_granted(socket).map_err(&failed)?;
    let received = Received {
        packets: counted.sequence.packets,
        duplicates: counted.sequence.duplicates,
        reordered: counted.sequence.reordered,
        ..counted.series.received(Some(bulk.warmup_ns), bulk.duration_ns)
    };
    let measured = Measured::Received(received);
    let report = EndReport { measured, endpoints: Some(endpoints), granted, ..before.report() };
    Ok(vec![(arm, report)])
}
