//! `--against iperf3` with a real server: rates are the model's, counts are the server's own, and
//! it is waited for while it is busy.

use super::sites::{AT, ready};
use super::support::{Home, figure, measured, noted, number, question, text, times};
use super::tier::is_night;
use super::two_hosts::{Lab, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const MBIT: f64 = 1e6;

/// Goodput of TCP at 100 Mbit/s over each family, in Mbit/s: 1448 and 1428 of 1538 bytes.
const MODEL: [f64; 2] = [94.148, 92.848];

/// The server of iperf3 in the lab: the system's, or the program that `V6GAP_IPERF3` names.
fn iperf3(lab: &Lab, home: &Home) -> Server {
    iperf3_by(lab, home, &[])
}

/// The same with more options.
fn iperf3_by(lab: &Lab, home: &Home, more: &[&str]) -> Server {
    let program = std::env::var("V6GAP_IPERF3").unwrap_or_else(|_| "iperf3".to_owned());
    let mut command = lab.exec(home, "server");
    command.args([&program, "-s", "--forceflush"]).args(more).stdout(Stdio::piped());
    ready(&mut command, "Server listening")
}

fn command(lab: &Lab, home: &Home, more: &[&str]) -> Command {
    let [four, six] = AT;
    let mut run = lab.command(home, "client");
    run.args(["run", four, "--v6", six, "--against", "iperf3", "--mine", "--no-report", "-q"]);
    run.args(more);
    run
}

fn run(lab: &Lab, home: &Home, more: &[&str]) -> Value {
    let output: Output = command(lab, home, &[more, &["--json"]].concat()).output().unwrap();
    measured(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Rates are what the wire leaves, both ways and over UDP.
pub fn is_measured_against() {
    let home = Home::new("iperf3");
    let lab = Lab::up("iperf3", &[]);
    let server = iperf3(&lab, &home);
    let pairs = times(6, 20).to_string();
    // By day runs are few and short, and the machine has other work.
    let off_max = times(5, 1) as f64 * 0.001;
    let ways: &[(&str, &[&str])] = &[("throughput-tcp", &[]), ("throughput-tcp-receive", &["-R"])];
    for (cell, more) in &ways[..times(1, 2)] {
        let time = if is_night() { "1s" } else { "400ms" };
        let result = run(&lab, &home, &[&["--pairs", &pairs, "-t", time], *more].concat());
        let q = question(&result, cell, "throughput");
        for (family, model) in ["v4", "v6"].into_iter().zip(MODEL) {
            let rate = number(&q[family]["estimate"]) / MBIT;
            figure(&format!("{cell} {family}, Mbit/s ({model})"), format!("{rate:.3}"));
            assert!((rate / model - 1.0).abs() < off_max, "{q:#}");
        }
    }
    let udp = ["--udp", "--bitrate", "50M", "-l", "1408", "--pairs", &pairs, "-t", "500ms"];
    for more in &[&[][..], &["-R"]][..times(0, 2)] {
        let result = run(&lab, &home, &[&udp, *more].concat());
        let questions = result["questions"].as_array().unwrap();
        let of = |metric: &str| questions.iter().find(|q| q["metric"] == metric).unwrap();
        for family in ["v4", "v6"] {
            let rate = number(&of("throughput")[family]["estimate"]) / MBIT;
            figure(&format!("UDP {more:?} {family}, Mbit/s (50)"), format!("{rate:.3}"));
            assert!((rate / 50.0 - 1.0).abs() < 5.0 * off_max, "{result:#}");
            assert_eq!(number(&of("loss")[family]["estimate"]), 0.0, "{result:#}");
        }
    }
    drop(server);
}

/// A server numbers its tests: two that follow each other over IPv4 and IPv6 were one server's, and
/// those of two servers, one for each family, tell nothing.
pub fn tells_one_server_from_two() {
    let home = Home::new("iperf3-numbers");
    let lab = Lab::up("iperf3numbers", &[]);
    let said = |servers: Vec<Server>, said: &str| {
        let result = run(&lab, &home, &["--pairs", "6", "-t", "200ms"]);
        assert!(noted(&result, said), "{said}: {:#}", result["checks"]);
        figure(&format!("{} of iperf3", servers.len()), said);
    };
    said(vec![iperf3(&lab, &home)], "one server: its tests 1 and 2 came over IPv4 and IPv6");
    let two = AT.map(|address| iperf3_by(&lab, &home, &["-B", address]));
    said(Vec::from(two), "whether both addresses lead to one server is not known");
}

/// Whoever is served already is waited for, and a client that is killed frees the server.
pub fn is_waited_for() {
    let home = Home::new("iperf3-busy");
    let lab = Lab::up("iperf3busy", &[]);
    let server = iperf3(&lab, &home);
    let mut other = lab.exec(&home, "client");
    other.args(["iperf3", "-c", AT[0], "-t", "4", "-b", "1M", "--forceflush"]);
    other.stdout(Stdio::piped());
    let mut other = other.spawn().unwrap();
    let mut begun = BufReader::new(other.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(begun.any(|line| line.contains("connected to")));
    let short = ["--pairs", "6", "-t", "200ms"];
    let refused = command(&lab, &home, &[&short[..], &["--no-wait"]].concat()).output().unwrap();
    let said = text(&refused.stderr);
    assert!(said.contains("busy") && said.contains("[E204"), "{said}");
    let result = run(&lab, &home, &short);
    assert!(result["trials"].as_u64() >= Some(12), "{result:#}");
    assert!(other.wait().unwrap().success());
    // Killed in the middle of a test.
    let mut killed = command(&lab, &home, &["--pairs", "6", "-t", "20s"]).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let since = Instant::now();
    loop {
        let mut again = lab.exec(&home, "client");
        again.args(["iperf3", "-c", AT[0], "-t", "1", "-b", "1M"]);
        let output = again.output().unwrap();
        let took = since.elapsed().saturating_sub(Duration::from_secs(1));
        if output.status.success() {
            figure("free again after a kill, s", format!("{:.2}", took.as_secs_f64()));
            assert!(took < Duration::from_secs(1), "{took:?}");
            break;
        }
        assert!(took < Duration::from_secs(10), "{}", text(&output.stdout));
    }
    drop(server);
}
