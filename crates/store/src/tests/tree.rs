//! Runs that lie wherever somebody put them.

use super::index::{judged, settle};
use super::{Scratch, block, header};
use crate::{Head, Store, mark_below, runs_below};
use std::fs;
use v6gap_core::record::{Ending, Line};

const DAY_NS: u64 = 86_400_000_000_000;

/// 21 November 2026, in days since the Unix epoch.
const DAY: u64 = 20_778;

/// Two runs of that day and one of the next, by day and site; one of them has no summary.
fn archive(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let runs = [
        ("2026/11/21/rome", "aaa111", DAY * DAY_NS + 1, true),
        ("2026/11/21/oslo", "bbb222", DAY * DAY_NS + 2, false),
        ("2026/11/22/rome", "ccc333", (DAY + 1) * DAY_NS, true),
    ];
    let store = Store::at(&scratch.0.join("made"));
    for (folder, id, started, is_settled) in runs {
        let mut journal = store.create(&header(id, "lab-b", started)).unwrap();
        journal.append(&[block(0), Line::End(Ending::Complete)]).unwrap();
        drop(journal);
        assert!(!is_settled || settle(&store, id));
        let to = scratch.0.join("archive/runs").join(folder);
        fs::create_dir_all(&to).unwrap();
        fs::rename(store.runs.join(id), to.join(id)).unwrap();
    }
    scratch
}

fn found(scratch: &Scratch, since_unix_ns: u64, keep: &str) -> Vec<(String, Option<String>)> {
    let is_kept = |head: &Head| head.id.as_str().contains(keep);
    let tree = runs_below(&scratch.0.join("archive"), since_unix_ns, &is_kept, &judged).unwrap();
    assert_eq!(tree.left_out, Vec::<String>::new());
    tree.runs.into_iter().map(|run| (run.head.id.to_string(), run.judged)).collect()
}

#[test]
fn runs_are_found_below_days_and_sites_the_latest_first() {
    let scratch = archive("tree-found");
    let said = || Some("{\"lines\":3}".to_owned());
    let all = ["ccc333", "bbb222", "aaa111"].map(|id| (id.to_owned(), said()));
    assert_eq!(found(&scratch, 0, ""), all);
    assert_eq!(found(&scratch, 0, "bbb"), all[1..2]);
    assert_eq!(found(&scratch, DAY * DAY_NS + 2, ""), all[..2]);
    assert_eq!(found(&scratch, (DAY + 1) * DAY_NS, ""), all[..1]);
}

#[test]
fn what_is_no_run_is_named() {
    let scratch = archive("tree-odd");
    let root = scratch.0.join("archive");
    let odd = root.join("runs/not-a-run");
    fs::create_dir_all(&odd).unwrap();
    fs::write(odd.join("journal.jsonl"), "").unwrap();
    let tree = runs_below(&root, 0, &|_| true, &judged).unwrap();
    assert_eq!((tree.runs.len(), tree.left_out.len()), (3, 1));
    assert!(tree.left_out[0].contains("not-a-run is left out"), "{:?}", tree.left_out);
    assert!(runs_below(&scratch.0.join("none"), 0, &|_| true, &judged).is_err());
}

#[test]
fn the_mark_is_another_one_when_there_is_more_to_find() {
    let scratch = archive("tree-mark");
    let root = scratch.0.join("archive");
    let mark = |since_unix_ns: u64| mark_below(&root, since_unix_ns).unwrap();
    let (all, newest) = (mark(0), mark((DAY + 1) * DAY_NS));
    assert_eq!(all, mark(0));
    assert_ne!(all, newest);
    // A journal that grows, on a day that is over.
    let journal = root.join("runs/2026/11/21/rome/aaa111/journal.jsonl");
    let grown = fs::read_to_string(&journal).unwrap() + "\n";
    fs::write(&journal, grown).unwrap();
    let grown = mark(0);
    assert_ne!(grown, all);
    assert_eq!(mark((DAY + 1) * DAY_NS), newest);
    fs::remove_dir_all(root.join("runs/2026/11/21/oslo/bbb222")).unwrap();
    assert_ne!(mark(0), grown);
    assert!(mark_below(&scratch.0.join("none"), 0).is_err());
}
