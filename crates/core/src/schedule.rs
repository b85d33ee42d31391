//! From a plan to the order of its blocks: rounds in which every cell has its turn, shuffled, with
//! the order of the arms balanced in every two consecutive rounds.
//!
//! A round is a function of the plan's seed, its own number and how many blocks each cell has in
//! it, so a run that was broken off goes on exactly where it stopped.

use crate::arm::{BlockKind, TurnOrder};
use crate::family::Family;
use crate::plan::{Order, Plan};
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// A block to be measured: both arms of one cell next to each other in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Number of the round; round 0 holds the null blocks that come before the first comparison.
    pub round: u32,
    /// Index of the cell in the plan.
    pub cell: usize,
    /// What the block is for.
    pub kind: BlockKind,
    /// Which arm goes first.
    pub order: TurnOrder,
    /// Seed for source ports, payload and sizes of the block.
    pub seed: u64,
}

/// The blocks of round `number` in their order, one of each cell.
pub fn round(plan: &Plan, number: u32) -> Vec<Block> {
    round_of(plan, number, |_| 1)
}

/// The blocks of round `number` in their order, so many of the cell with each index as `count`
/// says; a cell without any has no null block either. In round 0 nothing is counted.
pub fn round_of(plan: &Plan, number: u32, count: impl Fn(usize) -> u32) -> Vec<Block> {
    let mut blocks = match number {
        0 => null_blocks(plan, 0, |cell| plan.design.null_blocks_of(cell)),
        _ => {
            let mut blocks = compare_blocks(plan, number, &count);
            if is_sentinel_round(plan, number) {
                blocks.extend(null_blocks(plan, number, |cell| count(cell).min(1)));
            }
            blocks
        }
    };
    let mut rng = generator(plan.seed, number, Purpose::Shuffle);
    if plan.design.order == Order::Random {
        shuffle(&mut blocks, &mut rng);
    }
    for block in &mut blocks {
        block.seed = rng.next_u64();
    }
    blocks
}

fn is_sentinel_round(plan: &Plan, number: u32) -> bool {
    plan.design.sentinel_every > 0 && number.is_multiple_of(plan.design.sentinel_every)
}

fn compare_blocks(plan: &Plan, number: u32, count: impl Fn(usize) -> u32) -> Vec<Block> {
    let block = |cell, place| Block {
        round: number,
        cell,
        kind: BlockKind::Compare,
        order: match plan.design.order {
            Order::Random => compare_order(plan.seed, number, cell, place),
            Order::Sequential => TurnOrder::Ab,
        },
        seed: 0,
    };
    let of_cell = |cell| (0..count(cell)).map(move |place| block(cell, place));
    (0..plan.cells.len()).flat_map(of_cell).collect()
}

/// Rounds 1 and 2, 3 and 4, … form pairs; a fair coin decides which of a pair starts with the
/// reference, so that each pair holds both orders (permuted blocks of two). Of several blocks of a
/// cell in a round, each next one begins with the other arm.
fn compare_order(seed: u64, number: u32, cell: usize, place: u32) -> TurnOrder {
    let pair = (number - 1) / 2;
    let mut rng = generator(seed, pair, Purpose::Order(cell));
    let first = if rng.next_u32() & 1 == 0 { TurnOrder::Ab } else { TurnOrder::Ba };
    let turned = (number - 1).wrapping_add(place);
    if turned.is_multiple_of(2) { first } else { first.reversed() }
}

fn null_blocks(plan: &Plan, number: u32, count: impl Fn(usize) -> u32) -> Vec<Block> {
    let arms = plan.design.arms;
    let mut blocks = Vec::new();
    // Single blocks of two families begin with different halves, and so do those of one family
    // after each other: an effect of going first must not look like one of the halves.
    let sentinels = number.checked_div(plan.design.sentinel_every).unwrap_or(0);
    for &cell in &plan.design.null_cells {
        let families = Family::BOTH.into_iter().filter(|f| arms.a == *f || arms.b == *f);
        for (family, other) in families.zip([0, 1]) {
            for i in 0..count(cell) {
                let turned = sentinels.wrapping_add(other).wrapping_add(i);
                let is_even = turned.is_multiple_of(2);
                let order = if is_even { TurnOrder::Ab } else { TurnOrder::Ba };
                let kind = BlockKind::Null(family);
                blocks.push(Block { round: number, cell, kind, order, seed: 0 });
            }
        }
    }
    blocks
}

enum Purpose {
    Shuffle,
    Order(usize),
}

fn generator(seed: u64, number: u32, purpose: Purpose) -> ChaCha12Rng {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let stream = match purpose {
        Purpose::Shuffle => 0,
        Purpose::Order(cell) => 1 + cell as u64,
    };
    rng.set_stream((stream << 32) | u64::from(number));
    rng
}

/// Fisher–Yates.
fn shuffle<T>(items: &mut [T], rng: &mut ChaCha12Rng) {
    for i in (1..items.len()).rev() {
        let j = (rng.next_u64() % (i as u64 + 1)) as usize;
        items.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::PerArm;
    use crate::plan::preset;
    use proptest::prelude::*;

    fn plan(seed: u64) -> Plan {
        preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), seed)
    }

    fn compares(blocks: &[Block]) -> Vec<Block> {
        blocks.iter().copied().filter(|b| b.kind == BlockKind::Compare).collect()
    }

    proptest! {
        /// Every round holds every cell once, and two consecutive rounds hold both orders of each.
        #[test]
        fn rounds_are_whole_and_balanced(seed: u64, pair in 0..50_u32) {
            let plan = plan(seed);
            let first = compares(&round(&plan, 2 * pair + 1));
            let second = compares(&round(&plan, 2 * pair + 2));
            for cell in 0..plan.cells.len() {
                let order = |blocks: &[Block]| {
                    let of: Vec<TurnOrder> =
                        blocks.iter().filter(|b| b.cell == cell).map(|b| b.order).collect();
                    (of.len(), of[0])
                };
                let (n, x) = order(&first);
                let (m, y) = order(&second);
                prop_assert_eq!((n, m), (1, 1));
                prop_assert_eq!(x, y.reversed());
            }
        }

        /// Cells may have several blocks, with either arm first as often in two rounds, or none.
        #[test]
        fn cells_have_as_many_blocks_as_they_are_given(seed: u64, pair in 0..50_u32) {
            let plan = plan(seed);
            let count = |cell: usize| cell as u32 % 4;
            let of = |n| compares(&round_of(&plan, 2 * pair + n, count));
            let both = [of(1), of(2)];
            for cell in 0..plan.cells.len() {
                for blocks in &both {
                    let found = blocks.iter().filter(|b| b.cell == cell).count();
                    prop_assert_eq!(found, count(cell) as usize);
                }
                let all = || both.iter().flatten().filter(|b| b.cell == cell);
                let first = all().filter(|b| b.order == TurnOrder::Ab).count();
                prop_assert_eq!(2 * first, all().count());
            }
        }

        /// A round depends on the seed and its number alone.
        #[test]
        fn rounds_can_be_made_again(seed: u64, number in 0..100_u32) {
            prop_assert_eq!(round(&plan(seed), number), round(&plan(seed), number));
        }
    }

    #[test]
    fn nulls_come_first_and_as_sentinels() {
        let plan = plan(1);
        let first = round(&plan, 0);
        assert!(compares(&first).is_empty());
        for &cell in &plan.design.null_cells {
            let of_cell = first.iter().filter(|block| block.cell == cell).count();
            assert_eq!(of_cell, 2 * plan.design.null_blocks_of(cell) as usize);
        }
        let nulls = |n| round(&plan, n).len() - plan.cells.len();
        let sentinel = plan.design.sentinel_every;
        assert_eq!(nulls(sentinel), 2 * plan.design.null_cells.len());
        assert_eq!(nulls(sentinel + 1), 0);
    }

    #[test]
    fn a_null_run_measures_one_family_only() {
        let plan = preset::first_look(PerArm::null(Family::V6), None, 1);
        let kinds: Vec<BlockKind> = round(&plan, 0).iter().map(|b| b.kind).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|k| *k == BlockKind::Null(Family::V6)));
    }

    #[test]
    fn the_order_of_cells_changes_from_round_to_round() {
        let plan = plan(1);
        let cells = |n| round(&plan, n).iter().map(|b| b.cell).collect::<Vec<_>>();
        assert!((1..8).any(|n| cells(n) != cells(n + 1)));
        let seeds = |n| round(&plan, n).iter().map(|b| b.seed).collect::<Vec<_>>();
        assert_ne!(seeds(1), seeds(2));
    }

    #[test]
    fn a_facsimile_keeps_the_order_of_the_plan() {
        let mut plan = plan(1);
        plan.parts_mut().design.order = Order::Sequential;
        for number in 1..8 {
            let blocks = compares(&round(&plan, number));
            assert!(blocks.iter().map(|b| b.cell).eq(0..plan.cells.len()));
            assert!(blocks.iter().all(|b| b.order == TurnOrder::Ab));
        }
    }

    /// The coin is fair: over many seeds about half of the first rounds start with the reference.
    #[test]
    fn the_first_order_is_a_coin() {
        let starts = (0..400).filter(|&seed| round(&plan(seed), 1)[0].order == TurnOrder::Ab);
        let count = starts.count();
        assert!((150..250).contains(&count), "{count} of 400");
    }
}
