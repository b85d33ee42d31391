//! How a run spends its time: more blocks in a round for what is quick and noisy, none for what is
//! answered, and the same again from its journal.

use crate::support::{self, Driven, MS, end, noise};
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::observation::{Connections, Measured, PerEnd, Received, Sent, Times};
use v6gap_core::plan::{Plan, Stop, fit, preset};
use v6gap_core::record::{Allotted, Line, RunHeader, TrialRecord};
use v6gap_core::run::{Action, Attempt, Machine, Observed};
use v6gap_core::workload::Workload;
use v6gap_judge::analysis::{Analysis, Validity, Verdict, analyse, effect, rounds};
use v6gap_judge::stopping::Interim;

fn header(stop: Stop, seed: u64) -> RunHeader {
    let plan = preset::first_look(PerArm::FAMILIES, None, seed).fitted(fit::path_of(50_000));
    let plan = if let Stop::Pairs { .. } = stop { counted(plan, stop) } else { plan.ending(stop) };
    RunHeader::new("test".parse().unwrap(), plan)
}

/// As `--pairs` makes it.
fn counted(plan: Plan, stop: Stop) -> Plan {
    let mut plan = plan.ending(stop);
    plan.parts_mut().design.blocks_max = 1;
    plan
}

/// Time of a trial and standard deviation of its value.
fn nature(workload: &Workload) -> (u64, f64) {
    match workload {
        Workload::TcpBulk(_) | Workload::UdpBulk(_) => (1_000 * MS, 0.0005),
        Workload::Connect(_) => (12 * MS, 0.06),
        _ => (90 * MS, 0.003),
    }
}

fn observed(plan: &Plan, attempt: &Attempt<'_>, now_ns: u64) -> PerArm<Observed> {
    let (duration_ns, spread) = nature(&attempt.cell.workload);
    PerArm::from_fn(|arm| {
        let family = *attempt.arms(plan).get(arm);
        let part = noise(attempt.seed() ^ (arm as u64 + 1).wrapping_mul(0x5851_f42d_4c95_7f2d));
        let value = (spread * part).exp();
        let times = || Times { count: 9, trimmed_mean_ns: 1e6 * value, ..Times::default() };
        let (client, server) = match &attempt.cell.workload {
            Workload::TcpBulk(_) | Workload::UdpBulk(_) => {
                let received =
                    Received { packets: 9_000, rate_bps: 1e8 * value, ..Received::default() };
                let sent = Sent { packets: 9_000, ..Sent::default() };
                (Measured::Sent(sent), Measured::Received(received))
            }
            Workload::Connect(_) => {
                let all = Connections { connect: times(), ..Connections::default() };
                (Measured::Connections(Box::new(all)), Measured::Nothing)
            }
            _ => (Measured::Times(times()), Measured::Nothing),
        };
        let ends =
            PerEnd { client: end(family, 30_000, client), server: end(family, 30_000, server) };
        Observed { ends: ends.into(), started_ns: now_ns, duration_ns, ..Observed::default() }
    })
}

fn drive(header: &RunHeader) -> Driven {
    support::drive(header, |attempt, now_ns| observed(&header.plan, attempt, now_ns))
}

fn compared(lines: &[Line]) -> Vec<&TrialRecord> {
    let mut first = Vec::new();
    for line in lines {
        if let Line::Trial(trial) = line
            && trial.kind == BlockKind::Compare
            && trial.arm == Arm::A
        {
            first.push(trial.as_ref());
        }
    }
    first
}

/// Blocks of a cell in a round.
fn count(lines: &[Line], cell: &str, round: u32) -> usize {
    compared(lines).into_iter().filter(|t| t.cell == cell && t.round == round).count()
}

fn allotted(lines: &[Line]) -> Vec<(usize, &Allotted)> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Line::Allotted(allotted) = line {
            found.push((at, allotted));
        }
    }
    found
}

fn analysed(lines: &[Line]) -> Analysis {
    analyse(lines).unwrap()
}

#[test]
fn what_is_quick_and_noisy_has_more_blocks_and_the_journal_says_so() {
    let driven = drive(&header(Stop::default(), 1));
    let [(at, allotted)] = allotted(&driven.lines)[..] else { panic!("one line") };
    let trial = |line: &Line| matches!(line, Line::Trial(trial) if trial.round > 0);
    assert_eq!(driven.lines.iter().position(trial), Some(at + 1), "before the first comparison");
    let of = |cell: &str| allotted.cells[cell];
    assert!((10..=24).contains(&of("connect-tcp").blocks), "{allotted:?}");
    assert_eq!(of("connect-tcp").block_ns, 12 * MS);
    assert!(of("connect-tcp").noise.is_some_and(|noise| (0.5..3.0).contains(&noise)));
    for quiet in ["throughput-tcp", "rtt-tcp-64", "rtt-udp-16384"] {
        assert_eq!(of(quiet).blocks, 1, "{quiet}");
    }
    for (cell, of) in &allotted.cells {
        for round in 1..=2 {
            assert_eq!(count(&driven.lines, cell, round), of.blocks as usize, "{cell} {round}");
        }
    }
    let found = analysed(&driven.lines);
    let connect = found.questions.iter().find(|q| q.cell == "connect-tcp").unwrap();
    let rounds = connect.effect.as_ref().unwrap().blocks;
    assert_eq!(connect.pairs.len(), rounds, "a pair is that of a round");
    assert!(connect.pairs.iter().all(|pair| pair.blocks == of("connect-tcp").blocks));
    assert_ne!(connect.verdict, Verdict::CannotTell, "{}", connect.sentence);
}

#[test]
fn a_number_of_pairs_is_that_of_every_cell() {
    let driven = drive(&header(Stop::Pairs { pairs: 6 }, 1));
    assert!(allotted(&driven.lines).is_empty());
    let found = analysed(&driven.lines);
    let pairs: Vec<usize> = found.questions.iter().map(|q| q.pairs.len()).collect();
    assert!(pairs.iter().all(|n| *n == 6), "{pairs:?}");
}

/// A question that needs long is measured alone in the end.
#[test]
fn what_is_answered_rests_and_the_run_ends_with_the_last() {
    let mut header = header(Stop::within(600_000 * MS), 3);
    header.plan.parts_mut().design.blocks_max = 2;
    let driven = drive(&header);
    let last = compared(&driven.lines).last().unwrap().round;
    assert!(last > 10, "{last}");
    for (cell, rests) in [("throughput-tcp", true), ("rtt-tcp-1024", true), ("connect-tcp", false)]
    {
        assert!(count(&driven.lines, cell, 8) > 0, "{cell}");
        assert_eq!(count(&driven.lines, cell, last) == 0, rests, "{cell}");
    }
    let found = analysed(&driven.lines);
    assert_eq!((found.rounds, last % 2), (last, 0));
    let open = found.questions.iter().filter(|q| q.verdict == Verdict::CannotTell);
    let open: Vec<Metric> = open.map(|q| q.metric).collect();
    assert_eq!(open, [Metric::Loss], "for which packets are too few");
    assert!(driven.time_ns < 120_000 * MS, "{} s", driven.time_ns / MS / 1_000);
}

/// A run that was broken off anywhere goes on with what it would have done next.
#[test]
fn any_prefix_of_a_journal_leads_to_the_same_blocks() {
    let header = header(Stop::within(600_000 * MS), 5);
    let driven = drive(&header);
    let ends = driven
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| matches!(line, Line::Block(_) | Line::Allotted(_)));
    for (at, _) in ends.step_by(23).chain(
        driven.lines.iter().enumerate().filter(|(_, line)| matches!(line, Line::Allotted(_))),
    ) {
        let judge = Box::new(Interim::of(&header));
        let mut machine: Machine<'_, String> =
            Machine::resumed(&header, &driven.lines[..=at], judge);
        let expected = driven.asked.iter().find(|(length, _)| *length > at).map(|(_, asked)| asked);
        let next = loop {
            match machine.next(0, false) {
                Action::Measure(attempt) => break Some(format!("{attempt:?}")),
                Action::End(_) => break None,
                Action::Store(_) | Action::Tell(_) | Action::Settle(_) => {}
            }
        };
        assert_eq!(next.as_ref(), expected, "after {at} lines");
    }
}

/// Blocks of a round share what its place does. By rounds a range misses the truth no more often
/// than it says; with blocks for units it would.
#[test]
fn places_that_blocks_share_are_in_the_range() {
    const RUNS: u64 = 200;
    let setting = effect::Setting {
        validity: Validity::AnyTime,
        levels: 1,
        together: 1,
        questions: 1,
        margin: 0.05,
        scale: Scale::Ratio,
        nulls: &[],
    };
    let missed = |effects: &[f64]| {
        effect::combine(effects, &setting).is_some_and(|found| !found.i95.contains(0.0))
    };
    let (mut by_rounds, mut by_blocks) = (0, 0);
    for run in 0..RUNS {
        let block = |round: u32, place: u64| {
            let seed = run << 32 | u64::from(round) << 8;
            (round, 0.02 * noise(seed) + 0.03 * noise(seed + 1 + place))
        };
        let blocks: Vec<(u32, f64)> =
            (1..=12).flat_map(|round| (0..10).map(move |place| block(round, place))).collect();
        by_rounds += u32::from(missed(&rounds::values(Scale::Ratio, blocks.iter().copied())));
        by_blocks += u32::from(missed(&blocks.iter().map(|(_, d)| *d).collect::<Vec<_>>()));
    }
    assert!(by_rounds <= RUNS as u32 / 20, "{by_rounds} of {RUNS}");
    assert!(by_blocks > RUNS as u32 / 20, "{by_blocks} and {by_rounds} of {RUNS}");
}
