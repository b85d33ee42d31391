//! What a worker and its parent say to each other: a letter for the kind, JSON, and the sockets
//! that go along. Both are the same program, so that nothing here is a format.

use super::parent::Half;
use crate::hot::answer::Arrival;
use crate::trial::{ClientContext, Kind, TrialError};
use serde_json::{from_slice, to_vec};
use std::io;
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::session::access::Access;
use v6gap_core::task::Task;
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::preamble::Data;
use v6gap_sys::socket::{Datagram, Listener, Stream};
use v6gap_sys::worker::{Came, Conduit, Passed};

/// What both halves of a task report.
pub(super) type Reports = Vec<(Arm, EndReport)>;

/// What a worker is told.
pub(super) enum Told {
    /// Do the client's half.
    Measure(Box<(Task, ClientContext)>),
    /// Do the server's half.
    Serve(Box<Setup>),
    /// A data connection of the task at hand.
    Stream(Data, Stream),
    /// The client's half is over.
    Finish,
    /// Nobody wants the result any more.
    Abort,
}

/// What the server's half of a task is done with.
pub(super) struct Setup {
    pub task: Task,
    pub access: Access,
    pub processor: Option<usize>,
    pub limits: Limits,
    pub listeners: PerFamily<Option<Listener>>,
    pub datagrams: PerFamily<Option<Datagram>>,
}

/// What a worker tells.
pub(super) enum Tells {
    /// Data flows may come.
    Ready,
    /// A connection that it accepted is not the task's.
    Stranger(Arrival),
    /// The half is done.
    Done(Reports),
    /// The half failed.
    Failed(TrialError),
}

const MEASURE: u8 = b'm';
const SERVE: u8 = b's';
const STREAM: u8 = b'c';
const FINISH: u8 = b'f';
const ABORT: u8 = b'a';
const READY: u8 = b'r';
const STRANGER: u8 = b'x';
const DONE: u8 = b'd';
const FAILED: u8 = b'e';

/// A frame of this kind.
fn send(
    conduit: &Conduit,
    kind: u8,
    body: serde_json::Result<Vec<u8>>,
    sockets: &[Passed<'_>],
) -> io::Result<()> {
    let mut frame = vec![kind];
    frame.extend(body?);
    conduit.send(&frame, sockets)
}

/// Has a worker do the client's half.
pub(super) fn measure(conduit: &Conduit, task: &Task, context: &ClientContext) -> io::Result<()> {
    // Reflectors are spoken to without workers.
    let ClientContext { server, processors, timeout_ns, local, limits, reflector: _, far } =
        context;
    let body = to_vec(&(task, server, processors, timeout_ns, local, limits, far.is_some()));
    let along: Vec<Passed<'_>> = far.iter().map(Passed::Network).collect();
    send(conduit, MEASURE, body, &along)
}

/// Has a worker do the server's half.
pub(super) fn serve(conduit: &Conduit, half: &Half<'_>) -> io::Result<()> {
    let Half { task, access, processor, limits, listeners, datagrams, strangers: _ } = half;
    let (near, listed) = match access {
        Access::Anyone => (false, None),
        Access::Near => (true, None),
        Access::Listed(prefixes) => {
            (false, Some(prefixes.iter().map(|prefix| prefix.parts()).collect::<Vec<_>>()))
        }
    };
    let has = Family::BOTH
        .map(|family| (listeners.get(family).is_some(), datagrams.get(family).is_some()));
    let body = to_vec(&(task, near, listed, processor, limits, has));
    let mut sockets = Vec::new();
    for family in Family::BOTH {
        sockets.extend(listeners.get(family).as_ref().map(Passed::Listener));
        sockets.extend(datagrams.get(family).as_ref().map(Passed::Datagram));
    }
    send(conduit, SERVE, body, &sockets)
}

/// Hands a worker a data connection.
pub(super) fn stream(conduit: &Conduit, data: &Data, stream: &Stream) -> io::Result<()> {
    let body = to_vec(&(data.token, data.arm, data.connection));
    send(conduit, STREAM, body, &[Passed::Stream(stream)])
}

/// Tells a worker that the client's half is over.
pub(super) fn finish(conduit: &Conduit) -> io::Result<()> {
    send(conduit, FINISH, Ok(Vec::new()), &[])
}

/// Tells a worker that nobody wants the result any more.
pub(super) fn abort(conduit: &Conduit) -> io::Result<()> {
    send(conduit, ABORT, Ok(Vec::new()), &[])
}

/// Tells that data flows may come.
pub(super) fn ready(conduit: &Conduit) -> io::Result<()> {
    send(conduit, READY, Ok(Vec::new()), &[])
}

/// Passes a connection on that is not the task's.
pub(super) fn stranger(conduit: &Conduit, arrival: &Arrival) -> io::Result<()> {
    let body = to_vec(&(arrival.peer, arrival.said()));
    send(conduit, STRANGER, body, &[Passed::Stream(&arrival.stream)])
}

/// Tells how the half ended.
pub(super) fn ended(conduit: &Conduit, outcome: &Result<Reports, TrialError>) -> io::Result<()> {
    match outcome {
        Ok(reports) => send(conduit, DONE, to_vec(reports), &[]),
        Err(error) => {
            let told = (error.kind().word(), error.family(), error.address(), error.to_string());
            send(conduit, FAILED, to_vec(&told), &[])
        }
    }
}

/// What a worker is told, or `None` if it is nothing of the kind.
pub(super) fn told(frame: &[u8], sockets: Vec<Came>) -> Option<Told> {
    let (kind, body) = frame.split_first()?;
    let mut sockets = sockets.into_iter();
    let told = match *kind {
        MEASURE => {
            let (task, server, processors, timeout_ns, local, limits, has_far) =
                from_slice(body).ok()?;
            let far = if has_far { Some(sockets.next()?.network()) } else { None };
            let reflector = None;
            let context =
                ClientContext { server, processors, timeout_ns, local, limits, reflector, far };
            Told::Measure(Box::new((task, context)))
        }
        SERVE => {
            let (task, near, listed, processor, limits, has) = from_slice(body).ok()?;
            let listed: Option<Vec<_>> = listed;
            let access = match listed {
                Some(prefixes) => {
                    let prefixes = prefixes.into_iter().map(|(address, bits)| {
                        v6gap_core::session::access::Prefix::new(address, bits)
                    });
                    Access::Listed(prefixes.collect::<Option<_>>()?)
                }
                None if near => Access::Near,
                None => Access::Anyone,
            };
            let (mut listeners, mut datagrams) = (PerFamily::default(), PerFamily::default());
            let has: [(bool, bool); 2] = has;
            for (family, (listener, datagram)) in Family::BOTH.into_iter().zip(has) {
                if listener {
                    *listeners.get_mut(family) = Some(sockets.next()?.listener());
                }
                if datagram {
                    *datagrams.get_mut(family) = Some(sockets.next()?.datagram());
                }
            }
            Told::Serve(Box::new(Setup { task, access, processor, limits, listeners, datagrams }))
        }
        STREAM => {
            let (token, arm, connection) = from_slice(body).ok()?;
            Told::Stream(Data { token, arm, connection }, sockets.next()?.stream())
        }
        FINISH if body.is_empty() => Told::Finish,
        ABORT if body.is_empty() => Told::Abort,
        _ => return None,
    };
    sockets.next().is_none().then_some(told)
}

/// What a worker tells, or `None` if it is nothing of the kind.
pub(super) fn tells(frame: &[u8], sockets: Vec<Came>) -> Option<Tells> {
    let (kind, body) = frame.split_first()?;
    let mut sockets = sockets.into_iter();
    let tells = match *kind {
        READY if body.is_empty() => Tells::Ready,
        STRANGER => {
            let (peer, said): (_, Vec<u8>) = from_slice(body).ok()?;
            Tells::Stranger(Arrival::having_said(sockets.next()?.stream(), peer, &said))
        }
        DONE => Tells::Done(from_slice(body).ok()?),
        FAILED => {
            let (word, family, address, why): (String, _, _, _) = from_slice(body).ok()?;
            let kind = Kind::of_word(&word)?;
            Tells::Failed(TrialError::Told { kind, family, address, why })
        }
        _ => return None,
    };
    sockets.next().is_none().then_some(tells)
}
