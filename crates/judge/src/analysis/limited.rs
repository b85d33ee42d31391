//! Rates that reached what the server allows: the path would have carried more, in one family or in
//! both, so that nothing follows for how they compare (docs/method.md section D.2).

use super::collect::{Block, Collected};
use super::{Check, CheckState, Qualifier, Question, Verdict};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, BlockKind};
use v6gap_core::metric::Quantity;
use v6gap_core::observation::EndReport;
use v6gap_core::unit;
use v6gap_core::workload::{Cell, Direction};

/// Share of the limit from which on a value has reached it.
const NEAR: f64 = 0.95;

/// Part of the valid pairs, one of so many, that is enough in one family.
const PAIRS_OF: usize = 10;

/// The limit in bit/s that the values of a question reached; `None` if they did not, or the server
/// told of none.
pub(super) fn reached(found: &Collected<'_>, cell: &Cell, question: &Question) -> Option<u64> {
    let run = found.run;
    let limits = run.session.seen()?.limits.as_ref()?;
    let bits = match question.metric.quantity() {
        Quantity::Rate => 1,
        Quantity::Frequency => 8 * cell.workload.level_bytes()?,
        Quantity::Time | Quantity::Share | Quantity::Cost => return None,
    };
    let limit_bps = cell.workload.limited_bps(limits)?;
    if let (Quantity::Rate, Some(Direction::Both)) =
        (question.metric.quantity(), cell.workload.direction())
    {
        return one_way_reached(found, cell, limit_bps).then_some(limit_bps);
    }
    let valid: Vec<_> = question.pairs.iter().filter(|pair| pair.valid).collect();
    // Of packets of one length as many are sent, and shorter payloads make a lower rate.
    let part = |arm: Arm| match question.metric.quantity() {
        Quantity::Rate => {
            let over = cell.workload.datagram_bytes_over(*run.plan.design.arms.get(arm));
            let whole = cell.workload.datagram_bytes().filter(|&bytes| bytes > 0);
            over.zip(whole).map_or(1.0, |(over, whole)| f64::from(over) / f64::from(whole))
        }
        _ => 1.0,
    };
    let counts = Arm::BOTH.map(|arm| {
        let least = NEAR * limit_bps as f64 * part(arm);
        let near = |value: f64| value * f64::from(bits) >= least;
        valid.iter().filter(|pair| near(*pair.values.get(arm))).count()
    });
    counts.iter().any(|&count| is_enough(count, valid.len())).then_some(limit_bps)
}

fn is_enough(count: usize, of: usize) -> bool {
    count > 0 && PAIRS_OF * count >= of
}

/// Whether one of both ways at once reached the limit, which holds for each: their sum may be below
/// it twice.
fn one_way_reached(found: &Collected<'_>, cell: &Cell, limit_bps: u64) -> bool {
    let counts = |block: &&Block<'_>| {
        block.valid && block.kind() == BlockKind::Compare && block.cell() == cell.id
    };
    let blocks: Vec<&Block<'_>> = found.blocks.iter().filter(counts).collect();
    let is_near = |end: &EndReport| {
        end.measured.received().is_some_and(|r| r.rate_bps >= NEAR * limit_bps as f64)
    };
    let near = |arm: Arm| {
        let of = |block: &&&Block<'_>| {
            let ends = &block.trials.get(arm).ends;
            is_near(&ends.client) || ends.server.seen().is_some_and(is_near)
        };
        blocks.iter().filter(of).count()
    };
    Arm::BOTH.into_iter().any(|arm| is_enough(near(arm), blocks.len()))
}

/// Takes the verdict and all that tells of the difference of a question whose values reached
/// `limit_bps`; they stay.
pub(super) fn withdraw(question: &mut Question, limit_bps: u64) {
    question.verdict = Verdict::None;
    question.qualifier = Qualifier::Plain;
    question.pairs_to_settle = None;
    question.out_of_reach = false;
    question.effect = None;
    question.mean = None;
    question.why_none = Some(why(limit_bps));
    let found = &mut question.diagnostics;
    (found.with_discarded, found.same_with_discarded) = (None, None);
    (found.unsteady, found.modes, found.order) = (None, None, None);
}

fn why(limit_bps: u64) -> alloc::string::String {
    let rate = unit::format_rate(limit_bps as f64);
    format!("reached the limit of {rate} that the server announces")
}

/// A note on each question whose values reached a limit.
pub(super) fn notes(found: &Collected<'_>, questions: &[Question]) -> Vec<Check> {
    let note = |question: &Question| {
        let cell = found.run.plan.cells.iter().find(|cell| cell.id == question.cell)?;
        let limit_bps = reached(found, cell, question)?;
        let text = format!("{} {}: it has no verdict [N403]", question.label, why(limit_bps));
        Some(Check { id: "server-limit".to_string(), state: CheckState::Note, text })
    };
    questions.iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, Truth, plan, run};
    use super::super::{Analysis, MeanBeside, analyse};
    use super::*;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::metric::Metric;
    use v6gap_core::observation::{Far, Measured, Received};
    use v6gap_core::record::{Line, Session};
    use v6gap_core::wire::control::Limits;
    use v6gap_core::workload::Workload;

    /// Both families near 94.1 Mbit/s, IPv6 at `share` of that, measured to a server with a limit.
    fn measured(share: f64, limits: Option<Limits>) -> Analysis {
        fn slower(_: &Cell, family: Family) -> f64 {
            if family == Family::V6 { 0.8 } else { 1.0 }
        }
        let truth = if share < 1.0 { Truth { factor: slower, ..EVEN } } else { EVEN };
        let mut lines = run(&plan(PerArm::FAMILIES, 1), 20, &truth);
        let Line::Run(header) = &mut lines[0] else { panic!("the first line is the header") };
        header.session = Far::Seen(Session { protocol: 3, control: Family::V6, limits });
        analyse(&lines).unwrap()
    }

    fn rate(bps: f64) -> Option<Limits> {
        Some(Limits { rate_bps: Some(bps as u64), ..Limits::default() })
    }

    fn throughput(analysis: &Analysis) -> &Question {
        analysis.questions.iter().find(|q| q.cell == "throughput-tcp").unwrap()
    }

    #[test]
    fn a_rate_that_reached_the_limit_has_no_verdict_and_all_else_has() {
        let analysis = measured(1.0, rate(95e6));
        assert!(analysis.valid);
        let question = throughput(&analysis);
        assert_eq!((question.verdict, &question.effect), (Verdict::None, &None));
        assert!(question.values.a.is_some() && question.prediction.is_none());
        let why = "reached the limit of 95 Mbit/s that the server announces";
        assert_eq!(question.why_none.as_deref(), Some(why));
        assert!(question.sentence.contains(why), "{}", question.sentence);
        let check = analysis.checks.iter().find(|check| check.id == "server-limit").unwrap();
        assert!(check.state == CheckState::Note && check.text.ends_with("[N403]"), "{check:?}");
        let answered = analysis.questions.iter().filter(|q| q.metric == Metric::Rtt);
        assert!(answered.clone().count() > 0);
        assert!(answered.into_iter().all(|q| q.verdict != Verdict::None));
    }

    /// Nothing else tells of the difference either.
    #[test]
    fn a_difference_that_is_taken_leaves_nothing_of_it() {
        let free = measured(0.8, None);
        let mut question = throughput(&free).clone();
        let Some(effect) = question.effect.clone() else { panic!("{question:?}") };
        let (range95, range90) = (effect.range95, effect.range90);
        let estimate = effect.estimate;
        question.mean = Some(MeanBeside { estimate, range95, range90, speaks_against: false });
        question.diagnostics.with_discarded = Some(effect);
        withdraw(&mut question, 95_000_000);
        assert_eq!((&question.effect, &question.mean), (&None, &None));
        let found = &question.diagnostics;
        assert!(found.with_discarded.is_none() && found.order.is_none() && found.modes.is_none());
    }

    /// Which family it was makes no difference, and 5 % below the limit is far enough.
    #[test]
    fn one_family_at_the_limit_is_enough_and_below_it_is_a_verdict() {
        assert_eq!(throughput(&measured(0.8, rate(95e6))).verdict, Verdict::None);
        assert_eq!(throughput(&measured(0.8, rate(101e6))).verdict, Verdict::Worse);
        assert_eq!(throughput(&measured(1.0, rate(94.2e6 / 0.94))).verdict, Verdict::Same);
        for none in [None, Some(Limits::default())] {
            let free = measured(1.0, none);
            assert_eq!(throughput(&free).verdict, Verdict::Same);
            assert!(free.checks.iter().all(|check| check.id != "server-limit"));
        }
    }

    /// Each way has what the server allows, and one of them is enough.
    #[test]
    fn one_of_both_ways_reaches_the_limit() {
        let mut plan = plan(PerArm::FAMILIES, 1);
        let cells = &mut plan.parts_mut().cells;
        let cell = cells.iter_mut().find(|cell| cell.id == "throughput-tcp").unwrap();
        let Workload::TcpBulk(bulk) = &mut cell.workload else { panic!("{cell:?}") };
        bulk.direction = Direction::Both;
        let verdict = |there_bps: f64, back_bps: f64| {
            let mut lines = run(&plan, 20, &EVEN);
            for line in &mut lines {
                match line {
                    Line::Run(header) => {
                        let (control, limits) = (Family::V6, rate(60e6));
                        header.session = Far::Seen(Session { protocol: 3, control, limits });
                    }
                    Line::Trial(trial) => {
                        let came = |rate_bps| Received { rate_bps, ..Received::default() };
                        let server = trial.ends.server.seen_mut().unwrap();
                        server.measured = Measured::Received(came(there_bps));
                        trial.ends.client.measured = Measured::Received(came(back_bps));
                    }
                    _ => {}
                }
            }
            throughput(&analyse(&lines).unwrap()).verdict
        };
        // Some 94 Mbit/s in all.
        assert_eq!(verdict(47e6, 47e6), Verdict::Same);
        assert_eq!(verdict(34e6, 60e6), Verdict::None);
        assert_eq!(verdict(60e6, 34e6), Verdict::None);
    }

    /// A second at 94 Mbit/s are 11.8 MB.
    #[test]
    fn a_limit_of_bytes_is_one_of_the_rate() {
        let bytes = |most| Some(Limits { task_bytes: Some(most), ..Limits::default() });
        assert_eq!(throughput(&measured(1.0, bytes(11_800_000))).verdict, Verdict::None);
        assert_eq!(throughput(&measured(1.0, bytes(13_000_000))).verdict, Verdict::Same);
    }
}
