//! No difference between the arms: what is called different is called so wrongly.

use super::runs::{Noise, World, adaptive, margin, run};
use v6gap_judge::analysis::Verdict;

/// Runs in each world.
fn runs() -> u32 {
    super::count(60, 200)
}

/// Blocks that the time allows.
const BLOCKS_MAX: u64 = 48;

/// Without null blocks.
fn world(noise: Noise, sd: f64, truth: f64, pairs_min: u32) -> World {
    let stop = adaptive(BLOCKS_MAX, pairs_min);
    let (sd, truth) = (sd * margin(), truth * margin());
    World { noise, sd, truth, stop, blocks_max: BLOCKS_MAX, nulls: 0 }
}

/// How often each verdict was given, and what the guards did.
#[derive(Debug, Default)]
struct Verdicts {
    different: u32,
    same: u32,
    open: u32,
    none: u32,
    unsteady: u32,
    grouped: u32,
}

/// The verdicts of many runs with a difference of `truth` and a noise of `sd` margins.
fn verdicts(noise: Noise, sd: f64, truth: f64, pairs_min: u32) -> Verdicts {
    let mut counts = Verdicts::default();
    let world = world(noise, sd, truth, pairs_min);
    for seed in 0..runs() {
        let run = run(&world, u64::from(seed));
        let question = &run.questions[0];
        match question.verdict {
            Verdict::Better | Verdict::Worse => counts.different += 1,
            Verdict::Same => counts.same += 1,
            Verdict::CannotTell => counts.open += 1,
            Verdict::None => counts.none += 1,
        }
        counts.unsteady += u32::from(question.diagnostics.unsteady.is_some());
        counts.grouped += u32::from(question.diagnostics.modes.is_some());
    }
    counts
}

/// As many runs as a rate promises, and three standard deviations.
fn at_most(rate: f64) -> u32 {
    let runs = f64::from(runs());
    (rate * runs + 3.0 * (rate * (1.0 - rate) * runs).sqrt()) as u32
}

/// As [`at_most`], for what must be.
fn at_least(rate: f64) -> u32 {
    runs() - at_most(1.0 - rate)
}

/// With the noise as large as the margin a run may stop at any look; with three times as much it
/// looks as often as it can. The guards must not cost ordinary runs their answer.
#[test]
fn noise_is_rarely_called_a_difference() {
    let worlds = [
        Noise::Normal,
        Noise::Laplace,
        Noise::Outliers,
        Noise::TwoModes,
        Noise::Resembling(0.3),
        Noise::Slow,
    ];
    for noise in worlds {
        for sd in [1.0, 3.0] {
            let found = verdicts(noise, sd, 0.0, 8);
            println!("{noise:?}, noise of {sd:.0} margins: {found:?}");
            // One look takes neighbours that resemble each other a little for independent.
            let most = if noise == Noise::Resembling(0.3) { 0.10 } else { 0.05 };
            assert!(
                f64::from(found.different) <= most * f64::from(runs()),
                "{noise:?} {sd} {found:?}"
            );
            assert!(found.none <= at_most(0.02), "{noise:?} {sd} {found:?}");
            if noise == Noise::Normal {
                assert!(found.unsteady <= at_most(0.03), "{sd} {found:?}");
                assert!(found.grouped <= at_most(0.01), "{sd} {found:?}");
            }
            if noise == Noise::TwoModes {
                assert!(found.grouped > runs() / 2, "{sd} {found:?}");
            }
        }
    }
}

/// A difference as large as the margin is rarely called the same, and one that is clear is found:
/// neither Holm's correction nor a guard gives one away.
#[test]
fn margins_are_kept_and_clear_differences_found() {
    for noise in [Noise::Normal, Noise::Laplace, Noise::Outliers, Noise::TwoModes] {
        for sd in [0.5, 1.0] {
            let found = verdicts(noise, sd, 1.0, 8);
            assert!(found.same <= at_most(0.05), "{noise:?} {sd} {found:?}");
        }
        let found = verdicts(noise, 0.5, 3.0, 8);
        assert!(found.different >= at_least(0.97), "{noise:?} {found:?}");
    }
}

/// A difference that comes and goes over the whole of a run is no answer, and is told as what it
/// is; one that neighbours share is answered by batches of them or not at all.
#[test]
fn what_is_not_steady_is_not_answered() {
    for noise in [Noise::Step, Noise::Drift] {
        let found = verdicts(noise, 1.0, 0.0, BLOCKS_MAX as u32);
        assert!(found.unsteady >= at_least(0.98), "{noise:?} {found:?}");
        assert!(found.none >= at_least(0.95), "{noise:?} {found:?}");
    }
    let found = verdicts(Noise::Resembling(0.6), 1.0, 0.0, BLOCKS_MAX as u32);
    assert!(found.unsteady >= at_least(0.80), "{found:?}");
    assert!(found.different <= at_most(0.05), "{found:?}");
}

/// Each guard says what it saw and what to do.
#[test]
fn guards_speak_in_words() {
    let margin = margin();
    let question =
        |noise, sd| run(&world(noise, sd, 0.0, BLOCKS_MAX as u32), 3).questions.remove(0);
    let step = question(Noise::Step, 1.0);
    let why = step.why_none.unwrap();
    assert!(why.starts_with("the difference changed after 2"), "{why}");
    assert!(why.contains("slower before and ") && why.contains("faster after; find out"), "{why}");
    assert!(step.sentence.contains("has no verdict"), "{}", step.sentence);
    let two = question(Noise::TwoModes, 3.0);
    let told = two.caveats.iter().find(|c| c.contains("two groups")).unwrap();
    assert!(told.contains("nothing recorded is known to go with them"), "{told}");
    assert_eq!(two.diagnostics.merged, 1);
    let modes = two.diagnostics.modes.unwrap();
    assert!((modes.shares[0] + modes.shares[1] - 1.0).abs() < 1e-12);
    assert!(modes.effects[0] < -2.0 * margin && modes.effects[1] > 2.0 * margin);
}
