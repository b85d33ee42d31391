//! What this host says of itself in a record.

use std::collections::BTreeMap;
use std::fmt::Display;
use v6gap_core::host::names;
use v6gap_core::record::Host;
use v6gap_core::unit;
use v6gap_sys::host::{filter, frequency, interrupts, sleep};
use v6gap_sys::{Unavailable, clock, cpu, host, interface, perf};

/// Interfaces whose offloads are told; a host may have thousands of virtual ones.
const INTERFACES_MAX: usize = 8;

/// Features that change what a packet costs the kernel, by the kernel's names.
const OFFLOADS: [&str; 12] = [
    "rx-checksum",
    "rx-gro",
    "rx-gro-list",
    "rx-lro",
    "rx-udp-gro-forwarding",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

/// Facts of this host, by name; what the system does not tell is left out.
pub fn this_host() -> Host {
    let told = host::facts();
    let mut facts: BTreeMap<String, String> = told.settings.clone();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    put("system", told.os.clone());
    put("kernel", told.kernel.clone());
    put("distribution", told.distribution.clone());
    put("architecture", told.architecture.clone());
    put("processor", told.cpu_model.clone());
    put(names::PROCESSORS, told.cpu_count.map(|n| n.to_string()));
    put(names::CONGESTION, told.congestion_default.clone());
    put("congestion-available", told.congestion_available.as_ref().map(|all| all.join(" ")));
    put("hardware-counters", Some(hardware_counters()));
    for name in interface::up().unwrap_or_default().into_iter().take(INTERFACES_MAX) {
        put(&format!("interface.{name}.offloads"), offloads(&name));
        let own = interrupts::processors_of(&name).ok().map(|own| joined(&own));
        put(&format!("interface.{name}.interrupts"), own);
    }
    let quality = clock::quality();
    put("clock-step", Some(unit::format_span(quality.step_ns as f64)));
    put("clock-read", Some(unit::format_span(quality.read_cost_ns as f64)));
    facts.extend(processors().into_iter().map(|(name, value)| (name.to_owned(), value)));
    Host { name: told.hostname.clone().unwrap_or_else(|| "this host".to_owned()), facts }
}

/// What bears on the speed of the processors and on who works on them. What is not told says why.
fn processors() -> Vec<(&'static str, String)> {
    let all = cpu::allowed().unwrap_or_else(|_| vec![0]);
    let frequencies: Result<Vec<_>, _> = all.iter().map(|&number| frequency::of(number)).collect();
    let mut told = match &frequencies {
        Ok(all) => frequency_facts(all),
        Err(why) => vec![(names::GOVERNOR, why.to_string())],
    };
    let asleep = sleep::states(all.first().copied().unwrap_or(0));
    let wake = asleep.map(|states| states.iter().map(|state| state.wake_us).max().unwrap_or(0));
    let limit = sleep::limit_us().map(|limit| limit.map_or("none".to_owned(), |us| us.to_string()));
    let switch = |on| if on { "on" } else { "off" };
    let moved = interrupts::are_moved().map(|moved| if moved { "yes" } else { "no" });
    let tracked = filter::tracked();
    let tracked = tracked.map(|count| count.map_or("none".to_owned(), |count| count.to_string()));
    let machine = host::hypervisor().map(|name| name.unwrap_or_else(|| "no".to_owned()));
    told.extend([
        (names::TURBO, or_why(frequency::boosts().map(switch))),
        (names::SLEEP_WAKE, or_why(wake)),
        (names::SLEEP_LIMIT, or_why(limit)),
        (names::HYPERVISOR, or_why(machine)),
        (names::INTERRUPTS_MOVED, or_why(moved)),
        (names::TRACKED, or_why(tracked)),
    ]);
    told
}

/// Of all processors together: the rules that occur, and the widest bounds.
fn frequency_facts(all: &[frequency::Frequency]) -> Vec<(&'static str, String)> {
    let mut rules: Vec<&str> = all.iter().map(|f| f.governor.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let numbers = [
        (names::FREQUENCY_MIN, all.iter().filter_map(|f| f.khz_min).min()),
        (names::FREQUENCY_MAX, all.iter().filter_map(|f| f.khz_max).max()),
        (names::FREQUENCY_NOW, all.iter().filter_map(|f| f.khz_now).max()),
    ];
    let known = numbers.into_iter().filter_map(|(name, khz)| Some((name, khz?.to_string())));
    std::iter::once((names::GOVERNOR, rules.join(" "))).chain(known).collect()
}

fn or_why(told: Result<impl Display, Unavailable>) -> String {
    told.map_or_else(|unavailable| unavailable.to_string(), |value| value.to_string())
}

fn joined(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether trials can count cycles and instructions, and why not.
fn hardware_counters() -> String {
    match perf::Counting::start() {
        Ok(_) => "cycles and instructions".to_owned(),
        Err(unavailable) => unavailable.to_string(),
    }
}

/// Offloads of the interface that are on, with a blank between.
fn offloads(name: &str) -> Option<String> {
    let features = interface::features(name).ok()?;
    let on = |feature: &&str| features.get(*feature).copied().unwrap_or(false);
    Some(OFFLOADS.into_iter().filter(on).collect::<Vec<_>>().join(" "))
}
