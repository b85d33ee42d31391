//! A folder of runs that somebody else put there, as an archive does: below folders by day and
//! site, or next to each other. It is read and never written to.

use crate::index::{Judge, Keep};
use crate::journal::read_stored;
use crate::layout::JOURNAL;
use crate::{Head, Judged, Store, StoreError};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use v6gap_core::record::RunId;

/// How deep runs may lie: `runs`, year, month, day, site, and the run.
const DEPTH_MAX: usize = 6;

/// A run that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lying {
    /// What a list says of it.
    pub head: Head,
    /// What whoever judges says of it; nothing if it cannot be judged.
    pub judged: Option<String>,
    /// Its folder.
    pub folder: PathBuf,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The runs, the latest first.
    pub runs: Vec<Lying>,
    /// Folders that are left out, each with the reason in words.
    pub left_out: Vec<String>,
}

/// What is looked for.
struct Wanted<'a> {
    since_unix_ns: u64,
    keep: Keep<'a>,
    judge: Judge<'a>,
}

/// Who is told of each folder of a run, and of what cannot be read.
struct Told<'a> {
    run: &'a mut dyn FnMut(&Store, &str),
    left_out: &'a mut dyn FnMut(String),
}

/// The runs below `root` that began at `since_unix_ns` or later and that `keep` names. One without
/// a summary that fits is judged by its journal. A folder by day that was over before is passed
/// over.
///
/// # Errors
/// If `root` cannot be read.
pub fn runs_below(
    root: &Path,
    since_unix_ns: u64,
    keep: Keep<'_>,
    judge: Judge<'_>,
) -> Result<Tree, StoreError> {
    let mut tree = Tree::default();
    let wanted = Wanted { since_unix_ns, keep, judge };
    let mut unreadable = Vec::new();
    let mut run = |store: &Store, name: &str| look(store, name, &wanted, &mut tree);
    let mut left_out = |why: String| unreadable.push(why);
    let mut told = Told { run: &mut run, left_out: &mut left_out };
    visit(root, since_unix_ns, &mut told)?;
    tree.left_out.extend(unreadable);
    tree.runs.sort_by(|a, b| b.head.place().cmp(&a.head.place()));
    // A run that was put into two folders is one.
    tree.runs.dedup_by(|a, b| a.head.id == b.head.id);
    tree.left_out.sort();
    Ok(tree)
}

/// A number that is another one as soon as [`runs_below`] might find something else: a run more or
/// less, or a journal that has grown. No file is opened for it.
///
/// # Errors
/// If `root` cannot be read.
pub fn mark_below(root: &Path, since_unix_ns: u64) -> Result<u64, StoreError> {
    let mut hasher = DefaultHasher::new();
    let mut run = |store: &Store, name: &str| {
        let journal = store.runs.join(name).join(JOURNAL);
        (name, journal.metadata().map_or(0, |found| found.len())).hash(&mut hasher);
    };
    let mut told = Told { run: &mut run, left_out: &mut |_| {} };
    visit(root, since_unix_ns, &mut told)?;
    Ok(hasher.finish())
}

/// Tells of each folder of a run below `root`.
fn visit(root: &Path, since_unix_ns: u64, told: &mut Told<'_>) -> Result<(), StoreError> {
    let names = names(root).map_err(StoreError::io("read", root))?;
    walk(root, &names, &mut Vec::new(), since_unix_ns, told);
    Ok(())
}

/// Names of the folders in a folder, in order; links are not followed.
fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let found = fs::read_dir(folder)?.flatten();
    let folders = found.filter(|found| found.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        folders.filter_map(|found| found.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

/// `way` holds the names of the folders from the root to this one.
fn walk(
    folder: &Path,
    names: &[String],
    way: &mut Vec<String>,
    since_unix_ns: u64,
    told: &mut Told<'_>,
) {
    let store = Store { runs: folder.to_owned() };
    for name in names {
        let below = folder.join(name);
        if Store::exists(&below.join(JOURNAL)) {
            (told.run)(&store, name);
            continue;
        }
        if way.len() + 1 >= DEPTH_MAX {
            continue;
        }
        way.push(name.clone());
        let is_over = day_ends_unix_ns(way).is_some_and(|ends| ends <= since_unix_ns);
        if !is_over {
            match self::names(&below) {
                Ok(names) => walk(&below, &names, way, since_unix_ns, told),
                Err(error) => {
                    (told.left_out)(format!("{} is left out: {error}", below.display()));
                }
            }
        }
        way.pop();
    }
}

/// Takes the run of that name, if it is one that is wanted.
fn look(store: &Store, name: &str, wanted: &Wanted<'_>, tree: &mut Tree) {
    let Ok(id) = name.parse::<RunId>() else {
        let why = store.left_out(OsStr::new(name), "its name is no identifier of a run");
        tree.left_out.push(why);
        return;
    };
    let is_wanted =
        |head: &Head| head.started_unix_ns >= wanted.since_unix_ns && (wanted.keep)(head);
    let summed = store.summary_line(&id);
    let (head, judged) = match summed {
        Some((head, line)) => {
            if !is_wanted(&head) {
                return;
            }
            let judged = crate::summary::judged(&line).filter(|text| *text != "null");
            (head, judged.map(str::to_owned))
        }
        None => {
            let Some(entry) = store.look(&id) else {
                let why = store.left_out(OsStr::new(name), "its journal cannot be read");
                tree.left_out.push(why);
                return;
            };
            let head = Head::of(&entry, store.note(&id));
            if !is_wanted(&head) {
                return;
            }
            let lines = read_stored(&store.journal_path(&id)).unwrap_or_default();
            let Judged { set_up, text } = (wanted.judge)(&lines);
            (Head { set_up, ..head }, text)
        }
    };
    tree.runs.push(Lying { head, judged, folder: store.folder(&id) });
}

/// When the day ends, in ns since the Unix epoch, that the last three names of a way are, as in
/// `2026/11/21`.
fn day_ends_unix_ns(way: &[String]) -> Option<u64> {
    const DAY_NS: i64 = 86_400_000_000_000;
    let [.., year, month, day] = way else { return None };
    let number = |text: &str, digits: usize| {
        let all = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        if all { text.parse::<i64>().ok() } else { None }
    };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    // Days since the epoch, with years that begin in March (Hinnant, "chrono-compatible low-level
    // date algorithms").
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    u64::try_from((days - 719_468 + 1).checked_mul(DAY_NS)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_told_by_their_folders() {
        let ends = |way: &[&str]| {
            day_ends_unix_ns(&way.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let day = |days: u64| Some(days * 86_400_000_000_000);
        assert_eq!(ends(&["runs", "1970", "01", "01"]), day(1));
        assert_eq!(ends(&["2026", "11", "21"]), day(20_779));
        assert_eq!(ends(&["2024", "02", "29"]), day(19_783));
        assert_eq!(ends(&["2024", "03", "01"]), day(19_784));
        for way in [&["2026", "11"][..], &["2026", "11", "21", "rome"], &["x", "11", "21"]] {
            assert_eq!(ends(way), None, "{way:?}");
        }
    }
}
