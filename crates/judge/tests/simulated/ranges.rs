//! How often the printed range holds the truth, and how many pairs it takes until a question is
//! settled, by the real rules: docs/method.md C.8 reports what a night of it prints.

use super::runs::{Noise, Source, World, adaptive, margin, run};
use v6gap_core::plan::Stop;
use v6gap_judge::analysis::Verdict;
use v6gap_stats::{signed_rank, summary};

/// Runs of each kind.
fn runs() -> u64 {
    u64::from(super::count(40, 2000))
}

/// Least share of runs with a difference of at most half the margin that say "the same".
const SAME: f64 = 0.9;

/// Null blocks of each family, as the default run has.
const NULLS: u32 = 4;

/// What became of many runs of a world, as shares of them.
#[derive(Debug, Default)]
struct Seen {
    /// The range holds the centre of the law, that of its bulk where it is not symmetric.
    centre: f64,
    /// The range holds the mean of the law, or that of the mean beside it does.
    mean: f64,
    /// The mean is told beside.
    beside: f64,
    /// Called better or worse.
    different: f64,
    same: f64,
    /// Pairs, on average.
    pairs: f64,
    /// Half-width of the range in deviations of the noise, in the middle of all runs.
    half: f64,
}

/// Centre and mean of the law that the noise is drawn from, by a large sample if it is lopsided.
fn truths(noise: Noise) -> [f64; 2] {
    match noise {
        Noise::OneArmSlow(..) | Noise::Lognormal => {
            let sample = Source::new(1).series(noise, 20_000);
            [signed_rank::centre(&sample), summary::mean(&sample)]
        }
        _ => [0.0; 2],
    }
}

fn look(world: &World) -> Seen {
    let runs = runs();
    let (mut seen, mut halves) = (Seen::default(), Vec::new());
    let each = 1.0 / runs as f64;
    let [centre, mean] = truths(world.noise).map(|x| world.truth + world.sd * x);
    for seed in 0..runs {
        let question = run(world, seed).questions.swap_remove(0);
        let effect = question.effect.as_ref().expect("blocks enough");
        let [low, high] = [effect.range95.low, effect.range95.high].map(f64::ln_1p);
        let count = |is: bool| if is { each } else { 0.0 };
        let beside = question.mean.as_ref().map(|mean| mean.range95);
        let holds = |x: f64| low <= x && x <= high;
        let also = beside.is_some_and(|r| r.low.ln_1p() <= mean && mean <= r.high.ln_1p());
        seen.centre += count(holds(centre));
        seen.mean += count(holds(mean) || also);
        seen.beside += count(beside.is_some());
        seen.different += count(matches!(question.verdict, Verdict::Better | Verdict::Worse));
        seen.same += count(question.verdict == Verdict::Same);
        seen.pairs += effect.blocks as f64 * each;
        halves.push((high - low) / 2.0 / world.sd);
    }
    halves.sort_by(f64::total_cmp);
    seen.half = halves[halves.len() / 2];
    println!("{:?}, margin of {:.0}: {seen:.3?}", world.noise, margin() / world.sd);
    seen
}

/// Three standard deviations of a share.
fn slack(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / runs() as f64).sqrt()
}

/// A law, and the least share of runs whose range holds its centre. Of neighbours alike no rule can
/// see enough in 48 blocks.
const LAWS: [(Noise, f64); 9] = [
    (Noise::Normal, 0.95),
    (Noise::Laplace, 0.95),
    (Noise::TwoModes, 0.95),
    (Noise::Disturbed(0.12, 15.0), 0.95),
    (Noise::Resembling(0.3), 0.89),
    (Noise::Resembling(0.5), 0.80),
    (Noise::OneArmSlow(0.10, 8.0), 0.92),
    (Noise::OneArmSlow(0.05, 20.0), 0.92),
    (Noise::Lognormal, 0.92),
];

fn every_law(margins: f64, stop: Stop, blocks_max: u64, short: f64) {
    for (noise, least) in LAWS {
        // One look has no room for neighbours that are alike, nor Student's for eight at two.
        let is_at_two = noise == Noise::TwoModes && blocks_max > 20;
        let are_alike = matches!(noise, Noise::Resembling(_));
        let short = if are_alike || is_at_two { short } else { 0.0 };
        let sd = margin() / margins;
        let world = World { noise, sd, truth: 0.0, stop, blocks_max, nulls: NULLS };
        let seen = look(&world);
        let least = least - short;
        assert!(seen.centre >= least - slack(least), "{noise:?} {margins}: {seen:?}");
        if truths(noise) == [0.0; 2] {
            assert!(seen.different <= 0.05 + slack(0.05), "{noise:?} {margins}: {seen:?}");
        }
    }
}

#[test]
fn ranges_of_any_number_of_pairs_hold_the_centre() {
    every_law(2.0, adaptive(48, 8), 48, 0.07);
    every_law(8.0, adaptive(48, 8), 48, 0.07);
}

#[test]
fn ranges_of_a_fixed_number_of_pairs_hold_the_centre() {
    every_law(2.0, Stop::Pairs { pairs: 8 }, 8, 0.07);
    every_law(2.0, Stop::Pairs { pairs: 20 }, 20, 0.07);
}

/// The stopping rule looks at the estimate, most of all where the truth lies just beyond the
/// margin; the range at its end holds all the same.
#[test]
fn ranges_at_the_end_hold_wherever_the_truth_lies() {
    let laws = [Noise::Normal, Noise::Laplace, Noise::Disturbed(0.12, 15.0)];
    let margins = [0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0];
    let truths = [0.0, 0.5, 1.0, 1.2, 1.5, 2.0];
    // By day every third.
    let step = super::count(3, 1) as usize;
    for noise in laws.into_iter().step_by(step) {
        for margins in margins.into_iter().step_by(step) {
            for of_margin in truths.into_iter().step_by(step) {
                let (sd, truth) = (margin() / margins, of_margin * margin());
                let stop = adaptive(64, 8);
                let seen = look(&World { noise, sd, truth, stop, blocks_max: 64, nulls: NULLS });
                let held = seen.centre + slack(0.95);
                assert!(held >= 0.95, "{noise:?} {margins} {of_margin}: {seen:?}");
            }
        }
    }
}

/// Twelve blocks of a hundred with fifteen times the noise cost some pairs, not the answer: what a
/// run ended on is what it says.
#[test]
fn disturbed_blocks_keep_no_question_open() {
    for (noise, most) in
        [(Noise::Normal, [15.0, 10.0]), (Noise::Disturbed(0.12, 15.0), [24.0, 17.0])]
    {
        for (truth, most) in [0.0, 0.5].into_iter().zip(most) {
            let (sd, truth) = (margin() / 4.0, truth * margin());
            let stop = adaptive(64, 8);
            let seen = look(&World { noise, sd, truth, stop, blocks_max: 64, nulls: NULLS });
            assert!(seen.pairs <= most, "{noise:?} {truth}: {seen:?}");
            let same = seen.same + slack(SAME);
            assert!(same >= SAME, "{noise:?} {truth}: {seen:?}");
        }
    }
}
