//! The examples of docs/analysis.md, run by a real Python on what the real program exports.
//!
//! Needs a Python with pandas, pyarrow and duckdb: the one that `cargo xtask test --setup` makes
//! below `target`, or the system's. Without any it says `SKIPPED`.

#[allow(dead_code, reason = "the command-line tests use the rest of it")]
#[path = "../cli/support.rs"]
mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::Sandbox;

const DIFFERENCES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebooks/differences.py");
const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebooks/archive.py");
const QUERIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebooks/queries.py");

/// The page whose queries that one answers.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fleet-archive.md");

/// Where `cargo xtask test --setup` puts it.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python");

/// Largest relative deviation between two orders of adding the same numbers.
const TOLERANCE: f64 = 1e-9;

/// Columns of the archive, and what they are called in JSON.
const FIGURES: [(&str, &str); 8] = [
    ("effect", "estimate"),
    ("low95", "low"),
    ("high95", "high"),
    ("low90", "low90"),
    ("high90", "high90"),
    ("sd", "sd"),
    ("pairs", "pairs"),
    ("margin", "margin"),
];

/// The same of what is computed again, on the scale of single effects.
const COMPUTED: [(&str, &str); 5] = [
    ("centre_here", "estimate"),
    ("low95_here", "low"),
    ("high95_here", "high"),
    ("low90_here", "low90"),
    ("high90_here", "high90"),
];

fn main() {
    let Some(python) = python() else {
        let lacking = "no Python with pandas, pyarrow and duckdb";
        println!("SKIPPED: {lacking} (cargo xtask test --setup makes one)");
        return;
    };
    let sandbox = Sandbox::with_run();
    let computed = |what| {
        agrees(&python, &sandbox, what);
        archived(&python, &sandbox, what)
    };
    assert_eq!(computed("the run that ended when it was sure"), 0);
    fix_pairs(&sandbox);
    // Ranges of two questions of ratios, whose number of pairs was fixed, are made of ranks.
    assert_eq!(computed("the run with a fixed number of pairs"), 2 * COMPUTED.len());
    join_rounds(&sandbox);
    agrees(&python, &sandbox, "the run with two blocks of a cell in a round");
    shorten(&sandbox);
    // Six signed ranks of two questions can tell nothing at 5 %.
    assert_eq!(computed("the run of six pairs"), 0);
    sandbox.store_sweep();
    assert_eq!(computed("the sweep"), 0);
    queries_of_a_fleet(&python);
}

fn python() -> Option<PathBuf> {
    let has = |python: &PathBuf| {
        let imports = Command::new(python).args(["-c", "import pandas, pyarrow, duckdb"]).output();
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

/// Makes one round of each two of the stored run, and of their blocks two of each cell.
fn join_rounds(sandbox: &Sandbox) {
    edit(sandbox, |line| {
        if let Some(round) = line["round"].as_u64() {
            line["round"] = json!(round.div_ceil(2));
        }
        true
    });
}

/// Leaves six rounds of it.
fn shorten(sandbox: &Sandbox) {
    let mut kept = true;
    edit(sandbox, |line| {
        // The line of a block follows its trials.
        kept = line["round"].as_u64().map_or(kept || line["line"] == "end", |round| round <= 6);
        kept
    });
}

/// Changes each line of the stored run, or takes it away.
fn edit(sandbox: &Sandbox, mut keep: impl FnMut(&mut Value) -> bool) {
    let text = sandbox.read("runs/7k2f9q/journal.jsonl");
    let mut edited = String::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).expect("a line");
        if keep(&mut line) {
            edited.push_str(&format!("{line}\n"));
        }
    }
    sandbox.write("runs/7k2f9q/journal.jsonl", &edited);
}

/// What the script says of the last result is what the program says of it.
fn agrees(python: &Path, sandbox: &Sandbox, what: &str) {
    sandbox.run("export last --format parquet -o last").ended(0);
    sandbox.run("export last --format json -o last/result.json").ended(0);
    let said = said(python, DIFFERENCES, &sandbox.path("last"));
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

/// What DuckDB finds in the archive of the last result is what the program says of it, and so are
/// the ranges that it computes from the pairs, all to the last digit. How many of those there are.
fn archived(python: &Path, sandbox: &Sandbox, what: &str) -> usize {
    // The journal of the run was changed by another program.
    sandbox.run("index rebuild --afresh").ended(0);
    sandbox.run("index archive --afresh").ended(0);
    let said = said(python, ARCHIVE, &sandbox.path("archive"));
    let mut lines = said.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().expect("a line of heads");
    let rows: Vec<BTreeMap<&str, &str>> =
        lines.map(|cells| heads.iter().copied().zip(cells).collect()).collect();
    let shown = sandbox.run("show last --json").ended(0).out;
    let shown: Value = serde_json::from_str(&shown).expect("a document");
    let mut computed = 0;
    for question in shown["questions"].as_array().expect("questions") {
        let is_of = |row: &&BTreeMap<&str, &str>| {
            row["run"] == text(&shown["id"])
                && row["cell"] == text(&question["cell"])
                && row["metric"] == text(&question["metric"])
        };
        let row = rows.iter().find(is_of).expect("a row for each question");
        assert_eq!(row["verdict"], text(&question["verdict"]));
        for (here, told) in FIGURES {
            let told = match told {
                "margin" => question[told].as_f64(),
                told => question["effect"][told].as_f64(),
            };
            assert_eq!(row[here].parse().ok(), told, "{here} of {}: {row:?}", row["cell"]);
        }
        for (here, told) in COMPUTED {
            let Ok(found) = row[here].parse::<f64>() else { continue };
            let told = question["effect"][told].as_f64();
            assert_eq!(Some(libm::expm1(found)), told, "{here} of {}: {row:?}", row["cell"]);
            computed += 1;
        }
    }
    println!("{what}: the archive says the same; {computed} figures were computed again");
    computed
}

/// The queries of the page are answered, and the history of a path is what the program says.
fn queries_of_a_fleet(python: &Path) {
    let sandbox = Sandbox::new();
    for (number, factor) in [(0, 1.0), (1, 0.9)] {
        let started_unix_ns = 1_763_560_962_000_000_000 + number * 86_400_000_000_000;
        let (id, between) = (format!("fleet{number}"), ["rome/lab-a", "oslo/lab-b"]);
        sandbox.store_of_fleet(&id, between, started_unix_ns, factor);
    }
    sandbox.run("index archive").ended(0);
    let said = said_of(python, &[Path::new(QUERIES), &sandbox.path("archive"), Path::new(PAGE)]);
    let answered: Vec<Vec<Value>> = serde_json::from_str(&said).expect("rows of each query");
    assert!(answered.len() >= 6 && answered.iter().all(|rows| !rows.is_empty()), "{said}");
    let history = &answered[1];
    for (row, number) in history.iter().zip(0..) {
        let shown = sandbox.run(&format!("show fleet{number} --json")).ended(0).out;
        let shown: Value = serde_json::from_str(&shown).expect("a document");
        let is_it = |question: &&Value| question["cell"] == "rtt-tcp-64";
        let question = shown["questions"].as_array().expect("questions").iter().find(is_it);
        let question = question.expect("the question of the history");
        assert_eq!((&row["run"], &row["verdict"]), (&shown["id"], &question["verdict"]));
        for (here, told) in [("effect", "estimate"), ("low95", "low"), ("high95", "high")] {
            assert_eq!(row[here].as_f64(), question["effect"][told].as_f64(), "{here}: {row:#}");
        }
    }
    assert_eq!(history.len(), 2);
    println!("{} queries of a fleet are answered", answered.len());
}

/// What a script prints of a folder.
fn said(python: &Path, script: &str, folder: &Path) -> String {
    said_of(python, &[Path::new(script), folder])
}

fn said_of(python: &Path, words: &[&Path]) -> String {
    let output = Command::new(python).args(words).output();
    let output = output.expect("the script runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
