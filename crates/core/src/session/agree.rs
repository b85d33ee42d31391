//! What a server agrees to do: every field of a task is checked against its limits before anything
//! is started, because a task comes from the network.

use crate::task::Task;
use crate::wire::control::Limits;
use crate::workload::{
    Capacity, Connect, Echo, Impossible, Load, Marking, Probe, Purpose, TcpBulk, Transport,
    UdpBulk, Workload, range,
};

/// Why a server does not do a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// It cannot be done, or is beyond what is allowed here.
    #[error(transparent)]
    Impossible(#[from] Impossible),
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
}

/// Longest time that a task may take, in ns, by its own numbers or else by the limits.
pub fn bound_ns(workload: &Workload, limits: &Limits) -> u64 {
    workload.longest_ns().unwrap_or(limits.task_ns)
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

/// Checks every field of a task: whether it can be done at all, and whether it is within `limits`.
///
/// # Errors
/// The first objection.
pub fn check(task: &Task, limits: &Limits) -> Result<(), Objection> {
    task.check()?;
    check_allowed(&task.workload, limits)?;
    range("duration in ns", task.workload.longest_ns().unwrap_or(0), 0..=limits.task_ns)?;
    match &task.workload {
        Workload::TcpBulk(bulk) => check_tcp_bulk(bulk, limits),
        Workload::UdpBulk(bulk) => check_udp_bulk(bulk, limits),
        Workload::Echo(echo) => check_echo(echo, limits),
        Workload::Connect(connect) => check_connect(connect, limits),
        Workload::Probe(probe) => check_probe(probe, limits),
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

fn check_tcp_bulk(bulk: &TcpBulk, limits: &Limits) -> Result<(), Objection> {
    range("bytes in one write", bulk.write_bytes, 1..=limits.message_bytes.into())?;
    range("connections", bulk.connections(), 1..=limits.connections.into())?;
    // Without a pace, or without a number of bytes, the server holds it to what it allows.
    check_rate("pace in bit/s", bulk.pacing_bps.unwrap_or(1), limits)?;
    check_bytes(bulk.bytes.unwrap_or(0).into(), limits)
}

fn check_udp_bulk(bulk: &UdpBulk, limits: &Limits) -> Result<(), Objection> {
    check_message("payload bytes of a datagram", bulk.payload_bytes, limits)?;
    // The pace of a stream that is off at times is that of the time that it is on.
    match bulk.asked_bps().map(|mean_bps| mean_bps.max(bulk.rate_bps.unwrap_or(0))) {
        Some(rate_bps) => check_rate("rate in bit/s", rate_bps, limits)?,
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

fn check_echo(echo: &Echo, limits: &Limits) -> Result<(), Objection> {
    check_message("bytes of a message", echo.message_bytes, limits)?;
    check_message("bytes of an answer", echo.answer_bytes(), limits)?;
    range("connections", echo.connections, 1..=limits.connections.into())?;
    range("exchanges in all", echo.exchanges(), 1..=limits.exchanges)?;
    let bytes = echo.bytes_each_way();
    check_bytes(2 * u128::from(bytes), limits)?;
    let most = exchanged_bytes_most(limits);
    Ok(range("bytes of all exchanges", bytes.saturating_mul(2), 0..=most)?)
}

fn check_connect(connect: &Connect, limits: &Limits) -> Result<(), Objection> {
    range("connections in all", connect.count, 1..=limits.exchanges)?;
    range("connections at a time", connect.concurrent, 1..=limits.connections.into())?;
    if connect.purpose == Purpose::Hold {
        range("connections held", connect.count, 1..=limits.held.into())?;
    }
    Ok(())
}

fn check_probe(probe: &Probe, limits: &Limits) -> Result<(), Objection> {
    check_message("payload bytes of a probe", probe.payload_bytes, limits)?;
    range("packets in all", probe.packets_max(), 1..=limits.exchanges)?;
    range("interval in ns", probe.interval_ns, 1..=limits.task_ns)?;
    range("waiting time in ns", probe.timeout_ns, 1..=limits.task_ns)?;
    check_rate("rate in bit/s", probe.rate_bps(), limits)?;
    // Without a load both arms of a block take turns.
    let arms = if probe.load.is_some() { 1 } else { 2 };
    let bytes = u128::from(probe.packets_max()) * u128::from(probe.payload_bytes);
    check_bytes(arms * bytes, limits)?;
    let most = load_bps_most(probe, limits);
    probe.load.as_ref().map_or(Ok(()), |load| check_load(load, most, limits))
}

fn check_load(load: &Load, bps_most: Option<u64>, limits: &Limits) -> Result<(), Objection> {
    let most = limits.connections / load.ways().len() as u32;
    range("streams of the load", load.streams, 1..=most.into())?;
    if let Some(udp) = &load.udp {
        check_message("payload bytes of the load", udp.payload_bytes, limits)?;
    }
    let most = bps_most.unwrap_or(u64::MAX);
    match (load.asked_bps(), load.transport()) {
        (Some(rate_bps), _) => Ok(range("rate of the load in bit/s", rate_bps, 1..=most)?),
        // The server holds it to what it allows.
        (None, Transport::Tcp) => Ok(range("rate left for the load in bit/s", most, 1..=u64::MAX)?),
        (None, _) => check_unbounded("a load of datagrams without a rate", limits),
    }
}

/// The sender is told how fast to go by the other end, which may say anything: the highest rate and
/// the time are what bound it.
fn check_capacity(capacity: &Capacity, limits: &Limits) -> Result<(), Objection> {
    check_message("payload bytes of a datagram", capacity.payload_bytes, limits)?;
    check_rate("highest rate in bit/s", capacity.rate_bps_max, limits)?;
    check_bytes(capacity.bytes_max(), limits)
}

fn check_message(what: &'static str, bytes: u32, limits: &Limits) -> Result<(), Objection> {
    Ok(range(what, bytes, 1..=limits.message_bytes.into())?)
}

fn check_rate(what: &'static str, rate_bps: u64, limits: &Limits) -> Result<(), Objection> {
    Ok(range(what, rate_bps, 1..=limits.rate_bps.unwrap_or(u64::MAX))?)
}

fn check_bytes(bytes: u128, limits: &Limits) -> Result<(), Objection> {
    let found = u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(range("bytes in all", found, 0..=limits.task_bytes.unwrap_or(u64::MAX))?)
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

#[cfg(test)]
mod tests;
