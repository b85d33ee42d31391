//! `kill -9` of what holds others: a server of pages, the measurement that it started, a lab.

use super::checks::{Check, say};
use super::oracle;
use super::pages::Pages;
use super::plans::{KINDS, plan};
use super::site::{PATIENCE, Site, await_event};
use super::support::Home;
use super::told::{Program, signal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub fn checks(_full: bool) -> Vec<Check> {
    vec![
        Check::new("killed_pages_end_what_they_started", pages),
        Check::new("a_killed_measurement_is_told_in_pages", measurement),
        Check::new("a_killed_lab_leaves_nothing", lab),
    ]
}

/// A measurement over loopback that is long enough to be met.
fn form(port: u16) -> String {
    format!(
        r#"{{"place":{{"host":"127.0.0.1"}},"options":{{"v6":"::1","port":"{port}",
        "measure":"rtt","pairs":"500"}}}}"#
    )
}

/// A server on loopback, at a port of this process's own.
fn serve(home: &Home, nth: u16) -> (Program, u16) {
    let port = 20_000 + (std::process::id() % 10_000) as u16 * 2 + nth;
    let mut command = home.command();
    command.args(["serve", "--listen", "127.0.0.1", "--listen", "::1", "-p", &port.to_string()]);
    let server = Program::start(command);
    let ready = server.out.find(0, PATIENCE, |line| line.contains("Serving"));
    assert!(ready.is_some(), "{}", server.err.text());
    (server, port)
}

/// Waits for something that others do.
#[track_caller]
fn wait_for<T>(what: &str, limit: Duration, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes that a process started and that are still there.
fn children(of: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{of}/task")).unwrap().flatten();
    let lists = threads.filter_map(|t| std::fs::read_to_string(t.path().join("children")).ok());
    let text: String = lists.collect();
    text.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

fn is_there(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// Pages that have started a measurement of which some blocks are stored, and its process.
fn measuring(home: &Home, port: u16) -> (Pages, u32) {
    let pages = Pages::open(home.command());
    let started = pages.ask("POST", "runs", &form(port));
    assert!(started.starts_with("HTTP/1.1 20"), "{started}");
    let runs = home.path().join("runs");
    wait_for("a few blocks", PATIENCE, || {
        let stored = std::fs::read_dir(&runs).is_ok_and(|mut runs| runs.next().is_some());
        (stored && oracle::lines(home) > 8).then_some(())
    });
    let id = children(pages.child.id())[0];
    (pages, id)
}

/// The measurement stops after its block, and what it stored is a result.
fn pages() {
    let home = Home::new("fault-pages");
    let (server, port) = serve(&home, 0);
    let (mut pages, id) = measuring(&home, port);
    pages.child.kill().unwrap();
    pages.child.wait().unwrap();
    let start = Instant::now();
    wait_for("the end of what they started", PATIENCE, || (!is_there(id)).then_some(()));
    say("ended after", start.elapsed());
    let shown = oracle::shown(&home);
    assert_eq!(shown["trials"], oracle::lines(&home));
    assert!(!shown["stopped"].is_null());
    drop(server);
}

/// Pages say that it ended, and start another.
fn measurement() {
    let home = Home::new("fault-measurement");
    let (server, port) = serve(&home, 1);
    let (pages, id) = measuring(&home, port);
    signal(id, "KILL");
    let told = pages.ask("GET", "runs/live/events", "");
    for part in ["\"event\":\"error\"", "the program ended unexpectedly", "\"event\":\"closed\""] {
        assert!(told.contains(part), "{part} is missing in {}", &told[told.len() - 1000..]);
    }
    let before = oracle::shown(&home);
    assert_eq!(before["trials"], oracle::lines(&home));
    let again = pages.ask("POST", "runs", &form(port));
    assert!(again.starts_with("HTTP/1.1 20"), "{again}");
    let children = children(pages.child.id());
    drop(pages);
    for child in children {
        wait_for("the end of the second", PATIENCE, || (!is_there(child)).then_some(()));
    }
    drop(server);
}

/// The network namespace of a process.
fn namespace(id: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{id}/ns/net")).ok()
}

fn is_anybody_in(namespace: &PathBuf) -> bool {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let mut found = folders.filter_map(|f| std::fs::read_link(f.path().join("ns/net")).ok());
    found.any(|found| found == *namespace)
}

/// What runs in it goes on or ends with a clear error; afterwards nothing is left, and the name is
/// free.
fn lab() {
    let site = Site::up("killed-lab");
    let server = site.serve(&[]);
    let home = site.home("measuring");
    let mut client = site.run_plan("client", &home, &plan(KINDS[1], 6));
    await_event(&client, "block", 2);
    let namespaces = [server.id(), client.id()].map(|id| namespace(id).unwrap());
    let status = home.v6gap(&["lab", "status", "--name", site.lab.name(), "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    signal(u32::try_from(status["pid"].as_u64().unwrap()).unwrap(), "KILL");
    let ended = client.end(Duration::from_secs(60));
    if !matches!(ended.code, Some(0 | 6)) {
        oracle::is_clear(&ended, 4);
    }
    oracle::nothing_is_lost(&home, &client.out);
    drop(server);
    for namespace in &namespaces {
        wait_for("an empty namespace", PATIENCE, || (!is_anybody_in(namespace)).then_some(()));
    }
    // Its name is free again; taking it down is what the end of the site does.
    let file = site.home.path().join("star.toml");
    let again = home.v6gap(&["lab", "up", "--name", site.lab.name(), file.to_str().unwrap()]);
    assert!(again.status.success(), "{}", super::support::text(&again.stderr));
}
