//! Distribution functions: normal, Student t, beta and binomial. Written here on top of `libm`
//! because tails must keep their *relative* accuracy for any sample size: trials of 10^6 to 10^9
//! packets are common, and inverses tuned for small parameters are wrong there in the third
//! digit. Reference values in the tests come from scipy.

use crate::solve::first_true;
use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// P(Z > z) of the standard normal distribution.
pub(crate) fn normal_upper(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// The z with P(Z > z) = `tail`, for a tail in (0, 1).
pub(crate) fn normal_upper_quantile(tail: f64) -> f64 {
    if tail > 0.5 {
        return -normal_upper_quantile(1.0 - tail);
    }
    first_true(0.0, 40.0, |z| normal_upper(z) <= tail)
}

/// P(T > t) of Student's t with `df > 0` degrees of freedom.
pub(crate) fn t_upper(t: f64, df: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - t_upper(-t, df);
    }
    // t^2 / df may overflow to infinity, which then gives the right limit.
    let ratio = t * t / df;
    let far = if ratio.is_infinite() { 1.0 } else { ratio / (1.0 + ratio) };
    0.5 * beta_lower(0.5 * df, 0.5, 1.0 / (1.0 + ratio), far)
}

/// The t with P(T > t) = `tail`, for a tail in (0, 0.5].
pub(crate) fn t_upper_quantile(tail: f64, df: f64) -> f64 {
    first_true(0.0, f64::MAX, |t| t_upper(t, df) <= tail)
}

/// P(X > x) of the chi-square distribution with `df > 0` degrees of freedom: the recurrence
/// Q(a + 1, y) = Q(a, y) + y^a e^-y / Gamma(a + 1) of DLMF 8.8.6 from a = 1/2 or 1, all of whose
/// terms are positive.
pub(crate) fn chi_square_upper(x: f64, df: usize) -> f64 {
    let y = 0.5 * x;
    if y <= 0.0 || y.is_infinite() {
        return if y <= 0.0 { 1.0 } else { 0.0 };
    }
    let odd = df % 2 == 1;
    let mut a = if odd { 0.5 } else { 1.0 };
    let mut upper = if odd { libm::erfc(libm::sqrt(y)) } else { libm::exp(-y) };
    while a < 0.5 * df as f64 {
        upper += libm::exp(a * libm::log(y) - y - libm::lgamma(a + 1.0));
        a += 1.0;
    }
    upper.min(1.0)
}

/// P(X <= k) for X binomial with `n` trials of probability `p`.
pub(crate) fn binomial_lower(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    beta_lower((n - k) as f64, k as f64 + 1.0, 1.0 - p, p)
}

/// P(X >= k) for X binomial with `n` trials of probability `p`.
pub(crate) fn binomial_upper(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    beta_lower(k as f64, (n - k) as f64 + 1.0, p, 1.0 - p)
}

/// The x with I_x(a, b) = `p`, for `a, b > 0` and p in (0, 1).
pub(crate) fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    first_true(0.0, 1.0, |x| beta_lower(a, b, x, 1.0 - x) >= p)
}

/// Regularised incomplete beta function I_x(a, b); `y = 1 - x` is given as well so that neither
/// end loses digits. Continued fraction of DLMF 8.17.22, evaluated by Lentz's method on the side
/// where it converges quickly (in about sqrt(max(a, b)) steps).
pub(crate) fn beta_lower(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        1.0 - beta_prefix(b, a, y, x) * beta_fraction(b, a, y) / b
    } else {
        beta_prefix(a, b, x, y) * beta_fraction(a, b, x) / a
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MAX_STEPS: u32 = 1_000_000;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for step in 1..MAX_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let factor = d * c;
        h *= factor;
        let converged = (factor - 1.0).abs() <= f64::EPSILON;
        if converged || factor.is_nan() {
            break;
        }
    }
    h
}

/// x^a y^b / B(a, b), through the saddle-point form of Loader, "Fast and accurate computation of
/// binomial probabilities" (2000): differences of large log-gammas would lose all digits.
fn beta_prefix(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * y);
    libm::exp(exponent) * libm::sqrt(a * b / (2.0 * PI * n))
}

/// ln Gamma(z + 1) minus Stirling's approximation of it.
pub(crate) fn stirling_error(z: f64) -> f64 {
    if z < 16.0 {
        let half_ln_two_pi = 0.5 * libm::log(2.0 * PI);
        return libm::lgamma(z + 1.0) - (z + 0.5) * libm::log(z) + z - half_ln_two_pi;
    }
    let s = 1.0 / (z * z);
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - s / 1188.0) * s) * s) * s) / z
}

/// x ln(x / m) + m - x without cancellation near x = m.
fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.is_nan() || v.abs() >= 0.1 {
        return x * libm::log(x / m) + m - x;
    }
    // 2 x (v^3/3 + v^5/5 + ...): with v below 0.1, ten terms exceed double precision.
    let (mut sum, mut term) = ((x - m) * v, 2.0 * x * v);
    for odd in (3..23).step_by(2) {
        term *= v * v;
        sum += term / f64::from(odd);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Holds every row of the table `name` (arguments, then the answer of scipy) against `f`.
    fn agree(name: &str, relative: f64, f: impl Fn(&[f64]) -> f64) {
        let vectors: Value = serde_json::from_str(include_str!("../tests/data/vectors.json"))
            .expect("the vectors are JSON");
        let rows = vectors["special"][name].as_array().expect("a table");
        for row in rows {
            let row: alloc::vec::Vec<f64> =
                row.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
            let (expected, arguments) = row.split_last().expect("a row");
            let found = f(arguments);
            assert!(
                (found - expected).abs() <= relative * expected.abs(),
                "{name}{arguments:?}: {found:e} instead of {expected:e}"
            );
        }
    }

    #[test]
    fn normal() {
        agree("normal_upper", 1e-13, |x| normal_upper(x[0]));
        agree("normal_upper_quantile", 1e-13, |x| normal_upper_quantile(x[0]));
    }

    #[test]
    fn student() {
        // Ten digits are left at df = 10^7, where the continued fraction starts by cancelling.
        agree("t_upper", 1e-9, |x| t_upper(x[0], x[1]));
        agree("t_upper_quantile", 1e-9, |x| t_upper_quantile(x[0], x[1]));
        assert_eq!(t_upper(f64::INFINITY, 5.0), 0.0);
        assert_eq!(t_upper(1e200, 5.0), 0.0);
        assert_eq!(t_upper(0.0, 5.0), 0.5);
    }

    #[test]
    fn chi_square() {
        agree("chi_square_upper", 1e-12, |x| chi_square_upper(x[0], x[1] as usize));
        assert_eq!(chi_square_upper(f64::INFINITY, 3), 0.0);
    }

    #[test]
    fn beta_and_binomial() {
        agree("beta_lower", 1e-11, |x| beta_lower(x[0], x[1], x[2], 1.0 - x[2]));
        agree("binomial_lower", 1e-11, |x| binomial_lower(x[0] as u64, x[1] as u64, x[2]));
        agree("binomial_upper", 1e-11, |x| binomial_upper(x[0] as u64, x[1] as u64, x[2]));
        for (a, b) in [(0.5, 4.5), (3.0, 999_998.0), (1e6, 1e9)] {
            let x = beta_quantile(a, b, 0.025);
            assert!((beta_lower(a, b, x, 1.0 - x) / 0.025 - 1.0).abs() < 1e-9);
        }
    }
}
