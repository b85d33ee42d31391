//! `rm`: removes stored results.

use crate::args::ReferenceArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use v6gap_store::RunName;

/// Removes results. All references are looked up first, so that `last last~1` means what it meant
/// before anything was removed, and a slip removes nothing.
///
/// # Errors
/// If one is not there, is being measured into, or cannot be removed.
pub fn execute(args: &ReferenceArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut ids = Vec::new();
    for text in &args.references {
        let reference = RunName::parse(text);
        if let RunName::File(_) = reference {
            let what = format!("{text} is a file; rm removes results from the store");
            return Err(Failure::usage(what).run("v6gap list", "shows what is stored"));
        }
        let id = context.store.resolve(&reference)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in ids {
        let left = context.store.remove(&id)?;
        output::to_stdout(&format!("removed {id}"));
        if !left.is_empty() {
            let folder = context.store.folder(&id);
            let (folder, left) = (folder.display(), left.join(", "));
            let text = format!("note: {folder} stays, with what is no part of a result: {left}");
            output::to_stdout(&output::fit(&context.output.results, &text));
        }
    }
    Ok(Outcome::Done)
}
