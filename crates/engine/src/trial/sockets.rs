//! The client's sockets: fresh source ports for every trial, connections that say what they are
//! for, and how they wait.
//!
//! New ports turn what hashing of ports does on the way (queues, multiple paths) from a bias into
//! noise that repetition shows (RFC 4814 section 4).

use super::TrialError;
use super::client::ClientContext;
use crate::hot::{TICK_NS, connect};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::net::SocketAddr;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::task::{Task, Token};
use v6gap_core::wire::datagram::End;
use v6gap_core::wire::preamble::Data;
use v6gap_core::workload::{Marking, StreamSettings, Wait};
use v6gap_sys::host;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, ErrorClass, Marks, Ping, SocketError, Stream, StreamOptions};

/// Source ports are drawn from here: above the registered services that servers listen on, below
/// the end of what Linux gives out by itself.
const PORTS: std::ops::Range<u16> = 20_000..61_000;

/// Ports drawn at most by one arm for each socket that it needs.
const DRAWS_PER_SOCKET: u32 = 16;

/// Streams of random numbers of one seed that are not used for ports: what the client sends and
/// what the server does.
const PAYLOAD_STREAMS: [u64; 2] = [2, 3];

/// Local addresses with seeded ports, different ones for the two arms.
#[derive(Debug)]
pub(super) struct Locals {
    rng: ChaCha12Rng,
    family: Family,
    address: SocketAddr,
    left: u32,
}

impl Locals {
    /// Enough addresses for `sockets` sockets of `arm`.
    pub(super) fn new(
        task: &Task,
        context: &ClientContext,
        arm: Arm,
        family: Family,
        sockets: u32,
    ) -> Self {
        let stream = match arm {
            Arm::A => 0,
            Arm::B => 1,
        };
        let left = sockets.saturating_add(8).saturating_mul(DRAWS_PER_SOCKET);
        let address = context.local(family);
        Locals { rng: generator(task.seed, stream), family, address, left }
    }

    /// From the address of `socket` from now on, which the system need not find out again.
    pub(super) fn stay_at(&mut self, socket: SocketAddr) {
        self.address = socket;
    }
}

impl Iterator for Locals {
    type Item = SocketAddr;

    fn next(&mut self) -> Option<SocketAddr> {
        self.left = self.left.checked_sub(1)?;
        let span = u32::from(PORTS.end - PORTS.start);
        // The remainder is below the span, so that the sum is a port.
        let port = PORTS.start + (self.rng.next_u32() % span) as u16;
        let mut local = self.address;
        local.set_port(port);
        Some(local)
    }
}

/// What messages of an end are filled with, which no device on the way can compress; a function of
/// the task's seed, so that the other end knows it.
pub(super) fn payload(task: &Task, from: End, bytes: u32) -> Bytes {
    let [client, server] = PAYLOAD_STREAMS;
    let stream = match from {
        End::Client => client,
        End::Server => server,
    };
    let mut payload = Bytes::zeroed(bytes as usize);
    generator(task.seed, stream).fill_bytes(&mut payload);
    payload
}

fn generator(seed: u64, stream: u64) -> ChaCha12Rng {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// The settings of a workload as options of its sockets.
pub fn stream_options(settings: &StreamSettings, marking: &Marking) -> StreamOptions {
    StreamOptions {
        no_delay: settings.no_delay,
        send_buffer: settings.buffer_bytes,
        receive_buffer: settings.buffer_bytes,
        congestion: settings.congestion.clone(),
        mss: settings.mss_bytes,
        marks: marks(marking),
    }
}

/// A marking as the sockets take it.
pub(super) fn marks(marking: &Marking) -> Marks {
    let Marking { traffic_class, hop_limit, flow_label, dont_fragment } = *marking;
    let dont_fragment = dont_fragment.then_some(true);
    Marks { traffic_class, hop_limit, flow_label, dont_fragment }
}

/// The marking that asks for these marks.
pub(super) fn marking(marks: Marks) -> Marking {
    let Marks { traffic_class, hop_limit, flow_label, dont_fragment } = marks;
    let dont_fragment = dont_fragment == Some(true);
    Marking { traffic_class, hop_limit, flow_label, dont_fragment }
}

/// A socket of the service that marks what it sends until the value is dropped.
pub(super) struct Marked<'a> {
    socket: &'a Datagram,
    before: Marks,
}

impl<'a> Marked<'a> {
    /// Marks what `socket` sends from now on; a flow label belongs to the client's packets.
    pub fn new(socket: &'a Datagram, marking: &Marking) -> Result<Self, SocketError> {
        let before = socket.marks()?;
        socket.mark(&marks(marking))?;
        Ok(Marked { socket, before })
    }
}

impl Drop for Marked<'_> {
    fn drop(&mut self) {
        // It was read from the same socket, so the system takes it.
        let _ = self.socket.mark(&self.before);
    }
}

/// A socket of the service with other buffers until the value is dropped.
pub(super) struct Buffered<'a> {
    socket: &'a Datagram,
    /// As the system counts them, send and receive.
    before: [u32; 2],
}

impl<'a> Buffered<'a> {
    /// Gives `socket` buffers of `bytes` from now on; none where none are asked for.
    pub fn new(socket: &'a Datagram, bytes: Option<u32>) -> Result<Option<Self>, SocketError> {
        let Some(bytes) = bytes else { return Ok(None) };
        let before = [socket.send_buffer()?, socket.receive_buffer()?];
        set_buffers(socket, bytes)?;
        Ok(Some(Buffered { socket, before }))
    }
}

impl Drop for Buffered<'_> {
    fn drop(&mut self) {
        let [send, receive] = self.before;
        give_back(send, |bytes| self.socket.set_send_buffer(bytes));
        give_back(receive, |bytes| self.socket.set_receive_buffer(bytes));
    }
}

/// Linux grants double what it is asked for, so half of what was there is asked for first.
pub(super) fn give_back(before: u32, set: impl Fn(u32) -> Result<u32, SocketError>) {
    // What a socket of the service had before, the system grants again.
    if set(before / 2).is_ok_and(|granted| granted < before) {
        let _ = set(before);
    }
}

/// Both buffers of a socket.
pub(super) fn set_buffers(socket: &Datagram, bytes: u32) -> Result<(), SocketError> {
    socket.set_send_buffer(bytes)?;
    socket.set_receive_buffer(bytes).map(|_| ())
}

/// What of them can still be set on a connection that was accepted: what bears on sending, and the
/// receive buffer if it could not be set before.
///
/// A congestion control that this host does not have at hand is not asked for: the name comes from
/// a client, and for a privileged process the kernel would load a module of that name.
pub(super) fn accepted_options(settings: &StreamSettings) -> StreamOptions {
    let congestion = congestion_at_hand(settings).cloned();
    StreamOptions { mss: None, congestion, ..stream_options(settings, &Marking::default()) }
}

/// The congestion control that is asked for, if this host has it at hand.
pub(super) fn congestion_at_hand(settings: &StreamSettings) -> Option<&String> {
    let named = settings.congestion.as_ref()?;
    let available = host::facts().congestion_available;
    available.is_none_or(|all| all.contains(named)).then_some(named)
}

/// A connection that has told the server its task, arm and number.
pub(super) fn introduced(
    token: Token,
    (arm, connection): (Arm, u16),
    remote: SocketAddr,
    options: &StreamOptions,
    timeout_ns: u64,
    locals: &mut Locals,
) -> Result<Stream, TrialError> {
    let family = locals.family;
    let failed = TrialError::socket(family, Some(remote));
    let (stream, _) = connect::next(remote, options, timeout_ns, locals).map_err(&failed)?;
    stream.write_all(&Data { token, arm, connection }.encode()).map_err(|source| {
        let operation = "introducing a connection";
        TrialError::Io { operation, family, address: Some(remote), source }
    })?;
    Ok(stream)
}

/// A UDP socket whose peer is `remote`.
pub(super) fn datagram(
    remote: SocketAddr,
    marking: &Marking,
    locals: &mut Locals,
) -> Result<Datagram, TrialError> {
    let family = locals.family;
    let failed = TrialError::socket(family, Some(remote));
    loop {
        let local =
            locals.next().ok_or(TrialError::Missing { family, what: "free source port" })?;
        match Datagram::bind(local) {
            Ok(socket) => {
                socket.connect_marked(remote, &marks(marking)).map_err(&failed)?;
                return Ok(socket);
            }
            Err(error) if error.class() == ErrorClass::AddressInUse => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// A socket for echoes with `remote`.
pub(super) fn ping(
    task: &Task,
    context: &ClientContext,
    (family, remote): (Family, SocketAddr),
    marking: &Marking,
) -> Result<Ping, TrialError> {
    // What the seed has to give for a field of 16 bits.
    let identifier = (task.seed >> 48) as u16;
    let failed = TrialError::socket(family, Some(remote));
    let socket = Ping::open(context.local(family), remote, identifier)
        .map_err(&failed)?
        .map_err(|missing| TrialError::Unavailable { family, missing })?;
    socket.as_datagram().mark(&marks(marking)).map_err(&failed)?;
    Ok(socket)
}

/// Makes reading and writing wait as the workload says, never longer than a tick in the kernel.
pub(super) fn stream_waits(stream: &Stream, wait: Wait) -> Result<(), SocketError> {
    stream.set_read_timeout(Some(TICK_NS))?;
    stream.set_write_timeout(Some(TICK_NS))?;
    stream.set_nonblocking(wait.polls())
}

/// As [`stream_waits`] for echoes.
pub(super) fn ping_waits(socket: &Ping, wait: Wait) -> Result<(), SocketError> {
    socket.set_read_timeout(Some(TICK_NS))?;
    socket.set_nonblocking(wait.polls())
}

/// As [`stream_waits`] for receiving datagrams.
pub(super) fn datagram_waits(socket: &Datagram, wait: Wait) -> Result<(), SocketError> {
    socket.set_read_timeout(Some(TICK_NS))?;
    socket.set_nonblocking(wait.polls())
}
