//! Attack: a challenge that was told to the attacker is repeated once with the victim's address,
//! and the server is to flood the victim.

use crate::attacked::{Serving, serve};
use crate::field::{Field, PORT};
use crate::talk::{Dialect, Talk};
use crate::tasks::{self, Part};
use crate::tier::is_night;
use crate::verdict::Findings;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_core::workload::{Direction, Workload};

/// A port of the victim at which something listens and says nothing: a closed one would be told by
/// ICMP, which ends some streams.
const VICTIM_PORT: u16 = 5555;

/// How often a forged proof is followed up, and the time between. A server that makes a socket for
/// a source throws away what comes meanwhile.
const FOLLOWED: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(20);

/// How long a server may take to see that somebody has left.
const LEAVES: Duration = Duration::from_secs(5);

/// How long a flood has to show.
const SHOWS: Duration = Duration::from_millis(800);

type Kind = (&'static str, fn() -> Workload, Part);

const KINDS: [Kind; 3] = [
    ("udp-bulk", || tasks::udp_bulk(Direction::Receive), Part::Main),
    ("capacity", tasks::capacity, Part::Main),
    ("load of probes", tasks::loaded_probe, Part::Load),
];

pub fn of_victims(field: &Field) -> Findings {
    let mut findings = Findings::default();
    for access in ["near", "public"] {
        let args = if access == "public" { &["--public"][..] } else { &[] };
        let _serving: Serving = serve(field, args);
        for (number, kind) in KINDS.into_iter().enumerate() {
            for (family, victim) in
                Family::BOTH.into_iter().flat_map(|f| [(f, "victim"), (f, "far")])
            {
                // The quick form has each kind, family, victim and access, but not all together.
                let chosen = matches!(
                    (number, family, victim, access),
                    (0, Family::V4, "far", "near")
                        | (1, Family::V6, "victim", "public")
                        | (2, Family::V6, "far", "near")
                );
                if chosen || is_night() {
                    one(field, kind, (family, victim, access), &mut findings);
                }
            }
        }
    }
    findings
}

fn one(
    field: &Field,
    (name, workload, part): Kind,
    (family, victim, access): (Family, &str, &str),
    findings: &mut Findings,
) {
    let server = field.at("server", family, PORT);
    let target = field.at(victim, family, VICTIM_PORT);
    let bind = || UdpSocket::bind(SocketAddr::new(family.unspecified(), VICTIM_PORT)).unwrap();
    let _listens = field.node(victim).run(bind).unwrap();
    let attacker = field.node("attacker");
    // A public server serves one session of a network, and may not have seen the last one's end.
    let give_up = Instant::now() + LEAVES;
    let mut talk = loop {
        match Talk::session(attacker, None, server) {
            Err(_) if Instant::now() < give_up => std::thread::sleep(SHOWS / 8),
            session => break session.unwrap(),
        }
    };
    let workload = workload();
    // What the task's own datagrams are like.
    let knock = tasks::datagram(part, tasks::WARMUP, tasks::bytes(&workload), 0);
    talk.ready(&tasks::prepare(1, workload, family)).unwrap();
    let socket = tasks::socket(attacker, family);
    let proof = tasks::challenge(&socket, server, talk.dialect, (part, 0));
    let proof = proof.expect("the attacker's own source is challenged");
    let forger = field.forger("server");
    let what = format!("{name}, {family}, {victim}, {access} server");
    let (count, ()) = field.meanwhile(victim, SHOWS, || {
        forger.send(target, server, &proof);
        if talk.dialect == Dialect::Two {
            // Whatever may come behind a proof.
            for _ in 0..FOLLOWED {
                forger.send(target, server, &knock);
                forger.send(target, server, &tasks::datagram(part, 0, knock.len(), 0));
                std::thread::sleep(BETWEEN);
            }
        }
    });
    findings.case(&what, count.bytes > 0, format!("{} B to the victim", count.bytes));
    if talk.dialect == Dialect::Two {
        // The attacker proves its own address, gets the stream, and then would lead it elsewhere.
        let (count, ()) = field.meanwhile(victim, SHOWS / 2, || {
            socket.send_to(&proof, server).unwrap();
            socket.send_to(&knock, server).unwrap();
            std::thread::sleep(SHOWS / 4);
            for flags in 0..=u8::MAX {
                if flags & !tasks::ANSWER != tasks::INTRODUCTION {
                    forger.send(target, server, &tasks::datagram(part, flags, knock.len(), 0));
                }
            }
            forger.send(target, server, &proof);
        });
        let what = format!("{what}, after a proof of the attacker's own");
        findings.case(&what, count.bytes > 0, format!("{} B to the victim", count.bytes));
    }
}
