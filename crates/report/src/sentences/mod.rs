//! What a result says in sentences, made of the values that the judge gave, so that terminal, page
//! and JSON say the same.

pub(crate) mod checks;
pub(crate) mod comparison;
mod costs;
mod failures;
mod headline;
mod levels;

pub use costs::costs;
pub use failures::failures;
pub use headline::{details, headline, predicted};
