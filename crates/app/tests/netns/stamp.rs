//! Reflectors of STAMP: `serve --stamp` answers `run --against stamp`, open and authenticated, and
//! its round trips are those of this program's own exchanges over UDP, but for the time for which
//! the reflector had each packet, which another program reads in the packets.

use super::sites::AT;
use super::support::{Home, figure, measured, number, question, text, times};
use super::two_hosts::Lab;
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Stdio};

/// How far the round trips of both may be apart, in µs.
const APART_US_MAX: f64 = 10.0;

/// Reads the packets of a reflector as they come, until its input ends; writes how long it had them
/// by its own two stamps, the median over IPv4 and over IPv6, in µs. Where the stamps stand is
/// described in RFC 8762 sections 4.3.1 and 4.3.2.
const HOLDS: &str = r"
import select, socket, statistics, struct, sys
sent, received = (16, 32) if sys.argv[1] == 'authenticated' else (4, 16)
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
held = {0x0800: [], 0x86dd: []}
print('ready', flush=True)
while True:
    came, _, _ = select.select([wire, sys.stdin], [], [])
    if sys.stdin in came:
        break
    frame = wire.recv(2048)
    kind, = struct.unpack_from('!H', frame, 12)
    udp = {0x0800: 34, 0x86dd: 54}.get(kind)
    if udp is None or len(frame) < udp + 48 or struct.unpack_from('!H', frame, udp)[0] != 862:
        continue
    stamps = [struct.unpack_from('!Q', frame, udp + 8 + at)[0] for at in (sent, received)]
    held[kind].append((stamps[0] - stamps[1]) / 2**32 * 1e6)
for of in held.values():
    print(statistics.median(of))
";

fn watched(lab: &Lab, home: &Home, how: &str) -> Child {
    let mut python = lab.exec(home, "client");
    python.args(["python3", "-c", HOLDS, how]);
    let mut child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    child
}

/// What is written at the end, in µs.
fn held_us(mut watcher: Child) -> [f64; 2] {
    drop(watcher.stdin.take());
    let output = watcher.wait_with_output().unwrap();
    let lines: Vec<f64> = text(&output.stdout).lines().map(|line| line.parse().unwrap()).collect();
    lines.try_into().unwrap()
}

/// What own exchanges take, what the reflector's do, and how long it has each packet, in µs.
type Took = [[f64; 2]; 3];

/// A reflector's round trips and what it held are as long as own exchanges, by the median of runs
/// in turns: those of one run differ from those of the next by more than is judged here.
fn is_alike(how: &str, mut take: impl FnMut() -> Took) {
    let runs: Vec<Took> = (0..times(1, 3)).map(|_| take()).collect();
    for (at, family) in ["v4", "v6"].into_iter().enumerate() {
        let median = |of: &dyn Fn(&Took) -> f64| {
            let mut all: Vec<f64> = runs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let [own, reflected, held] = [0, 1, 2].map(|part| median(&|run| run[part][at]));
        let longer = median(&|run| run[1][at] + run[2][at] - run[0][at]);
        figure(
            &format!("{how} {family}, µs: own; reflected and held, longer"),
            format!("{own:.1}; {reflected:.1} and {held:.1}, {longer:+.1}"),
        );
        let most = APART_US_MAX * times(10, 1) as f64;
        assert!(longer.abs() < most, "{how} {family}: {runs:?}");
    }
}

pub fn is_measured_against() {
    let home = Home::new("stamp");
    let key = home.path().join("key");
    std::fs::write(&key, "0x000102030405060708090a0b0c0d0e0f\n").unwrap();
    let lab = Lab::up("stamp", &["--delay", "1ms"]);
    let open = lab.serve(&home, &["--stamp"]);
    let sizes = ["-l", "128", "--pairs", "6"];
    let run = |more: &[&str]| -> Value {
        let [four, six] = AT;
        let mut run = lab.command(&home, "client");
        run.args(["run", four, "--v6", six, "--no-report", "-q", "--json"]).args(sizes);
        let output = run.args(more).output().unwrap();
        measured(&output);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let us = |result: &Value| {
        let q = question(result, "rtt-udp-128", "rtt");
        ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e6)
    };
    let take = |how: &str, against: &[&str]| {
        let own = us(&run(&["--measure", "rtt,udp"]));
        let reflected = us(&run(against));
        // Beside what is timed it would be in its way.
        let watcher = watched(&lab, &home, how);
        run(against);
        [own, reflected, held_us(watcher)]
    };
    is_alike("open", || take("open", &["--against", "stamp"]));
    drop(open);
    let file = key.to_str().unwrap();
    let _sealed = lab.serve(&home, &["--stamp", "--stamp-key-file", file]);
    let against = ["--against", "stamp", "--key-file", file];
    is_alike("authenticated", || take("authenticated", &against));
    // Packets that no key authenticates are not answered.
    let [four, six] = AT;
    let mut refused = lab.command(&home, "client");
    refused.args(["run", four, "--v6", six, "--against", "stamp", "--connect-timeout", "500ms"]);
    let said = text(&refused.output().unwrap().stderr);
    assert!(said.contains("[E215"), "{said}");
}
