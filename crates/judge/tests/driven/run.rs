//! The course of runs whose attempts end as they are told to.

use crate::support::{self, MS};
use proptest::prelude::*;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, Measured, PerEnd, Received, Sent, Times};
use v6gap_core::plan::{Plan, Stop, preset};
use v6gap_core::record::{Ending, Line, RunHeader};
use v6gap_core::run::{Action, Attempt, Event, Fate, Machine, Observed};
use v6gap_core::workload::{Path, Transport};
use v6gap_judge::stopping::Interim;

fn header(stop: Stop) -> RunHeader {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
    plan.parts_mut().design.stop = stop;
    RunHeader {
        tool: "0".into(),
        target: "server".into(),
        ..RunHeader::new("test".parse().unwrap(), plan)
    }
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Valid,
    Invalid,
    Fails(Fate),
}

fn end(family: Family, how: How, measured: Measured) -> EndReport {
    let proved = if how == How::Valid { family } else { family.other() };
    support::end(proved, 30_000, measured)
}

/// What both arms of an attempt gave.
fn observed(plan: &Plan, attempt: &Attempt<'_>, how: How, now_ns: u64) -> PerArm<Observed> {
    let (client, server) = if attempt.cell.workload.metrics().contains(&Metric::Throughput) {
        let sent = Sent { packets: 9, ..Sent::default() };
        let received = Received { packets: 9, rate_bps: 1e6, ..Received::default() };
        (Measured::Sent(sent), Measured::Received(received))
    } else {
        let times = Times { count: 9, trimmed_mean_ns: 1e6, ..Times::default() };
        (Measured::Times(times), Measured::Nothing)
    };
    attempt.arms(plan).map(|family| {
        let client = end(family, how, client.clone());
        let ends = PerEnd { client, server: end(family, how, server.clone()) };
        Observed { ends: ends.into(), started_ns: now_ns, duration_ns: MS, ..Observed::default() }
    })
}

/// A run as far as it was driven.
struct Driven {
    /// Its journal.
    lines: Vec<Line>,
    /// What was asked for, a measurement or the end, with the length of the journal at that time.
    asked: Vec<(usize, String)>,
    /// Every attempt: its block, its attempt and its cell.
    attempts: Vec<(u32, u32, String)>,
    told: usize,
    ending: Ending,
    error: Option<String>,
}

/// What is asked for next, as text that can be compared; tells and stores are passed over.
fn asked(machine: &mut Machine<'_, String>) -> String {
    loop {
        match machine.next(0, false) {
            Action::Measure(attempt) => return format!("{attempt:?}"),
            Action::End(ending) => return format!("{ending:?}"),
            Action::Store(_) | Action::Tell(_) | Action::Settle(_) => {}
        }
    }
}

/// Drives a run with these attempts, each of which takes a millisecond.
fn drive(header: &RunHeader, mut how: impl FnMut(&Attempt<'_>) -> (How, bool)) -> Driven {
    let mut machine: Machine<'_, String> = Machine::new(header, Box::new(Interim::of(header)));
    let mut driven = Driven {
        lines: vec![Line::Run(Box::new(header.clone()))],
        asked: Vec::new(),
        attempts: Vec::new(),
        told: 0,
        ending: Ending::Complete,
        error: None,
    };
    let (mut now_ns, mut stop) = (7, false);
    loop {
        let action = machine.next(now_ns, stop);
        let text = match &action {
            Action::Measure(attempt) => Some(format!("{attempt:?}")),
            Action::End(ending) => Some(format!("{ending:?}")),
            Action::Store(_) | Action::Tell(_) | Action::Settle(_) => None,
        };
        driven.asked.extend(text.map(|text| (driven.lines.len(), text)));
        match action {
            Action::Measure(attempt) => {
                let cell = attempt.cell.id.clone();
                driven.attempts.push((attempt.number, attempt.attempt, cell));
                let (how, stops) = how(&attempt);
                stop |= stops;
                match how {
                    How::Fails(fate) => machine.failed("broken".into(), fate),
                    _ => machine.measured(observed(&header.plan, &attempt, how, now_ns), None),
                }
                now_ns += MS;
            }
            Action::Store(lines) => driven.lines.extend(lines),
            Action::Tell(_) => driven.told += 1,
            Action::Settle(_) => {}
            Action::End(ending) => {
                driven.ending = ending;
                driven.error = machine.take_error();
                return driven;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A run that was broken off anywhere goes on with what it would have done next.
    #[test]
    fn any_prefix_of_a_journal_leads_to_the_same_next_action(
        ends in prop::collection::vec(0_u8..20, 40..120),
        seed: u64,
    ) {
        let mut header = header(Stop::Pairs { pairs: 2 });
        header.plan.parts_mut().seed = seed;
        let mut ends = ends.into_iter().cycle();
        let driven = drive(&header, |_| {
            let how = match ends.next() {
                Some(0..=2) => How::Invalid,
                Some(3..=5) => How::Fails(Fate::Again),
                Some(6) => How::Fails(Fate::CellOver),
                Some(7) => How::Fails(Fate::UdpOver),
                _ => How::Valid,
            };
            (how, false)
        });
        let at = |length: usize| driven.asked.iter().find(|(l, _)| *l >= length).map(|(_, a)| a);
        let mut last = None;
        for length in 1..=driven.lines.len() {
            let judge = Box::new(Interim::of(&header));
            let mut machine = Machine::resumed(&header, &driven.lines[..length], judge);
            let next = asked(&mut machine);
            match &driven.lines[length - 1] {
                // A trial without its block is as if it had not been.
                Line::Trial(_) => prop_assert_eq!(Some(&next), last),
                // What has failed may be tried again.
                Line::End(Ending::Failed { .. }) => {}
                // The last failure of a block or a run, and what follows from it.
                Line::Failed(_)
                    if matches!(
                        driven.lines.get(length),
                        Some(Line::GaveUp(_) | Line::End(Ending::Failed { .. }))
                    ) => {}
                // Among several that are given up at once.
                Line::GaveUp(_) if matches!(driven.lines.get(length), Some(Line::GaveUp(_))) => {}
                _ => {
                    prop_assert_eq!(Some(&next), at(length), "after {} lines", length);
                    last = at(length);
                }
            }
        }
    }
}

#[test]
fn a_run_measures_its_pairs_and_is_complete() {
    let header = header(Stop::Pairs { pairs: 3 });
    let driven = drive(&header, |_| (How::Valid, false));
    assert_eq!(driven.ending, Ending::Complete);
    assert_eq!(driven.lines.last(), Some(&Line::End(Ending::Complete)));
    let numbers: Vec<u32> = driven.attempts.iter().map(|&(number, ..)| number).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u32), "{numbers:?}");
    assert_eq!(driven.told, 2 * numbers.len() + 3, "each block and its end, and three rounds");
    let first = driven.lines.iter().find_map(|line| match line {
        Line::Trial(trial) => Some(trial),
        _ => None,
    });
    assert_eq!(first.unwrap().started_ns, 0, "times count from the start of the run");
}

#[test]
fn a_block_is_tried_again_under_its_number_as_often_as_it_may_be() {
    let header = header(Stop::Pairs { pairs: 1 });
    for how in [How::Invalid, How::Fails(Fate::Again)] {
        let driven =
            drive(&header, |attempt| (if attempt.number == 2 { how } else { How::Valid }, false));
        let of_two = driven.attempts.iter().filter(|(number, ..)| *number == 2);
        let tries: Vec<u32> = of_two.map(|&(_, attempt, _)| attempt).collect();
        assert_eq!(tries, [0, 1, 2, 3], "{how:?}");
        let gone = driven.lines.iter().filter(|line| matches!(line, Line::GaveUp(_))).count();
        assert_eq!(gone, usize::from(how != How::Invalid), "what is invalid is not given up");
        assert_eq!(driven.ending, Ending::Complete);
    }
}

/// Eight rounds answer more than four of which nothing is missing.
#[test]
fn a_block_is_not_tried_again_where_its_time_is_needed_for_the_least_rounds() {
    let plan = header(Stop::Pairs { pairs: 1 }).plan;
    let round_ns: f64 = plan.cells.iter().map(|c| 2.0 * c.workload.cost(Path::USUAL).time_ns).sum();
    let tries = |time_ns_max: u64| {
        let header = header(Stop::Adaptive { time_ns_max, pairs_min: 8 });
        let spoiled =
            |attempt: &Attempt<'_>| attempt.block.round == 1 && attempt.number.is_multiple_of(2);
        let driven = drive(&header, |attempt| {
            (if spoiled(attempt) { How::Invalid } else { How::Valid }, attempt.block.round == 2)
        });
        driven.attempts.iter().map(|&(_, attempt, _)| attempt).max()
    };
    // Rounds are as the plan has them until one was measured.
    assert_eq!(tries((7.9 * round_ns) as u64), Some(0));
    assert_eq!(tries((8.5 * round_ns) as u64), Some(3));
}

#[test]
fn what_cannot_be_measured_is_asked_for_once_and_left_out() {
    let header = header(Stop::Pairs { pairs: 2 });
    let driven = drive(&header, |attempt| {
        let udp = attempt.cell.workload.transport() == Transport::Udp;
        (if udp { How::Fails(Fate::UdpOver) } else { How::Valid }, false)
    });
    let is_udp = |id: &str| {
        header.plan.cell(id).is_some_and(|(_, c)| c.workload.transport() == Transport::Udp)
    };
    let asked = driven.attempts.iter().filter(|(.., cell)| is_udp(cell)).count();
    assert_eq!(asked, 1, "{:?}", driven.attempts);
    let gone: Vec<&str> = driven
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::GaveUp(gone) => Some(gone.cell.as_str()),
            _ => None,
        })
        .collect();
    let all = header.plan.cells.iter().filter(|cell| is_udp(&cell.id)).count();
    assert!(gone.len() == all && gone.iter().all(|id| is_udp(id)), "{gone:?}");
    assert_eq!((driven.ending, driven.error), (Ending::Complete, None));
}

/// A silence of some seconds is not for ever where datagrams came through before.
#[test]
fn datagrams_that_came_before_are_asked_for_again() {
    let header = header(Stop::Pairs { pairs: 2 });
    let mut came = false;
    let driven = drive(&header, |attempt| {
        let udp = attempt.cell.workload.transport() == Transport::Udp;
        let silent = udp && came && attempt.attempt == 0;
        came |= udp;
        (if silent { How::Fails(Fate::UdpOver) } else { How::Valid }, false)
    });
    let failed = driven.lines.iter().filter(|line| matches!(line, Line::Failed(_))).count();
    let gone = driven.lines.iter().filter(|line| matches!(line, Line::GaveUp(_))).count();
    assert!(failed > 0 && gone == 0, "{failed} failed, {gone} given up");
}

#[test]
fn a_run_without_anything_left_has_failed() {
    let header = header(Stop::Pairs { pairs: 2 });
    let driven = drive(&header, |_| (How::Fails(Fate::CellOver), false));
    assert_eq!(driven.error.as_deref(), Some("broken"));
    let failed = Ending::Failed { error: "broken".into() };
    assert_eq!(driven.lines.last(), Some(&Line::End(failed.clone())));
    assert_eq!(driven.ending, failed);
    let gone = driven.lines.iter().filter(|line| matches!(line, Line::GaveUp(_))).count();
    assert_eq!(gone, header.plan.cells.len() - 1, "the last may be tried again");
}

#[test]
fn a_lost_server_ends_the_run_at_once() {
    let header = header(Stop::Pairs { pairs: 2 });
    let driven = drive(&header, |attempt| {
        (if attempt.number == 1 { How::Fails(Fate::RunOver) } else { How::Valid }, false)
    });
    assert_eq!(driven.attempts.len(), 2);
    assert_eq!(driven.error.as_deref(), Some("broken"));
}

#[test]
fn a_stop_is_obeyed_between_attempts_and_gives_nothing_up() {
    let header = header(Stop::Pairs { pairs: 2 });
    for how in [How::Valid, How::Invalid, How::Fails(Fate::Again)] {
        let driven = drive(&header, |attempt| {
            let is_it =
                attempt.number == 3 && attempt.attempt == if how == How::Valid { 0 } else { 3 };
            (if attempt.number == 3 { how } else { How::Valid }, is_it)
        });
        assert_eq!(driven.ending, Ending::Stopped, "{how:?}");
        assert_eq!(driven.attempts.last().unwrap().0, 3);
        assert!(!driven.lines.iter().any(|line| matches!(line, Line::GaveUp(_))));
        assert_eq!(driven.error, None);
    }
}

#[test]
fn a_run_that_takes_twice_its_time_ends_in_the_middle_of_a_round() {
    let header = header(Stop::Adaptive { time_ns_max: 3 * MS, pairs_min: 8 });
    let driven = drive(&header, |_| (How::Valid, false));
    assert!(matches!(driven.ending, Ending::Failed { .. }), "{:?}", driven.ending);
    assert_eq!((driven.attempts.len(), driven.error), (7, None));
}

#[test]
fn lines_that_cannot_be_stored_end_the_run_even_at_its_end_and_are_not_told() {
    let header = header(Stop::Pairs { pairs: 1 });
    for kept in 0..4 {
        let mut machine: Machine<'_, String> =
            Machine::new(&header, Box::new(Interim::of(&header)));
        let (mut stored, mut blocks, mut told) = (0, 0, 0);
        for _ in 0..10_000 {
            match machine.next(0, kept == 0) {
                Action::Measure(attempt) => {
                    let observed = observed(&header.plan, &attempt, How::Valid, 0);
                    machine.measured(observed, None);
                }
                Action::Store(lines) if stored < kept => {
                    stored += 1;
                    blocks += lines.iter().filter(|line| matches!(line, Line::Block(_))).count();
                }
                Action::Store(_) => machine.failed("full".into(), Fate::RunOver),
                Action::Tell(Event::Done { .. }) => told += 1,
                Action::Tell(_) | Action::Settle(_) => {}
                Action::End(_) => break,
            }
        }
        assert_eq!((stored, told), (kept, blocks));
        assert_eq!(machine.take_error().as_deref(), Some("full"));
    }
}

/// A journal that was written under another schedule, or by nobody.
#[test]
fn a_block_of_another_schedule_only_takes_a_number() {
    let header = header(Stop::Pairs { pairs: 2 });
    let driven = drive(&header, |_| (How::Valid, false));
    let mut stranger = driven.lines[1..4].to_vec();
    for line in &mut stranger {
        match line {
            Line::Trial(trial) => {
                (trial.block, trial.attempt) = (u32::MAX, u32::MAX);
                trial.cell = "unknown".into();
            }
            Line::Block(block) => block.block = u32::MAX,
            _ => {}
        }
    }
    let judge = Box::new(Interim::of(&header));
    let mut machine: Machine<'_, String> = Machine::resumed(&header, &stranger, judge);
    let asked = asked(&mut machine);
    let first = driven.asked[0].1.replace("number: 0", &format!("number: {}", u32::MAX));
    assert_eq!(asked, first);
}

/// What was measured in which lab is seen from the journal, also of attempts that failed and of a
/// run that goes on.
#[test]
fn every_attempt_says_which_lab_it_was_in() {
    let header = header(Stop::Pairs { pairs: 2 });
    let mut lines: Vec<Line> = Vec::new();
    for session in [[None, Some(1)], [Some(2), Some(3)]] {
        let so_far = lines.clone();
        let judge = Box::new(Interim::of(&header));
        let mut machine: Machine<'_, String> = Machine::resumed(&header, &so_far, judge);
        for lab in session {
            if lab.is_some() {
                assert_eq!(Some(machine.enter_lab()), lab);
            }
            let told = lines.len();
            for fails in [true, false] {
                let attempt = loop {
                    match machine.next(0, false) {
                        Action::Measure(attempt) => break attempt,
                        Action::Store(stored) => lines.extend(stored),
                        Action::Tell(_) | Action::Settle(_) => {}
                        Action::End(ending) => panic!("{ending:?}"),
                    }
                };
                match fails {
                    true => machine.failed("broken".into(), Fate::Again),
                    false => {
                        let observed = observed(&header.plan, &attempt, How::Valid, 0);
                        machine.measured(observed, None);
                    }
                }
            }
            let Action::Store(stored) = machine.next(0, false) else { panic!("nothing stored") };
            lines.extend(stored);
            let labs = lines[told..].iter().filter_map(|line| match line {
                Line::Failed(failed) => Some(failed.drawn.lab),
                Line::Block(block) => Some(block.drawn.expect("it was drawn").lab),
                _ => None,
            });
            assert_eq!(labs.collect::<Vec<_>>(), [lab, lab]);
        }
    }
}
