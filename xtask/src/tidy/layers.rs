//! The crate table of ARCHITECTURE.md is the law: every dependency stands in it and everything in
//! it is a dependency. An edge cannot appear unseen, and the document cannot go stale.

use super::source::Source;
use super::{Document, Finding};
use crate::workspace::Package;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = "ARCHITECTURE.md";

/// Crates that cannot act because they are `no_std`.
const PURE: [&str; 3] =
    ["crates/core/src/lib.rs", "crates/judge/src/lib.rs", "crates/stats/src/lib.rs"];

/// A row of the crate table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    ours: BTreeSet<String>,
    others: BTreeSet<String>,
}

/// Compares packages and table, and looks whether the pure crates are `no_std`.
pub fn check(packages: &[Package], documents: &[Document], sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    match documents.iter().find(|d| d.path == TABLE) {
        Some(document) => findings.extend(compare(packages, &rows(&document.text))),
        None => findings.push(Finding::new(TABLE, 0, "is missing; it holds the table of crates")),
    }
    for path in PURE {
        let source = sources.iter().find(|s| s.path == path);
        if !source.is_some_and(|s| s.code.contains("#![no_std]")) {
            findings.push(Finding::new(path, 0, "must be no_std, so that it cannot act"));
        }
    }
    findings
}

fn compare(packages: &[Package], rows: &BTreeMap<String, Row>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let folders: BTreeMap<&str, &str> =
        packages.iter().map(|p| (p.name.as_str(), p.folder.as_str())).collect();
    for package in packages {
        let Some(row) = rows.get(&package.folder) else {
            let message = format!("the table of crates has no row for `{}`", package.folder);
            findings.push(Finding::new(TABLE, 0, message));
            continue;
        };
        let names = |ours| {
            let wanted = package.dependencies.iter().filter(move |d| d.ours == ours);
            wanted.map(|d| (*folders.get(d.name.as_str()).unwrap_or(&d.name.as_str())).to_owned())
        };
        let pairs = [(names(true).collect(), &row.ours), (names(false).collect(), &row.others)];
        for (real, listed) in pairs {
            findings.extend(differences(&package.folder, row.line, &real, listed));
        }
    }
    for (name, row) in rows.iter().filter(|(name, _)| !packages.iter().any(|p| p.folder == **name))
    {
        findings.push(Finding::new(
            TABLE,
            row.line,
            format!("`{name}` is no crate of this workspace"),
        ));
    }
    findings
}

fn differences(
    name: &str,
    line: usize,
    real: &BTreeSet<String>,
    listed: &BTreeSet<String>,
) -> Vec<Finding> {
    let unlisted = real.difference(listed).map(|d| format!("`{name}` depends on `{d}`, unlisted"));
    let unused = listed.difference(real).map(|d| format!("`{name}` does not depend on `{d}`"));
    unlisted.chain(unused).map(|message| Finding::new(TABLE, line, message)).collect()
}

/// The rows of the table whose first column is headed "Crate", by the name of the crate.
fn rows(text: &str) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    let mut columns: Option<(usize, usize)> = None;
    for (i, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let column = |title: &str| cells.iter().position(|cell| *cell == title);
        if !line.starts_with('|') {
            columns = None;
        } else if cells[0] == "Crate" {
            columns = column("Uses (ours)").zip(column("Third-party"));
        } else if let (Some((ours, others)), Some(name)) = (columns, names(cells[0]).next()) {
            let cell = |i: usize| names(cells.get(i).copied().unwrap_or_default()).collect();
            rows.insert(name, Row { line: i + 1, ours: cell(ours), others: cell(others) });
        }
    }
    rows
}

/// The names in backticks of a cell.
fn names(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    const TEXT: &str = "\
# Architecture

| Stage | Value |
|---|---|
| `plan` | text |

| Crate | What | Uses (ours) | Third-party |
|---|---|---|---|
| `stats` | numbers | – | `libm` |
| `core` | decides | `stats` | `serde`, `libm` |
";

    fn package(folder: &str, ours: &[&str], others: &[&str]) -> Package {
        let dependency = |ours| move |name: &&str| Dependency { name: (*name).to_owned(), ours };
        let ours = ours.iter().map(dependency(true));
        Package {
            name: format!("v6gap-{folder}"),
            folder: folder.to_owned(),
            dependencies: ours.chain(others.iter().map(dependency(false))).collect(),
            tests: Vec::new(),
            benches: Vec::new(),
        }
    }

    #[track_caller]
    fn found(packages: &[Package], expected: &[&str]) {
        let messages: Vec<String> =
            compare(packages, &rows(TEXT)).into_iter().map(|f| f.message).collect();
        assert_eq!(messages, expected);
    }

    fn stats() -> Package {
        package("stats", &[], &["libm"])
    }

    #[test]
    fn table_is_read() {
        let rows = rows(TEXT);
        assert_eq!(rows.keys().collect::<Vec<_>>(), ["core", "stats"]);
        let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let core = Row { line: 10, ours: set(&["stats"]), others: set(&["libm", "serde"]) };
        assert_eq!(rows["core"], core);
    }

    #[test]
    fn table_and_dependencies_agree() {
        found(&[stats(), package("core", &["v6gap-stats"], &["serde", "libm"])], &[]);
    }

    #[test]
    fn every_difference_is_found() {
        let core = package("core", &["v6gap-stats", "v6gap-sys"], &["serde"]);
        let expected =
            ["`core` depends on `v6gap-sys`, unlisted", "`core` does not depend on `libm`"];
        found(&[stats(), core], &expected);
        let lonely = package("core", &[], &["serde", "libm", "tokio"]);
        let expected = ["`core` does not depend on `stats`", "`core` depends on `tokio`, unlisted"];
        found(&[stats(), lonely], &expected);
        found(&[stats()], &["`core` is no crate of this workspace"]);
        let core = package("core", &["v6gap-stats"], &["serde", "libm"]);
        let extra = package("extra", &[], &[]);
        found(&[stats(), core, extra], &["the table of crates has no row for `extra`"]);
    }

    #[test]
    fn pure_crates_are_no_std() {
        let sources = |first: &str| {
            let text = |at: usize| if at == 0 { first } else { "#![no_std]" };
            let source = |(at, path): (usize, &&str)| Source::new(path, text(at));
            PURE.iter().enumerate().map(source).collect::<Vec<_>>()
        };
        let document = [Document { path: TABLE.to_owned(), text: String::new() }];
        assert_eq!(check(&[], &document, &sources("//! A.\n#![no_std]\n")), []);
        let impure = check(&[], &document, &sources("//! #![no_std]\n"));
        assert_eq!(impure.iter().map(|f| &*f.path).collect::<Vec<_>>(), [PURE[0]]);
        assert_eq!(check(&[], &document, &[]).len(), PURE.len());
    }
}
