//! The data of a test: streams that this program's own loops fill and empty, and datagrams with
//! iperf3's head.

use super::control::Iperf3Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::iperf3::{HEAD_BYTES, HELLO, HELLO_BACK, HELLO_BEFORE, head, number};
use v6gap_core::observation::{Received, Sent};
use v6gap_core::workload::{TcpBulk, UdpBulk, Wait};
use v6gap_engine::hot::bulk::{self, Acknowledged, Extent, Sink, Source};
use v6gap_engine::hot::pace::CATCH_UP_MAX;
use v6gap_engine::hot::sequence::{Arrival, Sequence};
use v6gap_engine::hot::series::Series;
use v6gap_engine::hot::{Broken, TICK_NS, Watch};
use v6gap_engine::trial::TrialError;
use v6gap_sys::socket::{Datagram, ErrorClass, Stream};
use v6gap_sys::{clock, entropy};

/// Between two greetings of a flow that was not answered, in ns.
const HELLO_AGAIN_NS: u64 = 500_000_000;

/// For so long nothing comes, and all has come, in ns.
const QUIET_NS: u64 = 150_000_000;

/// What still comes so long after the end is not waited for, in ns: what a path holds drains in
/// less, and a server may send without one.
const DRAIN_NS: u64 = 30_000_000_000;

/// Most bytes for which a receiver sleeps.
const LOW_WATER_BYTES: u64 = 256 * 1024;

/// How often it is looked whether the server knows that the test is over, in ns.
const LOOK_NS: u64 = 5_000_000;

/// A rest that is shorter is waited for awake, in ns.
const REST_NS_MIN: u64 = 60_000;

/// What went over one connection.
#[derive(Debug)]
pub(crate) struct Moved {
    /// What arrived at the far end, as its acknowledgements tell, or here.
    pub arrived: Series,
    /// Bytes that came here after the end: in transit, they belong to the test as well.
    pub late_bytes: u64,
    /// What left here.
    pub sent: Option<Sent>,
    /// Mean of the round trips that the kernel told meanwhile, in µs.
    pub rtt_mean_us: Option<f64>,
}

/// Whose data they are, and how long nothing may come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    /// The family.
    pub family: Family,
    /// The server.
    pub remote: SocketAddr,
    /// Longest time in which nothing comes, in ns.
    pub silence_ns: u64,
}

impl Flow {
    fn failed(&self, broken: Broken) -> Iperf3Error {
        let error = TrialError::of(broken, self.family, Some(self.remote));
        Iperf3Error::Data(error.to_string())
    }

    fn watch(&self) -> Watch<'static> {
        Watch::silence(Wait::Block, self.silence_ns)
    }
}

/// How long a connection is filled or emptied.
fn extent(bulk: &TcpBulk, number: u64) -> Extent {
    Extent {
        duration_ns: bulk.duration_ns,
        bytes: bulk.share_bytes(number),
        pace: bulk.pace_bytes(),
    }
}

/// Fills every stream at the same time, and waits until all of it was acknowledged.
pub(crate) fn send(
    bulk: &TcpBulk,
    streams: &[Stream],
    flow: Flow,
) -> Result<Vec<Moved>, Iperf3Error> {
    let mut chunk = vec![0; bulk.write_bytes as usize];
    entropy::random(&mut chunk)?;
    let watch = flow.watch();
    let fill = |number, stream: &Stream| {
        let series = Series::one_of(bulk.streams, bulk.duration_ns);
        let mut arrived = Acknowledged::new(series);
        let (source, extent) = (Source::Copied(&chunk), extent(bulk, number));
        let sending = bulk::send(Arm::A, stream, source, extent, &watch, Some(&mut arrived))?;
        let mut sent = sending.sent;
        bulk::await_acknowledged(Arm::A, stream, sent.bytes, &mut arrived, &watch)?;
        let info = stream.info().ok();
        sent.retransmitted_segments = info.map(|info| u64::from(info.total_retrans));
        let arrived = arrived.series;
        let (late_bytes, rtt_mean_us) = (0, sending.rtt_mean_us);
        Ok(Moved { arrived, late_bytes, sent: Some(sent), rtt_mean_us })
    };
    each(streams, flow, fill)
}

/// Empties every stream at the same time for the time of the test.
pub(crate) fn receive(
    bulk: &TcpBulk,
    streams: &[Stream],
    read_bytes: usize,
    flow: Flow,
) -> Result<Vec<Moved>, Iperf3Error> {
    let watch = flow.watch();
    let empty = |number, stream: &Stream| {
        let mut arrived = Series::one_of(bulk.streams, bulk.duration_ns);
        let mut buffer = vec![0; read_bytes];
        let sink = Sink::Buffer(&mut buffer);
        let extent = Extent { pace: None, ..extent(bulk, number) };
        bulk::receive(Arm::A, stream, sink, &mut arrived, extent, LOW_WATER_BYTES, &watch)?;
        Ok(Moved { arrived, late_bytes: 0, sent: None, rtt_mean_us: None })
    };
    each(streams, flow, empty)
}

/// Takes what still comes after the end: the server's count has it, and so have the interface's.
pub(crate) fn drain(streams: &[Stream], moved: &mut [Moved]) {
    let mut buffer = vec![0; 1 << 16];
    let until_ns = clock::now_ns().saturating_add(DRAIN_NS);
    for (stream, of) in streams.iter().zip(moved) {
        // Where the system has no such mark it woke for every segment anyway.
        let _ = stream.set_receive_low_water(1);
        while clock::now_ns() < until_ns && stream.wait_readable(QUIET_NS).unwrap_or(false) {
            match stream.read(&mut buffer) {
                Ok(count) if count > 0 => of.late_bytes += count as u64,
                _ => break,
            }
        }
    }
}

impl Moved {
    /// All bytes that arrived.
    pub(crate) fn arrived_bytes(&self) -> u64 {
        self.arrived.bytes() + self.late_bytes
    }
}

/// Each stream on a thread of its own, the first on the calling thread.
fn each<T: Send>(
    streams: &[Stream],
    flow: Flow,
    work: impl Fn(u64, &Stream) -> Result<T, Broken> + Sync,
) -> Result<Vec<T>, Iperf3Error> {
    let work =
        |number: u64, stream: &Stream| work(number, stream).map_err(|broken| flow.failed(broken));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..)
            .zip(streams.iter().skip(1))
            .map(|(number, stream)| {
                let work = &work;
                std::thread::Builder::new().spawn_scoped(scope, move || work(number, stream))
            })
            .collect::<io::Result<_>>()?;
        let first = streams.first().map(|stream| work(0, stream));
        let mut all: Vec<T> = first.into_iter().collect::<Result<_, _>>()?;
        for thread in others {
            all.push(thread.join().unwrap_or_else(|p| std::panic::resume_unwind(p))?);
        }
        Ok(all)
    })
}

/// Lets the flow of a socket begin: the server learns of it by its first datagram.
pub(crate) fn greet(socket: &Datagram, silence_ns: u64) -> Result<(), Iperf3Error> {
    let until_ns = clock::now_ns().saturating_add(silence_ns);
    let mut answer = [0; 64];
    let mut again_ns = 0;
    loop {
        let now_ns = clock::now_ns();
        // Whatever else comes is answered no more often for it.
        if now_ns >= again_ns {
            socket.send(&HELLO)?;
            again_ns = now_ns.saturating_add(HELLO_AGAIN_NS);
        }
        if socket.wait_readable(again_ns - now_ns)? {
            let count = socket.recv(&mut answer)?;
            if [HELLO_BACK, HELLO_BEFORE].iter().any(|known| answer[..count] == known[..]) {
                return Ok(());
            }
        }
        if clock::now_ns() >= until_ns {
            return Err(Iperf3Error::Data("its server does not answer over UDP".to_owned()));
        }
    }
}

/// Sends datagrams at the rate that is asked for, or as fast as the socket takes them.
pub(crate) fn send_datagrams(socket: &Datagram, bulk: &UdpBulk) -> Result<Sent, Iperf3Error> {
    let mut datagram = vec![0; bulk.payload_bytes as usize];
    entropy::random(&mut datagram)?;
    let each_ns = bulk.rate_bps.map_or(0.0, |bps| f64::from(bulk.payload_bytes) * 8e9 / bps as f64);
    let most = bulk.packets.unwrap_or(u64::from(u32::MAX));
    let start_ns = clock::now_ns();
    let end_ns = start_ns.saturating_add(bulk.duration_ns);
    let mut sent = Sent::default();
    loop {
        let planned = sent.packets + sent.skipped;
        let due_ns = start_ns + (planned as f64 * each_ns) as u64;
        let now_ns = rest_until(due_ns.min(end_ns));
        if now_ns >= end_ns || planned >= most {
            sent.span_ns = now_ns - start_ns;
            return Ok(sent);
        }
        if each_ns > 0.0 {
            // A longer burst after a delay would measure queues.
            let behind = ((now_ns - due_ns) as f64 / each_ns) as u64;
            sent.skipped += behind.saturating_sub(CATCH_UP_MAX).min(most - planned - 1);
        }
        // The number fits: there are no more of them than that.
        head(clock::wall_ns(), sent.packets as u32 + 1, &mut datagram);
        match socket.send(&datagram) {
            Ok(count) => {
                sent.packets += 1;
                sent.bytes += count as u64;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Rests until then, the last of it awake; the time that it is.
fn rest_until(due_ns: u64) -> u64 {
    loop {
        let now_ns = clock::now_ns();
        match due_ns.saturating_sub(now_ns) {
            0 => return now_ns,
            left_ns if left_ns > REST_NS_MIN => {
                clock::rest(Duration::from_nanos((left_ns - REST_NS_MIN).min(TICK_NS)));
            }
            _ => std::hint::spin_loop(),
        }
    }
}

/// Receives datagrams for the time of the test.
pub(crate) struct Receiving<'a> {
    socket: &'a Datagram,
    bulk: &'a UdpBulk,
    sequence: Box<Sequence>,
    arrived: Series,
    buffer: Vec<u8>,
}

impl<'a> Receiving<'a> {
    /// Nothing so far.
    pub(crate) fn new(socket: &'a Datagram, bulk: &'a UdpBulk) -> Self {
        let buffer = vec![0; (bulk.payload_bytes as usize).max(HEAD_BYTES)];
        let arrived = Series::new(bulk.duration_ns);
        Receiving { socket, bulk, sequence: Box::default(), arrived, buffer }
    }

    /// Until the time of the test is over.
    pub(crate) fn receive(&mut self, silence_ns: u64) -> Result<(), Iperf3Error> {
        let mut last_ns = clock::now_ns();
        loop {
            let now_ns = clock::now_ns();
            if self.arrived.elapsed_ns(now_ns) >= self.bulk.duration_ns {
                return Ok(());
            }
            if now_ns - last_ns >= silence_ns {
                return Err(Iperf3Error::Data("no datagram came in time".to_owned()));
            }
            if self.socket.wait_readable(TICK_NS)? {
                self.take()?;
                last_ns = clock::now_ns();
            }
        }
    }

    /// Until `is_over` says so, for a while at most.
    pub(crate) fn receive_until(
        &mut self,
        is_over: impl Fn() -> Result<bool, Iperf3Error>,
        silence_ns: u64,
    ) -> Result<(), Iperf3Error> {
        let until_ns = clock::now_ns().saturating_add(silence_ns);
        while !is_over()? && clock::now_ns() < until_ns {
            if self.socket.wait_readable(LOOK_NS)? {
                self.take()?;
            }
        }
        Ok(())
    }

    /// What still comes after the end, and all of it.
    pub(crate) fn finish(mut self) -> Result<Received, Iperf3Error> {
        let until_ns = clock::now_ns().saturating_add(DRAIN_NS);
        while clock::now_ns() < until_ns && self.socket.wait_readable(QUIET_NS)? {
            self.take()?;
        }
        let (warmup_ns, duration_ns) = (self.bulk.warmup_ns, self.bulk.duration_ns);
        let Sequence { packets, duplicates, reordered, .. } = *self.sequence;
        let received = self.arrived.received(Some(warmup_ns), duration_ns);
        Ok(Received { packets, duplicates, reordered, ..received })
    }

    fn take(&mut self) -> Result<(), Iperf3Error> {
        let count = self.socket.recv(&mut self.buffer)?;
        let now_ns = clock::now_ns();
        // Greetings that were asked for twice are answered twice, and have no head.
        let Some(number) = number(&self.buffer[..count]).filter(|number| *number > 0) else {
            return Ok(());
        };
        if self.sequence.record(number - 1) == Arrival::New {
            self.arrived.add(now_ns, count as u64);
        }
        Ok(())
    }
}
