//! Address validation of the sources of a task: all sockets of the client side by side, and the
//! server's wait for them. What is said and when is decided by [`v6gap_core::session::validation`].

use super::TrialError;
use super::server::DataFlows;
use crate::hot::{Broken, Cause, TICK_NS, Watch};
use std::net::{IpAddr, SocketAddr};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::validation::{
    Handling, Own, PATIENCE_NS_MAX, PROOF, Proving, Silent, Validation,
};
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{End, HEADER_BYTES, Header};
use v6gap_core::workload::Impossible;
use v6gap_sys::socket::{
    Arrived, Datagram, ErrorClass, Interest, SocketError, wait_any, wait_either,
};
use v6gap_sys::{clock, interface};

/// Room for a message: a byte more than it has, so that a longer one is not taken for it.
const ROOM_BYTES: usize = HEADER_BYTES + 1;

/// Messages that are taken from one socket before others are looked at.
const ROW_MAX: u32 = 64;

/// Most stray datagrams that are thrown away at a time; a flood must not hold a task up.
const STRAYS_MAX: u32 = 10_000;

const WAITING: &str = "waiting for sources to prove themselves";

/// A socket of the client that is to prove itself.
pub(super) struct Unproved<'a> {
    /// Arm of the socket.
    pub arm: Arm,
    /// Family of the socket.
    pub family: Family,
    /// The server.
    pub remote: SocketAddr,
    /// The socket, whose peer is the server.
    pub socket: &'a Datagram,
}

/// Lets all `sockets` of the task of `tag` prove themselves, in at most `patience_ns` or
/// [`PATIENCE_NS_MAX`]. Afterwards they do not block.
pub(super) fn prove(
    tag: [u8; 8],
    sockets: &[Unproved<'_>],
    patience_ns: u64,
) -> Result<(), TrialError> {
    for Unproved { family, remote, socket, .. } in sockets {
        let failed = TrialError::socket(*family, Some(*remote));
        socket.set_nonblocking(true).map_err(failed)?;
    }
    let start_ns = clock::now_ns();
    let arms = sockets.iter().map(|socket| socket.arm);
    let mut proving = Proving::new(tag, arms, start_ns, patience_ns);
    let mut troubles: Vec<Option<std::io::Error>> = sockets.iter().map(|_| None).collect();
    loop {
        let now_ns = clock::now_ns();
        while let Some((number, message)) = proving.poll(now_ns) {
            match sockets[number].socket.send(&message) {
                Err(error) if !ErrorClass::of(&error).is_timeout() => {
                    troubles[number] = Some(error);
                }
                _ => {}
            }
        }
        match proving.is_complete(now_ns) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(Silent(number)) => {
                let (Unproved { family, remote, .. }, why) =
                    (&sockets[number], troubles[number].take());
                let patience_ns = patience_ns.min(PATIENCE_NS_MAX);
                return Err(TrialError::Blocked {
                    family: *family,
                    address: *remote,
                    patience_ms: patience_ns / 1_000_000,
                    why: why.map(|error| error.to_string()),
                });
            }
        }
        let awaited: Vec<usize> = (0..sockets.len()).filter(|&n| proving.awaits(n)).collect();
        let interests: Vec<Interest<'_>> =
            awaited.iter().map(|&n| Interest::Receive(sockets[n].socket)).collect();
        let Some(first) = awaited.first().map(|&n| &sockets[n]) else { continue };
        let ready =
            wait_any(&interests, proving.deadline().saturating_sub(now_ns)).map_err(|e| {
                let (operation, family) = ("proving a source address", first.family);
                TrialError::Io { operation, family, address: Some(first.remote), source: e }
            })?;
        for (number, _) in awaited.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            let heard = hear(&mut proving, number, sockets[number].socket);
            troubles[number] = heard.err().or(troubles[number].take());
        }
    }
}

/// Takes what is at socket `number` as long as it waits for something: what comes behind that is of
/// the task.
fn hear(proving: &mut Proving, number: usize, socket: &Datagram) -> std::io::Result<()> {
    let (now_ns, mut buffer) = (clock::now_ns(), [0; ROOM_BYTES]);
    let mut row = 0..ROW_MAX;
    while proving.awaits(number) && row.next().is_some() {
        match socket.recv(&mut buffer) {
            Ok(count) => proving.on_message(number, &buffer[..count.min(ROOM_BYTES)], now_ns),
            Err(error) if ErrorClass::of(&error).is_timeout() => break,
            // Windows reports a datagram longer than the buffer as an error.
            Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => {}
            // A host on the way may say no and another try may still get through.
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What the server validates the sources of one task with.
pub(super) struct Basis {
    secret: [u8; 16],
    addresses: Option<Vec<IpAddr>>,
    ports: PerFamily<u16>,
}

impl Basis {
    /// A new secret, and where the server is.
    pub(super) fn new(task: &Task, flows: &DataFlows<'_>) -> Result<Self, TrialError> {
        let why = Impossible::Senseless("the system has no random bytes");
        let number = task.number;
        let secret =
            v6gap_sys::entropy::bytes().map_err(|_| TrialError::Unsuitable { number, why })?;
        let mut addresses = Vec::new();
        let mut ports = PerFamily::default();
        for family in Family::BOTH {
            let Some(socket) = flows.datagrams.get(family) else { continue };
            let local = socket.local().map_err(TrialError::socket(family, None))?;
            *ports.get_mut(family) = local.port();
            addresses.push(local.ip());
        }
        // Where it listens on all of its addresses, they have to be known one by one.
        let addresses = match addresses.iter().any(IpAddr::is_unspecified) {
            true => interface::addresses().ok(),
            false => Some(addresses),
        };
        Ok(Basis { secret, addresses, ports })
    }

    /// For the datagrams of `tag`, of so many sources in each arm.
    pub(super) fn validation<'a>(
        &'a self,
        flows: &DataFlows<'a>,
        tag: [u8; 8],
        sources: PerArm<u16>,
    ) -> Validation<'a> {
        let own = Own { addresses: self.addresses.as_deref(), ports: self.ports };
        Validation::new(tag, &self.secret, flows.access, own, sources)
    }
}

/// A source that has a socket of the service's port for itself.
pub(super) struct Served {
    /// Its arm.
    pub arm: Arm,
    /// Its address.
    pub source: SocketAddr,
    /// The socket, whose peer it is.
    pub socket: Datagram,
}

/// The service's sockets that the sources of a task speak to: one, or one of each family.
pub(super) type Services<'a> = (&'a Datagram, Option<&'a Datagram>);

/// A socket on the port of the service that serves in its place. Threads that measure have tables
/// of open files of their own, so that it may live on when it is dropped; nothing comes to it then.
pub(super) struct Place(pub Datagram);

/// A socket of the service that nobody reads until the value is dropped, since others serve in its
/// place: what strangers send to it must not fill its buffer, which would count as this host's
/// drops (`Udp.RcvbufErrors`).
pub(super) struct Unread<'a>(&'a Datagram);

impl<'a> Unread<'a> {
    /// Where the system cannot throw away what comes, it counts.
    pub fn of(service: &'a Datagram) -> Self {
        let _ = service.keep_nothing(true);
        Unread(service)
    }
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        let _ = self.0.keep_nothing(false);
    }
}

/// Throws away what came to a socket that does not block, before it is of the task.
pub(crate) fn discard_strays(socket: &Datagram) {
    let mut strays = 0..STRAYS_MAX;
    while strays.next().is_some() && socket.recv(&mut [0; ROOM_BYTES]).is_ok() {}
}

/// The port of "discard" (RFC 863), from which no source of a task speaks.
const DISCARD: u16 = 9;

impl Drop for Place {
    fn drop(&mut self) {
        if let Ok(mut local) = self.0.local() {
            local.set_port(DISCARD);
            let _ = self.0.connect(local);
        }
    }
}

/// Waits until all sources of the task have proved themselves, which then are served by the
/// `services` themselves. The services do not block.
pub(super) fn gather_shared(
    arm: Arm,
    services: Services<'_>,
    validation: &mut Validation<'_>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    gather(arm, services, validation, &mut Shared, watch)
}

/// As [`gather_shared`]; but in place of services that are on all addresses of this host, sockets
/// on the ones that the sources speak to serve them, set up by `prepare`: they answer from there,
/// where the system would choose, another one perhaps and for IPv6 at a price. None are made if one
/// cannot be had, so that the families stay alike. Neither they nor the services block.
pub(super) fn gather_placed(
    (arm, family): (Arm, Family),
    services: Services<'_>,
    validation: &mut Validation<'_>,
    prepare: impl Fn(&Datagram) -> Result<(), SocketError>,
    watch: &Watch<'_>,
) -> Result<[Option<Place>; 2], TrialError> {
    let mut placed =
        Placed { family, services, met: Default::default(), prepare, made: [None, None] };
    gather(arm, services, validation, &mut placed, watch)?;
    Ok(placed.made)
}

/// Waits until as many sources as the task has in one arm have proved themselves, and makes each a
/// socket of its own on the port of the `service`, whose peer it is: that the source no longer
/// listens ends what is sent to it, and nobody else is heard. `prepare` sets the socket up before
/// its source is answered. Afterwards neither these sockets nor the service block.
pub(super) fn gather_apart(
    (arm, family): (Arm, Family),
    service: &Datagram,
    validation: &mut Validation<'_>,
    prepare: impl Fn(&Datagram) -> Result<(), SocketError>,
    watch: &Watch<'_>,
) -> Result<Vec<Served>, TrialError> {
    service.set_nonblocking(true).map_err(TrialError::socket(family, None))?;
    let mut apart = Apart { family, tag: validation.tag(), prepare, made: Vec::new() };
    gather(arm, (service, None), validation, &mut apart, watch)?;
    Ok(apart.made)
}

/// The services tell to which address each datagram was sent, until the value is dropped; where the
/// system does not let them, it chooses from which they are answered.
struct Told<'a>(Services<'a>);

impl<'a> Told<'a> {
    fn of(services: Services<'a>) -> Self {
        let told = Told(services);
        told.report(true);
        told
    }

    fn report(&self, on: bool) {
        for service in [Some(self.0.0), self.0.1].into_iter().flatten() {
            let _ = service.report_local(on);
        }
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.report(false);
    }
}

/// A source that has just proved itself.
struct Proved<'a> {
    /// The socket of the service that it spoke to.
    service: &'a Datagram,
    /// Arm of the source.
    arm: Arm,
    /// What it said, and where.
    arrived: &'a Arrived,
    /// Whether it is the last one: what comes next is of the task.
    last: bool,
    /// Bytes that answer the source.
    answer: [u8; HEADER_BYTES],
}

/// What becomes of sources that have proved themselves.
trait Accepting {
    type Error;

    /// Takes a source and answers it.
    fn accept(&mut self, proved: &Proved<'_>) -> Result<(), Self::Error>;

    /// Answers again those that missed it. To be called only while others are missing: what else
    /// they send is lost, and they send it when all have been answered.
    fn again(&self);

    /// The error of what broke.
    fn failed(&self, broken: Broken) -> Self::Error;
}

/// They are served by the service's socket.
struct Shared;

impl Accepting for Shared {
    type Error = Broken;

    fn accept(&mut self, proved: &Proved<'_>) -> Result<(), Broken> {
        // As good as lost on the way if it cannot be sent; it is asked for again.
        let _ = proved.service.answer(&proved.answer, proved.arrived);
        Ok(())
    }

    fn again(&self) {}

    fn failed(&self, broken: Broken) -> Broken {
        broken
    }
}

/// They are served by sockets in place of the services, made before the last one is answered, which
/// nobody sends anything of the task before.
struct Placed<'a, F> {
    family: Family,
    services: Services<'a>,
    /// The addresses of this host that sources spoke to, by service.
    met: [Vec<SocketAddr>; 2],
    prepare: F,
    made: [Option<Place>; 2],
}

impl<F: Fn(&Datagram) -> Result<(), SocketError>> Placed<'_, F> {
    fn place_of(&self, service: &Datagram) -> usize {
        usize::from(!std::ptr::eq(service, self.services.0))
    }

    /// Makes what is needed, or nothing. Errors come with the family of their service.
    fn make(&mut self) -> Result<(), (Family, SocketError)> {
        let mut made = [None, None];
        for service in [Some(self.services.0), self.services.1].into_iter().flatten() {
            let own = service.local().map_err(|error| (self.family, error))?.ip();
            let family = Family::of(&own).unwrap_or(self.family);
            if !own.is_unspecified() {
                continue;
            }
            let place = self.place_of(service);
            let [at] = self.met[place][..] else { return Ok(()) };
            let socket = match service.at(at) {
                Ok(Ok(socket)) => socket,
                // What came to many, or to an address that the system lets no socket have.
                Err(error) if error.class() == ErrorClass::AddressUnavailable => return Ok(()),
                Ok(Err(_)) => return Ok(()),
                Err(error) => return Err((family, error)),
            };
            let prepared = socket.set_nonblocking(true).and_then(|()| (self.prepare)(&socket));
            prepared.map_err(|error| (family, error))?;
            made[place] = Some(Place(socket));
        }
        self.made = made;
        Ok(())
    }
}

impl<F: Fn(&Datagram) -> Result<(), SocketError>> Accepting for Placed<'_, F> {
    type Error = TrialError;

    fn accept(&mut self, proved: &Proved<'_>) -> Result<(), TrialError> {
        let (place, arrived) = (self.place_of(proved.service), proved.arrived);
        let met = &mut self.met[place];
        met.extend(arrived.place().filter(|at| !met.contains(at)));
        if proved.last {
            self.make().map_err(|(family, error)| TrialError::socket(family, None)(error))?;
        }
        // As good as lost on the way if it cannot be sent; it is asked for again.
        let _ = proved.service.answer(&proved.answer, arrived);
        Ok(())
    }

    fn again(&self) {}

    fn failed(&self, broken: Broken) -> TrialError {
        TrialError::of(broken, self.family, None)
    }
}

/// Each is served by a socket of its own.
struct Apart<F> {
    family: Family,
    tag: [u8; 8],
    prepare: F,
    made: Vec<Served>,
}

impl<F: Fn(&Datagram) -> Result<(), SocketError>> Accepting for Apart<F> {
    type Error = TrialError;

    fn accept(&mut self, proved: &Proved<'_>) -> Result<(), TrialError> {
        let (family, &Proved { arm, arrived, .. }) = (self.family, proved);
        let source = arrived.source;
        let failed = TrialError::socket(family, Some(source));
        let socket = (proved.service)
            .apart_for(source, arrived.place())
            .map_err(&failed)?
            .map_err(|missing| TrialError::Unavailable { family, missing })?;
        socket.set_nonblocking(true).and_then(|()| (self.prepare)(&socket)).map_err(&failed)?;
        // Until it had its peer, the socket got whatever came to the port.
        discard_strays(&socket);
        // As good as lost on the way if it cannot be sent; it is asked for again.
        let _ = socket.send(&proved.answer);
        self.made.push(Served { arm, source, socket });
        Ok(())
    }

    fn again(&self) {
        for Served { socket, .. } in &self.made {
            let mut buffer = [0; ROOM_BYTES];
            for _ in 0..ROW_MAX {
                let Ok(count) = socket.recv(&mut buffer) else { break };
                let heard = End::Server.heard(&buffer[..count.min(ROOM_BYTES)], self.tag);
                if let Some(header) = heard.filter(|header| header.flags == PROOF) {
                    let flags = End::Server.says(header.flags);
                    let _ = socket.send(&Header { flags, ..header }.alone());
                }
            }
        }
    }

    fn failed(&self, broken: Broken) -> TrialError {
        TrialError::of(broken, self.family, None)
    }
}

/// Waits until all sources of the task have proved themselves. Errors are named after `arm`.
/// Sources are answered from the address that they spoke to, where the system tells it.
fn gather<A: Accepting>(
    arm: Arm,
    services: Services<'_>,
    validation: &mut Validation<'_>,
    accepting: &mut A,
    watch: &Watch<'_>,
) -> Result<(), A::Error> {
    let _told = Told::of(services);
    let broken = |cause| Broken { arm, operation: WAITING, cause };
    let (first, second) = services;
    let mut quiet = None;
    while !validation.is_complete() {
        let ready =
            wait_either(first, second, TICK_NS).map_err(|e| accepting.failed(broken(e.into())))?;
        let before = (validation.proved(Arm::A), validation.proved(Arm::B));
        for (service, ready) in [Some(first), second].into_iter().zip(ready) {
            let Some(service) = service.filter(|_| ready) else { continue };
            row(service, validation, accepting, &broken)?;
        }
        if !validation.is_complete() {
            accepting.again();
        }
        // Who proves nothing is as good as nobody: he must not keep the task going.
        if before != (validation.proved(Arm::A), validation.proved(Arm::B)) {
            quiet = None;
        }
        watch.idle(&mut quiet).map_err(|cause| accepting.failed(broken(cause)))?;
    }
    Ok(())
}

/// Takes what is at one socket of the service, so much that others have their turn, and nothing
/// behind the last proof: it is of the task.
fn row<A: Accepting>(
    service: &Datagram,
    validation: &mut Validation<'_>,
    accepting: &mut A,
    broken: &impl Fn(Cause) -> Broken,
) -> Result<(), A::Error> {
    for _ in 0..ROW_MAX {
        let mut buffer = [0; ROOM_BYTES];
        let arrived = match service.receive(&mut buffer) {
            Ok(arrived) => arrived,
            Err(error) if ErrorClass::of(&error).is_timeout() => break,
            // Windows reports a datagram longer than the buffer as an error.
            Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => continue,
            Err(error) => return Err(accepting.failed(broken(error.into()))),
        };
        match validation.judge(arrived.source, &buffer[..arrived.bytes.min(ROOM_BYTES)]) {
            Handling::Ignore | Handling::Valid { .. } => {}
            Handling::Answer(answer) => {
                // As good as lost on the way if it cannot be sent; it is asked for again.
                let _ = service.answer(&answer, &arrived);
            }
            Handling::Proved { arm, answer, .. } => {
                let last = validation.is_complete();
                accepting.accept(&Proved { service, arm, arrived: &arrived, last, answer })?;
                if last {
                    break;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::wire::datagram::Flags;

    /// What goes wrong with the place of one family is that one's, whichever comes first.
    #[test]
    fn a_place_that_cannot_be_set_up_fails_of_its_own_family() {
        if !Datagram::can_be_apart() {
            return println!("not tested: sockets cannot share a port here");
        }
        let at = |ip| SocketAddr::new(ip, 0);
        let [v4, v6] = Family::BOTH.map(|of| Datagram::bind(at(of.unspecified())).unwrap());
        for failing in Family::BOTH {
            // A peer that is of one family is refused by a socket of the other.
            let peer = SocketAddr::new(failing.other().loopback(), DISCARD);
            let mut placed = Placed {
                family: Family::V4,
                services: (&v4, Some(&v6)),
                met: [vec![at(Family::V4.loopback())], Vec::new()],
                prepare: |socket: &Datagram| socket.connect(peer),
                made: [None, None],
            };
            let arrived = Arrived {
                bytes: HEADER_BYTES,
                source: at(Family::V6.loopback()),
                local: Some(Family::V6.loopback()),
                hop_limit: None,
                traffic_class: None,
                wall_ns: None,
            };
            let (service, answer) = (&v6, [0; HEADER_BYTES]);
            let proved = Proved { service, arm: Arm::B, arrived: &arrived, last: true, answer };
            let error = placed.accept(&proved).unwrap_err();
            assert_eq!(error.family(), Some(failing), "{error}");
        }
    }

    /// A server may send as soon as it has answered; none of that is lost, however late it is read.
    #[test]
    fn what_comes_behind_the_last_answer_is_left_for_the_task() {
        let (tag, behind) = ([7; 8], b"of the task");
        let [server, socket] =
            [(); 2].map(|()| Datagram::bind((std::net::Ipv4Addr::LOCALHOST, 0).into()).unwrap());
        let (remote, source) = (server.local().unwrap(), socket.local().unwrap());
        socket.connect(remote).unwrap();
        for flags in [Flags::INTRODUCTION, PROOF] {
            let flags = End::Server.says(flags);
            let header = Header { tag, sequence: 0, turn: 0, next: 0, arm: Arm::A, flags };
            server.send_to(&header.with_challenge(9).alone(), source).unwrap();
        }
        server.send_to(behind, source).unwrap();
        let unproved = Unproved { arm: Arm::A, family: Family::V4, remote, socket: &socket };
        prove(tag, &[unproved], PATIENCE_NS_MAX).unwrap();
        let mut buffer = [0; 64];
        let count = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], behind);
    }
}
