//! The constants of the t sequence, drawn again: how often it misses the mean of normal values at
//! any of its looks, and how often that or the bets on scores that take over do; and what is found
//! of changes. By day few walks; `V6GAP_FULL=1`, as in the night, makes hundred times as many.

mod changes;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use v6gap_stats::score;
use v6gap_stats::sequence::{self, Looks};

/// Rates that are promised somewhere: the ranges', and those of several questions together.
const RATES: [f64; 5] = [0.10, 0.05, 0.025, 0.01, 0.005];

fn walks(by_day: usize) -> usize {
    if std::env::var_os("V6GAP_FULL").is_some() { 100 * by_day } else { by_day }
}

fn normal(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let mut value = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    (0..n).map(|_| value()).collect()
}

/// Misses among so many walks, with three standard deviations of chance, must lie between shares of
/// the rate.
#[track_caller]
fn holds(found: usize, walks: usize, rate: f64, least: f64) {
    let (share, slack) = (found as f64 / walks as f64, 3.0 * (rate / walks as f64).sqrt());
    assert!(share <= rate + slack, "{share} at {rate}");
    assert!(share >= least * rate - slack, "{share} at {rate}: too cautious");
}

#[test]
fn the_rate_is_spent_from_the_first_look_on() {
    let of_few = (Looks::First, 11, 0.57, 0.5);
    for (looks, last, share, least) in [(Looks::All, 400, 1.0, 0.7), of_few] {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let walks = walks(2000);
        let p: Vec<f64> =
            (0..walks).map(|_| sequence::anytime_p(&normal(&mut rng, last), looks)).collect();
        for rate in RATES {
            let found = p.iter().filter(|p| **p <= rate).count();
            holds(found, walks, share * rate, least);
        }
    }
}

/// The t sequence at up to 11 values and the bets from then on, together.
#[test]
fn both_laws_together_keep_the_rate() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let walks = walks(200);
    let p: Vec<f64> = (0..walks)
        .map(|_| {
            let (nulls, d) = (normal(&mut rng, 8), normal(&mut rng, 200));
            let first = sequence::anytime_p(&d[..11], Looks::First);
            first.min(score::Sequence::new(&d, &nulls).anytime_p(0.0))
        })
        .collect();
    for rate in RATES {
        holds(p.iter().filter(|p| **p <= rate).count(), walks, rate, 0.5);
    }
}
