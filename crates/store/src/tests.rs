//! What is written comes back, what a crash cut off is mended, what is wrong is named.

mod archive;
mod claims;
mod foreign;
mod index;
mod killed;
mod tree;

use super::*;
use std::fs;
use std::path::{Path, PathBuf};
use v6gap_core::arm::PerArm;
use v6gap_core::plan::preset;
use v6gap_core::record::{BlockRecord, Ending, Line, RunHeader, RunId};

/// A folder that is removed at the end of a test.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    #[expect(clippy::disallowed_methods, reason = "a test needs a place of its own")]
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("v6gap-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn id(text: &str) -> RunId {
    text.parse().unwrap()
}

fn header(id: &str, target: &str, started_unix_ns: u64) -> RunHeader {
    RunHeader {
        tool: "0.1.0".into(),
        started_unix_ns,
        target: target.into(),
        ..RunHeader::new(
            id.parse().unwrap(),
            preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), u64::MAX),
        )
    }
}

fn block(number: u32) -> Line {
    Line::Block(BlockRecord { block: number, valid: true, drawn: None })
}

#[test]
fn what_is_to_be_new_replaces_nothing() {
    let scratch = Scratch::new("new");
    let path = scratch.0.join("journal");
    assert!(write::write_new(&path, b"first").unwrap());
    assert!(!write::write_new(&path, b"second").unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
fn what_is_written_comes_back() {
    let scratch = Scratch::new("back");
    let store = Store::at(&scratch.0);
    let header = header("7k2f9q", "lab-b", 5);
    let mut journal = store.create(&header).unwrap();
    journal.append(&[block(0), Line::End(Ending::Complete)]).unwrap();
    let lines = store.read(&RunName::parse("7k")).unwrap();
    let expected = [Line::Run(Box::new(header)), block(0), Line::End(Ending::Complete)];
    assert_eq!(lines, expected);
    let listed = store.list().unwrap();
    assert_eq!(listed[0].ending, Some(Ending::Complete));
}

#[test]
fn a_result_of_another_host_keeps_its_name_and_its_lines() {
    let (scratch, here) = (Scratch::new("there"), Scratch::new("here"));
    let (there, here) = (Store::at(&scratch.0), Store::at(&here.0));
    there.create(&header("7k2f9q", "lab-b", 5)).unwrap().append(&[block(0)]).unwrap();
    let journal = there.journal_path(&id("7k2f9q"));
    for (path, found) in [
        (journal.clone(), Imported::Stored(id("7k2f9q"))),
        (there.folder(&id("7k2f9q")), Imported::Known(id("7k2f9q"))),
    ] {
        assert_eq!(here.import(&path).unwrap(), found);
    }
    let of = |store: &Store| store.read(&RunName::parse("7k2f9q")).unwrap();
    assert_eq!(of(&here), of(&there));
    // What was measured since comes in, and an older copy takes nothing away.
    let older = scratch.0.join("older.jsonl");
    fs::copy(&journal, &older).unwrap();
    there.resume(&id("7k2f9q")).unwrap().0.append(&[block(1)]).unwrap();
    assert_eq!(here.import(&journal).unwrap(), Imported::Stored(id("7k2f9q")));
    assert_eq!(of(&here), of(&there));
    assert_eq!(here.import(&older).unwrap(), Imported::Known(id("7k2f9q")));
    assert_eq!(of(&here), of(&there));
    // What a person wrote comes with a folder, and takes nothing away.
    let (run, title) =
        (id("7k2f9q"), |title: &str| Note { title: title.into(), ..Note::default() });
    there.write_plan(&run, "v6gap = 1").unwrap();
    there.set_note(&run, &title("before")).unwrap();
    here.import(&there.folder(&run)).unwrap();
    there.set_note(&run, &title("after")).unwrap();
    here.import(&there.folder(&run)).unwrap();
    assert_eq!(here.written_plan(&run).as_deref(), Some("v6gap = 1"));
    assert_eq!(here.note(&run), title("before"));
    // Two that went on apart are two.
    here.resume(&id("7k2f9q")).unwrap().0.append(&[block(2)]).unwrap();
    there.resume(&id("7k2f9q")).unwrap().0.append(&[block(3)]).unwrap();
    let taken = here.import(&journal);
    assert!(matches!(taken, Err(StoreError::Taken { .. })), "{taken:?}");
}

#[test]
fn a_torn_line_is_left_out_and_mended() {
    let scratch = Scratch::new("torn");
    let store = Store::at(&scratch.0);
    let mut journal = store.create(&header("torn00", "lab-b", 5)).unwrap();
    journal.append(&[block(0)]).unwrap();
    drop(journal);
    let path = store.journal_path(&id("torn00"));
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"v\":1,\"line\":\"trial\",\"blo")).unwrap();
    assert_eq!(store.read(&RunName::parse("torn00")).unwrap().len(), 2);
    let (mut journal, lines) = store.resume(&id("torn00")).unwrap();
    assert_eq!(lines.len(), 2);
    journal.append(&[block(1)]).unwrap();
    assert_eq!(store.read(&RunName::parse("last")).unwrap()[2], block(1));
}

#[test]
fn a_cut_inside_a_character_costs_its_line_only() {
    let scratch = Scratch::new("utf8");
    let store = Store::at(&scratch.0);
    drop(store.create(&header("utf800", "lab-b", 5)).unwrap());
    let path = store.journal_path(&id("utf800"));
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"text\":\"\xc3");
    fs::write(&path, bytes).unwrap();
    assert_eq!(store.read(&RunName::parse("utf800")).unwrap().len(), 1);
    assert_eq!(store.resume(&id("utf800")).unwrap().1.len(), 1);
}

#[test]
fn files_are_written_whole_and_beside_nothing_else() {
    let scratch = Scratch::new("files");
    let path = scratch.0.join("report.html");
    let neighbour = scratch.0.join("report.partial");
    fs::write(&neighbour, "not ours").unwrap();
    Store::write_file(&path, "page").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "page");
    assert_eq!(fs::read_to_string(&neighbour).unwrap(), "not ours");
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 2);
}

#[test]
fn only_one_may_write() {
    let scratch = Scratch::new("lock");
    let store = Store::at(&scratch.0);
    let first = store.create(&header("lock00", "lab-b", 5)).unwrap();
    assert!(matches!(store.resume(&id("lock00")), Err(StoreError::Locked { .. })));
    assert!(matches!(store.remove(&id("lock00")), Err(StoreError::Locked { .. })));
    drop(first);
    store.remove(&id("lock00")).unwrap();
    assert!(store.list().unwrap().is_empty());
}

#[test]
fn references_find_runs_or_say_why_not() {
    let scratch = Scratch::new("names");
    let store = Store::at(&scratch.0);
    for (id, target, at) in [("abc111", "x", 1), ("abd222", "y", 2), ("zzz333", "x", 3)] {
        store.create(&header(id, target, at)).unwrap();
    }
    let found = |text: &str| store.resolve(&RunName::parse(text));
    assert_eq!(found("last").unwrap(), id("zzz333"));
    assert_eq!(found("last~2").unwrap(), id("abc111"));
    assert_eq!(found("last:y").unwrap(), id("abd222"));
    assert_eq!(found("abd").unwrap(), id("abd222"));
    assert!(matches!(found("ab"), Err(StoreError::Ambiguous { ids, .. }) if ids.len() == 2));
    assert!(matches!(found("q"), Err(StoreError::NotFound { .. })));
    let file = store.journal_path(&id("abc111"));
    let by_file = store.read(&RunName::parse(file.to_str().unwrap())).unwrap();
    assert_eq!(by_file.len(), 1);
}

#[test]
fn a_line_that_is_no_record_is_named() {
    let scratch = Scratch::new("bad");
    let store = Store::at(&scratch.0);
    store.create(&header("bad000", "x", 1)).unwrap();
    let path = store.journal_path(&id("bad000"));
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}nonsense\n")).unwrap();
    let error = store.read(&RunName::parse("bad000")).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    fs::write(&path, format!("{whole}{{\"v\":9}}\n")).unwrap();
    let error = store.read(&RunName::parse("bad000")).unwrap_err();
    assert!(error.to_string().contains("newer"), "{error}");
}

fn problems(text: &str) -> Vec<PlanProblem> {
    let scratch = Scratch::new(&format!("plan{}", text.len()));
    let path: &Path = &scratch.0.join("plan.toml");
    fs::write(path, text).unwrap();
    match read_plan(path, 1, &mut |_| Ok(())) {
        Err(PlanFileError::Wrong { problems, .. }) => problems,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_unknown_key_is_placed_and_a_near_one_suggested() {
    let found = problems("v6gap = 1\n[[measure]]\nmetric = \"rtt\"\nmesage = [\"64 B\"]\n");
    assert_eq!(found[0].line, 4);
    assert_eq!(found[0].what, "unknown key \"mesage\"");
    assert_eq!(found[0].help.as_deref(), Some("did you mean \"message\"?"));
}

#[test]
fn wrong_values_are_placed() {
    let text = "v6gap = 1\n[[measure]]\nmetric = \"rtt\"\nmessage = [\"64 B\", \"1 B\"]\n\
                [[measure]]\nmetric = \"conect\"\n";
    let found = problems(text);
    assert_eq!((found[0].line, found[1].line), (4, 6));
    assert_eq!(&text[found[1].span.clone()], "\"conect\"");
    assert_eq!(problems("v6gap = \"\n")[0].line, 1);
}

#[test]
fn a_note_lies_beside_the_run_and_goes_with_it() {
    let scratch = Scratch::new("note");
    let store = Store::at(&scratch.0);
    drop(store.create(&header("7k2f9q", "lab-b", 5)).unwrap());
    assert_eq!(store.note(&id("7k2f9q")), Note::default());
    let note = Note { title: "baseline".into(), note: "two\nlines".into() };
    store.set_note(&id("7k2f9q"), &note).unwrap();
    assert_eq!(store.note(&id("7k2f9q")), note);
    // What is no note, or could drive a terminal, is none.
    for text in ["{", "[]", "{\"title\":\"\\u001b[2J\"}"] {
        fs::write(store.folder(&id("7k2f9q")).join("note.json"), text).unwrap();
        assert_eq!(store.note(&id("7k2f9q")), Note::default(), "{text}");
    }
    store.set_note(&id("7k2f9q"), &Note::default()).unwrap();
    store.set_note(&id("7k2f9q"), &Note::default()).unwrap();
    assert!(!store.folder(&id("7k2f9q")).join("note.json").exists());
    let long = Note { title: "x".repeat(TITLE_CHARS_MAX + 1), note: String::new() };
    assert!(long.check().is_err());
    let wide = Note { title: "é".repeat(TITLE_CHARS_MAX), note: "y".repeat(NOTE_CHARS_MAX) };
    assert_eq!(wide.check(), Ok(()));
}

#[test]
fn a_store_apart_goes_as_a_whole() {
    let scratch = Scratch::new("apart");
    let store = Store::at(&scratch.0);
    drop(store.create(&header("7k2f9q", "lab-b", 5)).unwrap());
    let apart = store.apart("demo");
    drop(apart.create(&header("5hd02w", "lab-b", 6)).unwrap());
    assert_eq!((store.list().unwrap().len(), apart.list().unwrap().len()), (1, 1));
    // A run is read by the folder that holds it, too.
    let folder = RunName::File(apart.folder(&id("5hd02w")));
    assert_eq!(store.read(&folder).unwrap().len(), 1);
    apart.clear().unwrap();
    assert!(!apart.data().exists() && store.list().unwrap().len() == 1);
}
