//! Makes the table of `src/dips.rs` anew: `cargo run --release -p v6gap-stats --example dips`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use v6gap_stats::modes;

const CHANCES: [f64; 14] =
    [0.99, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001];

const SIZES: [(usize, u32); 16] = [
    (6, 1_000_000),
    (7, 1_000_000),
    (8, 1_000_000),
    (9, 1_000_000),
    (10, 1_000_000),
    (12, 1_000_000),
    (15, 1_000_000),
    (20, 1_000_000),
    (30, 1_000_000),
    (40, 1_000_000),
    (60, 500_000),
    (100, 500_000),
    (200, 250_000),
    (500, 100_000),
    (1_000, 100_000),
    (4_000, 40_000),
];

fn main() {
    for (n, samples) in SIZES {
        let mut source = ChaCha8Rng::seed_from_u64(n as u64);
        let mut uniform = || (source.next_u64() >> 11) as f64;
        let mut one = || modes::dip(&(0..n).map(|_| uniform()).collect::<Vec<f64>>());
        let mut dips: Vec<f64> = (0..samples).map(|_| one()).collect();
        dips.sort_unstable_by(f64::total_cmp);
        let limit = |chance: f64| {
            let rank = (f64::from(samples) * (1.0 - chance)).round() as usize;
            format!("{:.4}", dips[rank] * (n as f64).sqrt())
        };
        let row: Vec<String> = CHANCES.into_iter().map(limit).collect();
        println!("    ({n}, [{}]),", row.join(", "));
    }
}
