//! `note`: what a person writes on a stored result.

use crate::args::NoteArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::record::RunId;
use v6gap_store::{Note, RunName};

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.note/1";

/// Writes title and note, or prints them.
///
/// # Errors
/// If there is no such result, the text is too long, or it cannot be written.
pub fn execute(args: &NoteArgs, context: &Context) -> Result<Outcome, Failure> {
    let reference = RunName::parse(&args.reference);
    if let RunName::File(_) = reference {
        let what = format!("{} is a file; notes are kept beside stored results", args.reference);
        return Err(Failure::usage(what).run("v6gap list", "shows what is stored"));
    }
    let id = context.store.resolve(&reference)?;
    let before = context.store.note(&id);
    let note = Note {
        title: args.title.clone().unwrap_or_else(|| before.title.clone()),
        note: args.text.clone().unwrap_or_else(|| before.note.clone()),
    };
    if note != before {
        note.check().map_err(Failure::usage)?;
        context.store.set_note(&id, &note)?;
    }
    let text = match args.json {
        true => output::document(&document(&id, &note)),
        false => output::fit(&context.output.results, &in_words(&id, &note)),
    };
    output::to_stdout(&text);
    Ok(Outcome::Done)
}

fn document(id: &RunId, note: &Note) -> Value {
    json!({ "schema": SCHEMA, "id": id, "title": note.title, "note": note.note })
}

fn in_words(id: &RunId, note: &Note) -> String {
    let title = if note.title.is_empty() { "no title" } else { &note.title };
    let text = if note.note.is_empty() { "No note." } else { &note.note };
    format!("{id}: {title}\n{text}")
}
