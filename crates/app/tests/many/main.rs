//! Many stored results: what a list, the latest result and the history of one path take among
//! 100,000, that the index is made anew in time and to the same bytes, and that nothing is lost
//! when a process that makes it is killed. And many visits of a watch: that it does not grow.
//!
//! Journals of results are links to a few short files, which nothing here may open.
//! `V6GAP_MANY=20000` says how many there are. `watch` or `results` as an argument is that alone.

#[path = "../cli/support.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod support;
mod watched;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use support::Sandbox;
use v6gap_core::record::{Line, RunId};
use v6gap_judge::analysis::analyse;
use v6gap_judge::analysis::summary::Summary;
use v6gap_store::{Ended, Head, Store};

/// Results, if nothing else is asked for.
const MANY: u32 = 100_000;

/// Of these, whole ones: the latest.
const WHOLE: u32 = 8;

/// Paths that the others share.
const PATHS: u32 = 40;

/// Questions that each answered.
const QUESTIONS: usize = 8;

/// Results whose journals are one file: a file has no more than 65,000 names.
const LINKS: u32 = 10_000;

/// How often each command is timed; the median counts.
const TIMES: usize = 5;

/// How often a process that makes the index is killed.
const KILLED: u32 = 100;

/// When the first of them began, in ns since 1970, and how far they are apart.
const BEGIN_UNIX_NS: u64 = 1_700_000_000_000_000_000;
const APART_NS: u64 = 60_000_000_000;

fn main() -> ExitCode {
    let only = std::env::args().nth(1);
    let asked = |name: &str| only.as_deref().is_none_or(|only| only == name);
    // First, since memory that others had would be used again without being seen.
    let mut failed = u32::from(asked("watch") && !watched::stays_flat());
    if asked("results") {
        failed += results();
    }
    println!("{failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

/// Looks at many stored results, and says how many checks failed.
fn results() -> u32 {
    let count = std::env::var("V6GAP_MANY").map_or(MANY, |text| text.parse().expect("a number"));
    let sandbox = Sandbox::new();
    fill(&sandbox, count);
    let mut failed = 0;
    let mut judge = |name: &str, took: Duration, most: f64, good: bool| {
        let (seconds, passed) = (took.as_secs_f64(), good && took.as_secs_f64() < most);
        let word = if passed { "ok    " } else { "FAILED" };
        println!("{word} {name} ({seconds:.3} s, at most {most} s)");
        failed += u32::from(!passed);
    };
    let first = timed(&sandbox, "index rebuild").0;
    let whole = sandbox.bytes("index.jsonl");
    println!("{count} results, {} MB of index", whole.len() / 1_000_000);
    std::fs::remove_file(sandbox.path("index.jsonl")).unwrap();
    let again = timed(&sandbox, "index rebuild").0;
    let same = sandbox.bytes("index.jsonl") == whole;
    judge("rebuild_gives_the_same_bytes", first.max(again), 15.0, same);
    for (name, line) in [
        ("list", "list"),
        ("list_as_json", "list --json --last 50"),
        ("show_last", "show last"),
        ("show_by_name", "show whole2"),
        ("history_of_a_path", "list --against host-7 --answers"),
    ] {
        let mut all: Vec<(Duration, usize)> = (0..TIMES).map(|_| timed(&sandbox, line)).collect();
        all.sort_unstable();
        let (median, said) = all[TIMES / 2];
        let least = match name {
            "list" => count as usize,
            "history_of_a_path" => (count / PATHS) as usize * QUESTIONS,
            _ => 1,
        };
        judge(name, median, 0.3, said >= least);
    }
    judge("nothing_is_lost", Duration::ZERO, 1.0, killed(&sandbox, count, again));
    failed
}

/// So many results, the latest of them whole.
fn fill(sandbox: &Sandbox, count: u32) {
    for number in 0..WHOLE {
        let began = BEGIN_UNIX_NS + u64::from(count + number) * APART_NS;
        sandbox.store(&format!("whole{number}"), "lab-b", began);
    }
    let store = Store::at(&sandbox.path(""));
    let lines = store.read_run(&"whole0".parse().unwrap()).unwrap();
    let (plan, text) = answered(&lines);
    let journals = sandbox.path("journals");
    std::fs::create_dir(&journals).unwrap();
    for number in 0..count - WHOLE {
        let journal = journals.join((number / LINKS).to_string());
        if number.is_multiple_of(LINKS) {
            std::fs::write(&journal, "not to be opened").unwrap();
        }
        // An odd factor: no two have the same name, and names and times are in different orders.
        let id = RunId::from_bits(number.wrapping_mul(0x9e37_79b1));
        let folder = store.folder(&id);
        std::fs::create_dir(&folder).unwrap();
        std::fs::hard_link(&journal, folder.join("journal.jsonl")).unwrap();
        let head = Head {
            between: None,
            id,
            started_unix_ns: BEGIN_UNIX_NS + u64::from(number) * APART_NS,
            target: format!("host-{}", number % PATHS),
            plan: plan.clone(),
            world: None,
            ended: Some(Ended::Complete),
            journal_bytes: journal_bytes(&journal),
            title: String::new(),
            note: String::new(),
            set_up: Some(format!("{:016x}", number % PATHS)),
        };
        std::fs::write(folder.join("summary.json"), head.line(Some(&text))).unwrap();
    }
}

/// Name of the plan of a run, and its summary with as many questions as usual.
fn answered(lines: &[Line]) -> (String, String) {
    let analysis = analyse(lines).unwrap();
    let mut summary = Summary::of(&analysis, lines, "IPv6 is a little slower.".to_owned());
    let own = summary.questions.clone();
    summary.questions = own.into_iter().cycle().take(QUESTIONS).collect();
    (analysis.run.plan.name.clone(), summary.encode())
}

fn journal_bytes(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

/// How long `v6gap LINE` takes, and how many lines it writes.
fn timed(sandbox: &Sandbox, line: &str) -> (Duration, usize) {
    let start = Instant::now();
    let ran = sandbox.run(line).ended(0);
    (start.elapsed(), ran.out.lines().count())
}

/// Whether every result is listed after each of many processes was killed that made the index anew,
/// which takes so long.
fn killed(sandbox: &Sandbox, count: u32, took: Duration) -> bool {
    let store = Store::at(&sandbox.path(""));
    (0..KILLED).all(|number| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_v6gap"))
            .args(["index", "rebuild"])
            .env("V6GAP_DATA", sandbox.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(took * number / KILLED);
        child.kill().unwrap();
        child.wait().unwrap();
        let index = store.index().unwrap();
        let whole = index.rows().len() == count as usize && index.lagging().count() == 0;
        if !whole {
            println!("after kill {number}: {} of {count} results", index.rows().len());
        }
        whole
    })
}
