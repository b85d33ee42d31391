//! Where interrupts of the network go, and whether somebody moves them meanwhile.

use super::text;
use crate::{Unavailable, cpu};
use std::path::PathBuf;

/// Names of the program that moves interrupts.
const MOVER: &str = "irqbalance";

/// Whether a program runs that moves interrupts between processors (irqbalance), as far as this
/// process can see the others.
///
/// # Errors
/// Off Linux, or if the processes cannot be listed.
pub fn are_moved() -> Result<bool, Unavailable> {
    const WHAT: &str = "the list of programs";
    Unavailable::off_linux(WHAT)?;
    let listed = std::fs::read_dir("/proc")
        .map_err(|error| Unavailable::new(WHAT, format_args!("/proc: {error}")))?;
    let mut processes = listed.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(processes.any(|name| {
        let numbered = name.bytes().all(|b| b.is_ascii_digit());
        numbered && text(&format!("/proc/{name}/comm")).as_deref() == Some(MOVER)
    }))
}

/// Numbers of the processors that interrupts of an interface may go to, ascending.
///
/// # Errors
/// Off Linux, or for an interface without interrupts of its own, such as a virtual one.
pub fn processors_of(interface: &str) -> Result<Vec<usize>, Unavailable> {
    const WHAT: &str = "the interrupts of an interface";
    Unavailable::off_linux(WHAT)?;
    let interrupts = interrupts_of(interface)
        .ok_or_else(|| Unavailable::new(WHAT, format_args!("{interface} has none of its own")))?;
    let mut processors: Vec<usize> =
        interrupts.iter().filter_map(|number| processors(number)).flatten().collect();
    processors.sort_unstable();
    processors.dedup();
    if processors.is_empty() {
        let because = format!("the kernel does not tell where those of {interface} go");
        return Err(Unavailable::new(WHAT, because));
    }
    Ok(processors)
}

/// Numbers of an interface's interrupts. A paravirtual device has those of the device above it.
fn interrupts_of(interface: &str) -> Option<Vec<String>> {
    // A name with a slash would lead elsewhere.
    let name = Some(interface).filter(|name| !name.contains('/'))?;
    let device = PathBuf::from(format!("/sys/class/net/{name}/device"));
    let device = std::fs::canonicalize(device).ok()?;
    let folders = [Some(device.as_path()), device.parent()];
    folders.into_iter().flatten().find_map(|folder| {
        let found = std::fs::read_dir(folder.join("msi_irqs")).ok()?;
        Some(found.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    })
}

fn processors(interrupt: &str) -> Option<Vec<usize>> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/irq/{interrupt}/{name}")).ok();
    // Where it goes, or where it may go on kernels that do not tell the former.
    cpu::numbers(&read("effective_affinity_list").or_else(|| read("smp_affinity_list"))?)
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
