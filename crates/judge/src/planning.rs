//! What a run can show before it is made: from the noise of pairs that were measured already to the
//! smallest difference it will find, and to the pairs that it needs (docs/method.md section C.7).
//!
//! Figures are of one question among those that are decided together, at the level of the first of
//! them. The noise is the standard deviation of one pair's
//! effect: the logarithm of the ratio, or the difference.

use crate::analysis::{Analysis, Validity, effect};
use crate::reach::{ALPHA, ALPHA_SAME, level};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::workload::Cell;
use v6gap_stats::{loss, power};

/// Standard deviations below which four fifths of the normal law's values lie: the power of 80 %
/// that all planning is for.
const FOUR_FIFTHS: f64 = 0.841_621_233_572_914_2;

/// Standard deviations beyond which a tenth of them lies on one side.
const TENTH: f64 = 1.281_551_565_544_600_5;

/// Most pairs that are looked for.
const PAIRS_MAX: usize = 1_000_000;

/// Where a noise was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// In the pairs of the two families.
    Pairs,
    /// In pairs of a family with itself.
    NullPairs,
}

/// The noise of a question that was measured before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen {
    /// Identifier of the cell.
    pub cell: String,
    /// What was measured.
    pub metric: Metric,
    /// Standard deviation of one pair's effect.
    pub sd: f64,
    /// Pairs behind it.
    pub pairs: usize,
    /// Which.
    pub source: Source,
    /// The difference that was found with it: ratio − 1 or difference; 0 without one.
    #[serde(skip)]
    pub estimate: f64,
    /// Of a share: what it counts in one pair, of the arm that had more, and of how many.
    #[serde(skip)]
    pub events: Option<(f64, f64)>,
}

/// What a plan can show of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// The noise that it rests on.
    pub seen: Seen,
    /// Pairs that the plan has time for, or asks for.
    pub pairs: u32,
    /// The smallest difference that it finds in four of five times; see [`smallest_found`].
    pub smallest: Option<f64>,
    /// The margin of the plan.
    pub margin: f64,
    /// Pairs for "same"; see [`pairs_for_same`].
    pub pairs_for_same: Option<usize>,
    /// Half-width of the range that the plan asks for, if it does.
    pub precision: Option<f64>,
    /// Pairs for it; see [`pairs_for_precision`].
    pub pairs_for_precision: Option<usize>,
}

/// The noise of each question of a run: that of its pairs, or that of its null blocks where it has
/// too few. Nothing of a question without either, or of one whose values never differed, but for
/// shares.
pub fn seen(run: &Analysis) -> Vec<Seen> {
    let of = |question: &crate::analysis::Question| {
        let (cell, metric) = (question.cell.clone(), question.metric);
        let effect = question.effect.as_ref().filter(|effect| effect.blocks >= effect::BLOCKS_MIN);
        let nulls = || run.nulls.iter().filter(|n| n.cell == cell && n.metric == metric);
        let null_pairs = nulls().map(|null| null.blocks).sum();
        // A pair has one trial of each family, a null block two of one.
        let squares: f64 = nulls().map(|null| null.sd * null.sd).sum();
        let null_sd = libm::sqrt(squares / nulls().count().max(1) as f64);
        let (sd, pairs, source) = match effect {
            Some(effect) => (effect.sd, effect.blocks, Source::Pairs),
            None if null_pairs >= effect::NULLS_MIN => (null_sd, null_pairs, Source::NullPairs),
            None => return None,
        };
        let estimate = question.effect.as_ref().map_or(0.0, |effect| effect.estimate);
        let per_pair =
            |(seen, of): (u64, u64)| (seen as f64 / pairs as f64, of as f64 / pairs as f64);
        let events = question.events.filter(|_| source == Source::Pairs);
        let events = events.map(|arms| if arms.a.0 > arms.b.0 { arms.a } else { arms.b });
        let events = events.map(per_pair);
        let seen = Seen { cell, metric, sd, pairs, source, estimate, events };
        // Of shares of which nothing was seen, the number of packets decides.
        let tells = sd > 0.0 || (sd == 0.0 && seen.events.is_some());
        (tells && sd.is_finite()).then_some(seen)
    };
    run.questions.iter().filter_map(of).collect()
}

/// What `plan` can show with so many pairs of each cell, for the questions whose noise was seen: in
/// a cell that does the same, by the identifier that is made of what it does.
pub fn outlook(plan: &Plan, pairs: u32, seen: &[Seen]) -> Vec<Outlook> {
    let stop = &plan.design.stop;
    let questions = plan.cells.iter().flat_map(|cell| {
        cell.workload.metrics().iter().map(move |&metric| (cell.id.as_str(), metric))
    });
    let of = |(cell, metric): (&str, Metric)| {
        let seen = seen.iter().find(|s| s.cell == cell && s.metric == metric)?.clone();
        let margin = plan.margin(metric);
        let together = together(plan, cell, metric);
        let precision = plan.design.precision.get(&metric).copied();
        let validity = match precision {
            Some(_) => Validity::looked_at(stop),
            None => Validity::to_the_end(stop),
        };
        // Of shares of which nothing was seen no scatter tells when a range is so narrow.
        let told = precision.filter(|_| seen.sd > 0.0);
        Some(Outlook {
            pairs,
            smallest: smallest_found(metric, seen.sd, pairs as usize, validity, together)
                .filter(|_| seen.sd > 0.0),
            margin,
            pairs_for_same: pairs_for_same(&seen, margin, stop, together),
            precision,
            pairs_for_precision: told.and_then(|p| pairs_for_precision(&seen, p)),
            seen,
        })
    };
    questions.filter_map(of).collect()
}

/// Questions of a plan that are decided together with one of them.
fn together(plan: &Plan, cell: &str, metric: Metric) -> usize {
    let over = plan.cell(cell).map(|(_, cell)| cell.workload.transport());
    let alike = |other: &&Cell| {
        Some(other.workload.transport()) == over && other.workload.metrics().contains(&metric)
    };
    plan.cells.iter().filter(alike).count()
}

/// The smallest difference that a run of so many pairs finds in four of five times, for one of
/// `together` questions: a relative difference, or one in the metric's unit. `None` where no number
/// could be: with fewer pairs than a range needs.
///
/// For a fixed number of pairs it is that of the paired t test; a run that ends by its own rule
/// must find it by the range at its end.
pub fn smallest_found(
    metric: Metric,
    noise: f64,
    pairs: usize,
    validity: Validity,
    together: usize,
) -> Option<f64> {
    let alpha = level(ALPHA, together);
    if pairs < effect::BLOCKS_MIN {
        return None;
    }
    let smallest = match validity {
        Validity::FixedNumber => power::smallest_detectable(pairs, noise, alpha),
        Validity::AtEnd { .. } | Validity::AnyTime => {
            let error = noise / libm::sqrt(pairs as f64);
            effect::radius(metric.scale(), pairs, noise, alpha, validity) + FOUR_FIFTHS * error
        }
    };
    Some(metric.scale().shown(smallest)).filter(|found| found.is_finite())
}

/// The pairs after which a run says "same" in four of five times if there is no difference; `None`
/// if no number that anybody would measure will do. Of a share it takes as many packets as make
/// bursts at the margin seen, besides (docs/method.md section C.4).
pub fn pairs_for_same(seen: &Seen, margin: f64, stop: &Stop, together: usize) -> Option<usize> {
    let Seen { metric, sd: noise, events, .. } = *seen;
    let alpha = level(ALPHA_SAME, together);
    let margin = effect::margin(metric, margin);
    let bursts = events.map_or(0, |(seen, of)| {
        let share = seen / of.max(1.0) + margin;
        let of_all = |n: usize, each: f64| libm::round(n as f64 * each) as u64;
        first(|n| {
            let p = loss::few_in_bursts_p(of_all(n, seen), of_all(n, of), n as u64, share);
            2.0 * p <= level(ALPHA, together)
        })
    });
    let needed = match stop {
        Stop::Pairs { .. } => power::blocks_for_equivalence(noise, margin, alpha / 2.0),
        Stop::Adaptive { .. } => first_of_bets(bursts, |n| {
            let radius = effect::radius(metric.scale(), n, noise, alpha, Validity::looked_at(stop));
            // Both ends of the range must lie inside, so a tenth of all misses falls to each.
            radius + TENTH * noise / libm::sqrt(n as f64) < margin
        }),
    };
    within_reach(needed.max(bursts))
}

/// The pairs after which the 95 % range of a run that may stop at any time is as narrow as
/// `± precision` as it is shown: around a ratio of two it is twice as wide as on the logarithm.
pub fn pairs_for_precision(seen: &Seen, precision: f64) -> Option<usize> {
    let ratio = match seen.metric.scale() {
        Scale::Ratio => 1.0 + seen.estimate,
        Scale::Difference => 1.0,
    };
    let width = effect::margin(seen.metric, precision / ratio);
    within_reach(power::blocks_for_sequence_radius(seen.sd, width, ALPHA))
}

/// The blocks whose mean in each of so many rounds makes the 95 % range of a run that may stop at
/// any time as narrow as `± precision`, where rounds themselves do not differ.
pub fn blocks_each(metric: Metric, noise: f64, precision: f64, rounds: u32, stop: &Stop) -> u32 {
    let width = effect::margin(metric, precision);
    let (scale, validity) = (metric.scale(), Validity::looked_at(stop));
    let radius = effect::radius(scale, rounds as usize, noise, ALPHA, validity);
    // Saturates: a radius without an end asks for as many as there can be.
    libm::ceil((radius / width) * (radius / width)).max(1.0) as u32
}

fn within_reach(pairs: usize) -> Option<usize> {
    Some(pairs.max(effect::BLOCKS_MIN)).filter(|&pairs| pairs <= PAIRS_MAX)
}

/// The first number of pairs from `least` on that is enough of a range that is wider at
/// [`effect::SCORES_MIN`] pairs than just below: those few are looked at one by one.
fn first_of_bets(least: usize, enough: impl Fn(usize) -> bool) -> usize {
    let few = (effect::BLOCKS_MIN.max(least)..effect::SCORES_MIN).find(|&n| enough(n));
    few.unwrap_or_else(|| first(enough))
}

/// The first number of pairs that is enough, by halving: from one number on it is for all.
fn first(enough: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (1, PAIRS_MAX + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::effect::{Setting, combine};
    use crate::analysis::tests::{EVEN, plan, run as of_run};
    use alloc::vec::Vec;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};
    use v6gap_core::arm::PerArm;

    const ADAPTIVE: Stop = Stop::Adaptive { time_ns_max: 1, pairs_min: 8 };
    const FIXED: Stop = Stop::Pairs { pairs: 20 };

    /// What a run by a rule ends as, where the first look leaves much open.
    fn ended(stop: &Stop) -> Validity {
        Validity::to_the_end(stop)
    }

    /// The table of docs/method.md C.3 has 1.36 for 8 pairs of shares, 1.16 for those of ratios.
    #[test]
    fn shares_are_planned_by_their_own_range() {
        let found = smallest_found(Metric::Loss, 0.001, 8, Validity::AnyTime, 1).unwrap();
        let expected = 0.001 * (1.36 + FOUR_FIFTHS / libm::sqrt(8.0));
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }

    fn rtt(sd: f64, estimate: f64) -> Seen {
        let (cell, source) = (String::new(), Source::Pairs);
        Seen { cell, metric: Metric::Rtt, sd, pairs: 20, source, estimate, events: None }
    }

    /// What a run without a loss leaves to be planned by.
    #[test]
    fn a_run_without_a_loss_tells_what_same_takes_and_nothing_else() {
        let mut run = analyse(&of_run(&plan(PerArm::FAMILIES, 1), 12, &EVEN)).unwrap();
        let none = crate::analysis::Effect { sd: 0.0, ..run.questions[0].effect.clone().unwrap() };
        run.questions.truncate(1);
        run.questions[0].metric = Metric::Loss;
        run.questions[0].effect = Some(none);
        assert!(seen(&run).is_empty(), "values that never differ");
        run.questions[0].events = Some(PerArm { a: (0, 12 * 5160), b: (0, 12 * 5160) });
        let found = seen(&run);
        assert_eq!((found.len(), found[0].events), (1, Some((0.0, 5160.0))));
        let same = pairs_for_same(&found[0], 0.001, &ADAPTIVE, 1).unwrap();
        assert!((320..340).contains(&same), "{same}");
    }

    /// The scatter of few losses is small, and bursts at the margin may still be hidden:
    /// docs/method.md C.4 has what that takes.
    #[test]
    fn same_of_losses_takes_the_packets_that_bursts_need() {
        let lost = |events| Seen { metric: Metric::Loss, events, ..rtt(0.0003, 0.0) };
        let pairs = |events| pairs_for_same(&lost(events), 0.001, &ADAPTIVE, 1).unwrap();
        assert!(pairs(None) < 20);
        let none = pairs(Some((0.0, 5160.0)));
        assert!((320..340).contains(&none), "{none}");
        assert!(pairs(Some((0.125, 5160.0))) > none);
    }

    /// The range of bets is wider at 12 pairs than at 11: the least number lies below.
    #[test]
    fn the_least_pairs_for_same_may_be_fewer_than_bets_need() {
        let margin = effect::margin(Metric::Rtt, 0.05);
        for (of_noise, least) in [(1.15, 15), (1.2, 11), (1.25, 10), (1.35, 9)] {
            let found = pairs_for_same(&rtt(margin / of_noise, 0.0), 0.05, &ADAPTIVE, 1);
            assert_eq!(found, Some(least), "{of_noise}");
        }
    }

    /// Values of the normal law (Box and Muller 1958).
    fn normal(rng: &mut ChaCha12Rng, n: usize, mean: f64, sd: f64) -> Vec<f64> {
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut value = || {
            let (u, v) = (1.0 - uniform(), uniform());
            let radius = libm::sqrt(-2.0 * libm::log(u));
            mean + sd * radius * libm::cos(2.0 * core::f64::consts::PI * v)
        };
        (0..n).map(|_| value()).collect()
    }

    /// How often runs of the real rule end as `is` says.
    fn share(
        n: usize,
        mean: f64,
        validity: Validity,
        is: impl Fn(&effect::Combined) -> bool,
    ) -> f64 {
        const RUNS: usize = 400;
        let margin = libm::log1p(0.02);
        let setting = Setting { validity, margin, ..Setting::ALONE };
        let mut rng = ChaCha12Rng::seed_from_u64(n as u64);
        let found = (0..RUNS).filter(|_| {
            let effects = normal(&mut rng, n, mean, 0.02);
            combine(&effects, &setting).is_some_and(|combined| is(&combined))
        });
        found.count() as f64 / RUNS as f64
    }

    #[test]
    fn the_smallest_difference_is_found_in_four_of_five_runs() {
        for (n, stop) in [(12, &ADAPTIVE), (40, &ADAPTIVE), (12, &FIXED), (40, &FIXED)] {
            let smallest = smallest_found(Metric::Rtt, 0.02, n, ended(stop), 1).unwrap();
            let excludes_none =
                |c: &effect::Combined| !c.i95.contains(0.0) && c.i95.low.is_finite();
            let found = share(n, libm::log1p(smallest), ended(stop), excludes_none);
            // Where neighbours resemble each other a range is wider than the plan takes it for.
            let least = if *stop == ADAPTIVE {
                0.60
            } else if n < 20 {
                0.65
            } else {
                0.72
            };
            assert!((least..0.88).contains(&found), "{n} {stop:?}: {found}");
        }
    }

    #[test]
    fn same_is_said_in_four_of_five_runs() {
        for stop in [&ADAPTIVE, &FIXED] {
            let margin = libm::log1p(0.02);
            let pairs = pairs_for_same(&rtt(0.02, 0.0), 0.02, stop, 1).unwrap();
            let inside =
                |c: &effect::Combined| c.equivalence.low > -margin && c.equivalence.high < margin;
            let same = share(pairs, 0.0, Validity::looked_at(stop), inside);
            let least = if *stop == ADAPTIVE { 0.65 } else { 0.72 };
            assert!((least..0.90).contains(&same), "{pairs} {stop:?}: {same}");
        }
    }

    #[test]
    fn a_range_is_as_narrow_as_asked_for() {
        let pairs = pairs_for_precision(&rtt(0.02, 0.0), 0.01).unwrap();
        let radius = |n| v6gap_stats::sequence::t_sequence_radius(n, 0.02, 0.05);
        assert!(radius(pairs) <= libm::log1p(0.01) && radius(pairs - 1) > libm::log1p(0.01));
        assert_eq!(pairs_for_precision(&rtt(10.0, 0.0), 1e-6), None);
        // Twice as long: a range as wide on the logarithm is twice as wide.
        let double = pairs_for_precision(&rtt(0.02, 1.0), 0.01).unwrap();
        let half = pairs_for_precision(&rtt(0.02, 0.0), 0.005).unwrap();
        assert!(double.abs_diff(half) <= 1 && double > 3 * pairs, "{double} {half} {pairs}");
    }

    /// Questions decided together need more than one by itself.
    #[test]
    fn levels_decided_together_are_planned_together() {
        for stop in [&ADAPTIVE, &FIXED] {
            let found =
                |together| smallest_found(Metric::Rtt, 0.02, 40, ended(stop), together).unwrap();
            assert!(found(9) > 1.15 * found(1), "{stop:?}: {} {}", found(9), found(1));
            let same = |together| pairs_for_same(&rtt(0.02, 0.0), 0.02, stop, together).unwrap();
            assert!(same(9) > same(1) * 5 / 4, "{stop:?}: {} {}", same(9), same(1));
        }
    }

    #[test]
    fn too_few_pairs_find_nothing() {
        assert_eq!(smallest_found(Metric::Rtt, 0.02, 5, Validity::FixedNumber, 1), None);
        // Six pairs show less than eight do by more than their number.
        let found = |pairs| smallest_found(Metric::Rtt, 0.02, pairs, ended(&ADAPTIVE), 1).unwrap();
        assert!(found(6) > 1.2 * found(8), "{} {}", found(6), found(8));
        assert_eq!(smallest_found(Metric::Rtt, 0.0, 10, Validity::FixedNumber, 1), Some(0.0));
        assert_eq!(
            smallest_found(Metric::Loss, 0.001, 1000, ended(&ADAPTIVE), 1).map(|d| d < 0.001),
            Some(true)
        );
    }
}
