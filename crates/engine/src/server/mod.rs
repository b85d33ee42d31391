//! The server: listens on one port over TCP and UDP in both families, and does its half of the
//! tasks of one client at a time.
//!
//! One thread, the front, holds all connections and never waits for any one of them; a second one
//! runs the task at hand, so that what is measured does not share a thread with strangers. A task
//! that answers connections accepts those of its family itself, and passes others on to the front.
//! Test packets of STAMP, where they are answered, have sockets and threads of their own.

mod door;
mod front;
mod lobby;
mod pending;
mod session;
mod stamp;
mod task;
mod telling;
#[cfg(test)]
mod tests;

pub use door::Door;
pub use stamp::StampOptions;
pub use v6gap_core::session::access::{NotAPrefix, Prefix};

use crate::control::{Key, PublicKey};
use front::Front;
use stamp::Reflector;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use task::Workshop;
use telling::Telling;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::record::Host;
use v6gap_core::session::access::Access;
use v6gap_core::session::{Ending, ServerFacts};
use v6gap_core::wire;
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::version::{SPOKEN, VersionRange};
use v6gap_sys::socket::{Datagram, ErrorClass, Listener, SocketError, StreamOptions};

/// Connections that the system may hold until the front accepts them; a trial that opens
/// connections must not find this full.
const BACKLOG: u32 = 1024;

/// Most ports that the system chooses for a server until one is free for UDP, too.
const PORTS_CHOSEN_MAX: usize = 16;

/// Sessions of one near network that are served or wait, unless told otherwise.
pub const PER_SOURCE: u32 = 4;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where to listen in each family; `None` leaves the family out, which makes comparing
    /// impossible.
    pub addresses: PerFamily<Option<SocketAddr>>,
    /// The key that clients have to know. Without one, only near sources are served: loopback,
    /// link-local, private, benchmarking and documentation addresses.
    pub key: Option<Key>,
    /// If not empty, sources in these ranges are served and no others.
    pub allow: Vec<Prefix>,
    /// Serve everybody even without a key.
    pub public: bool,
    /// Addresses that clients are told which know one of the other family, and no others; at most
    /// [`ADDRESSES_MAX`](v6gap_core::wire::whereabouts::ADDRESSES_MAX). Without any a public server
    /// tells none, and others tell those of this host to who is told all about it.
    pub announce: Vec<IpAddr>,
    /// Processors to hold the measuring thread on, of which each draw of a client has one; without
    /// any the system chooses.
    pub processors: Vec<usize>,
    /// What clients may ask for.
    pub limits: Limits,
    /// Most sessions from one IPv4 address or IPv6 /64 that are served or wait; from one IPv4 /24
    /// or IPv6 /48 twice as many.
    pub per_source: u32,
    /// Program and version, as in `v6gap 0.1.0`.
    pub tool: String,
    /// This host.
    pub host: Host,
    /// Protocol versions to speak.
    pub versions: VersionRange,
    /// How test packets of STAMP are answered, at the same addresses; `None` if they are not.
    pub stamp: Option<StampOptions>,
}

impl ServerOptions {
    /// The usual: all addresses of both families, the usual port, no key, default limits.
    pub fn new(tool: String, host: Host) -> Self {
        let any = |family: Family| Some(SocketAddr::new(family.unspecified(), wire::PORT));
        ServerOptions {
            addresses: PerFamily::from_fn(any),
            key: None,
            allow: Vec::new(),
            public: false,
            announce: Vec::new(),
            processors: Vec::new(),
            limits: Limits::default(),
            per_source: PER_SOURCE,
            tool,
            host,
            versions: SPOKEN,
            stamp: None,
        }
    }

    /// Who is told all about this host: who knows the key, and otherwise near sources of a server
    /// that is not public.
    fn familiar(&self) -> Access {
        match (&self.key, self.public) {
            (Some(_), _) => Access::Anyone,
            (None, true) => Access::Listed(Vec::new()),
            (None, false) => Access::Near,
        }
    }

    /// The addresses that everybody is told, where this host's own are told to nobody.
    fn announced(&self) -> Option<Vec<IpAddr>> {
        (self.public || !self.announce.is_empty()).then(|| self.announce.clone())
    }

    /// Who may open sessions.
    fn access(&self) -> Access {
        self.access_of(self.key.as_ref().is_some_and(Key::is_secret))
    }

    /// Whom a service is for that asks for a key of its own, or does not.
    fn access_of(&self, keyed: bool) -> Access {
        if !self.allow.is_empty() {
            Access::Listed(self.allow.clone())
        } else if self.public || keyed {
            Access::Anyone
        } else {
            Access::Near
        }
    }
}

/// Why a server does not start, or stops.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// An address cannot be listened on.
    #[error("cannot serve {family}: {source}")]
    Bind {
        /// The family.
        family: Family,
        /// What the system says.
        source: SocketError,
    },
    /// Test packets of STAMP cannot be answered.
    #[error("cannot answer STAMP over {family}: {source}")]
    Stamp {
        /// The family.
        family: Family,
        /// What the system says.
        source: SocketError,
    },
    /// The system starts no thread for them.
    #[error("cannot start a thread for STAMP: {0}")]
    StampThread(io::Error),
    /// No family is left to listen on.
    #[error("no address family to serve{}", of_system(.0))]
    NoFamily(PerFamily<Option<String>>),
    /// The system's answer to waiting for connections.
    #[error("cannot wait for connections: {0}")]
    Wait(#[from] io::Error),
}

/// What the system said of the families that are missing, behind what that leads to.
fn of_system(missing: &PerFamily<Option<String>>) -> String {
    let said = Family::BOTH.into_iter().filter_map(|family| missing.get(family).as_deref());
    let said = said.collect::<Vec<_>>().join("; ");
    if said.is_empty() { said } else { format!(": {said}") }
}

/// Why a source was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnedAway {
    /// It is not served.
    NotServed,
    /// The client's network has as many connections or sessions as the server bears.
    Crowded,
    /// It has proved this key, which is not pinned.
    Stranger(PublicKey),
}

/// What a server tells while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEvent {
    /// A connection was closed because of its source.
    TurnedAway {
        /// Where it came from.
        peer: SocketAddr,
        /// What was wrong with that.
        why: TurnedAway,
    },
    /// A client that proved its key has said hello.
    Joined {
        /// The session.
        session: u64,
        /// Where it came from.
        peer: SocketAddr,
        /// How the server's own file names it, if its key is pinned there.
        name: Option<String>,
    },
    /// It is the session's turn.
    Admitted {
        /// The session.
        session: u64,
        /// Name of the client's host.
        by: String,
    },
    /// A task begins.
    Task {
        /// The session.
        session: u64,
        /// Number of the task.
        number: u32,
    },
    /// The session is over.
    Left {
        /// The session.
        session: u64,
        /// How it ended.
        ending: Ending,
    },
    /// The system refused something that the server can go on without for now.
    Trouble {
        /// The cause, in words.
        what: String,
    },
}

/// A server that listens.
pub struct Server {
    front: Front,
    addresses: PerFamily<Option<SocketAddr>>,
    missing: PerFamily<Option<String>>,
    reflector: Option<Reflector>,
}

impl Server {
    /// Opens the sockets. A family that this host does not have is left out; [`Server::missing`]
    /// says so.
    ///
    /// # Errors
    /// If an address is taken or otherwise unusable, or no family remains.
    pub fn bind(options: &ServerOptions) -> Result<Server, ServerError> {
        let mut listeners = PerFamily::default();
        let mut datagrams = PerFamily::default();
        let mut addresses = PerFamily::default();
        let mut missing = PerFamily::default();
        for family in Family::BOTH {
            let Some(wanted) = *options.addresses.get(family) else {
                continue;
            };
            match bind(wanted) {
                Ok((listener, datagram, address)) => {
                    *listeners.get_mut(family) = Some(listener);
                    *datagrams.get_mut(family) = Some(datagram);
                    *addresses.get_mut(family) = Some(address);
                }
                Err(source) if source.class() == ErrorClass::AddressUnavailable => {
                    *missing.get_mut(family) = Some(source.to_string());
                }
                Err(source) => return Err(ServerError::Bind { family, source }),
            }
        }
        if addresses == PerFamily::default() {
            return Err(ServerError::NoFamily(missing));
        }
        // The key of sessions is nothing that a sender of STAMP could prove to know.
        let reflector = options.stamp.as_ref().map(|stamp| {
            let access = options.access_of(stamp.key.is_some());
            Reflector::bind(&addresses, stamp, &access, &options.processors)
        });
        let reflector = reflector.transpose()?;
        let facts = ServerFacts {
            tool: options.tool.clone(),
            host: options.host.clone(),
            limits: options.limits,
            clock_ahead_ns: 0,
        };
        let listeners = Arc::new(listeners);
        let (listening, access) = (Arc::clone(&listeners), options.access());
        let how = (options.processors.clone(), options.limits);
        let workshop = Workshop::new(listening, datagrams, access, how)?;
        let key = options.key.clone().unwrap_or_else(Key::none);
        let front = Front::new(
            listeners,
            workshop,
            options.access(),
            key,
            options.versions,
            Telling { facts, familiar: options.familiar(), announced: options.announced() },
            options.per_source,
        );
        Ok(Server { front, addresses, missing, reflector })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &PerFamily<Option<SocketAddr>> {
        &self.addresses
    }

    /// Why a family that was asked for is not served, in the system's words.
    pub fn missing(&self) -> &PerFamily<Option<String>> {
        &self.missing
    }

    /// Where test packets of STAMP are answered; nowhere unless the options said so.
    pub fn stamp_addresses(&self) -> PerFamily<Option<SocketAddr>> {
        self.reflector.as_ref().map(Reflector::addresses).unwrap_or_default()
    }

    /// Lets sessions measure only when `door` does.
    #[must_use]
    pub fn behind(mut self, door: Box<dyn Door>) -> Self {
        self.front.put_behind(door);
        self
    }

    /// Serves until `stop` is set, which is noticed within 200 ms.
    ///
    /// # Errors
    /// If the system no longer lets it wait for connections, or starts no thread for STAMP.
    pub fn run(
        self,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(ServerEvent),
    ) -> Result<(), ServerError> {
        let reflecting = self.reflector.map(Reflector::start).transpose();
        let _reflecting = reflecting.map_err(ServerError::StampThread)?;
        Ok(self.front.run(stop, on_event)?)
    }
}

/// A listener and a UDP socket on the same address and port. Where the system chooses that of the
/// listener, somebody may have the UDP port of that number; then it chooses another one.
fn bind(address: SocketAddr) -> Result<(Listener, Datagram, SocketAddr), SocketError> {
    // Accepted connections inherit it: an answer must not wait for the acknowledgement of the last.
    let options = StreamOptions { no_delay: true, ..StreamOptions::default() };
    let chosen_max = if address.port() == 0 { PORTS_CHOSEN_MAX } else { 1 };
    // Held until one will do, or the system might choose them again.
    let mut taken = Vec::new();
    loop {
        let listener = Listener::bind_with(address, BACKLOG, &options)?;
        let local = listener.local()?;
        let is_last = taken.len() + 1 == chosen_max;
        match Datagram::bind(local) {
            Err(error) if error.class() == ErrorClass::AddressInUse && !is_last => {
                taken.push(listener);
            }
            datagram => return Ok((listener, datagram?, local)),
        }
    }
}
