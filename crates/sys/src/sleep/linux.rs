//! Linux: the files of cpuidle, and the device through which programs demand short wake-ups.

use super::State;
use std::io::Read;

/// What the kernel answers where nobody demands anything (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
const NO_DEMAND_US: u32 = 2_000_000_000;

/// More states than any processor has.
const STATES_MAX: usize = 32;

pub(super) fn states(cpu: usize) -> Result<Vec<State>, String> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let all = (0..STATES_MAX).map_while(|number| {
        let read = |name: &str| read(&format!("{folder}/state{number}/{name}"));
        let state = State { name: read("name")?, wake_us: read("latency")?.parse().ok()? };
        Some((state, read("disable").is_some_and(|text| text != "0")))
    });
    let all: Vec<(State, bool)> = all.collect();
    if all.is_empty() {
        return Err(format!("the kernel lists none for processor {cpu}; its owner may have some"));
    }
    Ok(all.into_iter().filter(|(_, disabled)| !disabled).map(|(state, _)| state).collect())
}

pub(super) fn limit_us() -> Result<Option<u32>, String> {
    let mut bytes = [0; 4];
    // Opened for reading it demands nothing by itself.
    std::fs::File::open("/dev/cpu_dma_latency")
        .and_then(|mut device| device.read_exact(&mut bytes))
        .map_err(|error| format!("/dev/cpu_dma_latency cannot be read: {error}"))?;
    Ok(Some(u32::from_ne_bytes(bytes)).filter(|&us| us < NO_DEMAND_US))
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}
