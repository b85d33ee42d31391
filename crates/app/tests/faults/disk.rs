//! A disk that is full, over its quota or broken at any write, sync or rename.

use super::checks::{Check, say};
use super::oracle;
use super::plans::plan;
use super::shim::{self, EDQUOT, EIO, EMFILE, ENOSPC, EROFS, Fault};
use super::site::{PATIENCE, SERVER, Site};
use super::support::{Home, text};
use super::told::Program;
use std::time::Duration;

/// Trials of a few milliseconds, so that there are many writes in little time.
const SHORT: super::plans::Kind =
    ("short", "metric = \"rtt\"\nprotocol = \"udp\"\nmessage = \"64 B\"\nturn = 2\nturns = 2");

const RUN: Duration = Duration::from_secs(120);

pub fn checks(full: bool) -> Vec<Check> {
    let kinds = [ENOSPC, EDQUOT, EIO];
    let write = |nth: u32| {
        // Half of the failing ones leave a torn line, every fourth is a single failure.
        let why = kinds[nth as usize % kinds.len()];
        Fault { on: nth % 4 != 3, half: nth.is_multiple_of(2), ..Fault::from("write", nth, why) }
    };
    let writes: Vec<Fault> = match full {
        true => (1..=200).map(write).collect(),
        false => [1, 2, 3, 4, 7, 11, 18, 23].into_iter().map(write).collect(),
    };
    let nth = |call, most: u32, why| (1..=most).map(move |nth| Fault::from(call, nth, why));
    let most = if full { 12 } else { 3 };
    let others = nth("sync", most, EIO)
        .chain(nth("rename", 3, ENOSPC))
        .chain(nth("rename", 3, EIO))
        .chain(nth("open", if full { 12 } else { 4 }, EMFILE))
        .chain(nth("open", 2, EROFS));
    let pairs = if full { 200 } else { 20 };
    let lanes = if full { 50 } else { 8 };
    let mut checks: Vec<Check> = writes
        .chunks(lanes)
        .enumerate()
        .map(|(i, faults)| (i, faults.to_vec()))
        .map(|(i, faults)| {
            Check::new(format!("writes_fail_{i}"), move || each(&format!("wr{i}-"), &faults, pairs))
        })
        .collect();
    let others: Vec<Fault> = others.collect();
    checks.push(Check::new("syncs_renames_and_opens_fail", move || each("sync", &others, 8)));
    checks.push(Check::new("results_on_a_full_disk_are_an_error", full_output));
    checks.push(Check::new("a_folder_without_room", no_room));
    checks
}

fn each(name: &str, faults: &[Fault], pairs: u32) {
    let site = Site::up(name);
    let server = site.serve(&[]);
    let (mut met, mut calls) = (0, 0);
    for (i, fault) in faults.iter().enumerate() {
        let home = site.home(&format!("disk{i}"));
        met += usize::from(one(&site, &home, fault, pairs));
        calls = calls.max(shim::calls(&home));
    }
    say("faults", &faults.len());
    say("of these met", &met);
    say("most calls of the kind in a run", &calls);
    assert!(met * 2 > faults.len(), "few of the faults were met");
    drop(server);
}

/// Whether the fault was met.
fn one(site: &Site, home: &Home, fault: &Fault, pairs: u32) -> bool {
    let file = home.path().join("plan.toml");
    std::fs::write(&file, plan(SHORT, pairs)).unwrap();
    let mut command = site.lab.command(home, "client");
    command.args(["plan", "run", file.to_str().unwrap()]).args(SERVER);
    command.args(["-q", "--json-stream"]);
    fault.meet(&mut command, home);
    let mut client = Program::start(command);
    let ended = client.end(RUN);
    let met = shim::calls(home) >= u64::from(fault.nth);
    match ended.code {
        Some(0 | 6) => assert!(!met, "{fault:?} passed without a word"),
        _ => {
            oracle::is_clear(&ended, 1);
            assert!(ended.said.contains("os error"), "{fault:?}: no cause in {}", ended.said);
        }
    }
    if !home.path().join("runs").exists() || oracle::is_without_facts(home) {
        assert_eq!(super::site::announced(&client.out).len(), 0, "{fault:?}");
        return met;
    }
    oracle::nothing_is_lost(home, &client.out);
    oracle::goes_on(site, "client", home, &client.out);
    met
}

/// What was asked for on standard output and cannot be written there is an error; a reader who has
/// left is none, and what is measured is stored in both cases.
fn full_output() {
    let home = Home::new("fault-full-output");
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = |args: &[&str]| home.command().args(args).stdout(full()).output().unwrap();
    let measured = run(&["demo", "--loopback", "--measure", "connect", "--pairs", "6", "-q"]);
    for output in [measured, run(&["show", "last"]), run(&["list"]), run(&["export", "last"])] {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for part in ["cannot write to standard output", "os error 28", "Try:", "[E509, exit 1]"] {
            assert!(said.contains(part), "{part} is missing in {said}");
        }
    }
    oracle::shown(&home);
}

/// A real file system without room: what was complete before is shown from it, in the same breath,
/// since it goes with the process.
fn no_room() {
    let site = Site::up("noroom");
    let server = site.serve(&[]);
    let home = site.home("noroom");
    let program = super::support::PROGRAM;
    let script = format!(
        "mount -t tmpfs -o size=64k none {0} && {program} run {1} --measure rtt --pairs 20 -q; \
         echo ended $? >&2; {program} show last",
        home.path().display(),
        SERVER.join(" "),
    );
    let mut command = site.lab.exec(&home, "client");
    command.args(["unshare", "-m", "sh", "-c", &script]);
    let mut client = Program::start(command);
    let ended = client.end(PATIENCE * 2);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    for part in ["ended 1", "No space left on device", "Try:", "[E509, exit 1]"] {
        assert!(ended.said.contains(part), "{part} is missing in {}", ended.said);
    }
    assert!(client.out.text().contains("broken off"), "{}", client.out.text());
    drop(server);
}
