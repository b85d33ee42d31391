//! The rules of CONTRIBUTING.md that a program can check. A rule that matters is a test.
//!
//! Each rule is a function from sources to findings, so that a test can give it a snippet that
//! breaks it.

pub mod circles;
pub mod commits;
pub mod faces;
pub mod formats;
pub mod hashes;
pub mod layers;
pub mod links;
pub mod lock;
pub mod names;
pub mod platform;
pub mod sentences;
pub mod shape;
pub mod source;
pub mod wildcards;
pub mod words;

use crate::workspace::Package;
use source::Source;
use std::fmt;
use std::path::Path;

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root of the workspace.
    pub path: String,
    /// Line, counted from 1; 0 is the file as a whole.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl Finding {
    /// A finding.
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line, message: message.into() }
    }
}

/// What a check of the whole workspace found.
#[derive(Debug)]
pub struct Report {
    /// Everything that breaks a rule, by file and line.
    pub findings: Vec<Finding>,
    /// Number of Rust files.
    pub files: usize,
    /// Their median length in lines, tests included.
    pub lines_median: usize,
}

/// A text file that is not Rust.
#[derive(Debug)]
pub struct Document {
    /// Path from the root of the workspace, with `/`.
    pub path: String,
    /// Text of the file.
    pub text: String,
}

/// Checks every rule on the workspace at `root`. Fails only if something cannot be read.
pub fn check(root: &Path, packages: &[Package]) -> Result<Report, String> {
    let (sources, documents) = read_all(root)?;
    let mut findings = layers::check(packages, &documents, &sources);
    findings.extend(circles::check(&sources));
    findings.extend(sentences::check(&sources));
    for source in &sources {
        findings.extend(faces::check(source));
        findings.extend(platform::check(source));
        findings.extend(shape::check(source));
        findings.extend(wildcards::check(source));
        findings.extend(words::check(source));
    }
    for document in &documents {
        findings.extend(words::check_document(document));
        findings.extend(links::check(document, |path| root.join(path).exists()));
        findings.extend(names::check(document, &sources));
    }
    findings.extend(commits::check(root)?);
    findings.extend(formats::check(root, &documents)?);
    findings.extend(hashes::check(root, &documents)?);
    findings.extend(lock::check(root, &documents)?);
    findings.sort();
    let mut lengths: Vec<usize> = sources.iter().map(|s| s.text.lines().count()).collect();
    lengths.sort_unstable();
    let lines_median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    Ok(Report { findings, files: sources.len(), lines_median })
}

/// Every file below `root` that is ours to check: sources, documents and configuration.
pub fn read_all(root: &Path) -> Result<(Vec<Source>, Vec<Document>), String> {
    let (mut sources, mut documents) = (Vec::new(), Vec::new());
    for path in files_below(root)? {
        let kind = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        if !matches!(kind, "rs" | "md" | "toml" | "yml") && path != ".ci/run" {
            continue;
        }
        let text = read(&root.join(&path))?;
        match kind {
            "rs" => sources.push(Source::new(&path, &text)),
            _ => documents.push(Document { path, text }),
        }
    }
    Ok((sources, documents))
}

/// Paths of all files below a folder, relative to it, with `/`, in order.
pub fn files_below(folder: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        let fail = |e: std::io::Error| format!("reading folder {}: {e}", next.display());
        for entry in std::fs::read_dir(&next).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            if entry.file_type().map_err(fail)?.is_dir() {
                if name != "target" && name != ".git" {
                    open.push(entry.path());
                }
            } else if let Ok(path) = entry.path().strip_prefix(folder) {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("reading {}: {e}", path.display()))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        writeln!(f, "{} Rust files, median {} lines", self.files, self.lines_median)
    }
}
