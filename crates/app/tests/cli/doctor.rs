//! `doctor` on this host, over loopback: what it says whatever the host is like.

use crate::schemas::fits;
use crate::support::{Ran, Sandbox};
use serde_json::Value;

/// Fit, or not: a busy machine that runs tests may be either.
#[track_caller]
fn answered(ran: Ran) -> Ran {
    assert!([0, 6].contains(&ran.code), "{ran:?}");
    ran
}

#[test]
fn what_is_seen_at_once_is_told_in_words_and_for_programs() {
    let sandbox = Sandbox::new();
    let ran = answered(sandbox.run("doctor --no-noise"));
    for topic in ["Clock", "Interruptions", "Steal", "Placement", "Buffers", "Offloads"] {
        assert!(ran.out.contains(&format!(" {topic} ")), "{topic}: {}", ran.out);
    }
    assert!(ran.out.contains("fit for measuring"), "{}", ran.out);
    assert!(!ran.out.contains("Noise:"), "{}", ran.out);
    assert!(ran.err.contains("watching"), "what takes a second is announced: {}", ran.err);
    let ran = answered(sandbox.run("doctor --no-noise --json -q"));
    assert_eq!(ran.err, "");
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    fits("doctor", &told);
    assert_eq!(told["fit"], ran.code == 0);
    assert!(told["noise"].is_null() && told["hosts"]["far"].is_null());
    for finding in told["findings"].as_array().unwrap() {
        let state = finding["state"].as_str().unwrap();
        assert!(["ok", "note", "unavailable", "trouble"].contains(&state), "{finding}");
        assert_eq!(finding["near"], true);
        assert_eq!(finding["effect"].is_string(), ["note", "trouble"].contains(&state));
    }
    let watched = &told["watched"];
    assert!(watched["clock"]["step_ns"].as_u64().unwrap() > 0, "{watched}");
}

#[test]
fn the_noise_over_loopback_is_that_of_each_family_with_itself() {
    let sandbox = Sandbox::new();
    let ran = answered(sandbox.run("doctor --for 4s --json"));
    for family in ["IPv4", "IPv6"] {
        assert!(ran.err.contains(&format!("noise of {family} against itself")), "{}", ran.err);
    }
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    fits("doctor", &told);
    let noise = told["noise"].as_array().unwrap();
    // A host under load may have too little time for two pairs of a family.
    for found in noise {
        assert!(found["pairs"].as_u64().unwrap() >= 2, "{found}");
        assert!(found["value"].as_f64().unwrap() > 0.0, "{found}");
        assert!(found["sd"].as_f64().unwrap() >= 0.0, "{found}");
        let (low, high) = (&found["range"]["low"], &found["range"]["high"]);
        let estimate = found["estimate"].as_f64().unwrap();
        assert!(low.as_f64().unwrap() <= estimate && estimate <= high.as_f64().unwrap());
    }
    let runs = told["smallest_found"].as_array().unwrap();
    for found in runs {
        let runs = found["runs"].as_array().unwrap();
        let pairs: Vec<u64> = runs.iter().map(|run| run["pairs"].as_u64().unwrap()).collect();
        assert!(pairs[0] < pairs[1] && pairs[1] < pairs[2], "{pairs:?}");
        let long = runs[2]["smallest"].as_f64().unwrap();
        assert!(runs[1]["smallest"].as_f64().is_none_or(|usual| usual > long), "{found}");
    }
    let stored = sandbox.run("list").ended(0).out;
    assert!(!stored.contains("loopback"), "the noise is no result: {stored}");
}

#[test]
fn what_cannot_be_is_said() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run("doctor --bind 127.0.0.1").ended(2).err.contains("--bind"));
    sandbox.run("doctor --no-noise --for 5s").ended(2);
    sandbox.run("doctor --for 0s").ended(2);
    // An address of loopback where nobody serves, who could be asked for the other.
    sandbox.run("doctor 127.0.0.1 -p 1 --no-noise -q").ended(4);
    sandbox.run("doctor 127.0.0.1 --v6 ::1 -p 1 --no-noise -q").ended(4);
}
