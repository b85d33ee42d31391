//! What a run says, as text, Markdown, CSV, JSON and one self-contained HTML page.
//!
//! Everything here is a pure function of values that were stored: it opens nothing and reads no
//! clock, so rendering a run again gives the same bytes. Strings that came from a peer or a user
//! are untrusted: each form escapes them in its own way, in one place.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod again;
mod archived;
mod beside;
pub mod changes;
mod cite;
mod comparison;
mod costs;
mod csv;
pub mod doctor;
pub mod figure;
pub mod fleet;
mod gates;
pub mod grafana;
mod history;
pub mod html;
mod json;
mod json_comparison;
mod loads;
#[cfg(test)]
#[path = "../../core/tests/common/visit.rs"]
mod made;
mod markdown;
pub mod metrics;
mod number;
pub mod paper;
mod parquet;
pub mod plan;
mod resources;
mod rows;
mod searches;
mod sentences;
mod set_up;
mod sheet;
mod sockets;
pub mod stream;
mod studies;
mod tables;
pub mod text;
pub mod topology;
mod transfers;
mod uncertainty;
mod ways;
mod words;
mod workload;

pub use again::{FLAGS, REACHING};
pub use archived::ArchivedRows;
pub use cite::{CiteForm, bibtex, cite};
pub use csv::csv_trials;
pub use history::answer_in_words;
pub use json::{SCHEMA, json, json_line};
pub use json_comparison::{COMPARISON_SCHEMA, json_comparison};
pub use markdown::markdown;
pub use number::date;
pub use parquet::{
    Answers, ArchivedRun, ParquetError, ParquetTable, archived_runs, archived_tables, parquet,
};
pub use sentences::{costs, details, failures, fallbacks, headline, hole, predicted, races};
pub use sockets::{SocketRow, sockets};
pub use tables::{
    csv_comparison, csv_questions, latex, latex_comparison, markdown_comparison, org,
};
pub use words::{code, json_escaped};
