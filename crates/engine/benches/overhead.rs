//! What the instrument itself adds to an exchange: a read of the clock, the header, the room for
//! the time, and its place in the histogram and the other figures.
//!
//! `cargo bench -p v6gap-engine --bench overhead`
#![expect(clippy::disallowed_macros, reason = "a program of its own, which prints")]

use std::hint::black_box;
use v6gap_core::arm::Arm;
use v6gap_core::wire::datagram::{Flags, HEADER_BYTES, Header};
use v6gap_engine::hot::Tally;
use v6gap_engine::trial::times::times;
use v6gap_sys::clock;

const EXCHANGES: usize = 100_000;

const ROUNDS: usize = 21;

/// Most that all this may cost for one exchange, in ns.
const LIMIT_NS: f64 = 60.0;

fn main() {
    let quality = clock::quality();
    println!(
        "one read of the clock: {} ns, its step: {} ns",
        quality.read_cost_ns, quality.step_ns
    );
    let (mut loops, mut summaries) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut tally = Tally::with_room(1, EXCHANGES);
        loops.push(exchanges(&mut tally));
        let start_ns = clock::now_ns();
        black_box(times(&tally.times_ns, &[], 0));
        summaries.push((clock::now_ns() - start_ns) as f64 / EXCHANGES as f64);
    }
    let (inside, after) = (median(loops), median(summaries));
    println!("inside the loop: {inside:.1} ns; afterwards, histogram and figures: {after:.1} ns");
    let all = inside + after;
    println!("in all {all:.1} ns for each exchange, at most {LIMIT_NS} are allowed");
    if all > LIMIT_NS {
        std::process::exit(1);
    }
}

/// All of the loop but the two system calls; ns for each exchange.
fn exchanges(tally: &mut Tally) -> f64 {
    let (mut out, mut back) = ([7_u8; 64], [0_u8; 64]);
    let start_ns = clock::now_ns();
    let mut now_ns = start_ns;
    for sequence in 0..EXCHANGES as u32 {
        let tag = *b"overhead";
        let header = Header { tag, sequence, turn: 1, next: 1, arm: Arm::A, flags: Flags::NONE };
        header.encode(&mut out);
        black_box(&mut back).copy_from_slice(black_box(&out));
        let before_ns = std::mem::replace(&mut now_ns, clock::now_ns());
        if out[..HEADER_BYTES] == back[..HEADER_BYTES] {
            // As different as times of exchanges are.
            let spread = u64::from(sequence.wrapping_mul(2_654_435_761) >> 18);
            tally.times_ns.push(now_ns - before_ns + spread);
        }
    }
    (clock::now_ns() - start_ns) as f64 / EXCHANGES as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
