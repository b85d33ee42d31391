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
    fn finds_the_first_integer() {
        assert_eq!(first_integer(1, u64::MAX, |n| n >= 1_000_003), Some(1_000_003));
        assert_eq!(first_integer(1, 10, |_| false), None);
    }
}
