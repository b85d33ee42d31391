//! Paths on which something is peculiar: each question that they allow is answered, and what
//! disturbs one silences no other.

use super::support::{Home, document, figure, number, text};
use super::two_hosts::Lab;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use std::time::Instant;

/// A peculiar path, and what is measured there beyond the default.
struct Peculiar {
    name: &'static str,
    /// The links between client, router or routers, and server, as a world file has them.
    links: &'static str,
    routers: &'static str,
    args: &'static [&'static str],
    /// Longest time from start to answer, in s.
    seconds_max: f64,
}

/// Time of a run and of what it needs beside, in s.
const USUAL: f64 = 110.0;

const PECULIAR: [Peculiar; 4] = [
    Peculiar {
        name: "37 Mbit/s with an MTU of 1380",
        routers: "\"router\"",
        links: "[every]\nrate = \"37 Mbit/s\"\nmtu = 1380\n\
                [[links]]\nbetween = [\"client\", \"router\"]\n\
                [[links]]\nbetween = [\"router\", \"server\"]\n",
        args: &[],
        seconds_max: USUAL,
    },
    Peculiar {
        name: "IPv6 with an MTU of 1280 behind 1500",
        routers: "\"router\"",
        links: "[every]\nrate = \"100 Mbit/s\"\n\
                [[links]]\nbetween = [\"client\", \"router\"]\n\
                [[links]]\nbetween = [\"router\", \"server\"]\nv6.mtu = 1280\n",
        args: &[],
        seconds_max: USUAL,
    },
    Peculiar {
        name: "0.7 % of IPv6 lost one way, with a delay",
        routers: "\"router\"",
        links: "[every]\nrate = \"100 Mbit/s\"\n\
                [[links]]\nbetween = [\"client\", \"router\"]\ndelay = \"2 ms\"\n\
                [[links]]\nbetween = [\"router\", \"server\"]\n\
                v6.loss = \"0.7 %\"\nback = { v6.loss = \"0 %\" }\n",
        args: &[],
        seconds_max: USUAL,
    },
    Peculiar {
        name: "six sizes over 10 Mbit/s between three routers",
        routers: "\"router1\", \"router2\", \"router3\"",
        links: "[every]\nrate = \"10 Mbit/s\"\n\
                [[links]]\nbetween = [\"client\", \"router1\"]\nrate = \"100 Mbit/s\"\n\
                [[links]]\nbetween = [\"router1\", \"router2\"]\n\
                [[links]]\nbetween = [\"router2\", \"router3\"]\n\
                [[links]]\nbetween = [\"router3\", \"server\"]\nrate = \"100 Mbit/s\"\n",
        args: &["--measure", "rtt", "--length", "64,256,1k,4k,16k,56k"],
        seconds_max: 90.0,
    },
];

/// No question is without a verdict, which "can't tell" is one of; those that have none but that
/// are counted.
pub fn whatever_the_path_allows() {
    let mut failed = Vec::new();
    for path in PECULIAR {
        let home = Home::new("peculiar");
        let file = home.path().join("world.toml");
        let hosts = "v6gap = 1\nmodel = \"wire\"\nhosts = [\"client\", \"server\"]\n";
        let world = format!("{hosts}routers = [{}]\n{}", path.routers, path.links);
        std::fs::write(&file, world).unwrap();
        let start = Instant::now();
        let lab = ["run", "--lab", file.to_str().unwrap(), "--json", "-q", "--no-report"];
        let output = home.v6gap(&[&lab[..], path.args].concat());
        let seconds = start.elapsed().as_secs_f64();
        let said = || format!("{}: {}", path.name, text(&output.stderr));
        let result: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", said()));
        let questions = result["questions"].as_array().unwrap();
        let of = |verdict: &str| questions.iter().filter(|q| q["verdict"] == verdict).count();
        let (none, open) = (of("none"), of("inconclusive"));
        figure(
            path.name,
            format!("{} questions, {open} open, {none} none, {seconds:.0} s", questions.len()),
        );
        for q in
            questions.iter().filter(|q| q["verdict"] == "none" || q["verdict"] == "inconclusive")
        {
            println!("      {}: {}", q["sentence"], q["why_none"]);
        }
        if none > 0 || questions.is_empty() {
            failed.push(format!("{}: {none} of {} silent", path.name, questions.len()));
        }
        if seconds > path.seconds_max {
            failed.push(format!("{}: {seconds:.0} s", path.name));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Of so many ports in a row the router passes no answer to some: that share of the connections to
/// the server fails.
const PORTS_OF: u16 = 50;
const PORTS_LOST: u16 = 10;

/// Each connection that is lost takes the 5 s after which it is given up, so there are few.
const OF_CONNECTIONS: &str = "v6gap = 1\nname = \"Connections\"\n[design]\npairs = 12\n\
                              null_blocks = 0\n[[measure]]\nmetric = \"connect\"\ncount = 4\n";

/// An IPv6 that fails in a fifth of attempts is worse, whatever the others take.
pub fn a_family_that_fails() {
    let home = Home::new("fails");
    let lab = Lab::up("fails", &["one-router"]);
    let (server, mut said) = lab.serve_aloud(&home, &[]);
    let plan = home.path().join("plan.toml");
    std::fs::write(&plan, OF_CONNECTIONS).unwrap();
    let args = ["10.46.2.2", "--v6", "fd46:2::2", "--json", "-q", "--no-report"];
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Not before it measures: the families are proved first.
            if said.any(|line| line.contains(" trial 1")) {
                lose_answers(&lab, &home);
            }
            said.for_each(drop);
        });
        let mut client = lab.command(&home, "client");
        let output = client.args(["plan", "run"]).arg(&plan).args(args).output().unwrap();
        drop(server);
        output
    });
    let result = document(&output);
    let failures = &result["failures"];
    figure("connections that failed, and of how many", &failures["connections"]);
    let [lost, of] = [0, 1].map(|i| number(&failures["connections"]["b"][i]));
    assert!((0.1..0.3).contains(&(lost / of)), "{failures}");
    assert_eq!(failures["verdict"], "worse", "{failures:#}");
    let shown = text(&home.v6gap(&["show", "last"]).stdout);
    assert!(shown.contains("worse: fails"), "{shown}");
}

/// From now on the router drops what the server answers over IPv6 to a fifth of the ports.
fn lose_answers(lab: &Lab, home: &Home) {
    let firsts = (1024..=65_000_u16).step_by(usize::from(PORTS_OF));
    let rule = |first: u16| {
        let last = first + PORTS_LOST - 1;
        format!("rule add pref 10 ipproto tcp sport {first}-{last} blackhole\n")
    };
    let rules: String = firsts.map(rule).collect();
    let mut batch = lab.exec(home, "router");
    let batch = batch.args(["ip", "-6", "-batch", "-"]).stdin(Stdio::piped());
    let mut batch = batch.spawn().unwrap();
    batch.stdin.take().unwrap().write_all(rules.as_bytes()).unwrap();
    assert!(batch.wait().unwrap().success());
}
