//! Gates on the path: did anything happen on the way that changes what was measured?

use super::{caveat, families, fatal, traffic};
use alloc::format;
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::EndReport;
use v6gap_core::plan::Plan;
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::values;
use v6gap_core::wiremodel::{self, ETHERNET_HEADER_BYTES};
use v6gap_core::workload::{Cell, Transport, Workload};
use v6gap_core::world::model;
use v6gap_core::world::{Conditions, LinkModel, World};

/// Segments that a connection may send at its start (RFC 6928).
const INITIAL_WINDOW_SEGMENTS: u64 = 10;

/// Segment size where the sockets did not tell, in bytes.
const INITIAL_MSS: u32 = 1448;

/// Shortest retransmission timeout of Linux, in ns.
const RTO_NS_MIN: f64 = 200e6;

/// Segments sent again without need take at most this share of the time on the line.
const NEEDLESS_SHARE_MAX: f64 = 0.002;

pub(super) fn judge(
    plan: &Plan,
    cell: &Cell,
    trial: &TrialRecord,
    findings: &mut Vec<GateFinding>,
) {
    idle_restart(plan, cell, trial, findings);
    let mtu = path_bytes(plan, trial);
    let cut = mtu.map(|mtu| fragments_expected(cell, trial.family, mtu));
    for (who, end, family) in families(trial) {
        path_mtu(who, end, family, findings);
        fragments(cut, family, who, end, findings);
        incomplete(cut, family, who, end, findings);
        interfaces(who, end, findings);
        if timed(cell) && cell.workload.transport() == Transport::Tcp {
            retransmissions(plan, who, end, findings);
        }
        super_packets(plan, who, end, findings);
    }
    for (who, share) in traffic::others(plan, cell, trial) {
        let percent = share * 100.0;
        let text = format!("{who}: {percent:.1} % more bytes came in than the trial's own");
        findings.push(fatal("other-traffic", text));
    }
}

/// A connection that was silent for longer than its retransmission timeout starts slowly again
/// (RFC 5681 section 4.1, `tcp_slow_start_after_idle`), which a message of more than the initial
/// window meets. The lab has it off.
fn idle_restart(plan: &Plan, cell: &Cell, trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    let Workload::Echo(echo) = &cell.workload else { return };
    let Some(times) = values::times(Metric::Rtt, &trial.ends) else { return };
    if plan.world.is_some() || echo.transport != Transport::Tcp {
        return;
    }
    let mss = trial.ends.client.granted.mss.unwrap_or(INITIAL_MSS);
    let window = INITIAL_WINDOW_SEGMENTS * u64::from(mss);
    let larger = u64::from(echo.message_bytes.max(echo.answer_bytes()));
    // Between two turns of a connection all others of both arms have theirs.
    let others = f64::from(echo.connections) * 2.0 - 1.0;
    let idle_ns = others * f64::from(echo.turn_exchanges) * times.mean_ns;
    if larger > window && idle_ns > RTO_NS_MIN {
        let ms = idle_ns / 1e6;
        let seen = format!("connections rested for about {ms:.0} ms: TCP may start slowly again");
        findings.push(caveat("idle-restart", seen));
    }
}

fn timed(cell: &Cell) -> bool {
    matches!(cell.workload, Workload::Echo(_) | Workload::Connect(_) | Workload::Probe(_))
}

/// A path MTU that changes inside a trial changes the packets that it consists of (RFC 8201). Linux
/// counts "fragmentation needed" of IPv4 among "destination unreachable", which other programs'
/// traffic brings as well: so over neither family is it more than a reason for doubt.
fn path_mtu(who: &str, end: &EndReport, family: Family, findings: &mut Vec<GateFinding>) {
    let events: &[(&str, &str)] = match family {
        Family::V4 => &[("Icmp.InDestUnreachs", "\"destination unreachable\"")],
        Family::V6 => &[
            ("Icmp6.InPktTooBigs", "\"packet too big\""),
            ("Icmp6.InDestUnreachs", "\"destination unreachable\""),
        ],
    };
    for (name, what) in events {
        let count = end.counter(name);
        if count > 0 {
            findings.push(caveat("path-mtu", format!("{who}: {count} ICMP {what} came in")));
        }
    }
}

/// The path MTU: the world's, or what the ends' kernels assume; an end whose socket is not
/// connected does not know it.
pub(super) fn path_bytes(plan: &Plan, trial: &TrialRecord) -> Option<u32> {
    let told = trial.ends.all().filter_map(|end| end.granted.path_mtu);
    let of_world = plan.world.as_ref().map(|world| model::path_mtu(world, trial.family));
    of_world.or_else(|| told.min())
}

/// Fragments must appear exactly where the wire model says so; where the path MTU is not known, any
/// are worth a note.
fn fragments(
    expected: Option<bool>,
    family: Family,
    who: &str,
    end: &EndReport,
    findings: &mut Vec<GateFinding>,
) {
    let name = match family {
        Family::V4 => "Ip.FragCreates",
        Family::V6 => "Ip6.FragCreates",
    };
    let created = end.counter(name);
    if created == 0 || expected == Some(true) {
        return;
    }
    let make = if expected.is_some() { fatal } else { caveat };
    let seen = format!("{who}: {created} fragments were sent and none was expected");
    findings.push(make("fragmentation", seen));
}

/// A fragment that the path lost loses its datagram, which the loss measured has in it. The kernel
/// gives up waiting for it long after: other trials may count it, whose datagrams are whole.
fn incomplete(
    cut: Option<bool>,
    family: Family,
    who: &str,
    end: &EndReport,
    findings: &mut Vec<GateFinding>,
) {
    let count = match family {
        Family::V4 => end.counter("Ip.ReasmTimeout"),
        Family::V6 => end.counter("Ip6.ReasmTimeout"),
    };
    if count > 0 && cut == Some(true) {
        let seen = format!("{who}: {count} datagrams waited in vain for a fragment: they are lost");
        findings.push(caveat("incomplete", seen));
    }
}

fn fragments_expected(cell: &Cell, family: Family, mtu: u32) -> bool {
    let packets = |payload| wiremodel::udp_packets(payload, family, mtu);
    let is_cut = |payload| packets(payload).is_ok_and(|packets| packets.len() > 1);
    cell.workload.datagram_bytes_over(family).is_some_and(is_cut)
}

fn interfaces(who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    const BROKEN: [&str; 6] =
        ["rx_errors", "tx_errors", "rx_frame", "tx_carrier", "rx_fifo", "tx_fifo"];
    let Some(interface) = end.interface() else { return };
    for field in BROKEN {
        let name = format!("if.{interface}.{field}");
        let count = end.counter(&name);
        if count > 0 {
            findings.push(fatal("interface-errors", format!("{who}: {name} rose by {count}")));
        }
    }
}

/// In a lab every segment is the trial's own. On a shared host the counter also holds other
/// programs' segments, so there it is only a reason for doubt; the trimmed mean bears a few.
///
/// A segment that the receiver reports to have had already (DSACK, RFC 2883) was not lost: the
/// kernel was impatient (a probe for the last segment, RFC 8985) or took two processors' packets
/// for reordered ones. It costs the line's time for one segment and no wait.
fn retransmissions(plan: &Plan, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let count = end.counter("Tcp.RetransSegs");
    if count <= 0 {
        return;
    }
    let sent = end.counter("Tcp.OutSegs");
    let had = end.counter("TcpExt.TCPDSACKRecv").min(count);
    let needless = had == count && count as f64 <= NEEDLESS_SHARE_MAX * sent as f64;
    let seen = match had {
        0 => format!("{who}: TCP segments sent again: {count}"),
        _ => format!("{who}: TCP segments sent again: {count} of {sent}, {had} had arrived before"),
    };
    // A world that loses or reorders asks for them.
    let own = plan.world.as_ref().is_some_and(|world| !loses(world));
    let make = if own && !needless { fatal } else { caveat };
    findings.push(make("retransmissions", seen));
}

/// Whether segments may be lost in this world, or come so late that they are thought lost: by what
/// a link does, or in the queue before a line that is slower than the one that leads there.
fn loses(world: &World) -> bool {
    let troubled = |way: &Conditions| way.mean_loss() > 0.0 || !way.keeps_order();
    let slower = |met: &[Conditions]| {
        let rate = |way: &Conditions| way.rate_bps.unwrap_or(u64::MAX);
        met.windows(2).any(|pair| rate(&pair[1]) < rate(&pair[0]))
    };
    let mut ways = Family::BOTH.into_iter().flat_map(|family| world.ways(family));
    ways.any(|met| met.iter().any(troubled) || slower(&met))
}

/// On a link with a rate each packet must have been one packet: a mean above what the link carries
/// means that headers were counted once for many.
fn super_packets(plan: &Plan, who: &str, end: &EndReport, findings: &mut Vec<GateFinding>) {
    let Some(world) = plan.world.as_ref().filter(|w| w.model != LinkModel::Bare) else { return };
    // Counters of interfaces see Ethernet headers as well.
    let limit = i64::from(model::link_packet_max(world)) + i64::from(ETHERNET_HEADER_BYTES);
    for (name, bytes) in end.counters.iter() {
        let Some(interface) = name.strip_prefix("if.").and_then(|n| n.strip_suffix(".tx_bytes"))
        else {
            continue;
        };
        let packets = end.counter(&format!("if.{interface}.tx_packets"));
        if packets > 0 && bytes > limit * packets {
            let mean = bytes / packets;
            let seen = format!("{who}: {interface} sent packets of {mean} B on average");
            findings.push(fatal("super-packets", seen));
        }
    }
}
