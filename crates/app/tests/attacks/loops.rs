//! Attack: a datagram whose source is another server, or the server itself, is to start an exchange
//! of answers to answers that never ends.

use crate::attacked::Serving;
use crate::field::{Field, PORT};
use crate::talk::Talk;
use crate::tasks::{self, Part};
use crate::tier::is_night;
use crate::verdict::Findings;
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::workload::{Direction, Transport, Wait, Workload};

const BYTES: usize = 64;
const LASTS: Duration = Duration::from_millis(1500);

/// What is forged; each would be answered by some program.
const FLAGS: [u8; 8] = [
    0,
    tasks::WARMUP,
    tasks::WARMUP | tasks::LAST,
    tasks::INTRODUCTION,
    tasks::INTRODUCTION | tasks::PROOF,
    tasks::ANSWER,
    tasks::ANSWER | tasks::INTRODUCTION,
    tasks::ANSWER | tasks::INTRODUCTION | tasks::PROOF,
];

/// So many, each twice.
const FORGED: u64 = 2 * FLAGS.len() as u64;

type Kind = (&'static str, fn() -> Workload);

const KINDS: [Kind; 3] = [
    ("echo", || tasks::echo(Transport::Udp, BYTES as u32, Wait::Block)),
    ("probe", || tasks::probe(BYTES as u32)),
    ("udp-bulk", || tasks::udp_bulk(Direction::Send)),
];

pub fn of_answers(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let _servers = ["server", "second"].map(|name| Serving::start(field.node(name), &[]));
    for (number, (name, workload)) in KINDS.into_iter().enumerate() {
        for family in Family::BOTH {
            for second in [Some("second"), None] {
                // The quick form has half of them; a server's own IPv4 packets get nowhere anyway.
                let chosen = match second {
                    Some(_) => (number % 2 == 0) == (family == Family::V4),
                    None => family == Family::V6,
                };
                if !chosen && !is_night() {
                    continue;
                }
                let packets = exchange(field, workload(), family, second);
                let between = second.map_or("server and itself", |_| "two servers");
                let what = format!("{name}, {family}, {between}");
                let figure = format!("{packets} datagrams from {FORGED}");
                let harmed = packets > 5 * FORGED;
                // Linux drops what comes over IPv4 from its own addresses.
                let known = second.is_some() || family == Family::V6;
                match known {
                    true => findings.case(&what, harmed, figure),
                    false => findings.ever(&what, harmed, figure),
                }
            }
        }
    }
    findings
}

/// Packets that both servers received in the time.
fn exchange(field: &Field, workload: Workload, family: Family, second: Option<&str>) -> u64 {
    let attacker = field.node("attacker");
    let targets = ["server"].into_iter().chain(second);
    let mut talks: Vec<Talk> = targets
        .map(|name| Talk::session(attacker, None, field.at(name, family, PORT)).unwrap())
        .collect();
    for talk in &mut talks {
        talk.ready(&tasks::prepare(1, workload.clone(), family)).unwrap();
    }
    let source = field.at(second.unwrap_or("server"), family, PORT);
    let forger = field.forger("server");
    let names = || ["server"].into_iter().chain(second);
    let before: u64 = names().map(|name| field.received(name).packets).sum();
    let server = field.at("server", family, PORT);
    let forge = || {
        for flags in FLAGS {
            // A longer introduction is none, whatever else is looked at.
            let bytes = match flags & tasks::INTRODUCTION {
                0 => BYTES,
                _ => tasks::HEADER_BYTES,
            };
            forger.send(source, server, &tasks::datagram(Part::Main, flags, bytes, 0));
        }
    };
    let lasts = if is_night() { LASTS } else { LASTS / 3 };
    forge();
    std::thread::sleep(lasts);
    // Once more, while the attacker's own sources are served: there is no place for others then.
    let _own = tasks::own_sockets(attacker, server, talks[0].dialect, &workload);
    forge();
    std::thread::sleep(lasts);
    names().map(|name| field.received(name).packets).sum::<u64>() - before
}
