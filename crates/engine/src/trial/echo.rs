//! Request and answer in slices: both arms take turns on one thread at each end.
//!
//! Processor time and counters are those of the whole block and stand in the reports of both arms.

mod stack;

use super::client::{ClientContext, Reflector};
use super::evidence::{
    Before, Used, add_used, apart, datagram_endpoints, datagram_granted, stream_endpoints,
    stream_granted,
};
use super::server::DataFlows;
use super::sockets::{
    Buffered, Locals, Marked, accepted_options, datagram, datagram_waits, introduced, marks,
    payload, ping, ping_waits, set_buffers, stream_options, stream_waits,
};
use super::times::{exchanges, held, too_coarse};
use super::validation::{
    Basis, Place, Served, Unproved, Unread, gather_apart, gather_placed, prove as prove_sources,
};
use super::{TrialError, family, flows};
use crate::hot::echo::{self as hot, Buffers};
use crate::hot::reflected::{self, Reflected};
use crate::hot::turns::{self, Turns};
use crate::hot::window::{self, Window};
use crate::hot::{Broken, Cause, Tally, Watch, ping as hot_ping};
use crate::stamp::Sealer;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::observation::{EndReport, Endpoints, Granted, Measured};
use v6gap_core::session::validation::Validation;
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::End;
use v6gap_core::workload::{Echo, Impossible, Marking, Method, Transport, Wait};
use v6gap_sys::clock;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, ECHO_HEADER_BYTES, ECHO_ROOM_BYTES, SocketError, Stream};

/// The hop limit of packets to a reflector (RFC 8762 section 4.2.1): what is left of it on arrival
/// tells how many routers there were.
const REFLECTED_HOP_LIMIT: u8 = 255;

/// How often the server looks for the end of something that its kernel does.
const FINISH_LOOK: Duration = Duration::from_millis(2);

type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;
type Proof = (Endpoints, Granted);

pub(super) fn client(task: &Task, echo: &Echo, context: &ClientContext) -> Reports {
    let turns = numbered(task, echo)?;
    let remotes = PerArm {
        a: context.remote(family(task, Arm::A))?,
        b: context.remote(family(task, Arm::B))?,
    };
    let before = Before::look(context.processor());
    let ask = Asking {
        task,
        echo,
        context,
        remotes,
        turns,
        // Several requests on the way take sockets that return at once, whatever the waiting.
        wait: if echo.outstanding > 1 && echo.wait == Wait::Block {
            Wait::Yield
        } else {
            echo.wait
        },
        watch: Watch {
            asks: echo.outstanding > 1 && echo.wait == Wait::Block,
            ..Watch::silence(echo.wait, context.timeout_ns)
        },
    };
    let room = || Tally::with_room(echo.turns as usize, echo.turn_exchanges as usize);
    // A reflector tells for how long it held what was sent.
    let tells = context.reflector.is_some();
    let mut tallies = PerArm::from_fn(|_| if tells { room().with_held() } else { room() });
    let proofs = match echo.transport {
        _ if echo.method == Method::Stack => ask.in_one_thread(&mut tallies)?,
        Transport::Tcp => ask.over_streams(&mut tallies)?,
        Transport::Udp => match &context.reflector {
            Some(reflector) => ask.over_reflector(reflector, &mut tallies)?,
            None => ask.over_datagrams(&mut tallies)?,
        },
        Transport::Icmp => ask.over_pings(&mut tallies)?,
    };
    let block = before.report();
    let step_ns = clock::quality().step_ns;
    let coarse = too_coarse([&tallies.a, &tallies.b], echo, step_ns);
    let summaries = tallies.map(|tally| (exchanges(&tally, echo, coarse), held(&tally)));
    let mut reports = reports(&block, PerArm::from_fn(|_| Measured::Nothing), &proofs);
    for (arm, report) in &mut reports {
        let ((times, note), held) = summaries.get(*arm).clone();
        report.held = held;
        report.measured = Measured::Times(times);
        report.unavailable.extend(note);
    }
    Ok(reports)
}

/// The client's half of a block.
struct Asking<'a> {
    task: &'a Task,
    echo: &'a Echo,
    context: &'a ClientContext,
    remotes: PerArm<SocketAddr>,
    turns: Turns,
    wait: Wait,
    watch: Watch<'a>,
}

impl Asking<'_> {
    fn over_streams(&self, tallies: &mut PerArm<Tally>) -> Result<PerArm<Proof>, TrialError> {
        let (task, echo) = (self.task, self.echo);
        let options = stream_options(&echo.settings, &echo.marking);
        let mut locals = self.locals();
        let connect = |arm: Arm, connection| {
            let (remote, locals) = (*self.remotes.get(arm), locals.get_mut(arm));
            let timeout_ns = self.context.timeout_ns;
            introduced(task.token, (arm, connection), remote, &options, timeout_ns, locals)
        };
        let streams = create(task, echo.connections as u16, connect)?;
        waits(task, &streams, |stream| stream_waits(stream, self.wait))?;
        let (turns, tag, watch) = (&self.turns, task.token.tag(), &self.watch);
        let mut buffers = self.buffers(0, 0);
        let outcome = if echo.outstanding > 1 {
            let places = (&mut buffers, &mut Window::of(echo.outstanding, turns));
            window::stream_client(turns, tag, &streams, places, tallies, watch)
        } else {
            hot::stream_client(turns, tag, &streams, &mut buffers, tallies, watch)
        };
        outcome.map_err(|b| self.broken(b))?;
        let proofs = prove(task, &streams, |_, stream| stream_proof(stream))?;
        waits(task, &streams, Stream::linger_zero)?;
        Ok(proofs)
    }

    fn over_datagrams(&self, tallies: &mut PerArm<Tally>) -> Result<PerArm<Proof>, TrialError> {
        let (task, echo) = (self.task, self.echo);
        let mut locals = self.locals();
        let buffer = echo.settings.buffer_bytes;
        let open = |arm: Arm, _| {
            let remote = *self.remotes.get(arm);
            let socket = datagram(remote, &self.echo.marking, locals.get_mut(arm))?;
            let set = buffer.map_or(Ok(()), |bytes| set_buffers(&socket, bytes));
            set.map_err(TrialError::socket(family(task, arm), Some(remote)))?;
            Ok(socket)
        };
        let sockets = create(task, echo.connections as u16, open)?;
        let unproved = turns::creation(task.order, echo.connections as u16).map(|(arm, number)| {
            let socket = &sockets.get(arm)[usize::from(number)];
            Unproved { arm, family: family(task, arm), remote: *self.remotes.get(arm), socket }
        });
        let unproved: Vec<Unproved<'_>> = unproved.collect();
        prove_sources(task.token.tag(), &unproved, self.context.timeout_ns)?;
        waits(task, &sockets, |socket| datagram_waits(socket, self.wait))?;
        let (turns, tag, watch) = (&self.turns, task.token.tag(), &self.watch);
        let mut buffers = self.buffers(0, 0);
        let outcome = if echo.outstanding > 1 {
            let places = (&mut buffers, &mut Window::of(echo.outstanding, turns));
            window::datagram_client(turns, tag, &sockets, places, tallies, watch)
        } else {
            hot::datagram_client(turns, tag, &sockets, &mut buffers, tallies, watch)
        };
        outcome.map_err(|b| self.broken(b))?;
        prove(task, &sockets, |_, socket| datagram_proof(socket, socket.peer()?))
    }

    fn over_pings(&self, tallies: &mut PerArm<Tally>) -> Result<PerArm<Proof>, TrialError> {
        let (task, echo) = (self.task, self.echo);
        let open = |arm: Arm, _| {
            let remote = *self.remotes.get(arm);
            ping(task, self.context, (family(task, arm), remote), &echo.marking)
        };
        let sockets = create(task, echo.connections as u16, open)?;
        waits(task, &sockets, |socket| ping_waits(socket, self.wait))?;
        let mut buffers = self.buffers(ECHO_HEADER_BYTES, ECHO_ROOM_BYTES);
        hot_ping::client(
            &self.turns,
            task.token.tag(),
            &sockets,
            &mut buffers,
            tallies,
            &self.watch,
        )
        .map_err(|b| self.broken(b))?;
        prove(task, &sockets, |arm, socket| {
            datagram_proof(socket.as_datagram(), *self.remotes.get(arm))
        })
    }

    fn over_reflector(
        &self,
        reflector: &Reflector,
        tallies: &mut PerArm<Tally>,
    ) -> Result<PerArm<Proof>, TrialError> {
        let (task, echo) = (self.task, self.echo);
        let hop_limit = echo.marking.hop_limit.or(Some(REFLECTED_HOP_LIMIT));
        let marking = Marking { hop_limit, ..echo.marking };
        let mut locals = self.locals();
        let open = |arm: Arm, _| {
            let socket = datagram(*self.remotes.get(arm), &marking, locals.get_mut(arm))?;
            let sealer = reflector.key.as_ref().map(Sealer::new);
            Ok(Reflected { socket, sealer, pause_ns: reflector.pause_ns })
        };
        let sockets = create(task, echo.connections as u16, open)?;
        waits(task, &sockets, |reflected| datagram_waits(&reflected.socket, self.wait))?;
        let mut buffers = self.buffers(0, 0);
        let (turns, tag, watch) = (&self.turns, task.token.tag(), &self.watch);
        reflected::client(turns, tag, &sockets, &mut buffers, tallies, watch)
            .map_err(|b| self.broken(b))?;
        prove(task, &sockets, |arm, reflected| {
            datagram_proof(&reflected.socket, *self.remotes.get(arm))
        })
    }

    fn locals(&self) -> PerArm<Locals> {
        let connections = self.echo.connections;
        PerArm::from_fn(|arm| {
            Locals::new(self.task, self.context, arm, family(self.task, arm), connections)
        })
    }

    /// Messages with so many bytes before what is sent and more of them for what comes back.
    fn buffers(&self, before: usize, more: usize) -> Buffers {
        let message = payload(self.task, End::Client, self.echo.message_bytes);
        let mut out = Bytes::zeroed(before + message.len());
        out[before..].copy_from_slice(&message);
        let back = Bytes::zeroed(self.echo.answer_bytes() as usize + more);
        let expected = payload(self.task, End::Server, self.echo.answer_bytes());
        Buffers::new(out, back, expected)
    }

    fn broken(&self, broken: Broken) -> TrialError {
        let arm = broken.arm;
        TrialError::of(broken, family(self.task, arm), Some(*self.remotes.get(arm)))
    }
}

pub(super) fn server(
    task: &Task,
    echo: &Echo,
    flows: &DataFlows<'_>,
    ready: impl FnOnce(),
) -> Reports {
    let turns = numbered(task, echo)?;
    let mut request = Bytes::zeroed(echo.message_bytes as usize);
    let mut answer = payload(task, End::Server, echo.answer_bytes());
    let memory = (&mut request[..], &mut answer[..]);
    let before = Before::look(flows.processor);
    let watch = flows.watch(task, echo.wait);
    let tag = task.token.tag();
    let nothing = PerArm::from_fn(|_| Measured::Nothing);
    let (proofs, used) = match (echo.method, echo.transport) {
        (Method::Ends, Transport::Tcp) => {
            let asked = echo.settings.buffer_bytes;
            // The window that is offered first is chosen before a connection can be accepted; where
            // it cannot be, the buffers are set as soon as it is.
            let lend = |arm| {
                let listener = flows.listener(task, family(task, arm));
                asked.zip(listener).and_then(|(bytes, l)| l.lend_receive_buffer(bytes).ok())
            };
            // In a null block both arms have one listener, and the first loan has what was before:
            // it ends last, also where collecting fails.
            let first = lend(Arm::A);
            let second = lend(Arm::B);
            ready();
            let streams = flows::collect(task, echo.connections as u16, flows, &watch)?;
            drop(second);
            drop(first);
            if asked.is_some() {
                let options = accepted_options(&echo.settings);
                waits(task, &streams, |stream| stream.set_options(&options))?;
            }
            waits(task, &streams, |stream| stream_waits(stream, echo.wait))?;
            let proofs = prove(task, &streams, |_, stream| stream_proof(stream))?;
            let (outcome, used) =
                apart(|| hot::stream_server(&turns, tag, &streams, memory, &watch))
                    .map_err(TrialError::thread)?;
            outcome.map_err(|b| {
                let arm = b.arm;
                TrialError::of(b, family(task, arm), Some(proofs.get(arm).0.peer))
            })?;
            (proofs, used)
        }
        (Method::Ends, Transport::Udp) => {
            serve_datagrams(task, echo, flows, (&turns, memory), &watch, ready)?
        }
        (Method::Ends, Transport::Icmp) | (Method::Stack, _) => {
            ready();
            await_finish(task, &watch)?;
            // Nobody here answered: what the kernel counted is all that there is to say.
            let report = before.report();
            return Ok(Arm::BOTH.map(|arm| (arm, report.clone())).to_vec());
        }
    };
    let mut block = before.report();
    add_used(&mut block, &used);
    Ok(reports(&block, nothing, &proofs))
}

/// The server's half over the sockets of the service, which have their own settings again when it
/// is over.
fn serve_datagrams(
    task: &Task,
    echo: &Echo,
    flows: &DataFlows<'_>,
    (turns, memory): (&Turns, (&mut [u8], &mut [u8])),
    watch: &Watch<'_>,
    ready: impl FnOnce(),
) -> Result<(PerArm<Proof>, Used), TrialError> {
    let basis = Basis::new(task, flows)?;
    let sources = PerArm { a: echo.connections as u16, b: echo.connections as u16 };
    let mut validation = basis.validation(flows, task.token.tag(), sources);
    let services =
        PerArm { a: service_socket(task, Arm::A, flows)?, b: service_socket(task, Arm::B, flows)? };
    let marked = |arm: Arm| {
        Marked::new(services.get(arm), &echo.marking)
            .map_err(TrialError::socket(family(task, arm), None))
    };
    // In a null block both are one socket: the second is dropped first, and the first
    // leaves it as it was.
    let _first = marked(Arm::A)?;
    let _second = marked(Arm::B)?;
    let mut peers = PerArm { a: None, b: None };
    let buffered = |arm: Arm| {
        Buffered::new(services.get(arm), echo.settings.buffer_bytes)
            .map_err(TrialError::socket(family(task, arm), None))
    };
    let _first = (_first, buffered(Arm::A)?);
    let _second = (_second, buffered(Arm::B)?);
    set_waits(task, &services, Wait::Spin)?;
    ready();
    let own = gather(task, echo, &services, &mut validation, watch);
    // They belong to the service, which goes on with blocking calls, also where nobody came.
    set_waits(task, &services, Wait::Block)?;
    let own = own?;
    let placed = PerArm::from_fn(|arm| own.get(arm).as_ref().map(|place| &place.0));
    // Where one of the service's serves both arms, so does what is in its place.
    let is_one = std::ptr::eq(services.a, services.b);
    let second = placed.b.or(placed.a.filter(|_| is_one));
    let sockets = PerArm { a: placed.a.unwrap_or(services.a), b: second.unwrap_or(services.b) };
    let replaced = |arm: Arm| !std::ptr::eq(*sockets.get(arm), *services.get(arm));
    let _unread = PerArm::from_fn(|arm| replaced(arm).then(|| Unread::of(services.get(arm))));
    set_waits(task, &sockets, echo.wait)?;
    let served =
        apart(|| hot::datagram_server(turns, &mut validation, &sockets, memory, &mut peers, watch));
    set_waits(task, &services, Wait::Block)?;
    let (outcome, used) = served.map_err(TrialError::thread)?;
    Ok((service_proofs(task, &sockets, &peers, outcome)?, used))
}

/// Waits until all of the client's sockets have proved themselves. The service's do not block.
/// Returns what serves in their place.
///
/// In a null block both arms come to one socket of the service. Where the system lets ports be
/// shared each gets one of its own, as the arms of a comparison have: a bias of one socket against
/// another would be seen.
fn gather(
    task: &Task,
    echo: &Echo,
    services: &PerArm<&Datagram>,
    validation: &mut Validation<'_>,
    watch: &Watch<'_>,
) -> Result<PerArm<Option<Place>>, TrialError> {
    let first = (Arm::A, family(task, Arm::A));
    let prepare = |socket: &Datagram| {
        socket.mark(&marks(&echo.marking))?;
        echo.settings.buffer_bytes.map_or(Ok(()), |bytes| set_buffers(socket, bytes))
    };
    // Also where one family is translated into the other.
    let is_one = std::ptr::eq(services.a, services.b);
    if !is_one || echo.connections > 1 || !Datagram::can_be_apart() {
        let both = (services.a, Some(services.b).filter(|_| !is_one));
        let [a, b] = gather_placed(first, both, validation, prepare, watch)?;
        return Ok(PerArm { a, b });
    }
    let mut own = PerArm::default();
    for Served { arm, socket, .. } in gather_apart(first, services.a, validation, prepare, watch)? {
        *own.get_mut(arm) = Some(Place(socket));
    }
    Ok(own)
}

/// Waits until the client has done its part; this end has nothing to do in it.
fn await_finish(task: &Task, watch: &Watch<'_>) -> Result<(), TrialError> {
    while !watch.finish.load(Ordering::Relaxed) {
        let operation = "waiting for the end of the echoes";
        let family = family(task, Arm::A);
        if watch.abort.load(Ordering::Relaxed) {
            return Err(TrialError::Aborted { operation, family });
        }
        if clock::now_ns() >= watch.deadline_ns {
            let broken = Broken { arm: Arm::A, operation, cause: Cause::TooLong };
            return Err(TrialError::of(broken, family, None));
        }
        clock::rest(FINISH_LOOK);
    }
    Ok(())
}

fn service_proofs(
    task: &Task,
    sockets: &PerArm<&Datagram>,
    peers: &PerArm<Option<SocketAddr>>,
    outcome: Result<(), Broken>,
) -> Result<PerArm<Proof>, TrialError> {
    let error = |b: Broken| {
        let arm = b.arm;
        TrialError::of(b, family(task, arm), *peers.get(arm))
    };
    outcome.map_err(error)?;
    let proof = |arm: Arm| {
        let silent = Broken { arm, operation: hot::EXCHANGE, cause: Cause::Finished };
        let peer = peers.get(arm).ok_or_else(|| error(silent))?;
        datagram_proof(sockets.get(arm), peer)
            .map_err(TrialError::socket(family(task, arm), Some(peer)))
    };
    Ok(PerArm { a: proof(Arm::A)?, b: proof(Arm::B)? })
}

fn numbered(task: &Task, echo: &Echo) -> Result<Turns, TrialError> {
    let why = Impossible::Senseless("its turns cannot be numbered");
    let turns = Turns::new(task.order, echo);
    let families = PerArm::from_fn(|arm| family(task, arm));
    let turns = turns.map(|turns| turns.over(families, echo));
    turns.ok_or(TrialError::Unsuitable { number: task.number, why })
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
    of: impl Fn(Arm, &S) -> Result<Proof, SocketError>,
) -> Result<PerArm<Proof>, TrialError> {
    let first = |arm| {
        let family = family(task, arm);
        let socket = sockets.get(arm).first();
        let socket = socket.ok_or(TrialError::Missing { family, what: "connection" })?;
        of(arm, socket).map_err(TrialError::socket(family, None))
    };
    Ok(PerArm { a: first(Arm::A)?, b: first(Arm::B)? })
}

fn stream_proof(stream: &Stream) -> Result<Proof, SocketError> {
    Ok((stream_endpoints(stream)?, stream_granted(stream)?.0))
}

fn datagram_proof(socket: &Datagram, peer: SocketAddr) -> Result<Proof, SocketError> {
    Ok((datagram_endpoints(socket, peer)?, datagram_granted(socket)?))
}

fn service_socket<'a>(
    task: &Task,
    arm: Arm,
    flows: &DataFlows<'a>,
) -> Result<&'a Datagram, TrialError> {
    flows.datagram(task, family(task, arm))
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
