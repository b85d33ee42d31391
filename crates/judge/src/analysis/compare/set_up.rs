//! What differs between runs beside what they measured: hosts, versions, plan, world, and what
//! sockets were granted. A factor that differs keeps a cell from being compared; all else is told.

use super::{Compared, Differs, letter};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use serde_json::Value;
use v6gap_core::family::Family;
use v6gap_core::host::names;
use v6gap_core::metric::Metric;
use v6gap_core::observation::Granted as Socket;
use v6gap_core::record::{Host, Line, RunHeader};
use v6gap_core::unit;
use v6gap_core::workload::{Cell, StreamSettings};

/// What the sockets of each cell were granted: by cell, setting and family, every value seen.
pub(in crate::analysis) type Granted = BTreeMap<(String, &'static str, Family), BTreeSet<String>>;

/// Parameters of a workload that say how long and how often, not what: trials of another length are
/// still trials of the same cell.
const CONDUCT: [&str; 8] = [
    "duration_ns",
    "warmup_ns",
    "trial_ns",
    "turns",
    "turn_exchanges",
    "warmup_exchanges",
    "count",
    "repeats",
];

/// Facts that say how a host was just then, and are never the same twice.
const FLEETING: [&str; 5] =
    [names::FREQUENCY_NOW, names::TRACKED, names::VIEW, "clock-read", "clock-step"];

/// Said where a run does not tell.
const UNTOLD: &str = "–";

/// What the sockets of a journal's trials were granted.
pub(in crate::analysis) fn granted(lines: &[Line]) -> Granted {
    let mut granted = Granted::new();
    for line in lines {
        let Line::Trial(trial) = line else { continue };
        for (end, settings) in trial.ends.all().zip([CLIENT, SERVER]) {
            for (setting, value) in settings.into_iter().zip(of_socket(&end.granted)) {
                let Some(value) = value else { continue };
                let key = (trial.cell.clone(), setting, trial.family);
                granted.entry(key).or_default().insert(value);
            }
        }
    }
    granted
}

const CLIENT: [&str; 7] = [
    "congestion control of the client",
    "send buffer of the client",
    "receive buffer of the client",
    "segment size of the client",
    "timestamps of the client",
    "path MTU of the client",
    "hop limit that came in at the client",
];
const SERVER: [&str; 7] = [
    "congestion control of the server",
    "send buffer of the server",
    "receive buffer of the server",
    "segment size of the server",
    "timestamps of the server",
    "path MTU of the server",
    "hop limit that came in at the server",
];

/// In the order of [`CLIENT`] and [`SERVER`].
fn of_socket(socket: &Socket) -> [Option<String>; 7] {
    let bytes = |n: Option<u32>| n.map(|n| unit::format_bytes(n.into()));
    let switch = |on: bool| if on { "on" } else { "off" }.to_string();
    [
        socket.congestion.clone(),
        bytes(socket.send_buffer),
        bytes(socket.receive_buffer),
        bytes(socket.mss),
        socket.timestamps.map(switch),
        bytes(socket.path_mtu),
        socket.arrived.and_then(|marking| marking.hop_limit).map(|limit| limit.to_string()),
    ]
}

/// Which of them was asked for, in the same order; the system chose the others.
fn asked(settings: &StreamSettings) -> [bool; 7] {
    let buffer = settings.buffer_bytes.is_some();
    let (congestion, mss) = (settings.congestion.is_some(), settings.mss_bytes.is_some());
    [congestion, buffer, buffer, mss, false, false, false]
}

/// Why a cell of `run` cannot be compared with that of the first run: a parameter of its workload
/// is another one, or what was asked of the sockets was granted in one of them only.
pub(super) fn refusal(
    compared: &[Compared<'_>],
    granted: &[Granted],
    run: usize,
    cell: &str,
) -> Option<String> {
    let of = |place: usize| compared[place].analysis.run.plan.cell(cell).map(|(_, cell)| cell);
    let (here, there) = (of(0)?, of(run)?);
    let fields = workloads_differ(here, there);
    let factors: Vec<&Field> = fields.iter().filter(|field| !field.is_conduct()).collect();
    if !factors.is_empty() {
        let say = |field: &&Field| field.words(letter(run));
        let said: Vec<String> = factors.iter().map(say).collect();
        return Some(format!("a factor differs: {}", said.join("; ")));
    }
    let settings = here.workload.settings()?;
    for (setting, _) in
        CLIENT.into_iter().chain(SERVER).zip(asked(settings).repeat(2)).filter(|s| s.1)
    {
        for family in Family::BOTH {
            let key = (cell.to_string(), setting, family);
            let of = |place: usize| granted[place].get(&key);
            if let (Some(here), Some(there)) = (of(0), of(run))
                && here != there
            {
                return Some(format!(
                    "what was asked for was not granted alike: {setting} over {family} {} in A, {} \
                     in {}",
                    joined(here),
                    joined(there),
                    letter(run)
                ));
            }
        }
    }
    None
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// A field that has two values.
struct Field {
    name: String,
    here: String,
    there: String,
}

impl Field {
    fn is_conduct(&self) -> bool {
        is_conduct(&self.name)
    }

    fn words(&self, letter: char) -> String {
        format!("{} is {} in A and {} in {letter}", self.name, self.here, self.there)
    }
}

/// Whether a field of a workload says how long or how often, not what.
fn is_conduct(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| CONDUCT.contains(&last))
}

/// What a cell asks for, by the path of each field.
pub(super) fn factors(cell: &Cell) -> BTreeMap<String, String> {
    let mut factors = fields(&cell.workload);
    factors.retain(|name, _| !is_conduct(name));
    factors
}

fn workloads_differ(here: &Cell, there: &Cell) -> Vec<Field> {
    let (here, there) = (fields(&here.workload), fields(&there.workload));
    let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    let value = |of: &BTreeMap<String, String>, name: &String| {
        of.get(name).cloned().unwrap_or_else(|| UNTOLD.to_string())
    };
    names
        .into_iter()
        .filter(|name| here.get(*name) != there.get(*name))
        .map(|name| Field {
            name: name.clone(),
            here: value(&here, name),
            there: value(&there, name),
        })
        .collect()
}

/// All fields of a stored value, by their path.
fn fields(value: &impl Serialize) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    // Plain data with string keys always becomes a value.
    flatten("", &serde_json::to_value(value).unwrap_or_default(), &mut fields);
    fields
}

fn flatten(path: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    let inside =
        |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| flatten(&inside(key), value, fields));
        }
        Value::Array(items) => {
            for (place, value) in items.iter().enumerate() {
                flatten(&inside(&(place + 1).to_string()), value, fields);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            fields.insert(path.to_string(), text.clone());
        }
        Value::Bool(_) | Value::Number(_) => {
            fields.insert(path.to_string(), value.to_string());
        }
    }
}

/// What is told of every run, by name and in an order that does not depend on the runs.
type Facts = Vec<(String, String)>;

/// Everything of the set-up in which the runs differ.
pub(super) fn differences(runs: &[(&RunHeader, &Granted)]) -> Vec<Differs> {
    let plans = || runs.iter().map(|(run, _)| &run.plan);
    // What cells say that not all runs have is no difference: those are named by themselves.
    let cells = plans().flat_map(|plan| &plan.cells).map(|cell| cell.id.as_str());
    let common: BTreeSet<&str> =
        cells.filter(|id| plans().all(|plan| plan.cell(id).is_some())).collect();
    let all: Vec<Facts> = runs.iter().map(|(run, granted)| facts(run, granted, &common)).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in all.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut found = Vec::new();
    for what in names {
        let value = |facts: &Facts| {
            let compared = facts.iter().find(|(name, _)| name == what);
            compared.map_or_else(|| UNTOLD.to_string(), |(_, value)| value.clone())
        };
        let values: Vec<String> = all.iter().map(value).collect();
        // Not every system tells what sockets got; that is no difference between them.
        let socket = CLIENT.iter().chain(&SERVER).any(|setting| what.starts_with(setting));
        let untold = socket && values.iter().any(|value| is_vague(value));
        if !untold && values.iter().any(|value| *value != values[0]) {
            found.push(Differs { what: what.clone(), values });
        }
    }
    found
}

/// A word that stands for all of the set-up that the first line of a journal tells, and for which
/// cells are compared between which arms: two runs that differ in any of it have different ones.
pub(in crate::analysis) fn word(run: &RunHeader) -> String {
    let cells: Vec<&str> = run.plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    let common: BTreeSet<&str> = cells.iter().copied().collect();
    let facts = facts(run, &Granted::new(), &common);
    // FNV-1a, with a byte between texts that no text has.
    let add = |hash: u64, text: &str| {
        let bytes = text.bytes().chain([0xff]);
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    };
    let arms = &run.plan.design.arms;
    let mut hash = add(add(0xcbf2_9ce4_8422_2325, &arms.a.to_string()), &arms.b.to_string());
    hash = cells.into_iter().fold(hash, add);
    hash = facts.iter().fold(hash, |hash, (name, value)| add(add(hash, name), value));
    format!("{hash:016x}")
}

/// What sockets were granted whatever the cell, in the order of [`CLIENT`], [`SERVER`] and the
/// families; nothing where that is not told, or is not one value.
pub(in crate::analysis) fn told(granted: &Granted) -> Vec<Option<String>> {
    let common = granted.keys().map(|(cell, ..)| cell.as_str()).collect();
    let merged = over_cells(granted, &common);
    let value = |setting: &str, family: Family| {
        let found = merged.iter().find(|(of, over, _)| *of == setting && *over == family);
        found.map(|(.., values)| joined(values)).filter(|value| !is_vague(value))
    };
    let settings = CLIENT.into_iter().chain(SERVER);
    settings.flat_map(|of| Family::BOTH.map(|family| value(of, family))).collect()
}

/// Buffers that grow by themselves have many values, never the same ones.
fn is_vague(value: &str) -> bool {
    value == UNTOLD || value.contains(", ")
}

fn facts(run: &RunHeader, granted: &Granted, common: &BTreeSet<&str>) -> Facts {
    let mut facts = Facts::new();
    let mut put = |name: &str, value: String| facts.push((name.to_string(), value));
    put("version of v6gap", run.tool.clone());
    put("target", run.target.clone());
    for family in Family::BOTH {
        if let Some(address) = run.addresses.get(family) {
            put(&format!("address over {family}"), address.to_string());
        }
    }
    for (name, values) in [
        ("name servers", fields(&run.resolvers)),
        ("pairs of addresses", fields(&run.address_pairs)),
        ("address to measure from", fields(&run.bind)),
    ] {
        for (place, value) in values {
            put(&format!("{name}, {place}"), value);
        }
    }
    for (host, end) in [(&run.hosts.client, "client"), (&run.hosts.server, "server")] {
        put(&format!("name of the {end}"), host.name.clone());
        of_host(host, end, &mut put);
    }
    let plan = &run.plan;
    put("plan", plan.name.clone());
    put("order", plan.design.order.name().to_string());
    for (name, value) in fields(&plan.design.stop) {
        put(&format!("stopping rule, {name}"), value);
    }
    for metric in Metric::ALL {
        put(&format!("margin of {metric}"), unit::format_share(plan.margin(metric)));
    }
    match &plan.world {
        None => put("world", "a real path".to_string()),
        Some(world) => {
            put("world", "a lab".to_string());
            for (name, value) in fields(world) {
                put(&format!("world, {name}"), value);
            }
        }
    }
    for cell in plan.cells.iter().filter(|cell| common.contains(cell.id.as_str())) {
        for (name, value) in fields(&cell.workload) {
            put(&format!("{}, {name}", cell.id), value);
        }
    }
    for (setting, family, values) in over_cells(granted, common) {
        put(&format!("{setting} over {family}"), joined(&values));
    }
    facts
}

fn of_host(host: &Host, end: &str, put: &mut impl FnMut(&str, String)) {
    for (name, value) in &host.facts {
        // A lab draws its chances from the seed of its run, which is never the same twice, and a
        // certificate is renewed every few weeks, by which nothing else is another.
        let renewed = Family::BOTH.map(|of| names::of_family(of, names::CERTIFICATE));
        let is_fleeting = FLEETING.contains(&name.as_str()) || renewed.contains(name);
        if !is_fleeting && !name.ends_with(".seed") {
            put(&format!("{name} of the {end}"), value.clone());
        }
    }
}

/// What sockets were granted whatever the cell: a difference is rarely one of a single cell.
fn over_cells(
    granted: &Granted,
    common: &BTreeSet<&str>,
) -> Vec<(&'static str, Family, BTreeSet<String>)> {
    let mut merged: BTreeMap<(&'static str, Family), BTreeSet<String>> = BTreeMap::new();
    let those = granted.iter().filter(|((cell, ..), _)| common.contains(cell.as_str()));
    for ((_, setting, family), values) in those {
        merged.entry((setting, *family)).or_default().extend(values.iter().cloned());
    }
    merged.into_iter().map(|((setting, family), values)| (setting, family, values)).collect()
}
