//! How long nobody leads when the one that did is gone.

use crate::world::{SECOND, World};

/// How many are looked at: clocks, and when it happens, are others in each.
const SEEDS: u64 = 200;

/// Jobs that were granted before.
const BEFORE: usize = 20;

/// Longest that nobody leads, in ns. The rest of ten seconds is for a real broker to tell what
/// there is, and for the first measurement to begin.
const LONGEST_NS: u64 = 15 * SECOND / 2;

/// Which coordinator leads.
fn leader(world: &World) -> Option<usize> {
    world.coordinators.iter().position(|node| node.process.machine.leads())
}

#[test]
fn another_one_leads_soon_after_the_first_dies_or_sleeps() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None, false);
        world.calm();
        let gone_ns =
            world.until(|world| world.broker.granted.len() >= BEFORE && leader(world).is_some());
        let at = leader(&world).expect("one that leads");
        match seed % 2 {
            0 => world.crash_coordinator(at),
            _ => world.coordinators[at].process.sleep(Vec::new()),
        }
        let leads = |world: &World| world.coordinators[1 - at].process.machine.leads();
        assert!(!leads(&world), "seed {seed}: both lead");
        let took_ns = world.until(leads) - gone_ns;
        assert!(took_ns <= LONGEST_NS, "seed {seed}: {took_ns} ns");
    }
}
