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
    use std::time::{Duration, Instant};
    // One reference around it and one within, as the thread may be put aside at any place.
    let outer = Instant::now();
    let start_ns = now_ns();
    let inner = Instant::now();
    while inner.elapsed() < Duration::from_millis(20) {}
    let least = inner.elapsed();
    let passed = Duration::from_nanos(now_ns() - start_ns);
    let most = outer.elapsed();
    // The references are slewed by time daemons, the raw clock is not.
    assert!(passed >= least - least / 500, "{passed:?} against {least:?}");
    assert!(passed <= most + most / 500, "{passed:?} against {most:?}");
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

#[test]
fn a_watch_counts_what_it_sees() {
    let seen = watch(2_000_000);
    assert!(seen.span_ns >= 2_000_000);
    assert!(0 < seen.longest_ns && seen.longest_ns <= seen.span_ns, "{seen:?}");
    assert!(seen.held_ns <= seen.span_ns, "{seen:?}");
    assert!(seen.held_ns >= seen.held * HELD_NS, "{seen:?}");
    assert_eq!(seen.held == 0, seen.longest_ns < HELD_NS, "{seen:?}");
}

#[test]
fn local_time_is_less_than_a_day_from_utc_and_ahead_by_minutes() {
    let offset_s = local_offset_s(wall_ns());
    assert!(offset_s.abs() <= 14 * 3600 && offset_s % 60 == 0, "{offset_s}");
}

/// Linux tells, unless a sandbox forbids it; the kernel's bound ends at 16 s.
#[test]
fn the_system_says_how_its_wall_clock_is_kept() {
    let told = kept();
    assert!(told.is_none_or(|told| told.error_ns <= 16_000_000_000), "{told:?}");
    assert!(cfg!(target_os = "linux") || told.is_none(), "{told:?}");
}
