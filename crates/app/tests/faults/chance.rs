//! Random moments that can be had again: `V6GAP_SEED` repeats those of a run that printed it.

use super::random::Random;
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

/// A generator of its own for each `stream`.
pub struct Chance(Random);

impl Chance {
    pub fn new(stream: u64) -> Self {
        Chance(Random::new(seed() ^ stream.wrapping_mul(0xa076_1d64_78bd_642f)))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    /// A time of up to `limit`.
    pub fn moment(&mut self, limit: Duration) -> Duration {
        Duration::from_micros(self.0.next() % limit.as_micros() as u64)
    }
}
