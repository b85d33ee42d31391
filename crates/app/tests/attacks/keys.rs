//! Attacks on a server's key: an empty one, words tried, first messages replayed.

use crate::attacked::{check, command, serve, words};
use crate::field::{Field, Origin, PORT};
use crate::support::Home;
use crate::talk::{self, Talk};
use crate::tasks::{self, Part};
use crate::tier::is_night;
use crate::verdict::Findings;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;

const WORD: &str = "b4f1a8e2c09d7653-of-tests";

/// A server told an empty key would be open to everybody with a key that is published.
pub fn empty(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let home = Home::new("attack-key");
    let file = home.path().join("key");
    std::fs::write(&file, "\nsecond line\n").unwrap();
    let file = file.to_str().unwrap();
    for (what, args, variable, known) in [
        ("--key \"\"", &["--key", ""][..], None, true),
        ("V6GAP_KEY=", &[][..], Some(""), true),
        ("--key-file with an empty first line", &["--key-file", file][..], None, false),
    ] {
        let start = || {
            let mut serve = command(&home);
            serve.arg("serve").args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
            if let Some(word) = variable {
                serve.env("V6GAP_KEY", word);
            }
            serve.spawn().unwrap()
        };
        let mut child = field.node("server").run(start).unwrap();
        let give_up = Instant::now() + Duration::from_secs(3);
        while child.try_wait().unwrap().is_none() && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let said = words(&output);
        let figure = format!(
            "exit code {:?}, {}",
            output.status.code(),
            said.lines().next().unwrap_or_default()
        );
        match known {
            true => findings.case(what, output.status.code() != Some(2), figure),
            false => findings.ever(what, output.status.code() != Some(2), figure),
        }
    }
    findings
}

/// Who does not know the key hears the preamble and nothing else, whatever is tried, and cannot
/// tell from the time how near a try was.
pub fn unknown(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _serving = serve(field, &["--key", WORD]);
    let attacker = field.node("attacker");
    let server = field.at("server", Family::V4, PORT);
    let honest = Talk::open(attacker, None, server, WORD).unwrap();
    let recorded = honest.recorded[talk::PREAMBLE.len()..].to_vec();
    drop(honest);
    let flipped = |at: usize| {
        let mut message = recorded.clone();
        message[at] ^= 1;
        message
    };
    let random: Vec<u8> = (0..48).map(|i| (i * 89 + 13) as u8).collect();
    let tries: [(&str, Option<Vec<u8>>); 6] = [
        ("another word", None),
        ("random bytes", Some(random)),
        ("first bit of the tag", Some(flipped(32))),
        ("last bit of the tag", Some(flipped(47))),
        ("first bit of the key", Some(flipped(0))),
        ("nothing", Some(Vec::new())),
    ];
    let rounds = if is_night() { 400 } else { 120 };
    let mut took = vec![Vec::new(); tries.len()];
    let mut heard = vec![0; tries.len()];
    for _ in 0..rounds {
        for (i, (_, message)) in tries.iter().enumerate().take(5) {
            let (time, bytes) = tried(field, message.as_deref());
            took[i].push(time);
            heard[i] += bytes;
        }
    }
    for ((what, _), heard) in tries.iter().zip(&heard).take(5) {
        findings.ever(&format!("heard after {what}"), *heard > 0, format!("{heard} B"));
    }
    let socket = tasks::socket(attacker, Family::V4);
    let mut answers = 0;
    socket.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
    for flags in 0..=u8::MAX {
        socket.send_to(&tasks::datagram(Part::Main, flags, 64, 0), server).unwrap();
        answers += socket.recv(&mut [0; 2048]).unwrap_or(0);
    }
    findings.ever("heard over UDP", answers > 0, format!("{answers} B"));
    times(&mut took, &tries.map(|(what, _)| what), &mut findings);
    findings
}

/// Sends a first message, of another word if none is given, and returns the time until the
/// connection was closed and the bytes that came before.
fn tried(field: &Field, message: Option<&[u8]>) -> (Duration, usize) {
    let server = field.at("server", Family::V4, PORT);
    let mut stream = talk::connect(field.node("attacker"), None, server).unwrap();
    let (_, preamble) = talk::greet(&mut stream).unwrap();
    // Made in any case: after a pause a server is slower, whatever it is told.
    let (_, other) = talk::first_message("another word of tests", &preamble);
    let message = message.unwrap_or(&other);
    let start = Instant::now();
    stream.write_all(message).unwrap();
    let bytes = read_to_the_end(&mut stream);
    (start.elapsed(), bytes)
}

/// The bytes until the other end closes.
fn read_to_the_end(stream: &mut TcpStream) -> usize {
    let mut bytes = 0;
    let mut buffer = [0; 512];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        bytes += count;
    }
    bytes
}

/// A signal would be a median that lies outside of what the others spread.
fn times(took: &mut [Vec<Duration>], names: &[&str], findings: &mut Findings) {
    let place = |sorted: &[Duration], share: f64| sorted[(sorted.len() as f64 * share) as usize];
    took.iter_mut().for_each(|times| times.sort());
    let took: Vec<&Vec<Duration>> = took.iter().filter(|times| !times.is_empty()).collect();
    let medians: Vec<Duration> = took.iter().map(|times| place(times, 0.5)).collect();
    let low = took.iter().map(|times| place(times, 0.25)).max().unwrap();
    let high = took.iter().map(|times| place(times, 0.75)).min().unwrap();
    for (name, median) in names.iter().zip(&medians) {
        let figure = format!("median {median:.1?}; quartiles of all meet in {low:.1?}–{high:.1?}");
        findings.ever(&format!("time of {name}"), *median < low || *median > high, figure);
    }
}

/// A first message of a client that knows the key, recorded on the way and sent again.
pub fn replayed(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let serving = serve(field, &["--key", WORD]);
    let attacker = field.node("attacker");
    let server = field.at("server", Family::V6, PORT);
    let before = check(field, "client", &["--key", WORD]);
    assert!(before.good, "{}", before.said);
    let recorded = Talk::open(field.node("client"), None, server, WORD).unwrap().recorded;
    let memory = serving.memory_kb();
    let replays = if is_night() { 1000 } else { 60 };
    let (mut heard, mut kept) = (0, Vec::new());
    for number in 0..replays {
        let source = Origin::Range48.source(number);
        let mut stream = talk::connect(attacker, source, server).unwrap();
        if stream.write_all(&recorded).is_err() || talk_preamble(&mut stream).is_none() {
            continue;
        }
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        heard += stream.read(&mut [0; 512]).unwrap_or(0);
        kept.push(stream);
    }
    findings.case("heard after replays", heard > 0, format!("{heard} B after {replays}"));
    let during = check(field, "client", &["--key", WORD]);
    let figure = format!("{:.2?} alone, {:.2?} then: {}", before.took, during.took, during.good);
    findings.case("the honest client meanwhile", !during.good, figure);
    let grown = serving.memory_kb().saturating_sub(memory);
    findings.ever("memory", grown > 5_000, format!("{grown} kB more"));
    findings
}

/// Reads the server's preamble of either dialect.
fn talk_preamble(stream: &mut TcpStream) -> Option<()> {
    let mut preamble = [0; 8];
    stream.read_exact(&mut preamble).ok()?;
    if preamble[5] >= 2 {
        stream.read_exact(&mut [0; 16]).ok()?;
    }
    Some(())
}
