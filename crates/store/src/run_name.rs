//! How a person names a stored run: its identifier or the start of it, `last`, `last~2`,
//! `last:HOST`, or the file in which it travels.

use crate::StoreError;
use std::path::PathBuf;
use v6gap_core::record::RunId;

/// A name for a stored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunName {
    /// The identifier, or the beginning of it.
    Id(String),
    /// The latest but so many.
    Last(usize),
    /// The latest against that host.
    LastOf(String),
    /// A file.
    File(PathBuf),
}

impl RunName {
    /// What `text` means. Every text means something; whether the run exists is seen later.
    pub fn parse(text: &str) -> Self {
        if text == RunId::LATEST {
            return RunName::Last(0);
        }
        if let Some(back) = text.strip_prefix("last~").and_then(|n| n.parse().ok()) {
            return RunName::Last(back);
        }
        if let Some(host) = text.strip_prefix("last:") {
            return RunName::LastOf(host.to_owned());
        }
        // No identifier has any of these.
        if text.contains(['/', '\\', '.']) {
            return RunName::File(PathBuf::from(text));
        }
        RunName::Id(text.to_owned())
    }

    /// Picks from (identifier, target) of all runs, the latest first.
    pub(crate) fn pick(&self, runs: &[(&RunId, &str)]) -> Result<RunId, StoreError> {
        let not_found = || StoreError::NotFound { reference: self.to_string() };
        let id = |run: Option<&(&RunId, &str)>| run.map(|(id, _)| (*id).clone());
        match self {
            RunName::Last(back) => id(runs.get(*back)).ok_or_else(not_found),
            RunName::LastOf(host) => {
                id(runs.iter().find(|(_, target)| target == host)).ok_or_else(not_found)
            }
            // Every identifier begins with nothing.
            RunName::Id(prefix) if prefix.is_empty() => Err(not_found()),
            RunName::Id(prefix) => {
                let ids = runs.iter().map(|(id, _)| *id);
                let ids: Vec<RunId> =
                    ids.filter(|id| id.as_str().starts_with(prefix)).cloned().collect();
                let exact = ids.iter().find(|id| id.as_str() == prefix);
                match (exact, ids.as_slice()) {
                    (Some(id), _) | (None, [id]) => Ok(id.clone()),
                    (None, []) => Err(not_found()),
                    _ => Err(StoreError::Ambiguous { reference: prefix.clone(), ids }),
                }
            }
            RunName::File(_) => Err(not_found()),
        }
    }
}

impl std::fmt::Display for RunName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunName::Id(id) => f.write_str(id),
            RunName::Last(0) => f.write_str(RunId::LATEST),
            RunName::Last(back) => write!(f, "last~{back}"),
            RunName::LastOf(host) => write!(f, "last:{host}"),
            RunName::File(path) => write!(f, "{}", path.display()),
        }
    }
}
