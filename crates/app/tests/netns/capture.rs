//! Captures beside real trials: the files are read by a reader of the tests' own, and by tcpdump
//! and tshark where they are installed.

#[path = "../../../engine/tests/common/pcapng.rs"]
mod pcapng;

use super::support::{Home, PROGRAM, figure, measured, text};
use super::two_hosts::Lab;
use pcapng::{Section, read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only stored run's folder.
fn run_folder(home: &Home) -> PathBuf {
    let mut runs = std::fs::read_dir(home.path().join("runs")).unwrap();
    runs.next().expect("a run is stored").unwrap().path()
}

/// The trials of a journal, as JSON.
fn trials(folder: &Path) -> Vec<Value> {
    let journal = std::fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["line"] == "trial").collect()
}

fn octets(traffic: &Value, field: &str) -> u64 {
    let of = |frames: &Value| frames[field].as_u64().unwrap();
    let both = |pair: &Value| of(&pair["v4"]) + of(&pair["v6"]);
    both(&traffic["packets"]) + both(&traffic["upkeep"]) + of(&traffic["other"])
}

/// Few packets, however fast the computer is: the files are read as a whole, and have an end.
const PLAN: &str = r#"
v6gap = 1
name = "captured"
[lab]
model = "bare"
rate = "none"
[design]
pairs = 6
null_blocks = 0
[[measure]]
metric = "rtt"
message = "64 B"
turn = 50
turns = 2
[[measure]]
metric = "throughput"
bytes = "70 MB"
time = "300 ms"
[[measure]]
metric = "throughput"
pacing = "50 Mbit/s"
time = "120 ms"
"#;

/// The quick transfer of that plan.
const TRANSFER: &str = "throughput-tcp-bytes-70000000";

/// One that takes longer than a system holds an acknowledgement back.
const PACED: &str = "throughput-tcp-pacing-50000000";

/// Every node of a lab, every frame: the file has what was counted, and what was counted is what
/// the interface counted.
pub fn in_a_lab() {
    let home = Home::new("capture");
    let plan = home.path().join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let mut run = home.command();
    run.args(["plan", "run"]).arg(&plan).args(["-V", "--capture"]);
    let output = run.arg("--capture-at=client,router,server").output().unwrap();
    let (answer, said) = (text(&output.stdout), text(&output.stderr));
    measured(&output);
    assert!(said.contains("captured packets are in"), "{said}");
    let flat: Vec<&str> = answer.split_whitespace().collect();
    let caveat = "packets were captured at client and router and server";
    assert!(flat.join(" ").contains(caveat), "{answer}");
    let folder = run_folder(&home);
    let mut frames_in_files = 0;
    for node in ["client", "router", "server"] {
        let path = folder.join(format!("{node}.pcapng"));
        let sections = read(&std::fs::read(&path).unwrap());
        frames_in_files += sections.iter().map(|s| s.packets.len()).sum::<usize>();
        looks_right(node, &sections);
        sections.iter().filter(|s| s.comment.contains(PACED)).for_each(nothing_else);
        others_can_read(&path, sections.iter().map(|s| s.packets.len()).sum());
    }
    let mut frames_counted = 0;
    let (mut ours, mut theirs) = (0, 0);
    for trial in trials(&folder).iter().filter(|trial| !trial["beside"].is_null()) {
        let beside = &trial["beside"];
        assert_eq!(beside["troubles"].as_array().unwrap().len(), 0, "{beside}");
        for tap in beside["taps"].as_array().unwrap() {
            assert_eq!(tap["dropped"], 0, "{tap}");
            frames_counted += octets(&tap["sent"], "frames") + octets(&tap["received"], "frames");
            assert_eq!(
                tap["written"].as_u64().unwrap(),
                octets(&tap["sent"], "frames") + octets(&tap["received"], "frames")
            );
            if tap["node"] == "client" && trial["cell"] == TRANSFER {
                ours += octets(&tap["sent"], "octets");
                let name = format!("if.{}.tx_bytes", tap["interface"].as_str().unwrap());
                theirs += trial["ends"]["client"]["counters"][&name].as_u64().unwrap();
            }
        }
    }
    assert_eq!(frames_counted, frames_in_files as u64);
    let ratio = ours as f64 / theirs as f64;
    figure("octets captured over the interface's own count", format!("{ratio:.6}"));
    // The control connection and a neighbour's question may fall on either side of the readings.
    assert!((ratio - 1.0).abs() < 0.001, "{ours} {theirs}");
}

fn looks_right(node: &str, sections: &[Section]) {
    let links = if node == "router" { 2 } else { 1 };
    for section in sections {
        assert!(section.comment.starts_with("v6gap run "), "{}", section.comment);
        assert!(section.application.starts_with("v6gap "), "{}", section.application);
        assert_eq!(section.interfaces.len(), links);
        for interface in &section.interfaces {
            assert!(interface.name.starts_with(&format!("{node}:link")), "{interface:?}");
            assert_eq!((interface.link, interface.resolution), (1, 9), "{interface:?}");
        }
        for name in ["client", "router", "server"] {
            let known = section.names.iter().filter(|(_, known)| known == name);
            assert_eq!(known.count(), 2, "{:?}", section.names);
        }
        assert!(!section.packets.is_empty(), "{}", section.comment);
        let ends = section.packets.iter().map(|p| p.ticks);
        let (first, last) = (ends.clone().min().unwrap(), ends.max().unwrap());
        assert!(last - first < 120_000_000_000, "{first} {last}");
        // Whole nanoseconds: not all stamps end in zeros.
        assert!(section.packets.iter().any(|p| p.ticks % 1000 != 0), "{}", section.comment);
        assert!(section.packets.iter().all(|p| p.bytes.len() <= 128 && p.flags != 0));
    }
    let transfers = ["IPv4", "IPv6"].map(|family| format!("{TRANSFER}, {family}"));
    for part in transfers.iter().map(String::as_str).chain(["rtt-tcp-64, both arms in turns"]) {
        assert!(sections.iter().any(|s| s.comment.contains(part)), "{part} is missing");
    }
}

/// In the middle of a transfer no other connection has a packet on the link: what the control
/// connection has to acknowledge goes out before.
fn nothing_else(section: &Section) {
    let mut of_ports: BTreeMap<[u16; 2], Vec<u64>> = BTreeMap::new();
    // Neighbours may ask for each other (ARP).
    for packet in section.packets.iter().filter(|packet| packet.bytes[12..14] != [8, 6]) {
        if let Some((6, mut ports)) = transport(&packet.bytes) {
            ports.sort_unstable();
            of_ports.entry(ports).or_default().push(packet.ticks);
        }
    }
    assert!(of_ports.len() > 1, "{:?}", of_ports.keys());
    let own = of_ports.values().max_by_key(|ticks| ticks.len()).expect("a transfer").clone();
    let (first, last) = (own[0], own[own.len() - 1]);
    let eighth = (last - first) / 8;
    let middle = first + eighth..last - eighth;
    for (ports, ticks) in of_ports.iter().filter(|(_, ticks)| **ticks != own) {
        let within = ticks.iter().filter(|at| middle.contains(at)).count();
        assert_eq!(within, 0, "{ports:?} in the middle of {}", section.comment);
    }
}

/// What other programs find in the file, where they are installed.
fn others_can_read(path: &Path, packets: usize) {
    let count = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).arg(path).output().ok()?;
        let lines = text(&output.stdout).lines().count();
        assert!(output.status.success(), "{program}: {}", text(&output.stderr));
        Some(lines)
    };
    for (program, args) in [("tcpdump", &["-nn", "-r"][..]), ("tshark", &["-n", "-r"])] {
        match count(program, args) {
            Some(lines) => assert_eq!(lines, packets, "{program} {}", path.display()),
            None => figure("not installed, so not asked", program),
        }
    }
}

/// Between two hosts only what is measured is taken; no file is replaced; without the right to
/// listen it says so before anything is sent.
pub fn between_hosts() {
    let home = Home::new("captured");
    let lab = Lab::up("captured", &["--model", "bare"]);
    let server = lab.serve(&home, &[]);
    let file = home.path().join("one.pcapng");
    let capture = format!("--capture={}", file.display());
    let args = ["run", "server", "--measure", "rtt,udp", "--pairs", "6", &capture];
    let addresses = ["--v4", "10.46.2.2", "--v6", "fd46:2::2"];
    let output = lab.command(&home, "client").args(args).args(addresses).output().unwrap();
    measured(&output);
    let sections = read(&std::fs::read(&file).unwrap());
    let (mut taken, mut fragments) = (0, 0);
    for section in &sections {
        assert!(section.interfaces[0].filter.contains("port 4466"), "{:?}", section.interfaces);
        for packet in &section.packets {
            match on_port(&packet.bytes) {
                Some(port) => taken += u32::from(port),
                None => fragments += 1,
            }
        }
    }
    assert!(taken > 100 && fragments > 0, "{taken} packets and {fragments} fragments");
    let again = lab.command(&home, "client").args(args).args(addresses).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("exists, and captures"), "{}", text(&again.stderr));
    let mut without = lab.exec(&home, "client");
    without.args(["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", PROGRAM]);
    let refused = without.args(["run", "server", "--capture"]).args(addresses).output().unwrap();
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(5), "{said}");
    assert!(said.contains("[E302, exit 5]") && said.contains("Nothing was sent"), "{said}");
    drop(server);
}

/// Whether a frame is of the server's port; `None` for a later fragment.
fn on_port(frame: &[u8]) -> Option<bool> {
    match transport(frame)? {
        (6 | 17, ports) => {
            assert!(ports.contains(&4466), "{ports:?}");
            Some(true)
        }
        (1 | 58, _) => Some(false),
        (other, _) => panic!("a packet of protocol {other}"),
    }
}

/// The protocol of a packet and its ports, if it has any; `None` for a later fragment.
fn transport(frame: &[u8]) -> Option<(u8, [u16; 2])> {
    let half = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let (protocol, at) = match half(12) {
        0x0800 if half(20) & 0x1fff != 0 => return None,
        0x0800 => (frame[23], 34),
        0x86dd if frame[20] == 44 => return None,
        0x86dd => (frame[20], 54),
        other => panic!("a frame of type {other:#x}"),
    };
    Some((protocol, [half(at), half(at + 2)]))
}
