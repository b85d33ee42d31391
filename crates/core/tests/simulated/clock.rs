//! The clocks of a host: one that nobody sets but that goes wrong, and one that is set.

use crate::random::Random;
use v6gap_core::fleet::work::Now;
use v6gap_core::watch::Moment;

/// The wall's time when a simulation begins, in ns since the Unix epoch.
const BEGAN_UNIX_NS: u64 = 1_795_392_000_000_000_000;

pub struct Clock {
    offset_ns: u64,
    /// How many ns it shows for a million.
    rate: u128,
    /// How far the wall's clock is off.
    pub off_ns: i64,
}

impl Clock {
    pub fn new(random: &mut Random) -> Clock {
        let offset_ns = random.between(0, 1 << 50);
        let rate = u128::from(random.between(999_000, 1_001_001));
        Clock { offset_ns, rate, off_ns: 0 }
    }

    pub fn boot_ns(&self, true_ns: u64) -> u64 {
        self.offset_ns + (u128::from(true_ns) * self.rate / 1_000_000) as u64
    }

    pub fn wall_ns(&self, true_ns: u64) -> u64 {
        (BEGAN_UNIX_NS + true_ns).saturating_add_signed(self.off_ns)
    }

    pub fn now(&self, true_ns: u64) -> Now {
        let wall = Moment { unix_ns: self.wall_ns(true_ns), offset_s: 0 };
        Now { ns: self.boot_ns(true_ns), wall }
    }

    /// When it shows `boot_ns`, or a little later.
    pub fn when_boot(&self, boot_ns: u64) -> u64 {
        let since = u128::from(boot_ns.saturating_sub(self.offset_ns));
        u64::try_from(since * 1_000_000 / self.rate + 1).unwrap_or(u64::MAX)
    }

    /// When the wall's clock shows `wall_ns`, if it is not set before.
    pub fn when_wall(&self, wall_ns: u64) -> u64 {
        wall_ns.saturating_add_signed(-self.off_ns).saturating_sub(BEGAN_UNIX_NS)
    }
}
