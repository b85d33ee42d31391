//! How long rounds take while a run goes on.

use super::collect::Collected;
use v6gap_core::record::TrialRecord;

/// Time that a round takes: rounds that came to nothing are rounds, and what lies between two
/// sessions of a run is none of its time. The clock of trials begins anew with each.
pub(super) fn round_ns(found: &Collected<'_>) -> f64 {
    let rounds = found.trials.iter().map(|t| t.round).max().unwrap_or(0).max(1);
    // When a session began, by the wall clock, which may have been corrected a little since.
    let began = |t: &TrialRecord| t.started_unix_ns.saturating_sub(t.started_ns);
    let sessions = found.trials.chunk_by(|a, b| began(a).abs_diff(began(b)) < 1_000_000_000);
    let span_ns = |session: &[&TrialRecord]| {
        let start = session.iter().map(|t| t.started_ns).min();
        let end = session.iter().map(|t| t.started_ns.saturating_add(t.duration_ns)).max();
        end.zip(start).map_or(0, |(end, start)| end.saturating_sub(start))
    };
    sessions.map(span_ns).sum::<u64>() as f64 / f64::from(rounds)
}

#[cfg(test)]
mod tests {
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run};
    use v6gap_core::arm::PerArm;
    use v6gap_core::record::Line;

    const SECOND: u64 = 1_000_000_000;

    /// A day between two sessions of a run is no time that a round takes, and a cell of which no
    /// block counts takes no rounds away.
    #[test]
    fn rounds_take_the_time_of_their_sessions() {
        let plan = plan(PerArm::FAMILIES, 1);
        let mut lines = run(&plan, 16, &EVEN);
        let (mut at_ns, mut session) = (0, 1);
        for line in &mut lines {
            match line {
                Line::Trial(t) => {
                    if t.round == 9 && session == 1 {
                        (at_ns, session) = (0, 86_400);
                    }
                    t.started_ns = at_ns;
                    t.started_unix_ns = session * SECOND + at_ns;
                    t.duration_ns = SECOND / 10;
                    at_ns += SECOND / 10;
                }
                Line::Block(block) => block.valid = true,
                _ => {}
            }
        }
        let trials = lines.iter().filter(|line| matches!(line, Line::Trial(_))).count();
        let expected = trials as f64 * 1e8 / 16.0;
        let round_ns = |lines: &[Line]| analyse(lines).unwrap().round_ns;
        assert!((round_ns(&lines) - expected).abs() < 1.0, "{} {expected}", round_ns(&lines));
        let mut first = false;
        for line in &mut lines {
            match line {
                Line::Trial(t) => first = t.cell == plan.cells[0].id,
                Line::Block(block) => block.valid = !first,
                _ => {}
            }
        }
        assert!((round_ns(&lines) - expected).abs() < 1.0, "{}", round_ns(&lines));
    }
}
