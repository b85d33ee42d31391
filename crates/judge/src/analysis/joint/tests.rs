//! No verdict contradicts the range that is printed with it, and no judgement stands without one:
//! synthetic runs of many truths and lengths, by both stopping rules.

use super::*;
use crate::analysis::tests::{EVEN, Truth, plan, run};
use crate::analysis::*;
use v6gap_core::plan::Stop;
use v6gap_core::workload::{Cell, Workload};

/// Why the answer to a question and its range contradict each other.
fn contradiction(q: &Question) -> Option<&'static str> {
    let Some(effect) = &q.effect else {
        return (q.verdict != Verdict::None).then_some("a verdict without a range");
    };
    let Range { low, high } = effect.range95;
    let excludes = low > 0.0 || high < 0.0;
    let inside = |Range { low, high }: Range| match effect.scale {
        Scale::Ratio => low > 1.0 / (1.0 + q.margin) - 1.0 && high < q.margin,
        Scale::Difference => low > -q.margin && high < q.margin,
    };
    let within = inside(effect.range95);
    match (q.verdict, q.qualifier) {
        (Verdict::CannotTell, _) if excludes => return Some("a range that decides"),
        (Verdict::CannotTell, _) if inside(effect.range90) => return Some("it does not matter"),
        (Verdict::Better | Verdict::Worse, _) if !excludes => return Some("holds no difference"),
        (Verdict::Better | Verdict::Worse, _) if within => return Some("does not matter"),
        (Verdict::Same, Qualifier::RealButTiny) if !excludes => return Some("may be none"),
        (Verdict::Same, Qualifier::Plain) if excludes => return Some("is a difference"),
        (Verdict::Same, _) if !within && !q.range_text.starts_with("90 %") => {
            return Some("reaches beyond the margin");
        }
        (Verdict::Same, _) if q.unseen.is_some_and(|u| u.in_bursts > q.margin) => {
            return Some("bursts were not seen");
        }
        _ => {}
    }
    let prediction = q.prediction.as_ref()?;
    let left = prediction.residual.range95;
    let something = left.low > 0.0 || left.high < 0.0;
    match prediction.explained? {
        Explained::All if something => Some("explained, and something is left"),
        Explained::All | Explained::BetterThanPredicted => None,
        _ if prediction.share.is_none() => Some("a part of nothing"),
        _ => (!something).then_some("nothing is left"),
    }
}

fn headers(cell: &Cell, family: Family) -> f64 {
    match (&cell.workload, family) {
        (Workload::TcpBulk(_), Family::V6) => 1428.0 / 1448.0,
        (Workload::Echo(echo), Family::V6) => 1.0 + 6.4 / f64::from(60 + echo.message_bytes),
        _ => 1.0,
    }
}

fn slow(_: &Cell, family: Family) -> f64 {
    if family == Family::V6 { 1.03 } else { 1.0 }
}

#[test]
fn no_answer_contradicts_its_range() {
    let mut asked = 0;
    for (seed, factor) in [(1, EVEN.factor), (2, headers as fn(&Cell, Family) -> f64), (3, slow)] {
        for noise in [0.0005, 0.01, 0.05] {
            for (rounds, fixed) in [(6, true), (8, false), (10, true), (16, false)] {
                let mut plan = plan(PerArm::FAMILIES, seed);
                if fixed {
                    plan.parts_mut().design.stop = Stop::Pairs { pairs: rounds };
                }
                let truth = Truth { factor, noise, second_turn: 0.0 };
                let analysis = analyse(&run(&plan, rounds, &truth)).unwrap();
                for q in &analysis.questions {
                    let found = contradiction(q);
                    assert_eq!(found, None, "{rounds} rounds, noise {noise}: {}", q.sentence);
                    asked += usize::from(q.verdict != Verdict::None);
                }
            }
        }
    }
    assert!(asked > 200, "{asked}");
}

/// How many questions have ranges of the end of their run.
fn at_end(lines: &[Line]) -> usize {
    let questions = analyse(lines).unwrap().questions;
    let effects = questions.iter().filter_map(|q| q.effect.as_ref());
    effects.filter(|effect| matches!(effect.validity, Validity::AtEnd { .. })).count()
}

/// Who stops a run, goes on with it or loses it leaves ranges that hold whenever somebody looks.
#[test]
fn ranges_of_the_end_are_those_of_a_run_that_went_its_own_way() {
    let complete = run(&plan(PerArm::FAMILIES, 4), 8, &EVEN);
    assert!(at_end(&complete) > 4, "{}", at_end(&complete));
    let ending = |ending| {
        let mut lines = complete.clone();
        *lines.last_mut().unwrap() = Line::End(ending);
        lines
    };
    assert_eq!(at_end(&ending(Ending::Stopped)), 0);
    assert_eq!(at_end(&ending(Ending::Failed { error: "lost".into() })), 0);
    assert_eq!(at_end(&complete[..complete.len() - 1]), 0, "it goes on, or was killed");
    let mut stopped = complete.clone();
    stopped.insert(complete.len() / 2, Line::End(Ending::Stopped));
    assert_eq!(at_end(&stopped), 0);
    // Killed, and gone on with: nothing but the clocks tells.
    let mut later = complete.clone();
    for line in &mut later[complete.len() / 2..] {
        if let Line::Trial(trial) = line {
            trial.started_unix_ns += 60_000_000_000;
        }
    }
    assert_eq!(at_end(&later), 0);
    let fixed = plan(PerArm::FAMILIES, 4).ending(Stop::Pairs { pairs: 8 });
    assert_eq!(at_end(&run(&fixed, 8, &EVEN)), 0);
}

/// The noise that a range of the end tells is that of its values, at the first look at least: what
/// is made of it later, as the change between two runs, is no surer than they are.
#[test]
fn a_range_of_the_end_tells_the_noise_that_it_is_made_of() {
    for sd in [1e-4, 0.02] {
        let d = [1.0, -1.2, 0.8, -0.9, 1.1, -1.0, 0.9, -0.7].map(|x| sd * x);
        let validity = Validity::to_the_end(&Stop::default());
        let evidence = Evidence {
            metric: Metric::Rtt,
            transport: Transport::Tcp,
            margin: 0.05,
            cell: 0,
            validity,
            effects: d.to_vec(),
            nulls: Vec::new(),
            hosts: 0.0,
            events: None,
        };
        let combined = decide(&[evidence]).remove(0).combined.unwrap();
        let quiet = Validity::AtEnd { left: 1.0 };
        assert_eq!(combined.validity == quiet, sd < 0.01, "{combined:?}");
        let half_width = combined.i95.width() / 2.0;
        let noise = effect::noise(Scale::Ratio, 8, half_width, 0.05, combined.validity);
        let told = noise / v6gap_stats::summary::sd(&d);
        assert!((0.999..1.1).contains(&told), "{told}");
    }
}

/// What differs by itself and not for all questions of its run says so beside its value.
#[test]
fn a_difference_that_may_be_chance_has_a_caveat() {
    let noisy = Truth { noise: 0.02, ..EVEN };
    let (mut chance, mut sure) = (0, 0);
    for seed in 0..40 {
        for q in analyse(&run(&plan(PerArm::FAMILIES, seed), 8, &noisy)).unwrap().questions {
            let told = q.caveats.iter().any(|c| c.ends_with("such a difference may be chance"));
            assert_eq!(told, q.may_be_chance(), "{q:?}");
            chance += u32::from(told);
        }
        let worse = Truth { factor: |_, f| if f == Family::V6 { 1.2 } else { 1.0 }, ..noisy };
        let found = analyse(&run(&plan(PerArm::FAMILIES, seed), 8, &worse)).unwrap();
        sure += found.questions.iter().filter(|q| q.verdict == Verdict::Worse).count();
    }
    assert!(chance > 0 && sure > 0, "{chance} {sure}");
}
