//! Sums by value, for the many buckets of a long run: a table with open addressing, which takes a
//! fraction of the time of an ordered one and is put in order once at the end.

use alloc::vec;
use alloc::vec::Vec;

/// Places of an empty tally. Always a power of two.
const PLACES: usize = 1024;

/// Counts added up by value. What comes out does not depend on the order in which they were added.
#[derive(Debug)]
pub(super) struct Tally {
    /// Value and count; a count of 0 is an empty place.
    places: Vec<(u64, u64)>,
    used: usize,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { places: vec![(0, 0); PLACES], used: 0 }
    }
}

impl Tally {
    /// Adds `count` to that of `value`.
    #[inline]
    pub fn add(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        let at = self.place(value);
        let place = &mut self.places[at];
        let is_new = place.1 == 0;
        *place = (value, place.1.saturating_add(count));
        if is_new {
            self.used += 1;
            if self.used * 2 > self.places.len() {
                self.grow();
            }
        }
    }

    /// Values and counts in ascending order.
    pub fn ascending(self) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = self.places.into_iter().filter(|p| p.1 > 0).collect();
        all.sort_unstable();
        all
    }

    /// Where `value` stands or would stand. At least half of the places are empty.
    #[inline]
    fn place(&self, value: u64) -> usize {
        let last = self.places.len() - 1;
        // Fibonacci hashing: neighbours end up far apart.
        let mut at = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & last;
        while self.places[at].1 > 0 && self.places[at].0 != value {
            at = (at + 1) & last;
        }
        at
    }

    fn grow(&mut self) {
        let more = vec![(0, 0); self.places.len() * 2];
        for (value, count) in core::mem::replace(&mut self.places, more) {
            if count > 0 {
                let at = self.place(value);
                self.places[at] = (value, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        /// The same as an ordered map, also beyond the first places.
        #[test]
        fn it_adds_up_as_an_ordered_map(
            pairs in proptest::collection::vec((0u64..5000, 1u64..1_000_000), 0..4000),
            high: u32,
        ) {
            let mut tally = Tally::default();
            let mut wanted: BTreeMap<u64, u64> = BTreeMap::new();
            for (value, count) in pairs {
                let value = value << (high % 50);
                tally.add(value, count);
                *wanted.entry(value).or_insert(0) += count;
            }
            prop_assert_eq!(tally.ascending(), wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
