//! Blocks with a far end that does not run this program: one trial of each arm after the other,
//! with a pause between that is drawn.

use super::far::NOT_OURS;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::observation::{Beside, EndReport, Ends, Far};
use v6gap_core::plan::Plan;
use v6gap_core::run::{Attempt, Observed};
use v6gap_core::task::{self, Task, TaskArm, Token};
use v6gap_core::workload::{Echo, Workload};
use v6gap_engine::run::{Hooks, RunError};
use v6gap_engine::trial::client::{self, ClientContext};
use v6gap_engine::trial::{Kind, TrialError};
use v6gap_sys::{clock, entropy};

/// Shortest and longest pause between the trials of a block, in ns.
const PAUSE_NS: [u64; 2] = [100_000_000, 200_000_000];

/// Who performs single trials.
pub(crate) trait Trials {
    /// What this end saw of one trial over `family`; both arms of a block have one seed.
    fn trial(
        &mut self,
        workload: &Workload,
        family: Family,
        seed: u64,
    ) -> Result<EndReport, RunError>;
}

/// That a far end of this kind cannot be asked for something. No host has declined anything.
pub(crate) fn unsuitable(why: String) -> RunError {
    let kind = Kind::Unsuitable;
    RunError::Trial(TrialError::Told { kind, family: None, address: None, why })
}

/// A block of two trials.
pub(crate) fn in_turns(
    host: &mut dyn Trials,
    plan: &Plan,
    attempt: &Attempt<'_>,
    hooks: &mut dyn Hooks,
) -> Result<PerArm<Observed>, RunError> {
    let (workload, arms) = (attempt.workload(), attempt.arms(plan));
    let mut found: PerArm<Observed> = PerArm::default();
    for (turn, arm) in attempt.block.order.arms().into_iter().enumerate() {
        if turn > 0 {
            clock::rest(pause(attempt.seed()));
        }
        let family = *arms.get(arm);
        hooks.before(attempt, Some(family));
        let begun = Begun::now();
        let report = host.trial(&workload, family, attempt.seed());
        let beside = hooks.beside().map(Box::new);
        *found.get_mut(arm) = Observed { beside, ..begun.observed(report?) };
    }
    Ok(found)
}

/// A block whose trials take turns in slices: both are one piece of work.
pub(crate) fn in_slices(
    attempt: &Attempt<'_>,
    hooks: &mut dyn Hooks,
    work: impl FnOnce() -> Result<Vec<(Arm, EndReport)>, RunError>,
) -> Result<PerArm<Observed>, RunError> {
    hooks.before(attempt, None);
    let begun = Begun::now();
    let mut found: PerArm<Observed> = PerArm::default();
    for (arm, report) in work()? {
        *found.get_mut(arm) = begun.observed(report);
    }
    found.a.beside = hooks.beside().map(|of| Box::new(Beside { shared: true, ..of }));
    Ok(found)
}

/// Exchanges of both arms that need nobody of ours at the far end; `block` is its number, the order
/// of its turns, and its seed.
pub(crate) fn exchanges(
    echo: &Echo,
    (number, order, seed): (u32, TurnOrder, u64),
    arms: PerArm<Family>,
    context: &ClientContext,
) -> Result<Vec<(Arm, EndReport)>, RunError> {
    let token = entropy::bytes().map_err(RunError::Random)?;
    let task = Task {
        number,
        workload: Workload::Echo(echo.clone()),
        arms: Arm::BOTH.map(|arm| TaskArm { arm, family: *arms.get(arm) }).to_vec(),
        order,
        seed,
        token: Token(token),
        arrives: task::native(),
        draw: None,
    };
    client::run(&task, context).map_err(RunError::Trial)
}

/// When a trial began.
struct Begun {
    unix_ns: u64,
    ns: u64,
}

impl Begun {
    /// Now.
    fn now() -> Self {
        Begun { unix_ns: clock::wall_ns(), ns: clock::now_ns() }
    }

    /// A trial that ends now, with what this end saw of it.
    fn observed(&self, client: EndReport) -> Observed {
        Observed {
            ends: Ends { client, server: Far::NotSeen(NOT_OURS.to_owned()) },
            started_unix_ns: self.unix_ns,
            started_ns: self.ns,
            duration_ns: clock::now_ns() - self.ns,
            beside: None,
        }
    }
}

/// The pause of a block, another one for each seed.
fn pause(seed: u64) -> Duration {
    let [least, most] = PAUSE_NS;
    // Fibonacci hashing: seeds that follow each other are far apart.
    let drawn = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    Duration::from_nanos(least + ((drawn * (most - least)) >> 32))
}
