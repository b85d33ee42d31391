//! PostgreSQL as a second place for what runs say and measured, beside the archive of Parquet.
//!
//! A run is written in one transaction and as often as anybody likes: its rows are known by the run
//! and their number in it, so that each is there once, what changed takes the place of what was,
//! and what did not change is left alone. Of two versions of a run the longer journal counts.

mod access;
mod alone;
mod database;
mod error;
mod passfile;
mod rows;
mod tables;
mod tls;

pub use access::{Access, Given};
pub use alone::Alone;
pub use database::{Database, Held, Written};
pub use error::PostgresError;
pub use rows::{Row, RunRows};
