//! Labs of every shape: up, used, measured in, taken down and killed, with nothing left behind.

use super::support::{
    Home, PROGRAM, document, figure, fits, goes_on, measured, number, question, text, times,
};
use super::two_hosts::Lab;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::wiremodel;
use v6gap_core::world::model;
use v6gap_core::world::{Link, LinkModel, World};

const SHAPES: [&str; 7] =
    ["cable", "switch", "one-router", "two-routers", "three-routers", "dumb-bell", "bare"];

fn lab(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).arg("lab").args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// What a lab could leave: processes of this program, interfaces, names.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    processes: BTreeSet<String>,
    interfaces: Vec<String>,
    labs: String,
}

fn left() -> Left {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let holders = folders.filter_map(|folder| {
        let line = std::fs::read_to_string(folder.path().join("cmdline")).ok()?;
        let ours = line.contains("--foreground") && line.contains("comes-and-goes");
        ours.then_some(line)
    });
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap();
    let names = interfaces.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned()));
    let labs = text(&lab(&["list"]).stdout);
    let ours = labs.lines().filter(|name| name.contains("comes-and-goes"));
    Left { processes: holders.collect(), interfaces: names.collect(), labs: ours.collect() }
}

/// The network namespaces of a lab's nodes.
fn namespaces(name: &str) -> BTreeSet<PathBuf> {
    let status = lab(&["status", "--name", name, "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let nodes = status["nodes"].as_array().unwrap().iter();
    let inside = |node: &Value| {
        let node = node["name"].as_str().unwrap();
        let seen = lab(&["exec", "--name", name, node, "--", "readlink", "/proc/self/ns/net"]);
        PathBuf::from(text(&seen.stdout).trim())
    };
    nodes.map(inside).collect()
}

/// Which of these namespaces any process is in or holds open: without one the kernel removes them.
fn held(namespaces: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let links = processes.flat_map(|process| {
        let descriptors = std::fs::read_dir(process.path().join("fd")).into_iter().flatten();
        let descriptors = descriptors.flatten().map(|descriptor| descriptor.path());
        descriptors.chain([process.path().join("ns/net")]).collect::<Vec<_>>()
    });
    links
        .filter_map(|link| std::fs::read_link(link).ok())
        .filter(|namespace| namespaces.contains(namespace))
        .collect()
}

/// What has ended may need a moment until the kernel has cleared it away.
fn nothing_left(before: &Left, what: &str) {
    let give_up = Instant::now() + Duration::from_secs(10);
    loop {
        let now = left();
        if now == *before {
            return;
        }
        assert!(Instant::now() < give_up, "{what} left {now:?} instead of {before:?}");
        std::thread::yield_now();
    }
}

/// Every shape is brought up and taken down, and killed at a different moment each time: while it
/// is being built, while it is up, while it is used.
pub fn come_and_go() {
    let rounds = times(3, 50);
    let name = &format!("comes-and-goes{}", std::process::id());
    let before = left();
    for shape in SHAPES {
        let (mut took, mut seen) = (Vec::new(), BTreeSet::new());
        for _ in 0..rounds {
            let start = Instant::now();
            let up = lab(&["up", shape, "--name", name]);
            assert!(up.status.success(), "{shape}: {}", text(&up.stderr));
            took.push(start.elapsed());
            if took.len() == 1 {
                seen = namespaces(name);
                assert!(!held(&seen).is_empty(), "{shape} is up in {seen:?}");
            }
            let down = lab(&["down", "--name", name]);
            assert!(down.status.success(), "{shape}: {}", text(&down.stderr));
        }
        nothing_left(&before, shape);
        assert_eq!(held(&seen), Vec::<PathBuf>::new(), "namespaces of {shape}");
        for round in 0..rounds {
            killed(shape, name, round);
        }
        nothing_left(&before, &format!("killing {shape}"));
        took.sort();
        let ms = |took: Duration| took.as_secs_f64() * 1e3;
        let (median, most) = (ms(took[took.len() / 2]), ms(took[took.len() - 1]));
        figure(shape, format!("up in {median:.0} ms (median of {rounds}), {most:.0} ms at most"));
    }
}

/// Kills the holder of a lab at a moment that depends on `round`, 0 to 300 ms after its start.
fn killed(shape: &str, name: &str, round: usize) {
    let mut holder = Command::new(PROGRAM)
        .args(["lab", "up", shape, "--name", name, "--foreground"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let moment = Duration::from_millis((round as u64 * 37) % 300);
    let start = Instant::now();
    while start.elapsed() < moment {
        goes_on(&mut holder, &format!("{shape} was killed"));
        std::thread::yield_now();
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
}

/// What a link may add to each of its crossings beside the model, and what the ends may: they wake
/// up twice, which takes the longer the longer they had to wait.
const CROSSING_US_MAX: f64 = 8.0;
const ENDS_US_MAX: f64 = 200.0;

/// A lab that is up is measured in from outside, between hosts and between routers: the way between
/// the hosts is longer by two links, and in both families by what the model says.
pub fn measure_inside() {
    let lab = Lab::up("inside", &["three-routers"]);
    let home = Home::new("inside");
    let plan = home.path().join("plan.toml");
    let text_of_plan = "v6gap = 1\nname = \"Inside\"\n[design]\npairs = 6\nnull_blocks = 1\n\
                        [[measure]]\nmetric = \"rtt\"\nprotocol = \"udp\"\n\
                        message = [\"64 B\", \"1024 B\"]\n";
    std::fs::write(&plan, text_of_plan).unwrap();
    let between = |nodes: &[&str]| -> Value {
        let mut command = home.command();
        command.args(["plan", "run", plan.to_str().unwrap(), "--lab", lab.name()]).args(nodes);
        let output = command.args(["--json", "-q", "--no-report"]).output().unwrap();
        measured(&output);
        document(&output)
    };
    let hosts = between(&[]);
    let routers = between(&["--from", "router1", "--to", "router3"]);
    let rates = [100, 10, 10, 100].map(|mbits| Link::ethernet(Some(mbits * 1_000_000)));
    let world = World::chain(LinkModel::Wire, rates.to_vec());
    for (bytes, cell) in [(64, "rtt-udp-64"), (1024, "rtt-udp-1024")] {
        for (family, key) in [(Family::V4, "v4"), (Family::V6, "v6")] {
            let packets = wiremodel::udp_packets(bytes, family, 1500).unwrap();
            let model = |world: &World| model::world_round_trip_ns(world, family, &packets) / 1e3;
            let whole = model(&world);
            let inner = model(&world.clone().measured(1, 3));
            let seen =
                |result: &Value| number(&question(result, cell, "rtt")[key]["estimate"]) * 1e6;
            let (far, near) = (seen(&hosts), seen(&routers));
            // A round trip crosses each of four links twice, or each of two; the ends are alike.
            let (far_more, near_more) = (far - whole, near - inner);
            let crossing = (far_more - near_more) / 4.0;
            let ends = near_more - 4.0 * crossing;
            let line = format!(
                "{far:.1} and {near:.1} µs (model {whole:.1} and {inner:.1}); each crossing of a \
                 link costs {crossing:.1} µs more, and the ends {ends:.1} µs"
            );
            figure(&format!("{bytes} B {family}"), line);
            assert!(far > near, "between the routers are fewer links");
            assert!((-CROSSING_US_MAX..CROSSING_US_MAX).contains(&crossing), "{crossing} µs");
            assert!((0.0..ENDS_US_MAX).contains(&ends), "{ends} µs");
        }
    }
    let v6_more =
        |result: &Value| number(&question(result, "rtt-udp-64", "rtt")["effect"]["estimate"]);
    figure("IPv6 against IPv4, 64 B", format!("{:.3}, {:.3}", v6_more(&hosts), v6_more(&routers)));
}

/// A world of a file is brought up by the run itself.
pub fn run_brings_its_own() {
    let home = Home::new("own-lab");
    let file = home.path().join("mine.toml");
    let world = "v6gap = 1\nhosts = [\"a\", \"b\"]\nswitches = [\"s\"]\nclient = \"a\"\n\
                 server = \"b\"\n[every]\nrate = \"100 Mbit/s\"\n\
                 [[links]]\nbetween = [\"a\", \"s\"]\nv6.subnet = \"2001:db8:7::/64\"\n\
                 [[links]]\nbetween = [\"s\", \"b\"]\n";
    std::fs::write(&file, world).unwrap();
    let mut command = home.command();
    command.args(["run", "--lab", file.to_str().unwrap(), "--measure", "connect", "--pairs", "6"]);
    let output = command.args(["--json", "-q", "--no-report"]).output().unwrap();
    // A busy host may take the verdict; where it measured is seen all the same.
    let result = document(&output);
    assert_eq!(result["hosts"]["client"]["name"], "a", "{:#}", result["hosts"]);
    assert!(result.to_string().contains("2001:db8:7::2"), "the subnet of the file is used");
}

/// Status, shell and drawing of a lab that is up.
pub fn are_shown() {
    let lab_up = Lab::up("shown", &["dumb-bell"]);
    let told = lab(&["status", "--name", lab_up.name()]);
    let table = text(&told.stdout);
    for part in ["router1  router  link1  10.46.1.2", "left     host    link4", "10 Mbit/s"] {
        assert!(table.contains(part), "{part} is not in {table}");
    }
    let json = lab(&["status", "--name", lab_up.name(), "--json"]);
    let status: Value = serde_json::from_slice(&json.stdout).unwrap();
    fits(include_str!("../../../../docs/schema/lab-status.json"), &status);
    assert_eq!(status["nodes"][4]["name"], "left");
    let drawn = text(&lab(&["graph", "--name", lab_up.name()]).stdout);
    assert!(drawn.contains(">fd46:5::2/64<"), "{drawn}");
    let mut shell = Command::new(PROGRAM);
    shell.args(["lab", "shell", "--name", lab_up.name(), "router2"]).env("SHELL", "/bin/cat");
    let home = Home::new("shown");
    let inside = home
        .command()
        .args(["lab", "exec", "--name", lab_up.name(), "right", "--"])
        .args(["cat", "/proc/net/if_inet6", "/proc/self/status"])
        .output()
        .unwrap();
    let inside = text(&inside.stdout);
    assert!(inside.contains("fd460005000000000000000000000001"), "{inside}");
    // The link's processor is the last of those allowed, where there are several.
    if let Some(link) = status["facts"]["lab.wire_cpu"].as_str() {
        let allowed = inside.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let ends: Vec<&str> = allowed.unwrap().trim().split([',', '-']).collect();
        assert!(!ends.contains(&link), "{ends:?} with {link}");
    }
    let echoed = shell.stdin(Stdio::null()).output().unwrap();
    assert!(echoed.status.success(), "{echoed:?}");
}
