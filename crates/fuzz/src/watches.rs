//! Watches: files as people write them, and logs as disks keep them.

use crate::document;
use crate::plans::places;
use arbitrary::Unstructured;
use serde_json::Value;
use std::sync::LazyLock;
use v6gap_core::watch::known::Known;
use v6gap_core::watch::log::{self, Logged};
use v6gap_core::watch::machine::{Action, Machine};
use v6gap_core::watch::metrics::Metrics;
use v6gap_core::watch::said::Came;
use v6gap_core::watch::{DAY_NS, Kind, Moment, Watch, WatchedPath, day_of};
use v6gap_judge::changes::Watched;
use v6gap_report::metrics::text;
use v6gap_store::parse_watch;

/// Steps of a watch that is begun.
const STEPS: u32 = 200;

/// A watch file.
pub fn file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let watch = match parse_watch(text, &mut |_| {}) {
        Ok(watch) => watch,
        Err(problems) => return places(text, &problems),
    };
    assert_eq!(parse_watch(text, &mut |_| {}).ok().as_ref(), Some(&watch));
    for path in &watch.paths {
        let same = watch.paths.iter().filter(|other| other.name == path.name);
        assert_eq!(same.count(), 1, "two paths are called {}", path.name);
        Kind::ALL.into_iter().for_each(|kind| words(path, kind));
    }
    goes_on(watch);
}

/// What a visit is called with: the host is its second word, and all others are options.
fn words(path: &WatchedPath, kind: Kind) {
    let words = path.line(kind, None);
    assert!(!words[1].is_empty() && !words[1].starts_with('-'), "{words:?}");
    assert!(words[2..].iter().all(|word| word.starts_with("--")), "{words:?}");
    assert!(words.iter().all(|word| !word.contains(char::is_control)), "{words:?}");
}

/// It waits for something that is ahead, or makes a visit, and no two of a kind to a path are due
/// at once.
fn goes_on(watch: Watch) {
    let mut now = Moment { unix_ns: 20_000 * DAY_NS, offset_s: 3600 };
    let mut machine = Machine::new(watch, &[], Known::default(), "this host", now);
    let mut dues: Vec<(String, Kind, u64)> = Vec::new();
    for _ in 0..STEPS {
        match machine.next(now, false) {
            Action::Wait(until_ns) => {
                assert!(until_ns > now.unix_ns, "it waits for nothing");
                now.unix_ns = until_ns;
            }
            Action::Start(_) => machine.ended(Came::failed("so".to_owned()), now),
            Action::Visiting | Action::End => panic!("a visit that nobody makes"),
        }
        for entry in machine.unsaved() {
            let Logged::Began(began) = entry else { continue };
            let due = (began.path, began.kind, began.due_unix_ns);
            assert!(!dues.contains(&due), "{due:?}");
            dues.push(due);
        }
    }
}

/// Entries of all kinds, as documents.
static ENTRIES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let lines = include_str!("../testdata/watch.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("entries are JSON")).collect()
});

/// Text as it is, or entries of which bytes change one each: what is read is written and read again
/// alike, and whatever they say can be followed, counted and told.
pub fn log(data: &[u8]) {
    match data.split_first() {
        Some((0, text)) => {
            let text = String::from_utf8_lossy(text);
            follow(&text.lines().filter_map(|line| log::decode(line).ok()).collect::<Vec<_>>());
        }
        Some((&count, changes)) => {
            let mut bytes = Unstructured::new(changes);
            let mut entries = Vec::new();
            for _ in 0..count % 8 + 1 {
                let place: u8 = bytes.arbitrary().unwrap_or(0);
                let mut document = ENTRIES[usize::from(place) % ENTRIES.len()].clone();
                let length = usize::from(bytes.arbitrary::<u8>().unwrap_or(0)).min(bytes.len());
                let own = bytes.bytes(length).unwrap_or_default();
                document::change(&mut document, &mut Unstructured::new(own));
                entries.extend(log::decode(&document.to_string()));
            }
            follow(&entries);
        }
        None => {}
    }
}

fn follow(entries: &[Logged]) {
    let (mut known, mut path) = (Known::default(), Watched::keeping(0));
    let mut metrics = Metrics::new("this host", "1.0");
    for entry in entries {
        let line = log::encode(entry);
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(log::decode(&line).as_ref(), Ok(entry), "{line}");
        let day = day_of(entry.at_unix_ns());
        let spent = known.spent.on(day);
        known.take(entry);
        assert!(known.spent.on(day) >= spent, "less is spent after {line}");
        metrics.take(entry);
        match entry {
            Logged::Ended(ended) => drop(path.take(ended)),
            Logged::Watching(watching) => watching.paths.iter().for_each(|of| {
                path.listed(of);
            }),
            _ => {}
        }
    }
    drop(path.spells());
    told(&text(&metrics));
}

/// Each line is a description or one value of one series, whatever a path is called.
pub fn told(text: &str) {
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        let value = line.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok());
        assert!(line.starts_with("v6gap_") && value.is_some(), "{line}");
    }
}
