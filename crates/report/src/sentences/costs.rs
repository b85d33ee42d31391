//! What a cost model says, in sentences.

use crate::number;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::unit;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::costmodel::{CostModel, Ranged, Share};

/// A cost per byte counts as that of the known line if its range comes this near, as a share: the
/// lab's token bucket is fed that much below the rate of the link that it stands before.
const LINE_TOLERANCE: f64 = 0.002;

/// What a model of this run says, as one or two sentences.
pub fn costs(analysis: &Analysis, cost: &CostModel) -> String {
    if !analysis.valid {
        return "A check of the run failed, so nothing is concluded from it.".to_owned();
    }
    let names = &analysis.arm_names;
    let transport = cost.transport.name();
    let Some(fitted) = &cost.fitted else {
        let why = cost.why_none.as_deref().unwrap_or("nothing was measured");
        return format!(
            "What constant, packets and bytes cost over {transport} could not be told apart: {why}."
        );
    };
    let mut text = match &cost.smallest {
        Some(share) => apart(cost, share, names),
        None => String::new(),
    };
    text.push_str(&format!(
        " Each byte costs as on a line of {} over {} and {} over {}",
        rate(&fitted.apparent_rate_bps.a),
        names.a,
        rate(&fitted.apparent_rate_bps.b),
        names.b
    ));
    text.push_str(&match &cost.line_rate_bps {
        None => ".".into(),
        Some(known) => {
            let agrees = |found: &Ranged, known: f64| {
                found.low <= known * (1.0 + LINE_TOLERANCE)
                    && found.high >= known * (1.0 - LINE_TOLERANCE)
            };
            let rates = &fitted.apparent_rate_bps;
            let both = agrees(&rates.a, known.a) && agrees(&rates.b, known.b);
            let slower = rates.a.low < known.a && rates.b.low < known.b;
            let line = match known.a == known.b {
                true => format!("the line has {}", unit::format_rate(known.a)),
                false => format!(
                    "the lines have {} and {}",
                    unit::format_rate(known.a),
                    unit::format_rate(known.b)
                ),
            };
            match (both, slower) {
                (true, _) => format!("; {line}."),
                (_, true) => format!("; {line}, and the rest is the hosts' cost per byte."),
                (_, false) => {
                    format!("; {line}, which no packet can beat: the fit is off by that much.")
                }
            }
        }
    });
    text
}

/// "Of the 6.8 µs that IPv6 takes longer at 64 B over TCP, 6.4 µs are …", whichever arm it is that
/// has the longer header.
fn apart(cost: &CostModel, share: &Share, names: &PerArm<String>) -> String {
    let (over, share) = match share.line_ns.estimate < 0.0 {
        true => (&names.a, &share.of_the_first()),
        false => (&names.b, share),
    };
    let size = unit::format_bytes(share.bytes.into());
    let transport = cost.transport.name();
    let links = match cost.links {
        1 => "the line".into(),
        n => format!("{n} links"),
    };
    let header = format!("its longer header on {links}, there and back");
    let alike =
        cost.line_rate_bps.is_some_and(|r| r.a == r.b) && cost.delay_ns.is_some_and(|d| d.a == d.b);
    let whose = if alike { "the hosts'" } else { "the hosts' and the path's" };
    let line = span(share.line_ns.estimate);
    let rest = share.rest_ns;
    let [middle, low, high] = spans(&rest);
    let between = format!("between {low} and {high}");
    let longer = share.difference_ns.estimate;
    if !share.difference_ns.differs() {
        return format!(
            "Whether {over} takes longer at {size} over {transport} cannot be told; {line} would \
             be {header}, and {whose} part is {between}."
        );
    }
    if longer < 0.0 {
        return format!(
            "{over} takes {} less at {size} over {transport}, although {line} go to {header}: the \
             rest, {}, is {whose} ({between}).",
            span(-longer),
            middle
        );
    }
    let told = if rest.differs() { "" } else { ", which may be nothing" };
    format!(
        "Of the {} that {over} takes longer at {size} over {transport}, {line} are {header}; {} \
         are {whose} ({between}){told}.",
        span(longer),
        middle
    )
}

/// A span that may be negative, in µs below 1 ms.
fn span(ns: f64) -> String {
    unit::format_span(ns).replace('-', "−")
}

/// A span with a range as its middle and both ends, in one unit and with the figures of its range.
fn spans(found: &Ranged) -> [String; 3] {
    let [middle, low, high] = [found.estimate, found.low, found.high].map(|ns| ns / 1e9);
    let unit = number::unit(Metric::Rtt, &[low.abs().max(high.abs())]);
    let shown = number::ranged(middle / unit.size, low / unit.size, high / unit.size);
    shown.map(|text| format!("{text} {}", unit.symbol))
}

fn rate(found: &Ranged) -> String {
    if !found.high.is_finite() {
        let [middle, low] = [found.estimate, found.low].map(unit::format_rate);
        return format!("{middle} (at least {low})");
    }
    let number::Unit { symbol, size } = number::unit(Metric::Throughput, &[found.estimate]);
    let [middle, low, high] =
        number::ranged(found.estimate / size, found.low / size, found.high / size);
    format!("{middle} ({low} to {high}) {symbol}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_without_a_highest_has_a_lowest() {
        let open = Ranged { estimate: 8e9, low: 4e9, high: f64::INFINITY };
        assert_eq!(rate(&open), "8 Gbit/s (at least 4 Gbit/s)");
        let both = Ranged { high: 16e9, ..open };
        assert_eq!(rate(&both), "8 (4 to 16) Gbit/s");
        let narrow = Ranged { estimate: 99.93e6, low: 99.79e6, high: 100.07e6 };
        assert_eq!(rate(&narrow), "99.93 (99.79 to 100.07) Mbit/s");
    }

    /// Ends that differ are shown to, and in the unit of the middle.
    #[test]
    fn a_part_of_a_round_trip_has_the_figures_of_its_range() {
        let rest = Ranged { estimate: 161_042.0, low: 160_831.0, high: 161_238.0 };
        assert_eq!(spans(&rest), ["161.0 µs", "160.8 µs", "161.3 µs"]);
        let nothing = Ranged { estimate: -40.0, low: -530.0, high: 450.0 };
        assert_eq!(spans(&nothing), ["0.0 µs", "−0.6 µs", "0.5 µs"]);
    }
}
