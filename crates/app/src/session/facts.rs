//! What this host says of itself in a record.

use std::collections::BTreeMap;
use v6gap_core::record::Host;
use v6gap_core::unit;
use v6gap_sys::{clock, host, interface, perf};

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
    put("processors", told.cpu_count.map(|n| n.to_string()));
    put("congestion-default", told.congestion_default.clone());
    put("congestion-available", told.congestion_available.as_ref().map(|all| all.join(" ")));
    put("hardware-counters", Some(hardware_counters()));
    for name in interface::up().unwrap_or_default().into_iter().take(INTERFACES_MAX) {
        put(&format!("interface.{name}.offloads"), offloads(&name));
    }
    let quality = clock::quality();
    put("clock-step", Some(unit::format_span(quality.step_ns as f64)));
    put("clock-read", Some(unit::format_span(quality.read_cost_ns as f64)));
    Host { name: told.hostname.clone().unwrap_or_else(|| "this host".to_owned()), facts }
}

/// Whether trials can count cycles and instructions, and why not.
fn hardware_counters() -> String {
    match perf::Counting::start() {
        Ok(_) => "cycles and instructions".to_owned(),
        Err(unavailable) => unavailable.to_string(),
    }
}

/// Those that are on, with a blank between.
fn offloads(name: &str) -> Option<String> {
    let features = interface::features(name).ok()?;
    let on = |feature: &&str| features.get(*feature).copied().unwrap_or(false);
    Some(OFFLOADS.into_iter().filter(on).collect::<Vec<_>>().join(" "))
}
