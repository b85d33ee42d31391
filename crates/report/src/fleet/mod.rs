//! Many hosts: a mesh plan in words, what it takes, and how the paths between them do.

mod estimate;
mod json;
mod matrix;
mod metrics;
mod plan;

pub use estimate::{ESTIMATE_SCHEMA, estimate, estimate_json};
pub use json::{MATRIX_SCHEMA, matrix_json};
pub use matrix::matrix;
pub use metrics::{metrics, names as metric_names};
pub use plan::{CHECK_SCHEMA, explain, explain_json};

pub(crate) use matrix::{age, is_by_hosts, said, summed, worst};

use crate::number::count;

/// "1 path", "1,225 paths".
pub(crate) fn counted(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(n as u64))
}

#[cfg(test)]
pub(crate) mod tests;
