//! How many datagrams of strangers are answered where no task bounds them: so many a second of one
//! near network and of all together, with a few at once; and how many are looked at in all.
//!
//! What a network has spent is kept in a fixed number of places, which a keyed hash chooses: memory
//! stays as it is whoever comes, and nobody can aim for the place of another. Networks that happen
//! to share a place share what it allows.

use super::SECOND_NS;
use super::origin::Origin;
use crate::family::wide;
use core::net::IpAddr;
use siphasher::sip::SipHasher24;

/// Most datagrams of one near network that are answered in a second.
pub const NEAR_PER_S: u64 = 2_000;

/// Most datagrams of all networks that are answered in a second.
pub const ALL_PER_S: u64 = 8_000;

/// Most datagrams that are looked at in a second, answered or not.
pub const READ_PER_S: u64 = 20_000;

/// A datagram counts as one for each piece of so many bytes that it begins, or else long ones would
/// be a way to more traffic.
pub const PIECE_BYTES: usize = 1_500;

/// What a pause of this length, in ns, would have allowed may come at once.
const BURST_NS: u64 = SECOND_NS / 10;

/// Places for what networks have spent.
const PLACES: usize = 1_024;

/// What was spent so far of so many a second.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    /// Until when it is paid for, in ns by the caller's clock.
    until_ns: u64,
}

/// What was spent by whom.
#[derive(Debug)]
pub struct Allowance {
    hash: SipHasher24,
    read: Spent,
    all: Spent,
    near: [Spent; PLACES],
}

impl Allowance {
    /// Nothing is spent yet. The `secret` should be random.
    pub fn new(secret: &[u8; 16]) -> Self {
        Allowance {
            hash: SipHasher24::new_with_key(secret),
            read: Spent::default(),
            all: Spent::default(),
            near: [Spent::default(); PLACES],
        }
    }

    /// Whether one more datagram may be looked at now, by a clock in ns that never goes back; if
    /// so, it counts.
    pub fn reads(&mut self, now_ns: u64) -> bool {
        let may = self.read.leaves_some(now_ns);
        if may {
            self.read.spend(1, READ_PER_S, now_ns);
        }
        may
    }

    /// Whether a datagram of so many bytes from `source` may be answered now; if so, it counts.
    pub fn answers(&mut self, source: IpAddr, bytes: usize, now_ns: u64) -> bool {
        let place = self.hash.hash(&wide(Origin::of(source).near)) % PLACES as u64;
        let near = &mut self.near[place as usize];
        let may = near.leaves_some(now_ns) && self.all.leaves_some(now_ns);
        if may {
            let pieces = bytes.div_ceil(PIECE_BYTES).max(1) as u64;
            near.spend(pieces, NEAR_PER_S, now_ns);
            self.all.spend(pieces, ALL_PER_S, now_ns);
        }
        may
    }
}

impl Spent {
    fn leaves_some(self, now_ns: u64) -> bool {
        self.until_ns <= now_ns.saturating_add(BURST_NS)
    }

    fn spend(&mut self, count: u64, per_s: u64, now_ns: u64) {
        let cost_ns = count.saturating_mul(SECOND_NS / per_s);
        self.until_ns = self.until_ns.max(now_ns).saturating_add(cost_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn four(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    /// How many of so many datagrams are answered at one time.
    fn answered(allowance: &mut Allowance, count: u32, from: fn(u32) -> IpAddr) -> u64 {
        (0..count).map(|i| u64::from(allowance.answers(from(i), 44, 7))).sum()
    }

    #[test]
    fn a_network_has_its_share_and_leaves_others_theirs() {
        let mut allowance = Allowance::new(&[3; 16]);
        let at_once = NEAR_PER_S / 10 + 1;
        assert_eq!(answered(&mut allowance, 5_000, |_| four(1)), at_once);
        assert!(allowance.answers(four(2), 44, 7));
        // All of a /64 is one host.
        let host = |i: u32| IpAddr::V6(((0x2001_0db8_u128 << 96) | u128::from(i)).into());
        assert_eq!(answered(&mut allowance, 5_000, host), at_once);
        let later_ns = 7 + SECOND_NS / NEAR_PER_S;
        let again = [(); 2].map(|()| allowance.answers(four(1), 44, later_ns));
        assert_eq!(again, [true, false]);
    }

    #[test]
    fn all_networks_together_have_theirs() {
        let mut allowance = Allowance::new(&[3; 16]);
        assert_eq!(answered(&mut allowance, 50_000, four), ALL_PER_S / 10 + 1);
        let read = (0..50_000).filter(|_| allowance.reads(7)).count();
        assert_eq!(read as u64, READ_PER_S / 10 + 1);
    }

    #[test]
    fn a_long_datagram_counts_as_several() {
        let mut allowance = Allowance::new(&[3; 16]);
        let long = (0..1_000).filter(|_| allowance.answers(four(1), 9_000, 7)).count();
        assert_eq!(long as u64, NEAR_PER_S / 10 / 6 + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Whoever comes and whenever, no more is answered than the time allows.
        #[test]
        fn what_is_answered_is_bounded(
            secret: [u8; 16],
            from in prop::collection::vec((any::<u32>(), 0_u64..2_000_000), 500..2000),
        ) {
            let mut allowance = Allowance::new(&secret);
            let (mut now, mut all, mut one) = (0, 0, 0);
            for (number, step) in from {
                now += step;
                all += u64::from(allowance.answers(four(number), 44, now));
                one += u64::from(allowance.answers(four(1), 44, now));
            }
            let most = |per_s: u64| 1 + (BURST_NS + now) / (SECOND_NS / per_s);
            prop_assert!(all + one <= most(ALL_PER_S));
            prop_assert!(one <= most(NEAR_PER_S));
        }
    }
}
