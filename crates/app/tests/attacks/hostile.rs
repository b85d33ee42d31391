//! Attack: a hostile server. The honest client must end in bounded time, with an error that is its
//! own, and show nothing that drives a terminal.

use crate::attacked::{command, words};
use crate::field::{Field, PORT};
use crate::names::is_driven;
use crate::support::Home;
use crate::talk::{self, HANDSHAKE_BYTES, PREAMBLE};
use crate::tier::is_night;
use crate::verdict::Findings;
use serde_json::{Value, json};
use snow::TransportState;
use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;

const WILD: &str = "a\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}\rb";

/// What a client may take for a phase of 5 s or several of them.
const SHORT: Duration = Duration::from_secs(12);
const LONG: Duration = Duration::from_secs(40);

/// Enough to see what is shown of one who waits, which has no end.
const SEEN: Duration = Duration::from_secs(3);

/// What the server does instead of serving.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    SaysNothing,
    SaysItsPreambleOnly,
    DripsItsPreamble,
    AnswersWithOtherBytes,
    FallsSilent,
    FloodsUnknownMessages,
    FloodsLongMessages,
    NamesTheLongestFrame,
    SendsNoJson,
    WelcomesAsNobodyDoes,
    WelcomesWithEscapes,
    RefusesWithEscapes,
    QueuesWithEscapes,
    QueuesForEver,
    WelcomesAndFalters,
    WelcomesAndFloods,
    FailsWithEscapes,
}
use Mode::*;

/// Each with what the client is asked to do, and how long that may take.
const MODES: [(Mode, bool, Duration); 17] = [
    (SaysNothing, false, SHORT),
    (SaysItsPreambleOnly, false, SHORT),
    (DripsItsPreamble, false, SHORT),
    (AnswersWithOtherBytes, false, SHORT),
    (FallsSilent, false, SHORT),
    (FloodsUnknownMessages, false, SHORT),
    (FloodsLongMessages, false, SHORT),
    (NamesTheLongestFrame, false, SHORT),
    (SendsNoJson, false, SHORT),
    (WelcomesAsNobodyDoes, false, SHORT),
    (WelcomesWithEscapes, false, SHORT),
    (RefusesWithEscapes, false, SHORT),
    (QueuesWithEscapes, true, SEEN),
    (QueuesForEver, false, SHORT),
    (WelcomesAndFalters, true, LONG),
    (WelcomesAndFloods, true, LONG),
    (FailsWithEscapes, true, LONG),
];

/// Those that a client of protocol 1 takes harm from.
const KNOWN: [Mode; 3] = [FloodsUnknownMessages, FloodsLongMessages, QueuesWithEscapes];

pub fn servers(field: &Field) -> Findings {
    let mut findings = Findings::default();
    for (mode, measures, longest) in MODES {
        let slow = longest == LONG
            || matches!(
                mode,
                SaysNothing
                    | SaysItsPreambleOnly
                    | DripsItsPreamble
                    | FallsSilent
                    | FloodsLongMessages
            );
        if slow && !is_night() {
            continue;
        }
        let over = AtomicBool::new(false);
        let (ran, took) = std::thread::scope(|scope| {
            for family in Family::BOTH {
                let at = field.at("second", family, PORT);
                let listener = field.node("second").run(|| TcpListener::bind(at)).unwrap().unwrap();
                listener.set_nonblocking(true).unwrap();
                let over = &over;
                scope.spawn(move || accept(&listener, mode, over));
            }
            let ran = client(field, measures, longest);
            over.store(true, Ordering::Relaxed);
            ran
        });
        let (ended, said) = ran;
        let wrong = match ended {
            // Waiting is what it was asked to do.
            None if mode == QueuesWithEscapes && !is_driven(&said) => None,
            None => Some("does not end"),
            // 101 is a panic.
            Some(None | Some(101)) => Some("broke down"),
            Some(_) if is_driven(&said) => Some("shows what drives a terminal"),
            Some(_) => None,
        };
        let first = said.lines().next().unwrap_or_default();
        let figure = format!("{took:.1?}, {ended:?}, {}: {first:?}", wrong.unwrap_or("good"));
        match KNOWN.contains(&mode) {
            true => findings.case(&format!("{mode:?}"), wrong.is_some(), figure),
            false => findings.ever(&format!("{mode:?}"), wrong.is_some(), figure),
        }
    }
    findings
}

/// How a client ended, if it did, with what it said, and the time that it took.
type Ran = ((Option<Option<i32>>, String), Duration);

fn client(field: &Field, measures: bool, longest: Duration) -> Ran {
    let home = Home::new("attack-hostile");
    let [four, six] = Family::BOTH.map(|family| field.address("second", family).to_string());
    let start = || {
        let mut client = command(&home);
        match measures {
            true => client.args([&four, "--v6", &six, "--measure", "connect", "--quick"]),
            false => client.args(["check", &four, "--v6", &six]),
        };
        client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let begun = Instant::now();
    let mut child = field.node("client").run(start).unwrap();
    let mut ended = None;
    while ended.is_none() && begun.elapsed() < longest {
        ended = child.try_wait().unwrap().map(|status| status.code());
        std::thread::sleep(Duration::from_millis(20));
    }
    let took = begun.elapsed();
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    ((ended, words(&output)), took)
}

fn accept(listener: &TcpListener, mode: Mode, over: &AtomicBool) {
    std::thread::scope(|scope| {
        while !over.load(Ordering::Relaxed) {
            match listener.accept() {
                // Whatever ends it, it was the client.
                Ok((stream, _)) => drop(scope.spawn(|| drop(answer(stream, mode, over)))),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    });
}

/// Plays the server on one connection until it is over or the client goes.
fn answer(mut stream: TcpStream, mode: Mode, over: &AtomicBool) -> Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    if mode == SaysNothing {
        return linger(over, || Ok(()));
    }
    let mut client = [0; PREAMBLE.len()];
    stream.read_exact(&mut client)?;
    let mut own = client.to_vec();
    if client[5] >= 2 {
        own.extend([0x5a; 16]);
    }
    if mode == DripsItsPreamble {
        let mut bytes = own.iter();
        return linger(over, || bytes.next().map_or(Ok(()), |byte| stream.write_all(&[*byte])));
    }
    stream.write_all(&own)?;
    if mode == SaysItsPreambleOnly {
        return linger(over, || Ok(()));
    }
    let mut first = [0; HANDSHAKE_BYTES];
    stream.set_read_timeout(Some(Duration::from_secs(8)))?;
    stream.read_exact(&mut first)?;
    if mode == AnswersWithOtherBytes {
        stream.write_all(&[0x77; HANDSHAKE_BYTES])?;
        return linger(over, || Ok(()));
    }
    let mut state = talk::responder("", &[&client[..], &own].concat());
    let unread = |e: snow::Error| std::io::Error::other(e.to_string());
    state.read_message(&first, &mut []).map_err(unread)?;
    let mut second = [0; HANDSHAKE_BYTES];
    state.write_message(&[], &mut second).map_err(unread)?;
    stream.write_all(&second)?;
    let noise = state.into_transport_mode().map_err(unread)?;
    sealed(Sealed { stream, noise }, mode, over)
}

/// What the mode does once the connection is sealed.
fn sealed(mut server: Sealed, mode: Mode, over: &AtomicBool) -> Result<()> {
    let unknown = json!({ "message": "never-heard-of" });
    let queued = |by: &str| json!({ "message": "queued", "place": 1, "seconds": 1, "by": by });
    match mode {
        FloodsUnknownMessages => server.flood(&unknown, over),
        FloodsLongMessages => {
            server.flood(&json!({ "message": "long", "text": "x".repeat(900_000) }), over)
        }
        NamesTheLongestFrame => {
            server.put(&u32::MAX.to_be_bytes())?;
            linger(over, || server.put(&[b'x'; 50_000]))
        }
        SendsNoJson => linger(over, || server.put(b"\0\0\0\x05\xff\xfe{[\0")),
        QueuesForEver => linger(over, || server.say(&queued("somebody"))),
        QueuesWithEscapes => linger(over, || server.say(&queued(WILD))),
        RefusesWithEscapes => {
            server.say(&json!({ "message": "refused", "code": "E204", "why": WILD }))?;
            linger(over, || Ok(()))
        }
        WelcomesAsNobodyDoes => {
            let mut welcome = welcome("b");
            welcome["limits"]["session_ns"] = json!(-1.5e300);
            server.say(&welcome)?;
            linger(over, || Ok(()))
        }
        WelcomesWithEscapes => {
            server.say(&welcome(WILD))?;
            server.tell_the_time(over)
        }
        WelcomesAndFalters => {
            server.say(&welcome("b"))?;
            server.tell_the_time(over)
        }
        WelcomesAndFloods => {
            server.say(&welcome("b"))?;
            server.flood(&unknown, over)
        }
        FailsWithEscapes => {
            server.say(&welcome("b"))?;
            server.answer_clocks(over, Some(&failed))
        }
        _ => linger(over, || Ok(())),
    }
}

/// A welcome whose every text is `name`, with all features of this program.
fn welcome(name: &str) -> Value {
    let limits = v6gap_core::wire::control::Limits::default();
    let features = v6gap_core::workload::Feature::ALL.iter().map(|feature| feature.name());
    let mut features: Vec<&str> = features.collect();
    features.push(name);
    json!({
        "message": "welcome", "tool": format!("v6gap {name}"), "features": features,
        "limits": limits, "host": { "name": name, "facts": { "kernel": name, name: "x" } },
    })
}

/// Does `work` each tenth of a second until it is over.
fn linger(over: &AtomicBool, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    while !over.load(Ordering::Relaxed) {
        work()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

struct Sealed {
    stream: TcpStream,
    noise: TransportState,
}

impl Sealed {
    fn say(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string().into_bytes();
        let length = (body.len() as u32).to_be_bytes();
        self.put(&[&length[..], &body].concat())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        talk::records(&mut self.noise, bytes).and_then(|bytes| self.stream.write_all(&bytes))
    }

    /// Says it again and again, without a gap between two.
    fn flood(&mut self, message: &Value, over: &AtomicBool) -> Result<()> {
        let body = message.to_string().into_bytes();
        let frame = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
        let many = frame.repeat((1 << 20) / frame.len());
        while !over.load(Ordering::Relaxed) {
            self.put(&many)?;
        }
        Ok(())
    }

    fn tell_the_time(&mut self, over: &AtomicBool) -> Result<()> {
        self.answer_clocks(over, None)
    }

    /// Answers questions about the clock, and tasks by `failed` if that is given.
    fn answer_clocks(
        &mut self,
        over: &AtomicBool,
        failed: Option<&dyn Fn(u32) -> Value>,
    ) -> Result<()> {
        let (mut sealed, mut plain) = (Vec::new(), Vec::new());
        let mut buffer = [0; 1 << 14];
        self.stream.set_read_timeout(Some(Duration::from_millis(100)))?;
        while !over.load(Ordering::Relaxed) {
            if let Ok(count @ 1..) = self.stream.read(&mut buffer) {
                sealed.extend(&buffer[..count]);
                talk::open_records(&mut self.noise, &mut sealed, &mut plain)?;
            }
            while let Some(message) = talk::frame(&mut plain) {
                match (message["message"].as_str(), failed) {
                    (Some("clock"), _) => self.say(&json!({
                        "message": "clock-reply", "asked_ns": message["asked_ns"], "server_ns": 1,
                    }))?,
                    (Some("prepare"), Some(failed)) => {
                        self.say(&failed(message["number"].as_u64().unwrap_or(0) as u32))?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// That a task failed for good, with a reason in escapes.
fn failed(number: u32) -> Value {
    json!({ "message": "failed", "number": number, "why": WILD, "lasting": true })
}
