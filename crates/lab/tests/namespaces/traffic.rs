//! Plain sockets between the client and the server of a lab, and what is measured with them.

use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_lab::{Lab, LabOptions, Node};
use v6gap_sys::{clock, cpu};

pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A socket that hears nothing for this long has lost what was sent.
const PATIENCE: Duration = Duration::from_millis(500);
const BUFFER_BYTES: usize = 1 << 21;
const WARM_UP_NS: u64 = 200_000_000;

/// Fails with `message` unless `condition` holds.
pub fn ensure(condition: bool, message: impl FnOnce() -> String) -> Outcome<()> {
    if condition { Ok(()) } else { Err(message().into()) }
}

/// Runs `work` in a thread held on one processor, with options that put the user-space link on
/// another, where there are two.
pub fn placed(work: fn(&LabOptions) -> Outcome<String>) -> Outcome<String> {
    let allowed = cpu::allowed()?;
    let wire_cpu = (allowed.len() > 1).then(|| allowed[1]);
    let thread = std::thread::spawn(move || {
        cpu::pin_thread(allowed[0]).map_err(|error| error.to_string())?;
        work(&LabOptions { wire_cpu, seed: 46, kernel: None }).map_err(|error| error.to_string())
    });
    Ok(thread.join().map_err(|_| "the check panicked")??)
}

/// The server's address for a family, with a port.
pub fn server_address(lab: &Lab, family: Family, port: u16) -> Outcome<SocketAddr> {
    let address = lab.server().addresses.get(family).ok_or("the server has no such address")?;
    Ok(SocketAddr::new(address, port))
}

/// Connected sockets of the client and the server.
pub fn udp_pair(lab: &Lab, family: Family) -> Outcome<(UdpSocket, UdpSocket)> {
    udp_between(lab.client(), lab.server(), family)
}

/// Connected sockets of two nodes.
pub fn udp_between(from: &Node, to: &Node, family: Family) -> Outcome<(UdpSocket, UdpSocket)> {
    let address = to.addresses.get(family).ok_or("there is no such address")?;
    let far = to.run(|| UdpSocket::bind(SocketAddr::new(address, 0)))??;
    let target = far.local_addr()?;
    let near = from.run(|| {
        let socket = UdpSocket::bind(SocketAddr::new(family.unspecified(), 0))?;
        socket.connect(target)?;
        Ok::<_, std::io::Error>(socket)
    })??;
    far.connect(near.local_addr()?)?;
    for socket in [&near, &far] {
        socket.set_read_timeout(Some(PATIENCE))?;
        // Enough for the time that a busy machine may not run one of the two ends.
        set_socket_send_buffer_size(socket, BUFFER_BYTES)?;
        set_socket_recv_buffer_size(socket, BUFFER_BYTES)?;
    }
    Ok((near, far))
}

/// Connected streams of the client and the server.
pub fn tcp_pair(lab: &Lab, family: Family) -> Outcome<(TcpStream, TcpStream)> {
    let (client, server) = (lab.client(), lab.server());
    let listening = server_address(lab, family, 0)?;
    let listener = server.run(|| TcpListener::bind(listening))??;
    let target = listener.local_addr()?;
    let near = client.run(|| TcpStream::connect_timeout(&target, 4 * PATIENCE))??;
    let (far, _) = listener.accept()?;
    for socket in [&near, &far] {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(4 * PATIENCE))?;
    }
    Ok((near, far))
}

/// Whether a datagram of `bytes` gets from one socket to the other.
pub fn passes(from: &UdpSocket, to: &UdpSocket, bytes: usize) -> Outcome<bool> {
    from.send(&vec![7; bytes])?;
    let mut buffer = vec![0; 65_536];
    match to.recv(&mut buffer) {
        Ok(received) => Ok(received == bytes),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Both ends of a ping-pong in one thread, which spins so that no wake-up adds to the time: ns for
/// each of `count` round trips of `bytes`.
pub fn round_trips(
    (near, far): &(UdpSocket, UdpSocket),
    bytes: usize,
    count: usize,
) -> Outcome<Vec<u64>> {
    near.set_nonblocking(true)?;
    far.set_nonblocking(true)?;
    let message = vec![7; bytes];
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = clock::now_ns();
        near.send(&message)?;
        spin_receive(far, bytes)?;
        far.send(&message)?;
        spin_receive(near, bytes)?;
        times.push(clock::now_ns() - start);
    }
    Ok(times)
}

fn spin_receive(socket: &UdpSocket, bytes: usize) -> Outcome<()> {
    let mut buffer = [0; 2048];
    let give_up = clock::now_ns() + PATIENCE.as_nanos() as u64;
    loop {
        match socket.recv(&mut buffer) {
            Ok(received) => {
                return ensure(received == bytes, || {
                    format!("{received} bytes instead of {bytes}")
                });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                ensure(clock::now_ns() < give_up, || "a message was lost".to_owned())?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The value that `percent` of the sorted figures do not exceed.
pub fn quantile(figures: &mut [u64], percent: usize) -> u64 {
    figures.sort_unstable();
    figures[(figures.len() - 1) * percent / 100]
}

/// Goodput in Mbit/s at the server while the client sends datagrams of `bytes` as fast as it may
/// for about `duration`, after a warm-up.
pub fn udp_goodput(lab: &Lab, family: Family, bytes: usize, duration: Duration) -> Outcome<f64> {
    let (near, far) = udp_pair(lab, family)?;
    let end_ns = clock::now_ns() + WARM_UP_NS + duration.as_nanos() as u64;
    let (arrivals, sent) = std::thread::scope(|scope| {
        let receiving = scope.spawn(|| arrivals(|buffer| far.recv(buffer)));
        let message = vec![7; bytes];
        let mut sent = Ok(0);
        while clock::now_ns() < end_ns && sent.is_ok() {
            sent = near.send(&message);
        }
        (receiving.join(), sent)
    });
    sent?;
    slope(&arrivals.map_err(|_| "the receiver panicked")?)
}

/// Goodput in Mbit/s at the server of one TCP stream that the client fills for about `duration`.
pub fn tcp_goodput(lab: &Lab, family: Family, duration: Duration) -> Outcome<f64> {
    let (mut near, mut far) = tcp_pair(lab, family)?;
    let end_ns = clock::now_ns() + WARM_UP_NS + duration.as_nanos() as u64;
    let (arrivals, sent) = std::thread::scope(|scope| {
        let receiving = scope.spawn(move || arrivals(|buffer| far.read(buffer)));
        let message = vec![7; 65_536];
        let mut sent = Ok(());
        while clock::now_ns() < end_ns && sent.is_ok() {
            sent = near.write_all(&message);
        }
        drop(near);
        (receiving.join(), sent)
    });
    sent?;
    slope(&arrivals.map_err(|_| "the receiver panicked")?)
}

/// Time in ns and length of each successful read, until nothing comes.
fn arrivals(mut read: impl FnMut(&mut [u8]) -> std::io::Result<usize>) -> Vec<(u64, u64)> {
    let mut buffer = vec![0; 262_144];
    let mut seen = Vec::new();
    while let Ok(length @ 1..) = read(&mut buffer) {
        seen.push((clock::now_ns(), length as u64));
    }
    seen
}

/// Mbit/s between the first arrival after the warm-up and the last that the sender still pushed.
fn slope(arrivals: &[(u64, u64)]) -> Outcome<f64> {
    let (first, last) = arrivals.first().zip(arrivals.last()).ok_or("nothing arrived")?;
    let (from, to) = (first.0 + WARM_UP_NS, last.0);
    let counted: Vec<_> = arrivals.iter().filter(|(at, _)| (from..=to).contains(at)).collect();
    let (start, rest) = counted.split_first().ok_or("nothing arrived after the warm-up")?;
    let bits = 8 * rest.iter().map(|(_, length)| length).sum::<u64>();
    Ok(bits as f64 * 1e3 / (to - start.0) as f64)
}

/// The middle one of an odd number of figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
