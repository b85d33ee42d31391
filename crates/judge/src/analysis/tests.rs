//! Synthetic runs with a known truth: the analysis must find it, and nothing else.

use super::*;
use alloc::collections::BTreeMap;
use proptest::prelude::*;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::boxed::Box;
use v6gap_core::observation::{
    Busy, ConnectionMemory, Connections, EndReport, Endpoints, Ends, Far, MachineUse, Measured,
    PerEnd, Received, Sent,
};
use v6gap_core::plan::{Plan, Stop, preset};
use v6gap_core::record::{BlockRecord, Drawn, FailedAttempt, Host, TrialRecord, decode};
use v6gap_core::schedule;
use v6gap_core::workload::{Cell, Workload};
use v6gap_core::world::{LinkModel, World};

/// A run that never took place: what each cell's values are for each family, and the noise.
pub(crate) struct Truth {
    pub factor: fn(&Cell, Family) -> f64,
    pub noise: f64,
    /// A difference between the turns that has nothing to do with the families.
    pub second_turn: f64,
}

pub(crate) const EVEN: Truth = Truth { factor: |_, _| 1.0, noise: 0.003, second_turn: 0.0 };

/// Datagrams of a trial: bursts of losses would not have gone unseen.
const PACKETS: u64 = 2_000_000;

pub(super) fn base(cell: &Cell) -> f64 {
    match &cell.workload {
        Workload::TcpBulk(_) => 94.148e6,
        Workload::UdpBulk(_) => 95.522e6,
        Workload::Echo(echo) => 60e-6 + f64::from(echo.message_bytes) * 16.0 / 100e6,
        Workload::Connect(_) => 110e-6,
        Workload::Probe(_) => 90e-6,
        Workload::Capacity(_) => 97.05e6,
        Workload::Frames(_) => 0.02,
        Workload::Visit(_) | Workload::Lookup(_) => 0.05,
    }
}

fn unit(rng: &mut ChaCha12Rng) -> f64 {
    (rng.next_u32() as f64 + 0.5) / f64::from(u32::MAX)
}

/// Roughly normal: the sum of twelve uniforms.
pub(super) fn normal(rng: &mut ChaCha12Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

pub(crate) fn plan(arms: PerArm<Family>, seed: u64) -> Plan {
    let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let mut plan = preset::first_look(arms, Some(world), seed);
    plan.parts_mut().design.null_fewer.clear();
    plan
}

pub(super) fn header(plan: Plan) -> RunHeader {
    RunHeader {
        tool: "0.1.0".into(),
        target: "server".into(),
        ..RunHeader::new("test".parse().unwrap(), plan)
    }
}

fn ends(family: Family) -> PerEnd<EndReport> {
    let socket = |text: &str| text.parse().unwrap();
    let (local, peer) = match family {
        Family::V4 => (socket("10.46.1.2:30000"), socket("10.46.2.2:4466")),
        Family::V6 => (socket("[fd46:1::2]:30000"), socket("[fd46:2::2]:4466")),
    };
    let endpoints = Some(Endpoints { domain: family, local, peer });
    let end = EndReport { endpoints, ..EndReport::default() };
    PerEnd { client: end.clone(), server: end }
}

fn trial(
    plan: &Plan,
    block: &schedule::Block,
    number: u32,
    arm: Arm,
    truth: &Truth,
    rng: &mut ChaCha12Rng,
) -> TrialRecord {
    let cell = &plan.cells[block.cell];
    let family = match block.kind {
        BlockKind::Compare => *plan.design.arms.get(arm),
        BlockKind::Null(family) => family,
    };
    let second = block.order.arms()[1] == arm;
    let mut value = base(cell) * (truth.factor)(cell, family);
    value *= libm::exp(truth.noise * normal(rng) + if second { truth.second_turn } else { 0.0 });
    let mut ends = ends(family);
    let mut values: BTreeMap<Metric, f64> = [(cell.workload.metrics()[0], value)].into();
    if let Workload::UdpBulk(_) = cell.workload {
        values.extend([Metric::Loss, Metric::Reordering, Metric::Duplication].map(|m| (m, 0.0)));
        let (packets, received) = (PACKETS, Received { packets: PACKETS, ..Received::default() });
        ends.client.measured = Measured::Sent(Sent { packets, ..Sent::default() });
        ends.server.measured = Measured::Received(received);
    }
    TrialRecord {
        block: number,
        kind: block.kind,
        round: block.round,
        arm,
        order: block.order,
        started_unix_ns: u64::from(number) * 1_000_000,
        started_ns: u64::from(number) * 1_000_000,
        duration_ns: 900_000,
        values,
        ends: ends.into(),
        ..blank(&cell.id, family)
    }
}

/// A trial of the first round in which nothing was seen.
pub(crate) fn blank(cell: &str, family: Family) -> TrialRecord {
    TrialRecord {
        block: 0,
        cell: cell.into(),
        kind: BlockKind::Compare,
        round: 1,
        arm: Arm::A,
        family,
        order: TurnOrder::Ab,
        attempt: 0,
        started_unix_ns: 0,
        started_ns: 0,
        duration_ns: 0,
        values: BTreeMap::new(),
        ends: PerEnd::default(),
        findings: Vec::new(),
        link: None,
        beside: None,
    }
}

/// An attempt of the first round that one family refused.
pub(crate) fn refused(cell: &str, family: Option<Family>) -> FailedAttempt {
    FailedAttempt {
        block: 0,
        cell: cell.into(),
        kind: BlockKind::Compare,
        round: 1,
        attempt: 0,
        family,
        error: "refused".into(),
        why: "refused".into(),
        drawn: Drawn {
            seed: 1,
            order: TurnOrder::Ab,
            write_bytes: None,
            read_bytes: None,
            lab: None,
        },
    }
}

pub(crate) fn run(plan: &Plan, rounds: u32, truth: &Truth) -> Vec<Line> {
    run_of(plan, rounds, truth, 1)
}

/// With so many blocks of each cell in a round.
pub(super) fn run_of(plan: &Plan, rounds: u32, truth: &Truth, count: u32) -> Vec<Line> {
    let mut rng = ChaCha12Rng::seed_from_u64(plan.seed ^ 0x5eed);
    let mut lines = alloc::vec![Line::Run(Box::new(header(plan.clone())))];
    let mut number = 0;
    for round in 0..=rounds {
        for block in schedule::round_of(plan, round, |_| count) {
            for arm in block.order.arms() {
                let trial = trial(plan, &block, number, arm, truth, &mut rng);
                lines.push(Line::Trial(Box::new(trial)));
            }
            lines.push(Line::Block(BlockRecord { block: number, valid: true, drawn: None }));
            number += 1;
        }
    }
    lines.push(Line::End(Ending::Complete));
    lines
}

fn question<'a>(analysis: &'a Analysis, cell: &str, metric: Metric) -> &'a Question {
    analysis.questions.iter().find(|q| q.cell == cell && q.metric == metric).unwrap()
}

#[test]
fn an_even_world_makes_no_difference() {
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 1), 20, &EVEN)).unwrap();
    assert!(analysis.valid, "{:?}", analysis.checks);
    for question in &analysis.questions {
        assert_eq!(question.verdict, Verdict::Same, "{}", question.sentence);
    }
    assert_eq!(analysis.rounds, 20);
}

/// IPv6 carries what the header lets it: 1428 of 1448 bytes.
fn header_only(cell: &Cell, family: Family) -> f64 {
    match (&cell.workload, family) {
        (Workload::TcpBulk(_), Family::V6) => 1428.0 / 1448.0,
        (Workload::UdpBulk(_), Family::V6) => 1474.0 / 1494.0,
        _ => 1.0,
    }
}

#[test]
fn the_header_explains_what_it_costs() {
    let truth = Truth { factor: header_only, ..EVEN };
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 2), 20, &truth)).unwrap();
    let throughput = question(&analysis, "throughput-tcp", Metric::Throughput);
    assert_eq!(throughput.verdict, Verdict::Same);
    assert_eq!(throughput.qualifier, Qualifier::RealButTiny);
    let prediction = throughput.prediction.as_ref().unwrap();
    assert!((prediction.effect - (1428.0 / 1448.0 - 1.0)).abs() < 1e-12);
    assert_eq!(prediction.verdict, Verdict::Same);
    assert_eq!(prediction.explained, Some(Explained::All));
    assert!(throughput.sentence.contains("header explains it"), "{}", throughput.sentence);
}

fn slow_v6(cell: &Cell, family: Family) -> f64 {
    match (&cell.workload, family) {
        (Workload::TcpBulk(_) | Workload::UdpBulk(_), Family::V6) => 0.90,
        (_, Family::V6) => 1.2,
        _ => 1.0,
    }
}

#[test]
fn a_slow_family_is_found_and_the_header_does_not_explain_it() {
    let truth = Truth { factor: slow_v6, ..EVEN };
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 3), 12, &truth)).unwrap();
    let throughput = question(&analysis, "throughput-tcp", Metric::Throughput);
    assert_eq!((throughput.verdict, throughput.qualifier), (Verdict::Worse, Qualifier::Clear));
    let explained = throughput.prediction.as_ref().unwrap().explained;
    assert_eq!(explained, Some(Explained::Little));
    let rtt = question(&analysis, "rtt-udp-64", Metric::Rtt);
    assert_eq!(rtt.verdict, Verdict::Worse);
    let range = rtt.effect.as_ref().unwrap().range95;
    assert!(range.low < 0.2 && 0.2 < range.high, "{range:?}");
}

#[test]
fn too_few_pairs_give_no_verdict() {
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 4), 3, &EVEN)).unwrap();
    for question in &analysis.questions {
        assert_eq!(question.verdict, Verdict::None);
        assert!(question.why_none.as_ref().unwrap().contains("only 3 valid pairs"));
    }
}

#[test]
fn noise_leaves_the_question_open() {
    let truth = Truth { noise: 0.2, ..EVEN };
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 5), 8, &truth)).unwrap();
    let throughput = question(&analysis, "throughput-tcp", Metric::Throughput);
    assert_eq!(throughput.verdict, Verdict::CannotTell);
    assert!(throughput.pairs_to_settle.is_some_and(|pairs| pairs > 8));
    assert!(throughput.sentence.contains("could not tell"));
}

/// No number of pairs is promised that would take ten times what the plan allows.
#[test]
fn what_no_run_would_settle_soon_names_no_pairs() {
    let truth = Truth { noise: 0.2, ..EVEN };
    let mut plan = plan(PerArm::FAMILIES, 5);
    plan.parts_mut().design.stop = Stop::within(1_000_000);
    let analysis = analyse(&run(&plan, 8, &truth)).unwrap();
    let throughput = question(&analysis, "throughput-tcp", Metric::Throughput);
    assert_eq!((throughput.verdict, throughput.pairs_to_settle), (Verdict::CannotTell, None));
    assert!(throughput.out_of_reach && throughput.sentence.contains("No run of this kind"));
}

#[test]
fn an_effect_of_the_turn_is_balanced_out_and_noted() {
    let truth = Truth { second_turn: 0.03, noise: 0.002, ..EVEN };
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 7), 20, &truth)).unwrap();
    let order = analysis.checks.iter().find(|c| c.id == "order").unwrap();
    assert_eq!(order.state, CheckState::Note);
    assert!(analysis.steadiness.order.found, "{:?}", analysis.steadiness);
    let throughput = question(&analysis, "throughput-tcp", Metric::Throughput);
    let range = throughput.effect.as_ref().unwrap();
    assert!(range.estimate.abs() < 0.005, "{range:?}");
    let order = throughput.diagnostics.order.unwrap();
    assert!(order.p < 1e-6 && (order.means[0] - order.means[1] - 0.06).abs() < 0.01, "{order:?}");
    assert!(order.stratified.abs() < 0.005, "{order:?}");
    // Two groups of differences, and what makes them.
    let modes = throughput.diagnostics.modes.as_ref().unwrap();
    assert_eq!(modes.goes_with.as_deref(), Some("which family went first"));
}

/// A processor that makes every second trial of one family slow gives two groups, and is named.
#[test]
fn a_placement_that_goes_with_two_groups_is_named() {
    let mut lines = run(&plan(PerArm::FAMILIES, 12), 24, &EVEN);
    let mut seen = 0;
    for line in &mut lines {
        if let Line::Trial(trial) = line
            && trial.arm == Arm::B
            && trial.kind == BlockKind::Compare
            && let Some(value) = trial.values.get_mut(&Metric::Throughput)
        {
            let slow = seen % 3 == 0;
            seen += 1;
            trial.ends.server.seen_mut().unwrap().granted.incoming_processor =
                Some(if slow { 3 } else { 1 });
            *value *= if slow { 0.8 } else { 1.0 };
        }
    }
    let analysis = analyse(&lines).unwrap();
    let question = question(&analysis, "throughput-tcp", Metric::Throughput);
    let told = question.caveats.iter().find(|c| c.contains("two groups")).unwrap();
    assert!(told.contains("33 % around −20 % and 67 % around +"), "{told}");
    assert!(told.ends_with("which go with the server's receiving processor of IPv6"), "{told}");
}

/// A block that lies far off is named and counts.
#[test]
fn an_outlier_is_marked_and_kept() {
    let mut lines = run(&plan(PerArm::FAMILIES, 13), 20, &EVEN);
    let mut wild = None;
    for line in &mut lines {
        if let Line::Trial(trial) = line
            && trial.kind == BlockKind::Compare
            && trial.arm == Arm::A
            && trial.round == 9
            && let Some(value) = trial.values.get_mut(&Metric::Throughput)
        {
            *value *= 0.5;
            wild = Some(trial.block);
        }
    }
    let analysis = analyse(&lines).unwrap();
    let question = question(&analysis, "throughput-tcp", Metric::Throughput);
    let far: Vec<u32> = question.diagnostics.far().collect();
    assert_eq!((far, question.effect.as_ref().unwrap().blocks), (wild.into_iter().collect(), 20));
    let check = analysis.checks.iter().find(|c| c.id == "outliers").unwrap();
    assert!(check.text.contains("1 pair of Throughput, TCP"), "{}", check.text);
}

/// Both families of p-values are corrected, and those of a sweep only together.
#[test]
fn p_values_are_corrected_after_holm() {
    let analysis = analyse(&run(&plan(PerArm::FAMILIES, 14), 12, &EVEN)).unwrap();
    for q in &analysis.questions {
        let d = &q.diagnostics;
        assert!(d.p_different_adjusted >= d.p_different && d.p_same_adjusted >= d.p_same);
        assert!(q.verdict != Verdict::Same || d.p_same_adjusted <= 0.05, "{}", q.sentence);
    }
    let sweep: Vec<&Diagnostics> = analysis
        .questions
        .iter()
        .filter(|q| q.metric == Metric::Rtt && q.transport == Transport::Udp)
        .map(|q| &q.diagnostics)
        .collect();
    assert!(sweep.len() > 1);
    let smallest = sweep.iter().min_by(|a, b| a.p_same.total_cmp(&b.p_same)).unwrap();
    let expected = (smallest.p_same * sweep.len() as f64).min(1.0);
    assert!((smallest.p_same_adjusted / expected - 1.0).abs() < 1e-12);
}

#[test]
fn a_broken_block_is_left_out() {
    let mut lines = run(&plan(PerArm::FAMILIES, 9), 8, &EVEN);
    lines.truncate(lines.len() - 3);
    let analysis = analyse(&lines).unwrap();
    assert_eq!(analysis.stopped.as_deref(), Some("broken off"));
    assert_eq!(analysis.rounds, 7);
}

#[test]
fn a_null_run_speaks_of_one_family() {
    let lines = run(&plan(PerArm::null(Family::V6), 10), 10, &EVEN);
    let analysis = analyse(&lines).unwrap();
    assert_eq!(analysis.arm_names.b, "IPv6 again");
}

#[test]
fn a_stored_value_that_its_evidence_does_not_give_is_told() {
    let stored = include_str!("../../../core/testdata/v2/journal.jsonl");
    let mut lines: Vec<Line> = stored.lines().map(|l| decode(l).unwrap()).collect();
    let told = |lines: &[Line]| {
        let analysis = analyse(lines).unwrap();
        analysis.checks.into_iter().find(|check| check.id == "recomputed")
    };
    assert_eq!(told(&lines), None);
    let values = lines.iter_mut().find_map(|line| match line {
        Line::Trial(trial) => Some(&mut trial.values),
        _ => None,
    });
    *values.unwrap().values_mut().next().unwrap() *= 1.0 + 1e-6;
    let found = told(&lines).unwrap();
    assert_eq!(found.state, CheckState::Note);
    assert!(found.text.starts_with("of 1 trials"), "{}", found.text);
}

#[test]
fn journals_that_are_none_are_refused() {
    assert_eq!(analyse(&[]), Err(AnalysisError::NoHeader));
    let lines = run(&plan(PerArm::FAMILIES, 1), 1, &EVEN);
    let twice = [lines.clone(), lines].concat();
    assert_eq!(analyse(&twice), Err(AnalysisError::TwoHeaders));
}

/// Exchanges what was measured of the two arms and leaves every label as it is.
fn swapped(lines: &[Line]) -> Vec<Line> {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        if let Line::Trial(trial) = line {
            trial.arm = trial.arm.other();
            trial.order = trial.order.reversed();
            if trial.kind == BlockKind::Compare {
                trial.family = trial.family.other();
                let server = trial.ends.server.seen().unwrap().clone();
                let ends = ends(trial.family);
                trial.ends = Ends {
                    client: EndReport {
                        endpoints: ends.client.endpoints,
                        ..trial.ends.client.clone()
                    },
                    server: Far::Seen(EndReport { endpoints: ends.server.endpoints, ..server }),
                };
            }
        }
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Swapping the families' labels swaps the verdict and nothing else.
    #[test]
    fn swapping_the_labels_swaps_the_verdict(
        seed in 0..1000_u64,
        rounds in 6..16_u32,
        noise in 0.001..0.05_f64,
        v6 in 0.85..1.15_f64,
    ) {
        let plan = plan(PerArm::FAMILIES, seed);
        let mut lines = run(&plan, rounds, &Truth { noise, ..EVEN });
        for line in &mut lines {
            if let Line::Trial(trial) = line && trial.family == Family::V6 {
                trial.values.values_mut().for_each(|v| *v *= v6);
            }
        }
        let here = analyse(&lines).unwrap();
        let there = analyse(&swapped(&lines)).unwrap();
        prop_assert_eq!(here.valid, there.valid);
        prop_assert_eq!(here.rounds, there.rounds);
        for (x, y) in here.questions.iter().zip(&there.questions) {
            let mirrored = match x.verdict {
                Verdict::Better => Verdict::Worse,
                Verdict::Worse => Verdict::Better,
                other => other,
            };
            prop_assert_eq!(mirrored, y.verdict);
            prop_assert_eq!(x.qualifier, y.qualifier);
            prop_assert_eq!(x.values.a, y.values.b);
            prop_assert_eq!(x.pairs_to_settle, y.pairs_to_settle);
            if let (Some(x), Some(y), Scale::Ratio) = (&x.effect, &y.effect, x.metric.scale()) {
                prop_assert!(((1.0 + x.estimate) * (1.0 + y.estimate) - 1.0).abs() < 1e-9);
            }
        }
    }

    /// No sentence breaks the rules of language, whatever was measured.
    #[test]
    fn words_keep_the_rules(
        seed in 0..1000_u64,
        rounds in 1..14_u32,
        noise in 0.0..0.5_f64,
        v6 in 0.3..3.0_f64,
    ) {
        let plan = plan(PerArm::FAMILIES, seed);
        let mut lines = run(&plan, rounds, &Truth { noise, ..EVEN });
        for line in &mut lines {
            if let Line::Trial(trial) = line && trial.family == Family::V6 {
                trial.values.values_mut().for_each(|v| *v *= v6);
            }
        }
        let analysis = analyse(&lines).unwrap();
        let mut texts = Vec::new();
        for q in &analysis.questions {
            texts.push(q.sentence.clone());
            if matches!(q.verdict, Verdict::Better | Verdict::Worse) {
                prop_assert!(q.sentence.contains("between") || q.sentence.contains(" to "));
            }
            if q.verdict == Verdict::CannotTell {
                prop_assert!(!q.sentence.contains("no difference that matters"));
            }
        }
        for text in texts {
            for word in ["significant", "proves", "p-value", "NaN"] {
                prop_assert!(!text.contains(word), "{}", text);
            }
        }
    }
}

#[test]
fn no_text_of_a_run_that_was_cut_short_shows_an_infinite_number() {
    for rounds in 1..5 {
        let analysis = analyse(&run(&plan(PerArm::FAMILIES, 5), rounds, &EVEN)).unwrap();
        for question in &analysis.questions {
            for text in [&question.text, &question.range_text, &question.sentence] {
                assert!(!text.contains("inf") && !text.contains("NaN"), "{rounds}: {text}");
            }
        }
    }
}

/// Medians of each family over valid blocks; one machine at both ends counts once.
#[test]
fn what_trials_took_stands_beside_the_answer() {
    let mut lines = run(&plan(PerArm::FAMILIES, 1), 8, &EVEN);
    for line in &mut lines {
        let Line::Trial(trial) = line else { continue };
        let v6 = u64::from(trial.family == Family::V6);
        if trial.cell == "throughput-udp-1408" {
            let busy = |span_ns, busy_ns| Busy { span_ns, busy_ns, interrupts_ns: 0 };
            for end in [&mut trial.ends.client, trial.ends.server.seen_mut().unwrap()] {
                (end.user_ns, end.system_ns) = (Some(1_000), Some(2_000));
                let (trial, idle) = (busy(1_000, 20_000 + 1_000 * v6), Some(busy(1_000, 1_000)));
                end.machine = Some(MachineUse { machine: 1, trial, idle });
            }
            let server = trial.ends.server.seen_mut().unwrap();
            if let Measured::Received(received) = &mut server.measured {
                received.bytes = 10_000;
            }
        } else if trial.cell == "connect-tcp" {
            let memory = ConnectionMemory {
                connections: 1_000,
                slab_bytes_each: Some(2_368.0 + 128.0 * v6 as f64),
                page_bytes_each: Some(4.0),
                socket_bytes_each: None,
            };
            let held = Connections { memory: Some(memory), ..Connections::default() };
            trial.ends.client.measured = Measured::Connections(held.into());
        }
    }
    let analysis = analyse(&lines).unwrap();
    let times = analysis.processor_time.iter();
    let machine: Vec<_> = times.map(|p| (p.family, p.machine_ns_per_byte)).collect();
    assert_eq!(machine, [(Family::V4, Some(1.9)), (Family::V6, Some(2.0))]);
    let one = &analysis.processor_time[0];
    assert_eq!((one.threads_ns_per_byte.client, one.ns_per_packet), (0.3, Some(0.0095)));
    assert_eq!((one.one_machine, one.idle_processors.client), (true, Some(1.0)));
    let each: Vec<_> = analysis.memory.iter().map(|m| (m.family, m.bytes_each)).collect();
    assert_eq!(each, [(Family::V4, Some(2_372.0)), (Family::V6, Some(2_500.0))]);
    assert_eq!(analysis.memory[0].socket_bytes_each, None);
}

/// Trap: times of a computed processor pass for those of a computer.
#[test]
fn an_emulated_server_is_noted_with_its_kernel() {
    let noted = |facts: &[(&str, &str)]| {
        let mut lines = run(&plan(PerArm::FAMILIES, 1), 8, &EVEN);
        if let Some(Line::Run(header)) = lines.first_mut() {
            let facts = facts.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            header.hosts.server = Host { name: "server".into(), facts: facts.collect() };
        }
        let checks = analyse(&lines).unwrap().checks.into_iter();
        let notes = checks.filter(|c| c.id == "emulation" && c.state == CheckState::Note);
        notes.map(|c| c.text).collect::<Vec<_>>()
    };
    assert!(noted(&[("kernel", "6.12.9")]).is_empty());
    let found = noted(&[("kernel", "6.1.0"), ("emulation", "QEMU: times include it")]);
    assert_eq!(found.len(), 1);
    for part in ["server is another system", "the kernel 6.1.0", "by QEMU: times include it"] {
        assert!(found[0].contains(part), "{found:?}");
    }
}

/// Trap: flows of one family meet another queue of the card, and so another processor.
#[test]
fn families_that_come_in_over_different_processors_are_noted() {
    let noted = |places: fn(&TrialRecord) -> (Option<u32>, Option<u32>)| {
        let mut lines = run(&plan(PerArm::FAMILIES, 1), 8, &EVEN);
        for line in &mut lines {
            let Line::Trial(trial) = line else { continue };
            let (processor, queue) = places(trial);
            let granted = &mut trial.ends.server.seen_mut().unwrap().granted;
            (granted.incoming_processor, granted.incoming_queue) = (processor, queue);
        }
        let checks = analyse(&lines).unwrap().checks.into_iter();
        let notes = checks.filter(|c| c.id == "placement" && c.state == CheckState::Note);
        notes.map(|c| c.text).collect::<Vec<_>>()
    };
    assert!(noted(|_| (None, None)).is_empty());
    assert!(noted(|_| (Some(1), Some(8))).is_empty());
    // Another place in every block, but the same for both arms of it.
    assert!(noted(|t| (Some(t.block % 3), None)).is_empty());
    let apart = noted(|t| (Some(u32::from(t.family == Family::V6)), Some(8)));
    assert_eq!(apart.len(), 1);
    assert!(apart[0].contains("different processors of the server"), "{apart:?}");
    let apart = noted(|t| (None, Some(8 + u32::from(t.family == Family::V6))));
    assert!(apart[0].contains("different receive queues of the server"), "{apart:?}");
}
