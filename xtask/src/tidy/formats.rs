//! Types that are stored, sent or printed cannot change without the document of their format being
//! opened, wherever in their crate they stand: each document holds the hash of the definitions,
//! comments left out. A crate that has such types and is in no format is named.

use super::hashes::{self, Format};
use super::{Document, Finding, files_below, read};
use std::path::Path;

/// The crates whose types make a format, and the documents that describe it.
struct Locked {
    crates: &'static [&'static str],
    documents: &'static [&'static str],
    label: &'static str,
}

const LOCKED: [Locked; 4] = [
    Locked {
        crates: &["core"],
        documents: &["docs/record.md", "docs/protocol.md"],
        label: "Hash of the types in lines and messages:",
    },
    Locked {
        crates: &["store"],
        documents: &["docs/record.md"],
        label: "Hash of the types beside journals:",
    },
    Locked {
        crates: &["judge", "report"],
        documents: &["docs/analysis.md"],
        label: "Hash of the printed types:",
    },
    Locked {
        crates: &["fleet"],
        documents: &["docs/fleet.md"],
        label: "Hash of the files of a hub:",
    },
];

/// Crates whose types leave no trace: what processes of one program tell each other, what its own
/// pages ask for (docs/openapi.json, which a test compares), and what tests make up.
const FLEETING: [&str; 3] = ["fuzz", "lab", "serve"];

/// Compares the hashes, and looks for types outside of every format. Fails only if a file that
/// exists cannot be read.
pub fn check(root: &Path, documents: &[Document]) -> Result<Vec<Finding>, String> {
    let crates = root.join("crates");
    if !crates.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for path in files_below(&crates)? {
        let name = path.split('/').next().unwrap_or_default();
        let is_product = path.strip_prefix(name).is_some_and(|rest| rest.starts_with("/src/"));
        if is_product && hashes::defines(&path) {
            let text = read(&crates.join(&path))?;
            all.push((name.to_owned(), path.clone(), definitions(&text)));
        }
    }
    Ok(judge(&all, documents))
}

fn judge(all: &[(String, String, String)], documents: &[Document]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Locked { crates, documents: described, label } in &LOCKED {
        let of_format = all.iter().filter(|(name, ..)| crates.contains(&name.as_str()));
        let files: Vec<(String, String)> = of_format
            .filter(|(.., text)| !text.is_empty())
            .map(|(_, path, text)| (path.clone(), text.clone()))
            .collect();
        for document in described.iter().copied() {
            let format = Format { folder: crates[0], document, label };
            let text = documents.iter().find(|d| d.path == document);
            findings.extend(hashes::compare(&format, &files, text));
        }
    }
    for (name, path, text) in all {
        let is_known = LOCKED.iter().any(|locked| locked.crates.contains(&name.as_str()))
            || FLEETING.contains(&name.as_str());
        if !is_known && !text.is_empty() {
            let what = "has a type of a format outside of the locked set: it belongs into core, \
                        store, judge or report, whose documents have its hash";
            findings.push(Finding::new(&format!("crates/{path}"), 0, what));
        }
    }
    findings
}

/// The items of a file that say how something is written or read, without comments.
fn definitions(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut lines = product.lines();
    let mut found = String::new();
    while let Some(line) = lines.next() {
        if !begins(line) {
            continue;
        }
        let mut depth = 0_i32;
        for line in std::iter::once(line).chain(lines.by_ref()) {
            let code = line.trim();
            if code.starts_with("//") {
                continue;
            }
            found.push_str(code);
            found.push('\n');
            let count = |open, close| {
                code.matches(open).count() as i32 - code.matches(close).count() as i32
            };
            depth += count('{', '}') + count('(', ')') + count('[', ']');
            if depth <= 0 && !code.starts_with('#') && code.ends_with(['}', ';']) {
                break;
            }
        }
    }
    found
}

/// Whether an item begins here that is written or read: by derivation or by hand.
fn begins(line: &str) -> bool {
    let line = line.trim_start();
    let named = line.contains("Serialize") || line.contains("Deserialize");
    let by_hand = line.starts_with("impl") && line.contains(" for ");
    named && (line.starts_with("#[derive(") || by_hand)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "use serde::Serialize;\n/// One.\n#[derive(Debug, Serialize)]\n\
        #[serde(rename_all = \"lowercase\")]\npub struct One {\n    /// Its name.\n    \
        pub name: String,\n}\n\nfn other() {}\n\nimpl Serialize for Two {\n    fn x() {}\n}\n";

    fn found(name: &str, text: &str, documents: &[Document]) -> Vec<String> {
        let file = (name.to_owned(), format!("{name}/src/a.rs"), definitions(text));
        judge(&[file], documents).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn definitions_are_items_without_comments() {
        let items = definitions(TYPE);
        assert!(items.contains("pub name: String,") && items.contains("impl Serialize for Two"));
        assert!(!items.contains("Its name") && !items.contains("fn other"), "{items}");
        assert_eq!(definitions(&TYPE.replace("Its name", "Another")), items);
        assert_eq!(definitions("use serde::Serialize;\nfn f() {}\n"), "");
    }

    /// A field that is added somewhere in the core is noticed in both documents.
    #[test]
    fn a_type_cannot_change_without_its_documents() {
        let told = found("core", TYPE, &[]);
        let label = LOCKED[0].label;
        let hash = told[0].split(label).nth(1).unwrap().trim_matches(['"', ' ']).to_owned();
        let documents = LOCKED[0].documents.iter().map(|path| Document {
            path: (*path).to_owned(),
            text: format!("# One\n\n{label} {hash}\n"),
        });
        let documents: Vec<Document> = documents.collect();
        let of_core = |text| {
            let all = found("core", text, &documents);
            all.into_iter().filter(|finding| finding.starts_with("core has changed")).count()
        };
        assert_eq!(of_core(TYPE), 0);
        assert_eq!(of_core(&TYPE.replace("String,", "String,\n    pub more: u8,")), 2);
    }

    #[test]
    fn a_type_outside_of_every_format_is_found() {
        let outside = |name: &str, text: &str| {
            let all = found(name, text, &[]);
            all.iter().any(|finding| finding.contains("outside of the locked set"))
        };
        assert!(outside("engine", TYPE) && outside("app", TYPE));
        assert!(
            !outside("engine", "fn f() {}") && !outside("lab", TYPE) && !outside("judge", TYPE)
        );
    }
}
