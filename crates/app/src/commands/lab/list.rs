//! What `lab list` shows: labs that are up, worlds that come with the program, or what this host
//! provides.

use crate::failure::Failure;
use crate::output;
use crate::worlds::{self, WORLDS};
use serde_json::{Value, json};
use v6gap_perform::world::{self, holder};

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.lab.list/1";

/// The list that was asked for, as text or JSON.
///
/// # Errors
/// If the labs of this user cannot be found.
pub fn text(of_worlds: bool, of_kinds: bool, as_json: bool) -> Result<String, Failure> {
    let (name, rows) = match (of_worlds, of_kinds) {
        (true, _) => ("worlds", worlds()?),
        (_, true) => ("kinds", kinds()),
        _ => ("labs", holder::list().map_err(Failure::of_lab)?.into_iter().map(named).collect()),
    };
    if as_json {
        let rows: Vec<Value> = rows.into_iter().map(|row| row.json).collect();
        return Ok(output::document(&json!({ "schema": SCHEMA, name: rows })));
    }
    if rows.is_empty() {
        return Ok("no lab is up\n".to_owned());
    }
    Ok(rows.into_iter().map(|row| row.line + "\n").collect())
}

/// One entry.
struct Row {
    line: String,
    json: Value,
}

fn named(name: String) -> Row {
    Row { json: json!({ "name": name }), line: name }
}

fn worlds() -> Result<Vec<Row>, Failure> {
    let row = |preset| {
        let (draft, _) = worlds::read_preset(preset)?;
        let description = draft.description.unwrap_or_default();
        let name = preset.name;
        let line = format!("{name:<15} {description}");
        Ok(Row { line, json: json!({ "name": name, "description": description }) })
    };
    WORLDS.iter().map(row).collect()
}

/// Kinds of tunnels, translation and links.
fn kinds() -> Vec<Row> {
    let row = |(name, what, found): (&str, &str, Result<(), String>)| {
        let says = match &found {
            Ok(()) => "available".to_owned(),
            Err(because) => format!("unavailable, because {because}"),
        };
        let json = json!({
            "name": name,
            "what": what,
            "available": found.is_ok(),
            "because": found.err(),
        });
        Row { line: format!("{name:<15} {what}: {says}"), json }
    };
    world::provided().into_iter().map(row).collect()
}
