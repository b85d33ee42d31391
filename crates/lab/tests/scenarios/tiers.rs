//! When figures of a scenario on real links are judged, on made-up readings of the machine.

#[path = "../namespaces/steal.rs"]
mod steal;

use std::cell::Cell;
use std::time::Duration;
use v6gap_sys::usage::MachineTicks;

fn reading(busy: u64, idle: u64, stolen: u64) -> MachineTicks {
    MachineTicks { user: busy, idle, steal: stolen, ..MachineTicks::default() }
}

#[test]
fn what_the_hypervisor_took_is_a_share_of_what_was_wanted() {
    let before = reading(1_000, 5_000, 70);
    assert!((steal::share(&before, &reading(1_180, 5_000, 90)) - 0.1).abs() < 1e-12);
    // However long the processors slept meanwhile.
    assert!((steal::share(&before, &reading(1_180, 9_000, 90)) - 0.1).abs() < 1e-12);
    assert!(steal::share(&before, &reading(1_200, 5_800, 70)).abs() < 1e-12);
    // Two readings within a tick, and a counter that went back, are no time taken.
    assert!(steal::share(&before, &before).abs() < 1e-12);
    assert!(steal::share(&before, &reading(1_200, 5_000, 60)).abs() < 1e-12);
}

/// What was taken while the processors slept, too, is no time that a scenario had.
#[test]
fn a_budget_is_told_of_all_time() {
    let before = reading(1_000, 5_000, 70);
    assert!((steal::share_of_all(&before, &reading(1_180, 5_000, 90)) - 0.1).abs() < 1e-12);
    assert!((steal::share_of_all(&before, &reading(1_180, 5_200, 90)) - 0.05).abs() < 1e-12);
    assert!(steal::share_of_all(&before, &before).abs() < 1e-12);
}

#[test]
fn a_thread_that_reads_the_clock_sees_what_it_loses() {
    let of = |gap_us: u64, waited_ms: u64| {
        let mut readings = 0_u64;
        let clock = || {
            readings += 1;
            Duration::from_micros(readings + readings / 1_000 * gap_us)
        };
        let mut waits = 0_u64;
        let waited = || {
            waits += 1;
            Duration::from_millis(waits * waited_ms)
        };
        steal::lost(clock, waited)
    };
    assert!((of(1_000, 0) - 0.5).abs() < 1e-3, "{}", of(1_000, 0));
    assert!(of(40, 0).abs() < 1e-12 && of(0, 0).abs() < 1e-12);
    // Half of it went to other threads, or all.
    assert!((of(1_000, 500) - 0.25).abs() < 1e-3, "{}", of(1_000, 500));
    assert!(of(1_000, 2_000).abs() < 1e-12);
}

#[test]
fn a_thread_that_sleeps_sees_how_late_it_wakes() {
    let of = |late_us: u64, waited_us: u64| {
        let (now, naps) = (Cell::new(Duration::ZERO), Cell::new(0_u64));
        let sleep = |nap: Duration| {
            naps.set(naps.get() + 1);
            let late_us = if naps.get().is_multiple_of(10) { late_us } else { 60 };
            now.set(now.get() + nap + Duration::from_micros(late_us));
        };
        let waited = || Duration::from_micros(naps.get() * waited_us);
        steal::overslept(|| now.get(), waited, sleep)
    };
    // One of ten by 5 ms: 5 of 15.54 ms.
    assert!((of(5_000, 0) - 5.0 / 15.54).abs() < 1e-2, "{}", of(5_000, 0));
    assert!(of(400, 0).abs() < 1e-12 && of(60, 0).abs() < 1e-12);
    assert!(of(5_000, 500).abs() < 1e-12, "all of it went to other threads");
}

#[test]
fn figures_are_withheld_only_if_every_try_was_disturbed() {
    assert_eq!(steal::in_each(&[0.25, 0.11, 0.14]), Some(0.11));
    assert_eq!(steal::in_each(&[0.25, 0.009, 0.14]), None);
    assert_eq!(steal::in_each(&[0.01]), None);
    assert_eq!(steal::in_each(&[]), None);
}
