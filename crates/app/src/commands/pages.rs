//! Manual pages of what is no command: plans (5), results (5), and how results are read (7). They
//! are made of the same texts as the template of a plan, the schema of a result and `explain`.

use super::plan::NEW;
use crate::failure::texts::TOPICS;
use roff::{Roff, bold, roman};
use serde_json::Value;

/// The schema of a result.
const RESULT: &str = include_str!("../../../../docs/schema/result.json");

/// Each page: its name, its section, its text.
pub fn all() -> [(&'static str, u8, String); 3] {
    [("v6gap-plan", 5, plan()), ("v6gap-result", 5, result()), ("v6gap-verdicts", 7, verdicts())]
}

fn page(name: &str, section: u8, what: &str) -> Roff {
    let mut page = Roff::new();
    let section = section.to_string();
    page.control("TH", [name, &section, "", &format!("v6gap {}", env!("CARGO_PKG_VERSION")), ""]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {what}"))]);
    page
}

/// Lines as they are.
fn verbatim(page: &mut Roff, text: &str) {
    page.control("nf", []);
    for line in text.lines() {
        page.text([roman(line)]);
    }
    page.control("fi", []);
}

fn plan() -> String {
    let mut page = page("v6gap-plan", 5, "a file that says what v6gap measures");
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(
        "A plan is TOML. `v6gap plan new` prints this one, with a remark on every line; `v6gap \
         plan check FILE` says in words what a plan measures, and names the line of what is wrong.",
    )]);
    page.control("SH", ["ALL KEYS"]);
    verbatim(&mut page, NEW);
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("v6gap-plan(1), v6gap-result(5), v6gap-verdicts(7)")]);
    page.to_roff()
}

fn verdicts() -> String {
    let mut page = page("v6gap-verdicts", 7, "how to read what v6gap says");
    for topic in TOPICS {
        page.control("SH", [topic.title.to_uppercase().as_str()]);
        verbatim(&mut page, topic.text);
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("v6gap-explain(1), v6gap-result(5)")]);
    page.to_roff()
}

fn result() -> String {
    let mut page = page("v6gap-result", 5, "a result of v6gap as JSON");
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(
        "What `v6gap run --json` and `v6gap show --json` write. `v6gap schema result` prints the \
         JSON Schema from which this page is made.",
    )]);
    let schema: Value = serde_json::from_str(RESULT).unwrap_or_default();
    page.control("SH", ["FIELDS"]);
    fields(&mut page, &schema);
    for (name, of) in schema["$defs"].as_object().into_iter().flatten() {
        if of["properties"].is_object() {
            page.control("SS", [name.as_str()]);
            page.text([roman(of["description"].as_str().unwrap_or_default())]);
            fields(&mut page, of);
        }
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("v6gap-show(1), v6gap-schema(1), v6gap-verdicts(7)")]);
    page.to_roff()
}

/// The fields of an object, each with what it is.
fn fields(page: &mut Roff, of: &Value) {
    for (name, field) in of["properties"].as_object().into_iter().flatten() {
        page.control("TP", []);
        page.text([bold(name.as_str()), roman(format!("  ({})", kind(field)))]);
        page.text([roman(field["description"].as_str().unwrap_or("As it is called."))]);
    }
}

/// The kind of a value, in a word or two.
fn kind(field: &Value) -> String {
    let named = |reference: &str| reference.rsplit('/').next().unwrap_or_default().to_owned();
    let of = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all = |values: &Value| {
        values.as_array().into_iter().flatten().map(of).collect::<Vec<_>>().join(" or ")
    };
    match field {
        _ if field["$ref"].is_string() => named(field["$ref"].as_str().unwrap_or_default()),
        _ if field["const"].is_string() => of(&field["const"]),
        _ if field["enum"].is_array() => all(&field["enum"]),
        _ if field["type"].is_array() => all(&field["type"]),
        _ if field["type"] == "array" => format!("list of {}", kind(&field["items"])),
        _ if field["anyOf"].is_array() || field["oneOf"].is_array() => {
            let one_of = field["anyOf"].as_array().or(field["oneOf"].as_array());
            one_of.into_iter().flatten().map(kind).collect::<Vec<_>>().join(" or ")
        }
        _ => field["type"].as_str().unwrap_or("any").to_owned(),
    }
}

#[cfg(test)]
mod tests;
