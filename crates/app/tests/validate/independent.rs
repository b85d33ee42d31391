//! Row i: the statistics of stored runs, computed again by a script with SciPy from what `export`
//! gives.

use crate::results::Results;
use crate::say;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validate/again.py");

/// Version of SciPy that is installed where none is there.
const SCIPY: &str = "scipy==1.16.3";

/// The runs: one with a fixed number of pairs, one that ended when it was sure, one of a world with
/// a difference, and one with lost packets; three of them at least.
const RUNS: [(&str, &str); 4] =
    [("reference", "delay"), ("b", "null"), ("c", "rate"), ("c", "loss")];
const RUNS_MIN: usize = 3;

/// Exports the runs, has them computed again and keeps how they agree.
///
/// # Errors
/// If runs are missing, SciPy cannot be had, or figures differ.
pub(crate) fn run(results: &Results) -> Result<(), String> {
    let lines = results.lines();
    let of = |(row, case): (&str, &str)| {
        let fits = |done: &&Value| {
            let named = done["case"].as_str().unwrap_or_default().starts_with(case);
            done["row"] == row && named && !done["journal"].is_null()
        };
        lines.iter().rev().find(fits).cloned()
    };
    let chosen: Vec<Value> = RUNS.into_iter().filter_map(of).collect();
    if chosen.len() < RUNS_MIN {
        return Err("row i needs runs of rows b and c; there are too few yet".to_owned());
    }
    let python = python(results.folder())?;
    let mut wrong = Vec::new();
    for done in chosen {
        let name = done["journal"].as_str().unwrap_or_default();
        let (good, said) = again(&python, results.folder(), name)?;
        say(&format!("{name}: {}", said.trim()));
        results.append(&json!({
            "row": "i", "case": name, "agrees": good, "said": said.trim(),
        }))?;
        if !good {
            wrong.push(format!("{name}: {said}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What the script says of a run, and whether it agrees.
fn again(python: &Path, folder: &Path, name: &str) -> Result<(bool, String), String> {
    let journal = folder.join("journals").join(name);
    let mut files = Vec::new();
    for format in ["json", "csv"] {
        let file = folder.join(format!("export.{format}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_v6gap"));
        command.arg("export").arg(&journal).args(["--format", format, "-o"]).arg(&file);
        told(command.stdin(Stdio::null()))?;
        files.push(file);
    }
    let output = Command::new(python).arg(SCRIPT).args(&files).output();
    let output = output.map_err(|e| format!("{}: {e}", python.display()))?;
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok((output.status.success(), said.into_owned()))
}

/// A Python that has SciPy: the system's, or one of its own below the folder of results.
fn python(folder: &Path) -> Result<PathBuf, String> {
    let own = folder.join("python");
    let inside = own.join("bin/python");
    let has = |python: &Path| {
        Command::new(python)
            .args(["-c", "import scipy, numpy"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let system = PathBuf::from("python3");
    if let Some(found) = [&system, &inside].into_iter().find(|python| has(python)) {
        return Ok(found.clone());
    }
    told(Command::new(&system).args(["-m", "venv"]).arg(&own))?;
    told(Command::new(&inside).args(["-m", "pip", "install", "--quiet", SCIPY]))?;
    Ok(inside)
}

/// Runs a command to its end.
fn told(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{program}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
