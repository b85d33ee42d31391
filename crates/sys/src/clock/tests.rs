//! Behaviour of the clocks on every platform.

use super::*;

#[test]
fn monotonic_clock_never_goes_back() {
    let mut last = now_ns();
    for _ in 0..100_000 {
        let now = now_ns();
        assert!(now >= last, "{now} after {last}");
        last = now;
    }
}

#[test]
fn monotonic_clock_is_common_to_all_threads() {
    let before = now_ns();
    let within = std::thread::spawn(now_ns).join().expect("the thread only reads a clock");
    let after = now_ns();
    assert!(before <= within && within <= after, "{before} {within} {after}");
}

#[test]
fn monotonic_clock_counts_nanoseconds() {
    let reference = std::time::Instant::now();
    let start = now_ns();
    while reference.elapsed().as_millis() < 20 {}
    let outer = u64::try_from(reference.elapsed().as_nanos()).expect("a few ms");
    let inner = now_ns() - start;
    // The reference is slewed by time daemons, the raw clock is not.
    assert!(inner >= 19_900_000, "{inner}");
    assert!(now_ns() - start >= outer - outer / 500, "{inner} against {outer}");
}

#[test]
fn wall_clock_is_after_2024() {
    assert!(wall_ns() > 1_704_067_200_000_000_000);
}

#[test]
fn difference_of_the_clocks_stays() {
    let (first, second) = (wall_minus_mono_ns(), wall_minus_mono_ns());
    assert!((second - first).abs() < 5_000_000, "{first} then {second}");
}

#[test]
fn quality_is_plausible() {
    let quality = quality();
    assert!((1..=20_000_000).contains(&quality.step_ns), "{quality:?}");
    assert!(quality.read_cost_ns < 100_000, "{quality:?}");
}
