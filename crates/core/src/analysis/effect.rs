//! Effects and their ranges: what a block says, and what all blocks say together
//! (docs/method.md part C).

use super::{Effect, Range};
use crate::arm::PerArm;
use crate::metric::{Better, Metric, Scale};
use crate::observation::Measured;
use crate::plan::Stop;
use crate::record::TrialRecord;
use alloc::vec::Vec;
use v6gap_stats::{
    Alternative, Interval, drift, loss, multiplicity, sequence, signed_rank, summary,
};

/// Fewest valid blocks for any range.
pub const BLOCKS_MIN: usize = 6;

/// Fewest null blocks that tell anything: that can condemn a run, or say how large its noise is.
pub const NULLS_MIN: usize = 4;

/// Skewness of the blocks' effects beyond which the range for any symmetric law is used in place of
/// the one for the normal law.
const SKEWNESS_MAX: f64 = 1.0;

/// Fewest blocks for the range for any symmetric law; with fewer it has no ends.
const SYMMETRIC_BLOCKS_MIN: usize = 12;

/// Lag-1 autocorrelation above which the pairs count as dependent.
const DEPENDENCE_MAX: f64 = 0.6;

/// Fewest blocks whose dependence is looked at.
const DEPENDENCE_BLOCKS_MIN: usize = 12;

/// Blocks for which the symmetric sequence is tuned.
const SYMMETRIC_BLOCKS: usize = 20;

/// The effect of one block: the logarithm of the ratio b/a, or the difference b − a.
pub fn of_block(metric: Metric, a: f64, b: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => libm::log(b / a),
        Scale::Difference => b - a,
    }
}

/// The margin on the scale of [`of_block`]: `ln(1 + m)`, or m itself.
pub fn margin(metric: Metric, margin: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => libm::log1p(margin),
        Scale::Difference => margin,
    }
}

/// What all blocks say together, on the scale of [`of_block`].
#[derive(Debug, Clone)]
pub struct Combined {
    /// The estimate.
    pub centre: f64,
    /// 95 % range.
    pub i95: Interval,
    /// 90 % range, shown.
    pub i90: Interval,
    /// Range by which "same" is decided: 90 %, stricter when several levels are decided together.
    pub equivalence: Interval,
    /// p-value of no difference; holds at any stopping time when the run is adaptive.
    pub p: f64,
    /// Blocks.
    pub n: usize,
    /// Standard deviation of one block's effect.
    pub sd: f64,
    /// Whether the range for any symmetric law was used.
    pub symmetric: bool,
    /// A reason for doubt in the blocks themselves, in words.
    pub doubt: Option<&'static str>,
}

/// Combines the effects of the blocks of one question by the rule that belongs to the stopping
/// rule.
///
/// `levels` is the number of levels decided together; `noise` the standard deviation that the null
/// blocks of like cells showed, if there were any.
pub fn combine(
    effects: &[f64],
    stop: &Stop,
    levels: usize,
    noise: Option<f64>,
) -> Option<Combined> {
    if effects.len() < 2 {
        return None;
    }
    let alpha_same = 0.10 / levels.max(1) as f64;
    let sd = summary::sd(effects);
    let n = effects.len();
    Some(match stop {
        Stop::Pairs { .. } => {
            let at = |alpha| signed_rank::hodges_lehmann(effects, alpha);
            let main = at(0.05);
            Combined {
                centre: main.centre,
                i95: main.interval,
                i90: at(0.10).interval,
                equivalence: at(alpha_same).interval,
                p: signed_rank::wilcoxon_p(effects, Alternative::TwoSided),
                n,
                sd,
                symmetric: false,
                doubt: doubt(effects, false),
            }
        }
        Stop::Adaptive { .. } => adaptive(effects, alpha_same, noise),
    })
}

fn adaptive(effects: &[f64], alpha_same: f64, noise: Option<f64>) -> Combined {
    let skewed = libm::fabs(drift::skewness(effects)) > SKEWNESS_MAX;
    let noise =
        noise.filter(|sigma| skewed && effects.len() >= SYMMETRIC_BLOCKS_MIN && *sigma > 0.0);
    let at = |alpha: f64| match noise {
        Some(sigma) => {
            let rho = sequence::symmetric_rho(sigma, SYMMETRIC_BLOCKS, alpha);
            sequence::symmetric_sequence(effects, alpha, rho)
        }
        None => sequence::t_sequence(effects, alpha),
    };
    let main = at(0.05);
    Combined {
        centre: main.centre,
        i95: main.interval,
        i90: at(0.10).interval,
        equivalence: at(alpha_same).interval,
        p: sequence::anytime_p(effects),
        n: effects.len(),
        sd: summary::sd(effects),
        symmetric: noise.is_some(),
        doubt: doubt(effects, skewed && noise.is_none()),
    }
}

/// What the sequence of blocks says against the range taken from it: no range survives effects that
/// resemble their neighbours, and a lopsided law widens the one for the normal law too little.
fn doubt(effects: &[f64], lopsided: bool) -> Option<&'static str> {
    let n = effects.len();
    let alike = n >= DEPENDENCE_BLOCKS_MIN && drift::lag1_autocorrelation(effects) > DEPENDENCE_MAX;
    // With fewer blocks even a normal law often looks lopsided.
    match (alike, lopsided && n >= SYMMETRIC_BLOCKS_MIN) {
        (true, _) => Some("neighbouring pairs resemble each other: the range may be too narrow"),
        (_, true) => Some("the pairs are lopsided: the range may be too narrow"),
        _ => None,
    }
}

/// Datagrams (lost, sent) of a trial; nothing if it sent none.
pub fn lost_of(trial: &TrialRecord) -> (u64, u64) {
    match (&trial.ends.client.measured, &trial.ends.server.measured) {
        (Measured::Sent(sent), Measured::Received(received))
        | (Measured::Received(received), Measured::Sent(sent)) => {
            (received.lost_of(sent), sent.packets)
        }
        _ => (0, 0),
    }
}

/// Sums of (lost, sent).
pub fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}

/// p-values of questions decided together, corrected after Holm.
pub fn holm(p: &[f64]) -> Vec<f64> {
    multiplicity::holm(p)
}

impl Combined {
    /// The same with every figure moved by `by`, as when a prediction is taken off.
    pub fn moved(&self, by: f64) -> Combined {
        let moved = |i: &Interval| Interval { low: i.low + by, high: i.high + by };
        Combined {
            centre: self.centre + by,
            i95: moved(&self.i95),
            i90: moved(&self.i90),
            equivalence: moved(&self.equivalence),
            ..self.clone()
        }
    }

    /// The same widened so that it reaches at least `low` to `high`.
    pub fn widened(&self, low: f64, high: f64) -> Combined {
        let widened = |i: &Interval| Interval { low: i.low.min(low), high: i.high.max(high) };
        Combined {
            i95: widened(&self.i95),
            i90: widened(&self.i90),
            equivalence: widened(&self.equivalence),
            ..self.clone()
        }
    }

    /// For loss: blocks without any agree perfectly and still prove little, so the range reaches at
    /// least as far as the exact bound on the loss of either arm (Clopper and Pearson 1934).
    pub fn bounded(self, events: &PerArm<(u64, u64)>) -> Combined {
        if events.a.0 + events.b.0 > 0 || self.sd > 0.0 {
            return self;
        }
        let bound = |(lost, of): (u64, u64)| loss::interval(lost, of, 0.95).high;
        self.widened(-bound(events.a), bound(events.b))
    }

    /// In the form that is stored and shown: relative differences in place of logarithms.
    pub fn shown(&self, scale: Scale) -> Effect {
        let show = |x: f64| match scale {
            Scale::Ratio => libm::expm1(x),
            Scale::Difference => x,
        };
        let range = |i: &Interval| Range { low: show(i.low), high: show(i.high) };
        Effect {
            scale,
            estimate: show(self.centre),
            range95: range(&self.i95),
            range90: range(&self.i90),
            blocks: self.n,
            sd: self.sd,
        }
    }
}

/// +1 where more is better, −1 where less is: turns an effect into an advantage of the second arm.
pub fn orientation(metric: Metric) -> f64 {
    match metric.better() {
        Better::Higher => 1.0,
        Better::Lower => -1.0,
    }
}
