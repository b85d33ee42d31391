//! Faults that were planted to see whether the targets find them: a search that finds nothing is
//! worth what it would have found.
//!
//! Each is a patch in `crates/fuzz/faults`, whose first line names the target that must find it. It
//! is put into a copy of the committed tree, which is built and searched for a minute at most.

use super::run::{self, Sanitizer, Searched};
use super::toolchain::Tools;
use crate::command::Line;
use crate::workspace;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the patches are.
const FAULTS: &str = "crates/fuzz/faults";

/// The copy of the tree that they are put into.
const TREE: &str = "target/faulty";

/// How long a fault may stay unseen.
const EACH: Duration = Duration::from_secs(60);

/// A planted fault.
struct Fault {
    path: PathBuf,
    target: String,
}

/// Plants one after the other, those of `targets` if any are named; says of each what found it.
pub fn all(
    tools: &Tools,
    targets: &[String],
    sanitizer: Sanitizer,
) -> Result<(String, Result<(), String>), String> {
    let mut summary =
        "| Fault | Target | Inputs | Seconds | Found as |\n|---|---|--:|--:|---|\n".to_owned();
    let mut missed = Vec::new();
    let faults = faults()?;
    let wanted = |fault: &&Fault| targets.is_empty() || targets.contains(&fault.target);
    for fault in faults.iter().filter(wanted) {
        copy_of_the_tree()?;
        let patch = fault.path.display().to_string();
        Line::new("git", "apply").args([patch]).within(TREE).run()?;
        run::build(tools, TREE, sanitizer)?;
        let start = Instant::now();
        let Searched { inputs, finding, .. } = run::search(&fault.target, Some(EACH), None)?;
        let name = fault.path.file_stem().unwrap_or_default().to_string_lossy();
        let found = finding.as_deref().unwrap_or("NOT FOUND");
        let seconds = start.elapsed().as_secs();
        let row = format!("| {name} | {} | {inputs} | {seconds} | {found} |\n", fault.target);
        print!("{row}");
        summary.push_str(&row);
        if finding.is_none() {
            missed.push(format!("{name} was not found by {}", fault.target));
        }
    }
    Line::new("git", "worktree remove --force").args([TREE.to_owned()]).run()?;
    let outcome = if missed.is_empty() { Ok(()) } else { Err(missed.join("\n")) };
    Ok((summary, outcome))
}

fn faults() -> Result<Vec<Fault>, String> {
    let folder = workspace::root().join(FAULTS);
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut faults = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        faults.push(Fault { target: target(&path, &text)?, path });
    }
    faults.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(faults)
}

/// The target that the first line of a patch names.
fn target(path: &Path, text: &str) -> Result<String, String> {
    let first = text.lines().next().unwrap_or_default();
    let name = first.strip_prefix("Target: ").map(str::trim);
    name.map(str::to_owned).ok_or(format!("{}: the first line names no target", path.display()))
}

/// What is committed, without the fault before.
fn copy_of_the_tree() -> Result<(), String> {
    let root = workspace::root();
    if !root.join(TREE).join(".git").exists() {
        let add = Line::new("git", "worktree add --detach --force").args([TREE.to_owned()]);
        add.args(["HEAD".to_owned()]).run()?;
    }
    let head = Line::new("git", "rev-parse HEAD").output()?;
    let head = head.trim().to_owned();
    Line::new("git", "checkout --quiet --force --detach").args([head]).within(TREE).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_names_a_target() {
        let faults = faults().unwrap();
        assert!(faults.len() >= 10, "only {} faults", faults.len());
        let names: Vec<String> = faults.into_iter().map(|fault| fault.target).collect();
        assert!(run::targets(&names).is_ok(), "{names:?}");
    }

    /// Whoever changes the lines of one plants it anew, and does not hear of it at night.
    #[test]
    fn every_fault_can_be_planted() {
        for fault in faults().unwrap() {
            let patch = fault.path.display().to_string();
            Line::new("git", "apply --check").args([patch]).output().unwrap();
        }
    }

    #[test]
    fn a_patch_without_a_target_is_refused() {
        let path = Path::new("x.patch");
        assert_eq!(target(path, "Target: header\n--- a/x\n"), Ok("header".to_owned()));
        assert!(target(path, "--- a/x\n").is_err());
    }
}
