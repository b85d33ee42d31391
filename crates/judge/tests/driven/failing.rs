//! A run of one question in which IPv6 fails now and then goes on until so much failed that it
//! tells which family fails more often, also if it was broken off in between.

use crate::support::{self, MS, noise};
use std::fmt;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::family::Family;
use v6gap_core::observation::{Measured, PerEnd, Times};
use v6gap_core::plan::{Stop, preset};
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::run::{Action, Attempt, Fate, Machine, Observed, Trouble};
use v6gap_judge::analysis::{Verdict, analyse};
use v6gap_judge::stopping::Interim;

struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl Trouble for Refused {
    fn word(&self) -> &'static str {
        "refused"
    }

    fn family(&self) -> Option<Family> {
        Some(Family::V6)
    }
}

fn header() -> RunHeader {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
    let parts = plan.parts_mut();
    parts.cells.retain(|cell| cell.id == "rtt-tcp-64");
    parts.design.null_cells = vec![0];
    parts.design.blocks_max = 1;
    parts.design.stop = Stop::Adaptive { time_ns_max: 3_600_000 * MS, pairs_min: 8 };
    RunHeader {
        tool: "0".into(),
        target: "server".into(),
        ..RunHeader::new("test".parse().unwrap(), plan)
    }
}

/// Drives a run to its end; the first attempt at each block of every so many rounds fails.
fn drive(mut machine: Machine<'_, Refused>, every: u32, lines: &mut Vec<Line>) {
    let mut now_ns = 0;
    loop {
        match machine.next(now_ns, false) {
            Action::Measure(attempt) => {
                now_ns += 2 * MS;
                let compares = attempt.block.kind == BlockKind::Compare;
                let fails = compares && attempt.block.round % every == every - 1;
                if fails && attempt.attempt == 0 {
                    machine.failed(Refused, Fate::Again);
                } else {
                    let observed = observed(&machine, &attempt, now_ns);
                    machine.measured(observed, None);
                }
            }
            Action::Store(stored) => lines.extend(stored),
            Action::Tell(_) | Action::Settle(_) => {}
            Action::End(_) => return,
        }
    }
}

fn observed(
    machine: &Machine<'_, Refused>,
    attempt: &Attempt<'_>,
    now_ns: u64,
) -> PerArm<Observed> {
    attempt.arms(machine.plan()).map(|family| {
        let seed = 2 * u64::from(attempt.number) + u64::from(family == Family::V6);
        let trimmed_mean_ns = 1e6 * (1.0 + 0.002 * noise(seed));
        let times = Times { count: 9, trimmed_mean_ns, ..Times::default() };
        let client = support::end(family, 30_000, Measured::Times(times));
        let server = support::end(family, 30_000, Measured::Nothing);
        let ends = PerEnd { client, server };
        Observed { ends: ends.into(), started_ns: now_ns, duration_ns: MS, ..Observed::default() }
    })
}

/// Rounds of a journal in which families were compared, and the answer about what failed.
fn rounds(lines: &[Line]) -> (u32, Option<Verdict>) {
    let round = |line: &Line| match line {
        Line::Trial(trial) => trial.round,
        _ => 0,
    };
    let failures = analyse(lines).unwrap().failures;
    (lines.iter().map(round).max().unwrap(), failures.map(|found| found.counted.verdict))
}

#[test]
fn a_run_of_one_question_goes_on_until_failures_are_told() {
    let header = header();
    let judge = || Box::new(Interim::of(&header));
    let run = |every| {
        let mut lines = vec![Line::Run(Box::new(header.clone()))];
        drive(Machine::new(&header, judge()), every, &mut lines);
        lines
    };
    assert_eq!(rounds(&run(1000)), (8, None));
    // Nine of 44 are more than a fifth, of 46 they are not: then values have a verdict, too.
    assert_eq!(rounds(&run(5)), (46, Some(Verdict::Worse)));
    let lines = run(4);
    assert_eq!(rounds(&lines), (36, Some(Verdict::Worse)));
    // Broken off behind each failure in turn, it ends where it would have.
    let cuts = (0..lines.len()).filter(|&at| matches!(lines[at], Line::Failed(_)));
    for cut in cuts {
        let mut resumed = lines[..=cut].to_vec();
        drive(Machine::resumed(&header, &lines[..=cut], judge()), 4, &mut resumed);
        assert_eq!(rounds(&resumed).0, 36, "cut at {cut}");
    }
}
