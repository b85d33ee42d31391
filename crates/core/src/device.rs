//! Counters of a managed device on the path, as SNMP gives them: from two readings to what was
//! counted between them.
//!
//! The names are those of the MIBs (RFC 2863, RFC 4293, RFC 4022, RFC 4113, RFC 3635). What cannot
//! be trusted, because the agent or an interface started anew in between, is left out and said.

use crate::family::{Family, PerFamily};
use crate::observation::{DeviceCount, PortCount};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Ticks of `sysUpTime` and of discontinuity times in a second (RFC 2578 section 7.1.8).
const TICKS: u64 = 100;

/// Longest time between two readings in which `sysUpTime` is taken to have begun again, in ticks:
/// a day, where a trial that takes a time has an hour at most.
const TRIAL_TICKS_MAX: u64 = 24 * 3600 * TICKS;

/// Octets that an interface received: the names of the long counter and of the short one.
pub const RECEIVED_OCTETS: [&str; 2] = ["ifHCInOctets", "ifInOctets"];
/// Octets that an interface sent, likewise.
pub const SENT_OCTETS: [&str; 2] = ["ifHCOutOctets", "ifOutOctets"];
/// When the counters of an interface last started anew.
pub const DISCONTINUITY: &str = "ifCounterDiscontinuityTime";

/// A counter with the number of bits after which it begins again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// 32 bits.
    Short(u32),
    /// 64 bits.
    Long(u64),
}

impl Counter {
    /// What was counted from `earlier` on, if it began again once at most; `None` if the two are
    /// not of one kind.
    pub fn since(self, earlier: Counter) -> Option<u64> {
        match (self, earlier) {
            (Counter::Short(now), Counter::Short(then)) => Some(now.wrapping_sub(then).into()),
            (Counter::Long(now), Counter::Long(then)) => Some(now.wrapping_sub(then)),
            _ => None,
        }
    }
}

/// Counters by their names.
pub type Counters = BTreeMap<&'static str, Counter>;

/// Everything that was read of a device at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// What the device calls itself.
    pub name: String,
    /// Since when the agent runs, in hundredths of a second.
    pub uptime: u32,
    /// Names of the interfaces by their numbers.
    pub names: BTreeMap<u32, String>,
    /// Counters of the interfaces.
    pub ports: BTreeMap<u32, Counters>,
    /// Counters of IP for each version.
    pub ip: PerFamily<Counters>,
    /// Counters of TCP and UDP, both versions together.
    pub transport: Counters,
    /// What was left out of it, and why.
    pub left_out: Vec<String>,
}

/// What `device` counted from `before` to `after`. Interfaces that counted nothing are left out.
pub fn counted(device: &str, before: &Reading, after: &Reading) -> DeviceCount {
    let mut count = DeviceCount {
        device: device.to_string(),
        name: after.name.clone(),
        doubts: after.left_out.clone(),
        ..DeviceCount::default()
    };
    // The time begins again after 497 days, and with a restart, which would be ages of a trial.
    let passed = u64::from(after.uptime.wrapping_sub(before.uptime));
    if after.uptime < before.uptime && passed > TRIAL_TICKS_MAX {
        count.doubts.push(format!("{device} was restarted, so its counts are unknown"));
        return count;
    }
    count.span_ns = passed * (1_000_000_000 / TICKS);
    for (&index, now) in &after.ports {
        let name = after.names.get(&index).cloned().unwrap_or_else(|| index.to_string());
        let Some(then) = before.ports.get(&index) else {
            count.doubts.push(format!("{device} has a new interface, {name}"));
            continue;
        };
        if now.get(DISCONTINUITY) != then.get(DISCONTINUITY) {
            count.doubts.push(format!("{name} of {device} counts anew, so its counts are unknown"));
            continue;
        }
        let port = port(index, name, then, now);
        if port.received_octets > 0 || port.sent_octets > 0 || !port.others.is_empty() {
            count.ports.push(port);
        }
    }
    for &index in before.ports.keys().filter(|index| !after.ports.contains_key(*index)) {
        let name = before.names.get(&index).cloned().unwrap_or_else(|| index.to_string());
        count.doubts.push(format!("{name} of {device} is gone, so its counts are unknown"));
    }
    count.ip = PerFamily::from_fn(|f: Family| moved(before.ip.get(f), after.ip.get(f)));
    count.transport = moved(&before.transport, &after.transport);
    count
}

fn port(index: u32, name: String, then: &Counters, now: &Counters) -> PortCount {
    let mut others = moved(then, now);
    let mut octets = |names: [&str; 2]| {
        // The longer counter if there is one; the shorter says the same until it begins again.
        let found: Vec<Option<u64>> = names.map(|name| others.remove(name)).to_vec();
        found.into_iter().flatten().next().unwrap_or(0)
    };
    let (received_octets, sent_octets) = (octets(RECEIVED_OCTETS), octets(SENT_OCTETS));
    others.remove(DISCONTINUITY);
    // A short counter says what the long one says.
    let long: Vec<String> = others.keys().filter(|name| name.contains("HC")).cloned().collect();
    for name in long {
        others.remove(&name.replacen("HC", "", 1));
    }
    PortCount { index, name, received_octets, sent_octets, others }
}

/// Counters that moved, by how much.
fn moved(then: &Counters, now: &Counters) -> BTreeMap<String, u64> {
    let change = |(name, now): (&&'static str, &Counter)| {
        let change = now.since(*then.get(name)?)?;
        (change > 0).then(|| (name.to_string(), change))
    };
    now.iter().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(uptime: u32, octets: (u64, u64), started: u32) -> Reading {
        let port = Counters::from([
            ("ifHCInOctets", Counter::Long(octets.0)),
            ("ifHCOutOctets", Counter::Long(octets.1)),
            ("ifInOctets", Counter::Short(octets.0 as u32)),
            ("ifInErrors", Counter::Short(7)),
            (DISCONTINUITY, Counter::Short(started)),
        ]);
        Reading {
            name: "r1".into(),
            uptime,
            names: [(2, "eth0".to_string()), (3, "eth1".to_string())].into(),
            ports: [(2, port), (3, Counters::from([("ifHCInOctets", Counter::Long(5))]))].into(),
            ..Reading::default()
        }
    }

    #[test]
    fn what_moved_is_told_and_what_stood_still_is_not() {
        let before = reading(1000, (1 << 33, 50), 9);
        let after = reading(1250, ((1 << 33) + 1_000_000, 350), 9);
        let count = counted("sw", &before, &after);
        assert_eq!(count.doubts, Vec::<String>::new());
        assert_eq!((count.span_ns, count.ports.len()), (2_500_000_000, 1));
        let port = &count.ports[0];
        assert_eq!((port.index, port.name.as_str()), (2, "eth0"));
        assert_eq!((port.received_octets, port.sent_octets), (1_000_000, 300));
        assert!(port.others.is_empty(), "{:?}", port.others);
    }

    #[test]
    fn counters_that_begin_again_are_followed() {
        assert_eq!(Counter::Short(4).since(Counter::Short(u32::MAX - 5)), Some(10));
        assert_eq!(Counter::Long(4).since(Counter::Long(u64::MAX - 5)), Some(10));
        assert_eq!(Counter::Short(4).since(Counter::Long(1)), None);
        // So does the time, after 497 days.
        let count = counted("sw", &reading(u32::MAX - 49, (0, 0), 1), &reading(50, (9, 0), 1));
        assert_eq!((count.span_ns, count.ports.len()), (1_000_000_000, 1));
        // A device with short counters only.
        let only = |value| Reading {
            ports: [(1, Counters::from([("ifInOctets", Counter::Short(value))]))].into(),
            ..Reading::default()
        };
        assert_eq!(counted("sw", &only(u32::MAX), &only(99)).ports[0].received_octets, 100);
    }

    #[test]
    fn what_started_anew_is_left_out_and_said() {
        let restarted = counted("sw", &reading(90_000, (900, 0), 1), &reading(20, (5, 0), 1));
        assert!(restarted.ports.is_empty() && restarted.doubts[0].contains("restarted"));
        // Also where the device ran for more than half of the 497 days, and until the last one.
        for ticks in [u32::MAX / 2 + 90_000, u32::MAX - 9_000_000] {
            let restarted = counted("sw", &reading(ticks, (900, 0), 1), &reading(20, (5, 0), 1));
            assert!(restarted.ports.is_empty() && restarted.doubts[0].contains("restarted"));
        }
        let anew = counted("sw", &reading(100, (900, 0), 1), &reading(200, (5, 0), 150));
        assert!(anew.ports.is_empty() && anew.doubts[0].contains("eth0 of sw counts anew"));
        let mut fewer = reading(100, (0, 0), 1);
        fewer.ports.remove(&2);
        let new = counted("sw", &fewer, &reading(200, (5, 0), 1));
        assert!(new.ports.is_empty() && new.doubts[0].contains("new interface, eth0"));
        let gone = counted("sw", &reading(50, (5, 0), 1), &fewer);
        assert_eq!(gone.doubts, ["eth0 of sw is gone, so its counts are unknown"]);
        assert!(gone.ports.is_empty());
    }
}
