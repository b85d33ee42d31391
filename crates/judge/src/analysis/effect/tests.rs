//! What blocks say together, and how often that is true.

use super::*;
use crate::analysis::Verdict;
use crate::analysis::verdict::{self, Adjusted};
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::plan::Stop;

const LOOKED_AT: Validity = Validity::AnyTime;
const MARGIN: f64 = 0.001;

fn ruled(effects: &[f64], events: &PerArm<(u64, u64)>) -> (Combined, Verdict) {
    ruled_by(LOOKED_AT, effects, events)
}

fn ruled_by(
    validity: Validity,
    effects: &[f64],
    events: &PerArm<(u64, u64)>,
) -> (Combined, Verdict) {
    let scale = Scale::Difference;
    let setting = Setting { validity, margin: MARGIN, scale, ..Setting::ALONE };
    let combined = combine(effects, &setting).unwrap().bounded(events, MARGIN);
    let p = Adjusted { different: combined.p, same: combined.p_same, open: 1 };
    let ruling = verdict::rule(Metric::Loss, &combined, MARGIN, p);
    (combined, ruling.verdict)
}

/// Twelve pairs without any loss are not the certainty that there is none.
#[test]
fn a_share_of_nothing_keeps_the_doubt_of_its_count() {
    let (few, verdict) = ruled(&[0.0; 12], &PerArm { a: (0, 60_000), b: (0, 60_000) });
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(few.i90.high > 0.02 && few.i95.low < -0.02 && few.p_same > 0.5, "{few:?}");
    let singly = few.singly.unwrap();
    assert!(singly.i90.within(-1e-4, 1e-4), "{singly:?}");
    let (many, verdict) = ruled(&[0.0; 12], &PerArm { a: (0, 1_900_000), b: (0, 1_900_000) });
    assert_eq!(verdict, Verdict::Same);
    assert!(many.i90.within(-MARGIN, MARGIN) && many.singly.is_none(), "{many:?}");
}

#[test]
fn a_loss_in_every_trial_is_found_whatever_bursts_there_may_be() {
    let effects = [4e-3, 5e-3, 6e-3, 5e-3, 4e-3, 6e-3, 5e-3, 5e-3];
    let (found, verdict) = ruled(&effects, &PerArm { a: (0, 41_280), b: (206, 41_280) });
    assert_eq!(verdict, Verdict::Worse);
    assert!(found.i95.low > MARGIN && found.singly.is_none(), "{found:?}");
    assert!(found.i95.high < 0.01, "bursts that were not met are no part of it: {found:?}");
    let (fixed, _) =
        ruled_by(Validity::FixedNumber, &effects, &PerArm { a: (0, 41_280), b: (206, 41_280) });
    assert!(fixed.i95.low > MARGIN && fixed.i95.high > 0.02, "{fixed:?}");
}

/// Blocks that agree by chance tell no more than their packets, test and range alike.
#[test]
fn two_counts_bound_what_blocks_tell() {
    let (alike, _) = ruled(&[5e-3; 8], &PerArm { a: (0, 1600), b: (8, 1600) });
    assert!(alike.i95.low < 2.5e-3 && alike.i95.high > 9e-3 && alike.p < 1e-3, "{alike:?}");
    let (open, verdict) = ruled(&[5e-3; 8], &PerArm { a: (8, 1600), b: (16, 1600) });
    assert!(open.i95.contains(0.0) && open.p > 0.05, "{open:?}");
    assert_eq!(verdict, Verdict::CannotTell);
}

/// Half of the margin is lost, of too few packets for "same": that it is no more is not known.
#[test]
fn a_small_share_of_few_packets_is_not_known_to_be_small() {
    let lost = [1, 2, 3, 2, 2, 3, 1, 2, 2, 3, 1, 2].map(f64::from);
    let counts = PerArm { a: (0, 12 * 5160), b: (24, 12 * 5160) };
    for validity in [Validity::FixedNumber, LOOKED_AT] {
        let (found, verdict) = ruled_by(validity, &lost.map(|n| n / 5160.0), &counts);
        assert_eq!(verdict, Verdict::Worse, "{found:?}");
        assert!(found.i95.low > 0.0 && found.i90.high >= MARGIN, "{found:?}");
    }
}

/// Six planned pairs of three questions: no signed-rank test of six, corrected for three, can
/// tell.
#[test]
fn so_many_pairs_as_are_planned_can_decide() {
    let effects = [0.101, 0.103, 0.102, 0.104, 0.102, 0.103];
    let of = |effects: &[f64], questions| {
        let setting = Setting { questions, ..Setting::ALONE };
        combine(effects, &setting).unwrap()
    };
    assert!(of(&effects, 3).p * 3.0 < 0.001 && of(&effects, 1).p == 0.03125);
    let same = of(&effects.map(|d| d - 0.1), 6);
    assert!(same.p_same * 6.0 < 0.001 && same.i90.within(0.0, 0.005), "{same:?}");
}

/// A few far values take the mean, by which so few pairs of so many questions are judged, away from
/// their centre: no range leaves out the estimate that is printed with it.
#[test]
fn every_range_holds_its_estimate() {
    let effects = [-0.0001, 0.0, 0.0001, -0.0002, 0.0002, 0.0003, -0.0003, 0.032, 0.0321, 0.0319];
    let setting = Setting { questions: 26, ..Setting::ALONE };
    let found = combine(&effects, &setting).unwrap();
    assert!(found.centre.abs() < 0.001, "{found:?}");
    for range in [found.i95, found.i90, found.equivalence] {
        assert!(range.contains(found.centre), "{found:?}");
    }
}

/// A drift that is found but too small to matter is in the range, and takes no verdict; a larger
/// one does.
#[test]
fn a_drift_matters_by_its_size() {
    let drifting =
        |step: f64, from: f64| -> [f64; 8] { core::array::from_fn(|i| from + step * i as f64) };
    let (found, verdict) = of_ratios(&drifting(1e-6, 0.05));
    assert!(found.guard.sign().is_some() && found.withheld.is_none(), "{found:?}");
    assert_eq!(verdict, Verdict::Worse);
    // Of the last sixth the mean is six and a half steps above the first.
    let reach = Interval { low: 0.05 - 6.5e-6, high: 0.05 + 13e-6 };
    assert!((found.i95.low - reach.low).abs() < 1e-12, "{found:?}");
    assert!((found.i95.high - reach.high).abs() < 1e-12, "{found:?}");
    // That, three times, is half of the margin at 1.25 permille.
    let (_, verdict) = of_ratios(&drifting(1.2e-3, 0.2));
    assert_eq!(verdict, Verdict::Worse);
    let (found, verdict) = of_ratios(&drifting(1.3e-3, 0.2));
    assert!(found.withheld.is_some() && verdict == Verdict::None, "{found:?}");
    // Nothing is surer than that range.
    let (found, verdict) = of_ratios(&drifting(1e-4, 1e-4));
    assert!(found.i95.contains(0.0) && found.p == 1.0, "{found:?}");
    assert_eq!(verdict, Verdict::Same);
}

/// What blocks scatter by themselves hides no drift that is too small to matter.
#[test]
fn a_drift_among_noise_matters_by_its_size() {
    let noisy = |drift: f64| -> [f64; 42] {
        core::array::from_fn(|i| 0.02 + drift * i as f64 / 42.0 + [-6e-3, 7e-3, 0.0][i % 3])
    };
    let (found, verdict) = of_ratios(&noisy(8e-3));
    assert!(found.guard.sign().is_some() && found.i95.width() > 0.02, "{found:?}");
    assert_eq!(verdict, Verdict::Same, "{found:?}");
    let (found, verdict) = of_ratios(&noisy(10e-3));
    assert!(found.withheld.is_some() && verdict == Verdict::None, "{found:?}");
}

fn of_ratios(effects: &[f64]) -> (Combined, Verdict) {
    let setting = Setting { validity: LOOKED_AT, ..Setting::ALONE };
    let combined = combine(effects, &setting).unwrap();
    let p = Adjusted { different: combined.p, same: combined.p_same, open: 1 };
    let verdict = verdict::rule(Metric::Rtt, &combined, setting.margin, p).verdict;
    (combined, verdict)
}

/// Loses `share` in bursts of `burst` datagrams on average: how many of `n` are gone.
fn lost(rng: &mut ChaCha12Rng, n: f64, share: f64, burst: f64) -> f64 {
    let mut exponential =
        |mean: f64| -mean * libm::log((f64::from(rng.next_u32()) + 0.5) / f64::from(u32::MAX));
    let pause = burst * (1.0 - share) / share;
    let (mut at, mut gone) = (0.0, 0.0);
    let mut losing = exponential(1.0) < -libm::log1p(-share);
    while at < n {
        let end = (at + exponential(if losing { burst } else { pause })).min(n);
        gone += if losing { end - at } else { 0.0 };
        (at, losing) = (end, !losing);
    }
    gone
}

/// Looked at again and again until a difference is found, the range holds the truth as often
/// as it promises, whether losses come singly or five times a trial's share at once, and so does
/// that of a run that ends then by its own rule.
#[test]
fn shares_that_are_found_hold_however_they_are_bunched() {
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let (of, runs, more) = (5000_u64, 600, 0.02);
    for (burst, of_first) in [(1.0, 0.0), (1.0, 5e-3), (50.0, 0.0), (100.0, 5e-3), (500.0, 0.0)] {
        let (mut missed, mut missed_at_end, mut found, mut clear) = (0, 0, 0, 0);
        for _ in 0..runs {
            let (mut effects, mut counts) = (Vec::new(), PerArm { a: (0, 0), b: (0, 0) });
            while effects.len() < 24 {
                let n = of as f64;
                let a = lost(&mut rng, n, of_first, burst);
                let b = lost(&mut rng, n, of_first + more, burst);
                effects.push((b - a) / n);
                counts.a = add(counts.a, (a as u64, of));
                counts.b = add(counts.b, (b as u64, of));
                if effects.len() < 8 || effects.len() % 2 == 1 {
                    continue;
                }
                let (range, _) = ruled(&effects, &counts);
                if range.i95.excludes(0.0) {
                    found += 1;
                    missed += u32::from(range.i95.excludes(more));
                    let is_clear = is_clear(Metric::Loss, &effects[..LOOKS_MIN], MARGIN);
                    clear += u32::from(is_clear);
                    let end = Validity::to_the_end(&Stop::default()).at_once(is_clear);
                    let (range, _) = ruled_by(end, &effects, &counts);
                    missed_at_end += u32::from(range.i95.excludes(more));
                    break;
                }
            }
        }
        let rate = if burst > 100.0 { 5 } else { 20 };
        assert!(missed <= runs / 20 && missed <= found / rate, "{burst}: {missed} of {found}");
        // A twentieth, and three deviations of its count.
        let slack = 3.0 * libm::sqrt(0.0475 * f64::from(found));
        let most = 0.05 * f64::from(found) + slack;
        assert!(f64::from(missed_at_end) <= most, "{burst}: {missed_at_end} of {found}");
        assert!(found > runs / 2 || burst > 100.0, "bursts of {burst}: {found} found");
        assert!(clear == found || burst > 1.0, "{clear} of {found} that come singly");
    }
}

/// Wherever the truth lies, of shares that scatter by the margin and more: where an estimate beyond
/// the margin has ended a run by chance, and where no other could have.
#[test]
fn shares_that_are_clear_at_once_hold_wherever_the_truth_lies() {
    let mut rng = ChaCha12Rng::seed_from_u64(11);
    let mut normal = || (0..12).map(|_| f64::from(rng.next_u32()) / 4_294_967_296.0).sum::<f64>();
    let runs = if std::env::var_os("V6GAP_FULL").is_some() { 5_000 } else { 400 };
    // So many datagrams that blocks alone decide.
    let of = 10_000_000;
    let counts = |effects: &[f64]| {
        let more = summary::mean(effects).max(0.0) * of as f64;
        PerArm { a: (100, of), b: (100 + more as u64, of) }
    };
    let mut clear = 0;
    for truth in [3.0, 5.0, 7.0, 8.0, 10.0, 14.0] {
        let mut missed = 0;
        for _ in 0..runs {
            let mut effects = Vec::new();
            // By the error of the mean of eight.
            let (error, sd) = (MARGIN, MARGIN * libm::sqrt(8.0));
            loop {
                effects.push(truth * error + sd * (normal() - 6.0));
                let (n, is_last) = (effects.len(), effects.len() == 40);
                if n < LOOKS_MIN || n % 2 == 1 {
                    continue;
                }
                let (range, _) = ruled(&effects, &counts(&effects));
                let is_over = range.i95.low > MARGIN || range.i95.high < -MARGIN;
                if is_over || range.i95.width() < MARGIN || is_last {
                    break;
                }
            }
            let is_clear = is_clear(Metric::Loss, &effects[..LOOKS_MIN], MARGIN);
            clear += u32::from(is_clear);
            let end = Validity::to_the_end(&Stop::default()).at_once(is_clear);
            missed += u32::from(
                ruled_by(end, &effects, &counts(&effects)).0.i95.excludes(truth * MARGIN),
            );
        }
        let runs = f64::from(runs);
        let most = 0.05 * runs + 3.0 * libm::sqrt(0.0475 * runs);
        assert!(f64::from(missed) <= most, "{truth}: {missed} of {runs}");
    }
    assert!((runs..5 * runs).contains(&clear), "{clear} are clear at once");
}

/// The second arm loses as much more as the margin allows: that must seldom be called the same,
/// however the losses are bunched, at the first look that has datagrams enough or later.
#[test]
fn bursts_at_the_margin_are_seldom_called_the_same() {
    let mut rng = ChaCha12Rng::seed_from_u64(16);
    let runs = if std::env::var_os("V6GAP_FULL").is_some() { 10_000 } else { 2_500 };
    for (burst, of_first) in [(10.0, 0.0), (50.0, 0.0), (100.0, 5e-4), (500.0, 0.0)] {
        let mut same = 0;
        for _ in 0..runs {
            let (mut effects, mut counts) = (Vec::new(), PerArm { a: (0, 0), b: (0, 0) });
            let (mut found, datagrams) = (false, 100_000);
            while effects.len() < 32 && !found {
                let n = datagrams as f64;
                let a = lost(&mut rng, n, of_first, burst);
                let b = lost(&mut rng, n, of_first + MARGIN, burst);
                effects.push((b - a) / n);
                counts.a = add(counts.a, (a as u64, datagrams));
                counts.b = add(counts.b, (b as u64, datagrams));
                found = [8, 16, 20, 26, 32].contains(&effects.len())
                    && ruled(&effects, &counts).1 == Verdict::Same;
            }
            same += u32::from(found);
        }
        assert!(same <= runs / 20, "bursts of {burst}: {same} of {runs}");
    }
}
