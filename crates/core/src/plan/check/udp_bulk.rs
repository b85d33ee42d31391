//! The cells of a `[[measure]]` table of UDP bulk transfers (rate, law of traffic, sizes, batches
//! and what is asked of them) and of frames.

use super::Problems;
use super::cells::{sizes, times};
use crate::family::Family;
use crate::metric::{Metric, Scale};
use crate::plan::defaults;
use crate::plan::draft::Measure;
use crate::unit;
use crate::workload::{Asked, Cell, Direction, Echo, Frames, Kind, Law, Sizes, UdpBulk, Workload};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Metrics that may stand in `also`.
const ALSO: [Metric; 3] = [Metric::Loss, Metric::Reordering, Metric::Duplication];

/// Payloads that fit one IPv4 packet and need two of IPv6 on a path of 1500 B: the kernel would cut
/// pieces for one family alone.
const UNEVEN_BYTES: core::ops::RangeInclusive<u32> = 1453..=1472;

/// Whether a UDP bulk transfer yields the metric.
pub(super) fn yields(metric: Metric) -> bool {
    metric == Metric::Throughput || metric == Metric::PacketRate || ALSO.contains(&metric)
}

/// Asks what a table wants to know of transfers over UDP that are measured already, if any are and
/// they can tell it: they are not measured twice.
pub(super) fn ask(measure: &Measure, cells: &mut [Cell]) -> bool {
    let mut is_told = false;
    for cell in cells {
        let Workload::UdpBulk(bulk) = &mut cell.workload else { continue };
        let Asked { reordering, duplication, .. } = &mut bulk.asked;
        for (metric, asked) in
            [(Metric::Reordering, reordering), (Metric::Duplication, duplication)]
        {
            if metric.name() == measure.metric {
                (*asked, is_told) = (true, true);
            }
        }
    }
    is_told
}

/// Refuses keys that only UDP bulk transfers have; those over TCP count packets too.
pub(super) fn refuse(key: &str, metric: Metric, measure: &Measure, problems: &mut Problems) {
    let present = [
        ("packets", measure.packets.is_some() && metric != Metric::Throughput),
        ("batch", measure.batch.is_some()),
        ("offload", measure.offload.is_some()),
        ("law", measure.law.is_some()),
        ("sizes", measure.sizes.is_some()),
    ];
    for (name, _) in present.into_iter().filter(|(_, present)| *present) {
        problems.add(format!("{key}.{name}"), "only UDP bulk transfers have this");
    }
}

/// The workloads of the table, one for each payload size.
pub(super) fn udp_bulks(
    key: &str,
    metric: Metric,
    measure: &Measure,
    lab: bool,
    problems: &mut Problems,
) -> Vec<Workload> {
    const MS: u64 = 1_000_000;
    let range = Echo::MESSAGE_BYTES_MIN..=Family::V4.udp_payload_bytes_max();
    let levels = measure.payload.as_ref();
    let otherwise = [defaults::UDP_PAYLOAD_BYTES];
    let payloads = sizes(&format!("{key}.payload"), levels, &otherwise, range, problems);
    let usual = UdpBulk::default();
    let law = law(key, measure, problems);
    // A number of datagrams may be over before any time is.
    let warmup_ns = if measure.packets.is_some() { 0 } else { 150 * MS };
    let (duration_ns, warmup_ns) = times(key, measure, 600 * MS, warmup_ns, problems);
    let bulk = UdpBulk {
        rate_bps: rate(key, law, measure, lab, problems),
        duration_ns,
        warmup_ns,
        direction: direction(key, measure, problems),
        packets: measure.packets,
        batch: measure.batch.unwrap_or(usual.batch),
        offload: measure.offload.unwrap_or(usual.offload),
        law,
        sizes: varied(key, measure, problems),
        asked: asked(key, metric, measure, problems),
        ..usual
    };
    let mut found = Vec::new();
    for payload_bytes in payloads {
        let bulk = UdpBulk { payload_bytes, ..bulk.clone() };
        if let Err(problem) = bulk.check_numbers(Family::V4.udp_payload_bytes_max()) {
            problems.add(key, problem.to_string());
        }
        let warmup_ns = u128::from(bulk.warmup_ns);
        // What is lost is counted from the first on.
        let asks_rate = metric.scale() != Scale::Difference;
        if asks_rate && warmup_ns > 0 && sending_ns(&bulk).is_some_and(|ns| ns <= warmup_ns) {
            problems.add(format!("{key}.warmup"), "all packets are sent before it is over");
        }
        let is_payload = measure.parity.as_deref().is_none_or(|parity| parity == "payload");
        if is_payload && bulk.offload && UNEVEN_BYTES.contains(&payload_bytes) {
            let what = format!(
                "datagrams of {payload_bytes} B are whole packets in one family and fragments in \
                 the other, so offload would serve one alone"
            );
            problems.add(format!("{key}.offload"), what);
        }
        found.push(Workload::UdpBulk(bulk));
    }
    found
}

/// Time in which a number of datagrams is sent, in ns, where equal gaps say it.
fn sending_ns(bulk: &UdpBulk) -> Option<u128> {
    let equal = match bulk.law {
        Law::Constant | Law::Periodic => bulk.sizes == Sizes::Fixed,
        Law::Poisson | Law::OnOff { .. } | Law::Frames { .. } => false,
    };
    let (packets, rate_bps) = (bulk.packets?, bulk.rate_bps.filter(|_| equal)?);
    let bits = u128::from(packets) * u128::from(bulk.payload_bytes) * 8;
    Some(bits * 1_000_000_000 / u128::from(rate_bps.max(1)))
}

/// Whether frames yield the metric.
pub(super) fn is_of_frames(metric: Metric) -> bool {
    Frames::default().metrics().contains(&metric)
}

/// The frames of the table, one workload for each payload size.
pub(super) fn frames(key: &str, measure: &Measure, problems: &mut Problems) -> Vec<Workload> {
    let usual = Frames::default();
    for (name, given) in
        [("bitrate", measure.bitrate.is_some()), ("warmup", measure.warmup.is_some())]
    {
        if given {
            problems.add(format!("{key}.{name}"), "frames have a rate of their own from the start");
        }
    }
    let range = Echo::MESSAGE_BYTES_MIN..=Family::V4.udp_payload_bytes_max();
    let levels = measure.payload.as_ref();
    let payload_key = format!("{key}.payload");
    let payloads = sizes(&payload_key, levels, &[usual.payload_bytes], range, problems);
    let every_key = format!("{key}.every");
    let every = problems.read_optional(&every_key, measure.every.as_ref(), unit::parse_span);
    let time_key = format!("{key}.time");
    let time = problems.read_optional(&time_key, measure.time.as_ref(), unit::parse_span);
    let frames = Frames {
        frame_bytes: match &measure.frame {
            Some(text) => bytes(key, "frame", Some(text), problems),
            None => usual.frame_bytes,
        },
        every_ns: every.unwrap_or(usual.every_ns),
        duration_ns: time.unwrap_or(usual.duration_ns),
        direction: direction(key, measure, problems),
        ..usual
    };
    let mut found = Vec::new();
    for payload_bytes in payloads {
        let frames = Frames { payload_bytes, ..frames.clone() };
        if let Err(problem) = frames.check_numbers(Family::V4.udp_payload_bytes_max()) {
            problems.add(key, problem.to_string());
        }
        found.push(Workload::Frames(frames));
    }
    found
}

fn rate(key: &str, law: Law, measure: &Measure, lab: bool, problems: &mut Problems) -> Option<u64> {
    let rate = match measure.bitrate.as_deref() {
        None if lab || matches!(law, Law::Frames { .. }) => None,
        None => Some(20_000_000),
        Some("full") => None,
        Some(text) => problems.read(&format!("{key}.bitrate"), text, unit::parse_rate),
    };
    if rate == Some(0) {
        problems.add(format!("{key}.bitrate"), "a rate of 0 sends nothing");
    }
    rate
}

/// Which way datagrams go: one way at a time.
pub(super) fn direction(key: &str, measure: &Measure, problems: &mut Problems) -> Direction {
    match measure.direction.as_deref() {
        None | Some("send") => Direction::Send,
        Some("receive") => Direction::Receive,
        Some(other) => {
            problems.one_of(format!("{key}.direction"), other, &["send", "receive"]);
            Direction::Send
        }
    }
}

fn law(key: &str, measure: &Measure, problems: &mut Problems) -> Law {
    let law_key = format!("{key}.law");
    let name = measure.law.as_deref().unwrap_or(Law::Constant.name());
    let parts = [
        ("on", &measure.on, "on-off"),
        ("off", &measure.off, "on-off"),
        ("frame", &measure.frame, "frames"),
        ("every", &measure.every, "frames"),
    ];
    for (part, value, of) in parts {
        match value {
            Some(_) if of != name => {
                problems.add(format!("{key}.{part}"), format!("this belongs to law = \"{of}\""));
            }
            None if of == name => problems.add(&law_key, format!("\"{of}\" needs {part}")),
            _ => {}
        }
    }
    let span = |part: &str, text: &Option<String>, problems: &mut Problems| {
        let key = format!("{key}.{part}");
        problems.read_optional(&key, text.as_ref(), unit::parse_span).unwrap_or(1)
    };
    match name {
        "constant" => Law::Constant,
        "periodic" => Law::Periodic,
        "poisson" => Law::Poisson,
        "on-off" => Law::OnOff {
            on_ns: span("on", &measure.on, problems),
            off_ns: span("off", &measure.off, problems),
        },
        "frames" => Law::Frames {
            frame_bytes: bytes(key, "frame", measure.frame.as_ref(), problems),
            every_ns: span("every", &measure.every, problems),
        },
        other => {
            problems.one_of(law_key, other, &Law::NAMES);
            Law::Constant
        }
    }
}

fn bytes(key: &str, name: &str, text: Option<&String>, problems: &mut Problems) -> u32 {
    let key = format!("{key}.{name}");
    let bytes = problems.read_optional(&key, text, unit::parse_bytes).unwrap_or(1);
    u32::try_from(bytes).unwrap_or_else(|_| {
        problems.add(&key, "this is 4 GiB or more");
        1
    })
}

fn varied(key: &str, measure: &Measure, problems: &mut Problems) -> Sizes {
    let least = |problems: &mut Problems| match &measure.least {
        Some(_) => bytes(key, "least", measure.least.as_ref(), problems),
        None => Echo::MESSAGE_BYTES_MIN,
    };
    let sizes_key = format!("{key}.sizes");
    match measure.sizes.as_deref() {
        None | Some("fixed") => {
            if measure.least.is_some() || measure.step.is_some() {
                problems.add(sizes_key, "fixed sizes have neither least nor step");
            }
            Sizes::Fixed
        }
        Some("random") => Sizes::Random { least_bytes: least(problems) },
        Some("stepped") => {
            if measure.step.is_none() {
                problems.add(sizes_key, "\"stepped\" needs step");
            }
            let step_bytes = bytes(key, "step", measure.step.as_ref(), problems);
            Sizes::Stepped { least_bytes: least(problems), step_bytes }
        }
        Some(other) => {
            problems.one_of(sizes_key, other, &["fixed", "random", "stepped"]);
            Sizes::Fixed
        }
    }
}

fn asked(key: &str, metric: Metric, measure: &Measure, problems: &mut Problems) -> Asked {
    let mut metrics = alloc::vec![metric];
    for name in &measure.also {
        match Metric::from_name(name).filter(|metric| ALSO.contains(metric)) {
            Some(metric) => metrics.push(metric),
            None => problems.one_of(format!("{key}.also"), name, &ALSO.map(Metric::name)),
        }
    }
    Asked {
        packet_rate: metrics.contains(&Metric::PacketRate),
        reordering: metrics.contains(&Metric::Reordering),
        duplication: metrics.contains(&Metric::Duplication),
    }
}
