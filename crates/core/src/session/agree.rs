//! What a server agrees to do: every field of a task is checked against its limits before anything
//! is started, because a task comes from the network.

use crate::arm::Arm;
use crate::family::Family;
use crate::task::Task;
use crate::wire::control::Limits;
use crate::wire::datagram::HEADER_BYTES;
use crate::wire::probe::PROBE_BYTES;
use crate::workload::{
    Capacity, Connect, Echo, Interleaving, Law, Load, Marking, Probe, Purpose, StreamSettings,
    TcpBulk, Timing, Transport, UdpBulk, Workload,
};

/// Why a server does not do a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// The arms are not those that the workload needs.
    #[error("a task of this kind needs {needed}")]
    Arms {
        /// What it needs, in words.
        needed: &'static str,
    },
    /// A number is below or above what can be done at all or is allowed here.
    #[error("{what} is {found}, it must be from {least} to {most}")]
    Range {
        /// Which number, with its unit.
        what: &'static str,
        /// Its value.
        found: u64,
        /// Smallest allowed.
        least: u64,
        /// Largest allowed.
        most: u64,
    },
    /// The server has a limit that the workload cannot be held to.
    #[error("this server limits {what}, which cannot be done for {workload}")]
    Unbounded {
        /// What is limited.
        what: &'static str,
        /// The kind of workload.
        workload: &'static str,
    },
    /// The server does not allow it to anybody, or to nobody without a key.
    #[error("this server does not allow {what}")]
    Denied {
        /// What was asked for, in words.
        what: &'static str,
    },
    /// Two settings exclude each other.
    #[error("{what} cannot be had")]
    Combination {
        /// What was asked for, in words.
        what: &'static str,
    },
    /// Its numbers contradict one another.
    #[error("{what}")]
    Senseless {
        /// What is wrong, in words.
        what: &'static str,
    },
    /// The name of a congestion control is none.
    #[error("the congestion control must be 1 to 15 of the characters a-z, 0-9, _ and -")]
    Congestion,
    /// The packets follow each other in a way that probes cannot.
    #[error("probes follow each other constantly, periodically or as a Poisson stream")]
    Law,
}

/// Longest time that a task may take, in ns, by its own numbers or else by the limits.
pub fn bound_ns(workload: &Workload, limits: &Limits) -> u64 {
    match workload {
        Workload::TcpBulk(bulk) => bulk.duration_ns,
        Workload::UdpBulk(bulk) => bulk.duration_ns,
        Workload::Probe(probe) => probe.longest_ns(2),
        Workload::Capacity(capacity) => capacity.longest_ns(),
        Workload::Echo(_) | Workload::Connect(_) => limits.task_ns,
    }
}

/// The rate in bit/s to which both ends hold TCP data of `workload` each way because of `limits`,
/// whatever pace the task asks for; `None` if nothing is limited, or it has no such data.
pub fn held_bps(workload: &Workload, limits: &Limits) -> Option<u64> {
    match workload {
        // A number of bytes is kept to in any time.
        Workload::TcpBulk(TcpBulk { bytes: Some(_), .. }) => limits.rate_bps,
        Workload::TcpBulk(bulk) => limits.held_bps(bulk.duration_ns),
        Workload::Probe(probe) if probe.load.as_ref().is_some_and(|load| load.udp.is_none()) => {
            load_bps_most(probe, limits)
        }
        Workload::Probe(_)
        | Workload::UdpBulk(_)
        | Workload::Echo(_)
        | Workload::Connect(_)
        | Workload::Capacity(_) => None,
    }
}

/// The highest rate of all streams of a load each way, in bit/s, which leaves room for the probes;
/// `None` is without limit.
pub fn load_bps_most(probe: &Probe, limits: &Limits) -> Option<u64> {
    let held_bps = limits.held_bps(probe.longest_ns(2))?;
    Some(held_bps.saturating_sub(probe.rate_bps()))
}

/// Most bytes that the exchanges of both arms of a task may move one way. They follow each other
/// as fast as answers come, so a server with a limit of the rate takes few at a time, and rests
/// after them for as long as [`rest_ns`] says.
pub fn exchanged_bytes_most(limits: &Limits) -> u64 {
    /// Time in which the rate allows as many, in s.
    const SECONDS: u64 = 2;
    limits.rate_bps.map_or(u64::MAX, |bps| (bps / 8).saturating_mul(SECONDS))
}

/// Time in ns from the beginning of `workload` before which a server does not begin the next task,
/// so that its exchanges keep to the rate on average; 0 without a limit.
pub fn rest_ns(workload: &Workload, limits: &Limits) -> u64 {
    let (Workload::Echo(echo), Some(bps)) = (workload, limits.rate_bps) else { return 0 };
    let bits = u128::from(echo.bytes_each_way()) * 2 * 8;
    u64::try_from(bits * 1_000_000_000 / u128::from(bps.max(1))).unwrap_or(u64::MAX)
}

/// Checks every field of a task.
///
/// # Errors
/// The first objection.
pub fn check(task: &Task, limits: &Limits) -> Result<(), Objection> {
    check_arms(task)?;
    check_allowed(&task.workload, limits)?;
    check_marking(&task.workload.marking())?;
    if task.workload.marking().dont_fragment && task.workload.datagram_bytes().is_none() {
        return Err(Objection::Combination { what: "\"don't fragment\" without datagrams" });
    }
    match &task.workload {
        Workload::TcpBulk(bulk) => check_tcp_bulk(bulk, limits),
        Workload::UdpBulk(bulk) => check_udp_bulk(bulk, datagram_bytes_max(task), limits),
        Workload::Echo(echo) => check_echo(echo, datagram_bytes_max(task), limits),
        Workload::Connect(connect) => check_connect(connect, limits),
        Workload::Probe(probe) => check_probe(probe, datagram_bytes_max(task), limits),
        Workload::Capacity(capacity) => check_capacity(capacity, limits),
    }
}

/// What an operator may deny to all: it costs the server, or others on the way.
fn check_allowed(workload: &Workload, limits: &Limits) -> Result<(), Objection> {
    if !limits.spin && workload.wait().polls() {
        return Err(Objection::Denied {
            what: "waiting without sleep (\"spin\", \"yield\") to clients without a key",
        });
    }
    if limits.marking {
        return Ok(());
    }
    let Marking { traffic_class, hop_limit, flow_label, dont_fragment: _ } = workload.marking();
    if traffic_class.is_some() || hop_limit.is_some() || flow_label.is_some() {
        return Err(Objection::Denied { what: "marks of packets (class, hop limit, flow label)" });
    }
    if workload.settings().is_some_and(|settings| settings.congestion.is_some()) {
        return Err(Objection::Denied { what: "the choice of a congestion control" });
    }
    Ok(())
}

fn check_marking(marking: &Marking) -> Result<(), Objection> {
    let hops = marking.hop_limit.map_or(1, u64::from);
    range("hop limit", hops, 1, u64::from(u8::MAX))?;
    let label = marking.flow_label.map_or(1, u64::from);
    range("flow label", label, 1, u64::from(Marking::FLOW_LABEL_MAX))
}

fn check_arms(task: &Task) -> Result<(), Objection> {
    match (task.workload.interleaving(), task.arms.as_slice()) {
        (Interleaving::Trial, [_]) => Ok(()),
        (Interleaving::Trial, _) => Err(Objection::Arms { needed: "one arm" }),
        (Interleaving::Slice, [first, second]) if [first.arm, second.arm] == Arm::BOTH => Ok(()),
        (Interleaving::Slice, _) => Err(Objection::Arms { needed: "arm a and arm b" }),
    }
}

/// Largest UDP payload that every family of the task can carry, at either end.
fn datagram_bytes_max(task: &Task) -> u32 {
    let families = task.arms.iter().flat_map(|arm| [arm.family, *task.arrives.get(arm.family)]);
    families.map(Family::udp_payload_bytes_max).min().unwrap_or(0)
}

fn check_tcp_bulk(bulk: &TcpBulk, limits: &Limits) -> Result<(), Objection> {
    check_times(bulk.duration_ns, bulk.warmup_ns, limits)?;
    let most = u64::from(limits.message_bytes);
    range("bytes in one write", u64::from(bulk.write_bytes), 1, most)?;
    range("streams", u64::from(bulk.streams), 1, u64::from(TcpBulk::STREAMS_MAX))?;
    range("connections", bulk.connections(), 1, u64::from(limits.connections))?;
    check_settings(&bulk.settings)?;
    // Without a pace, or without a number of bytes, the server holds it to what it allows.
    if let Some(rate_bps) = bulk.pacing_bps {
        range("pace in bit/s", rate_bps, 1, limits.rate_bps.unwrap_or(u64::MAX))?;
    }
    match bulk.bytes {
        Some(bytes) => range("bytes in all", bytes, 1, limits.task_bytes.unwrap_or(u64::MAX)),
        None => Ok(()),
    }
}

fn check_settings(settings: &StreamSettings) -> Result<(), Objection> {
    if !settings.congestion.as_deref().is_none_or(is_congestion_name) {
        return Err(Objection::Congestion);
    }
    if let Some(bytes) = settings.buffer_bytes {
        let most = u64::from(StreamSettings::BUFFER_BYTES_MAX);
        range("bytes of a socket buffer", u64::from(bytes), 1, most)?;
    }
    if let Some(bytes) = settings.mss_bytes {
        let (least, most) = (StreamSettings::MSS_BYTES.start(), StreamSettings::MSS_BYTES.end());
        let most = u64::from(*most);
        range("bytes of a segment", u64::from(bytes), u64::from(*least), most)?;
    }
    Ok(())
}

fn check_udp_bulk(bulk: &UdpBulk, payload_max: u32, limits: &Limits) -> Result<(), Objection> {
    check_times(bulk.duration_ns, bulk.warmup_ns, limits)?;
    check_message("payload bytes of a datagram", bulk.payload_bytes, payload_max, limits)?;
    if let Some(what) = bulk.problem(HEADER_BYTES as u32) {
        return Err(Objection::Senseless { what });
    }
    // The pace of a stream that is off at times is that of the time that it is on.
    match bulk.asked_bps().map(|mean_bps| mean_bps.max(bulk.rate_bps.unwrap_or(0))) {
        Some(rate_bps) => {
            range("rate in bit/s", rate_bps, 1, limits.rate_bps.unwrap_or(u64::MAX))?;
        }
        None if limits.rate_bps.is_some() => {
            return check_unbounded("UDP bulk without a rate", limits);
        }
        None => {}
    }
    match bulk.bytes_max() {
        Some(bytes) => check_bytes(bytes, limits),
        None => check_unbounded("UDP bulk without a rate", limits),
    }
}

fn check_echo(echo: &Echo, payload_max: u32, limits: &Limits) -> Result<(), Objection> {
    let (largest, answer_max) = match echo.transport {
        Transport::Tcp => (limits.message_bytes, limits.message_bytes),
        // Whoever can make others believe in a source address must not gain by a server's answers.
        Transport::Udp => (payload_max, echo.message_bytes),
        Transport::Icmp => (payload_max, echo.message_bytes),
    };
    check_message("bytes of a message", echo.message_bytes, largest, limits)?;
    check_message("bytes of an answer", echo.answer_bytes(), answer_max, limits)?;
    if echo.transport == Transport::Icmp && echo.answer_bytes() != echo.message_bytes {
        return Err(Objection::Combination { what: "an ICMP answer of another size" });
    }
    let fragments = Marking { dont_fragment: false, ..echo.marking };
    if echo.transport == Transport::Icmp && fragments != Marking::default() {
        return Err(Objection::Combination { what: "marking of ICMP echoes" });
    }
    check_settings(&echo.settings)?;
    if echo.transport == Transport::Icmp && echo.settings.buffer_bytes.is_some() {
        return Err(Objection::Combination { what: "socket buffers of ICMP echoes" });
    }
    if echo.settings.require_buffer {
        return Err(Objection::Combination { what: "round trips with required socket buffers" });
    }
    let outstanding_max = match (echo.transport, echo.timing) {
        (Transport::Icmp, _) | (_, Timing::Batch) => 1,
        (Transport::Tcp | Transport::Udp, Timing::Each) => Echo::OUTSTANDING_MAX,
    };
    range("requests outstanding", u64::from(echo.outstanding), 1, u64::from(outstanding_max))?;
    range("connections", u64::from(echo.connections), 1, u64::from(limits.connections))?;
    // The header counts the turns of both arms in 16 bits, and each connection has one to warm up.
    let warmups = if echo.warmup_exchanges > 0 { echo.connections } else { 0 };
    let most = u64::from(u16::MAX / 2).saturating_sub(warmups.into());
    range("turns", u64::from(echo.turns), 1, most)?;
    range("exchanges of a turn", u64::from(echo.turn_exchanges), 1, u64::from(u32::MAX))?;
    // The header counts messages in 32 bits.
    let most = limits.exchanges.min(u64::from(u32::MAX));
    let exchanges = echo.exchanges();
    range("exchanges in all", exchanges, 1, most)?;
    let bytes = echo.bytes_each_way();
    check_bytes(2 * u128::from(bytes), limits)?;
    range("bytes of all exchanges", bytes.saturating_mul(2), 0, exchanged_bytes_most(limits))
}

fn check_probe(probe: &Probe, payload_max: u32, limits: &Limits) -> Result<(), Objection> {
    let most = u64::from(payload_max.min(limits.message_bytes));
    range("payload bytes of a probe", u64::from(probe.payload_bytes), PROBE_BYTES as u64, most)?;
    // The header counts the turns of both arms in 16 bits.
    range("turns", u64::from(probe.turns), 1, u64::from(u16::MAX / 2))?;
    range("packets of a turn", u64::from(probe.turn_packets), 1, Probe::PACKETS_MAX)?;
    let most = limits.exchanges.min(Probe::PACKETS_MAX);
    range("packets in all", probe.packets_max(), 1, most)?;
    range("interval in ns", probe.interval_ns, 1_000, limits.task_ns)?;
    range("waiting time in ns", probe.timeout_ns, 1, limits.task_ns)?;
    range("duration in ns", probe.longest_ns(2), 1, limits.task_ns)?;
    if !matches!(probe.law, Law::Constant | Law::Periodic | Law::Poisson) {
        return Err(Objection::Law);
    }
    let most = limits.rate_bps.unwrap_or(u64::MAX);
    range("rate in bit/s", probe.rate_bps(), 1, most)?;
    // Without a load both arms of a block take turns.
    let arms = if probe.load.is_some() { 1 } else { 2 };
    let bytes = u128::from(probe.packets_max()) * u128::from(probe.payload_bytes);
    check_bytes(arms * bytes, limits)?;
    let longest_ns = probe.longest_ns(2);
    let most = load_bps_most(probe, limits);
    probe.load.as_ref().map_or(Ok(()), |load| check_load(load, longest_ns, most, limits))
}

/// The sender is told how fast to go by the other end, which may say anything: the highest rate and
/// the time are what bound it.
fn check_capacity(capacity: &Capacity, limits: &Limits) -> Result<(), Objection> {
    if let Some(what) = capacity.problem() {
        return Err(Objection::Senseless { what });
    }
    let most = u64::from(limits.message_bytes);
    range("payload bytes of a datagram", u64::from(capacity.payload_bytes), 1, most)?;
    let most = limits.rate_bps.unwrap_or(u64::MAX);
    range("highest rate in bit/s", capacity.rate_bps_max, 1, most)?;
    range("duration in ns", capacity.longest_ns(), 1, limits.task_ns)?;
    check_bytes(capacity.bytes_max(), limits)
}

fn check_load(
    load: &Load,
    longest_ns: u64,
    bps_most: Option<u64>,
    limits: &Limits,
) -> Result<(), Objection> {
    let most = limits.connections / load.ways().len() as u32;
    let most = most.min(Probe::STREAMS_MAX);
    range("streams of the load", u64::from(load.streams), 1, u64::from(most))?;
    range("lead of the load in ns", load.lead_ns, 0, Probe::LEAD_NS_MAX)?;
    check_settings(&load.settings)?;
    if let Some(udp) = &load.udp {
        let each = Family::BOTH.map(Family::udp_payload_bytes_max);
        let largest = each.into_iter().min().unwrap_or(0);
        check_message("payload bytes of the load", udp.payload_bytes, largest, limits)?;
        if let Some(what) = udp.stream(longest_ns).problem(HEADER_BYTES as u32) {
            return Err(Objection::Senseless { what });
        }
    }
    match (load.asked_bps(), load.transport()) {
        (Some(rate_bps), _) => {
            range("rate of the load in bit/s", rate_bps, 1, bps_most.unwrap_or(u64::MAX))
        }
        // The server holds it to what it allows.
        (None, Transport::Tcp) => {
            range("rate left for the load in bit/s", bps_most.unwrap_or(u64::MAX), 1, u64::MAX)
        }
        (None, _) => check_unbounded("a load of datagrams without a rate", limits),
    }
}

fn check_connect(connect: &Connect, limits: &Limits) -> Result<(), Objection> {
    let most = limits.exchanges.min(u64::from(Connect::COUNT_MAX));
    range("connections in all", u64::from(connect.count), 1, most)?;
    let most = connect.concurrent_max().min(limits.connections);
    range("connections at a time", u64::from(connect.concurrent), 1, u64::from(most))?;
    if connect.purpose == Purpose::Hold {
        range("connections held", u64::from(connect.count), 1, u64::from(limits.held))?;
    }
    Ok(())
}

fn check_times(duration_ns: u64, warmup_ns: u64, limits: &Limits) -> Result<(), Objection> {
    range("duration in ns", duration_ns, 1, limits.task_ns)?;
    range("warm-up in ns", warmup_ns, 0, duration_ns - 1)
}

fn check_message(
    what: &'static str,
    bytes: u32,
    largest: u32,
    limits: &Limits,
) -> Result<(), Objection> {
    let most = largest.min(limits.message_bytes);
    range(what, u64::from(bytes), HEADER_BYTES as u64, u64::from(most))
}

fn check_bytes(bytes: u128, limits: &Limits) -> Result<(), Objection> {
    let found = u64::try_from(bytes).unwrap_or(u64::MAX);
    range("bytes in all", found, 0, limits.task_bytes.unwrap_or(u64::MAX))
}

/// Objects to a workload whose rate is the path's own if rate or bytes are limited.
fn check_unbounded(workload: &'static str, limits: &Limits) -> Result<(), Objection> {
    let objection = |what| Err(Objection::Unbounded { what, workload });
    match (limits.rate_bps, limits.task_bytes) {
        (Some(_), _) => objection("the rate"),
        (None, Some(_)) => objection("the bytes of a task"),
        (None, None) => Ok(()),
    }
}

/// True if `name` can be a congestion control: Linux allows 15 bytes and a final zero.
fn is_congestion_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    (1..=15).contains(&name.len()) && name.bytes().all(allowed)
}

fn range(what: &'static str, found: u64, least: u64, most: u64) -> Result<(), Objection> {
    if (least..=most).contains(&found) {
        Ok(())
    } else {
        Err(Objection::Range { what, found, least, most })
    }
}

#[cfg(test)]
mod tests;
