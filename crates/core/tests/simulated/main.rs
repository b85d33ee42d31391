//! A fleet over a simulated network, with every process dying, sleeping and being cut off, clocks
//! that go and are set wrong, keys that expire early and disks that fill: what is guaranteed holds
//! after every event, and whoever takes one of its supports away is found out.
//!
//! | | |
//! |---|---|
//! | G1 | no host is in two measurements |
//! | G2 | no link is in two exclusive ones |
//! | G3 | no completed block is lost |
//! | G4 | none is counted twice |
//! | G5 | whoever was replaced grants nothing, and no order of the past is obeyed |
//! | G6 | once all faults end, every path is measured again |
//!
//! Every simulation is a function of its seed. A failing test says how to repeat it: `V6GAP_SEED=N
//! cargo test --profile ci -p v6gap-core --test simulated`, with `V6GAP_BUG` for one with a planted
//! fault, which prints what happened last. By day 1,000 seeds, with `V6GAP_FULL=1` 100,000.

mod agents;
mod archive;
mod broker;
mod bug;
mod children;
mod clock;
mod coordinators;
mod faults;
mod oracle;
mod process;
mod random;
mod successor;
mod table;
mod world;

use bug::Bug;
use std::sync::atomic::{AtomicU64, Ordering};
use world::{FAULTS_MIN, JOBS_MIN, World};

/// Seeds within which a planted fault must be found.
const FOUND_WITHIN: u64 = 1_000;

/// Lines of what happened that a failing simulation shows.
const SHOWN: usize = 60;

fn is_night() -> bool {
    std::env::var_os("V6GAP_FULL").is_some()
}

/// Runs one, and says what did not hold.
fn simulate(seed: u64, bug: Option<Bug>) -> Result<(), String> {
    let mut world = World::new(seed, bug, false);
    world.run()?;
    let (jobs, faults) = (world.broker.granted.len(), world.faults);
    assert!(jobs >= JOBS_MIN && faults >= FAULTS_MIN, "seed {seed}: {jobs} jobs, {faults} faults");
    Ok(())
}

/// What happened last in one that fails.
fn story(seed: u64, bug: Option<Bug>, broken: &str) -> String {
    let mut world = World::new(seed, bug, true);
    assert_eq!(world.run(), Err(broken.to_string()), "seed {seed} is no function of its seed");
    let trace = world.trace.unwrap_or_default();
    let last = trace[trace.len().saturating_sub(SHOWN)..].join("\n");
    let with = bug.map_or_else(String::new, |bug| format!(" V6GAP_BUG={bug:?}"));
    format!(
        "{last}\n{broken}\nagain: V6GAP_SEED={seed}{with} \
         cargo test --profile ci -p v6gap-core --test simulated -- guarantees_hold"
    )
}

/// The lowest seed below `count` that `stops` says something of, over all processors.
fn first(count: u64, stops: impl Fn(u64) -> Option<String> + Sync) -> Option<(u64, String)> {
    let next = AtomicU64::new(0);
    let look = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return None;
            }
            if let Some(found) = stops(seed) {
                // Nobody needs to look any further.
                next.store(count, Ordering::Relaxed);
                return Some((seed, found));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(look)).collect();
        let found = all.into_iter().filter_map(|one| one.join().expect("a simulation panicked"));
        found.min_by_key(|(seed, _)| *seed)
    })
}

#[test]
fn guarantees_hold() {
    let chosen = std::env::var("V6GAP_SEED").ok().map(|text| text.parse().expect("a number"));
    if let Some(seed) = chosen {
        let name = std::env::var("V6GAP_BUG").ok();
        let bug = name.map(|name| {
            let found = Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == name);
            found.expect("a bug's name")
        });
        if let Err(broken) = simulate(seed, bug) {
            panic!("{}", story(seed, bug, &broken));
        }
        return;
    }
    let count = if is_night() { 100_000 } else { FOUND_WITHIN };
    if let Some((seed, broken)) = first(count, |seed| simulate(seed, None).err()) {
        panic!("{}", story(seed, None, &broken));
    }
}

/// Each planted fault breaks what it must break, and so the guarantees above are looked at.
#[test]
fn planted_faults_are_found() {
    for bug in Bug::ALL {
        let found = first(FOUND_WITHIN, |seed| {
            let broken = simulate(seed, Some(bug)).err()?;
            bug.breaks().iter().any(|name| broken.starts_with(name)).then_some(broken)
        });
        let (seed, broken) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        println!("{bug:?}: seed {seed}: {broken}");
    }
}
