//! Round trips by a plain program: how much the hosts' own part of one grows when a link holds it
//! up for longer. It shares nothing with the instrument but the links, and waits as that does: what
//! a processor has at hand is less the longer ago it was used, so that a message that is under way
//! for 1 µs more is answered up to 0.01 µs later than that.

use crate::site::Site;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::world::World;

/// What a family's messages are held up for more, each way, in ns: as much as in the delay worlds.
const ADDED_NS: u64 = 15_000;

/// The family that is held up, in turns, each for so long.
const HELD_UP: [Family; 4] = [Family::V6, Family::V4, Family::V4, Family::V6];
const EACH: Duration = Duration::from_secs(4);

/// Exchanges over one family before the other one has its turn.
const TURN: usize = 20;

const MESSAGE_BYTES: usize = 64;
const PORT: u16 = 7777;
const PATIENCE: Duration = Duration::from_secs(1);

/// What round trips grow by for each second that they are held up for, beyond that second.
///
/// # Errors
/// If the lab refuses, or a message has no answer.
pub(crate) fn growth(site: &Site<'_>, world: &World, transport: &str) -> Result<f64> {
    let mut more_s = 0.0;
    for family in HELD_UP {
        let mut conditions = world.links[0].conditions;
        conditions.get_mut(family).delay_ns += ADDED_NS;
        site.lab.alter(0, conditions).map_err(std::io::Error::other)?;
        let apart_s = between_families(site, transport)?;
        more_s += if family == Family::V6 { apart_s } else { -apart_s };
    }
    let added_s = 2.0 * ADDED_NS as f64 / 1e9;
    Ok(more_s / HELD_UP.len() as f64 / added_s - 1.0)
}

/// How much longer a round trip over IPv6 is, in s.
fn between_families(site: &Site<'_>, transport: &str) -> Result<f64> {
    let at = |family| site.server(family).map_err(std::io::Error::other);
    let there = [at(Family::V4)?, at(Family::V6)?];
    let there = there.map(|address| SocketAddr::new(address.ip(), PORT));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (ready, listening) = mpsc::channel();
        let stop = &stop;
        let server = scope.spawn(move || {
            let node = site.lab.node("server").map_err(std::io::Error::other)?;
            node.enter().map_err(std::io::Error::other)?;
            pin(site)?;
            let any = (Ipv6Addr::UNSPECIFIED, PORT);
            match transport {
                "tcp" => echo_streams(&TcpListener::bind(any)?, &ready, stop),
                _ => echo_datagrams(&UdpSocket::bind(any)?, &ready, stop),
            }
        });
        let client = scope.spawn(move || {
            listening.recv().map_err(std::io::Error::other)?;
            pin(site)?;
            match transport {
                "tcp" => difference(over_stream(there[0])?, over_stream(there[1])?),
                _ => difference(over_datagrams(there[0])?, over_datagrams(there[1])?),
            }
        });
        let apart_s = client.join().expect("the client does not panic");
        stop.store(true, Ordering::Relaxed);
        server.join().expect("the server does not panic").and(apart_s)
    })
}

fn pin(site: &Site<'_>) -> Result<()> {
    site.placement.ends.map_or(Ok(()), v6gap_sys::cpu::pin_thread).map_err(std::io::Error::other)
}

/// What comes, once it does; others of the processor have it between two looks.
fn awaited<T>(mut look: impl FnMut() -> Result<T>) -> Result<T> {
    let since = Instant::now();
    loop {
        match look() {
            Err(error) if error.kind() == ErrorKind::WouldBlock && since.elapsed() < PATIENCE => {
                std::thread::yield_now();
            }
            came => return came,
        }
    }
}

/// A whole message, of which `got` bytes have come.
fn message(stream: &mut TcpStream, into: &mut [u8; MESSAGE_BYTES], got: &mut usize) -> Result<()> {
    while *got < MESSAGE_BYTES {
        match stream.read(&mut into[*got..])? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            more => *got += more,
        }
    }
    *got = 0;
    Ok(())
}

/// Sends back whatever comes over one connection of each family.
fn echo_streams(listener: &TcpListener, ready: &mpsc::Sender<()>, stop: &AtomicBool) -> Result<()> {
    listener.set_nonblocking(true)?;
    let _ = ready.send(());
    let mut streams = Vec::new();
    for _ in Family::BOTH {
        let (stream, _) = awaited(|| listener.accept())?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        streams.push((stream, [0; MESSAGE_BYTES], 0));
    }
    while !stop.load(Ordering::Relaxed) {
        for (stream, bytes, got) in &mut streams {
            if message(stream, bytes, got).is_ok() {
                stream.write_all(bytes)?;
            }
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// The same of datagrams.
fn echo_datagrams(socket: &UdpSocket, ready: &mpsc::Sender<()>, stop: &AtomicBool) -> Result<()> {
    socket.set_nonblocking(true)?;
    let _ = ready.send(());
    let mut bytes = [0; MESSAGE_BYTES];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((count, from)) = socket.recv_from(&mut bytes) {
            socket.send_to(&bytes[..count], from)?;
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// An exchange over a connection of its own.
fn over_stream(there: SocketAddr) -> Result<impl FnMut() -> Result<()>> {
    let mut stream = TcpStream::connect(there)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(move || {
        let (mut bytes, mut got) = ([7; MESSAGE_BYTES], 0);
        stream.write_all(&bytes)?;
        awaited(|| message(&mut stream, &mut bytes, &mut got))
    })
}

/// The same of datagrams.
fn over_datagrams(there: SocketAddr) -> Result<impl FnMut() -> Result<()>> {
    let any = if there.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(there)?;
    socket.set_nonblocking(true)?;
    Ok(move || {
        let mut bytes = [7; MESSAGE_BYTES];
        socket.send(&bytes)?;
        awaited(|| socket.recv(&mut bytes)).map(drop)
    })
}

/// How much longer an exchange of the second kind takes, in s: the families have turns.
fn difference(
    mut v4: impl FnMut() -> Result<()>,
    mut v6: impl FnMut() -> Result<()>,
) -> Result<f64> {
    let (mut apart_s, began) = (Vec::new(), Instant::now());
    while began.elapsed() < EACH {
        // Either of them has the first turn as often.
        let (first_s, second_s) = (turn(&mut v4)?, turn(&mut v6)?);
        apart_s.push(second_s - first_s);
        apart_s.push(turn(&mut v6)? - turn(&mut v4)?);
    }
    Ok(middle(apart_s))
}

/// How long an exchange takes, in s.
fn turn(exchange: &mut impl FnMut() -> Result<()>) -> Result<f64> {
    let timed = |_| {
        let began = Instant::now();
        exchange().map(|()| began.elapsed().as_secs_f64())
    };
    (0..TURN).map(timed).collect::<Result<Vec<f64>>>().map(middle)
}

/// The mean but for the tenth at each end.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let far = values.len() / 10;
    let middle = &values[far..values.len() - far];
    middle.iter().sum::<f64>() / middle.len() as f64
}
