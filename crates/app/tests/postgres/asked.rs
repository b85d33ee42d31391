//! What the database says is what the program says, and what DuckDB says of the archive.

use super::fleet;
use super::server::Server;
use super::support::Sandbox;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The page whose queries are asked, and what asks DuckDB.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fleet-archive.md");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebooks/queries.py");

/// Where `cargo xtask test --setup` puts a Python with DuckDB.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python");

/// Columns, and what they are called in JSON.
const FIGURES: [(&str, &str); 7] = [
    ("effect", "estimate"),
    ("low95", "low"),
    ("high95", "high"),
    ("low90", "low90"),
    ("high90", "high90"),
    ("sd", "sd"),
    ("pairs", "pairs"),
];

pub fn queries_say_what_the_program_says(server: &Server) {
    let sandbox = fleet();
    let url = server.database("asked");
    sandbox.run(&format!("index postgres {url}")).ended(0);
    let figures = figures(server, &sandbox);
    let page = std::fs::read_to_string(PAGE).unwrap();
    let queries = queries(&page);
    assert!(queries.len() >= 6, "{queries:?}");
    let answered: Vec<Vec<Value>> =
        queries.iter().map(|query| server.ask("asked", query)).collect();
    for (query, rows) in queries.iter().zip(&answered) {
        assert!(!rows.is_empty(), "nothing to be compared: {query}");
    }
    println!("{figures} figures are those of show --json; {} queries answered", queries.len());
    let Some(python) = python() else {
        println!("SKIPPED: DuckDB to compare with (cargo xtask test --setup installs it)");
        return;
    };
    sandbox.run("index archive").ended(0);
    let output = Command::new(python).arg(SCRIPT).arg(sandbox.path("archive")).arg(PAGE).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let by_duckdb: Vec<Vec<Value>> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(by_duckdb.len(), answered.len());
    for ((query, here), there) in queries.iter().zip(&answered).zip(&by_duckdb) {
        assert!(are_alike(here, there), "{query}\n{here:#?}\n{there:#?}");
    }
}

/// Compares every figure of every question with what the program shows; how many there are.
fn figures(server: &Server, sandbox: &Sandbox) -> usize {
    let rows = server.ask("asked", "SELECT * FROM answers");
    let mut compared = 0;
    for number in 0..4 {
        let shown = sandbox.run(&format!("show fleet{number} --json")).ended(0).out;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        for question in shown["questions"].as_array().unwrap() {
            let is_of = |row: &&Value| {
                row["run"] == shown["id"]
                    && row["cell"] == question["cell"]
                    && row["metric"] == question["metric"]
            };
            let row = rows.iter().find(is_of).expect("a row for each question");
            assert_eq!(row["verdict"], question["verdict"]);
            assert_eq!(row["margin"].as_f64(), question["margin"].as_f64());
            for (here, told) in FIGURES {
                let told = question["effect"][told].as_f64();
                assert_eq!(row[here].as_f64(), told, "{here} of {row:#}");
                compared += usize::from(told.is_some());
            }
        }
    }
    assert!(compared > 0);
    compared
}

/// The queries of a page.
fn queries(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```sql\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap_or_default()).collect()
}

/// Whether rows have the same names and values; 1 is 1.0.
fn are_alike(here: &[Value], there: &[Value]) -> bool {
    let is_alike = |(one, other): (&Value, &Value)| match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    };
    let rows = here.iter().zip(there);
    here.len() == there.len()
        && rows.map(|(one, other)| (one.as_object(), other.as_object())).all(|both| match both {
            (Some(one), Some(other)) => {
                one.keys().eq(other.keys()) && one.values().zip(other.values()).all(is_alike)
            }
            _ => false,
        })
}

fn python() -> Option<PathBuf> {
    let has = |python: &PathBuf| {
        let imports = Command::new(python).args(["-c", "import duckdb"]).output();
        imports.is_ok_and(|output| output.status.success())
    };
    [Path::new(PYTHON).to_owned(), PathBuf::from("python3")].into_iter().find(has)
}
