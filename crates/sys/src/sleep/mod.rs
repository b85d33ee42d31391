//! How deep processors sleep when they have nothing to do: a packet that wakes one waits for that.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;

use crate::Unavailable;

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
    platform::states(cpu).map_err(|because| Unavailable::new("states of sleep", because))
}

/// The longest time that waking up may take by the present demand of any program, in µs; `None`
/// without a demand.
///
/// # Errors
/// Off Linux, or without the right to read `/dev/cpu_dma_latency`, which root has.
pub fn limit_us() -> Result<Option<u32>, Unavailable> {
    platform::limit_us().map_err(|because| Unavailable::new("the limit on sleep", because))
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
