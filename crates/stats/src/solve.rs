//! One solver for every inverse in the crate: bisection over the floating-point numbers
//! themselves. At most 64 steps reach the exact answer, whatever its magnitude, without a
//! tolerance to choose and without a derivative that can mislead.

/// The smallest number in `low..=high` for which `holds` is true, when `holds` is false up to
/// some point and true from there on; `high` if it never is. `low` must not exceed `high`, and
/// neither may be NaN.
pub(crate) fn first_true(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (key(low), key(high));
    while below < above {
        let middle = below + (above - below) / 2;
        if holds(value(middle)) {
            above = middle;
        } else {
            below = middle + 1;
        }
    }
    value(above)
}

/// The smallest integer in `low..=high` for which `holds` is true, under the same condition;
/// `None` if it is false everywhere.
pub(crate) fn first_integer(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut below, mut above) = (low, high);
    while below < above {
        let middle = below + (above - below) / 2;
        if holds(middle) {
            above = middle;
        } else {
            below = middle + 1;
        }
    }
    holds(above).then_some(above)
}

/// Where `f`, which never rises, falls below 0 between `low` and `high`, to the last bits and from
/// above: by the regula falsi with halved ends (Illinois; Dowell & Jarratt 1971), every third step
/// by halving the distance. Of a smooth `f` that takes a fifth of the steps of [`first_true`].
/// `low` if it is below 0 there, `high` if it is nowhere.
pub(crate) fn falls_below_zero(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEPS_MAX: u32 = 200;
    let (mut a, mut b, mut at_a, mut at_b) = (low, high, f(low), f(high));
    if at_a < 0.0 {
        return low;
    }
    let mut last_above = None;
    for step in 0..STEPS_MAX {
        let width = b - a;
        if width <= 2.0 * f64::EPSILON * libm::fabs(a).max(libm::fabs(b)) {
            break;
        }
        let secant = if step % 3 == 2 { a } else { (a * at_b - b * at_a) / (at_b - at_a) };
        let middle = if a < secant && secant < b { secant } else { a + width / 2.0 };
        let found = f(middle);
        let above = found >= 0.0;
        let again = last_above == Some(above);
        if above {
            (a, at_a) = (middle, found);
            at_b = if again { at_b / 2.0 } else { at_b };
        } else {
            (b, at_b) = (middle, found);
            at_a = if again { at_a / 2.0 } else { at_a };
        }
        last_above = Some(above);
    }
    b
}

/// An integer that orders as the number does: sign bit flipped for positive numbers, all bits
/// for negative ones.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_exact_number() {
        for target in [-1e300, -1.5, -1e-300, 0.0, 1e-12, 0.1, 3.0, 1e300] {
            assert_eq!(first_true(f64::NEG_INFINITY, f64::INFINITY, |x| x >= target), target);
        }
        assert_eq!(first_true(0.0, 1.0, |_| false), 1.0);
    }

    #[test]
    fn finds_where_a_function_falls_below_zero() {
        for root in [-3.7, 1e-9, 0.25, 40.0] {
            let smooth = falls_below_zero(-50.0, 50.0, |x| libm::exp(root) - libm::exp(x));
            assert!((smooth / root - 1.0).abs() < 1e-6, "{root}: {smooth}");
            let step = falls_below_zero(-50.0, 50.0, |x| if x <= root { 3.0 } else { -1.0 });
            assert!(step > root && (step / root - 1.0).abs() < 1e-14, "{root}: {step}");
        }
        assert_eq!(falls_below_zero(1.0, 2.0, |x| -x), 1.0);
        assert_eq!(falls_below_zero(1.0, 2.0, |x| x), 2.0);
    }

    #[test]
    fn finds_the_first_integer() {
        assert_eq!(first_integer(1, u64::MAX, |n| n >= 1_000_003), Some(1_000_003));
        assert_eq!(first_integer(1, 10, |_| false), None);
    }
}
