//! Ports of loopback for tests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

const LOOPBACKS: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Where tests look for one: below those that systems give whoever asks for none. A connection of
/// another test could have one of these before it is used.
const PORTS: Range<u16> = 10_000..30_000;

/// How far above its port a node of a hub listens to the others.
#[allow(dead_code, reason = "not all suites need a free port")]
const NODES_ABOVE: u16 = 2000;

/// How many ports each process has to itself, unless hundreds run at once.
const OWN: u16 = 100;

/// What `bind` makes of the first port that it likes.
fn first<T>(bind: impl Fn(u16) -> std::io::Result<T>) -> T {
    static ASKED: AtomicU16 = AtomicU16::new(0);
    let ports = PORTS.end - PORTS.start;
    let process = u16::try_from(std::process::id() % u32::from(ports / OWN)).unwrap();
    let tried = (0..ports).find_map(|_| {
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        let above = (u32::from(process * OWN) + u32::from(asked)) % u32::from(ports);
        bind(PORTS.start + u16::try_from(above).unwrap()).ok()
    });
    tried.expect("a port that is free in both families")
}

fn both<T>(one: impl Fn(SocketAddr) -> std::io::Result<T>, port: u16) -> std::io::Result<[T; 2]> {
    let [four, six] = LOOPBACKS.map(|ip| one(SocketAddr::new(ip, port)));
    Ok([four?, six?])
}

/// Listeners of both families, and their port.
#[allow(dead_code, reason = "not all suites listen themselves")]
pub fn listening() -> (u16, [TcpListener; 2]) {
    first(|port| Ok((port, both(TcpListener::bind, port)?)))
}

/// A port that nobody has at this moment in either family and transport, nor that at which nodes of
/// a hub would listen to each other.
#[allow(dead_code, reason = "not all suites need a free port")]
pub fn free() -> u16 {
    first(|port| {
        both(TcpListener::bind, port + NODES_ABOVE)?;
        both(UdpSocket::bind, port)?;
        both(TcpListener::bind, port)?;
        Ok(port)
    })
}
