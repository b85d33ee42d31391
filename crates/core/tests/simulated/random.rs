//! Chance, from a seed.

#[path = "../common/splitmix.rs"]
mod splitmix;

/// Numbers by chance (`SplitMix64`).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn bits(&mut self) -> u64 {
        splitmix::next(&mut self.0)
    }

    /// One below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// One from `least` on and below `most`.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.bits() % (most - least)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.bits() % 100 < percent
    }

    pub fn seed(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.bits().to_le_bytes());
        }
        bytes
    }
}
