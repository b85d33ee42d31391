//! Whether the size of a transfer matters: the largest size against the smallest, where a plan has
//! several (docs/method.md section C.11). All sizes take part in every round, so each round has a
//! value of both sizes from nearly the same time, and the change is taken within rounds.

use super::claims;
use super::compare::Of;
use super::effect::{BLOCKS_MIN, Combined};
use super::joint::{self, Evidence};
use super::verdict::Ruling;
use super::words::{
    amount_within, decided_by, margin_in_words, most, span_in_words, table_range, tiny,
};
use super::{Discarded, Effect, Qualifier, Question, Validity, Verdict, conditions, words};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Plan;
use v6gap_core::unit;
use v6gap_core::workload::{Cell, TcpBulk, Workload};

/// What transfers of the largest size are against those of the smallest, all else alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeEffect {
    /// Identifiers of the cells of the smallest and the largest size.
    pub cells: [String; 2],
    /// The sizes, in bytes.
    pub sizes_bytes: [u64; 2],
    /// What changes from one to the other.
    pub of: Of,
    /// The change of the goodput; of the difference of the arms, how much their ratio grew.
    pub effect: Option<Effect>,
    /// The margin, that of throughput.
    pub margin: f64,
    /// Better or worse is that of the largest size, of the second arm against the first for a
    /// difference.
    pub verdict: Verdict,
    /// How strong it is.
    pub qualifier: Qualifier,
    /// What it is of, as in "Throughput, TCP, window 64 KiB, IPv6".
    pub label: String,
    /// The change in words, as in "1.4 % slower".
    pub text: String,
    /// 95 % range in words.
    pub range_text: String,
    /// The answer as a sentence.
    pub sentence: String,
}

/// Two questions that differ in the size of the transfer only.
struct Ends<'a> {
    questions: [&'a Question; 2],
    sizes_bytes: [u64; 2],
    label: String,
}

/// All that can be said of the sizes of a plan's transfers.
pub(super) fn judge(
    plan: &Plan,
    questions: &[Question],
    discarded: &[Discarded],
    names: &PerArm<String>,
) -> Vec<SizeEffect> {
    let ends = ends(plan, questions, discarded);
    let mut found: Vec<SizeEffect> = Vec::new();
    for of in Of::ALL {
        let validity = Validity::looked_at(&plan.design.stop);
        let evidence: Vec<Evidence> =
            ends.iter().map(|ends| evidence(ends, of, validity)).collect();
        for (decided, ends) in joint::decide(&evidence).into_iter().zip(&ends) {
            let ruling = decided.ruling.unwrap_or(Ruling::NOTHING);
            found.push(finish(ends, of, decided.combined.as_ref(), &ruling, names));
        }
    }
    found
}

/// The smallest and the largest size of each kind of transfer, in the order of the plan.
fn ends<'a>(plan: &Plan, questions: &'a [Question], discarded: &[Discarded]) -> Vec<Ends<'a>> {
    let transfers: Vec<(&Question, TcpBulk, u64)> = questions
        .iter()
        .filter(|q| q.metric == Metric::Throughput && conditions::is_whole(discarded, q))
        .filter_map(|q| {
            let Workload::TcpBulk(bulk) = &plan.cell(&q.cell)?.1.workload else { return None };
            Some((q, TcpBulk { bytes: None, ..bulk.clone() }, bulk.bytes?))
        })
        .collect();
    let mut ends = Vec::new();
    for (place, (_, kind, _)) in transfers.iter().enumerate() {
        let alike = || transfers.iter().filter(|(_, other, _)| other == kind);
        let is_first = !transfers[..place].iter().any(|(_, other, _)| other == kind);
        let low = alike().min_by_key(|(.., bytes)| bytes);
        let high = alike().max_by_key(|(.., bytes)| bytes);
        if let (true, Some(low), Some(high)) = (is_first, low, high)
            && low.2 < high.2
        {
            let cell = Cell::named(Workload::TcpBulk(kind.clone()));
            let mtu = PerArm { a: None, b: None };
            let label = words::label(&cell, Metric::Throughput, plan.design.arms, mtu);
            let (questions, sizes_bytes) = ([low.0, high.0], [low.2, high.2]);
            ends.push(Ends { questions, sizes_bytes, label });
        }
    }
    ends
}

/// The changes within the rounds in which both sizes count.
fn evidence(ends: &Ends<'_>, of: Of, validity: Validity) -> Evidence {
    let [low, _] = ends.questions;
    Evidence {
        metric: low.metric,
        transport: low.transport,
        margin: low.margin,
        cell: 0,
        validity,
        effects: claims::change(of, ends.questions),
        nulls: Vec::new(),
        hosts: 0.0,
        events: None,
    }
}

fn finish(
    ends: &Ends<'_>,
    of: Of,
    combined: Option<&Combined>,
    ruling: &Ruling,
    names: &PerArm<String>,
) -> SizeEffect {
    let [low, high] = ends.questions;
    let effect = combined.map(|c| c.shown(low.metric.scale()));
    let mut said = SizeEffect {
        cells: [low.cell.clone(), high.cell.clone()],
        sizes_bytes: ends.sizes_bytes,
        of,
        margin: low.margin,
        verdict: ruling.verdict,
        qualifier: ruling.qualifier,
        label: format!("{}, {}", ends.label, of.subject(names)),
        text: "–".to_string(),
        range_text: "–".to_string(),
        sentence: String::new(),
        effect,
    };
    fill(&mut said, low.metric);
    said
}

fn fill(said: &mut SizeEffect, metric: Metric) {
    let [small, large] = said.sizes_bytes.map(unit::format_bytes);
    let about = &said.label;
    let Some(effect) = said.effect.clone().filter(|e| e.blocks >= BLOCKS_MIN) else {
        said.sentence = format!(
            "{about}: no verdict on the size, as fewer than {BLOCKS_MIN} rounds have both {small} \
             and {large}."
        );
        return;
    };
    let ignored = margin_in_words(metric, said.margin);
    let (range, usual) = decided_by(said.verdict, said.margin, &effect);
    let level = if usual { "" } else { ", 90 %" };
    let estimate = amount_within(metric, effect.estimate, range);
    let span = span_in_words(metric, range) + level;
    said.range_text = table_range(metric, (range, usual));
    said.text = match said.verdict {
        Verdict::CannotTell => span.clone(),
        _ if effect.estimate == 0.0 => "no change".to_string(),
        _ => estimate.clone(),
    };
    said.sentence = match said.verdict {
        Verdict::Same if said.qualifier == Qualifier::RealButTiny => {
            let found = format!("{estimate} at {large} than at {small} ({span})");
            format!("{about}: {}", tiny("an effect of the size", &found, metric, said.margin))
        }
        Verdict::Same => format!(
            "{about}: the size makes no difference that matters between {small} and {large}. If \
             there is one it is at most {}{level}; up to {ignored} was chosen to be ignored.",
            most(metric, range)
        ),
        Verdict::Better | Verdict::Worse if said.qualifier == Qualifier::Clear => {
            format!("{about}: {estimate} at {large} than at {small} ({span}).")
        }
        Verdict::Better | Verdict::Worse => format!(
            "{about}: {estimate} at {large} than at {small} ({span}). That may be too \
             small to matter ({ignored} was chosen to be ignored)."
        ),
        Verdict::CannotTell | Verdict::None => {
            format!("{about}: could not tell. At {large} it may be {span} than at {small}.")
        }
    };
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, Truth, plan, run};
    use super::*;
    use crate::analysis::{Range, analyse};
    use v6gap_core::family::Family;
    use v6gap_core::record::Line;

    fn bytes_of(cell: &Cell) -> Option<u64> {
        let Workload::TcpBulk(bulk) = &cell.workload else { return None };
        bulk.bytes
    }

    /// Twenty rounds of three sizes and a transfer by time, which takes no part.
    fn measured(factor: fn(&Cell, Family) -> f64) -> Vec<Line> {
        let mut plan = plan(PerArm::FAMILIES, 7);
        let of = |bytes| Cell::named(Workload::TcpBulk(TcpBulk { bytes, ..TcpBulk::default() }));
        plan.parts_mut().cells =
            [Some(2_000_000), None, Some(8_000_000), Some(4_000_000)].map(of).to_vec();
        plan.parts_mut().design.null_cells.clear();
        let truth = Truth { factor, noise: 0.001, ..EVEN };
        run(&plan, 20, &truth)
    }

    fn found(factor: fn(&Cell, Family) -> f64) -> Vec<SizeEffect> {
        analyse(&measured(factor)).unwrap().transfer_sizes
    }

    #[test]
    fn a_size_that_does_not_matter_is_called_so() {
        let found = found(|_, family| if family == Family::V6 { 0.9862 } else { 1.0 });
        let of: Vec<Of> = found.iter().map(|one| one.of).collect();
        assert_eq!(of, Of::ALL);
        for one in &found {
            assert_eq!((one.verdict, one.sizes_bytes), (Verdict::Same, [2_000_000, 8_000_000]));
            // One in twenty is told apart from none by chance.
            let is_tiny = one.qualifier == Qualifier::RealButTiny;
            let said = if is_tiny { "does not matter: " } else { "no difference that matters" };
            assert!(one.sentence.contains(said), "{}", one.sentence);
        }
    }

    /// A half of the margin of throughput, with large files over IPv6.
    #[test]
    fn a_size_that_hardly_matters_is_told_apart_from_none() {
        let found = found(|cell, family| match (family, bytes_of(cell)) {
            (Family::V6, Some(8_000_000)) => 0.99,
            _ => 1.0,
        });
        for one in [&found[0], &found[2]] {
            let is_tiny = (Verdict::Same, Qualifier::RealButTiny);
            assert_eq!((one.verdict, one.qualifier), is_tiny, "{}", one.sentence);
            let said = "there is an effect of the size, and it does not matter: ";
            assert!(one.sentence.contains(said), "{}", one.sentence);
            let said = " % slower at 8 MB than at 2 MB (";
            assert!(one.sentence.contains(said), "{}", one.sentence);
        }
    }

    /// The range that decided is told where the other one reaches beyond the margin.
    #[test]
    fn no_effect_of_the_size_is_told_with_a_range_within_the_margin() {
        let mut one = found(|_, _| 1.0).remove(0);
        let around = |half: f64| Range { low: -half, high: half };
        let effect = one.effect.as_mut().unwrap();
        effect.estimate = 0.001;
        (effect.range95, effect.range90) = (around(0.025), around(0.015));
        (one.verdict, one.qualifier) = (Verdict::Same, Qualifier::Plain);
        fill(&mut one, Metric::Throughput);
        assert_eq!(one.range_text, "90 %: −1.5 – +1.5 %");
        assert!(one.sentence.contains("at most 1.5 %, 90 %; up to 2 %"), "{}", one.sentence);
    }

    #[test]
    fn a_family_that_is_slower_with_large_files_is_found() {
        let found = found(|cell, family| match (family, bytes_of(cell)) {
            (Family::V6, Some(8_000_000)) => 0.95,
            _ => 1.0,
        });
        let verdicts: Vec<Verdict> = found.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Worse, Verdict::Same, Verdict::Worse]);
        let range = found[0].effect.as_ref().unwrap().range95;
        assert!((range.low..range.high).contains(&-0.05), "{range:?}");
        assert!(found[2].sentence.contains("slower at 8 MB than at 2 MB"), "{}", found[2].sentence);
    }

    /// An answer that stands because it is the same with all blocks is one of that size alone.
    #[test]
    fn a_size_of_which_too_much_was_discarded_takes_no_part() {
        let slow: fn(&Cell, Family) -> f64 =
            |_, family| if family == Family::V6 { 0.9 } else { 1.0 };
        let [_, largest] = found(slow).remove(0).cells;
        let mut lines = measured(slow);
        let mut closed = false;
        for line in &mut lines {
            match line {
                Line::Trial(trial) => closed = trial.cell == largest && trial.round % 3 == 1,
                Line::Block(block) => block.valid = !closed,
                _ => {}
            }
        }
        let analysis = analyse(&lines).unwrap();
        let answer = analysis.questions.iter().find(|q| q.cell == largest).unwrap();
        assert_eq!(answer.verdict, Verdict::Worse);
        let sizes: Vec<_> = analysis.transfer_sizes.iter().map(|one| one.sizes_bytes).collect();
        assert_eq!(sizes, [[2_000_000, 4_000_000]; 3]);
    }

    #[test]
    fn one_size_says_nothing_of_sizes() {
        let plan = plan(PerArm::FAMILIES, 7);
        assert!(analyse(&run(&plan, 8, &EVEN)).unwrap().transfer_sizes.is_empty());
    }
}
