//! Stored results: shown, reported, listed, exported, removed.

use crate::support::{Sandbox, flat};
use serde_json::Value;

#[test]
fn a_result_is_shown_by_any_reference() {
    let sandbox = Sandbox::with_run();
    let text = sandbox.run("show").ended(0).out;
    assert!(text.contains("Throughput") && text.contains("1.4 % slower"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let file = "show runs/7k2f9q/journal.jsonl";
    for line in ["show last", "show 7k", "show last:lab-b", "show last~0", file] {
        assert_eq!(sandbox.run(line).ended(0).out, text, "{line}");
    }
    let verbose = sandbox.run("show last -V").ended(0).out;
    assert!(verbose.lines().count() > text.lines().count());
}

#[test]
fn showing_twice_gives_the_same_bytes() {
    let sandbox = Sandbox::with_run();
    for format in ["text", "md", "csv", "json"] {
        let line = format!("show last --format {format}");
        assert_eq!(sandbox.run(&line).ended(0).out, sandbox.run(&line).ended(0).out);
    }
}

#[test]
fn every_form_is_what_it_claims_to_be() {
    let sandbox = Sandbox::with_run();
    let document: Value = serde_json::from_str(&sandbox.run("show -J").ended(0).out).unwrap();
    assert_eq!(document["id"], "7k2f9q");
    assert_eq!(document["valid"], true);
    let csv = sandbox.run("show --format csv").ended(0).out;
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(columns > 5 && csv.lines().count() > 80, "{csv}");
    let md = sandbox.run("show --format md").ended(0).out;
    assert!(md.contains("| Throughput") || md.contains("|Throughput"), "{md}");
    let ascii = sandbox.run("show --ascii").ended(0).out;
    assert!(ascii.is_ascii(), "{ascii}");
    let plain = sandbox.run("show --plain").ended(0).out;
    assert!(!plain.contains('▼') && !plain.contains('○'), "{plain}");
}

#[test]
fn colour_comes_only_when_asked_for() {
    let sandbox = Sandbox::with_run();
    assert!(!sandbox.run("show").out.contains('\u{1b}'));
    assert!(sandbox.run("show --color always").out.contains('\u{1b}'));
    assert!(!sandbox.run("--color=never show").out.contains('\u{1b}'));
}

#[test]
fn a_report_is_one_page_beside_the_result_or_where_asked() {
    let sandbox = Sandbox::with_run();
    let path = sandbox.run("report last").ended(0).out;
    assert_eq!(path.trim_end(), sandbox.path("runs/7k2f9q/report.html").to_str().unwrap());
    let page = std::fs::read_to_string(path.trim_end()).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"), "{}", &page[..80.min(page.len())]);
    sandbox.run("report 7k2f9q -o page.html").ended(0);
    assert_eq!(std::fs::read_to_string(sandbox.path("page.html")).unwrap(), page);
    // What is no regular file is written to and not replaced.
    let out = sandbox.run("report 7k2f9q -o /dev/stdout").ended(0).out;
    assert!(out.starts_with("<!DOCTYPE html>"), "{}", &out[..80.min(out.len())]);
    sandbox.run("report last last -o page.html").ended(2);
}

/// The program that desktops have for that is given the page.
#[test]
fn a_report_is_shown_in_a_browser_if_asked() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_run();
    let opener = sandbox.write("xdg-open", "#!/bin/sh\necho \"$1\" > told\n");
    std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o700)).unwrap();
    let told = sandbox.path("told");
    assert!(std::process::Command::new("mkfifo").arg(&told).status().unwrap().success());
    let (tell, opened) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(std::fs::read_to_string(told)));
    let folder = sandbox.path("");
    let shown =
        sandbox.run_with("report last --open", &[("PATH", &folder), ("V6GAP_DATA", &folder)]);
    let page = opened.recv_timeout(std::time::Duration::from_secs(30)).unwrap().unwrap();
    assert_eq!(page, shown.ended(0).out);
    assert!(page.ends_with("/runs/7k2f9q/report.html\n"), "{page}");
    sandbox.run("report last --open -o -").ended(2);
}

#[test]
fn the_list_begins_with_the_latest() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run("list").ended(0).out.contains("v6gap demo"));
    sandbox.store("abc111", "vps-fra", 1_763_500_000_000_000_000);
    sandbox.store("zzz222", "lab-b", 1_763_600_000_000_000_000);
    let list = sandbox.run("list").ended(0).out;
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows[0].starts_with("RESULT"), "{list}");
    assert!(rows[1].starts_with("zzz222  2025-11-20 00:53  lab-b"), "{list}");
    assert!(rows[2].contains("vps-fra") && rows[2].contains("complete"), "{list}");
    let document: Value = serde_json::from_str(&sandbox.run("list --json").ended(0).out).unwrap();
    assert_eq!(document[1]["id"], "abc111");
}

#[test]
fn an_export_can_be_read_elsewhere() {
    let sandbox = Sandbox::with_run();
    let text = sandbox.run("show last").ended(0).out;
    sandbox.run("export last -o moved.jsonl").ended(0);
    let elsewhere = Sandbox::new();
    elsewhere.write("moved.jsonl", &std::fs::read_to_string(sandbox.path("moved.jsonl")).unwrap());
    assert_eq!(elsewhere.run("show moved.jsonl").ended(0).out, text);
    assert_eq!(
        sandbox.run("export last").ended(0).out,
        std::fs::read_to_string(sandbox.path("runs/7k2f9q/journal.jsonl")).unwrap()
    );
    let csv = sandbox.run("export last --format csv").ended(0).out;
    assert_eq!(csv, sandbox.run("show last --format csv").ended(0).out);
}

#[test]
fn a_result_travels_as_one_file() {
    let there = Sandbox::with_run();
    there.run("export last -o moved.jsonl").ended(0);
    let here = Sandbox::new();
    here.write("moved.jsonl", &there.read("moved.jsonl"));
    assert_eq!(here.run("import moved.jsonl").ended(0).out, "stored as 7k2f9q\n");
    assert_eq!(here.run("show 7k2f9q").ended(0).out, there.run("show last").ended(0).out);
    assert_eq!(here.run("import moved.jsonl").ended(0).out, "7k2f9q was stored before\n");
    here.write("result.jsonl", "");
    let ran = here.run("import result.jsonl").ended(2);
    assert!(ran.err.contains("[E512, exit 2]"), "{ran:?}");
}

/// Whoever has another program can have what it wrote from this one.
#[test]
fn a_result_of_a_later_program_travels_whole() {
    let there = Sandbox::with_run();
    let journal = there.read("runs/7k2f9q/journal.jsonl");
    // With a tab and what could drive a terminal, which are not written as they are.
    let of = |blank: &str, text: &str| {
        journal.replace("}\n", &format!(",{blank}\"later\":\"{text}\"}}\n"))
    };
    there.write("later.jsonl", &of("\t", "\u{9b}2J"));
    there.run("rm last").ended(0);
    there.run("import later.jsonl").ended(0);
    let exported = there.run("export last").ended(0).out;
    assert_eq!(exported, of(" ", "\\u009b2J"));
    there.run("export last -o moved.jsonl").ended(0);
    assert_eq!(there.read("moved.jsonl"), exported);
    assert_eq!(there.run("import moved.jsonl").ended(0).out, "7k2f9q was stored before\n");
    assert_eq!(there.run("import later.jsonl").ended(0).out, "7k2f9q was stored before\n");
    // What is not known may name a host.
    let nameless = there.run("export last --anonymise").ended(0).out;
    assert!(!nameless.contains("\"later\""), "{nameless}");
}

/// What the analysis says of a run looks like the run to whoever exported it.
#[test]
fn a_document_is_no_journal_and_is_called_what_it_is() {
    let there = Sandbox::with_run();
    there.run("export last --format json -o result.json").ended(0);
    let here = Sandbox::new();
    here.write("result.json", &there.read("result.json"));
    for verb in ["import", "show", "report"] {
        let ran = here.run(&format!("{verb} ./result.json")).ended(2);
        let said = flat(&ran.err);
        for part in [
            "result.json is not the journal of a run: it is a document of the form v6gap.result/1",
            "journal.jsonl in the folder of a run",
            "v6gap export RESULT -o RESULT.jsonl",
            "[E512, exit 2]",
        ] {
            assert!(said.contains(part), "{verb}: {part} is not in {ran:?}");
        }
    }
    // A journal that is damaged is one.
    let journal = there.read("runs/7k2f9q/journal.jsonl");
    here.write("damaged.jsonl", &format!("{journal}nonsense\n"));
    let ran = here.run("import damaged.jsonl").ended(1);
    let number = journal.lines().count() + 1;
    assert!(ran.err.contains(&format!("line {number}: ")), "{ran:?}");
    assert!(ran.err.contains("[E504, exit 1]"), "{ran:?}");
}

#[test]
fn schemas_come_with_the_program() {
    let sandbox = Sandbox::with_run();
    sandbox.store_slower("slow01", 1.1);
    let documents =
        [("result", "show last --json"), ("comparison", "compare 7k2f9q slow01 --json")];
    for (name, line) in documents {
        let schema = sandbox.run(&format!("schema {name}")).ended(0).out;
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let document: Value = serde_json::from_str(&sandbox.run(line).out).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&document), "{name}");
    }
    let event = sandbox.run("schema event").ended(0).out;
    assert!(event.contains("\"event\""), "{event}");
    sandbox.run("schema other").ended(2);
}

#[test]
fn tables_are_files_in_a_folder() {
    let sandbox = Sandbox::with_run();
    let out = sandbox.run("export last --format parquet -o tables").ended(0).out;
    let names = ["trials", "pairs", "histograms"].map(|name| format!("tables/{name}.parquet"));
    assert_eq!(out.lines().collect::<Vec<_>>(), names);
    sandbox.run("export last --format parquet -o some/alone.parquet").ended(0);
    let trials = sandbox.bytes("tables/trials.parquet");
    assert!(trials.starts_with(b"PAR1") && trials == sandbox.bytes("some/alone.parquet"));
    for line in ["export last --format parquet", "export last --format parquet -o -"] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.contains("-o FOLDER"), "{ran:?}");
    }
}

#[test]
fn removing_looks_everything_up_first() {
    let sandbox = Sandbox::new();
    for (id, at) in [("abc111", 1), ("abd222", 2), ("zzz333", 3)] {
        sandbox.store(id, "lab-b", at * 1_000_000_000);
    }
    sandbox.run("rm zzz nosuch").ended(2);
    assert!(sandbox.run("list").out.contains("zzz333"));
    let ran = sandbox.run("rm ab").ended(2);
    assert!(ran.err.contains("abc111") && ran.err.contains("[E503, exit 2]"), "{ran:?}");
    let removed = sandbox.run("rm last last~1").ended(0).out;
    assert_eq!(removed, "removed zzz333\nremoved abd222\n");
    assert_eq!(sandbox.run("show last --format json").ended(0).code, 0);
    let ran = sandbox.run("rm runs/abc111/journal.jsonl").ended(2);
    assert!(ran.err.contains("is a file"), "{ran:?}");
}

#[test]
fn a_journal_that_is_damaged_is_named_with_its_line() {
    let sandbox = Sandbox::with_run();
    let path = sandbox.path("runs/7k2f9q/journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}nonsense\n")).unwrap();
    let ran = sandbox.run("show 7k2f9q").ended(1);
    let number = text.lines().count() + 1;
    assert!(ran.err.contains(&format!("line {number}: ")), "{ran:?}");
    assert!(ran.err.contains("[E504, exit 1]"), "{ran:?}");
}

#[test]
fn nobody_reading_is_no_error() {
    let sandbox = Sandbox::with_run();
    for line in ["show last --format csv", "explain", "predict", "--help", "completions bash"] {
        assert_eq!(sandbox.run_unread(line), (0, String::new()), "{line}");
    }
}

/// In no form of a result is left what names its hosts. Addresses are those of a lab here.
#[test]
fn an_export_can_do_without_names_and_addresses() {
    let sandbox = Sandbox::with_run();
    let named = sandbox.run("export last").ended(0).out;
    let has = |text: &str| ["lab-a", "lab-b"].map(|word| text.contains(word));
    assert_eq!(has(&named), [true; 2], "{named}");
    for format in ["jsonl", "csv", "json", "table", "md", "latex"] {
        let line = format!("export last --anonymise --format {format}");
        let out = sandbox.run(&line).ended(0).out;
        assert!(!out.is_empty());
        assert_eq!(has(&out), [false; 2], "{format}: {out}");
    }
    sandbox.run("export last --anonymise --format parquet -o tables").ended(0);
    for name in ["trials", "pairs", "histograms"] {
        let table = std::fs::read(sandbox.path(&format!("tables/{name}.parquet"))).unwrap();
        assert_eq!(has(&String::from_utf8_lossy(&table)), [false; 2], "{name}");
    }
    sandbox.run("export last --anonymise --format plan").ended(2);
    // Whoever gets it sees the same figures.
    sandbox.run("export last --anonymise -o nameless.jsonl").ended(0);
    let figures = |what: &str| sandbox.run(&format!("export {what} --format table")).ended(0).out;
    assert_eq!(figures("nameless.jsonl"), figures("last"));
}

/// A plan that was a file is kept with the run; of what options made there is the line to type.
#[test]
fn a_plan_is_given_back_as_it_was_written() {
    let sandbox = Sandbox::with_run();
    let refused = sandbox.run("export 7k2f9q --format plan").ended(2);
    assert!(refused.err.contains("the plan of 7k2f9q is not stored as a file"), "{refused:?}");
    assert!(refused.err.contains("v6gap "), "{refused:?}");
    let text = sandbox.run("plan show sizes").ended(0).out;
    sandbox.write("runs/7k2f9q/plan.toml", &text);
    assert_eq!(sandbox.run("export 7k2f9q --format plan").ended(0).out, text);
    sandbox.run("export 7k2f9q --format plan -o again.toml").ended(0);
    sandbox.run("plan check again.toml").ended(0);
}

/// Four stored runs say nothing of the next; five do, whatever else lies in the store.
#[test]
fn five_runs_of_one_set_up_tell_where_the_next_will_be() {
    let sandbox = Sandbox::new();
    (1..=4).for_each(|number| sandbox.store_one_of_five(number));
    sandbox.store("other0", "lab-c", 1_763_400_000_000_000_000);
    let of = |line: &str| sandbox.run(line).ended(0).out;
    let four = flat(&of("show early1"));
    assert!(four.contains("95 %, this run:") && !four.contains("any run like it"), "{four}");
    assert!(!of("show early1 -J").contains("any_run"));
    sandbox.store_one_of_five(5);
    // As many as count that cannot be read, and began nearer to the first than the others did.
    for number in 0..19 {
        let id = format!("torn{number:02}");
        sandbox.store(&id, "lab-b", 1_763_401_000_000_000_001 + number);
        let journal = format!("runs/{id}/journal.jsonl");
        let torn = sandbox.read(&journal).replace("\"block\":3", "\"block\":");
        sandbox.write(&journal, &torn);
    }
    let five = flat(&of("show early1"));
    assert!(five.contains("95 %, any run like it, by 5 runs of this set-up"), "{five}");
    assert!(of("show early1 --format markdown").contains("any run like it, by 5 runs"));
    let document: Value = serde_json::from_str(&of("show early1 -J")).unwrap();
    let any = &document["questions"][0]["any_run"];
    assert_eq!(any["runs"], 5);
    // Also in what leaves the program.
    for (export, show) in [("json", "json"), ("md", "md")] {
        let exported = of(&format!("export early1 --format {export}"));
        assert_eq!(exported, of(&format!("show early1 --format {show}")));
    }
    assert!(!of("export early1 --anonymise --format json").contains("any_run"));
    let low = document["questions"][0]["effect"]["estimate"].as_f64().unwrap();
    assert!(any["range"]["low"].as_f64().unwrap() < low, "{any}");
    of("report early1 -o page.html");
    assert!(sandbox.read("page.html").contains("any run like it, by 5 runs"));
    assert!(!flat(&of("show other0")).contains("any run like it"));
}
