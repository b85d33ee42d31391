//! A relay before a service that speaks UDP: it loses, doubles, swaps and holds packets by count,
//! each direction by a rule of its own, so that what was done to them is known exactly.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::family::{Family, PerFamily};
use v6gap_sys::clock;
use v6gap_sys::socket::Datagram;

/// What happens to a packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Lose,
    Double,
    /// Goes after the next one.
    Swap,
    /// Goes this much later, in ns.
    Hold(u64),
}

/// Fate by the number of the packet among those of its direction that [`IsData`] says are data.
pub type Rule = fn(u64) -> Fate;

/// Whether a packet is one to which something may be done; all others pass.
type IsData<'a> = dyn Fn(&[u8]) -> bool + Sync + 'a;

/// One direction.
struct Way<'a> {
    rule: Rule,
    is_data: &'a IsData<'a>,
    count: u64,
    swapped: Option<Vec<u8>>,
    held: Vec<(u64, Vec<u8>)>,
}

impl<'a> Way<'a> {
    fn new(rule: Rule, is_data: &'a IsData<'a>) -> Self {
        Way { rule, is_data, count: 0, swapped: None, held: Vec::new() }
    }

    fn pass(&mut self, message: &[u8], send: impl Fn(&[u8])) {
        let fate = if (self.is_data)(message) {
            self.count += 1;
            (self.rule)(self.count - 1)
        } else {
            Fate::Pass
        };
        match fate {
            Fate::Lose => return,
            Fate::Swap => {
                self.swapped = Some(message.to_vec());
                return;
            }
            Fate::Hold(ns) => {
                self.held.push((clock::now_ns() + ns, message.to_vec()));
                return;
            }
            Fate::Double => send(message),
            Fate::Pass => {}
        }
        send(message);
        if let Some(message) = self.swapped.take() {
            send(&message);
        }
    }

    fn release(&mut self, send: impl Fn(&[u8])) {
        let now_ns = clock::now_ns();
        let due = self.held.iter().position(|(at_ns, _)| *at_ns <= now_ns);
        if let Some(place) = due {
            send(&self.held.remove(place).1);
        }
    }
}

/// Passes packets between the clients of `front` and `server` until told that it is over. The
/// packets of all clients are counted together.
fn relay(
    front: &Datagram,
    server: SocketAddr,
    rules: [Rule; 2],
    is_data: &IsData<'_>,
    over: &AtomicBool,
) {
    front.set_nonblocking(true).expect("a socket can");
    let [mut there, mut back] = rules.map(|rule| Way::new(rule, is_data));
    let mut clients: Vec<(SocketAddr, Datagram)> = Vec::new();
    let mut buffer = [0; 2048];
    while !over.load(Ordering::Relaxed) {
        while let Ok((count, source)) = front.recv_from(&mut buffer) {
            if clients.iter().all(|(client, _)| *client != source) {
                clients.push((source, towards(server)));
            }
            let behind = clients.iter().find(|(client, _)| *client == source);
            let (_, behind) = behind.expect("just put there");
            there.pass(&buffer[..count], |bytes| {
                behind.send(bytes).expect("loopback");
            });
        }
        for (client, behind) in &clients {
            // What is held or swapped is of the last client, as tests have one that matters.
            there.release(|bytes| {
                behind.send(bytes).expect("loopback");
            });
            let to_client = |bytes: &[u8]| {
                front.send_to(bytes, *client).expect("loopback");
            };
            while let Ok(count) = behind.recv(&mut buffer) {
                back.pass(&buffer[..count], to_client);
            }
            back.release(to_client);
        }
        thread::yield_now();
    }
}

fn towards(server: SocketAddr) -> Datagram {
    let socket = Datagram::bind(SocketAddr::new(server.ip(), 0)).expect("loopback");
    socket.connect(server).expect("loopback");
    socket.set_nonblocking(true).expect("a socket can");
    socket
}

/// Ends the relays, also when the work before them fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does `work` with relays before `servers`, whose addresses it gets, and stops them.
pub fn through<T>(
    servers: PerFamily<SocketAddr>,
    rules: [Rule; 2],
    is_data: impl Fn(&[u8]) -> bool + Sync,
    work: impl FnOnce(PerFamily<SocketAddr>) -> T,
) -> T {
    let fronts =
        servers.map(|server| Datagram::bind(SocketAddr::new(server.ip(), 0)).expect("loopback"));
    let addresses = PerFamily::from_fn(|f| fronts.get(f).local().expect("bound"));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for family in Family::BOTH {
            let (front, server, over) = (fronts.get(family), *servers.get(family), &over);
            let is_data = &is_data;
            scope.spawn(move || relay(front, server, rules, is_data, over));
        }
        let _stop = Stop(&over);
        work(addresses)
    })
}
