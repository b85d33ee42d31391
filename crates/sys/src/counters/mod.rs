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

#[cfg(target_os = "linux")]
mod linux;
mod parse;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux is asked"))]
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

/// The forms in which the kernel writes its counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of names, each above a line of values: `snmp` and `netstat`.
    Paired,
    /// A name and a value in each line: `snmp6`.
    Named,
    /// A line for each interface: `dev`.
    Interfaces,
    /// A line for each processor: `softnet_stat`.
    Processors,
}

/// The counters in `text`, which another kernel may have written.
///
/// # Errors
/// In words, if it does not have that form.
pub fn read(form: Form, text: &str) -> Result<Snapshot, String> {
    let mut snapshot = Snapshot::default();
    let mut sink = parse::Sink::new(&mut snapshot.values);
    match form {
        Form::Paired => parse::parse_paired(text, &mut sink)?,
        Form::Named => parse::parse_snmp6(text, &mut sink)?,
        Form::Interfaces => parse::parse_dev(text, &mut sink)?,
        Form::Processors => parse::parse_softnet(text, &mut sink)?,
    }
    Ok(snapshot)
}

/// Of which interfaces, by their numbers, an answer of the kernel's traffic control tells the
/// queues, and whether it is the last one.
///
/// # Errors
/// In words, if it is no such answer.
pub fn read_queues(answer: &[u8]) -> Result<(Vec<u32>, bool), String> {
    let mut found = Vec::new();
    let last = queue::answer(answer, |queue| found.push(queue.interface))?;
    Ok((found, last))
}

/// Whether the kernel tells of the queues of interfaces; where not, a snapshot has all else.
///
/// # Errors
/// Off Linux, or if the kernel refuses.
pub fn queues_told() -> Result<(), Unavailable> {
    const WHAT: &str = "counters of the interfaces' queues";
    #[cfg(target_os = "linux")]
    {
        linux::queues_told().map_err(|because| Unavailable::new(WHAT, because))
    }
    #[cfg(not(target_os = "linux"))]
    {
        Err(Unavailable::here(WHAT))
    }
}

/// What a counter changed by. Those of queues and of the network's softirqs have 32 bits in the
/// kernel, and go on at 0; the length of a queue goes down as well.
fn change(name: &str, now: u64, before: u64) -> i64 {
    let by = now.wrapping_sub(before);
    match name.starts_with("queue.") || name.starts_with("softnet.") {
        true if name.ends_with(".backlog") || name.ends_with(".packets") => {
            i64::from((by as u32).cast_signed())
        }
        true => i64::from(by as u32),
        false => by.cast_signed(),
    }
}

impl Snapshot {
    /// Reads all counters anew into this snapshot, allocating no names that it already has.
    ///
    /// # Errors
    /// As [`snapshot`]; the values are then a mixture of old and new and must not be used.
    pub fn refresh(&mut self) -> Result<(), Unavailable> {
        const WHAT: &str = "kernel network counters";
        #[cfg(target_os = "linux")]
        {
            linux::refresh(&mut self.values).map_err(|because| Unavailable::new(WHAT, because))
        }
        #[cfg(not(target_os = "linux"))]
        {
            Err(Unavailable::here(WHAT))
        }
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
                let difference = change(name, self.get(name), earlier.get(name));
                (difference != 0).then(|| (name.clone(), difference))
            })
            .collect()
    }

    /// The value called `name`, or 0 if there is none.
    fn get(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }
}
