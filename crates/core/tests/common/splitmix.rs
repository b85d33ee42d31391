//! SplitMix64 (Steele, Lea and Flood 2014), for the tests that draw: quick, also where nothing is
//! optimised. They are of several crates, so that each takes this file as a module of its own.

/// The next 64 bits.
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
