//! What a result says in sentences, made of the values that the judge gave, so that terminal, page
//! and JSON say the same.

mod blocks;
pub(crate) mod checks;
pub(crate) mod comparison;
mod costs;
pub(crate) mod discards;
pub(crate) mod drawn;
mod failures;
mod headline;
mod levels;
mod other_runs;
mod races;
pub(crate) mod sensitivity;
mod way;

pub(crate) use blocks::{blocks, far};
pub use costs::costs;
pub use drawn::drawn;
pub use failures::failures;
pub use headline::{details, headline, predicted};
pub(crate) use other_runs::other_runs;
pub use races::{fallbacks, races};
pub use way::hole;
pub(crate) use way::way;

use crate::words;
use v6gap_judge::analysis::Analysis;

/// What may lie behind differences, each once, with the command that tests it.
pub(crate) fn suspects(analysis: &Analysis) -> Vec<String> {
    words::suspects(analysis).into_iter().chain(sensitivity::depending(analysis)).collect()
}
