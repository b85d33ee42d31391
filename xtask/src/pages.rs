//! The pages that say how to add something, followed to the letter: what they insert is inserted
//! into a copy of the workspace, and what they run is run there.
//!
//! A step is a line that ends in "In `FILE`, after `ANCHOR`:" (or "before", or "in place of"), and
//! the fenced block behind it. The anchor is text of a line, found where it first stands. A line
//! that starts with "Run `cargo …`" is run.

use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages.
pub const PAGES: [&str; 2] = ["docs/adding-a-metric.md", "docs/adding-a-workload.md"];

/// What is copied of the workspace.
const COPIED: [&str; 16] = [
    "Cargo.toml",
    "Cargo.lock",
    "CHANGELOG.md",
    "README.md",
    "clippy.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "crates",
    "docs",
    "packaging",
    "plans",
    "published",
    "scenarios",
    "share",
    "worlds",
    "xtask",
];

/// Where text goes, seen from the line with the anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    After,
    Before,
    InPlaceOf,
}

/// What a page tells to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Put text into a file.
    Insert {
        /// The file, relative to the workspace.
        file: String,
        /// Lines of the file, and what becomes of them.
        edit: Edit,
    },
    /// Run cargo with these words.
    Run(String),
}

/// Text and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    anchor: String,
    place: Place,
    text: String,
}

/// The steps of a page, in order.
///
/// # Errors
/// A place without a block behind it.
pub fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("Run `cargo ") {
            let words = rest.split('`').next().unwrap_or_default();
            steps.push(Step::Run(words.to_owned()));
            continue;
        }
        let Some((file, anchor, place)) = place_of(line) else { continue };
        let opened = lines.find(|line| !line.trim().is_empty());
        if !opened.is_some_and(|line| line.starts_with("```")) {
            return Err(format!("no block behind: {line}"));
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let text = block.join("\n");
        steps.push(Step::Insert { file, edit: Edit { anchor, place, text } });
    }
    Ok(steps)
}

/// File, anchor and place, if the line ends in them.
fn place_of(line: &str) -> Option<(String, String, Place)> {
    let (_, rest) = line.strip_suffix("`:")?.rsplit_once("In `")?;
    let (file, rest) = rest.split_once("`, ")?;
    let (place, anchor) = rest.split_once(" `")?;
    let place = match place {
        "after" => Place::After,
        "before" => Place::Before,
        "in place of" => Place::InPlaceOf,
        _ => return None,
    };
    Some((file.to_owned(), anchor.to_owned(), place))
}

impl Edit {
    /// The text of a file with it.
    ///
    /// # Errors
    /// The anchor is not there.
    fn apply(&self, text: &str) -> Result<String, String> {
        let mut lines: Vec<&str> = text.lines().collect();
        let found = lines.iter().position(|line| line.contains(&self.anchor));
        let at = found.ok_or_else(|| format!("has no `{}`", self.anchor))?;
        match self.place {
            Place::After => lines.insert(at + 1, &self.text),
            Place::Before => lines.insert(at, &self.text),
            Place::InPlaceOf => lines[at] = &self.text,
        }
        Ok(lines.join("\n") + "\n")
    }
}

/// Follows each page in a copy of its own.
///
/// # Errors
/// The first step that cannot be done, with its page.
pub fn follow() -> Result<(), String> {
    let root = workspace::root();
    PAGES.iter().try_for_each(|page| {
        println!("{page}");
        follow_one(&root, page).map_err(|why| format!("{page}: {why}"))
    })
}

fn follow_one(root: &Path, page: &str) -> Result<(), String> {
    let text = read(&root.join(page))?;
    let copy = root.join("target/pages");
    for name in COPIED {
        let _ = fs::remove_dir_all(copy.join(name));
        copy_all(&root.join(name), &copy.join(name))?;
    }
    for step in steps(&text)? {
        match step {
            Step::Insert { file, edit } => {
                let path = copy.join(&file);
                let changed = edit.apply(&read(&path)?).map_err(|why| format!("{file} {why}"))?;
                fs::write(&path, changed).map_err(|e| format!("{file}: {e}"))?;
            }
            Step::Run(words) => run(&copy, &words)?,
        }
    }
    Ok(())
}

fn run(copy: &Path, words: &str) -> Result<(), String> {
    println!("cargo {words}");
    let mut cargo = Command::new("cargo");
    // What the copy depends on has been built for the workspace.
    cargo.args(words.split(' ')).current_dir(copy).env("CARGO_TARGET_DIR", workspace::target()?);
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo {words}: {status}")),
        Err(e) => Err(format!("cargo {words}: {e}")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Copies a file, or a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("copying {}: {e}", from.display());
    if !from.is_dir() {
        to.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        return fs::copy(from, to).map(|_| ()).map_err(failed);
    }
    fs::create_dir_all(to).map_err(failed)?;
    let names = fs::read_dir(from).map_err(failed)?;
    let paths: Vec<PathBuf> = names.flatten().map(|entry| entry.path()).collect();
    paths.iter().try_for_each(|path| match path.file_name() {
        Some(name) if name != "target" => copy_all(path, &to.join(name)),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "First. In `a.rs`, after `one`:\n\n```rust\n2\n3\n```\n\nRun `cargo check -p a`.\n";

    #[test]
    fn a_page_is_read_and_followed() {
        let found = steps(PAGE).unwrap();
        let [Step::Insert { file, edit }, Step::Run(words)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((file.as_str(), words.as_str()), ("a.rs", "check -p a"));
        let there = |place| Edit { place, ..edit.clone() }.apply("zero\n one\nfour\n").unwrap();
        assert_eq!(there(Place::After), "zero\n one\n2\n3\nfour\n");
        assert_eq!(there(Place::Before), "zero\n2\n3\n one\nfour\n");
        assert_eq!(there(Place::InPlaceOf), "zero\n2\n3\nfour\n");
        assert!(edit.apply("nothing").is_err());
        assert!(steps("In `a.rs`, after `one`:\n\nno block").is_err());
    }

    /// Each anchor of the pages is where they say, by day too.
    #[test]
    fn the_pages_fit_the_files() {
        let root = workspace::root();
        for page in PAGES {
            let text = read(&root.join(page)).unwrap();
            assert!(text.lines().count() <= 120, "{page} is long");
            let steps = steps(&text).unwrap();
            assert!(steps.iter().any(|step| matches!(step, Step::Run(_))), "{page} runs nothing");
            let mut files = std::collections::BTreeMap::new();
            for step in steps {
                let Step::Insert { file, edit } = step else { continue };
                let text = match files.remove(&file) {
                    Some(text) => text,
                    None => read(&root.join(&file)).unwrap(),
                };
                let changed =
                    edit.apply(&text).unwrap_or_else(|why| panic!("{page}: {file} {why}"));
                files.insert(file, changed);
            }
        }
    }
}
