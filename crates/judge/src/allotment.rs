//! How many blocks a cell has in a round: more for what is noisy and quick (docs/method.md section
//! B.8). Chosen before the first comparison, so that nothing that is looked at has a part in it.

use alloc::vec;
use alloc::vec::Vec;

/// Share of the time until the first look that the blocks may take; the rest goes between them.
const TIME_SHARE: f64 = 0.8;

/// Share of a round of one block each by which further blocks make it longer, at most, or
/// [`LONGER_NS`], whichever is more.
const LONGER_SHARE: f64 = 0.25;

/// About what lies between two rounds: other processes, and another lab.
const LONGER_NS: f64 = 500e6;

/// What is known of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// What a block takes, in ns.
    pub block_ns: f64,
    /// Standard deviation of a block's effect, in margins; `None` if nobody knows.
    pub noise: Option<f64>,
    /// Blocks in a round with which the question should be answered at the first look.
    pub enough: u32,
}

/// The time for further blocks in a round, in ns, where `left_ns` are left for `rounds` rounds.
fn further_ns(cells: &[Known], left_ns: f64, rounds: u32) -> f64 {
    let round_ns: f64 = cells.iter().map(|cell| cell.block_ns).sum();
    let fits_ns = TIME_SHARE * left_ns / f64::from(rounds.max(1)) - round_ns;
    fits_ns.min(LONGER_NS.max(LONGER_SHARE * round_ns))
}

/// Blocks of each cell in a round: one and, as long as there is time, another one for the cell
/// whose mean gains most by it for its time. So blocks come to be as the deviation over the root of
/// the time (Neyman 1934; Kalibera and Jones 2013), up to `most`, and to what is enough.
pub fn allot(cells: &[Known], left_ns: f64, rounds: u32, most: u32) -> Vec<u32> {
    let mut blocks = vec![1_u32; cells.len()];
    let mut left_ns = further_ns(cells, left_ns, rounds);
    loop {
        let gain = |(at, cell): (usize, &Known)| {
            let n = blocks[at];
            let wanted = n < most.min(cell.enough) && cell.block_ns <= left_ns;
            let noise = cell.noise.filter(|_| wanted)?;
            // What another block takes off the variance of the mean, for its time.
            let off = noise * noise / (f64::from(n) * f64::from(n + 1));
            Some((off / cell.block_ns.max(1.0), at))
        };
        let gains = cells.iter().enumerate().filter_map(gain);
        let Some((_, best)) = gains.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else {
            return blocks;
        };
        blocks[best] += 1;
        left_ns -= cells[best].block_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn known(block_ms: f64, noise: Option<f64>) -> Known {
        Known { block_ns: block_ms * MS, noise, enough: 100 }
    }

    #[test]
    fn cheap_and_noisy_cells_get_more_and_costly_ones_one() {
        let cells = [
            known(2_000.0, Some(0.05)),
            known(150.0, Some(0.1)),
            known(20.0, Some(1.8)),
            known(150.0, None),
        ];
        let found = allot(&cells, 60_000.0 * MS, 8, 24);
        assert_eq!((found[0], found[2], found[3]), (1, 24, 1), "{found:?}");
    }

    #[test]
    fn blocks_are_as_the_noise_over_the_root_of_the_time() {
        let cells = [known(10.0, Some(1.0)), known(40.0, Some(1.0)), known(10.0, Some(0.5))];
        let found = allot(&cells, 1e9 * MS, 8, 1000);
        let ratio = |a: usize, b: usize| f64::from(found[a]) / f64::from(found[b]);
        assert!((ratio(0, 1) - 2.0).abs() < 0.2 && (ratio(0, 2) - 2.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn no_round_gets_longer_than_its_time_or_more_blocks_than_are_enough() {
        let cells = [known(2_000.0, Some(1.0)), known(20.0, Some(1.0))];
        assert_eq!(allot(&cells, 20_000.0 * MS, 8, 24), [1, 1], "there is no time for one each");
        let enough = Known { enough: 3, ..cells[1] };
        assert_eq!(allot(&[cells[0], enough], 60_000.0 * MS, 8, 24), [1, 3]);
        let found = allot(&cells, 1e9 * MS, 8, 1000);
        assert_eq!(found, [1, 26], "half a second more");
    }
}
