//! `rm`: removes stored results, by name or by age.

use super::archived;
use crate::args::RmArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use std::io::ErrorKind;
use v6gap_core::record::RunId;
use v6gap_store::{Head, Retention, RunName, Store, StoreError};
use v6gap_sys::clock::wall_ns;

/// Of each path and plan the newest stays, unless another number is asked for.
const NEWEST: usize = 1;

/// Why a run stays into which a process measures.
const MEASURED: &str = "since it is being measured into";

/// Removes results.
///
/// # Errors
/// If one that was named is not there or is being measured into, or one cannot be removed; by age
/// the others are all the same.
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
    // Each is looked at when it is its turn.
    let still = past.iter().map(|row| &row.head).filter(|head| is_as_listed(head, context));
    let ids = still.map(|head| &head.id);
    let removed = match dry_run {
        true => {
            ids.for_each(|id| would_remove(id, context));
            Ok(())
        }
        false => each(ids, &|id: &RunId| remove(id, context)),
    };
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
    removed.map_err(Failure::from)
}

/// Has each of them removed that can be, and says of the others that they stay.
///
/// # Errors
/// The first that cannot be removed for another reason than that it is being measured into. One
/// that is gone meanwhile is removed.
fn each<'a>(
    ids: impl Iterator<Item = &'a RunId>,
    remove: &dyn Fn(&RunId) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut first = None;
    for id in ids {
        match remove(id) {
            Ok(()) => {}
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Err(StoreError::Locked { .. }) => stays(id, MEASURED),
            Err(error) => {
                stays(id, &format!("since it cannot be removed: {error}"));
                first = first.or(Some(error));
            }
        }
    }
    first.map_or(Ok(()), Err)
}

/// Whether a run is as it was listed. What was measured or written since is neither in the archive
/// nor in the rule, and stays.
fn is_as_listed(head: &Head, context: &Context) -> bool {
    let store = &context.store;
    let is_still = store.is_still(head);
    if !is_still && Store::exists(&store.journal_path(&head.id)) {
        let next = "v6gap index rebuild looks at all results again";
        stays(&head.id, &format!("since it is not as it was listed: {next}"));
    }
    is_still
}

fn would_remove(id: &RunId, context: &Context) {
    match context.store.is_measured(id) {
        true => stays(id, MEASURED),
        false => output::to_stdout(&format!("would remove {id}")),
    }
}

fn stays(id: &RunId, why: &str) {
    output::to_stderr(&format!("note: {id} stays, {why}"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn refused(kind: ErrorKind) -> StoreError {
        StoreError::Io { operation: "remove", path: "x".into(), source: kind.into() }
    }

    /// By age nobody named them, and those after it are as old.
    #[test]
    fn what_cannot_be_removed_keeps_no_other() {
        let ids = ["a1", "b2", "c3", "d4", "e5"].map(|id| id.parse::<RunId>().unwrap());
        let tried = RefCell::new(Vec::new());
        let remove = |id: &RunId| {
            tried.borrow_mut().push(id.clone());
            match id.as_str() {
                "a1" => Err(refused(ErrorKind::NotFound)),
                "b2" => Err(StoreError::Locked { path: "x".into() }),
                "c3" => Err(refused(ErrorKind::PermissionDenied)),
                "d4" => Err(refused(ErrorKind::StorageFull)),
                _ => Ok(()),
            }
        };
        let error = each(ids.iter(), &remove).unwrap_err();
        let is_first = |kind: ErrorKind| kind == ErrorKind::PermissionDenied;
        assert!(matches!(&error, StoreError::Io { source, .. } if is_first(source.kind())));
        assert_eq!(*tried.borrow(), ids);
        // What is gone, or is being measured into, is no failure.
        assert!(each(ids[..2].iter(), &remove).is_ok());
    }
}
