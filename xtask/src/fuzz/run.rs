//! Builds the program of all targets, runs one after the other, and reads what libFuzzer says.

use super::toolchain::Tools;
use crate::command::Line;
use crate::workspace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the workspace of the program lies, below the root.
const PROGRAM: &str = "crates/fuzz/libfuzzer";

/// Stored inputs, by target.
const CORPUS: &str = "crates/fuzz/corpus";

/// What is built and found, below the root; no part of the repository.
const OUTPUT: &str = "target/fuzz";

/// Longest input, in bytes: what is longer repeats itself.
const INPUT_BYTES_MAX: &str = "-max_len=4096";

/// One input may take so long, in s, and all of them so much memory, in MB.
const LIMITS: [&str; 2] = ["-timeout=20", "-rss_limit_mb=3000"];

/// Bytes of the stored inputs of a target that minimising leaves.
const CORPUS_BYTES_MAX: u64 = 70_000;

/// What became of a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searched {
    /// How many inputs were tried.
    pub inputs: u64,
    /// Edges of the program that they covered.
    pub edges: u64,
    /// Features: edges by how often they were taken.
    pub features: u64,
    /// Inputs that cover something of their own.
    pub kept: u64,
    /// What was found, if anything was, and the file of the input.
    pub finding: Option<String>,
}

/// What watches over memory while the targets run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    /// Each access to memory is looked at: for targets that reach unsafe code.
    Address,
    /// None, for several times as many inputs a second: safe code needs none.
    None,
}

/// Builds the program of the copy of the repository in `tree`, below the root; empty for this one.
pub fn build(tools: &Tools, tree: &str, sanitizer: Sanitizer) -> Result<(), String> {
    let root = workspace::root().join(tree);
    let program = root.join(PROGRAM);
    // The same versions as those of the product; what is beyond them is pinned in the manifest.
    let (from, to) = (root.join("Cargo.lock"), program.join("Cargo.lock"));
    std::fs::copy(&from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
    let sanitizer = match sanitizer {
        Sanitizer::Address => "address",
        Sanitizer::None => "none",
    };
    let options = [
        "--sanitizer".to_owned(),
        sanitizer.to_owned(),
        "--fuzz-dir".to_owned(),
        program.display().to_string(),
        "--target-dir".to_owned(),
        workspace::root().join(OUTPUT).display().to_string(),
        "target".to_owned(),
    ];
    tools.cargo("fuzz build").args(options).run()
}

/// The targets of those names, or all that have a corpus.
pub fn targets(names: &[String]) -> Result<Vec<String>, String> {
    let folder = workspace::root().join(CORPUS);
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let known: BTreeSet<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    match names.iter().find(|name| !known.contains(*name)) {
        Some(name) => Err(format!("no target is called {name}; there are {known:?}")),
        None if names.is_empty() => Ok(known.into_iter().collect()),
        None => Ok(names.to_vec()),
    }
}

/// Runs each for so long, or for so many inputs, whichever comes first; all of them, and then says
/// what was found.
pub fn all(
    targets: &[String],
    each: Option<Duration>,
    runs: Option<u64>,
) -> (String, Result<(), String>) {
    let mut summary = "| Target | Inputs | Seconds | Edges | Features | Kept | Found |\n\
                       |---|--:|--:|--:|--:|--:|---|\n"
        .to_owned();
    let mut failed = Vec::new();
    for name in targets {
        let start = Instant::now();
        let searched = match search(name, each, runs) {
            Ok(searched) => searched,
            Err(why) => Searched { finding: Some(why), ..Searched::default() },
        };
        let seconds = start.elapsed().as_secs();
        let Searched { inputs, edges, features, kept, finding } = &searched;
        let found = finding.as_deref().unwrap_or("nothing");
        let row = format!(
            "| {name} | {inputs} | {seconds} | {edges} | {features} | {kept} | {found} |\n"
        );
        print!("{row}");
        summary.push_str(&row);
        failed.extend(finding.as_ref().map(|found| format!("{name}: {found}")));
    }
    let outcome = if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) };
    (summary, outcome)
}

/// Searches with one target; what is found is no error of this function.
pub fn search(name: &str, each: Option<Duration>, runs: Option<u64>) -> Result<Searched, String> {
    let root = workspace::root();
    let found = root.join(OUTPUT).join("corpus").join(name);
    let artifacts = root.join(OUTPUT).join("artifacts").join(name);
    for folder in [&found, &artifacts] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let words = words(name)?;
    let mut line = program(name)
        .args([INPUT_BYTES_MAX, "-print_final_stats=1"].map(str::to_owned))
        .args(LIMITS.map(str::to_owned))
        .args([format!("-artifact_prefix={}/", artifacts.display())])
        .args(words.map(|path| format!("-dict={}", path.display())));
    line = line.args(each.map(|each| format!("-max_total_time={}", each.as_secs().max(1))));
    line = line.args(runs.map(|runs| format!("-runs={runs}")));
    let stored = root.join(CORPUS).join(name);
    line = line.args([found, stored].map(|folder| folder.display().to_string()));
    println!("$ {line}");
    let (success, text) = line.outcome()?;
    Ok(read(success, &text))
}

fn program(name: &str) -> Line {
    let folder = workspace::root().join(OUTPUT);
    let places = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let built = places.map(|entry| entry.path().join("release/target")).find(|path| path.is_file());
    let built = built.unwrap_or_else(|| folder.join("release/target"));
    Line::new(&built.display().to_string(), "").env("V6GAP_FUZZ_TARGET", name.to_owned())
}

/// What libFuzzer said. The last line with figures counts, and the line that names a finding.
fn read(success: bool, text: &str) -> Searched {
    let mut searched = Searched::default();
    for line in text.lines() {
        let after = |label: &str| -> Option<u64> {
            let rest = line.split(label).nth(1)?.trim_start();
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        if line.starts_with('#') {
            searched.inputs = after("#").unwrap_or(searched.inputs);
            searched.edges = after(" cov: ").unwrap_or(searched.edges);
            searched.features = after(" ft: ").unwrap_or(searched.features);
            searched.kept = after(" corp: ").unwrap_or(searched.kept);
        }
        searched.inputs = after("stat::number_of_executed_units: ").unwrap_or(searched.inputs);
    }
    if !success {
        let says = |part: &str| text.lines().find(|line| line.contains(part)).map(str::trim);
        let panicked = text.lines().skip_while(|line| !line.contains("panicked at")).take(2);
        let panicked: Vec<&str> = panicked.map(str::trim).collect();
        let what = match panicked.is_empty() {
            false => panicked.join(" "),
            true => says("ERROR:").unwrap_or("it ended without a word").to_owned(),
        };
        let file = says("Test unit written to").unwrap_or("").replace("Test unit written to", "");
        // A table has one line for it.
        let what = what.replace('|', "/");
        searched.finding = Some(format!("{what} ({})", file.trim()));
    }
    searched
}

/// A dictionary of the words in the stored inputs that are text; `None` if there are none.
fn words(name: &str) -> Result<Option<PathBuf>, String> {
    let mut words = BTreeSet::new();
    for path in files(&workspace::root().join(CORPUS).join(name)) {
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c));
        words.extend(parts.filter(|w| (3..=20).contains(&w.len())).map(str::to_owned));
    }
    if words.len() < 5 {
        return Ok(None);
    }
    let path = workspace::root().join(OUTPUT).join(format!("{name}.dict"));
    let lines: String = words.iter().take(400).map(|word| format!("\"{word}\"\n")).collect();
    std::fs::write(&path, lines).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Some(path))
}

/// Files of a folder, the smallest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(u64, PathBuf)> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.len(), entry.path()))).collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Adds to the stored inputs of a target the found ones that cover something of their own, the
/// smallest first, as far as they are few bytes.
pub fn minimise(name: &str) -> Result<(), String> {
    let root = workspace::root();
    let (stored, found) =
        (root.join(CORPUS).join(name), root.join(OUTPUT).join("corpus").join(name));
    let merged = root.join(OUTPUT).join("merged").join(name);
    let trouble = |path: &Path| {
        let path = path.display().to_string();
        move |e: std::io::Error| format!("{path}: {e}")
    };
    if merged.exists() {
        std::fs::remove_dir_all(&merged).map_err(trouble(&merged))?;
    }
    std::fs::create_dir_all(&merged).map_err(trouble(&merged))?;
    let folders = [&merged, &stored, &found].map(|folder| folder.display().to_string());
    let (success, text) = program(name).args(["-merge=1".to_owned()]).args(folders).outcome()?;
    if !success {
        return Err(format!("{name}: merging failed:\n{text}"));
    }
    let bytes_of = |path: &Path| path.metadata().map_or(0, |found| found.len());
    let mut bytes: u64 = files(&stored).iter().map(|path| bytes_of(path)).sum();
    let known: BTreeSet<Vec<u8>> = files(&stored).iter().flat_map(std::fs::read).collect();
    let mut added = 0;
    for path in files(&merged) {
        let content = std::fs::read(&path).map_err(trouble(&path))?;
        bytes += content.len() as u64;
        if bytes > CORPUS_BYTES_MAX {
            break;
        }
        if !known.contains(&content) {
            let to = stored.join(path.file_name().unwrap_or_default());
            std::fs::write(&to, content).map_err(trouble(&to))?;
            added += 1;
        }
    }
    println!("{name}: {added} inputs added");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: &str = "\
#2\tINITED cov: 92 ft: 93 corp: 1/1b exec/s: 0 rss: 40Mb
#1048576\tpulse  cov: 120 ft: 260 corp: 31/812b lim: 4096 exec/s: 349525 rss: 60Mb
#1200000\tDONE   cov: 121 ft: 270 corp: 33/900b lim: 4096 exec/s: 300000 rss: 61Mb
stat::number_of_executed_units: 1200000
";

    #[test]
    fn figures_are_read_from_the_last_line_that_has_them() {
        let expected =
            Searched { inputs: 1_200_000, edges: 121, features: 270, kept: 33, finding: None };
        assert_eq!(read(true, DONE), expected);
    }

    #[test]
    fn a_finding_is_named_with_the_file_of_its_input() {
        let text = format!(
            "{DONE}thread '<unnamed>' panicked at crates/fuzz/src/bytes.rs:40:5:\nassertion\n\
             artifact_prefix='x/'; Test unit written to x/crash-1\n"
        );
        let finding = read(false, &text).finding.unwrap();
        assert!(finding.contains("bytes.rs:40:5: assertion"), "{finding}");
        assert!(finding.contains("x/crash-1"), "{finding}");
        assert!(read(false, "").finding.is_some());
    }

    #[test]
    fn targets_are_those_with_a_corpus() {
        assert!(targets(&[]).unwrap().contains(&"header".to_owned()));
        assert!(targets(&["no-such-target".to_owned()]).is_err());
    }
}
