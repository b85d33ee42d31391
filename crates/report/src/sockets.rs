//! What the kernel granted to the measuring sockets, family by family, beside what was asked.

use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Granted};
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::unit::format_rate;
use v6gap_core::workload::Workload;

/// One socket setting of one cell at one end, over all trials of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketRow {
    /// Identifier of the cell.
    pub cell: String,
    /// Which end: "client" or "server".
    pub end: &'static str,
    /// The setting, as in "congestion control".
    pub setting: &'static str,
    /// What was asked; `None` leaves the choice to the system.
    pub asked: Option<String>,
    /// What IPv4 sockets got: every value seen, in order.
    pub v4: String,
    /// What IPv6 sockets got.
    pub v6: String,
}

/// The address that a client sends from, which is shown where one was asked for.
const SOURCE: &str = "source address";

type Key = (String, &'static str, &'static str);
type Seen = BTreeMap<Key, BTreeMap<Family, BTreeSet<String>>>;

/// The settings that the sockets of all trials reported, in the order of cell, end and name.
pub fn sockets(lines: &[Line]) -> Vec<SocketRow> {
    let mut seen = Seen::new();
    let mut header = None;
    for line in lines {
        match line {
            Line::Run(run) => header = Some(run.as_ref()),
            Line::Trial(trial) => {
                let bound = header.is_some_and(|run: &RunHeader| run.bind != Default::default());
                if let Some(endpoints) = trial.ends.client.endpoints.filter(|_| bound) {
                    let key = (trial.cell.clone(), "client", SOURCE);
                    let got = seen.entry(key).or_default().entry(trial.family).or_default();
                    got.insert(endpoints.local.ip().to_string());
                }
                let mut add =
                    |end, report| collect(&mut seen, &trial.cell, end, trial.family, report);
                let ends = ["client", "server"].into_iter().zip(trial.ends.all());
                ends.for_each(|(end, report)| add(end, report));
            }
            Line::Block(_) | Line::Failed(_) | Line::Allotted(_) => {}
            Line::GaveUp(_) | Line::End(_) => {}
        }
    }
    let row = |((cell, end, setting), families): (Key, BTreeMap<Family, BTreeSet<String>>)| {
        let got = |family| {
            let values = families.get(&family).into_iter().flatten().cloned();
            values.collect::<Vec<_>>().join(", ")
        };
        let asked = header.and_then(|run| asked(run, &cell, setting));
        SocketRow { end, setting, asked, v4: got(Family::V4), v6: got(Family::V6), cell }
    };
    seen.into_iter().map(row).collect()
}

fn collect(seen: &mut Seen, cell: &str, end: &'static str, family: Family, report: &EndReport) {
    for (setting, value) in settings(&report.granted) {
        if let Some(value) = value {
            let key = (cell.to_owned(), end, setting);
            seen.entry(key).or_default().entry(family).or_default().insert(value);
        }
    }
}

fn settings(granted: &Granted) -> [(&'static str, Option<String>); 16] {
    let switch = |on: Option<bool>| on.map(switch);
    [
        ("congestion control", granted.congestion.clone()),
        ("pace", granted.pacing_bps.map(|bps| format_rate(bps as f64))),
        ("packets came in on processor", granted.incoming_processor.map(|n| n.to_string())),
        ("packets came in over queue", granted.incoming_queue.map(|n| n.to_string())),
        ("path MTU", bytes(granted.path_mtu)),
        ("receive buffer", bytes(granted.receive_buffer)),
        ("segment size", bytes(granted.mss)),
        ("send buffer", bytes(granted.send_buffer)),
        ("small segments at once", switch(granted.no_delay)),
        ("timestamps", switch(granted.timestamps)),
        ("traffic class", octet(granted.marking.traffic_class)),
        ("hop limit", count(granted.marking.hop_limit)),
        ("flow label", label(granted.marking.flow_label)),
        ("fragments", whole(granted.marking.dont_fragment)),
        ("traffic class that came in", octet(granted.arrived.and_then(|m| m.traffic_class))),
        ("hop limit that came in", count(granted.arrived.and_then(|m| m.hop_limit))),
    ]
}

fn octet(value: Option<u8>) -> Option<String> {
    value.map(|value| format!("{value:#04x}"))
}

fn bytes(value: Option<u32>) -> Option<String> {
    value.map(|value| format!("{value} B"))
}

fn count(value: Option<u8>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn label(value: Option<u32>) -> Option<String> {
    value.map(|value| format!("{value:#07x}"))
}

fn whole(dont_fragment: bool) -> Option<String> {
    dont_fragment.then(|| "refused".to_owned())
}

fn switch(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

fn asked(run: &RunHeader, cell: &str, setting: &str) -> Option<String> {
    let workload = &run.plan.cell(cell)?.1.workload;
    let marking = workload.marking();
    match setting {
        "traffic class" | "traffic class that came in" => return octet(marking.traffic_class),
        "hop limit" => return count(marking.hop_limit),
        "flow label" => return label(marking.flow_label),
        "fragments" => return whole(marking.dont_fragment),
        SOURCE => {
            let asked = [run.bind.v4, run.bind.v6].into_iter().flatten();
            return Some(asked.map(|a| a.to_string()).collect::<Vec<_>>().join(", "));
        }
        _ => {}
    }
    // Those of round trips are of buffers alone, those of probes are of their load.
    let of_data = matches!(workload, Workload::TcpBulk(_));
    let of_buffers = matches!(workload, Workload::Echo(_)) && setting.ends_with("buffer");
    let settings = workload.settings().filter(|_| of_data || of_buffers)?;
    let bytes = |n: Option<u32>| n.map(|n| format!("{n} B"));
    if let Workload::TcpBulk(bulk) = workload {
        match setting {
            // Each socket keeps its part of it.
            "pace" => return bulk.pace_bytes().map(|bytes| format_rate(8.0 * bytes as f64)),
            "send buffer" => return bytes(bulk.send_buffer_bytes()),
            _ => {}
        }
    }
    match setting {
        "congestion control" => settings.congestion.clone(),
        "send buffer" | "receive buffer" => bytes(settings.buffer_bytes),
        "segment size" => bytes(settings.mss_bytes),
        "small segments at once" => Some(switch(settings.no_delay)),
        _ => None,
    }
}
