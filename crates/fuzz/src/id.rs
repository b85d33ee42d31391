//! Identifiers of runs from files of others: what is taken for one is one component of a path, no
//! option, no markup and the name of no other run, wherever it stands.

use crate::templates::LINES;
use serde_json::{Value, json};
use std::path::{Component, Path};
use v6gap_core::record::{self, Line, RunId};
use v6gap_store::{RunName, Store};

/// Text as an identifier, alone and in the header of a run.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let id = text.parse::<RunId>().ok();
    assert_eq!(serde_json::from_value::<RunId>(json!(text)).ok(), id, "{text:?}");
    let mut header = LINES[0].clone();
    header["id"] = Value::String(text.clone().into_owned());
    let found = record::decode(&header.to_string());
    assert_eq!(found.is_ok(), id.is_some(), "{text:?} in the header of a run");
    // Whatever a person types means something.
    let name = RunName::parse(&text);
    let meant = name.to_string();
    let Some(id) = id else { return };
    assert!(matches!(found, Ok(Line::Run(header)) if header.id == id));
    assert_eq!((id.as_str(), meant.as_str()), (&*text, &*text));
    assert!(matches!(name, RunName::Id(_)), "{text:?} means another run");
    assert!(!text.starts_with('-') && text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let mut parts = Path::new(id.as_str()).components();
    assert!(matches!(parts.next(), Some(Component::Normal(part)) if part == id.as_str()));
    assert_eq!(parts.next(), None, "{text:?} is more than a name");
    let store = Store::at(Path::new("data"));
    assert_eq!(store.folder(&id).parent(), Some(Path::new("data/runs")));
    for file in [store.journal_path(&id), store.report_path(&id)] {
        assert_eq!(file.parent(), Some(&*store.folder(&id)));
    }
}
