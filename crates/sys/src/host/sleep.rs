//! How deep processors sleep when they have nothing to do: a packet that wakes one waits for that.

use super::text;
use crate::Unavailable;
use std::io::Read;

/// What the kernel answers where nobody demands anything (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
const NO_DEMAND_US: u32 = 2_000_000_000;

/// More states than any processor has.
const STATES_MAX: usize = 32;

/// A state of sleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The kernel's name, as in "C6".
    pub name: String,
    /// How long it takes to wake up from it, in µs.
    pub wake_us: u64,
}

/// The states that processor `cpu` may enter, in the kernel's order: the deepest last.
///
/// # Errors
/// Off Linux, or where the kernel has no part in it, as in many virtual machines.
pub fn states(cpu: usize) -> Result<Vec<State>, Unavailable> {
    const WHAT: &str = "states of sleep";
    Unavailable::off_linux(WHAT)?;
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let all = (0..STATES_MAX).map_while(|number| {
        let read = |name: &str| text(&format!("{folder}/state{number}/{name}"));
        let state = State { name: read("name")?, wake_us: read("latency")?.parse().ok()? };
        Some((state, read("disable").is_some_and(|text| text != "0")))
    });
    let all: Vec<(State, bool)> = all.collect();
    if all.is_empty() {
        let because = format!("the kernel lists none for processor {cpu}; its owner may have some");
        return Err(Unavailable::new(WHAT, because));
    }
    Ok(all.into_iter().filter(|(_, disabled)| !disabled).map(|(state, _)| state).collect())
}

/// The longest time that waking up may take by the present demand of any program, in µs; `None`
/// without a demand.
///
/// # Errors
/// Off Linux, or without the right to read `/dev/cpu_dma_latency`, which root has.
pub fn limit_us() -> Result<Option<u32>, Unavailable> {
    const WHAT: &str = "the limit on sleep";
    Unavailable::off_linux(WHAT)?;
    let mut bytes = [0; 4];
    // Opened for reading it demands nothing by itself.
    std::fs::File::open("/dev/cpu_dma_latency")
        .and_then(|mut device| device.read_exact(&mut bytes))
        .map_err(|error| {
            Unavailable::new(WHAT, format_args!("/dev/cpu_dma_latency cannot be read: {error}"))
        })?;
    Ok(Some(u32::from_ne_bytes(bytes)).filter(|&us| us < NO_DEMAND_US))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_plausible() {
        match states(0) {
            Ok(states) => {
                assert!(states.iter().all(|s| !s.name.is_empty() && s.wake_us < 10_000_000));
            }
            Err(missing) => assert!(!missing.because.is_empty()),
        }
        assert!(states(usize::MAX).is_err());
        if let Err(missing) = limit_us() {
            assert!(!missing.because.is_empty());
        }
    }
}
