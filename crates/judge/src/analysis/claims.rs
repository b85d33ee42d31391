//! What a study said of the shape of its curves, asked of this run: a dip, a difference that falls
//! with the size, a throughput that rises with the window. Each is the least of some changes, taken
//! within rounds, and has its range: it holds, it does not, or that cannot be told
//! (docs/method.md section C.13).

use super::compare::Of;
use super::effect::{self, BLOCKS_MIN, Combined, Setting};
use super::{Discarded, Pair, Question, Range, Validity, conditions};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Plan;
use v6gap_core::published;
use v6gap_core::workload::{TcpBulk, Workload};
use v6gap_stats::Interval;

/// Sizes in bytes between which Raicu saw a dip.
const DIP: [u32; 2] = [4_096, 16_384];

/// Smallest size that it is compared with.
const BEFORE_DIP: u32 = 1_024;

/// Whether a statement holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Its range lies above 0.
    Yes,
    /// Its range lies below 0.
    No,
    /// Its range holds 0.
    CannotTell,
}

/// What is said of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// The difference of the arms is smaller at the middle cell than at the first and the last.
    Dip,
    /// The difference of the arms is smaller at the last cell than at the first.
    Falls,
    /// The value of an arm is larger at each second cell than at the one before it.
    Rises,
}

/// A statement and what this run says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// What is said.
    pub shape: Shape,
    /// Of which metric.
    pub metric: Metric,
    /// Of what.
    pub of: Of,
    /// Identifiers of the cells, in the order of the statement.
    pub cells: Vec<String>,
    /// The least of the changes that the statement is about (ratio − 1): above 0 it holds. `None`
    /// if fewer than two rounds measured both sides of one of them.
    pub estimate: Option<f64>,
    /// Its 95 % range, which holds for all changes together.
    #[serde(flatten)]
    pub range: Range,
    /// The same of what the headers alone predict.
    pub predicted: Option<f64>,
    /// Rounds behind it, of the change with the fewest; 0 where none has an estimate.
    pub rounds: usize,
    /// Whether it holds.
    pub holds: Holds,
}

/// A statement before it is judged: each change is from its first question to its second.
struct Open<'a> {
    shape: Shape,
    of: Of,
    cells: Vec<&'a Question>,
    changes: Vec<[&'a Question; 2]>,
}

/// All statements of the study that the plan repeats which its cells can answer.
pub(super) fn judge(plan: &Plan, questions: &[Question], discarded: &[Discarded]) -> Vec<Claim> {
    let reference = plan.reference.as_deref().and_then(published::find);
    let of = reference.as_ref().map(|(study, of)| (study.study.as_str(), of.as_str()));
    let open = match of.filter(|_| plan.design.arms == PerArm::FAMILIES) {
        Some(("raicu", of)) if of.starts_with("tcp-") || of.starts_with("udp-") => {
            by_size(plan, questions)
        }
        Some(("sailan", _)) => by_window(plan, questions),
        _ => Vec::new(),
    };
    open.iter().filter_map(|open| answer(plan, open, discarded)).collect()
}

/// Raicu's statements, of the first series of round trips by size that can answer each.
fn by_size<'a>(plan: &Plan, questions: &'a [Question]) -> Vec<Open<'a>> {
    let variant = |q: &Question| plan.cell(&q.cell).map(|(_, cell)| cell.workload.variant());
    let mut series: Vec<Vec<&Question>> = Vec::new();
    let sized = |q: &&Question| q.metric == Metric::Rtt && q.level_bytes.is_some();
    for q in questions.iter().filter(sized).filter(|q| q.effect.is_some()) {
        match series.iter_mut().find(|known| variant(known[0]) == variant(q)) {
            Some(known) => known.push(q),
            None => series.push(alloc::vec![q]),
        }
    }
    series.iter_mut().for_each(|series| series.sort_by_key(|q| q.level_bytes));
    let found = [series.iter().find_map(|s| dip(s)), series.iter().find_map(|s| falls(s))];
    found.into_iter().flatten().collect()
}

/// The nearest sizes before and behind the dip, and where packets alone make it deepest within.
fn dip<'a>(series: &[&'a Question]) -> Option<Open<'a>> {
    let [from, to] = DIP;
    let within = |low: u32, high: u32| {
        let size = move |q: &&&Question| (low..high).contains(&q.level_bytes.unwrap_or_default());
        series.iter().filter(size).copied()
    };
    let predicted = |q: &Question| q.prediction.as_ref().map(|p| p.effect);
    let deeper = |a: &'a Question, b: &'a Question| match (predicted(a), predicted(b)) {
        (Some(of_a), Some(of_b)) if of_b < of_a => b,
        _ => a,
    };
    let before = within(BEFORE_DIP, from).next_back()?;
    let inside = within(from, to).reduce(deeper)?;
    let behind = within(to, u32::MAX).next()?;
    Some(Open {
        shape: Shape::Dip,
        of: Of::Difference,
        cells: alloc::vec![before, inside, behind],
        changes: alloc::vec![[inside, before], [inside, behind]],
    })
}

fn falls<'a>(series: &[&'a Question]) -> Option<Open<'a>> {
    let (first, last) = (*series.first()?, *series.last()?);
    (first.level_bytes < last.level_bytes).then(|| Open {
        shape: Shape::Falls,
        of: Of::Difference,
        cells: alloc::vec![first, last],
        changes: alloc::vec![[last, first]],
    })
}

/// Sailan and Hassan's: for each amount of data in each direction the smallest and the largest
/// window.
fn by_window<'a>(plan: &Plan, questions: &'a [Question]) -> Vec<Open<'a>> {
    let mut kinds: Vec<(TcpBulk, Vec<(u32, &Question)>)> = Vec::new();
    for q in questions.iter().filter(|q| q.metric == Metric::Throughput && q.effect.is_some()) {
        let cell = plan.cell(&q.cell).map(|(_, cell)| &cell.workload);
        let Some(Workload::TcpBulk(bulk)) = cell else { continue };
        let Some(window) = bulk.settings.buffer_bytes else { continue };
        let mut kind = bulk.clone();
        kind.settings.buffer_bytes = None;
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, known)) => known.push((window, q)),
            None => kinds.push((kind, alloc::vec![(window, q)])),
        }
    }
    let ends = |(_, windows): &(TcpBulk, Vec<(u32, &'a Question)>)| {
        let low = windows.iter().min_by_key(|(window, _)| window)?;
        let high = windows.iter().max_by_key(|(window, _)| window)?;
        (low.0 < high.0).then_some([low.1, high.1])
    };
    let changes: Vec<[&Question; 2]> = kinds.iter().filter_map(ends).collect();
    let of_arm = |of: Of| Open {
        shape: Shape::Rises,
        of,
        cells: changes.iter().flatten().copied().collect(),
        changes: changes.clone(),
    };
    match changes.is_empty() {
        true => Vec::new(),
        false => [Of::First, Of::Second].map(of_arm).into(),
    }
}

/// What one pair says, as a logarithm.
fn value(of: Of, q: &Question, pair: &Pair) -> f64 {
    match of.arm() {
        None => pair.effect(q.metric),
        Some(arm) => libm::log(*pair.values.get(arm)),
    }
}

/// A change within the rounds in which both questions count.
pub(super) fn change(of: Of, [from, to]: [&Question; 2]) -> Vec<f64> {
    let later = |first: &Pair| {
        let second = to.pairs.iter().find(|p| p.valid && p.round == first.round)?;
        Some(value(of, to, second) - value(of, from, first))
    };
    from.pairs.iter().filter(|pair| pair.valid).filter_map(later).collect()
}

fn answer(plan: &Plan, open: &Open<'_>, discarded: &[Discarded]) -> Option<Claim> {
    let first = open.cells.first()?;
    if first.metric.scale() != Scale::Ratio {
        return None;
    }
    let setting = Setting {
        validity: Validity::looked_at(&plan.design.stop),
        levels: open.changes.len(),
        together: open.changes.len(),
        questions: open.changes.len(),
        margin: effect::margin(first.metric, first.margin),
        scale: Scale::Ratio,
        nulls: &[],
    };
    let found = open.changes.iter().map(|of| effect::combine(&change(open.of, *of), &setting));
    let found: Option<Vec<Combined>> = found.collect();
    let is_known = found.is_some();
    let found = found.unwrap_or_default();
    let least = |of: fn(&Combined) -> f64| found.iter().map(of).fold(f64::INFINITY, f64::min);
    let silent = |c: &Combined| c.n < BLOCKS_MIN || c.withheld.is_some();
    let unanswered = open.cells.iter().any(|q| !conditions::is_whole(discarded, q));
    let i95 = match !is_known || unanswered || found.iter().any(silent) {
        true => Interval::WHOLE,
        false => Interval { low: least(|c| c.i95.low), high: least(|c| c.i95.high) },
    };
    let holds = match i95 {
        Interval { low, .. } if low > 0.0 => Holds::Yes,
        Interval { high, .. } if high < 0.0 => Holds::No,
        Interval { .. } => Holds::CannotTell,
    };
    let predicted = open.changes.iter().map(|of| predicted(open.of, *of));
    let predicted: Option<Vec<f64>> = predicted.collect();
    let predicted = predicted.map(|all| all.into_iter().fold(f64::INFINITY, f64::min));
    Some(Claim {
        shape: open.shape,
        metric: first.metric,
        of: open.of,
        cells: open.cells.iter().map(|q| q.cell.clone()).collect(),
        estimate: is_known.then(|| libm::expm1(least(|c| c.centre))),
        range: Range { low: libm::expm1(i95.low), high: libm::expm1(i95.high) },
        predicted: predicted.map(libm::expm1),
        rounds: found.iter().map(|c| c.n).min().unwrap_or(0),
        holds,
    })
}

/// The change that the headers alone predict, as a logarithm.
fn predicted(of: Of, [from, to]: [&Question; 2]) -> Option<f64> {
    let one = |q: &Question| {
        let prediction = q.prediction.as_ref()?;
        Some(match of.arm() {
            None => libm::log1p(prediction.effect),
            Some(Arm::A) => libm::log(prediction.values.as_ref()?.a),
            Some(Arm::B) => libm::log(prediction.values.as_ref()?.b),
        })
    };
    Some(one(to)? - one(from)?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, Truth, plan, run};
    use super::*;
    use crate::analysis::{Verdict, analyse};
    use v6gap_core::family::Family;
    use v6gap_core::plan::Stop;
    use v6gap_core::record::Line;
    use v6gap_core::workload::{Cell, Echo};

    fn size(cell: &Cell) -> u32 {
        cell.workload.level_bytes().unwrap_or_default()
    }

    /// Ten rounds of three sizes, as a plan of the study.
    fn measured(factor: fn(&Cell, Family) -> f64, noise: f64) -> Vec<Line> {
        let mut plan = plan(PerArm::FAMILIES, 7);
        let of = |message_bytes| {
            let echo = Echo { message_bytes, ..Echo::default() };
            Cell::named(Workload::Echo(echo))
        };
        let parts = plan.parts_mut();
        parts.cells = [1_024, 8_192, 65_536].map(of).to_vec();
        parts.design.null_cells.clear();
        parts.design.stop = Stop::Pairs { pairs: 10 };
        parts.reference = Some("raicu/tcp-100".into());
        run(&plan, 10, &Truth { factor, noise, ..EVEN })
    }

    fn found(factor: fn(&Cell, Family) -> f64, noise: f64) -> Vec<Claim> {
        analyse(&measured(factor, noise)).unwrap().claims
    }

    fn held(found: &[Claim]) -> Vec<(Shape, Holds)> {
        found.iter().map(|claim| (claim.shape, claim.holds)).collect()
    }

    #[test]
    fn a_dip_is_there_or_not_there_or_cannot_be_told() {
        let dips: fn(&Cell, Family) -> f64 = |cell, family| match (family, size(cell)) {
            (Family::V6, 8_192) => 1.02,
            (Family::V6, _) => 1.05,
            _ => 1.0,
        };
        let falls: fn(&Cell, Family) -> f64 = |cell, family| match (family, size(cell)) {
            (Family::V6, 1_024) => 1.10,
            (Family::V6, 8_192) => 1.05,
            (Family::V6, _) => 1.02,
            _ => 1.0,
        };
        let there = found(dips, 0.001);
        assert_eq!(held(&there)[0], (Shape::Dip, Holds::Yes));
        let Range { low, high } = there[0].range;
        let truth = 1.05 / 1.02 - 1.0;
        assert!(low > 0.0 && (low..high).contains(&truth), "{there:?}");
        let not = found(falls, 0.001);
        assert_eq!(held(&not), [(Shape::Dip, Holds::No), (Shape::Falls, Holds::Yes)]);
        assert!(not[0].range.high < 0.0, "{not:?}");
        let open = found(dips, 0.2);
        assert_eq!(held(&open)[0], (Shape::Dip, Holds::CannotTell));
        assert!(open[0].range.low < 0.0 && open[0].range.high > 0.0, "{open:?}");
    }

    /// The answer at the largest size is the same with its three discarded blocks of ten.
    #[test]
    fn a_cell_of_which_too_much_was_discarded_answers_no_claim() {
        let falls: fn(&Cell, Family) -> f64 = |cell, family| match (family, size(cell)) {
            (Family::V6, 1_024) => 1.30,
            (Family::V6, _) => 1.20,
            _ => 1.0,
        };
        let last = |lines: &[Line]| {
            let analysis = analyse(lines).unwrap();
            let verdict = analysis.questions.last().unwrap().verdict;
            (verdict, held(&analysis.claims)[1])
        };
        let mut lines = measured(falls, 0.001);
        assert_eq!(last(&lines), (Verdict::Worse, (Shape::Falls, Holds::Yes)));
        let mut closed = false;
        for line in &mut lines {
            match line {
                Line::Trial(trial) => {
                    closed = trial.cell.contains("65536") && trial.round % 4 == 1;
                }
                Line::Block(block) => block.valid = !closed,
                _ => {}
            }
        }
        assert_eq!(last(&lines), (Verdict::Worse, (Shape::Falls, Holds::CannotTell)));
    }

    /// The smallest size counts in even rounds, the largest in odd ones.
    #[test]
    fn sizes_that_no_round_has_together_are_asked_and_cannot_be_told() {
        let mut lines = measured(|_, _| 1.0, 0.001);
        let mut closed = false;
        for line in &mut lines {
            match line {
                Line::Trial(trial) => {
                    let odd = trial.round % 2 == 1;
                    closed = match trial.cell.as_str() {
                        "rtt-tcp-1024" => odd,
                        "rtt-tcp-65536" => !odd,
                        _ => false,
                    };
                }
                Line::Block(block) => block.valid = !closed,
                _ => {}
            }
        }
        let found = analyse(&lines).unwrap().claims;
        assert_eq!(
            held(&found),
            [(Shape::Dip, Holds::CannotTell), (Shape::Falls, Holds::CannotTell)]
        );
        let falls = &found[1];
        assert_eq!((falls.estimate, falls.rounds), (None, 0));
        assert_eq!(falls.range.low, f64::NEG_INFINITY.exp() - 1.0);
    }

    #[test]
    fn plans_of_no_study_are_asked_nothing() {
        let lines = run(&plan(PerArm::FAMILIES, 7), 8, &EVEN);
        assert!(analyse(&lines).unwrap().claims.is_empty());
    }
}
