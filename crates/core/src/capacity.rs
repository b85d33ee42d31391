//! Searches for the rate that a path carries: the load search of RFC 9097 and a search by halving
//! in the style of RFC 2544 section 26.1.
//!
//! Both are machines without a clock or a socket: they are told what a receiver saw and say at
//! which rate to send next. All rates are IP-layer bits per second, headers included (RFC 5136), so
//! that they mean the same for both families; [`payload_bps`] says what a sender of datagrams makes
//! of them.

use crate::family::Family;
use crate::wiremodel;
use alloc::vec::Vec;

/// Bits per second of a Mbit/s.
const MBPS: u64 = 1_000_000;

/// The last row of [`row_bps`]: 10 Gbit/s, the end of the table that RFC 9097 section 8.1 asks for.
pub const ROW_MAX: u16 = 1090;

/// Rows below which the search may take large steps: those below 1 Gbit/s.
const FAST_BELOW: u16 = 1000;

/// Rows of a large step.
const FAST_STEP: u16 = 10;

/// Time between two reports of the receiver, in ns.
pub const REPORT_NS: u64 = 50 * 1_000_000;

/// Length of the intervals of which the best is the capacity, in ns.
pub const INTERVAL_NS: u64 = 1_000_000_000;

/// The rate of a row of the table of RFC 9097 section 8.1, in bit/s: 0.5 Mbit/s, then steps of
/// 1 Mbit/s to 1 Gbit/s, then of 100 Mbit/s. Rows beyond the last are the last.
pub fn row_bps(row: u16) -> u64 {
    match row.min(ROW_MAX) {
        0 => MBPS / 2,
        row @ 1..=FAST_BELOW => u64::from(row) * MBPS,
        row => 1000 * MBPS + u64::from(row - FAST_BELOW) * 100 * MBPS,
    }
}

/// Payload bits per second of datagrams of `payload_bytes` whose packets are `ip_bps` on a path of
/// this MTU, fragments and their headers included.
///
/// # Errors
/// A payload that the family cannot carry.
pub fn payload_bps(
    ip_bps: u64,
    payload_bytes: u32,
    family: Family,
    mtu: u32,
) -> Result<u64, wiremodel::Unsendable> {
    let packets = wiremodel::udp_packets(payload_bytes, family, mtu)?;
    let ip_bytes: u64 = packets.iter().map(|&bytes| u64::from(bytes)).sum();
    let payload = u128::from(ip_bps) * u128::from(payload_bytes) / u128::from(ip_bytes.max(1));
    // A share of what fits.
    Ok(payload as u64)
}

/// When the search turns back (RFC 9097 section 8.1 and table 1 of its appendix).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// A range of delays in a report up to this leaves room for more, in ns.
    pub low_ns: u64,
    /// A range above this is congestion, in ns.
    pub high_ns: u64,
    /// More lost, reordered or duplicated packets than this in a report are congestion.
    pub errors: u64,
    /// Reports of congestion one after the other that confirm it.
    pub confirming: u32,
}

impl Default for Thresholds {
    /// 30 ms, 90 ms, 10 packets, 3 reports.
    fn default() -> Self {
        let ms = 1_000_000;
        Thresholds { low_ns: 30 * ms, high_ns: 90 * ms, errors: 10, confirming: 3 }
    }
}

/// What a receiver saw since its last report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// IP-layer bits that arrived, headers included.
    pub bits: u64,
    /// Packets that were lost, or came out of order or twice.
    pub errors: u64,
    /// Largest delay less the smallest of the report's packets, in ns.
    pub delay_range_ns: u64,
}

/// The load search of RFC 9097 section 8.1 ("type B").
#[derive(Debug, Clone)]
pub struct LoadSearch {
    thresholds: Thresholds,
    row: u16,
    last_row: u16,
    congested: u32,
    silent: u32,
    passed_ns: u64,
    bits: u64,
    intervals_bps: Vec<u64>,
}

impl LoadSearch {
    /// A search that starts at the first row and goes no higher than `last_row`, with room for
    /// `intervals` of [`INTERVAL_NS`].
    pub fn new(thresholds: Thresholds, last_row: u16, intervals: usize) -> Self {
        LoadSearch {
            thresholds,
            row: 0,
            last_row: last_row.min(ROW_MAX),
            congested: 0,
            silent: 0,
            passed_ns: 0,
            bits: 0,
            intervals_bps: Vec::with_capacity(intervals),
        }
    }

    /// The row to send at.
    pub fn row(&self) -> u16 {
        self.row
    }

    /// The rate to send at, in bit/s.
    pub fn rate_bps(&self) -> u64 {
        row_bps(self.row)
    }

    /// Takes a report and moves to the next row.
    pub fn report(&mut self, seen: Seen) {
        self.silent = 0;
        self.account(seen.bits);
        let Thresholds { low_ns, high_ns, errors, .. } = self.thresholds;
        if seen.errors > errors || seen.delay_range_ns > high_ns {
            self.turn_back();
        } else if seen.delay_range_ns < low_ns {
            self.go_on();
        }
    }

    /// Time without a report after which [`silence`](Self::silence) is to be told, in ns: the upper
    /// threshold of delay and two reports, and one more for each time it was told before.
    pub fn patience_ns(&self) -> u64 {
        self.thresholds.high_ns + (2 + u64::from(self.silent)) * REPORT_NS
    }

    /// No report came in time: whatever carries them may be full.
    pub fn silence(&mut self) {
        self.silent = self.silent.saturating_add(1);
        self.turn_back();
    }

    fn go_on(&mut self) {
        let fast = self.row < FAST_BELOW && self.congested < self.thresholds.confirming;
        let step = if fast { FAST_STEP } else { 1 };
        if fast {
            self.congested = 0;
        }
        self.row = self.row.saturating_add(step).min(self.last_row);
    }

    fn turn_back(&mut self) {
        self.congested = self.congested.saturating_add(1);
        let confirmed = self.congested == self.thresholds.confirming;
        let step = if confirmed && self.row < FAST_BELOW { 3 * FAST_STEP } else { 1 };
        self.row = self.row.saturating_sub(step);
    }

    fn account(&mut self, bits: u64) {
        self.bits = self.bits.saturating_add(bits);
        self.passed_ns += REPORT_NS;
        if self.passed_ns >= INTERVAL_NS {
            if self.intervals_bps.len() < self.intervals_bps.capacity() {
                self.intervals_bps.push(self.bits);
            }
            (self.passed_ns, self.bits) = (0, 0);
        }
    }

    /// IP-layer bit/s of each whole interval so far.
    pub fn intervals_bps(&self) -> &[u64] {
        &self.intervals_bps
    }

    /// Maximum_C of RFC 9097 section 6: the best interval, in bit/s; `None` before the first.
    pub fn capacity_bps(&self) -> Option<u64> {
        self.intervals_bps.iter().copied().max()
    }
}

/// A search for the highest rate at which no more than a share of packets is lost, by halving
/// (in the style of RFC 2544 section 26.1). It assumes that a higher rate never loses less.
#[derive(Debug, Clone)]
pub struct HalvingSearch {
    good_bps: u64,
    bad_bps: u64,
    next_bps: u64,
    step_bps: u64,
    loss_max: f64,
}

impl HalvingSearch {
    /// Looks between 0 and `most_bps`, which is tried first, until the rate is known to
    /// `step_bps` (at least 1). `loss_max` from 0 to 1.
    pub fn new(most_bps: u64, step_bps: u64, loss_max: f64) -> Self {
        let bad_bps = most_bps.saturating_add(1);
        HalvingSearch {
            good_bps: 0,
            bad_bps,
            next_bps: most_bps,
            step_bps: step_bps.max(1),
            loss_max,
        }
    }

    /// The rate to try next, in bit/s; `None` when the search is over.
    pub fn next_bps(&self) -> Option<u64> {
        (self.bad_bps - self.good_bps > self.step_bps && self.next_bps > self.good_bps)
            .then_some(self.next_bps)
    }

    /// Takes the share of packets lost at [`next_bps`](Self::next_bps).
    pub fn report(&mut self, loss: f64) {
        if loss <= self.loss_max {
            self.good_bps = self.next_bps;
        } else {
            self.bad_bps = self.next_bps;
        }
        self.next_bps = self.good_bps + (self.bad_bps - self.good_bps) / 2;
    }

    /// The highest rate that was good, in bit/s; 0 if none was.
    pub fn found_bps(&self) -> u64 {
        self.good_bps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link with a queue, by fluid: bits in, bits out, what does not fit is lost.
    struct Link {
        rate_bps: u64,
        room_bits: u64,
        queued: u64,
    }

    const PACKET_BITS: u64 = 1250 * 8;

    impl Link {
        fn carry(&mut self, rate_bps: u64) -> Seen {
            let per_report = |bps: u64| bps / 20;
            let before = self.queued;
            let offered = self.queued + per_report(rate_bps);
            let bits = offered.min(per_report(self.rate_bps));
            let left = offered - bits;
            self.queued = left.min(self.room_bits);
            let lost = left - self.queued;
            let range = self.queued.abs_diff(before);
            let delay_range_ns = range * 1_000_000_000 / self.rate_bps;
            Seen { bits, errors: lost.div_ceil(PACKET_BITS), delay_range_ns }
        }
    }

    fn searched(rate_bps: u64, room_ms: u64, seconds: u64) -> LoadSearch {
        let mut link = Link { rate_bps, room_bits: rate_bps / 1000 * room_ms, queued: 0 };
        let mut search = LoadSearch::new(Thresholds::default(), ROW_MAX, 100);
        for _ in 0..20 * seconds {
            let seen = link.carry(search.rate_bps());
            search.report(seen);
        }
        search
    }

    #[test]
    fn the_table_is_that_of_the_rfc() {
        assert_eq!(
            [0, 1, 2, 999, 1000].map(row_bps),
            [500_000, MBPS, 2 * MBPS, 999 * MBPS, 1000 * MBPS]
        );
        assert_eq!([1001, 1090].map(row_bps), [1100 * MBPS, 10_000 * MBPS]);
        assert_eq!(row_bps(u16::MAX), row_bps(ROW_MAX));
        assert!((0..ROW_MAX).all(|row| row_bps(row) < row_bps(row + 1)));
    }

    #[test]
    fn the_capacity_of_a_link_is_found_within_a_row() {
        for rate_bps in [20 * MBPS, 100 * MBPS, 500 * MBPS, 950 * MBPS] {
            for room_ms in [5, 50, 200] {
                let found = searched(rate_bps, room_ms, 10).capacity_bps().unwrap();
                assert!(found.abs_diff(rate_bps) <= MBPS, "{rate_bps} {room_ms} ms: {found}");
            }
        }
    }

    /// The steps of appendix A: up by 10, at the third bad report down by 30 once, then by 1.
    #[test]
    fn steps_follow_the_reports() {
        let mut search = LoadSearch::new(Thresholds::default(), ROW_MAX, 10);
        let good = Seen { bits: 0, errors: 10, delay_range_ns: 29_999_999 };
        let bad = Seen { errors: 11, ..good };
        let neither = Seen { delay_range_ns: 60_000_000, ..good };
        let rows = |search: &mut LoadSearch, reports: &[Seen]| {
            reports
                .iter()
                .map(|&seen| {
                    search.report(seen);
                    search.row()
                })
                .collect::<Vec<u16>>()
        };
        assert_eq!(rows(&mut search, &[good; 10])[9], 100);
        assert_eq!(rows(&mut search, &[bad, bad, good]), [99, 98, 108]);
        assert_eq!(rows(&mut search, &[neither, bad, bad, bad, bad]), [108, 107, 106, 76, 75]);
        assert_eq!(rows(&mut search, &[good, good, bad]), [76, 77, 76]);
        let late = Seen { delay_range_ns: 90_000_001, ..good };
        assert_eq!(rows(&mut search, &[late]), [75]);
    }

    #[test]
    fn a_lost_report_is_taken_for_congestion() {
        let mut search = LoadSearch::new(Thresholds::default(), ROW_MAX, 10);
        for _ in 0..10 {
            search.report(Seen::default());
        }
        assert_eq!(search.patience_ns(), 190_000_000);
        search.silence();
        assert_eq!((search.row(), search.patience_ns()), (99, 240_000_000));
        search.report(Seen::default());
        assert_eq!(search.patience_ns(), 190_000_000);
        for _ in 0..100 {
            search.silence();
        }
        assert!(search.row() < 60 && search.patience_ns() > 1_000_000_000);
    }

    /// IP-layer bits: the same for both families, and the payload that they hold is not.
    #[test]
    fn both_families_are_measured_at_the_ip_layer() {
        let payload = |family| payload_bps(100 * MBPS, 1222, family, 1500).unwrap();
        assert_eq!(payload(Family::V4), 100 * MBPS * 1222 / 1250);
        assert_eq!(payload(Family::V6), 100 * MBPS * 1222 / 1270);
        // Two fragments, as 4000 B are three: their headers are counted.
        let cut = |family| payload_bps(100 * MBPS, 4000, family, 1500).unwrap();
        assert_eq!(cut(Family::V4), 100 * MBPS * 4000 / 4068);
        assert_eq!(cut(Family::V6), 100 * MBPS * 4000 / 4152);
    }

    #[test]
    fn halving_finds_the_highest_rate_without_loss() {
        for limit in [0, 1, 77 * MBPS, 100 * MBPS, 2000 * MBPS] {
            let mut search = HalvingSearch::new(1000 * MBPS, MBPS / 10, 0.0);
            let mut tries = 0;
            while let Some(rate_bps) = search.next_bps() {
                search.report(if rate_bps <= limit { 0.0 } else { 0.01 });
                tries += 1;
                assert!(tries < 40);
            }
            let found = search.found_bps();
            let true_bps = limit.min(1000 * MBPS);
            assert!(found <= true_bps && true_bps - found <= MBPS / 10, "{limit}: {found}");
        }
    }
}
