//! The detector of changes against its definition, which asks for every range anew, against what
//! must hold of any series, and against Apache Otava on the series of `data/changes.json`, made by
//! `data/make_changes.py` with the version named in its first line.

use proptest::prelude::*;
use serde_json::Value;
use v6gap_stats::change::{self, Detector, Point, REMEMBERED_MAX, Rule};
use v6gap_stats::sequence::t_sequence_radius;
use v6gap_stats::summary;

const RULE: Rule = Rule { alpha: 0.01, margin: 0.5 };

fn points(values: &[f64]) -> Vec<Point> {
    values.iter().map(|&value| Point { value, standard_error: None }).collect()
}

/// How far the ranges of all values from each start to each end lie apart, errors included.
fn apart(points: &[Point], alpha: f64) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let first = points.len().saturating_sub(REMEMBERED_MAX);
    for start in first..points.len() {
        for end in start + 2..=points.len() {
            let values: Vec<f64> = points[start..end].iter().map(|point| point.value).collect();
            let errors: Vec<f64> =
                points[start..end].iter().filter_map(|point| point.standard_error).collect();
            let squares: f64 = errors.iter().map(|error| error * error).sum();
            let explained = if errors.is_empty() { 0.0 } else { squares / errors.len() as f64 };
            let alike = values.iter().all(|value| *value == values[0]);
            let variance = if alike { 0.0 } else { summary::sd(&values).powi(2) };
            let spread = variance.max(explained).sqrt();
            let radius = t_sequence_radius(values.len(), spread, alpha);
            if spread > 0.0 && radius.is_finite() {
                low = low.max(summary::mean(&values) - radius);
                high = high.min(summary::mean(&values) + radius);
            }
        }
    }
    low - high
}

fn alike(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

/// Values on a grid, whose mean may move at one place, and errors of some of them.
fn series() -> impl Strategy<Value = Vec<Point>> {
    let value = (-40_i32..40, prop::option::of(0_u32..64));
    (prop::collection::vec(value, 2..48), 0_usize..48, -20_i32..20).prop_map(
        |(values, place, by)| {
            let point = |(index, (value, error)): (usize, (i32, Option<u32>))| Point {
                value: f64::from(value) / 16.0 + if index < place { 0.0 } else { f64::from(by) },
                standard_error: error.map(|error| f64::from(error) / 32.0),
            };
            values.into_iter().enumerate().map(point).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_detector_is_its_definition(series in series(), keep in 0_usize..48) {
        let mut detector = Detector::new(RULE);
        for (index, point) in series.iter().enumerate() {
            let found = detector.push(*point);
            let asked = apart(&series[..=index], RULE.alpha);
            prop_assert!(alike(detector.apart(), asked), "{index}: {} {asked}", detector.apart());
            let clear = (asked - RULE.margin).abs() > 1e-9;
            let expected = asked > RULE.margin && change::split(&series[..=index]).is_some();
            prop_assert!(!clear || found.is_some() == expected, "{index}");
        }
        detector.restart(keep);
        let rest = &series[series.len().saturating_sub(keep)..];
        prop_assert_eq!(detector.points(), rest);
        prop_assert!(alike(detector.apart(), apart(rest, RULE.alpha)));
    }

    #[test]
    fn neither_unit_nor_sign_nor_origin_matters(series in series(), power in -6_i32..6) {
        let scale = 2_f64.powi(power);
        let moved: Vec<Point> = series
            .iter()
            .map(|point| Point {
                value: 64.0 - scale * point.value,
                standard_error: point.standard_error.map(|error| error * scale),
            })
            .collect();
        // Of splits that leave equal squares, rounding picks one: what comes after may differ.
        let of = |series: &[Point], margin| {
            change::changes(series, Rule { margin, ..RULE }).first().map(|found| found.at)
        };
        // A margin off the grid, so that rounding decides nothing.
        prop_assert_eq!(of(&series, 0.517), of(&moved, 0.517 * scale));
    }

    #[test]
    fn no_input_panics(values in prop::collection::vec(prop::num::f64::ANY, 0..40),
                       errors in prop::num::f64::ANY, alpha in prop::num::f64::ANY,
                       margin in prop::num::f64::ANY)
    {
        let point = |value: &f64| Point { value: *value, standard_error: Some(errors) };
        let series: Vec<Point> = values.iter().map(point).collect();
        change::changes(&series, Rule { alpha, margin });
        let loose = change::changes(&series, Rule { alpha: 0.9, margin: 0.0 });
        prop_assert!(loose.iter().all(|found| found.earliest <= found.latest));
    }
}

/// What is older than it remembers counts no more.
#[test]
fn a_long_series_is_that_of_the_values_remembered() {
    let wave = |i: u32| f64::from(i * 37 % 101) / 50.0 + if i < 60 { 1.0 } else { 0.0 };
    let values: Vec<f64> = (0..450).map(wave).collect();
    let mut detector = Detector::new(Rule { alpha: 1e-4, margin: f64::INFINITY });
    for point in points(&values) {
        detector.push(point);
    }
    let rest = points(&values[values.len() - REMEMBERED_MAX..]);
    assert_eq!(detector.points(), rest);
    let asked = apart(&rest, 1e-4);
    assert!(alike(detector.apart(), asked), "{} {asked}", detector.apart());
}

/// Each series has one change, or none, of at least two standard deviations.
#[test]
fn otava_finds_the_same_changes() {
    let cases: Value =
        serde_json::from_str(include_str!("data/changes.json")).expect("the series are JSON");
    let number = |value: &Value| value.as_f64().expect("a number");
    let cases = cases["series"].as_array().expect("a list");
    assert!(cases.len() >= 20);
    for case in cases {
        let values = case["thousandths"].as_array().expect("a list");
        let values: Vec<f64> = values.iter().map(|value| number(value) / 1000.0).collect();
        let theirs: Vec<f64> =
            case["otava"].as_array().expect("a list").iter().map(number).collect();
        let rule = Rule { alpha: 1e-4, margin: 0.0 };
        let ours: Vec<f64> = change::changes(&points(&values), rule)
            .iter()
            .map(|found| found.first as f64)
            .collect();
        let near = |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() <= 3.0;
        let agree = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(near);
        assert!(agree, "{}: {ours:?} {theirs:?}", case["name"]);
    }
}
