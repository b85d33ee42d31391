//! `schema`: the JSON Schemas that come with the program.

use crate::args::{Document, SchemaArgs};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Writes the schema of a document.
///
/// # Errors
/// None.
pub fn execute(args: &SchemaArgs) -> Result<Outcome, Failure> {
    output::to_stdout(match args.document {
        Document::Result => include_str!("../../../../docs/schema/result.json"),
        Document::Event => include_str!("../../../../docs/schema/event.json"),
        Document::Figure => include_str!("../../../../docs/schema/figure.json"),
        Document::Comparison => include_str!("../../../../docs/schema/comparison.json"),
    });
    Ok(Outcome::Done)
}
