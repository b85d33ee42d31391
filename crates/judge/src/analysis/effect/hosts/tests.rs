//! What the hosts may do to a difference, and that it can be taken back.

use super::*;

/// As of values that are mostly alike, whose range ends at the centre.
#[test]
fn a_range_that_ends_at_its_centre_is_wider_to_both_sides() {
    let ends = Interval { low: 0.05, high: 0.055 };
    let i = wider(0.05, &ends, 0.02);
    let nearly = wider(0.05, &Interval { low: 0.05 - 1e-12, ..ends }, 0.02);
    assert!((i.low - 0.05 / 1.02).abs() < 1e-9 && (i.low - nearly.low).abs() < 1e-9, "{i:?}");
    assert!(i.high > 0.055, "{i:?}");
    let back = without(0.05, &i, 0.02);
    assert!((back.low - 0.05).abs() < 1e-9 && (back.high - 0.055).abs() < 1e-9, "{back:?}");
    let alike = Interval { low: 0.05, high: 0.05 };
    assert_eq!(wider(0.05, &alike, 0.02), alike);
}

#[test]
fn the_hosts_are_a_share_of_the_difference() {
    let of = |low, high| wider(0.09, &Interval { low, high }, 0.024);
    let i = of(0.0884, 0.0916);
    // 0.16 and 0.216 points in quadrature, nearly.
    assert!((i.low - 0.087_36).abs() < 1e-5 && (i.high - 0.092_74).abs() < 1e-5, "{i:?}");
    // They neither make a difference nor take one.
    let is_there = |low: f64| of(low, 0.2).low > 0.0;
    assert!(is_there(1e-9) && !is_there(-1e-9) && of(0.0, 0.2).low.abs() < 1e-15);
    assert_eq!(wider(0.0, &Interval { low: -1.0, high: 1.0 }, 0.0).low, -1.0);
    assert_eq!(wider(0.1, &Interval::WHOLE, 0.024), Interval::WHOLE);
    for (low, high) in [(0.0884, 0.0916), (-0.1, 0.12), (f64::NEG_INFINITY, 0.1)] {
        let back = without(0.09, &of(low, high), 0.024);
        assert!(low.is_infinite() || (back.low - low).abs() < 1e-12, "{back:?}");
        assert!((back.high - high).abs() < 1e-12, "{back:?}");
    }
}

#[test]
fn long_times_are_mostly_not_the_hosts() {
    let of = |metric, a| share(metric, PerArm { a: Some(a), b: Some(2.0 * a) });
    assert_eq!(of(Metric::Rtt, 20e-6), OF_HOSTS);
    assert!((of(Metric::Connect, 30e-3) - 0.01 * OF_HOSTS).abs() < 1e-12);
    assert_eq!(
        [of(Metric::Throughput, 1e-6), of(Metric::Pdv, 1e-6), of(Metric::Rtt, 0.0)],
        [0.0; 3]
    );
    assert_eq!(share(Metric::Rtt, PerArm { a: Some(1e-5), b: None }), 0.0);
}
