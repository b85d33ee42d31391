//! How often something may be told of one network, so that a log is no way to fill a disk: a few
//! times at once, then a few times in a while, with how many were left out.

use super::SECOND_NS;
use super::origin::Origin;
use alloc::vec::Vec;
use core::net::IpAddr;

/// Times that something may be told in a while, of one wide network.
pub const TIMES_MAX: u32 = 20;

/// How long a while is, in ns.
pub const WHILE_NS: u64 = 10 * SECOND_NS;

/// Networks that are told apart at a time; more are as one.
const NETWORKS_MAX: usize = 256;

/// How often something was told in a while.
#[derive(Debug, Clone, Copy, Default)]
pub struct Often {
    since_ns: u64,
    times: u32,
    left_out: u64,
}

impl Often {
    /// Whether it may be told now, and if so how often it was not since the last time.
    pub fn may_tell(&mut self, now_ns: u64) -> Option<u64> {
        if now_ns.saturating_sub(self.since_ns) >= WHILE_NS {
            (self.since_ns, self.times) = (now_ns, 0);
        }
        if self.times >= TIMES_MAX {
            self.left_out += 1;
            return None;
        }
        self.times += 1;
        Some(core::mem::take(&mut self.left_out))
    }
}

#[derive(Debug, Clone, Copy)]
struct Network {
    wide: Option<IpAddr>,
    often: Often,
}

/// What was told of whom.
#[derive(Debug, Clone, Default)]
pub struct Throttle {
    networks: Vec<Network>,
}

impl Throttle {
    /// Whether something may be told of `address` now, and if so how often it was not since the
    /// last time.
    pub fn may_tell(&mut self, address: IpAddr, now_ns: u64) -> Option<u64> {
        self.network(Origin::of(address).wide, now_ns).may_tell(now_ns)
    }

    fn network(&mut self, wide: IpAddr, now_ns: u64) -> &mut Often {
        let place = |networks: &[Network], wide| networks.iter().position(|n| n.wide == wide);
        let full = self.networks.len() >= NETWORKS_MAX;
        if full && place(&self.networks, Some(wide)).is_none() {
            let is_old = |n: &Network| now_ns.saturating_sub(n.often.since_ns) >= WHILE_NS;
            // What was left out of those that nobody hears of any more counts for all others.
            let old = self.networks.iter().filter(|n| n.wide.is_some() && is_old(n));
            let left_out = old.map(|n| n.often.left_out).sum::<u64>();
            self.networks.retain(|n| n.wide.is_none() || !is_old(n));
            if left_out > 0 {
                self.place(None, now_ns).left_out += left_out;
            }
        }
        let full = self.networks.len() >= NETWORKS_MAX;
        let known = place(&self.networks, Some(wide));
        self.place((known.is_some() || !full).then_some(wide), now_ns)
    }

    /// The place of a network; that of all others has no name.
    fn place(&mut self, wide: Option<IpAddr>, now_ns: u64) -> &mut Often {
        let known = self.networks.iter().position(|n| n.wide == wide);
        let i = known.unwrap_or(self.networks.len());
        if i == self.networks.len() {
            let often = Often { since_ns: now_ns, ..Often::default() };
            self.networks.push(Network { wide, often });
        }
        &mut self.networks[i].often
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn four(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn a_flood_is_told_of_now_and_then_with_its_number() {
        let mut throttle = Throttle::default();
        let told: Vec<u64> = (0..100).filter_map(|i| throttle.may_tell(four(i), 5)).collect();
        assert_eq!(told, [0; TIMES_MAX as usize]);
        assert_eq!(throttle.may_tell(four(1 << 8), 5), Some(0), "another network");
        assert_eq!(throttle.may_tell(four(1), 5 + WHILE_NS), Some(80));
    }

    /// Networks that came in number once do not keep later ones out of the log.
    #[test]
    fn places_of_networks_that_are_gone_are_given_back() {
        let mut throttle = Throttle::default();
        for network in 0..NETWORKS_MAX as u32 {
            assert!((0..=TIMES_MAX).any(|_| throttle.may_tell(four(network << 8), 5).is_none()));
        }
        let late = four(0xffff << 8);
        assert!((0..TIMES_MAX).all(|_| throttle.may_tell(late, 5 + WHILE_NS) == Some(0)));
        assert!(throttle.networks.iter().any(|n| n.wide == Some(Origin::of(late).wide)));
        let others = throttle.networks.iter().find(|n| n.wide.is_none()).unwrap();
        assert_eq!(others.often.left_out, NETWORKS_MAX as u64);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Wherever they come from, lines and memory are bounded.
        #[test]
        fn lines_and_memory_are_bounded(
            from in prop::collection::vec((0_u32..2000, 0_u64..1_000_000), 500..1000),
        ) {
            let mut throttle = Throttle::default();
            let mut now = 0;
            let mut told = 0;
            for (network, step) in from {
                now += step;
                told += u64::from(throttle.may_tell(four(network << 8), now).is_some());
                prop_assert!(throttle.networks.len() <= NETWORKS_MAX + 1);
            }
            let whiles = 1 + now / WHILE_NS;
            let most = (NETWORKS_MAX as u64 + 1) * u64::from(TIMES_MAX) * whiles;
            prop_assert!(told <= most);
        }
    }
}
