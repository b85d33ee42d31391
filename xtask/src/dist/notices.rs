//! The notices of the libraries that the program contains, which their licences want handed on with
//! it. They are taken from the sources that were compiled, so the list cannot go stale.

use super::ARCHES;
use crate::command::cargo;
use crate::workspace;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How files with a licence or a notice are called.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// All of them, each text once under the names of its libraries.
pub fn text() -> Result<String, String> {
    let folders = folders()?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in linked()? {
        let folder = folders.get(&name).ok_or_else(|| format!("cargo does not know {name}"))?;
        for file in chosen(files(folder)?) {
            let text = super::read(&folder.join(file))?.replace('\r', "");
            texts.entry(text.trim().to_owned()).or_default().insert(name.clone());
        }
    }
    let fonts = super::read(&workspace::root().join("crates/report/fonts/LICENSE"))?;
    texts.entry(fonts.trim().to_owned()).or_default().insert("the fonts of figures".to_owned());
    let mut sections: Vec<String> = texts
        .into_iter()
        .map(|(text, names)| {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            format!("{names}\n{}\n\n{text}\n", "=".repeat(78))
        })
        .collect();
    sections.sort();
    Ok(sections.join("\n\n"))
}

/// What is linked into the program on any processor, as in `serde v1.0.0`, without our own crates.
fn linked() -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for arch in &ARCHES {
        let tree = cargo("tree --locked -p v6gap -e normal --prefix none --target")
            .args([arch.target.to_owned()])
            .output()?;
        let lines = tree.lines().filter(|line| !line.contains(['/', '\\']));
        let words = lines.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
        names.extend(words.filter(|name| name.contains(" v")));
    }
    Ok(names)
}

/// Where the sources of each library are.
fn folders() -> Result<BTreeMap<String, PathBuf>, String> {
    let text = cargo("metadata --format-version 1 --locked").output()?;
    let value: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let folder = |package: &Value| {
        let part = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let folder = PathBuf::from(part("manifest_path")).parent().map(Path::to_path_buf);
        Some((format!("{} v{}", part("name"), part("version")), folder?))
    };
    Ok(value["packages"].as_array().into_iter().flatten().filter_map(folder).collect())
}

fn files(folder: &Path) -> Result<Vec<String>, String> {
    let starts = |name: &String| NAMES.iter().any(|n| name.to_ascii_uppercase().starts_with(n));
    Ok(super::names(folder)?.into_iter().filter(starts).collect())
}

/// Where there is a choice, the shorter licence, MIT's: nothing but its notice is asked for.
fn chosen(files: Vec<String>) -> Vec<String> {
    let is = |name: &str, word: &str| name.to_ascii_uppercase().contains(word);
    let choice = files.iter().any(|name| is(name, "MIT"));
    files.into_iter().filter(|name| !choice || !is(name, "APACHE")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_licences_the_one_that_asks_for_less_is_handed_on() {
        let chosen = |names: &[&str]| chosen(names.iter().map(|n| (*n).to_owned()).collect());
        assert_eq!(chosen(&["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]), ["LICENSE-MIT", "NOTICE"]);
        assert_eq!(chosen(&["LICENSE-APACHE"]), ["LICENSE-APACHE"]);
    }

    #[test]
    fn what_is_linked_has_notices_and_is_not_ours() {
        let names = linked().unwrap();
        assert!(names.iter().any(|name| name.starts_with("clap v")), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("v6gap")), "{names:?}");
    }
}
