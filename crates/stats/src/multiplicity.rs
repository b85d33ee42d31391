//! Several questions asked of one run: p-values adjusted so that the chance of *any* false claim
//! stays at the stated rate.

use alloc::vec;
use alloc::vec::Vec;

/// Holm's step-down adjustment, in the order of the input: `adj_(i) = max over j <= i of
/// min(1, (m - j + 1) p_(j))`. Controls the family-wise error under any dependence (Holm, "A
/// simple sequentially rejective multiple test procedure", 1979). A NaN counts as p = 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let known: Vec<f64> = p_values.iter().map(|p| if p.is_nan() { 1.0 } else { *p }).collect();
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by(|&i, &j| known[i].total_cmp(&known[j]));
    let mut adjusted = vec![0.0; known.len()];
    let mut largest: f64 = 0.0;
    for (step, &index) in order.iter().enumerate() {
        largest = largest.max((known.len() - step) as f64 * known[index]);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_one_and_unknown() {
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }
}
