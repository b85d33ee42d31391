//! What a script waits for: `--fail-if` and `--require` against the verdicts of a run or
//! of a comparison of runs.

use crate::alone;
use crate::args::{Asked, ChangeOf, CompareArgs, Condition, ResultArgs};
use crate::failure::Outcome;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Plan;
use v6gap_judge::analysis::compare::{Comparison, Of};
use v6gap_judge::analysis::{Analysis, Question, Verdict};

/// How the program ends after a run with these verdicts.
///
/// A failed check comes first, then a broken condition, then one that is open. A condition about a
/// metric that was not measured is open, as is any about a family measured alone. One about nothing
/// named is also about failures: a family that fails more often is worse. Lost exchanges have no
/// margin, so they decide where they are named and nowhere else. Without conditions, a comparison
/// in which no question got a verdict is not valid.
pub fn outcome(result: &ResultArgs, analysis: &Analysis) -> Outcome {
    if !analysis.valid {
        return Outcome::NotValid;
    }
    if alone::single_family(analysis).is_some() {
        return outcome_without_verdicts(result);
    }
    // Who names no metric asks of the run, in which one question among many may differ by chance.
    let of_run = |q: &Question| if q.may_be_chance() { Verdict::CannotTell } else { q.verdict };
    let verdicts = analysis.questions.iter().map(|q| Found {
        on: On::Question(q.metric),
        verdict: q.verdict,
        of_run: of_run(q),
    });
    let failures = analysis.failures.iter();
    let lost = failures.clone().filter_map(|found| found.exchanges.as_ref());
    let lost = lost.filter_map(|lost| failing(On::LostExchanges, lost.counted.verdict));
    let failures = failures.filter_map(|found| failing(On::Failures, found.counted.verdict));
    let verdicts: Vec<Found> = verdicts.chain(failures).chain(lost).collect();
    let nothing =
        analysis.questions.iter().all(|q| q.verdict == Verdict::None && q.effect.is_none());
    judge(&result.fail_if, &result.require, &verdicts, nothing)
}

/// The metric of a condition that could never make a run of this plan fail.
pub fn never_met(result: &ResultArgs, plan: &Plan) -> Option<Metric> {
    let measured =
        |metric: &Metric| plan.cells.iter().any(|cell| cell.workload.metrics().contains(metric));
    named(&result.fail_if).find(|metric| !measured(metric))
}

/// The metric of a condition that no change of a comparison is about, where no check has failed.
pub fn never_compared(args: &CompareArgs, comparison: &Comparison) -> Option<Metric> {
    let compared = |metric: &Metric| comparison.changes().any(|(row, _)| row.metric == *metric);
    let failed = comparison.runs.iter().any(|run| run.failed.is_some());
    named(&args.fail_if).find(|metric| !failed && !compared(metric))
}

fn named(conditions: &[Condition]) -> impl Iterator<Item = Metric> {
    conditions.iter().filter_map(|condition| match condition.asked {
        Asked::Of(metric) => Some(metric),
        Asked::All | Asked::Failures | Asked::LostExchanges | Asked::Broken => None,
    })
}

/// How the program ends after what has no verdicts, as one family alone or the way to a host:
/// whatever is required is open.
pub fn outcome_without_verdicts(result: &ResultArgs) -> Outcome {
    if result.require.is_empty() { Outcome::Done } else { Outcome::Undecided }
}

/// How the program ends after a comparison of runs: the same rules, held against the changes that
/// `args` is about.
pub fn outcome_of_comparison(args: &CompareArgs, comparison: &Comparison) -> Outcome {
    if comparison.runs.iter().any(|run| run.failed.is_some()) {
        return Outcome::NotValid;
    }
    let names = &comparison.arm_names;
    let asked = |of: Of| {
        // One that is translated on the way says so in its name.
        let arm = |family: &str| {
            let rest = of.arm().and_then(|arm| names.get(arm).strip_prefix(family));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" by "))
        };
        match args.of {
            ChangeOf::Difference => of == Of::Difference,
            ChangeOf::Ipv4 => arm("IPv4"),
            ChangeOf::Ipv6 => arm("IPv6"),
            ChangeOf::All => true,
        }
    };
    let changes = comparison.changes().filter(|(_, change)| asked(change.of));
    let verdicts = changes.map(|(row, change)| Found::of(On::Question(row.metric), change.verdict));
    let failures = comparison.failures.iter().filter(|change| asked(change.of));
    let failures = failures.filter_map(|change| failing(On::Failures, change.verdict));
    let verdicts: Vec<Found> = verdicts.chain(failures).collect();
    judge(&args.fail_if, &args.require, &verdicts, !comparison.valid())
}

/// What a verdict is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    /// A question of this metric.
    Question(Metric),
    /// Which family fails more often.
    Failures,
    /// Over which family more exchanges are lost.
    LostExchanges,
}

/// A verdict.
#[derive(Debug, Clone, Copy)]
struct Found {
    on: On,
    verdict: Verdict,
    /// What it is among all of the run.
    of_run: Verdict,
}

impl Found {
    /// Whatever else is asked.
    fn of(on: On, verdict: Verdict) -> Self {
        Found { on, verdict, of_run: verdict }
    }
}

/// What failed or was lost counts where it tells the families apart: a single failure decides
/// nothing, and keeps nothing open.
fn failing(on: On, verdict: Verdict) -> Option<Found> {
    matches!(verdict, Verdict::Better | Verdict::Worse).then(|| Found::of(on, verdict))
}

/// `nothing`: not one question has an answer.
fn judge(
    fail_if: &[Condition],
    require: &[Condition],
    verdicts: &[Found],
    nothing: bool,
) -> Outcome {
    let held = |c: &Condition| about(c, verdicts).any(|verdict| verdict == c.verdict);
    if fail_if.iter().any(held) {
        return Outcome::NotMet;
    }
    let required: Vec<Outcome> = require.iter().map(|c| required(c, verdicts)).collect();
    let worst = [Outcome::NotMet, Outcome::Undecided].into_iter().find(|o| required.contains(o));
    let nothing = require.is_empty() && nothing;
    worst.unwrap_or(if nothing { Outcome::NotValid } else { Outcome::Done })
}

/// Every question of the metric must have the verdict; "better" also satisfies who requires "same",
/// as nothing got worse.
fn required(condition: &Condition, verdicts: &[Found]) -> Outcome {
    let mut any = false;
    let mut open = false;
    for verdict in about(condition, verdicts) {
        any = true;
        match verdict {
            verdict if verdict == condition.verdict => {}
            Verdict::Better if condition.verdict == Verdict::Same => {}
            Verdict::CannotTell | Verdict::None => open = true,
            Verdict::Better | Verdict::Worse | Verdict::Same => return Outcome::NotMet,
        }
    }
    if open || !any { Outcome::Undecided } else { Outcome::Done }
}

fn about(condition: &Condition, verdicts: &[Found]) -> impl Iterator<Item = Verdict> {
    let asked = condition.asked;
    let on = |found: &Found, on: On| (found.on == on).then_some(found.verdict);
    verdicts.iter().filter_map(move |found| match asked {
        Asked::All => (found.on != On::LostExchanges).then_some(found.of_run),
        Asked::Of(metric) => on(found, On::Question(metric)),
        Asked::Failures => on(found, On::Failures),
        Asked::LostExchanges => on(found, On::LostExchanges),
        // What is broken has no verdicts.
        Asked::Broken => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::plan::preset;
    use v6gap_core::record::{Line, RunHeader, RunId};
    use v6gap_judge::analysis::{Counted, Exchanges, Failures, Range, analyse};

    /// An analysis of nothing, in which every question then gets a verdict.
    fn analysis(verdict: impl Fn(Metric) -> Verdict) -> Analysis {
        let header = RunHeader {
            tool: "0.1.0".to_owned(),
            target: "lab-b".to_owned(),
            ..RunHeader::new(RunId::from_bits(0), preset::first_look(PerArm::FAMILIES, None, 7))
        };
        let mut analysis = analyse(&[Line::Run(Box::new(header))]).unwrap();
        analysis.valid = true;
        for question in &mut analysis.questions {
            question.verdict = verdict(question.metric);
            question.diagnostics.p_different_run = 0.01;
        }
        analysis
    }

    #[track_caller]
    fn ends(flags: &str, analysis: &Analysis, expected: Outcome) {
        let words = "v6gap run host".split(' ').chain(flags.split_whitespace());
        let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
            panic!("run was typed")
        };
        assert_eq!(outcome(&args.result, analysis), expected, "{flags}");
    }

    #[test]
    fn conditions_are_held_against_every_question_of_their_metric() {
        let found = analysis(|metric| match metric {
            Metric::Throughput => Verdict::Same,
            Metric::Rtt => Verdict::Worse,
            Metric::Connect => Verdict::Better,
            _ => Verdict::CannotTell,
        });
        ends("", &found, Outcome::Done);
        ends("--fail-if worse", &found, Outcome::NotMet);
        ends("--fail-if worse:throughput", &found, Outcome::Done);
        ends("--require same:throughput,same:connect", &found, Outcome::Done);
        ends("--require same:rtt", &found, Outcome::NotMet);
        ends("--require same:loss", &found, Outcome::Undecided);
        ends("--require same:loss,same:rtt", &found, Outcome::NotMet);
        ends("--require better:throughput", &found, Outcome::NotMet);
    }

    /// The headline says the same: among so many questions it may be chance.
    #[test]
    fn who_names_no_metric_asks_of_the_whole_run() {
        let mut found = analysis(|metric| match metric {
            Metric::Rtt => Verdict::Worse,
            _ => Verdict::Same,
        });
        for question in &mut found.questions {
            question.diagnostics.p_different_run = 0.2;
        }
        ends("--fail-if worse", &found, Outcome::Done);
        ends("--require same", &found, Outcome::Undecided);
        ends("--fail-if worse:rtt", &found, Outcome::NotMet);
    }

    #[test]
    fn a_failed_check_comes_before_all_conditions() {
        let mut found = analysis(|_| Verdict::Same);
        found.valid = false;
        ends("--require same", &found, Outcome::NotValid);
    }

    #[test]
    fn a_run_without_any_verdict_is_not_valid_unless_conditions_say_more() {
        let mut found = analysis(|_| Verdict::None);
        ends("", &found, Outcome::NotValid);
        ends("--fail-if worse", &found, Outcome::NotValid);
        ends("--require same", &found, Outcome::Undecided);
        found.questions[0].verdict = Verdict::Same;
        ends("", &found, Outcome::Done);
    }

    /// IPv6 that fails is worse, whatever those of its trials say that did not.
    #[test]
    fn what_fails_more_often_is_worse() {
        let counted = |verdict| Counted {
            rounds: 40,
            more: PerArm { a: 0, b: 8 },
            p: 0.0078,
            range: Range { low: 0.63, high: 1.0 },
            verdict,
        };
        let failures = |verdict| Failures {
            blocks: 40,
            failed: PerArm { a: 0, b: 8 },
            counted: counted(verdict),
            attempts: PerArm { a: 0, b: 9 },
            attempts_of_neither: 0,
            connections: PerArm { a: (0, 0), b: (0, 0) },
            exchanges: None,
        };
        let mut found = analysis(|_| Verdict::Same);
        found.failures = Some(failures(Verdict::Worse));
        ends("--fail-if worse", &found, Outcome::NotMet);
        ends("--require same", &found, Outcome::NotMet);
        ends("--fail-if worse:rtt", &found, Outcome::Done);
        ends("--fail-if worse:failures", &found, Outcome::NotMet);
        ends("--fail-if better:failures", &found, Outcome::Done);
        ends("--require same:rtt", &found, Outcome::Done);
        found.failures = Some(failures(Verdict::CannotTell));
        ends("--require same", &found, Outcome::Done);
    }

    /// A path that loses is no family that fails, so who asks for one does not ask for the other.
    #[test]
    fn lost_exchanges_decide_where_they_are_named() {
        let lossy = |verdict| {
            let range = Range { low: 0.63, high: 1.0 };
            let more = PerArm { a: 0, b: 8 };
            let counted = |verdict| Counted { rounds: 40, more, p: 0.0078, range, verdict };
            let lost = PerArm { a: (0, 4800), b: (12, 4812) };
            Some(Failures {
                blocks: 40,
                failed: PerArm { a: 0, b: 0 },
                counted: counted(Verdict::None),
                attempts: PerArm { a: 0, b: 0 },
                attempts_of_neither: 0,
                connections: PerArm { a: (0, 0), b: (0, 0) },
                exchanges: Some(Exchanges { lost, counted: counted(verdict) }),
            })
        };
        let mut found = analysis(|_| Verdict::Same);
        found.failures = lossy(Verdict::Worse);
        ends("--fail-if worse", &found, Outcome::Done);
        ends("--require same", &found, Outcome::Done);
        ends("--fail-if worse:failures", &found, Outcome::Done);
        ends("--fail-if worse:lost-exchanges", &found, Outcome::NotMet);
        ends("--fail-if better:lost-exchanges", &found, Outcome::Done);
        ends("--require better:lost-exchanges", &found, Outcome::NotMet);
        found.failures = lossy(Verdict::CannotTell);
        ends("--fail-if worse:lost-exchanges", &found, Outcome::Done);
        ends("--require better:lost-exchanges", &found, Outcome::Undecided);
        found.failures = None;
        ends("--fail-if worse:lost-exchanges", &found, Outcome::Done);
    }

    #[test]
    fn one_family_alone_meets_no_condition() {
        let mut found = analysis(|_| Verdict::Same);
        found.run.plan.parts_mut().design.arms = PerArm::null(Family::V6);
        found.run.notes = vec![alone::note(Family::V6)];
        ends("", &found, Outcome::Done);
        ends("--fail-if same", &found, Outcome::Done);
        ends("--require same", &found, Outcome::Undecided);
    }

    #[test]
    fn what_is_not_measured_makes_nothing_fail() {
        let plan = preset::first_look(PerArm::FAMILIES, None, 7);
        let unmet = |flags: &str| {
            let words = "v6gap run host".split(' ').chain(flags.split_whitespace());
            let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("run was typed")
            };
            never_met(&args.result, &plan)
        };
        assert_eq!(unmet("--fail-if worse:cpu"), Some(Metric::Cpu));
        assert_eq!(unmet("--fail-if worse,worse:rtt,worse:failures --require same:cpu"), None);
    }

    #[test]
    fn what_was_not_measured_is_undecided() {
        let mut found = analysis(|_| Verdict::Same);
        found.questions.retain(|question| question.metric != Metric::Loss);
        ends("--require same:loss", &found, Outcome::Undecided);
    }
}
