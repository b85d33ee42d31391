//! Which datagrams came, came twice or came late, from their sequence numbers alone and without
//! allocation.
//!
//! Reordering is RFC 4737 section 3.3 (a datagram is reordered if its number is below the next one
//! expected), duplication RFC 5560; duplicates are taken out before reordering is looked at. The
//! numbers are our own: IPv6 has no identification field, and that of IPv4 need not be unique
//! (RFC 6864).

/// Numbers that are remembered below the highest one seen; a power of two.
const WINDOW: u64 = 1 << 16;

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
    seen: Vec<u64>,
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
            seen: vec![0; (WINDOW / 64) as usize],
            packets: 0,
            duplicates: 0,
            reordered: 0,
        }
    }
}

impl Sequence {
    /// Notes that the datagram of this number came. One that is more than 65 536 below the highest
    /// number can no longer be told from a duplicate and counts as reordered.
    #[inline]
    pub fn record(&mut self, number: u32) -> Arrival {
        let number = u64::from(number);
        if number >= self.next_expected {
            self.advance(number);
        } else if self.next_expected - number > WINDOW {
            self.reordered += 1;
        } else if self.is_seen(number) {
            self.duplicates += 1;
            return Arrival::Duplicate;
        } else {
            self.reordered += 1;
            self.mark(number);
        }
        self.packets += 1;
        Arrival::New
    }

    fn advance(&mut self, number: u64) {
        if number - self.next_expected >= WINDOW {
            self.seen.fill(0);
        } else {
            for missing in self.next_expected..number {
                let (word, bit) = place(missing);
                self.seen[word] &= !bit;
            }
        }
        self.mark(number);
        self.next_expected = number + 1;
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.seen[word] |= bit;
    }

    fn is_seen(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.seen[word] & bit != 0
    }
}

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
