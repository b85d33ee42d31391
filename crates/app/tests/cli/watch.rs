//! A watch as a person or a service manager meets it: its words and ends, and on loopback that it
//! loses nothing and makes no visit twice, also when it is killed.

use crate::ports::free;
use crate::schemas::fits;
use crate::support::Sandbox;
use crate::web_errors::Server;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command};

/// A watch of this host that measures connecting once a second.
pub fn description(port: u16) -> String {
    format!(
        "v6gap = 1\nevery = \"1 s\"\n\n[[paths]]\nname = \"here\"\nhost = \"here\"\n\
         v4 = \"127.0.0.1\"\nv6 = \"::1\"\nport = {port}\ntime = \"1 s\"\n\
         measure = [\"connect\"]\n"
    )
}

/// A watch that goes on; it is killed at the end.
pub struct Watching {
    child: Child,
    pub said: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(sandbox: &Sandbox) -> Self {
        Self::with(sandbox, "")
    }

    /// With these options, too.
    pub fn with(sandbox: &Sandbox, options: &str) -> Self {
        let mut child = sandbox.start(&format!("watch --config watch.toml {options}"));
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        Watching { child, said }
    }

    /// Reads on until so many visits more have measured.
    fn until_measured(&mut self, visits: usize) {
        for _ in 0..visits {
            let mut before = Vec::new();
            loop {
                let Some(line) = self.said.next() else { panic!("it ended: {before:#?}") };
                let line = line.unwrap();
                if line.contains("  here  measured") {
                    break;
                }
                before.push(line);
            }
        }
    }

    /// Asks it to stop, and reads to its end.
    pub fn stop(mut self) -> (i32, Vec<String>) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
        let rest: Vec<String> = (&mut self.said).map(Result::unwrap).collect();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The entries of the log.
pub fn logged(sandbox: &Sandbox) -> Vec<Value> {
    let folder = std::fs::read_dir(sandbox.path("watch")).unwrap().flatten();
    let mut files: Vec<_> = folder.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let lines: Vec<String> =
        texts.flat_map(|t| t.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often visits ended how; no two were due at once, and each that began has one end.
fn checked(sandbox: &Sandbox) -> BTreeMap<String, u64> {
    let (mut open, mut due, mut ended) = (None, 0, BTreeMap::new());
    for entry in logged(sandbox) {
        match entry["entry"].as_str().unwrap() {
            "began" => {
                assert_eq!(open, None, "{entry}");
                let time = entry["due_unix_ns"].as_u64().unwrap();
                assert!(time > due, "{entry}");
                (open, due) = (entry["at_unix_ns"].as_u64(), time);
            }
            "ended" => {
                assert_eq!(open.take(), entry["began_unix_ns"].as_u64(), "{entry}");
                *ended.entry(entry["outcome"].as_str().unwrap().to_owned()).or_insert(0) += 1;
            }
            other => assert!(["watching", "measures", "missed"].contains(&other), "{entry}"),
        }
    }
    assert_eq!(open, None, "a visit has no end");
    ended
}

pub fn json(sandbox: &Sandbox, line: &str) -> Value {
    serde_json::from_str(&sandbox.run(line).ended(0).out).unwrap()
}

#[test]
fn visits_follow_each_other_and_none_is_lost_or_made_twice() {
    let (sandbox, port) = (Sandbox::new(), free());
    let _server =
        Server::start(&sandbox, &format!("serve --listen 127.0.0.1 --listen ::1 -p {port}"));
    sandbox.write("watch.toml", &description(port));
    let mut first = Watching::start(&sandbox);
    first.until_measured(3);
    let second = sandbox.run("watch --config watch.toml").ended(2);
    assert!(second.err.contains("[E505, exit 2]"), "{second:?}");
    drop(first);
    // A visit that was going on ends by itself: whoever was to read it is gone.
    let is_over = |run: &Value| run["ending"] != "going on" && run["ending"] != "broken off";
    while !json(&sandbox, "list --json").as_array().unwrap().iter().all(is_over) {}
    let mut again = Watching::start(&sandbox);
    again.until_measured(2);
    let (code, rest) = again.stop();
    assert_eq!(code, 0, "{rest:?}");

    let ended = checked(&sandbox);
    let count = |name: &str| ended.get(name).copied().unwrap_or(0);
    assert!(count("measured") >= 5, "{ended:?}");
    assert!(count("broken-off") <= 1 && count("stopped") <= 1, "{ended:?}");
    assert_eq!(
        ended.values().sum::<u64>(),
        count("measured") + count("broken-off") + count("stopped")
    );

    let status = json(&sandbox, "watch status --json");
    fits("watch-status", &status);
    let (path, visits) = (&status["paths"][0], &status["paths"][0]["visits"][0]);
    assert_eq!(path["name"], "here");
    assert_eq!(path["with"], "run");
    assert_eq!(visits["ended"]["measured"], count("measured"));
    assert_eq!(visits["begun"], ended.values().sum::<u64>());
    assert!(visits["down"].is_null() && visits["failures"] == 0, "{visits:#}");
    assert!(status["moved_today_bytes"].as_u64().unwrap() > 0);

    let history = json(&sandbox, "watch history here --measure connect --json");
    fits("watch-history", &history);
    let made = history["visits"].as_array().unwrap();
    let runs: Vec<&Value> = made.iter().map(|visit| &visit["run"]).collect();
    // From the second visit on each has a block at least.
    assert!(made.len() as u64 + 2 >= count("measured"), "{history:#}");
    assert!(made.iter().all(|visit| visit["v4"].as_f64().unwrap() > 0.0), "{history:#}");
    // All of a day are one run; a test may go past midnight.
    let mut different: Vec<String> = runs.iter().map(ToString::to_string).collect();
    different.dedup();
    assert!(different.len() <= 2, "{different:?}");
    let listed = json(&sandbox, "list --json");
    assert!(listed.as_array().unwrap().len() <= 2, "{listed:#}");
    let csv = sandbox.run("watch history here --measure connect --format csv").ended(0).out;
    assert_eq!(csv.lines().count(), made.len() + 1, "{csv}");
    let text = sandbox.run("watch status").ended(0).out;
    assert!(text.contains("here") && text.contains("Connecting"), "{text}");
    let text = sandbox.run("watch history here").ended(0).out;
    assert!(text.lines().count() >= 2 && text.contains("Connecting"), "{text}");
}

#[test]
fn a_host_that_does_not_answer_is_down_from_its_first_visit() {
    let sandbox = Sandbox::new();
    sandbox.write("watch.toml", &description(free()));
    let mut watch = Watching::start(&sandbox);
    let is_down = |line: &String| line.contains("  here  down: ") && line.contains("[E201]");
    let line = (&mut watch.said).map(Result::unwrap).find(is_down);
    assert!(line.is_some(), "it ended");
    drop(watch);
    let status = json(&sandbox, "watch status --json");
    let visits = &status["paths"][0]["visits"][0];
    assert!(visits["down"]["visits"].as_u64().unwrap() >= 1, "{visits:#}");
    assert_eq!(visits["down"]["family"], Value::Null);
    let text = sandbox.run("watch status").ended(0).out;
    assert!(text.contains("\"here\" has not answered since"), "{text}");
}

#[test]
fn nothing_is_known_before_anything_was_watched() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run("watch status").ended(0).out.contains("Nothing is watched yet"));
    assert_eq!(json(&sandbox, "watch status --json")["paths"], serde_json::json!([]));
    let ran = sandbox.run("watch history nas").ended(2);
    assert!(ran.err.contains("\"nas\"") && ran.err.contains("None was."), "{ran:?}");
}

#[test]
fn what_cannot_be_watched_is_said_before_anything_is() {
    let sandbox = Sandbox::new();
    for (line, said) in [
        ("watch", "TARGET"),
        ("watch lab-b --every 10s", "at least 60 s apart"),
        ("watch lab-b --on-change ftp://example.net/", "ftp"),
        ("watch lab-b --budget 5GB", "5 GB/day"),
        ("watch lab-b --quiet always", "--quiet: \"always\" is no span of hours"),
        ("watch lab-b --with iperf", "is not one of"),
        ("watch --config none.toml", "none.toml"),
        ("watch lab-b --measure rtt,speed", "--measure: "),
        ("watch lab-b --listen 9466", "--listen: it must be an address and a port"),
        ("watch lab-b --with probe --time 5s", "--time: a visit to a site is 8 pairs"),
    ] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.contains(said), "{ran:?}");
    }
    sandbox.write("wrong.toml", "v6gap = 1\nevry = \"1 h\"\n");
    let ran = sandbox.run("watch --config wrong.toml").ended(2);
    assert!(ran.err.contains("wrong.toml, line 2") && ran.err.contains("\"every\""), "{ran:?}");
    // What only the verb that measures can tell is told by a first reckoning of it.
    let ran = sandbox.run("watch lab-b --with probe --measure throughput").ended(2);
    assert!(ran.err.contains("the path \"lab-b\" cannot be measured"), "{ran:?}");
    assert!(!sandbox.path("runs").exists());
}

#[test]
fn a_unit_for_systemd_does_what_was_typed() {
    let sandbox = Sandbox::new();
    let unit = sandbox.run("watch lab-b --every 30min --unit").ended(0).out;
    let start = unit.lines().find(|line| line.starts_with("ExecStart=/")).unwrap();
    assert!(start.ends_with(" watch lab-b --every 30min"), "{start}");
    for section in ["[Unit]", "[Service]", "[Install]"] {
        assert!(unit.lines().any(|line| line == section), "{unit}");
    }
    // What cannot be watched has no unit.
    sandbox.run("watch lab-b --every 1s --unit").ended(2);
}
