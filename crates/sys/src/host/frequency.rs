//! How fast processors run, and who decides: a processor that changes its frequency between two
//! trials changes what they measure.

use super::text;
use crate::Unavailable;

const FOLDER: &str = "/sys/devices/system/cpu";

/// Frequency of a processor and the rule by which it is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequency {
    /// Rule of the kernel, as in "performance" or "powersave".
    pub governor: String,
    /// Lowest frequency that the rule may choose, in kHz, where the kernel tells.
    pub khz_min: Option<u64>,
    /// Highest frequency that the rule may choose, in kHz.
    pub khz_max: Option<u64>,
    /// The present frequency, in kHz.
    pub khz_now: Option<u64>,
}

/// Frequency of processor `cpu`.
///
/// # Errors
/// Off Linux, or where the kernel has no part in it, as in most virtual machines.
pub fn of(cpu: usize) -> Result<Frequency, Unavailable> {
    const WHAT: &str = "the processors' frequency";
    Unavailable::off_linux(WHAT)?;
    let read = |name: &str| text(&format!("{FOLDER}/cpu{cpu}/cpufreq/{name}"));
    let number = |name: &str| read(name)?.parse().ok();
    let governor = read("scaling_governor").ok_or_else(|| {
        let because = "the kernel does not set it (no cpufreq for processor";
        Unavailable::new(WHAT, format_args!("{because} {cpu}); its owner may"))
    })?;
    Ok(Frequency {
        governor,
        khz_min: number("scaling_min_freq"),
        khz_max: number("scaling_max_freq"),
        khz_now: number("scaling_cur_freq"),
    })
}

/// Whether processors may go beyond their nominal frequency while they are cool enough.
///
/// # Errors
/// Off Linux, or where the kernel has no such switch.
pub fn boosts() -> Result<bool, Unavailable> {
    const WHAT: &str = "the processors' turbo";
    Unavailable::off_linux(WHAT)?;
    let flag = |path: &str| text(&format!("{FOLDER}/{path}")).map(|text| text != "0");
    // The driver of Intel says whether it is forbidden, all others whether it is allowed.
    let forbidden = flag("intel_pstate/no_turbo").map(|forbidden| !forbidden);
    let allowed = forbidden.or_else(|| flag("cpufreq/boost"));
    allowed.ok_or_else(|| Unavailable::new(WHAT, "the kernel has no switch for it here"))
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
