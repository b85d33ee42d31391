//! One bad question does not silence the others; what concerns the whole run does.

use super::super::tests::{EVEN, Truth, plan, refused, run};
use super::super::{Analysis, CheckState, Explained, Question, Verdict, analyse};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::record::{FailedAttempt, GateFinding, Line, TrialRecord};
use v6gap_core::workload::{Cell, Workload};

/// Whether any of these questions has a verdict, and whether all others have.
fn answered(analysis: &Analysis, of: impl Fn(&Question) -> bool) -> (bool, bool) {
    let (these, others): (Vec<_>, Vec<_>) = analysis.questions.iter().partition(|q| of(q));
    let has = |question: &&Question| question.verdict != Verdict::None;
    assert!(!others.is_empty(), "nothing to compare with");
    (these.iter().any(has), others.iter().all(has))
}

/// Every so many-th block of these cells fails this gate.
fn spoiled(gate: &str, every: usize, of: impl Fn(&str) -> bool) -> Analysis {
    let mut lines = run(&plan(PerArm::FAMILIES, 8), 20, &EVEN);
    let (mut blocks, mut closed) = (0, false);
    for line in &mut lines {
        match line {
            Line::Trial(trial) => {
                closed = of(&trial.cell) && blocks % every == 0;
                let seen = "the client: it was seen".into();
                trial.findings.push(GateFinding { gate: gate.into(), fatal: closed, seen });
            }
            Line::Block(block) => {
                block.valid = !closed;
                blocks += 1;
            }
            _ => {}
        }
    }
    analyse(&lines).unwrap()
}

#[test]
fn discarded_blocks_are_published_and_too_many_fail() {
    let analysis = spoiled("steal", 10, |_| true);
    assert!(analysis.valid && !analysis.discarded.is_empty());
    assert!(analysis.discarded[0].why.contains("it was seen"));
    let throughput = analysis.questions.iter().find(|q| q.cell == "throughput-tcp").unwrap();
    let kept = throughput.diagnostics.with_discarded.as_ref().unwrap();
    let discarded = throughput.pairs.iter().filter(|p| !p.valid).count();
    assert_eq!(kept.blocks, throughput.effect.as_ref().unwrap().blocks + discarded);
    let analysis = spoiled("steal", 1, |_| true);
    let failed = analysis.checks.iter().find(|c| c.state == CheckState::Failed).unwrap();
    assert!(!analysis.valid && failed.text.contains("blocks discarded"), "{}", failed.text);
    assert!(analysis.questions.iter().all(|q| q.verdict == Verdict::None));
}

/// What spoiled a block was there once, however often the block was tried.
#[test]
fn attempts_of_one_block_count_once() {
    let mut lines = run(&plan(PerArm::FAMILIES, 8), 8, &EVEN);
    let of = |line: &Line| match line {
        Line::Trial(trial) if trial.cell == "throughput-tcp" => Some(trial.block),
        _ => None,
    };
    let number = lines.iter().rev().find_map(of).unwrap();
    let at = lines.iter().position(|line| of(line) == Some(number)).unwrap();
    let mut tried: Vec<Line> = lines[at..at + 3].to_vec();
    for line in &mut tried {
        match line {
            Line::Trial(trial) => {
                let (gate, seen) = ("steal".into(), "much".into());
                trial.findings.push(GateFinding { gate, fatal: true, seen });
            }
            Line::Block(block) => block.valid = false,
            other => panic!("{other:?}"),
        }
    }
    for _ in 0..4 {
        lines.splice(at..at, tried.iter().cloned());
    }
    let analysis = analyse(&lines).unwrap();
    let question = analysis.questions.iter().find(|q| q.cell == "throughput-tcp").unwrap();
    assert_eq!(question.why_none, None);
    let discards = analysis.discards.unwrap();
    assert_eq!((discards.alone, discards.both), (PerArm { a: 0, b: 0 }, 1));
}

/// The cell of which blocks fail.
const CELL: &str = "rtt-udp-64";

/// The blocks of that cell fail this gate in the first of every so many rounds, in trials that are
/// changed so.
fn spoil(lines: &mut [Line], every: u32, gate: &str, change: impl Fn(&mut TrialRecord)) {
    let mut closed = false;
    for line in lines {
        match line {
            Line::Trial(trial) => {
                closed = trial.cell == CELL && trial.round % every == 1;
                if closed {
                    change(trial);
                    let (gate, seen) = (gate.into(), "it was seen".into());
                    trial.findings.push(GateFinding { gate, fatal: true, seen });
                }
            }
            Line::Block(block) => block.valid = !closed,
            _ => {}
        }
    }
}

/// Makes whatever a trial took so many times as long over the second arm.
fn longer(by: f64) -> impl Fn(&mut TrialRecord) {
    move |trial| {
        let by = if trial.arm == Arm::B { by } else { 1.0 };
        trial.values.values_mut().for_each(|value| *value *= by);
    }
}

fn of_cell(analysis: &Analysis) -> &Question {
    analysis.questions.iter().find(|q| q.cell == CELL).unwrap()
}

/// A third of the blocks of one cell fails this gate, in trials that are changed so. Returns why
/// the cell has no verdict, if it has none; all others have theirs.
fn a_third(gate: &str, change: impl Fn(&mut TrialRecord)) -> (Option<String>, Analysis) {
    let mut lines = run(&plan(PerArm::FAMILIES, 8), 20, &EVEN);
    spoil(&mut lines, 3, gate, change);
    let analysis = analyse(&lines).unwrap();
    let why = of_cell(&analysis).why_none.clone();
    assert_eq!(answered(&analysis, |q| q.cell == CELL), (why.is_none(), true));
    (why, analysis)
}

const A_THIRD: &str = "7 of its 20 blocks were discarded";

/// A trial in which nothing came back has no value, and its block is discarded like any other.
#[test]
fn discarded_blocks_without_a_value_count_as_well() {
    let (why, _) = a_third("measured", |trial| trial.values.clear());
    assert_eq!(why.as_deref(), Some(A_THIRD));
}

/// Where all blocks together say the same, no choice among them made the answer; where they do not,
/// or where the values are of another family or time, it may have.
#[test]
fn discards_that_change_no_answer_take_none() {
    let (why, analysis) = a_third("steal", |_| ());
    assert_eq!(why, None);
    let said = analysis.checks.iter().find(|check| check.id == "condition").unwrap();
    let stands = format!(" has the same answer with them: {A_THIRD}");
    assert!(said.text.ends_with(&stands), "{said:?}");
    assert_eq!(said.state, CheckState::Note);
    assert_eq!(a_third("steal", longer(3.0)).0.as_deref(), Some(A_THIRD));
    assert_eq!(a_third("family-proved", |_| ()).0.as_deref(), Some(A_THIRD));
}

/// Three of five pairs are too few for an answer, and so are all five.
#[test]
fn no_answer_is_not_the_same_one_with_its_discards() {
    let mut lines = run(&plan(PerArm::FAMILIES, 8), 5, &EVEN);
    spoil(&mut lines, 3, "steal", |_| ());
    let analysis = analyse(&lines).unwrap();
    let question = of_cell(&analysis);
    assert_eq!(question.verdict, Verdict::None);
    assert_eq!(question.diagnostics.same_with_discarded, Some(false));
}

/// The header adds 6.4 µs to 70.24, and in the discarded blocks IPv6 took half as long again: that
/// it takes longer is certain with them as well, and that the header explains it is not.
#[test]
fn what_the_header_explains_must_be_the_same_with_the_discards_as_well() {
    fn header(cell: &Cell, family: Family) -> f64 {
        if cell.id == CELL && family == Family::V6 { 1.0 + 6.4 / 70.24 } else { 1.0 }
    }
    let found = |by: f64| {
        let truth = Truth { factor: header, ..EVEN };
        let mut lines = run(&plan(PerArm::FAMILIES, 8), 20, &truth);
        spoil(&mut lines, 3, "steal", longer(by));
        let analysis = analyse(&lines).unwrap();
        let said = analysis.checks.iter().find(|check| check.id == "condition").unwrap();
        (of_cell(&analysis).clone(), said.text.clone())
    };
    let explains = |q: &Question| q.prediction.as_ref().map(|p| (p.verdict, p.explained)).unwrap();
    let (alike, said) = found(1.0);
    assert_eq!(alike.verdict, Verdict::Worse, "{}", alike.sentence);
    assert_eq!(explains(&alike), (Verdict::Same, Some(Explained::All)), "{}", alike.sentence);
    assert!(said.ends_with(&format!(" has the same answer with them: {A_THIRD}")), "{said}");
    let (other, said) = found(1.5);
    assert_eq!((other.verdict, other.why_none.as_deref()), (Verdict::Worse, None), "{said}");
    assert_eq!(explains(&other), (Verdict::None, None), "{}", other.sentence);
    assert!(other.sentence.contains("header explains cannot be told"), "{}", other.sentence);
    assert!(said.contains(" the same answer with them, but not on what the headers"), "{said}");
}

/// A run of one question, of which every second block is discarded: nothing is left of it only if
/// that made the answer.
#[test]
fn a_run_of_one_cell_keeps_an_answer_that_its_discards_do_not_change() {
    let found = |by: f64| {
        let mut plan = plan(PerArm::FAMILIES, 8);
        plan.parts_mut().cells.retain(|cell| cell.id == CELL);
        plan.parts_mut().design.null_cells = alloc::vec![0];
        let slow = |_: &Cell, family: Family| if family == Family::V6 { 1.2 } else { 1.0 };
        let mut lines = run(&plan, 20, &Truth { factor: slow, ..EVEN });
        spoil(&mut lines, 2, "steal", longer(by));
        let analysis = analyse(&lines).unwrap();
        let blocks = analysis.checks.iter().find(|check| check.id == "blocks").unwrap();
        (of_cell(&analysis).verdict, analysis.valid, blocks.state)
    };
    assert_eq!(found(1.0), (Verdict::Worse, true, CheckState::Note));
    assert_eq!(found(0.5), (Verdict::None, false, CheckState::Failed));
}

/// What failed too often has no answer, so nothing of it is the same with its discarded blocks.
#[test]
fn what_failed_too_often_is_not_said_to_have_the_same_answer() {
    let mut lines = run(&plan(PerArm::FAMILIES, 8), 20, &EVEN);
    spoil(&mut lines, 3, "steal", |_| ());
    let failed = lines.iter().filter_map(|line| match line {
        Line::Trial(trial)
            if trial.cell == CELL && trial.kind == BlockKind::Compare && trial.arm == Arm::B =>
        {
            let refused = refused(CELL, Some(Family::V6));
            Some(FailedAttempt { block: trial.block, round: trial.round, ..refused })
        }
        _ => None,
    });
    let failed: Vec<Line> = failed.take(5).map(Line::Failed).collect();
    lines.extend(failed);
    let analysis = analyse(&lines).unwrap();
    let why = of_cell(&analysis).why_none.as_deref().unwrap();
    assert!(why.starts_with("IPv6 failed too often"), "{why}");
    assert!(analysis.checks.iter().all(|check| check.id != "condition"), "{:?}", analysis.checks);
}

/// The blocks that have a value are no fair choice of all: an IPv6 that lost so much now and then
/// that nothing is left of its tail must not be told by the rest.
#[test]
fn a_value_that_some_blocks_lack_has_no_answer_and_silences_nothing() {
    let mut plan = plan(PerArm::FAMILIES, 8);
    for cell in &mut plan.parts_mut().cells {
        if let Workload::Echo(echo) = &mut cell.workload {
            echo.tails = true;
        }
    }
    let tails = [Metric::RttP50, Metric::RttP90, Metric::RttP99];
    let mut lines = run(&plan, 20, &EVEN);
    for line in &mut lines {
        if let Line::Trial(trial) = line
            && let Some(&rtt) = trial.values.get(&Metric::Rtt)
        {
            let lacks = trial.cell == "rtt-udp-64" && trial.round == 7 && trial.arm == Arm::B;
            let has = |metric: &Metric| !(lacks && *metric == Metric::RttP99);
            trial.values.extend(tails.into_iter().filter(has).map(|metric| (metric, rtt)));
        }
    }
    let analysis = analyse(&lines).unwrap();
    let of = |q: &Question| q.cell == "rtt-udp-64" && q.metric == Metric::RttP99;
    assert_eq!(answered(&analysis, of), (false, true));
    let why = analysis.questions.iter().find(|q| of(q)).and_then(|q| q.why_none.clone()).unwrap();
    assert!(why.starts_with("in a trial over IPv6 "), "{why}");
}

#[test]
fn a_cell_whose_blocks_were_discarded_is_silent_alone() {
    let of = |cell: &str| cell == "rtt-udp-16384";
    let analysis = spoiled("fragmentation", 1, of);
    assert!(analysis.valid, "{:?}", analysis.checks);
    assert_eq!(answered(&analysis, |q| of(&q.cell)), (false, true));
}

/// A clock that was set or a family that was not proved is no matter of one cell.
#[test]
fn what_concerns_the_run_silences_all() {
    let of = |cell: &str| cell.starts_with("rtt");
    assert!(spoiled("steal", 1, of).valid);
    assert!(!spoiled("family-proved", 1, of).valid);
    assert!(!spoiled("clock-step", 1, of).valid);
}

/// An instrument that favours the second arm is caught by its null blocks, whatever the families
/// do: where it does so, and nowhere else.
#[test]
fn a_failed_null_takes_its_own_verdict() {
    let favoured = |metrics: &[Metric]| {
        let mut lines = run(&plan(PerArm::FAMILIES, 6), 10, &EVEN);
        let trials = lines.iter_mut().filter_map(|line| match line {
            Line::Trial(trial) if trial.arm == Arm::B => Some(trial),
            _ => None,
        });
        for trial in trials {
            let values = trial.values.iter_mut().filter(|(metric, _)| metrics.contains(metric));
            values.for_each(|(_, value)| *value *= 0.9);
        }
        analyse(&lines).unwrap()
    };
    let analysis = favoured(&[Metric::Throughput]);
    assert!(analysis.valid, "{:?}", analysis.checks);
    let biased: Vec<_> =
        analysis.nulls.iter().filter(|n| !n.passed).map(|n| (n.cell.as_str(), n.metric)).collect();
    assert!(!biased.is_empty() && biased.len() < analysis.nulls.len());
    let of = |q: &Question| biased.contains(&(q.cell.as_str(), q.metric));
    assert_eq!(answered(&analysis, of), (false, true));
    let silent = analysis.questions.iter().find(|q| of(q)).unwrap();
    assert!(silent.effect.is_some(), "the numbers stay");
    let why = silent.why_none.as_deref().unwrap();
    assert!(why.starts_with("a family compared with itself differed by 9.9 %"), "{why}");
    let said = analysis.checks.iter().find(|c| c.id == "condition").unwrap();
    assert!(said.text.ends_with(why) && said.state == CheckState::Note, "{said:?}");
}
