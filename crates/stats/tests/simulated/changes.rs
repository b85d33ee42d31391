//! Changes of a series of visits: after how many a step is found, whether its time is known as well
//! as is promised, and how often one is proclaimed where there is none. The figures are those of
//! docs/method.md, section C.15.

use super::{holds, normal, walks};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::f64::consts::TAU;
use v6gap_stats::change::{Found, Point, RANGE_ALPHA, Rule, begins, changes};

/// One in ten thousand, shared by the three series of three questions.
const ALPHA: f64 = 1e-4 / 9.0;

/// Visits every quarter of an hour.
const DAY: usize = 96;

/// Visits before a step: three days.
const BEFORE: usize = 3 * DAY;

/// Visits after which it would not be found any more.
const LATEST: usize = 400;

/// Visits of noise with standard deviation 1, on a daily wave of so many, which begins where chance
/// has it.
fn visits(rng: &mut ChaCha8Rng, n: usize, wave: f64) -> Vec<f64> {
    let phase = normal(rng, 1)[0];
    let at = |i: usize| wave * (TAU * (i as f64 / DAY as f64 + phase)).sin();
    normal(rng, n).into_iter().enumerate().map(|(i, noise)| noise + at(i)).collect()
}

fn found(values: &[f64], margin: f64) -> Vec<Found> {
    let point = |&value: &f64| Point { value, standard_error: None };
    let points: Vec<Point> = values.iter().map(point).collect();
    changes(&points, Rule { alpha: ALPHA, margin })
}

/// Steps, margins and waves in standard deviations, and visits after which half of the steps are
/// found.
#[test]
fn a_step_is_found_after_so_many_visits() {
    let rows = [
        (1.0, 0.0, 0.0, 58),
        (2.0, 0.0, 0.0, 20),
        (4.0, 0.0, 0.0, 13),
        (8.0, 0.0, 0.0, 11),
        (3.0, 2.0, 0.0, 56),
        (4.0, 2.0, 0.0, 21),
        (6.0, 2.0, 0.0, 13),
        (4.0, 2.0, 0.7, 20),
        (6.0, 2.0, 0.7, 13),
    ];
    for (step, margin, wave, expected) in rows {
        let mut rng = ChaCha8Rng::seed_from_u64(15);
        let (mut delays, mut dated, mut within) = (Vec::new(), 0, 0);
        let series = walks(30);
        for _ in 0..series {
            let mut values = visits(&mut rng, BEFORE + LATEST, wave);
            values[BEFORE..].iter_mut().for_each(|value| *value += step);
            let found = found(&values, margin);
            // Alarms before it are counted below.
            let first = found.iter().find(|found| found.at >= BEFORE);
            delays.push(first.map_or(LATEST, |found| found.at + 1 - BEFORE));
            let dates = |found: &Found| (found.earliest..=found.latest).contains(&BEFORE);
            dated += usize::from(first.is_some_and(dates));
            within += usize::from(first.is_some_and(|found| found.first.abs_diff(BEFORE) <= 2));
        }
        delays.sort_unstable();
        let (median, last) = (delays[series / 2], delays[series * 19 / 20]);
        let share = within as f64 / series as f64;
        println!("{step} {margin} {wave}: {median}, 95 % by {last}, within two visits {share}");
        assert!(median.abs_diff(expected) * 4 <= expected, "{step} {margin}: {median}");
        holds(series - dated, series, RANGE_ALPHA, 0.0);
        assert!(step < 4.0 || share > 0.95, "{step} {margin}: {share}");
    }
}

/// Series of twenty, as runs of a set-up are: how many of one mean are parted, and how many with a
/// step of eight standard deviations before the last four.
#[test]
fn a_short_series_is_parted_at_a_step_and_seldom_without() {
    for alpha in [0.05, 0.05 / 9.0, 0.05 / 30.0] {
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        let mut parted = |step: f64| {
            let values = normal(&mut rng, 20).into_iter().enumerate();
            let point = |(at, noise): (usize, f64)| Point {
                value: noise + if at < 16 { 0.0 } else { step },
                standard_error: None,
            };
            let points: Vec<Point> = values.map(point).collect();
            begins(&points, Rule { alpha, margin: 0.0 }) != [0]
        };
        let series = walks(200);
        let mut count = |step| (0..series).filter(|_| parted(step)).count();
        let (even, stepped) = (count(0.0), count(8.0));
        println!("{alpha}: {even} and {stepped} of {series}");
        holds(even, series, alpha, 0.0);
        assert!(stepped as f64 >= 0.8 * series as f64, "{stepped} of {series}");
    }
}

/// A mean that stays where it is, or within a band as wide as the margin.
#[test]
fn nothing_is_proclaimed_where_nothing_changes() {
    for (margin, wave) in [(0.0, 0.0), (1.4, 0.7), (2.0, 0.7), (2.0, 1.0)] {
        let mut rng = ChaCha8Rng::seed_from_u64(16);
        let visits = visits(&mut rng, walks(20_000), wave);
        let alarms = found(&visits, margin).len();
        println!("margin {margin}, wave {wave}: {alarms} in {} visits", visits.len());
        assert!(alarms as f64 <= ALPHA * visits.len() as f64, "{margin} {wave}: {alarms}");
    }
}
