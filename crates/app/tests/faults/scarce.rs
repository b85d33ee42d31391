//! Hosts that have run out of something: descriptors, memory, threads, room for packets,
//! a folder to write to.

use super::checks::{Check, say};
use super::oracle;
use super::plans::{KINDS, Kind, plan};
use super::shim::{self, EAGAIN, Fault};
use super::site::{PATIENCE, SERVER, Site};
use super::support::{Home, PROGRAM};
use super::told::{Ended, Program};
use std::process::Command;

/// More connections at a time than a scarce host has descriptors for.
const MANY: Kind = ("many", "metric = \"connect-rate\"\ncount = 200\nhold = true\nconcurrent = 50");

/// The largest memory that a task may ask for: each end keeps the times of a million probes.
const LARGE: Kind = (
    "large",
    "metric = \"rtt\"\nprotocol = \"udp\"\ninterval = \"10 us\"\ntime = \"10 s\"\n\
     timeout = \"100 ms\"",
);

pub fn checks(full: bool) -> Vec<Check> {
    let mut checks = vec![
        Check::new("a_server_without_descriptors", server_without_descriptors),
        Check::new("a_client_without_descriptors", client_without_descriptors),
        Check::new("a_server_without_memory", server_without_memory),
        Check::new("no_room_for_packets", small_buffers),
        Check::new("a_folder_that_cannot_be_written", read_only),
    ];
    let nth: &[u32] = if full { &[2, 3, 4, 5, 6, 8, 12, 20, 40] } else { &[2, 4] };
    for &nth in nth {
        for at_server in [true, false] {
            let end = if at_server { "server" } else { "client" };
            let name = format!("a_{end}_without_its_{nth}_thread");
            checks.push(Check::new(name, move || no_thread(at_server, nth)));
        }
    }
    checks
}

/// The program at a node, which a line of the shell prepares.
fn prepared(site: &Site, home: &Home, node: &str, line: &str, words: &[&str]) -> Command {
    let mut command = site.lab.exec(home, node);
    command.args(["sh", "-c", &format!("{line}; exec \"$0\" \"$@\""), PROGRAM]).args(words);
    command
}

fn serving(command: Command) -> Program {
    let server = Program::start(command);
    let ready = server.out.find(0, PATIENCE, |line| line.contains("Serving"));
    assert!(ready.is_some(), "{}", server.err.text());
    server
}

/// A run of a plan, and what it was.
fn run(site: &Site, kind: Kind, line: &str) -> (Home, Program, Ended) {
    let home = site.home("scarce");
    let file = home.path().join("plan.toml");
    std::fs::write(&file, plan(kind, 6)).unwrap();
    let words = ["plan", "run", file.to_str().unwrap()];
    let words = [&words[..], &SERVER, &["-q", "--json-stream"]].concat();
    let mut client = Program::start(prepared(site, &home, "client", line, &words));
    let ended = client.end(PATIENCE * 3);
    assert!(!ended.said.contains("panicked"), "{}", ended.said);
    say("client's exit code", &format!("{:?}", ended.code));
    assert_ne!(ended.code, Some(2), "{}", ended.said);
    if home.path().join("runs").exists() && !oracle::is_without_facts(&home) {
        oracle::nothing_is_lost(&home, &client.out);
    }
    (home, client, ended)
}

/// The task fails in words, and the next one that fits is served.
fn server_without_descriptors() {
    let site = Site::up("few-fds");
    let command = prepared(&site, &site.home, "server", "ulimit -n 32", &["serve"]);
    let mut server = serving(command);
    let (_, _, ended) = run(&site, MANY, ":");
    assert!(ended.code.is_some_and(|code| code <= 6), "{}", ended.said);
    oracle::serves(&site, "other");
    server.signal("TERM");
    assert_eq!(server.end(PATIENCE).code, Some(0), "{}", server.err.text());
}

fn client_without_descriptors() {
    let site = Site::up("few-fds-client");
    let server = site.serve(&[]);
    for few in [5, 9, 14, 24] {
        let (_, _, ended) = run(&site, MANY, &format!("ulimit -n {few}"));
        assert!(ended.code.is_some_and(|code| code != 0), "{few}: {}", ended.said);
        assert!(ended.said.contains("error: "), "{few}: {}", ended.said);
    }
    oracle::serves(&site, "other");
    drop(server);
}

/// A server that may not have the memory for a task says so, and serves the next.
fn server_without_memory() {
    let site = Site::up("no-memory");
    let command = prepared(&site, &site.home, "server", "ulimit -v 220000", &["serve"]);
    let mut server = serving(command);
    let (_, _, ended) = run(&site, LARGE, ":");
    oracle::is_clear(&ended, 4);
    oracle::serves(&site, "other");
    server.signal("TERM");
    assert_eq!(server.end(PATIENCE).code, Some(0), "{}", server.err.text());
}

/// Sockets get less room than they ask for: that is measured with, or said.
fn small_buffers() {
    let site = Site::up("no-room");
    let mut command = site.lab.command(&site.home, "server");
    shim::with(&mut command);
    let server = serving({
        command.env("FAULT_ROOM", "2304").arg("serve");
        command
    });
    for kind in [KINDS[1], KINDS[5], KINDS[6]] {
        let (_, _, ended) = run(&site, kind, ":");
        assert!(matches!(ended.code, Some(0 | 4 | 6)), "{:?} {}", ended.code, ended.said);
    }
    drop(server);
}

/// A folder on a read-only file system: an error before anything is sent.
fn read_only() {
    let site = Site::up("read-only");
    let server = site.serve(&[]);
    let home = site.home("read-only");
    let folder = home.path().display().to_string();
    let line = format!("mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}");
    let mut command = site.lab.exec(&home, "client");
    let script = format!("{line} && exec \"$0\" \"$@\"");
    command.args(["unshare", "-m", "sh", "-c", &script, PROGRAM, "run"]).args(SERVER);
    let mut client = Program::start({
        command.args(["--pairs", "6", "-q"]);
        command
    });
    let ended = client.end(PATIENCE);
    oracle::is_clear(&ended, 1);
    assert!(ended.said.contains("Read-only file system"), "{}", ended.said);
    drop(server);
}

/// A thread that cannot be started fails its task in words, at either end; the server goes on.
fn no_thread(at_server: bool, nth: u32) {
    let site = Site::up(&format!("thread{}{nth}-", u8::from(at_server)));
    let fault = Fault { on: false, ..Fault::from("thread", nth, EAGAIN) };
    let mut command = site.lab.command(&site.home, "server");
    command.arg("serve");
    if at_server {
        fault.meet(&mut command, &site.home);
    }
    let server = serving(command);
    let home = site.home("scarce");
    let mut command = site.lab.command(&home, "client");
    command.arg("run").args(SERVER).args(["--measure", "rtt,connect", "--pairs", "6"]);
    command.args(["-q", "--json-stream"]);
    if !at_server {
        fault.meet(&mut command, &home);
    }
    let mut client = Program::start(command);
    let ended = client.end(PATIENCE * 2);
    assert!(!ended.said.contains("panicked"), "{}", ended.said);
    assert!(ended.code.is_some(), "killed: {}", ended.said);
    if home.path().join("runs").exists() {
        oracle::nothing_is_lost(&home, &client.out);
    }
    oracle::serves(&site, "other");
    assert!(!server.err.text().contains("panicked"), "{}", server.err.text());
}
