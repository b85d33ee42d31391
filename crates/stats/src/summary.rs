//! Single figures that describe a sample: centre, spread, percentiles.
//!
//! A lost packet counts as `+inf` in delay samples (RFC 2681 section 4, RFC 7680), so medians and
//! percentiles accept infinite values; means do not hide them.

use alloc::vec::Vec;

/// Arithmetic mean; NaN for an empty sample.
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// Sample standard deviation with divisor n - 1; NaN below two values.
pub fn sd(sample: &[f64]) -> f64 {
    if sample.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(sample);
    let squares: f64 = sample.iter().map(|x| (x - centre) * (x - centre)).sum();
    libm::sqrt(squares / (sample.len() - 1) as f64)
}

/// Median; the mean of the two central values for an even count (RFC 2330 section 11.3, RFC 2681
/// section 4.2). NaN for an empty sample. Needs no sorted input.
pub fn median(sample: &[f64]) -> f64 {
    let sorted = sorted(sample);
    let n = sorted.len();
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Median absolute deviation from the median, unscaled (multiply by 1.4826 to estimate a normal
/// standard deviation). NaN for an empty sample.
pub fn mad(sample: &[f64]) -> f64 {
    let centre = median(sample);
    let deviations: Vec<f64> = sample.iter().map(|x| (x - centre).abs()).collect();
    median(&deviations)
}

/// Percentile by RFC 2330 section 11.3: the smallest value x of the sample with F(x) >= `p`,
/// where F is the empirical distribution and `p` a share from 0 to 1. There is no interpolation.
/// NaN for an empty sample or a share outside 0..=1. Input ascending.
pub fn percentile(sorted: &[f64], p: f64) -> f64 {
    match percentile_rank(sorted.len(), p) {
        Some(rank) => sorted[rank - 1],
        None => f64::NAN,
    }
}

/// 1-based rank of the RFC 2330 percentile `p` among `n` sorted values; `None` if there is none.
pub(crate) fn percentile_rank(n: usize, p: f64) -> Option<usize> {
    if n == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let rank = libm::ceil(p * n as f64 * (1.0 - 1e-12)) as usize;
    Some(rank.clamp(1, n))
}

/// A sorted copy; NaN sorts last.
pub(crate) fn sorted(sample: &[f64]) -> Vec<f64> {
    let mut copy = sample.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// Mean of two values that cannot overflow.
pub(crate) fn midpoint(a: f64, b: f64) -> f64 {
    0.5 * a + 0.5 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_2330_percentiles() {
        let s = sorted(&[-2.0, 7.0, 7.0, 4.0, 18.0, -5.0]);
        // The prose of the RFC calls the 15th percentile undefined; its formula gives -5.
        let expected = [(0.0, -5.0), (0.15, -5.0), (0.25, -2.0), (0.5, 4.0), (1.0, 18.0)];
        for (p, x) in expected {
            assert_eq!(percentile(&s, p), x, "p {p}");
        }
        assert!(percentile(&s, 1.01).is_nan() && percentile(&[], 0.5).is_nan());
    }

    #[test]
    fn rounding_does_not_move_a_rank() {
        for n in 1..=1000_usize {
            for k in 1..=n {
                assert_eq!(percentile_rank(n, k as f64 / n as f64), Some(k), "{k}/{n}");
            }
        }
    }

    #[test]
    fn lost_packets_are_infinite() {
        let lost = f64::INFINITY;
        assert_eq!(percentile(&sorted(&[100.0, 110.0, lost, 90.0, 500.0]), 0.5), 110.0);
        assert_eq!(median(&[100.0, 110.0, lost, 90.0]), 105.0);
        assert_eq!(median(&[1.0, lost]), lost);
    }

    #[test]
    fn spread() {
        assert_eq!(sd(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), libm::sqrt(32.0 / 7.0));
        assert!(sd(&[1.0]).is_nan() && mean(&[]).is_nan() && median(&[]).is_nan());
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 1.0);
    }
}
