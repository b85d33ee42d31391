//! Sums by value, for the many buckets of a long run. The histograms of its trials have nearly the
//! same values, in ascending order: each walks along the sums that are there.

use alloc::vec::Vec;

/// So far the next value is looked for step by step, beyond that by halving.
const STEPS_MAX: usize = 8;

/// Counts added up by value. What comes out does not depend on the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Values and counts, ascending.
    sums: Vec<(u64, u64)>,
    /// Of the histogram that is being added: values that were not there yet.
    new: Vec<(u64, u64)>,
}

impl Tally {
    /// Adds the counts of a histogram to those of its values. Values in another than ascending
    /// order take longer.
    pub fn add(&mut self, histogram: impl Iterator<Item = (u64, u64)>) {
        let mut at = 0;
        for (value, count) in histogram.filter(|pair| pair.1 > 0) {
            at = self.place(value, at);
            match self.sums.get_mut(at) {
                Some(sum) if sum.0 == value => sum.1 = sum.1.saturating_add(count),
                _ => self.new.push((value, count)),
            }
        }
        if !self.new.is_empty() {
            self.merge();
        }
    }

    /// Values and counts in ascending order.
    pub fn ascending(self) -> Vec<(u64, u64)> {
        self.sums
    }

    /// Where `value` stands or would stand, looked for from `at` on.
    #[inline]
    fn place(&self, value: u64, mut at: usize) -> usize {
        if at > 0 && self.sums[at - 1].0 >= value {
            at = 0;
        }
        for _ in 0..STEPS_MAX {
            match self.sums.get(at) {
                Some(sum) if sum.0 < value => at += 1,
                _ => return at,
            }
        }
        at + self.sums[at..].partition_point(|sum| sum.0 < value)
    }

    /// Puts the new values among the others.
    fn merge(&mut self) {
        self.sums.append(&mut self.new);
        self.sums.sort();
        self.sums.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 = first.1.saturating_add(later.1);
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// The same as an ordered map, in ascending order or not.
        #[test]
        fn it_adds_up_as_an_ordered_map(
            mut histograms in vec(vec((0u64..500, 0u64..1_000_000), 0..200), 0..20),
            high: u32,
            ordered: bool,
        ) {
            let mut tally = Tally::default();
            let mut wanted: BTreeMap<u64, u64> = BTreeMap::new();
            for histogram in &mut histograms {
                histogram.iter_mut().for_each(|pair| pair.0 <<= high % 50);
                if ordered {
                    histogram.sort_unstable();
                }
                tally.add(histogram.iter().copied());
                for &(value, count) in histogram.iter().filter(|pair| pair.1 > 0) {
                    *wanted.entry(value).or_insert(0) += count;
                }
            }
            prop_assert_eq!(tally.ascending(), wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
