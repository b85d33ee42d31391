//! Where faults happen: three hosts round a router, a server on one of them, clients on the others,
//! and what can be done to the packets between two of them.

use super::support::Home;
use super::told::{Program, Told};
use super::two_hosts::Lab;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Longest time that the machine may take for anything that is not awaited by a clock.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A client has ended after this, whatever happened to it: the longest of its own limits, for tasks
/// of a second, on a busy machine.
pub const CLIENT: Duration = Duration::from_secs(180);

/// No rate, so that it costs nothing to let many labs stand at once.
const STAR: &str = "v6gap = 1\nmodel = \"bare\"\nhosts = [\"client\", \"other\", \"server\"]\n\
    routers = [\"router\"]\n[[links]]\nbetween = [\"client\", \"router\"]\n\
    [[links]]\nbetween = [\"router\", \"server\"]\n[[links]]\nbetween = [\"other\", \"router\"]\n";

/// The server's addresses, as arguments.
pub const SERVER: [&str; 3] = ["10.46.2.2", "--v6", "fd46:2::2"];

/// The addresses of a host of that name, IPv4 first.
pub fn addresses(host: &str) -> [&'static str; 2] {
    match host {
        "client" => ["10.46.1.1", "fd46:1::1"],
        "other" => ["10.46.3.1", "fd46:3::1"],
        "server" => ["10.46.2.2", "fd46:2::2"],
        _ => panic!("no host is called {host}"),
    }
}

pub struct Site {
    pub lab: Lab,
    pub home: Home,
}

impl Site {
    pub fn up(name: &str) -> Self {
        let home = Home::new(&format!("fault-{name}"));
        let file = home.path().join("star.toml");
        std::fs::write(&file, STAR).unwrap();
        Site { lab: Lab::up(name, &[file.to_str().unwrap()]), home }
    }

    /// A data folder of its own within the site's.
    pub fn home(&self, name: &str) -> Home {
        Home::new(&format!("fault-{}-{name}", self.lab.name()))
    }

    /// A server that is ready.
    pub fn serve(&self, more: &[&str]) -> Program {
        let mut command = self.lab.command(&self.home, "server");
        command.arg("serve").args(more);
        let server = Program::start(command);
        let ready = server.out.find(0, PATIENCE, |line| line.contains("Serving"));
        assert!(ready.is_some(), "{}", server.err.text());
        server
    }

    /// A client at a host that tells what happens as it happens.
    pub fn run(&self, host: &str, home: &Home, more: &[&str]) -> Program {
        let mut command = self.lab.command(home, host);
        command.arg("run").args(SERVER).args(["-q", "--json-stream"]).args(more);
        Program::start(command)
    }

    /// A client at a host that waits for its turn, whatever it does then.
    pub fn waits(&self, host: &str) -> Program {
        self.run(host, &self.home("waits"), &["--measure", "connect", "--pairs", "6"])
    }

    /// A client at a host that asks what the server is, if nobody else is served, and leaves.
    pub fn asks(&self, host: &str) -> Program {
        let mut command = self.lab.command(&self.home, host);
        command.arg("check").args(SERVER);
        Program::start(command)
    }

    /// The same of a plan.
    pub fn run_plan(&self, host: &str, home: &Home, plan: &str) -> Program {
        let file = home.path().join("plan.toml");
        std::fs::write(&file, plan).unwrap();
        let mut command = self.lab.command(home, host);
        command.args(["plan", "run", file.to_str().unwrap()]).args(SERVER);
        command.args(["-q", "--json-stream"]);
        Program::start(command)
    }

    /// Runs a program at a node; it must succeed.
    pub fn at(&self, node: &str, line: &str) {
        let output = self.lab.exec(&self.home, node).args(line.split(' ')).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }

    /// Drops what passes from `from` to `to` without a word, in the families and ways asked for,
    /// until what is returned is dropped.
    pub fn cut(&self, from: &str, ways: Ways) -> Cut<'_> {
        let [there, back] = [from, "server"].map(addresses);
        let mut rules = Vec::new();
        for (family, option) in ["-4", "-6"].into_iter().enumerate() {
            if ways.families[family] {
                let (host, server) = (there[family], back[family]);
                let rule = |a, b| format!("{option} RULE from {a} to {b} blackhole pref 10");
                rules.extend(ways.to_server.then(|| rule(host, server)));
                rules.extend(ways.to_client.then(|| rule(server, host)));
            }
        }
        let cut = Cut { site: self, rules };
        cut.each("rule add");
        cut
    }
}

/// Which packets are dropped.
#[derive(Debug, Clone, Copy)]
pub struct Ways {
    /// IPv4 and IPv6.
    pub families: [bool; 2],
    pub to_server: bool,
    pub to_client: bool,
}

impl Ways {
    pub const ALL: [(&str, Self); 5] = [
        ("both_ways", Self::BOTH),
        ("to_the_server", Self::TO_SERVER),
        ("to_the_client", Self::TO_CLIENT),
        ("of_ipv4", Self::ONLY_V4),
        ("of_ipv6", Self::ONLY_V6),
    ];
    pub const BOTH: Self = Ways { families: [true; 2], to_server: true, to_client: true };
    pub const TO_SERVER: Self = Ways { to_client: false, ..Self::BOTH };
    pub const TO_CLIENT: Self = Ways { to_server: false, ..Self::BOTH };
    pub const ONLY_V4: Self = Ways { families: [true, false], ..Self::BOTH };
    pub const ONLY_V6: Self = Ways { families: [false, true], ..Self::BOTH };
}

/// Packets that are dropped while this stands.
pub struct Cut<'a> {
    site: &'a Site,
    rules: Vec<String>,
}

impl Cut<'_> {
    fn each(&self, verb: &str) {
        for rule in &self.rules {
            self.site.at("router", &format!("ip {}", rule.replace("RULE", verb)));
        }
    }
}

impl Drop for Cut<'_> {
    fn drop(&mut self) {
        self.each("rule del");
    }
}

/// The first event of that kind from line `from` on, with the number of its line.
pub fn event(told: &Told, from: usize, kind: &str) -> Option<(usize, Instant)> {
    let mark = format!("{{\"event\":\"{kind}\"");
    told.find(from, PATIENCE, |line| line.starts_with(&mark)).map(|(at, (when, _))| (at, when))
}

/// Waits for the `nth` event of that kind, from 1.
#[track_caller]
pub fn await_event(program: &Program, kind: &str, nth: usize) -> Instant {
    let mut from = 0;
    let mut when = Instant::now();
    for _ in 0..nth {
        let Some((at, then)) = event(&program.out, from, kind) else {
            panic!("no {nth}. {kind}: {}{}", program.out.text(), program.err.text());
        };
        (from, when) = (at + 1, then);
    }
    when
}

/// The trials that a client announced.
pub fn announced(told: &Told) -> Vec<Value> {
    let mark = "{\"event\":\"trial\"";
    let lines = told.lines().into_iter().filter(|(_, line)| line.starts_with(mark));
    // What a kill cut is no announcement.
    lines.filter_map(|(_, line)| serde_json::from_str(&line).ok()).collect()
}
