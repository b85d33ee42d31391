//! Attacks on the turn and the queue: a turn that is kept by small talk, a queue that one source
//! fills, and tasks beyond what an operator would give.

use crate::attacked::{command, serve};
use crate::field::{Field, Origin, PORT};
use crate::support::Home;
use crate::talk::{Talk, hello};
use crate::tasks;
use crate::verdict::Findings;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::workload::{Direction, UdpBulk, Workload};

/// Silence between two tasks after which the turn is over by default, and some time to notice.
const IDLE: Duration = Duration::from_secs(120 + 10);

/// More than may wait.
const WAITING: usize = 20;

/// Questions about the clock must not keep a turn.
pub fn kept_by_questions(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _serving = serve(field, &[]);
    let server = field.at("server", Family::V4, PORT);
    let mut talk = Talk::session(field.node("attacker"), None, server).unwrap();
    let (lasted, over) = asked_until_the_end(&mut talk, IDLE);
    findings.case("questions each second", !over, format!("kept for {lasted:.1?}"));
    findings
}

/// The operator's limits, and those that `--public` has by itself.
pub fn beyond_limits(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let options: [(&str, &[&str]); 4] = [
        ("rate", &["--max-rate", "5 Mbit/s"]),
        ("bytes", &["--max-bytes", "1 MB"]),
        ("time", &["--max-time", "100ms"]),
        ("rate without a word, in public", &["--public"]),
    ];
    for (what, args) in options {
        if !knows(args) {
            findings.case(what, true, "there is no such option");
            continue;
        }
        let _serving = serve(field, args);
        let server = field.at("server", Family::V6, PORT);
        let mut talk = Talk::session(field.node("attacker"), None, server).unwrap();
        let mut bulk = tasks::udp_bulk(Direction::Receive);
        if let (Workload::UdpBulk(bulk), "--public") = (&mut bulk, args[0]) {
            *bulk = UdpBulk { rate_bps: None, ..bulk.clone() };
        }
        talk.say(&tasks::prepare(1, bulk, Family::V6)).unwrap();
        let answer = talk.hear(Duration::from_secs(3)).unwrap().unwrap_or_default();
        let figure = format!("{} {}", answer["message"], answer["why"]);
        findings.case(what, answer["message"] != "failed", figure);
    }
    let args = ["--max-session", "3s"];
    if !knows(&args) {
        findings.case("time of a session", true, "there is no such option");
        return findings;
    }
    let _serving = serve(field, &args);
    let server = field.at("server", Family::V6, PORT);
    let mut talk = Talk::session(field.node("attacker"), None, server).unwrap();
    let (lasted, over) = asked_until_the_end(&mut talk, Duration::from_secs(6));
    findings.case("time of a session", !over, format!("kept for {lasted:.1?}"));
    findings
}

/// Asks for the clock until the session is over, at most for so long: how long it lasted, and
/// whether it ended.
fn asked_until_the_end(talk: &mut Talk, longest: Duration) -> (Duration, bool) {
    let start = Instant::now();
    let question = json!({ "message": "clock", "asked_ns": 1 });
    while start.elapsed() < longest {
        let pause = Instant::now() + Duration::from_secs(1);
        let asked = talk.say(&question).and_then(|()| {
            while Instant::now() < pause {
                match talk.hear(pause.saturating_duration_since(Instant::now()))? {
                    Some(message) if message["message"] == "bye" => {
                        return Err(std::io::ErrorKind::UnexpectedEof.into());
                    }
                    _ => {}
                }
            }
            Ok(())
        });
        if asked.is_err() {
            return (start.elapsed(), true);
        }
    }
    (start.elapsed(), false)
}

/// One source takes all places of the queue; a client from elsewhere is to have one yet.
pub fn queue_filled(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _serving = serve(field, &[]);
    for family in Family::BOTH {
        let (server, attacker) = (field.at("server", family, PORT), field.node("attacker"));
        let mut kept = Vec::new();
        for _ in 0..WAITING {
            if let Ok(mut talk) = Talk::open(attacker, Origin::One(family).source(0), server, "")
                && talk.say(&hello("crowd", true)).is_ok()
            {
                let _ = talk.hear(Duration::from_millis(200));
                kept.push(talk);
            }
        }
        let answer = told_to_an_honest_client(field, family);
        let what = format!("{WAITING} clients of one source, {family}");
        // It may have the turn already where those lost it.
        let good = ["queued", "welcome"].iter().any(|kind| answer["message"] == *kind);
        let figure = format!("{} {} {}", answer["message"], answer["place"], answer["why"]);
        findings.case(&what, !good, figure);
    }
    findings
}

fn told_to_an_honest_client(field: &Field, family: Family) -> Value {
    let server = field.at("server", family, PORT);
    let heard = Talk::open(field.node("client"), None, server, "").and_then(|mut talk| {
        talk.say(&hello("honest", true))?;
        talk.hear(Duration::from_secs(3))
    });
    heard.ok().flatten().unwrap_or_default()
}

/// Whether `serve` of the program under attack knows the options.
pub fn knows(args: &[&str]) -> bool {
    let home = Home::new("attack-options");
    let output = command(&home).args(["serve", "--help"]).output().unwrap();
    let help = crate::support::text(&output.stdout);
    args.iter().filter(|arg| arg.starts_with("--")).all(|option| help.contains(option))
}
