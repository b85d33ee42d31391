//! Answers test packets of STAMP (RFC 8762, and TWAMP Light with them), so that routers and senders
//! of any make can measure this host: each question goes back with the times at which it came and
//! the answer left, as long as it was.
//!
//! Each family has a socket and a thread of its own, so that a flood over one does not look like
//! loss over the other. Nothing is kept of who asks, and nothing is allocated for a packet. A
//! source proves nothing, so whoever forges one has the answers sent there: one for each packet, no
//! longer than that, and no more than [`Allowance`] grants.

use super::ServerError;
use crate::stamp::{Sealer, StampKey};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::access::Access;
use v6gap_core::session::allowance::Allowance;
use v6gap_core::wire::stamp::{self, SEAL_BYTES, Seal};
use v6gap_sys::socket::{Arrived, Datagram, ErrorClass, KernelTimes, Marks, SocketError};
use v6gap_sys::{clock, cpu, entropy};

/// Longest question that is answered, in bytes of UDP payload: what fits a large Ethernet frame.
const PACKET_BYTES_MAX: usize = 9_000;

/// Time to live and hop limit of answers, as of questions: the same at every sender, so that what
/// is left tells the routers on the way. Also what is said of a question where the system does not
/// tell what it came with (RFC 5357 section 4.2).
const HOPS: u8 = 255;

/// Services that send back whatever comes, or answer it: echo (RFC 862), characters (RFC 864) and
/// reflectors. Two that answered each other would not stop.
const ANSWERING_PORTS: [u16; 3] = [7, 19, stamp::PORT];

/// Longest wait for a packet, in ns: how soon a stop is noticed.
const WAIT_NS: u64 = 200_000_000;

/// How long nothing is read after a flood or after a refusal of the system.
const PAUSE: Duration = Duration::from_millis(20);

/// How test packets of STAMP are answered.
#[derive(Debug, Clone)]
pub struct StampOptions {
    /// The UDP port, usually [`stamp::PORT`]; 0 lets the system choose one for each family.
    pub port: u16,
    /// The key with which packets have to be authenticated, and answers are. Without one, packets
    /// are open. Who has it was told, so sources need not be near then.
    pub key: Option<StampKey>,
}

/// Sockets on which questions may come.
pub(super) struct Reflector {
    places: Vec<Place>,
    addresses: PerFamily<Option<SocketAddr>>,
}

/// Where the questions of one family come.
struct Place {
    /// The processor on which they are answered, where the host was told one to measure on.
    processor: Option<usize>,
    socket: Datagram,
    port: u16,
    access: Access,
    key: Option<StampKey>,
}

/// Threads that answer until this is dropped.
pub(super) struct Reflecting {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Reflector {
    /// Opens a socket beside each of these addresses. Who asks draws no processor, so packets are
    /// answered on one of `processors` only if it is the only one.
    pub(super) fn bind(
        beside: &PerFamily<Option<SocketAddr>>,
        options: &StampOptions,
        access: &Access,
        processors: &[usize],
    ) -> Result<Self, ServerError> {
        let processor = match processors {
            [only] => Some(*only),
            _ => None,
        };
        let mut reflector = Reflector { places: Vec::new(), addresses: PerFamily::default() };
        for family in Family::BOTH {
            let Some(mut address) = *beside.get(family) else { continue };
            address.set_port(options.port);
            let opened = open(address);
            let (socket, local) = opened.map_err(|source| ServerError::Stamp { family, source })?;
            *reflector.addresses.get_mut(family) = Some(local);
            let (port, access, key) = (local.port(), access.clone(), options.key);
            reflector.places.push(Place { processor, socket, port, access, key });
        }
        Ok(reflector)
    }

    /// Where questions may come.
    pub(super) fn addresses(&self) -> PerFamily<Option<SocketAddr>> {
        self.addresses
    }

    /// Begins to answer.
    pub(super) fn start(self) -> io::Result<Reflecting> {
        let mut reflecting = Reflecting { stop: Arc::default(), threads: Vec::new() };
        for place in self.places {
            let stop = Arc::clone(&reflecting.stop);
            let thread = thread::Builder::new().name("stamp".to_string());
            reflecting.threads.push(thread.spawn(move || place.reflect(&stop))?);
        }
        Ok(reflecting)
    }
}

impl Drop for Reflecting {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // One that has panicked has answered what it could.
            let _ = thread.join();
        }
    }
}

/// A socket that is told all that answers need, as far as the system tells it.
fn open(address: SocketAddr) -> Result<(Datagram, SocketAddr), SocketError> {
    let socket = Datagram::bind(address)?;
    socket.mark(&Marks { hop_limit: Some(HOPS), ..Marks::default() })?;
    socket.set_read_timeout(Some(WAIT_NS))?;
    // What it does not tell is done without: see `Place::answer`.
    let _ = socket.report_marks(true);
    let _ = socket.report_local(true);
    let _ = socket.report_times(KernelTimes::Arrivals);
    let local = socket.local()?;
    Ok((socket, local))
}

impl Place {
    fn reflect(&self, stop: &AtomicBool) {
        // Where it cannot be had the system chooses, as for a trial.
        let _ = self.processor.map(cpu::pin_thread);
        let sealer = self.key.as_ref().map(Sealer::new);
        let sealing = sealer.as_ref().map(|sealer| move |octets: &[u8]| sealer.seal(octets));
        let seal: Seal<'_> =
            sealing.as_ref().map(|sealing| sealing as &dyn Fn(&[u8]) -> [u8; SEAL_BYTES]);
        // Without randomness somebody could find out which networks share a place.
        let secret: [u8; 16] = entropy::bytes().unwrap_or_default();
        let mut allowance = Allowance::new(&secret);
        // One byte more, so that what was cut is seen.
        let mut packet = vec![0; PACKET_BYTES_MAX + 1];
        while !stop.load(Ordering::Acquire) {
            if !allowance.reads(clock::now_ns()) {
                // The kernel drops what it has no more room for, at less cost than a thread.
                clock::rest(PAUSE);
                continue;
            }
            match self.socket.receive(&mut packet) {
                Ok(arrived) => {
                    let came_ns = arrived.wall_ns.unwrap_or_else(clock::wall_ns);
                    self.answer(&arrived, came_ns, &mut packet, seal, &mut allowance);
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => {}
                Err(_) => clock::rest(PAUSE),
            }
        }
    }

    /// Answers what arrived, which stands at the beginning of `packet`, if it is a question of
    /// somebody who may ask.
    fn answer(
        &self,
        arrived: &Arrived,
        came_ns: u64,
        packet: &mut [u8],
        seal: Seal<'_>,
        allowance: &mut Allowance,
    ) {
        let Arrived { source, bytes, .. } = *arrived;
        let goes_round = source.port() == self.port || ANSWERING_PORTS.contains(&source.port());
        if bytes > PACKET_BYTES_MAX || goes_round || !self.access.admits(source.ip()) {
            return;
        }
        let Some(packet) = packet.get_mut(..bytes) else { return };
        let hops_left = arrived.hop_limit.unwrap_or(HOPS);
        // A clock that was set back meanwhile would make the stay a time without sign below 0.
        let leaves_ns = clock::wall_ns().max(came_ns);
        // Only what is authentic counts, so that nobody can use up the share of others.
        if stamp::answer(packet, came_ns, leaves_ns, hops_left, seal).is_some()
            && allowance.answers(source.ip(), bytes, clock::now_ns())
        {
            // What the system refuses is to its sender as if it was lost.
            let _ = self.socket.answer(packet, arrived);
        }
    }
}
