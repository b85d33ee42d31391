//! Plans and worlds as people write them: any text becomes a value or problems with their places,
//! and what was accepted can be gone on with.

use v6gap_core::family::Family;
use v6gap_core::plan::Plan;
use v6gap_core::schedule;
use v6gap_core::world::{Topology, World};
use v6gap_store::{PlanProblem, parse_plan, parse_world};

/// A plan file.
pub fn plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (draft, plan) = match parse_plan(text, 1, &mut |_| Ok(())) {
        Ok(read) => read,
        Err(problems) => return places(text, &problems),
    };
    // The same text is the same plan, and a journal keeps it.
    let again = parse_plan(text, 1, &mut |_| Ok(()));
    assert_eq!(again.ok().as_ref(), Some(&(draft, plan.clone())));
    let stored = serde_json::to_string(&plan).expect("a plan is JSON");
    assert_eq!(serde_json::from_str::<Plan>(&stored).ok().as_ref(), Some(&plan), "{stored}");
    for number in [0, 1, 2, 7] {
        for block in schedule::round(&plan, number) {
            let cell = &plan.cells[block.cell];
            assert_eq!(plan.cell(&cell.id).map(|(at, _)| at), Some(block.cell), "{}", cell.id);
            assert!(!cell.workload.metrics().is_empty());
        }
    }
}

/// A world file.
pub fn world(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (_, world) = match parse_world(text) {
        Ok(read) => read,
        Err(problems) => return places(text, &problems),
    };
    assert!(world.problems().is_empty(), "accepted with {:?}", world.problems());
    let stored = serde_json::to_string(&world).expect("a world is JSON");
    assert_eq!(serde_json::from_str::<World>(&stored).ok().as_ref(), Some(&world), "{stored}");
    let topology = Topology::of(&world);
    for node in 0..world.nodes.len() {
        for family in Family::BOTH {
            for end in topology.ends_of(node) {
                world.address(&topology, end, family);
            }
        }
        topology.routes(node);
    }
    assert!(!world.path().is_empty());
    drop(Family::BOTH.map(|family| (world.ways(family), world.on_path(family).len())));
}

/// A problem is told beside the place that it concerns, so the place must be one.
pub(crate) fn places(text: &str, problems: &[PlanProblem]) {
    assert!(!problems.is_empty(), "refused without a reason");
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
    for problem in problems {
        assert!((1..=lines).contains(&problem.line), "{problem:?}");
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
        assert!(!problem.what.is_empty());
    }
}
