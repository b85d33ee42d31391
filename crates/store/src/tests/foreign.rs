//! Files and folders that came from somebody else: whatever they say of themselves and wherever
//! their links lead, nothing outside of the store is read, changed or removed, and nothing is read
//! without end.

use super::{Scratch, block, header, id};
use crate::{
    Imported, JOURNAL_BYTES_MAX, LINE_BYTES_MAX, Note, RunName, Store, StoreError, read_journal,
};
use std::fs::{self, File};
use std::io::{PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use v6gap_core::record::{self, Line};

/// The journal of a run that calls itself `name`.
fn journal(name: &str) -> String {
    let line = record::encode(&Line::Run(Box::new(header("placeholder", "lab-b", 9))));
    line.replace("\"placeholder\"", &format!("{name:?}")) + "\n"
}

/// A store with a run `aaa111`, and next to it a folder `victim` with a file that must stay.
fn with_victim(name: &str) -> (Scratch, Store) {
    let scratch = Scratch::new(name);
    let store = Store::at(&scratch.0.join("data"));
    drop(store.create(&header("aaa111", "lab-b", 5)).unwrap());
    fs::create_dir(scratch.0.join("victim")).unwrap();
    fs::write(scratch.0.join("victim/journal.jsonl"), journal("victim")).unwrap();
    fs::write(scratch.0.join("victim/keep"), "all of it").unwrap();
    (scratch, store)
}

fn untouched(scratch: &Scratch) {
    let victim = scratch.0.join("victim");
    assert_eq!(fs::read_to_string(victim.join("keep")).unwrap(), "all of it");
    assert_eq!(fs::read_to_string(victim.join("journal.jsonl")).unwrap(), journal("victim"));
    assert_eq!(fs::read_dir(victim).unwrap().count(), 2);
}

fn unfit<T: std::fmt::Debug>(found: Result<T, StoreError>) {
    assert!(matches!(found, Err(StoreError::Unfit { .. })), "{found:?}");
}

#[test]
fn an_identifier_is_no_path() {
    let scratch = Scratch::new("path");
    let store = Store::at(&scratch.0.join("data"));
    for id in ["../escaped", "/tmp/escaped", "", ".", "a b", "a\\b", "last"] {
        let file = scratch.0.join("run.jsonl");
        fs::write(&file, journal(id)).unwrap();
        for refused in [store.import(&file).err(), read_journal(&file).err()] {
            assert!(matches!(refused, Some(StoreError::Record { line: 1, .. })), "{id}");
        }
    }
    assert!(!scratch.0.join("data").exists());
}

/// Whatever is damaged in a journal is told as before; what is none is called what it is.
#[test]
fn what_is_no_journal_is_told_from_one_that_is_damaged() {
    let scratch = Scratch::new("no-journal");
    let store = Store::at(&scratch.0.join("data"));
    let file = scratch.0.join("run.jsonl");
    let refused = |text: &str| {
        fs::write(&file, text).unwrap();
        store.import(&file).unwrap_err()
    };
    let ending = record::encode(&block(0)) + "\n";
    for (text, begins) in [
        ("{\n  \"schema\": \"v6gap.result/1\",\n", "it is a document of the form v6gap.result/1"),
        ("{\"schema\":\"v6gap.figure/1\"}", "it is a document of the form v6gap.figure/1"),
        (
            "{\"id\":\"a\",\"schema\": \"v6gap.note/1\"}\n",
            "it is a document of the form v6gap.note/1",
        ),
        ("{\"schema\":\"of others\"}\n", "its first line is not a record: "),
        ("{\"schema\":\"v6gap.\u{1b}[2J\"}\n", "its first line is not a record: "),
        ("nonsense\n", "its first line is not a record: "),
        ("", "it has no whole line"),
        ("{\"v\":2,\"line\":\"end\",", "it has no whole line"),
        (ending.as_str(), "it does not begin with the facts of a run"),
    ] {
        let error = refused(text);
        let told = matches!(&error, StoreError::NoJournal { why, .. } if why.starts_with(begins));
        assert!(told, "{text:?}: {error}");
    }
    let whole = journal("aaa111");
    for (text, number) in [
        (whole.clone() + "nonsense\n", 2),
        (whole.clone() + "{\"schema\":\"v6gap.result/1\"}\n", 2),
        (whole.replace("}\n", "\n"), 1),
        ("{\"v\":99,\"line\":\"run\"}\n".to_owned(), 1),
        ("{\"v\":99}\n".to_owned(), 1),
    ] {
        let error = refused(&text);
        let told = matches!(error, StoreError::Record { line, .. } if line == number);
        assert!(told, "{text}: {error}");
    }
    assert!(!scratch.0.join("data").exists());
}

/// A journal as a later program writes it, which adds fields to every line.
fn later(journal: &str) -> String {
    let later = |line: &str| {
        line.strip_suffix('}').unwrap().to_owned() + ",\"later\":[{\"a\":\"\u{e9}\"}]}\n"
    };
    journal.lines().map(later).collect()
}

#[test]
fn what_only_a_later_program_knows_is_kept() {
    let scratch = Scratch::new("later");
    let store = Store::at(&scratch.0.join("data"));
    let file = scratch.0.join("run.jsonl");
    let blocks: String = (0..3).map(|n| record::encode(&block(n)) + "\n").collect();
    let whole = later(&(journal("aaa111") + &blocks));
    let of_two: usize = whole.split_inclusive('\n').take(2).map(str::len).sum();
    let run = id("aaa111");
    let stored = || fs::read_to_string(store.journal_path(&run)).unwrap();
    // What a crash cut off is no line, and ends of lines are those of this program.
    for (text, kept) in [
        (whole[..of_two].replace('\n', "\r\n"), &whole[..of_two]),
        (whole.clone() + "{\"v\":2,", &whole[..]),
    ] {
        fs::write(&file, text).unwrap();
        assert_eq!(store.import(&file).unwrap(), Imported::Stored(run.clone()));
        assert_eq!(stored(), kept);
        assert_eq!(store.import(&file).unwrap(), Imported::Known(run.clone()));
    }
    let (lines, text) = store.lines_and_text(&RunName::parse("aaa111")).unwrap();
    assert_eq!((lines, text), (store.read_run(&run).unwrap(), whole));
}

/// The name of the folder counts, not what the journal in it says.
#[test]
fn a_run_is_its_folder() {
    let (scratch, store) = with_victim("folder");
    for (folder, says) in [("evil11", "../../victim"), ("evil22", "aaa111"), ("no id", "noid")] {
        let folder = scratch.0.join("data/runs").join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("journal.jsonl"), journal(says)).unwrap();
    }
    let listed = store.survey().unwrap();
    assert_eq!(listed.runs.len(), 1);
    assert_eq!(listed.left_out.len(), 3, "{:?}", listed.left_out);
    assert!(listed.left_out[1].contains("evil22 is left out: its journal is that of aaa111"));
    assert_eq!(store.resolve(&RunName::parse("last")).unwrap(), id("aaa111"));
    store.remove(&id("aaa111")).unwrap();
    let none = store.resolve(&RunName::parse("last"));
    assert!(matches!(none, Err(StoreError::NotFound { .. })));
    untouched(&scratch);
}

#[test]
fn a_link_in_place_of_a_run_is_not_followed() {
    let (scratch, store) = with_victim("links");
    let victim = scratch.0.join("victim");
    symlink(&victim, scratch.0.join("data/runs/victim")).unwrap();
    let listed = store.survey().unwrap();
    assert_eq!((listed.runs.len(), listed.left_out.len()), (1, 1));
    let id = id("victim");
    unfit(store.remove(&id));
    unfit(store.set_note(&id, &Note { title: "x".into(), note: String::new() }));
    unfit(store.set_note(&id, &Note::default()));
    unfit(store.write_report(&id, "page"));
    unfit(store.write_plan(&id, "plan"));
    unfit(store.resume(&id));
    unfit(store.create(&header("victim", "lab-b", 5)));
    unfit(store.import(&victim));
    assert_eq!((store.note(&id), store.written_plan(&id)), (Note::default(), None));
    untouched(&scratch);
    // The same of the folder with all runs.
    let other = Store::at(&scratch.0.join("other"));
    fs::create_dir(scratch.0.join("other")).unwrap();
    symlink(&scratch.0, scratch.0.join("other/runs")).unwrap();
    unfit(other.survey());
    unfit(other.remove(&id));
    unfit(other.create(&header("bbb222", "lab-b", 5)));
    untouched(&scratch);
}

/// Links in place of the files of a run are replaced or removed, and nothing is read or written
/// through them.
#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    let (scratch, store) = with_victim("file-links");
    let (id, keep) = (id("aaa111"), scratch.0.join("victim/keep"));
    let folder = store.folder(&id);
    for name in ["note.json", "report.html", "plan.toml", "report.html.partial", "a.pcapng"] {
        symlink(&keep, folder.join(name)).unwrap();
    }
    assert_eq!((store.note(&id), store.written_plan(&id)), (Note::default(), None));
    let note = Note { title: "baseline".into(), note: String::new() };
    store.set_note(&id, &note).unwrap();
    store.write_report(&id, "page").unwrap();
    assert_eq!(store.note(&id), note);
    fs::remove_file(folder.join("journal.jsonl")).unwrap();
    symlink(scratch.0.join("victim/journal.jsonl"), folder.join("journal.jsonl")).unwrap();
    unfit(store.read(&RunName::File(folder.clone())));
    unfit(store.resume(&id));
    assert_eq!(store.survey().unwrap().left_out.len(), 1);
    store.remove(&id).unwrap();
    assert!(!folder.exists());
    untouched(&scratch);
}

#[test]
fn what_is_no_part_of_a_run_stays() {
    let (_scratch, store) = with_victim("stays");
    let (id, folder) = (id("aaa111"), store.folder(&id("aaa111")));
    fs::write(folder.join("thesis.tex"), "years").unwrap();
    fs::write(folder.join("wire.pcapng"), "frames").unwrap();
    fs::create_dir(folder.join("report.html")).unwrap();
    assert_eq!(store.remove(&id).unwrap(), ["report.html", "thesis.tex"]);
    assert_eq!(fs::read_to_string(folder.join("thesis.tex")).unwrap(), "years");
    assert!(!folder.join("journal.jsonl").exists() && !folder.join("wire.pcapng").exists());
    assert!(store.survey().unwrap().runs.is_empty());
}

#[test]
fn a_partial_file_is_not_written_through_a_link() {
    let (scratch, _) = with_victim("partial");
    let page = scratch.0.join("page.html");
    for name in ["page.html.partial", "page.partial"] {
        symlink(scratch.0.join("victim/keep"), scratch.0.join(name)).unwrap();
    }
    Store::write_file(&page, "page").unwrap();
    assert_eq!(fs::read_to_string(&page).unwrap(), "page");
    assert!(!page.is_symlink());
    untouched(&scratch);
}

#[test]
fn the_report_of_a_file_lies_beside_it() {
    let (scratch, store) = with_victim("beside");
    let file = scratch.0.join("victim/run.jsonl");
    let page = scratch.0.join("victim/run.report.html");
    fs::write(&file, journal("aaa111")).unwrap();
    symlink(scratch.0.join("victim/keep"), &page).unwrap();
    let reference = RunName::File(file.clone());
    assert_eq!(store.write_report_of(&reference, "page").unwrap(), page);
    assert!(!page.is_symlink() && !store.report_path(&id("aaa111")).exists());
    let folder = RunName::File(store.folder(&id("aaa111")));
    let there = store.report_path(&id("aaa111"));
    assert_eq!(store.write_report_of(&folder, "page").unwrap(), there);
    unfit(store.write_report_of(&RunName::File("/dev/null".into()), "page"));
    for path in [file, page] {
        fs::remove_file(path).unwrap();
    }
    untouched(&scratch);
}

/// Of all that is made in the store.
#[test]
fn nobody_else_may_look() {
    let scratch = Scratch::new("modes");
    let data = scratch.0.join("data");
    let store = Store::at(&data);
    let id = id("aaa111");
    drop(store.create(&header("aaa111", "lab-b", 5)).unwrap());
    store.write_report(&id, "page").unwrap();
    store.write_plan(&id, "plan").unwrap();
    store.set_note(&id, &Note { title: "x".into(), note: String::new() }).unwrap();
    drop(Store::new_file(&store.folder(&id).join("wire.pcapng")).unwrap());
    let file = scratch.0.join("run.jsonl");
    fs::write(&file, journal("bbb222")).unwrap();
    store.import(&file).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("runs"))), (0o700, 0o700));
    for folder in fs::read_dir(data.join("runs")).unwrap().flatten() {
        assert_eq!(mode(&folder.path()), 0o700, "{folder:?}");
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            assert_eq!(mode(&file.path()), 0o600, "{file:?}");
        }
    }
}

#[test]
fn what_never_ends_is_not_read() {
    let (scratch, store) = with_victim("endless");
    let folder = store.folder(&id("aaa111"));
    for path in ["/dev/zero", "/dev/urandom", "/dev/null"].map(Path::new) {
        unfit(read_journal(path));
        unfit(store.import(path));
        assert!(crate::read_world(path).is_err());
    }
    unfit(read_journal(&scratch.0));
    // A file that says that it is long, without its bytes.
    let long = scratch.0.join("long.jsonl");
    File::create(&long).unwrap().set_len(JOURNAL_BYTES_MAX + 1).unwrap();
    unfit(read_journal(&long));
    // A line that is longer than any.
    File::create(&long).unwrap().set_len(LINE_BYTES_MAX as u64 + 2).unwrap();
    let error = read_journal(&long).unwrap_err();
    assert!(matches!(error, StoreError::Record { line: 1, .. }), "{error}");
    fs::rename(&long, folder.join("journal.jsonl")).unwrap();
    let listed = store.survey().unwrap();
    assert!(listed.left_out[0].contains("longer than 16 MiB"), "{:?}", listed.left_out);
    let plan = scratch.0.join("plan.toml");
    File::create(&plan).unwrap().set_len(2 << 20).unwrap();
    let refused = crate::read_plan(&plan, 1, &mut |_| Ok(()));
    assert!(refused.is_err_and(|error| error.to_string().contains("longer than 1024 kB")));
    let note = folder.join("note.json");
    fs::write(&note, format!("{{\"title\":\"x\"}}{}", " ".repeat(1 << 20))).unwrap();
    assert_eq!(store.note(&id("aaa111")), Note::default());
}

/// What a thread writes into a pipe, read as a journal.
fn piped(write: impl FnOnce(PipeWriter) + Send) -> Result<Vec<Line>, StoreError> {
    let (reader, writer) = std::io::pipe().unwrap();
    let name = format!("/dev/fd/{}", reader.as_raw_fd());
    std::thread::scope(|scope| {
        scope.spawn(|| write(writer));
        let read = read_journal(Path::new(&name));
        // Who still writes is told that nobody reads.
        drop(reader);
        read
    })
}

#[test]
fn a_pipe_is_read_to_its_end_and_no_further_than_a_file() {
    let text = journal("aaa111") + &(record::encode(&block(0)) + "\n");
    let read = piped(|mut pipe| {
        for byte in text.as_bytes().chunks(7) {
            pipe.write_all(byte).unwrap();
        }
    });
    assert_eq!(read.unwrap().len(), 2);
    let error = piped(|mut pipe| while pipe.write_all(&[0; 65_536]).is_ok() {}).unwrap_err();
    assert!(matches!(error, StoreError::Record { line: 1, .. }), "{error}");
    let error = piped(|mut pipe| while pipe.write_all(b"nonsense\n").is_ok() {}).unwrap_err();
    assert!(matches!(error, StoreError::Record { line: 1, .. }), "{error}");
}
