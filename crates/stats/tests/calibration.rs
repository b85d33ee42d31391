//! Do the methods keep their promises? Every test draws many samples from a known world with a
//! fixed seed and counts mistakes. A count may exceed the promised rate by three binomial standard
//! deviations of the number of samples, no more; exact coverage must also not fall short of it by
//! more than that.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use v6gap_stats::batch::{self, Batches};
use v6gap_stats::sequence::Looks;
use v6gap_stats::two_runs::{self, Law, Run};
use v6gap_stats::{Alternative, Estimate, bootstrap, drift, equivalence, modes, paired_t};
use v6gap_stats::{power, repeats, score, sequence, signed_rank, summary, trend};

/// Samples per world where one sample costs one interval.
const FIXED: usize = 4000;
/// Samples per world where one sample costs an interval at every n.
const WALKS: usize = 600;

/// Worlds symmetric about zero with standard deviation 1.
#[derive(Debug, Clone, Copy)]
enum World {
    Normal,
    Laplace,
    Bimodal,
}

const WORLDS: [World; 3] = [World::Normal, World::Laplace, World::Bimodal];

struct Source(ChaCha8Rng);

impl Source {
    fn new(seed: u64) -> Self {
        Source(ChaCha8Rng::seed_from_u64(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn value(&mut self, world: World) -> f64 {
        let side = if self.uniform() < 0.5 { -1.0 } else { 1.0 };
        match world {
            World::Normal => self.normal(),
            World::Laplace => -side * self.uniform().ln() / 2_f64.sqrt(),
            // Two modes at -1 and 1, each with a standard deviation of 0.1.
            World::Bimodal => (side + 0.1 * self.normal()) / 1.01_f64.sqrt(),
        }
    }

    fn sample(&mut self, world: World, n: usize, centre: f64) -> Vec<f64> {
        (0..n).map(|_| centre + self.value(world)).collect()
    }
}

/// Three standard deviations of a share counted in `times` samples.
fn slack(rate: f64, times: usize) -> f64 {
    3.0 * (rate * (1.0 - rate) / times as f64).sqrt()
}

/// Share of `times` samples of `n` values about `centre` for which `event` holds.
fn share(world: World, n: usize, centre: f64, times: usize, event: impl Fn(&[f64]) -> bool) -> f64 {
    let mut source = Source::new(0x5eed ^ n as u64);
    (0..times).filter(|_| event(&source.sample(world, n, centre))).count() as f64 / times as f64
}

#[test]
fn signed_rank_interval_covers_at_its_stated_level() {
    for world in WORLDS {
        for n in [8, 20] {
            let level = signed_rank::critical_rank(n, 0.05).1;
            let found = share(world, n, 0.7, FIXED, |d| {
                signed_rank::hodges_lehmann(d, 0.05).interval.contains(0.7)
            });
            let bound = slack(level, FIXED);
            assert!((found - level).abs() <= bound, "{world:?} {n}: {found} not {level} ± {bound}");
        }
    }
}

#[test]
fn t_interval_covers() {
    for world in WORLDS {
        let found =
            share(world, 20, 0.7, FIXED, |d| paired_t::t_interval(d, 0.05).interval.contains(0.7));
        // Exact for the normal; the other two differ by less than 1 % at n = 20.
        let off = if matches!(world, World::Normal) { 0.0 } else { 0.01 };
        assert!((found - 0.95).abs() <= off + slack(0.05, FIXED), "{world:?}: {found}");
    }
}

#[test]
fn tests_raise_false_alarms_at_their_rate() {
    for world in WORLDS {
        let found = share(world, 12, 0.0, FIXED, |d| {
            signed_rank::wilcoxon_p(d, Alternative::TwoSided) <= 0.05
        });
        assert!(found <= 0.05 + slack(0.05, FIXED), "{world:?}: {found}");
        assert!(found >= 0.03, "{world:?}: {found} wastes its error rate");
    }
}

/// Share of walks that see an interval without the truth at any n from 8 to 200, looking after
/// every pair.
fn ever_misses(world: World, method: impl Fn(&[f64]) -> Estimate) -> f64 {
    let mut source = Source::new(0xace);
    let missed = |d: Vec<f64>| (8..=200).step_by(2).any(|n| method(&d[..n]).interval.excludes(0.7));
    let misses = (0..WALKS).filter(|_| missed(source.sample(world, 200, 0.7))).count();
    misses as f64 / WALKS as f64
}

#[test]
fn sequences_never_miss_more_often_than_alpha() {
    for world in WORLDS {
        let found = ever_misses(world, |d| sequence::t_sequence(d, 0.05, Looks::All));
        assert!(found <= 0.05 + slack(0.05, WALKS), "{world:?}: {found}");
    }
}

/// Share of walks in which the evidence against the true centre is ever enough. Null values with a
/// hundredth or a hundred times the noise cost width, not validity.
#[test]
fn bets_on_scores_win_at_their_rate_whatever_the_law_and_the_scale() {
    for (world, noise) in WORLDS.into_iter().zip([0.01, 1.0, 100.0]) {
        let nulls: [f64; 6] = [-0.8, 0.4, 1.1, -0.3, 0.1, -1.2].map(|x: f64| x * noise);
        let found = share(world, 100, 0.7, WALKS, |d| {
            score::Sequence::new(d, &nulls).anytime_p(0.7) <= 0.05
        });
        assert!(found <= 0.05 + slack(0.05, WALKS), "{world:?}: {found}");
        let other = share(world, 100, 0.7, WALKS, |d| {
            score::Sequence::new(d, &nulls).anytime_p(0.0) <= 0.05
        });
        assert!(other > 0.8, "{world:?}: {other}");
    }
}

/// The reason for the sequences: an interval for a fixed n, looked at again and again, misses far
/// more often than it says. If this fails, the test above proves nothing.
#[test]
fn repeated_looks_break_a_fixed_interval() {
    let found = ever_misses(World::Normal, |d| paired_t::t_interval(d, 0.05));
    assert!(found > 0.2, "{found}");
}

#[test]
fn anytime_p_value_is_valid() {
    let found =
        share(World::Normal, 60, 0.0, WALKS, |d| sequence::anytime_p(d, Looks::All) <= 0.05);
    assert!(found <= 0.05 + slack(0.05, WALKS), "{found}");
}

#[test]
fn equivalence_is_rarely_claimed_at_the_margin() {
    for world in WORLDS {
        let found = share(world, 20, 2.0, FIXED, |d| equivalence::tost_wilcoxon(d, 2.0) <= 0.05);
        assert!(found <= 0.05 + slack(0.05, FIXED), "wilcoxon {world:?}: {found}");
        let walk = share(world, 60, 2.0, WALKS, |d| {
            (8..=60)
                .step_by(2)
                .any(|n| sequence::t_sequence(&d[..n], 0.10, Looks::All).interval.within(-2.0, 2.0))
        });
        assert!(walk <= 0.05 + slack(0.05, WALKS), "sequence {world:?}: {walk}");
    }
}

#[test]
fn planned_blocks_give_the_planned_power() {
    for delta in [0.6, 1.0] {
        let n = power::blocks_for_equivalence(1.0, delta, 0.05);
        // Both one-sided tests at 5 % reject where the range at 10 % lies inside.
        let found = share(World::Normal, n, 0.0, FIXED, |d| {
            paired_t::t_interval(d, 0.10).interval.within(-delta, delta)
        });
        assert!(found >= 0.8 - slack(0.8, FIXED), "equivalence {delta}: {found}");
        let detectable = power::smallest_detectable(n, 1.0, 0.05);
        let found = share(World::Normal, n, detectable, FIXED, |d| {
            paired_t::t_interval(d, 0.05).interval.excludes(0.0)
        });
        assert!((found - 0.8).abs() <= slack(0.8, FIXED), "difference {detectable}: {found}");
    }
}

#[test]
fn order_effects_are_claimed_at_their_rate() {
    let found = share(World::Laplace, 30, 0.0, FIXED, |d| {
        drift::welch_order_test(&d[..15], &d[15..]).is_some_and(|w| w.p < 0.05)
    });
    assert!(found <= 0.05 + slack(0.05, FIXED), "{found}");
}

#[test]
fn bootstrap_covers_the_mean_of_a_skewed_sample() {
    let (times, mut source) = (200, Source::new(11));
    let mut covered = 0;
    for _ in 0..times {
        // Exponential with mean 1, skewness 2.
        let x: Vec<f64> = (0..40).map(|_| -source.uniform().ln()).collect();
        let mean = |units: &[usize]| units.iter().map(|&i| x[i]).sum::<f64>() / 40.0;
        let joint = bootstrap::Joint::new(x.len(), mean, 400, || source.0.next_u64());
        let b = joint.interval(|mean| *mean, 0.05);
        covered += u32::from(b.estimate.interval.contains(1.0));
    }
    // Known to fall a little short at n = 40: 93 % is typical for this world.
    let found = f64::from(covered) / times as f64;
    assert!((found - 0.93).abs() <= slack(0.07, times), "{found}");
}

/// Shares of `times` p-values below 5 and 1 %.
fn alarms(times: usize, mut p: impl FnMut() -> f64) -> [(f64, f64); 2] {
    let found: Vec<f64> = (0..times).map(|_| p()).collect();
    [0.05, 0.01].map(|rate| {
        let below = found.iter().filter(|p| **p < rate).count();
        (rate, below as f64 / times as f64)
    })
}

/// The signs of drift, dependence and modes are found at their rate where there is nothing.
#[test]
fn guards_are_silent_where_nothing_is_wrong() {
    type Test = fn(&[f64]) -> f64;
    let tests: [(&str, Test, f64); 4] = [
        ("step", |d| trend::pettitt(d).p, 1.0),
        ("trend", |d| trend::mann_kendall(d).p, 1.0),
        ("lag 1", |d| batch::lag1_p(drift::lag1_autocorrelation(d), d.len()), 1.3),
        ("modes", |d| modes::dip_p(modes::dip(d), d.len()), 1.0),
    ];
    let times = FIXED / 2;
    for world in [World::Normal, World::Laplace] {
        for n in [8, 30] {
            let mut source = Source::new(0x9a ^ n as u64);
            let samples: Vec<Vec<f64>> = (0..times).map(|_| source.sample(world, n, 0.3)).collect();
            for (name, p, allowed) in tests {
                let mut each = samples.iter();
                for (rate, found) in alarms(times, || each.next().map_or(1.0, |d| p(d))) {
                    let bound = allowed * rate + slack(rate, times);
                    assert!(found <= bound, "{name} {world:?} {n}: {found} at {rate}");
                }
            }
        }
    }
}

#[test]
fn uniform_values_dip_at_the_stated_rate() {
    let mut source = Source::new(77);
    for n in [8, 25, 70] {
        let found = alarms(FIXED, || {
            let x: Vec<f64> = (0..n).map(|_| source.uniform()).collect();
            modes::dip_p(modes::dip(&x), n)
        });
        for (rate, found) in found {
            assert!((found - rate).abs() <= slack(rate, FIXED) + 0.002, "{n} {rate}: {found}");
        }
    }
}

/// Neighbours that resemble each other: found, and merged into batches or given up.
#[test]
fn dependence_is_found_and_merged() {
    let mut source = Source::new(5);
    let mut series = |n: usize, r: f64| -> Vec<f64> {
        let mut at = source.normal();
        let step = (1.0 - r * r).sqrt();
        (0..n)
            .map(|_| {
                at = r * at + step * source.normal();
                at
            })
            .collect()
    };
    let (mut found, mut merged, times) = (0, 0, 400);
    for _ in 0..times {
        match batch::batches(&series(96, 0.6), 0.01, 0.05) {
            Batches::Independent => {}
            Batches::Merged { means, .. } => {
                assert!(means.len() >= batch::BATCHES_MIN);
                (found, merged) = (found + 1, merged + 1);
            }
            Batches::Remains { .. } => found += 1,
        }
    }
    assert!(found > times * 95 / 100, "{found}");
    assert!(merged > found / 2, "{merged} of {found}");
}

#[test]
fn the_trimmed_mean_covers_and_the_naive_interval_does_not() {
    let trimmed = share(World::Normal, 10, 0.7, FIXED, |d| {
        repeats::trimmed_mean(d, 1, 0.05).estimate.interval.contains(0.7)
    });
    assert!((trimmed - 0.945).abs() <= slack(0.05, FIXED), "{trimmed}");
    let naive = share(World::Normal, 10, 0.7, FIXED, |d| {
        let mut order = d.to_vec();
        order.sort_by(f64::total_cmp);
        paired_t::t_interval(&order[1..9], 0.05).interval.contains(0.7)
    });
    assert!((naive - 0.893).abs() <= slack(0.107, FIXED), "{naive}");
}

/// Three chosen for agreement look more certain than they are.
#[test]
fn three_of_five_are_less_than_five() {
    let mut source = Source::new(9);
    let mut squares = 0.0;
    for _ in 0..FIXED {
        let runs: [f64; 5] = std::array::from_fn(|_| source.normal());
        squares += repeats::three_of_five(runs).expect("finite").mean.powi(2);
    }
    let sd = (squares / FIXED as f64).sqrt();
    assert!((sd - 0.70).abs() < 0.03, "{sd}");
}

/// Two runs of unequal noise, each stopped by whoever looked after every pair and liked what was
/// seen: the first when its mean looked high, the second when it looked low.
fn ever_changed(world: World, times: usize, law: Law) -> f64 {
    let mut source = Source::new(0xcafe);
    let mut stopped = |side: f64, noise: f64| -> Run {
        let d: Vec<f64> = source.sample(world, 60, 0.0).iter().map(|x| noise * x).collect();
        let enough = |n: &usize| {
            let welcome = side * summary::mean(&d[..*n]);
            welcome > 2.0 * summary::sd(&d[..*n]) / (*n as f64).sqrt()
        };
        let n = (8..60).step_by(2).find(enough).unwrap_or(60);
        Run::new(&d[..n], law)
    };
    let changed = (0..times).filter(|_| {
        let (first, second) = (stopped(1.0, 1.0), stopped(-1.0, 0.4));
        two_runs::change(&first, &second, 0.05).excludes(0.0)
    });
    changed.count() as f64 / times as f64
}

#[test]
fn the_change_between_stopped_runs_covers() {
    for world in WORLDS {
        let found = ever_changed(world, WALKS, Law::Normal);
        assert!(found <= 0.05 + slack(0.05, WALKS), "{world:?}: {found}");
    }
    // Why the interval for fixed sizes will not do: if this fails, the above proves nothing.
    let fixed = ever_changed(World::Normal, WALKS, Law::Fixed);
    assert!(fixed > 0.10, "{fixed}");
}

#[test]
fn the_change_between_fixed_runs_covers_at_its_rate() {
    for world in WORLDS {
        let mut source = Source::new(0xbeef);
        let missed = (0..FIXED).filter(|_| {
            let first = Run::new(&source.sample(world, 12, 3.0), Law::Fixed);
            let wide: Vec<f64> = source.sample(world, 20, 0.0).iter().map(|x| 3.0 * x).collect();
            let second = Run::new(&wide, Law::Fixed);
            two_runs::change(&first, &second, 0.05).excludes(-3.0)
        });
        let found = missed.count() as f64 / FIXED as f64;
        let off = if matches!(world, World::Normal) { 0.003 } else { 0.01 };
        assert!((found - 0.05).abs() <= off + slack(0.05, FIXED), "{world:?}: {found}");
    }
}
