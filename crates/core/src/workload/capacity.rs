//! Searching for the rate that a path carries.

use super::feature::{Feature, Needed};
use super::impossible::Impossible;
use super::kind::{self, Cost, Kind, Path, lower};
use super::limits::{Limits, Objection};
use super::{Direction, Marking, UdpBulk};
use crate::capacity::HalvingSearch;
use crate::metric::Metric;
use crate::transport::Transport;
use crate::unit;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A search for the rate that a path carries, with datagrams of one size. Rates are IP-layer bits
/// per second, headers included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// UDP payload of each datagram, in bytes.
    pub payload_bytes: u32,
    /// Which way the datagrams go.
    pub direction: Direction,
    /// Highest rate that is tried, in bit/s.
    pub rate_bps_max: u64,
    /// How it is searched.
    pub search: Search,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

/// How the rate is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Search {
    /// By adjusting the load to what the receiver reports (RFC 9097 section 8.1).
    Load {
        /// Time that the sender sends, in ns.
        duration_ns: u64,
    },
    /// By trials at constant rates, halving the range (in the style of RFC 2544 section 26.1).
    Halving {
        /// Length of one trial, in ns.
        trial_ns: u64,
        /// Most packets of a million that may be lost.
        lost_ppm_max: u32,
        /// Whether it may be done over other networks than those made for testing.
        forced: bool,
    },
}

impl Capacity {
    /// Smallest payload: the receiver's reports are no longer than what it got.
    pub const PAYLOAD_BYTES_MIN: u32 = 48;

    /// Largest payload: larger ones come so far apart at the lowest rate that their reports seem
    /// to be lost.
    pub const PAYLOAD_BYTES_MAX: u32 = 8972;

    /// Lowest rate that may be the highest, in bit/s.
    pub const RATE_BPS_MIN: u64 = 1_000_000;

    /// Highest rate that can be tried, in bit/s.
    pub const RATE_BPS_MAX: u64 = crate::capacity::row_bps(crate::capacity::ROW_MAX);

    /// Shortest search by load, in ns: two intervals, of which the first is lost to its beginning.
    pub const LOAD_NS_MIN: u64 = 2 * crate::capacity::INTERVAL_NS;

    /// Longest search by load, in ns.
    pub const LOAD_NS_MAX: u64 = 60_000_000_000;

    /// Shortest trial of a search by halving, in ns.
    pub const TRIAL_NS_MIN: u64 = 100_000_000;

    /// Longest trial of a search by halving, in ns.
    pub const TRIAL_NS_MAX: u64 = 60_000_000_000;

    /// Longest time in which late packets of a trial are waited for, in ns (RFC 2544 section 23).
    pub const SETTLE_NS_MAX: u64 = 2_000_000_000;

    /// Datagrams of one call at most.
    pub const BATCH: u16 = 64;

    /// Trials at most; 1 for a search by load.
    pub fn trials_max(&self) -> u32 {
        match self.search {
            Search::Load { .. } => 1,
            Search::Halving { .. } => HalvingSearch::trials_max(self.rate_bps_max),
        }
    }

    /// Time that packets may be sent, in ns.
    pub fn sending_ns(&self) -> u64 {
        match self.search {
            Search::Load { duration_ns } => duration_ns,
            Search::Halving { trial_ns, .. } => {
                trial_ns.saturating_mul(u64::from(self.trials_max()))
            }
        }
    }

    /// Most bytes that it sends: the payload is less than its packets.
    pub fn bytes_max(&self) -> u128 {
        u128::from(self.rate_bps_max) * u128::from(self.sending_ns()) / 8_000_000_000
    }

    /// The stream that its datagrams are, as far as one can be told beforehand.
    pub fn stream(&self) -> UdpBulk {
        UdpBulk {
            payload_bytes: self.payload_bytes,
            rate_bps: None,
            duration_ns: match self.search {
                Search::Load { duration_ns } => duration_ns,
                // Each trial has a series of its own.
                Search::Halving { .. } => 0,
            },
            warmup_ns: 0,
            marking: self.marking,
            direction: self.direction,
            batch: Self::BATCH,
            ..UdpBulk::default()
        }
    }

    fn senseless(&self) -> Option<&'static str> {
        if self.direction == Direction::Both {
            return Some("a search goes one way in a trial");
        }
        let payloads = Self::PAYLOAD_BYTES_MIN..=Self::PAYLOAD_BYTES_MAX;
        if !payloads.contains(&self.payload_bytes) {
            return Some("the payload of a search must be from 48 to 8972 bytes");
        }
        if !(Self::RATE_BPS_MIN..=Self::RATE_BPS_MAX).contains(&self.rate_bps_max) {
            return Some("the highest rate of a search must be from 1 Mbit/s to 10 Gbit/s");
        }
        match self.search {
            Search::Load { duration_ns }
                if !(Self::LOAD_NS_MIN..=Self::LOAD_NS_MAX).contains(&duration_ns) =>
            {
                Some("a search by load must last from 2 s to 60 s")
            }
            Search::Halving { trial_ns, .. }
                if !(Self::TRIAL_NS_MIN..=Self::TRIAL_NS_MAX).contains(&trial_ns) =>
            {
                Some("a trial of a search must last from 100 ms to 60 s")
            }
            Search::Halving { lost_ppm_max, .. } if lost_ppm_max > 500_000 => {
                Some("the loss to be met must be at most 50 %")
            }
            _ => None,
        }
    }
}

impl Default for Capacity {
    /// A search by load for 10 s (RFC 9097 section 8.1) with 1222 B, client to server, up to the
    /// end of the table.
    fn default() -> Self {
        Capacity {
            payload_bytes: 1222,
            direction: Direction::Send,
            rate_bps_max: Self::RATE_BPS_MAX,
            search: Search::Load { duration_ns: 10_000_000_000 },
            marking: Marking::default(),
        }
    }
}

impl Kind for Capacity {
    fn metrics(&self) -> &'static [Metric] {
        match self.search {
            Search::Load { .. } => &[Metric::Capacity],
            Search::Halving { .. } => &[Metric::RateAtLoss],
        }
    }

    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn need(&self, needed: &mut Needed) {
        // All of it has been there from the beginning.
        let Capacity { payload_bytes: _, direction: _, rate_bps_max: _, search: _, marking } = self;
        needed.add(true, Feature::Capacity);
        needed.marking(marking);
    }

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        self.senseless().map_or(Ok(()), |why| Err(Impossible::Senseless(why)))
    }

    /// The sender is told how fast to go by the other end, which may say anything: the highest rate
    /// and the time are what bound it.
    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        limits.message("payload bytes of a datagram", self.payload_bytes)?;
        limits.rate("highest rate in bit/s", self.rate_bps_max)?;
        limits.bytes(self.bytes_max())
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        if let Search::Load { duration_ns } = &mut self.search {
            kind::cut(duration_ns, &mut 0, limits, told);
        }
        if let Some(most) = limits.held_bps(self.sending_ns()) {
            let what = |most| format!("rates up to {} are tried", unit::format_rate(most as f64));
            lower(&mut self.rate_bps_max, most, told, what);
        }
    }

    fn limited_bps(&self, limits: &Limits) -> Option<u64> {
        limits.held_bps(self.sending_ns())
    }

    /// A search sends about what the path carries; above that are only its steps too far. By
    /// halving the first trials may be far too fast, and the sender's queue is what bounds them.
    fn cost(&self, path: Path) -> Cost {
        /// Time that a search by halving waits after a trial, in ns: for late packets after every
        /// second one.
        const QUESTION_NS: f64 = 50e6;
        let rate_bps = (self.rate_bps_max as f64).min(path.rate_bps);
        let sending_ns = self.sending_ns() as f64;
        let questions_ns = match self.search {
            Search::Load { .. } => 0.0,
            Search::Halving { .. } => f64::from(self.trials_max()) * QUESTION_NS,
        };
        Cost { time_ns: sending_ns + questions_ns, bytes: rate_bps * sending_ns / 8e9 }
    }

    fn suffix(&self) -> String {
        let mut text = String::new();
        if self.direction == Direction::Receive {
            text.push_str("-receive");
        }
        if let Search::Halving { lost_ppm_max: ppm @ 1.., .. } = self.search {
            text.push_str(&format!("-lost{ppm}ppm"));
        }
        text
    }

    fn suffix_words(&self, _metric: Metric) -> String {
        let mut text = String::new();
        if self.direction == Direction::Receive {
            text.push_str(", from the server");
        }
        match self.search {
            Search::Load { .. } => {}
            Search::Halving { lost_ppm_max: 0, .. } => text.push_str(", nothing lost"),
            Search::Halving { lost_ppm_max, .. } => {
                let share = unit::format_share(f64::from(lost_ppm_max) / 1e6);
                text.push_str(&format!(", at most {share} lost"));
            }
        }
        text
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn mark(&mut self, marking: Marking) {
        self.marking = marking;
    }

    fn rate_bps_most(&self) -> Option<u64> {
        Some(self.rate_bps_max)
    }

    /// On a path whose packets arrive at once or never.
    fn runs_ahead(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        true
    }

    fn longest_ns(&self) -> Option<u64> {
        let settling = match self.search {
            Search::Load { .. } => 0,
            Search::Halving { .. } => u64::from(self.trials_max()) * Self::SETTLE_NS_MAX,
        };
        Some(self.sending_ns().saturating_add(settling))
    }

    fn datagrams(&self) -> Option<UdpBulk> {
        Some(self.stream())
    }

    fn level_bytes(&self) -> Option<u32> {
        Some(self.payload_bytes)
    }

    fn take_level(&mut self) {
        self.payload_bytes = 0;
    }

    /// RFC 6815 keeps searches in the style of RFC 2544 to networks made for testing.
    fn belongs_in_a_lab(&self) -> bool {
        matches!(self.search, Search::Halving { forced: false, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALVING: Search =
        Search::Halving { trial_ns: 500_000_000, lost_ppm_max: 0, forced: false };

    #[test]
    fn what_cannot_be_searched_is_a_problem() {
        let good = Capacity::default();
        let halving = |trial_ns, lost_ppm_max| Capacity {
            search: Search::Halving { trial_ns, lost_ppm_max, forced: true },
            ..good.clone()
        };
        assert_eq!(good.check_numbers(0), Ok(()));
        assert_eq!(halving(100_000_000, 500_000).check_numbers(0), Ok(()));
        let wrong = [
            Capacity { direction: Direction::Both, ..good.clone() },
            Capacity { payload_bytes: 47, ..good.clone() },
            Capacity { payload_bytes: 8973, ..good.clone() },
            Capacity { rate_bps_max: 999_999, ..good.clone() },
            Capacity { rate_bps_max: u64::MAX, ..good.clone() },
            Capacity { search: Search::Load { duration_ns: 1_999_999_999 }, ..good.clone() },
            Capacity { search: Search::Load { duration_ns: u64::MAX }, ..good.clone() },
            halving(99_999_999, 0),
            halving(u64::MAX, 0),
            halving(100_000_000, 500_001),
        ];
        for capacity in wrong {
            assert!(capacity.check_numbers(0).is_err(), "{capacity:?}");
        }
    }

    #[test]
    fn its_cost_is_bounded() {
        let load = Capacity { rate_bps_max: 80_000_000, ..Capacity::default() };
        assert_eq!((load.bytes_max(), load.longest_ns()), (100_000_000, Some(10_000_000_000)));
        let halving = Capacity { search: HALVING, ..load };
        let trials = u64::from(halving.trials_max());
        assert!((10..=14).contains(&trials), "{trials}");
        assert_eq!(halving.bytes_max(), u128::from(trials) * 5_000_000);
        assert_eq!(halving.longest_ns(), Some(trials * 2_500_000_000));
    }

    #[test]
    fn what_differs_from_the_usual_is_named() {
        let load = Capacity::default();
        assert_eq!((load.suffix().as_str(), load.belongs_in_a_lab()), ("", false));
        let search = Search::Halving { trial_ns: 1, lost_ppm_max: 1000, forced: false };
        let halving = Capacity { direction: Direction::Receive, search, ..load };
        assert_eq!(halving.suffix(), "-receive-lost1000ppm");
        assert_eq!(
            halving.suffix_words(Metric::RateAtLoss),
            ", from the server, at most 0.1 % lost"
        );
        assert!(halving.belongs_in_a_lab());
    }
}
