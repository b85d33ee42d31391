//! What a whole machine did during a trial, beside what the measuring threads did.

use serde::{Deserialize, Serialize};

/// Processor time of all processors of a machine in a window of time. The kernel counts it by its
/// tick, mostly of 10 ms, so short windows know it roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Busy {
    /// Length of the window, in ns.
    pub span_ns: u64,
    /// Time in which processors did something, interrupts included and what the hypervisor took
    /// left out, in ns of all processors together.
    pub busy_ns: u64,
    /// The part of it spent in interrupts, soft ones included, in ns.
    pub interrupts_ns: u64,
}

/// A whole machine during a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MachineUse {
    /// A number that both ends have in common if they run on one machine, and only then.
    pub machine: u64,
    /// What it did from before the first packet until after the last.
    pub trial: Busy,
    /// What it did in a window before the trials, when nothing was measured.
    #[serde(default)]
    pub idle: Option<Busy>,
}

impl Busy {
    /// What it did between two readings of counters that only rise.
    pub fn since(&self, earlier: &Busy) -> Busy {
        Busy {
            span_ns: self.span_ns.saturating_sub(earlier.span_ns),
            busy_ns: self.busy_ns.saturating_sub(earlier.busy_ns),
            interrupts_ns: self.interrupts_ns.saturating_sub(earlier.interrupts_ns),
        }
    }
}
