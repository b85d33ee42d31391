//! TCP transfers between payload and line, and in the words of RFC 6349: medians over the valid
//! trials of each cell and family.

use std::collections::BTreeMap;
use v6gap_core::family::Family;
use v6gap_core::record::{Line, TrialRecord};
use v6gap_core::unit::{format_rate, format_share, format_span};
use v6gap_core::world::model::framing;
use v6gap_judge::transfer::{self, Transfer, Window};

/// Least share of the time for which it is said that a window was the limit.
const LIMITED: f64 = 0.1;

/// One sentence for each cell and family that has transfers over TCP.
pub(crate) fn transfers(lines: &[Line]) -> Vec<String> {
    let world = lines.iter().find_map(|line| match line {
        Line::Run(run) => run.plan.world.as_ref(),
        _ => None,
    });
    let framing = framing(world);
    by_family(lines, |trial| transfer::of_trial(trial.family, &trial.ends, framing), sentence)
}

fn sentence(all: &[Transfer]) -> String {
    let of = |value: fn(&Transfer) -> Option<f64>| median(all.iter().filter_map(value).collect());
    let mut parts = Vec::new();
    if let Some(rate) = of(|t| Some(t.payload_bps)) {
        parts.push(format!("{} of payload", format_rate(rate)));
    }
    if let (Some(rate), Some(bytes)) = (of(|t| t.wire_bps), of(|t| t.segment_bytes)) {
        let overhead = all.first().map_or(0, |t| t.overhead_bytes);
        parts.push(format!(
            "{} on the line, as {bytes:.0} B travel with {overhead} B of headers and framing",
            format_rate(rate)
        ));
    }
    if let Some(rate) = of(|t| Some(t.whole_bps)) {
        parts.push(format!("{} from the first byte to the last", format_rate(rate)));
    }
    match of(|t| t.steady_bps) {
        Some(rate) => parts.push(format!("{} once settled", format_rate(rate))),
        None => parts.push("never settled".to_owned()),
    }
    if let Some(share) = of(|t| t.efficiency) {
        parts.push(format!("{} of the bytes sent once", format_share(share)));
    }
    if let Some(share) = of(|t| t.buffer_delay) {
        parts.push(format!("round trips {} above the shortest", format_share(share)));
    }
    parts.extend(window(&all.iter().filter_map(|t| t.window).collect::<Vec<_>>()));
    parts.join("; ")
}

/// What the windows allowed, where they were the limit for a part of the time that matters.
fn window(all: &[Window]) -> Option<String> {
    let of = |value: fn(&Window) -> f64| median(all.iter().map(value).collect());
    let limited = of(|w| w.limited).filter(|&share| share >= LIMITED)?;
    Some(format!(
        "{} of the time held back by a window of {:.0} B, which allows {} in round trips of {}",
        format_share(limited),
        of(|w| w.bytes)?,
        format_rate(of(|w| w.most_bps)?),
        format_span(of(|w| w.rtt_us)? * 1e3),
    ))
}

/// One sentence for each cell and family: what `sentence` says of all that `of_trial` finds in the
/// valid trials, if it finds anything.
pub(crate) fn by_family<'a, T>(
    lines: &'a [Line],
    of_trial: impl Fn(&'a TrialRecord) -> Option<T>,
    sentence: impl Fn(&[T]) -> String,
) -> Vec<String> {
    let mut found: BTreeMap<(&str, Family), Vec<T>> = BTreeMap::new();
    for line in lines {
        if let Line::Trial(trial) = line
            && !trial.findings.iter().any(|finding| finding.fatal)
            && let Some(one) = of_trial(trial)
        {
            found.entry((&trial.cell, trial.family)).or_default().push(one);
        }
    }
    let say = |((cell, family), all): ((&str, Family), Vec<T>)| {
        format!("{cell}, {family}: {}.", sentence(&all))
    };
    found.into_iter().map(say).collect()
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said_and_nothing_else() {
        let transfer = Transfer {
            payload_bps: 94e6,
            wire_bps: Some(100e6),
            segment_bytes: Some(1428.0),
            overhead_bytes: 110,
            whole_bps: 93e6,
            efficiency: Some(0.98),
            ..Transfer::default()
        };
        let text = sentence(&[transfer]);
        assert!(
            text.starts_with("94 Mbit/s of payload; 100 Mbit/s on the line, as 1428 B"),
            "{text}"
        );
        assert!(text.contains("with 110 B of headers"), "{text}");
        assert!(text.contains("never settled; 98 % of the bytes sent once"), "{text}");
        assert!(!text.contains("round trips"), "{text}");
    }

    #[test]
    fn a_window_is_named_where_it_was_the_limit() {
        let held = |limited| Window { bytes: 17_920.0, rtt_us: 20_200.0, most_bps: 7.1e6, limited };
        let text = window(&[held(0.98)]).unwrap();
        let expected = "98 % of the time held back by a window of 17920 B, which allows 7.1 Mbit/s \
                        in round trips of 20.2 ms";
        assert_eq!(text, expected);
        assert_eq!(window(&[held(0.01)]), None);
        assert_eq!(window(&[]), None);
    }

    #[test]
    fn medians() {
        assert_eq!(median(Vec::new()), None);
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
        assert_eq!(median(vec![3.0, 1.0, 9.0]), Some(3.0));
    }
}
