//! Where an axis has marks: round values, few enough to be read.

/// Spaces between marks that an axis has about.
const SPACES: f64 = 5.0;

/// About five round values within a span; none of a span that is empty or not finite.
pub(in crate::figure) fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    /// By how much of a step an end that is a multiple of it may miss that for the rounding.
    const ROUNDING: f64 = 1e-9;
    if !(low.is_finite() && high.is_finite() && low < high) {
        return Vec::new();
    }
    let step = round_step((high - low) / SPACES);
    let (first, last) = ((low / step - ROUNDING).ceil(), (high / step + ROUNDING).floor());
    let count = (last - first).clamp(0.0, 4.0 * SPACES) as u32;
    (0..=count).map(|i| ((first + f64::from(i)) * step).clamp(low, high)).collect()
}

/// The nearest of 1, 2, 2.5, 5 and 10 times a power of ten.
fn round_step(raw: f64) -> f64 {
    let magnitude = 10f64.powf(raw.log10().floor());
    let round = match raw / magnitude {
        r if r < 1.5 => 1.0,
        r if r < 2.25 => 2.0,
        r if r < 3.5 => 2.5,
        r if r < 7.5 => 5.0,
        _ => 10.0,
    };
    round * magnitude
}

/// Powers of ten within a span on a logarithmic axis, and twice and five times them where that is
/// not too many; none of a span without a logarithm.
pub(super) fn log_ticks((low, high): (f64, f64)) -> Vec<f64> {
    /// Most decades that have marks between their powers of ten.
    const DECADES: f64 = 3.0;
    if !(low > 0.0 && high.is_finite() && low < high) {
        return Vec::new();
    }
    let (first, last) = (low.log10().floor(), high.log10().ceil());
    let between: &[f64] = if last - first <= DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = (first as i32..=last as i32).map(|exponent| 10f64.powi(exponent));
    let all = decades.flat_map(|decade| between.iter().map(move |of| of * decade));
    all.filter(|value| (low..=high).contains(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_within_the_span() {
        assert_eq!(ticks((0.0, 100.0)), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks((-2.5, 4.1)), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(ticks((93.1, 95.9)), [93.5, 94.0, 94.5, 95.0, 95.5]);
        for (low, high) in [(0.1, 0.3), (1e-9, 7e-9), (-1e12, 3.0), (5.0, 5.0 + 1e-12)] {
            let found = ticks((low, high));
            assert!((2..=10).contains(&found.len()), "{low} to {high}: {found:?}");
            assert!(found.iter().all(|value| (low..=high).contains(value)), "{found:?}");
        }
        for nothing in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(ticks(nothing).is_empty() && log_ticks(nothing).is_empty(), "{nothing:?}");
        }
    }

    #[test]
    fn many_decades_have_marks_at_their_powers_alone() {
        assert_eq!(log_ticks((80.0, 2_500.0)), [100.0, 200.0, 500.0, 1_000.0, 2_000.0]);
        assert_eq!(log_ticks((0.5, 20_000.0)), [1.0, 10.0, 100.0, 1_000.0, 10_000.0]);
        assert!(log_ticks((0.0, 10.0)).is_empty());
    }
}
