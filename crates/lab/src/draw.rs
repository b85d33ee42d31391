//! What chance decides of how a lab is made, and no world says: in which order, and by which
//! numbers the kernel knows interfaces.
//!
//! Where the kernel puts namespaces, interfaces, addresses and routes in memory and in its tables
//! bears on how long a packet takes, for one family other than for the other, and stays the same as
//! long as a lab is up. It cannot be chosen; but no lab is made in the order of the last one, nor
//! always one family before the other.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_sys::{Unavailable, entropy};

/// Numbers of interfaces are drawn from here on, above those that every namespace begins with.
const FIRST_INDEX: u32 = 16;
/// So many numbers may be the first of a lab.
const FIRST_INDICES: u32 = 1 << 14;

/// The chance of one lab.
#[derive(Debug)]
pub(crate) struct Draw {
    rng: ChaCha12Rng,
    index: u32,
}

impl Draw {
    /// Unlike every other one.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new() -> Result<Self, Unavailable> {
        let mut rng = ChaCha12Rng::from_seed(entropy::bytes()?);
        let index = FIRST_INDEX + rng.next_u32() % FIRST_INDICES;
        Ok(Draw { rng, index })
    }

    /// The items in an order of which each is as likely (Fisher–Yates).
    pub fn shuffled<T>(&mut self, items: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut items: Vec<T> = items.into_iter().collect();
        for i in (1..items.len()).rev() {
            items.swap(i, (self.rng.next_u64() % (i as u64 + 1)) as usize);
        }
        items
    }

    /// The number of another interface, which no other one of the lab has.
    pub fn index(&mut self) -> u32 {
        self.index += 1;
        self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_comes_up_and_nothing_is_lost() {
        let mut draw = Draw::new().unwrap();
        let orders: BTreeSet<Vec<u8>> = (0..1_000).map(|_| draw.shuffled(0..3)).collect();
        // Each is missing with a probability of (5/6)^1000.
        assert_eq!(orders.len(), 6);
        for order in &orders {
            assert_eq!(BTreeSet::from_iter(order), BTreeSet::from_iter(&[0, 1, 2]));
        }
    }

    #[test]
    fn interfaces_have_numbers_of_their_own() {
        let mut draw = Draw::new().unwrap();
        let all: BTreeSet<u32> = (0..128).map(|_| draw.index()).collect();
        assert_eq!(all.len(), 128);
        assert!(all.iter().all(|&index| index > FIRST_INDEX));
    }
}
