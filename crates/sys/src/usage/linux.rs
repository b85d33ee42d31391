//! Linux: `/proc/stat` and `/proc/pressure/cpu`, parsed by pure functions.

use super::MachineTicks;
use crate::Unavailable;

const MACHINE: &str = "processor use of the machine";
const MACHINE_NUMBER: &str = "the identity of the machine";
const PRESSURE: &str = "processor pressure";

pub(super) fn machine() -> Result<MachineTicks, Unavailable> {
    let text = read("/proc/stat", MACHINE)?;
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    parse_stat(&text, 1_000_000_000 / ticks_per_second)
        .ok_or_else(|| Unavailable::new(MACHINE, "/proc/stat has an unknown form"))
}

/// From the random name that the kernel gives itself at its start; half of it identifies well.
pub(super) fn machine_number() -> Result<u64, Unavailable> {
    let text = read("/proc/sys/kernel/random/boot_id", MACHINE_NUMBER)?;
    parse_boot_id(&text)
        .ok_or_else(|| Unavailable::new(MACHINE_NUMBER, "boot_id has an unknown form"))
}

/// The last 16 hexadecimal digits: those before are of a fixed form in part.
pub(super) fn parse_boot_id(text: &str) -> Option<u64> {
    let digits: String = text.trim().chars().filter(|&c| c != '-').collect();
    let half = digits.len().checked_sub(16).filter(|&start| start == 16)?;
    u64::from_str_radix(digits.get(half..)?, 16).ok()
}

pub(super) fn pressure_cpu_us() -> Result<u64, Unavailable> {
    let text = read("/proc/pressure/cpu", PRESSURE)?;
    parse_pressure(&text)
        .ok_or_else(|| Unavailable::new(PRESSURE, "/proc/pressure/cpu has an unknown form"))
}

/// The line of all processors together; its columns have no header, proc(5) fixes their order.
pub(super) fn parse_stat(text: &str, ns_per_tick: u64) -> Option<MachineTicks> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut columns = line.split_ascii_whitespace().map(|column| column.parse().ok());
    let mut next = || columns.next().flatten();
    Some(MachineTicks {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        iowait: next()?,
        irq: next()?,
        softirq: next()?,
        steal: next()?,
        ns_per_tick,
    })
}

/// The `total` of the "some" line.
pub(super) fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

fn read(path: &str, what: &'static str) -> Result<String, Unavailable> {
    std::fs::read_to_string(path)
        .map_err(|error| Unavailable::new(what, format_args!("{path} cannot be read: {error}")))
}
