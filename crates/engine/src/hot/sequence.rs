//! Which datagrams came, came twice or came late, and in which pattern, from their sequence numbers
//! alone and without allocation.
//!
//! Reordering is RFC 4737 (a datagram is reordered if its number is below the next one expected),
//! duplication RFC 5560, the pattern of loss RFC 3357; duplicates are taken out before reordering
//! is looked at. The numbers are our own: IPv6 has no identification field, and that of IPv4 need
//! not be unique (RFC 6864).

use super::table::Table;
use v6gap_core::observation::{Arrivals, FreeRuns};

/// Numbers that are remembered below the highest one seen; a power of two.
const WINDOW: u64 = 1 << 16;

/// Arrivals that are remembered to tell n-reordering; a power of two.
const RECENT: u64 = 64;

/// What a datagram turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The first of its number.
    New,
    /// A further copy.
    Duplicate,
}

/// Counts arrivals.
#[derive(Debug, Clone)]
pub struct Sequence {
    next_expected: u64,
    seen: Bits,
    /// Numbers that came in order: only such a one can be the first above a late number.
    in_order: Bits,
    doubled: Bits,
    /// Which arrival each number was that came in order.
    places: Vec<u32>,
    recent: [u64; RECENT as usize],
    run: u64,
    loss: Losses,
    extents: Table,
    n_reordered: Table,
    free_runs: FreeRuns,
    replicated: u64,
    /// Datagrams that came, duplicates left out.
    pub packets: u64,
    /// Further copies of datagrams that had come before.
    pub duplicates: u64,
    /// Datagrams with a number below the next one expected.
    pub reordered: u64,
}

impl Default for Sequence {
    fn default() -> Self {
        Sequence {
            next_expected: 0,
            seen: Bits::new(),
            in_order: Bits::new(),
            doubled: Bits::new(),
            places: vec![0; WINDOW as usize],
            recent: [0; RECENT as usize],
            run: 0,
            loss: Losses::default(),
            extents: Table::default(),
            n_reordered: Table::default(),
            free_runs: FreeRuns::default(),
            replicated: 0,
            packets: 0,
            duplicates: 0,
            reordered: 0,
        }
    }
}

impl Sequence {
    /// Numbers below the highest one seen that have not come.
    #[inline]
    pub fn missing(&self) -> u64 {
        self.next_expected.saturating_sub(self.packets)
    }

    /// Notes that the datagram of this number came. Numbers wrap at 2^32. One that is more than
    /// 65 536 below the highest number can no longer be told from a duplicate and counts as
    /// reordered.
    #[inline]
    pub fn record(&mut self, number: u32) -> Arrival {
        let number = self.whole(number);
        if number == self.next_expected {
            self.leave_one(number);
            self.arrive_in_order(number);
        } else if number > self.next_expected {
            self.skip_to(number);
            self.arrive_in_order(number);
        } else if self.next_expected - number > WINDOW {
            self.extents.add(WINDOW);
            self.arrive_late(number);
        } else if self.seen.get(number) {
            self.duplicates += 1;
            if !self.doubled.get(number) {
                self.doubled.set(number);
                self.replicated += 1;
            }
            return Arrival::Duplicate;
        } else {
            self.seen.set(number);
            let above = self.in_order.first_after(number, self.next_expected);
            let earliest = self.places[(above % WINDOW) as usize];
            self.extents.add(u64::from((self.packets as u32).wrapping_sub(earliest)));
            self.arrive_late(number);
        }
        Arrival::New
    }

    /// The number of which the low 32 bits are known: the one nearest to what is expected.
    #[inline]
    fn whole(&self, number: u32) -> u64 {
        let ahead = number.wrapping_sub(self.next_expected as u32).cast_signed();
        let whole = self.next_expected.checked_add_signed(i64::from(ahead));
        whole.unwrap_or(u64::from(number))
    }

    #[inline]
    fn arrive_in_order(&mut self, number: u64) {
        self.seen.set(number);
        self.in_order.set(number);
        self.doubled.clear(number);
        self.places[(number % WINDOW) as usize] = self.packets as u32;
        self.next_expected = number + 1;
        self.run += 1;
        self.arrive(number);
    }

    fn arrive_late(&mut self, number: u64) {
        self.reordered += 1;
        let before = self.packets.min(RECENT);
        let above = |back: &u64| self.recent[((self.packets - back) % RECENT) as usize] > number;
        let n = (1..=before).take_while(above).count() as u64;
        if n > 0 {
            self.n_reordered.add(n);
        }
        self.free_runs.runs += 1;
        self.free_runs.packets += self.run;
        self.free_runs.squares = self.free_runs.squares.saturating_add(self.run.pow(2));
        self.run = 0;
        self.arrive(number);
    }

    #[inline]
    fn arrive(&mut self, number: u64) {
        self.recent[(self.packets % RECENT) as usize] = number;
        self.packets += 1;
    }

    /// The number that had the place of `number` is forgotten.
    #[inline]
    fn leave_one(&mut self, number: u64) {
        if let Some(old) = number.checked_sub(WINDOW) {
            if !self.seen.get(old) {
                self.loss.lose(old, 1);
            }
            self.loss.told = old + 1;
        }
    }

    /// Makes room for `number`; all between it and the one expected are missing so far.
    fn skip_to(&mut self, number: u64) {
        self.leave_until((number + 1).saturating_sub(WINDOW));
        if number - self.next_expected >= WINDOW {
            self.seen.0.fill(0);
            self.in_order.0.fill(0);
            self.doubled.0.fill(0);
        } else {
            for missing in self.next_expected..number {
                self.seen.clear(missing);
                self.in_order.clear(missing);
                self.doubled.clear(missing);
            }
        }
    }

    fn leave_until(&mut self, end: u64) {
        while self.loss.told < end.min(self.next_expected) {
            let number = self.loss.told;
            if !self.seen.get(number) {
                self.loss.lose(number, 1);
            }
            self.loss.told += 1;
        }
        if self.loss.told < end {
            self.loss.lose(self.loss.told, end - self.loss.told);
            self.loss.told = end;
        }
    }

    /// The pattern of all arrivals of a stream of which the last number was the one before `end`;
    /// without it, loss after the last arrival is not in the pattern.
    pub fn arrivals(&mut self, end: Option<u32>) -> Arrivals {
        let end = end.map_or(0, |end| self.whole(end)).max(self.next_expected);
        self.leave_until(end);
        self.loss.close();
        Arrivals {
            replicated: self.replicated,
            extents: self.extents.pairs(),
            n_reordered: self.n_reordered.pairs(),
            free_runs: self.free_runs,
            loss_periods: self.loss.periods.pairs(),
            loss_distances: self.loss.distances.pairs(),
        }
    }
}

/// Lost numbers, told in ascending order (RFC 3357).
#[derive(Debug, Clone, Default)]
struct Losses {
    /// All numbers below this have been told.
    told: u64,
    last: Option<u64>,
    period: u64,
    periods: Table,
    distances: Table,
}

impl Losses {
    /// `count` numbers from `first` on are lost.
    fn lose(&mut self, first: u64, count: u64) {
        match self.last.map(|last| first - last) {
            None => self.period = 0,
            Some(distance) => {
                self.distances.add(distance);
                if distance > 1 {
                    self.close();
                }
            }
        }
        self.distances.add_many(1, count - 1);
        self.period += count;
        self.last = Some(first + count - 1);
    }

    fn close(&mut self) {
        if self.period > 0 {
            self.periods.add(self.period);
            self.period = 0;
        }
    }
}

/// A bit for each number of the window.
#[derive(Debug, Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new() -> Self {
        Bits(vec![0; (WINDOW / 64) as usize])
    }

    #[inline]
    fn get(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.0[word] & bit != 0
    }

    #[inline]
    fn set(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.0[word] |= bit;
    }

    #[inline]
    fn clear(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.0[word] &= !bit;
    }

    /// The first number above `number` and below `end` whose bit is set, or the last before `end`.
    fn first_after(&self, number: u64, end: u64) -> u64 {
        let mut next = number + 1;
        while next < end {
            let (word, _) = place(next);
            let rest = self.0[word] >> (next % 64);
            if rest != 0 {
                return (next + u64::from(rest.trailing_zeros())).min(end - 1);
            }
            next += 64 - next % 64;
        }
        end - 1
    }
}

#[inline]
fn place(number: u64) -> (usize, u64) {
    let position = number % WINDOW;
    ((position / 64) as usize, 1 << (position % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(numbers: &[u32]) -> (u64, u64, u64) {
        let mut sequence = Sequence::default();
        for &number in numbers {
            sequence.record(number);
        }
        (sequence.packets, sequence.duplicates, sequence.reordered)
    }

    fn pattern(numbers: &[u32], end: u32) -> Arrivals {
        let mut sequence = Sequence::default();
        for &number in numbers {
            sequence.record(number);
        }
        sequence.arrivals(Some(end))
    }

    /// RFC 4737 section 7: extent and n of each reordered packet of the examples.
    #[test]
    fn extents_and_n_reordering_agree_with_the_examples_of_rfc_4737() {
        let found = |numbers: &[u32]| {
            // Ours begin at 0.
            let numbers: Vec<u32> = numbers.iter().map(|n| n - 1).collect();
            let found = pattern(&numbers, 0);
            (found.extents, found.n_reordered)
        };
        assert_eq!(found(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), (vec![(4, 1)], vec![(4, 1)]));
        let two = found(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]);
        assert_eq!(two, (vec![(1, 1), (2, 1)], vec![(1, 1)]));
        let three = found(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]);
        assert_eq!(three, (vec![(4, 1), (5, 1), (6, 1)], vec![(4, 1)]));
        let end = found(&[1, 2, 3, 7, 8, 9, 4, 5, 6]);
        assert_eq!(end, (vec![(3, 1), (4, 1), (5, 1)], vec![(3, 1)]));
    }

    /// RFC 4737 section 4.6: 36 packets, two runs of 1 and one of 31: q = 963 and
    /// (q/a)/(a/x) = 2.65.
    #[test]
    fn free_runs_agree_with_the_example_of_rfc_4737() {
        let numbers: Vec<u32> = [1, 0, 3, 2].into_iter().chain(5..36).chain([4]).collect();
        let runs = pattern(&numbers, 36).free_runs;
        assert_eq!(runs, FreeRuns { runs: 3, packets: 33, squares: 963 });
        let (a, q, x) = (runs.packets as f64, runs.squares as f64, runs.runs as f64);
        assert!(((q / a) / (a / x) - 2.65).abs() < 0.005);
    }

    /// RFC 3357 section 5: of 100 packets 5, 10, 15, 20, 21, 22, 54 and so on are lost.
    #[test]
    fn loss_periods_and_distances_follow_rfc_3357() {
        let lost = [5, 10, 15, 20, 21, 22, 98, 99];
        let numbers: Vec<u32> = (0..100).filter(|n| !lost.contains(n)).collect();
        let found = pattern(&numbers, 100);
        assert_eq!(found.loss_periods, [(1, 3), (2, 1), (3, 1)]);
        // 76 stands in the row of 64 to 127.
        assert_eq!(found.loss_distances, [(1, 3), (5, 3), (64, 1)]);
        // Late is not lost, in whatever order it comes.
        let late: Vec<u32> = numbers.iter().copied().chain(lost).collect();
        assert!(pattern(&late, 100).loss_periods.is_empty());
        assert_eq!(pattern(&[], 3).loss_periods, [(3, 1)]);
    }

    /// The pattern does not depend on whether a number has left the window when it is told.
    #[test]
    fn loss_is_told_alike_inside_the_window_and_behind_it() {
        let w = WINDOW as u32;
        let kept = |n: &u32| n % 1000 > 2;
        let numbers: Vec<u32> = (0..3 * w).filter(kept).collect();
        let found = pattern(&numbers, 3 * w);
        let periods = u64::from((3 * w).div_ceil(1000));
        assert_eq!(found.loss_periods, [(3, periods)]);
        assert_eq!(found.loss_distances, [(1, 2 * periods), (512, periods - 1)]);
        let gap = pattern(&[0, 3 * w], 3 * w + 1);
        assert_eq!(gap.loss_periods, [(1 << 17, 1)]);
        assert_eq!(gap.loss_distances, [(1, u64::from(3 * w) - 2)]);
    }

    #[test]
    fn numbers_may_wrap() {
        let mut sequence = Sequence::default();
        let far = 0xFFFF_FFF0_u32;
        for step in 0..64 {
            sequence.record(far.wrapping_add(step));
        }
        assert_eq!((sequence.packets, sequence.reordered, sequence.duplicates), (64, 0, 0));
        sequence.record(far.wrapping_add(20));
        assert_eq!(sequence.duplicates, 1);
        sequence.record(far.wrapping_add(66));
        sequence.record(far.wrapping_add(64));
        assert_eq!(sequence.reordered, 1);
    }

    /// RFC 5560: the share of packets of which more than one copy came is 2 of 4.
    #[test]
    fn replicated_packets_are_counted_once() {
        assert_eq!(pattern(&[0, 0, 0, 1, 2, 2, 2, 3], 4).replicated, 2);
    }

    /// The examples of RFC 4737 section 7 and its appendix: packets and how many are reordered.
    #[test]
    fn reordering_agrees_with_the_examples_of_rfc_4737() {
        assert_eq!(counted(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), (10, 0, 1));
        assert_eq!(counted(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]), (10, 0, 2));
        assert_eq!(counted(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]), (11, 0, 3));
        assert_eq!(counted(&[1, 2, 3, 7, 8, 9, 4, 5, 6]), (9, 0, 3));
    }

    /// The example of RFC 5560: four sent, as many extra copies as packets, so the fraction is 100
    /// %.
    #[test]
    fn duplication_agrees_with_rfc_5560() {
        assert_eq!(counted(&[1, 1, 1, 2, 3, 3, 3, 4]), (4, 4, 0));
    }

    #[test]
    fn a_late_copy_is_a_duplicate_and_not_reordered() {
        assert_eq!(counted(&[0, 1, 2, 1, 3]), (4, 1, 0));
        assert_eq!(counted(&[0, 2, 1, 1]), (3, 1, 1));
    }

    #[test]
    fn the_window_forgets_what_it_must_and_nothing_else() {
        let w = WINDOW as u32;
        // 0 is still inside the window when the highest number is w - 1, and outside after w.
        assert_eq!(counted(&[0, w - 1, 0]), (2, 1, 0));
        assert_eq!(counted(&[0, w, 0]), (3, 0, 1));
        // A number that shares its place with an old one is new.
        assert_eq!(counted(&[5, w + 4, w + 5]), (3, 0, 0));
        assert_eq!(counted(&[5, w + 7, w + 5, w + 5]), (3, 1, 1));
        assert_eq!(counted(&[0, u32::MAX, u32::MAX]), (2, 1, 0));
    }
}
