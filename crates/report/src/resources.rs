//! What the trials took from the hosts, as rows of two families: processor time of transfers,
//! memory of connections that were held open. Medians, without verdict.

use v6gap_core::family::{Family, PerFamily};
use v6gap_core::unit::significant;
use v6gap_judge::analysis::{Analysis, HeldMemory, ProcessorTime};

/// Heads of the columns.
pub(crate) const HEADS: [&str; 3] = ["taken from the hosts", "IPv4", "IPv6"];

/// One quantity of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Cell and quantity.
    pub name: String,
    /// What it is over each family; a dash where it is not known.
    pub values: PerFamily<String>,
}

/// The rows that a plan asked for: memory wherever connections were held, processor time where it
/// was a question. `all` adds the processor time of every other transfer.
pub(crate) fn rows(analysis: &Analysis, all: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for [v4, v6] in by_cell(&analysis.memory, |m| (&m.cell, m.family)) {
        memory(v4, v6, &mut rows);
    }
    for [v4, v6] in by_cell(&analysis.processor_time, |p| (&p.cell, p.family)) {
        let whole = [v4, v6].into_iter().flatten().any(|p| p.machine_ns_per_byte.is_some());
        if all || whole {
            processor_time(v4, v6, &mut rows);
        }
    }
    rows
}

/// The entries of each cell, IPv4 first, in the order of the plan.
fn by_cell<T>(all: &[T], key: fn(&T) -> (&String, Family)) -> Vec<[Option<&T>; 2]> {
    let mut cells: Vec<&String> = all.iter().map(|one| key(one).0).collect();
    cells.dedup();
    let find = |cell, family| all.iter().find(|one| key(one) == (cell, family));
    cells.into_iter().map(|cell| Family::BOTH.map(|family| find(cell, family))).collect()
}

fn memory(v4: Option<&HeldMemory>, v6: Option<&HeldMemory>, rows: &mut Vec<Row>) {
    let Some(any) = v4.or(v6) else { return };
    let held = significant(any.connections, 4);
    let mut add = |what: &str, of: fn(&HeldMemory) -> Option<f64>| {
        let shown = |one: Option<&HeldMemory>| text(one.and_then(of), "B");
        rows.push(row(&any.cell, what, shown(v4), shown(v6)));
    };
    add(&format!("kernel memory per connection, of {held}"), |m| m.bytes_each);
    add("95 % range from", |m| Some(m.bytes_each_range?.low));
    add("95 % range to", |m| Some(m.bytes_each_range?.high));
    add("of it socket objects", |m| m.slab_bytes_each);
    add("of it pages for data", |m| m.page_bytes_each);
    add("data held by the socket itself", |m| m.socket_bytes_each);
}

fn processor_time(v4: Option<&ProcessorTime>, v6: Option<&ProcessorTime>, rows: &mut Vec<Row>) {
    let Some(any) = v4.or(v6) else { return };
    let mut add = |what: &str, unit: &str, of: fn(&ProcessorTime) -> Option<f64>| {
        let shown = |one: Option<&ProcessorTime>| text(one.and_then(of), unit);
        rows.push(row(&any.cell, what, shown(v4), shown(v6)));
    };
    let whole = any.machine_ns_per_byte.is_some();
    if whole {
        let machines = if any.one_machine { "whole machine" } else { "both machines" };
        let what = format!("processor time per byte, {machines}");
        add(&what, "ns", |p| p.machine_ns_per_byte);
        add("of it interrupts", "ns", |p| p.interrupts_ns_per_byte);
    }
    add("measuring threads per byte, client", "ns", |p| Some(p.threads_ns_per_byte.client));
    add("measuring threads per byte, server", "ns", |p| Some(p.threads_ns_per_byte.server));
    let counted = if whole { "processor time" } else { "measuring threads" };
    add(&format!("{counted} per packet"), "ns", |p| p.ns_per_packet);
    if whole {
        let percent = |share: f64| 100.0 * share;
        let idle: fn(&ProcessorTime) -> Option<f64> = |p| p.idle_processors.client;
        let shown = |one: Option<&ProcessorTime>| text(one.and_then(idle).map(percent), "%");
        let what = "idle client, of one processor, taken off";
        rows.push(row(&any.cell, what, shown(v4), shown(v6)));
    }
}

fn row(cell: &str, what: &str, v4: String, v6: String) -> Row {
    Row { name: format!("{cell}, {what}"), values: PerFamily { v4, v6 } }
}

fn text(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{} {unit}", significant(value, 4)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::observation::PerEnd;
    use v6gap_judge::analysis::Range;

    fn held(family: Family, slab: Option<f64>) -> HeldMemory {
        HeldMemory {
            cell: "connect-hold-1000".to_owned(),
            family,
            trials: 3,
            connections: 1000.0,
            slab_bytes_each: slab,
            page_bytes_each: Some(4.096),
            bytes_each: slab.map(|slab| slab + 4.096),
            bytes_each_range: slab.map(|slab| Range { low: slab + 1.0, high: slab + 8.0 }),
            socket_bytes_each: Some(0.0),
        }
    }

    #[test]
    fn both_families_stand_side_by_side_and_what_is_missing_is_a_dash() {
        let (v4, v6) = (held(Family::V4, Some(2368.0)), held(Family::V6, None));
        let mut rows = Vec::new();
        memory(Some(&v4), Some(&v6), &mut rows);
        let shown: Vec<_> = rows.iter().map(|r| [&r.values.v4, &r.values.v6]).collect();
        assert_eq!(shown[0], ["2372 B", "–"]);
        assert_eq!(shown[1], ["2369 B", "–"]);
        assert_eq!(shown[2], ["2376 B", "–"]);
        assert_eq!(shown[3], ["2368 B", "–"]);
        assert_eq!(shown[4], ["4.096 B", "4.096 B"]);
        assert!(
            rows[0].name.ends_with("kernel memory per connection, of 1000"),
            "{}",
            rows[0].name
        );
    }

    #[test]
    fn without_the_machine_the_threads_are_named() {
        let one = ProcessorTime {
            cell: "throughput-tcp".to_owned(),
            family: Family::V4,
            trials: 3,
            threads_ns_per_byte: PerEnd { client: 0.25, server: 0.5 },
            interrupts_ns_per_byte: None,
            machine_ns_per_byte: None,
            ns_per_packet: Some(1086.0),
            idle_processors: PerEnd::default(),
            one_machine: false,
        };
        let mut rows = Vec::new();
        processor_time(Some(&one), None, &mut rows);
        let names: Vec<_> = rows.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names.len(), 3);
        assert!(names[2].ends_with("measuring threads per packet"), "{names:?}");
        assert_eq!(rows[2].values.v4, "1086 ns");
    }
}
