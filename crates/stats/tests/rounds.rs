//! What the tests of whole runs find and how often they are wrong: simulated runs of questions
//! whose noise is partly their own and partly that of the round, with fixed seeds. The figures are
//! those of docs/method.md, section C.8.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use v6gap_stats::rounds::{self, Asked, Series};

const ALPHA: f64 = 0.05;
const QUESTIONS: usize = 10;
const RUNS: u64 = 200;

/// What a simulated run holds.
#[derive(Debug, Clone, Copy)]
struct World {
    rounds: usize,
    questions: usize,
    /// Share of the variance that all questions of a round have in common.
    shared: f64,
    /// A step in the middle, in standard deviations.
    step: f64,
    /// A rise over the run.
    drift: f64,
    /// A difference between the orders.
    order: f64,
    /// Whether it has the other sign in every second question.
    mixed: bool,
}

const QUIET: World = World {
    rounds: 8,
    questions: QUESTIONS,
    shared: 0.1,
    step: 0.0,
    drift: 0.0,
    order: 0.0,
    mixed: false,
};

struct Source(ChaCha8Rng);

impl Source {
    fn normal(&mut self) -> f64 {
        let mut uniform = || ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let (radius, turn) = (uniform(), uniform());
        (-2.0 * f64::ln(radius)).sqrt() * (std::f64::consts::TAU * turn).cos()
    }

    fn run(&mut self, world: World) -> Vec<Series> {
        let common: Vec<f64> = (0..world.rounds).map(|_| self.normal()).collect();
        let question = |cell: usize| {
            let mut first = false;
            let order = if world.mixed && cell % 2 == 1 { -world.order } else { world.order };
            let rounds = (0..world.rounds).map(|at| {
                // The first of two rounds throws the coin, the second turns it over.
                first = if at.is_multiple_of(2) { self.0.next_u32() & 1 == 0 } else { !first };
                let half = if at >= world.rounds / 2 { world.step } else { 0.0 };
                let rise = world.drift * at as f64 / (world.rounds - 1) as f64;
                let noise =
                    world.shared.sqrt() * common[at] + (1.0 - world.shared).sqrt() * self.normal();
                Some((noise + half + rise + if first { order } else { 0.0 }, first))
            });
            Series { cell, sign: 1.0, rounds: rounds.collect() }
        };
        (0..world.questions).map(question).collect()
    }
}

/// Share of the runs in which a change and an effect of the order are found.
fn found(world: World) -> [f64; 2] {
    let mut counts = [0.0; 2];
    for seed in 0..RUNS {
        let run = Source(ChaCha8Rng::seed_from_u64(seed)).run(world);
        let p = [rounds::change(&run).map_or(1.0, |c| c.p), rounds::order(&run).unwrap_or(1.0)];
        counts.iter_mut().zip(p).for_each(|(n, p)| *n += f64::from(u8::from(p <= ALPHA)));
    }
    counts.map(|n| n / RUNS as f64)
}

/// Three standard deviations above a rate.
fn at_most(rate: f64) -> f64 {
    rate + 3.0 * (rate * (1.0 - rate) / RUNS as f64).sqrt()
}

#[test]
fn quiet_runs_are_left_alone() {
    for (rounds, questions, shared) in
        [(8, 10, 0.0), (8, 10, 0.1), (8, 10, 0.5), (12, 10, 0.1), (24, 10, 0.1), (12, 1, 0.0)]
    {
        let world = World { rounds, questions, shared, ..QUIET };
        let found = found(world);
        println!("{rounds} rounds, {questions} questions, shared {shared}: {found:?}");
        assert!(found.iter().all(|f| *f <= at_most(ALPHA)), "{world:?} {found:?}");
    }
}

/// Each finds what it is for, and is not taken in by what the other is for.
#[test]
fn what_happens_to_the_host_is_found() {
    for (world, which, least) in [
        (World { step: 2.0, ..QUIET }, 0, 0.8),
        (World { step: 2.0, shared: 0.3, ..QUIET }, 0, 0.5),
        (World { drift: 4.0, ..QUIET }, 0, 0.8),
        (World { order: 1.0, ..QUIET }, 1, 0.8),
        (World { order: 1.0, shared: 0.3, ..QUIET }, 1, 0.8),
        (World { order: 2.0, mixed: true, ..QUIET }, 1, 0.5),
        (World { step: 1.0, rounds: 16, ..QUIET }, 0, 0.8),
    ] {
        let found = found(world);
        println!("{world:?}: {found:?}");
        assert!(found[which] >= least, "{world:?} {found:?}");
        assert!(found[1 - which] <= at_most(ALPHA), "{world:?} {found:?}");
    }
}

/// The size that a run says it would have seen is found in four of five such runs or more.
#[test]
fn what_would_have_been_seen_is() {
    for (rounds, questions) in [(8, 10), (12, 10), (24, 3)] {
        for (asked, which) in [(Asked::Step, 0), (Asked::Order, 1)] {
            let quiet = World { rounds, questions, ..QUIET };
            let sizes = (0..7).map(|seed| {
                let run = Source(ChaCha8Rng::seed_from_u64(seed)).run(quiet);
                rounds::seen_from(&run, asked, ALPHA).unwrap_or(f64::INFINITY)
            });
            let mut sizes: Vec<f64> = sizes.collect();
            sizes.sort_by(f64::total_cmp);
            let size = sizes[3];
            let with = match asked {
                Asked::Step => World { step: size, ..quiet },
                Asked::Order => World { order: size, ..quiet },
            };
            let found = found(with)[which];
            println!("{rounds} rounds, {questions} questions, {asked:?}: {sizes:.2?}: {found}");
            assert!((0.65..=0.98).contains(&found), "{with:?} {found}");
        }
    }
}
