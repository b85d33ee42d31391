//! What goes wrong says so, in the promised form, on standard error, with the promised code.

use crate::ports;
use crate::support::Sandbox;

#[test]
fn slips_bring_the_nearest_thing() {
    let sandbox = Sandbox::new();
    for (line, expected) in [
        ("run lab-b --pair 3", "'--pairs'"),
        ("lab-b --quik", "'--quick'"),
        ("shwo last", "\"show\" was meant"),
        ("plan chek x", "'check'"),
        ("explain verdict", "\"verdicts\" was meant"),
        ("lab-b --margin rt=2%", "\"rtt\"?"),
        ("lab-b --measure rrt", "\"rtt\"?"),
        ("lab-b --for soon", "is not a time"),
        ("lab-b --sctp", "error: --sctp: v6gap does not measure SCTP."),
        ("-c lab-b -k 10", "-n SIZE"),
        ("lab-b -P 0", "--parallel"),
        ("lab-b --pairs 1", "--pairs: pairs must be between 6 and 10000"),
        ("lab-b --pairs 2", "error: --pairs: 2 pairs can never decide: write 6 or more"),
        ("-s -D", "service manager"),
        ("lab-b --fail-if worse:lost-exchange", "\"lost-exchanges\"?"),
        ("lab-b --fail-if broken", "asked of probe alone"),
        ("lab-b --require broken", "better, worse, same"),
        ("compare a b --fail-if worse:lost-exchanges", "of one run alone"),
    ] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.starts_with("error: "), "{line}: {ran:?}");
        assert!(ran.err.contains(expected), "{line}: {}", ran.err);
        assert_eq!(ran.out, "", "{line}");
    }
}

#[test]
fn results_that_are_not_there_are_usage() {
    let sandbox = Sandbox::new();
    for line in ["show last", "show nosuch", "rm nosuch", "report nosuch", "export nosuch"] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.contains("no stored result matches"), "{line}: {ran:?}");
        assert!(ran.err.ends_with("  [E502, exit 2]\n"), "{line}: {ran:?}");
    }
    let ran = sandbox.run("show ./nosuch.jsonl").ended(2);
    assert!(ran.err.contains("[E507, exit 2]"), "{ran:?}");
}

#[test]
fn what_cannot_be_compared_or_added_to_is_usage() {
    let sandbox = Sandbox::with_run();
    for (line, expected) in [
        ("demo --only v4", "a comparison needs both families"),
        ("run server --continue last --pairs 9", "the stored plan decides"),
        ("run server --continue last -6", "the stored plan decides"),
        ("run server --continue last --tails", "the stored plan decides"),
        ("demo --only v6", "v6gap demo --only v6 --null v6"),
    ] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.contains(expected), "{line}: {ran:?}");
    }
}

#[test]
fn results_need_a_folder() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run_with("list", &[]).ended(2);
    assert!(ran.err.contains("[E506, exit 2]"), "{ran:?}");
    // A server keeps none.
    let served = sandbox.run_with("serve --key-file ./nosuch", &[]).ended(2);
    assert!(!served.err.contains("E506") && served.err.contains("nosuch"), "{served:?}");
    let home = sandbox.path("home");
    sandbox.run_with("list", &[("HOME", &home)]).ended(0);
}

#[test]
fn addresses_are_checked_before_anything_is_sent() {
    let sandbox = Sandbox::new();
    for (line, code) in [
        ("check fe80::1", "[E104, exit 2]"),
        ("check ::ffff:192.0.2.1", "[E106, exit 2]"),
        ("check no-such-host.invalid", "[E103, exit 2]"),
    ] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.contains(code), "{line}: {ran:?}");
    }
}

#[test]
fn a_host_without_a_server_is_told_from_one_without_a_family() {
    let sandbox = Sandbox::new();
    // Nothing listens on the discard port of this computer.
    let ran = sandbox.run("check here --v4 127.0.0.1 --v6 ::1 -p 9");
    assert!([3, 4].contains(&ran.code), "{ran:?}");
    assert!(ran.out.contains("here cannot be measured over both families."), "{ran:?}");
    assert!(ran.out.contains("A 127.0.0.1, AAAA ::1"), "{ran:?}");
    // Nor can it be asked there for its other address.
    let ran = sandbox.run("check 127.0.0.1 -p 9").ended(4);
    assert!(ran.err.contains("[E201, exit 4]"), "{ran:?}");
}

/// Programs are told in a form that docs/schema fixes, and on standard error as they ask for it.
#[test]
fn trouble_is_told_to_programs_too() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("run 127.0.0.1 --v6 ::1 -p 1 --json-stream --json-errors").ended(4);
    let schema = include_str!("../../../../docs/schema/event.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let event: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert!(validator.is_valid(&event), "{event}");
    let told: serde_json::Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!((&told["code"], &told["exit"]), (&event["code"], &4.into()), "{told}");
    assert_eq!(told["title"], event["title"]);
    let typed: serde_json::Value =
        serde_json::from_str(&sandbox.run("run --json-errors").ended(2).err).unwrap();
    assert_eq!(typed["exit"], 2, "{typed}");
}

#[test]
fn a_key_file_must_hold_a_key() {
    let sandbox = Sandbox::new();
    sandbox.write("empty", "\n");
    let ran = sandbox.run("check 127.0.0.1 --key-file empty").ended(2);
    assert!(ran.err.contains("holds no key"), "{ran:?}");
    let ran = sandbox.run("check 127.0.0.1 --key-file nosuch").ended(2);
    assert!(ran.err.contains("[E507, exit 2]"), "{ran:?}");
}

/// A server of another time: it greets as v6gap does and speaks versions that nobody knows here.
fn old_peer() -> u16 {
    use std::io::{Read, Write};
    let (port, listeners) = ports::listening();
    for listener in listeners {
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut greeting = [0; 8];
                stream.read_exact(&mut greeting).unwrap();
                stream.write_all(b"v6gC\x63\x63\0\0").unwrap();
            }
        });
    }
    port
}

#[test]
fn a_peer_of_another_time_is_named() {
    let sandbox = Sandbox::new();
    let port = old_peer();
    let ran = sandbox.run(&format!("run 127.0.0.1 --v6 ::1 -p {port} -q")).ended(4);
    assert!(ran.err.contains("[E205, exit 4]"), "{ran:?}");
}
