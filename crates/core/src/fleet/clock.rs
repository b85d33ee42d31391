//! Clocks of the wall, which say in which hour something was measured and nothing else.

use super::{CLOCK_NS_MAX, CLOCK_NS_UNTOLD};

/// How the wall clock of an agent goes against that of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// Alike, as far as a heartbeat tells.
    Alike,
    /// More than [`CLOCK_NS_UNTOLD`] apart: histories have it in a wrong minute.
    Apart,
    /// More than [`CLOCK_NS_MAX`] apart: it is given no jobs.
    TooFar,
}

impl Clocks {
    /// Of one that is so far ahead, in ns.
    pub fn of(ahead_ns: i64) -> Self {
        match ahead_ns.unsigned_abs() {
            apart_ns if apart_ns > CLOCK_NS_MAX => Clocks::TooFar,
            apart_ns if apart_ns > CLOCK_NS_UNTOLD => Clocks::Apart,
            _ => Clocks::Alike,
        }
    }
}

/// How far a clock that showed `unix_ns` is ahead of one that shows `here_unix_ns` when the message
/// comes, in ns: the way of the message included, so never too far ahead, and behind by that way.
pub fn ahead_ns(unix_ns: u64, here_unix_ns: u64) -> i64 {
    let apart_ns = i64::try_from(unix_ns.abs_diff(here_unix_ns)).unwrap_or(i64::MAX);
    if unix_ns < here_unix_ns { -apart_ns } else { apart_ns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::SECOND_NS;

    #[test]
    fn two_seconds_are_told_and_a_minute_is_too_far_either_way() {
        let here = 1_795_392_000 * SECOND_NS;
        for (apart_ns, expected) in [
            (0, Clocks::Alike),
            (2 * SECOND_NS, Clocks::Alike),
            (2 * SECOND_NS + 1, Clocks::Apart),
            (60 * SECOND_NS, Clocks::Apart),
            (60 * SECOND_NS + 1, Clocks::TooFar),
        ] {
            for there in [here + apart_ns, here - apart_ns] {
                assert_eq!(Clocks::of(ahead_ns(there, here)), expected, "{apart_ns}");
            }
        }
        assert_eq!(ahead_ns(here - 3, here), -3);
        // A clock that says anything at all does no harm.
        assert_eq!(Clocks::of(ahead_ns(u64::MAX, 0)), Clocks::TooFar);
        assert_eq!(Clocks::of(ahead_ns(0, u64::MAX)), Clocks::TooFar);
    }
}
