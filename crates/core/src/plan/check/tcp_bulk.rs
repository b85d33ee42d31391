//! The cells of a `[[measure]]` table of TCP throughput: every combination of the levels of its
//! factors.

use super::Problems;
use super::cells::{sizes, times};
use crate::plan::defaults;
use crate::plan::draft::{Levels, Measure};
use crate::plan::levels::expand;
use crate::unit;
use crate::workload::{Direction, StreamSettings, TcpBulk, Workload, ZeroCopy, congestion_name};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Longest time of a transfer of a number of bytes, if the plan names none, in ns.
const BYTES_NS_MAX: u64 = 60_000_000_000;

/// The workloads of the table, in the order of its keys' levels.
pub(super) fn tcp_bulks(
    key: &str,
    measure: &Measure,
    lab: bool,
    problems: &mut Problems,
) -> Vec<Workload> {
    let mut made = vec![common(key, measure, lab, problems)];
    let most = TcpBulk::STREAMS_MAX;
    for &streams in measure.streams.iter().flat_map(|counts| counts.levels()) {
        if !(1..=most).contains(&streams) {
            let what = format!("{streams} streams are not between 1 and {most}");
            problems.add(format!("{key}.streams"), what);
        }
    }
    if let Some(counts) = &measure.streams {
        cross(&mut made, counts.levels(), |bulk, &streams| bulk.streams = streams);
    }
    let levels = |name: &str, given: &Option<Levels>, range, problems: &mut Problems| {
        let found = sizes(&format!("{key}.{name}"), given.as_ref(), &[], range, problems);
        given.as_ref().map(|_| found)
    };
    if let Some(bytes) = byte_counts(key, measure, problems) {
        cross(&mut made, &bytes, |bulk, &bytes| {
            (bulk.bytes, bulk.warmup_ns) = (Some(bytes), 0);
        });
    }
    if let Some(writes) = levels("write", &measure.write, 1..=16_777_216, problems) {
        cross(&mut made, &writes, |bulk, &bytes| {
            (bulk.write_bytes, bulk.write_drawn) = (bytes, false);
        });
    }
    let buffers = 1..=StreamSettings::BUFFER_BYTES_MAX;
    if let Some(windows) = levels("window", &measure.window, buffers, problems) {
        cross(&mut made, &windows, |bulk, &bytes| bulk.settings.buffer_bytes = Some(bytes));
    }
    if let Some(segments) = levels("mss", &measure.mss, StreamSettings::MSS_BYTES, problems) {
        cross(&mut made, &segments, |bulk, &bytes| bulk.settings.mss_bytes = Some(bytes));
    }
    counted(key, measure, &mut made, problems);
    made.into_iter().map(Workload::TcpBulk).collect()
}

/// A number of packets as a number of bytes: segments where the plan gives their size, otherwise
/// writes.
fn counted(key: &str, measure: &Measure, made: &mut [TcpBulk], problems: &mut Problems) {
    let Some(packets) = measure.packets else { return };
    let packets_key = format!("{key}.packets");
    if measure.bytes.is_some() {
        problems.add(&packets_key, "either the bytes or the packets can be given");
    }
    if packets == 0 {
        problems.add(&packets_key, "a transfer of 0 packets measures nothing");
    }
    if measure.write.is_none() && measure.mss.is_none() {
        problems.add(&packets_key, "over TCP this counts writes or segments: give write or mss");
    }
    for bulk in made {
        let each = bulk.settings.mss_bytes.unwrap_or(bulk.write_bytes);
        bulk.bytes = Some(packets.saturating_mul(each.into()));
    }
}

/// What all cells of the table have in common.
fn common(key: &str, measure: &Measure, lab: bool, problems: &mut Problems) -> TcpBulk {
    let mut bulk = defaults::tcp_bulk(lab);
    let bounded = measure.bytes.is_some() || measure.packets.is_some();
    let (usual_ns, warmup_ns) = match bounded {
        true => (BYTES_NS_MAX, 0),
        false => (bulk.duration_ns, bulk.warmup_ns),
    };
    (bulk.duration_ns, bulk.warmup_ns) = times(key, measure, usual_ns, warmup_ns, problems);
    if bounded && measure.warmup.is_some() {
        let what = "a transfer of a number of bytes is measured from its first byte on";
        problems.add(format!("{key}.warmup"), what);
    }
    match measure.direction.as_deref() {
        None | Some("send") => bulk.direction = Direction::Send,
        Some("receive") => bulk.direction = Direction::Receive,
        Some("both") => bulk.direction = Direction::Both,
        Some(other) => {
            problems.one_of(format!("{key}.direction"), other, &["send", "receive", "both"]);
        }
    }
    if let Some(name) = &measure.congestion {
        bulk.settings.congestion = Some(congestion(key, name, problems));
    }
    bulk.settings.no_delay = measure.no_delay.unwrap_or(false);
    bulk.settings.require_buffer = measure.require_window.unwrap_or(false);
    if bulk.settings.require_buffer && measure.window.is_none() {
        problems.add(format!("{key}.require_window"), "no window is asked for");
    }
    let pacing_key = format!("{key}.pacing");
    bulk.pacing_bps =
        problems.read_optional(&pacing_key, measure.pacing.as_ref(), unit::parse_rate);
    if bulk.pacing_bps == Some(0) {
        problems.add(pacing_key, "a pace of 0 sends nothing");
    }
    bulk.zero_copy = match measure.zero_copy.as_deref() {
        None => None,
        Some("file") => Some(ZeroCopy::File),
        Some("memory") => Some(ZeroCopy::Memory),
        Some(other) => {
            problems.one_of(format!("{key}.zero_copy"), other, &["file", "memory"]);
            None
        }
    };
    bulk.truncate = measure.truncate.unwrap_or(false);
    for other in &measure.also {
        match other.as_str() {
            "cpu" => bulk.cpu = true,
            _ => problems.one_of(format!("{key}.also"), other, &["cpu"]),
        }
    }
    bulk
}

/// Whole numbers of bytes of any size; [`sizes`] ends at 4 GiB.
fn byte_counts(key: &str, measure: &Measure, problems: &mut Problems) -> Option<Vec<u64>> {
    let levels = measure.bytes.as_ref()?;
    let key = format!("{key}.bytes");
    let mut found = Vec::new();
    for text in expand(&key, levels, problems) {
        match problems.read(&key, &text, unit::parse_bytes) {
            Some(0) => problems.add(key.clone(), "a transfer of 0 B measures nothing"),
            Some(bytes) => found.push(bytes),
            None => {}
        }
    }
    Some(found)
}

/// Each workload with each level.
fn cross<T>(made: &mut Vec<TcpBulk>, levels: &[T], set: impl Fn(&mut TcpBulk, &T)) {
    let with = |bulk: &TcpBulk, level: &T| {
        let mut bulk = bulk.clone();
        set(&mut bulk, level);
        bulk
    };
    *made = made.iter().flat_map(|bulk| levels.iter().map(|level| with(bulk, level))).collect();
}

/// The name of a congestion control, of transfers and of what loads a path.
pub(super) fn congestion(key: &str, name: &str, problems: &mut Problems) -> String {
    problems.read(&format!("{key}.congestion"), name, congestion_name);
    name.to_string()
}
