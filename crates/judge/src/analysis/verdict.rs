//! The rule that turns ranges into a verdict: equivalence first, then difference, else open
//! (docs/method.md part D; three-sided testing after Goeman, Solari and Stijnen 2010).

use super::effect::hosts::Hosts;
use super::effect::{BLOCKS_MIN, Combined, Mean, SCORES_MIN, orientation};
use super::{Qualifier, Verdict};
use crate::reach::{self, ALPHA};
use v6gap_core::metric::Metric;
use v6gap_stats::Interval;

/// Share of the standard deviation below which the noise without what lies far off is another one.
const CALM: f64 = 0.7;

/// A verdict with what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// How strong it is.
    pub qualifier: Qualifier,
    /// Further pairs that would settle an open question; `u32::MAX` if no number is enough, and
    /// `None` where that is not known.
    pub pairs_to_settle: Option<u32>,
}

impl Ruling {
    /// No verdict, and nothing to say how to get one.
    pub const NOTHING: Ruling =
        Ruling { verdict: Verdict::None, qualifier: Qualifier::Plain, pairs_to_settle: None };
}

impl Qualifier {
    /// The margin, of a difference that is there and lies within it: words keep that apart from
    /// "same" (docs/method.md section D.4).
    pub fn within(self, margin: f64) -> Option<f64> {
        (self == Qualifier::RealButTiny).then_some(margin)
    }
}

/// p-values of a question, corrected for the questions decided together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adjusted {
    /// Of "there is no difference".
    pub different: f64,
    /// Of "there is one as large as the margin".
    pub same: f64,
    /// Questions decided together that the correction leaves open: at least 1.
    pub open: usize,
}

impl Adjusted {
    /// Nothing is known.
    pub const NOTHING: Adjusted = Adjusted { different: 1.0, same: 1.0, open: 1 };

    /// Of whatever the ranges say.
    const BY_RANGES: Adjusted = Adjusted { different: 0.0, same: 0.0, open: 1 };
}

/// A question whose ranges reach over those of the mean as well, where the mean of the effects is
/// not their centre and speaks against what that says.
pub fn with_mean(metric: Metric, combined: Combined, margin: f64, p: Adjusted) -> Combined {
    let ruling = rule(metric, &combined, margin, p);
    let Some(mean) = combined.mean.filter(|mean| speaks_against(metric, mean, margin, &ruling))
    else {
        return combined;
    };
    let over =
        |a: Interval, b: Interval| Interval { low: a.low.min(b.low), high: a.high.max(b.high) };
    Combined {
        i95: over(combined.i95, mean.i95),
        i90: over(combined.i90, mean.i90),
        equivalence: over(combined.equivalence, mean.i90),
        mean: Some(Mean { speaks_against: true, ..mean }),
        ..combined
    }
}

/// Whether the mean has another verdict, by its own ranges, or lies where this one denies it.
fn speaks_against(metric: Metric, mean: &Mean, margin: f64, ruling: &Ruling) -> bool {
    let advantage = orientation(metric) * mean.centre;
    let same = mean.i90.within(-margin, margin);
    let different = mean.i95.excludes(0.0) && !same;
    match ruling.verdict {
        Verdict::Same => different || libm::fabs(mean.centre) >= margin,
        Verdict::Better => same || advantage <= 0.0,
        Verdict::Worse => same || advantage >= 0.0,
        Verdict::CannotTell | Verdict::None => false,
    }
}

/// Rules on one question. `margin` and the ranges are on the scale of single blocks.
pub fn rule(metric: Metric, combined: &Combined, margin: f64, p: Adjusted) -> Ruling {
    let need = combined.withheld.map_or(BLOCKS_MIN, |withheld| withheld.need());
    if combined.n < BLOCKS_MIN || combined.withheld.is_some() {
        let missing = need.max(BLOCKS_MIN).saturating_sub(combined.n) as u32;
        let pairs_to_settle = (missing > 0).then_some(missing);
        return Ruling { pairs_to_settle, ..Ruling::NOTHING };
    }
    let excludes_zero = combined.i95.low > 0.0 || combined.i95.high < 0.0;
    let settled = |verdict, qualifier| Ruling { verdict, qualifier, ..Ruling::NOTHING };
    if combined.i90.within(-margin, margin) && p.same <= ALPHA {
        let is_there = excludes_zero && p.different <= ALPHA;
        let qualifier = if is_there { Qualifier::RealButTiny } else { Qualifier::Plain };
        return settled(Verdict::Same, qualifier);
    }
    if excludes_zero && p.different <= ALPHA {
        let advantage = orientation(metric) * combined.centre;
        let verdict = if advantage > 0.0 { Verdict::Better } else { Verdict::Worse };
        let beyond = combined.i95.low >= margin || combined.i95.high <= -margin;
        let qualifier = if beyond { Qualifier::Clear } else { Qualifier::SizeUnresolved };
        return settled(verdict, qualifier);
    }
    Ruling {
        verdict: Verdict::CannotTell,
        pairs_to_settle: pairs_to_settle(combined, margin, p.open),
        ..Ruling::NOTHING
    }
}

/// Rules on one question so that verdict and range say the same. Ranges hold for a question by
/// itself, p-values are corrected for all that are decided together: where the two disagree, the
/// ranges are those of `wider`, which hold for all that the correction left open (docs/method.md
/// section C.5).
pub(super) fn coherent(
    metric: Metric,
    combined: Combined,
    margin: f64,
    p: Adjusted,
    wider: impl FnOnce() -> Option<Combined>,
) -> (Combined, Ruling) {
    let combined = with_mean(metric, combined, margin, p);
    let ruling = rule(metric, &combined, margin, p);
    let by_ranges = rule(metric, &combined, margin, Adjusted::BY_RANGES);
    let is_told = by_ranges.verdict == ruling.verdict;
    if is_told && by_ranges.qualifier == ruling.qualifier {
        return (combined, ruling);
    }
    let Some(wider) = wider().map(|wider| with_mean(metric, wider, margin, p)) else {
        return (combined, ruling);
    };
    // Where the answer is told, and only whether a tiny difference is there at all is left open,
    // that is for the range that is shown.
    let combined = match is_told {
        true => {
            let hosts = Hosts { i95: wider.hosts.i95, ..combined.hosts };
            let mean = combined.mean.map(|mean| {
                let i95 = wider.mean.map_or(mean.i95, |of_all| of_all.i95);
                Mean { i95, ..mean }
            });
            Combined { i95: wider.i95, together: wider.together, hosts, mean, ..combined }
        }
        false => wider,
    };
    let ruling = rule(metric, &combined, margin, p);
    (combined, ruling)
}

/// Further pairs after which the range would be narrow enough for "same" or for "different",
/// whichever is nearer, at the level of the `open` questions that are decided together.
fn pairs_to_settle(combined: &Combined, margin: f64, open: usize) -> Option<u32> {
    let unseen = pairs_to_see(combined, margin);
    if combined.sd == 0.0 {
        return unseen;
    }
    let needed = reach::pairs_to_settle(combined.centre, combined.noise, margin, open);
    // A mean that speaks against the centre keeps the question open until it is known as well.
    let of_mean = |mean: Mean| reach::pairs_to_settle(mean.centre, combined.sd, margin, open);
    let mean = combined.mean.filter(|mean| mean.speaks_against).map_or(0, of_mean);
    let needed = needed.max(mean);
    // Few pairs some of which lie far off are answered when they are enough for scores.
    let wild = combined.n < SCORES_MIN && combined.noise < CALM * combined.sd;
    let least = if wild { SCORES_MIN } else { 0 };
    let needed = needed.max(least).saturating_mul(combined.guard.merged());
    let more = further(needed, combined.n);
    Some(match (combined.singly, unseen) {
        (Some(_), Some(unseen)) => more.max(unseen),
        _ => more,
    })
}

/// Pairs after which a share as large as the margin would not have gone unseen: what is seen grows
/// with the number of packets, that is, of pairs. Not known of a range without an end.
fn pairs_to_see(combined: &Combined, margin: f64) -> Option<u32> {
    let width = combined.equivalence.high.max(-combined.equivalence.low);
    let times = libm::log1p(-width.min(1.0)) / libm::log1p(-margin.min(1.0));
    let needed = libm::ceil(combined.n as f64 * times) as usize;
    times.is_finite().then(|| further(needed.saturating_add(1), combined.n))
}

fn further(needed: usize, have: usize) -> u32 {
    u32::try_from(needed.saturating_sub(have).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Validity, effect, guard};

    /// One arm far slower in two pairs of 24: most pairs say the same, their mean does not.
    #[test]
    fn a_mean_that_speaks_against_the_centre_is_in_the_range() {
        let effects: [f64; 24] = core::array::from_fn(|i| match i {
            5 | 16 => 0.9,
            _ => 0.001 * ((i % 5) as f64 - 2.0),
        });
        let combined = effect::combine(&effects, &effect::Setting::ALONE).unwrap();
        let p = Adjusted { different: combined.p, same: combined.p_same, open: 1 };
        let of_centre = rule(Metric::Rtt, &combined, 0.05, p);
        assert_eq!(of_centre.verdict, Verdict::Same, "{combined:?}");
        let found = with_mean(Metric::Rtt, combined, 0.05, p);
        let ruling = rule(Metric::Rtt, &found, 0.05, p);
        assert_eq!(ruling.verdict, Verdict::CannotTell);
        assert!(ruling.pairs_to_settle > Some(50), "{ruling:?}");
        assert!(found.mean.unwrap().speaks_against && found.i95.high > 0.075, "{found:?}");
    }

    /// Pairs that are all alike, too few for a range: as paced UDP gives them on an idle host.
    #[test]
    fn an_unbounded_range_without_spread_names_no_number_of_pairs() {
        let unbounded = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        let combined = Combined {
            centre: 0.0,
            i95: unbounded,
            i90: unbounded,
            equivalence: unbounded,
            p: 1.0,
            p_same: 1.0,
            n: 6,
            sd: 0.0,
            noise: 0.0,
            mean: None,
            guard: guard::examine(&[0.0; 6], 0.02, 1),
            withheld: None,
            singly: None,
            hosts: Hosts::NOTHING,
            together: 1,
            validity: Validity::FixedNumber,
        };
        assert_eq!(pairs_to_settle(&combined, 0.02, 1), None);
        // ln(1 - 0.5) / ln(1 - 0.25) times 6 pairs are 14.5.
        let bounded = Interval { low: 0.0, high: 0.5 };
        let bounded = Combined { equivalence: bounded, ..combined };
        assert_eq!(pairs_to_settle(&bounded, 0.25, 1), Some(10));
    }
}
