//! The index of stored results: kept by whoever looks, made anew, and asked for histories; and the
//! archive of what they say.

use crate::support::Sandbox;
use serde_json::Value;

/// Three results against two hosts, of which no list knows yet.
fn three() -> Sandbox {
    let sandbox = Sandbox::new();
    for (id, target, at) in [("abc111", "lab-b", 1), ("mno222", "nas", 2), ("zzz333", "lab-b", 3)] {
        sandbox.store(id, target, 1_763_500_000_000_000_000 + at * 60_000_000_000);
    }
    sandbox
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_list_brings_the_index_up_to_date() {
    let sandbox = three();
    let listed = sandbox.run("list").ended(0).out;
    let grown = sandbox.read("index.jsonl");
    assert_eq!(grown.lines().count(), 3);
    let of = |line: &str| json(line)["run"]["id"].as_str().unwrap().to_owned();
    assert_eq!(grown.lines().map(of).collect::<Vec<_>>(), ["abc111", "mno222", "zzz333"]);
    assert_eq!(
        sandbox.read("runs/abc111/summary.json"),
        grown.lines().next().unwrap().to_owned() + "\n"
    );
    // What the list says is in it, and the journals are not looked at again.
    sandbox.write("runs/abc111/journal.jsonl", "");
    assert_eq!(sandbox.run("list").ended(0).out, listed);
}

#[test]
fn the_index_is_made_anew_to_the_same_bytes() {
    let sandbox = three();
    let made = sandbox.run("index rebuild").ended(0).out;
    assert_eq!(made, "In the index: 3 results; judged for it: 3.\n");
    let whole = sandbox.read("index.jsonl");
    std::fs::remove_file(sandbox.path("index.jsonl")).unwrap();
    let made = json(&sandbox.run("index rebuild --json").ended(0).out);
    assert_eq!((&made["results"], &made["judged"]), (&3.into(), &0.into()));
    assert_eq!(sandbox.read("index.jsonl"), whole);
    let made = json(&sandbox.run("index rebuild --afresh -J").ended(0).out);
    assert_eq!((&made["results"], &made["judged"]), (&3.into(), &3.into()));
    assert_eq!(sandbox.read("index.jsonl"), whole);
    // A title changes its line, and nothing that was judged.
    sandbox.run("note zzz333 --title baseline").ended(0);
    sandbox.run("list").ended(0);
    let noted = sandbox.read("index.jsonl");
    assert!(noted.contains("\"title\":\"baseline\""), "{noted}");
    sandbox.run("index rebuild").ended(0);
    assert_eq!(sandbox.read("index.jsonl"), noted);
}

#[test]
fn a_path_has_a_history() {
    let sandbox = three();
    let list = sandbox.run("list --against lab-b").ended(0).out;
    assert!(list.contains("zzz333") && list.contains("abc111") && !list.contains("mno222"));
    assert_eq!(sandbox.run("list --last 1").ended(0).out.lines().count(), 2);
    let answers = sandbox.run("list --against lab-b --answers").ended(0).out;
    let rows: Vec<&str> = answers.lines().collect();
    assert_eq!(rows.len(), 5, "{answers}");
    assert!(
        rows[1].starts_with("zzz333  2025-11-18 21:09  throughput-tcp throughput"),
        "{answers}"
    );
    assert!(rows[2].contains("rtt-tcp-64 rtt") && rows[2].contains(" % "), "{answers}");
    let document = json(&sandbox.run("list --against nas --answers -J").ended(0).out);
    let summary = &document[0]["summary"];
    assert_eq!(summary["schema"], "v6gap.summary/1");
    let shown = json(&sandbox.run("show mno222 -J").ended(0).out);
    assert_eq!(summary["headline"], shown["headline"]);
    assert_eq!(summary["questions"].as_array().unwrap().len(), 2);
    assert!(sandbox.run("list --against nobody").ended(0).out.contains("Nothing like that"));
}

/// Of journals for which a look has no time one is read for each, and the others are counted.
#[test]
fn a_history_says_how_much_of_it_is_missing() {
    let sandbox = three();
    for id in ["abc111", "mno222", "zzz333"] {
        let journal = format!("runs/{id}/journal.jsonl");
        let long = sandbox.read(&journal).trim_end().to_owned() + &" ".repeat(9 << 20) + "\n";
        sandbox.write(&journal, &long);
    }
    // Nobody has asked what they say.
    let plain = sandbox.run("list").ended(0);
    assert!(plain.err.is_empty() && !sandbox.path("index.jsonl").exists(), "{plain:?}");
    for (judged, told) in [
        (1, "note: 2 of these are not judged yet: v6gap index rebuild\n"),
        (2, "note: 1 of these is not judged yet: v6gap index rebuild\n"),
        (3, ""),
    ] {
        let ran = sandbox.run("list --answers").ended(0);
        // Two questions each.
        assert_eq!((ran.out.lines().count(), ran.err.as_str()), (1 + 2 * judged, told));
    }
}

#[test]
fn old_results_are_removed_by_a_rule() {
    let sandbox = three();
    sandbox.run("rm --older-than 1d --keep 9").ended(0);
    let would = sandbox.run("rm --older-than 1d --keep 0 --dry-run").ended(0).out;
    assert_eq!(would.lines().count(), 3, "{would}");
    sandbox.run("note zzz333 --title kept").ended(0);
    let removed = sandbox.run("rm --older-than 1d").ended(0).out;
    assert_eq!(removed, "removed abc111\n");
    let removed = sandbox.run("rm --older-than 1d --keep 0").ended(0).out;
    assert_eq!(removed, "removed mno222\n");
    assert_eq!(sandbox.run("rm --older-than 1d").ended(0).out, "nothing is that old\n");
    assert!(sandbox.run("list").ended(0).out.contains("kept"));
    for line in ["rm", "rm zzz333 --older-than 1d", "rm zzz333 --keep 1", "rm --older-than soon"] {
        sandbox.run(line).ended(2);
    }
}

#[test]
fn by_age_nothing_is_removed_that_is_not_as_it_was_listed() {
    let sandbox = three();
    sandbox.run("list").ended(0);
    sandbox.write("runs/abc111/note.json", "{\"title\":\"kept\"}");
    let ran = sandbox.run("rm --older-than 1d --keep 0").ended(0);
    assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
    assert!(ran.err.contains("abc111 stays") && ran.err.contains("v6gap index rebuild"));
    assert!(sandbox.run("list").ended(0).out.contains("abc111"));
}

/// Three results against two hosts, the last of them of the next month.
fn of_two_months() -> Sandbox {
    let sandbox = Sandbox::new();
    for (id, target, day) in [("abc111", "lab-b", 0), ("mno222", "nas", 1), ("zzz333", "lab-b", 20)]
    {
        sandbox.store(id, target, 1_763_500_000_000_000_000 + day * 86_400_000_000_000);
    }
    sandbox
}

/// All files of the archive.
fn archived(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path().is_dir() {
                true => files(&entry.path(), found),
                false => found.push(entry.path()),
            }
        }
    }
    let mut found = Vec::new();
    files(&sandbox.path("archive"), &mut found);
    found.sort();
    let named = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(sandbox.path("archive")).unwrap();
        (name.to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
    };
    found.iter().map(named).collect()
}

#[test]
fn results_are_archived_by_month_and_day_to_the_same_bytes_whenever_they_come() {
    let (sandbox, later) = (of_two_months(), of_two_months());
    let said = sandbox.run("index archive").ended(0).out;
    assert_eq!(said, "In the archive: 3 results; put in: 3.\n");
    let whole = archived(&sandbox);
    let names: Vec<&str> = whole.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "answers/month=2025-11/answers.parquet",
        "answers/month=2025-12/answers.parquet",
        "pairs/day=2025-11-18/abc111.parquet",
        "pairs/day=2025-11-19/mno222.parquet",
        "pairs/day=2025-12-08/zzz333.parquet",
        "trials/day=2025-11-18/abc111.parquet",
        "trials/day=2025-11-19/mno222.parquet",
        "trials/day=2025-12-08/zzz333.parquet",
    ];
    assert_eq!(names, expected);
    let made = json(&sandbox.run("index archive -J").ended(0).out);
    assert_eq!((&made["results"], &made["archived"]), (&3.into(), &0.into()));
    sandbox.run("index archive --afresh").ended(0);
    assert_eq!(archived(&sandbox), whole);
    // Whoever is killed leaves runs whose answers are not there, and a file that is none yet.
    std::fs::remove_dir_all(sandbox.path("archive/answers")).unwrap();
    sandbox.write("archive/pairs/day=2025-11-18/abc111.parquet.0123.partial", "PAR1");
    sandbox.run("index archive").ended(0);
    assert_eq!(archived(&sandbox), whole);
    // The same runs one after the other, the last of a month first.
    let journal = later.read("runs/abc111/journal.jsonl");
    later.run("rm abc111").ended(0);
    later.run("index archive").ended(0);
    std::fs::create_dir(later.path("runs/abc111")).unwrap();
    later.write("runs/abc111/journal.jsonl", &journal);
    let said = later.run("index archive").ended(0).out;
    assert_eq!(said, "In the archive: 3 results; put in: 1.\n");
    assert_eq!(archived(&later), whole);
}

/// A journal of another may say that it began at any time, also at one that no table can hold.
#[test]
fn what_began_after_all_that_a_table_can_hold_is_archived_once() {
    let sandbox = Sandbox::with_run();
    let journal = sandbox.read("runs/7k2f9q/journal.jsonl");
    let began = |at: u64| format!("\"started_unix_ns\":{at},");
    // The first line says it, and after it each trial.
    let late = journal.replacen(&began(1_763_560_962_000_000_000), &began(u64::MAX), 1);
    assert_ne!(late, journal);
    sandbox.write("runs/7k2f9q/journal.jsonl", &late);
    for put_in in [1, 0] {
        let said = sandbox.run("index archive").ended(0).out;
        assert_eq!(said, format!("In the archive: 1 result; put in: {put_in}.\n"));
    }
}

#[test]
fn by_age_nothing_is_removed_that_an_archive_does_not_have() {
    let sandbox = of_two_months();
    sandbox.run("index archive").ended(0);
    sandbox.store("new444", "lab-c", 1_763_500_000_000_000_000);
    let line = "rm --older-than 1d --keep 0";
    let would = sandbox.run(&format!("{line} --dry-run")).ended(0);
    assert_eq!(would.out.lines().count(), 3, "{would:?}");
    assert!(would.err.contains("1 of that age stay") && would.err.contains("v6gap index archive"));
    assert_eq!(sandbox.run(line).ended(0).out.lines().count(), 3);
    let whole = archived(&sandbox);
    sandbox.run("index archive").ended(0);
    // What was removed is in the archive as it was.
    let kept = archived(&sandbox).into_iter().filter(|file| whole.contains(file)).count();
    assert_eq!(kept, whole.len() - 1, "the month that the new one is of was written again");
    assert_eq!(sandbox.run(line).ended(0).out, "removed new444\n");
    assert_eq!(sandbox.run(line).ended(0).out, "nothing is that old\n");
    // A name is a name.
    sandbox.store("new555", "lab-c", 1_763_500_000_000_000_000);
    sandbox.run("rm new555").ended(0);
}

#[test]
fn a_table_that_is_none_is_named_and_left_as_it_is() {
    let sandbox = of_two_months();
    sandbox.run("index archive").ended(0);
    let month = "archive/answers/month=2025-11/answers.parquet";
    sandbox.write(month, "PAR1 and no more");
    for line in ["index archive", "rm --older-than 1d --keep 0"] {
        let ran = sandbox.run(line);
        assert!(ran.code != 0 && ran.err.contains("month=2025-11"), "{ran:?}");
        assert!(ran.err.contains("v6gap index archive"), "{ran:?}");
    }
    assert_eq!(sandbox.read(month), "PAR1 and no more");
    assert!(sandbox.path("runs/abc111").exists());
}

/// A hub keeps a folder for each host, and two hosts may draw one identifier.
#[test]
fn results_of_all_hosts_of_a_fleet_are_archived() {
    let hub = Sandbox::new();
    let day = 1_763_560_962_000_000_000;
    let between = ["rome/lab-a", "oslo/lab-b"];
    for (folder, between) in [("rome/lab-a", between), ("oslo/lab-b", [between[1], between[0]])] {
        hub.store_between("fleet0", between, day);
        std::fs::create_dir_all(hub.path(folder)).unwrap();
        std::fs::rename(hub.path("runs"), hub.path(folder).join("runs")).unwrap();
    }
    let line = format!("index archive --fleet {}", hub.path("").display());
    let said = hub.run(&line).ended(0).out;
    assert_eq!(said, "In the archive: 2 results; put in: 2.\n");
    for host in between {
        for kind in ["pairs", "trials"] {
            let file = hub.path(&format!("{host}/archive/{kind}/day=2025-11-19/fleet0.parquet"));
            assert!(file.is_file(), "{file:?}");
        }
    }
    assert_eq!(hub.run(&line).ended(0).out, "In the archive: 2 results; put in: 0.\n");
}

#[test]
fn a_password_that_was_typed_for_a_database_is_refused_and_not_repeated() {
    let sandbox = Sandbox::new();
    let typed = "postgres://sink:hunter2@db.example/v6gap";
    for line in [typed, "postgres://sink:hunt@hunter2/v6gap", "postgres://sink@h/v6gap?hunter2=1"] {
        let ran = sandbox.run(&format!("index postgres {line}")).ended(2);
        assert!(!(ran.out + &ran.err).contains("hunter2"), "{line}");
    }
    let ran = sandbox.run(&format!("index postgres {typed}")).ended(2);
    assert!(ran.err.contains("PGPASSFILE"), "{ran:?}");
    // A file that is not there has no URL.
    let ran = sandbox.run("index postgres no-such-file").ended(2);
    assert!(ran.err.contains("E507"), "{ran:?}");
}
