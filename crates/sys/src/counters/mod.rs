//! Network counters of the kernel, as seen from the calling thread's network namespace.
//!
//! The per-family counters are part of the proof that traffic went over the family it was meant
//! for, and drops or errors in them make a block of measurements invalid.
//!
//! Names are `GROUP.COUNTER` with the kernel's own words: `Ip.InDiscards`, `Ip6.InReceives`,
//! `Udp.RcvbufErrors`, `Udp6.RcvbufErrors`, `Tcp.RetransSegs` (both families together),
//! `TcpExt.ListenOverflows`, `IpExt.InOctets`, `Icmp6.InPktTooBigs`, and besides those
//! `softnet.processed`, `softnet.dropped`, `softnet.time_squeeze` (the whole machine, all
//! processors) and `if.NAME.rx_bytes`, `rx_packets`, `rx_errors`, `rx_dropped`, `rx_fifo`, ...,
//! `tx_bytes`, ..., `tx_carrier`, and `queue.NAME.drops`, `overlimits`, `requeues`, `packets` and
//! `backlog` (bytes) of the queue in which packets wait for an interface (tc(8)); the last two are
//! what waits at the moment. Which names exist depends on the kernel.

#[cfg(any(target_os = "linux", test))]
mod parse;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(any(target_os = "linux", test))]
mod queue;
#[cfg(test)]
mod tests;

use crate::Unavailable;
use std::collections::BTreeMap;

/// All counters at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Value by name; most count up since boot or since the namespace or interface began.
    pub values: BTreeMap<String, u64>,
}

/// Reads all counters.
///
/// # Errors
/// Off Linux, or if `/proc` cannot be read or has an unknown form. A host without IPv6 is no error:
/// its names are missing.
pub fn snapshot() -> Result<Snapshot, Unavailable> {
    let mut snapshot = Snapshot::default();
    snapshot.refresh()?;
    Ok(snapshot)
}

/// Whether the kernel tells of the queues of interfaces; where not, a snapshot has all else.
///
/// # Errors
/// Off Linux, or if the kernel refuses.
pub fn queues_told() -> Result<(), Unavailable> {
    platform::queues_told()
}

impl Snapshot {
    /// Reads all counters anew into this snapshot, allocating no names that it already has.
    ///
    /// # Errors
    /// As [`snapshot`]; the values are then a mixture of old and new and must not be used.
    pub fn refresh(&mut self) -> Result<(), Unavailable> {
        platform::refresh(&mut self.values)
    }

    /// What changed since `earlier`: non-zero differences by name.
    ///
    /// A name that one of the two lacks counts as 0 there, because the kernel lists some counters
    /// only once they have counted, and an interface begins at 0.
    pub fn since(&self, earlier: &Self) -> BTreeMap<String, i64> {
        let vanished = earlier.values.keys().filter(|name| !self.values.contains_key(*name));
        self.values
            .keys()
            .chain(vanished)
            .filter_map(|name| {
                let difference = self.get(name).wrapping_sub(earlier.get(name)).cast_signed();
                (difference != 0).then(|| (name.clone(), difference))
            })
            .collect()
    }

    /// The value called `name`, or 0 if there is none.
    fn get(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }
}
