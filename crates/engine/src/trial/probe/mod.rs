//! Paced packets that come back: in slices of both arms, or under load one arm at a time.
//!
//! In slices, processor time and counters are those of the whole block and stand in the reports of
//! both arms.

mod course;
mod figures;
mod load;

use super::client::ClientContext;
use super::evidence::{Before, datagram_endpoints, datagram_granted};
use super::server::DataFlows;
use super::sockets::{Locals, Marked, datagram, give_back, payload};
use super::validation::{Basis, Unproved, gather_shared, prove};
use super::{TrialError, family};
use crate::hot::datagram_bulk::{self, Line};
use crate::hot::probe::{self as hot, ClientBuffers, ClientNotes, Clock, Manner, ServerNotes};
use crate::hot::{Broken, Cause, Watch};
use std::net::SocketAddr;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::observation::{EndReport, Granted, Measured, Probed, Returned};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_core::workload::{Impossible, Marking, Probe};
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, KernelTimes, SocketError};
use v6gap_sys::{Unavailable, clock};

/// Receive buffer asked for, in bytes, so that an end which is put aside for a moment loses nothing
/// that the network delivered.
const RECEIVE_BUFFER_BYTES: u32 = 1 << 20;

/// Longest time in which queues are let run empty, in ns.
const QUEUES_NS_MAX: u64 = 2_000_000_000;

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

pub(super) fn client(task: &Task, probe: &Probe, context: &ClientContext) -> Reports {
    let arms: Vec<Arm> = task.arms.iter().map(|a| a.arm).collect();
    let remote = |arm| context.remote(family(task, arm));
    let remotes: Vec<(Arm, SocketAddr)> =
        arms.iter().map(|&arm| Ok((arm, remote(arm)?))).collect::<Result<_, TrialError>>()?;
    let manner = manner(task, probe);
    let course = course::course(probe, &arms, task.order, task.seed);
    let silence_ns = context.timeout_ns.max(2 * probe.timeout_ns);
    let watch = Watch::silence(probe.wait, silence_ns + course::longest_gap_ns(&course));
    let mut buffers = ClientBuffers {
        message: payload(task, End::Client, probe.payload_bytes),
        back: Bytes::zeroed(probe.payload_bytes as usize + 1),
        expected: payload(task, End::Server, probe.payload_bytes),
    };
    let mut notes = PerArm::from_fn(|arm| match arms.contains(&arm) {
        true => ClientNotes::with_room(probe.packets_max()),
        false => ClientNotes::default(),
    });
    let broken = |b: Broken| {
        let arm = b.arm;
        let address = remotes.iter().find(|(of, _)| *of == arm).map(|(_, remote)| *remote);
        TrialError::of(b, family(task, arm), address)
    };
    let mut missing = Vec::new();
    let load = match arms.first() {
        Some(&arm) => load::connect(task, probe, arm, context)?,
        None => None,
    };
    let before = Before::look(context.processor());
    let asking = Asking { task, probe, context, remotes: &remotes };
    let sockets = asking.sockets(&mut missing)?;
    asking.knock(&sockets, &mut buffers.message, &watch, &mut missing).map_err(broken)?;
    let lead_ns = probe.load.as_ref().map_or(0, |load| load.lead_ns);
    let work = || {
        clock::rest(Duration::from_nanos(lead_ns));
        hot::client(&course, &manner, &sockets, &mut buffers, &mut notes, &watch)
    };
    let loaded = load::beside(load, &watch, true, work).map_err(broken)?;
    let block = before.report();
    if loaded.is_some() {
        empty_queues(&notes);
    }
    let report = |&(arm, remote): &(Arm, SocketAddr)| {
        let socket = sockets.get(arm).as_ref().expect("made above for each of these arms");
        let probed = Probed { load: loaded, ..figures::probed(probe, notes.get(arm)) };
        let mut missing = missing.clone();
        if probed.skipped > 0 {
            let skipped = probed.skipped;
            missing.push(format!("{skipped} probes in time: the sender was held up"));
        }
        let arrived = figures::arrived(&probed.back);
        let measured = Measured::Probed(Box::new(probed));
        let report = EndReport { measured, ..block.clone() };
        Ok((
            arm,
            told(socket, remote, arrived, &missing, report)
                .map_err(TrialError::socket(family(task, arm), Some(remote)))?,
        ))
    };
    remotes.iter().map(report).collect()
}

/// The client before the first probe.
struct Asking<'a> {
    task: &'a Task,
    probe: &'a Probe,
    context: &'a ClientContext,
    remotes: &'a [(Arm, SocketAddr)],
}

impl Asking<'_> {
    /// A socket for each arm, all of which have proved themselves.
    fn sockets(&self, missing: &mut Vec<String>) -> Result<PerArm<Option<Datagram>>, TrialError> {
        let Asking { task, probe, context, remotes } = *self;
        let mut sockets = PerArm { a: None, b: None };
        for &(arm, remote) in remotes {
            let mut locals = Locals::new(task, context, arm, family(task, arm), 1);
            let socket = datagram(remote, &probe.marking, &mut locals)?;
            prepare(&socket, probe, missing)
                .map_err(TrialError::socket(family(task, arm), Some(remote)))?;
            *sockets.get_mut(arm) = Some(socket);
        }
        let unproved = remotes.iter().filter_map(|&(arm, remote)| {
            let socket = sockets.get(arm).as_ref()?;
            Some(Unproved { arm, family: family(task, arm), remote, socket })
        });
        prove(task.token.tag(), &unproved.collect::<Vec<_>>(), context.timeout_ns)?;
        Ok(sockets)
    }

    /// Lets a packet as long as the others fill the caches of neighbours and routes.
    fn knock(
        &self,
        sockets: &PerArm<Option<Datagram>>,
        message: &mut [u8],
        watch: &Watch<'_>,
        missing: &mut Vec<String>,
    ) -> Result<(), Broken> {
        let tag = self.task.token.tag();
        for arm in Arm::BOTH {
            let Some(socket) = sockets.get(arm) else { continue };
            let flags = Flags::WARMUP;
            let header = Header { tag, sequence: 0, turn: 0, next: 0, arm, flags };
            let line = Line { socket, end: End::Client };
            datagram_bulk::knock(line, message, header, watch)?;
            if self.probe.kernel_times {
                note(socket.report_times(KernelTimes::Both), missing);
            }
        }
        Ok(())
    }
}

pub(super) fn server(
    task: &Task,
    probe: &Probe,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let manner = manner(task, probe);
    let sockets = service_sockets(task, flows)?;
    // Both arms come to one socket in a null block, and where one is translated into the other.
    let null = matches!(sockets[..], [(_, a), (_, b)] if std::ptr::eq(a, b));
    let second = sockets.get(1).filter(|_| !null).map(|&(_, socket)| socket);
    let first = sockets.first().ok_or(TrialError::Unsuitable {
        number: task.number,
        why: Impossible::Senseless("it has no arm"),
    })?;
    let has = |arm| sockets.iter().any(|(of, _)| *of == arm);
    let room = |arm| if has(arm) { probe.packets_max() } else { 0 };
    let mut notes = PerArm::from_fn(|arm| ServerNotes::with_room(room(arm)));
    // One byte more than a packet of the task has, so that a longer one is not taken for it.
    let mut buffer = Bytes::zeroed(probe.payload_bytes as usize + 1);
    let mut answer = payload(task, End::Server, probe.payload_bytes);
    let mut missing = Vec::new();
    let _lent = lend(task, probe, &sockets, &mut missing)?;
    let basis = Basis::new(task, flows)?;
    let sources = PerArm::from_fn(|arm| u16::from(has(arm)));
    let mut validation = basis.validation(flows, manner.tag, sources);
    // A socket that both arms share is marked once, or it would not get its own marks back.
    let _marked = marked(task, probe, if null { &sockets[..1] } else { &sockets[..] })?;
    let before = Before::look(flows.processor);
    let arms: Vec<Arm> = sockets.iter().map(|(arm, _)| *arm).collect();
    let watch = flows.watch(task, probe.wait);
    let quiet_ns = quiet_ns(task, probe, &arms);
    let watch = Watch { silence_ns: watch.silence_ns.saturating_add(quiet_ns), ..watch };
    let lent = load::lend(task, probe, first.0, flows);
    ready();
    let broken = |b: Broken| {
        let arm = b.arm;
        TrialError::of(b, family(task, arm), None)
    };
    let both = (first.1, second);
    let work = || {
        gather_shared(first.0, both, &mut validation, &watch)?;
        [Some(first.1), second].into_iter().flatten().for_each(|s| tell(s, probe, &mut missing));
        let memory = (&mut buffer[..], &mut answer[..]);
        hot::server(&manner, &mut validation, both, memory, &mut notes, &watch)
    };
    let outcome = load::accept(task, probe, first.0, flows, &basis, &watch).and_then(|load| {
        drop(lent);
        let _unread = load::unread(task, probe, first.0, flows);
        load::beside(load, &watch, false, work).map_err(broken)
    });
    let block = before.report();
    let loaded = outcome?;
    let report = |&(arm, socket): &(Arm, &Datagram)| {
        let notes = notes.get(arm);
        let family = family(task, arm);
        let silent = Broken { arm, operation: hot::PROBING, cause: Cause::Finished };
        let peer = notes.peer.ok_or_else(|| TrialError::of(silent, family, None))?;
        let returned = Returned { load: loaded, ..figures::returned(probe, notes) };
        let arrived = figures::arrived(&returned.there);
        let measured = Measured::Returned(Box::new(returned));
        let report = EndReport { measured, ..block.clone() };
        Ok((
            arm,
            told(socket, peer, arrived, &missing, report)
                .map_err(TrialError::socket(family, Some(peer)))?,
        ))
    };
    sockets.iter().map(report).collect()
}

/// Marks what these sockets send until the value is dropped.
fn marked<'a>(
    task: &Task,
    probe: &Probe,
    sockets: &[(Arm, &'a Datagram)],
) -> Result<Vec<Marked<'a>>, TrialError> {
    let mark = |&(arm, socket): &(Arm, &'a Datagram)| {
        let failed = TrialError::socket(family(task, arm), None);
        Marked::new(socket, &probe.marking).map_err(failed)
    };
    sockets.iter().map(mark).collect()
}

/// The service's socket of each arm.
fn service_sockets<'a>(
    task: &Task,
    flows: &DataFlows<'a>,
) -> Result<Vec<(Arm, &'a Datagram)>, TrialError> {
    let of = |arm: Arm| Ok((arm, flows.datagram(task, family(task, arm))?));
    task.arms.iter().map(|a| of(a.arm)).collect()
}

/// Adds to a report what a socket tells of itself, what its packets carried when they came, and
/// what the system could not tell.
fn told(
    socket: &Datagram,
    peer: SocketAddr,
    arrived: Option<Marking>,
    missing: &[String],
    mut report: EndReport,
) -> Result<EndReport, SocketError> {
    report.endpoints = Some(datagram_endpoints(socket, peer)?);
    report.granted = Granted { arrived, ..datagram_granted(socket)? };
    report.unavailable.extend_from_slice(missing);
    Ok(report)
}

/// Lets the queues that a load has filled run empty before the next trial.
fn empty_queues(notes: &PerArm<ClientNotes>) {
    let taken = |notes: &ClientNotes| {
        let trips = notes.back.iter().map(|back| {
            let sent = notes.sent.get(back.sequence as usize);
            sent.map_or(0, |sent| back.came_ns.saturating_sub(sent.sent_ns))
        });
        trips.max().unwrap_or(0)
    };
    let longest_ns = taken(&notes.a).max(taken(&notes.b));
    clock::rest(Duration::from_nanos(longest_ns.min(QUEUES_NS_MAX)));
}

fn manner(task: &Task, probe: &Probe) -> Manner {
    let clock = match probe.clock_error_ns {
        Some(_) => Clock::Wall,
        None => Clock::Monotonic,
    };
    let (interval_ns, timeout_ns) = (probe.interval_ns, probe.timeout_ns);
    Manner { tag: task.token.tag(), clock, interval_ns, timeout_ns }
}

/// For how long a client may say nothing beside its silence: between two packets, while it waits
/// for its last ones, or for a load before its first.
fn quiet_ns(task: &Task, probe: &Probe, arms: &[Arm]) -> u64 {
    let gap_ns = course::longest_gap_ns(&course::course(probe, arms, task.order, task.seed));
    let lead_ns = probe.load.as_ref().map_or(0, |load| load.lead_ns);
    gap_ns.saturating_add(probe.timeout_ns.max(lead_ns))
}

/// Sets up what both ends need of a socket; what the system cannot tell is noted in words.
fn prepare(socket: &Datagram, probe: &Probe, missing: &mut Vec<String>) -> Result<(), SocketError> {
    socket.set_nonblocking(true)?;
    // What is granted is read back afterwards.
    let _ = socket.set_receive_buffer(RECEIVE_BUFFER_BYTES);
    note(socket.report_marks(true), missing);
    if probe.kernel_times {
        note(socket.report_times(KernelTimes::Arrivals), missing);
    }
    Ok(())
}

/// Lets a socket of the service tell what its answers need: to which address each packet was sent,
/// without which the system chooses where they come from, and from here on when each left.
fn tell(socket: &Datagram, probe: &Probe, missing: &mut Vec<String>) {
    let _ = socket.report_local(true);
    if probe.kernel_times {
        note(socket.report_times(KernelTimes::Both), missing);
    }
}

/// Sets up the service's sockets for as long as the values live.
fn lend<'a>(
    task: &Task,
    probe: &Probe,
    sockets: &[(Arm, &'a Datagram)],
    missing: &mut Vec<String>,
) -> Result<Vec<Lent<'a>>, TrialError> {
    let lent = sockets.iter().map(|(_, socket)| Lent::of(socket)).collect();
    for &(arm, socket) in sockets {
        prepare(socket, probe, missing).map_err(TrialError::socket(family(task, arm), None))?;
    }
    Ok(lent)
}

/// A socket of the service until the value is dropped, which leaves it as other tasks expect it:
/// blocking, telling nothing besides, with the room that it had.
struct Lent<'a> {
    socket: &'a Datagram,
    room: Option<u32>,
}

impl<'a> Lent<'a> {
    fn of(socket: &'a Datagram) -> Self {
        Lent { socket, room: socket.receive_buffer().ok() }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let socket = self.socket;
        // What was never switched on cannot be switched off; the next task asks for what it needs.
        let _ = socket.report_marks(false);
        let _ = socket.report_local(false);
        let _ = socket.report_times(KernelTimes::Off);
        while let Ok(Some(_)) = socket.departed() {}
        let _ = socket.set_nonblocking(false);
        if let Some(room) = self.room {
            give_back(room, |bytes| socket.set_receive_buffer(bytes));
        }
    }
}

fn note(outcome: Result<(), Unavailable>, missing: &mut Vec<String>) {
    if let Err(error) = outcome {
        let text = error.to_string();
        if !missing.contains(&text) {
            missing.push(text);
        }
    }
}
