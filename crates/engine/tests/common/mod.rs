//! A small server on loopback for tests: the server's half of a task with real sockets, without a
//! control connection.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod proving;
pub mod relay;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::session::access::Access;
use v6gap_core::task::{Task, TaskArm, Token, native};
use v6gap_core::values;
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::preamble::{self, Data, Preamble, Progress};
use v6gap_core::workload::{Echo, Transport, Wait, Workload};
use v6gap_engine::trial::TrialError;
use v6gap_engine::trial::client::{self, ClientContext};
use v6gap_engine::trial::server::{self, DataFlows, Strangers};
use v6gap_sys::entropy;
use v6gap_sys::socket::{Datagram, Listener, Stream, StreamOptions, Waker};

const MS: u64 = 1_000_000;

/// The longest that a test's client waits, in ns.
pub const TIMEOUT_NS: u64 = 10_000 * MS;

pub type Reports = Result<Vec<(Arm, EndReport)>, TrialError>;

/// Sockets of a server in both families.
pub struct Service {
    listeners: PerFamily<Option<Listener>>,
    datagrams: PerFamily<Option<Datagram>>,
    /// Whose datagrams it answers.
    pub access: Access,
    /// The processor that it measures on.
    pub processor: Option<usize>,
    /// What it allows.
    pub limits: Limits,
}

impl Service {
    /// On loopback.
    pub fn new() -> Self {
        Self::at(PerFamily::from_fn(Family::loopback))
    }

    /// On these addresses, which this host must have.
    pub fn at(addresses: PerFamily<IpAddr>) -> Self {
        let any_port = |family: Family| SocketAddr::new(*addresses.get(family), 0);
        let options = StreamOptions { no_delay: true, ..StreamOptions::default() };
        // One port for both, as a service has it: what TCP was given may be taken in UDP.
        let both = |family| {
            std::iter::repeat_with(|| {
                let listener = Listener::bind_with(any_port(family), 256, &options);
                let listener = listener.expect("the address is ours");
                let datagram = Datagram::bind(listener.local().expect("bound")).ok()?;
                Some((Some(listener), Some(datagram)))
            })
            .take(1000)
            .find_map(|both| both)
            .expect("a port that is free in both transports")
        };
        let (v4, v6) = (both(Family::V4), both(Family::V6));
        Service {
            listeners: PerFamily { v4: v4.0, v6: v6.0 },
            datagrams: PerFamily { v4: v4.1, v6: v6.1 },
            access: Access::Near,
            processor: None,
            limits: Limits::default(),
        }
    }

    pub fn tcp(&self, family: Family) -> SocketAddr {
        self.listener(family).local().expect("bound")
    }

    /// Its own socket that listens.
    pub fn listener(&self, family: Family) -> &Listener {
        self.listeners.get(family).as_ref().expect("bound")
    }

    pub fn udp(&self, family: Family) -> SocketAddr {
        self.socket(family).local().expect("bound")
    }

    /// Its own socket for UDP, which nobody else may read while a task lasts.
    pub fn socket(&self, family: Family) -> &Datagram {
        self.datagrams.get(family).as_ref().expect("bound")
    }

    /// A client's context for tasks of that transport, with the addresses of this server.
    pub fn context(&self, transport: Transport) -> ClientContext {
        let server = PerFamily::from_fn(|family| {
            Some(match transport {
                Transport::Tcp => self.tcp(family),
                Transport::Udp | Transport::Icmp => self.udp(family),
            })
        });
        ClientContext::new(server, TIMEOUT_NS)
    }

    /// The addresses for UDP.
    pub fn datagrams(&self) -> PerFamily<SocketAddr> {
        PerFamily::from_fn(|family| self.udp(family))
    }

    /// A client's context with other addresses, as of relays before this server.
    pub fn context_at(addresses: PerFamily<SocketAddr>) -> ClientContext {
        ClientContext::new(addresses.map(Some), TIMEOUT_NS)
    }

    /// Does both halves of `task`, the client's as `context` says.
    pub fn perform(&self, task: &Task, context: &ClientContext) -> (Reports, Reports) {
        self.perform_with(task, || client::run(task, context))
    }

    /// As [`Service::perform`] with any client.
    pub fn perform_with<T>(&self, task: &Task, client: impl FnOnce() -> T) -> (T, Reports) {
        let (abort, finish, over) = (false.into(), false.into(), AtomicBool::new(false));
        let (announce, ready) = mpsc::channel();
        let (pass_on, streams) = mpsc::channel();
        // Nobody looks after those; they are closed in the end.
        let waker = Arc::new(Waker::new().expect("the system has a pipe"));
        let (strangers, _arrivals) = Strangers::new(waker);
        thread::scope(|scope| {
            let lent = server::accepts(task);
            for family in Family::BOTH.into_iter().filter(|family| Some(*family) != lent) {
                let (pass_on, over) = (pass_on.clone(), &over);
                let listener = self.listeners.get(family).as_ref().expect("bound");
                scope.spawn(move || accept(listener, task.token, &pass_on, over));
            }
            let flows = DataFlows {
                streams,
                strangers: &strangers,
                listeners: &self.listeners,
                datagrams: &self.datagrams,
                access: &self.access,
                abort: &abort,
                finish: &finish,
                processor: self.processor,
                limits: self.limits,
            };
            let half = scope.spawn(move || {
                server::run(task, flows, move || announce.send(()).expect("awaited below"))
            });
            // A server that refuses the task drops the sender instead of announcing.
            let _ = ready.recv();
            let _stop = StopIfPanicking([&finish, &over]);
            let client = client();
            finish.store(true, Ordering::Relaxed);
            let server = half.join().expect("no panic");
            over.store(true, Ordering::Relaxed);
            (client, server)
        })
    }
}

/// Ends the server's half and the listeners when a check of the client's fails.
struct StopIfPanicking<'a>([&'a AtomicBool; 2]);

impl Drop for StopIfPanicking<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
        }
    }
}

/// Reads the preamble of each connection and passes on those of the task.
fn accept(
    listener: &Listener,
    token: Token,
    pass_on: &mpsc::Sender<(Data, Stream)>,
    over: &AtomicBool,
) {
    while !over.load(Ordering::Relaxed) {
        let Ok(Some(stream)) = listener.accept_timeout(20 * MS) else { continue };
        let mut bytes = [0; Data::BYTES];
        if stream.read_exact(&mut bytes).is_err() {
            continue;
        }
        if let Ok(Progress::Complete(Preamble::Data(data))) = preamble::decode(&bytes)
            && data.token == token
        {
            // Nobody listens any more when the server's half is over.
            let _ = pass_on.send((data, stream));
        }
    }
}

/// A task of one arm.
pub fn trial(workload: Workload, family: Family) -> Task {
    let arm = match family {
        Family::V4 => Arm::A,
        Family::V6 => Arm::B,
    };
    Task { arms: vec![TaskArm { arm, family }], ..slice(workload, PerArm::FAMILIES) }
}

/// A task of both arms.
pub fn slice(workload: Workload, families: PerArm<Family>) -> Task {
    let seed = entropy::bytes().expect("the system has random bytes");
    let token = entropy::bytes().expect("the system has random bytes");
    Task {
        number: 1,
        workload,
        arms: Arm::BOTH.map(|arm| TaskArm { arm, family: *families.get(arm) }).to_vec(),
        order: TurnOrder::Ba,
        seed: u64::from_ne_bytes(seed),
        token: Token(token),
        arrives: native(),
        draw: None,
    }
}

/// A small echo block.
pub fn echo(transport: Transport, message_bytes: u32, wait: Wait) -> Echo {
    Echo {
        transport,
        message_bytes,
        connections: 3,
        turn_exchanges: 7,
        turns: 5,
        warmup_exchanges: 2,
        wait,
        ..Echo::default()
    }
}

/// The proof of family at both ends and agreement about the addresses.
pub fn assert_proved(family: Family, client: &EndReport, server: &EndReport, task: &Task) {
    let ends = [client, server].map(|end| end.endpoints.expect("read from the socket"));
    for end in ends {
        assert_eq!(end.domain, family);
        assert_eq!(Family::of(&end.local.ip()), Some(family));
        assert_eq!(Family::of(&end.peer.ip()), Some(family));
    }
    assert_eq!(ends[0].local.port(), ends[1].peer.port(), "{task:?}");
    assert!((20_000..61_000).contains(&ends[0].local.port()));
}

/// The values of the trial of each arm.
pub fn values_of(
    task: &Task,
    client: &[(Arm, EndReport)],
    server: &[(Arm, EndReport)],
) -> Vec<std::collections::BTreeMap<v6gap_core::metric::Metric, f64>> {
    client
        .iter()
        .zip(server)
        .map(|((arm, client), (other, server))| {
            assert_eq!(arm, other);
            let ends =
                v6gap_core::observation::PerEnd { client: client.clone(), server: server.clone() };
            values::values(&task.workload, &ends.into())
        })
        .collect()
}
