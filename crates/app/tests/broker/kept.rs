//! Each pair is kept once, whatever fails meanwhile: real runs between two agents of a hub of three
//! nodes, with every part killed and put to sleep. What the archive of the hub, its Parquet and a
//! database hold is compared with what the host that measured has itself.

use super::ports::free;
use super::programs::{Running, until};
use super::server::{self, Server};
use super::support::Sandbox;
use super::{MESH, PLAN, agent, go_on, start};
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What answers queries from Parquet, and the Python with DuckDB.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebooks/queries.py");
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python");

/// Pairs of each run, and those that are there more than once.
const COUNTED: &str = "\
SELECT run, cell, metric, count(*) AS pairs FROM pairs
GROUP BY run, cell, metric ORDER BY run, cell, metric";
const TWICE: &str = "\
SELECT run, cell, metric, block, count(*) AS times FROM pairs WHERE block_valid
GROUP BY run, cell, metric, block HAVING count(*) > 1";

pub fn each_pair_is_kept_once(server: &Path) {
    let sandbox = Sandbox::new();
    let nodes: Vec<String> = (0..3).map(|_| format!("localhost:{}", free())).collect();
    sandbox.run(&format!("fleet hub init hub --nodes {}", nodes.join(","))).ended(0);
    let line = format!("fleet hub run hub --no-page --nats-server {}", server.display());
    let begin = || start(&sandbox, "hub", &line);
    let mut hub = begin();
    hub.until_said("Ready:");
    let mut agents = ["rome/a", "oslo/b"].map(|name| agent(&sandbox, name));
    agents.iter_mut().for_each(|agent| drop(agent.until_said("Idle.")));
    sandbox.write("smoke.toml", PLAN);
    sandbox.write("mesh.toml", &MESH.replace("1 h", "1 min"));
    sandbox.run("fleet apply mesh.toml --creds hub/operator.creds").ended(0);
    another(&mut hub);

    // One of three nodes, twice; then the whole hub, and what a node has is gone.
    let children = children(hub.id());
    assert_eq!(children.len(), 3, "{children:?}");
    signal(children[0], "KILL");
    signal(children[1], "STOP");
    std::thread::sleep(Duration::from_secs(10));
    signal(children[1], "CONT");
    another(&mut hub);
    signal(hub.id(), "STOP");
    std::thread::sleep(Duration::from_secs(20));
    signal(hub.id(), "CONT");
    another(&mut hub);
    hub.kill();
    // Its nodes die with it, and not at the same moment: one of them may still write there.
    until("a node without anything", || {
        let removed = std::fs::remove_dir_all(sandbox.path("hub/node-3/streams"));
        let is_gone = removed.is_ok() || removed.is_err_and(|e| e.kind() == ErrorKind::NotFound);
        is_gone.then_some(())
    });
    hub = begin();
    hub.until_said("Ready:");
    another(&mut hub);

    // The agent that measures, in the middle; the run goes on or another one is begun.
    agents[0].forget();
    agents[0].until_said("Measuring.");
    agents[0].kill();
    agents[0] = go_on(&sandbox, "rome", "");
    another(&mut hub);
    sandbox.run("fleet apply mesh.toml --creds hub/operator.creds --remove").ended(0);
    until("everything in the archive", || is_whole(&sandbox).then_some(()));
    agents.into_iter().for_each(Running::stop);
    hub.stop();
    compare(&sandbox);
}

/// Waits until another run was measured from now on.
fn another(hub: &mut Running) {
    hub.forget();
    hub.until_said("rome/a to oslo/b (smoke.toml): measured");
}

/// Processes that a process has begun.
fn children(id: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let texts = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")));
    let texts: Vec<String> = texts.flatten().collect();
    texts.iter().flat_map(|text| text.split_whitespace()).map(|id| id.parse().unwrap()).collect()
}

fn signal(id: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), id.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whether the archive has the journals of the host that measured, byte for byte up to their last
/// whole lines, and no others.
fn is_whole(sandbox: &Sandbox) -> bool {
    let journals = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let Ok(runs) = std::fs::read_dir(sandbox.path(folder)) else { return Vec::new() };
        let read = |run: PathBuf| {
            let name = run.file_name()?.to_str()?.to_owned();
            let mut journal = std::fs::read(run.join("journal.jsonl")).ok()?;
            journal.truncate(journal.iter().rposition(|&byte| byte == b'\n')? + 1);
            Some((name, journal))
        };
        let mut all: Vec<_> = runs.flatten().filter_map(|run| read(run.path())).collect();
        all.sort();
        all
    };
    let own = journals("rome/runs");
    !own.is_empty() && own == journals("hub/archive/rome/a/runs")
}

/// Parquet and database of the hub against those of the host itself.
fn compare(sandbox: &Sandbox) {
    let own = sandbox.path("rome");
    sandbox.run("index archive --fleet hub/archive").ended(0);
    sandbox.run_with("index archive", &[("V6GAP_DATA", &own)]).ended(0);
    sandbox.run("index archive --fleet hub/archive").ended(0);
    let [truth, parquet] = ["rome/archive", "hub/archive/*/*/archive"].map(|folder| {
        let page =
            sandbox.write("page.md", &format!("```sql\n{COUNTED}\n```\n```sql\n{TWICE}\n```\n"));
        duckdb(&sandbox.path(folder), &page)
    });
    if let (Some(truth), Some(parquet)) = (&truth, &parquet) {
        assert!(!truth[0].is_empty(), "no pairs");
        assert_eq!(parquet, truth);
        assert!(parquet[1].is_empty(), "{:?}", parquet[1]);
        println!("Parquet holds each pair of {} questions of runs once", truth[0].len());
    } else {
        println!("SKIPPED: DuckDB to read Parquet with (cargo xtask test --setup installs it)");
    }
    let Some(programs) = server::programs() else {
        println!("SKIPPED: no PostgreSQL 15 (cargo xtask truth --setup unpacks it)");
        return;
    };
    let server = Server::start(programs, sandbox.path("postgres"));
    let (kept, own_url) = (server.database("kept"), server.database("own"));
    for _ in 0..2 {
        sandbox.run(&format!("index postgres {kept} --fleet hub/archive")).ended(0);
    }
    sandbox.run_with(&format!("index postgres {own_url}"), &[("V6GAP_DATA", &own)]).ended(0);
    let rows = server.ask("kept", COUNTED);
    assert!(!rows.is_empty(), "no pairs");
    assert_eq!(rows, server.ask("own", COUNTED));
    assert_eq!(server.ask("kept", TWICE), Vec::<Value>::new());
    println!("PostgreSQL holds each pair of {} questions of runs once", rows.len());
}

/// The rows of both queries, if there is something that reads Parquet.
fn duckdb(archive: &Path, page: &Path) -> Option<Vec<Vec<Value>>> {
    let has = |python: &&str| {
        let imports = Command::new(python).args(["-c", "import duckdb"]).output();
        imports.is_ok_and(|output| output.status.success())
    };
    let python = [PYTHON, "python3"].into_iter().find(has)?;
    let output = Command::new(python).arg(SCRIPT).arg(archive).arg(page).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
