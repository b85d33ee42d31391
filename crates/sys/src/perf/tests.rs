//! Counters that exist count; those that do not are unavailable for a reason.

use super::*;

#[test]
fn work_is_counted_or_the_reason_is_told() {
    match Counting::start() {
        Ok(mut counting) => {
            let before = counting.read().unwrap();
            let sum = (0..100_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n));
            let after = counting.read().unwrap();
            assert!(std::hint::black_box(sum) < u64::MAX);
            assert!(after.instructions - before.instructions > 100_000, "{before:?} {after:?}");
            assert!(after.cycles > before.cycles);
        }
        Err(unavailable) => {
            let why = unavailable.to_string();
            assert!(why.contains("cycles and instructions") && why.len() > 50, "{why}");
        }
    }
}
