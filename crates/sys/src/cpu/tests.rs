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
            assert_eq!(of(None), Ok(vec![cpu]));
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_thread_keeps_off_one_processor_and_knows_all() {
    apart(|| {
        let all = allowed().expect("Linux lists processors");
        for &cpu in &all {
            keep_off(cpu);
            let others: Vec<usize> = all.iter().copied().filter(|&other| other != cpu).collect();
            assert_eq!(of(None), Ok(if others.is_empty() { all.clone() } else { others }));
            assert_eq!(allowed(), Ok(all.clone()));
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

#[test]
fn lists_are_read_and_nonsense_is_not() {
    assert_eq!(numbers("0-2,5\n"), Some(vec![0, 1, 2, 5]));
    assert_eq!(numbers("7"), Some(vec![7]));
    assert_eq!(numbers("\n"), Some(Vec::new()));
    for text in ["2-0", "a", "0-99999999999", "1-", "-1"] {
        assert_eq!(numbers(text), None, "{text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_processor_is_like_itself() {
    let all = allowed().unwrap();
    for &cpu in &all {
        let alike = alike(cpu);
        assert!(alike.contains(&cpu) && alike.iter().all(|other| all.contains(other)));
    }
    assert!(alike(usize::MAX).iter().all(|other| all.contains(other)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_processor_shares_a_core_with_itself() {
    for cpu in allowed().unwrap() {
        // Where there is no `/sys` nothing is told.
        if let Ok(siblings) = siblings(cpu) {
            assert!(siblings.contains(&cpu) && siblings.is_sorted(), "{cpu}: {siblings:?}");
        }
    }
    assert!(siblings(usize::MAX).is_err());
}
