//! No verdict contradicts the range that is printed with it, and no judgement stands without one:
//! synthetic runs of many truths and lengths, by both stopping rules.

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
