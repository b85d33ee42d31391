//! Large messages over a slow line: they take a run no longer than small ones may.

use crate::run;
use v6gap_core::plan::check;
use v6gap_core::plan::draft::{Draft, Lab, Levels, Measure, VERSION};
use v6gap_core::world::draft as world_draft;
use v6gap_judge::analysis::Verdict;

/// Hosts at 100 Mbit/s, and 10 Mbit/s between three routers.
const WORLD: &str = include_str!("../../../../worlds/three-routers.toml");

/// The time that the run may take, in ns.
const TIME_NS: u64 = 90_000_000_000;

/// Seeds that are tried.
const SEEDS: u64 = 3;

#[test]
fn six_sizes_up_to_56_kib_over_three_routers_are_answered_within_90_s() {
    let draft: world_draft::Draft = toml::from_str(WORLD).expect("a world file");
    let world = world_draft::world(&draft).expect("a world");
    let sizes = ["64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "56 KiB"];
    let measure = Measure {
        metric: "rtt".to_owned(),
        message: Some(Levels::Many(sizes.map(str::to_owned).to_vec())),
        ..Measure::default()
    };
    let lab = Lab { made: Some(world.clone()), ..Lab::default() };
    let draft =
        Draft { v6gap: VERSION, lab: Some(lab), measure: vec![measure], ..Draft::default() };
    for seed in 1..=SEEDS {
        let plan = check::check(&draft, seed).expect("a plan");
        let found = run::simulate(&plan, &world, None, seed);
        let seconds = found.span_ns as f64 / 1e9;
        assert_eq!(found.questions.len(), sizes.len());
        for q in &found.questions {
            let answered = !matches!(q.verdict, Verdict::CannotTell | Verdict::None);
            assert!(answered, "{seed}: {} after {seconds} s", q.sentence);
        }
        assert!(found.span_ns <= TIME_NS, "{seed}: {seconds} s");
    }
}
