//! Laws that hold for every sample: order does not matter, units do not matter, swapping the two
//! arms mirrors the answer, more confidence never narrows an interval, and no input panics.

use proptest::prelude::*;
use v6gap_stats::sequence::Looks;
use v6gap_stats::{Alternative, Estimate, Interval, paired_t, score, sequence};
use v6gap_stats::{batch, bootstrap, drift, equivalence, loss, modes, multiplicity};
use v6gap_stats::{outliers, power, quantile, repeats, signed_rank, summary, trend};

type Method = fn(&[f64], f64) -> Estimate;

fn t_sequence(d: &[f64], alpha: f64) -> Estimate {
    sequence::t_sequence(d, alpha, Looks::All)
}

fn in_order(d: &[f64], alpha: f64) -> Estimate {
    score::Sequence::new(d, &[]).estimate(alpha)
}

/// Those in which the order does not matter, and units do not, come first.
const METHODS: [(&str, Method); 4] = [
    ("hodges_lehmann", signed_rank::hodges_lehmann),
    ("t_interval", paired_t::t_interval),
    ("t_sequence", t_sequence),
    ("score_sequence", in_order),
];

/// Differences on a grid of 1/8, so that sums are exact and ties happen.
fn differences() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-800_i32..800).prop_map(|i| f64::from(i) / 8.0), 2..30)
}

fn anything() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop::num::f64::ANY, 0..12)
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * (a.abs() + b.abs()).max(1e-3)
}

fn mirrored(i: Interval) -> Interval {
    Interval { low: -i.high, high: -i.low }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn order_does_not_matter((d, shuffled) in differences()
        .prop_flat_map(|d| (Just(d.clone()), Just(d).prop_shuffle())))
    {
        for (name, method) in METHODS.iter().filter(|(name, _)| *name != "score_sequence") {
            let (a, b) = (method(&d, 0.05), method(&shuffled, 0.05));
            prop_assert!(close(a.centre, b.centre), "{name}");
            prop_assert!(close(a.interval.low, b.interval.low), "{name}");
            prop_assert!(close(a.interval.high, b.interval.high), "{name}");
        }
        let p = |d: &[f64]| signed_rank::wilcoxon_p(d, Alternative::TwoSided);
        prop_assert_eq!(p(&d), p(&shuffled));
    }

    #[test]
    fn swapping_the_arms_mirrors_the_answer(d in differences()) {
        let negated: Vec<f64> = d.iter().map(|x| -x).collect();
        for (name, method) in METHODS {
            let (a, b) = (method(&d, 0.05), method(&negated, 0.05));
            prop_assert_eq!(a.centre, -b.centre, "{}", name);
            prop_assert_eq!(a.interval, mirrored(b.interval), "{}", name);
        }
        let p = signed_rank::wilcoxon_p;
        prop_assert_eq!(p(&d, Alternative::Greater), p(&negated, Alternative::Less));
        prop_assert_eq!(p(&d, Alternative::TwoSided), p(&negated, Alternative::TwoSided));
        let p = |d: &[f64]| sequence::anytime_p(d, Looks::All);
        prop_assert_eq!(p(&d), p(&negated));
        let tost = equivalence::tost_wilcoxon;
        prop_assert_eq!(tost(&d, 2.0), tost(&negated, 2.0));
    }

    #[test]
    fn units_do_not_matter(d in differences(), shift in -64_i32..64, power in -6_i32..6) {
        let scale = 2_f64.powi(power);
        let moved: Vec<f64> = d.iter().map(|x| x * scale + f64::from(shift)).collect();
        for (name, method) in METHODS {
            let (a, b) = (method(&d, 0.05), method(&moved, 0.05));
            let move_one = |x: f64| x * scale + f64::from(shift);
            prop_assert!(close(move_one(a.centre), b.centre), "{name}");
            prop_assert!(close(move_one(a.interval.low), b.interval.low), "{name}");
            prop_assert!(close(move_one(a.interval.high), b.interval.high), "{name}");
        }
    }

    #[test]
    fn more_confidence_is_never_narrower(d in differences()) {
        for (name, method) in METHODS {
            let mut inner = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
            for alpha in [0.5, 0.2, 0.1, 0.05, 0.01, 0.001] {
                let e = method(&d, alpha);
                prop_assert!(e.interval.contains(e.centre), "{name} {alpha}");
                // Signs of few values may leave no candidate at a high alpha.
                if name != "score_sequence" {
                    let wider = e.interval.low <= inner.low && inner.high <= e.interval.high;
                    prop_assert!(wider, "{name} {alpha}");
                }
                inner = e.interval;
            }
        }
    }

    #[test]
    fn tests_and_intervals_agree(d in differences(), alpha in 0.01..0.3_f64) {
        let spread = d.iter().any(|x| *x != d[0]);
        let e = sequence::e_value(&d, 0.0);
        if spread && (e * alpha - 1.0).abs() > 1e-9 {
            let asked = alpha / Looks::First.factor();
            let found = sequence::t_sequence(&d, asked, Looks::First);
            prop_assert_eq!(found.interval.excludes(0.0), e >= 1.0 / alpha);
        }
    }

    #[test]
    fn nothing_panics(d in anything(), x in prop::num::f64::ANY, y in prop::num::f64::ANY) {
        for (_, method) in METHODS {
            let e = method(&d, x);
            prop_assert!(!e.interval.low.is_nan() && !e.interval.high.is_nan());
        }
        for side in [Alternative::Greater, Alternative::Less, Alternative::TwoSided] {
            let p = signed_rank::wilcoxon_p(&d, side);
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
        }
        prop_assert!((0.0..=1.0).contains(&sequence::anytime_p(&d, Looks::First)));
        prop_assert!(equivalence::tost_wilcoxon(&d, x) <= 1.0);
        prop_assert!(multiplicity::holm(&d).len() == d.len());
        let _ = drift::welch_order_test(&d, &d);
        let _ = (drift::lag1_autocorrelation(&d), drift::skewness(&d));
        let _ = (summary::median(&d), summary::mad(&d));
        let _ = (summary::percentile(&d, x), sequence::t_sequence_radius(d.len(), x, y));
        let _ = (quantile::order_statistic_interval(d.len(), x, y), loss::interval(3, 9, x));
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            state
        };
        let sum = |units: &[usize]| units.iter().map(|&i| d[i]).sum::<f64>();
        let _ = bootstrap::Joint::new(d.len(), sum, 20, &mut next).interval(|sum| *sum, x);
        for p in [
            sequence::anytime_equivalence_p(&d, x, Looks::All),
            trend::pettitt(&d).p,
            trend::mann_kendall(&d).p,
            score::Sequence::new(&d, &d).anytime_p(x),
            score::Sequence::new(&d, &[]).equivalence_p(y),
            modes::dip_p(modes::dip(&d), d.len()),
            batch::lag1_p(x, d.len()),
            loss::fisher_p((3, x.to_bits() >> 40), (d.len() as u64, y.to_bits() >> 44)),
        ] {
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
        }
        let _ = (batch::batches(&d, x, y), modes::split(&d), modes::is_continuous(&d));
        let _ = (outliers::flags(&d), repeats::trimmed_mean(&d, 2, x));
        let _ = repeats::spread(&d);
    }

    #[test]
    fn change_over_time_is_that_of_the_mirror(d in differences()) {
        let back: Vec<f64> = d.iter().rev().copied().collect();
        prop_assert_eq!(trend::pettitt(&d).k, trend::pettitt(&back).k);
        prop_assert_eq!(trend::mann_kendall(&d).s, -trend::mann_kendall(&back).s);
        let lag1 = drift::lag1_autocorrelation;
        prop_assert!(close(lag1(&d), lag1(&back)));
    }

    #[test]
    fn the_dip_knows_no_order_and_no_unit((d, shuffled) in differences()
        .prop_flat_map(|d| (Just(d.clone()), Just(d).prop_shuffle())))
    {
        let dip = modes::dip(&d);
        let least = 1.0 / (2 * d.len()) as f64;
        prop_assert!(dip >= least && dip <= 0.25_f64.max(least), "{dip}");
        prop_assert_eq!(dip, modes::dip(&shuffled));
        let moved: Vec<f64> = d.iter().map(|x| 3.0 - 4.0 * x).collect();
        prop_assert!((dip - modes::dip(&moved)).abs() < 1e-12);
        if let Some(split) = modes::split(&d) {
            let low = d.iter().filter(|x| **x <= split.cut).count() as f64 / d.len() as f64;
            prop_assert_eq!(low, split.low.share);
            prop_assert!(split.low.mean < split.cut && split.cut < split.high.mean);
        }
    }

    #[test]
    fn fisher_is_blind_to_names(a in 0_u64..40, b in 0_u64..40, c in 0_u64..40, d in 0_u64..40) {
        let p = loss::fisher_p((a, a + b), (c, c + d));
        for same in [
            loss::fisher_p((c, c + d), (a, a + b)),
            loss::fisher_p((b, a + b), (d, c + d)),
            loss::fisher_p((a, a + c), (b, b + d)),
        ] {
            prop_assert!(close(p, same), "{p} {same}");
        }
    }

    #[test]
    fn trimming_is_cautious_and_in_the_middle(d in differences()) {
        let found = repeats::trimmed_mean(&d, 1, 0.05);
        if d.len() >= 4 {
            prop_assert!(found.estimate.interval.contains(found.estimate.centre));
            prop_assert_eq!(found.df, d.len() - 3);
        }
    }

    #[test]
    fn sequence_p_values_invert_their_ranges(d in differences(), delta in 1.0..60.0_f64) {
        let p = sequence::anytime_equivalence_p(&d, delta, Looks::First);
        let range = sequence::t_sequence(&d, 0.10, Looks::First).interval;
        let inside = range.within(-delta, delta);
        let spread = d.iter().any(|x| *x != d[0]);
        if spread && (p - 0.05).abs() > 1e-9 {
            prop_assert_eq!(inside, p < 0.05, "{}", p);
        }
    }

    #[test]
    fn planning_never_panics(sigma in prop::num::f64::ANY, delta in prop::num::f64::ANY) {
        prop_assert!(power::blocks_for_sequence_radius(sigma, delta, 0.05) >= 3);
        prop_assert!(power::blocks_for_equivalence(sigma, delta, 0.05) >= 3);
    }

    #[test]
    fn loss_interval_holds_the_share(k in 0_u64..200, extra in 0_u64..1_000_000) {
        let n = k + extra;
        let share = if n == 0 { 0.5 } else { k as f64 / n as f64 };
        let (narrow, wide) = (loss::interval(k, n, 0.9), loss::interval(k, n, 0.99));
        prop_assert!(narrow.contains(share) && narrow.low >= 0.0 && narrow.high <= 1.0);
        prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
    }

    #[test]
    fn percentile_meets_its_definition(mut x in differences(), p in 0.0..=1.0_f64) {
        x.sort_by(f64::total_cmp);
        let found = summary::percentile(&x, p);
        let share = |limit: f64| x.iter().filter(|v| **v <= limit).count() as f64 / x.len() as f64;
        prop_assert!(share(found) >= p - 1e-9);
        if let Some(previous) = x.iter().rev().find(|v| **v < found) {
            prop_assert!(share(*previous) < p + 1e-9);
        }
    }
}
