//! Request and answer in slices: both arms take turns on one thread at each end.
//!
//! Processor time and counters are those of the whole block and stand in the reports of both arms.

use super::client::ClientContext;
use super::evidence::{
    Before, datagram_endpoints, datagram_granted, stream_endpoints, stream_granted,
};
use super::server::DataFlows;
use super::sockets::{
    Locals, datagram, datagram_waits, introduced, payload, stream_options, stream_waits,
};
use super::times::times;
use super::{TrialError, family, flows};
use crate::hot::echo::{self as hot, Buffers};
use crate::hot::turns::{self, Turns};
use crate::hot::{Broken, Cause, Tally, Watch};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::observation::{EndReport, Endpoints, Granted, Measured};
use v6gap_core::task::Task;
use v6gap_core::workload::{Echo, Transport, Wait};
use v6gap_sys::socket::{Datagram, SocketError, Stream};

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;
type Proof = (Endpoints, Granted);

pub(super) fn client(task: &Task, echo: &Echo, context: &ClientContext) -> Reports {
    let turns = numbered(task, echo)?;
    let remotes = PerArm {
        a: context.remote(family(task, Arm::A))?,
        b: context.remote(family(task, Arm::B))?,
    };
    let watch = Watch::silence(echo.wait, context.timeout_ns);
    let out = payload(task, echo.message_bytes);
    let mut buffers = Buffers { back: vec![0; out.len()], out };
    let room = || Tally::with_room(echo.turns as usize, echo.turn_exchanges as usize);
    let mut tallies = PerArm::from_fn(|_| room());
    let tag = task.token.tag();
    let broken = |b: Broken| {
        let arm = b.arm;
        TrialError::of(b, family(task, arm), Some(*remotes.get(arm)))
    };
    let before = Before::look(context.processor);
    let mut locals =
        PerArm::from_fn(|arm| Locals::new(task, arm, family(task, arm), echo.connections));
    let connections = echo.connections as u16;
    let proofs = match echo.transport {
        Transport::Tcp => {
            let options = stream_options(&echo.settings);
            let connect = |arm: Arm, connection| {
                let remote = *remotes.get(arm);
                let locals = locals.get_mut(arm);
                let place = (arm, connection);
                introduced(task.token, place, remote, &options, context.timeout_ns, locals)
            };
            let streams = create(task, connections, connect)?;
            waits(task, &streams, |stream| stream_waits(stream, echo.wait))?;
            hot::stream_client(&turns, tag, &streams, &mut buffers, &mut tallies, &watch)
                .map_err(broken)?;
            let proofs = prove(task, &streams, stream_proof)?;
            waits(task, &streams, Stream::linger_zero)?;
            proofs
        }
        Transport::Udp => {
            let open = |arm: Arm, _| datagram(*remotes.get(arm), locals.get_mut(arm));
            let sockets = create(task, connections, open)?;
            waits(task, &sockets, |socket| datagram_waits(socket, echo.wait))?;
            hot::datagram_client(&turns, tag, &sockets, &mut buffers, &mut tallies, &watch)
                .map_err(broken)?;
            prove(task, &sockets, |socket| datagram_proof(socket, socket.peer()?))?
        }
    };
    let measured = tallies.map(|t| Measured::Times(times(&t.times_ns, &t.turn_ends, t.lost)));
    Ok(reports(&before.report(), measured, &proofs))
}

pub(super) fn server(
    task: &Task,
    echo: &Echo,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let turns = numbered(task, echo)?;
    let mut buffer = vec![0; echo.message_bytes as usize];
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, echo.wait);
    let tag = task.token.tag();
    let proofs = match echo.transport {
        Transport::Tcp => {
            ready();
            let streams = flows::collect(task, echo.connections as u16, flows, &watch)?;
            waits(task, &streams, |stream| stream_waits(stream, echo.wait))?;
            let proofs = prove(task, &streams, stream_proof)?;
            hot::stream_server(&turns, tag, &streams, &mut buffer, &watch).map_err(|b| {
                let arm = b.arm;
                TrialError::of(b, family(task, arm), Some(proofs.get(arm).0.peer))
            })?;
            proofs
        }
        Transport::Udp => {
            let sockets = PerArm {
                a: service_socket(task, Arm::A, flows)?,
                b: service_socket(task, Arm::B, flows)?,
            };
            let mut peers = PerArm { a: None, b: None };
            set_waits(task, &sockets, echo.wait)?;
            ready();
            let outcome =
                hot::datagram_server(&turns, tag, &sockets, &mut buffer, &mut peers, &watch);
            // They belong to the service, which goes on with blocking calls.
            set_waits(task, &sockets, Wait::Block)?;
            let error = |b: Broken| {
                let arm = b.arm;
                TrialError::of(b, family(task, arm), *peers.get(arm))
            };
            outcome.map_err(error)?;
            let proof = |arm: Arm| {
                let operation = "exchanging messages";
                let silent = Broken { arm, operation, cause: Cause::Finished };
                let peer = peers.get(arm).ok_or_else(|| error(silent))?;
                datagram_proof(sockets.get(arm), peer)
                    .map_err(TrialError::socket(family(task, arm), Some(peer)))
            };
            PerArm { a: proof(Arm::A)?, b: proof(Arm::B)? }
        }
    };
    let measured = PerArm::from_fn(|_| Measured::Nothing);
    Ok(reports(&before.report(), measured, &proofs))
}

fn numbered(task: &Task, echo: &Echo) -> Result<Turns, TrialError> {
    let why = "its turns cannot be numbered";
    Turns::new(task.order, echo).ok_or(TrialError::Unsuitable { number: task.number, why })
}

/// Sockets of both arms, made in balanced order.
fn create<S>(
    task: &Task,
    connections: u16,
    mut make: impl FnMut(Arm, u16) -> Result<S, TrialError>,
) -> Result<PerArm<Vec<S>>, TrialError> {
    let mut made = PerArm::from_fn(|_| Vec::with_capacity(usize::from(connections)));
    for (arm, connection) in turns::creation(task.order, connections) {
        made.get_mut(arm).push(make(arm, connection)?);
    }
    Ok(made)
}

/// Does the same with every socket.
fn waits<S>(
    task: &Task,
    sockets: &PerArm<Vec<S>>,
    set: impl Fn(&S) -> Result<(), SocketError>,
) -> Result<(), TrialError> {
    for arm in Arm::BOTH {
        sockets
            .get(arm)
            .iter()
            .try_for_each(&set)
            .map_err(TrialError::socket(family(task, arm), None))?;
    }
    Ok(())
}

/// The proof of family of the first socket of each arm; the others have the same addresses.
fn prove<S>(
    task: &Task,
    sockets: &PerArm<Vec<S>>,
    of: impl Fn(&S) -> Result<Proof, SocketError>,
) -> Result<PerArm<Proof>, TrialError> {
    let first = |arm| {
        let family = family(task, arm);
        let socket = sockets.get(arm).first();
        let socket = socket.ok_or(TrialError::Missing { family, what: "connection" })?;
        of(socket).map_err(TrialError::socket(family, None))
    };
    Ok(PerArm { a: first(Arm::A)?, b: first(Arm::B)? })
}

fn stream_proof(stream: &Stream) -> Result<Proof, SocketError> {
    Ok((stream_endpoints(stream)?, stream_granted(stream)?.0))
}

fn datagram_proof(socket: &Datagram, peer: std::net::SocketAddr) -> Result<Proof, SocketError> {
    Ok((datagram_endpoints(socket, peer)?, datagram_granted(socket)?))
}

fn service_socket<'a>(
    task: &Task,
    arm: Arm,
    flows: &DataFlows<'a>,
) -> Result<&'a Datagram, TrialError> {
    let family = family(task, arm);
    let missing = TrialError::Missing { family, what: "UDP socket" };
    flows.datagrams.get(family).as_ref().ok_or(missing)
}

fn set_waits(task: &Task, sockets: &PerArm<&Datagram>, wait: Wait) -> Result<(), TrialError> {
    for arm in Arm::BOTH {
        datagram_waits(sockets.get(arm), wait)
            .map_err(TrialError::socket(family(task, arm), None))?;
    }
    Ok(())
}

/// One report for each arm: the block's own, and what is the arm's.
fn reports(
    block: &EndReport,
    measured: PerArm<Measured>,
    proofs: &PerArm<Proof>,
) -> Vec<(Arm, EndReport)> {
    let report = |arm: Arm| {
        let (endpoints, granted) = proofs.get(arm).clone();
        let measured = measured.get(arm).clone();
        (arm, EndReport { measured, endpoints: Some(endpoints), granted, ..block.clone() })
    };
    Arm::BOTH.map(report).to_vec()
}
