//! Behaviour of usage accounting, and the parsers on fixture text.

use super::*;

#[cfg(unix)]
fn total_ns(usage: Usage) -> u64 {
    usage.user_ns + usage.system_ns
}

/// Works until this process is accounted 30 ms more, which proves that the figure grows.
#[cfg(unix)]
fn work() -> (Usage, Usage) {
    let before = process().expect("Unix has getrusage");
    let mut state = 1_u64;
    loop {
        for _ in 0..100_000 {
            state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005) + 1);
        }
        let after = process().expect("Unix has getrusage");
        if total_ns(after) >= total_ns(before) + 30_000_000 {
            return (before, after);
        }
    }
}

#[cfg(unix)]
#[test]
fn process_usage_grows_with_work() {
    let start = crate::clock::now_ns();
    let (before, after) = work();
    let elapsed = crate::clock::now_ns() - start;
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let used = total_ns(after) - total_ns(before);
    assert!(used <= elapsed * processors + 20_000_000, "{used} ns in {elapsed} ns");
    assert!(after.switches_involuntary >= before.switches_involuntary);
}

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
#[test]
fn thread_usage_is_its_own() {
    let spent = |work_first: bool| {
        let body = move || {
            if work_first {
                let start = total_ns(thread().expect("accounted per thread"));
                while total_ns(thread().expect("accounted per thread")) < start + 30_000_000 {}
            }
            total_ns(thread().expect("accounted per thread"))
        };
        std::thread::spawn(body).join().expect("the thread only counts")
    };
    assert!(spent(true) >= 30_000_000);
    assert!(spent(false) < 20_000_000);
}

#[cfg(not(unix))]
#[test]
fn usage_is_unavailable_with_a_reason() {
    assert!(thread().is_err() && process().is_err());
}

#[cfg(not(target_os = "linux"))]
#[test]
fn machine_figures_are_unavailable_with_a_reason() {
    assert!(machine().is_err() && machine_number().is_err());
}

#[cfg(target_os = "linux")]
mod linux {
    use super::super::machine::{parse_boot_id, parse_stat};
    use super::*;

    #[test]
    fn machine_counts_ticks() {
        let before = machine().expect("/proc/stat");
        work();
        let after = machine().expect("/proc/stat");
        assert!(after.user + after.nice + after.system > before.user + before.nice + before.system);
        assert!((100_000..=100_000_000).contains(&after.ns_per_tick), "{after:?}");
    }

    #[test]
    fn stat_is_read_from_the_line_of_all_processors() {
        let text = "cpu  1358 1 1645 176682 283 2 27 7 5 0\ncpu0 319 0 532 89108 6 0 8 1 0 0\n";
        let ticks = parse_stat(text, 10_000_000).expect("well formed");
        let expected = MachineTicks {
            user: 1358,
            nice: 1,
            system: 1645,
            idle: 176_682,
            iowait: 283,
            irq: 2,
            softirq: 27,
            steal: 7,
            ns_per_tick: 10_000_000,
        };
        assert_eq!(ticks, expected);
        assert_eq!((ticks.busy(), ticks.interrupts()), (1358 + 1 + 1645 + 2 + 27, 29));
    }

    #[test]
    fn a_machine_has_one_number() {
        assert_eq!(machine_number().expect("Linux tells"), machine_number().expect("again"));
        let id = "2f1c1d0e-5a0b-4c3d-8e9f-0123456789ab\n";
        assert_eq!(parse_boot_id(id), Some(0x8e9f_0123_4567_89ab));
        for text in ["", "2f1c1d0e", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"] {
            assert_eq!(parse_boot_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn malformed_stat_is_refused() {
        for text in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3\n", "cpu  1 2 3 x 5 6 7 8\n"] {
            assert_eq!(parse_stat(text, 1), None, "{text:?}");
        }
    }
}
