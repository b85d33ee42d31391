//! What the blocks of a cell in one round say together. They share the processes that measured them
//! and the lab, so they are no independent repetitions: what enters ranges and tests is their mean.

use alloc::vec::Vec;

/// The mean of each round, of values with the numbers of their rounds, in the order of time.
pub fn means(values: impl IntoIterator<Item = (u32, f64)>) -> Vec<f64> {
    let mut sums: Vec<(u32, f64, f64)> = Vec::new();
    for (round, value) in values {
        match sums.last_mut() {
            Some((last, sum, count)) if *last == round => {
                *sum += value;
                *count += 1.0;
            }
            _ => sums.push((round, value, 1.0)),
        }
    }
    sums.into_iter().map(|(_, sum, count)| sum / count).collect()
}

/// How many rounds there are, of their numbers in the order of time.
pub fn count(rounds: impl IntoIterator<Item = u32>) -> usize {
    means(rounds.into_iter().map(|round| (round, 0.0))).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_one_value() {
        assert_eq!(means([(1, 0.1), (2, 1.0), (2, 3.0), (4, 0.3)]), [0.1, 2.0, 0.3]);
        assert!(means([]).is_empty());
        assert_eq!((count([1, 2, 2, 4]), count([])), (3, 0));
    }
}
