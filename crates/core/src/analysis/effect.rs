//! Effects and their ranges: what a block says, and what all blocks say together
//! (docs/method.md part C).

use super::{Effect, Range};
use crate::metric::{Better, Metric, Scale};
use crate::plan::Stop;
use alloc::vec::Vec;
use v6gap_stats::{Alternative, Interval, drift, multiplicity, sequence, signed_rank, summary};

/// Fewest valid blocks for any range.
pub const BLOCKS_MIN: usize = 6;

/// Skewness of the blocks' effects beyond which the range for any symmetric law is used in place of
/// the one for the normal law.
const SKEWNESS_MAX: f64 = 1.0;

/// Fewest blocks for the range for any symmetric law; with fewer it has no ends.
const SYMMETRIC_BLOCKS_MIN: usize = 12;

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
    }
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
