//! Effects and their ranges: what a block says, and what all blocks say together
//! (docs/method.md part C).

use super::guard::{self, Guard, Withheld};
use super::{Effect, Range};
use crate::reach::{ALPHA, ALPHA_SAME, level};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::{Better, Metric, Scale};
use v6gap_core::record::TrialRecord;
use v6gap_stats::sequence::{self, LOOKS_MIN, Looks, t_sequence_radius};
use v6gap_stats::stein::First;
use v6gap_stats::{
    Alternative, Estimate, Interval, drift, equivalence, loss, paired_t, score, signed_rank,
    summary,
};

pub mod hosts;
pub mod validity;

use hosts::Hosts;
use validity::{End, Validity};

/// Fewest valid blocks for any range.
pub const BLOCKS_MIN: usize = v6gap_core::plan::PAIRS_TO_DECIDE as usize;

/// Fewest null blocks that tell anything: that can condemn a run, or say how large its noise is.
pub const NULLS_MIN: usize = 4;

/// Skewness of the effects beyond which their mean is told beside their centre.
pub(super) const SKEWNESS_MAX: f64 = 1.0;

/// Fewest values for the ranges of any symmetric law where a run may stop at any time: those that
/// bet on the sign of each value (see [`score`]). With fewer the law is taken for normal.
pub const SCORES_MIN: usize = 12;

/// Median absolute deviations from the median in a standard deviation of the normal law.
const MADS: f64 = 1.482_602_218_505_602;

/// The effect of one block: the logarithm of the ratio b/a, or the difference b − a.
pub fn of_block(metric: Metric, a: f64, b: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => libm::log(b / a),
        Scale::Difference => b - a,
    }
}

/// What both trials of a block have of a metric.
pub fn values(metric: Metric, trials: PerArm<&TrialRecord>) -> Option<PerArm<f64>> {
    let PerArm { a, b } = trials.map(|trial| trial.values.get(&metric).copied());
    Some(PerArm { a: a?, b: b? })
}

/// The effect of a block, by its trials.
pub fn of_trials(metric: Metric, trials: PerArm<&TrialRecord>) -> Option<f64> {
    let PerArm { a, b } = values(metric, trials)?;
    Some(of_block(metric, a, b))
}

/// Half-width of the 95 % range with which "the same" is settled, as a part of the margin.
pub const SETTLED: f64 = 0.25;

/// Whether a run ends by the noise of its first look alone, whatever is found: where its range at
/// any time settles "the same". Of shares their counts decide, which grow.
pub fn is_quiet(metric: Metric, sd: f64, margin: f64) -> bool {
    let radius = radius(metric.scale(), LOOKS_MIN, sd, ALPHA, Validity::AnyTime);
    metric.scale() == Scale::Ratio && radius <= SETTLED * self::margin(metric, margin)
}

/// Whether a share differs by so much at its first look that the run would have ended there with
/// any estimate that the range of one look still reaches: where it is true the estimate hardly has
/// a part in that. Ratios are not asked, of which the hosts have a part that blocks do not show.
pub fn is_clear(metric: Metric, first: &[f64], margin: f64) -> bool {
    let (n, sd) = (first.len(), summary::sd(first));
    let at_any_time = radius(metric.scale(), n, sd, ALPHA, Validity::AnyTime);
    let nearest = libm::fabs(summary::mean(first)) - paired_t::radius(n, sd, ALPHA);
    metric.scale() == Scale::Difference && nearest - at_any_time > self::margin(metric, margin)
}

/// The margin on the scale of [`of_block`]: `ln(1 + m)`, or m itself.
pub fn margin(metric: Metric, margin: f64) -> f64 {
    metric.scale().single(margin)
}

/// What all blocks say together, on the scale of [`of_block`].
#[derive(Debug, Clone)]
pub struct Combined {
    /// The estimate.
    pub centre: f64,
    /// 95 % range.
    pub i95: Interval,
    /// 90 % range, by which "same" is decided.
    pub i90: Interval,
    /// Range by which "same" is decided for the residual: as `i90`, stricter when several levels
    /// are decided together.
    pub equivalence: Interval,
    /// p-value of no difference, as the ranges hold it: see [`Validity`].
    pub p: f64,
    /// p-value of a difference at least as large as the margin; likewise.
    pub p_same: f64,
    /// Blocks.
    pub n: usize,
    /// Standard deviation of one block's effect.
    pub sd: f64,
    /// Standard deviation of normal values whose range would be as wide; below [`SCORES_MIN`], of
    /// the values but for those far off.
    pub noise: f64,
    /// The mean of the values, where it is not the same as their centre.
    pub mean: Option<Mean>,
    /// What the guards say.
    pub guard: Guard,
    /// Why there is no verdict although there are blocks enough.
    pub withheld: Option<Withheld>,
    /// The ranges as they would be if events came singly, where bursts may have been missed.
    pub singly: Option<Singly>,
    /// Questions for which the ranges hold together.
    pub together: usize,
    /// What of the ranges is the hosts'.
    pub hosts: Hosts,
    /// When they hold.
    pub validity: Validity,
}

/// The mean beside the centre, on the scale of [`of_block`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub centre: f64,
    /// Its 95 % range, for nearly normal effects.
    pub i95: Interval,
    /// Its 90 % range.
    pub i90: Interval,
    /// Whether it speaks against the centre, so that the ranges of that reach over its own.
    pub speaks_against: bool,
}

/// Ranges of a share whose events come singly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Singly {
    /// 95 % range.
    pub i95: Interval,
    /// 90 % range.
    pub i90: Interval,
}

/// What belongs to a question beside its effects.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// When its ranges are to hold.
    pub validity: Validity,
    /// Number of levels decided together.
    pub levels: usize,
    /// Questions for which the ranges are to hold together: 1 for each by itself.
    pub together: usize,
    /// Number of questions of the run.
    pub questions: usize,
    /// The margin on the scale of [`of_block`].
    pub margin: f64,
    /// The scale of the metric: the centre of ratios is asked for, and the mean of shares, where a
    /// burst is no disturbance but what is looked for.
    pub scale: Scale,
    /// Effects of like null blocks before the first comparison, from [`NULLS_MIN`] on.
    pub nulls: &'a [f64],
}

#[cfg(test)]
impl Setting<'_> {
    /// One question of ratios by itself, with a margin of 5 %.
    pub const ALONE: Setting<'static> = Setting {
        validity: Validity::FixedNumber,
        levels: 1,
        together: 1,
        questions: 1,
        margin: 0.05,
        scale: Scale::Ratio,
        nulls: &[],
    };
}

/// Combines the effects of the blocks of one question by the rule that belongs to the stopping
/// rule.
pub fn combine(effects: &[f64], setting: &Setting<'_>) -> Option<Combined> {
    if effects.len() < 2 {
        return None;
    }
    let guard = guard::examine(effects, setting.margin, setting.questions);
    let units = guard.units(effects);
    let validity = match setting.validity {
        Validity::AtEnd { .. } if guard.merged() > 1 || guard.modes.is_some() => Validity::AnyTime,
        validity => validity.of_values(effects),
    };
    let setting = &Setting { validity, ..*setting };
    let mut combined = match setting.scale {
        Scale::Difference => by_mean(units, setting, Looks::All),
        Scale::Ratio if validity.normal_must_do(units.len(), setting.questions) => {
            by_few(units, setting)
        }
        Scale::Ratio => {
            // Means of neighbours have another scale than null blocks.
            let nulls = if guard.merged() == 1 { setting.nulls } else { &[] };
            by_centre(units, nulls, setting)
        }
    };
    combined.n = effects.len();
    combined.together = setting.together;
    combined.sd = summary::sd(effects);
    combined.withheld = match (guard.stands(), guard.modes) {
        (Some((sign, need)), _) => Some(Withheld::Unsteady { sign, need }),
        (None, Some(_)) if units.len() < SCORES_MIN => {
            Some(Withheld::Modes { need: SCORES_MIN * guard.merged() })
        }
        _ => None,
    };
    if let Some(all) = guard.holds_all {
        combined = combined.over_all(all, setting.margin);
    }
    combined.guard = guard;
    Some(combined)
}

/// Error rates of the three ranges of an estimate.
struct Rates {
    /// Of the range that is shown.
    shown: f64,
    /// Of that by which "same" is decided.
    same: f64,
    /// Of that by which it is decided for the residual.
    levels: f64,
}

impl Rates {
    fn of(setting: &Setting<'_>) -> Rates {
        let Setting { together, levels, .. } = *setting;
        Rates {
            shown: level(ALPHA, together),
            same: level(ALPHA_SAME, together),
            levels: level(ALPHA_SAME, levels.max(together)),
        }
    }
}

/// The mean of the values, taken for nearly normal.
fn by_mean(units: &[f64], setting: &Setting<'_>, looks: Looks) -> Combined {
    if setting.validity == Validity::AnyTime {
        return Combined {
            p: sequence::anytime_p(units, looks),
            p_same: sequence::anytime_equivalence_p(units, setting.margin, looks),
            ..ranged(units, setting, |alpha| sequence::t_sequence(units, alpha, looks))
        };
    }
    let p = paired_t::t_p(units, Alternative::TwoSided);
    let p_same = equivalence::tost_t(units, setting.margin);
    once(units, setting, (p, p_same), |alpha| paired_t::t_interval(units, alpha))
}

/// The ranges and p-values of one look, and what a run by its own rule asks for beside.
fn once(
    units: &[f64],
    setting: &Setting<'_>,
    (p, p_same): (f64, f64),
    look: impl Fn(f64) -> Estimate,
) -> Combined {
    let Some(end) = End::of(units, setting.validity) else {
        return Combined { p, p_same, ..ranged(units, setting, look) };
    };
    let found = ranged(units, setting, |alpha| end.range(&look, alpha));
    let p_same = end.p_same(p_same, found.centre, setting.margin);
    Combined { p: end.p(p, found.centre), p_same, ..found }
}

/// The centre of the values, with ranges as those of their mean: of a normal law both are one.
fn by_few(units: &[f64], setting: &Setting<'_>) -> Combined {
    let spread = MADS * summary::mad(units);
    let noise = if spread > 0.0 { spread } else { summary::sd(units) };
    let centre = signed_rank::centre(units);
    // A few far values take the mean from the centre, which its range has to hold.
    let ranges = by_mean(units, setting, Looks::First).widened(centre, centre);
    Combined { centre, noise, ..ranges }
}

/// The centre of the values, whatever their law is if only symmetric.
fn by_centre(units: &[f64], nulls: &[f64], setting: &Setting<'_>) -> Combined {
    let found = if setting.validity == Validity::AnyTime {
        let scores = score::Sequence::new(units, nulls);
        Combined {
            p: scores.anytime_p(0.0),
            p_same: scores.equivalence_p(setting.margin),
            ..ranged(units, setting, |alpha| scores.estimate(alpha))
        }
    } else {
        let p = signed_rank::wilcoxon_p(units, Alternative::TwoSided);
        let p_same = equivalence::tost_wilcoxon(units, setting.margin);
        once(units, setting, (p, p_same), |alpha| signed_rank::hodges_lehmann(units, alpha))
    };
    let half_width = found.i95.width() / 2.0;
    let shown = Rates::of(setting).shown;
    let noise = match half_width.is_finite() {
        true => noise(setting.scale, units.len(), half_width, shown, setting.validity),
        false => found.noise,
    };
    let mean = by_mean(units, setting, Looks::All);
    let apart = libm::fabs(mean.centre - found.centre) > half_width;
    let lopsided = libm::fabs(drift::skewness(units)) > SKEWNESS_MAX;
    let beside = Mean { centre: mean.centre, i95: mean.i95, i90: mean.i90, speaks_against: false };
    Combined { noise, mean: (apart || lopsided).then_some(beside), ..found }
}

/// Half-width of the range of so many normal values of a scale with standard deviation `sd`: exact
/// where the law is taken for normal, else within a tenth.
pub fn radius(scale: Scale, n: usize, sd: f64, alpha: f64, validity: Validity) -> f64 {
    let alpha = match (validity.of_number(n), scale) {
        (Validity::FixedNumber, _) => return paired_t::radius(n, sd, alpha),
        (Validity::AtEnd { left }, _) => {
            let first = First::known(sd, LOOKS_MIN);
            return first.map_or(f64::INFINITY, |first| End { first, n, left }.radius(alpha));
        }
        (Validity::AnyTime, Scale::Difference) => Looks::All.asked(alpha),
        (Validity::AnyTime, Scale::Ratio) if n < SCORES_MIN => Looks::First.asked(alpha),
        (Validity::AnyTime, Scale::Ratio) => alpha,
    };
    t_sequence_radius(n, sd, alpha)
}

/// Standard deviation of so many normal values of a scale whose range would be as wide.
pub fn noise(scale: Scale, n: usize, half_width: f64, alpha: f64, validity: Validity) -> f64 {
    half_width
        / match validity.of_number(n) {
            // As wide as one look at least, and wider by what the first values ask for.
            Validity::AtEnd { left } => paired_t::radius(n, 1.0, left * alpha),
            validity => radius(scale, n, 1.0, alpha, validity),
        }
}

/// The estimate, and its ranges by error rate.
fn ranged(units: &[f64], setting: &Setting<'_>, at: impl Fn(f64) -> Estimate) -> Combined {
    let rates = Rates::of(setting);
    let (main, i90) = (at(rates.shown), at(rates.same).interval);
    let equivalence = if rates.levels < rates.same { at(rates.levels).interval } else { i90 };
    let sd = summary::sd(units);
    Combined {
        centre: main.centre,
        i95: main.interval,
        i90,
        equivalence,
        p: 1.0,
        p_same: 1.0,
        n: units.len(),
        sd,
        noise: sd,
        mean: None,
        guard: Guard::NOTHING,
        withheld: None,
        singly: None,
        together: setting.together,
        hosts: Hosts::NOTHING,
        validity: setting.validity,
    }
}

/// Sums of what [`values::counted`](v6gap_core::values::counted) gives.
pub fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}

/// Largest share that an arm may have of which none of `of` was seen, if events come singly; for
/// so many questions together.
pub fn none_of(of: u64, together: usize) -> f64 {
    loss::interval(0, of, 1.0 - level(ALPHA, together)).high
}

/// By how much the share of an arm may be larger than what was seen, if events come in bursts; for
/// so many questions together.
pub fn missed((seen, of): (u64, u64), trials: u64, together: usize) -> f64 {
    loss::unseen_in_bursts(seen, of, trials, 1.0 - level(ALPHA, together))
}

impl Combined {
    /// The estimate and its ranges moved by `by`, as when a prediction is taken off.
    pub fn moved(&self, by: f64) -> Combined {
        let moved = |i: &Interval| Interval { low: i.low + by, high: i.high + by };
        Combined {
            centre: self.centre + by,
            i95: moved(&self.i95),
            i90: moved(&self.i90),
            equivalence: moved(&self.equivalence),
            mean: self.mean.map(|mean| Mean {
                centre: mean.centre + by,
                i95: moved(&mean.i95),
                i90: moved(&mean.i90),
                ..mean
            }),
            ..self.clone()
        }
    }

    /// The estimate with its ranges widened so that they reach at least `low` to `high`.
    pub fn widened(&self, low: f64, high: f64) -> Combined {
        let widened = |i: &Interval| Interval { low: i.low.min(low), high: i.high.max(high) };
        Combined {
            i95: widened(&self.i95),
            i90: widened(&self.i90),
            equivalence: widened(&self.equivalence),
            ..self.clone()
        }
    }

    /// Of effects that change over time, but by too little to matter: the range reaches over `all`
    /// that the parts of the run show, and the p-values say no more than it does.
    fn over_all(self, all: Interval, margin: f64) -> Combined {
        let p = if all.excludes(0.0) { self.p } else { 1.0 };
        let p_same = if all.within(-margin, margin) { self.p_same } else { 1.0 };
        Combined { p, p_same, ..self.widened(all.low, all.high) }
    }

    /// For loss and other shares of datagrams, whose events come singly or in bursts. Blocks that
    /// agree perfectly still prove little, and so do blocks of which one in many saw a burst: where
    /// no difference was found, the range reaches at least as far as the share that bursts of up to
    /// [`loss::BURST_MAX`] can have beyond what was seen in either arm; and whatever was seen,
    /// "same" needs so many datagrams that bursts at the margin would have left more.
    pub fn bounded(self, events: &PerArm<(u64, u64)>, margin: f64) -> Combined {
        let (trials, together) = (self.n as u64, self.together);
        let singly = self.bounded_singly(events, margin);
        let missed = events.map(|events| missed(events, trials, together));
        let share = events.map(|(seen, of)| seen as f64 / of.max(1) as f64);
        let hidden = |(seen, of): (u64, u64), other: f64| {
            loss::few_in_bursts_p(seen, of, trials, other + margin)
        };
        // Either arm may hide one.
        let p = 2.0 * hidden(events.a, share.b).max(hidden(events.b, share.a));
        let p_same = singly.p_same.max(p.min(1.0));
        let centre = singly.centre;
        let reach = Interval { low: centre - missed.a, high: centre + missed.b };
        if singly.i95.excludes(0.0) {
            return Combined { p_same, ..singly.of_found(reach, margin, p_same) };
        }
        // Bursts that stay below the margin leave nothing to say apart of events that come singly.
        let ranges = Singly { i95: singly.i95, i90: singly.i90 };
        let ranges = Some(ranges).filter(|_| !reach.within(-margin, margin));
        let wider = singly.widened(reach.low, reach.high);
        Combined { p_same, singly: ranges, ..wider }
    }

    /// A difference that was found was seen in so many trials that their scatter tells how events
    /// are bunched. The t range of a fixed number is too narrow for that, and one within the margin
    /// of too few packets: these reach as far away from none as bursts may have hidden.
    fn of_found(self, reach: Interval, margin: f64, p_same: f64) -> Combined {
        let unsure = self.i90.within(-margin, margin) && p_same > level(ALPHA, self.together);
        let (low, high) = match unsure {
            true => (reach.low.min(-margin), reach.high.max(margin)),
            false => (reach.low, reach.high),
        };
        match (self.validity, self.centre > 0.0) {
            (Validity::AtEnd { .. } | Validity::AnyTime, _) if !unsure => self,
            (_, true) => self.widened(self.i95.low, high),
            (_, false) => self.widened(low, self.i95.high),
        }
    }

    /// The same for events that come singly: however well blocks agree, no more is known than two
    /// counts of independent events tell; and where none was seen, a difference as large as
    /// `margin` is as likely as so large a share of which none was seen.
    fn bounded_singly(self, events: &PerArm<(u64, u64)>, margin: f64) -> Combined {
        let alpha = level(ALPHA, self.together);
        let counts = loss::difference(events.a, events.b, 1.0 - alpha);
        let wider = self.widened(counts.low, counts.high);
        if (events.a.0, events.b.0) != (0, 0) || self.sd > 0.0 {
            let of_counts = || loss::fisher_p(events.a, events.b).max(alpha);
            let p = if counts.excludes(0.0) { self.p } else { self.p.max(of_counts()) };
            return Combined { p, ..wider };
        }
        let unseen = |of: u64| libm::exp(of as f64 * libm::log1p(-margin.clamp(0.0, 1.0)));
        Combined { p_same: unseen(events.a.1).max(unseen(events.b.1)), ..wider }
    }

    /// The mean beside the centre, as [`shown`](Self::shown).
    pub fn shown_mean(&self, scale: Scale) -> Option<Effect> {
        let Mean { centre, i95, i90, .. } = self.mean?;
        Some(Combined { centre, i95, i90, ..self.clone() }.shown(scale))
    }

    /// In the form that is stored and shown: relative differences in place of logarithms.
    pub fn shown(&self, scale: Scale) -> Effect {
        let range = |i: &Interval| Range { low: scale.shown(i.low), high: scale.shown(i.high) };
        Effect {
            scale,
            estimate: scale.shown(self.centre),
            range95: range(&self.i95),
            range90: range(&self.i90),
            blocks: self.n,
            sd: self.sd,
            together: self.together,
            validity: self.validity,
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

#[cfg(test)]
mod tests;
