//! `import`: stores results that were exported elsewhere.

use crate::args::ImportArgs;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::output;
use crate::settings::Context;
use std::path::Path;
use v6gap_store::Imported;

/// Stores each of them and says as what.
///
/// # Errors
/// If one is no journal, or cannot be stored; those before it are.
pub fn execute(args: &ImportArgs, context: &Context) -> Result<Outcome, Failure> {
    for file in &args.files {
        output::to_stdout(&match context.store.import(Path::new(file))? {
            Imported::Stored(id) => {
                index::settle(&context.store, &id);
                format!("stored as {id}")
            }
            Imported::Known(id) => format!("{id} was stored before"),
        });
    }
    Ok(Outcome::Done)
}
