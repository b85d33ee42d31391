//! Attack: a client that vanishes without a word, or stands still, is to keep its turn.

use crate::attacked::Serving;
use crate::field::Field;
use crate::talk::{Talk, hello};
use crate::tasks::{self, Part};
use crate::tier::is_night;
use crate::verdict::Findings;
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::workload::{Direction, Transport, Wait, Workload};

/// In which time the next client is to have its turn, with some for the machine.
const FREE_IN: Duration = Duration::from_secs(15);

/// How long is waited at most; what an old server needs is told as more than that.
const PATIENCE: Duration = Duration::from_secs(20);

type Kind = (&'static str, Option<fn() -> Workload>);

const KINDS: [Kind; 10] = [
    ("between tasks", None),
    ("echo over TCP", Some(|| tasks::echo(Transport::Tcp, 64, Wait::Block))),
    ("echo over UDP", Some(|| tasks::echo(Transport::Udp, 64, Wait::Block))),
    ("tcp-bulk to the server", Some(|| tasks::tcp_bulk(Direction::Send))),
    ("tcp-bulk from the server", Some(|| tasks::tcp_bulk(Direction::Receive))),
    ("udp-bulk to the server", Some(|| tasks::udp_bulk(Direction::Send))),
    ("udp-bulk from the server", Some(|| tasks::udp_bulk(Direction::Receive))),
    ("probe", Some(|| tasks::probe(64))),
    ("search for capacity", Some(tasks::capacity)),
    ("connections held", Some(tasks::held_connections)),
];

/// How the client stops.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Its line is cut: nothing comes, not even an end.
    Cut,
    /// Its kernel answers, the program does not, as after SIGSTOP.
    Stopped,
}

/// A server with a client that is to vanish and one that waits.
struct Scene {
    what: String,
    known: bool,
    _serving: Serving,
    _held: Held,
    next: Talk,
    served: Option<Duration>,
}

pub fn keeps_the_turn(field: &Field) -> Findings {
    let mut findings = Findings::default();
    // All kinds at the same time, each at a server of its own. The second host's line is not cut.
    let ways = [(How::Cut, "line cut", "attacker"), (How::Stopped, "stopped", "second")];
    let all = ways.iter().flat_map(|way| KINDS.iter().map(move |kind| (way, kind)));
    let chosen = all.filter(|((how, ..), (kind, _))| {
        let quick = kind.starts_with("between") || kind.starts_with("tcp-bulk to");
        is_night() || quick && (*how == How::Stopped || kind.starts_with("between"))
    });
    let mut scenes: Vec<Scene> = (5001..)
        .zip(chosen)
        .map(|(port, ((_, word, node), (kind, workload)))| {
            let serving = Serving::start(field.node("server"), &["-p", &port.to_string()]);
            let held = Held::take(field, node, port, *workload);
            let known = kind.starts_with("between") || kind.starts_with("tcp-bulk to");
            let (what, next) = (format!("{kind}, {word}"), waits(field, port));
            Scene { what, known, _serving: serving, _held: held, next, served: None }
        })
        .collect();
    field.line(false);
    let start = Instant::now();
    while start.elapsed() < PATIENCE && scenes.iter().any(|scene| scene.served.is_none()) {
        for scene in scenes.iter_mut().filter(|scene| scene.served.is_none()) {
            if let Ok(Some(message)) = scene.next.hear(Duration::from_millis(20))
                && message["message"] == "welcome"
            {
                scene.served = Some(start.elapsed());
            }
        }
    }
    field.line(true);
    for Scene { what, known, served, .. } in &scenes {
        let harmed = served.is_none_or(|served| served > FREE_IN);
        let figure = match served {
            Some(served) => format!("free after {served:.1?}"),
            None => format!("not free in {PATIENCE:?}"),
        };
        match known {
            true => findings.case(what, harmed, figure),
            // Short ones come to their end by themselves, and some always saw to it.
            false => findings.ever(what, harmed, figure),
        }
    }
    findings
}

/// A session with what belongs to its task.
struct Held {
    _talk: Talk,
    _streams: Vec<TcpStream>,
}

impl Held {
    /// Takes the turn of the server at that port, and begins a task.
    fn take(field: &Field, node: &str, port: u16, workload: Option<fn() -> Workload>) -> Self {
        let family = Family::V4;
        let attacker = field.node(node);
        let server = field.at("server", family, port);
        let mut talk = Talk::session(attacker, None, server).unwrap();
        // As a client does: who is welcomed and says nothing has no claim to its turn.
        talk.say(&json!({ "message": "clock", "asked_ns": 1 })).unwrap();
        talk.until("clock-reply", Duration::from_secs(3)).unwrap();
        let mut streams = Vec::new();
        if let Some(workload) = workload {
            let workload = workload();
            talk.ready(&tasks::prepare(1, workload.clone(), family)).unwrap();
            let arms = match &workload {
                Workload::Echo(echo) if echo.transport == Transport::Tcp => 0..2,
                Workload::TcpBulk(_) | Workload::Connect(_) => 0..1,
                _ => 0..0,
            };
            for arm in arms {
                let mut stream = crate::talk::connect(attacker, None, server).unwrap();
                stream.write_all(&data_preamble(arm, 0)).unwrap();
                streams.push(stream);
            }
            if streams.is_empty() {
                let knock = tasks::datagram(Part::Main, tasks::WARMUP, tasks::bytes(&workload), 0);
                for socket in tasks::own_sockets(attacker, server, talk.dialect, &workload) {
                    socket.send_to(&knock, server).unwrap();
                }
            }
        }
        Held { _talk: talk, _streams: streams }
    }
}

/// What a data connection of the attacker's task says first.
pub fn data_preamble(arm: u8, number: u16) -> Vec<u8> {
    let mut preamble = b"v6gD".to_vec();
    preamble.extend(tasks::TOKEN.0);
    preamble.push(arm);
    preamble.extend(number.to_be_bytes());
    preamble.push(0);
    preamble
}

/// An honest client that has its place in the queue.
fn waits(field: &Field, port: u16) -> Talk {
    let server = field.at("server", Family::V4, port);
    let mut talk = Talk::open(field.node("client"), None, server, "").unwrap();
    talk.say(&hello("next", true)).unwrap();
    let told = talk.hear(Duration::from_secs(3)).unwrap().unwrap();
    assert_eq!(told["message"], "queued", "the turn is not the attacker's");
    talk
}
