//! Where interrupts of the network go, and whether somebody moves them meanwhile.

#[cfg(any(target_os = "linux", test))]
mod list;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;

use crate::Unavailable;

/// Whether a program runs that moves interrupts between processors (irqbalance), as far as this
/// process can see the others.
///
/// # Errors
/// Off Linux, or if the processes cannot be listed.
pub fn are_moved() -> Result<bool, Unavailable> {
    platform::are_moved().map_err(|because| Unavailable::new("the list of programs", because))
}

/// Numbers of the processors that interrupts of an interface may go to, ascending.
///
/// # Errors
/// Off Linux, or for an interface without interrupts of its own, such as a virtual one.
pub fn processors_of(interface: &str) -> Result<Vec<usize>, Unavailable> {
    platform::processors_of(interface)
        .map_err(|because| Unavailable::new("the interrupts of an interface", because))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_no_interrupts() {
        assert!(processors_of("lo").is_err());
        assert!(processors_of("no-such-if0").is_err());
        assert!(processors_of("../../etc").is_err());
    }

    #[test]
    fn whether_they_are_moved_is_told_or_why_not() {
        if let Err(missing) = are_moved() {
            assert!(!missing.because.is_empty());
        }
    }
}
