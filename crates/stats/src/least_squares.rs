//! Weighted linear least squares: one fixed design, many responses.
//!
//! The design and its weights are factored once, by modified Gram-Schmidt with a second pass
//! (Björck, "Solving linear least squares problems by Gram-Schmidt orthogonalization", 1967). Each
//! response then costs one product, so a bootstrap may fit thousands.
//!
//! Assumes nothing of the law of the errors; the ranges come from resampling whole replicates.

use alloc::vec::Vec;

/// A column of the design whose part that no other column explains is smaller than this share of
/// its length counts as explained by them.
const COLLINEAR: f64 = 1e-3;

/// Why a design cannot be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// Fewer points than columns, or columns, weights and points of different number.
    TooFewPoints,
    /// A weight is not above 0, or a number is not finite.
    NotANumber,
    /// The columns before this one explain it, so its coefficient cannot be told apart.
    Collinear {
        /// Index of the column.
        column: usize,
    },
}

/// A design ready for responses.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    columns: Vec<Vec<f64>>,
    /// One row for each coefficient: its product with the response is the coefficient.
    inverse: Vec<Vec<f64>>,
}

impl Design {
    /// Factors a design of these `columns`, one value for each point; `weights` are one over the
    /// variance of each point's response, up to a factor.
    ///
    /// # Errors
    /// [`Unfit`], if the coefficients are not determined.
    pub fn new(columns: &[Vec<f64>], weights: &[f64]) -> Result<Self, Unfit> {
        let points = weights.len();
        if columns.is_empty() || points < columns.len() || columns.iter().any(|c| c.len() != points)
        {
            return Err(Unfit::TooFewPoints);
        }
        let finite = columns.iter().flatten().all(|x| x.is_finite());
        if !finite || weights.iter().any(|w| !w.is_finite() || *w <= 0.0) {
            return Err(Unfit::NotANumber);
        }
        let roots: Vec<f64> = weights.iter().map(|w| libm::sqrt(*w)).collect();
        let mut upper: Vec<Vec<f64>> = Vec::new();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let mut rest: Vec<f64> = column.iter().zip(&roots).map(|(x, r)| x * r).collect();
            let whole = length(&rest);
            let mut shares = alloc::vec![0.0; index];
            for _ in 0..2 {
                for (unit, share) in basis.iter().zip(&mut shares) {
                    let along = product(unit, &rest);
                    *share += along;
                    rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= along * u);
                }
            }
            let left = length(&rest);
            // A column of zeros is collinear too.
            if left <= COLLINEAR * whole {
                return Err(Unfit::Collinear { column: index });
            }
            rest.iter_mut().for_each(|x| *x /= left);
            shares.push(left);
            upper.push(shares);
            basis.push(rest);
        }
        let inverse = invert(&upper, &basis, &roots);
        Ok(Design { columns: columns.to_vec(), inverse })
    }

    /// The coefficients that fit `response` best, one for each column.
    pub fn coefficients(&self, response: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|row| product(row, response)).collect()
    }

    /// What these coefficients make of each point.
    pub fn fitted(&self, coefficients: &[f64]) -> Vec<f64> {
        let points = self.columns.first().map_or(0, Vec::len);
        let at = |i: usize| self.columns.iter().zip(coefficients).map(|(c, k)| c[i] * k).sum();
        (0..points).map(at).collect()
    }
}

/// Rows of R⁻¹ Qᵀ W^½, by back substitution; `upper[j]` is column j of R.
fn invert(upper: &[Vec<f64>], basis: &[Vec<f64>], roots: &[f64]) -> Vec<Vec<f64>> {
    let size = basis.len();
    let mut rows: Vec<Vec<f64>> = alloc::vec![Vec::new(); size];
    for i in (0..size).rev() {
        let mut row: Vec<f64> = basis[i].iter().zip(roots).map(|(q, r)| q * r).collect();
        for j in i + 1..size {
            let factor = upper[j][i];
            row.iter_mut().zip(&rows[j]).for_each(|(x, y)| *x -= factor * y);
        }
        row.iter_mut().for_each(|x| *x /= upper[i][i]);
        rows[i] = row;
    }
    rows
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

fn length(x: &[f64]) -> f64 {
    libm::sqrt(product(x, x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn an_exact_law_is_found_exactly() {
        let columns = [vec![1.0; 4], vec![1.0, 2.0, 3.0, 7.0], vec![2.0, 2.0, 5.0, 1.0]];
        let design = Design::new(&columns, &[1.0, 9.0, 0.1, 2.0]).unwrap();
        let response = design.fitted(&[3.0, -0.5, 0.25]);
        for (found, expected) in design.coefficients(&response).iter().zip([3.0, -0.5, 0.25]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn what_is_not_determined_is_refused() {
        let ones = vec![1.0; 3];
        let size = vec![1.0, 2.0, 4.0];
        let refused = |columns: &[Vec<f64>], weights: &[f64]| Design::new(columns, weights).err();
        assert_eq!(refused(&[], &[1.0]), Some(Unfit::TooFewPoints));
        assert_eq!(refused(&[vec![1.0], vec![2.0]], &[1.0]), Some(Unfit::TooFewPoints));
        assert_eq!(refused(core::slice::from_ref(&ones), &[1.0]), Some(Unfit::TooFewPoints));
        assert_eq!(
            refused(core::slice::from_ref(&ones), &[1.0, 0.0, 1.0]),
            Some(Unfit::NotANumber)
        );
        assert_eq!(refused(&[vec![f64::NAN; 3]], &[1.0; 3]), Some(Unfit::NotANumber));
        let line: Vec<f64> = size.iter().map(|x| 3.0 + 2.0 * x).collect();
        let columns = [ones.clone(), size, line];
        assert_eq!(refused(&columns, &[1.0; 3]), Some(Unfit::Collinear { column: 2 }));
        assert_eq!(refused(&[ones, vec![0.0; 3]], &[1.0; 3]), Some(Unfit::Collinear { column: 1 }));
    }
}
