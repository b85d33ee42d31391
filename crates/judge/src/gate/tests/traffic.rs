//! What a trial's own bytes take on the wire is what both ends say of it.

use super::{closed, count, end, judge, plan, trial};
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::{Connection, Measured, Received, Sent, TcpAccount};
use v6gap_core::plan::{Plan, preset};
use v6gap_core::record::TrialRecord;
use v6gap_core::workload::{Cell, Workload};

const PAYLOAD_BYTES: u64 = 1408;

/// A transfer from the client to the server, of which `rx` bytes came in on the interface.
fn transfer(received: Received, sent: Sent, rx: i64) -> impl Fn(&mut TrialRecord) {
    move |trial| {
        trial.ends.client.measured = Measured::Sent(sent.clone());
        let server = trial.ends.server.seen_mut().unwrap();
        server.measured = Measured::Received(received.clone());
        count(server, "if.eth0.rx_bytes", rx);
    }
}

/// Names of the gates that close outside of a lab, where nobody knows the path but who sent.
fn closed_outside(cell: &str, family: Family, spoil: impl Fn(&mut TrialRecord)) -> Vec<String> {
    let plan = preset::first_look(PerArm::FAMILIES, None, 1);
    let mut trial = trial(&plan, cell, family);
    spoil(&mut trial);
    let (_, cell) = plan.cell(cell).unwrap();
    fatal_gates(&plan, cell, &trial)
}

/// Names of the gates that close in a lab on a stream of datagrams of so many bytes.
fn closed_of(payload: u32, family: Family, spoil: impl Fn(&mut TrialRecord)) -> Vec<String> {
    let mut plan = plan();
    let index = plan.cells.iter().position(|c| c.id == "throughput-udp-1408").unwrap();
    if let Workload::UdpBulk(bulk) = &mut plan.parts_mut().cells[index].workload {
        bulk.payload_bytes = payload;
    }
    let mut trial = trial(&plan, &plan.cells[index].id, family);
    spoil(&mut trial);
    fatal_gates(&plan, &plan.cells[index], &trial)
}

fn fatal_gates(plan: &Plan, cell: &Cell, trial: &TrialRecord) -> Vec<String> {
    judge(plan, cell, trial).into_iter().filter(|f| f.fatal).map(|f| f.gate).collect()
}

/// Behind a link of 1500 bytes stands one of 1280, which the sender alone is told of.
#[test]
fn datagrams_that_the_sender_cut_are_the_trial_s_own() {
    let datagrams = 10_000;
    let received =
        Received { packets: datagrams, bytes: datagrams * PAYLOAD_BYTES, ..Received::default() };
    let sent = Sent { packets: datagrams, ..Sent::default() };
    for family in Family::BOTH {
        // Two pieces of each, with the headers of two.
        let headers = 2 * (14 + family.header_bytes() + family.fragment_header_bytes()) + 8;
        let own = (datagrams * (PAYLOAD_BYTES + u64::from(headers))) as i64;
        let judged = |told: Option<u32>, rx: i64| {
            let moved = transfer(received.clone(), sent.clone(), rx);
            closed_outside("throughput-udp-1408", family, |trial| {
                trial.ends.client.granted.path_mtu = told;
                moved(trial);
            })
        };
        assert!(judged(Some(1280), own).is_empty(), "{family}");
        assert_eq!(judged(Some(1280), own + own / 50), ["other-traffic"], "{family}");
        assert_eq!(judged(None, own), ["other-traffic"], "{family}: in one piece they are fewer");
    }
}

/// A router of IPv4 may cut what the sender believes to fit: the receiver counts the pieces.
#[test]
fn datagrams_that_a_router_cut_are_the_trial_s_own() {
    let datagrams = 10_000;
    let received =
        Received { packets: datagrams, bytes: datagrams * PAYLOAD_BYTES, ..Received::default() };
    let own = (datagrams * (PAYLOAD_BYTES + 3 * (14 + 20) + 8)) as i64;
    let judged = |came: i64, rx: i64| {
        let moved = transfer(received.clone(), Sent::default(), rx);
        closed_outside("throughput-udp-1408", Family::V4, |trial| {
            moved(trial);
            count(trial.ends.server.seen_mut().unwrap(), "Ip.ReasmReqds", came);
        })
    };
    assert!(judged(3 * datagrams as i64, own).is_empty());
    assert_eq!(judged(3 * datagrams as i64, own * 106 / 100), ["other-traffic"]);
    assert_eq!(judged(0, own), ["other-traffic"]);
}

/// Of a datagram in twelve fragments eleven come in where the path lost one.
#[test]
fn fragments_of_datagrams_that_were_lost_are_the_trial_s_own() {
    let (sent, whole, payload, pieces) = (768, 704, 16_384, 12);
    let received = Received { packets: whole, bytes: whole * payload, ..Received::default() };
    let judged = |came: u64, rx: u64| {
        let sent = Sent { packets: sent, ..Sent::default() };
        let moved = transfer(received.clone(), sent, rx as i64);
        closed_of(payload as u32, Family::V6, |trial| {
            moved(trial);
            count(trial.ends.server.seen_mut().unwrap(), "Ip6.ReasmReqds", came as i64);
        })
    };
    let in_part = (sent - whole) * (pieces - 1);
    let own = whole * (payload + 8) + whole * pieces * (14 + 48) + in_part * 1500;
    assert!(judged(whole * pieces + in_part, own).is_empty());
    assert_eq!(judged(whole * pieces + in_part, own + 500_000), ["other-traffic"]);
    // Fragments of somebody else are not taken for the trial's own.
    let others = 1000;
    let came = whole * pieces + in_part + others;
    assert_eq!(judged(came, own + others * 1500), ["other-traffic"]);
    assert_eq!(judged(whole * pieces, own), ["other-traffic"], "nothing came in part");
}

/// The knock before the data and their end are as long as the data, which is much where those are
/// few and large.
#[test]
fn what_a_trial_says_before_and_after_its_data_is_its_own() {
    let (datagrams, payload, each) = (10, 57_344, 57_344 + 8 + 39 * (14 + 20));
    let received =
        Received { packets: datagrams, bytes: datagrams * payload, ..Received::default() };
    let judged = |came: u64| {
        let sent = Sent { packets: datagrams, ..Sent::default() };
        let moved = transfer(received.clone(), sent, (came * each) as i64);
        closed_of(payload as u32, Family::V4, |trial| {
            moved(trial);
            count(trial.ends.server.seen_mut().unwrap(), "Ip.ReasmReqds", came as i64 * 39);
        })
    };
    assert!(judged(datagrams + 3).is_empty());
    assert_eq!(judged(datagrams + 6), ["other-traffic"]);
}

/// A transfer in smaller segments has more headers: the sender's kernel counted them.
#[test]
fn segments_are_as_many_as_the_sender_made() {
    let bytes = 100_000_000;
    let account =
        |mss, data_segments_out| TcpAccount { mss, data_segments_out, ..TcpAccount::default() };
    let judged = |account: Option<TcpAccount>, rx: i64| {
        let received = Received { bytes, ..Received::default() };
        let moved = transfer(received, Sent::default(), rx);
        closed("throughput-tcp", Family::V6, |trial| {
            moved(trial);
            let endpoints = end(Family::V6).endpoints.unwrap();
            trial.ends.client.connections = [Connection {
                endpoints,
                sent_bytes: bytes,
                received_bytes: 0,
                rtt_mean_us: None,
                window_mean_bytes: None,
                processor: None,
                account,
            }]
            .to_vec();
        })
    };
    // Segments of 476 bytes, as the smallest path of IPv4 has them.
    let own = 100_000_000 / 476 * (476 + 20 + 12 + 40 + 14);
    assert!(judged(Some(account(476, None)), own).is_empty());
    assert!(judged(Some(account(1440, Some(100_000_000 / 476))), own).is_empty());
    assert_eq!(judged(Some(account(1440, None)), own), ["other-traffic"]);
    assert_eq!(judged(Some(account(476, None)), own * 108 / 100), ["other-traffic"]);
}
