//! One fixed sequence of shuffles, for p-values whose orders are too many to try: the same values
//! always give the same p-value. SplitMix64 (Steele, Lea and Flood 2014) from a fixed start.

/// A source of shuffles.
#[derive(Debug, Clone)]
pub(crate) struct Shuffles(u64);

impl Shuffles {
    /// Always the same sequence.
    pub fn new() -> Self {
        Shuffles(0x7636_6761_7000_0001)
    }

    /// Puts the things into another order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for i in (1..things.len()).rev() {
            let j = (self.next() % (i as u64 + 1)) as usize;
            things.swap(i, j);
        }
    }

    /// Throws the coins.
    pub fn throw(&mut self, coins: &mut [bool]) {
        coins.iter_mut().for_each(|coin| *coin = self.next() >> 63 == 1);
    }

    /// 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
