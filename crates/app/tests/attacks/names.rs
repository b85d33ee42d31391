//! Attacks by what a client says of itself: names that fill the server's memory, and names that
//! drive the terminal of others or forge lines of the log.

use crate::attacked::{command, serve};
use crate::field::{Field, Origin, PORT};
use crate::support::Home;
use crate::talk::{Talk, hello};
use crate::tasks;
use crate::tier::is_night;
use crate::verdict::Findings;
use serde_json::json;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::workload::{Transport, Wait};

/// Sessions that wait and do not read.
const WAITING: usize = 16;

/// Longest name that a frame holds, about.
const LONG: usize = 1_000_000;

/// What drives a terminal, and what would be lines of their own.
const WILD: &str = "lab-b\n203.0.113.9:4444  session 77\nsession 77  measures, for forged\
                    \x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}\r<script>";

/// A client with a long name is served, others wait and never read what they are told of it.
pub fn fill_memory(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let attacker = field.node("attacker");
    let server = field.at("server", Family::V6, PORT);
    for (what, name, facts) in [("name", LONG, 0), ("facts", 1, LONG)] {
        let serving = serve(field, &[]);
        let before = serving.memory_kb();
        let mut kept = Vec::new();
        for number in 0..=WAITING {
            let Ok(mut talk) = Talk::open(attacker, Origin::Range48.source(number), server, "")
            else {
                continue;
            };
            let mut hello = hello(&"n".repeat(name), true);
            hello["host"]["facts"] = json!({ "kernel": "f".repeat(facts) });
            // A server that does not take so long a message closes the connection.
            let _ = talk.say(&hello);
            // Who waits may be asked whether it is there, and who is served is to say something.
            let _ = talk.hear(Duration::from_millis(200));
            if number == 0 {
                let _ = talk.say(&json!({ "message": "clock", "asked_ns": 1 }));
            }
            kept.push(talk);
        }
        let lasts = Duration::from_secs(if is_night() { 20 } else { 3 });
        let (start, mut most) = (Instant::now(), 0);
        while start.elapsed() < lasts {
            // Who has the turn keeps it, as by a client that is there.
            let pause = Duration::from_millis(100);
            if kept.first_mut().is_none_or(|served| served.hear(pause).is_err()) {
                std::thread::sleep(pause);
            }
            most = most.max(serving.memory_kb().saturating_sub(before));
        }
        let what = format!("{WAITING} that wait for one with a long {what}");
        let figure = format!("{most} kB more in {lasts:?}");
        match name {
            LONG => findings.case(&what, most > 5_000, figure),
            _ => findings.ever(&what, most > 20_000, figure),
        }
    }
    findings
}

/// What another client's terminal and the server's log are shown of a name.
pub fn drive_terminals(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let serving = serve(field, &[]);
    let server = field.at("server", Family::V4, PORT);
    let mut talk = Talk::open(field.node("attacker"), None, server, "").unwrap();
    talk.say(&hello(WILD, true)).unwrap();
    talk.until("welcome", Duration::from_secs(3)).unwrap();
    // Whoever does nothing with its turn may lose it.
    let task = tasks::echo(Transport::Udp, 64, Wait::Block);
    talk.ready(&tasks::prepare(1, task, Family::V4)).unwrap();
    let said = what_a_waiting_client_says(field, &mut talk);
    let figure = format!("{:?}", said.trim_end());
    findings.case("terminal of a client that waits", is_driven(&said), figure);
    let lines = serving.log();
    let log = lines.join("\n");
    let wild: Vec<&String> = lines.iter().filter(|line| line.contains("lab-b")).collect();
    findings.ever("escapes in the log", is_driven(&log), format!("{wild:?}"));
    let forged = lines
        .iter()
        .any(|line| line.starts_with("203.0.113.9:4444") || line.starts_with("session 77"));
    findings.case("lines forged in the log", forged, format!("{} lines", lines.len()));
    findings
}

/// The standard error of a client while the session is another's.
fn what_a_waiting_client_says(field: &Field, turn: &mut Talk) -> String {
    let home = Home::new("attack-waits");
    let [four, six] = Family::BOTH.map(|family| field.address("server", family).to_string());
    let start = || {
        let mut client = command(&home);
        client.args([&four, "--v6", &six, "--measure", "connect", "--quick"]);
        client.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = field.node("client").run(start).unwrap();
    let give_up = Instant::now() + Duration::from_secs(5);
    while Instant::now() < give_up {
        // Pings are answered, as by a client that is there.
        let _ = turn.hear(Duration::from_millis(100));
    }
    let _ = child.kill();
    let mut said = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    child.wait().unwrap();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("waiting"), "the client does not wait: {said}");
    said
}

/// Whether a text drives a terminal: control characters but for the end of a line, and those that
/// turn the direction of writing.
pub fn is_driven(text: &str) -> bool {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(|c| (c.is_control() && c != '\n') || turns(c))
}
