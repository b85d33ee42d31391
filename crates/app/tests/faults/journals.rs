//! Damaged journals: cut at every byte of the last lines, bits flipped in them, two writers.

use super::chance::Chance;
use super::checks::{Check, say};
use super::oracle;
use super::plans::plan;
use super::site::{PATIENCE, SERVER, Site, await_event};
use super::support::{Home, text};
use super::told::Program;
use std::path::{Path, PathBuf};
use v6gap_core::record::Line;
use v6gap_judge::analysis;
use v6gap_store::read_journal;

const SHORT: super::plans::Kind =
    ("short", "metric = \"rtt\"\nprotocol = \"udp\"\nmessage = \"64 B\"\nturn = 20\nturns = 2");

const LONG: super::plans::Kind =
    ("long", "metric = \"rtt\"\nprotocol = \"udp\"\nmessage = \"64 B\"\nturn = 300\nturns = 10");

pub fn checks(full: bool) -> Vec<Check> {
    vec![
        Check::new("a_journal_cut_anywhere_is_gone_on_with", move || cut_anywhere(full)),
        Check::new("a_journal_with_flipped_bits", move || flipped(full)),
        Check::new("one_writer_at_a_time", two_writers),
    ]
}

/// A complete run of 8 pairs, and its journal.
struct Recorded {
    site: Site,
    server: Program,
    id: String,
    bytes: Vec<u8>,
}

impl Recorded {
    fn new(name: &str) -> Self {
        let site = Site::up(name);
        let server = site.serve(&[]);
        let home = site.home("whole");
        let mut client = site.run_plan("client", &home, &plan(SHORT, 8));
        let ended = client.end(PATIENCE);
        assert_eq!(ended.code, Some(0), "{}", ended.said);
        let journal = oracle::journal(&home);
        let id = journal.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        Recorded { site, server, id, bytes: std::fs::read(journal).unwrap() }
    }

    /// Where each of the last lines begins, the first of them first, and where the last one ends.
    fn last_lines(&self, count: usize) -> Vec<usize> {
        let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let begins: Vec<usize> = ends.map(|(at, _)| at + 1).collect();
        begins[begins.len() - 1 - count..].to_vec()
    }

    /// The run with such a journal in a data folder of its own.
    fn with(&self, name: &str, bytes: &[u8]) -> Home {
        let home = self.site.home(name);
        let folder = home.path().join("runs").join(&self.id);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("journal.jsonl"), bytes).unwrap();
        home
    }

    fn goes_on(&self, home: &Home) {
        let nothing = super::told::Told::of(std::io::empty());
        oracle::goes_on(&self.site, "client", home, &nothing);
    }
}

fn file(home: &Home) -> PathBuf {
    home.path().join("journal.jsonl")
}

fn read(path: &Path, bytes: &[u8]) -> Result<Vec<Line>, String> {
    std::fs::write(path, bytes).unwrap();
    read_journal(path).map_err(|error| error.to_string())
}

/// The whole lines before the cut are what is read; of some cuts the program shows them, and
/// goes on.
fn cut_anywhere(full: bool) {
    let recorded = Recorded::new("cut-journal");
    let scratch = recorded.site.home("scratch");
    let whole = read(&file(&scratch), &recorded.bytes).unwrap();
    let begins = recorded.last_lines(3);
    let (first, end) = (begins[0], recorded.bytes.len());
    for cut in first..=end {
        let bytes = &recorded.bytes[..cut];
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let read = read(&file(&scratch), bytes).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        assert_eq!(read, whole[..lines], "cut at {cut}");
        analysis::analyse(&read).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
    }
    say("cuts read", &(end + 1 - first));
    let mut chance = Chance::new(1);
    let mut cuts: Vec<usize> = begins[..3].iter().flat_map(|at| [at - 1, *at]).collect();
    cuts.extend((0..if full { 60 } else { 1 }).map(|_| first + chance.below(end - first)));
    cuts.retain(|cut| *cut < end);
    for cut in &cuts {
        let home = recorded.with("cut", &recorded.bytes[..*cut]);
        let shown = oracle::shown(&home);
        assert_eq!(shown["trials"], oracle::lines(&home), "cut at {cut}");
        // The last line says that it was complete.
        assert_eq!(shown["stopped"], "broken off", "cut at {cut}");
        recorded.goes_on(&home);
    }
    say("cuts shown and gone on with", &cuts.len());
    drop(recorded.server);
}

/// A bit that makes no record of a line is named with the line, by every verb; one that makes
/// another record changes that one alone.
fn flipped(full: bool) {
    let recorded = Recorded::new("flip-journal");
    let scratch = recorded.site.home("scratch");
    let whole = read(&file(&scratch), &recorded.bytes).unwrap();
    let first = recorded.last_lines(5)[0];
    let mut chance = Chance::new(2);
    let (mut named, mut other) = (0, 0);
    let flip = |at: usize, bit: u32| {
        let mut bytes = recorded.bytes.clone();
        bytes[at] ^= 1 << bit;
        bytes
    };
    for _ in 0..if full { 20_000 } else { 500 } {
        let at = first + chance.below(recorded.bytes.len() - first);
        let bytes = flip(at, chance.below(8) as u32);
        match read(&file(&scratch), &bytes) {
            Err(error) => {
                assert!(error.contains("line "), "{error}");
                named += 1;
            }
            Ok(lines) => {
                let changed = lines.iter().zip(&whole).filter(|(a, b)| a != b).count();
                assert!(changed <= 1 && lines.len() + 1 >= whole.len(), "byte {at}: {changed}");
                // An error in words is as good; a panic is not.
                let _ = analysis::analyse(&lines);
                other += 1;
            }
        }
    }
    say("flips named", &named);
    say("flips that make another record", &other);
    for turn in 0..if full { 40 } else { 5 } {
        let at = first + chance.below(recorded.bytes.len() - first);
        let home = recorded.with("flip", &flip(at, chance.below(8) as u32));
        for verb in ["show", "report", "export", "compare last"] {
            let words: Vec<&str> = verb.split(' ').chain(["last"]).collect();
            let output = home.v6gap(&words);
            let said = text(&output.stderr);
            assert!(!said.contains("panicked"), "{turn}: {said}");
            assert!(output.status.code().is_some_and(|code| code <= 6), "{turn}: {said}");
        }
    }
    drop(recorded.server);
}

/// While one measures into a run, another can neither go on with it nor remove it, but show it;
/// when that one is killed there is nothing to be cleared away.
fn two_writers() {
    let site = Site::up("writers");
    let server = site.serve(&[]);
    let home = site.home("writers");
    let mut first = site.run_plan("client", &home, &plan(LONG, 6));
    await_event(&first, "pair", 1);
    let mut second = site.lab.command(&home, "other");
    second.arg("run").args(SERVER).args(["--continue", "last", "--no-wait"]);
    let refused = second.output().unwrap();
    assert!(matches!(refused.status.code(), Some(2 | 4)), "{refused:?}");
    let removed = home.v6gap(&["rm", "last"]);
    let said = text(&removed.stderr);
    assert_eq!(removed.status.code(), Some(2), "{said}");
    assert!(said.contains("[E505, exit 2]"), "{said}");
    oracle::shown(&home);
    // Without a server in between both open the journal at once.
    let second = recorded_by_another(&site, &home);
    assert!(second.contains("[E505, exit 2]"), "{second}");
    first.kill();
    oracle::nothing_is_lost(&home, &first.out);
    oracle::goes_on(&site, "client", &home, &first.out);
    drop(server);
}

/// What a client says that goes on with the same run at a server of its own.
fn recorded_by_another(site: &Site, home: &Home) -> String {
    let mut command = site.lab.command(&site.home, "server");
    command.args(["serve", "-p", "4467"]);
    let server = Program::start(command);
    server.out.find(0, PATIENCE, |line| line.contains("Serving")).expect("it serves");
    let mut command = site.lab.command(home, "other");
    command.arg("run").args(SERVER).args(["-p", "4467", "--continue", "last", "-q"]);
    let mut second = Program::start(command);
    second.end(PATIENCE).said
}
