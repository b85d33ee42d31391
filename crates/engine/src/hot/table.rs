//! A small table of counts by value, of fixed size: exact below 64, a row for each power of two
//! above.

/// Values below this have rows of their own.
const EXACT: u64 = 64;

/// log2 of [`EXACT`].
const EXACT_BITS: u32 = EXACT.trailing_zeros();

const ROWS: usize = (EXACT + 64 - EXACT_BITS as u64) as usize;

/// Counts of values.
#[derive(Debug, Clone)]
pub struct Table([u64; ROWS]);

impl Default for Table {
    fn default() -> Self {
        Table([0; ROWS])
    }
}

impl Table {
    /// Counts `value` once.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts `value` so many times.
    #[inline]
    pub fn add_many(&mut self, value: u64, times: u64) {
        let row = match value {
            0..EXACT => value as usize,
            _ => (EXACT + u64::from(value.ilog2() - EXACT_BITS)) as usize,
        };
        self.0[row] += times;
    }

    /// (smallest value of the row, count) of the rows that are not empty, ascending.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        let value = |row: usize| match row as u64 {
            row @ 0..EXACT => row,
            row => EXACT << (row - EXACT),
        };
        let rows = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        rows.map(|(row, &count)| (value(row), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_exact_and_large_ones_in_powers_of_two() {
        let mut table = Table::default();
        for value in [0, 1, 63, 63, 64, 127, 128, u64::MAX] {
            table.add(value);
        }
        table.add_many(5, 7);
        let expected = [(0, 1), (1, 1), (5, 7), (63, 2), (64, 2), (128, 1), (1 << 63, 1)];
        assert_eq!(table.pairs(), expected);
    }
}
