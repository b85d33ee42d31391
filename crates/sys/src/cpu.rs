//! Processor placement: which processors a thread may use, and holding it on one.
//!
//! Placement moves round-trip times far more than the address family does, so it is chosen and
//! recorded instead of left to the scheduler. Processors have the system's own numbers, from 0.

pub(crate) mod priority;
#[cfg(test)]
mod tests;

pub use priority::{set_ordinary, set_real_time, start_thread};

use crate::Unavailable;
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

/// Largest number of a processor that is taken: more than any machine has.
const NUMBER_MAX: usize = 1 << 16;

/// Numbers of the processors that this process was given, ascending and never empty: where its
/// first thread might run before any was held somewhere here.
///
/// # Errors
/// On platforms without thread affinity, and on Linux hosts with more than 1024 processors.
pub fn allowed() -> Result<Vec<usize>, Unavailable> {
    const WHAT: &str = "the list of processors";
    #[cfg(target_os = "linux")]
    {
        static GIVEN: OnceLock<Result<Vec<usize>, Unavailable>> = OnceLock::new();
        let asked = || of(Some(rustix::process::getpid()));
        GIVEN.get_or_init(|| asked().map_err(|error| Unavailable::new(WHAT, error))).clone()
    }
    #[cfg(not(target_os = "linux"))]
    {
        Err(Unavailable::here(WHAT))
    }
}

/// Where a thread may run, by default the calling one.
#[cfg(target_os = "linux")]
fn of(thread: Option<rustix::process::Pid>) -> rustix::io::Result<Vec<usize>> {
    let set = sched_getaffinity(thread)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Holds the calling thread on processor `cpu` from now on; threads it starts later inherit this.
///
/// # Errors
/// If the platform cannot, or if no such processor is open to this process.
pub fn pin_thread(cpu: usize) -> Result<(), Unavailable> {
    const WHAT: &str = "processor pinning";
    #[cfg(target_os = "linux")]
    {
        let refused = |because: &dyn std::fmt::Display| {
            Unavailable::new(WHAT, format_args!("processor {cpu}: {because}"))
        };
        if cpu >= CpuSet::MAX_CPU {
            return Err(refused(&"there is no such processor"));
        }
        hold(&[cpu]).map_err(|error| refused(&error))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = cpu;
        Err(Unavailable::here(WHAT))
    }
}

/// Lets the calling thread run on all processors of [`allowed`] but `cpu`, on which something goes
/// before it; threads and processes that it starts later inherit this. Nothing changes where there
/// is no other one, or where the platform cannot.
pub fn keep_off(cpu: usize) {
    let others: Vec<usize> =
        allowed().into_iter().flatten().filter(|&number| number != cpu).collect();
    #[cfg(target_os = "linux")]
    if !others.is_empty() {
        // The thread waits for its turns then, as it would have without this.
        let _ = hold(&others);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = others;
}

/// Holds the calling thread on these processors.
#[cfg(target_os = "linux")]
fn hold(processors: &[usize]) -> rustix::io::Result<()> {
    // Must be known before the first thread is held.
    let _ = allowed();
    let mut set = CpuSet::new();
    processors.iter().for_each(|&number| set.set(number));
    sched_setaffinity(None, &set)
}

/// Those of [`allowed`] that are as quick as `cpu` and in the same package, as far as the system
/// tells: it and the others on which a program may just as well be.
pub fn alike(cpu: usize) -> Vec<usize> {
    const TOLD: [&str; 3] =
        ["cpu_capacity", "cpufreq/cpuinfo_max_freq", "topology/physical_package_id"];
    let of = |number: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{number}");
        TOLD.map(|what| std::fs::read_to_string(format!("{path}/{what}")).ok())
    };
    let usual = of(cpu);
    let all = allowed().unwrap_or_default().into_iter();
    all.filter(|&number| number == cpu || of(number) == usual).collect()
}

/// Numbers of the processors that share a core with `cpu`, itself among them, ascending.
///
/// # Errors
/// Where the system does not tell.
pub fn siblings(cpu: usize) -> Result<Vec<usize>, Unavailable> {
    const WHAT: &str = "which processors share a core";
    Unavailable::off_linux(WHAT)?;
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let refused =
        |because: &dyn std::fmt::Display| Unavailable::new(WHAT, format_args!("{path}: {because}"));
    let text = std::fs::read_to_string(&path).map_err(|error| refused(&error))?;
    numbers(&text).ok_or_else(|| refused(&"this is no list"))
}

/// The numbers of a list in the kernel's form, such as `0-2,5`, as written.
pub(crate) fn numbers(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > NUMBER_MAX {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Offers the rest of the calling thread's turn to other threads.
pub fn yield_now() {
    std::thread::yield_now();
}
