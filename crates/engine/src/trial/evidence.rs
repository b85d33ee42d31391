//! Evidence of a trial besides its value: counters, processor time and clocks before and after, and
//! what the sockets say of themselves.
//!
//! What the host cannot tell is noted in words and never replaced.

use super::sockets::marking;
use std::net::SocketAddr;
use v6gap_core::family::Family;
use v6gap_core::observation::Measured;
use v6gap_core::observation::{Busy, EndReport, Endpoints, Granted, MachineUse, TcpAccount};
use v6gap_sys::counters::Snapshot;
use v6gap_sys::perf::{Counted, Counting};
use v6gap_sys::socket::{Datagram, Domain, SocketError, Stream, TcpInfo};
use v6gap_sys::usage::{self, MachineTicks, Usage};
use v6gap_sys::{Unavailable, clock, counters, cpu, files, thread};

/// The state of the host before the first packet of a trial.
#[derive(Debug)]
pub(super) struct Before {
    processor: Option<u32>,
    machine: Option<Machine>,
    counters: Option<Snapshot>,
    clock_ns: i64,
    counting: Option<Counting>,
    usage: Option<Usage>,
    unavailable: Vec<String>,
}

impl Before {
    /// Holds the calling thread on `processor`, if one is named, and looks at the host.
    pub(super) fn look(processor: Option<usize>) -> Self {
        let mut unavailable = Vec::new();
        let pinned = processor
            .filter(|&number| available(cpu::pin_thread(number), &mut unavailable).is_some());
        Before {
            processor: pinned.and_then(|number| u32::try_from(number).ok()),
            machine: available(Machine::look(), &mut unavailable),
            counters: counters(&mut unavailable),
            clock_ns: clock::wall_minus_mono_ns(),
            // A host that has none says so once, among its facts.
            counting: Counting::start().ok(),
            // Last, because reading the counters costs processor time itself.
            usage: available(usage::thread(), &mut unavailable),
            unavailable,
        }
    }

    /// What has changed since, after the last packet of the trial. To be called on the same thread.
    pub(super) fn report(self) -> EndReport {
        let mut unavailable = self.unavailable;
        let counted_cycles = self.counting.and_then(|mut counting| counting.read());
        let used = self.usage.zip(usage::thread().ok()).map(|(before, now)| now.since(&before));
        let clock_step_ns = clock::wall_minus_mono_ns() - self.clock_ns;
        let counted = self.counters.zip(counters::snapshot().ok());
        let now = Machine::look().ok();
        let ticks = self.machine.zip(now).map(|(before, now)| (before.ticks, now.ticks));
        unavailable.dedup();
        EndReport {
            user_ns: used.map(|used| used.user_ns),
            system_ns: used.map(|used| used.system_ns),
            switches_involuntary: used.map(|used| used.switches_involuntary),
            switches_voluntary: used.map(|used| used.switches_voluntary),
            cycles: counted_cycles.map(|counted| counted.cycles),
            instructions: counted_cycles.map(|counted| counted.instructions),
            machine: now.zip(self.machine).and_then(|(now, before)| machine_use(&now, &before)),
            softirq_ns: ticks.map(|(a, b)| b.softirq.saturating_sub(a.softirq) * b.ns_per_tick),
            steal_share: ticks.and_then(|(a, b)| steal_share(&a, &b)),
            processor: self.processor,
            clock_step_ns,
            counters: counted.map(|(a, b)| b.since(&a).into()).unwrap_or_default(),
            unavailable,
            ..EndReport::default()
        }
    }
}

/// The whole machine at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    ticks: MachineTicks,
    at_ns: u64,
}

impl Machine {
    pub(super) fn look() -> Result<Self, Unavailable> {
        Ok(Machine { ticks: usage::machine()?, at_ns: clock::now_ns() })
    }

    pub(super) fn busy_since(&self, earlier: &Self) -> Busy {
        let of = |machine: &Self| Busy {
            span_ns: machine.at_ns,
            busy_ns: machine.ticks.busy().saturating_mul(machine.ticks.ns_per_tick),
            interrupts_ns: machine.ticks.interrupts().saturating_mul(machine.ticks.ns_per_tick),
        };
        of(self).since(&of(earlier))
    }
}

/// Without the machine's number it could not be told from the other end's.
fn machine_use(now: &Machine, before: &Machine) -> Option<MachineUse> {
    let machine = usage::machine_number().ok()?;
    Some(MachineUse { machine, trial: now.busy_since(before), idle: None })
}

/// Tells the ends that sent datagrams what the queues before their own interfaces dropped.
pub fn note_queue_drops(ends: [&mut EndReport; 2]) {
    for end in ends {
        let drops = end.queue_drops().map(|(_, drops)| drops);
        let sent = match &mut end.measured {
            Measured::Sent(sent)
            | Measured::BothWays { sent, .. }
            | Measured::Delivered { sent, .. } => sent,
            Measured::Searched(searched) => &mut searched.sent,
            _ => continue,
        };
        if sent.packets > 0 {
            sent.queue_dropped = drops;
        }
    }
}

/// What one more measuring thread of a trial used.
#[derive(Debug)]
pub(super) struct Used {
    usage: Option<Usage>,
    counted: Option<Counted>,
}

/// Does `work` and says what it used of the calling thread.
pub(super) fn using<T>(work: impl FnOnce() -> T) -> (T, Used) {
    let counting = Counting::start().ok();
    let before = usage::thread().ok();
    let outcome = work();
    let counted = counting.and_then(|mut counting| counting.read());
    let usage = before.zip(usage::thread().ok()).map(|(before, now)| now.since(&before));
    (outcome, Used { usage, counted })
}

/// [`using`] on a thread of its own with a table of open files of its own ([`files::keep_apart`]).
///
/// # Errors
/// If no thread can be started.
pub(super) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<(T, Used)> {
    thread::aside(|| {
        files::keep_apart();
        using(work)
    })
}

/// Adds what another measuring thread used. What is unknown of one is unknown of all.
pub(super) fn add_used(report: &mut EndReport, used: &Used) {
    let Used { usage, counted } = used;
    let add = |sum: &mut Option<u64>, more: Option<u64>| *sum = sum.zip(more).map(|(a, b)| a + b);
    add(&mut report.user_ns, usage.map(|u| u.user_ns));
    add(&mut report.system_ns, usage.map(|u| u.system_ns));
    add(&mut report.switches_voluntary, usage.map(|u| u.switches_voluntary));
    add(&mut report.switches_involuntary, usage.map(|u| u.switches_involuntary));
    add(&mut report.cycles, counted.map(|c| c.cycles));
    add(&mut report.instructions, counted.map(|c| c.instructions));
}

/// All counters; those of queues may be missing while the others are there.
fn counters(unavailable: &mut Vec<String>) -> Option<Snapshot> {
    let snapshot = available(counters::snapshot(), unavailable)?;
    if !snapshot.values.keys().any(|name| name.starts_with("queue.")) {
        available(counters::queues_told(), unavailable);
    }
    Some(snapshot)
}

fn available<T>(outcome: Result<T, Unavailable>, unavailable: &mut Vec<String>) -> Option<T> {
    outcome.map_err(|missing| unavailable.push(missing.to_string())).ok()
}

/// Share of the ticks of all processors that the hypervisor took; `None` if no tick passed.
fn steal_share(before: &MachineTicks, after: &MachineTicks) -> Option<f64> {
    let all = |t: &MachineTicks| {
        t.user + t.nice + t.system + t.idle + t.iowait + t.irq + t.softirq + t.steal
    };
    let passed = all(after).saturating_sub(all(before));
    (passed > 0).then(|| after.steal.saturating_sub(before.steal) as f64 / passed as f64)
}

/// The family of a socket itself.
fn family(domain: Domain) -> Family {
    match domain {
        Domain::V4 => Family::V4,
        Domain::V6 => Family::V6,
    }
}

/// The proof of family of a connection; to be taken while it stands.
pub fn stream_endpoints(stream: &Stream) -> Result<Endpoints, SocketError> {
    let domain = family(stream.domain()?);
    Ok(Endpoints { domain, local: stream.local()?, peer: stream.peer()? })
}

/// The proof of family of a UDP socket that talks to `peer`.
pub fn datagram_endpoints(socket: &Datagram, peer: SocketAddr) -> Result<Endpoints, SocketError> {
    Ok(Endpoints { domain: family(socket.domain()?), local: socket.local()?, peer })
}

/// Settings of a connection and the kernel's account of it, where there is one.
pub fn stream_granted(stream: &Stream) -> Result<(Granted, Option<TcpInfo>), SocketError> {
    let got = stream.got()?;
    let info = stream.info().ok();
    let incoming = stream.incoming();
    let granted = Granted {
        send_buffer: Some(got.send_buffer),
        receive_buffer: Some(got.receive_buffer),
        congestion: got.congestion,
        mss: info.map(|info| info.snd_mss).or(got.mss),
        path_mtu: info.map(|info| info.pmtu),
        timestamps: info.map(|info| info.timestamps),
        no_delay: Some(got.no_delay),
        marking: marking(stream.marks()?),
        arrived: stream.arrived_marks().ok().map(marking),
        pacing_bps: stream.pace().ok().flatten().map(|bytes| bytes.saturating_mul(8)),
        incoming_processor: incoming.processor,
        incoming_queue: incoming.queue,
    };
    Ok((granted, info))
}

/// What of a kernel's account of a connection is stored.
pub fn account(info: &TcpInfo) -> TcpAccount {
    TcpAccount {
        mss: info.snd_mss,
        rtt_us: info.rtt_us,
        rtt_var_us: info.rtt_var_us,
        min_rtt_us: info.min_rtt_us,
        cwnd: info.snd_cwnd,
        bytes_sent: info.bytes_sent,
        bytes_retransmitted: info.bytes_retrans,
        bytes_acked: info.bytes_acked,
        bytes_received: info.bytes_received,
        segments_out: info.segs_out,
        segments_in: info.segs_in,
        data_segments_out: info.data_segs_out,
        retransmitted_segments: info.total_retrans,
        busy_us: info.busy_us,
        window_limited_us: info.rwnd_limited_us,
        buffer_limited_us: info.sndbuf_limited_us,
        delivered_ce: info.delivered_ce,
    }
}

/// Settings of a UDP socket.
pub fn datagram_granted(socket: &Datagram) -> Result<Granted, SocketError> {
    let incoming = socket.incoming();
    Ok(Granted {
        incoming_processor: incoming.processor,
        incoming_queue: incoming.queue,
        send_buffer: Some(socket.send_buffer()?),
        receive_buffer: Some(socket.receive_buffer()?),
        path_mtu: socket.path_mtu().ok(),
        marking: marking(socket.marks()?),
        ..Granted::default()
    })
}
