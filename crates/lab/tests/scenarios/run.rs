//! A whole run over a simulated network: the run of the program itself, with hosts that are not.

use crate::file::Trouble;
use crate::host::{Broken, Hosts};
use v6gap_core::plan::Plan;
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::run::{Action, Machine};
use v6gap_core::world::World;
use v6gap_judge::analysis::{self, Analysis};
use v6gap_judge::stopping::Interim;

/// What a run of `plan` in `world` finds, where `trouble` befalls the hosts.
pub fn simulate(plan: &Plan, world: &World, trouble: Option<Trouble>, seed: u64) -> Analysis {
    let header = header(plan);
    let mut lines = vec![Line::Run(Box::new(header.clone()))];
    let mut hosts = Hosts::of(world, trouble, seed);
    let mut machine: Machine<'_, Broken> = Machine::new(&header, Box::new(Interim::of(&header)));
    loop {
        match machine.next(hosts.now_ns, false) {
            Action::Measure(attempt) => match hosts.attempt(plan, &attempt) {
                Ok(observed) => machine.measured(observed, None),
                Err((why, fate)) => machine.failed(why, fate),
            },
            Action::Store(stored) => lines.extend(stored),
            Action::Tell(_) | Action::Settle(_) => {}
            Action::End(_) => return analysis::analyse(&lines).expect("the journal of a run"),
        }
    }
}

fn header(plan: &Plan) -> RunHeader {
    RunHeader {
        tool: "0".into(),
        target: "server".into(),
        ..RunHeader::new("simulated".parse().unwrap(), plan.clone())
    }
}
