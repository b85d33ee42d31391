//! Is the centre small enough not to matter? Two one-sided tests (Schuirmann 1987): reject both
//! "centre <= -delta" and "centre >= delta". Equivalent at rate alpha exactly when the
//! `1 - 2 alpha` interval of the same method lies inside (-delta, delta).
//!
//! Assumptions are those of the underlying test. A margin that is not positive cannot be met: p
//! is then 1.

use crate::estimate::Alternative::{Greater, Less};
use crate::paired_t::t_p;
use crate::signed_rank::wilcoxon_p;
use alloc::vec::Vec;

/// Equivalence p-value by the exact signed-rank test; `delta` in the unit of `d` (for log-ratios,
/// `ln(1 + margin)`).
pub fn tost_wilcoxon(d: &[f64], delta: f64) -> f64 {
    if delta.is_nan() || delta <= 0.0 {
        return 1.0;
    }
    let shifted = |by: f64| -> Vec<f64> { d.iter().map(|x| x + by).collect() };
    wilcoxon_p(&shifted(delta), Greater).max(wilcoxon_p(&shifted(-delta), Less))
}

/// The same by the paired t test.
pub fn tost_t(d: &[f64], delta: f64) -> f64 {
    if delta.is_nan() || delta <= 0.0 {
        return 1.0;
    }
    let shifted = |by: f64| -> Vec<f64> { d.iter().map(|x| x + by).collect() };
    t_p(&shifted(delta), Greater).max(t_p(&shifted(-delta), Less))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_margin_no_equivalence() {
        for delta in [0.0, -1.0, f64::NAN] {
            assert_eq!(tost_wilcoxon(&[0.0, 0.1, -0.1], delta), 1.0);
            assert_eq!(tost_t(&[0.0, 0.1, -0.1], delta), 1.0);
        }
    }
}
