//! Transfers with an unmodified iperf3 server: the client's part of its protocol around this
//! program's own loops, so that both families and both tools are timed alike.
//!
//! The server tells what it counted, and nothing of its sockets, processors and queues. What
//! arrives there over TCP is known by its kernel's acknowledgements.

mod control;
mod data;

pub use control::Iperf3Error;

use super::turns::{Trials, in_turns, unsuitable};
use control::Control;
use data::{Flow, Moved, Receiving};
use std::net::SocketAddr;
use std::time::Duration;
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::iperf3::{Params, Results, Stream as Counted, VERSION, stream_id};
use v6gap_core::observation::{
    Connection, EndReport, Endpoints, Granted, Measured, Received, Sent,
};
use v6gap_core::plan::Plan;
use v6gap_core::run::{Attempt, Observed};
use v6gap_core::workload::{
    Direction, Law, Marking, Sizes, StreamSettings, TcpBulk, UdpBulk, Workload,
};
use v6gap_engine::hot::TICK_NS;
use v6gap_engine::hot::series::Series;
use v6gap_engine::run::{Hooks, Performer, RunError};
use v6gap_engine::trial::{
    TrialError, account, add_sent, datagram_endpoints, datagram_granted, stream_endpoints,
    stream_granted, stream_options, watched,
};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Stream};

/// First pause before a server that measures for somebody else is asked again, in ns; each further
/// one is twice as long.
const BUSY_NS: u64 = 1_000_000_000;

/// After a test the server closes all that it has and listens anew: a connection that is refused or
/// reset within this time, in ns, is tried again.
const ANEW_NS: u64 = 1_000_000_000;

/// What comes late over UDP has this long, in ns.
const LATE_NS: u64 = 200_000_000;

/// What the socket of datagrams is asked to hold.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;

const NS_PER_S: u64 = 1_000_000_000;

/// Where the server is.
#[derive(Debug, Clone)]
pub struct Iperf3Place {
    /// Its address in each family.
    pub addresses: PerFamily<Option<SocketAddr>>,
    /// Address of this end in each family, where the system is not to choose.
    pub local: PerFamily<Option<SocketAddr>>,
    /// Longest wait for anything that is due, in ns.
    pub silence_ns: u64,
    /// Longest wait for a server that measures for somebody else, in ns.
    pub busy_ns: u64,
    /// The processor to measure on; without one the system chooses.
    pub processor: Option<usize>,
}

/// What a test came to.
#[derive(Debug)]
struct Tested {
    measured: Measured,
    endpoints: Option<Endpoints>,
    granted: Granted,
    connections: Vec<Connection>,
    notes: Vec<String>,
}

/// A server of iperf3.
#[derive(Debug)]
pub struct Iperf3 {
    place: Iperf3Place,
}

impl Iperf3 {
    /// The server at `place`.
    pub fn new(place: Iperf3Place) -> Self {
        Iperf3 { place }
    }

    /// A short test over `family` that nobody counts as measured: what the server tells of itself.
    ///
    /// # Errors
    /// Why there is none.
    pub fn look(&self, family: Family) -> Result<Results, Iperf3Error> {
        let bulk = TcpBulk {
            duration_ns: LATE_NS,
            warmup_ns: 0,
            bytes: Some(1),
            write_bytes: 1,
            ..TcpBulk::default()
        };
        let flow = self.flow(family).ok_or(Iperf3Error::Data("no address".to_owned()))?;
        self.over_streams(&bulk, 0, flow).map(|(_, told)| told)
    }

    fn flow(&self, family: Family) -> Option<Flow> {
        let remote = (*self.place.addresses.get(family))?;
        Some(Flow { family, remote, silence_ns: self.place.silence_ns })
    }

    fn local(&self, family: Family) -> Option<SocketAddr> {
        *self.place.local.get(family)
    }

    /// The beginning of a test, when the server is free.
    fn control(&self, flow: Flow) -> Result<Control, Iperf3Error> {
        let begun_ns = clock::now_ns();
        let mut pause_ns = BUSY_NS;
        loop {
            let passed_ns = clock::now_ns().saturating_sub(begun_ns);
            match Control::open(self.local(flow.family), flow.remote, flow.silence_ns) {
                Err(Iperf3Error::Busy) if passed_ns < self.place.busy_ns => {
                    clock::rest(Duration::from_nanos(pause_ns));
                    pause_ns = pause_ns.saturating_mul(2);
                }
                Err(error) if error.is_between_tests() && passed_ns < ANEW_NS => {
                    clock::rest(Duration::from_nanos(TICK_NS));
                }
                outcome => return outcome,
            }
        }
    }

    /// A transfer over TCP.
    fn over_streams(
        &self,
        bulk: &TcpBulk,
        seed: u64,
        flow: Flow,
    ) -> Result<(Tested, Results), Iperf3Error> {
        let control = self.control(flow)?;
        control.agree(&tcp_params(bulk))?;
        let streams = (0..bulk.streams).map(|_| self.stream(bulk, &control, flow));
        let streams = streams.collect::<Result<Vec<Stream>, _>>()?;
        control.begin()?;
        let receives = bulk.direction == Direction::Receive;
        let mut moved = if receives {
            data::receive(bulk, &streams, TcpBulk::read_bytes(seed), flow)?
        } else {
            data::send(bulk, &streams, flow)?
        };
        control.end()?;
        if receives {
            data::drain(&streams, &mut moved);
        }
        let mut tested = described(&streams, &moved)?;
        let told = control.exchange(&own_results(&moved))?;
        let (arrived, sent) = summed(bulk, moved);
        tested.notes.extend(disagreement(arrived.bytes, told.bytes()));
        tested.measured = match sent {
            Some(sent) => Measured::Delivered { received: arrived, sent },
            None => Measured::Received(arrived),
        };
        Ok((tested, told))
    }

    fn stream(&self, bulk: &TcpBulk, control: &Control, flow: Flow) -> Result<Stream, Iperf3Error> {
        let options = stream_options(&bulk.settings, &bulk.marking);
        let local = self.local(flow.family);
        let stream = Stream::connect(local, flow.remote, &options, flow.silence_ns)?;
        stream.write_all(&control.cookie)?;
        stream.set_read_timeout(Some(TICK_NS))?;
        stream.set_write_timeout(Some(TICK_NS))?;
        Ok(stream)
    }

    /// A stream of datagrams.
    fn over_datagrams(&self, bulk: &UdpBulk, flow: Flow) -> Result<Tested, Iperf3Error> {
        let control = self.control(flow)?;
        control.agree(&udp_params(bulk))?;
        let any = SocketAddr::new(flow.family.unspecified(), 0);
        let socket = Datagram::bind(self.local(flow.family).unwrap_or(any))?;
        // As much as the system grants.
        let _ = socket.set_receive_buffer(RECEIVE_BUFFER_BYTES);
        let marks = stream_options(&StreamSettings::default(), &bulk.marking).marks;
        socket.connect_marked(flow.remote, &marks)?;
        data::greet(&socket, flow.silence_ns)?;
        control.begin()?;
        let endpoints = Some(datagram_endpoints(&socket, flow.remote)?);
        let granted = datagram_granted(&socket)?;
        let (measured, notes) = match bulk.direction {
            Direction::Receive => {
                let before = socket.drops();
                let mut receiving = Receiving::new(&socket, bulk);
                receiving.receive(flow.silence_ns)?;
                control.tell_end()?;
                // What comes until the server knows would fill the buffer, as if the path lost it.
                receiving.receive_until(|| control.has_said(), flow.silence_ns)?;
                control.await_end()?;
                let received = receiving.finish()?;
                let dropped = before.ok().zip(socket.drops().ok());
                let dropped = dropped.map(|(before, after)| after.wrapping_sub(before).into());
                let received = Received { dropped, ..received };
                let own = own_datagrams(received.bytes, received.packets, bulk.duration_ns);
                let told = control.exchange(&own)?;
                let sent = Sent { bytes: told.bytes(), packets: told.packets(), ..Sent::default() };
                (Measured::Delivered { received, sent }, Vec::new())
            }
            Direction::Send | Direction::Both => {
                let sent = data::send_datagrams(&socket, bulk)?;
                clock::rest(Duration::from_nanos(LATE_NS));
                control.end()?;
                let own = own_datagrams(sent.bytes, sent.packets, sent.span_ns);
                let told = control.exchange(&own)?;
                (Measured::Delivered { received: as_told(&told, &sent), sent }, Vec::new())
            }
        };
        Ok(Tested { measured, endpoints, granted, connections: Vec::new(), notes })
    }

    /// Whether a workload is one that the server can be asked for, as its words say otherwise.
    ///
    /// # Errors
    /// Why not.
    pub fn takes(workload: &Workload) -> Result<(), String> {
        match workload {
            Workload::TcpBulk(bulk) if bulk.direction == Direction::Both => {
                Err("iperf3 is asked for one way at a time".to_owned())
            }
            Workload::TcpBulk(bulk) if bulk.zero_copy.is_some() || bulk.cpu => {
                Err("that takes a server of v6gap".to_owned())
            }
            Workload::UdpBulk(bulk) if bulk.law != Law::Constant || bulk.sizes != Sizes::Fixed => {
                Err("iperf3 sends datagrams of one size at one pace".to_owned())
            }
            Workload::TcpBulk(TcpBulk { direction: Direction::Receive, marking, .. })
            | Workload::UdpBulk(UdpBulk { direction: Direction::Receive, marking, .. })
                if (Marking { traffic_class: None, ..*marking }) != Marking::default() =>
            {
                Err("of its marks iperf3 can be asked for --dscp and --tos alone".to_owned())
            }
            Workload::TcpBulk(_) | Workload::UdpBulk(_) => Ok(()),
            Workload::Echo(_)
            | Workload::Connect(_)
            | Workload::Probe(_)
            | Workload::Capacity(_)
            | Workload::Frames(_)
            | Workload::Visit(_)
            | Workload::Lookup(_) => {
                Err("a server of iperf3 takes transfers over TCP and UDP alone".to_owned())
            }
        }
    }
}

/// What both ends counted of a transfer, where they should agree.
fn disagreement(own: u64, told: u64) -> Option<String> {
    let apart = own.abs_diff(told);
    // Its count ends with the test's last message, which overtakes what is still in its buffers.
    (apart > own.max(told) / 100)
        .then(|| format!("this end counted {own} B, and the server of iperf3 {told} B"))
}

fn seconds(duration_ns: u64) -> u32 {
    // The client ends it; the server's own time is only a bound.
    u32::try_from(duration_ns.div_ceil(NS_PER_S) + 1).unwrap_or(u32::MAX)
}

fn tcp_params(bulk: &TcpBulk) -> Params {
    let StreamSettings { no_delay, buffer_bytes, mss_bytes, congestion, .. } = &bulk.settings;
    Params {
        tcp: true,
        time: seconds(bulk.duration_ns),
        parallel: bulk.streams,
        len: bulk.write_bytes,
        reverse: bulk.direction == Direction::Receive,
        mss: *mss_bytes,
        nodelay: *no_delay,
        window: *buffer_bytes,
        bandwidth: bulk.pace_bytes().map(|bytes| bytes.saturating_mul(8)),
        congestion: congestion.clone(),
        tos: bulk.marking.traffic_class,
        ..usual()
    }
}

fn udp_params(bulk: &UdpBulk) -> Params {
    Params {
        udp: true,
        time: seconds(bulk.duration_ns),
        parallel: 1,
        len: bulk.payload_bytes,
        reverse: bulk.direction == Direction::Receive,
        bandwidth: bulk.rate_bps,
        tos: bulk.marking.traffic_class,
        ..usual()
    }
}

fn usual() -> Params {
    let (pacing_timer, get_server_output) = (1_000, 1);
    Params { pacing_timer, get_server_output, client_version: VERSION, ..Params::default() }
}

/// What this end tells that it counted, of each stream.
fn own_results(moved: &[Moved]) -> Results {
    let of = |(number, one): (u32, &Moved)| {
        let sent = one.sent.as_ref();
        Counted {
            id: stream_id(number),
            bytes: sent.map_or(one.arrived_bytes(), |sent| sent.bytes),
            end_time: sent.map_or(0.0, |sent| sent.span_ns as f64 / NS_PER_S as f64),
            ..Counted::default()
        }
    };
    Results { streams: (0..).zip(moved).map(of).collect(), ..Results::default() }
}

fn own_datagrams(bytes: u64, packets: u64, span_ns: u64) -> Results {
    let counted = Counted {
        id: stream_id(0),
        bytes,
        packets: i64::try_from(packets).unwrap_or(i64::MAX),
        end_time: span_ns as f64 / NS_PER_S as f64,
        ..Counted::default()
    };
    Results { streams: vec![counted], ..Results::default() }
}

/// What arrived at a server, by its own count: datagrams up to the highest number that came, less
/// those that it missed.
fn as_told(told: &Results, sent: &Sent) -> Received {
    let packets = told.packets().saturating_sub(told.missed()).min(sent.packets);
    let rate_bps = match sent.span_ns {
        0 => 0.0,
        span_ns => told.bytes() as f64 * 8e9 / span_ns as f64,
    };
    Received {
        bytes: told.bytes(),
        span_ns: sent.span_ns,
        rate_bps,
        whole_bps: rate_bps,
        packets,
        ..Received::default()
    }
}

/// What the kernel says of the connections.
fn described(streams: &[Stream], moved: &[Moved]) -> Result<Tested, Iperf3Error> {
    let (mut endpoints, mut granted) = (None, Granted::default());
    let mut connections = Vec::new();
    for (stream, of) in streams.iter().zip(moved) {
        let its = stream_endpoints(stream)?;
        let (got, info) = stream_granted(stream)?;
        if endpoints.is_none() {
            (endpoints, granted) = (Some(its), got);
        }
        let sent_bytes = of.sent.as_ref().map_or(0, |sent| sent.bytes);
        connections.push(Connection {
            endpoints: its,
            sent_bytes,
            received_bytes: if of.sent.is_none() { of.arrived_bytes() } else { 0 },
            rtt_mean_us: of.rtt_mean_us,
            window_mean_bytes: None,
            processor: None,
            account: info.as_ref().map(account),
        });
    }
    let (measured, notes) = (Measured::Nothing, Vec::new());
    Ok(Tested { measured, endpoints, granted, connections, notes })
}

/// All connections together.
fn summed(bulk: &TcpBulk, moved: Vec<Moved>) -> (Received, Option<Sent>) {
    let bytes = moved.iter().map(Moved::arrived_bytes).sum();
    let (mut arrived, mut sent) = (Vec::new(), None);
    for one in moved {
        arrived.push(one.arrived);
        sent = match (sent, one.sent) {
            (Some(sum), Some(more)) => Some(add_sent(sum, more)),
            (sum, more) => sum.or(more),
        };
    }
    let warmup_ns = bulk.bytes.is_none().then_some(bulk.warmup_ns);
    let received = Series::sum(arrived).received(warmup_ns, bulk.duration_ns);
    (Received { bytes, ..received }, sent)
}

impl Trials for Iperf3 {
    fn trial(
        &mut self,
        workload: &Workload,
        family: Family,
        seed: u64,
    ) -> Result<EndReport, RunError> {
        let missing = TrialError::Missing { family, what: "address of the server" };
        let flow = self.flow(family).ok_or(RunError::Trial(missing))?;
        Self::takes(workload).map_err(unsuitable)?;
        let (outcome, report) = watched(self.place.processor, || {
            if let Workload::UdpBulk(bulk) = workload {
                return self.over_datagrams(&bulk.over(flow.family), flow);
            }
            let Workload::TcpBulk(bulk) = workload else {
                return Err(Iperf3Error::Data("no transfer".to_owned()));
            };
            self.over_streams(bulk, seed, flow).map(|(tested, _)| tested)
        });
        let tested = outcome.map_err(|why| {
            RunError::Trial(TrialError::of_stranger(family, flow.remote, why.to_string()))
        })?;
        let Tested { measured, endpoints, granted, connections, notes } = tested;
        let mut report = EndReport { measured, endpoints, granted, connections, ..report };
        report.unavailable.extend(notes);
        Ok(report)
    }
}

impl Performer for Iperf3 {
    fn attempt(
        &mut self,
        plan: &Plan,
        attempt: &Attempt<'_>,
        hooks: &mut dyn Hooks,
    ) -> Result<PerArm<Observed>, RunError> {
        in_turns(self, plan, attempt, hooks)
    }

    /// The server listens anew after each test; the next one asks until it does.
    fn settle(&mut self, _workload: &Workload) {}
}
