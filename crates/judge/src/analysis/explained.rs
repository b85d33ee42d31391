//! How much of a difference the headers explain, judged by what they leave: its range, with what
//! the wire model itself is in doubt about added in quadrature.

use super::effect::{Combined, Mean, orientation};
use super::{Explained, Range};
use v6gap_core::metric::Metric;
use v6gap_stats::Interval;

/// What is known of how exact the model is (k = 2), as a share of a time: that of round trips on
/// links of the lab with known delays (docs/validation). Of rates, and of other links, nothing is.
const OF_TIMES: f64 = 0.003;

/// How far a prediction may be off, as a share of the value; `None` where that is not known.
pub(super) fn uncertainty(metric: Metric) -> Option<f64> {
    match metric {
        // Predicted of links of the lab alone.
        Metric::Rtt | Metric::RttP50 | Metric::RttP90 | Metric::RttP99 | Metric::Connect => {
            Some(OF_TIMES)
        }
        Metric::Throughput
        | Metric::FirstByte
        | Metric::Lookup
        | Metric::Tls
        | Metric::Quic
        | Metric::Response
        | Metric::ConnectRate
        | Metric::Ipdv
        | Metric::Pdv
        | Metric::FrameLateness
        | Metric::PacketRate
        | Metric::Capacity
        | Metric::RateAtLoss
        | Metric::Loss
        | Metric::LossBack
        | Metric::FrameLoss
        | Metric::Reordering
        | Metric::Duplication
        | Metric::Cpu => None,
    }
}

/// The estimate with ranges as wide as they are if something else may be off by so much.
pub(super) fn blurred(found: &Combined, by: f64) -> Combined {
    let wider = |centre: f64, i: &Interval| Interval {
        low: centre - libm::hypot(centre - i.low, by),
        high: centre + libm::hypot(i.high - centre, by),
    };
    Combined {
        i95: wider(found.centre, &found.i95),
        i90: wider(found.centre, &found.i90),
        equivalence: wider(found.centre, &found.equivalence),
        mean: found.mean.map(|mean| Mean {
            i95: wider(mean.centre, &mean.i95),
            i90: wider(mean.centre, &mean.i90),
            ..mean
        }),
        ..found.clone()
    }
}

/// What part of an effect its prediction is, on the scale of blocks: the predicted logarithm over
/// both ends of the range, which is where the ratio of the two can lie (Fieller 1954, for one that
/// has no spread of its own). `None` if the range holds no difference at all.
pub(super) fn share(predicted: f64, effect: &Combined) -> Option<Range> {
    let Interval { low, high } = effect.i95;
    if !(low > 0.0 || high < 0.0) {
        return None;
    }
    let [x, y] = [predicted / low, predicted / high];
    Some(Range { low: x.min(y), high: x.max(y) })
}

/// Judges by the range of what is left. A wide range that happens to hold the prediction explains
/// nothing.
pub(super) fn judge(
    metric: Metric,
    residual: &Combined,
    share: Option<Range>,
) -> Option<Explained> {
    if residual.i95.excludes(0.0) {
        let better = orientation(metric) * residual.centre > 0.0;
        let part = |share: Range| match (share.low + share.high) / 2.0 {
            part if part >= 0.8 => Explained::NearlyAll,
            part if part >= 0.3 => Explained::Part,
            _ => Explained::Little,
        };
        return if better { Some(Explained::BetterThanPredicted) } else { share.map(part) };
    }
    share.filter(|share| share.low >= 0.5).map(|_| Explained::All)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::effect::{Setting, combine};

    /// Eight blocks around `centre`, all within `spread`.
    fn blocks(centre: f64, spread: f64) -> Combined {
        let effects: alloc::vec::Vec<f64> =
            (-4..=4).map(|i| centre + spread * f64::from(i) / 4.0).collect();
        combine(&effects, &Setting::ALONE).unwrap()
    }

    fn judged(metric: Metric, centre: f64, spread: f64, predicted: f64) -> Option<Explained> {
        let found = blocks(centre, spread);
        let residual = found.moved(-predicted);
        let residual = uncertainty(metric).map_or(residual.clone(), |by| blurred(&residual, by));
        judge(metric, &residual, share(predicted, &found))
    }

    #[test]
    fn all_is_explained_only_where_nothing_may_be_left() {
        let rtt = |centre, spread, predicted| judged(Metric::Rtt, centre, spread, predicted);
        assert_eq!(rtt(0.080, 0.002, 0.081), Some(Explained::All));
        // Inside the margin of the residual, but not nothing: 1.1 of 9 points.
        assert_eq!(rtt(0.090, 0.002, 0.079), Some(Explained::NearlyAll));
        assert_eq!(rtt(0.090, 0.002, 0.050), Some(Explained::Part));
        assert_eq!(rtt(0.090, 0.002, 0.010), Some(Explained::Little));
        assert_eq!(rtt(0.090, 0.002, -0.010), Some(Explained::Little));
        assert_eq!(rtt(0.060, 0.002, 0.081), Some(Explained::BetterThanPredicted));
        assert_eq!(rtt(0.0, 0.002, 0.081), Some(Explained::BetterThanPredicted));
        // A wide range that holds the prediction tells nothing of its share.
        assert_eq!(rtt(0.080, 0.079, 0.035), None);
        assert_eq!(rtt(0.0, 0.002, 0.0), None);
    }

    /// What the model is in doubt about is no difference of the hosts.
    #[test]
    fn the_model_is_not_taken_for_exact_where_it_is_known_not_to_be() {
        assert_eq!(judged(Metric::Rtt, 0.0155, 1e-4, 0.0130), Some(Explained::All));
        assert_eq!(judged(Metric::Rtt, 0.0175, 1e-4, 0.0130), Some(Explained::Part));
        assert_eq!(judged(Metric::Throughput, -0.0155, 1e-4, -0.0130), Some(Explained::NearlyAll));
        assert_eq!(judged(Metric::Throughput, -0.0130, 1e-4, -0.0155), {
            Some(Explained::BetterThanPredicted)
        });
    }

    #[test]
    fn the_share_has_the_range_of_the_effect() {
        let found = blocks(0.10, 0.02);
        let range = share(0.05, &found).unwrap();
        assert!(range.low < 0.5 && range.high > 0.5 && range.low > 0.4, "{range:?}");
        let mirrored = share(-0.05, &found).unwrap();
        assert!((mirrored.low + range.high).abs() < 1e-12, "{mirrored:?}");
        assert!(share(0.05, &blocks(0.0, 0.02)).is_none());
    }
}
