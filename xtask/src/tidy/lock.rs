//! What Cargo.lock holds, against the bans and sources of deny.toml. cargo-deny says more, licences
//! above all, and takes minutes to compile; so it runs at night, and what would do harm until then
//! is looked for here.

use super::{Document, Finding, read};
use std::path::Path;

const LOCK: &str = "Cargo.lock";
const RULES: &str = "deny.toml";

/// The only source besides this workspace.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Who uses what is banned on platforms only that are not supported; Cargo.lock is for all of them.
const ELSEWHERE: [(&str, &str); 2] = [("cc", "iana-time-zone-haiku"), ("log", "iana-time-zone")];

/// Compares Cargo.lock with the rules. Fails if it cannot be read.
pub fn check(root: &Path, documents: &[Document]) -> Result<Vec<Finding>, String> {
    let rules = documents.iter().find(|document| document.path == RULES);
    Ok(compare(&read(&root.join(LOCK))?, rules.map_or("", |rules| &rules.text)))
}

fn compare(lock: &str, rules: &str) -> Vec<Finding> {
    let bans: Vec<(&str, Vec<&str>)> = rules.lines().filter_map(ban).collect();
    if bans.is_empty() {
        return vec![Finding::new(RULES, 0, "has no bans, each a line `{ name = \"…\", … }`")];
    }
    let (mut findings, mut user) = (Vec::new(), "");
    for (i, line) in lock.lines().enumerate() {
        let mut find = |message| findings.push(Finding::new(LOCK, i + 1, message));
        if let Some(name) = value(line, "name") {
            user = name;
        } else if let Some(source) = value(line, "source").filter(|source| *source != REGISTRY) {
            find(format!("`{user}` is from {source}, not from crates.io"));
        } else if let Some(used) = dependency(line) {
            let elsewhere = ELSEWHERE.contains(&(used, user));
            let banned = |(name, wrappers): &(&str, Vec<&str>)| {
                *name == used && !wrappers.contains(&user) && !elsewhere
            };
            if bans.iter().any(banned) {
                find(format!("`{user}` uses `{used}`, which {RULES} bans"));
            }
        }
    }
    findings
}

/// The crate that a line of dependencies names; a version follows where there are several.
fn dependency(line: &str) -> Option<&str> {
    line.strip_prefix(" \"")?.split([' ', '"']).next()
}

/// The value of a line `key = "value"`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
}

/// The crate that a line of the rules bans, and those that may use it all the same.
fn ban(line: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = line.trim().strip_prefix("{ name = \"")?.split_once('"')?;
    let wrappers = rest.split_once("wrappers = [").and_then(|(_, list)| list.split_once(']'));
    let wrappers = wrappers.map_or("", |(list, _)| list);
    Some((name, wrappers.split('"').skip(1).step_by(2).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "\
deny = [
    { name = \"tokio\", wrappers = [\"hyper\", \"tower\"], reason = \"a runtime\" },
    { name = \"cc\", reason = \"compiles C\" },
]
";

    #[track_caller]
    fn found(lock: &str, expected: &[&str]) {
        let findings = compare(lock, RULES);
        let texts: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_is_banned_is_used_by_its_wrappers_only() {
        found("name = \"tower\"\ndependencies = [\n \"tokio\",\n]\n", &[]);
        let lock = "name = \"x\"\ndependencies = [\n \"tokio 1.2.0\",\n \"cc\",\n \"ccc\",\n]\n";
        let used = ["tokio", "cc"].map(|name| format!("`x` uses `{name}`, which deny.toml bans"));
        found(lock, &[&used[0], &used[1]]);
        found("name = \"iana-time-zone-haiku\"\ndependencies = [\n \"cc\",\n]\n", &[]);
    }

    #[test]
    fn crates_come_from_one_place() {
        found(&format!("name = \"x\"\nsource = \"{REGISTRY}\"\n"), &[]);
        let lock = "name = \"x\"\nsource = \"git+https://example.com/x\"\n";
        found(lock, &["`x` is from git+https://example.com/x, not from crates.io"]);
    }

    #[test]
    fn rules_that_are_written_in_another_way_are_a_finding() {
        assert_eq!(compare("", "deny = []").len(), 1);
    }
}
