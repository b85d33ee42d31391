//! What is wrong in a plan or world that a person wrote: all of it at once, each with its key.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Something wrong in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key it concerns, as in `measure[1].message`.
    pub key: String,
    /// What is wrong, in words.
    pub what: String,
    /// What may be meant or how to mend it.
    pub help: Option<String>,
}

/// Collects problems so that a person sees all of them at once.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.0.push(Problem { key: key.into(), what: what.into(), help: None });
    }

    /// Whether anything was told of a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|problem| problem.key == key)
    }

    /// Whether anything was told of a table or one of its keys.
    pub(crate) fn has_of(&self, table: &str) -> bool {
        let is_of = |key: &str| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
        self.0.iter().any(|Problem { key, .. }| key == table || is_of(key))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All problems, each once.
    pub(crate) fn into_found(self) -> Vec<Problem> {
        let mut found: Vec<Problem> = Vec::new();
        for problem in self.0 {
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
        found
    }

    pub(crate) fn one_of(&mut self, key: impl Into<String>, found: &str, known: &[&str]) {
        let help = nearest(found, known).map(|word| format!("did you mean \"{word}\"?"));
        let what = format!("\"{found}\" is not one of {}", known.join(", "));
        self.0.push(Problem { key: key.into(), what, help });
    }

    /// The value that `parse` reads from `text`, or `None` and a problem.
    pub(crate) fn read<T, E: ToString>(
        &mut self,
        key: &str,
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        parse(text).map_err(|e| self.add(key, e.to_string())).ok()
    }

    pub(crate) fn read_optional<T, E: ToString>(
        &mut self,
        key: &str,
        text: Option<&String>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        text.and_then(|text| self.read(key, text, parse))
    }
}

/// The known word that `found` is most likely meant to be: at most two edits away.
pub fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|word| (edits(found, word), *word))
        .filter(|(distance, _)| *distance <= 2)
        .min()
        .map(|(_, word)| word)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
