//! What the trials took from the hosts: processor time of transfers, memory of held connections.
//! Medians over the trials of valid blocks, for each cell and family.

use super::Range;
use super::collect::Collected;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::Arm;
use v6gap_core::cost::{self, Cost};
use v6gap_core::family::Family;
use v6gap_core::observation::{ConnectionMemory, Measured, PerEnd};
use v6gap_core::record::TrialRecord;
use v6gap_stats::{quantile, summary};

/// Processor time of the transfers of a cell over a family (docs/method.md section B.9).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessorTime {
    /// Identifier of the cell.
    pub cell: String,
    /// The family.
    pub family: Family,
    /// Trials behind it.
    pub trials: usize,
    /// Measuring threads of each end, in ns for each byte of payload that arrived.
    pub threads_ns_per_byte: PerEnd<f64>,
    /// Interrupts at both ends, those of the idle machines taken off, in ns per byte.
    pub interrupts_ns_per_byte: Option<f64>,
    /// Everything that the machines of both ends did, the idle machines' use taken off, in ns per
    /// byte; one machine counts once.
    pub machine_ns_per_byte: Option<f64>,
    /// Processor time of the machines, or of the threads where that is not known, for each packet
    /// with payload, in ns.
    pub ns_per_packet: Option<f64>,
    /// Processors that each idle machine kept busy.
    pub idle_processors: PerEnd<Option<f64>>,
    /// Whether both ends are on one machine.
    pub one_machine: bool,
}

/// Kernel memory of the connections that a cell held open over a family, for each of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldMemory {
    /// Identifier of the cell.
    pub cell: String,
    /// The family.
    pub family: Family,
    /// Trials behind it.
    pub trials: usize,
    /// Connections that each trial held, median.
    pub connections: f64,
    /// Kernel objects for sockets on the client's host, in bytes; of both ends if both are there.
    pub slab_bytes_each: Option<f64>,
    /// Pages for data of TCP sockets, in bytes.
    pub page_bytes_each: Option<f64>,
    /// Both together, in bytes: what one more connection costs the kernel.
    pub bytes_each: Option<f64>,
    /// The 95 % range of that median, from order statistics; `None` with fewer than six trials.
    pub bytes_each_range: Option<Range>,
    /// What the client's sockets say they hold for data, in bytes.
    pub socket_bytes_each: Option<f64>,
}

pub(super) type ByCell<T> = BTreeMap<(usize, Family), Vec<T>>;

/// What `of` finds in the trials of valid blocks, by place of the cell in the plan and family.
pub(super) fn gather<'a, T>(
    found: &Collected<'a>,
    of: impl Fn(&'a TrialRecord) -> Option<T>,
) -> ByCell<T> {
    let mut all = ByCell::new();
    for block in found.blocks.iter().filter(|block| block.valid) {
        let Some((place, _)) = found.run.plan.cell(block.cell()) else { continue };
        for arm in Arm::BOTH {
            let trial: &'a TrialRecord = block.trials.get(arm);
            if let Some(value) = of(trial) {
                all.entry((place, trial.family)).or_default().push(value);
            }
        }
    }
    all
}

/// The median of what `of` gives of every trial; `None` if one has none.
fn median<T>(trials: &[T], of: impl Fn(&T) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = trials.iter().map(of).collect();
    values.filter(|values| !values.is_empty()).map(|values| summary::median(&values))
}

/// Processor time of every cell with transfers, in the order of the plan.
pub(super) fn processor_time(found: &Collected<'_>) -> Vec<ProcessorTime> {
    let cell = |place: usize| found.run.plan.cells[place].id.to_string();
    let entry = |((place, family), trials): ((usize, Family), Vec<Cost>)| {
        let per_byte = |of: &dyn Fn(&Cost) -> Option<f64>| {
            median(&trials, |cost| Some(of(cost)? / cost.bytes as f64))
        };
        let threads = |of: fn(&PerEnd<cost::EndCost>) -> f64| {
            per_byte(&|cost| Some(of(&cost.ends))).unwrap_or_default()
        };
        let idle = |of: fn(&PerEnd<cost::EndCost>) -> cost::EndCost| {
            median(&trials, |cost| Some(of(&cost.ends).machine?.idle_processors))
        };
        ProcessorTime {
            cell: cell(place),
            family,
            trials: trials.len(),
            threads_ns_per_byte: PerEnd {
                client: threads(|ends| ends.client.threads_ns),
                server: threads(|ends| ends.server.threads_ns),
            },
            interrupts_ns_per_byte: per_byte(&Cost::interrupts_ns),
            machine_ns_per_byte: per_byte(&Cost::machine_ns),
            ns_per_packet: median(&trials, |cost| Some(cost.ns() / cost.packets? as f64)),
            idle_processors: PerEnd {
                client: idle(|ends| ends.client),
                server: idle(|ends| ends.server),
            },
            one_machine: trials.iter().all(|cost| cost.one_machine),
        }
    };
    gather(found, |trial| cost::of_trial(&trial.ends)).into_iter().map(entry).collect()
}

fn bytes_each(memory: &ConnectionMemory) -> Option<f64> {
    Some(memory.slab_bytes_each? + memory.page_bytes_each?)
}

/// The values between which the median lies with 95 % (docs/method.md section C.6).
pub(super) fn range_of_median(mut values: Vec<f64>) -> Option<Range> {
    values.sort_by(f64::total_cmp);
    let (low, high) = quantile::order_statistic_interval(values.len(), 0.5, 0.95);
    Some(Range { low: *values.get(low? - 1)?, high: *values.get(high? - 1)? })
}

/// Memory of every cell that holds connections, in the order of the plan.
pub(super) fn memory(found: &Collected<'_>) -> Vec<HeldMemory> {
    let of = |trial: &TrialRecord| match &trial.ends.client.measured {
        Measured::Connections(all) => all.memory,
        _ => None,
    };
    let cell = |place: usize| found.run.plan.cells[place].id.to_string();
    let entry = |((place, family), trials): ((usize, Family), Vec<ConnectionMemory>)| HeldMemory {
        cell: cell(place),
        family,
        trials: trials.len(),
        connections: median(&trials, |m| Some(f64::from(m.connections))).unwrap_or_default(),
        slab_bytes_each: median(&trials, |m| m.slab_bytes_each),
        page_bytes_each: median(&trials, |m| m.page_bytes_each),
        bytes_each: median(&trials, bytes_each),
        bytes_each_range: range_of_median(trials.iter().filter_map(bytes_each).collect()),
        socket_bytes_each: median(&trials, |m| m.socket_bytes_each),
    };
    gather(found, of).into_iter().map(entry).collect()
}
