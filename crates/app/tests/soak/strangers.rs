//! Hostile clients at a low rate: each kind of attack for a short time, again and again, in an
//! order that is random and the same in every soak.

use crate::field::{Field, Origin, PORT};
use crate::talk::{self, PREAMBLE, Talk, hello};
use crate::tasks::{self, Part};
use serde_json::json;
use std::io::{Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::workload::{Direction, Transport, Wait, Workload};

/// Pause between two acts: the honest ones are to have most of the time.
const PAUSE_MS: u64 = 1_500;

/// What some of it lasts.
const SHORT: Duration = Duration::from_millis(700);

/// Connections of a crowd, and datagrams of a flood.
const CROWD: usize = 40;
const DATAGRAMS: usize = 60;

type Act = fn(&Scene) -> Result<()>;

const ACTS: [(&str, Act); 14] = [
    ("idle", idle),
    ("half greeted", half_greeted),
    ("greeted", greeted),
    ("waiting", waiting),
    ("long name", long_name),
    ("wild name", wild_name),
    ("junk", junk),
    ("bad frames", bad_frames),
    ("stray data", stray_data),
    ("stray datagrams", stray_datagrams),
    ("forged proof", forged_proof),
    ("forged requests", forged_requests),
    ("looping", looping),
    ("vanished", vanished),
];

/// How often each act was begun, and how often it was played to its end: some need the turn, and
/// the server may end any.
#[derive(Default)]
pub struct Acts([(u64, u64); ACTS.len()]);

impl Acts {
    pub fn begun(&self) -> u64 {
        self.0.iter().map(|(begun, _)| begun).sum()
    }

    /// Those that were never played to their end: an attacker whom nobody lets in proves nothing.
    pub fn unplayed(&self) -> Vec<&'static str> {
        let all = ACTS.iter().zip(&self.0);
        all.filter(|(_, (_, played))| *played == 0).map(|((name, _), _)| *name).collect()
    }

    pub fn words(&self) -> String {
        let word =
            |(name, (begun, played)): (&str, &(u64, u64))| format!("{name} {played}/{begun}");
        let all: Vec<String> =
            ACTS.iter().zip(&self.0).map(|((name, _), counts)| word((name, counts))).collect();
        all.join(", ")
    }
}

/// Where an act plays.
struct Scene<'a> {
    field: &'a Field,
    family: Family,
    server: SocketAddr,
    /// A number of its own, for sources.
    number: u64,
}

/// Acts until it is over.
pub fn come(field: &Field, over: &AtomicBool) -> Acts {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut acts = Acts::default();
    while !over.load(Ordering::Relaxed) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let family = Family::BOTH[(random >> 20) as usize % 2];
        let server = field.at("server", family, PORT);
        let scene = Scene { field, family, server, number: random >> 40 };
        let which = (random >> 8) as usize % ACTS.len();
        let (begun, played) = &mut acts.0[which];
        *begun += 1;
        // Whatever the server does to end it is its right.
        *played += u64::from(ACTS[which].1(&scene).is_ok());
        std::thread::sleep(Duration::from_millis(PAUSE_MS / 2 + (random >> 30) % PAUSE_MS));
    }
    acts
}

impl Scene<'_> {
    /// A connection from one of the attacker's many addresses.
    fn connect(&self, number: usize) -> Result<TcpStream> {
        let origin = match self.family {
            Family::V4 => Origin::Range24,
            Family::V6 => Origin::Range48,
        };
        let source = origin.source((self.number as usize + number) % 1000);
        talk::connect(self.field.node("attacker"), source, self.server)
    }

    fn crowd<T>(&self, begin: impl Fn(TcpStream) -> Result<T>) -> Result<()> {
        let all: Vec<Result<T>> = (0..CROWD).map(|i| self.connect(i).and_then(&begin)).collect();
        std::thread::sleep(SHORT);
        drop(all);
        Ok(())
    }

    /// A session with a task that is ready, if the turn is to be had.
    fn task(&self, workload: Workload) -> Result<Talk> {
        let mut talk = Talk::session(self.field.node("attacker"), None, self.server)?;
        talk.ready(&tasks::prepare(1, workload, self.family))?;
        Ok(talk)
    }
}

fn idle(scene: &Scene) -> Result<()> {
    scene.crowd(Ok)
}

fn half_greeted(scene: &Scene) -> Result<()> {
    scene.crowd(|mut stream| {
        stream.write_all(&PREAMBLE[..scene.number as usize % PREAMBLE.len()])?;
        Ok(stream)
    })
}

fn greeted(scene: &Scene) -> Result<()> {
    scene.crowd(|stream| Talk::over(stream, ""))
}

fn waiting(scene: &Scene) -> Result<()> {
    scene.crowd(|stream| {
        let mut talk = Talk::over(stream, "")?;
        talk.say(&hello("crowd", true))?;
        Ok(talk)
    })
}

fn long_name(scene: &Scene) -> Result<()> {
    scene.crowd(|stream| {
        let mut talk = Talk::over(stream, "")?;
        talk.say(&hello(&"n".repeat(500_000), true))?;
        Ok(talk)
    })
}

fn wild_name(scene: &Scene) -> Result<()> {
    let mut talk = Talk::over(scene.connect(0)?, "")?;
    talk.say(&hello("a\n\x1b[2J\x07\u{202e}b", true))?;
    std::thread::sleep(SHORT);
    Ok(())
}

fn junk(scene: &Scene) -> Result<()> {
    scene.crowd(|mut stream| {
        let junk: Vec<u8> = (0..99_u8).map(|i| i.wrapping_mul(scene.number as u8 | 1)).collect();
        stream.write_all(&junk)?;
        Ok(stream)
    })
}

fn bad_frames(scene: &Scene) -> Result<()> {
    for (i, frame) in [
        &b"\xff\xff\xff\xff"[..],
        b"\0\0\0\0",
        b"\0\0\0\x04nope",
        b"\0\0\0\x02{}",
        b"\0\x10\0\x01x",
    ]
    .into_iter()
    .enumerate()
    {
        let mut talk = Talk::over(scene.connect(i)?, "")?;
        talk.put(frame)?;
    }
    let mut talk = Talk::over(scene.connect(9)?, "")?;
    talk.put(&[&10_000_u32.to_be_bytes()[..], &[b'['; 10_000]].concat())
}

fn stray_data(scene: &Scene) -> Result<()> {
    scene.crowd(|mut stream| {
        stream.write_all(&[&b"v6gD"[..], &[scene.number as u8; 20]].concat())?;
        Ok(stream)
    })
}

fn stray_datagrams(scene: &Scene) -> Result<()> {
    let socket = tasks::socket(scene.field.node("attacker"), scene.family);
    for i in 0..DATAGRAMS {
        let datagram = tasks::datagram(Part::Main, i as u8, i * 20, scene.number as u8);
        socket.send_to(&datagram, scene.server)?;
    }
    Ok(())
}

fn forged_proof(scene: &Scene) -> Result<()> {
    let talk = scene.task(tasks::udp_bulk(Direction::Receive))?;
    let socket = tasks::socket(scene.field.node("attacker"), scene.family);
    let forger = scene.field.forger("server");
    let proof = tasks::challenge(&socket, scene.server, talk.dialect, (Part::Main, 0));
    let victim = scene.field.at("victim", scene.family, 5555);
    if let Some(proof) = proof {
        forger.send(victim, scene.server, &proof);
    }
    std::thread::sleep(SHORT);
    Ok(())
}

fn forged_requests(scene: &Scene) -> Result<()> {
    let workload = tasks::echo(Transport::Udp, 64, Wait::Block);
    let _talk = scene.task(workload)?;
    let forger = scene.field.forger("server");
    let victim = scene.field.at("victim", scene.family, 7);
    for flags in (0..=u8::MAX).filter(|flags| flags & tasks::INTRODUCTION == 0) {
        forger.send(victim, scene.server, &tasks::datagram(Part::Main, flags, 64, 9));
    }
    Ok(())
}

fn looping(scene: &Scene) -> Result<()> {
    let _talk = scene.task(tasks::probe(64))?;
    let forger = scene.field.forger("server");
    for flags in 0..=u8::MAX {
        forger.send(scene.server, scene.server, &tasks::datagram(Part::Main, flags, 64, 0));
    }
    std::thread::sleep(SHORT);
    Ok(())
}

fn vanished(scene: &Scene) -> Result<()> {
    let mut talk = scene.task(tasks::tcp_bulk(Direction::Receive))?;
    talk.alive = false;
    std::thread::sleep(SHORT);
    talk.say(&json!({ "message": "finish", "number": 99 }))
}
