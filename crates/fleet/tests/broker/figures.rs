//! What the system knows of processes and of loopback, and figures made of many values.

use std::process::Command;

/// Ticks of processor time in a second, as the kernel tells them to programs.
const TICKS: f64 = 100.0;

/// Whether speeds are judged, too: in the night.
pub fn full() -> bool {
    std::env::var_os("V6GAP_FULL").is_some()
}

/// Sends a signal to a process, as `STOP` and `CONT`.
pub fn signal(id: u32, signal: &str) {
    let line = [format!("-{signal}"), id.to_string()];
    assert!(Command::new("kill").args(line).status().unwrap().success());
}

/// Largest resident memory of a process until now, in bytes; 0 where the system does not tell.
pub fn memory(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Processor time that a process took until now, in s; 0 where the system does not tell.
pub fn processor_s(id: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name of the program may have blanks; behind it user and system time are 12th and 13th.
    let (_, rest) = text.rsplit_once(')').unwrap_or_default();
    let ticks =
        rest.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// Bytes that went over this host's loopback until now, headers of packets included.
pub fn loopback_bytes() -> u64 {
    let text = std::fs::read_to_string("/sys/class/net/lo/statistics/tx_bytes");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// The value that `share` of all are not above; 0 of none.
pub fn quantile(values: &mut [u64], share: f64) -> u64 {
    values.sort_unstable();
    let at = (share * values.len() as f64).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or(0)
}

/// In MB.
pub fn megabytes(bytes: u64) -> u64 {
    bytes / 1_000_000
}
