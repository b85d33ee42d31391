//! What a result says in sentences, made of the values that the judge gave, so that terminal, page
//! and JSON say the same.

mod headline;
mod levels;

pub use headline::{details, headline, predicted};
