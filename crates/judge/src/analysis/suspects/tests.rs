//! Each suspect is named where the record shows it, and nowhere else.

use super::*;
use crate::analysis::analyse;
use crate::analysis::tests::{EVEN, Truth, plan, run};
use v6gap_core::observation::{Granted, Measured, Sent};
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::workload::{Cell, Marking, Workload};

/// IPv6 is a fifth slower at everything: more than any header.
fn slow(cell: &Cell, family: Family) -> f64 {
    match (&cell.workload, family) {
        (_, Family::V4) => 1.0,
        (Workload::TcpBulk(_) | Workload::UdpBulk(_), _) => 0.8,
        _ => 1.2,
    }
}

/// The question of a cell after `change` has been made to every trial, in a lab or on a path.
fn question(cell: &str, lab: bool, change: impl Fn(&mut TrialRecord)) -> Question {
    asked(cell, lab, slow, |_| {}, change)
}

fn asked(
    cell: &str,
    lab: bool,
    factor: fn(&Cell, Family) -> f64,
    facts: impl Fn(&mut RunHeader),
    change: impl Fn(&mut TrialRecord),
) -> Question {
    of_arms(PerArm::FAMILIES, cell, lab, factor, facts, change)
}

fn of_arms(
    arms: PerArm<Family>,
    cell: &str,
    lab: bool,
    factor: fn(&Cell, Family) -> f64,
    facts: impl Fn(&mut RunHeader),
    change: impl Fn(&mut TrialRecord),
) -> Question {
    let mut plan = plan(arms, 3);
    if !lab {
        plan.parts_mut().world = None;
    }
    let mut lines = run(&plan, 12, &Truth { factor, ..EVEN });
    for line in &mut lines {
        match line {
            Line::Trial(trial) => {
                if let (Some(client), Some(server)) = (
                    trial.ends.client.endpoints,
                    &mut trial.ends.server.seen_mut().unwrap().endpoints,
                ) {
                    (server.local, server.peer) = (client.peer, client.local);
                }
                change(trial);
            }
            Line::Run(header) => facts(header),
            _ => {}
        }
    }
    let analysis = analyse(&lines).unwrap();
    analysis.questions.into_iter().find(|q| q.cell == cell).unwrap()
}

fn is_v6(trial: &TrialRecord) -> bool {
    trial.family == Family::V6
}

#[track_caller]
fn only(question: &Question, id: &str, seen: &str) {
    let ids: Vec<&str> = question.suspects.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, [id], "{:?}", question.suspects);
    let one = &question.suspects[0];
    assert!(one.text.contains(seen), "{}", one.text);
    assert!(!one.test.is_empty());
    assert!(question.sentence.contains("Look at: "), "{}", question.sentence);
    assert!(question.sentence.contains(seen), "{}", question.sentence);
}

const BULK: &str = "throughput-tcp";
const ECHO: &str = "rtt-tcp-64";

#[test]
fn without_evidence_nothing_is_named() {
    let q = question(BULK, true, |_| {});
    assert!(q.suspects.is_empty());
    assert!(q.sentence.ends_with("Nothing that was recorded explains the rest."), "{}", q.sentence);
    // On a path the headers of a round trip are not predicted, so nothing is left over by them.
    let q = question(ECHO, false, |_| {});
    assert!(q.suspects.is_empty() && !q.sentence.contains("Nothing"), "{}", q.sentence);
}

#[test]
fn what_the_headers_explain_has_no_suspects() {
    let header = |cell: &Cell, family| match (&cell.workload, family) {
        (Workload::TcpBulk(_), Family::V6) => 1428.0 / 1448.0,
        _ => 1.0,
    };
    let mtu = |t: &mut TrialRecord| {
        t.ends.client.granted.path_mtu = Some(if is_v6(t) { 1280 } else { 1500 });
    };
    let q = asked(BULK, true, header, |_| {}, mtu);
    assert!(q.suspects.is_empty() && !q.sentence.contains("Look at"), "{}", q.sentence);
}

#[test]
fn a_smaller_path_mtu_is_named() {
    let q = question(ECHO, true, |t| {
        t.ends.client.granted.path_mtu = Some(if is_v6(t) { 1280 } else { 1500 });
    });
    only(&q, "path-mtu", "1500 B over IPv4 and 1280 B over IPv6");
    let alike = question(ECHO, true, |t| t.ends.client.granted.path_mtu = Some(1500));
    assert!(alike.suspects.is_empty());
}

/// What was seen stands under the name of its family, whichever arm it is, and the command tests
/// the right one.
#[test]
fn a_suspect_names_the_family_and_not_the_arm() {
    let addresses = |header: &mut RunHeader| {
        header.addresses.v4 = Some("192.0.2.1".parse().unwrap());
        header.addresses.v6 = Some("2001:db8::1".parse().unwrap());
    };
    let mtu = |t: &mut TrialRecord| {
        t.ends.client.granted.path_mtu = Some(if is_v6(t) { 1280 } else { 1500 });
    };
    let arms = PerArm { a: Family::V6, b: Family::V4 };
    let q = of_arms(arms, ECHO, true, slow, addresses, mtu);
    only(&q, "path-mtu", "1280 B over IPv6 and 1500 B over IPv4");
    assert_eq!(q.suspects[0].test, "tracepath -n 2001:db8::1");
    let load = |t: &mut TrialRecord| {
        let sent = Sent { span_ns: 1_000, ..Sent::default() };
        t.ends.client.measured = Measured::Sent(sent);
        let work = if is_v6(t) { 990 } else { 700 };
        (t.ends.client.user_ns, t.ends.client.system_ns) = (Some(100), Some(work - 100));
    };
    let q = of_arms(arms, BULK, true, slow, |_| {}, load);
    only(&q, "processor", "busy 99 % of the time over IPv6 and 70 % of the time over IPv4");
}

#[test]
fn another_number_of_routers_is_named() {
    let hops = |arrived: fn(&TrialRecord) -> u8| {
        question(ECHO, true, move |t| {
            let left = arrived(t);
            let marks = |hop_limit| Marking { hop_limit: Some(hop_limit), ..Marking::default() };
            t.ends.client.granted = Granted { marking: marks(64), ..Granted::default() };
            t.ends.server.seen_mut().unwrap().granted.arrived = Some(marks(left));
        })
    };
    only(&hops(|t| if is_v6(t) { 59 } else { 63 }), "routers", "1 router over IPv4 and 5 routers");
    assert!(hops(|_| 61).suspects.is_empty());
    // A family whose route changed has no one number.
    assert!(hops(|t| 60 + (t.block % 2) as u8 * u8::from(is_v6(t))).suspects.is_empty());
}

#[test]
fn translation_is_named() {
    let q = question(ECHO, true, |t| {
        if !is_v6(t)
            && let Some(ends) = &mut t.ends.server.seen_mut().unwrap().endpoints
        {
            ends.peer = "203.0.113.5:9".parse().unwrap();
        }
    });
    let translate = |t: &mut TrialRecord, to: [&str; 2]| {
        let to = to[usize::from(is_v6(t))].parse().unwrap();
        for end in [&mut t.ends.client, t.ends.server.seen_mut().unwrap()] {
            if let Some(ends) = &mut end.endpoints {
                ends.local = to;
                ends.peer = to;
            }
        }
    };
    only(&q, "translation", "was seen as 203.0.113.5");
    let clat = question(ECHO, true, |t| translate(t, ["192.0.0.4:7", "[2001:db8::1]:7"]));
    only(&clat, "translation", "192.0.0.4 is an address of 464XLAT");
    let nat64 = question(ECHO, true, |t| translate(t, ["10.0.0.1:7", "[64:ff9b::a00:1]:7"]));
    only(&nat64, "translation", "an address of NAT64");
    assert!(nat64.caveats[0].contains("it is not native IPv6"), "{:?}", nat64.caveats);
    assert!(nat64.sentence.contains("IPv6 by NAT64"), "{}", nat64.sentence);
    let plain = question(ECHO, true, |t| translate(t, ["10.0.0.1:7", "[2001:db8::1]:7"]));
    assert!(plain.suspects.is_empty() && plain.caveats.iter().all(|c| !c.contains("native")));
}

/// A server's socket on all addresses does not say at which one it was spoken to.
#[test]
fn an_unspecified_address_is_no_translated_one() {
    let seen = |address: &str| {
        question(ECHO, true, |t| {
            if is_v6(t)
                && let Some(ends) = &mut t.ends.server.seen_mut().unwrap().endpoints
            {
                ends.local = address.parse().unwrap();
            }
        })
    };
    assert!(seen("[::]:9").suspects.is_empty());
    only(&seen("[2001:db8::5]:9"), "translation", "was seen as 2001:db8::5");
}

#[test]
fn segments_sent_again_over_one_family_are_named() {
    let again = |of: fn(&TrialRecord) -> u64| {
        question(BULK, true, move |t| {
            let retransmitted_segments = Some(of(t));
            let sent = Sent { retransmitted_segments, ..Sent::default() };
            t.ends.client.measured = Measured::Sent(sent);
        })
    };
    only(&again(|t| 3 * u64::from(is_v6(t))), "retransmissions", "0 over IPv4 and 36 over IPv6");
    assert!(again(|_| 3).suspects.is_empty());
    assert!(again(|t| u64::from(is_v6(t) && t.round == 1)).suspects.is_empty());
}

#[test]
fn a_processor_at_its_limit_is_named() {
    let load = |of: fn(&TrialRecord) -> u64| {
        question(BULK, true, move |t| {
            let sent = Sent { span_ns: 1_000, ..Sent::default() };
            t.ends.client.measured = Measured::Sent(sent);
            (t.ends.client.user_ns, t.ends.client.system_ns) = (Some(100), Some(of(t) - 100));
        })
    };
    let seen = "a processor of the client at its limit, busy 70 % of the time over IPv4 and 99 %";
    only(&load(|t| if is_v6(t) { 990 } else { 700 }), "processor", seen);
    assert!(load(|_| 800).suspects.is_empty());
}

#[test]
fn marks_that_change_over_one_family_are_named() {
    let marks = |of: fn(&TrialRecord) -> u8| {
        question(ECHO, true, move |t| {
            let mark = |octet| Marking { traffic_class: Some(octet), ..Marking::default() };
            t.ends.client.granted.marking = mark(0x48);
            t.ends.server.seen_mut().unwrap().granted.arrived = Some(mark(of(t)));
        })
    };
    let seen = "0x48 sent and 0x48 come in over IPv4 and 0x48 sent and 0x00 come in over IPv6";
    only(&marks(|t| if is_v6(t) { 0 } else { 0x48 }), "dscp", seen);
    assert!(marks(|_| 0x48).suspects.is_empty());
    assert!(marks(|_| 0).suspects.is_empty(), "the same for both families");
}

#[test]
fn a_card_for_one_family_is_named_on_a_path_alone() {
    let facts = |header: &mut RunHeader| {
        let on = "tx-tcp-segmentation tx-checksum-ip-generic".to_string();
        header.hosts.client.name = "near".into();
        header.hosts.client.facts.insert("interface.eth0.offloads".into(), on);
    };
    let q = asked(ECHO, false, slow, facts, |_| {});
    only(&q, "offloads", "eth0 at near does TCP segmentation for IPv4 alone");
    assert!(asked(ECHO, true, slow, facts, |_| {}).suspects.is_empty());
}

#[test]
fn other_processors_for_one_family_are_named() {
    let places = |of: fn(&TrialRecord) -> u32| {
        question(ECHO, true, move |t| {
            t.ends.server.seen_mut().unwrap().granted.incoming_processor = Some(of(t))
        })
    };
    let seen = "different processors of the server in 12 of 12 blocks";
    only(&places(|t| u32::from(is_v6(t))), "placement", seen);
    assert!(places(|_| 1).suspects.is_empty());
}
