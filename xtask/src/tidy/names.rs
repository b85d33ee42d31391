//! Names that documents quote are names of the code: a file as `core/src/task.rs`, an item of it as
//! `core/src/task.rs::Task`. Paths begin at the root, or in `crates`.

use super::source::{Source, words};
use super::{Document, Finding};

/// What stands before a name where it is defined.
const DEFINES: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];

/// Checks one document. Reports on what was once validated say what there was then, and expected
/// outputs of tests are no documents.
pub fn check(document: &Document, sources: &[Source]) -> Vec<Finding> {
    let left = ["docs/validation/", "CHANGELOG.md"];
    let expected_output = document.path.split('/').any(|part| part == "tests");
    let is_document = document.path.ends_with(".md") && !expected_output;
    if !is_document || left.iter().any(|path| document.path.starts_with(path)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (i, line) in document.text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            if let Some(message) = wrong(quoted, sources) {
                findings.push(Finding::new(&document.path, i + 1, message));
            }
        }
    }
    findings
}

/// What is wrong with a quotation, if it is one of a file of ours.
fn wrong(quoted: &str, sources: &[Source]) -> Option<String> {
    let (path, name) = match quoted.split_once("::") {
        Some((path, name)) => (path, Some(name)),
        None => (quoted, None),
    };
    if !path.contains('/') || !path.ends_with(".rs") || path.contains(['<', ' ', '{']) {
        return None;
    }
    let (full, short) = (path.to_owned(), format!("crates/{path}"));
    let Some(source) = sources.iter().find(|s| s.path == full || s.path == short) else {
        return Some(format!("{path} is no file here"));
    };
    let name = name.filter(|name| !defines(source, name))?;
    Some(format!("{path} defines no {name}; if it has moved, so should its mention"))
}

/// Whether code outside of tests defines an item of that name.
fn defines(source: &Source, name: &str) -> bool {
    source.code_lines().filter(|(line, _)| !source.is_test(*line)).any(|(_, code)| {
        let words: Vec<&str> = words(code).collect();
        words.windows(2).any(|pair| DEFINES.contains(&pair[0]) && pair[1] == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: &str, count: usize) {
        let code = "pub struct Task;\n// fn gone() {}\nimpl Task { pub fn new() {} }\n\
                    #[cfg(test)]\nmod tests {\n    fn helper() {}\n}\n";
        let sources = [Source::new("crates/core/src/task.rs", code)];
        let document = Document { path: "docs/x.md".to_owned(), text: text.to_owned() };
        let findings = check(&document, &sources);
        assert_eq!(findings.len(), count, "{findings:?}");
    }

    #[test]
    fn what_is_there_passes() {
        found("`core/src/task.rs` and `crates/core/src/task.rs::Task`, `core/src/task.rs::new`", 0);
        found("`Task`, core/src/none.rs, `task.rs`, `core/src/<kind>.rs`, `core/src`", 0);
    }

    #[test]
    fn what_is_not_is_found() {
        found("`core/src/tasks.rs`", 1);
        found("`core/src/task.rs::Tasks`, `core/src/task.rs::run`", 2);
        found("in a comment `core/src/task.rs::gone`, in a test `core/src/task.rs::helper`", 2);
    }
}
