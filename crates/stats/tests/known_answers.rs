//! Holds every method against answers computed elsewhere: `data/vectors.json`, made by
//! `data/make_vectors.py` with the versions of numpy and scipy named in its first line.

use serde_json::Value;
use v6gap_stats::between::{self, Found};
use v6gap_stats::drift::{self, Moments};
use v6gap_stats::groups::Spread;
use v6gap_stats::least_squares::Design;
use v6gap_stats::rounds::{self, Series};
use v6gap_stats::sequence::Looks;
use v6gap_stats::two_runs::{self, Law, Run};
use v6gap_stats::{Alternative, Estimate, Interval, bootstrap, equivalence, loss, modes};
use v6gap_stats::{multiplicity, outliers, paired_t, permutation, power, quantile, repeats};
use v6gap_stats::{score, sequence, signed_rank, steady, summary, trend};

const RELATIVE: f64 = 1e-9;

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/vectors.json")).expect("the vectors are JSON")
}

fn number(v: &Value) -> f64 {
    // JSON has no infinity; the generator writes null.
    if v.is_null() { f64::INFINITY } else { v.as_f64().expect("a number") }
}

fn list(v: &Value) -> Vec<f64> {
    v.as_array().expect("a list").iter().map(number).collect()
}

fn count(v: &Value) -> usize {
    v.as_u64().expect("a count") as usize
}

#[track_caller]
fn same(found: f64, expected: &Value) {
    let expected = number(expected);
    let equal = found == expected || (found - expected).abs() <= RELATIVE * expected.abs();
    assert!(equal, "{found:e} instead of {expected:e}");
}

#[track_caller]
fn same_estimate(found: &Estimate, expected: &Value) {
    same(found.centre, &expected["centre"]);
    same(found.interval.low, &expected["low"]);
    same(found.interval.high, &expected["high"]);
}

/// The estimate by ranks, and the coverage that its interval has.
#[track_caller]
fn same_by_ranks(d: &[f64], alpha: f64, expected: &Value) {
    same_estimate(&signed_rank::hodges_lehmann(d, alpha), expected);
    same(signed_rank::critical_rank(d.len(), alpha).1, &expected["level"]);
}

/// The two data sets measured in blocks, with their log-ratios.
fn paired() -> [(Value, Vec<f64>); 2] {
    ["goodput", "real30"].map(|name| {
        let v = vectors()[name].clone();
        let arms = (list(&v["first"]), list(&v["second"]));
        let d = arms.0.iter().zip(&arms.1).map(|(a, b)| (b / a).ln()).collect();
        (v, d)
    })
}

#[test]
fn paired_t_interval() {
    for (v, d) in paired() {
        same_estimate(&paired_t::t_interval(&d, 0.05), &v["t"]);
        same(summary::sd(&d), &v["t"]["sd"]);
    }
}

#[test]
fn hodges_lehmann_and_wilcoxon() {
    for (v, d) in paired() {
        same_by_ranks(&d, 0.05, &v["hl95"]);
        same_by_ranks(&d, 0.10, &v["hl90"]);
        same(signed_rank::wilcoxon_p(&d, Alternative::TwoSided), &v["p_wilcoxon"]);
    }
}

#[test]
fn hollander_and_wolfe_depression_data() {
    let v = &vectors()["depression"];
    let d = list(&v["d"]);
    same_by_ranks(&d, 0.05, &v["hl95"]);
    same(signed_rank::wilcoxon_p(&d, Alternative::Greater), &v["p_greater"]);
    same(signed_rank::wilcoxon_p(&d, Alternative::TwoSided), &v["p_two"]);
}

#[test]
fn ties_zeros_and_large_samples() {
    for name in ["tied", "large"] {
        let v = &vectors()[name];
        let d = list(&v["d"]);
        same(signed_rank::wilcoxon_p(&d, Alternative::Greater), &v["greater"]);
        same(signed_rank::wilcoxon_p(&d, Alternative::Less), &v["less"]);
        same(signed_rank::wilcoxon_p(&d, Alternative::TwoSided), &v["two-sided"]);
    }
}

#[test]
fn critical_ranks() {
    for row in vectors()["critical_ranks"].as_array().expect("rows") {
        let (k, level) = signed_rank::critical_rank(count(&row["n"]), number(&row["alpha"]));
        assert_eq!(k.map_or(-1, |k| k as i64), row["k"].as_i64().expect("k"), "{row}");
        same(level, &row["level"]);
    }
}

#[test]
fn two_one_sided_tests() {
    for (v, d) in paired() {
        for row in v["tost"].as_array().expect("rows") {
            same(equivalence::tost_wilcoxon(&d, number(&row["delta"])), &row["p_w"]);
        }
    }
}

#[test]
fn holm_adjustment() {
    let v = &vectors()["holm"];
    let adjusted = multiplicity::holm(&list(&v["p"]));
    for (found, expected) in adjusted.iter().zip(v["adjusted"].as_array().expect("rows")) {
        same(*found, expected);
    }
}

#[test]
fn exhaustive_bootstrap() {
    let v = &vectors()["bca"];
    let x = list(&v["x"]);
    let n = x.len();
    // Every one of the n^n resamples is drawn once: the digits of its number in base n, each as a
    // 64-bit number in the middle of those that stand for it.
    let every = (0..n.pow(n as u32)).flat_map(|number| (0..n as u32).map(move |at| (number, at)));
    let mut digits = every.map(|(number, at)| (number / n.pow(at) % n) as u64);
    let next = || (2 * digits.next().expect("n digits each") + 1) * (u64::MAX / (2 * n as u64));
    let mean = |units: &[usize]| summary::mean(&units.iter().map(|&i| x[i]).collect::<Vec<_>>());
    let b = bootstrap::Joint::new(n, mean, n.pow(n as u32), next).interval(|x| *x, 0.05);
    same(b.estimate.centre, &v["theta"]);
    same(b.bias_correction, &v["z0"]);
    same(b.acceleration, &v["a"]);
    let pairs = [
        (b.levels, &v["levels"]),
        ([b.estimate.interval.low, b.estimate.interval.high], &v["interval"]),
        ([b.percentile.low, b.percentile.high], &v["percentile"]),
    ];
    for (found, expected) in pairs {
        same(found[0], &expected[0]);
        same(found[1], &expected[1]);
    }
}

#[test]
fn order_statistics() {
    for row in vectors()["quantile"].as_array().expect("rows") {
        let (n, q) = (count(&row["n"]), number(&row["q"]));
        let found = quantile::order_statistic_interval(n, q, 0.95);
        let indices = (found.0.unwrap_or(0), found.1.unwrap_or(n + 1));
        assert_eq!(indices, (count(&row["low"]), count(&row["high"])), "{row}");
    }
}

#[test]
fn welch_from_summaries() {
    let moments = |v: &Value| Moments { mean: number(&v[0]), sd: number(&v[1]), n: count(&v[2]) };
    for row in vectors()["welch"].as_array().expect("rows") {
        let w =
            drift::welch(moments(&row["first"]), moments(&row["second"]), 0.05).expect("usable");
        same(w.t, &row["t"]);
        same(w.df, &row["df"]);
        same(w.p, &row["p"]);
        same(w.interval.low, &row["low"]);
        same(w.interval.high, &row["high"]);
    }
}

#[test]
fn welch_from_samples() {
    for (v, _) in paired() {
        let w = drift::welch_order_test(&list(&v["second"]), &list(&v["first"])).expect("usable");
        same(w.p, &v["welch_unpaired_p"]);
    }
}

/// The vectors were found by a search that is exact to 6e-6 where means are large beside spreads.
#[test]
fn the_change_between_two_runs() {
    for row in vectors()["two_runs"].as_array().expect("rows") {
        let of = |name: &str| Run::new(&list(&row[name]), Law::Normal);
        let (first, second) = (of("first"), of("second"));
        let radius = two_runs::change(&first, &second, 0.05).width() / 2.0;
        let expected = number(&row["radius"]);
        assert!((radius / expected - 1.0).abs() < 1e-5, "{radius} instead of {expected}");
        let (p, expected) = (two_runs::change_p(&first, &second, 0.0), number(&row["p"]));
        assert!((p / expected - 1.0).abs() < 1e-5, "{p} instead of {expected}");
    }
}

#[test]
fn runs_of_one_set_up() {
    for row in vectors()["between"].as_array().expect("rows") {
        let errors = list(&row["standard_errors"]);
        let both = list(&row["estimates"]).into_iter().zip(errors);
        let found = |(estimate, standard_error)| Found { estimate, standard_error };
        let runs: Vec<Found> = both.map(found).collect();
        let found = between::between(&runs, 0.05).expect("usable");
        same(found.mean, &row["mean"]);
        same(found.standard_error, &row["error"]);
        same(found.tau, &row["tau"]);
        same(found.tau_range.low, &row["low"]);
        same(found.tau_range.high, &row["high"]);
        same(found.p, &row["p"]);
        let next = found.next(number(&row["new"]), 0.05);
        same(next.low, &row["next_low"]);
        same(next.high, &row["next_high"]);
    }
}

#[test]
fn t_confidence_sequence() {
    for (v, d) in paired() {
        for row in v["sequence"].as_array().expect("rows") {
            let seen = &d[..count(&row["n"])];
            for (alpha, key) in [(0.05, "radius95"), (0.10, "radius90")] {
                let radius = number(&row[key]);
                let found = sequence::t_sequence_radius(seen.len(), summary::sd(seen), alpha);
                same(found, &row[key]);
                let asked = alpha / Looks::All.factor();
                let found = sequence::t_sequence(seen, asked, Looks::All);
                assert_eq!(found.interval.low.is_finite(), radius.is_finite());
            }
            same(sequence::e_value(seen, 0.0), &row["e"]);
        }
        let e = sequence::t_sequence(&d, 0.05 / Looks::First.factor(), Looks::First);
        for edge in [e.interval.low, e.interval.high] {
            // The radius is the exact inverse of the e-value.
            assert!((sequence::e_value(&d, edge) / 20.0 - 1.0).abs() < 1e-9);
        }
        let looked = |r: &&Value| count(&r["n"]) >= sequence::LOOKS_MIN;
        let rows = v["sequence"].as_array().expect("rows");
        let largest = rows.iter().filter(looked).map(|r| number(&r["e"])).fold(0.0, f64::max);
        for looks in [Looks::All, Looks::First] {
            let p = (1.0 / (largest * looks.factor())).min(1.0);
            assert!((sequence::anytime_p(&d, looks) / p - 1.0).abs() < RELATIVE);
        }
    }
}

#[test]
fn drift_and_dependence() {
    let v = &vectors()["drift"];
    let x = list(&v["x"]);
    same(drift::lag1_autocorrelation(&x), &v["lag1"]);
    for (v, d) in paired() {
        same(drift::lag1_autocorrelation(&list(&v["first"])), &v["lag1_first"]);
        same(drift::lag1_autocorrelation(&d), &v["lag1_d"]);
        same(drift::skewness(&d), &v["skewness_d"]);
    }
}

#[test]
fn clopper_pearson() {
    for row in vectors()["loss"].as_array().expect("rows") {
        let share = loss::interval(count(&row["k"]) as u64, count(&row["n"]) as u64, 0.95);
        same(share.low, &row["low"]);
        same(share.high, &row["high"]);
    }
}

#[test]
fn detectable_differences() {
    for row in vectors()["detectable"].as_array().expect("rows") {
        let (n, expected) = (count(&row["n"]), number(&row["delta"]));
        // scipy solves the noncentral t to about eight digits.
        assert!((power::smallest_detectable(n, 1.0, 0.05) / expected - 1.0).abs() < 1e-6, "{row}");
    }
}

#[test]
fn blocks_for_equivalence() {
    for row in vectors()["equivalence"].as_array().expect("rows") {
        let (sigma, margin) = (number(&row["sigma"]), number(&row["margin"]));
        let found = power::blocks_for_equivalence(sigma, margin.ln_1p(), 0.05);
        assert_eq!(found, count(&row["blocks"]), "{row}");
    }
}

#[test]
fn least_squares_of_a_sweep() {
    for row in vectors()["least_squares"].as_array().expect("rows") {
        let columns: Vec<Vec<f64>> =
            row["columns"].as_array().expect("columns").iter().map(list).collect();
        let design = Design::new(&columns, &list(&row["weights"])).expect("a design");
        let found = design.coefficients(&list(&row["response"]));
        for (found, expected) in found.iter().zip(list(&row["coefficients"])) {
            // Solved by singular values there and by a factored design here.
            assert!((found / expected - 1.0).abs() < 1e-8, "{found:e} for {expected:e}");
        }
        for (fitted, expected) in design.fitted(&found).iter().zip(list(&row["fitted"])) {
            assert!((fitted / expected - 1.0).abs() < RELATIVE, "{fitted:e} for {expected:e}");
        }
    }
}

#[test]
fn mser_cuts_where_the_series_settles() {
    let v = &vectors()["steady"];
    let cut = steady::mser(&list(&v["x"])).expect("a series");
    assert_eq!(cut.first, count(&v["first"]));
    assert!(cut.settled);
    same(cut.statistic, &v["statistic"]);
    same(cut.mean, &v["mean"]);
}

fn rows(name: &str) -> Vec<Value> {
    vectors()[name].as_array().expect("rows").clone()
}

#[test]
fn scores_of_a_sequence() {
    for v in rows("score_sequence") {
        let (d, before) = (list(&v["d"]), list(&v["before"]));
        let found = score::Sequence::new(&d, &before);
        same(found.log_e(0.0).exp(), &v["e"]);
        for (alpha, key) in [(0.05, "ends95"), (0.10, "ends90")] {
            let estimate = found.estimate(alpha);
            same(estimate.interval.low, &v[key]["low"]);
            same(estimate.interval.high, &v[key]["high"]);
        }
        same(found.anytime_p(0.0), &v["p"]);
        same(found.equivalence_p(number(&v["delta"])), &v["p_same"]);
    }
}

#[test]
fn equivalence_by_the_t_sequence() {
    for v in rows("sequence_equivalence") {
        let arms = (list(&v["first"]), list(&v["second"]));
        let d: Vec<f64> = arms.0.iter().zip(&arms.1).map(|(a, b)| (b / a).ln()).collect();
        let found = sequence::anytime_equivalence_p(&d, number(&v["delta"]), Looks::All);
        let p = number(&v["p"]);
        let expected = if p < 1.0 { p / Looks::All.factor() } else { 1.0 };
        assert!((found / expected - 1.0).abs() < RELATIVE, "{found} instead of {expected}");
    }
}

#[test]
fn trimmed_means() {
    for v in rows("trimmed") {
        let found = repeats::trimmed_mean(&list(&v["x"]), count(&v["g"]), 0.05);
        same_estimate(&found.estimate, &v);
        same(found.standard_error, &v["se"]);
        assert_eq!(found.df, count(&v["df"]));
        same(summary::mean(&list(&v["x"])), &v["mean_all"]);
    }
}

#[test]
fn three_consistent_of_five() {
    for v in rows("three_of_five") {
        let runs: [f64; 5] = list(&v["x"]).try_into().expect("five");
        let found = repeats::three_of_five(runs).expect("finite");
        assert_eq!(found.runs.to_vec(), list(&v["runs"]));
        same(found.mean, &v["mean"]);
        same(found.spread, &v["spread"]);
        assert_eq!(found.holds(0.01), number(&v["spread"]) <= 0.01);
    }
}

#[test]
fn mean_and_standard_error() {
    let v = &vectors()["spread"];
    let found = repeats::spread(&list(&v["x"]));
    same(found.mean, &v["mean"]);
    same(found.sd, &v["sd"]);
    same(found.standard_error, &v["se"]);
}

#[test]
fn steps_and_trends() {
    for v in rows("pettitt") {
        let found = trend::pettitt(&list(&v["x"]));
        same(found.k, &v["k"]);
        assert_eq!(found.after, count(&v["after"]));
        same(found.p, &v["p"]);
    }
    for v in rows("mann_kendall") {
        let found = trend::mann_kendall(&list(&v["x"]));
        same(found.s, &v["s"]);
        same(found.variance, &v["variance"]);
        same(found.z, &v["z"]);
        same(found.p, &v["p"]);
    }
}

#[test]
fn orders_of_few_values() {
    for v in rows("neighbours") {
        same(permutation::neighbours(&list(&v["x"])), &v["p"]);
    }
    for v in rows("two_samples") {
        same(permutation::two_samples(&list(&v["first"]), &list(&v["second"])), &v["p"]);
    }
}

#[test]
fn groups_with_one_noise() {
    for v in rows("groups") {
        let groups: Vec<Vec<f64>> =
            v["groups"].as_array().expect("groups").iter().map(list).collect();
        let spread = Spread::of(&groups.iter().map(Vec::as_slice).collect::<Vec<_>>());
        same(spread.sd, &v["sd"]);
        let (alpha, power) = (number(&v["alpha"]), number(&v["power"]));
        for (group, expected) in groups.iter().zip(v["ranges"].as_array().expect("ranges")) {
            let found = spread.interval(summary::mean(group), group.len(), alpha);
            same(found.low, &expected["low"]);
            same(found.high, &expected["high"]);
            same(spread.detectable(group.len(), alpha, power), &expected["detectable"]);
        }
    }
}

#[test]
fn whole_rounds_and_coins() {
    let series = |values: &Value, cell, sign, first: &dyn Fn(usize) -> bool| {
        let rounds = list(values).into_iter().enumerate().map(|(at, d)| Some((d, first(at))));
        Series { cell, sign, rounds: rounds.collect() }
    };
    for v in rows("change") {
        let questions = v["rows"].as_array().expect("rows").iter();
        let all: Vec<Series> = questions.map(|row| series(row, 0, 1.0, &|_| true)).collect();
        let found = rounds::change(&all).expect("values that differ");
        assert_eq!(found.after, count(&v["after"]));
        same(found.p, &v["p"]);
    }
    for v in rows("order_of_arms") {
        let questions = v["rows"].as_array().expect("rows").iter().enumerate();
        let all = questions.map(|(i, row)| {
            let cell = count(&v["cells"][i]);
            let first = |at: usize| count(&v["first"][cell][at]) == 1;
            series(row, cell, number(&v["signs"][i]), &first)
        });
        same(rounds::order(&all.collect::<Vec<_>>()).expect("values that differ"), &v["p"]);
    }
}

/// The vectors solve a linear programme; the crate follows Hartigan's algorithm.
#[test]
fn dips() {
    for v in rows("dip") {
        same(modes::dip(&list(&v["x"])), &v["dip"]);
    }
    for row in rows("dip_critical") {
        let p = modes::dip_p(number(&row[1]), count(&row[0]));
        assert!((p - 0.05).abs() < 0.005, "{row}: {p}");
    }
}

#[test]
fn fences_and_scores() {
    for v in rows("fences") {
        let x = list(&v["x"]);
        let found = outliers::fences(&x).expect("finite");
        same(found.q1, &v["q1"]);
        same(found.q3, &v["q3"]);
        for (Interval { low, high }, key) in [(found.inner, "inner"), (found.outer, "outer")] {
            same(low, &v[key][0]);
            same(high, &v[key][1]);
        }
        // Deviations of the size of a rounding error keep fewer digits.
        for (z, expected) in outliers::modified_z(&x).iter().zip(list(&v["z"])) {
            assert!((z - expected).abs() <= RELATIVE * (1.0 + expected.abs()), "{z} {expected}");
        }
    }
}

#[test]
fn fisher_exact() {
    for v in rows("fisher") {
        let n = |i: usize| count(&v["table"][i]) as u64;
        same(loss::fisher_p((n(0), n(1)), (n(2), n(3))), &v["p"]);
    }
}
