//! A managed router: net-snmp's agent counts what passes, beside captures and this program's own
//! count. Needs `snmpd`, which `cargo xtask test --setup` installs.

use super::support::{
    self, Home, PROGRAM, document, figure, host_of_its_own, measured, number, text, times,
};
use serde_json::Value;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const AGENT: &str = "/usr/sbin/snmpd";

/// Whether the agent is installed; where nothing may be skipped it must be.
fn agent_is_there() -> bool {
    let there = std::path::Path::new(AGENT).is_file();
    let required = std::env::var_os("V6GAP_REQUIRE_NAMESPACES").is_some();
    assert!(there || !required, "{AGENT} is not installed: apt-get install snmpd");
    if !there {
        println!("SKIPPED: {AGENT} is not installed (Debian: apt-get install snmpd)");
    }
    there
}

fn agents_running() -> usize {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let links = folders.filter_map(|f| std::fs::read_link(f.path().join("exe")).ok());
    links.filter(|exe| exe.starts_with(AGENT)).count()
}

/// SNMP v3 over IPv6, and at night v2c over IPv4: octets of the router's two interfaces, of a
/// capture and of the client's own interface agree for the trials of both families.
pub fn counts_agree() {
    if !agent_is_there() {
        return;
    }
    let before = agents_running();
    let user = ["--snmp-user", "reader", "--snmp-auth", "sha256", "--snmp-priv", "aes"];
    let asked = [("v6", &user[..]), ("v4", &[][..])];
    for (over, credentials) in asked.into_iter().take(times(1, 2)) {
        let home = Home::new("snmp");
        let mut demo = home.command();
        demo.args(["demo", "--snmp", "router", "--snmp-over", over, "--capture", "--json", "-q"]);
        demo.args(["--capture-at", "client,server", "--model", "shaped", "--pairs", "6"]);
        demo.args(["--measure", "tcp", "-t", "300ms"]).args(credentials);
        demo.env("V6GAP_SNMP_AUTH_KEY", "authentic word")
            .env("V6GAP_SNMP_PRIV_KEY", "private word");
        let output = demo.output().unwrap();
        measured(&output);
        let result = document(&output);
        let groups = result["beside"].as_array().unwrap();
        for family in ["v4", "v6"] {
            let is = |g: &&Value| g["cell"] == "throughput-tcp" && g["family"] == family;
            agrees(groups.iter().find(is).unwrap_or_else(|| panic!("{result:#}")), over);
        }
        assert!(!text(&output.stdout).contains("private word"));
        keys_are_nowhere(&home);
    }
    assert_eq!(agents_running(), before, "an agent is left");
}

fn agrees(group: &Value, over: &str) {
    let family = group["family"].as_str().unwrap();
    let mut seen = 0;
    for other in group["others"].as_array().unwrap() {
        let who = other["who"].as_str().unwrap();
        let (sent, received) = (&other["ratio"]["sent"], &other["ratio"]["received"]);
        figure(
            &format!("{family}, asked over {over}: {who} over own (sent, received)"),
            format!("{:.5}, {:.5}", number(sent), number(received)),
        );
        // Acknowledgements are few octets, of which a reading's own answers are a larger part.
        assert!((number(sent) - 1.0).abs() < 0.002, "{who}: {other}");
        assert!((number(received) - 1.0).abs() < 0.05, "{who}: {other}");
        seen += 1;
    }
    // What the sockets say, two captures, two interfaces of the router.
    assert_eq!(seen, 5, "{group:#}");
}

/// No file of the run holds a key.
fn keys_are_nowhere(home: &Home) {
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            for key in ["authentic word", "private word"] {
                let found = bytes.windows(key.len()).any(|window| window == key.as_bytes());
                assert!(!found, "{} holds a key", entry.path().display());
            }
        }
    }
}

/// An agent on loopback that a test may kill.
struct Agent {
    child: Child,
    port: u16,
}

impl Agent {
    fn start(home: &Home) -> Self {
        let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let configuration = home.path().join("snmpd.conf");
        let lines = format!(
            "agentaddress udp:127.0.0.1:{port}\nrocommunity public\n\
             createUser reader SHA-256 \"authentic word\" AES \"private word\"\n\
             rouser reader authPriv\n"
        );
        std::fs::write(&configuration, lines).unwrap();
        let mut command = Command::new(AGENT);
        command.args(["-f", "-Ln", "-C", "-c"]).arg(&configuration);
        command.env("MIBS", "").env("SNMP_PERSISTENT_DIR", home.path().join("persistent"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let agent = Agent { child, port };
        agent.wait_until_ready(home);
        agent
    }

    fn wait_until_ready(&self, home: &Home) {
        let start = Instant::now();
        let plan = ["--measure", "connect", "--pairs", "6"];
        loop {
            let output = self.demo(home, &plan);
            // A run whose verdict a busy host took has read the agent as well.
            if matches!(output.status.code(), Some(0 | 6)) {
                break;
            }
            let said = support::told(&output);
            assert!(start.elapsed() < Duration::from_secs(60), "the agent does not answer: {said}");
        }
    }

    fn demo(&self, home: &Home, args: &[&str]) -> Output {
        let device = format!("127.0.0.1:{}", self.port);
        let mut command = home.command();
        command.args(["demo", "--loopback", "-q", "--snmp", &device]).args(args);
        command.output().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Silence, a wrong key, a wrong community and a key that cannot be one: each is named before
/// anything is measured.
pub fn trouble_is_named() {
    if !agent_is_there() {
        return;
    }
    let home = Home::new("snmp-trouble");
    let agent = Agent::start(&home);
    let runs = || std::fs::read_dir(home.path().join("runs")).unwrap().count();
    let before = runs();
    let short = ["--snmp-timeout", "100ms", "--pairs", "6"];
    let said = |output: Output, code: i32, parts: &[&str]| {
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        for part in parts {
            assert!(told.contains(part), "{part} is not in {told}");
        }
    };
    let silent = agent.demo(&home, &[&["--snmp-community", "other"][..], &short].concat());
    said(silent, 4, &["E303", "no answer", "wrong community"]);
    let with_keys = |authentication: &str, privacy: &str| {
        let mut command = Command::new(PROGRAM);
        let device = format!("127.0.0.1:{}", agent.port);
        command.args(["demo", "--loopback", "-q", "--snmp", &device, "--snmp-user", "reader"]);
        command.env("V6GAP_DATA", home.path()).args(["--measure", "connect"]).args(short);
        command.env("V6GAP_LOCKS", host_of_its_own(home.path()));
        command.env("V6GAP_SNMP_AUTH_KEY", authentication).env("V6GAP_SNMP_PRIV_KEY", privacy);
        command.output().unwrap()
    };
    said(with_keys("wrong word for it", "private word"), 4, &["E303", "user nor this key"]);
    said(with_keys("authentic word", "wrong word for it"), 4, &["E303"]);
    said(with_keys("short", "private word"), 4, &["E303", "shorter than 8"]);
    assert_eq!(runs(), before, "nothing was measured");
    // A check of a busy host may take the verdict; that is another matter.
    let good = with_keys("authentic word", "private word");
    let measured = good.status.code().is_some_and(|code| [0, 6].contains(&code));
    assert!(measured && runs() == before + 1, "{}", support::told(&good));
}

/// An agent that dies in the middle of a run costs its readings and nothing else.
pub fn failure_loses_nothing() {
    if !agent_is_there() {
        return;
    }
    let home = Home::new("snmp-dies");
    let mut agent = Agent::start(&home);
    let runs = home.path().join("runs");
    let before = std::fs::read_dir(&runs).unwrap().count();
    let device = format!("127.0.0.1:{}", agent.port);
    let mut command = home.command();
    command.args(["demo", "--loopback", "--json", "-q", "--snmp", &device, "--pairs", "6"]);
    command.args(["--measure", "rtt,udp", "--snmp-timeout", "100ms"]);
    let demo = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while std::fs::read_dir(&runs).unwrap().count() == before {
        assert!(start.elapsed() < Duration::from_secs(60), "it did not begin to measure");
        std::thread::yield_now();
    }
    agent.child.kill().unwrap();
    agent.child.wait().unwrap();
    let output = demo.wait_with_output().unwrap();
    measured(&output);
    let result = document(&output);
    let checks = result["checks"].as_array().unwrap();
    let told = |check: &Value| {
        let text = check["text"].as_str().unwrap();
        text.starts_with("SNMP of 127.0.0.1") && text.contains("no answer")
    };
    assert!(checks.iter().any(told), "{checks:#?}");
    for question in result["questions"].as_array().unwrap() {
        assert!(!question["effect"].is_null(), "{question:#}");
    }
}
