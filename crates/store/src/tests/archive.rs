//! Tables of the archive are whole or not there.

use super::Scratch;
use crate::{Store, StoreError};
use std::fs;
use std::io::Read;

fn read(store: &Store, part: &str) -> Option<String> {
    let mut text = String::new();
    let file = store.archived("answers", part, "answers").unwrap();
    file.map(|mut file| file.read_to_string(&mut text).unwrap())?;
    Some(text)
}

#[test]
fn a_table_takes_the_place_of_the_one_before() {
    let scratch = Scratch::new("archive-put");
    let store = Store::at(&scratch.0);
    assert!(!store.has_archive() && read(&store, "month=2026-11").is_none());
    let archive = store.hold_archive().unwrap();
    assert!(matches!(store.hold_archive(), Err(StoreError::Locked { .. })));
    for text in ["one", "another"] {
        archive.put("answers", "month=2026-11", "answers", text.as_bytes()).unwrap();
        assert_eq!(read(&store, "month=2026-11").unwrap(), text);
    }
    assert!(store.has_archive() && read(&store, "month=2026-12").is_none());
    let path = store.archived_path("answers", "month=2026-11", "answers");
    assert_eq!(path, scratch.0.join("archive/answers/month=2026-11/answers.parquet"));
    assert_eq!(fs::read_to_string(path).unwrap(), "another");
}

#[test]
fn what_was_left_by_a_crash_is_no_table_and_is_swept() {
    let scratch = Scratch::new("archive-left");
    let store = Store::at(&scratch.0);
    store.hold_archive().unwrap().put("pairs", "day=2026-11-02", "7k2f9q", b"whole").unwrap();
    let folder = scratch.0.join("archive/pairs/day=2026-11-02");
    fs::write(folder.join("7k2f9q.parquet.0123.partial"), "ha").unwrap();
    drop(store.hold_archive().unwrap());
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|found| found.unwrap().path()).collect();
    assert_eq!(left, [folder.join("7k2f9q.parquet")]);
}

#[test]
fn nothing_outside_of_the_archive_is_read_or_written() {
    let scratch = Scratch::new("archive-out");
    let store = Store::at(&scratch.0);
    let archive = store.hold_archive().unwrap();
    fs::create_dir(scratch.0.join("elsewhere")).unwrap();
    let link = scratch.0.join("archive/answers");
    std::os::unix::fs::symlink(scratch.0.join("elsewhere"), link).unwrap();
    assert!(archive.put("answers", "month=2026-11", "answers", b"one").is_err());
    assert!(store.archived("answers", "month=2026-11", "answers").is_err());
    assert_eq!(fs::read_dir(scratch.0.join("elsewhere")).unwrap().count(), 0);
}
