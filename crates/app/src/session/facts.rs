//! What this host says of itself in a record.

use std::collections::BTreeMap;
use v6gap_core::record::Host;
use v6gap_core::unit;
use v6gap_sys::{clock, host, perf};

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
