//! Runs of one set-up that scatter beyond what their blocks explain: whether the next is where it
//! is said to be, and how often two of them are said to differ.

use super::runs::{Noise, Source, World, run};
use v6gap_core::plan::Stop;
use v6gap_judge::analysis::alike::{Known, found, moments, next};
use v6gap_judge::analysis::compare::{Compared, Of, compare};
use v6gap_judge::analysis::{Analysis, Range, Verdict};

/// Standard deviation of a run's estimate by its blocks, and from run to run, as logarithms.
const WITHIN: f64 = 0.0011;
const BETWEEN: f64 = 0.0015;

const PAIRS: u32 = 24;

/// Sets of runs: the shares below are promised to a percentage point or so, at night.
fn sets() -> u32 {
    super::count(200, 1000)
}

/// Runs measured once for all sets; each set moves those that it draws from here.
fn runs_measured() -> u64 {
    u64::from(super::count(100, 300))
}

fn measured() -> Vec<Analysis> {
    let world = World {
        noise: Noise::Normal,
        sd: WITHIN * f64::from(PAIRS).sqrt(),
        truth: 0.0,
        stop: Stop::Pairs { pairs: PAIRS },
        blocks_max: u64::from(PAIRS),
        nulls: 4,
    };
    // The guards take the verdict of one in a hundred, which says nothing then.
    let says = |run: &Analysis| run.valid && run.questions[0].verdict != Verdict::None;
    (0..runs_measured()).map(|seed| run(&world, seed)).filter(says).collect()
}

/// Draws runs of a set-up, each moved by what is between runs.
struct SetUp {
    measured: Vec<Analysis>,
    source: Source,
    drawn: usize,
}

impl SetUp {
    fn new(seed: u64) -> Self {
        SetUp { measured: measured(), source: Source::new(seed), drawn: 0 }
    }

    /// The next run, as if its second arm had been so much longer all through.
    fn draw(&mut self) -> Analysis {
        self.drawn += 1;
        let by = BETWEEN * self.source.normal();
        let at = (self.source.uniform() * self.measured.len() as f64) as usize;
        let mut run = self.measured[at].clone();
        run.run.id = format!("r{:05}", self.drawn).parse().expect("letters and digits");
        run.questions.truncate(1);
        let moved = |x: f64| (x.ln_1p() + by).exp_m1();
        let range = |r: Range| Range { low: moved(r.low), high: moved(r.high) };
        for q in &mut run.questions {
            for pair in &mut q.pairs {
                pair.values.b *= by.exp();
            }
            if let Some(effect) = &mut q.effect {
                effect.estimate = moved(effect.estimate);
                effect.range95 = range(effect.range95);
                effect.range90 = range(effect.range90);
            }
        }
        run
    }
}

/// Three standard deviations of a share of the sets.
fn slack(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / f64::from(sets())).sqrt()
}

#[test]
fn the_seventh_run_is_where_six_say() {
    let mut set_up = SetUp::new(71);
    let mut held = 0;
    for _ in 0..sets() {
        let found: Vec<_> = (0..7)
            .map(|_| {
                let run = set_up.draw();
                let (q, stop) = (&run.questions[0], &run.run.plan.design.stop);
                found(moments(q, Of::Difference, stop, 3).expect("blocks enough"))
            })
            .collect();
        let (_, range) = next(&found[..6], found[5]).expect("runs enough");
        held += u32::from(range.contains(found[6].estimate));
    }
    let share = f64::from(held) / f64::from(sets());
    println!("the range of any run like it holds the seventh in {:.1} % of sets", 100.0 * share);
    assert!((share - 0.95).abs() <= slack(0.95), "{share}");
}

/// Nothing but scatter lies between the two: by their own blocks they differ far too often, with
/// what five others say they do not.
#[test]
fn two_runs_of_one_set_up_seldom_differ_where_their_scatter_is_known() {
    let mut set_up = SetUp::new(72);
    let (mut known, mut unknown) = (0, 0);
    for _ in 0..sets() {
        let runs = [set_up.draw(), set_up.draw()];
        let compared = [&runs[0], &runs[1]].map(|analysis| Compared { analysis, lines: &[] });
        let others: Vec<Known> =
            (0..5).map(|_| Known::of(&set_up.draw(), &[]).expect("valid")).collect();
        let differs = |stored: &[Known]| {
            let found = compare(&compared, stored).expect("alike");
            let change = &found.rows[0].against[0].changes[0];
            assert_eq!(
                (change.of, change.runs_like.is_some()),
                (Of::Difference, !stored.is_empty())
            );
            let range = change.effect.as_ref().expect("blocks enough").range95;
            u32::from(range.low > 0.0 || range.high < 0.0)
        };
        known += differs(&others);
        unknown += differs(&[]);
    }
    let share = |count: u32| f64::from(count) / f64::from(sets());
    println!(
        "no change is called one in {:.1} % of sets with, in {:.1} % without a known scatter",
        100.0 * share(known),
        100.0 * share(unknown)
    );
    assert!(share(known) <= 0.05 + slack(0.05), "{known}");
    // The same sets must be able to show what is wrong without it.
    assert!(share(unknown) > 0.15, "{unknown}");
}
