//! Cells of round trips and of connecting.

use super::Problems;
use super::cells::{Place, sizes};
use crate::metric::Metric;
use crate::plan::defaults;
use crate::plan::draft::{Levels, Measure};
use crate::unit;
use crate::workload::{
    Connect, Echo, Kind, Method, Purpose, StreamSettings, Timing, Transport, Wait, Workload,
};
use alloc::format;
use alloc::vec::Vec;

/// Largest message over TCP, in bytes.
const MESSAGE_BYTES_MAX: u32 = 64 << 20;

/// Most turns of each arm in a block.
const TURNS_MAX: u32 = 10_000;

/// Round trips of every size of a table over one transport.
pub(super) fn echoes(
    key: &str,
    transport: Transport,
    measure: &Measure,
    place: Place,
    problems: &mut Problems,
) -> Vec<Workload> {
    let most = match transport {
        Transport::Tcp => MESSAGE_BYTES_MAX,
        // The same payload must fit in both families.
        Transport::Udp | Transport::Icmp => place.payload_max,
    };
    let range = Echo::MESSAGE_BYTES_MIN..=most;
    let levels = measure.message.as_ref();
    let sizes = sizes(&format!("{key}.message"), levels, &defaults::MESSAGE_BYTES, range, problems);
    let wait = wait(key, measure, place, problems);
    let connections = limited(key, "connections", measure.connections, 64, problems);
    let turn = limited(key, "turn", measure.turn, 10_000, problems);
    let turns = limited(key, "turns", measure.turns, TURNS_MAX, problems);
    let outstanding =
        limited(key, "outstanding", measure.outstanding, Echo::OUTSTANDING_MAX, problems);
    let timing = timing(key, measure, problems);
    let method = method(key, measure, place, problems);
    let tails = tails(key, measure, problems);
    let make = |bytes: u32| {
        let wait = wait.unwrap_or(defaults::wait(place.lab));
        let default = match method {
            Method::Ends => defaults::echo(transport, bytes, wait),
            Method::Stack => defaults::stack(transport, bytes),
        };
        Echo {
            connections: connections.unwrap_or(default.connections),
            turn_exchanges: turn.unwrap_or(default.turn_exchanges),
            turns: turns.unwrap_or(default.turns),
            outstanding: outstanding.unwrap_or(1),
            timing,
            tails,
            ..default
        }
    };
    let mut found: Vec<Echo> = sizes.into_iter().map(make).collect();
    let response_key = format!("{key}.response");
    let response =
        problems.read_optional(&response_key, measure.response.as_ref(), unit::parse_bytes);
    let volume_key = format!("{key}.bytes");
    let volume = volume(&volume_key, measure, problems);
    let counted = turn.is_some() || turns.is_some() || connections.is_some();
    for echo in &mut found {
        echo.response_bytes = response.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        match (volume, place.path) {
            (Some(bytes), _) => fill(echo, bytes, &volume_key, measure, problems),
            // What nobody counted takes a time and no number, whatever the lines are.
            (None, path) if !counted => {
                echo.turns = echo.turns.max(echo.turns_min());
                path.into_iter().for_each(|path| echo.fit(path));
            }
            (None, _) => {}
        }
        check(key, echo, problems);
    }
    let mut with_buffers = Vec::new();
    for buffer in buffers(key, transport, measure, problems) {
        with_buffers.extend(found.iter().cloned().map(|mut echo| {
            echo.settings.buffer_bytes = buffer;
            Workload::Echo(echo)
        }));
    }
    with_buffers
}

/// Bytes of all messages of a trial, if the table gives them in place of turns.
fn volume(key: &str, measure: &Measure, problems: &mut Problems) -> Option<u64> {
    let levels = measure.bytes.as_ref()?;
    let Levels::One(text) = levels else {
        problems.add(key, "round trips take one number of bytes for all sizes");
        return None;
    };
    if measure.turns.is_some() {
        problems.add(key, "either the bytes or the turns can be given");
    }
    let bytes = problems.read(key, text, unit::parse_bytes);
    if bytes == Some(0) {
        problems.add(key, "round trips of 0 B measure nothing");
    }
    bytes
}

/// As many turns as the messages need to carry `bytes`, an even number so that the order of the
/// arms stays balanced. Turns grow where more than [`TURNS_MAX`] would be needed, and connections
/// are no more than have two turns each, unless these are given.
fn fill(echo: &mut Echo, bytes: u64, key: &str, measure: &Measure, problems: &mut Problems) {
    let exchanges = (bytes / u64::from(echo.message_bytes.max(1))).max(1);
    if measure.turn.is_none() {
        let least = exchanges.div_ceil(u64::from(TURNS_MAX));
        // Two turns at least, so that both orders occur.
        let most = (exchanges / 2).max(1);
        let turn = u64::from(echo.turn_exchanges).max(least).min(most);
        echo.turn_exchanges = u32::try_from(turn).unwrap_or(u32::MAX);
    }
    let turn = echo.turn_exchanges.max(1);
    let turns = exchanges.div_ceil(turn.into()).next_multiple_of(2);
    if turns > u64::from(TURNS_MAX) {
        let what = format!(
            "messages of {} B take {turns} turns of {turn} for that, more than {TURNS_MAX}: give \
             fewer bytes or a longer turn",
            echo.message_bytes
        );
        problems.add(key, what);
    }
    echo.turns = u32::try_from(turns).unwrap_or(u32::MAX).min(TURNS_MAX);
    if measure.connections.is_none() {
        echo.connections = echo.connections.min(echo.turns / 2).max(1);
    }
}

/// The levels of the sockets' buffers; `None` leaves them to the system.
fn buffers(
    key: &str,
    transport: Transport,
    measure: &Measure,
    problems: &mut Problems,
) -> Vec<Option<u32>> {
    if measure.require_window.is_some() {
        problems.add(format!("{key}.require_window"), "only bulk transfers over TCP have this");
    }
    let Some(levels) = &measure.window else { return alloc::vec![None] };
    let key = format!("{key}.window");
    if transport == Transport::Icmp {
        problems.add(key, "ICMP echoes leave their buffers to the system");
        return Vec::new();
    }
    let range = 1..=StreamSettings::BUFFER_BYTES_MAX;
    let found = sizes(&key, Some(levels), &[], range, problems);
    found.into_iter().map(Some).collect()
}

/// What cannot be had together.
fn check(key: &str, echo: &Echo, problems: &mut Problems) {
    let transport = echo.transport;
    if let Some(answer) = echo.response_bytes {
        let response_key = format!("{key}.response");
        let most = if transport == Transport::Udp { echo.message_bytes } else { MESSAGE_BYTES_MAX };
        if transport == Transport::Icmp {
            problems.add(response_key, "an ICMP echo is answered with what it was sent");
        } else if !(Echo::MESSAGE_BYTES_MIN..=most).contains(&answer) {
            let low = Echo::MESSAGE_BYTES_MIN;
            let why = "a server sends no datagram longer than the one that it answers";
            let why = if transport == Transport::Udp { format!("; {why}") } else { "".into() };
            let what = format!("{answer} B is not between {low} and {most} B{why}");
            problems.add(response_key, what);
        }
    }
    let exchanges = u64::from(echo.turn_exchanges) * u64::from(echo.turns);
    if echo.tails && echo.timing == Timing::Batch {
        let what = "the time of a batch has no percentiles of single round trips";
        problems.add(format!("{key}.also"), what);
    } else if echo.tails && exchanges < u64::from(Echo::TAILS_EXCHANGES_MIN) {
        let least = Echo::TAILS_EXCHANGES_MIN;
        let what = format!("percentiles need {least} exchanges in a trial, not {exchanges}");
        problems.add(format!("{key}.also"), what);
    }
    if echo.method == Method::Stack && transport == Transport::Icmp {
        let what = "ICMP echoes are answered by the kernel, not by an end in one thread";
        problems.add(format!("{key}.method"), what);
    }
    if echo.outstanding > 1 {
        let outstanding_key = format!("{key}.outstanding");
        if transport == Transport::Icmp {
            problems.add(outstanding_key, "ICMP echoes are sent one after the other");
        } else if echo.method == Method::Stack {
            problems.add(outstanding_key, "one thread with both ends has one request on the way");
        } else if echo.timing == Timing::Batch {
            let what = "the time of a batch is no round trip if several requests are on the way";
            problems.add(outstanding_key, what);
        }
    }
}

pub(super) fn wait(
    key: &str,
    measure: &Measure,
    place: Place,
    problems: &mut Problems,
) -> Option<Wait> {
    let key = format!("{key}.wait");
    match measure.wait.as_deref() {
        None => None,
        Some("block") => Some(Wait::Block),
        Some("yield") => Some(Wait::Yield),
        Some("spin") if place.lab => {
            let what = "in a lab both ends share a processor, and one that spins keeps the other \
                        from answering; \"yield\" lets it";
            problems.add(key, what);
            None
        }
        Some("spin") => Some(Wait::Spin),
        Some(other) => {
            problems.one_of(key, other, &["block", "yield", "spin"]);
            None
        }
    }
}

fn method(key: &str, measure: &Measure, place: Place, problems: &mut Problems) -> Method {
    let key = format!("{key}.method");
    match measure.method.as_deref() {
        None | Some("ends") => return Method::Ends,
        Some("stack") if !place.bare => {
            let what = "one thread has both ends only in a lab of bare cables, without tunnels or \
                        translators: [lab] model = \"bare\", or demo --model bare";
            problems.add(key, what);
        }
        Some("stack") if measure.wait.is_some() => {
            problems.add(key, "one thread with both ends waits for nobody: leave out wait");
        }
        Some("stack") => {}
        Some(other) => problems.one_of(key, other, &["ends", "stack"]),
    }
    Method::Stack
}

fn timing(key: &str, measure: &Measure, problems: &mut Problems) -> Timing {
    match measure.timing.as_deref() {
        None | Some("each") => Timing::Each,
        Some("batch") => Timing::Batch,
        Some(other) => {
            problems.one_of(format!("{key}.timing"), other, &["each", "batch"]);
            Timing::Each
        }
    }
}

/// Whether the percentiles are asked for.
fn tails(key: &str, measure: &Measure, problems: &mut Problems) -> bool {
    for other in measure.also.iter().filter(|other| *other != "tails") {
        problems.one_of(format!("{key}.also"), other, &["tails"]);
    }
    !measure.also.is_empty()
}

fn limited(
    key: &str,
    name: &str,
    value: Option<u32>,
    most: u32,
    problems: &mut Problems,
) -> Option<u32> {
    value.filter(|v| {
        let good = (1..=most).contains(v);
        if !good {
            problems.add(format!("{key}.{name}"), format!("{v} is out of range"));
        }
        good
    })
}

/// Whether opening connections yields a metric.
pub(super) fn is_of_connecting(metric: Metric) -> bool {
    matches!(metric, Metric::Connect | Metric::FirstByte | Metric::ConnectRate)
}

/// Connecting, first bytes and rates of connections.
pub(super) fn connect(
    key: &str,
    metric: Metric,
    measure: &Measure,
    problems: &mut Problems,
) -> Workload {
    let purpose = if metric == Metric::FirstByte {
        Purpose::FirstByte
    } else if metric == Metric::ConnectRate {
        if measure.hold == Some(true) { Purpose::Hold } else { Purpose::Rate }
    } else {
        Purpose::Open
    };
    if measure.hold.is_some() && metric != Metric::ConnectRate {
        problems.add(format!("{key}.hold"), "only connect-rate keeps connections open");
    }
    let otherwise = match purpose {
        Purpose::Open | Purpose::FirstByte => 24,
        Purpose::Rate | Purpose::Hold => 1_000,
    };
    let count = measure.count.unwrap_or(otherwise);
    let most = Connect::COUNT_MAX;
    if !(1..=most).contains(&count) {
        problems.add(format!("{key}.count"), format!("count must be between 1 and {most}"));
    }
    let mut connect = Connect { count, purpose, ..Connect::default() };
    if purpose == Purpose::Hold {
        connect.concurrent = connect.concurrent_max();
    }
    if let Some(concurrent) = measure.concurrent {
        let most = connect.concurrent_max();
        if (1..=most).contains(&concurrent) {
            connect.concurrent = concurrent;
        } else {
            let what = format!("{concurrent} is not between 1 and {most} for {metric}");
            problems.add(format!("{key}.concurrent"), what);
        }
    }
    Workload::Connect(connect)
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;
    use crate::plan::check::{Problem, check};
    use crate::plan::draft::{Draft, Measure, VERSION};
    use crate::workload::Workload;
    use alloc::vec;
    use alloc::vec::Vec;

    fn plan_of(keys: &str) -> Result<Plan, Vec<Problem>> {
        let text = alloc::format!(r#"{{"metric":"rtt","message":"64 B","bytes":{keys}}}"#);
        let measure: Measure = serde_json::from_str(&text).unwrap();
        check(&Draft { v6gap: VERSION, measure: vec![measure], ..Draft::default() }, 1)
    }

    /// Exchanges of a turn, turns and connections.
    fn shape(keys: &str) -> (u32, u32, u32) {
        match &plan_of(keys).unwrap().cells[0].workload {
            Workload::Echo(echo) => (echo.turn_exchanges, echo.turns, echo.connections),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_are_carried_whole_or_refused() {
        // 10^6 exchanges, in turns of the usual length or longer ones.
        assert_eq!(shape(r#""64 MB""#), (100, 10_000, 8));
        assert_eq!(shape(r#""64 MB","turn":200"#), (200, 5_000, 8));
        let found = plan_of(r#""64 MB","turn":99"#).unwrap_err();
        assert_eq!((found.len(), found[0].key.as_str()), (1, "measure[0].bytes"), "{found:?}");
    }

    #[test]
    fn connections_that_were_asked_for_are_kept() {
        // 100 exchanges in 6 turns of 20.
        assert_eq!(shape(r#""6400 B""#), (20, 6, 3));
        assert_eq!(shape(r#""6400 B","connections":5"#), (20, 6, 5));
    }
}
