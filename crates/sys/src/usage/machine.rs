//! Processor use of the whole machine: `/proc/stat`.

use crate::Unavailable;
#[cfg(unix)]
use rustix::param::clock_ticks_per_second;

/// Time of all processors together since the machine started, in ticks by kind of use.
///
/// A container or namespace sees the whole machine here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineTicks {
    /// User mode, guests included.
    pub user: u64,
    /// User mode at low priority.
    pub nice: u64,
    /// Kernel mode.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do while a disk request was under way.
    pub iowait: u64,
    /// Hardware interrupts.
    pub irq: u64,
    /// Deferred interrupt work, which includes most of packet reception.
    pub softirq: u64,
    /// Time the hypervisor gave to another machine while this one wanted to run.
    pub steal: u64,
    /// Length of a tick, ns.
    pub ns_per_tick: u64,
}

impl MachineTicks {
    /// Ticks in which processors did something of this machine, interrupts included.
    pub fn busy(&self) -> u64 {
        self.user + self.nice + self.system + self.irq + self.softirq
    }

    /// Ticks spent in interrupts, soft ones included.
    pub fn interrupts(&self) -> u64 {
        self.irq + self.softirq
    }
}

/// What the whole machine has used.
///
/// # Errors
/// Off Linux, or if `/proc/stat` cannot be read.
pub fn machine() -> Result<MachineTicks, Unavailable> {
    const WHAT: &str = "processor use of the machine";
    let text = Unavailable::or_read(WHAT, "/proc/stat")?;
    parse_stat(&text, 1_000_000_000 / clock_ticks_per_second().max(1))
        .ok_or_else(|| Unavailable::new(WHAT, "/proc/stat has an unknown form"))
}

/// A number that processes of one running machine have in common, whatever their namespaces, and
/// only they: another machine, or this one after its next start, has another.
///
/// It is half of the random name that the kernel gives itself at its start, which identifies well.
///
/// # Errors
/// Off Linux, or if the kernel does not tell.
pub fn machine_number() -> Result<u64, Unavailable> {
    const WHAT: &str = "the identity of the machine";
    let text = Unavailable::or_read(WHAT, "/proc/sys/kernel/random/boot_id")?;
    parse_boot_id(&text).ok_or_else(|| Unavailable::new(WHAT, "boot_id has an unknown form"))
}

/// No text is read for which it would count.
#[cfg(not(unix))]
fn clock_ticks_per_second() -> u64 {
    1
}

/// The last 16 hexadecimal digits: those before are of a fixed form in part.
pub(super) fn parse_boot_id(text: &str) -> Option<u64> {
    let digits: String = text.trim().chars().filter(|&c| c != '-').collect();
    let half = digits.len().checked_sub(16).filter(|&start| start == 16)?;
    u64::from_str_radix(digits.get(half..)?, 16).ok()
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
