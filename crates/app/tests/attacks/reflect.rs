//! Attack: requests with the victim's address are to be answered to the victim, and what the
//! attacker wrote is to come back to anybody.

use crate::attacked::serve;
use crate::field::{Count, Field, PORT};
use crate::talk::{Dialect, Talk};
use crate::tasks::{self, Part};
use crate::tier::is_night;
use crate::verdict::Findings;
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::workload::{Direction, Transport, Wait, Workload};

const REQUESTS: usize = 300;
/// As long as the datagrams of a transfer are.
const BYTES: usize = 1200;
/// What the attacker would like to have relayed.
const MARK: u8 = 0xa7;
const SHOWS: Duration = Duration::from_millis(300);

type Kind = (&'static str, fn() -> Workload, u8);

const KINDS: [Kind; 3] = [
    ("echo", || tasks::echo(Transport::Udp, BYTES as u32, Wait::Block), 0),
    ("probe", || tasks::probe(BYTES as u32), tasks::WARMUP),
    ("udp-bulk", || tasks::udp_bulk(Direction::Send), tasks::WARMUP),
];

pub fn to_victims(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _serving = serve(field, &[]);
    for (number, kind) in KINDS.into_iter().enumerate() {
        for family in Family::BOTH {
            for victim in ["victim", "far"] {
                let turn = (family == Family::V4) == (victim == "far");
                let chosen = number == 0 && turn || number == 1 && family == Family::V6 && !turn;
                if chosen || is_night() {
                    one(field, kind, (family, victim), &mut findings);
                }
            }
        }
    }
    findings
}

fn one(
    field: &Field,
    (name, workload, flags): Kind,
    (family, victim): (Family, &str),
    findings: &mut Findings,
) {
    let workload = workload();
    let talk = begun(field, workload.clone(), family);
    let forger = field.forger("server");
    let (source, server) = (field.at(victim, family, 7), field.at("server", family, PORT));
    let what = format!("{name}, {family}, {victim}");
    let request = tasks::datagram(Part::Main, flags, BYTES, MARK);
    let forge = |datagram: &[u8]| {
        let send = || (0..REQUESTS).for_each(|_| forger.send(source, server, datagram));
        field.meanwhile(victim, SHOWS, send).0
    };
    let told = |count: Count| format!("{} B of {} kB forged", count.bytes, REQUESTS * BYTES / 1000);
    let count = forge(&request);
    findings.case(&what, count.bytes > 0, told(count));
    if talk.dialect == Dialect::One {
        return;
    }
    // An introduction alone is answered, by as many bytes as it has and none of its own.
    let bytes = tasks::HEADER_BYTES;
    let before = field.received("server");
    let count = forge(&tasks::datagram(Part::Main, tasks::INTRODUCTION, bytes, 0));
    let forged = field.received("server").bytes - before.bytes;
    let figure = format!("{} B of {forged} B forged", count.bytes);
    findings.ever(&format!("{what}, introductions"), count.bytes > forged, figure);
    // While the attacker's own sources are served.
    let _own = tasks::own_sockets(field.node("attacker"), server, talk.dialect, &workload);
    let count = forge(&request);
    findings.case(&format!("{what}, beside valid sources"), count.bytes > 0, told(count));
}

/// What comes back to the attacker's own address must not be what it wrote.
pub fn of_payload(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _serving = serve(field, &[]);
    for (name, workload, flags) in KINDS {
        for family in Family::BOTH {
            let workload = workload();
            let talk = begun(field, workload.clone(), family);
            let server = field.at("server", family, PORT);
            let attacker = field.node("attacker");
            let sockets = tasks::own_sockets(attacker, server, talk.dialect, &workload);
            let socket = &sockets[0];
            let request = tasks::datagram(Part::Main, flags, BYTES, MARK);
            socket.send_to(&request, server).unwrap();
            let mut answer = [0; 2048];
            let count = socket.recv(&mut answer).unwrap_or(0);
            let rest = answer[..count].get(tasks::HEADER_BYTES..).unwrap_or_default();
            let own = rest.iter().filter(|&&byte| byte == MARK).count();
            // One in 256 bytes of any other fill has this value.
            assert!(count > 0 || name == "udp-bulk", "{name} is not answered");
            let figure = format!("{own} of {} bytes are the attacker's", rest.len());
            findings.case(&format!("{name}, {family}"), own > rest.len() / 20 + 10, figure);
        }
    }
    findings
}

fn begun(field: &Field, workload: Workload, family: Family) -> Talk {
    let server = field.at("server", family, PORT);
    let mut talk = Talk::session(field.node("attacker"), None, server).unwrap();
    talk.ready(&tasks::prepare(1, workload, family)).unwrap();
    talk
}
