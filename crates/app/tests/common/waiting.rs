//! What suites of several programs wait for, and where those listen.

use std::net::{Ipv6Addr, TcpListener};
use std::time::{Duration, Instant};

/// Longest that anything is waited for: some visits and scrapes, a job and its result.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked whether it is there.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How far above its port a node of a hub listens to the others.
const NODES_ABOVE: u16 = 2000;

/// A port that nobody has at this moment, nor the one at which nodes of a hub would listen to each
/// other.
pub fn free() -> u16 {
    let bind = |port: u16| TcpListener::bind((Ipv6Addr::LOCALHOST, port));
    loop {
        let port = bind(0).and_then(|listener| listener.local_addr()).unwrap().port();
        if port.checked_add(NODES_ABOVE).is_some_and(|above| bind(above).is_ok()) {
            return port;
        }
    }
}

/// Looks until there is something.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    panic!("not within {} s: {what}", PATIENCE.as_secs());
}
