//! Each gate must close on its own evidence and stay open without it.

mod alike;
mod bodies;
mod traffic;

use super::marking;
use crate::analysis::tests::blank;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::SocketAddr;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{
    Connection, EndReport, Endpoints, Far, Lateness, LookedUp, Measured, PerEnd, RateTrial,
    Received, Searched, Sent,
};
use v6gap_core::plan::{Plan, preset};
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::workload::{Capacity, Cell, Echo, Frames, Marking, Method, Search, Workload};
use v6gap_core::world::{LinkModel, Reordering, World};

fn plan() -> Plan {
    let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    preset::first_look(PerArm::FAMILIES, Some(world), 1)
}

fn end(family: Family) -> EndReport {
    let (local, peer) = match family {
        Family::V4 => ("10.46.1.2:30000", "10.46.2.2:4466"),
        Family::V6 => ("[fd46:1::2]:30000", "[fd46:2::2]:4466"),
    };
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    EndReport {
        endpoints: Some(Endpoints { domain: family, local: address(local), peer: address(peer) }),
        ..EndReport::default()
    }
}

fn trial(plan: &Plan, cell: &str, family: Family) -> TrialRecord {
    let (_, cell) = plan.cell(cell).unwrap();
    TrialRecord {
        duration_ns: 1_000_000_000,
        values: cell.workload.metrics().iter().map(|&m| (m, 1.0)).collect(),
        ends: PerEnd { client: end(family), server: end(family) }.into(),
        ..blank(&cell.id, family)
    }
}

/// What the gates find in a trial of a block whose other trial was the same.
fn judge(plan: &Plan, cell: &Cell, trial: &TrialRecord) -> Vec<GateFinding> {
    super::judge(plan, cell, trial, trial)
}

/// Names of the gates that close when `spoil` has changed a good trial.
fn closed(cell: &str, family: Family, spoil: impl FnOnce(&mut TrialRecord)) -> Vec<String> {
    let plan = plan();
    let mut trial = trial(&plan, cell, family);
    let (_, cell) = plan.cell(cell).unwrap();
    spoil(&mut trial);
    judge(&plan, cell, &trial).into_iter().filter(|f| f.fatal).map(|f| f.gate).collect()
}

fn count(end: &mut EndReport, name: &str, by: i64) {
    end.counters.insert(name, by);
}

#[test]
fn a_clean_trial_passes_every_gate() {
    for cell in &plan().cells {
        for family in Family::BOTH {
            assert_eq!(closed(&cell.id, family, |_| ()), Vec::<String>::new(), "{}", cell.id);
        }
    }
}

/// Whichever family the name server is asked over: what counts is whose address was asked for.
#[test]
fn what_is_looked_up_is_proved_by_its_record() {
    let asked = |record: &str| {
        closed("throughput-tcp", Family::V6, |trial| {
            let answer = LookedUp { record: record.into(), ..LookedUp::default() };
            let measured = Measured::LookedUp(answer.into());
            trial.ends.client = EndReport { measured, ..EndReport::default() };
        })
    };
    assert_eq!(asked("AAAA"), Vec::<String>::new());
    assert_eq!(asked("A"), ["family-proved"]);
}

/// Behind a translator the server must have used the other family, and that one alone.
#[test]
fn a_translated_family_is_proved_by_the_other_one_at_the_server() {
    let cell = "throughput-tcp";
    let translated = |server: Family| {
        closed(cell, Family::V6, |trial| {
            let ends = trial.ends.client.endpoints.as_mut().unwrap();
            ends.peer = "[64:ff9b::192.0.2.2]:4466".parse().unwrap();
            trial.ends.server = Far::Seen(end(server));
        })
    };
    assert_eq!(translated(Family::V4), Vec::<String>::new());
    assert_eq!(translated(Family::V6), ["family-proved"]);
    // Nobody else may have another family at the server.
    let native = closed(cell, Family::V6, |trial| trial.ends.server = Far::Seen(end(Family::V4)));
    assert_eq!(native, ["family-proved"]);
    // Nor may a trial that was booked under the other family.
    let other = closed(cell, Family::V4, |trial| {
        let ends = trial.ends.client.endpoints.as_mut().unwrap();
        ends.peer = "[64:ff9b::192.0.2.2]:4466".parse().unwrap();
    });
    assert_eq!(other, ["family-proved"]);
}

#[test]
fn the_family_must_be_proved_at_both_ends() {
    let cell = "throughput-tcp";
    for family in Family::BOTH {
        let other = end(family.other()).endpoints;
        assert_eq!(
            closed(cell, family, |t| t.ends.server.seen_mut().unwrap().endpoints = None),
            ["family-proved"]
        );
        assert_eq!(closed(cell, family, |t| t.ends.client.endpoints = other), ["family-proved"]);
    }
    let mapped = |t: &mut TrialRecord| {
        let endpoints = t.ends.server.seen_mut().unwrap().endpoints.as_mut().unwrap();
        endpoints.peer = "[::ffff:10.46.1.2]:30000".parse().unwrap();
    };
    assert_eq!(closed(cell, Family::V6, mapped), ["family-proved"]);
    // One stream of several may have gone another way.
    let strayed = |t: &mut TrialRecord| {
        for family in [Family::V6, Family::V4] {
            t.ends.client.connections.push(Connection {
                endpoints: end(family).endpoints.unwrap(),
                sent_bytes: 1,
                received_bytes: 0,
                rtt_mean_us: None,
                window_mean_bytes: None,
                processor: None,
                account: None,
            });
        }
    };
    assert_eq!(closed(cell, Family::V6, strayed), ["family-proved"]);
    let silent = |t: &mut TrialRecord| count(&mut t.ends.client, "Ip.InReceives", 9);
    assert_eq!(closed(cell, Family::V6, silent), ["family-proved"]);
    assert!(closed(cell, Family::V4, silent).is_empty());
}

/// There is no socket at the far end, whose counters speak for it.
#[test]
fn one_thread_with_both_ends_proves_the_family_at_its_own() {
    let plan = plan();
    let (_, cell) = plan.cell("rtt-tcp-64").unwrap();
    let Workload::Echo(echo) = cell.workload.clone() else { panic!("{cell:?}") };
    let method = Method::Stack;
    let cell = Cell { workload: Workload::Echo(Echo { method, ..echo }), ..cell.clone() };
    let mut trial = trial(&plan, "rtt-tcp-64", Family::V6);
    trial.ends.server.seen_mut().unwrap().endpoints = None;
    assert_eq!(judge(&plan, &cell, &trial), []);
    let mut silent = trial.clone();
    count(silent.ends.server.seen_mut().unwrap(), "Ip.InReceives", 9);
    assert_eq!(judge(&plan, &cell, &silent)[0].gate, "family-proved");
    trial.ends.client.endpoints = end(Family::V4).endpoints;
    assert_eq!(judge(&plan, &cell, &trial)[0].gate, "family-proved");
}

#[test]
fn a_clock_step_and_stolen_time_close() {
    let cell = "rtt-tcp-64";
    let step = |t: &mut TrialRecord| t.ends.server.seen_mut().unwrap().clock_step_ns = -40_000_000;
    assert_eq!(closed(cell, Family::V4, step), ["clock-step"]);
    let steal = |t: &mut TrialRecord| t.ends.client.steal_share = Some(0.08);
    assert_eq!(closed(cell, Family::V4, steal), ["steal"]);
}

#[test]
fn host_drops_count_only_where_they_touch_the_trial() {
    let full =
        |t: &mut TrialRecord| count(t.ends.server.seen_mut().unwrap(), "Udp6.RcvbufErrors", 3);
    assert_eq!(closed("throughput-udp-1408", Family::V6, full), ["host-drops"]);
    assert!(closed("throughput-tcp", Family::V6, full).is_empty());
    let damaged = |t: &mut TrialRecord| {
        count(&mut t.ends.client, "Tcp.InErrs", 2);
        count(&mut t.ends.client, "Tcp.InCsumErrors", 2);
    };
    assert_eq!(closed("rtt-tcp-64", Family::V6, damaged), ["host-drops"]);
    // A request for a connection that came again, on a path with loss.
    let again = |t: &mut TrialRecord| count(&mut t.ends.client, "Tcp.InErrs", 1);
    assert!(closed("rtt-tcp-64", Family::V6, again).is_empty());
    let overflow =
        |t: &mut TrialRecord| count(t.ends.server.seen_mut().unwrap(), "TcpExt.ListenOverflows", 1);
    assert_eq!(closed("connect-tcp", Family::V4, overflow), ["listener"]);
}

/// The kernel counts a datagram whose fragment never came both as failed and as waited for: that is
/// the path's loss. What failed with time left is the host's.
#[test]
fn reassembly_that_waited_in_vain_is_the_path_s_loss_and_no_drop_of_the_host() {
    for (family, group) in [(Family::V4, "Ip"), (Family::V6, "Ip6")] {
        let judged = |cell: &str, failed: i64, waited: i64| {
            let plan = plan();
            let mut trial = trial(&plan, cell, family);
            let server = trial.ends.server.seen_mut().unwrap();
            count(server, &alloc::format!("{group}.ReasmFails"), failed);
            count(server, &alloc::format!("{group}.ReasmTimeout"), waited);
            let (_, cell) = plan.cell(cell).unwrap();
            let findings = judge(&plan, cell, &trial).into_iter();
            findings.map(|finding| (finding.gate, finding.fatal)).collect::<Vec<_>>()
        };
        let incomplete = ("incomplete".to_string(), false);
        let drops = ("host-drops".to_string(), true);
        assert_eq!(judged("rtt-udp-16384", 56, 56).as_slice(), core::slice::from_ref(&incomplete));
        assert_eq!(judged("rtt-udp-16384", 57, 56), [drops.clone(), incomplete]);
        assert_eq!(judged("rtt-udp-16384", 3, 0), [drops]);
        // Those of the trial before, whose datagrams were cut.
        assert_eq!(judged("rtt-udp-64", 56, 56), []);
    }
}

/// Identifications of IPv4 that came round before a datagram was given up.
#[test]
fn fragments_over_those_of_an_earlier_datagram_are_no_drop_of_the_host() {
    let overlaps = |failed: i64| {
        move |t: &mut TrialRecord| {
            count(t.ends.server.seen_mut().unwrap(), "Ip.ReasmFails", failed);
            count(t.ends.server.seen_mut().unwrap(), "IpExt.ReasmOverlaps", 2);
        }
    };
    assert!(closed("rtt-udp-16384", Family::V4, overlaps(2)).is_empty());
    assert_eq!(closed("rtt-udp-16384", Family::V4, overlaps(3)), ["host-drops"]);
}

#[test]
fn path_events_close() {
    let broken = |t: &mut TrialRecord| count(&mut t.ends.client, "if.eth0.rx_errors", 1);
    assert_eq!(closed("throughput-tcp", Family::V6, broken), ["interface-errors"]);
    let again = |t: &mut TrialRecord| count(&mut t.ends.client, "Tcp.RetransSegs", 1);
    assert_eq!(closed("rtt-tcp-64", Family::V6, again), ["retransmissions"]);
    assert!(closed("throughput-tcp", Family::V6, again).is_empty());
}

#[test]
fn segments_sent_again_that_had_arrived_close_only_when_they_are_many() {
    let resent = |sent: i64, again: i64, had: i64| {
        closed("rtt-tcp-64", Family::V6, |t| {
            count(t.ends.server.seen_mut().unwrap(), "Tcp.OutSegs", sent);
            count(t.ends.server.seen_mut().unwrap(), "Tcp.RetransSegs", again);
            count(t.ends.server.seen_mut().unwrap(), "TcpExt.TCPDSACKRecv", had);
        })
    };
    assert!(resent(1_000, 2, 2).is_empty());
    assert_eq!(resent(1_000, 3, 3), ["retransmissions"]);
    assert_eq!(resent(1_000, 2, 1), ["retransmissions"]);
    assert_eq!(resent(0, 1, 1), ["retransmissions"]);
}

#[test]
fn fragments_are_welcome_only_where_the_model_has_them() {
    let fragments = |t: &mut TrialRecord| count(&mut t.ends.client, "Ip6.FragCreates", 24);
    assert_eq!(closed("rtt-udp-64", Family::V6, fragments), ["fragmentation"]);
    assert!(closed("rtt-udp-16384", Family::V6, fragments).is_empty());
}

#[test]
fn an_end_that_does_not_know_the_path_takes_the_other_s_word() {
    let small = |t: &mut TrialRecord| {
        t.ends.client.granted.path_mtu = Some(1400);
        count(t.ends.server.seen_mut().unwrap(), "Ip6.FragCreates", 24);
    };
    let real = preset::first_look(PerArm::FAMILIES, None, 1);
    let mut trial = trial(&real, "throughput-udp-1408", Family::V6);
    small(&mut trial);
    let (_, cell) = real.cell("throughput-udp-1408").unwrap();
    assert_eq!(judge(&real, cell, &trial), []);
    trial.ends.client.granted.path_mtu = None;
    assert!(judge(&real, cell, &trial).iter().all(|finding| !finding.fatal));
}

#[test]
fn a_world_that_loses_or_reorders_bears_retransmissions() {
    let fatal = |change: fn(&mut World)| {
        let mut plan = plan();
        plan.parts_mut().world.iter_mut().for_each(change);
        let mut trial = trial(&plan, "rtt-tcp-64", Family::V6);
        count(&mut trial.ends.client, "Tcp.RetransSegs", 1);
        let (_, cell) = plan.cell("rtt-tcp-64").unwrap();
        judge(&plan, cell, &trial).iter().any(|finding| finding.fatal)
    };
    assert!(fatal(|_| ()));
    assert!(fatal(|world| world.links[1].conditions.v6.duplication = 0.1));
    assert!(!fatal(|world| world.links[0].conditions.v6.loss = 0.01));
    assert!(!fatal(|world| {
        let link = &mut world.links[0];
        let held = Some(Reordering { share: 0.1, by_ns: 5 });
        link.back.insert(link.conditions).v4.reordering = held;
    }));
    // The queue before a slower line overflows.
    assert!(!fatal(|world| world.links[1].conditions.v6.rate_bps = Some(10_000_000)));
}

#[test]
fn the_same_bytes_on_a_bridge_and_its_port_are_not_other_traffic() {
    let twice = |t: &mut TrialRecord| {
        let received = Received { bytes: 100_000_000, ..Received::default() };
        t.ends.server.seen_mut().unwrap().measured = Measured::Received(received);
        count(t.ends.server.seen_mut().unwrap(), "if.br0.rx_bytes", 104_000_000);
        count(t.ends.server.seen_mut().unwrap(), "if.eth0.rx_bytes", 104_500_000);
        count(t.ends.server.seen_mut().unwrap(), "if.wlan0.rx_errors", 7);
    };
    assert!(closed("throughput-tcp", Family::V4, twice).is_empty());
}

#[test]
fn lost_exchanges_are_noted() {
    use v6gap_core::observation::Times;
    let plan = plan();
    let mut trial = trial(&plan, "rtt-udp-64", Family::V6);
    trial.ends.client.measured = Measured::Times(Times { count: 90, lost: 10, ..Times::default() });
    let (_, cell) = plan.cell("rtt-udp-64").unwrap();
    let findings = judge(&plan, cell, &trial);
    assert_eq!(findings.len(), 1);
    assert!(!findings[0].fatal && findings[0].seen.contains("10 of 100"));
}

#[test]
fn connections_that_rest_between_turns_may_start_slowly() {
    use v6gap_core::observation::Times;
    let mut plan = plan();
    plan.parts_mut().world = None;
    let judged = |plan: &Plan, id: &str, mean_ns: f64| {
        let mut trial = trial(plan, id, Family::V6);
        let times = Times { count: 40, mean_ns, ..Times::default() };
        trial.ends.client.measured = Measured::Times(times);
        let (_, cell) = plan.cell(id).unwrap();
        let findings = judge(plan, cell, &trial);
        findings.iter().filter(|f| f.gate == "idle-restart").count()
    };
    // 8 connections of each arm and turns of 5 exchanges: 75 exchanges of others in between.
    assert_eq!(judged(&plan, "rtt-tcp-16384", 2.6e6), 0);
    assert_eq!(judged(&plan, "rtt-tcp-16384", 2.7e6), 1);
    assert_eq!(judged(&plan, "rtt-tcp-1024", 2.7e6), 0, "it fits the initial window");
    assert_eq!(judged(&plan, "rtt-udp-16384", 2.7e6), 0);
    plan.parts_mut().world = Some(preset::demo_world());
    assert_eq!(judged(&plan, "rtt-tcp-16384", 2.7e6), 0, "the lab has it off");
}

#[test]
fn other_traffic_closes_above_a_hundredth() {
    let with = |rx: i64| {
        move |t: &mut TrialRecord| {
            let received = Received { bytes: 100_000_000, ..Received::default() };
            t.ends.server.seen_mut().unwrap().measured = Measured::Received(received);
            count(t.ends.server.seen_mut().unwrap(), "if.eth0.rx_bytes", rx);
        }
    };
    assert!(closed("throughput-tcp", Family::V4, with(104_500_000)).is_empty());
    assert_eq!(closed("throughput-tcp", Family::V4, with(112_000_000)), ["other-traffic"]);
}

#[test]
fn super_packets_close_on_a_link_with_a_rate() {
    let with = |bytes: i64| {
        move |t: &mut TrialRecord| {
            count(&mut t.ends.client, "if.l0.tx_bytes", bytes);
            count(&mut t.ends.client, "if.l0.tx_packets", 100);
        }
    };
    assert!(closed("throughput-tcp", Family::V4, with(151_400)).is_empty());
    assert_eq!(closed("throughput-tcp", Family::V4, with(6_400_000)), ["super-packets"]);
}

/// A trial whose round trips took `seconds`, and that `spoil` changed.
fn rtt_s(trial: &mut TrialRecord, seconds: f64, spoil: impl FnOnce(&mut TrialRecord)) {
    trial.values.insert(Metric::Rtt, seconds);
    spoil(trial);
}

#[test]
fn a_late_or_lossy_link_closes() {
    let late = |t: &mut TrialRecord| {
        t.link = Some(Lateness { p50_ns: 20_000, ..Lateness::default() });
    };
    assert_eq!(closed("rtt-udp-64", Family::V4, |t| rtt_s(t, 80e-6, late)), ["link-late"]);
    // Four crossings of 20 µs are little beside a wait of 28 ms in a queue.
    assert!(closed("rtt-udp-64", Family::V4, |t| rtt_s(t, 28e-3, late)).is_empty());
    assert_eq!(closed("rtt-udp-64", Family::V4, |t| rtt_s(t, 8e-3, late)), ["link-late"]);
    let connecting = |seconds: f64| {
        closed("connect-tcp", Family::V4, |t| {
            t.values.insert(Metric::Connect, seconds);
            late(t);
        })
    };
    assert!(connecting(28e-3).is_empty());
    assert_eq!(connecting(8e-3), ["link-late"]);
    let drops = |t: &mut TrialRecord| {
        t.link = Some(Lateness { dropped: 2, ..Lateness::default() });
    };
    assert_eq!(closed("throughput-udp-1408", Family::V4, drops), ["link-drops"]);
}

/// What frames lose is not touched by a late link; how late they are is, and that is said.
#[test]
fn a_late_link_is_a_reason_for_doubt_of_frames_and_drops_close() {
    let plan = plan();
    let cell = Cell::named(Workload::Frames(Frames::default()));
    let found = |link: Lateness| {
        let usual = trial(&plan, "throughput-udp-1408", Family::V4);
        let values = cell.workload.metrics().iter().map(|&m| (m, 1.0)).collect();
        let trial = TrialRecord { values, link: Some(link), ..usual };
        let found = judge(&plan, &cell, &trial).into_iter();
        found.map(|f| (f.gate, f.fatal)).collect::<Vec<_>>()
    };
    let late = Lateness { p50_ns: 20_000, ..Lateness::default() };
    assert_eq!(found(late), [("link-late".to_string(), false)]);
    let drops = Lateness { dropped: 2, ..Lateness::default() };
    assert_eq!(found(drops), [("link-drops".to_string(), true)]);
}

#[test]
fn a_trial_without_a_value_closes() {
    let nothing = |t: &mut TrialRecord| t.values.clear();
    assert_eq!(closed("rtt-udp-64", Family::V4, nothing), ["measured"]);
    let zero = |t: &mut TrialRecord| {
        t.values.insert(Metric::Throughput, 0.0);
    };
    assert_eq!(closed("throughput-tcp", Family::V4, zero), ["measured"]);
}

/// A family that lets nothing through has no rate, and its loss must be told all the same.
#[test]
fn a_trial_that_has_some_values_counts() {
    let plan = plan();
    let (_, cell) = plan.cell("throughput-udp-1408").expect("a bulk cell");
    let (mut own, other) = (trial(&plan, &cell.id, Family::V6), trial(&plan, &cell.id, Family::V4));
    own.values.insert(Metric::Throughput, 0.0);
    own.values.insert(Metric::Loss, 1.0);
    let found = super::judge(&plan, cell, &own, &other);
    let found: Vec<_> = found.into_iter().filter(|f| f.gate == super::NO_VALUE).collect();
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert!(
        !finding.fatal && finding.seen.starts_with("throughput: there was nothing"),
        "{finding:?}"
    );
    let why = super::without(Metric::Throughput, [&own, &other]).unwrap();
    assert!(why.starts_with("in a trial over IPv6 there was nothing"), "{why}");
    assert_eq!(super::without(Metric::Loss, [&own, &other]), None);
}

#[test]
fn marks_that_the_path_rewrote_are_a_reason_for_doubt() {
    let mut plan = plan();
    let sent = Marking {
        traffic_class: Some(0xb8),
        hop_limit: Some(64),
        flow_label: Some(5),
        dont_fragment: false,
    };
    plan.parts_mut().cells[0].workload = plan.cells[0].workload.clone().marked(sent);
    let found = |arrived: Marking| {
        let mut findings = Vec::new();
        let mut trial = trial(&plan, &plan.cells[0].id, Family::V6);
        trial.ends.server.seen_mut().unwrap().granted.arrived = Some(arrived);
        marking::judge(&plan.cells[0], &trial, &mut findings);
        findings
    };
    assert_eq!(found(Marking { hop_limit: Some(60), ..sent }), []);
    assert_eq!(found(Marking { flow_label: None, ..sent }), []);
    for rewritten in
        [Marking { traffic_class: Some(0), ..sent }, Marking { flow_label: Some(6), ..sent }]
    {
        let findings = found(rewritten);
        assert_eq!((findings.len(), findings[0].fatal), (1, false), "{rewritten:?}");
        assert_eq!(findings[0].gate, "marking");
    }
}

/// A sender at full speed that outruns its receiver is a finding about the receiver: its socket
/// counted what it dropped. At a rate that was asked for the receiver had to keep up.
#[test]
fn a_receiver_may_be_outrun_at_full_speed_only() {
    let judged = |rate_bps: Option<u64>, of_client: i64| {
        let mut plan = plan();
        let index = plan.cells.iter().position(|c| c.id == "throughput-udp-1408").unwrap();
        if let Workload::UdpBulk(bulk) = &mut plan.parts_mut().cells[index].workload {
            bulk.rate_bps = rate_bps;
        }
        let mut trial = trial(&plan, "throughput-udp-1408", Family::V6);
        count(trial.ends.server.seen_mut().unwrap(), "Udp6.RcvbufErrors", 100);
        count(&mut trial.ends.client, "Udp6.RcvbufErrors", of_client);
        let sent = Sent { packets: 1000, span_ns: 1_000_000, ..Sent::default() };
        let received = Received { packets: 900, dropped: Some(100), ..Received::default() };
        trial.ends.client.measured =
            Measured::Sent(Sent { blocked_ns: Some(0), skipped: 20, ..sent });
        trial.ends.server.seen_mut().unwrap().measured = Measured::Received(received);
        let findings = judge(&plan, &plan.cells[index], &trial);
        findings.into_iter().map(|f| (f.gate, f.fatal)).collect::<Vec<_>>()
    };
    let caveat = |gate: &str| (gate.to_string(), false);
    let bound = ["rate-missed", "sender-bound", "receiver-bound"].map(caveat);
    // On one host the counter of the one end is that of the other.
    for of_client in [0, 100] {
        assert_eq!(judged(None, of_client), bound);
    }
    let others = judged(None, 7);
    assert!(others.contains(&("host-drops".to_string(), true)), "{others:?}");
    let paced = judged(Some(1_000_000), 0);
    assert_eq!(paced, [caveat("rate-missed"), ("host-drops".to_string(), true)]);
}

/// What a search found is the path's only if neither its highest rate nor its host stopped it.
#[test]
fn a_search_that_did_not_meet_the_path_s_end_says_so() {
    let judged = |search: Search, searched: Searched| {
        let mut plan = plan();
        let capacity = Capacity { rate_bps_max: 50_000_000, search, ..Capacity::default() };
        let cell = Cell::named(Workload::Capacity(capacity));
        plan.parts_mut().cells.push(cell.clone());
        let mut trial = trial(&plan, &cell.id, Family::V4);
        trial.ends.client.measured = Measured::Searched(Box::new(searched));
        judge(&plan, &cell, &trial).into_iter().map(|f| f.gate).collect::<Vec<_>>()
    };
    let sent = |blocked_ns, skipped| Sent {
        packets: 1000,
        span_ns: 1_000_000,
        blocked_ns: Some(blocked_ns),
        skipped,
        ..Sent::default()
    };
    let load = |blocked_ns, skipped| {
        let rates = [(0, 500_000), (1, 50_000_000)].to_vec();
        let sent = sent(blocked_ns, skipped);
        let searched = Searched { sent, rates, ..Searched::default() };
        judged(Search::Load { duration_ns: 2_000_000_000 }, searched)
    };
    assert_eq!(load(0, 0), ["search-bound"]);
    assert_eq!(load(0, 100), ["sender-bound"]);
    assert!(load(100_000, 100).is_empty(), "a full queue is the path's");
    let halving = |carried| {
        let trials = [RateTrial { rate_bps: 50_000_000, carried, ..RateTrial::default() }].to_vec();
        let search = Search::Halving { trial_ns: 1, lost_ppm_max: 0, forced: false };
        judged(search, Searched { sent: sent(100_000, 0), trials, ..Searched::default() })
    };
    assert_eq!(halving(true), ["search-bound"]);
    assert!(halving(false).is_empty());
}

/// What a queue of the sender's own dropped never reached the network. In a lab that queue is the
/// link's.
#[test]
fn drops_before_the_wire_are_the_sender_s() {
    let judged = |model: Option<LinkModel>| {
        let mut plan = plan();
        plan.parts_mut().world =
            model.map(|model| World::client_router_server(model, Some(100_000_000)));
        let mut trial = trial(&plan, "throughput-udp-1408", Family::V6);
        count(&mut trial.ends.client, "if.eth0.tx_bytes", 1_000_000);
        count(&mut trial.ends.client, "queue.eth0.drops", 40);
        count(&mut trial.ends.client, "queue.wlan0.drops", 9);
        let (_, cell) = plan.cell("throughput-udp-1408").unwrap();
        let findings = judge(&plan, cell, &trial);
        findings.into_iter().filter(|f| f.gate == "queue-drops").collect::<Vec<_>>()
    };
    for model in [None, Some(LinkModel::Bare)] {
        let findings = judged(model);
        assert_eq!((findings.len(), findings[0].fatal), (1, false));
        assert!(findings[0].seen.contains("the client: its own queue before eth0 dropped 40"));
    }
    for model in [LinkModel::Shaped, LinkModel::Wire] {
        assert_eq!(judged(Some(model)), []);
    }
}
