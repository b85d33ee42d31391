//! Linux: `/proc`, and the files of the interface's device.

use super::list::numbers;
use std::path::PathBuf;

/// Names of the program that moves interrupts.
const MOVER: &str = "irqbalance";

pub(super) fn are_moved() -> Result<bool, String> {
    let listed = std::fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let processes = listed.flatten().filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()))
    });
    let called = |path: PathBuf| std::fs::read_to_string(path.join("comm")).unwrap_or_default();
    Ok(processes.map(|entry| called(entry.path())).any(|name| name.trim() == MOVER))
}

pub(super) fn processors_of(interface: &str) -> Result<Vec<usize>, String> {
    let mut processors: Vec<usize> = interrupts_of(interface)?
        .into_iter()
        .filter_map(|number| processors(&number))
        .flatten()
        .collect();
    processors.sort_unstable();
    processors.dedup();
    match processors.is_empty() {
        true => Err(format!("the kernel does not tell where those of {interface} go")),
        false => Ok(processors),
    }
}

/// Their numbers. A paravirtual device has those of the device above it.
fn interrupts_of(interface: &str) -> Result<Vec<String>, String> {
    let none = || format!("{interface} has none of its own");
    // A name with a slash would lead elsewhere.
    if interface.contains('/') {
        return Err(none());
    }
    let device = PathBuf::from(format!("/sys/class/net/{interface}/device"));
    let device = std::fs::canonicalize(device).map_err(|_| none())?;
    let folders = [Some(device.as_path()), device.parent()];
    let listed = folders.into_iter().flatten().find_map(|folder| {
        let found = std::fs::read_dir(folder.join("msi_irqs")).ok()?;
        Some(found.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    });
    listed.ok_or_else(none)
}

fn processors(interrupt: &str) -> Option<Vec<usize>> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/irq/{interrupt}/{name}")).ok();
    // Where it goes, or where it may go on kernels that do not tell the former.
    let text = read("effective_affinity_list").or_else(|| read("smp_affinity_list"))?;
    numbers(&text)
}
