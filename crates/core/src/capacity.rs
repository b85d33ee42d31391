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

/// MTU of a path that tells none, in bytes: Ethernet's (RFC 894).
pub const PATH_MTU_USUAL: u32 = 1500;

/// Rows of a large step.
const FAST_STEP: u16 = 10;

/// Time between two reports of the receiver, in ns.
pub const REPORT_NS: u64 = 50 * 1_000_000;

/// Length of the intervals of which the best is the capacity, in ns.
pub const INTERVAL_NS: u64 = 1_000_000_000;

/// By how much an end of an interval may be moved, in ns.
pub const EDGE_NS: u64 = 50_000_000;

/// A search by halving ends when it knows the rate to this part of itself,
const RESOLUTION: f64 = 0.0025;

/// or to this, in bit/s.
const STEP_BPS: u64 = 100_000;

/// Packets may arrive more slowly than they were sent by this share, which is the clocks' and the
/// hosts' business.
const SLOWER_MAX: f64 = 0.01;

/// The rate of a row of the table of RFC 9097 section 8.1, in bit/s: 0.5 Mbit/s, then steps of
/// 1 Mbit/s to 1 Gbit/s, then of 100 Mbit/s. Rows beyond the last are the last.
pub const fn row_bps(row: u16) -> u64 {
    let row = if row < ROW_MAX { row } else { ROW_MAX };
    // The standard library has no constant conversion for a widening.
    match row {
        0 => MBPS / 2,
        1..=FAST_BELOW => row as u64 * MBPS,
        _ => 1000 * MBPS + (row - FAST_BELOW) as u64 * 100 * MBPS,
    }
}

/// The highest row whose rate is not above `rate_bps`; the first if none is.
pub fn row_up_to(rate_bps: u64) -> u16 {
    (0..=ROW_MAX).rev().find(|&row| row_bps(row) <= rate_bps).unwrap_or(0)
}

/// Bytes at the IP layer of a datagram of `payload_bytes` on a path of this MTU, fragments and all
/// headers included.
///
/// # Errors
/// A payload that the family cannot carry.
pub fn ip_bytes(
    payload_bytes: u32,
    family: Family,
    mtu: u32,
) -> Result<u32, wiremodel::Unsendable> {
    Ok(wiremodel::udp_packets(payload_bytes, family, mtu)?.iter().sum())
}

/// Payload bits per second of datagrams of `payload_bytes` that have `ip_bytes` at the IP layer and
/// are sent at `ip_bps`.
pub fn payload_bps(ip_bps: u64, payload_bytes: u32, ip_bytes: u32) -> u64 {
    let payload = u128::from(ip_bps) * u128::from(payload_bytes) / u128::from(ip_bytes.max(1));
    u64::try_from(payload).unwrap_or(u64::MAX)
}

/// When the search turns back (RFC 9097 section 8.1 and table 1 of its appendix).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// A delay in a report below this leaves room for more, in ns.
    pub low_ns: u64,
    /// A delay above this is congestion, in ns.
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
pub struct Feedback {
    /// Packets that were lost, or came out of order or twice.
    pub errors: u64,
    /// Mean delay of the report's packets above the smallest delay of all so far, in ns.
    pub delay_ns: u64,
}

/// The load search of RFC 9097 section 8.1 ("type B").
#[derive(Debug, Clone)]
pub struct LoadSearch {
    thresholds: Thresholds,
    row: u16,
    last_row: u16,
    congested: u32,
    silent: u32,
}

impl LoadSearch {
    /// A search that starts at the first row and goes no higher than `last_row`.
    pub fn new(thresholds: Thresholds, last_row: u16) -> Self {
        LoadSearch { thresholds, row: 0, last_row: last_row.min(ROW_MAX), congested: 0, silent: 0 }
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
    pub fn report(&mut self, seen: Feedback) {
        self.silent = 0;
        let Thresholds { low_ns, high_ns, errors, .. } = self.thresholds;
        if seen.errors > errors || seen.delay_ns > high_ns {
            self.turn_back();
        } else if seen.delay_ns < low_ns {
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
}

/// Bits per second of each whole interval of [`INTERVAL_NS`] of a receiver's `samples`: pairs of
/// (time since the first byte in ns, bytes), in the order of time. What came after `until_ns`, when
/// the sender had stopped, is left out.
///
/// A receiver that was put aside reads late what had arrived in time. So the ends of an interval
/// are moved, by at most [`EDGE_NS`], to samples at which it had caught up, and bytes and time are
/// those between these. Where nothing came for longer, intervals become one.
pub fn intervals_bps(samples: &[(u64, u64)], until_ns: u64) -> Vec<f64> {
    let within = &samples[..samples.partition_point(|(t, _)| *t <= until_ns)];
    let Some(mut from) = within.first().copied() else { return Vec::new() };
    let mut rates = Vec::new();
    for interval in 1..=within.last().map_or(0, |last| last.0.div_ceil(INTERVAL_NS)) {
        let Some(to) = caught_up(within, interval.saturating_mul(INTERVAL_NS)) else { continue };
        let time_ns = to.0.saturating_sub(from.0);
        if time_ns >= INTERVAL_NS - 2 * EDGE_NS {
            rates.push(to.1.saturating_sub(from.1) as f64 * 8e9 / time_ns as f64);
            from = to;
        }
    }
    rates
}

/// The sample near `at_ns` that lies highest above the line through those around it.
fn caught_up(samples: &[(u64, u64)], at_ns: u64) -> Option<(u64, u64)> {
    let first = samples.partition_point(|(t, _)| *t < at_ns.saturating_sub(EDGE_NS));
    let end = samples.partition_point(|(t, _)| *t <= at_ns.saturating_add(EDGE_NS));
    let near = samples.get(first..end)?;
    let (from, to) = (near.first()?, near.last()?);
    let slope = to.1.saturating_sub(from.1) as f64 / to.0.saturating_sub(from.0).max(1) as f64;
    let above = |(t, bytes): &(u64, u64)| *bytes as f64 - slope * t.saturating_sub(from.0) as f64;
    near.iter().copied().max_by(|x, y| above(x).total_cmp(&above(y)))
}

/// Maximum_C of RFC 9097 section 6: the best whole interval, in bit/s; `None` if there is none.
pub fn maximum_bps(samples: &[(u64, u64)], until_ns: u64) -> Option<f64> {
    intervals_bps(samples, until_ns).into_iter().max_by(f64::total_cmp).filter(|&bps| bps > 0.0)
}

/// What became of the packets of one trial at a constant rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// Share of the packets that were due and did not arrive, 0 to 1.
    pub loss: f64,
    /// Rate at which they arrived, in the bit/s of the rate that was tried; `None` if too few
    /// came to tell.
    pub arrived_bps: Option<f64>,
}

/// A search for the highest rate at which no more than a share of packets is lost, by halving
/// (in the style of RFC 2544 section 26.1). It assumes that a higher rate never loses less.
///
/// Packets that arrive more slowly than they were sent fill a queue that a longer trial would
/// overflow: such a rate is not carried either.
#[derive(Debug, Clone)]
pub struct HalvingSearch {
    good_bps: u64,
    bad_bps: u64,
    next_bps: u64,
    loss_max: f64,
    found_bps: f64,
}

impl HalvingSearch {
    /// Looks between 0 and `most_bps`, which is tried first, until the rate is known to
    /// [`RESOLUTION`] of itself or to [`STEP_BPS`]. `loss_max` from 0 to 1.
    pub fn new(most_bps: u64, loss_max: f64) -> Self {
        let bad_bps = most_bps.saturating_add(1);
        HalvingSearch { good_bps: 0, bad_bps, next_bps: most_bps, loss_max, found_bps: 0.0 }
    }

    /// Most trials of a search up to `most_bps`.
    pub fn trials_max(most_bps: u64) -> u32 {
        // The first, one for each halving of the range, and what rounding leaves.
        3 + (most_bps / STEP_BPS).max(1).ilog2()
    }

    /// The rate to try next, in bit/s; `None` when the search is over.
    pub fn next_bps(&self) -> Option<u64> {
        let near = STEP_BPS.max((self.bad_bps as f64 * RESOLUTION) as u64);
        let open = self.bad_bps - self.good_bps > near && self.next_bps > self.good_bps;
        open.then_some(self.next_bps)
    }

    /// Takes what became of the packets at [`next_bps`](Self::next_bps); true if that is carried.
    pub fn report(&mut self, carried: Carried) -> bool {
        let rate_bps = self.next_bps as f64;
        let arrived_bps = carried.arrived_bps.unwrap_or(rate_bps);
        let good = carried.loss <= self.loss_max
            && arrived_bps >= rate_bps * (1.0 - self.loss_max) * (1.0 - SLOWER_MAX);
        if good {
            self.good_bps = self.next_bps;
            self.found_bps = arrived_bps.min(rate_bps);
        } else {
            self.bad_bps = self.next_bps;
        }
        self.next_bps = self.good_bps + (self.bad_bps - self.good_bps) / 2;
        good
    }

    /// The highest rate that was carried, in bit/s, or the one at which its packets arrived if that
    /// is lower; 0 if none was.
    pub fn found_bps(&self) -> f64 {
        self.found_bps
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
        carried_bits: u64,
    }

    const PACKET_BITS: u64 = 1250 * 8;

    impl Link {
        fn carry(&mut self, rate_bps: u64) -> Feedback {
            let per_report = |bps: u64| bps / 20;
            let before = self.queued;
            let offered = self.queued + per_report(rate_bps);
            let bits = offered.min(per_report(self.rate_bps));
            let left = offered - bits;
            self.queued = left.min(self.room_bits);
            let lost = left - self.queued;
            self.carried_bits += bits;
            let delay_ns = (before + self.queued) / 2 * 1_000_000_000 / self.rate_bps;
            Feedback { errors: lost.div_ceil(PACKET_BITS), delay_ns }
        }
    }

    /// The capacity that a search finds, as its receiver sees it.
    fn searched(rate_bps: u64, room_ms: u64, seconds: u64) -> f64 {
        let room_bits = rate_bps / 1000 * room_ms;
        let mut link = Link { rate_bps, room_bits, queued: 0, carried_bits: 0 };
        let mut search = LoadSearch::new(Thresholds::default(), ROW_MAX);
        let mut samples = alloc::vec![(0, 0)];
        for report in 1..=20 * seconds {
            let seen = link.carry(search.rate_bps());
            samples.push((report * REPORT_NS, link.carried_bits / 8));
            search.report(seen);
        }
        maximum_bps(&samples, seconds * INTERVAL_NS).unwrap()
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
                let off = searched(rate_bps, room_ms, 10) - rate_bps as f64;
                assert!(off.abs() <= MBPS as f64, "{rate_bps} {room_ms} ms: {off}");
            }
        }
    }

    /// The steps of appendix A: up by 10, at the third bad report down by 30 once, then by 1.
    #[test]
    fn steps_follow_the_reports() {
        let mut search = LoadSearch::new(Thresholds::default(), ROW_MAX);
        let good = Feedback { errors: 10, delay_ns: 29_999_999 };
        let bad = Feedback { errors: 11, ..good };
        let neither = Feedback { delay_ns: 60_000_000, ..good };
        let rows = |search: &mut LoadSearch, reports: &[Feedback]| {
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
        let late = Feedback { delay_ns: 90_000_001, ..good };
        assert_eq!(rows(&mut search, &[late]), [75]);
    }

    #[test]
    fn a_lost_report_is_taken_for_congestion() {
        let mut search = LoadSearch::new(Thresholds::default(), ROW_MAX);
        for _ in 0..10 {
            search.report(Feedback::default());
        }
        assert_eq!(search.patience_ns(), 190_000_000);
        search.silence();
        assert_eq!((search.row(), search.patience_ns()), (99, 240_000_000));
        search.report(Feedback::default());
        assert_eq!(search.patience_ns(), 190_000_000);
        for _ in 0..100 {
            search.silence();
        }
        assert!(search.row() < 60 && search.patience_ns() > 1_000_000_000);
    }

    /// IP-layer bits: the same for both families, and the payload that they hold is not.
    #[test]
    fn both_families_are_measured_at_the_ip_layer() {
        let payload_at = |payload_bytes, family| {
            let bytes = ip_bytes(payload_bytes, family, 1500).unwrap();
            payload_bps(100 * MBPS, payload_bytes, bytes)
        };
        let payload = |family| payload_at(1222, family);
        assert_eq!(payload(Family::V4), 100 * MBPS * 1222 / 1250);
        assert_eq!(payload(Family::V6), 100 * MBPS * 1222 / 1270);
        // Two fragments, as 4000 B are three: their headers are counted.
        let cut = |family| payload_at(4000, family);
        assert_eq!(cut(Family::V4), 100 * MBPS * 4000 / 4068);
        assert_eq!(cut(Family::V6), 100 * MBPS * 4000 / 4152);
    }

    #[test]
    fn a_rate_has_a_row() {
        assert_eq!([0, MBPS / 2, MBPS, 99 * MBPS + 1].map(row_up_to), [0, 0, 1, 99]);
        assert_eq!([1099 * MBPS, 1100 * MBPS, u64::MAX].map(row_up_to), [1000, 1001, ROW_MAX]);
    }

    #[test]
    fn intervals_end_where_the_receiver_had_caught_up() {
        const MS: u64 = 1_000_000;
        // 1000 B/ms, but what comes from 2985 ms on is read at 3012 ms; the sender stops at 5 s.
        let late = |ms: &u64| !(2985..3012).contains(ms);
        let at = |ms: u64| (ms * MS, 1000 * ms.min(5_000));
        let samples: Vec<(u64, u64)> = (0..5_500).step_by(3).filter(late).map(at).collect();
        let found = intervals_bps(&samples, 5_000 * MS);
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|bps| (bps / 8e6 - 1.0).abs() < 1e-9), "{found:?}");
        assert!(intervals_bps(&[], 5_000 * MS).is_empty());
        // Nothing is read from 900 to 2100 ms: one interval of 3 s.
        let asleep = |ms: &u64| !(900..2_100).contains(ms);
        let samples: Vec<(u64, u64)> = (0..5_500).step_by(3).filter(asleep).map(at).collect();
        let found = intervals_bps(&samples, 5_000 * MS);
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|bps| (bps / 8e6 - 1.0).abs() < 1e-9), "{found:?}");
        assert_eq!(maximum_bps(&[(0, 10), (999 * MS, 10)], 900 * MS), None);
        assert_eq!(maximum_bps(&[(0, 0), (400 * MS, 9)], u64::MAX), None);
    }

    fn halved(most_bps: u64, loss_max: f64, path: impl Fn(u64) -> Carried) -> f64 {
        let mut search = HalvingSearch::new(most_bps, loss_max);
        let mut tries = 0;
        while let Some(rate_bps) = search.next_bps() {
            search.report(path(rate_bps));
            tries += 1;
        }
        assert!(tries <= HalvingSearch::trials_max(most_bps), "{tries}");
        search.found_bps()
    }

    #[test]
    fn halving_finds_the_highest_rate_without_loss() {
        for most_bps in [1000 * MBPS, 1] {
            for limit in [0, 1, 77 * MBPS, 100 * MBPS, 2000 * MBPS] {
                let loss = |rate_bps| if rate_bps <= limit { 0.0 } else { 0.01 };
                let path = |rate_bps| Carried { loss: loss(rate_bps), arrived_bps: None };
                let found = halved(most_bps, 0.0, path);
                let truth = limit.min(most_bps) as f64;
                let near = (truth * RESOLUTION * 1.01).max(STEP_BPS as f64);
                assert!(found <= truth && truth - found <= near, "{limit}: {found}");
            }
        }
    }

    #[test]
    fn a_share_of_loss_may_be_the_target() {
        let limit = 80.0 * MBPS as f64;
        let path = |rate_bps: u64| {
            let loss = (1.0 - limit / rate_bps as f64).max(0.0);
            Carried { loss, arrived_bps: Some(limit.min(rate_bps as f64)) }
        };
        let found = halved(200 * MBPS, 0.05, path);
        assert!((found / limit - 1.0).abs() < RESOLUTION, "{found}");
    }

    /// A queue takes the excess of a short trial: nothing is lost, but what arrives is the link's.
    #[test]
    fn a_queue_is_not_taken_for_capacity() {
        let limit = 100.0 * MBPS as f64;
        let path = |rate_bps: u64| {
            let arrived_bps = Some(limit.min(rate_bps as f64));
            Carried { loss: 0.0, arrived_bps }
        };
        let found = halved(1000 * MBPS, 0.0, path);
        assert!((found / limit - 1.0).abs() < RESOLUTION, "{found}");
    }
}
