//! Stored results against each other: what is shown, what is refused, and how the program ends.

use crate::support::{Sandbox, flat};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Output};

/// `base`, `like` with the same truth, and `slow` with round trips over IPv6 10 % longer since the
/// server has another kernel; five earlier runs tell how runs like the first two scatter.
fn runs() -> Sandbox {
    let sandbox = Sandbox::new();
    (1..=5).for_each(|n| sandbox.store_one_of_five(n));
    sandbox.store("base00", "lab-b", 1_763_500_000_000_000_000);
    sandbox.store("like00", "lab-b", 1_763_600_000_000_000_000);
    sandbox.store_slower("slow00", 1.1);
    sandbox
}

/// The verdict of a change in a JSON document.
fn verdict<'a>(document: &'a Value, metric: &str, of: &str) -> &'a str {
    let questions = document["questions"].as_array().unwrap();
    let question = questions.iter().find(|q| q["metric"] == metric).unwrap();
    let changes = question["against"][0]["changes"].as_array().unwrap();
    changes.iter().find(|c| c["of"] == of).unwrap()["verdict"].as_str().unwrap()
}

#[test]
fn a_change_is_found_and_the_rest_is_the_same() {
    let sandbox = runs();
    let ran = sandbox.run("compare base slow -J").ended(0);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["schema"], "v6gap.comparison/1");
    for (metric, of, expected) in [
        ("rtt", "difference", "worse"),
        ("rtt", "first", "same"),
        ("rtt", "second", "worse"),
        ("throughput", "difference", "same"),
        ("throughput", "first", "same"),
        ("throughput", "second", "same"),
    ] {
        assert_eq!(verdict(&document, metric, of), expected, "{metric} {of}");
    }
    let back = sandbox.run("compare slow base -J").ended(0);
    let document: Value = serde_json::from_str(&back.out).unwrap();
    assert_eq!(verdict(&document, "rtt", "difference"), "better");
    let like = sandbox.run("compare base like -J").ended(0);
    let document: Value = serde_json::from_str(&like.out).unwrap();
    assert_eq!(verdict(&document, "rtt", "difference"), "same");
}

/// With one run like it too few a family by itself has figures and no verdict, and the difference
/// has both and a doubt.
#[test]
fn a_family_by_itself_needs_runs_that_tell_how_it_scatters() {
    let sandbox = runs();
    sandbox.run("rm early1 early2").ended(0);
    let ran = sandbox.run("compare base slow -J").ended(0);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(verdict(&document, "rtt", "difference"), "worse");
    assert_eq!(verdict(&document, "rtt", "second"), "none");
    let text = sandbox.run("compare base slow").ended(0).out;
    let text = flat(&text);
    assert!(text.contains("IPv6 by itself, from A to B: no verdict."), "{text}");
    assert!(text.contains("from run to run is not known; 1 more run like A would tell."), "{text}");
}

#[test]
fn every_form_is_what_it_claims_to_be() {
    let sandbox = runs();
    let text = sandbox.run("compare base slow").ended(0).out;
    assert!(text.starts_with("From A to B IPv6 got worse against IPv4: 10.00 % longer"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(sandbox.run("compare base slow --ascii").ended(0).out.is_ascii());
    let plain = sandbox.run("compare base slow --plain").ended(0).out;
    assert!(!plain.contains('▼') && plain.contains("Verdict: worse."), "{plain}");
    let md = sandbox.run("compare base slow --format markdown").ended(0).out;
    assert!(md.contains("| Round trip 64 B, TCP | IPv6 against IPv4 |"), "{md}");
    let latex = sandbox.run("compare base slow --format latex").ended(0).out;
    assert!(latex.contains("\\toprule") && latex.contains("10.00 \\% longer"), "{latex}");
    let csv = sandbox.run("compare base slow --format csv").ended(0).out;
    let columns = csv.lines().next().unwrap().split(',').count();
    assert_eq!((columns, csv.lines().count()), (24, 1 + 2 * 3), "{csv}");
    let path = sandbox.run("compare base slow --format html -o page.html").ended(0).out;
    assert_eq!(path, "page.html\n");
    assert!(sandbox.read("page.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn results_are_named_as_everywhere() {
    let sandbox = runs();
    let text = sandbox.run("compare base00 like00").ended(0).out;
    assert_eq!(sandbox.run("compare last~2 last~1").ended(0).out, text);
    let files = "compare runs/base00/journal.jsonl runs/like00/journal.jsonl";
    assert_eq!(sandbox.run(files).ended(0).out, text);
    let all = sandbox.run("compare base like slow").ended(0).out;
    assert!(all.contains("from A to B") && all.contains("from A to C"), "{all}");
}

/// Another run may begin while the first of them is read or analysed.
#[test]
fn all_that_is_compared_is_looked_up_before_any_is_read() {
    let sandbox = runs();
    let pipe = sandbox.path("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = sandbox.start("compare ./pipe.jsonl last -J");
    // Opens when the program has opened it to read.
    let mut end = OpenOptions::new().write(true).open(&pipe).unwrap();
    sandbox.store("newest", "lab-b", 1_763_800_000_000_000_000);
    end.write_all(&sandbox.bytes("runs/base00/journal.jsonl")).unwrap();
    drop(end);
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    assert!(status.success(), "{status}");
    let document: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(document["runs"][0]["id"], "base00");
    assert_eq!(document["runs"][1]["id"], "slow00");
}

#[test]
fn scripts_learn_from_the_exit_code() {
    let sandbox = runs();
    for (line, code) in [
        ("base slow", 0),
        ("base slow --fail-if worse", 10),
        ("base slow --fail-if worse:cpu", 2),
        ("base slow --fail-if worse:throughput", 0),
        ("base slow --fail-if worse --of ipv4", 0),
        ("base slow --fail-if worse:rtt --of ipv6", 10),
        ("base slow --fail-if worse --of all", 10),
        ("base slow --require same", 10),
        ("base like --require same --of all", 0),
        ("slow base --require same:rtt", 0),
        ("base like --require same:connect", 11),
    ] {
        sandbox.run(&format!("compare {line}")).ended(code);
    }
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let sandbox = runs();
    sandbox.store_sweep();
    sandbox.store_sweep_of_swapped_arms();
    let ran = sandbox.run("compare base swept2").ended(6);
    assert!(
        ran.err.contains("B compares IPv4 with IPv6, and A compares IPv6 with IPv4"),
        "{ran:?}"
    );
    assert!(ran.err.contains("[V602, exit 6]"), "{ran:?}");
    // Only one size is in both: it alone is compared, the others are named. The made-up
    // differences resemble their neighbours too much for a verdict.
    let text = sandbox.run("compare base swept1").ended(0).out;
    assert!(text.contains("Measured in B only: Round trip 1 KiB, TCP; "), "{text}");
    assert!(text.contains("Measured in A only: Throughput, TCP."), "{text}");
    let ran = sandbox.run("compare base").ended(2);
    assert!(ran.err.contains("needs two results or more"), "{ran:?}");
    let ran = sandbox.run("compare base base00").ended(2);
    assert!(ran.err.contains("the result base00 is named twice"), "{ran:?}");
    sandbox.run("compare base nosuch").ended(2);
    sandbox.store_other_factor("other0");
    let ran = sandbox.run("compare swept1 other0").ended(6);
    assert!(ran.err.contains("a factor differs: outstanding is 1 in A and 2 in B"), "{ran:?}");
    assert!(sandbox.run("explain V602").ended(0).out.contains("factors"));
}

/// Scripts read the documents by their published schemas (docs/schema).
#[test]
fn documents_fit_their_published_schemas() {
    let sandbox = runs();
    sandbox.store_sweep();
    for (schema, line) in [
        (include_str!("../../../../docs/schema/result.json"), "show base -J"),
        (include_str!("../../../../docs/schema/result.json"), "show swept1 -J"),
        (include_str!("../../../../docs/schema/comparison.json"), "compare base like slow -J"),
        (
            include_str!("../../../../docs/schema/figure.json"),
            "figures swept1 --only 1 -f json -o -",
        ),
    ] {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let document: Value = serde_json::from_str(&sandbox.run(line).ended(0).out).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{line}: {}", errors.join("\n"));
    }
}

/// The one figure that is asked for, of each result or of all together, and nothing beside it.
#[test]
fn a_figure_that_is_asked_for_comes_alone() {
    let sandbox = runs();
    for (only, files) in [("1", 4), ("systems-throughput", 2)] {
        sandbox.run(&format!("figures base like --only {only} -f svg -o {only}")).ended(0);
        let written = std::fs::read_dir(sandbox.path(only)).unwrap();
        let names: Vec<_> = written.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), files, "{names:?}");
    }
    let ran = sandbox.run("figures base like --only none -f svg -o none").ended(2);
    assert!(ran.err.contains("has no figure \"none\""), "{ran:?}");
    assert!(!sandbox.path("none").exists(), "refused before anything is written");
}
