//! Who is let go when too many connections have not yet shown what they are for.
//!
//! Each weighs something: itself, and what is kept of what it said. When all weigh too much, the
//! network that weighs most loses one: by its wide network first, so that a flood from many
//! addresses of one range pushes out itself, then by its near one, and there the connection that
//! has not come further for longest. A client that does its part goes on with every answer, so
//! among equals from its own address it is never the first to go.

use super::origin::Origin;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;

/// Most that all connections may weigh: twice as many as one task may open at a time by default.
pub const WEIGHT_MAX: usize = 256;

/// So many bytes kept weigh as much as one more connection.
const KEPT_BYTES: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Guest<Id> {
    id: Id,
    origin: Origin,
    /// Grows with each step that any connection makes; that of its own last one.
    step: u64,
    weight: usize,
}

/// The connections in the lobby, named by whatever the caller tells them apart with.
#[derive(Debug, Clone)]
pub struct Lobby<Id> {
    guests: Vec<Guest<Id>>,
    /// What each wide network weighs, and each near one, so that nobody has to add them up for
    /// every connection of a flood.
    wide: BTreeMap<IpAddr, usize>,
    near: BTreeMap<IpAddr, usize>,
    steps: u64,
}

impl<Id> Default for Lobby<Id> {
    fn default() -> Self {
        let (wide, near) = (BTreeMap::new(), BTreeMap::new());
        Lobby { guests: Vec::new(), wide, near, steps: 0 }
    }
}

impl<Id: Copy + PartialEq> Lobby<Id> {
    /// A connection from `address` has come. Ask [`Lobby::crowded_out`] afterwards.
    pub fn enter(&mut self, id: Id, address: IpAddr) {
        let (step, origin) = (self.step(), Origin::of(address));
        self.guests.push(Guest { id, origin, step, weight: 1 });
        self.weigh(origin, 0, 1);
    }

    /// A connection has come one step further, of which there are few.
    pub fn advance(&mut self, id: Id) {
        let step = self.step();
        if let Some(guest) = self.guests.iter_mut().find(|guest| guest.id == id) {
            guest.step = step;
        }
    }

    /// So many bytes are kept for a connection. Ask [`Lobby::crowded_out`] afterwards.
    pub fn keeps(&mut self, id: Id, bytes: usize) {
        if let Some(guest) = self.guests.iter_mut().find(|guest| guest.id == id) {
            let (origin, before) = (guest.origin, guest.weight);
            guest.weight = 1 + bytes / KEPT_BYTES;
            let after = guest.weight;
            self.weigh(origin, before, after);
        }
    }

    /// A connection is no longer in the lobby.
    pub fn leave(&mut self, id: Id) {
        if let Some(position) = self.guests.iter().position(|guest| guest.id == id) {
            self.remove(position);
        }
    }

    /// The next connection that has to go, if there are too many. It has left.
    pub fn crowded_out(&mut self) -> Option<Id> {
        if self.wide.values().sum::<usize>() <= WEIGHT_MAX {
            return None;
        }
        let crowd = |guest: &Guest<Id>| {
            let Origin { near, wide } = guest.origin;
            (self.wide.get(&wide), self.near.get(&near), Reverse(guest.step))
        };
        let all = self.guests.iter().enumerate();
        let (position, _) = all.max_by_key(|(_, guest)| crowd(guest))?;
        Some(self.remove(position))
    }

    fn remove(&mut self, position: usize) -> Id {
        let Guest { id, origin, weight, .. } = self.guests.swap_remove(position);
        self.weigh(origin, weight, 0);
        id
    }

    /// A connection of `origin` weighs `after` in place of `before`.
    fn weigh(&mut self, origin: Origin, before: usize, after: usize) {
        let Origin { near, wide } = origin;
        change(&mut self.wide, wide, before, after);
        change(&mut self.near, near, before, after);
    }

    fn step(&mut self) -> u64 {
        self.steps += 1;
        self.steps
    }
}

/// What weighs nothing is not kept.
fn change(weights: &mut BTreeMap<IpAddr, usize>, key: IpAddr, before: usize, after: usize) {
    match weights.entry(key) {
        Entry::Occupied(mut weight) if *weight.get() + after > before => {
            *weight.get_mut() = *weight.get() + after - before;
        }
        Entry::Occupied(weight) => drop(weight.remove()),
        Entry::Vacant(room) => drop(room.insert(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn four(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    /// Lets connections in from each of these and returns who went, in their order.
    fn flood(lobby: &mut Lobby<u32>, from: impl Iterator<Item = IpAddr>) -> Vec<u32> {
        let mut gone = Vec::new();
        for (id, address) in (1000..).zip(from) {
            lobby.enter(id, address);
            gone.extend(lobby.crowded_out());
        }
        gone
    }

    #[test]
    fn a_flood_from_one_range_pushes_out_itself() {
        let six = |n: u128| IpAddr::V6(((0x2001_0db8_0001_u128 << 80) | (n << 64) | 1).into());
        let honest = [four(0xc000_0201), IpAddr::V6((0x2001_0db8_0002_u128 << 80).into())];
        let mut lobby = Lobby::default();
        for (id, address) in (0..).zip(honest) {
            lobby.enter(id, address);
        }
        // Every address of a /24, and as many /64s of a /48.
        let from = (0..1000).flat_map(|n| [four(0xcb00_7100 | (n & 0xff)), six(u128::from(n))]);
        let gone = flood(&mut lobby, from);
        assert_eq!(gone.len(), 2002 - WEIGHT_MAX);
        assert!(gone.iter().all(|id| *id >= 1000), "an honest one went");
    }

    #[test]
    fn who_goes_on_outlives_those_of_its_own_address_who_do_not() {
        let mut lobby = Lobby::default();
        let address = four(0x0a00_0001);
        lobby.enter(0, address);
        for id in 1..10_000 {
            lobby.enter(id, address);
            if id % 200 == 0 {
                lobby.advance(0);
            }
            assert_ne!(lobby.crowded_out(), Some(0), "after {id} others");
        }
    }

    #[test]
    fn of_networks_that_weigh_alike_who_has_stood_still_for_longest_goes() {
        // Each of a /64 of its own in one /48; the address says nothing of whose turn it is.
        let six = |n: u128| IpAddr::V6(((0x2001_0db8_0001_u128 << 80) | (n << 64) | 1).into());
        let mut lobby = Lobby::default();
        lobby.enter(0, six(0xffff));
        for id in 1..1000 {
            lobby.enter(id, six(0x8000 - u128::from(id)));
            lobby.advance(0);
            let expected = (id as usize >= WEIGHT_MAX).then(|| id + 1 - WEIGHT_MAX as u32);
            assert_eq!(lobby.crowded_out(), expected);
        }
    }

    #[test]
    fn what_is_kept_weighs() {
        let mut lobby = Lobby::default();
        for id in 0..20 {
            lobby.enter(id, four(id << 8));
        }
        lobby.enter(99, four(0xffff_ff00));
        lobby.keeps(99, (WEIGHT_MAX - 20) * KEPT_BYTES);
        assert_eq!((lobby.crowded_out(), lobby.crowded_out()), (Some(99), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Whoever comes, all together are bounded, and who goes is of a range as heavy as any.
        #[test]
        fn the_heaviest_range_loses(
            from in prop::collection::vec((0_u32..4, 0_u32..4, 0_usize..9000), 200..400),
        ) {
            let mut lobby = Lobby::default();
            let mut inside: Vec<(usize, IpAddr, usize)> = vec![];
            for (id, (range, host, bytes)) in from.into_iter().enumerate() {
                let address = four((range << 8) | host);
                lobby.enter(id, address);
                lobby.keeps(id, bytes);
                inside.push((id, address, 1 + bytes / KEPT_BYTES));
                while let Some(gone) = lobby.crowded_out() {
                    let weight = |like: IpAddr| -> usize {
                        let wide = Origin::of(like).wide;
                        let same = inside.iter().filter(|(_, a, _)| Origin::of(*a).wide == wide);
                        same.map(|(_, _, weight)| weight).sum()
                    };
                    let most = inside.iter().map(|(_, address, _)| weight(*address)).max();
                    let at = inside.iter().position(|(id, _, _)| *id == gone).unwrap();
                    prop_assert_eq!(Some(weight(inside[at].1)), most);
                    inside.remove(at);
                }
                let all: usize = inside.iter().map(|(_, _, weight)| weight).sum();
                prop_assert!(all <= WEIGHT_MAX);
            }
        }
    }
}
