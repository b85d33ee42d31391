//! A whole run over a simulated network: the plan's own schedule and stopping rule, the core's
//! gates and analysis.

use crate::file::Scenario;
use crate::host::{Hosts, Outcome};
use crate::network::Network;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::collections::BTreeMap;
use v6gap_core::analysis::{self, Analysis};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::PerEnd;
use v6gap_core::plan::Plan;
use v6gap_core::record::{BlockRecord, Ending, GaveUp, Host, Line, RunHeader, TrialRecord};
use v6gap_core::schedule::{self, Block};
use v6gap_core::stopping::Progress;
use v6gap_core::world::World;
use v6gap_core::{gate, wiremodel};

/// Attempts at a block, as in the engine.
const ATTEMPTS: u32 = 4;

/// A run that is being simulated.
struct Run<'a> {
    plan: &'a Plan,
    hosts: Hosts,
    progress: Progress,
    lines: Vec<Line>,
    left_out: Vec<usize>,
    block: u32,
}

/// What a run of `plan` in `world` finds.
pub fn simulate(scenario: &Scenario, plan: &Plan, world: &World, seed: u64) -> Analysis {
    let hosts = Hosts {
        network: Network::new(world, seed),
        mtu: PerFamily::from_fn(|family| wiremodel::path_mtu(world, family)),
        endpoints: crate::host::endpoints(world),
        trouble: scenario.trouble,
        random: ChaCha8Rng::seed_from_u64(!seed),
        now_ns: 0,
        trials: 0,
    };
    let mut run = Run {
        plan,
        hosts,
        progress: Progress::new(plan, &[]),
        lines: vec![Line::Run(Box::new(header(plan)))],
        left_out: Vec::new(),
        block: 0,
    };
    run.all_rounds();
    run.lines.push(Line::End(Ending::Complete));
    analysis::analyse(&run.lines).expect("the journal of a run")
}

impl Run<'_> {
    fn all_rounds(&mut self) {
        let mut longest_ns = 0;
        for number in 0.. {
            let start_ns = self.hosts.now_ns;
            for block in schedule::round(self.plan, number) {
                if !self.left_out.contains(&block.cell) {
                    self.one(&block);
                }
            }
            if number > 0 {
                self.progress.round_done();
                longest_ns = longest_ns.max(self.hosts.now_ns - start_ns);
            }
            let nothing_left = self.left_out.len() == self.plan.cells.len();
            if nothing_left || self.progress.complete(self.hosts.now_ns, longest_ns) {
                break;
            }
        }
    }

    /// A block with its attempts; a cell that gives nothing is left out from then on.
    fn one(&mut self, block: &Block) {
        for attempt in 0..ATTEMPTS {
            let mut trials = PerArm { a: None, b: None };
            for arm in block.order.arms() {
                match self.trial(block, arm, attempt) {
                    Ok(trial) => *trials.get_mut(arm) = Some(trial),
                    Err(why) => return self.give_up(block.cell, why),
                }
            }
            let (Some(a), Some(b)) = (trials.a, trials.b) else { return };
            let valid = [&a, &b].iter().all(|t| t.findings.iter().all(|f| !f.fatal));
            if valid {
                self.progress.add(&a, &b);
            }
            self.lines.extend([Line::Trial(Box::new(a)), Line::Trial(Box::new(b))]);
            self.lines.push(Line::Block(BlockRecord { block: self.block, valid }));
            self.block += 1;
            if valid {
                return;
            }
        }
    }

    fn give_up(&mut self, cell: usize, why: String) {
        let id = self.plan.cells[cell].id.clone();
        self.lines.push(Line::GaveUp(GaveUp { cell: id, why }));
        self.progress.give_up(cell);
        self.left_out.push(cell);
        self.block += 1;
    }

    fn trial(&mut self, block: &Block, arm: Arm, attempt: u32) -> Result<TrialRecord, String> {
        let cell = &self.plan.cells[block.cell];
        let family = match block.kind {
            v6gap_core::arm::BlockKind::Null(family) => family,
            v6gap_core::arm::BlockKind::Compare => *self.plan.design.arms.get(arm),
        };
        let started_ns = self.hosts.now_ns;
        let Outcome { values, ends, duration_ns } = self.hosts.trial(cell, family)?;
        let mut trial = TrialRecord {
            block: self.block,
            cell: cell.id.clone(),
            kind: block.kind,
            round: block.round,
            arm,
            family,
            order: block.order,
            attempt,
            started_unix_ns: started_ns,
            started_ns,
            duration_ns,
            values,
            ends,
            findings: Vec::new(),
            link: None,
            beside: None,
        };
        trial.findings = gate::judge(self.plan, cell, &trial);
        Ok(trial)
    }
}

fn header(plan: &Plan) -> RunHeader {
    RunHeader {
        id: "simulated".parse().unwrap(),
        tool: "0".into(),
        protocol: 1,
        started_unix_ns: 0,
        target: "server".into(),
        addresses: PerFamily::default(),
        bind: PerFamily::default(),
        control: Family::V6,
        hosts: PerEnd { client: Host::default(), server: Host::default() },
        plan: plan.clone(),
        notes: Vec::new(),
        refused: BTreeMap::new(),
        limits: None,
    }
}
