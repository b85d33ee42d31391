//! How fast processors run, and who decides: a processor that changes its frequency between two
//! trials changes what they measure.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;

use crate::Unavailable;

/// Frequency of a processor and the rule by which it is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequency {
    /// Rule of the kernel, as in "performance" or "powersave".
    pub governor: String,
    /// Lowest frequency that the rule may choose, in kHz, where the kernel tells.
    pub khz_min: Option<u64>,
    /// Highest one, in kHz.
    pub khz_max: Option<u64>,
    /// The present one, in kHz.
    pub khz_now: Option<u64>,
}

/// That of processor `cpu`.
///
/// # Errors
/// Off Linux, or where the kernel has no part in it, as in most virtual machines.
pub fn of(cpu: usize) -> Result<Frequency, Unavailable> {
    platform::of(cpu).map_err(|because| Unavailable::new("the processors' frequency", because))
}

/// Whether processors may go beyond their nominal frequency while they are cool enough.
///
/// # Errors
/// Off Linux, or where the kernel has no such switch.
pub fn boosts() -> Result<bool, Unavailable> {
    platform::boosts().map_err(|because| Unavailable::new("the processors' turbo", because))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_plausible() {
        match of(0) {
            Ok(told) => {
                assert!(!told.governor.is_empty());
                let known = [told.khz_min, told.khz_max, told.khz_now];
                assert!(known.iter().flatten().all(|khz| *khz > 1_000), "{told:?}");
                assert!(told.khz_min <= told.khz_max || told.khz_max.is_none(), "{told:?}");
            }
            Err(missing) => assert!(!missing.because.is_empty()),
        }
        assert!(of(usize::MAX).is_err());
        assert!(boosts().is_ok() || !boosts().unwrap_err().because.is_empty());
    }
}
