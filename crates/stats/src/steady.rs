//! Where a series settles: the marginal standard error rule (MSER).

/// Where a series is cut and what is left of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// How many values at the start are left out.
    pub first: usize,
    /// What the rule makes smallest: the squares of the deviations of what is left from its mean,
    /// summed, over the square of its number.
    pub statistic: f64,
    /// Mean of what is left.
    pub mean: f64,
    /// False if the cut is as late as it may be: the series has not settled.
    pub settled: bool,
}

/// Cuts the start off `series`, at most half of it, so that the standard error of the mean of the
/// rest is smallest (White 1997). Of equals the earliest cut. `None` of nothing.
pub fn mser(series: &[f64]) -> Option<Cut> {
    let latest = series.len() / 2;
    // From the end on, so that each rest is made from the one after it (Welford 1962).
    let (mut mean, mut squares, mut count) = (0.0, 0.0, 0.0);
    let mut best: Option<Cut> = None;
    for (first, &x) in series.iter().enumerate().rev() {
        count += 1.0;
        let deviation = x - mean;
        mean += deviation / count;
        squares += deviation * (x - mean);
        if first > latest {
            continue;
        }
        let statistic = squares / (count * count);
        if best.is_none_or(|cut| statistic <= cut.statistic) {
            best = Some(Cut { first, statistic, mean, settled: first < latest });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn a_level_series_is_not_cut() {
        let cut = mser(&[5.0; 20]).unwrap();
        assert_eq!((cut.first, cut.mean, cut.settled), (0, 5.0, true));
    }

    #[test]
    fn a_start_that_rises_is_cut() {
        let mut series: Vec<f64> = (0..5).map(|i| f64::from(i) * 20.0).collect();
        series.extend(vec![100.0; 25]);
        let cut = mser(&series).unwrap();
        assert_eq!((cut.first, cut.mean), (5, 100.0));
    }

    #[test]
    fn what_rises_to_its_end_has_not_settled() {
        let series: Vec<f64> = (0..30).map(f64::from).collect();
        let cut = mser(&series).unwrap();
        assert_eq!((cut.first, cut.settled), (15, false));
    }

    #[test]
    fn of_nothing_and_of_little() {
        assert_eq!(mser(&[]), None);
        assert!(!mser(&[1.0]).unwrap().settled);
    }
}
