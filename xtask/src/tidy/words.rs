//! Words that may not stay: leftovers of unfinished work, paths of somebody's machine, and claims
//! that nobody could keep.

use super::source::{Source, words};
use super::{Document, Finding};

/// Macros that mark unfinished or debugging code.
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Marks of unfinished work in comments and documents. Spelled in halves, so that this file passes.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Parts of a path that only exists on one machine.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// Claims that a program on a host cannot make about standards for testers (see docs/method.md).
const CLAIMS: [&str; 2] = [concat!("2544 ", "compliant"), concat!("2544", "-compliant")];

/// Checks one Rust file.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, code) in source.code_lines() {
        for name in MACROS.into_iter().filter(|name| calls(code, name)) {
            let message = format!("{name}! marks code that is not finished");
            findings.push(Finding::new(&source.path, line, message));
        }
    }
    for (line, comment) in &source.comments {
        findings.extend(marks(&source.path, *line, comment));
    }
    findings.extend(phrases(&source.path, &source.text));
    findings
}

/// Checks one document.
pub fn check_document(document: &Document) -> Vec<Finding> {
    let mut findings = marks(&document.path, 1, &document.text);
    findings.extend(phrases(&document.path, &document.text));
    findings
}

/// True if the code calls the macro of that name.
fn calls(code: &str, name: &str) -> bool {
    code.match_indices(&format!("{name}!")).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

fn marks(path: &str, first_line: usize, text: &str) -> Vec<Finding> {
    let marked = |line: &str| words(line).find(|w| MARKS.contains(w)).map(str::to_owned);
    text.lines()
        .enumerate()
        .filter_map(|(i, line)| Some((i, marked(line)?)))
        .map(|(i, mark)| Finding::new(path, first_line + i, format!("{mark} left behind")))
        .collect()
}

fn phrases(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut add = |message: String| findings.push(Finding::new(path, i + 1, message));
        for part in MACHINE_PATHS.into_iter().filter(|part| line.contains(part)) {
            add(format!("{part} is a path of one machine"));
        }
        for claim in CLAIMS.into_iter().filter(|claim| line.contains(claim)) {
            add(format!("\"{claim}\" cannot be claimed; say \"RFC 2544-style\""));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: &str, lines: &[usize]) {
        let source = Source::new("crates/x/src/lib.rs", text);
        let found: Vec<usize> = check(&source).into_iter().map(|f| f.line).collect();
        assert_eq!(found, lines, "{text}");
    }

    fn in_document(text: &str) -> Vec<usize> {
        let document = Document { path: "README.md".to_owned(), text: text.to_owned() };
        check_document(&document).into_iter().map(|f| f.line).collect()
    }

    #[test]
    fn unfinished_code_is_found() {
        for name in MACROS {
            found(&format!("fn a() {{\n    {name}!()\n}}"), &[2]);
            found(&format!("fn a() {{ std::{name}!(1); b!() }}"), &[1]);
        }
        let name = MACROS[0];
        found(&format!("fn {name}() {{ not_{name}!() }} // {name}!"), &[]);
        found("fn a(todo: bool) -> bool { !todo && b!(\"dbg!\") }", &[]);
    }

    #[test]
    fn marks_of_unfinished_work_are_found_in_comments_and_documents() {
        for mark in MARKS {
            found(&format!("fn a() {{}}\n// {mark}: b"), &[2]);
            found(&format!("/* a\n{mark}\n*/"), &[2]);
            found(&format!("fn a() {{ f(\"{mark}\") }} // {mark}S"), &[]);
            assert_eq!(in_document(&format!("a\n- {mark} b\n")), [2]);
        }
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for part in MACHINE_PATHS {
            found(&format!("\n// see {part}x"), &[2]);
            assert_eq!(in_document(&format!("a\n\n{part}x\n")), [3]);
        }
        assert!(in_document("a network/cable, ~/.local, /proc/sys\n").is_empty());
    }

    #[test]
    fn claims_that_cannot_be_kept_are_found() {
        for claim in CLAIMS {
            assert_eq!(in_document(&format!("RFC {claim}\n")), [1]);
        }
        assert!(in_document("RFC 2544-style\n").is_empty());
    }
}
