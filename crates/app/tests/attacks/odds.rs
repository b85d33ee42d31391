//! Smaller attacks: a processor kept busy, descriptors used up, facts of the host asked for.

use crate::attacked::serve;
use crate::field::{Field, PORT};
use crate::talk::{self, Talk, hello};
use crate::tasks::{self, Part};
use crate::vanish::data_preamble;
use crate::verdict::Findings;
use std::io::Write;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::workload::{Transport, Wait};

/// Data connections that no task asked for.
const CONNECTIONS: u16 = 1400;

/// Descriptors that a server has at most with them: those of the lobby, and what it has anyway.
const DESCRIPTORS: usize = 600;

/// A stranger's task must not have the server ask again and again.
pub fn spin(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let serving = serve(field, &[]);
    let server = field.at("server", Family::V4, PORT);
    let mut talk = Talk::session(field.node("attacker"), None, server).unwrap();
    let workload = tasks::echo(Transport::Udp, 64, Wait::Spin);
    let ready = talk.ready(&tasks::prepare(1, workload.clone(), Family::V4));
    let attacker = field.node("attacker");
    let sockets = match ready {
        Ok(()) => tasks::own_sockets(attacker, server, talk.dialect, &workload),
        // It does not do such a task at all.
        Err(_) => vec![tasks::socket(attacker, Family::V4)],
    };
    let before = serving.processor_time();
    let lasts = Duration::from_secs(2);
    for _ in 0..4 {
        sockets[0].send_to(&tasks::datagram(Part::Main, 0, 64, 0), server).unwrap();
        std::thread::sleep(lasts / 4);
    }
    let used = serving.processor_time() - before;
    let figure = format!("{used:?} of processor in {lasts:?}; {ready:?}");
    findings.case("an echo task that spins", used > lasts / 4, figure);
    findings
}

/// Connections with the right token that the task does not collect must not pile up.
pub fn uncollected(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let serving = serve(field, &[]);
    let server = field.at("server", Family::V4, PORT);
    let attacker = field.node("attacker");
    let mut talk = Talk::session(attacker, None, server).unwrap();
    let workload = tasks::echo(Transport::Udp, 64, Wait::Block);
    talk.ready(&tasks::prepare(1, workload, Family::V4)).unwrap();
    let open = || {
        let mut streams = Vec::new();
        for number in 0..CONNECTIONS {
            let stream = talk::connect_here(None, server).and_then(|mut stream| {
                stream.write_all(&data_preamble(0, number))?;
                Ok(stream)
            });
            streams.extend(stream.ok());
        }
        streams
    };
    let streams = attacker.run(open).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let descriptors = serving.descriptors();
    let figure = format!("{descriptors} descriptors with {} connections", streams.len());
    findings.case("data connections that nobody collects", descriptors > DESCRIPTORS, figure);
    let start = Instant::now();
    let shaken = Talk::open(field.node("client"), None, server, "")
        .and_then(|mut talk| talk.say(&hello("honest", true)).map(|()| talk))
        .and_then(|mut talk| talk.hear(Duration::from_secs(3)));
    let told = matches!(&shaken, Ok(Some(message)) if message["message"] == "queued");
    let figure = format!("{:.2?}: {told}", start.elapsed());
    let harmed = !told || start.elapsed() > Duration::from_secs(1);
    findings.ever("an honest client meanwhile", harmed, figure);
    findings
}

/// A public server tells strangers little of its host.
pub fn facts(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _serving = serve(field, &["--public"]);
    let server = field.at("server", Family::V6, PORT);
    let mut talk = Talk::open(field.node("attacker"), None, server, "").unwrap();
    talk.say(&hello("stranger", true)).unwrap();
    let welcome = talk.until("welcome", Duration::from_secs(3)).unwrap();
    let told = welcome["host"]["facts"].as_object().unwrap();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let says = welcome["host"].to_string().contains(release.trim());
    let figure = format!("{} facts, kernel release: {says}", told.len());
    findings.case("facts in public", says, figure);
    findings
}
