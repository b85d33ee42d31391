//! What can go wrong with files, each naming the file and what was to be done with it.

use std::io;
use std::path::{Path, PathBuf};
use v6gap_core::record::{RecordError, RunId};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused an operation on a file.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// What was to be done, as in "read".
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no place to keep runs: no home folder is known.
    #[error("no folder for results: neither V6GAP_DATA, XDG_DATA_HOME nor HOME is set")]
    NoHome,
    /// No stored run matches.
    #[error("no stored result matches \"{reference}\"")]
    NotFound {
        /// What was asked for.
        reference: String,
    },
    /// Several stored runs match.
    #[error("\"{reference}\" fits several results: {}", listed(ids))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// The results that it fits.
        ids: Vec<RunId>,
    },
    /// A line of a journal cannot be read.
    #[error("{}, line {line}: {source}", path.display())]
    Record {
        /// The journal.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        source: RecordError,
    },
    /// The file that is to be stored begins with no facts of a run.
    #[error("{} is not the journal of a run: {why}", path.display())]
    NoJournal {
        /// The file.
        path: PathBuf,
        /// What it is instead, or lacks, as in "it has no whole line".
        why: String,
    },
    /// Another result has the identifier.
    #[error("another result is stored as {id}")]
    Taken {
        /// The identifier.
        id: RunId,
    },
    /// What is there cannot be what it is meant to be: a device, something endless, a link that
    /// leads out of the store.
    #[error("{} {why}", path.display())]
    Unfit {
        /// The file or folder.
        path: PathBuf,
        /// The reason, as in "is a device".
        why: String,
    },
    /// Another process wrote to a file for as long as it was waited for.
    #[error("{} is being written by {}", path.display(), holder(*process))]
    Held {
        /// The file.
        path: PathBuf,
        /// The process, if that is known.
        process: Option<u32>,
    },
    /// Another process is measuring into the run.
    #[error("{} is being written by another v6gap", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
}

impl StoreError {
    pub(crate) fn unfit(path: &Path, why: impl Into<String>) -> Self {
        StoreError::Unfit { path: path.to_owned(), why: why.into() }
    }

    /// For `map_err`: an input or output error with its operation and file.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| StoreError::Io { operation, path, source }
    }
}

fn holder(process: Option<u32>) -> String {
    process.map_or("another v6gap".to_owned(), |number| format!("process {number}"))
}

fn listed(ids: &[RunId]) -> String {
    ids.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}
