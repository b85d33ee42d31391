//! The lab's self-test before a run: which figures its links may give on this host.

use crate::world::RealWorld;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::metric::Metric;
use v6gap_core::plan::Plan;
use v6gap_core::selftest::{self, SelfTest};
use v6gap_core::workload::Wait;
use v6gap_core::world::{LinkModel, World};
use v6gap_engine::control::Connection;
use v6gap_engine::run::{self, RunError};
use v6gap_engine::trial::client::ClientContext;

/// A plan that the lab's links allow, with what was found and the cells that they refuse.
pub struct Allowed {
    pub plan: Plan,
    pub test: SelfTest,
    pub refused: BTreeMap<String, String>,
}

/// Tests the links with ends that wait as the plan says, and if these give no true round trips,
/// with ends that sleep. `None` if `stop` was set before it was over.
///
/// # Errors
/// If the connection is lost.
pub fn perform(
    world: &World,
    plan: &Plan,
    lab: &RealWorld,
    ends: (&mut Connection, &ClientContext),
    stop: &AtomicBool,
) -> Result<Option<Allowed>, RunError> {
    let (connection, context) = ends;
    let wait = selftest::wait_of(plan);
    let Some(allowed) = attempt(world, plan, wait, lab, (connection, context), stop)? else {
        return Ok(None);
    };
    let late = allowed.test.refused.contains_key(&Metric::Rtt) && world.model == LinkModel::Wire;
    if !late || wait == Wait::Block {
        return Ok(Some(allowed));
    }
    let sleeping = plan.clone().with_sleeping_ends();
    let mut other = attempt(world, &sleeping, Wait::Block, lab, (connection, context), stop)?;
    let note = "other work keeps the processors busy, so both ends sleep while they wait";
    if let Some(other) = other.as_mut().filter(|_| sleeping != *plan) {
        other.test.findings.push(note.to_owned());
    }
    Ok(other)
}

/// Measures every block of `world` and judges the readings; `None` if it was told to stop.
///
/// # Errors
/// If the connection is lost.
fn attempt(
    world: &World,
    plan: &Plan,
    wait: Wait,
    lab: &RealWorld,
    (connection, context): (&mut Connection, &ClientContext),
    stop: &AtomicBool,
) -> Result<Option<Allowed>, RunError> {
    let readings = selftest::readings(world, wait, |block| {
        if stop.load(Ordering::Relaxed) {
            return Err(None);
        }
        let (cell, arms) = (&block.cell, block.arms);
        let values = run::measure_block(cell, arms, TurnOrder::Ab, 0, connection, context)?;
        let metric = cell.workload.metrics()[0];
        let value = |arm: Arm| values.get(arm).get(&metric).copied().unwrap_or(f64::NAN);
        Ok(PerArm::from_fn(value))
    });
    let readings = match readings {
        Ok(readings) => readings,
        Err(None) => return Ok(None),
        Err(Some(e)) => return Err(e),
    };
    let test = selftest::judge(world, &readings, lab.largest_frame());
    let refused = selftest::refused_cells(plan, &test);
    Ok(Some(Allowed { plan: plan.clone(), test, refused }))
}
