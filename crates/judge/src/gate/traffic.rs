//! Did other traffic come in on the interface that a bulk transfer came in on?
//!
//! What the trial's own took on the wire is worked out from what both ends say of it: the receiver
//! the bytes that arrived, the sender how they were cut. A receiver alone does not know that: the
//! path behind its link may carry less than the link.

use super::families;
use super::path::path_bytes;
use alloc::format;
use alloc::vec::Vec;
use v6gap_core::capacity::PATH_MTU_USUAL;
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Measured, Received};
use v6gap_core::plan::Plan;
use v6gap_core::record::TrialRecord;
use v6gap_core::wiremodel::{self, ETHERNET_HEADER_BYTES, TCP_HEADER_BYTES};
use v6gap_core::workload::{Cell, Transport};

/// Other traffic above this share of the trial's own bytes spoils a rate.
pub(crate) const OTHER_TRAFFIC_MAX: f64 = 0.01;

/// Other traffic of so many bytes is borne in any case.
const OTHER_BYTES_MAX: f64 = 100_000.0;

/// Datagrams of full length that a trial has beside its data: the knock before, the end after them,
/// and each once more where it was lost.
const DATAGRAMS_BESIDE: u64 = 4;

/// Headers of TCP with all the options that fit, in bytes.
const TCP_HEADERS_MOST: u32 = TCP_HEADER_BYTES + 40;

/// Where other traffic came in: the end, and how much it was as a share of the trial's own.
pub(super) fn others(plan: &Plan, cell: &Cell, trial: &TrialRecord) -> Vec<(&'static str, f64)> {
    let mtu = path_bytes(plan, trial).unwrap_or(PATH_MTU_USUAL);
    let sender = trial.ends.all().find(|end| end.measured.sent().is_some());
    let share = |(who, end, family): (&'static str, &EndReport, Family)| {
        let payload = cell.workload.datagram_bytes_over(trial.family);
        let own = own_bytes(cell, payload, (end, family), sender, mtu)?;
        let interface = end.interface()?;
        let excess = end.counter(&format!("if.{interface}.rx_bytes")) as f64 - own;
        let is_much = excess > OTHER_TRAFFIC_MAX * own + OTHER_BYTES_MAX;
        is_much.then_some((who, excess / own))
    };
    families(trial).filter_map(share).collect()
}

/// Bytes that the trial's own data took on the wire where they came in, at most; datagrams of
/// `payload` bytes, where that is known.
fn own_bytes(
    cell: &Cell,
    payload: Option<u32>,
    (end, family): (&EndReport, Family),
    sender: Option<&EndReport>,
    mtu: u32,
) -> Option<f64> {
    let Measured::Received(received) = &end.measured else { return None };
    if received.bytes == 0 {
        return None;
    }
    if cell.workload.transport() == Transport::Tcp {
        return Some(of_segments(received, sender.unwrap_or(end), family, mtu));
    }
    let mean = || received.bytes.checked_div(received.packets)?.try_into().ok();
    let payload = payload.or_else(mean)?;
    let lost = sender.and_then(|end| end.measured.sent()).map(|sent| received.lost_of(sent));
    let came = fragments_in(family, end);
    Some(of_datagrams(received, &Cut { payload, family, mtu, came, lost }))
}

/// Bytes on the wire of a transfer over TCP, at most, by the segments that `sender` says it made:
/// as many as its kernel counted, or else full ones of the smallest size that it had.
fn of_segments(received: &Received, sender: &EndReport, family: Family, mtu: u32) -> f64 {
    let accounts = || sender.connections.iter().filter_map(|one| one.account);
    let sizes = accounts().map(|account| account.mss).chain(sender.granted.mss);
    let by_path = || wiremodel::tcp_mss(mtu, family, wiremodel::TcpOptions::TIMESTAMPS);
    let size = sizes.filter(|&size| size > 0).min().unwrap_or_else(by_path).max(1);
    let counted = accounts().filter_map(|account| account.data_segments()).sum();
    let segments = received.bytes.div_ceil(u64::from(size)).max(counted);
    let each = u64::from(family.header_bytes() + TCP_HEADERS_MOST + ETHERNET_HEADER_BYTES);
    received.bytes as f64 + segments as f64 * each as f64
}

/// Fragments of `family` that came in at `end`.
fn fragments_in(family: Family, end: &EndReport) -> u64 {
    let came = match family {
        Family::V4 => end.counter("Ip.ReasmReqds"),
        Family::V6 => end.counter("Ip6.ReasmReqds"),
    };
    u64::try_from(came).unwrap_or(0)
}

/// How datagrams were cut on their way.
struct Cut {
    /// Bytes of a datagram.
    payload: u32,
    family: Family,
    /// What the path carries in one piece, in bytes.
    mtu: u32,
    /// Fragments that came in, whoever made them.
    came: u64,
    /// Datagrams that the path lost, if the sender told how many there were.
    lost: Option<u64>,
}

/// Bytes on the wire of a stream of datagrams, at most: of those that arrived, what the socket
/// dropped among them, and of those that came in part.
fn of_datagrams(received: &Received, cut: &Cut) -> f64 {
    let arrived = received.bytes.div_ceil(u64::from(cut.payload).max(1));
    let further = [received.duplicates, received.dropped.unwrap_or(0)];
    let whole = further.into_iter().fold(arrived, u64::saturating_add);
    let packets = wiremodel::udp_packets(cut.payload, cut.family, cut.mtu).unwrap_or_default();
    let on_wire = |packet: u32| u64::from(packet) + u64::from(ETHERNET_HEADER_BYTES);
    let each: u64 = packets.iter().copied().map(on_wire).sum();
    let further = match packets.as_slice() {
        // A fragment is lost, and with it the datagram; the other fragments came in all the same.
        [first, _, ..] => {
            let pieces = packets.len() as u64;
            let in_part = cut.lost.map_or(u64::MAX, |lost| lost.saturating_mul(pieces - 1));
            let in_whole = whole.saturating_mul(pieces);
            let parts = cut.came.saturating_sub(in_whole).min(in_part);
            parts.saturating_mul(on_wire(*first))
        }
        // Neither end cut them, but a router may have: each piece has headers of its own.
        _ => cut.came.saturating_mul(on_wire(
            cut.family.header_bytes() + cut.family.fragment_header_bytes(),
        )),
    };
    whole.saturating_add(DATAGRAMS_BESIDE).saturating_mul(each).saturating_add(further) as f64
}
