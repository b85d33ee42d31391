//! What keeps a run going, and what ends it.

use super::*;
use crate::analysis::Verdict;
use crate::analysis::tests::{blank, refused};
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::preset;

const SECOND: u64 = 1_000_000_000;

fn plan(stop: Stop) -> Plan {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
    plan.parts_mut().cells.truncate(2);
    plan.parts_mut().design.stop = stop;
    plan
}

fn trial(cell: &Cell, arm: Arm, kind: BlockKind, value: f64) -> TrialRecord {
    let values = cell.workload.metrics().iter().map(|&m| (m, value)).collect();
    TrialRecord { kind, arm, values, ..blank(&cell.id, *PerArm::FAMILIES.get(arm)) }
}

/// `rounds` rounds in which the second arm has `ratio` times the value, give or take `noise`.
fn progress(plan: &Plan, rounds: u32, ratio: f64, noise: f64) -> Interim {
    let mut progress = Interim::new(plan, &[]);
    for round in 0..rounds {
        for cell in &plan.cells {
            let wobble = 1.0 + if round % 2 == 0 { noise } else { -noise };
            let of = |arm, value| TrialRecord {
                block: round + 1,
                round: round + 1,
                ..trial(cell, arm, BlockKind::Compare, value)
            };
            progress.add(&of(Arm::A, 100.0), &of(Arm::B, 100.0 * ratio * wobble));
            let null = BlockKind::Null(Family::V4);
            progress.add(&trial(cell, Arm::A, null, 1.0), &trial(cell, Arm::B, null, 9.0));
        }
    }
    progress
}

const ADAPTIVE: Stop = Stop::Adaptive { time_ns_max: 60 * SECOND, pairs_min: 8 };

/// Of two cells that are asked alike, each with null blocks enough, neither is taken for the
/// other.
#[test]
fn a_cell_s_own_null_blocks_tell_its_noise() {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
    plan.parts_mut().cells.retain(|cell| cell.workload.metrics().contains(&Metric::Rtt));
    let mut interim = Interim::new(&plan, &[]);
    let alike = |a: usize, b: usize| interim.alike(&interim.questions[a], &interim.questions[b]);
    assert!(alike(0, 1), "{:?}", plan.cells);
    for block in 0..effect::NULLS_MIN {
        for (cell, noise) in plan.cells.iter().zip([0.001, 0.01]) {
            let value = 1.0 + if block % 2 == 0 { noise } else { -noise };
            let null = BlockKind::Null(Family::V4);
            let first = TrialRecord { round: 0, ..trial(cell, Arm::A, null, 1.0) };
            interim.add(&first, &trial(cell, Arm::B, null, value));
        }
    }
    let [first, second] = [0, 1].map(|cell| interim.known(cell, 8).noise.unwrap());
    assert!((second / first - 10.0).abs() < 0.1, "{first} {second}");
}

#[test]
fn a_settled_run_stops_after_the_least_number_of_balanced_rounds() {
    let plan = plan(ADAPTIVE);
    for (rounds, complete) in [(6, false), (7, false), (8, true), (9, false), (10, true)] {
        let progress = progress(&plan, rounds, 1.0, 0.001);
        assert_eq!(progress.complete(rounds, SECOND, SECOND), complete, "{rounds} rounds");
    }
    assert!(progress(&plan, 8, 0.8, 0.001).complete(8, SECOND, SECOND), "clearly different");
}

#[test]
fn an_open_question_keeps_a_run_going_until_its_time_is_over() {
    let progress = progress(&plan(ADAPTIVE), 10, 1.0, 0.3);
    assert!(!progress.complete(10, 10 * SECOND, SECOND));
    assert!(!progress.complete(10, 59 * SECOND, SECOND));
    assert!(progress.complete(10, 59 * SECOND + 1, SECOND), "another round would not fit");
}

/// A run waits for nine rounds in which one family failed more, whichever it is, once they are
/// more than a twentieth; not for fewer, nor for a cell that was given up.
#[test]
fn failures_that_may_tell_the_families_apart_keep_a_run_going() {
    let plan = plan(ADAPTIVE);
    let failed = |rounds: u32, failures: &[(u32, Family)]| {
        let mut progress = progress(&plan, rounds, 1.0, 0.001);
        for &(round, family) in failures {
            let refused = refused(&plan.cells[0].id, Some(family));
            progress.failed(&FailedAttempt { block: round, round, ..refused });
        }
        progress
    };
    let complete = |progress: &Interim, rounds| progress.complete(rounds, SECOND, SECOND);
    let all = |n: u32| (1..=n).map(|round| (round, Family::V6)).collect::<Vec<_>>();
    // Two cells of 12 rounds are 24.
    assert!(complete(&failed(12, &all(1)), 12));
    assert!(!complete(&failed(12, &all(2)), 12));
    assert!(failed(12, &all(2)).resting(12).is_empty());
    assert!(!complete(&failed(8, &[(1, Family::V6), (2, Family::V4)]), 8), "whichever it is");
    assert!(!complete(&failed(10, &all(8)), 10));
    assert!(complete(&failed(10, &all(9)), 10));
    // Both in one round are no difference.
    assert!(complete(&failed(8, &[(1, Family::V6), (1, Family::V4)]), 8));
    let mut gone = failed(8, &all(2));
    gone.give_up(0);
    assert!(complete(&gone, 8));
    let late = failed(8, &all(2));
    assert!(late.complete(8, 60 * SECOND, SECOND), "the time that a run may take is kept");
}

#[test]
fn the_same_is_settled_when_half_the_margin_would_be_seen() {
    let plan = plan(ADAPTIVE);
    let verdicts = |progress: &Interim| -> Vec<Verdict> {
        progress.decided().iter().map(|d| d.ruling.unwrap().verdict).collect()
    };
    let wide = progress(&plan, 8, 1.0, 0.012);
    assert!(verdicts(&wide).contains(&Verdict::Same), "{:?}", verdicts(&wide));
    assert!(!wide.complete(8, SECOND, SECOND), "a range that hides 1 %");
    let seen = progress(&plan, 8, 1.004, 0.002);
    assert!(seen.complete(8, SECOND, SECOND), "{:?}", verdicts(&seen));
}

/// A range of five blocks may be narrow, and leads to no verdict.
#[test]
fn fewer_blocks_than_an_answer_needs_settle_nothing() {
    let mut few = progress(&plan(ADAPTIVE), 8, 1.2, 0.002);
    assert!(few.complete(8, SECOND, SECOND));
    for question in &mut few.questions {
        question.valid.effects.truncate(effect::BLOCKS_MIN - 1);
    }
    assert!(!few.complete(8, SECOND, SECOND));
}

/// A clear answer of six rounds is none with two more that were discarded, unless it is the same
/// with both of them; of ten they are few.
#[test]
fn a_run_goes_on_while_what_was_discarded_would_withhold_its_answer() {
    let clear = |rounds| progress(&plan(ADAPTIVE), rounds, 1.2, 0.002);
    let complete = |progress: &Interim| progress.complete(8, SECOND, SECOND);
    let open = discarded(clear(6), &[7, 9], 0.8);
    assert!(!complete(&open));
    assert!(!open.resting(8).contains(&0));
    assert!(complete(&discarded(clear(6), &[7, 9], 1.2)), "the same with all blocks");
    assert!(!complete(&discarded(clear(6), &[7, 9], f64::NAN)), "of which nothing is known");
    assert!(complete(&discarded(clear(6), &[7, 7], 0.8)), "however often a block was tried");
    assert!(complete(&discarded(clear(8), &[7, 9], 0.8)));
    let mut gone = discarded(clear(6), &[7, 9], 0.8);
    gone.give_up(0);
    assert!(complete(&gone), "what is not measured any more");
}

/// Two blocks of one cell failed: the answers of eight would be withheld, those of ten stand.
/// Where eight more would not mend it, nobody waits. Which family failed does not matter.
#[test]
fn a_run_goes_on_while_what_failed_would_withhold_its_answer() {
    let plan = plan(ADAPTIVE);
    let withheld = |rounds: u32, blocks: u32, of: [Family; 2]| {
        let mut progress = progress(&plan, rounds, 1.0, 0.001);
        for block in 1..=blocks {
            let refused = refused(&plan.cells[0].id, Some(of[block as usize % 2]));
            progress.failed(&FailedAttempt { block, round: block, ..refused });
        }
        let settled = progress.settled();
        let own = progress.questions.iter().zip(settled).filter(|(q, _)| q.cell == 0);
        own.into_iter().all(|(_, settled)| !settled)
    };
    for of in [[Family::V6; 2], [Family::V4, Family::V6]] {
        assert!(withheld(8, 2, of));
        assert!(!withheld(10, 2, of) && !withheld(8, 1, of));
        assert!(withheld(12, 4, of) && !withheld(12, 5, of), "eight more would not mend it");
    }
}

/// Bodies that are too short have no rate, whichever trial one looks at.
#[test]
fn what_never_has_a_value_keeps_nobody_waiting() {
    for (stop, rounds) in [(ADAPTIVE, 8), (Stop::Pairs { pairs: 8 }, 8)] {
        let plan = plan(stop);
        let mut progress = progress(&plan, rounds, 1.0, 0.001);
        assert!(progress.complete(rounds, SECOND, SECOND));
        let vain = &mut progress.questions[0];
        vain.valid.effects.clear();
        vain.without = effect::BLOCKS_MIN - 1;
        assert!(!progress.complete(rounds, SECOND, SECOND), "one may still come");
        progress.questions[0].without = effect::BLOCKS_MIN;
        assert!(progress.complete(rounds, SECOND, SECOND));
    }
}

/// So many blocks of the first cell that do not count, in which the second arm has `ratio` times
/// the value.
fn discarded(mut progress: Interim, blocks: &[u32], ratio: f64) -> Interim {
    for (&block, round) in blocks.iter().zip(7..) {
        for kind in [BlockKind::Null(Family::V4), BlockKind::Compare] {
            let [a, b] = [(Arm::A, 100.0), (Arm::B, 100.0 * ratio)].map(|(arm, value)| {
                TrialRecord { block, round, ..trial(&progress.cells[0], arm, kind, value) }
            });
            progress.discarded(&a, &b);
        }
    }
    progress
}

/// That bursts may have been missed is said, and takes no hours.
#[test]
fn losses_that_nobody_saw_keep_no_run_going() {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
    plan.parts_mut().cells.retain(|cell| cell.workload.metrics().contains(&Metric::Loss));
    plan.parts_mut().design.stop = ADAPTIVE;
    let mut progress = progress(&plan, 8, 1.0, 0.0);
    let lost = |progress: &mut Interim, lost: f64, counted: u64| {
        let found = progress.questions.iter_mut().find(|q| q.metric == Metric::Loss).unwrap();
        found.valid.effects.iter_mut().for_each(|(_, effect)| *effect = 0.0);
        found.valid.effects[0].1 = lost;
        found.valid.events = PerArm { a: (0, counted), b: ((lost * 5000.0) as u64, counted) };
    };
    lost(&mut progress, 0.0, 40_000);
    let decided = progress.decided();
    assert!(decided.iter().any(|d| d.ruling.unwrap().verdict == Verdict::CannotTell));
    assert!(progress.complete(8, SECOND, SECOND));
    lost(&mut progress, 0.0, 400);
    assert!(!progress.complete(8, SECOND, SECOND), "too few even if they come singly");
    lost(&mut progress, 0.02, 40_000);
    assert!(!progress.complete(8, SECOND, SECOND), "a burst that blocks disagree about");
}

#[test]
fn a_precision_asked_for_is_reached_whatever_the_verdict() {
    let mut plan = plan(ADAPTIVE);
    assert!(progress(&plan, 10, 0.8, 0.01).complete(10, SECOND, SECOND), "clearly different");
    plan.parts_mut().design.precision =
        Metric::ALL.into_iter().map(|metric| (metric, 0.001)).collect();
    assert!(!progress(&plan, 10, 0.8, 0.01).complete(10, SECOND, SECOND), "known to 1 %");
    assert!(progress(&plan, 10, 0.8, 0.0001).complete(10, SECOND, SECOND), "known to 0.01 %");
}

#[test]
fn a_fixed_number_is_kept_whatever_the_outcome() {
    let plan = plan(Stop::Pairs { pairs: 12 });
    assert!(!progress(&plan, 11, 1.0, 0.0).complete(11, 1000 * SECOND, SECOND));
    assert!(progress(&plan, 12, 1.0, 0.3).complete(12, 0, SECOND));
}

#[test]
fn a_refused_cell_keeps_nobody_waiting() {
    let plan = plan(Stop::Pairs { pairs: 2 });
    let mut progress = Interim::new(&plan, &[1]);
    for round in 1..=2 {
        let cell = &plan.cells[0];
        let mut a = trial(cell, Arm::A, BlockKind::Compare, 1.0);
        a.round = round;
        progress.add(&a, &trial(cell, Arm::B, BlockKind::Compare, 1.0));
    }
    assert!(progress.complete(2, 0, 0));
    assert_eq!(progress.so_far().len(), 1);
}

/// The final analysis counts the questions of a cell that was given up late, so this must.
#[test]
fn a_cell_given_up_late_holds_nobody_up_but_still_counts() {
    let plan = plan(ADAPTIVE);
    let mut late = progress(&plan, 8, 1.0, 0.3);
    assert!(!late.complete(8, SECOND, SECOND));
    let before = late.so_far().len();
    (0..plan.cells.len()).for_each(|cell| late.give_up(cell));
    assert!(late.complete(8, SECOND, SECOND) && late.so_far().len() == before);
    let mut early = progress(&plan, 2, 1.0, 0.3);
    early.give_up(0);
    assert!(early.so_far().iter().all(|said| said.cell != plan.cells[0].id));
}

#[test]
fn what_is_said_on_the_way_has_a_range_or_is_silent() {
    let plan = plan(ADAPTIVE);
    assert!(progress(&plan, 3, 0.9, 0.01).so_far().iter().all(|s| s.range.is_none()));
    let so_far = progress(&plan, 8, 0.9, 0.001).so_far();
    assert_eq!(so_far[0].text, "10 % slower");
    let (estimate, low, high) = so_far[0].range.unwrap();
    assert!(low < estimate && estimate < high && so_far[0].blocks == 8);
}
