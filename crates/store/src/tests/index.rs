//! The index says what the runs say, whatever became of it.

use super::{Scratch, block, header, id};
use crate::write::lock;
use crate::{Ended, Head, Judged, Note, Retention, RunName, Store};
use std::fs;
use v6gap_core::record::{Ending, Line};

/// Says of a run how many lines its journal has.
pub(super) fn judged(lines: &[Line]) -> Judged {
    let text = format!("{{\"lines\":{}}}", lines.len());
    Judged { set_up: Some("alike".into()), text: Some(text) }
}

/// Brings the line of a run up to date, and says whether it is.
pub(super) fn settle(store: &Store, of: &str) -> bool {
    let lagging = store.lagging(&id(of));
    let lines = store.read_run(&id(of)).unwrap();
    lagging.is_some_and(|lagging| store.catch_up(lagging, judged(&lines)).unwrap())
}

/// What a list says, by the index, without what whoever judges added.
pub(super) fn listed(store: &Store) -> Vec<Head> {
    let index = store.index().unwrap();
    index.rows().iter().map(|row| Head { set_up: None, ..row.head.clone() }).collect()
}

/// The same by the journals.
pub(super) fn truth(store: &Store) -> Vec<Head> {
    let runs = store.survey().unwrap().runs;
    runs.iter().map(|entry| Head::of(entry, store.note(&entry.header.id))).collect()
}

pub(super) fn rebuild(store: &Store) -> Vec<u8> {
    store.rebuild_index(&|_| true, &judged, &|_, _| {}).unwrap();
    fs::read(store.index_path()).unwrap()
}

/// A store with three complete runs that have their lines.
fn with_three(name: &str) -> (Scratch, Store) {
    let scratch = Scratch::new(name);
    let store = Store::at(&scratch.0);
    for (at, of) in ["zzz333", "abc111", "mno222"].into_iter().enumerate() {
        let mut journal = store.create(&header(of, "lab-b", at as u64)).unwrap();
        journal.append(&[block(0), Line::End(Ending::Complete)]).unwrap();
        drop(journal);
        assert!(settle(&store, of));
    }
    (scratch, store)
}

fn lagging(store: &Store) -> Vec<String> {
    store.index().unwrap().lagging().map(|row| row.head.id.to_string()).collect()
}

#[test]
fn lines_say_what_journals_say_in_bytes_that_do_not_depend_on_the_way() {
    let (_scratch, store) = with_three("index-three");
    assert_eq!(listed(&store), truth(&store));
    assert_eq!(lagging(&store), Vec::<String>::new());
    let index = store.index_with(&|head| head.id == id("abc111")).unwrap();
    let told: Vec<_> = index.rows().iter().map(|row| row.judged()).collect();
    assert_eq!(told, [None, Some("{\"lines\":3}"), None]);
    assert_eq!(index.rows()[0].head.ended, Some(Ended::Complete));
    let grown = fs::read(store.index_path()).unwrap();
    assert_eq!(rebuild(&store), grown);
    fs::remove_file(store.index_path()).unwrap();
    assert_eq!(lagging(&store).len(), 3);
    assert_eq!(rebuild(&store), grown);
    for of in ["zzz333", "abc111", "mno222"] {
        fs::remove_file(store.folder(&id(of)).join("summary.json")).unwrap();
    }
    assert_eq!(rebuild(&store), grown);
}

/// A crash may leave any beginning of the file, and a disk any other byte.
#[test]
fn whatever_the_file_holds_nothing_is_lost() {
    let (_scratch, store) = with_three("index-torn");
    let (whole, truth) = (fs::read(store.index_path()).unwrap(), truth(&store));
    for end in (0..whole.len()).step_by(3) {
        fs::write(store.index_path(), &whole[..end]).unwrap();
        assert_eq!(listed(&store), truth, "{end}");
    }
    for at in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        fs::write(store.index_path(), &changed).unwrap();
        assert_eq!(listed(&store), truth, "{at}");
    }
    // What follows the last newline is cut off by whoever adds a line.
    fs::write(store.index_path(), &whole[..whole.len() - 1]).unwrap();
    let lags = lagging(&store);
    assert!(lags.len() == 1 && settle(&store, &lags[0]));
    assert_eq!(fs::read(store.index_path()).unwrap(), whole);
}

#[test]
fn a_run_that_goes_on_is_read_itself_until_it_is_settled() {
    let (_scratch, store) = with_three("index-on");
    let (mut journal, _) = store.resume(&id("abc111")).unwrap();
    journal.append(&[block(1)]).unwrap();
    assert_eq!((listed(&store), lagging(&store)), (truth(&store), vec!["abc111".into()]));
    assert!(store.lagging(&id("abc111")).is_none(), "it is being measured");
    let measured = store.rebuild_index(&|_| true, &judged, &|_, _| {}).unwrap();
    assert_eq!((measured.runs, measured.measured), (2, 1));
    drop(journal);
    assert_eq!(listed(&store), truth(&store));
    assert!(settle(&store, "abc111") && lagging(&store).is_empty());
    assert_eq!(listed(&store), truth(&store));
    // What went on after it was looked at is not settled.
    let looked = store.lagging(&id("abc111")).unwrap();
    store.resume(&id("abc111")).unwrap().0.append(&[block(2)]).unwrap();
    assert!(!store.catch_up(looked, Judged::default()).unwrap());
    assert_eq!((listed(&store), lagging(&store)), (truth(&store), vec!["abc111".into()]));
}

#[test]
fn a_note_changes_the_line_and_keeps_what_was_judged() {
    let (_scratch, store) = with_three("index-note");
    let note = Note { title: "baseline".into(), note: "two\nlines".into() };
    store.set_note(&id("zzz333"), &note).unwrap();
    assert_eq!((listed(&store), lagging(&store).len()), (truth(&store), 0));
    assert_eq!(store.judged(&id("zzz333")).unwrap(), "{\"lines\":3}");
    // The old line says nothing any more, and is taken out.
    assert!(store.index().unwrap().is_old() && store.order_index().unwrap());
    assert!(!store.index().unwrap().is_old());
    let ordered = fs::read(store.index_path()).unwrap();
    assert_eq!((listed(&store), rebuild(&store)), (truth(&store), ordered));
    // One that was written by another way is seen by whoever makes the index anew.
    fs::write(store.folder(&id("zzz333")).join("note.json"), "{\"title\":\"other\"}").unwrap();
    rebuild(&store);
    assert_eq!(listed(&store), truth(&store));
}

/// Who settles a run while a note is written reads the old one, and takes away the mark it found.
#[test]
fn a_note_without_a_line_of_its_own_is_marked_after_it_was_written() {
    let (_scratch, store) = with_three("index-late");
    let busy = lock(&store.data().join("index.lock")).unwrap();
    let write = || {
        store.marks().values().for_each(|marks| store.unmark(marks));
        store.write_to(&id("abc111"), "note.json", b"{\"title\":\"late\"}").map(|_| ())
    };
    store.renote(&id("abc111"), write).unwrap();
    drop(busy);
    assert_eq!((listed(&store), lagging(&store)), (truth(&store), vec!["abc111".into()]));
}

#[test]
fn a_run_that_was_removed_is_not_listed_and_its_name_may_be_used_again() {
    let (scratch, store) = with_three("index-gone");
    store.remove(&id("abc111")).unwrap();
    fs::remove_dir_all(store.folder(&id("zzz333"))).unwrap();
    assert_eq!(listed(&store), truth(&store));
    drop(store.create(&header("abc111", "another", 9)).unwrap());
    assert_eq!((listed(&store), lagging(&store)), (truth(&store), vec!["abc111".into()]));
    assert!(settle(&store, "abc111") && store.order_index().unwrap());
    assert_eq!(listed(&store), truth(&store));
    let ordered = fs::read(store.index_path()).unwrap();
    assert_eq!(rebuild(&store), ordered);
    // One that stays with what is no part of it is no run, and leaves no mark.
    fs::write(store.folder(&id("mno222")).join("thesis"), "years").unwrap();
    store.remove(&id("mno222")).unwrap();
    assert!(store.order_index().unwrap());
    assert_eq!(listed(&store), truth(&store));
    assert_eq!(fs::read_dir(scratch.0.join("unindexed")).unwrap().count(), 0);
}

/// A mark makes every look slow, and nothing else would ever take it from such a run.
#[test]
fn whoever_looks_takes_marks_from_runs_that_are_nowhere() {
    let (scratch, store) = with_three("index-marks");
    let whole = fs::read(store.index_path()).unwrap();
    let marks = || fs::read_dir(scratch.0.join("unindexed")).unwrap().count();
    drop(store.create(&header("new444", "lab-b", 9)).unwrap());
    store.remove(&id("new444")).unwrap();
    let busy = store.lock_index().unwrap();
    assert_eq!((listed(&store), marks()), (truth(&store), 1));
    drop(busy);
    assert_eq!((listed(&store), marks()), (truth(&store), 0));
    assert_eq!(fs::read(store.index_path()).unwrap(), whole);
    // One that has a line may come back as another, and one that is changed is looked at itself.
    store.remove(&id("abc111")).unwrap();
    store.resume(&id("mno222")).unwrap().0.append(&[block(1)]).unwrap();
    assert_eq!((listed(&store), marks()), (truth(&store), 2));
    // A line that cannot be read may be that of any.
    store.mark(&id("new444")).unwrap();
    let torn = [&whole[..], b"{}\n"].concat();
    fs::write(store.index_path(), torn).unwrap();
    assert_eq!((listed(&store), marks()), (truth(&store), 3));
}

/// The look of another took its mark away while the index was made anew: it had no line.
#[test]
fn a_run_that_was_removed_meanwhile_gets_no_line() {
    let (_scratch, store) = with_three("index-meanwhile");
    fs::remove_file(store.index_path()).unwrap();
    let told = |done: usize, all: usize| {
        if done == all {
            store.remove(&id("abc111")).unwrap();
            assert_eq!(listed(&store), truth(&store));
        }
    };
    let rebuilt = store.rebuild_index(&|_| true, &judged, &told).unwrap();
    let text = fs::read_to_string(store.index_path()).unwrap();
    assert!(rebuilt.runs == 2 && !text.contains("abc111"), "{text}");
}

#[test]
fn what_cannot_be_judged_is_listed_all_the_same() {
    let (_scratch, store) = with_three("index-none");
    let nothing = |_: &[Line]| Judged { set_up: None, text: Some("no\nJSON".into()) };
    store.rebuild_index(&|_| false, &nothing, &|_, _| {}).unwrap();
    assert_eq!((listed(&store), lagging(&store).len()), (truth(&store), 0));
    let index = store.index_with(&|_| true).unwrap();
    assert!(index.rows().iter().all(|row| row.judged().is_none()));
    assert_eq!(store.judged(&id("abc111")), None);
}

#[test]
fn an_index_of_many_runs_is_read_in_parts() {
    let (scratch, store) = with_three("index-parts");
    let text = format!("\"{}\"", "x".repeat(900_000));
    let long = |_: &[Line]| Judged { set_up: None, text: Some(text.clone()) };
    store.rebuild_index(&|_| false, &long, &|_, _| {}).unwrap();
    assert!(fs::metadata(store.index_path()).unwrap().len() > 2 << 20);
    assert_eq!((listed(&store), lagging(&store).len()), (truth(&store), 0));
    let at = RunName::parse("last~2");
    assert_eq!(store.resolve(&at).unwrap(), id("zzz333"));
    // Nothing outside of the store is read through it.
    fs::rename(store.index_path(), scratch.0.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(scratch.0.join("elsewhere"), store.index_path()).unwrap();
    assert_eq!((listed(&store), lagging(&store).len()), (truth(&store), 3));
}

/// As one of an earlier version of whoever judges.
#[test]
fn a_summary_that_does_not_fit_is_made_again() {
    let (_scratch, store) = with_three("index-fits");
    let other = |_: &[Line]| Judged { set_up: None, text: Some("{\"lines\":0}".into()) };
    let keeps = |text: Option<&str>| text != Some("{\"lines\":3}");
    store.rebuild_index(&keeps, &other, &|_, _| {}).unwrap();
    assert_eq!(store.judged(&id("abc111")).unwrap(), "{\"lines\":0}");
    let kept = store.rebuild_index(&keeps, &judged, &|_, _| {}).unwrap();
    assert_eq!((kept.runs, kept.judged), (3, 0));
}

/// However long it is: otherwise every look at it would take longer from then on.
#[test]
fn a_long_index_is_put_in_order_again() {
    let (_scratch, store) = with_three("index-order");
    let text = format!("\"{}\"", "x".repeat(1_500_000));
    let long = |_: &[Line]| Judged { set_up: None, text: Some(text.clone()) };
    store.rebuild_index(&|_| false, &long, &|_, _| {}).unwrap();
    let ordered = fs::read_to_string(store.index_path()).unwrap();
    assert!(ordered.len() > 4 << 20);
    let reversed: String = ordered.lines().rev().map(|line| format!("{line}\n")).collect();
    fs::write(store.index_path(), reversed).unwrap();
    assert!(store.index().unwrap().is_old());
    assert!(store.order_index().unwrap() && !store.index().unwrap().is_old());
    assert_eq!(fs::read_to_string(store.index_path()).unwrap(), ordered);
}

/// A folder that somebody removed leaves its line, which says nothing of what comes in its place.
#[test]
fn what_is_imported_is_listed_as_it_is() {
    let (_scratch, store) = with_three("index-import");
    let other = Scratch::new("index-import-from");
    let from = Store::at(&other.0);
    let mut journal = from.create(&header("abc111", "another", 7)).unwrap();
    journal.append(&[block(0), Line::End(Ending::Complete)]).unwrap();
    drop(journal);
    fs::remove_dir_all(store.folder(&id("abc111"))).unwrap();
    store.import(&from.journal_path(&id("abc111"))).unwrap();
    assert_eq!((listed(&store), lagging(&store)), (truth(&store), vec!["abc111".into()]));
}

#[test]
fn who_writes_to_the_index_is_named() {
    let (_scratch, store) = with_three("index-held");
    let held = store.lock_index().unwrap().unwrap();
    let refused = store.lock_index_within(0).unwrap_err().to_string();
    let process = format!("process {}", std::process::id());
    assert!(refused.contains(&process), "{refused}");
    drop(held);
    store.lock_index_within(0).unwrap();
}

#[test]
fn a_rule_removes_what_is_old_and_nothing_that_a_person_wrote_on() {
    let (_scratch, store) = with_three("index-rule");
    drop(store.create(&header("future", "lab-b", u64::MAX)).unwrap());
    drop(store.create(&header("other0", "lab-c", 0)).unwrap());
    store.set_note(&id("zzz333"), &Note { title: "kept".into(), ..Note::default() }).unwrap();
    let index = store.index().unwrap();
    let past = |age_ns, newest, now| {
        let past = Retention { age_ns, newest }.past(index.rows(), now);
        past.into_iter().map(|row| row.head.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(past(0, 0, 3), ["mno222", "abc111", "other0"]);
    assert_eq!(past(1, 0, 3), ["abc111", "other0"]);
    assert_eq!(past(0, 1, 3), ["mno222", "abc111"]);
    assert_eq!(past(0, 2, 3), ["abc111"]);
    assert_eq!(past(9, 0, 3), Vec::<String>::new());
}
