//! A watch that is scraped by a real Prometheus: promtool finds nothing wrong with what it tells
//! nor with the rules, whose tests pass; every query of the dashboard is answered with the series
//! that there are, and each one of a fleet's with some; and a family that is down reaches a real
//! Alertmanager. That Grafana's own types hold both dashboards as they are. And that 118,000 series
//! are handed over in time.
//!
//! The programs are those that `cargo xtask truth --setup` puts below `target`, or the system's.
//! For what there is none it says `SKIPPED`.

mod hub;
mod many;
#[path = "../common/ports.rs"]
mod ports;
mod programs;
#[path = "../cli/support.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod support;

use ports::free;
use programs::{Programs, Running, get, until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::Instant;
use support::Sandbox;

/// Where the files lie that come with the program.
const SHARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../share");

/// Where `cargo xtask truth --setup` puts a Python.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python");

/// What has Grafana's types read the dashboard.
const TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scraped/grafana.py");

/// What must be told once light visits and one of throughput were made.
const TOLD: [&str; 10] = [
    "v6gap_rtt_seconds",
    "v6gap_connect_seconds",
    "v6gap_throughput_bytes_per_second",
    "v6gap_loss_ratio",
    "v6gap_effect_ratio",
    "v6gap_verdict",
    "v6gap_family_up",
    "v6gap_last_measured_timestamp_seconds",
    "v6gap_windows_total",
    "v6gap_changes_total",
];

fn main() -> ExitCode {
    let passed = many::in_time();
    match Programs::find() {
        Some(programs) => {
            let start = Instant::now();
            scraped(&programs);
            // What is not as it should be has ended it.
            println!("ok     scraped ({:.1} s)", start.elapsed().as_secs_f64());
        }
        None => println!(
            "SKIPPED: no Prometheus and Alertmanager (cargo xtask truth --setup unpacks them)"
        ),
    }
    match python() {
        Some(python) => typed(&python),
        None => println!("SKIPPED: no types of Grafana (cargo xtask truth --setup installs them)"),
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A Python with the types of Grafana.
fn python() -> Option<PathBuf> {
    let has = |python: &PathBuf| {
        let imports = Command::new(python).args(["-c", "import grafana_foundation_sdk"]).output();
        imports.is_ok_and(|output| output.status.success())
    };
    [PathBuf::from(PYTHON), PathBuf::from("python3")].into_iter().find(has)
}

/// Dashboards come out of Grafana's types as they went in.
fn typed(python: &Path) {
    for name in ["path", "fleet"] {
        let dashboard = format!("{SHARE}/grafana/{name}.json");
        let output = Command::new(python).args([TYPES, &dashboard]).output().unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        assert!(output.status.success(), "lost on the way of {name}: {out}{err}");
    }
}

fn scraped(programs: &Programs) {
    let sandbox = Sandbox::new();
    for name in ["v6gap", "v6gap-fleet"] {
        let rules = format!("{SHARE}/prometheus/{name}.rules");
        programs.promtool(&["check", "rules", &format!("{rules}.yml")], "");
        programs.promtool(&["test", "rules", &format!("{rules}.test.yml")], "");
    }
    let (server, watch) = watched(&sandbox);
    let hub = hub::told();
    let alertmanager = alertmanager(programs, &sandbox);
    let told = [watch.address.as_str(), hub.as_str()];
    let prometheus = prometheus(programs, &sandbox, told, &alertmanager.address);
    let text = until("every metric that a watch must tell", || {
        let text = get(&watch.address, "/metrics")?;
        TOLD.iter().all(|name| series(&text, name) > 0).then_some(text)
    });
    programs.promtool(&["check", "metrics"], &text);
    for expr in queries("path") {
        until(&expr, || {
            let text = get(&watch.address, "/metrics")?;
            let found = asked(&prometheus.address, &expr)?;
            is_expected(&text, &expr, found).then_some(())
        });
    }
    of_a_fleet(programs, &hub, &prometheus.address);
    drop(server);
    until("the alert at Alertmanager", || {
        let alerts = get(&alertmanager.address, "/api/v2/alerts")?;
        let alerts: Value = serde_json::from_str(&alerts).ok()?;
        let is_it = |alert: &Value| {
            let labels = &alert["labels"];
            labels["alertname"] == "V6gapFamilyDown" && labels["family"] == "ipv6"
        };
        alerts.as_array()?.iter().any(is_it).then_some(())
    });
}

/// Every query of the fleet's dashboard finds something of a hub that tells all that there is.
fn of_a_fleet(programs: &Programs, hub: &str, prometheus: &str) {
    programs.promtool(&["check", "metrics"], &get(hub, "/metrics").expect("what a hub tells"));
    for expr in queries("fleet") {
        until(&expr, || (asked(prometheus, &expr)? > 0).then_some(()));
    }
}

/// Series of a metric in a text.
fn series(text: &str, name: &str) -> usize {
    let begin = format!("{name}{{");
    text.lines().filter(|line| line.starts_with(&begin)).count()
}

/// Whether so many series are what a query finds of what the text tells: as many as there are of
/// a metric that is asked for as it is, and otherwise some if there are any.
fn is_expected(text: &str, expr: &str, found: usize) -> bool {
    let words = expr.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let names: BTreeSet<&str> = words.filter(|word| word.starts_with("v6gap_")).collect();
    let there: usize = names.iter().map(|name| series(text, name)).min().unwrap_or(0);
    match expr.starts_with("v6gap_") && expr.ends_with('}') {
        true => found == there,
        false => (found > 0) == (there > 0),
    }
}

/// The queries of a dashboard, of all that can be chosen.
fn queries(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("{SHARE}/grafana/{name}.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let exprs = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    let chosen = |expr: String| {
        let named = ["$host", "$path", "$measure", "$mesh", "$agent"];
        let all = named.iter().fold(expr, |expr, name| expr.replace(name, ".*"));
        all.replace("$__rate_interval", "1m")
    };
    exprs.map(chosen).collect()
}

/// How many series a query finds.
fn asked(prometheus: &str, expr: &str) -> Option<usize> {
    let escaped: String = expr.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let answer = get(prometheus, &format!("/api/v1/query?query={escaped}"))?;
    let answer: Value = serde_json::from_str(&answer).ok()?;
    assert_eq!(answer["status"], "success", "{expr}: {answer}");
    Some(answer["data"]["result"].as_array()?.len())
}

/// A watch that goes on, and where it is scraped.
struct Watch {
    address: String,
    _child: Running,
}

/// A server on this host, and a watch of the path to it.
fn watched(sandbox: &Sandbox) -> (Running, Watch) {
    let port = free();
    let line = format!("serve --listen 127.0.0.1 --listen ::1 -p {port}");
    let (server, _) = said(sandbox.start(&line));
    let file = format!(
        "v6gap = 1\nevery = \"30 s\"\nthroughput_every = \"2 min\"\n\n[[paths]]\nname = \"here\"\n\
         host = \"here\"\nv4 = \"127.0.0.1\"\nv6 = \"::1\"\nport = {port}\n\
         measure = [\"connect\", \"rtt\", \"loss\"]\n"
    );
    sandbox.write("watch.toml", &file);
    let (child, line) = said(sandbox.start("watch --config watch.toml --listen [::1]:0"));
    let address = line.trim().strip_prefix("Metrics  http://").expect("where it is scraped");
    let address = address.strip_suffix("/metrics").expect("a page").to_owned();
    (server, Watch { address, _child: child })
}

/// A program that has begun, and its first line; the others are read and left.
fn said(mut child: Child) -> (Running, String) {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(drop));
    (Running::new(child), line)
}

/// A program with an address.
struct Listening {
    address: String,
    _child: Running,
}

fn alertmanager(programs: &Programs, sandbox: &Sandbox) -> Listening {
    let config = "route:\n  receiver: none\nreceivers:\n  - name: none\n";
    let file = sandbox.write("alertmanager.yml", config);
    let address = format!("127.0.0.1:{}", free());
    let child = programs.start(
        "prometheus-alertmanager",
        &[
            &option("config.file", &file),
            &option("storage.path", &sandbox.path("alerts")),
            &format!("--web.listen-address={address}"),
            // It is alone.
            "--cluster.listen-address=",
            "--log.level=error",
        ],
    );
    Listening { address, _child: child }
}

/// One that scrapes a watch and a hub each second, with the rules of watches as they are but for
/// how long they wait.
fn prometheus(programs: &Programs, sandbox: &Sandbox, told: [&str; 2], alerts: &str) -> Listening {
    let rules = std::fs::read_to_string(format!("{SHARE}/prometheus/v6gap.rules.yml")).unwrap();
    let waits = |line: &&str| !line.trim_start().starts_with("for: ");
    let rules: Vec<&str> = rules.lines().filter(waits).collect();
    sandbox.write("rules.yml", &(rules.join("\n") + "\n"));
    let config = format!(
        "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files: [rules.yml]\n\
         alerting:\n  alertmanagers:\n    - static_configs:\n        - targets: [\"{alerts}\"]\n\
         scrape_configs:\n  - job_name: v6gap\n    static_configs:\n      \
         - targets: [\"{}\", \"{}\"]\n",
        told[0], told[1]
    );
    let file = sandbox.write("prometheus.yml", &config);
    programs.promtool(&["check", "config", &file.display().to_string()], "");
    let address = format!("127.0.0.1:{}", free());
    let child = programs.start(
        "prometheus",
        &[
            &option("config.file", &file),
            &option("storage.tsdb.path", &sandbox.path("series")),
            &format!("--web.listen-address={address}"),
            "--log.level=error",
        ],
    );
    Listening { address, _child: child }
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}
