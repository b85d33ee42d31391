//! The `[[measure]]` tables of a plan: the cells that they stand for.

use super::belongs::{self, Of};
use super::tcp_bulk::tcp_bulks;
use super::{Problems, capacity, probe, timed, udp_bulk};
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use crate::plan::draft::{Draft, Levels, Measure, Overall, Wanted};
use crate::plan::levels::expand;
use crate::unit;
use crate::wiremodel;
use crate::workload::{Cell, Marking, Path, Transport, Workload};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Shortest trial.
const TRIAL_NS_MIN: u64 = 10_000_000;

/// Longest trial.
const TRIAL_NS_MAX: u64 = 3_600_000_000_000;

/// What the rest of the plan says about where cells run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// In a lab.
    pub lab: bool,
    /// Whether one thread can hold both ends: hosts of this system, joined by virtual cables alone.
    pub bare: bool,
    /// Largest UDP or ICMP payload that both arms can carry, in bytes.
    pub payload_max: u32,
    /// Path MTU in bytes, where the plan makes the path.
    pub mtu: Option<PerFamily<u32>>,
    /// That path.
    pub path: Option<Path>,
}

/// All cells that are wanted; one that two tables name alike is a problem.
pub(super) fn cells(draft: &Draft, place: Place, problems: &mut Problems) -> Vec<Cell> {
    let Overall { spare, only, marks, small } = &draft.overall;
    let is_left_out = |measure: &Measure| *small && measure.small == Some(false);
    if draft.measure.iter().all(is_left_out) {
        problems.add("measure", "nothing is measured");
    }
    let marks = marks.as_ref().map(|marks| super::marking::marking("overall", marks, problems));
    let mut yielded: Vec<Metric> = Vec::new();
    let mut cells: Vec<Cell> = Vec::new();
    for (index, measure) in draft.measure.iter().chain(spare).enumerate() {
        if is_left_out(measure) {
            continue;
        }
        let is_spare = index >= draft.measure.len();
        let yielded_already = |metric: &Metric| metric.name() == measure.metric;
        if is_spare && (yielded.iter().any(yielded_already) || udp_bulk::ask(measure, &mut cells)) {
            continue;
        }
        let key = format!("measure[{index}]");
        let (asked, of) = match &draft.site {
            Some(site) => (super::visit::workloads(&key, measure, site, problems), Of::Strangers),
            None => (marked(&key, measure, place, problems), Of::Hosts),
        };
        belongs::check(&key, measure, &asked, of, problems);
        for workload in asked {
            yielded.extend(workload.metrics());
            let workload = match marks {
                Some(marks) => everywhere(workload, marks),
                None => workload,
            };
            let cell = Cell::named(workload);
            if !is_wanted(&cell, only) {
                continue;
            }
            if cells.iter().any(|other| other.id == cell.id) {
                problems.add(&key, format!("{} is measured twice", cell.id));
            } else {
                cells.push(cell);
            }
        }
    }
    let whole = |cell: &Cell| cell.workload.marking().dont_fragment;
    if marks.is_some_and(|marks| marks.dont_fragment) && !cells.iter().any(whole) {
        problems.add("overall.dont_fragment", "nothing that is measured sends datagrams");
    }
    if cells.is_empty() && problems.is_empty() {
        let of_icmp = only.contains(&Wanted::Transport(Transport::Icmp));
        problems.add(
            "overall.only",
            match &draft.site {
                None if of_icmp => {
                    "leaves nothing: icmp comes with visits, v6gap probe HOST --measure icmp"
                }
                None => "leaves nothing to be measured",
                Some(_) => "leaves nothing that a host without v6gap answers; v6gap run HOST can",
            },
        );
    }
    cells
}

/// The workloads of a table, marked as it says.
fn marked(key: &str, measure: &Measure, place: Place, problems: &mut Problems) -> Vec<Workload> {
    let marking = super::marking::marking(key, measure, problems);
    let mut found = workloads(key, measure, place, problems);
    super::parity::apply(key, measure, place, &mut found, problems);
    for workload in &mut found {
        let marks = Marking { dont_fragment: false, ..marking };
        if workload.transport() == Transport::Icmp && marks != Marking::default() {
            problems.add(key, "ICMP echoes cannot be marked");
        }
        if marking.dont_fragment {
            whole(&format!("{key}.dont_fragment"), workload, place, problems);
        }
        *workload = workload.clone().marked(marking);
    }
    found
}

/// The workload with marks that are for everything; only datagrams are fragmented.
fn everywhere(workload: Workload, marks: Marking) -> Workload {
    let dont_fragment = marks.dont_fragment && workload.datagram_bytes().is_some();
    workload.marked(Marking { dont_fragment, ..marks })
}

/// A cell is wanted if one of its metrics and its transport are, where such are named.
fn is_wanted(cell: &Cell, only: &[Wanted]) -> bool {
    let named = |wanted: &Wanted| match wanted {
        Wanted::Metric(metric) => cell.workload.metrics().contains(metric),
        Wanted::Transport(transport) => cell.workload.transport() == *transport,
    };
    let is_metric = |wanted: &&Wanted| matches!(wanted, Wanted::Metric(_));
    let (metrics, transports): (Vec<_>, Vec<_>) = only.iter().partition(is_metric);
    [metrics, transports].iter().all(|kind| kind.is_empty() || kind.iter().copied().any(named))
}

/// Refuses what would have to be fragmented, or what has no fragments anyway.
fn whole(key: &str, workload: &Workload, place: Place, problems: &mut Problems) {
    if workload.datagram_bytes().is_none() {
        return problems.add(key, "only datagrams are fragmented, and this sends none");
    }
    let Some(mtu) = place.mtu else { return };
    for family in Family::BOTH {
        let mtu = *mtu.get(family);
        let Some(bytes) = workload.datagram_bytes_over(family) else { continue };
        if wiremodel::fragments(bytes, family, mtu).is_some_and(|count| count > 1) {
            let what =
                format!("{bytes} B over {family} do not fit the MTU of {mtu} B in one piece");
            problems.add(key, what);
        }
    }
}

fn workloads(key: &str, measure: &Measure, place: Place, problems: &mut Problems) -> Vec<Workload> {
    let lab = place.lab;
    let Some(metric) = Metric::from_name(&measure.metric) else {
        let known = Metric::ALL.map(Metric::name);
        problems.one_of(format!("{key}.metric"), &measure.metric, &known);
        return Vec::new();
    };
    if let Some(elsewhere) = elsewhere(metric) {
        problems.add(format!("{key}.metric"), format!("{metric} {elsewhere}"));
        return Vec::new();
    }
    if probe::is_asked_for(metric, measure) {
        refuse_buffers(key, measure, problems);
        return probe::probes(key, measure, place, problems);
    }
    let bulk = metric == Metric::Throughput;
    let sized = bulk || metric == Metric::Rtt;
    for (name, given) in [
        ("streams", measure.streams.is_some() && !bulk),
        ("bytes", measure.bytes.is_some() && !sized),
    ] {
        if given {
            problems.add(format!("{key}.{name}"), format!("{metric} is not a bulk transfer"));
        }
    }
    let mut found = Vec::new();
    let transports = transports(key, metric, measure, problems);
    if metric != Metric::RateAtLoss {
        capacity::refuse(key, measure, problems);
    }
    if !(sized && (transports != [Transport::Udp] || !bulk)) {
        refuse_buffers(key, measure, problems);
    }
    if transports.contains(&Transport::Tcp) || !udp_bulk::yields(metric) {
        udp_bulk::refuse(key, metric, measure, problems);
    }
    for transport in transports {
        let (over_tcp, over_udp) = (transport == Transport::Tcp, transport == Transport::Udp);
        if metric == Metric::Rtt {
            found.extend(timed::echoes(key, transport, measure, place, problems));
        } else if over_tcp && timed::is_of_connecting(metric) {
            found.push(timed::connect(key, metric, measure, problems));
        } else if over_tcp && metric == Metric::Throughput {
            found.extend(tcp_bulks(key, measure, lab, problems));
        } else if over_udp && udp_bulk::yields(metric) {
            found.extend(udp_bulk::udp_bulks(key, metric, measure, lab, problems));
        } else if over_udp && udp_bulk::is_of_frames(metric) {
            found.extend(udp_bulk::frames(key, measure, problems));
        } else if over_udp && matches!(metric, Metric::Capacity | Metric::RateAtLoss) {
            found.extend(capacity::searches(key, metric, measure, problems));
        } else {
            let what = format!("{metric} is not measured over {}", transport.name());
            problems.add(format!("{key}.protocol"), what);
        }
    }
    found
}

/// Refuses the keys of sockets' buffers where the system has to choose them.
fn refuse_buffers(key: &str, measure: &Measure, problems: &mut Problems) {
    let (window, require) = (measure.window.is_some(), measure.require_window.is_some());
    for (name, given) in [("window", window), ("require_window", require)] {
        if given {
            let what = "only transfers over TCP and round trips have this";
            problems.add(format!("{key}.{name}"), what);
        }
    }
}

/// Where a metric is measured that has no workload of its own between two hosts that run this
/// program, and what to write there.
fn elsewhere(metric: Metric) -> Option<String> {
    match metric {
        Metric::Cpu => {
            let tell = "comes with transfers over TCP: also = [\"cpu\"] beside metric = \
                        \"throughput\" in a plan";
            Some(tell.to_string())
        }
        Metric::RttP50 | Metric::RttP90 | Metric::RttP99 => {
            let tell = "comes with round trips: --tails, or also = [\"tails\"] beside metric = \
                        \"rtt\" in a plan";
            Some(tell.to_string())
        }
        Metric::Tls | Metric::Quic | Metric::Response | Metric::Lookup => {
            Some(format!("comes with visits: v6gap probe HOST --measure {metric}"))
        }
        Metric::Throughput
        | Metric::Capacity
        | Metric::RateAtLoss
        | Metric::PacketRate
        | Metric::Rtt
        | Metric::Ipdv
        | Metric::Pdv
        | Metric::FrameLateness
        | Metric::Connect
        | Metric::FirstByte
        | Metric::ConnectRate
        | Metric::Loss
        | Metric::LossBack
        | Metric::FrameLoss
        | Metric::Reordering
        | Metric::Duplication => None,
    }
}

fn transports(
    key: &str,
    metric: Metric,
    measure: &Measure,
    problems: &mut Problems,
) -> Vec<Transport> {
    let udp = metric != Metric::Throughput && udp_bulk::yields(metric)
        || udp_bulk::is_of_frames(metric)
        || matches!(metric, Metric::Capacity | Metric::RateAtLoss);
    let default = if udp { "udp" } else { "tcp" };
    let levels = measure.protocol.clone().unwrap_or(Levels::One(default.to_string()));
    let key = format!("{key}.protocol");
    let mut found = Vec::new();
    for text in expand(&key, &levels, problems) {
        match text.as_str() {
            "tcp" => found.push(Transport::Tcp),
            "udp" => found.push(Transport::Udp),
            "icmp" => found.push(Transport::Icmp),
            _ => problems.one_of(key.clone(), &text, &["tcp", "udp", "icmp"]),
        }
    }
    found
}

pub(super) fn sizes(
    key: &str,
    levels: Option<&Levels>,
    otherwise: &[u32],
    range: core::ops::RangeInclusive<u32>,
    problems: &mut Problems,
) -> Vec<u32> {
    let Some(levels) = levels else { return otherwise.to_vec() };
    let mut found = Vec::new();
    for text in expand(key, levels, problems) {
        let Some(bytes) = problems.read(key, &text, unit::parse_bytes) else { continue };
        match u32::try_from(bytes).ok().filter(|b| range.contains(b)) {
            Some(bytes) => found.push(bytes),
            None => {
                let (low, high) = (range.start(), range.end());
                problems.add(key, format!("{bytes} B is not between {low} and {high} B"));
            }
        }
    }
    found
}

pub(super) fn times(
    key: &str,
    measure: &Measure,
    duration_ns: u64,
    warmup_ns: u64,
    problems: &mut Problems,
) -> (u64, u64) {
    let time_key = format!("{key}.time");
    let duration = problems
        .read_optional(&time_key, measure.time.as_ref(), unit::parse_span)
        .unwrap_or(duration_ns);
    let warmup = problems
        .read_optional(&format!("{key}.warmup"), measure.warmup.as_ref(), unit::parse_span)
        .unwrap_or(warmup_ns.min(duration / 4));
    if !(TRIAL_NS_MIN..=TRIAL_NS_MAX).contains(&duration) {
        problems.add(&time_key, "a trial must last between 10 ms and 1 h");
    } else if warmup > duration / 2 {
        let key = if measure.warmup.is_some() { format!("{key}.warmup") } else { time_key };
        problems.add(key, "the warm-up takes more than half of the trial");
    }
    (duration, warmup)
}
