//! A host's own clock: it starts anywhere, runs too fast or too slow, and may be stepped.

use crate::{MS, SECOND};
use rand_chacha::ChaCha12Rng;
use rand_core::Rng;

/// A clock as a function of true time.
pub struct HostClock {
    origin: u64,
    /// How much it gains, in parts per million.
    drift_ppm: i64,
    /// True time and size of each step.
    steps: Vec<(u64, i64)>,
}

impl HostClock {
    /// A clock without steps, up to 100 ppm off.
    pub fn drifting(rng: &mut ChaCha12Rng) -> Self {
        let origin = 1000 * SECOND + rng.next_u64() % (1_000_000 * SECOND);
        HostClock { origin, drift_ppm: below(rng, 201) - 100, steps: Vec::new() }
    }

    /// Adds up to 4 steps of up to 1 s, forwards or backwards, in the first 10 s.
    pub fn step_at_random(&mut self, rng: &mut ChaCha12Rng) {
        for _ in 0..rng.next_u64() % 5 {
            let size = below(rng, 2001) - 1000;
            self.steps.push((rng.next_u64() % (10 * SECOND), size * MS as i64));
        }
    }

    /// What it shows at a true time.
    pub fn show(&self, now: u64) -> u64 {
        let drift = now as i64 / 1_000_000 * self.drift_ppm;
        let steps = self.steps.iter().filter(|(at, _)| *at <= now).map(|(_, size)| size);
        self.origin.saturating_add(now).saturating_add_signed(drift + steps.sum::<i64>())
    }

    /// A true time at which it is worth looking whether it shows `shown` already.
    pub fn when(&self, shown: u64, now: u64) -> u64 {
        let left = shown.saturating_sub(self.show(now)).max(1);
        let steps = self.steps.iter().map(|(at, _)| *at).filter(|at| *at > now);
        steps.min().unwrap_or(u64::MAX).min(now + left)
    }
}

fn below(rng: &mut ChaCha12Rng, end: u64) -> i64 {
    (rng.next_u64() % end) as i64
}
