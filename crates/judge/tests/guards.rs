//! Whole runs with known noise and no difference between the arms: measured block by block, stopped
//! by the stopping rule, answered by the analysis. What is called different is called so wrongly.
//!
//! Seeds are fixed; the rates hold for the rule, not for luck: a count may exceed the promised rate
//! by three binomial standard deviations.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::arm::{Arm, BlockKind, PerArm, TurnOrder};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, PerEnd};
use v6gap_core::plan::{Plan, Stop, preset};
use v6gap_core::record::{BlockRecord, Ending, Line, RunHeader, TrialRecord};
use v6gap_core::run::Judge;
use v6gap_judge::analysis::{self, Analysis, Verdict};
use v6gap_judge::stopping::Interim;

/// Runs in each world.
const RUNS: u32 = 200;

/// Blocks that the time allows.
const BLOCKS_MAX: u64 = 48;

const SECOND: u64 = 1_000_000_000;

/// How the logarithm of the ratio of a block differs from the truth: always with standard deviation
/// about 1 and symmetric about 0, except where the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Normal,
    Laplace,
    /// One block in twenty with ten times the noise.
    Outliers,
    /// Two modes, alike often.
    TwoModes,
    /// Neighbours resemble each other.
    Resembling(f64),
    /// The path changes for one arm in the middle of the time, by three deviations.
    Step,
    /// One arm drifts by four deviations over the time.
    Drift,
    /// One block in ten is slow in one arm or the other.
    Slow,
}

struct Source(ChaCha12Rng);

impl Source {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn series(&mut self, noise: Noise) -> Vec<f64> {
        let mut before = self.normal();
        (0..BLOCKS_MAX)
            .map(|i| {
                let time = i as f64 / (BLOCKS_MAX - 1) as f64;
                let side = if self.uniform() < 0.5 { -1.0 } else { 1.0 };
                match noise {
                    Noise::Normal => self.normal(),
                    Noise::Laplace => -side * self.uniform().ln() / 2_f64.sqrt(),
                    Noise::Outliers if self.uniform() < 0.05 => 10.0 * self.normal(),
                    Noise::Outliers => self.normal(),
                    Noise::TwoModes => side + 0.15 * self.normal(),
                    Noise::Resembling(r) => {
                        before = r * before + (1.0 - r * r).sqrt() * self.normal();
                        before
                    }
                    Noise::Step => self.normal() + if time < 0.5 { -1.5 } else { 1.5 },
                    Noise::Drift => self.normal() + 4.0 * (time - 0.5),
                    Noise::Slow if self.uniform() < 0.1 => side * 8.0 + self.normal(),
                    Noise::Slow => self.normal(),
                }
            })
            .collect()
    }
}

fn plan(seed: u64, pairs_min: u32) -> Plan {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, seed);
    plan.parts_mut().cells.truncate(1);
    plan.parts_mut().design.stop = Stop::Adaptive { time_ns_max: BLOCKS_MAX * SECOND, pairs_min };
    plan
}

fn header(plan: Plan) -> RunHeader {
    RunHeader {
        tool: "0.1.0".into(),
        target: "server".into(),
        ..RunHeader::new("test".parse().unwrap(), plan)
    }
}

fn trial(plan: &Plan, block: u32, arm: Arm, value: f64) -> TrialRecord {
    let cell = &plan.cells[0];
    let ends = PerEnd { client: EndReport::default(), server: EndReport::default() };
    TrialRecord {
        block,
        cell: cell.id.clone(),
        kind: BlockKind::Compare,
        round: block + 1,
        arm,
        family: *PerArm::FAMILIES.get(arm),
        order: if block.is_multiple_of(2) { TurnOrder::Ab } else { TurnOrder::Ba },
        attempt: 0,
        started_unix_ns: u64::from(block) * SECOND,
        started_ns: u64::from(block) * SECOND,
        duration_ns: SECOND / 4,
        values: cell.workload.metrics().iter().map(|&m| (m, value)).collect(),
        ends: ends.into(),
        findings: Vec::new(),
        link: None,
        beside: None,
    }
}

/// A run whose arms differ by `truth` and whose blocks have a noise of `sd`, both logarithms.
fn run(noise: Noise, sd: f64, truth: f64, seed: u64, pairs_min: u32) -> Analysis {
    let plan = plan(seed, pairs_min);
    let mut source = Source(ChaCha12Rng::seed_from_u64(seed));
    let mut progress = Interim::new(&plan, &[]);
    let mut lines = vec![Line::Run(Box::new(header(plan.clone())))];
    for (block, d) in source.series(noise).into_iter().enumerate() {
        let block = block as u32;
        let a = trial(&plan, block, Arm::A, 1e8);
        let b = trial(&plan, block, Arm::B, 1e8 * (truth + sd * d).exp());
        progress.add(&a, &b);
        lines.extend([Line::Trial(Box::new(a)), Line::Trial(Box::new(b))]);
        lines.push(Line::Block(BlockRecord { block, valid: true, drawn: None }));
        if progress.complete(block + 1, u64::from(block + 1) * SECOND, SECOND) {
            break;
        }
    }
    lines.push(Line::End(Ending::Complete));
    analysis::analyse(&lines).expect("the journal of a run")
}

/// How often each verdict was given, and what the guards did.
#[derive(Debug, Default)]
struct Verdicts {
    different: u32,
    same: u32,
    open: u32,
    none: u32,
    unsteady: u32,
    grouped: u32,
}

/// The verdicts of many runs with a difference of `truth` and a noise of `sd` margins.
fn verdicts(noise: Noise, sd: f64, truth: f64, pairs_min: u32) -> Verdicts {
    let mut counts = Verdicts::default();
    let margin = Metric::Throughput.margin_default().ln_1p();
    for seed in 0..RUNS {
        let run = run(noise, sd * margin, truth * margin, u64::from(seed), pairs_min);
        let question = &run.questions[0];
        match question.verdict {
            Verdict::Better | Verdict::Worse => counts.different += 1,
            Verdict::Same => counts.same += 1,
            Verdict::CannotTell => counts.open += 1,
            Verdict::None => counts.none += 1,
        }
        counts.unsteady += u32::from(question.diagnostics.unsteady.is_some());
        counts.grouped += u32::from(question.diagnostics.modes.is_some());
    }
    counts
}

/// Three standard deviations of a number of runs at a rate.
fn at_most(rate: f64) -> u32 {
    let runs = f64::from(RUNS);
    (rate * runs + 3.0 * (rate * (1.0 - rate) * runs).sqrt()) as u32
}

/// With the noise as large as the margin a run may stop at any look; with three times as much it
/// looks as often as it can. The guards must not cost ordinary runs their answer.
#[test]
fn noise_is_rarely_called_a_difference() {
    let worlds = [
        Noise::Normal,
        Noise::Laplace,
        Noise::Outliers,
        Noise::TwoModes,
        Noise::Resembling(0.3),
        Noise::Slow,
    ];
    for noise in worlds {
        for sd in [1.0, 3.0] {
            let found = verdicts(noise, sd, 0.0, 8);
            assert!(
                f64::from(found.different) <= 0.05 * f64::from(RUNS),
                "{noise:?} {sd} {found:?}"
            );
            assert!(found.none <= at_most(0.02), "{noise:?} {sd} {found:?}");
            if noise == Noise::Normal {
                assert!(found.unsteady <= at_most(0.03), "{sd} {found:?}");
                assert!(found.grouped <= at_most(0.01), "{sd} {found:?}");
            }
            if noise == Noise::TwoModes {
                assert!(found.grouped > RUNS / 2, "{sd} {found:?}");
            }
        }
    }
}

/// A difference as large as the margin is rarely called the same, and one that is clear is found:
/// neither Holm's correction nor a guard gives one away.
#[test]
fn margins_are_kept_and_clear_differences_found() {
    for noise in [Noise::Normal, Noise::Laplace, Noise::Outliers, Noise::TwoModes] {
        for sd in [0.5, 1.0] {
            let found = verdicts(noise, sd, 1.0, 8);
            assert!(found.same <= at_most(0.05), "{noise:?} {sd} {found:?}");
        }
        let found = verdicts(noise, 0.5, 3.0, 8);
        assert!(found.different >= RUNS * 97 / 100, "{noise:?} {found:?}");
    }
}

/// A difference that comes and goes over the whole of a run is no answer, and is told as what it
/// is; one that neighbours share is answered by batches of them or not at all.
#[test]
fn what_is_not_steady_is_not_answered() {
    for noise in [Noise::Step, Noise::Drift] {
        let found = verdicts(noise, 1.0, 0.0, BLOCKS_MAX as u32);
        assert!(found.unsteady >= RUNS * 98 / 100, "{noise:?} {found:?}");
        assert!(found.none >= RUNS * 95 / 100, "{noise:?} {found:?}");
    }
    let found = verdicts(Noise::Resembling(0.6), 1.0, 0.0, BLOCKS_MAX as u32);
    assert!(found.unsteady >= RUNS * 80 / 100, "{found:?}");
    assert!(found.different <= at_most(0.05), "{found:?}");
}

/// Each guard says what it saw and what to do.
#[test]
fn guards_speak_in_words() {
    let margin = Metric::Throughput.margin_default().ln_1p();
    let question =
        |noise, sd| run(noise, sd * margin, 0.0, 3, BLOCKS_MAX as u32).questions.remove(0);
    let step = question(Noise::Step, 1.0);
    let why = step.why_none.unwrap();
    assert!(why.starts_with("the difference changed at block 2"), "{why}");
    assert!(why.contains("slower before and ") && why.contains("faster after; find out"), "{why}");
    assert!(step.sentence.contains("has no verdict"), "{}", step.sentence);
    let two = question(Noise::TwoModes, 3.0);
    let told = two.caveats.iter().find(|c| c.contains("two groups")).unwrap();
    assert!(told.contains("nothing recorded that would explain"), "{told}");
    assert_eq!(two.diagnostics.merged, 1);
    let modes = two.diagnostics.modes.unwrap();
    assert!((modes.shares[0] + modes.shares[1] - 1.0).abs() < 1e-12);
    assert!(modes.effects[0] < -2.0 * margin && modes.effects[1] > 2.0 * margin);
}
