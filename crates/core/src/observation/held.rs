//! For how long a far end held the packets of round trips.

use serde::{Deserialize, Serialize};

/// How long a reflector held the packets of a trial's round trips, each by its own two stamps
/// (RFC 8762 section 4.3): it is no part of them.
///
/// An exchange with a server of this program tells no such time, and its server's turn is part of
/// it. What compares with it is [`Held::whole_ns`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Held {
    /// Arithmetic mean, in ns.
    pub mean_ns: f64,
    /// Median (RFC 2330 section 11.3), in ns.
    pub median_ns: f64,
    /// Longest, in ns.
    pub max_ns: u64,
    /// Round trips with what was held of each, by this end's clock alone: mean of those between
    /// the 5th and the 90th percentile, in ns.
    pub whole_ns: f64,
}
