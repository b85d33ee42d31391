//! Behaviour of processor placement; where it is unavailable, all of it is, with a reason.

use super::*;

/// Runs `body` in a thread of its own, so that a pinned thread is not used by another test.
fn apart(body: fn()) {
    std::thread::spawn(body).join().expect("the body's assertions hold");
}

#[cfg(target_os = "linux")]
#[test]
fn pinned_thread_stays_where_it_was_put() {
    apart(|| {
        let all = allowed().expect("Linux lists processors");
        assert!(!all.is_empty() && all.is_sorted());
        for cpu in all {
            pin_thread(cpu).expect("the processor is allowed");
            for _ in 0..100 {
                yield_now();
                assert_eq!(rustix::thread::sched_getcpu(), cpu);
            }
            assert_eq!(allowed(), Ok(vec![cpu]));
        }
    });
}

#[test]
fn absent_processor_is_refused_with_its_number() {
    apart(|| {
        for cpu in [1023, 1024, usize::MAX] {
            let error = pin_thread(cpu).expect_err("no test machine has this processor");
            assert_eq!(error.what, "processor pinning");
            if cfg!(target_os = "linux") {
                assert!(error.because.contains(&cpu.to_string()), "{error}");
            }
        }
    });
}

#[cfg(not(target_os = "linux"))]
#[test]
fn placement_is_unavailable_as_a_whole() {
    assert!(allowed().is_err());
}
