//! Synthetic runs with a known change between them: the comparison must find it, and nothing else.

mod shares;

use super::super::alike;
use super::super::summary::Summary;
use super::super::tests::{EVEN, Truth, plan, run};
use super::super::{Analysis, Verdict, analyse};
use super::*;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::GateFinding;
use v6gap_core::workload::{Cell, Workload};

/// A run with its identifier, taken with a seed of its own.
fn measured(id: &str, plan: &Plan, truth: &Truth) -> (Vec<Line>, Analysis) {
    let mut lines = run(plan, 20, truth);
    if let Line::Run(header) = &mut lines[0] {
        header.id = id.parse().unwrap();
    }
    let analysis = analyse(&lines).unwrap();
    assert!(analysis.valid, "{:?}", analysis.checks);
    (lines, analysis)
}

/// Five runs of the usual set-up that were stored before: they tell how its runs scatter.
fn stored() -> Vec<Known> {
    let seeds = [101_u64, 102, 103, 104, 105];
    let of = |seed: u64| {
        let (lines, analysis) = measured(&alloc::format!("s{seed}"), &families(seed), &EVEN);
        Known::of(&analysis, &lines).unwrap()
    };
    seeds.map(of).into()
}

/// What is told of other runs does not depend on whether their journals or summaries were read.
#[test]
fn a_summary_tells_as_much_of_a_run_as_its_journal() {
    let (lines, analysis) = measured("s101", &families(101), &EVEN);
    let summary = Summary::of(&analysis, &lines, "same".to_string());
    let text = summary.encode();
    assert!(!text.contains('\n') && text.len() < 500 * analysis.questions.len() + 1000, "{text}");
    let read = Summary::decode(&text).unwrap();
    assert_eq!(read, summary);
    let (run, word) = (&analysis.run, alike::word(&analysis.run));
    let started = (&run.id, run.started_unix_ns);
    let known = Known::of(&analysis, &lines).unwrap();
    assert_eq!(Known::read(started, &word, &read), Some(known.clone()));
    assert!(stored().iter().all(|other| known.is_like(other)));
    // What another version judged may be judged otherwise now.
    let other = Summary { by: "0.0.0".to_string(), ..read };
    assert_eq!(Known::read(started, &word, &other), None);
    assert_eq!(Summary::decode(&text.replace("summary/1", "summary/0")), None);
    let mut run = analysis.run.clone();
    run.hosts.server.facts.insert("kernel".to_string(), "6.12.9".to_string());
    assert_ne!(alike::word(&run), word);
}

/// With those runs in the store.
fn compare(compared: &[Compared<'_>]) -> Result<Comparison, CompareError> {
    super::compare(compared, &stored())
}

fn families(seed: u64) -> Plan {
    plan(PerArm::FAMILIES, seed)
}

fn compared(runs: &[(Vec<Line>, Analysis)]) -> Vec<Compared<'_>> {
    runs.iter().map(|(lines, analysis)| Compared { analysis, lines }).collect()
}

fn change<'a>(found: &'a Comparison, cell: &str, metric: Metric, of: Of) -> &'a Change {
    let row = found.rows.iter().find(|r| r.cell == cell && r.metric == metric).unwrap();
    row.against[0].changes.iter().find(|c| c.of == of).unwrap()
}

/// IPv6 needs 20 % longer for round trips over UDP.
fn slower(cell: &Cell, family: Family) -> f64 {
    match (&cell.workload, family) {
        (Workload::Echo(echo), Family::V6) if echo.transport == Transport::Udp => 1.2,
        _ => 1.0,
    }
}

/// Everything takes 10 % longer, over both families alike.
fn all_slower(cell: &Cell, _: Family) -> f64 {
    if matches!(cell.workload, Workload::Echo(_)) { 1.1 } else { 1.0 }
}

#[test]
fn runs_of_one_set_up_are_the_same() {
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &EVEN)];
    let found = compare(&compared(&runs)).unwrap();
    for (row, change) in found.changes() {
        assert_eq!(change.verdict, Verdict::Same, "{}: {}", row.label, change.sentence);
    }
    assert!(found.set_up.is_empty() && found.apart.is_empty() && found.valid(), "{found:?}");
    assert_eq!(found.rows.len(), runs[0].1.questions.len());
}

/// The families by themselves: only between systems that are both emulated, or both not.
#[test]
fn times_of_an_emulated_system_are_not_compared_with_those_of_another() {
    let emulated = |id: &str, seed| {
        let (lines, mut analysis) = measured(id, &families(seed), &EVEN);
        let facts = &mut analysis.run.hosts.server.facts;
        facts.insert("emulation".into(), "QEMU".into());
        (lines, analysis)
    };
    let both = [emulated("a", 1), emulated("b", 2)];
    let known = |seed: u64| {
        let (lines, analysis) = emulated(&alloc::format!("s{seed}"), seed);
        Known::of(&analysis, &lines).unwrap()
    };
    let stored: Vec<Known> = (101..=105).map(known).collect();
    for (row, change) in super::compare(&compared(&both), &stored).unwrap().changes() {
        assert_eq!(change.verdict, Verdict::Same, "{}: {}", row.label, change.sentence);
    }
    let one = [measured("a", &families(1), &EVEN), emulated("b", 2)];
    for (row, change) in compare(&compared(&one)).unwrap().changes() {
        match change.of.arm() {
            None => assert_eq!(change.verdict, Verdict::Same, "{}", row.label),
            Some(_) => {
                assert_eq!(change.verdict, Verdict::None, "{}", row.label);
                let why = change.why_none.as_ref().unwrap();
                assert!(why.starts_with("B: its server is emulated"), "{why}");
            }
        }
    }
}

#[test]
fn the_same_values_twice_are_the_same() {
    let (lines, mut analysis) = measured("a", &families(1), &EVEN);
    let first = (lines.clone(), analysis.clone());
    analysis.run.id = "b".parse().unwrap();
    let found = compare(&compared(&[first, (lines, analysis)])).unwrap();
    for (row, change) in found.changes() {
        assert_eq!(change.verdict, Verdict::Same, "{}: {}", row.label, change.sentence);
        assert_eq!(change.effect.as_ref().unwrap().estimate, 0.0);
        assert_eq!(change.text, "no change");
    }
}

#[test]
fn a_change_of_one_family_is_found_there_and_nowhere_else() {
    let truth = Truth { factor: slower, ..EVEN };
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &truth)];
    let found = compare(&compared(&runs)).unwrap();
    for (row, change) in found.changes() {
        let injected = row.metric == Metric::Rtt && row.transport == Transport::Udp;
        let expected = match change.of {
            Of::Difference | Of::Second if injected => Verdict::Worse,
            _ => Verdict::Same,
        };
        assert_eq!(change.verdict, expected, "{}: {}", row.label, change.sentence);
        if expected == Verdict::Worse {
            let effect = change.effect.as_ref().unwrap();
            let range = effect.range95.low..=effect.range95.high;
            assert!(range.contains(&0.2), "{}: {effect:?}", row.label);
            assert!(effect.range95.high - effect.range95.low < 0.02, "{effect:?}");
        }
    }
}

/// A change that is there and lies within the margin is not called none.
#[test]
fn a_change_within_the_margin_is_told_apart_from_none() {
    // A half of the margin of round trips, over UDP and IPv6.
    let barely = |cell: &Cell, family: Family| 1.0 + (slower(cell, family) - 1.0) / 8.0;
    let truth = Truth { factor: barely, ..EVEN };
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &truth)];
    let found = compare(&compared(&runs)).unwrap();
    let one = change(&found, "rtt-udp-64", Metric::Rtt, Of::Difference);
    assert_eq!((one.verdict, one.qualifier), (Verdict::Same, Qualifier::RealButTiny), "{one:?}");
    let said = "IPv6 against IPv4: there is a change, and it does not matter: 2.";
    assert!(one.sentence.contains(said), "{}", one.sentence);
    assert!(one.sentence.contains(" % longer in B than in A ("), "{}", one.sentence);
    let none = change(&found, "rtt-tcp-64", Metric::Rtt, Of::Difference);
    assert_eq!((none.verdict, none.qualifier), (Verdict::Same, Qualifier::Plain), "{none:?}");
    assert!(none.sentence.contains("no change that matters"), "{}", none.sentence);
}

#[test]
fn what_changes_both_alike_leaves_the_difference() {
    let truth = Truth { factor: all_slower, ..EVEN };
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &truth)];
    let found = compare(&compared(&runs)).unwrap();
    for (row, change) in found.changes() {
        let expected = match change.of {
            Of::First | Of::Second if row.metric == Metric::Rtt => Verdict::Worse,
            _ => Verdict::Same,
        };
        assert_eq!(change.verdict, expected, "{}: {}", row.label, change.sentence);
    }
}

#[test]
fn the_other_way_round_every_change_is_the_opposite() {
    let truth = Truth { factor: slower, ..EVEN };
    for fixed in [false, true] {
        let plan = |seed| {
            let mut plan = families(seed);
            if fixed {
                plan.parts_mut().design.stop = Stop::Pairs { pairs: 20 };
            }
            plan
        };
        let runs = [measured("a", &plan(1), &EVEN), measured("b", &plan(2), &truth)];
        let back = [runs[1].clone(), runs[0].clone()];
        let (there, back) =
            (compare(&compared(&runs)).unwrap(), compare(&compared(&back)).unwrap());
        for ((row, there), (_, back)) in there.changes().zip(back.changes()) {
            let opposite = match there.verdict {
                Verdict::Better => Verdict::Worse,
                Verdict::Worse => Verdict::Better,
                alike => alike,
            };
            assert_eq!(back.verdict, opposite, "{}", row.label);
            let (x, y) = (there.effect.as_ref().unwrap(), back.effect.as_ref().unwrap());
            let product = match row.metric.is_loss() {
                true => 1.0 + x.estimate + y.estimate,
                false => (1.0 + x.estimate) * (1.0 + y.estimate),
            };
            assert!((product - 1.0).abs() < 1e-12, "{}: {x:?} {y:?}", row.label);
            let reach = match row.metric.is_loss() {
                true => 1.0 + x.range95.low + y.range95.high,
                false => (1.0 + x.range95.low) * (1.0 + y.range95.high),
            };
            assert!((reach - 1.0).abs() < 1e-9, "{}: {x:?} {y:?}", row.label);
        }
    }
}

/// Without runs like them a difference keeps its verdict and its doubt, and a family by itself has
/// its figures and no verdict; with enough of them both have one.
#[test]
fn a_family_by_itself_is_ruled_on_only_where_the_scatter_between_runs_is_known() {
    let truth = Truth { factor: slower, ..EVEN };
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &truth)];
    let stored = stored();
    let with = |stored: &[Known]| super::compare(&compared(&runs), stored).unwrap();
    let of = |found: &Comparison, of| change(found, "rtt-udp-64", Metric::Rtt, of).clone();
    let unknown = with(&stored[..4]);
    let difference = of(&unknown, Of::Difference);
    assert_eq!(difference.verdict, Verdict::Worse);
    let caveat = "how much differences scatter from run to run is not known; 1 more run like A \
                  would tell";
    assert_eq!(difference.caveats, [caveat]);
    let second = of(&unknown, Of::Second);
    assert_eq!((second.verdict, second.effect.is_some()), (Verdict::None, true));
    let why = second.why_none.unwrap();
    assert!(why.starts_with("how much a family by itself scatters"), "{why}");
    assert!(why.ends_with("1 more run like A would tell"), "{why}");
    let known = with(&stored);
    assert!(of(&known, Of::Difference).caveats.is_empty());
    assert_eq!(of(&known, Of::Second).verdict, Verdict::Worse);
    assert_eq!(of(&known, Of::First).verdict, Verdict::Same);
    // Runs of another plan say nothing of these.
    let mut other = families(106);
    other.parts_mut().cells.retain(|cell| cell.id != "connect-tcp");
    other.parts_mut().design.null_cells = alloc::vec![0];
    let (lines, analysis) = measured("s106", &other, &EVEN);
    let strange = Known::of(&analysis, &lines).unwrap();
    let beside = [&stored[..4], &[strange]].concat();
    assert_eq!(of(&with(&beside), Of::Second).verdict, Verdict::None);
}

/// What runs of one set-up scatter beyond their blocks widens the range of a change.
#[test]
fn scatter_between_runs_takes_a_small_change_for_what_it_may_be() {
    let factors: [fn(&Cell, Family) -> f64; 5] = [
        |_, family| if family == Family::V6 { 1.03 } else { 1.0 },
        |_, family| if family == Family::V6 { 0.97 } else { 1.0 },
        |_, family| if family == Family::V6 { 1.05 } else { 1.0 },
        |_, family| if family == Family::V6 { 0.96 } else { 1.0 },
        |_, _| 1.0,
    ];
    let of = |(at, factor): (usize, fn(&Cell, Family) -> f64)| {
        let truth = Truth { factor, ..EVEN };
        measured(&alloc::format!("s{at}"), &families(200 + at as u64), &truth)
    };
    // The two that are compared, and five others that scatter as they do.
    let both = factors.into_iter().take(2).chain(factors);
    let scattered: Vec<(Vec<Line>, Analysis)> = both.enumerate().map(of).collect();
    let known = |(lines, analysis): &(Vec<Line>, Analysis)| Known::of(analysis, lines).unwrap();
    let found = super::compare(
        &compared(&scattered[..2]),
        &scattered[2..].iter().map(known).collect::<Vec<_>>(),
    );
    let found = found.unwrap();
    let one = change(&found, "rtt-tcp-64", Metric::Rtt, Of::Difference);
    assert_eq!(one.verdict, Verdict::CannotTell, "{one:?}");
    let alone = super::compare(&compared(&scattered[..2]), &[]).unwrap();
    let one = change(&alone, "rtt-tcp-64", Metric::Rtt, Of::Difference);
    assert_eq!(one.verdict, Verdict::Better, "{one:?}");
}

/// A change is the second run's own figure less the first's.
#[test]
fn a_change_is_between_the_figures_that_the_runs_print() {
    let truth = Truth { factor: slower, ..EVEN };
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &truth)];
    let found = compare(&compared(&runs)).unwrap();
    for row in found.rows.iter().filter(|row| !row.metric.is_loss()) {
        let own = |at: usize| row.standings[at].as_ref().unwrap().effect.as_ref().unwrap().estimate;
        let change = row.against[0].changes[0].effect.as_ref().unwrap();
        let ratio = (1.0 + own(1)) / (1.0 + own(0));
        assert!((change.estimate + 1.0 - ratio).abs() < 1e-12, "{}: {change:?}", row.label);
    }
}

#[test]
fn a_factor_that_differs_is_refused_and_the_rest_is_compared() {
    let mut other = families(2);
    for cell in &mut other.parts_mut().cells {
        match &mut cell.workload {
            Workload::Echo(echo) if cell.id == "rtt-tcp-64" => echo.outstanding += 1,
            Workload::Echo(echo) => echo.turns += 1,
            _ => {}
        }
    }
    let runs = [measured("a", &families(1), &EVEN), measured("b", &other, &EVEN)];
    let found = compare(&compared(&runs)).unwrap();
    for (row, change) in found.changes() {
        if row.cell == "rtt-tcp-64" {
            assert_eq!(change.verdict, Verdict::None);
            assert_eq!(
                change.why_none.as_deref(),
                Some("a factor differs: outstanding is 1 in A and 2 in B")
            );
            assert!(change.effect.is_none(), "{change:?}");
        } else {
            assert_eq!(change.verdict, Verdict::Same, "{}", change.sentence);
        }
    }
    // How often is no factor, but it is told.
    assert!(found.set_up.iter().any(|d| d.what == "rtt-tcp-1024, turns"), "{:?}", found.set_up);
    assert!(found.valid());
}

#[test]
fn what_was_asked_for_and_not_granted_alike_is_refused() {
    let mut windows = families(1);
    let bulk = windows.parts_mut().cells.iter_mut().find_map(|cell| match &mut cell.workload {
        Workload::TcpBulk(bulk) => Some(bulk),
        _ => None,
    });
    bulk.unwrap().settings.buffer_bytes = Some(65_536);
    let with_buffer = |id: &str, seed, bytes| {
        let mut plan = windows.clone();
        plan.parts_mut().seed = seed;
        let (mut lines, _) = measured(id, &plan, &EVEN);
        for line in &mut lines {
            if let Line::Trial(trial) = line {
                trial.ends.client.granted.send_buffer = Some(bytes);
            }
        }
        let analysis = analyse(&lines).unwrap();
        (lines, analysis)
    };
    let runs = [with_buffer("a", 1, 65_536), with_buffer("b", 2, 32_768)];
    let found = compare(&compared(&runs)).unwrap();
    let of = |cell| change(&found, cell, Metric::Throughput, Of::Difference);
    let why = of("throughput-tcp").why_none.clone().unwrap();
    assert!(why.contains("send buffer of the client over IPv4 64 KiB in A, 32 KiB in B"), "{why}");
    // Where nothing was asked for, what the system chose is told and no reason to refuse.
    assert!(found.set_up.iter().any(|d| d.what == "send buffer of the client over IPv6"));
    assert_eq!(change(&found, "rtt-tcp-64", Metric::Rtt, Of::Difference).verdict, Verdict::Same);
}

#[test]
fn nothing_alike_is_refused_with_what_each_measured() {
    let mut other = families(2);
    other.parts_mut().cells.retain(|cell| cell.id == "connect-tcp");
    other.parts_mut().design.null_cells = alloc::vec![0];
    let mut first = families(1);
    first.parts_mut().cells.retain(|cell| cell.id.starts_with("rtt-tcp"));
    first.parts_mut().design.null_cells = alloc::vec![0];
    let runs = [measured("a", &first, &EVEN), measured("b", &other, &EVEN)];
    let error = compare(&compared(&runs)).unwrap_err();
    let CompareError::NothingAlike { seen } = error else { panic!("{error:?}") };
    assert_eq!(seen, ["A: rtt-tcp-64, rtt-tcp-1024, rtt-tcp-16384", "B: connect-tcp"]);
    // In all cells the same factor.
    let mut other = first.clone();
    for cell in &mut other.parts_mut().cells {
        if let Workload::Echo(echo) = &mut cell.workload {
            echo.outstanding = 4;
        }
    }
    let runs = [measured("a", &first, &EVEN), measured("b", &other, &EVEN)];
    let error = compare(&compared(&runs)).unwrap_err();
    let CompareError::NothingAlike { seen } = error else { panic!("{error:?}") };
    assert!(seen[0].starts_with("rtt-tcp-64: a factor differs: outstanding is 1"), "{seen:?}");
}

#[test]
fn other_arms_and_the_same_run_are_refused() {
    let null = plan(PerArm::null(Family::V4), 3);
    let runs = [measured("a", &families(1), &EVEN), measured("b", &null, &EVEN)];
    assert!(matches!(compare(&compared(&runs)), Err(CompareError::Arms { letter: 'B', .. })));
    let twice = [runs[0].clone(), runs[0].clone()];
    assert_eq!(compare(&compared(&twice)), Err(CompareError::Twice("a".into())));
    assert_eq!(compare(&compared(&runs[..1])), Err(CompareError::TooFew(1)));
}

#[test]
fn cells_of_one_run_alone_are_named() {
    let mut fewer = families(2);
    fewer.parts_mut().cells.retain(|cell| cell.id != "connect-tcp" && cell.id != "rtt-udp-64");
    fewer.parts_mut().design.null_cells = alloc::vec![0];
    let runs = [
        measured("a", &families(1), &EVEN),
        measured("b", &fewer, &EVEN),
        measured("c", &families(3), &EVEN),
    ];
    let found = compare(&compared(&runs)).unwrap();
    let apart: Vec<(&str, &[char])> =
        found.apart.iter().map(|a| (a.label.as_str(), a.letters.as_slice())).collect();
    assert_eq!(apart.len(), 2, "{apart:?}");
    assert!(apart.iter().all(|(_, letters)| letters == &['A', 'C']), "{apart:?}");
    let row = found.rows.iter().find(|row| row.cell == "connect-tcp").unwrap();
    assert!(row.standings[1].is_none() && row.standings[2].is_some());
    assert_eq!(row.against.iter().map(|a| a.letter).collect::<Vec<_>>(), ['C']);
    assert_eq!(found.rows[0].against.len(), 2);
}

/// A family that differs from itself speaks against what is said of either family there.
#[test]
fn a_failed_null_takes_the_verdicts_of_its_question() {
    let mut runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &EVEN)];
    for line in &mut runs[1].0 {
        if let Line::Trial(trial) = line
            && trial.arm == v6gap_core::arm::Arm::B
            && let Some(value) = trial.values.get_mut(&Metric::Throughput)
        {
            *value *= 0.9;
        }
    }
    runs[1].1 = analyse(&runs[1].0).unwrap();
    let found = compare(&compared(&runs)).unwrap();
    assert!(found.valid(), "{:?}", found.runs);
    let biased: Vec<_> = runs[1].1.nulls.iter().filter(|null| !null.passed).collect();
    assert!(!biased.is_empty());
    for (row, change) in found.changes() {
        let silent = biased.iter().any(|n| (&n.cell, n.metric) == (&row.cell, row.metric));
        assert_eq!(change.verdict == Verdict::None, silent, "{} {change:?}", row.label);
    }
}

/// An answer that is the same with all of its blocks is one of that run, and of no change.
#[test]
fn an_answer_that_stands_in_spite_of_its_discards_is_not_compared() {
    let mut runs = [measured("a", &families(1), &EVEN), measured("b", &families(8), &EVEN)];
    let mut closed = false;
    for line in &mut runs[1].0 {
        match line {
            Line::Trial(trial) => closed = trial.cell == "rtt-udp-64" && trial.round % 3 == 1,
            Line::Block(block) => block.valid = !closed,
            _ => {}
        }
    }
    runs[1].1 = analyse(&runs[1].0).unwrap();
    let answer = runs[1].1.questions.iter().find(|q| q.cell == "rtt-udp-64").unwrap();
    assert_eq!(answer.verdict, Verdict::Same);
    let found = compare(&compared(&runs)).unwrap();
    for (row, change) in found.changes() {
        let why = (row.cell == "rtt-udp-64").then_some("B: 7 of its 20 blocks were discarded");
        assert_eq!(change.why_none.as_deref(), why, "{}", row.label);
    }
}

#[test]
fn a_failed_check_of_a_run_takes_the_verdicts() {
    let mut runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &EVEN)];
    for line in &mut runs[1].0 {
        match line {
            Line::Trial(trial) => trial.findings.push(GateFinding {
                gate: "family-proved".into(),
                fatal: true,
                seen: "the client: it was another".into(),
            }),
            Line::Block(block) => block.valid = false,
            _ => {}
        }
    }
    runs[1].1 = analyse(&runs[1].0).unwrap();
    assert!(!runs[1].1.valid);
    let found = compare(&compared(&runs)).unwrap();
    assert!(found.runs[0].failed.is_none() && found.runs[1].failed.is_some(), "{:?}", found.runs);
    assert!(!found.valid());
    assert!(found.changes().all(|(_, change)| change.verdict == Verdict::None));
}

#[test]
fn holm_counts_the_runs_too() {
    let truth = Truth { factor: slower, ..EVEN };
    let mut runs = [
        measured("a", &families(1), &EVEN),
        measured("b", &families(2), &truth),
        measured("c", &families(3), &EVEN),
    ];
    // Another set-up: what it finds is no scatter of the others.
    let facts = &mut runs[1].1.run.hosts.server.facts;
    facts.insert("kernel".into(), "6.12.9".into());
    let found = compare(&compared(&runs)).unwrap();
    for (row, change) in found.changes() {
        assert!(change.p_different_adjusted >= change.p_different, "{}", row.label);
        assert!(change.p_same_adjusted >= change.p_same, "{}", row.label);
    }
    // Another run is more to be right about at once.
    let two = compare(&compared(&runs[..2])).unwrap();
    let grown = |row: &Row| {
        let of_two = |c: &Change| change(&two, &row.cell, row.metric, c.of).p_same_adjusted;
        row.against[0].changes.iter().any(|c| c.p_same_adjusted > of_two(c))
    };
    assert!(found.rows.iter().any(grown));
    let against_c = |row: &Row| row.against[1].changes.iter().all(|c| c.verdict == Verdict::Same);
    assert!(found.rows.iter().all(against_c));
}

/// What an old study said of two systems stands beside the same questions, and nowhere else.
#[test]
fn what_was_published_of_two_systems_stands_beside_the_change() {
    let studied = |seed, reference: &str| {
        let mut plan = families(seed);
        plan.parts_mut().reference = Some(reference.into());
        for cell in &mut plan.parts_mut().cells {
            if let Workload::Echo(echo) = &mut cell.workload {
                echo.settings.buffer_bytes = Some(61_440);
            }
        }
        plan
    };
    let of = |second: &str| {
        let runs = [
            measured("a", &studied(1, "raicu/tcp-100"), &EVEN),
            measured("b", &studied(2, second), &EVEN),
        ];
        compare(&compared(&runs)).unwrap().published
    };
    let found = of("raicu/tcp-100").unwrap();
    let texts: Vec<(&str, Of, &str)> =
        found.values.iter().map(|v| (v.cell.as_str(), v.of, v.text.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("rtt-tcp-64", Of::First, "3.72 % longer"),
            ("rtt-tcp-64", Of::Second, "7.29 % longer"),
            ("rtt-tcp-1024", Of::First, "3.01 % longer"),
            ("rtt-tcp-1024", Of::Second, "5.06 % longer"),
            ("rtt-tcp-16384", Of::First, "3.71 % shorter"),
            ("rtt-tcp-16384", Of::Second, "3.62 % shorter"),
        ]
    );
    assert!(found.cautions.iter().any(|c| c.contains("single runs")), "{:?}", found.cautions);
    for other in ["raicu/tcp-10", "manford/udp"] {
        assert_eq!(of(other), None, "{other}");
    }
    let runs = [measured("a", &families(1), &EVEN), measured("b", &families(2), &EVEN)];
    assert_eq!(compare(&compared(&runs)).unwrap().published, None);
}

/// What concerns both families stands beside each of them, at the packet length that it is of.
#[test]
fn what_was_published_of_both_families_stands_beside_each() {
    let of = |mss| {
        let studied = |seed| {
            let mut plan = families(seed);
            plan.parts_mut().reference = Some("soorty/tcp".into());
            for cell in &mut plan.parts_mut().cells {
                if let Workload::TcpBulk(bulk) = &mut cell.workload {
                    bulk.settings.mss_bytes = Some(mss);
                }
            }
            plan
        };
        let runs = [measured("a", &studied(1), &EVEN), measured("b", &studied(2), &EVEN)];
        let found = compare(&compared(&runs)).unwrap().published;
        let told = |found: Systems| found.values.into_iter().map(|v| (v.of, v.text)).collect();
        found.map_or_else(Vec::new, told)
    };
    assert_eq!(of(768), [Of::First, Of::Second].map(|of| (of, "6 % faster".to_string())));
    assert_eq!(of(1408), []);
}
