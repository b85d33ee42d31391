//! Processor use: of a thread, of this process, of the whole machine, and how long tasks waited for
//! a processor.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg_attr(unix, path = "rusage.rs")]
#[cfg_attr(not(unix), path = "no_rusage.rs")]
mod spent;
#[cfg(test)]
mod tests;

use crate::Unavailable;

/// Processor time and context switches since a thread or process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode, ns (resolution 1 µs). Where the kernel accounts by ticks, only the sum
    /// of user and system time is exact and the split between them is an estimate.
    pub user_ns: u64,
    /// Time in the kernel on behalf of the thread or process, ns (resolution 1 µs).
    pub system_ns: u64,
    /// Times it gave the processor up, mostly to wait.
    pub switches_voluntary: u64,
    /// Times the scheduler took the processor from it.
    pub switches_involuntary: u64,
}

impl Usage {
    /// What was used between `earlier` and this.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            switches_voluntary: self.switches_voluntary.saturating_sub(earlier.switches_voluntary),
            switches_involuntary: self
                .switches_involuntary
                .saturating_sub(earlier.switches_involuntary),
        }
    }
}

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

/// What the calling thread has used.
///
/// # Errors
/// On platforms that do not account per thread.
pub fn thread() -> Result<Usage, Unavailable> {
    spent::thread()
}

/// What all threads of this process have used.
///
/// # Errors
/// On platforms without `getrusage`.
pub fn process() -> Result<Usage, Unavailable> {
    spent::process()
}

/// What the whole machine has used.
///
/// # Errors
/// Off Linux, or if `/proc/stat` cannot be read.
pub fn machine() -> Result<MachineTicks, Unavailable> {
    platform::machine()
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

/// A number that processes of one running machine have in common, whatever their namespaces, and
/// only they: another machine, or this one after its next start, has another.
///
/// # Errors
/// Off Linux, or if the kernel does not tell.
pub fn machine_number() -> Result<u64, Unavailable> {
    platform::machine_number()
}

/// Microseconds since boot during which at least one runnable task waited for a processor (the
/// "some" total of Linux pressure stall information).
///
/// # Errors
/// Off Linux, or on a kernel without pressure stall information.
pub fn pressure_cpu_us() -> Result<u64, Unavailable> {
    platform::pressure_cpu_us()
}
