//! Formats that others rely on cannot change without their document being opened: each document
//! holds the hash of the code that defines its format.

use super::{Document, Finding, files_below, read};
use std::path::Path;

/// A format: the folder that defines it, its document, and the line that holds the hash.
pub(super) struct Format {
    /// The folder, or the crate whose types it has.
    pub folder: &'static str,
    pub document: &'static str,
    pub label: &'static str,
}

const FORMATS: [Format; 3] = [
    Format {
        folder: "crates/core/src/wire",
        document: "docs/protocol.md",
        label: "Hash of the message definitions:",
    },
    Format {
        folder: "crates/core/src/record",
        document: "docs/record.md",
        label: "Hash of the record definitions:",
    },
    Format {
        folder: "crates/core/src/fleet/message",
        document: "docs/fleet.md",
        label: "Hash of the fleet's messages:",
    },
];

/// Compares the hash in each document with that of its folder. Fails only if a file that exists
/// cannot be read.
pub fn check(root: &Path, documents: &[Document]) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for format in &FORMATS {
        let folder = root.join(format.folder);
        let mut files = Vec::new();
        if folder.is_dir() {
            let paths = files_below(&folder)?;
            for path in paths.into_iter().filter(|path| defines(path)) {
                let text = read(&folder.join(&path))?;
                files.push((path, text));
            }
        }
        let document = documents.iter().find(|d| d.path == format.document);
        findings.extend(compare(format, &files, document));
    }
    Ok(findings)
}

/// Whether a file defines the format: Rust that is no test and generates no values for tests.
pub(super) fn defines(path: &str) -> bool {
    let is_for_tests = path.split('/').any(|part| {
        let name = part.strip_suffix(".rs").unwrap_or(part);
        name == "tests" || name == "arbitrary"
    });
    path.ends_with(".rs") && !is_for_tests
}

pub(super) fn compare(
    format: &Format,
    files: &[(String, String)],
    document: Option<&Document>,
) -> Option<Finding> {
    let Format { folder, document: path, label } = format;
    if files.is_empty() {
        return Some(Finding::new(folder, 0, format!("is missing or empty; {path} describes it")));
    }
    let hash = format!("{:016x}", hash(files));
    let Some(document) = document else {
        return Some(Finding::new(
            path,
            0,
            format!("is missing; it needs a line \"{label} {hash}\""),
        ));
    };
    let lines = document.text.lines().enumerate();
    let found = lines.filter_map(|(i, l)| Some((i + 1, l.trim().strip_prefix(label)?))).next();
    match found {
        Some((_, text)) if text.trim_matches([' ', '`', '.']) == hash => None,
        Some((line, _)) => Some(Finding::new(
            path,
            line,
            format!("{folder} has changed: bring this document up to date, then write {hash} here"),
        )),
        None => Some(Finding::new(path, 0, format!("needs a line \"{label} {hash}\""))),
    }
}

/// FNV-1a with 64 bits over paths and contents; line endings count as `\n`. It guards against
/// forgetting, not against malice, so a few lines of arithmetic are enough.
fn hash(files: &[(String, String)]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (path, text) in files {
        let text = text.replace("\r\n", "\n");
        for byte in path.bytes().chain([0]).chain(text.bytes()).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<(String, String)> {
        vec![("a.rs".to_owned(), text.to_owned())]
    }

    fn finding(text: &str, document: Option<&str>) -> Option<Finding> {
        let format = &FORMATS[0];
        let document = document
            .map(|text| Document { path: format.document.to_owned(), text: text.to_owned() });
        compare(format, &files(text), document.as_ref())
    }

    #[test]
    fn hash_is_fnv_1a() {
        // Reference value of FNV-1a 64 for "a", which the separators are appended to here.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let a = 0xaf63_dc4c_8601_ec8c_u64;
        let expected = step(step(a, 0), 0);
        assert_eq!(hash(&[("a".to_owned(), String::new())]), expected);
    }

    #[test]
    fn hash_sees_names_and_contents_but_not_line_endings() {
        assert_eq!(hash(&files("a\r\nb")), hash(&files("a\nb")));
        assert_ne!(hash(&files("a\nb")), hash(&files("a\nc")));
        assert_ne!(hash(&files("a")), hash(&[("b.rs".to_owned(), "a".to_owned())]));
    }

    #[test]
    fn a_format_cannot_change_without_its_document() {
        let hash = format!("{:016x}", hash(&files("one")));
        let document = format!("# Protocol\n\nHash of the message definitions: `{hash}`\n");
        assert_eq!(finding("one", Some(&document)), None);
        let stale = finding("two", Some(&document)).unwrap();
        assert_eq!((stale.path.as_str(), stale.line), ("docs/protocol.md", 3));
        assert!(finding("one", Some("# Protocol\n")).unwrap().message.contains(&hash));
        assert!(finding("one", None).unwrap().message.contains("is missing"));
    }

    #[test]
    fn tests_are_no_part_of_a_format() {
        for path in ["mod.rs", "v1.rs", "deep/frame.rs", "arbitrary_length.rs"] {
            assert!(defines(path), "{path}");
        }
        for path in ["tests.rs", "arbitrary.rs", "arbitrary/probe.rs", "tests/a.rs", "notes.md"] {
            assert!(!defines(path), "{path}");
        }
    }

    #[test]
    fn a_format_without_code_is_found() {
        assert!(compare(&FORMATS[1], &[], None).is_some());
    }
}
