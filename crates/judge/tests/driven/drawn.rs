//! What a run says of what its blocks drew, through the run of the program itself: that it was
//! drawn, and whether the difference goes with it.

use crate::support::{drive, end, noise};
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::observation::{Far, Measured, PerEnd, Received, Sent};
use v6gap_core::plan::draft::{Levels, Measure};
use v6gap_core::plan::{Stop, check, preset};
use v6gap_core::record::{Line, RunHeader, Session};
use v6gap_core::run::{Attempt, Observed};
use v6gap_core::workload::{TcpBulk, Workload};
use v6gap_judge::analysis::{Analysis, Anew, Choice, DrawnFact, Nuisance, Sensitivity, analyse};

/// A run of throughput alone, in writes of that size where one is asked for.
fn header(pairs: u32, write: Option<&str>, seed: u64) -> RunHeader {
    let mut draft = preset::first_look_draft(PerArm::FAMILIES, None);
    draft.measure = vec![Measure {
        metric: "throughput".into(),
        write: write.map(|size| Levels::One(size.into())),
        ..Measure::default()
    }];
    let plan = check::check(&draft, seed).unwrap().ending(Stop::Pairs { pairs });
    RunHeader::new("test".parse().unwrap(), plan)
}

/// What a world makes of a family and a size of writes: bit/s.
type Rate = fn(Family, f64) -> f64;

/// What a segment holds, in bytes.
fn segment(family: Family) -> u32 {
    match family {
        Family::V4 => 1448,
        Family::V6 => 1428,
    }
}

fn bulk(workload: &Workload) -> &TcpBulk {
    match workload {
        Workload::TcpBulk(bulk) => bulk,
        _ => panic!("nothing but throughput is measured"),
    }
}

fn observed(header: &RunHeader, attempt: &Attempt<'_>, rate: Rate) -> PerArm<Observed> {
    let workload = attempt.workload();
    let bulk = bulk(&workload);
    assert!(!bulk.write_drawn, "a task says what a write has");
    let arm = |family: Family| {
        let part = noise(attempt.seed() ^ (family as u64 + 1).wrapping_mul(0x5851_f42d_4c95_7f2d));
        let rate_bps = rate(family, bulk.write_bytes.into()) * (0.02 * part).exp();
        let port = 30_000 + (attempt.seed() % 20_000) as u16;
        let client = Measured::Sent(Sent { packets: 9, ..Sent::default() });
        let received = Received { packets: 9, rate_bps, ..Received::default() };
        let end = |measured| {
            let mut end = end(family, port, measured);
            end.granted.mss = Some(segment(family));
            end
        };
        let ends = PerEnd { client: end(client), server: end(Measured::Received(received)) };
        Observed { ends: ends.into(), duration_ns: 1, ..Observed::default() }
    };
    attempt.arms(&header.plan).map(arm)
}

fn measured(header: &RunHeader, rate: Rate) -> (Vec<Line>, Analysis) {
    let lines = drive(header, |attempt, _| observed(header, attempt, rate)).lines;
    let analysis = analyse(&lines).unwrap();
    (lines, analysis)
}

/// Sizes that the journal has for its blocks.
fn sizes(lines: &[Line]) -> Vec<Option<u32>> {
    let size = |line: &Line| match line {
        Line::Block(block) => Some(block.drawn.and_then(|drawn| drawn.write_bytes)),
        _ => None,
    };
    lines.iter().filter_map(size).collect()
}

fn anew(analysis: &Analysis, what: Nuisance) -> Option<Anew> {
    analysis.drawn.iter().find(|fact| fact.what == what).map(|fact: &DrawnFact| fact.anew)
}

const ALIKE: Rate = |_, _| 20e9;

#[test]
fn the_record_has_what_was_drawn_and_the_analysis_says_so() {
    let (lines, analysis) = measured(&header(12, None, 7), ALIKE);
    let sizes = sizes(&lines);
    assert!(sizes.len() > 12 && sizes.iter().all(Option::is_some), "{sizes:?}");
    let distinct: BTreeSet<_> = sizes.iter().collect();
    assert_eq!(distinct.len(), sizes.len(), "each block has a size of its own");
    for what in [Nuisance::Ports, Nuisance::Writes, Nuisance::Order] {
        assert_eq!(anew(&analysis, what), Some(Anew::Block), "{what:?}");
    }
    for what in [Nuisance::Processes, Nuisance::Processors, Nuisance::Boot, Nuisance::Path] {
        assert_eq!(anew(&analysis, what), Some(Anew::Never), "{what:?}");
    }
}

#[test]
fn processes_are_drawn_where_both_ends_name_others() {
    let (mut lines, _) = measured(&header(12, None, 7), ALIKE);
    let mut named = |of_server: bool| {
        for line in &mut lines {
            if let Line::Trial(trial) = line {
                trial.ends.client.process = Some(trial.round);
                let server = trial.ends.server.seen_mut().unwrap();
                server.process = of_server.then_some(1_000 + trial.round);
            }
        }
        anew(&analyse(&lines).unwrap(), Nuisance::Processes)
    };
    assert_eq!(named(false), Some(Anew::Never));
    // A round of one cell is a block.
    assert_eq!(named(true), Some(Anew::Block));
}

#[test]
fn a_size_that_was_asked_for_is_not_drawn() {
    let (lines, analysis) = measured(&header(12, Some("50 kB"), 7), ALIKE);
    assert!(sizes(&lines).iter().all(Option::is_none));
    assert_eq!(anew(&analysis, Nuisance::Writes), Some(Anew::Never));
}

#[test]
fn labs_are_drawn_where_blocks_were_in_several() {
    let (lines, analysis) = measured(&header(4, None, 7), ALIKE);
    assert_eq!(anew(&analysis, Nuisance::Lab), None, "no lab was made");
    let in_labs = |of: &dyn Fn(u32) -> u32| {
        let mut lines = lines.clone();
        for line in &mut lines {
            if let Line::Block(block) = line {
                let drawn = block.drawn.as_mut().unwrap();
                drawn.lab = Some(of(block.block));
            }
        }
        anew(&analyse(&lines).unwrap(), Nuisance::Lab)
    };
    assert_eq!(in_labs(&|_| 1), Some(Anew::Never));
    assert_eq!(in_labs(&|block| block + 1), Some(Anew::Block));
    // One that was broken off and went on.
    let last = lines.iter().filter_map(|line| match line {
        Line::Block(block) => Some(block.block),
        _ => None,
    });
    let last = last.max().unwrap();
    assert_eq!(in_labs(&|block| 1 + u32::from(block == last)), Some(Anew::Never));
}

/// IPv6 is 10 % slower in the smallest writes and 20 % faster in the largest.
const GROWS: Rate = |family, bytes| match family {
    Family::V4 => 20e9,
    Family::V6 => 20e9 * (0.9 + 0.1 * (bytes / 32_768.0).log2()),
};

/// Pairs of a run in these simulations.
const PAIRS: u32 = 12;

/// Runs of each kind.
const RUNS: u64 = 200;

/// At half a segment of IPv6 left over it is 10 % faster than at none.
const WAVES: Rate = |family, bytes| match family {
    Family::V4 => 20e9,
    Family::V6 => {
        let segment = f64::from(segment(family));
        20e9 * (1.1 - 0.1 * (2.0 * (bytes % segment) / segment - 1.0).abs())
    }
};

/// What is known of a choice.
fn of(analysis: &Analysis, to: Choice) -> Option<&Sensitivity> {
    analysis.sensitivity.iter().find(|found| found.to == to)
}

/// Runs of so many pairs in which the difference depends on one of these.
fn found(rate: Rate, pairs: u32, choices: &[Choice]) -> u64 {
    let depends = |seed: &u64| {
        let (_, analysis) = measured(&header(pairs, None, *seed), rate);
        assert_eq!(analysis.sensitivity.len(), SIZED.len(), "on a fast link they are looked at");
        choices.iter().any(|to| of(&analysis, *to).is_some_and(|found| found.depends))
    };
    (0..RUNS).filter(depends).count() as u64
}

/// All that goes with the size of writes.
const SIZED: [Choice; 3] = [Choice::Writes, Choice::FirstSegments, Choice::SecondSegments];

#[test]
fn a_difference_that_goes_with_the_size_is_found() {
    let count = found(GROWS, PAIRS, &[Choice::Writes]);
    println!("{count} of {RUNS}");
    assert!(count >= RUNS * 9 / 10, "{count} of {RUNS}");
    let (_, analysis) = measured(&header(48, None, 1), GROWS);
    let by_writes = of(&analysis, Choice::Writes).unwrap();
    let [small, large] = by_writes.extremes().unwrap();
    assert!(small.range.high < 0.05 && large.range.low > 0.05, "{by_writes:?}");
    assert!(small.chosen[1] < large.chosen[0] && small.draws == 16 && large.draws == 16);
}

/// No rank correlation sees it.
#[test]
fn a_difference_that_goes_with_whole_segments_is_found() {
    let count = found(WAVES, 4 * PAIRS, &[Choice::SecondSegments]);
    println!("{count} of {RUNS}");
    assert!(count >= RUNS * 7 / 10, "{count} of {RUNS}");
}

/// Also where the size moves both families alike.
#[test]
fn without_such_a_difference_none_is_found_but_by_chance() {
    let both: Rate = |_, bytes| 20e9 * (bytes / 131_072.0).powf(0.3);
    for rate in [ALIKE, both] {
        let count = found(rate, PAIRS, &SIZED);
        println!("{count} of {RUNS}");
        assert!(count <= RUNS / 20, "{count} of {RUNS}");
    }
}

#[test]
fn where_the_line_sets_the_rate_nobody_looks() {
    let looked = |seed: &u64| {
        let (_, analysis) = measured(&header(PAIRS, None, *seed), |_, _| 94e6);
        analysis.sensitivity.len() as u64
    };
    let count: u64 = (0..RUNS).map(|seed| looked(&seed)).sum();
    assert!(count <= RUNS * SIZED.len() as u64 / 10, "{count} of {RUNS}");
    let (_, fixed) = measured(&header(PAIRS, Some("50 kB"), 1), GROWS);
    assert!(fixed.sensitivity.is_empty(), "there is no size to go with");
}

/// Ends of this program draw their reads; of a server of another kind that is not known.
#[test]
fn a_difference_that_goes_with_the_size_of_reads_is_found() {
    let (mut lines, _) = measured(&header(24, Some("50 kB"), 7), ALIKE);
    let reads = lines.iter().filter_map(|line| match line {
        Line::Block(block) => Some((block.block, f64::from(block.drawn?.read_bytes?))),
        _ => None,
    });
    let reads: BTreeMap<u32, f64> = reads.collect();
    for line in &mut lines {
        if let Line::Trial(trial) = line
            && trial.arm == Arm::B
        {
            let by = 0.9 + 0.1 * (reads[&trial.block] / 131_072.0).log2();
            trial.values.values_mut().for_each(|value| *value *= by);
        }
    }
    assert!(analyse(&lines).unwrap().sensitivity.is_empty());
    let Line::Run(run) = &mut lines[0] else { panic!("the run comes first") };
    run.session = Far::Seen(Session { protocol: 1, control: Family::V6, limits: None });
    let analysis = analyse(&lines).unwrap();
    let found = of(&analysis, Choice::Reads).unwrap();
    assert!(found.depends && found.draws == 24 && analysis.sensitivity.len() == 1, "{found:?}");
}

/// A round draws the processors of its workers.
#[test]
fn a_difference_that_goes_with_the_processor_is_found() {
    let of_step = |step: f64| {
        let (mut lines, _) = measured(&header(24, Some("50 kB"), 7), ALIKE);
        for line in &mut lines {
            if let Line::Trial(trial) = line {
                let number = trial.round % 3;
                trial.ends.client.processor = Some(number);
                let by = if trial.arm == Arm::B && number == 2 { step } else { 1.0 };
                trial.values.values_mut().for_each(|value| *value *= by);
            }
        }
        analyse(&lines).unwrap()
    };
    let analysis = of_step(1.2);
    let found = of(&analysis, Choice::ClientProcessor).unwrap();
    assert!(found.depends && found.parts.len() == 3, "{found:?}");
    let [one, other] = found.extremes().unwrap();
    assert!(other.chosen == [2.0; 2] && other.range.low > 0.1 && one.range.high < 0.1, "{found:?}");
    assert!(of(&of_step(1.0), Choice::ClientProcessor).is_some_and(|found| !found.depends));
    assert!(of(&analysis, Choice::ServerProcessor).is_none(), "nothing is known of it");
}
