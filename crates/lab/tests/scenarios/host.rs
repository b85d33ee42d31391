//! What the two hosts of a simulated network measure of one trial.

use crate::file::Trouble;
use crate::network::{Network, Packet, Way};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::{
    Connections, EndReport, Endpoints, Far, Measured, PerEnd, Received, Sent, Times,
};
use v6gap_core::plan::Plan;
use v6gap_core::run::{self, Attempt, Fate, Observed};
use v6gap_core::wiremodel::{self, TcpOptions};
use v6gap_core::workload::{
    Cell, Connect, Direction, Echo, FrameCount, Frames, Purpose, TcpBulk, Transport, UdpBulk,
    Workload,
};
use v6gap_core::world::model;
use v6gap_core::world::{Topology, World};

/// What the hosts take of a round trip, in ns, and the spread of a single one.
const HOST_NS: f64 = 20_000.0;
const HOST_SPREAD: f64 = 0.02;
/// Of ten thousand exchanges one is held up for long.
const HELD_UP: (f64, f64) = (1e-4, 1e6);
/// A sender asks again after this time, in ns (RFC 6298 section 2, as Linux has it).
const AGAIN_NS: u64 = 200_000_000;
/// Time between two parts of a trial, in ns: what is still queued has arrived then.
const PAUSE_NS: u64 = 50_000_000;
/// What a host takes to send or receive one packet of a stream, in ns: the pace without a line.
const PACKET_NS: u64 = 2_000;
/// TCP's timestamps in every segment, in bytes: they are part of the segment that was asked for.
const TIMESTAMP_BYTES: u32 = 12;
/// Processor time that a byte takes of each end, in ns.
const BYTE_NS: u64 = 1;
/// Exchanges, segments and datagrams of a simulated trial: enough for its figures.
const EXCHANGES_MAX: u64 = 200;
const SEGMENTS: usize = 3_000;
const DATAGRAMS_MAX: u64 = 3_000;

/// The two hosts.
pub struct Hosts {
    network: Network,
    mtu: PerFamily<u32>,
    /// What the sockets of each family say of themselves.
    endpoints: PerFamily<PerEnd<Endpoints>>,
    trouble: Option<Trouble>,
    random: ChaCha8Rng,
    /// The present time, in ns.
    pub now_ns: u64,
    /// Trials done.
    trials: u64,
}

/// Why a trial gave nothing, and what follows from that.
type Failed = (String, Fate);

/// The same, with the family of the trial.
#[derive(Debug)]
pub struct Broken {
    why: String,
    family: Family,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl run::Trouble for Broken {
    fn word(&self) -> &'static str {
        "simulated"
    }

    fn family(&self) -> Option<Family> {
        Some(self.family)
    }
}

impl Hosts {
    /// The two hosts of `world`, before anything happened but for what goes wrong with them.
    pub fn of(world: &World, trouble: Option<Trouble>, seed: u64) -> Self {
        Hosts {
            network: Network::new(world, seed),
            mtu: PerFamily::from_fn(|family| model::path_mtu(world, family)),
            endpoints: endpoints(world),
            trouble,
            random: ChaCha8Rng::seed_from_u64(!seed),
            now_ns: 0,
            trials: 0,
        }
    }

    /// Measures both arms of a block.
    pub fn attempt(
        &mut self,
        plan: &Plan,
        attempt: &Attempt<'_>,
    ) -> Result<PerArm<Observed>, (Broken, Fate)> {
        let mut found: PerArm<Observed> = PerArm::default();
        for arm in attempt.block.order.arms() {
            let family = *attempt.arms(plan).get(arm);
            let broken = |(why, fate): Failed| (Broken { why, family }, fate);
            let measured = self.trial(&attempt.workload(), family);
            *found.get_mut(arm) = measured.map_err(broken)?;
        }
        Ok(found)
    }

    /// Does what a task says over one family.
    fn trial(&mut self, workload: &Workload, family: Family) -> Result<Observed, Failed> {
        let started_ns = self.now_ns;
        if let Some(Trouble::Refuses { family: refused, percent }) = self.trouble
            && refused == family
            && self.uniform() * 100.0 < f64::from(percent)
        {
            self.now_ns += AGAIN_NS;
            return this_time("refused");
        }
        let (client, server) = match workload {
            Workload::Echo(echo) => self.echo(echo, family)?,
            Workload::TcpBulk(bulk) => self.tcp_bulk(bulk, family)?,
            Workload::UdpBulk(bulk) => self.udp_bulk(bulk, family)?,
            Workload::Connect(connect) => self.connect(connect, family)?,
            Workload::Frames(frames) => self.frames(frames, family)?,
            Workload::Visit(_) | Workload::Lookup(_) => panic!("a stranger's"),
            Workload::Probe(_) | Workload::Capacity(_) => {
                return never(format!("{} is not simulated", Cell::named(workload.clone()).id));
            }
        };
        self.trials += 1;
        let PerEnd { client: near, server: far } = *self.endpoints.get(family);
        let mut far = end(far, server);
        if self.trouble == Some(Trouble::ClockSteps) && self.trials.is_multiple_of(3) {
            far.clock_step_ns = 40_000_000;
        }
        let duration_ns = (self.now_ns - started_ns).max(1);
        let (started_unix_ns, beside) = (started_ns, None);
        let ends = PerEnd { client: end(near, client), server: Far::Seen(far) };
        Ok(Observed { ends, started_unix_ns, started_ns, duration_ns, beside })
    }

    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Time that the hosts take of one exchange, in ns.
    fn host_ns(&mut self) -> u64 {
        let spread: f64 = (0..4).map(|_| self.uniform() - 0.5).sum();
        let mut ns = HOST_NS * (1.0 + HOST_SPREAD * spread);
        if self.uniform() < HELD_UP.0 {
            ns += HELD_UP.1 * self.uniform();
        }
        if self.trouble == Some(Trouble::Overload) && self.uniform() < 0.3 {
            ns += 4e6 * self.uniform();
        }
        ns as u64
    }

    /// Sends packets of these lengths at once; when the last of them is there, if all are.
    fn send(&mut self, way: Way, family: Family, at_ns: u64, lengths: &[u32]) -> Option<u64> {
        let packets = lengths.iter().enumerate();
        let packets = packets.map(|(number, &bytes)| Packet { number, at_ns, bytes }).collect();
        let arrived = self.network.pass(way, family, packets);
        let mut first: BTreeMap<usize, u64> = BTreeMap::new();
        for packet in &arrived {
            first.entry(packet.number).or_insert(packet.at_ns);
        }
        (first.len() == lengths.len()).then(|| first.values().copied().max()).flatten()
    }

    /// A request and its answer; how long they take, or that one of them was lost.
    fn exchange(&mut self, family: Family, request: &[u32], answer: &[u32]) -> Option<u64> {
        let start_ns = self.now_ns;
        let host_ns = self.host_ns();
        let there_ns = self.send(Way::There, family, start_ns, request);
        let back_ns = there_ns
            .and_then(|at_ns| self.send(Way::Back, family, at_ns + host_ns / 2, answer))
            .map(|at_ns| at_ns + host_ns / 2);
        self.now_ns = back_ns.unwrap_or(start_ns + AGAIN_NS);
        back_ns.map(|at_ns| at_ns - start_ns)
    }

    fn echo(&mut self, echo: &Echo, family: Family) -> Result<Found, Failed> {
        let mtu = *self.mtu.get(family);
        let lengths = |bytes: u32| match echo.transport {
            Transport::Tcp => {
                Ok(wiremodel::tcp_packets(bytes, family, mtu, TcpOptions::TIMESTAMPS))
            }
            Transport::Udp | Transport::Icmp => {
                wiremodel::udp_packets(bytes, family, mtu).or_else(|e| never(format!("{e:?}")))
            }
        };
        let (request, answer) = (lengths(echo.message_bytes)?, lengths(echo.answer_bytes())?);
        let (all, start_ns) = (echo.exchanges(), self.now_ns);
        let exchanges = all.min(EXCHANGES_MAX);
        let asked = (0..exchanges).map(|_| self.exchange(family, &request, &answer));
        let times = times(&asked.collect::<Vec<_>>());
        // Those that are left out would have taken as long.
        self.now_ns += (self.now_ns - start_ns) / exchanges.max(1) * (all - exchanges);
        if times.count == 0 {
            return this_time("nothing came back");
        }
        Ok((Measured::Times(times), Measured::Nothing))
    }

    fn connect(&mut self, connect: &Connect, family: Family) -> Result<Found, Failed> {
        let lengths = [family.header_bytes() + 40];
        let count = u64::from(connect.count).min(EXCHANGES_MAX);
        let start_ns = self.now_ns;
        let (mut connected, mut answered) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let stands = self.exchange(family, &lengths, &lengths);
            connected.push(stands);
            if connect.purpose != Purpose::Open {
                let answer = self.exchange(family, &lengths, &lengths);
                answered.push(stands.zip(answer).map(|(stands, answer)| stands + answer));
            }
        }
        let span_ns = self.now_ns - start_ns;
        let first_byte = (connect.purpose != Purpose::Open).then(|| times(&answered));
        let connect = times(&connected);
        if connect.count == 0 {
            return this_time("no connection was made");
        }
        let all = Connections { connect, first_byte, span_ns, ..Connections::default() };
        Ok((Measured::Connections(Box::new(all)), Measured::Nothing))
    }

    /// A sender that a lossless line paces: each segment comes when the line is free for it.
    fn tcp_bulk(&mut self, bulk: &TcpBulk, family: Family) -> Result<Found, Failed> {
        let largest = *self.mtu.get(family);
        let headers = largest - wiremodel::tcp_mss(largest, family, TcpOptions::TIMESTAMPS);
        let asked = bulk.settings.mss_bytes.map_or(largest, |mss| mss + headers - TIMESTAMP_BYTES);
        let mtu = largest.min(asked);
        let mss = mtu - headers;
        let way = way(bulk.direction)?;
        let gap_ns = self.line_gap_ns(way, family, mtu);
        let gap_ns = gap_ns.max(self.window_gap_ns(bulk, family, mtu, mss));
        let count = SEGMENTS.min((bulk.duration_ns / gap_ns) as usize);
        let arrived = self.paced(way, family, mtu, gap_ns, count);
        let Some((first, last)) = arrived.first().zip(arrived.last()) else {
            return this_time("no segment arrived");
        };
        let bytes = (arrived.len() as u64 - 1) * u64::from(mss);
        let host = self.host_ns() as f64 / HOST_NS;
        let span_ns = (last.at_ns - first.at_ns) as f64 * (1.0 + 0.002 * (host - 1.0));
        let received = Received {
            bytes,
            span_ns: span_ns as u64,
            rate_bps: bytes as f64 * 8e9 / span_ns,
            ..Received::default()
        };
        let sent = Sent { bytes, span_ns: span_ns as u64, ..Sent::default() };
        let (sent, received) = (Measured::Sent(sent), Measured::Received(received));
        Ok(if way == Way::There { (sent, received) } else { (received, sent) })
    }

    /// How far segments are apart at least where a window limits them: it holds so many of them,
    /// and is full until the first is acknowledged.
    fn window_gap_ns(&mut self, bulk: &TcpBulk, family: Family, mtu: u32, mss: u32) -> u64 {
        let Some(window) = bulk.settings.buffer_bytes else { return 0 };
        let acknowledgement = [family.header_bytes() + 32];
        let trip_ns = (0..100).find_map(|_| self.exchange(family, &[mtu], &acknowledgement));
        trip_ns.unwrap_or(AGAIN_NS) / u64::from((window / mss).max(1))
    }

    /// How far packets of a stream are apart that comes as fast as hosts and links take it.
    fn line_gap_ns(&mut self, way: Way, family: Family, bytes: u32) -> u64 {
        // Two at once show how long the slowest link is busy with one.
        let gap_ns = (0..100).find_map(|_| match self.paced(way, family, bytes, 0, 2)[..] {
            [first, second] => Some(second.at_ns - first.at_ns),
            _ => None,
        });
        gap_ns.unwrap_or(0).max(PACKET_NS)
    }

    /// Packets at a distance in time; afterwards all have arrived.
    fn paced(
        &mut self,
        way: Way,
        family: Family,
        bytes: u32,
        gap_ns: u64,
        count: usize,
    ) -> Vec<Packet> {
        let at = |number: usize| self.now_ns + number as u64 * gap_ns;
        let packets = (0..count).map(|number| Packet { number, at_ns: at(number), bytes });
        let packets: Vec<Packet> = packets.collect();
        let sent_ns = at(count);
        let arrived = self.network.pass(way, family, packets);
        self.now_ns = arrived.last().map_or(sent_ns, |last| last.at_ns.max(sent_ns)) + PAUSE_NS;
        arrived
    }

    fn udp_bulk(&mut self, bulk: &UdpBulk, family: Family) -> Result<Found, Failed> {
        let lengths = wiremodel::udp_packets(bulk.payload_bytes, family, *self.mtu.get(family))
            .or_else(|e| never(format!("{e:?}")))?;
        let [bytes] = lengths[..] else { return never("fragments are not simulated") };
        let gap_ns = match bulk.rate_bps {
            Some(rate_bps) => u64::from(bulk.payload_bytes) * 8_000_000_000 / rate_bps.max(1),
            None => self.line_gap_ns(Way::There, family, bytes),
        };
        let gap_ns = gap_ns.max(1);
        let most = bulk.packets.unwrap_or(DATAGRAMS_MAX).min(DATAGRAMS_MAX);
        let count = most.min(bulk.duration_ns / gap_ns);
        let arrived = self.paced(Way::There, family, bytes, gap_ns, count as usize);
        let (sent, received) = counted(bulk, count, &arrived);
        Ok((Measured::Sent(sent), Measured::Received(received)))
    }

    /// Frames whose datagrams leave at once; the receiver is as late as a host is.
    fn frames(&mut self, frames: &Frames, family: Family) -> Result<Found, Failed> {
        let mtu = *self.mtu.get(family);
        let start_ns = self.now_ns;
        let (mut packets, mut end_ns) = (Vec::new(), start_ns);
        for due in frames.stream().schedule(0).into_iter().flatten() {
            if due.at_ns >= frames.duration_ns {
                break;
            }
            let lengths = wiremodel::udp_packets(due.bytes, family, mtu)
                .or_else(|e| never(format!("{e:?}")))?;
            let [bytes] = lengths[..] else { return never("fragments are not simulated") };
            end_ns = start_ns + due.at_ns;
            packets.push(Packet { number: packets.len(), at_ns: end_ns, bytes });
        }
        let count = packets.len() as u64;
        let way = way(frames.direction)?;
        let mut arrived = self.network.pass(way, family, packets);
        for packet in &mut arrived {
            packet.at_ns += self.host_ns();
        }
        self.now_ns = arrived.last().map_or(end_ns, |last| last.at_ns.max(end_ns)) + PAUSE_NS;
        let mut noted = FrameCount::new(frames);
        let mut seen = std::collections::BTreeSet::new();
        for packet in arrived.iter().filter(|packet| seen.insert(packet.number)) {
            noted.note(packet.number as u32, packet.at_ns);
        }
        let (sent, received) = counted(&frames.stream(), count, &arrived);
        let received = Received { frames: Some(noted.arrivals()), ..received };
        let (sent, received) = (Measured::Sent(sent), Measured::Received(received));
        Ok(if way == Way::There { (sent, received) } else { (received, sent) })
    }
}

/// What the client and the server measured.
type Found = (Measured, Measured);

/// What this network does not do.
fn never<T>(why: impl Into<String>) -> Result<T, Failed> {
    Err((why.into(), Fate::CellOver))
}

/// What may do better another time.
fn this_time<T>(why: &str) -> Result<T, Failed> {
    Err((why.to_owned(), Fate::Again))
}

/// Which way the bytes of a stream go.
fn way(direction: Direction) -> Result<Way, Failed> {
    match direction {
        Direction::Send => Ok(Way::There),
        Direction::Receive => Ok(Way::Back),
        Direction::Both => never("streams both ways are not simulated"),
    }
}

/// What was sent and what came, from the packets that did.
fn counted(bulk: &UdpBulk, count: u64, arrived: &[Packet]) -> (Sent, Received) {
    let mut seen = std::collections::BTreeSet::new();
    let (mut latest, mut reordered) = (0, 0);
    for packet in arrived {
        if seen.insert(packet.number) {
            reordered += u64::from(packet.number < latest);
            latest = latest.max(packet.number);
        }
    }
    let packets = seen.len() as u64;
    let span_ns = match (arrived.first(), arrived.last()) {
        (Some(first), Some(last)) => (last.at_ns - first.at_ns).max(1),
        _ => 1,
    };
    let payload = u64::from(bulk.payload_bytes);
    let received = Received {
        bytes: packets * payload,
        span_ns,
        rate_bps: (packets.saturating_sub(1) * payload) as f64 * 8e9 / span_ns as f64,
        packets,
        duplicates: arrived.len() as u64 - packets,
        reordered,
        dropped: Some(0),
        ..Received::default()
    };
    let sent = Sent { bytes: count * payload, packets: count, span_ns, ..Sent::default() };
    (Sent { blocked_ns: Some(span_ns), ..sent }, received)
}

/// The figures of single times; lost ones are `None`.
fn times(asked: &[Option<u64>]) -> Times {
    let mut ns: Vec<u64> = asked.iter().flatten().copied().collect();
    ns.sort_unstable();
    let (Some(&min_ns), Some(&max_ns)) = (ns.first(), ns.last()) else {
        return Times { lost: asked.len() as u64, ..Times::default() };
    };
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len() as f64;
    let share = |of: f64| (ns.len() as f64 * of) as usize;
    let middle = &ns[share(0.05)..share(0.9).max(share(0.05) + 1)];
    Times {
        count: ns.len() as u64,
        lost: (asked.len() - ns.len()) as u64,
        trimmed_mean_ns: mean(middle),
        mean_ns: mean(&ns),
        median_ns: ns[ns.len() / 2] as f64,
        min_ns,
        max_ns,
        exchanges_each: 1,
        ..Times::default()
    }
}

/// Addresses of the sockets of both ends in a world: behind NAT64 the server's are of the other
/// family than the client's.
fn endpoints(world: &World) -> PerFamily<PerEnd<Endpoints>> {
    let topology = Topology::of(world);
    PerFamily::from_fn(|family| {
        let known = |node, family, port| {
            // A family that the world does not have is not measured.
            let address = *world.addresses(&topology, node).get(family);
            SocketAddr::new(address.unwrap_or(family.loopback()), port)
        };
        let local = known(world.client, family, 30_000);
        let peer = known(world.server, family, 4_466);
        let client = Endpoints { domain: family, local, peer };
        let domain = Family::arriving(&peer.ip()).expect("a true address");
        let from = if domain == family { local } else { SocketAddr::new(POOL, 30_000) };
        let server = Endpoints { domain, local: known(world.server, domain, 4_466), peer: from };
        PerEnd { client, server }
    })
}

/// The address that a translator gives to a host.
const POOL: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 49, 0, 2));

/// What an end reports beside its measurement: its sockets, and packets of their family counted.
fn end(endpoints: Endpoints, measured: Measured) -> EndReport {
    let counter = match endpoints.domain {
        Family::V4 => "Ip.InReceives",
        Family::V6 => "Ip6.InReceives",
    };
    let bytes = measured.received().map(|r| r.bytes).or(measured.sent().map(|s| s.bytes));
    let busy_ns = bytes.map(|bytes| bytes * BYTE_NS);
    EndReport {
        user_ns: busy_ns,
        system_ns: busy_ns,
        measured,
        endpoints: Some(endpoints),
        counters: [(counter.to_owned(), 100)].into_iter().collect(),
        ..EndReport::default()
    }
}
