//! Gates on the two hosts: was the instrument itself in order while it measured?

use super::{caveat, ends, fatal};
use alloc::format;
use alloc::vec::Vec;
use v6gap_core::capacity::{row_bps, row_up_to};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, Measured, Received};
use v6gap_core::plan::Plan;
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::unit;
use v6gap_core::workload::{Cell, Search, Transport, Workload};
use v6gap_core::world::{LinkModel, World};

/// A slewed clock moves by at most 500 ppm; what is beyond this and 1 ms per second is a step.
const CLOCK_STEP_NS: u64 = 10_000_000;

/// More than this share of processor time taken by the hypervisor spoils a trial.
const STEAL_SHARE_MAX: f64 = 0.01;

/// The kernel counts stolen time in ticks of 10 ms; short trials may see two by rounding alone.
const STEAL_TICKS_S: f64 = 0.03;

/// Median lateness of the user-space link that is always borne, in ns: short round trips are still
/// the model's.
const LATENESS_NS_MAX: u64 = 5_000;

/// Share of a round trip that the lateness of all its crossings of a link may take.
const LATENESS_SHARE_MAX: f64 = 0.005;

/// More than this share of the datagrams of a schedule left out is a rate that was missed.
const SKIPPED_SHARE_MAX: f64 = 0.01;

/// A sender at full speed that waited for room for less than this share of the time is the
/// bottleneck itself.
const BLOCKED_SHARE_MIN: f64 = 0.01;

/// Counters that only move when a host drops or damages what was measured.
const DROPS: [(&str, &str); 5] = [
    ("softnet.dropped", "packets dropped because the processor did not keep up"),
    ("TcpExt.TCPMemoryPressures", "TCP ran short of memory"),
    ("TcpExt.PruneCalled", "TCP receive queue pruned for want of memory"),
    ("TcpExt.RcvPruned", "TCP segments dropped for want of memory"),
    ("Tcp.InCsumErrors", "damaged TCP segments"),
];

/// For each family the counters of datagrams in fragments that did not become whole, of those of
/// them that the path spoiled, and what the rest of them means.
const REASSEMBLY: [(&str, &[&str], &str); 2] = [
    (
        "Ip.ReasmFails",
        &["Ip.ReasmTimeout", "IpExt.ReasmOverlaps"],
        "IPv4 fragments dropped in reassembly",
    ),
    ("Ip6.ReasmFails", &["Ip6.ReasmTimeout"], "IPv6 fragments dropped in reassembly"),
];

/// Counters of a listener that turns connections away.
const LISTENER: [(&str, &str); 3] = [
    ("TcpExt.ListenOverflows", "connections refused because the queue was full"),
    ("TcpExt.ListenDrops", "connections dropped by the listener"),
    ("TcpExt.TCPReqQFullDrop", "connection requests dropped"),
];

/// Counters of datagrams that found a receive buffer full.
const FULL_BUFFERS: [(&str, &str); 2] = [
    ("Udp.RcvbufErrors", "datagrams dropped at a full receive buffer"),
    ("Udp6.RcvbufErrors", "datagrams dropped at a full receive buffer"),
];

/// Counters of datagrams that a host lost in other ways.
const DATAGRAMS: [(&str, &str); 2] =
    [("Udp.InCsumErrors", "UDP checksum errors"), ("Udp6.InCsumErrors", "UDP checksum errors")];

pub(super) fn judge(
    plan: &Plan,
    cell: &Cell,
    trial: &TrialRecord,
    findings: &mut Vec<GateFinding>,
) {
    let both: Vec<_> = ends(trial).collect();
    for &(who, end) in &both {
        clock(trial, who, end, findings);
        steal(trial, who, end, findings);
        queue(plan, who, end, findings);
        moved(&DROPS, "host-drops", who, end, findings);
        reassembly(who, end, findings);
        refused_segments(who, end, findings);
        if matches!(cell.workload, Workload::Connect(_)) {
            moved(&LISTENER, "listener", who, end, findings);
        }
        if cell.workload.transport() == Transport::Udp {
            let others = both.iter().filter(|(other, _)| *other != who);
            let is_shared = others.into_iter().any(|(_, other)| share_buffers(end, other));
            datagrams(cell, who, end, is_shared, findings);
            sender(cell, who, end, findings);
            search(cell, who, end, findings);
        }
        for what in &end.unavailable {
            findings.push(caveat("unavailable", format!("{who}: {what}")));
        }
    }
}

fn clock(trial: &TrialRecord, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let allowed = CLOCK_STEP_NS + trial.duration_ns / 1000;
    if end.clock_step_ns.unsigned_abs() > allowed {
        let ms = end.clock_step_ns / 1_000_000;
        findings.push(fatal("clock-step", format!("{who}: the clock was set by {ms} ms")));
    }
}

fn steal(trial: &TrialRecord, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let seconds = (trial.duration_ns as f64 / 1e9).max(1e-3);
    if let Some(share) = end.steal_share
        && share > steal_max(seconds)
    {
        let percent = share * 100.0;
        let seen = format!("{who}: the hypervisor took {percent:.1} % of the processor time");
        findings.push(fatal("steal", seen));
    }
}

/// The share of its processor time beyond which a trial of so many seconds is spoilt.
pub(crate) fn steal_max(seconds: f64) -> f64 {
    STEAL_SHARE_MAX + STEAL_TICKS_S / seconds
}

/// A fragment that never came is the path's, whose loss is measured: the kernel gives the datagram
/// up when its time is over, and counts that twice. Where IPv4's identifications of 16 bits come
/// round before that (RFC 4963), fragments of a later datagram lie over those that wait, which is
/// counted apart, too. Whatever else fails is the host's: it has no memory left for datagrams that
/// came in part.
fn reassembly(who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    for (failed, spoiled, meaning) in REASSEMBLY {
        let of_path: i64 = spoiled.iter().map(|counter| end.counter(counter)).sum();
        let count = end.counter(failed) - of_path;
        if count > 0 {
            let spoiled = spoiled.join(" and ");
            let seen = format!("{who}: {meaning} ({failed} {count} beyond {spoiled})");
            findings.push(fatal("host-drops", seen));
        }
    }
}

/// TCP counts as errors what its checksum finds, and also what a state does not allow: on a path
/// with loss a request for a connection comes again after the connection stands.
fn refused_segments(who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let refused = end.counter("Tcp.InErrs") - end.counter("Tcp.InCsumErrors");
    if refused > 0 {
        let seen = format!("{who}: TCP segments that no connection had asked for: {refused}");
        findings.push(caveat("refused-segments", seen));
    }
}

/// A sender at full speed may well outrun its receiver: that is what is found, and what the socket
/// dropped is known and not counted as lost. At a rate that was asked for, the receiver had to keep
/// up. Where both ends are one host, its counters are the receiver's, too.
fn datagrams(
    cell: &Cell,
    who: &str,
    end: &EndReport,
    is_shared: bool,
    findings: &mut Vec<GateFinding>,
) {
    moved(&DATAGRAMS, "host-drops", who, end, findings);
    let searches = matches!(cell.workload, Workload::Capacity(_));
    let full_speed = searches || cell.workload.rate_bps_most().is_none();
    match &end.measured {
        Measured::Received(Received { dropped: Some(dropped), packets, .. })
        | Measured::Delivered {
            received: Received { dropped: Some(dropped), packets, .. }, ..
        } if full_speed => {
            if *dropped > 0 {
                let percent = 100.0 * *dropped as f64 / (*dropped + packets) as f64;
                let seen = format!(
                    "{who}: the receiver did not keep up and dropped {percent:.1} % of what came"
                );
                findings.push(caveat("receiver-bound", seen));
            }
        }
        Measured::Sent(_) | Measured::Searched(_) if full_speed && is_shared => {}
        _ => moved(&FULL_BUFFERS, "host-drops", who, end, findings),
    }
}

/// Whether two ends counted the same datagrams that found a receive buffer full.
fn share_buffers(end: &EndReport, other: &EndReport) -> bool {
    FULL_BUFFERS.iter().all(|(name, _)| end.counter(name) == other.counter(name))
}

/// Was what was asked for sent, and if all that goes was asked for, who set the limit?
fn sender(cell: &Cell, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let (Workload::UdpBulk(bulk), Measured::Sent(sent) | Measured::Delivered { sent, .. }) =
        (&cell.workload, &end.measured)
    else {
        return;
    };
    let planned = sent.packets.saturating_add(sent.skipped);
    let skipped = sent.skipped as f64 / planned.max(1) as f64;
    if skipped > SKIPPED_SHARE_MAX {
        let percent = skipped * 100.0;
        let seen = format!("{who}: {percent:.1} % of the datagrams asked for could not be sent");
        findings.push(caveat("rate-missed", seen));
    }
    let idle = |blocked_ns: u64| (blocked_ns as f64) < BLOCKED_SHARE_MIN * sent.span_ns as f64;
    if bulk.asked_bps().is_none() && sent.blocked_ns.is_some_and(idle) {
        let seen = format!("{who}: the sender, not the network, set the rate");
        findings.push(caveat("sender-bound", seen));
    }
}

/// Did a search end where the path did, or where it was told to stop, or at what its own host can
/// send?
fn search(cell: &Cell, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let (Workload::Capacity(capacity), Measured::Searched(searched)) =
        (&cell.workload, &end.measured)
    else {
        return;
    };
    let most_bps = match capacity.search {
        Search::Load { .. } => row_bps(row_up_to(capacity.rate_bps_max)),
        Search::Halving { .. } => capacity.rate_bps_max,
    };
    let tried = searched.rates.iter().any(|&(_, rate_bps)| rate_bps >= most_bps);
    let carried = searched.trials.iter().any(|t| t.carried && t.rate_bps >= most_bps);
    // A queue that sends as fast as it may holds the sender back at rates far above its own.
    let sent = &searched.sent;
    let idle = |blocked_ns: u64| (blocked_ns as f64) < BLOCKED_SHARE_MIN * sent.span_ns as f64;
    let idle = sent.blocked_ns.is_some_and(idle);
    let planned = sent.packets.saturating_add(sent.skipped);
    let skipped = sent.skipped as f64 / planned.max(1) as f64;
    if idle && skipped > SKIPPED_SHARE_MAX {
        let seen = format!("{who}: the sender, not the network, set the highest rate");
        findings.push(caveat("sender-bound", seen));
    } else if idle && tried || carried {
        let most = unit::format_rate(most_bps as f64);
        let seen = format!("{who}: the search reached {most}, the highest rate that it may try");
        findings.push(caveat("search-bound", seen));
    }
}

/// Packets that never left the host. The lab's own queue is its link's.
fn queue(plan: &Plan, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let shaped = |world: &World| world.model != LinkModel::Bare;
    if let Some((interface, drops)) = end.queue_drops()
        && !plan.world.as_ref().is_some_and(shaped)
    {
        let seen = format!(
            "{who}: its own queue before {interface} dropped {drops} packets, which the network \
             did not lose"
        );
        findings.push(caveat("queue-drops", seen));
    }
}

fn moved(
    counters: &[(&str, &str)],
    gate: &str,
    who: &str,
    end: &EndReport,
    findings: &mut Vec<GateFinding>,
) {
    for (name, meaning) in counters {
        if let Some(count) = end.counters.get(name)
            && count > 0
        {
            findings.push(fatal(gate, format!("{who}: {meaning} ({name} {count})")));
        }
    }
}

/// A late link adds its lateness to what is timed one by one, and a full queue of a link as fast as
/// the sender's shaper means that the link, not the network, lost datagrams.
///
/// `block` is the trial and the other one of its block: both bear the same.
pub(super) fn lateness(
    plan: &Plan,
    cell: &Cell,
    block: [&TrialRecord; 2],
    findings: &mut Vec<GateFinding>,
) {
    let wire = plan.world.as_ref().filter(|world| world.model == LinkModel::Wire);
    let (Some(world), Some(link)) = (wire, &block[0].link) else { return };
    let timed = cell.workload.direction().is_none();
    // What is lost of frames is not touched by it, and how late they are is.
    let of_frames = cell.workload.metrics().contains(&Metric::FrameLateness);
    if (timed || of_frames) && link.p50_ns > lateness_borne_ns(world, block) {
        let us = link.p50_ns as f64 / 1000.0;
        let seen = format!("the user-space link was {us:.1} µs late");
        findings.push(if timed { fatal("link-late", seen) } else { caveat("link-late", seen) });
    }
    let met = Family::BOTH.into_iter().flat_map(|family| world.ways(family)).flatten();
    let mut rates = met.map(|way| way.rate_bps);
    let first = rates.next();
    // Elsewhere a queue before a slower line, or one for both families, overflows as it should.
    let even = rates.all(|rate| Some(rate) == first);
    if matches!(cell.workload, Workload::UdpBulk(_) | Workload::Frames(_))
        && even
        && link.dropped > 0
    {
        let seen = format!("the user-space link dropped {} frames", link.dropped);
        findings.push(fatal("link-drops", seen));
    }
}

/// The median lateness that the trials of a block bear, in ns: what waits long in queues bears
/// more. The shorter of their round trips counts, of which connecting is one, and the longer of
/// their ways, whatever their families.
fn lateness_borne_ns(world: &World, block: [&TrialRecord; 2]) -> u64 {
    let crossed = |family| world.ways(family).iter().map(|met| met.len()).sum::<usize>();
    let crossings = block.map(|trial| crossed(trial.family)).into_iter().max().unwrap_or(0);
    let rtts_ns = block.map(|trial| {
        let one = [Metric::Rtt, Metric::Connect].into_iter().find_map(|m| trial.values.get(&m));
        one.map_or(0.0, |rtt| rtt * 1e9)
    });
    let rtt_ns = rtts_ns.into_iter().fold(f64::INFINITY, f64::min);
    let share_ns = LATENESS_SHARE_MAX * rtt_ns / crossings.max(1) as f64;
    LATENESS_NS_MAX.max(share_ns as u64)
}
