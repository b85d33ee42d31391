//! Datagrams that are lost, doubled and swapped on the way, by a relay that does so by count.

mod common;

use common::{Service, TIMEOUT_NS, echo, slice, trial, values_of};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Measured;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Asked, Direction, Transport, UdpBulk, Wait, Workload};
use v6gap_engine::trial::client::{self, ClientContext};
use v6gap_sys::socket::Datagram;

/// What happens to a datagram on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Pass,
    Lose,
    Double,
    /// Goes after the next one.
    Swap,
}

/// One relay for one family; `fate` is asked for the number of each datagram, data only if
/// `data_only`.
struct Relay {
    front: Datagram,
    server: SocketAddr,
    data_only: bool,
    fate: fn(u64) -> Fate,
}

impl Relay {
    fn new(server: SocketAddr, data_only: bool, fate: fn(u64) -> Fate) -> Self {
        let front = Datagram::bind(SocketAddr::new(server.ip(), 0)).expect("loopback");
        front.set_read_timeout(Some(1_000_000)).expect("a socket can");
        Relay { front, server, data_only, fate }
    }

    fn run(&self, over: &AtomicBool) {
        let mut ways: Vec<(SocketAddr, Datagram)> = Vec::new();
        let mut buffer = [0; 2048];
        let (mut held, mut held_back) = (None, None);
        let mut number = 0;
        while !over.load(Ordering::Relaxed) {
            if let Ok((count, source)) = self.front.recv_from(&mut buffer) {
                let way = self.way(&mut ways, source);
                let fate = self.next_fate(&buffer[..count], &mut number);
                pass(fate, &buffer[..count], &mut held, |message| {
                    way.send(message).expect("loopback");
                });
            }
            for (client, way) in &ways {
                while let Ok(count) = way.recv(&mut buffer) {
                    let fate = self.next_fate(&buffer[..count], &mut number);
                    pass(fate, &buffer[..count], &mut held_back, |message| {
                        self.front.send_to(message, *client).expect("loopback");
                    });
                }
            }
        }
    }

    fn next_fate(&self, message: &[u8], number: &mut u64) -> Fate {
        let header = Header::decode(message).expect("only messages of ours");
        if self.data_only && header.flags != Flags::NONE {
            return Fate::Pass;
        }
        *number += 1;
        (self.fate)(*number - 1)
    }

    fn way<'a>(
        &self,
        ways: &'a mut Vec<(SocketAddr, Datagram)>,
        client: SocketAddr,
    ) -> &'a Datagram {
        let known = ways.iter().position(|(source, _)| *source == client);
        let index = known.unwrap_or_else(|| {
            let way = Datagram::bind(SocketAddr::new(client.ip(), 0)).expect("loopback");
            way.connect(self.server).expect("loopback");
            way.set_nonblocking(true).expect("a socket can");
            ways.push((client, way));
            ways.len() - 1
        });
        &ways[index].1
    }
}

/// Sends a message on as often as its fate says, and one that was held back after it.
fn pass(fate: Fate, message: &[u8], held: &mut Option<Vec<u8>>, send: impl Fn(&[u8])) {
    let copies = match fate {
        Fate::Lose => return,
        Fate::Swap => {
            *held = Some(message.to_vec());
            return;
        }
        Fate::Pass => 1,
        Fate::Double => 2,
    };
    for _ in 0..copies {
        send(message);
    }
    if let Some(message) = held.take() {
        send(&message);
    }
}

/// Runs `client` with relays before the service, and stops them.
fn through<T>(
    service: &Service,
    data_only: bool,
    fate: fn(u64) -> Fate,
    work: impl FnOnce(&ClientContext) -> T,
) -> T {
    let relays = PerFamily::from_fn(|f| Relay::new(service.udp(f), data_only, fate));
    let server = PerFamily::from_fn(|f| relays.get(f).front.local().ok());
    let context = ClientContext::new(server, TIMEOUT_NS);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for family in Family::BOTH {
            let (relay, over) = (relays.get(family), &over);
            scope.spawn(move || relay.run(over));
        }
        let outcome = work(&context);
        over.store(true, Ordering::Relaxed);
        outcome
    })
}

/// A lost exchange is repeated, counted, and has no time; the server finds its way back whichever
/// message was lost, the last of a turn included.
#[test]
fn echo_survives_loss_and_counts_it() {
    let lossy = |number| if number % 17 == 16 { Fate::Lose } else { Fate::Pass };
    for (families, wait) in [
        (PerArm::FAMILIES, Wait::Block),
        (PerArm::FAMILIES, Wait::Yield),
        (PerArm::null(Family::V6), Wait::Block),
    ] {
        let service = Service::new();
        let mut workload = echo(Transport::Udp, 64, wait);
        workload.turns = 3;
        workload.turn_exchanges = 4;
        let task = slice(Workload::Echo(workload), families);
        let (client, server) =
            through(&service, false, lossy, |context| service.perform(&task, context));
        server.unwrap();
        let mut lost = 0;
        for (_, report) in client.unwrap() {
            let Measured::Times(times) = &report.measured else { panic!() };
            assert_eq!(times.count + times.lost, 12);
            assert_eq!(times.turns_ns.len(), 3);
            // What took longer than the patience of 200 ms was repeated.
            assert!(times.max_ns < 200_000_000, "{}", times.max_ns);
            lost += times.lost;
        }
        assert!(lost > 0, "the relay loses");
    }
}

#[test]
fn a_path_that_loses_everything_is_an_error_that_names_it() {
    let service = Service::new();
    let workload = UdpBulk {
        payload_bytes: 100,
        rate_bps: Some(1_000_000),
        duration_ns: 1_000_000,
        warmup_ns: 0,
        ..UdpBulk::default()
    };
    let task = trial(Workload::UdpBulk(workload), Family::V6);
    let (error, address) = through(
        &service,
        false,
        |_| Fate::Lose,
        |context| {
            let mut context = context.clone();
            context.timeout_ns = 300_000_000;
            let address = context.server.v6.expect("the relay's");
            let (client, server) = service.perform(&task, &context);
            assert!(server.is_err());
            (client.unwrap_err().to_string(), address.to_string())
        },
    );
    assert!(error.contains(&address) && error.contains("nothing came in time"), "{error}");
}

#[test]
fn lost_doubled_and_swapped_datagrams_are_counted_exactly() {
    let fate = |number: u64| match number % 10 {
        3 => Fate::Lose,
        5 => Fate::Double,
        7 => Fate::Swap,
        _ => Fate::Pass,
    };
    let service = Service::new();
    let ways = [Direction::Send, Direction::Receive];
    for (family, direction) in Family::BOTH.into_iter().flat_map(|f| ways.map(|way| (f, way))) {
        // 2 Mbit/s of 800 bits each: 100 datagrams take 40 ms.
        let workload = UdpBulk {
            payload_bytes: 100,
            rate_bps: Some(2_000_000),
            duration_ns: 10_000_000_000,
            warmup_ns: 0,
            packets: Some(100),
            direction,
            asked: Asked { packet_rate: false, reordering: true, duplication: true },
            ..UdpBulk::default()
        };
        let task = trial(Workload::UdpBulk(workload), family);
        let (client, server) =
            through(&service, true, fate, |context| service.perform(&task, context));
        let (client, server) = (client.unwrap(), server.unwrap());
        let (near, far) = (&client[0].1.measured, &server[0].1.measured);
        let (sender, receiver) = match direction {
            Direction::Send => (near, far),
            _ => (far, near),
        };
        let Measured::Sent(sent) = sender else { panic!("{direction:?}") };
        let Measured::Received(received) = receiver else { panic!("{direction:?}") };
        assert_eq!(sent.packets, 100);
        assert_eq!((received.packets, received.duplicates, received.reordered), (90, 10, 10));
        assert_eq!(received.bytes, 9000);
        let arrivals = received.arrivals.as_ref().unwrap();
        assert_eq!(arrivals.replicated, 10);
        assert_eq!(
            (&arrivals.extents[..], &arrivals.n_reordered[..]),
            (&[(1, 10)][..], &[(1, 10)][..])
        );
        assert_eq!(arrivals.loss_periods, [(1, 10)]);
        assert_eq!(arrivals.loss_distances, [(10, 9)]);
        if received.dropped == Some(0) {
            let values = &values_of(&task, &client, &server)[0];
            let value = |metric| values[&metric];
            assert!((value(Metric::Loss) - 0.1).abs() < 1e-12);
            assert!((value(Metric::Reordering) - 10.0 / 90.0).abs() < 1e-12);
            assert!((value(Metric::Duplication) - 10.0 / 90.0).abs() < 1e-12);
        }
    }
}

/// The server answers nobody who does not know the task's token, and is not disturbed by him.
#[test]
fn strangers_get_no_answer() {
    let service = Service::new();
    for family in Family::BOTH {
        let workload = Workload::Echo(echo(Transport::Udp, 64, Wait::Block));
        let task = slice(workload, PerArm::FAMILIES);
        let address = service.udp(family);
        let stranger = Datagram::bind(SocketAddr::new(address.ip(), 0)).expect("loopback");
        let (client, server) = service.perform_with(&task, || {
            for length in [0, 1, 19, 20, 64, 1000] {
                stranger.send_to(&vec![0; length], address).expect("loopback");
            }
            client::run(&task, &service.context(Transport::Udp))
        });
        assert!(client.is_ok() && server.is_ok(), "{client:?} {server:?}");
        stranger.set_nonblocking(true).expect("a socket can");
        assert!(stranger.recv(&mut [0; 2000]).is_err());
    }
}
