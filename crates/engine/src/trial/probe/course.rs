//! When the packets of all arms are due: turns in balanced order, each with a schedule of its own.

use crate::hot::probe::Slot;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_core::workload::Probe;
use v6gap_core::workload::law::{Pace, Schedule, Sizes};

/// Parts of the golden ratio in 64 bits: spreads the seeds of turns.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// All packets of `probe` in the order of time, for one arm or both. Pairs of turns go AB, BA, AB,
/// BA, … so that slow drift meets both alike; the packets of a turn follow the probe's law from a
/// start of their own.
pub(super) fn course(probe: &Probe, arms: &[Arm], order: TurnOrder, seed: u64) -> Vec<Slot> {
    let turn_ns = probe.turn_ns();
    let mut slots = Vec::with_capacity(probe.packets_max() as usize * arms.len());
    // Turns of both arms are numbered in 16 bits, which the check of the task has seen.
    for pair in 0..probe.turns as u16 {
        let order = if pair.is_multiple_of(2) { order } else { order.reversed() };
        for arm in order.arms().into_iter().filter(|arm| arms.contains(arm)) {
            let turn = pair * arms.len() as u16 + u16::from(arm != first(order, arms));
            let start_ns = u64::from(turn).saturating_mul(turn_ns);
            let seed = seed ^ u64::from(turn).wrapping_mul(SPREAD);
            let pace = Pace::Gap(probe.interval_ns);
            let schedule = Schedule::new(probe.law, Sizes::Fixed, probe.payload_bytes, pace, seed);
            let due = schedule
                .map(|due| due.at_ns)
                .take_while(|&at_ns| at_ns < turn_ns)
                .take(probe.turn_packets_max() as usize);
            slots.extend(due.map(|at_ns| Slot { at_ns: start_ns + at_ns, arm, turn }));
        }
    }
    slots
}

/// The longest time in which nothing is due, in ns: that long nothing need come.
pub(super) fn longest_gap_ns(course: &[Slot]) -> u64 {
    course.windows(2).map(|two| two[1].at_ns - two[0].at_ns).max().unwrap_or(0)
}

fn first(order: TurnOrder, arms: &[Arm]) -> Arm {
    let [a, b] = order.arms();
    if arms.contains(&a) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::workload::Law;

    fn probe() -> Probe {
        Probe { turns: 4, turn_packets: 10, interval_ns: 1_000_000, ..Probe::default() }
    }

    #[test]
    fn turns_alternate_in_balanced_pairs_and_time_goes_on() {
        let course = course(&probe(), &Arm::BOTH, TurnOrder::Ab, 7);
        assert_eq!(course.len(), 80);
        assert!(course.is_sorted_by_key(|slot| slot.at_ns));
        let turns: Vec<(u16, Arm)> = course.chunks(10).map(|c| (c[0].turn, c[0].arm)).collect();
        use Arm::{A, B};
        let arms = [A, B, B, A, A, B, B, A];
        assert_eq!(turns, (0..8).zip(arms).collect::<Vec<(u16, Arm)>>());
        for chunk in course.chunks(10) {
            assert!(chunk.iter().all(|slot| slot.turn == chunk[0].turn));
            assert!(chunk.windows(2).all(|w| w[1].at_ns - w[0].at_ns == 1_000_000));
            let start_ns = u64::from(chunk[0].turn) * 10_000_000;
            assert!((start_ns..start_ns + 1_000_000).contains(&chunk[0].at_ns));
        }
        let starts: Vec<u64> = course.chunks(10).map(|c| c[0].at_ns % 1_000_000).collect();
        assert!(starts.windows(2).any(|w| w[0] != w[1]), "random starts: {starts:?}");
    }

    #[test]
    fn the_longest_gap_is_that_of_a_slow_course() {
        let slow = Probe { turns: 2, turn_packets: 3, interval_ns: 6_000_000_000, ..probe() };
        let gap_ns = longest_gap_ns(&course(&slow, &Arm::BOTH, TurnOrder::Ab, 7));
        assert!((6_000_000_000..12_000_000_001).contains(&gap_ns), "{gap_ns}");
        assert_eq!(longest_gap_ns(&[]), 0);
    }

    #[test]
    fn one_arm_has_its_turns_in_a_row() {
        let course = course(&probe(), &[Arm::A], TurnOrder::Ba, 7);
        assert_eq!(course.len(), 40);
        assert!(course.iter().all(|slot| slot.arm == Arm::A));
        let turns: Vec<u16> = course.chunks(10).map(|c| c[0].turn).collect();
        assert_eq!(turns, [0, 1, 2, 3]);
    }

    #[test]
    fn a_poisson_stream_has_its_rate_and_fits_the_room() {
        let probe = Probe { law: Law::Poisson, turns: 50, ..probe() };
        let course = course(&probe, &Arm::BOTH, TurnOrder::Ab, 1);
        assert!(course.is_sorted_by_key(|slot| slot.at_ns));
        // 1000 are expected, give or take 5 standard deviations.
        assert!((840..1160).contains(&course.len()), "{}", course.len());
        assert!(course.len() as u64 <= 2 * probe.packets_max());
    }
}
