//! Probes: what a `[[measure]]` table says of paced packets that come back.

use super::Problems;
use super::cells::{Place, sizes};
use super::timed::wait;
use crate::metric::Metric;
use crate::plan::defaults;
use crate::plan::draft::{self, Levels, Measure};
use crate::plan::levels::expand;
use crate::unit;
use crate::workload::{
    Direction, Echo, Kind, LAB_CONGESTION, Load, LoadFamily, Probe, StreamSettings, UdpLoad,
    Workload,
};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Length of a turn of which the packets are not given, in ns.
const TURN_NS: u64 = 50_000_000;

/// Time in which an arm may send, in ns.
const SENDING_NS: RangeInclusive<u64> = 10_000_000..=3_600_000_000_000;

/// Time from one packet to the next, in ns.
const INTERVAL_NS: RangeInclusive<u64> = 10_000..=10_000_000_000;

/// Waiting time for a packet, in ns: RFC 6703 section 4.1 derives 51 s as more than enough.
const TIMEOUT_NS: RangeInclusive<u64> = 1_000_000..=60_000_000_000;

/// Largest error of clocks that may be declared, in ns.
const CLOCK_ERROR_NS_MAX: u64 = 1_000_000_000;

/// What the payload of a load over UDP, or the segment of one over TCP, is called that is the
/// payload of the probes.
const SAME: &str = "same";

/// Whether a table asks for probes: only they tell these metrics, or keep such a schedule.
pub(super) fn is_asked_for(metric: Metric, measure: &Measure) -> bool {
    matches!(metric, Metric::Ipdv | Metric::Pdv | Metric::LossBack)
        || (matches!(metric, Metric::Rtt | Metric::Loss)
            && (measure.interval.is_some() || measure.load.is_some()))
}

/// The probes of a table, one for each payload.
pub(super) fn probes(
    key: &str,
    measure: &Measure,
    place: Place,
    problems: &mut Problems,
) -> Vec<Workload> {
    transport(key, measure, problems);
    let range = Probe::PAYLOAD_BYTES_MIN..=place.payload_max;
    let otherwise = [Probe::default().payload_bytes];
    let levels = measure.payload.as_ref();
    let payloads = sizes(&format!("{key}.payload"), levels, &otherwise, range, problems);
    let mut probe = Probe {
        wait: wait(key, measure, place, problems).unwrap_or(defaults::wait(place.lab)),
        kernel_times: measure.kernel_times.unwrap_or(true),
        ..Probe::default()
    };
    let span = |name: &str, text: Option<&String>, problems: &mut Problems| {
        problems.read_optional(&format!("{key}.{name}"), text, unit::parse_span)
    };
    let within = |name: &str, ns: u64, range: RangeInclusive<u64>, problems: &mut Problems| {
        if !range.contains(&ns) {
            let (least, most) = (*range.start() as f64, *range.end() as f64);
            let (least, most) = (unit::format_span(least), unit::format_span(most));
            problems.add(format!("{key}.{name}"), format!("must be between {least} and {most}"));
        }
    };
    if let Some(ns) = span("interval", measure.interval.as_ref(), problems) {
        within("interval", ns, INTERVAL_NS, problems);
        probe.interval_ns = ns;
    }
    if let Some(ns) = span("timeout", measure.timeout.as_ref(), problems) {
        within("timeout", ns, TIMEOUT_NS, problems);
        probe.timeout_ns = ns;
    }
    if let Some(ns) = span("clock_error", measure.clock_error.as_ref(), problems) {
        within("clock_error", ns, 0..=CLOCK_ERROR_NS_MAX, problems);
        probe.clock_error_ns = Some(ns);
    }
    probe.load = measure.load.as_ref().map(|load| self::load(key, load, place, problems));
    let sending_ns = span("time", measure.time.as_ref(), problems);
    sizes_of_turns(key, measure, sending_ns, &mut probe, problems);
    within("time", probe.sending_ns(), SENDING_NS, problems);
    if probe.packets_max() > Probe::PACKETS_MAX {
        let most = Probe::PACKETS_MAX;
        problems.add(format!("{key}.time"), format!("an arm has more than {most} packets"));
    }
    let is_same = |of: fn(&draft::Load) -> &Option<String>| {
        measure.load.as_ref().is_some_and(|load| of(load).as_deref() == Some(SAME))
    };
    let (same_payload, same_segment) = (is_same(|load| &load.payload), is_same(|load| &load.mss));
    let mut found = Vec::new();
    for payload_bytes in payloads {
        let mut probe = Probe { payload_bytes, ..probe.clone() };
        if let Some(load) = &mut probe.load {
            match &mut load.udp {
                Some(udp) if same_payload => udp.payload_bytes = payload_bytes,
                None if same_segment => load.settings.mss_bytes = Some(payload_bytes),
                Some(_) | None => {}
            }
            let segments = StreamSettings::MSS_BYTES;
            if load.settings.mss_bytes.is_some_and(|bytes| !segments.contains(&bytes)) {
                let (least, most) = segments.into_inner();
                let what = format!("must be between {least} B and {most} B");
                problems.add(format!("{key}.load.mss"), what);
            }
        }
        found.push(Workload::Probe(probe));
    }
    found
}

/// Packets of a turn and number of turns: as given, or as they fit the time.
fn sizes_of_turns(
    key: &str,
    measure: &Measure,
    sending_ns: Option<u64>,
    probe: &mut Probe,
    problems: &mut Problems,
) {
    let fitting = (TURN_NS / probe.interval_ns.max(1)).clamp(1, Probe::PACKETS_MAX);
    // The bound of packets is far below 2^32.
    probe.turn_packets = measure.turn.unwrap_or(fitting as u32);
    if !(1..=Probe::PACKETS_MAX).contains(&u64::from(probe.turn_packets)) {
        problems.add(format!("{key}.turn"), "the packets of a turn are out of range");
    }
    // Under load delays are longer and wander more slowly.
    let times = if probe.load.is_some() { 3 } else { 1 };
    let usual_ns = times * Probe::default().sending_ns();
    let turns = sending_ns.unwrap_or(usual_ns).div_ceil(probe.turn_ns().max(1));
    // An even number keeps the order of the arms balanced.
    let turns = turns.max(2).next_multiple_of(2);
    probe.turns = match (measure.turns, sending_ns) {
        (Some(_), Some(_)) => {
            problems.add(format!("{key}.turns"), "either the time or the turns can be given");
            2
        }
        (Some(turns), None) => turns,
        (None, _) => u32::try_from(turns).unwrap_or(u32::MAX),
    };
    // The header counts the turns of both arms in 16 bits.
    if !(1..=u32::from(u16::MAX / 2)).contains(&probe.turns) {
        problems.add(format!("{key}.turns"), "the number of turns is out of range");
    }
}

fn load(key: &str, draft: &draft::Load, place: Place, problems: &mut Problems) -> Load {
    let mut load = Load::default();
    let key = format!("{key}.load");
    match draft.family.as_deref() {
        None | Some("same") => {}
        Some("other") => load.family = LoadFamily::Other,
        Some(found) => problems.one_of(format!("{key}.family"), found, &["same", "other"]),
    }
    match draft.direction.as_deref() {
        None | Some("send") => {}
        Some("receive") => load.direction = Direction::Receive,
        Some("both") => load.direction = Direction::Both,
        Some(found) => {
            problems.one_of(format!("{key}.direction"), found, &["send", "receive", "both"]);
        }
    }
    load.streams = draft.streams.unwrap_or(load.streams);
    if !(1..=Probe::STREAMS_MAX).contains(&load.streams) {
        let what = format!("must be between 1 and {}", Probe::STREAMS_MAX);
        problems.add(format!("{key}.streams"), what);
    }
    let lead_key = format!("{key}.lead");
    if let Some(ns) = problems.read_optional(&lead_key, draft.lead.as_ref(), unit::parse_span) {
        load.lead_ns = ns;
        if ns > Probe::LEAD_NS_MAX {
            problems.add(lead_key, "the lead must not be longer than 10 s");
        }
    }
    match draft.protocol.as_deref() {
        None | Some("tcp") => {
            for (name, given) in [("payload", &draft.payload), ("bitrate", &draft.bitrate)] {
                if given.is_some() {
                    problems.add(format!("{key}.{name}"), "only a load over UDP has this");
                }
            }
            let usual = place.lab.then_some(LAB_CONGESTION);
            load.settings.congestion = match draft.congestion.as_deref() {
                Some(name) => Some(super::tcp_bulk::congestion(&key, name, problems)),
                None => usual.map(ToString::to_string),
            };
            let mss = draft.mss.as_ref().filter(|text| *text != SAME);
            let mss = problems.read_optional(&format!("{key}.mss"), mss, unit::parse_bytes);
            load.settings.mss_bytes = mss.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        }
        Some("udp") => load.udp = Some(udp_load(&key, draft, place, problems)),
        Some(found) => problems.one_of(format!("{key}.protocol"), found, &["tcp", "udp"]),
    }
    load
}

fn udp_load(key: &str, draft: &draft::Load, place: Place, problems: &mut Problems) -> UdpLoad {
    let mut udp = UdpLoad::default();
    for (name, given) in [("congestion", &draft.congestion), ("mss", &draft.mss)] {
        if given.is_some() {
            problems.add(format!("{key}.{name}"), "only a load over TCP has this");
        }
    }
    let payload_key = format!("{key}.payload");
    let text = draft.payload.as_ref().filter(|text| *text != SAME);
    if let Some(bytes) = problems.read_optional(&payload_key, text, unit::parse_bytes) {
        udp.payload_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    }
    let (least, most) = (Echo::MESSAGE_BYTES_MIN, place.payload_max);
    if !(least..=most).contains(&udp.payload_bytes) {
        problems.add(payload_key, format!("must be between {least} B and {most} B"));
    }
    let rate_key = format!("{key}.bitrate");
    udp.rate_bps = match draft.bitrate.as_deref() {
        Some("full") => None,
        None if place.lab => None,
        None => {
            let what = "a load over UDP does not give way to others: say its rate, or \"full\"";
            problems.add(key, what);
            None
        }
        Some(text) => problems.read(&rate_key, text, unit::parse_rate),
    };
    if let Err(problem) = udp.stream(1).check_numbers(most) {
        problems.add(&rate_key, problem.to_string());
    }
    if udp.rate_bps == Some(0) {
        problems.add(rate_key, "a rate of 0 sends nothing");
    }
    udp
}

fn transport(key: &str, measure: &Measure, problems: &mut Problems) {
    let key = format!("{key}.protocol");
    let Some(levels) = &measure.protocol else { return };
    let asked = match levels {
        Levels::Range(_) => Vec::new(),
        levels => expand(&key, levels, problems),
    };
    if asked != ["udp"] {
        problems.add(key, "probes go over UDP");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::plan::check::{Problem, check};
    use crate::plan::draft::{Draft, VERSION};
    use alloc::vec;

    fn measure(metric: &str) -> Measure {
        serde_json::from_str(&format!(r#"{{"metric":"{metric}"}}"#)).unwrap()
    }

    fn plan_of(measure: Vec<Measure>) -> Result<Plan, Vec<Problem>> {
        check(&Draft { v6gap: VERSION, measure, ..Draft::default() }, 1)
    }

    #[test]
    fn delay_variation_and_open_loop_round_trips_are_those_of_probes() {
        let mut every = measure("rtt");
        every.interval = Some("10 ms".to_string());
        every.time = Some("3 s".to_string());
        every.clock_error = Some("50 us".to_string());
        let plan = plan_of(vec![measure("ipdv"), every]).unwrap();
        let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["probe-64", "probe-64-10000us"]);
        let Workload::Probe(usual) = &plan.cells[0].workload else { panic!() };
        assert_eq!((usual.turns, usual.turn_packets, usual.clock_error_ns), (20, 50, None));
        let Workload::Probe(slow) = &plan.cells[1].workload else { panic!() };
        // Turns of 50 ms hold 5 packets each.
        assert_eq!((slow.turns, slow.turn_packets, slow.clock_error_ns), (60, 5, Some(50_000)));
    }

    #[test]
    fn a_load_is_of_tcp_or_of_udp_with_a_rate() {
        let loaded = |load: &str| {
            let text = format!(r#"{{"metric":"rtt","load":{load}}}"#);
            plan_of(vec![serde_json::from_str(&text).unwrap()])
        };
        let plan = loaded(r#"{"protocol":"udp","bitrate":"80 Mbit/s","family":"other"}"#).unwrap();
        assert_eq!(plan.cells[0].id, "rtt-loaded-udp-send-1-other-of-1408-80000000bps-64");
        let Workload::Probe(probe) = &plan.cells[0].workload else { panic!() };
        let load = probe.load.as_ref().unwrap();
        assert_eq!(load.udp, Some(UdpLoad { payload_bytes: 1408, rate_bps: Some(80_000_000) }));
        assert_eq!(load.asked_bps(), Some(80_000_000));
        assert_eq!(probe.words(true), ", loaded by 1408 B of UDP at 80 Mbit/s of the other family");
        let full = r#"{"protocol":"udp","bitrate":"full","payload":"64 B","streams":2}"#;
        let id = &loaded(full).unwrap().cells[0].id;
        assert_eq!(id, "rtt-loaded-udp-send-2-of-64-64");
        let same = loaded(r#"{"protocol":"tcp","mss":"same"}"#);
        assert!(same.unwrap_err().iter().any(|p| p.key == "measure[0].load.mss"), "64 B are none");
        let segments = loaded(r#"{"protocol":"tcp","mss":"536 B"}"#).unwrap();
        assert_eq!(segments.cells[0].id, "rtt-loaded-send-1-mss-536-64");
        let Workload::Probe(probe) = &segments.cells[0].workload else { panic!() };
        assert_eq!(probe.words(true), ", loaded by segments of 536 B");
        for (load, key) in [
            (r#"{"protocol":"udp"}"#, "load"),
            (r#"{"protocol":"udp","bitrate":"full","mss":"536 B"}"#, "load.mss"),
            (r#"{"mss":"40 B"}"#, "load.mss"),
            (r#"{"congestion":"BBR"}"#, "load.congestion"),
            (r#"{"protocol":"udp","bitrate":"0"}"#, "load.bitrate"),
            (r#"{"protocol":"udp","bitrate":"full","payload":"19 B"}"#, "load.payload"),
            (r#"{"protocol":"udp","bitrate":"full","congestion":"bbr"}"#, "load.congestion"),
            (r#"{"bitrate":"1 Mbit/s"}"#, "load.bitrate"),
            (r#"{"payload":"64 B"}"#, "load.payload"),
            (r#"{"protocol":"icmp"}"#, "load.protocol"),
        ] {
            let problems = loaded(load).unwrap_err();
            let key = format!("measure[0].{key}");
            assert!(problems.iter().any(|p| p.key == key), "{load}: {problems:?}");
        }
    }

    #[test]
    fn probes_that_cannot_be_are_refused() {
        let mut bad = measure("pdv");
        bad.protocol = Some(Levels::One("tcp".to_string()));
        bad.payload = Some(Levels::One("40 B".to_string()));
        bad.interval = Some("1 us".to_string());
        bad.time = Some("100 s".to_string());
        bad.turns = Some(4);
        bad.timeout = Some("2 min".to_string());
        let expected = ["protocol", "payload", "interval", "timeout", "turns", "time"];
        let expected: Vec<String> =
            expected.iter().map(|key| format!("measure[0].{key}")).collect();
        let problems = plan_of(vec![bad]).unwrap_err();
        let found: Vec<String> = problems.into_iter().map(|p| p.key).collect();
        for key in ["protocol", "payload", "interval", "timeout", "turns"] {
            assert!(found.contains(&format!("measure[0].{key}")), "{key}: {found:?}");
        }
        assert!(found.iter().all(|key| expected.contains(key)), "{found:?}");
    }
}
