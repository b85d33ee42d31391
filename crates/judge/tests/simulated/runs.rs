//! Whole runs with known noise: measured block by block, stopped by the stopping rule, answered by
//! the analysis.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::arm::{Arm, BlockKind, PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, PerEnd};
use v6gap_core::plan::{Plan, Stop, preset};
use v6gap_core::record::{BlockRecord, Ending, Line, RunHeader, TrialRecord};
use v6gap_core::run::Judge;
use v6gap_judge::analysis::{self, Analysis};
use v6gap_judge::stopping::Interim;

const SECOND: u64 = 1_000_000_000;

/// How the logarithm of the ratio of a block differs from the truth: always with standard deviation
/// about 1 and symmetric about 0, except where the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    Normal,
    Laplace,
    /// One block in twenty with ten times the noise.
    Outliers,
    /// A share of the blocks with so many times the noise.
    Disturbed(f64, f64),
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
    /// A share of the blocks is so many deviations slower, always in the same arm.
    OneArmSlow(f64, f64),
    /// The exponential of a normal value.
    Lognormal,
}

/// How the blocks of a run come about and when it stops.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub noise: Noise,
    /// Deviation of the noise, as a logarithm.
    pub sd: f64,
    /// Difference of the arms, likewise.
    pub truth: f64,
    /// The stopping rule.
    pub stop: Stop,
    /// Most blocks.
    pub blocks_max: u64,
    /// Blocks of each family with itself before the first comparison.
    pub nulls: u32,
}

pub struct Source(ChaCha12Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Source(ChaCha12Rng::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn series(&mut self, noise: Noise, blocks: u64) -> Vec<f64> {
        let mut before = self.normal();
        (0..blocks)
            .map(|i| {
                let time = i as f64 / (blocks - 1) as f64;
                let side = if self.uniform() < 0.5 { -1.0 } else { 1.0 };
                match noise {
                    Noise::Normal => self.normal(),
                    Noise::Laplace => -side * self.uniform().ln() / 2_f64.sqrt(),
                    Noise::Outliers if self.uniform() < 0.05 => 10.0 * self.normal(),
                    Noise::Outliers => self.normal(),
                    Noise::Disturbed(share, times) => {
                        self.normal() * if self.uniform() < share { times } else { 1.0 }
                    }
                    Noise::TwoModes => side + 0.15 * self.normal(),
                    Noise::Resembling(r) => {
                        before = r * before + (1.0 - r * r).sqrt() * self.normal();
                        before
                    }
                    Noise::Step => self.normal() + if time < 0.5 { -1.5 } else { 1.5 },
                    Noise::Drift => self.normal() + 4.0 * (time - 0.5),
                    Noise::Slow if self.uniform() < 0.1 => side * 8.0 + self.normal(),
                    Noise::Slow => self.normal(),
                    Noise::OneArmSlow(share, by) => {
                        self.normal() + if self.uniform() < share { by } else { 0.0 }
                    }
                    Noise::Lognormal => self.normal().exp(),
                }
            })
            .collect()
    }
}

fn plan(seed: u64, stop: Stop) -> Plan {
    let mut plan = preset::first_look(PerArm::FAMILIES, None, seed);
    plan.parts_mut().cells.truncate(1);
    plan.parts_mut().design.stop = stop;
    plan
}

fn header(plan: Plan) -> RunHeader {
    RunHeader {
        tool: "0.1.0".into(),
        target: "server".into(),
        ..RunHeader::new("test".parse().unwrap(), plan)
    }
}

fn trial(
    plan: &Plan,
    block: u32,
    kind: BlockKind,
    round: u32,
    arm: Arm,
    value: f64,
) -> TrialRecord {
    let cell = &plan.cells[0];
    let ends = PerEnd { client: EndReport::default(), server: EndReport::default() };
    TrialRecord {
        block,
        cell: cell.id.clone(),
        kind,
        round,
        arm,
        family: match kind {
            BlockKind::Compare => *PerArm::FAMILIES.get(arm),
            BlockKind::Null(family) => family,
        },
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

/// A run of that world, to the block at which it stops.
pub fn run(world: &World, seed: u64) -> Analysis {
    let plan = plan(seed, world.stop);
    let mut source = Source::new(seed);
    let mut progress = Interim::new(&plan, &[]);
    let mut lines = vec![Line::Run(Box::new(header(plan.clone())))];
    let nulls = source.series(world.noise, u64::from(2 * world.nulls));
    let kinds = Family::BOTH.map(BlockKind::Null).into_iter().cycle().zip(nulls);
    let compared = source.series(world.noise, world.blocks_max);
    let compared = compared.into_iter().map(|d| (BlockKind::Compare, d));
    let mut rounds = 0;
    for (block, (kind, d)) in kinds.chain(compared).enumerate() {
        let is_compared = kind == BlockKind::Compare;
        rounds += u32::from(is_compared);
        let of = |arm, value| trial(&plan, block as u32, kind, rounds, arm, value);
        let truth = if is_compared { world.truth } else { 0.0 };
        let (a, b) = (of(Arm::A, 1e8), of(Arm::B, 1e8 * (truth + world.sd * d).exp()));
        progress.add(&a, &b);
        lines.extend([Line::Trial(Box::new(a)), Line::Trial(Box::new(b))]);
        let block = block as u32;
        lines.push(Line::Block(BlockRecord { block, valid: true, drawn: None }));
        let enough = || progress.complete(rounds, u64::from(rounds) * SECOND, SECOND);
        if is_compared && enough() {
            break;
        }
    }
    lines.push(Line::End(Ending::Complete));
    analysis::analyse(&lines).expect("the journal of a run")
}

/// An adaptive run of so many blocks at most.
pub fn adaptive(blocks_max: u64, pairs_min: u32) -> Stop {
    Stop::Adaptive { time_ns_max: blocks_max * SECOND, pairs_min }
}

/// The margin as a logarithm.
pub fn margin() -> f64 {
    Metric::Throughput.margin_default().ln_1p()
}
