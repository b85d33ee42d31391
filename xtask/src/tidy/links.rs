//! Links inside the documents lead somewhere, and so does a document that is mentioned by its path.

use super::{Document, Finding};

/// Checks the relative links of one document; `exists` tells whether a path from the root of the
/// workspace does. Expected outputs of tests are no documents: what they link to is made elsewhere.
pub fn check(document: &Document, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let expected_output =
        document.path.split('/').any(|part| part == "tests" || part == "testdata");
    if !document.path.ends_with(".md") || expected_output {
        return Vec::new();
    }
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (i, line) in document.text.lines().enumerate() {
        for target in targets(line).filter(|t| is_relative(t)) {
            let path = resolve(folder, target.split('#').next().unwrap_or_default());
            if !path.as_deref().is_some_and(&exists) {
                let message = format!("link to {target}, which does not exist");
                findings.push(Finding::new(&document.path, i + 1, message));
            }
        }
        for path in mentioned(line).filter(|path| !exists(path)) {
            let message = format!("{path} is mentioned, which does not exist");
            findings.push(Finding::new(&document.path, i + 1, message));
        }
    }
    findings
}

/// Documents that a line names by their path from the root.
fn mentioned(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let words = line.split(move |c| !is_path(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.starts_with("docs/") && word.ends_with(".md"))
}

/// Targets of the inline links `[text](target)` and of the definitions `[name]: target` of a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    inline.chain(definition.map(|(_, target)| target.trim()))
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with(['#', '<']) && !target.starts_with("mailto:")
}

/// The path from the root of the workspace; `None` if it leaves it.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> usize {
        let document = Document { path: path.to_owned(), text: text.to_owned() };
        check(&document, |p| matches!(p, "docs/method.md" | "README.md" | "docs" | "")).len()
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(broken("README.md", "see [a](./none.md) and [b](docs/method.md)"), 1);
        assert_eq!(
            broken("docs/method.md", "[a](none.md#x) [b](../none.md) [c](../../README.md)"),
            3
        );
        assert_eq!(broken("README.md", "[a]: docs/none.md"), 2);
        assert_eq!(broken("CHANGELOG.md", "as measured (docs/none.md)."), 1);
    }

    #[test]
    fn links_that_lead_somewhere_are_not() {
        assert_eq!(broken("docs/method.md", "[a](../README.md) [b](method.md#b) [c](./)"), 0);
        assert_eq!(broken("CHANGELOG.md", "in docs/method.md."), 0);
        assert_eq!(broken("README.md", "[a](https://example.org/x) [b](#here) <c> [d][e]"), 0);
        assert_eq!(broken("Cargo.toml", "[a](none)"), 0);
        assert_eq!(broken("crates/report/tests/snapshots/a.md", "[a](none)"), 0);
    }
}
