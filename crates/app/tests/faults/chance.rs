//! Random moments that can be had again: `V6GAP_SEED` repeats those of a run that printed it.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// The seed of this run, printed once.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let given = std::env::var("V6GAP_SEED").ok().and_then(|text| text.parse().ok());
        let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
        let seed = given.unwrap_or_else(now);
        println!("V6GAP_SEED={seed}");
        seed
    })
}

/// A generator of its own for each `stream` (SplitMix64).
pub struct Chance(u64);

impl Chance {
    pub fn new(stream: u64) -> Self {
        let mut chance = Chance(seed() ^ stream.wrapping_mul(0xa076_1d64_78bd_642f));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A time of up to `limit`.
    pub fn moment(&mut self, limit: Duration) -> Duration {
        Duration::from_micros(self.next() % limit.as_micros() as u64)
    }
}
