//! What can be wrong between two hosts, provoked for real: the text and the exit code must name it.

use super::pages;
use super::support::{Home, document, ended, is_spoiled, measured, noted, text, told, words};
use super::two_hosts::Lab;
use serde_json::Value;
use std::process::Output;
use std::time::Instant;

/// Runs the client in the lab against the server's addresses.
fn client(lab: &Lab, home: &Home, args: &[&str]) -> Output {
    lab.command(home, "client").args(args).args(["--pairs", "6", "-q"]).output().unwrap()
}

/// The error code in the text and the exit code of the process.
fn expect(output: &Output, code: &str, exit: i32) {
    let said = text(&output.stderr);
    assert!(said.contains(&format!("[{code}, exit {exit}]")), "expected {code}: {said}");
    assert_eq!(output.status.code(), Some(exit), "{said}");
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains("Try:"), "no next command in: {said}");
}

/// The error in a page.
fn page(lab: &Lab, home: &Home) -> Value {
    let form = "{\"place\":{\"host\":\"10.46.2.2\"},\"options\":{\"v6\":\"fd46:2::2\"}}";
    pages::asked(lab.exec(home, "client"), form)
}

/// The error for programs.
fn terminal(lab: &Lab, home: &Home, exit: i32) -> Value {
    let output = client(lab, home, &[&BOTH[..], &["--json-errors"]].concat());
    ended(&output, exit);
    let terminal = pages::last_line(&output.stderr, &output);
    assert!(terminal["try"].as_array().is_some_and(|tries| !tries.is_empty()), "{terminal}");
    terminal
}

const BOTH: [&str; 3] = ["10.46.2.2", "--v6", "fd46:2::2"];

pub fn is_named() {
    let home = Home::new("trouble");
    let lab = Lab::up("trouble", &["--model", "bare", "--rate", "none"]);
    // Nobody serves.
    expect(&client(&lab, &home, &BOTH), "E201", 4);
    // One family refused.
    let one = lab.serve(&home, &["--listen", "0.0.0.0"]);
    expect(&client(&lab, &home, &BOTH), "E202", 3);
    // A literal IPv4 address has no IPv6 partner, and the server has none to tell.
    expect(&client(&lab, &home, &["10.46.2.2"]), "E102", 3);
    drop(one);
    // A key that does not fit.
    let keyed = lab.serve(&home, &["--key", "sesame-of-sixteen"]);
    expect(&client(&lab, &home, &BOTH), "E207", 4);
    drop(keyed);
    // A link-local address without its interface.
    let zone = client(&lab, &home, &["10.46.2.2", "--v6", "fe80::1"]);
    expect(&zone, "E104", 2);
    // No IPv6 at all on this host.
    let without = Lab::up("only4", &["--only", "v4", "--model", "bare", "--rate", "none"]);
    let server = without.serve(&home, &[]);
    expect(&client(&without, &home, &BOTH), "E101", 3);
    pages::same(&page(&without, &home), &terminal(&without, &home, 3), "E101");
    drop(server);
}

/// The server is reached over one cable by IPv4 and over another by IPv6.
pub fn two_links() {
    const WORLD: &str = "v6gap = 1\nmodel = \"bare\"\nhosts = [\"client\", \"server\"]\n\
                         [[links]]\nbetween = [\"client\", \"server\"]\n\
                         [[links]]\nbetween = [\"client\", \"server\"]\n";
    let home = Home::new("two-links");
    let file = home.path().join("two-links.toml");
    std::fs::write(&file, WORLD).unwrap();
    let lab = Lab::up("links", &[file.to_str().unwrap()]);
    let server = lab.serve(&home, &[]);
    let over = |six: &str, more: &[&str]| {
        let args = ["10.46.1.2", "--v6", six, "--measure", "connect", "--pairs", "6"];
        let mut command = lab.command(&home, "client");
        command.args(args).args(["--json", "--no-report"]).args(more).output().unwrap()
    };
    let different = "IPv4 and IPv6 took different interfaces (link1, link2)";
    let refused = over("fd46:2::2", &[]);
    ended(&refused, 6);
    assert!(noted(&document(&refused), different), "{}", told(&refused));
    let said = words(&refused.stderr);
    // By day a check before it may have failed as well, which the headline names then.
    let is_named = said.contains(&format!("No verdict: {different}"));
    assert!(is_named || is_spoiled(&refused), "{said}");
    assert!(said.contains("[V601, exit 6]"), "{said}");
    let allowed = over("fd46:2::2", &["--allow-different-links"]);
    measured(&allowed);
    assert!(noted(&document(&allowed), different), "{}", told(&allowed));
    let one = over("fd46:1::2", &[]);
    measured(&one);
    assert!(!text(&one.stdout).contains("different interfaces"), "{}", text(&one.stdout));
    drop(server);
}

/// Large IPv6 packets vanish without a word. Finding that out is waiting, so page and terminal wait
/// at the same time, and so does a check, each in a lab of its own.
pub fn black_hole() {
    let homes = ["black-hole-page", "black-hole", "black-hole-check"].map(Home::new);
    let labs = ["hole-page", "hole", "hole-check"];
    let labs = labs.map(|name| Lab::up(name, &["--black-hole-v6", "1400"]));
    let servers = [0, 1, 2].map(|i| labs[i].serve(&homes[i], &[]));
    let (page, terminal, check) = std::thread::scope(|scope| {
        let page = scope.spawn(|| page(&labs[0], &homes[0]));
        let mut check = labs[2].command(&homes[2], "client");
        let check = scope.spawn(move || check.arg("check").args(BOTH).output().unwrap());
        let terminal = terminal(&labs[1], &homes[1], 6);
        (page.join().unwrap(), terminal, check.join().unwrap())
    });
    pages::same(&page, &terminal, "E401");
    expect(&check, "E401", 6);
    assert!(words(&check.stdout).contains("FAIL Packets"), "{}", told(&check));
    drop(servers);
}

/// No datagram of the server comes back, and connections do: what goes over TCP is answered, and
/// why the rest is not.
pub fn udp_blocked() {
    let home = Home::new("udp-blocked");
    let lab = Lab::up("udp", &["--model", "bare", "--rate", "none"]);
    let server = lab.serve(&home, &[]);
    for family in ["-4", "-6"] {
        lab.ip(&home, "server", &format!("{family} rule add pref 10 iif lo ipproto udp blackhole"));
    }
    let over = |what: &str| {
        let args = [&BOTH[..], &["--measure", what, "--json", "--no-report"]].concat();
        client(&lab, &home, &args)
    };
    let both = over("connect,loss");
    let result = document(&both);
    let said = text(&both.stdout);
    assert!(said.contains("is blocked on the way to"), "{}{said}", text(&both.stderr));
    let is_answered = |q: &&Value| q["v4"]["n"].as_u64().is_some_and(|trials| trials > 0);
    let questions = result["questions"].as_array().unwrap();
    let answered = questions.iter().filter(is_answered).map(|q| q["metric"].as_str().unwrap());
    assert_eq!(answered.collect::<Vec<_>>(), ["connect"], "{said}");
    let start = Instant::now();
    expect(&over("loss"), "E402", 4);
    let seconds = start.elapsed().as_secs_f64();
    // The program's own start is in it.
    assert!(seconds < 4.0, "said after {seconds:.1} s");
    let check = lab.command(&home, "client").arg("check").args(BOTH).output().unwrap();
    ended(&check, 0);
    let said = words(&check.stdout);
    let lacking = "no datagram comes back over IPv4 and IPv6: only TCP can be measured";
    assert!(said.contains(lacking), "{said}");
    drop(server);
}
