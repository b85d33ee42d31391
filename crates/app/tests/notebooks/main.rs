//! The examples of docs/analysis.md, run by a real Python on what the real program exports.
//!
//! Needs a Python with pandas and pyarrow: the one that `cargo xtask test --setup` makes below
//! `target`, or the system's. Without any it says `SKIPPED`.

#[allow(dead_code, reason = "the command-line tests use the rest of it")]
#[path = "../cli/support.rs"]
mod support;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::Sandbox;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebooks/differences.py");

/// Where `cargo xtask test --setup` puts it.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python");

/// Largest relative deviation between two orders of adding the same numbers.
const TOLERANCE: f64 = 1e-9;

fn main() {
    let Some(python) = python() else {
        println!("SKIPPED: no Python with pandas and pyarrow (cargo xtask test --setup makes one)");
        return;
    };
    let sandbox = Sandbox::with_run();
    agrees(&python, &sandbox, "the run that ended when it was sure");
    fix_pairs(&sandbox);
    agrees(&python, &sandbox, "the run with a fixed number of pairs");
    sandbox.store_sweep();
    agrees(&python, &sandbox, "the sweep");
}

fn python() -> Option<PathBuf> {
    let has = |python: &PathBuf| {
        let imports = Command::new(python).args(["-c", "import pandas, pyarrow"]).output();
        imports.is_ok_and(|output| output.status.success())
    };
    [PathBuf::from(PYTHON), PathBuf::from("python3")].into_iter().find(has)
}

/// Makes the stored run one with a number of pairs fixed before, which is estimated another way.
fn fix_pairs(sandbox: &Sandbox) {
    let text = sandbox.read("runs/7k2f9q/journal.jsonl");
    let (first, rest) = text.split_once('\n').expect("a journal");
    let mut header: Value = serde_json::from_str(first).expect("a header");
    header["plan"]["design"]["stop"] = json!({"kind": "pairs", "pairs": 20});
    sandbox.write("runs/7k2f9q/journal.jsonl", &format!("{header}\n{rest}"));
}

/// What the script says of the last result is what the program says of it.
fn agrees(python: &Path, sandbox: &Sandbox, what: &str) {
    sandbox.run("export last --format parquet -o last").ended(0);
    sandbox.run("export last --format json -o last/result.json").ended(0);
    let output = Command::new(python).arg(SCRIPT).arg(sandbox.path("last")).output();
    let output = output.expect("the script runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let mut rows = said.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = rows.next().expect("a line of heads");
    let column = |name: &str| heads.iter().position(|head| *head == name).expect("the column");
    let (cell, metric, here) = (column("cell"), column("metric"), column("here"));
    let shown = sandbox.run("show last --json").ended(0).out;
    let shown: Value = serde_json::from_str(&shown).expect("a document");
    let questions = shown["questions"].as_array().expect("questions");
    assert!(!questions.is_empty());
    for question in questions {
        let row = rows.next().expect("a row for each question");
        assert_eq!((row[cell], row[metric]), (text(&question["cell"]), text(&question["metric"])));
        let told = question["effect"]["estimate"].as_f64().expect("an estimate");
        let found: f64 = row[here].parse().expect("a number");
        assert!((found - told).abs() <= TOLERANCE * told.abs(), "{}: {found} {told}", row[cell]);
    }
    println!("{what}: {} estimates agree", questions.len());
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
