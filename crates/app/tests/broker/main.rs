//! A fleet of the real program with a real nats-server, as docs/fleet.md says how it is made: a
//! hub, two agents on this host, one job between them, and its result in the archive; then all is
//! ended. And once more with three nodes while every part is killed and put to sleep: Parquet and a
//! database hold each pair once.
//!
//! The server is that of `cargo xtask truth --setup`, or the system's. Without one it says
//! `SKIPPED`.

mod kept;
#[path = "../common/ports.rs"]
mod ports;
#[allow(dead_code, reason = "the suite of namespaces uses the rest")]
mod programs;
#[path = "../postgres/server.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod server;
#[path = "../cli/support.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod support;

use ports::free;
use programs::{Running, until};
use serde_json::Value;
use server::Server;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use support::Sandbox;
use v6gap_core::record::RunId;
use v6gap_store::Store;

/// Both ends are here, so it need not be long.
const PLAN: &str = "\
v6gap = 1
name = \"Smoke\"

[design]
pairs = 6
null_blocks = 1

[[measure]]
metric = \"rtt\"
message = \"64 B\"
";

/// One path, measured from rome.
const MESH: &str = include_str!("../../../core/tests/common/two.mesh.toml");

fn main() -> ExitCode {
    let Some(server) = programs::server() else {
        println!("SKIPPED: no nats-server (cargo xtask truth --setup installs it)");
        return ExitCode::SUCCESS;
    };
    let start = Instant::now();
    one_job(&server);
    println!("ok     one_job ({:.1} s)", start.elapsed().as_secs_f64());
    let start = Instant::now();
    kept::each_pair_is_kept_once(&server);
    println!("ok     each_pair_is_kept_once ({:.1} s)", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

fn one_job(server: &Path) {
    let sandbox = Sandbox::new();
    let port = free();
    sandbox.run(&format!("fleet hub init hub --nodes localhost:{port}")).ended(0);
    let again = sandbox.run(&format!("fleet hub init hub --nodes localhost:{port}")).ended(2);
    assert!(again.err.contains("E605"), "{}", again.err);
    let database = database(&sandbox);
    let metrics = format!("[{}]:{}", Ipv6Addr::LOCALHOST, free());
    let server = server.display();
    let mut run = format!("fleet hub run hub --nats-server {server} --metrics {metrics}");
    if let Some((_, url)) = &database {
        run += &format!(" --postgres {url}");
    }
    let mut hub = start(&sandbox, "hub", &run);
    page_answers(&hub.until_said("Ready:"));
    let mut agents = ["rome/a", "oslo/b"].map(|name| agent(&sandbox, name));
    agents.iter_mut().for_each(|agent| drop(agent.until_said("Idle.")));

    std::fs::write(sandbox.path("smoke.toml"), PLAN).unwrap();
    std::fs::write(sandbox.path("mesh.toml"), MESH).unwrap();
    sandbox.run("fleet apply mesh.toml --creds hub/operator.creds").ended(0);
    let said = hub.until_said("rome/a to oslo/b (smoke.toml): ");
    let (_, id) = said.split_once("measured, ").unwrap_or_else(|| panic!("{said}"));

    let id: RunId = id.trim().parse().unwrap();
    let own = Store::at(&sandbox.path("rome")).journal_path(&id);
    let kept = Store::at(&sandbox.path("hub/archive/rome/a")).journal_path(&id);
    until("the result in the archive", || {
        let (own, kept) = (std::fs::read(&own).unwrap(), std::fs::read(&kept).ok()?);
        (own == kept).then_some(())
    });
    let archive = sandbox.path("hub/archive/rome/a");
    let shown = sandbox.run_with(&format!("show {id} --json"), &[("V6GAP_DATA", &archive)]);
    let shown: Value = serde_json::from_str(&shown.ended(0).out).unwrap();
    assert!(shown["schema"].as_str().unwrap().starts_with("v6gap.result/"), "{shown}");

    until("agents that know that the archive has it", || {
        let status = status(&sandbox);
        let agents = status["agents"].as_array()?;
        let kept = agents.iter().filter(|agent| agent["said"]["unarchived"] == 0).count();
        (kept == 2 && status["visits"].as_array()?.len() == 1).then_some(())
    });
    let once = sandbox.run("fleet run mesh.toml --creds hub/operator.creds").ended(0).out;
    assert!(once.ends_with("1 of 1 measurements were made.\n"), "{once}");
    let paths = sandbox.run("fleet matrix --runs hub/archive --json").ended(0).out;
    assert!(paths.contains("oslo/b"), "{paths}");
    until("metrics of what came", || is_told(&get(&metrics, "/metrics")).then_some(()));
    given_up(&sandbox, &mut agents[1]);
    hub = gone_and_back(&run, &sandbox, hub, &mut agents);
    revoked(&sandbox, &mut hub, &mut agents[1]);
    agents.into_iter().for_each(Running::stop);
    hub.stop();
    assert!(TcpStream::connect(("localhost", port)).is_err(), "the server goes on");
    written(&sandbox, database.as_ref());
}

/// A database for what is measured, if there is a server of one.
fn database(sandbox: &Sandbox) -> Option<(Server, String)> {
    let Some(programs) = server::programs() else {
        println!("SKIPPED: PostgreSQL (cargo xtask truth --setup unpacks it)");
        return None;
    };
    let server = Server::start(programs, sandbox.path("postgres"));
    let url = server.database("fleet");
    Some((server, url))
}

/// The link of a hub that is ready leads to a page.
fn page_answers(ready: &str) {
    let (_, rest) = ready.split_once("http://").unwrap_or_else(|| panic!("{ready}"));
    let (host, _) = rest.split_once('/').unwrap();
    let answer = get(host, "/");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Whether metrics say of agents, jobs and paths what was done here. Of the lead and of how long
/// grants took a number is there: which one is not known.
fn is_told(text: &str) -> bool {
    let value = |name: &str| -> Option<f64> {
        text.lines()
            .find_map(|line| line.strip_prefix(&format!("v6gap_fleet_{name} "))?.parse().ok())
    };
    let told = [
        ("agent_up{agent=\"rome/a\"}", 1.0),
        ("agent_up{agent=\"oslo/b\"}", 1.0),
        ("jobs_total{result=\"measured\"}", 2.0),
        ("coordinators{state=\"leads\"}", 1.0),
        ("paths{mesh=\"two\"}", 1.0),
        ("overdue_paths{mesh=\"two\"}", 0.0),
    ];
    let some = ["epoch", "grant_duration_seconds_count", "grant_duration_seconds_sum"];
    told.iter().all(|(name, is)| value(name) == Some(*is))
        && some.iter().all(|name| value(name).is_some_and(|value| value > 0.0))
}

/// What is answered there, with its head.
fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// What was measured is in tables, and in the database each run once, as soon as the hub has ended.
fn written(sandbox: &Sandbox, database: Option<&(Server, String)>) {
    let names = |folder: &str| -> Vec<String> {
        let found = std::fs::read_dir(sandbox.path(folder)).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let runs = names("hub/archive/rome/a/runs").len();
    // Those of `apply` and of `run`.
    assert!(runs >= 2, "{runs}");
    let months = names("hub/archive/rome/a/archive/answers");
    assert!(!months.is_empty() && months.iter().all(|month| month.starts_with("month=")));
    if let Some((server, _)) = database {
        let found = server.ask("fleet", "SELECT count(*) AS n FROM run");
        assert_eq!(found[0]["n"], runs, "{found:?}");
    }
}

/// A path that the owner of its host does not allow is given up, and named with the reason.
fn given_up(sandbox: &Sandbox, agent: &mut Running) {
    agent.kill();
    sandbox.write("limits.toml", "v6gap = 1\npeers = [\"paris/*\"]\n");
    *agent = go_on(sandbox, "oslo", "--limits limits.toml");
    agent.until_said("Idle.");
    let once = sandbox.run("fleet run mesh.toml --creds hub/operator.creds").ended(4).out;
    assert!(once.contains("Not measured: rome/a to oslo/b (smoke.toml): "), "{once}");
    assert!(once.contains("oslo/b: its owner does not allow it: rome/a is not one"), "{once}");
    agent.kill();
    *agent = go_on(sandbox, "oslo", "");
    agent.until_said("Idle.");
}

/// A hub that is ended and begun again finds its agents, which said that it was gone.
fn gone_and_back(run: &str, sandbox: &Sandbox, hub: Running, agents: &mut [Running; 2]) -> Running {
    hub.stop();
    agents.iter_mut().for_each(|agent| drop(agent.until_said("The hub is gone.")));
    let mut hub = start(sandbox, "hub", run);
    hub.until_said("Ready:");
    agents.iter_mut().for_each(|agent| drop(agent.until_said("At the hub again.")));
    until("agents that are heard again", || {
        let status = status(sandbox);
        let heard = status["agents"].as_array()?;
        let recent =
            |agent: &&Value| agent["ago_ns"].as_u64().is_some_and(|ns| ns < 60_000_000_000);
        (heard.iter().filter(recent).count() == 2).then_some(())
    });
    hub
}

/// An agent of this host, with folders of its own for results and claims.
fn agent(sandbox: &Sandbox, name: &str) -> Running {
    let (site, _) = name.split_once('/').unwrap();
    let creds = format!("{site}.creds");
    sandbox.run(&format!("fleet hub invite {name} --hub hub -o {creds}")).ended(0);
    let twice = sandbox.run(&format!("fleet hub invite {name} --hub hub -o twice.creds")).ended(2);
    assert!(twice.err.contains("E606") && twice.err.contains("--hub "), "{}", twice.err);
    go_on(sandbox, site, "")
}

/// An agent with the credentials that it has, and other options.
fn go_on(sandbox: &Sandbox, site: &str, options: &str) -> Running {
    let (v4, v6) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
    let line = format!("fleet agent --creds {site}.creds --address {v4} --address {v6} {options}");
    start(sandbox, site, &line)
}

/// Starts the program in the sandbox, with folders `name` and `name-locks` of its own.
fn start(sandbox: &Sandbox, name: &str, line: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_v6gap"));
    command.args(line.split_whitespace()).current_dir(sandbox.path(""));
    command.env("V6GAP_DATA", sandbox.path(name));
    command.env("V6GAP_LOCKS", sandbox.path(&format!("{name}-locks")));
    Running::start(name, &mut command)
}

fn status(sandbox: &Sandbox) -> Value {
    let ran = sandbox.run("fleet status --json --creds hub/operator.creds").ended(0);
    serde_json::from_str(&ran.out).unwrap()
}

/// An agent that is revoked is thrown out, and ends since nobody lets it in.
fn revoked(sandbox: &Sandbox, hub: &mut Running, agent: &mut Running) {
    sandbox.run("fleet hub revoke oslo/b --hub hub").ended(0);
    hub.until_said("knows who is let in no more");
    let (exit, errors) = agent.ended();
    assert!(exit == Some(5) && errors.contains("E602"), "{exit:?} {errors}");
    let data = sandbox.path("other");
    let refused = sandbox.run_with("fleet agent --creds oslo.creds", &[("V6GAP_DATA", &data)]);
    let refused = refused.ended(5);
    assert!(refused.err.contains("E602"), "{}", refused.err);
}
