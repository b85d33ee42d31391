//! `rm`: removes stored results, by name or by age.

use super::archived;
use crate::args::RmArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use v6gap_core::record::RunId;
use v6gap_store::{Retention, RunName, StoreError};
use v6gap_sys::clock::wall_ns;

/// Of each path and plan the newest stays, unless another number is asked for.
const NEWEST: usize = 1;

/// Removes results.
///
/// # Errors
/// If one that was named is not there or is being measured into, or one cannot be removed.
pub fn execute(args: &RmArgs, context: &Context) -> Result<Outcome, Failure> {
    match args.older_than {
        Some(age_ns) => {
            let newest = args.keep.unwrap_or(NEWEST);
            by_age(Retention { age_ns, newest }, args.dry_run, context)?;
        }
        None => by_name(&args.references, context)?,
    }
    Ok(Outcome::Done)
}

/// All references are looked up first, so that `last last~1` means what it meant before anything
/// was removed, and a slip removes nothing.
fn by_name(references: &[String], context: &Context) -> Result<(), Failure> {
    let index = context.store.index()?;
    let mut ids = Vec::new();
    for text in references {
        let reference = RunName::parse(text);
        if let RunName::File(_) = reference {
            let what = format!("{text} is a file; rm removes results from the store");
            return Err(Failure::usage(what).run("v6gap list", "shows what is stored"));
        }
        let id = index.resolve(&reference)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in &ids {
        remove(id, context)?;
    }
    Ok(())
}

fn by_age(rule: Retention, dry_run: bool, context: &Context) -> Result<(), Failure> {
    let index = context.store.index()?;
    let past = rule.past(index.rows(), wall_ns());
    let (past, missing) = match context.store.has_archive() {
        true => archived::among(past, context)?,
        false => (past, 0),
    };
    for row in &past {
        let id = &row.head.id;
        // What was measured or written since is neither in the archive nor in the rule.
        if !context.store.is_still(&row.head) {
            let why = "since it is not as it was listed";
            let next = "v6gap index rebuild looks at all results again";
            output::to_stderr(&format!("note: {id} stays, {why}: {next}"));
            continue;
        }
        let stays = || {
            output::to_stderr(&format!("note: {id} stays, since it is being measured into"));
        };
        match dry_run {
            true if context.store.is_measured(id) => stays(),
            true => output::to_stdout(&format!("would remove {id}")),
            false => match remove(id, context) {
                Err(StoreError::Locked { .. }) => stays(),
                removed => removed?,
            },
        }
    }
    if missing > 0 {
        let why = "which the archive does not have";
        let next = format!("{} puts them in", archived::COMMAND);
        output::to_stderr(&format!("note: {missing} of that age stay, {why}: {next}"));
    }
    match (past.is_empty(), missing) {
        (true, 0) => output::to_stdout("nothing is that old"),
        (true, _) => {}
        // A line that stays behind costs time and says nothing.
        (false, _) if !dry_run => drop(context.store.order_index()),
        (false, _) => {}
    }
    Ok(())
}

fn remove(id: &RunId, context: &Context) -> Result<(), StoreError> {
    let left = context.store.remove(id)?;
    output::to_stdout(&format!("removed {id}"));
    if !left.is_empty() {
        let folder = context.store.folder(id);
        let (folder, left) = (folder.display(), left.join(", "));
        let text = format!("note: {folder} stays, with what is no part of a result: {left}");
        output::to_stdout(&output::fit(&context.output.results, &text));
    }
    Ok(())
}
