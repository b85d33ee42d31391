//! The program itself, as a user starts it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use v6gap_core::record::Line;

/// What it writes down when it is called with `arguments`, which make one run; `data` is where its
/// runs are, and is gone afterwards.
///
/// # Errors
/// If there is no result, with what the program said.
pub(crate) fn run(arguments: &[&str], data: &Path) -> Result<Vec<Line>, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_v6gap"));
    command.args(arguments).args(["--json", "--quiet", "--no-report"]);
    command.env("V6GAP_DATA", data).env("V6GAP_LOCKS", data.join("locks"));
    command.stdin(Stdio::null());
    let output = command.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let result: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{}: no result: {e}: {said}", output.status))?;
    let id = result["id"].as_str().ok_or("a result without an identifier")?;
    let journal = data.join("runs").join(id).join("journal.jsonl");
    let lines = v6gap_store::read_journal(&journal).map_err(|e| e.to_string())?;
    std::fs::remove_dir_all(data).map_err(|e| format!("{}: {e}", data.display()))?;
    Ok(lines)
}
