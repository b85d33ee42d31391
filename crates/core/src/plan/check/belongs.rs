//! Keys of a `[[measure]]` table that mean nothing to what it measures: a slip, not to be passed
//! over.

use super::Problems;
use crate::plan::draft::Measure;
use crate::workload::Workload;
use alloc::format;
use serde_json::Value;

/// Keys that every table may have.
const OF_ALL: [&str; 3] = ["metric", "small", "protocol"];

/// Keys of all between hosts of one's own: how packets are marked.
const MARKS: [&str; 4] = ["dscp", "tos", "hop_limit", "flow_label"];

/// Keys that shape a kind of workload.
const fn own(workload: &Workload) -> &'static str {
    match workload {
        Workload::TcpBulk(_) => {
            "direction time packets warmup write streams bytes window require_window mss no_delay \
             pacing zero_copy truncate also congestion parity"
        }
        Workload::UdpBulk(_) => {
            "payload bitrate direction time packets batch offload law on off frame every sizes \
             least step warmup also parity"
        }
        Workload::Echo(_) => {
            "message response outstanding method timing bytes window also connections turn turns \
             wait parity"
        }
        Workload::Connect(_) => "count concurrent hold",
        Workload::Probe(_) => {
            "payload interval timeout clock_error load kernel_times time turn turns wait"
        }
        Workload::Capacity(_) => "payload bitrate time direction target_loss force",
        Workload::Frames(_) => "payload frame every time direction",
        Workload::Visit(_) | Workload::Lookup(_) => "",
    }
}

/// Whether a visit to a host of others is measured: nothing shapes that, nor is it marked.
pub(super) enum Of {
    /// A host of others.
    Strangers,
    /// One's own.
    Hosts,
}

/// Tells of keys that belong to none of what is measured, unless something else was told of them.
pub(super) fn check(
    key: &str,
    measure: &Measure,
    found: &[Workload],
    of: Of,
    problems: &mut Problems,
) {
    let Ok(Value::Object(written)) = serde_json::to_value(measure) else { return };
    if found.is_empty() {
        return;
    }
    let shapes = |name: &str| match of {
        Of::Strangers => false,
        Of::Hosts => {
            MARKS.contains(&name)
                || name == "dont_fragment"
                || found.iter().any(|of| own(of).split(' ').any(|key| key == name))
        }
    };
    for (name, value) in &written {
        let is_given = !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty());
        let place = format!("{key}.{name}");
        let is_good = OF_ALL.contains(&name.as_str()) || shapes(name);
        if is_given && !is_good && !problems.has(&place) {
            problems.add(place, format!("this means nothing to {} measured so", measure.metric));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::check::check;
    use crate::plan::draft::{Draft, Levels, Measure};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn keys(measure: Measure) -> Vec<String> {
        let draft = Draft { v6gap: 1, measure: [measure].into(), ..Draft::default() };
        let found = check(&draft, 1).err().unwrap_or_default();
        found.into_iter().map(|problem| problem.key).collect()
    }

    #[test]
    fn what_means_nothing_is_told() {
        let one = |text: &str| Some(Levels::One(text.to_string()));
        let of = |metric: &str| Measure { metric: metric.to_string(), ..Measure::default() };
        let rate = Measure { bitrate: Some("5 Mbit/s".to_string()), ..of("throughput") };
        assert_eq!(keys(rate), ["measure[0].bitrate"]);
        let sized = Measure { message: one("64 B"), ..of("loss") };
        assert_eq!(keys(sized), ["measure[0].message"]);
        let payload = Measure { payload: one("100 B"), protocol: one("udp"), ..of("rtt") };
        assert_eq!(keys(payload), ["measure[0].payload"]);
        let tuned = Measure { congestion: Some("bbr".to_string()), ..of("connect") };
        assert_eq!(keys(tuned), ["measure[0].congestion"]);
        // Of two transports a key of either is one of the table.
        let both = Levels::Many(["tcp", "udp"].map(ToString::to_string).to_vec());
        let both = Measure { protocol: Some(both), payload: one("100 B"), ..of("throughput") };
        assert_eq!(keys(both), Vec::<String>::new());
    }
}
