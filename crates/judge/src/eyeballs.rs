//! Which family a program would choose that tries both (Happy Eyeballs), and how much later or
//! sooner it would be there than by one family: reckoned from the times of each round, so that
//! those of the families stay paired. An event list without a clock; nothing is sent.

use serde::Serialize;
use v6gap_core::family::{Family, PerFamily};

const MS: u64 = 1_000_000;

/// What becomes of an attempt to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It stands so long after it began, in ns.
    Stands(u64),
    /// It is refused so long after it began, in ns.
    Fails(u64),
    /// Nothing ever comes.
    Silent,
}

/// What a round measured of a family. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Looking up its address; `None` if no answer comes.
    pub lookup_ns: Option<u64>,
    /// Connecting.
    pub connect: Attempt,
    /// TLS, once it stands.
    pub tls_ns: u64,
    /// From there to the first byte of the answer.
    pub response_ns: u64,
}

/// How programs choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// RFC 6555.
    #[serde(rename = "rfc-6555")]
    Rfc6555,
    /// RFC 8305.
    #[serde(rename = "rfc-8305")]
    Rfc8305,
    /// Version 3 of Happy Eyeballs, draft 04 of 2 July 2026: a connection counts once TLS stands.
    #[serde(rename = "version-3")]
    Version3,
    /// curl 7.88.
    Curl,
    /// Chromium 130.
    Chromium,
    /// Waits for both answers and tries one after the other.
    OneAfterTheOther,
}

/// When the first attempt may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// When both answers are there.
    Both,
    /// With the answer of IPv6, or so long after that of IPv4.
    Preferred(u64),
}

/// The rules of a policy.
#[derive(Debug, Clone, Copy)]
struct Rules {
    lookup: Lookup,
    /// The second attempt begins so long after the first, if that neither stands nor has failed.
    next_ns: u64,
    /// Whether TLS must stand too.
    secure: bool,
}

/// Longest time that resolvers wait for an answer, in ns: three times 5 s (resolv.conf(5)).
pub const NO_ANSWER_NS: u64 = 15_000 * MS;

/// How long a system tries to connect, in ns: Linux sends six SYNs more.
const NO_CONNECTION_NS: u64 = 130_000 * MS;

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 6] = [
        Policy::Rfc6555,
        Policy::Rfc8305,
        Policy::Version3,
        Policy::Curl,
        Policy::Chromium,
        Policy::OneAfterTheOther,
    ];

    const fn rules(self) -> Rules {
        let (lookup, next_ns, secure) = match self {
            Policy::Rfc6555 => (Lookup::Both, 300 * MS, false),
            Policy::Rfc8305 => (Lookup::Preferred(50 * MS), 250 * MS, false),
            Policy::Version3 => (Lookup::Preferred(50 * MS), 250 * MS, true),
            Policy::Curl => (Lookup::Both, 200 * MS, false),
            Policy::Chromium => (Lookup::Both, 300 * MS, false),
            Policy::OneAfterTheOther => (Lookup::Both, NO_CONNECTION_NS, false),
        };
        Rules { lookup, next_ns, secure }
    }
}

/// How a race ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The family that is used.
    pub family: Family,
    /// When it stands, with looking up, in ns.
    pub stands_ns: u64,
    /// When the first byte is there, in ns.
    pub first_byte_ns: u64,
}

/// When a program that uses `family` alone would be there, by what `policy` counts as standing.
pub fn alone(policy: Policy, seen: &PerFamily<Seen>, family: Family) -> Option<Outcome> {
    let one = seen.get(family);
    match attempt(one, one.lookup_ns?, policy.rules()) {
        Ended::Stands { at_ns, byte_ns } => {
            Some(Outcome { family, stands_ns: at_ns, first_byte_ns: byte_ns })
        }
        Ended::Fails(_) | Ended::Never => None,
    }
}

/// Who wins a race by `policy` where the system puts `preferred` first; `None` if neither family
/// ever stands.
pub fn race(policy: Policy, seen: &PerFamily<Seen>, preferred: Family) -> Option<Outcome> {
    let rules = policy.rules();
    let other = preferred.other();
    let answered = |family: Family| seen.get(family).lookup_ns;
    let [first_ns, other_ns] = [preferred, other].map(answered);
    // When the first attempt begins, and over which family.
    let (begins_ns, first) = match rules.lookup {
        Lookup::Both => {
            let both = first_ns.unwrap_or(NO_ANSWER_NS).max(other_ns.unwrap_or(NO_ANSWER_NS));
            let has = first_ns.is_some();
            (both, if has { preferred } else { other })
        }
        Lookup::Preferred(wait_ns) => match (first_ns, other_ns) {
            (Some(first), Some(second)) if first > second.saturating_add(wait_ns) => {
                (second + wait_ns, other)
            }
            (Some(first), _) => (first, preferred),
            (None, Some(second)) => (second + wait_ns, other),
            (None, None) => return None,
        },
    };
    let second = first.other();
    let one = attempt(seen.get(first), begins_ns, rules);
    // The second begins when the first has failed or taken too long, but not without an address.
    let free_ns = match one {
        Ended::Fails(at_ns) => at_ns.min(begins_ns.saturating_add(rules.next_ns)),
        Ended::Stands { .. } | Ended::Never => begins_ns.saturating_add(rules.next_ns),
    };
    let two = match answered(second) {
        Some(at_ns) => attempt(seen.get(second), free_ns.max(at_ns), rules),
        None => Ended::Never,
    };
    match (one, two) {
        (Ended::Stands { at_ns, byte_ns }, Ended::Stands { at_ns: later_ns, .. })
            if at_ns <= later_ns =>
        {
            Some(Outcome { family: first, stands_ns: at_ns, first_byte_ns: byte_ns })
        }
        (_, Ended::Stands { at_ns, byte_ns }) => {
            Some(Outcome { family: second, stands_ns: at_ns, first_byte_ns: byte_ns })
        }
        (Ended::Stands { at_ns, byte_ns }, _) => {
            Some(Outcome { family: first, stands_ns: at_ns, first_byte_ns: byte_ns })
        }
        _ => None,
    }
}

/// How an attempt ends, at times of the race.
#[derive(Debug, Clone, Copy)]
enum Ended {
    Stands { at_ns: u64, byte_ns: u64 },
    Fails(u64),
    Never,
}

fn attempt(seen: &Seen, begins_ns: u64, rules: Rules) -> Ended {
    match seen.connect {
        Attempt::Stands(ns) => {
            let connected_ns = begins_ns.saturating_add(ns);
            let secured_ns = connected_ns.saturating_add(seen.tls_ns);
            let at_ns = if rules.secure { secured_ns } else { connected_ns };
            Ended::Stands { at_ns, byte_ns: secured_ns.saturating_add(seen.response_ns) }
        }
        Attempt::Fails(ns) => Ended::Fails(begins_ns.saturating_add(ns)),
        Attempt::Silent => Ended::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(lookup_ms: u64, connect: Attempt) -> Seen {
        Seen { lookup_ns: Some(lookup_ms * MS), connect, tls_ns: 20 * MS, response_ns: 30 * MS }
    }

    fn of(v4: Seen, v6: Seen) -> impl Fn(Policy) -> (Family, u64) {
        move |policy| {
            let outcome = race(policy, &PerFamily { v4, v6 }, Family::V6).unwrap();
            (outcome.family, outcome.stands_ns / MS)
        }
    }

    const TWENTY: Attempt = Attempt::Stands(20 * MS);

    #[test]
    fn both_alike_take_what_is_preferred() {
        let stands = of(seen(1, TWENTY), seen(2, TWENTY));
        for policy in Policy::ALL {
            let at_ms = if policy == Policy::Version3 { 42 } else { 22 };
            assert_eq!(stands(policy), (Family::V6, at_ms), "{policy:?}");
        }
    }

    /// As curl 7.88 did: the other family 200 ms later where nothing comes, at once where it is
    /// refused.
    #[test]
    fn a_family_that_does_not_work_costs_a_timer_or_nothing() {
        let silent = of(seen(1, TWENTY), seen(1, Attempt::Silent));
        assert_eq!(silent(Policy::Curl), (Family::V4, 221));
        assert_eq!(silent(Policy::Rfc8305), (Family::V4, 271));
        assert_eq!(silent(Policy::Chromium), (Family::V4, 321));
        assert_eq!(silent(Policy::OneAfterTheOther), (Family::V4, 130_021));
        let refused = of(seen(1, TWENTY), seen(1, Attempt::Fails(0)));
        for policy in [Policy::Curl, Policy::Rfc8305, Policy::OneAfterTheOther] {
            assert_eq!(refused(policy), (Family::V4, 21), "{policy:?}");
        }
    }

    /// A later family is chosen all the same until it is later by the timer.
    #[test]
    fn the_timer_decides_how_much_later_a_family_may_be() {
        for (later_ms, chosen) in [(100, Family::V6), (200, Family::V6), (300, Family::V4)] {
            let stands = of(seen(1, TWENTY), seen(1, Attempt::Stands((20 + later_ms) * MS)));
            assert_eq!(stands(Policy::Rfc8305).0, chosen, "{later_ms}");
        }
    }

    #[test]
    fn an_answer_that_comes_late_is_not_waited_for_for_ever() {
        let stands = of(seen(1, TWENTY), seen(301, TWENTY));
        // 50 ms after that of IPv4, which then stands before the other has an address.
        assert_eq!(stands(Policy::Rfc8305), (Family::V4, 71));
        assert_eq!(stands(Policy::Curl), (Family::V6, 321));
        let none = Seen { lookup_ns: None, ..seen(0, TWENTY) };
        let stands = of(seen(1, TWENTY), none);
        assert_eq!(stands(Policy::Rfc8305), (Family::V4, 71));
        assert_eq!(stands(Policy::Chromium), (Family::V4, 15_020));
    }

    #[test]
    fn nothing_is_chosen_where_nothing_works() {
        let silent = PerFamily { v4: seen(1, Attempt::Silent), v6: seen(1, Attempt::Fails(1)) };
        for policy in Policy::ALL {
            assert_eq!(race(policy, &silent, Family::V6), None);
        }
    }
}
