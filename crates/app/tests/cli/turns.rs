//! One measurement at a time on a host: who measures is named and waited for, both ends of a
//! measurement share their host, and of many random starts never two measure at once.

use crate::ports::free;
use crate::support::{Ran, Sandbox};
use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use v6gap_core::record::Line;
use v6gap_store::Store;

/// A run that is as short as one can be.
const SHORT: &str = "--measure connect --pairs 6 --no-report -q";

/// One that goes on until it is killed.
const LONG: &str = "demo --loopback --measure connect --for 10min --json-stream -q";

/// Starts `v6gap LINE` on the host of that name.
fn start(sandbox: &Sandbox, host: &str, line: &str) -> Child {
    let folder = sandbox.path(&format!("host-{host}"));
    sandbox.start_with(line, &[("V6GAP_LOCKS", folder.to_str().unwrap())])
}

/// Runs it to its end; what it wrote to standard output does not matter.
fn run(sandbox: &Sandbox, host: &str, line: &str) -> Ran {
    Sandbox::ended(start(sandbox, host, line), String::new())
}

/// Whether it measured, whatever it found on a machine on which other tests run.
#[track_caller]
fn measured(ran: &Ran) {
    assert!([0, 6].contains(&ran.code), "{ran:?}");
}

/// Killed at the end of a test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Somebody who measures on that host now.
fn measuring(sandbox: &Sandbox, host: &str) -> Killed {
    let mut child = start(sandbox, host, LONG);
    // What it writes first is that its run begins.
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 16]).unwrap();
    Killed(child)
}

/// A server on that host, and how clients name it.
fn serving(sandbox: &Sandbox, host: &str) -> (Killed, String) {
    let port = free();
    let listen = format!("serve --listen 127.0.0.1 --listen ::1 -p {port}");
    let mut child = start(sandbox, host, &listen);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("Serving on"));
    // Read and dropped, so that the server never meets a closed pipe.
    std::thread::spawn(move || lines.for_each(drop));
    (Killed(child), format!("127.0.0.1 --v6 ::1 -p {port}"))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_host_that_is_measured_says_by_whom_and_is_waited_for() {
    let sandbox = Sandbox::new();
    let first = measuring(&sandbox, "a");
    let line = format!("demo --loopback {SHORT}");
    let refused = run(&sandbox, "a", &format!("{line} --no-wait")).ended(4);
    let said = words(&refused.err);
    assert!(said.contains("error: this host is being measured and was not to be"), "{said}");
    assert!(said.contains("It is measured by ") && said.contains(" s: v6gap demo --loopback"));
    assert!(refused.err.ends_with("[E204, exit 4]\n"), "{said}");
    measured(&run(&sandbox, "b", &format!("{line} --no-wait")));
    for other in ["check 127.0.0.1 --v6 ::1 --no-wait", "doctor --no-noise --no-wait"] {
        let refused = run(&sandbox, "a", other).ended(4);
        assert!(refused.err.ends_with("[E204, exit 4]\n"), "{refused:?}");
    }
    let mut looks = start(&sandbox, "a", "check 127.0.0.1 --v6 ::1 --no-wait --json");
    let told: serde_json::Value = serde_json::from_reader(looks.stdout.take().unwrap()).unwrap();
    Sandbox::ended(looks, String::new()).ended(4);
    assert_eq!((&told["ready"], &told["failure"]["code"]), (&false.into(), &"E204".into()));

    let mut second = start(&sandbox, "a", &line);
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines();
    let told = lines.find(|line| line.as_ref().unwrap().starts_with("waiting: ")).unwrap().unwrap();
    assert!(told.starts_with("waiting: this host is being measured by "), "{told}");
    // Its claim dies with it, and whoever waits is served.
    drop(first);
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let code = second.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 6)), "{code:?}: {rest:?}");
}

#[test]
fn a_server_shares_its_host_with_its_client_there_and_with_nobody_else() {
    let sandbox = Sandbox::new();
    let (_server, here) = serving(&sandbox, "a");
    let line = format!("run {here} {SHORT}");
    measured(&run(&sandbox, "a", &line));
    measured(&run(&sandbox, "elsewhere", &line));
    run(&sandbox, "a", &format!("check {here}")).ended(0);
    measured(&run(&sandbox, "a", &format!("doctor {here} --no-noise")));
    let _other = measuring(&sandbox, "a");
    let refused = run(&sandbox, "elsewhere", &format!("{line} --no-wait")).ended(4);
    let said = words(&refused.err);
    assert!(said.contains("busy: measuring for somebody on that host since"), "{said}");
    assert!(refused.err.ends_with("[E204, exit 4]\n"), "{said}");
}

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// So many starts wait and are left alone, so that two measurements at least come to their end.
const PATIENT: u32 = 2;

/// One start of something that measures host a, alone, as a client, as a server or as both; now and
/// then it is killed.
fn any_start(sandbox: &Sandbox, random: &mut Random, number: u32, here: &str, there: &str) {
    let (host, line) = match random.below(4) {
        0 => ("a".to_owned(), format!("run {there}")),
        1 => (format!("client-{number}"), format!("run {here}")),
        2 => ("a".to_owned(), format!("run {here}")),
        _ => ("a".to_owned(), "demo --loopback".to_owned()),
    };
    let is_patient = number < PATIENT;
    let wait = if random.below(3) == 0 || is_patient { "" } else { "--no-wait" };
    let mut child = start(sandbox, &host, &format!("{line} {SHORT} {wait}"));
    if random.below(6) == 0 && !is_patient {
        std::thread::sleep(Duration::from_millis(random.below(2_000)));
        let _ = child.kill();
    }
    let ran = Sandbox::ended(child, String::new());
    assert!([0, 4, 6, -1].contains(&ran.code), "{ran:?}");
}

/// The witness is what the runs wrote: host a takes part in each of them, so that none may have
/// begun before the one before it was over.
#[test]
fn of_many_random_starts_never_two_measure_at_once() {
    let starts = if std::env::var_os("V6GAP_FULL").is_some() { 1_000 } else { 12 };
    let sandbox = Sandbox::new();
    let (_here, here) = serving(&sandbox, "a");
    let (_there, there) = serving(&sandbox, "b");
    let seed = u64::from_ne_bytes(v6gap_sys::entropy::bytes().unwrap());
    println!("seed {seed}");
    let begun = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let (sandbox, here, there, begun) = (&sandbox, &here, &there, &begun);
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_add(worker));
                loop {
                    let number = begun.fetch_add(1, Ordering::Relaxed);
                    if number >= starts {
                        break;
                    }
                    any_start(sandbox, &mut random, number, here, there);
                }
            });
        }
    });
    let store = Store::at(&sandbox.path(""));
    let mut spans = Vec::new();
    for entry in store.list().unwrap() {
        let lines = store.read_run(&entry.header.id).unwrap();
        let trials = lines.iter().filter_map(|line| match line {
            Line::Trial(trial) => Some((trial.started_unix_ns, trial.duration_ns)),
            _ => None,
        });
        let ends = trials.clone().map(|(started, took)| started + took).max();
        let begins = trials.map(|(started, _)| started).min();
        spans
            .extend(begins.zip(ends).map(|(begins, ends)| (begins, ends, entry.header.id.clone())));
    }
    spans.sort();
    assert!(spans.len() > 1, "{spans:?}");
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "at once: {pair:?}");
    }
}
