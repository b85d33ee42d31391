//! Tests of the line's arithmetic and of what it does at random.

use super::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::world::{Bursts, Jitter, Reordering, Spread};
use v6gap_stats::loss;

const UDP_64: usize = 14 + 20 + 8 + 64;

fn line(conditions: Conditions, queue_frames: u32) -> LineSettings {
    let conditions = PerFamily { v4: conditions, v6: conditions };
    LineSettings { conditions, queue_frames, vlan_tags: 0, priority: false }
}

fn clock(conditions: Conditions, queue_frames: u32) -> LinkClock {
    LinkClock::new(line(conditions, queue_frames))
}

fn frame(at_ns: u64, family: Family, frame_bytes: usize) -> Arriving {
    Arriving { at_ns, family, frame_bytes, priority: false }
}

fn due(at_ns: u64) -> Fate {
    Fate::Due(Due { at_ns, copy_at_ns: None })
}

/// What becomes of a frame where nothing is left to chance.
fn fate(line: &mut LinkClock, at_ns: u64, family: Family, frame_bytes: usize) -> Fate {
    line.admit(frame(at_ns, family, frame_bytes), &mut || panic!("nothing is drawn here"))
}

/// The same where the next draws give these numbers.
fn drawn(line: &mut LinkClock, at_ns: u64, frame_bytes: usize, draws: &[f64]) -> Fate {
    let mut draws = draws.iter();
    let mut draw = || *draws.next().expect("no more is drawn");
    let fate = line.admit(frame(at_ns, Family::V4, frame_bytes), &mut draw);
    assert_eq!(draws.next(), None, "all are drawn");
    fate
}

#[test]
fn the_last_bit_arrives_before_the_gap_and_the_next_frame_waits_for_it() {
    let mut line = clock(Conditions::rate(Some(100_000_000)), 100);
    // 106 + 4 + 8 bytes at 80 ns; the gap adds 12 bytes before the next frame may start.
    assert_eq!(fate(&mut line, 1_000, Family::V4, UDP_64), due(1_000 + 9_440));
    assert_eq!(fate(&mut line, 1_000, Family::V4, UDP_64), due(1_000 + 10_400 + 9_440));
    assert_eq!(fate(&mut line, 50_000, Family::V4, UDP_64), due(50_000 + 9_440));
}

#[test]
fn short_frames_are_padded_to_84_bytes_on_the_wire() {
    let mut line = clock(Conditions::rate(Some(1_000_000_000)), 100);
    assert_eq!(fate(&mut line, 0, Family::V4, 42), due(72 * 8));
    assert_eq!(fate(&mut line, 0, Family::V4, 60), due((84 + 72) * 8));
    assert_eq!(fate(&mut line, 0, Family::V4, 61), due((84 + 84 + 73) * 8));
}

#[test]
fn a_long_train_has_exactly_the_rate() {
    // 1538 bytes at 7 Mbit/s take 1 757 714.2857... ns: a clock in whole ns would be 28 us off.
    let mut line = clock(Conditions::rate(Some(7_000_000)), 1_000_000);
    let mut last = Fate::Lost;
    for _ in 0..100_000 {
        last = fate(&mut line, 0, Family::V6, 1514);
    }
    let exact_ns = (99_999 * 1538 + 1526) * 8 * 1_000 / 7;
    let Fate::Due(Due { at_ns: due, .. }) = last else { panic!("the queue is long enough") };
    assert!(due.abs_diff(exact_ns) <= 100, "{due} instead of {exact_ns}");
}

#[test]
fn the_queue_holds_its_frames_besides_the_one_on_the_line() {
    let mut line = clock(Conditions::rate(Some(8_000_000)), 2);
    let fates: Vec<Fate> = (0..4).map(|_| fate(&mut line, 0, Family::V4, 1514)).collect();
    assert_eq!(fates[..3], [1526, 3064, 4602].map(|us| due(us * 1_000)));
    assert_eq!(fates[3], Fate::QueueFull);
    // At 1538 us the second frame has the line, so there is room for one more.
    assert_eq!(fate(&mut line, 1_537_999, Family::V4, 1514), Fate::QueueFull);
    assert_eq!(fate(&mut line, 1_538_000, Family::V4, 1514), due(6_140_000));
}

#[test]
fn a_queue_of_none_still_passes_a_frame_when_the_line_is_free() {
    let mut line = clock(Conditions::rate(Some(8_000_000)), 0);
    assert_eq!(fate(&mut line, 0, Family::V4, 1514), due(1_526_000));
    assert_eq!(fate(&mut line, 1, Family::V4, 1514), Fate::QueueFull);
}

#[test]
fn each_family_meets_its_own_conditions_on_one_line() {
    let mut late = Conditions::rate(Some(100_000_000));
    late.delay_ns = 1_000_000;
    let conditions = PerFamily { v4: Conditions::rate(Some(100_000_000)), v6: late };
    let plain = line(Conditions::rate(None), 9);
    let mut line = LinkClock::new(LineSettings { conditions, ..plain });
    assert_eq!(fate(&mut line, 0, Family::V6, UDP_64), due(1_009_440));
    assert_eq!(fate(&mut line, 0, Family::V4, UDP_64), due(19_840));
}

#[test]
fn loss_and_black_hole_take_no_line_time() {
    let mut conditions = Conditions::rate(Some(100_000_000));
    conditions.loss = 0.01;
    conditions.black_hole_above = Some(1400);
    let mut line = clock(conditions, 9);
    assert_eq!(fate(&mut line, 0, Family::V4, 1415), Fate::BlackHole);
    assert_eq!(drawn(&mut line, 0, UDP_64, &[0.009_9]), Fate::Lost);
    assert_eq!(drawn(&mut line, 0, UDP_64, &[0.01]), due(9_440));
    assert_eq!(drawn(&mut line, 1_000_000, 1414, &[0.5]), due(1_114_080));
}

#[test]
fn a_line_without_a_rate_only_delays() {
    let mut conditions = Conditions::rate(None);
    conditions.delay_ns = 5;
    let mut line = clock(conditions, 0);
    for arrival in 0..10 {
        assert_eq!(fate(&mut line, arrival, Family::V4, 1514), due(arrival + 5));
    }
}

#[test]
fn a_frame_belongs_to_the_family_of_its_ether_type() {
    let mut frame = [0_u8; 60];
    assert_eq!(family_of(&frame), Family::V4);
    frame[12..14].copy_from_slice(&ETHER_TYPE.v6);
    assert_eq!(family_of(&frame), Family::V6);
    assert_eq!(family_of(&frame[..13]), Family::V4);
}

#[test]
fn a_tag_takes_four_bytes_of_the_line_and_counts_for_the_shortest_frame() {
    let tagged = LineSettings { vlan_tags: 1, ..line(Conditions::rate(Some(1_000_000_000)), 9) };
    let mut line = LinkClock::new(tagged);
    assert_eq!(fate(&mut line, 0, Family::V6, 1514), due((1514 + 4 + 4 + 8) * 8));
    let mut line = LinkClock::new(tagged);
    assert_eq!(fate(&mut line, 0, Family::V4, 56), due(72 * 8));
    let mut line = LinkClock::new(tagged);
    assert_eq!(fate(&mut line, 0, Family::V4, 57), due(73 * 8));
}

#[test]
fn a_queue_of_its_own_holds_for_frames_of_that_family_only() {
    let rate = Conditions::rate(Some(8_000_000));
    let conditions = PerFamily { v4: rate, v6: Conditions { queue_frames: Some(1), ..rate } };
    let mut line = LinkClock::new(LineSettings { conditions, ..line(rate, 3) });
    assert!(matches!(fate(&mut line, 0, Family::V6, 1514), Fate::Due(_)));
    assert!(matches!(fate(&mut line, 0, Family::V6, 1514), Fate::Due(_)));
    assert_eq!(fate(&mut line, 0, Family::V6, 1514), Fate::QueueFull);
    assert!(matches!(fate(&mut line, 0, Family::V4, 1514), Fate::Due(_)));
}

#[test]
fn a_copy_follows_at_once_and_takes_its_time_on_the_line() {
    let rate = Conditions::rate(Some(100_000_000));
    let mut line = clock(Conditions { duplication: 0.25, ..rate }, 9);
    let first = Fate::Due(Due { at_ns: 9_440, copy_at_ns: Some(10_400 + 9_440) });
    assert_eq!(drawn(&mut line, 0, UDP_64, &[0.249]), first);
    assert_eq!(drawn(&mut line, 0, UDP_64, &[0.25]), due(2 * 10_400 + 9_440));
}

#[test]
fn a_held_frame_comes_later_and_holds_nobody_up() {
    let held = Reordering { share: 0.1, by_ns: 50_000 };
    let rate = Conditions::rate(Some(100_000_000));
    let mut line = clock(Conditions { reordering: Some(held), ..rate }, 9);
    assert_eq!(drawn(&mut line, 0, UDP_64, &[0.099]), due(9_440 + 50_000));
    assert_eq!(drawn(&mut line, 0, UDP_64, &[0.1]), due(10_400 + 9_440));
}

/// Held back is what has waited for those before it.
#[test]
fn a_held_frame_with_jitter_is_later_by_the_whole_time() {
    let jitter = Jitter { spread_ns: 1_000, spread: Spread::Uniform, reorders: false };
    let mut line = clock(
        Conditions {
            delay_ns: 5_000,
            jitter: Some(jitter),
            reordering: Some(Reordering { share: 0.5, by_ns: 300 }),
            ..Conditions::rate(None)
        },
        9,
    );
    let late = 1.0 - 1e-9;
    let mut came = |draws: [f64; 2]| drawn(&mut line, 0, 60, &draws);
    let all = [[late, late], [0.0, 0.0], [0.0, late]].map(&mut came);
    assert_eq!(all, [due(6_000), due(6_300), due(6_000)]);
}

#[test]
fn jitter_lies_about_the_delay_and_keeps_the_order_unless_it_need_not() {
    let jitter = |spread, reorders| Jitter { spread_ns: 1_000, spread, reorders };
    let with = |jitter| {
        let conditions =
            Conditions { delay_ns: 5_000, jitter: Some(jitter), ..Conditions::rate(None) };
        clock(conditions, 9)
    };
    let mut line = with(jitter(Spread::Uniform, true));
    assert_eq!(drawn(&mut line, 0, 60, &[1.0 - 1e-9]), due(6_000));
    assert_eq!(drawn(&mut line, 1, 60, &[0.0]), due(4_001));
    let mut line = with(jitter(Spread::Uniform, false));
    assert_eq!(drawn(&mut line, 0, 60, &[1.0 - 1e-9]), due(6_000));
    assert_eq!(drawn(&mut line, 1, 60, &[0.0]), due(6_000), "it waits for the one before");
    let mut line = with(jitter(Spread::Normal, true));
    // sqrt(-2 ln(1/e^2)) = 2 at an angle of 0, and beyond 4 once, which is drawn again.
    let two = 1.0 - (-2.0_f64).exp();
    assert_eq!(drawn(&mut line, 0, 60, &[two, 0.0]), due(7_000));
    let five = 1.0 - (-12.5_f64).exp();
    assert_eq!(drawn(&mut line, 0, 60, &[five, 0.0, two, 0.5]), due(3_000));
}

#[test]
fn a_burst_begins_after_a_frame_and_ends_after_one() {
    let bursts = Bursts { begin: 0.1, end: 0.5, loss: 0.9 };
    let mut line = clock(Conditions { bursts: Some(bursts), ..Conditions::rate(None) }, 9);
    // Outside nothing is lost; each frame draws whether the next meets a burst.
    assert_eq!(drawn(&mut line, 0, 60, &[0.1]), due(0));
    assert_eq!(drawn(&mut line, 0, 60, &[0.09]), due(0));
    assert_eq!(drawn(&mut line, 0, 60, &[0.89, 0.5]), Fate::Lost);
    assert_eq!(drawn(&mut line, 0, 60, &[0.9, 0.49]), due(0));
    assert_eq!(drawn(&mut line, 0, 60, &[0.1]), due(0));
}

/// Frames of 1514 bytes every 200 us over a line of 8 Mbit/s that is slower than that.
fn prioritised(queue_frames: u32) -> LinkClock {
    let plain = line(Conditions::rate(Some(8_000_000)), queue_frames);
    LinkClock::new(LineSettings { priority: true, ..plain })
}

fn marked(line: &mut LinkClock, at_ns: u64, frame_bytes: usize) -> Fate {
    assert_eq!(line.start(at_ns), None, "the test has taken all");
    let arriving = Arriving { priority: true, ..frame(at_ns, Family::V4, frame_bytes) };
    line.admit(arriving, &mut || panic!("nothing is drawn here"))
}

#[test]
fn a_marked_frame_waits_for_the_one_on_the_line_and_for_its_like_only() {
    let mut line = prioritised(100);
    // One on the line until 1538 us, 20 behind it.
    assert_eq!(fate(&mut line, 0, Family::V6, 1514), due(1_526_000));
    for _ in 0..20 {
        assert_eq!(fate(&mut line, 0, Family::V6, 1514), Fate::Waits);
    }
    assert_eq!(line.next_start_ns(), Some(1_538_000));
    assert_eq!(marked(&mut line, 100_000, 60), due(1_538_000 + 72_000));
    assert_eq!(marked(&mut line, 200_000, 60), due(1_622_000 + 72_000));
    // Until then no other is sent; then the next goes to its end.
    assert_eq!(line.start(1_705_999), None);
    let started = Due { at_ns: 1_706_000 + 1_526_000, copy_at_ns: None };
    assert_eq!(line.start(1_706_000), Some((Family::V6, started)));
    assert_eq!(marked(&mut line, 1_706_001, 60), due(1_706_000 + 1_538_000 + 72_000));
}

#[test]
fn all_that_waits_for_the_line_is_queued_whatever_its_kind() {
    for mut line in [prioritised(100), clock(Conditions::rate(Some(8_000_000)), 100)] {
        assert_eq!(line.queued_ns(0), 0);
        for _ in 0..3 {
            fate(&mut line, 0, Family::V6, 1514);
        }
        assert_eq!(line.queued_ns(0), 3 * 1_538_000);
        assert_eq!(line.queued_ns(1_000_000), 3 * 1_538_000 - 1_000_000);
    }
    let mut none = clock(Conditions::rate(None), 100);
    fate(&mut none, 0, Family::V4, 1514);
    assert_eq!(none.queued_ns(0), 0);
}

#[test]
fn each_kind_has_a_queue_of_its_own_length() {
    let mut line = prioritised(2);
    assert_eq!(marked(&mut line, 0, 1514), due(1_526_000));
    assert_eq!(fate(&mut line, 0, Family::V4, 1514), Fate::Waits);
    assert_eq!(fate(&mut line, 0, Family::V4, 1514), Fate::Waits);
    assert_eq!(fate(&mut line, 0, Family::V4, 1514), Fate::QueueFull);
    assert_eq!(marked(&mut line, 0, 1514), due(1_538_000 + 1_526_000));
    assert_eq!(marked(&mut line, 0, 1514), due(2 * 1_538_000 + 1_526_000));
    assert_eq!(marked(&mut line, 0, 1514), Fate::QueueFull);
}

#[test]
fn without_marks_two_queues_are_one() {
    let mut draws = lots(7);
    let conditions =
        Conditions { duplication: 0.1, delay_ns: 3, ..Conditions::rate(Some(50_000_000)) };
    let mut one = clock(conditions, 1_000);
    let mut two = LinkClock::new(LineSettings { priority: true, ..line(conditions, 1_000) });
    let (mut expected, mut seen) = (Vec::new(), Vec::new());
    let (mut first, mut second) = (lots(1), lots(1));
    let mut at_ns = 0;
    for _ in 0..5_000 {
        at_ns += (draws() * 500_000.0) as u64;
        let arriving = frame(at_ns, Family::V6, 60 + (draws() * 1_400.0) as usize);
        expected.push(one.admit(arriving, &mut first));
        while let Some((_, due)) = two.start(at_ns) {
            seen.push(Fate::Due(due));
        }
        match two.admit(arriving, &mut second) {
            Fate::Waits => {}
            fate => seen.push(fate),
        }
    }
    while let Some((_, due)) = two.start(u64::MAX) {
        seen.push(Fate::Due(due));
    }
    assert_eq!(seen, expected);
}

#[test]
fn the_code_point_is_read_in_both_families() {
    for (family, start) in [(Family::V4, [0x45, 0xb8]), (Family::V6, [0x6b, 0x80])] {
        let mut frame = [0_u8; 60];
        frame[12..14].copy_from_slice(ETHER_TYPE.get(family));
        frame[14..16].copy_from_slice(&start);
        assert_eq!(dscp_of(&frame), Some(46), "{family}: EF with no ECN bits");
        frame[15] |= if family == Family::V4 { 0x03 } else { 0x30 };
        assert_eq!(dscp_of(&frame), Some(46), "{family}: ECN bits do not matter");
        assert_eq!(dscp_of(&frame[..15]), None);
    }
    assert_eq!(dscp_of(&[0; 60]), None, "what is of neither family has no class");
}

/// Uniform numbers of a seed, as the carrier draws them.
fn lots(seed: u64) -> impl FnMut() -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    move || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Whether the share behind what was seen is the true one, by the exact binomial range that is
/// wrong once in a million.
fn check_share(seen: u64, of: u64, truth: f64) {
    let range = loss::interval(seen, of, 1.0 - 1e-6);
    let fits = (range.low..=range.high).contains(&truth);
    assert!(fits, "{seen} of {of} do not fit {truth}: {range:?}");
}

const FRAMES: u64 = 50_000;

/// What becomes of [`FRAMES`] frames that never meet.
fn fates(conditions: Conditions, seed: u64) -> Vec<Fate> {
    let mut line = clock(conditions, 9);
    let mut draw = lots(seed);
    let arrivals = (0..FRAMES).map(|number| frame(number * 1_000_000, Family::V6, 1_000));
    arrivals.map(|arriving| line.admit(arriving, &mut draw)).collect()
}

#[test]
fn shares_are_those_asked_for() {
    let asked = Conditions {
        loss: 0.01,
        duplication: 0.02,
        reordering: Some(Reordering { share: 0.03, by_ns: 2_500_000 }),
        ..Conditions::rate(None)
    };
    for seed in 0..5 {
        let fates = fates(asked, seed);
        let lost = fates.iter().filter(|fate| **fate == Fate::Lost).count() as u64;
        check_share(lost, FRAMES, 0.01);
        let (mut copies, mut held) = (0, 0);
        for (number, fate) in fates.iter().enumerate() {
            let Fate::Due(due) = fate else { continue };
            copies += u64::from(due.copy_at_ns.is_some());
            held += u64::from(due.at_ns == number as u64 * 1_000_000 + 2_500_000);
        }
        check_share(copies, FRAMES - lost, 0.02);
        check_share(held, FRAMES - lost, 0.03);
    }
}

#[test]
fn bursts_have_their_length_and_share() {
    let bursts = Bursts { begin: 0.01, end: 0.2, loss: 1.0 };
    let fates = fates(Conditions { bursts: Some(bursts), ..Conditions::rate(None) }, 3);
    // With a loss of 1 inside and 0 outside, runs of lost frames are the bursts.
    let runs: Vec<u64> = fates
        .chunk_by(|a, b| (*a == Fate::Lost) == (*b == Fate::Lost))
        .filter(|run| run[0] == Fate::Lost)
        .map(|run| run.len() as u64)
        .collect();
    let lost: u64 = runs.iter().sum();
    // Each frame inside ends its burst with probability r, each outside begins one with p.
    check_share(runs.len() as u64, lost, bursts.end);
    check_share(runs.len() as u64, FRAMES - lost, bursts.begin);
    let share = lost as f64 / FRAMES as f64;
    assert!((share - bursts.share()).abs() < 0.005, "{share}");
}

#[test]
fn a_seed_gives_the_same_fortunes_whatever_the_other_family_does() {
    let asked = Conditions {
        delay_ns: 1_000_000,
        loss: 0.1,
        duplication: 0.1,
        jitter: Some(Jitter { spread_ns: 100_000, spread: Spread::Normal, reorders: true }),
        bursts: Some(Bursts { begin: 0.1, end: 0.3, loss: 0.5 }),
        ..Conditions::rate(None)
    };
    let alone = fates(asked, 42);
    assert_eq!(fates(asked, 42), alone);
    assert_ne!(fates(asked, 43), alone);
    let mut line = clock(asked, 9);
    let (mut draw, mut other) = (lots(42), lots(9));
    for (number, expected) in alone.into_iter().enumerate().take(10_000) {
        let at_ns = number as u64 * 1_000_000;
        line.admit(frame(at_ns, Family::V4, 1_000), &mut other);
        assert_eq!(line.admit(frame(at_ns, Family::V6, 1_000), &mut draw), expected);
    }
}

#[test]
fn jitter_has_its_mean_and_deviation() {
    for (spread, deviation) in [(Spread::Uniform, 1.0 / 3.0_f64.sqrt()), (Spread::Normal, 1.0)] {
        let jitter = Jitter { spread_ns: 100_000, spread, reorders: true };
        let asked =
            Conditions { delay_ns: 500_000, jitter: Some(jitter), ..Conditions::rate(None) };
        let delays: Vec<f64> = fates(asked, 1)
            .iter()
            .enumerate()
            .map(|(number, fate)| match fate {
                Fate::Due(due) => due.at_ns as f64 - number as f64 * 1e6,
                _ => panic!("nothing is lost"),
            })
            .collect();
        let mean = delays.iter().sum::<f64>() / FRAMES as f64;
        let squares: f64 = delays.iter().map(|delay| (delay - mean).powi(2)).sum();
        let seen = (squares / FRAMES as f64).sqrt();
        // Five standard errors of each: s / sqrt(n), and s / sqrt(2 n) at most.
        let error = 5.0 * 1e5 * deviation / (FRAMES as f64).sqrt();
        assert!((mean - 5e5).abs() < error, "{spread:?}: {mean}");
        assert!((seen - 1e5 * deviation).abs() < error + 100.0, "{spread:?}: {seen}");
        let most = jitter.reach_ns() as f64;
        assert!(delays.iter().all(|delay| (delay - 5e5).abs() <= most), "{spread:?}");
    }
}

#[test]
fn what_keeps_order_keeps_it() {
    let jitter = Jitter { spread_ns: 400_000, spread: Spread::Uniform, reorders: false };
    let asked = Conditions {
        delay_ns: 500_000,
        duplication: 0.1,
        jitter: Some(jitter),
        ..Conditions::rate(Some(100_000_000))
    };
    let mut line = clock(asked, 1_000);
    let mut draw = lots(5);
    let mut last_ns = 0;
    for number in 0..20_000_u64 {
        let fate = line.admit(frame(number * 150_000, Family::V4, 1_000), &mut draw);
        let Fate::Due(due) = fate else { panic!("the queue is long enough") };
        for at_ns in [Some(due.at_ns), due.copy_at_ns].into_iter().flatten() {
            assert!(at_ns >= last_ns, "frame {number}");
            last_ns = at_ns;
        }
    }
}
