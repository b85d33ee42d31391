//! The vectors of the RFCs, and clocks that drift and step.

use super::order::{Copies, reordered};
use super::percentile::{median, percentile};
use super::skew;
use super::stream::{Packet, Reception, Rules, SKEW_PPM_MAX, reception};
use super::variation::Jitter;
use alloc::vec::Vec;

const MS: i64 = 1_000_000;
const RULES: Rules = Rules { timeout_ns: 2_000_000_000, clocks_alike: false };

fn sorted(values: &[i64]) -> Vec<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted
}

/// RFC 2330 section 11.3. Its text says that the 15th percentile is −∞ since the distribution steps
/// by 1/6 at −5; but 1/6 is more than 15 %, so by its own definition it is −5.
#[test]
fn percentiles_of_rfc_2330() {
    let values = sorted(&[-2, 7, 7, 4, 18, -5]);
    for (millionths, expected) in [(250_000, -2), (500_000, 4), (1_000_000, 18), (150_000, -5)] {
        assert_eq!(percentile(&values, 0, millionths), Some(expected), "{millionths}");
    }
    assert_eq!(median(&values, 0), Some(5.5));
}

/// RFC 7679: what is lost took for ever.
#[test]
fn lost_packets_are_infinitely_late() {
    let values = sorted(&[100, 110, 90, 500]);
    assert_eq!(percentile(&values, 1, 500_000), Some(110));
    assert_eq!(median(&values, 1), Some(110.0));
    assert_eq!(median(&sorted(&[100, 110, 90]), 1), Some(105.0));
    assert_eq!(percentile(&values, 1, 900_000), None);
    assert_eq!(median(&[5], 1), None);
    assert_eq!((percentile(&[], 0, 500_000), median(&[], 0)), (None, None));
    assert_eq!((percentile(&[5], u64::MAX, 500_000), median(&[5], u64::MAX)), (None, None));
}

/// Of 1000 values, 999 are not above the 99.9th percentile; no rounding makes it the largest.
#[test]
fn the_999th_of_a_thousand_is_the_99_9th_percentile() {
    let values: Vec<i64> = (1..=1000).collect();
    assert_eq!(percentile(&values, 0, 999_000), Some(999));
    assert_eq!(percentile(&values[..999], 1, 999_000), Some(999));
}

/// What is seen of packets with these delays, sent a millisecond apart; none of those lost. The
/// clocks are alike, so that no drift is looked for.
fn delayed(delays: &[Option<i64>]) -> Reception {
    let arrived = delays.iter().enumerate().filter_map(|(number, delay)| {
        let (number, sent_ns) = (number as u32, number as i64 * MS);
        Some(Packet { number, stretch: 0, path: 0, sent_ns, came_ns: sent_ns + (*delay)? })
    });
    let arrived: Vec<Packet> = arrived.collect();
    reception(&arrived, Rules { clocks_alike: true, ..RULES })
}

#[test]
fn variation_of_five_packets() {
    let found = delayed(&[20, 10, 20, 25, 20].map(Some));
    assert_eq!(found.ipdv_ns, [-10, 10, 5, -5]);
    assert_eq!(found.pdv_ns, [10, 0, 10, 15, 10]);
}

/// RFC 5481 figure 2, example B. The figure has −10 for the sixth packet, but 100 − 120 is −20. The
/// lost packet leaves two without a difference.
#[test]
fn variation_of_rfc_5481() {
    let mut delays = [100, 110, 150, 0, 120, 100, 110, 150, 130, 120, 100].map(Some);
    delays[3] = None;
    let found = delayed(&delays);
    assert_eq!(found.ipdv_ns, [10, 40, -20, 10, 40, -20, -10, -20]);
    assert_eq!(found.pdv_ns, [0, 10, 50, 20, 0, 10, 50, 30, 20, 0]);
}

#[test]
fn every_other_packet_lost_leaves_pdv_and_no_ipdv() {
    let found = delayed(&[Some(3), None, Some(5), None, Some(4)]);
    assert!(found.ipdv_ns.is_empty());
    assert_eq!(found.pdv_ns, [0, 2, 1]);
}

#[test]
fn jitter_of_rfc_3550() {
    let expected =
        [0.625, 1.2109375, 1.44775390625, 1.669769287109375, 1.565408706665039, 2.405070662498474];
    let mut jitter = Jitter::default();
    let transits = [20, 10, 20, 25, 20, 20, 35];
    jitter.add(transits[0]);
    assert_eq!(jitter.value(), 0.0);
    for (place, &transit) in transits[1..].iter().enumerate() {
        jitter.add(transit);
        assert!((jitter.value() - expected[place]).abs() < 1e-12, "{place}: {}", jitter.value());
    }
}

/// The examples of RFC 4737: packets in the order of arrival, and (number, extent, n) of each that
/// is reordered.
#[test]
fn reordering_of_rfc_4737() {
    type Example<'a> = (&'a [u64], &'a [(u64, u64, u64)]);
    let examples: [Example<'_>; 4] = [
        (&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10], &[(4, 4, 4)]),
        (&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10], &[(5, 1, 1), (6, 2, 0)]),
        (&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11], &[(4, 4, 4), (5, 5, 0), (6, 6, 0)]),
        (&[1, 2, 3, 7, 8, 9, 4, 5, 6], &[(4, 3, 3), (5, 4, 0), (6, 5, 0)]),
    ];
    for (arrivals, expected) in examples {
        let found: Vec<(u64, u64, u64)> =
            reordered(arrivals).iter().map(|r| (r.number, r.extent, r.n)).collect();
        assert_eq!(found, expected, "{arrivals:?}");
    }
}

/// RFC 5560: four sent, eight arrived.
#[test]
fn duplication_of_rfc_5560() {
    let copies = Copies::of([1, 1, 1, 2, 3, 3, 3, 4]);
    assert_eq!((copies.packets, copies.duplicates, copies.duplicated), (4, 4, 2));
    assert_eq!(Copies::of([]), Copies::default());
}

/// A thousand packets, 1 ms apart, with the given delays; the receiver's clock is `offset_ns` ahead
/// and gains `ppm`.
fn stream(delay_ns: impl Fn(i64) -> i64, offset_ns: i64, ppm: f64) -> Vec<Packet> {
    let packet = |number: u32| {
        let sent_ns = i64::from(number) * MS;
        let came = sent_ns + delay_ns(i64::from(number));
        let gained = (came as f64 * ppm / 1e6) as i64;
        let came_ns = came + gained + offset_ns;
        Packet { number, stretch: 0, path: 64, sent_ns, came_ns }
    };
    (0..1000).map(packet).collect()
}

/// Delays of 1 ms, every tenth packet without queue and the others up to 90 µs above.
fn queued(number: i64) -> i64 {
    MS + (number * 7 % 10) * 10_000
}

#[test]
fn an_offset_of_the_clocks_changes_nothing() {
    let alike = reception(&stream(queued, 0, 0.0), RULES);
    let apart = reception(&stream(queued, 987_654_321_000, 0.0), RULES);
    assert_eq!((&alike.ipdv_ns, &alike.pdv_ns), (&apart.ipdv_ns, &apart.pdv_ns));
    assert_eq!((alike.packets, alike.late, alike.jitter_ns), (1000, 0, apart.jitter_ns));
    assert_eq!(alike.skew_ppm, Some(0.0));
    assert_eq!(*alike.pdv_ns.iter().max().unwrap(), 90_000);
    assert_eq!(alike.ipdv_ns.len(), 999);
}

#[test]
fn clocks_that_drift_apart_are_noticed_and_taken_out() {
    let alike = reception(&stream(queued, 0, 0.0), RULES);
    for ppm in [-80.0, 35.0, 500.0] {
        let drifting = reception(&stream(queued, 12_345, ppm), RULES);
        assert!((drifting.skew_ppm.unwrap() - ppm).abs() < 0.1, "{:?}", drifting.skew_ppm);
        assert!(drifting.skew_removed);
        for (a, b) in alike.pdv_ns.iter().zip(&drifting.pdv_ns) {
            assert!(a.abs_diff(*b) <= 100, "{a} {b}");
        }
        for (a, b) in alike.ipdv_ns.iter().zip(&drifting.ipdv_ns) {
            assert!(a.abs_diff(*b) <= 100, "{a} {b}");
        }
    }
}

/// A queue that grows by 5 µs each ms is no clock.
#[test]
fn a_growing_queue_is_not_taken_for_a_clock() {
    let found = reception(&stream(|number| MS + number * 5_000, 0, 0.0), RULES);
    assert!(found.skew_ppm.unwrap() > SKEW_PPM_MAX);
    assert!(!found.skew_removed);
    assert_eq!(*found.pdv_ns.last().unwrap(), 999 * 5_000);
}

/// Clocks kept alike by other means show trends of the path, which stay in.
#[test]
fn clocks_declared_alike_are_believed() {
    let rules = Rules { clocks_alike: true, ..RULES };
    let found = reception(&stream(|number| MS + number * 100, 0, 0.0), rules);
    assert_eq!((found.skew_ppm, found.skew_removed), (None, false));
    assert_eq!(found.delays_ns[999], MS + 99_900);
}

/// A clock that is set by 300 ms in the middle of a trial moves one difference and half of all
/// delays, and shows: the gate on clock steps is what makes such a trial invalid.
#[test]
fn a_step_of_a_clock_is_one_large_difference() {
    let mut packets = stream(queued, 0, 0.0);
    packets[500..].iter_mut().for_each(|p| p.came_ns += 300 * MS);
    let found = reception(&packets, Rules { clocks_alike: true, ..RULES });
    let large = found.ipdv_ns.iter().filter(|d| d.abs() > 200 * MS).count();
    assert_eq!(large, 1);
    assert_eq!(found.pdv_ns.iter().filter(|&&d| d >= 300 * MS as u64).count(), 500);
}

#[test]
fn only_consecutive_packets_of_one_stretch_and_path_are_compared() {
    let mut packets = stream(queued, 0, 0.0);
    packets.truncate(40);
    packets[20..].iter_mut().for_each(|p| p.stretch = 1);
    packets.remove(5);
    let found = reception(&packets, RULES);
    // 39 pairs, less one between the stretches and two beside the lost packet.
    assert_eq!(found.ipdv_ns.len(), 36);
    assert_eq!((found.packets, found.reordered), (39, 0));
}

/// RFC 5481 section 6.2: a longer path must not look like a queue.
#[test]
fn a_change_of_the_path_splits_the_sample() {
    let mut packets = stream(queued, 0, 0.0);
    for packet in &mut packets[600..] {
        packet.path = 61;
        packet.came_ns += 20 * MS;
    }
    let found = reception(&packets, RULES);
    assert_eq!(found.ipdv_ns.len(), 998);
    assert!(found.pdv_ns.iter().all(|&above| above <= 90_000));
}

#[test]
fn late_packets_are_lost_and_counted_apart() {
    let mut packets = stream(queued, 0, 0.0);
    packets[10].came_ns += 3_000 * MS;
    let late = packets.remove(10);
    packets.push(late);
    let found = reception(&packets, RULES);
    assert_eq!((found.packets, found.late), (999, 1));
    // What is lost has no place in the order of those that came.
    assert_eq!((found.reordered, found.extent_max, found.reordered_for_tcp), (0, 0, 0));
    assert!(found.pdv_ns.iter().all(|&above| above <= 90_000));
}

#[test]
fn copies_count_once_and_the_first_one_rules() {
    let mut packets = stream(queued, 0, 0.0);
    let copy = Packet { came_ns: packets[3].came_ns + 50 * MS, ..packets[3] };
    packets.insert(7, copy);
    packets.insert(9, copy);
    let with = reception(&packets, RULES);
    let without = reception(&stream(queued, 0, 0.0), RULES);
    assert_eq!((with.copies.duplicates, with.copies.duplicated), (2, 1));
    assert_eq!((with.reordered, &with.pdv_ns), (0, &without.pdv_ns));
    assert_eq!(with.jitter_ns, without.jitter_ns);
}

#[test]
fn of_nothing_and_of_one() {
    assert_eq!(reception(&[], RULES).packets, 0);
    let one = reception(&stream(queued, 0, 0.0)[..1], RULES);
    assert_eq!((one.packets, one.pdv_ns.as_slice()), (1, [0].as_slice()));
    assert!(skew::under(&[(1, 5), (1, 3)]).is_none());
}

/// The line touches the hull around the mean time, not the longest edge.
#[test]
fn the_line_lies_below_and_close() {
    let points: Vec<(i64, i64)> =
        (0..1000).map(|i| (i * MS, 3 * i * 100 + (i * 7919 % 13) * 1000)).collect();
    let line = skew::under(&points).unwrap();
    assert!((line.slope - 3e-4).abs() < 1e-6, "{}", line.slope);
    let above = |&(time, delay): &(i64, i64)| delay - line.drift_ns(time);
    let least = points.iter().map(above).min().unwrap();
    // It lies on an edge of the hull: two points are on it, but for rounding, and none is below.
    assert!(points.iter().filter(|point| above(point) <= least + 1).count() >= 2);
}

/// Times and numbers from a stranger.
#[test]
fn wild_times_do_no_harm() {
    let times = [i64::MIN, -1, 0, 1, 1 << 61, i64::MAX];
    let mut packets = Vec::new();
    for sent_ns in times {
        for came_ns in times {
            let number = packets.len() as u32 * 7 % 31;
            packets.push(Packet { number, stretch: 0, path: 0, sent_ns, came_ns });
        }
    }
    for _ in 0..3 {
        packets.extend_from_within(..);
    }
    packets.iter_mut().enumerate().for_each(|(i, p)| p.number = i as u32 ^ 5);
    for clocks_alike in [false, true] {
        let found = reception(&packets, Rules { clocks_alike, ..RULES });
        assert_eq!(found.packets + found.late, packets.len() as u64);
    }
}
