//! Run folders, the log of the watch, plan files, world files, watch files, mesh plans and claims
//! of a host: the only crate that touches the disk.
//!
//! A run is a folder that holds a journal, one line for each trial, appended and synced block by
//! block. Everything else in the folder can be made again from it, but for what a person wrote on
//! the run; and so can the index, a line for each run. The archive can be made from the runs that
//! are there, and outlives those that are not.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod archive;
mod claims;
mod configfile;
mod error;
mod form;
mod grown;
mod held;
mod hosts;
mod import;
mod index;
mod journal;
mod kept;
mod layout;
mod limitsfile;
mod lines;
mod marks;
mod meshfile;
mod note;
mod planfile;
mod received;
mod retention;
mod run_name;
mod source;
mod summary;
mod tree;
mod watchfile;
mod watchlog;
mod worldfile;
mod write;

pub use archive::Archive;
pub use claims::{Claims, Found, Shown};
pub use configfile::read_config;
pub use error::StoreError;
pub use import::Imported;
pub use index::{Fits, Index, Judge, Keep, Lagging, Rebuilt, Row, Told};
pub use journal::{Journal, read_journal};
pub use kept::KeptLines;
pub use layout::{Entry, Listed, Store};
pub use limitsfile::read_limits;
pub use meshfile::{parse_mesh, read_mesh_file};
pub use note::{NOTE_CHARS_MAX, Note, TITLE_CHARS_MAX};
pub use planfile::{PlanFileError, PlanProblem, parse_plan, read_plan};
pub use received::Received;
pub use retention::Retention;
pub use run_name::RunName;
pub use source::{JOURNAL_BYTES_MAX, LINE_BYTES_MAX};
pub use summary::{Ended, Head, Judged, fingerprint, read_summary};
pub use tree::{Lying, Tree, mark_below, runs_below};
pub use watchfile::{parse_watch, read_watch_file};
pub use watchlog::{Reached, WatchLog};
pub use worldfile::{parse_world, read_world};

#[cfg(test)]
mod tests;
