//! Did the marks of packets reach the other end as they were sent?

use super::caveat;
use alloc::format;
use alloc::vec::Vec;
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::workload::{Cell, Marking};

/// A network may rewrite marks (RFC 2474 section 4): then the packets were treated by other rules
/// from there on. Hop limits are meant to change. Flow labels are not (RFC 6437 section 3).
pub(super) fn judge(cell: &Cell, trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    let sent = cell.workload.marking();
    let arrived = trial.ends.server.seen().and_then(|server| server.granted.arrived);
    let Some(Marking { traffic_class, flow_label, .. }) = arrived else { return };
    let mut differ = |what, sent: Option<u32>, arrived: Option<u32>| {
        if let (Some(sent), Some(arrived)) = (sent, arrived)
            && sent != arrived
        {
            let seen = format!("{what} {sent:#x} was sent and {arrived:#x} came in at the server");
            findings.push(caveat("marking", seen));
        }
    };
    let octet = |class: Option<u8>| class.map(u32::from);
    differ("traffic class", octet(sent.traffic_class), octet(traffic_class));
    differ("flow label", sent.flow_label.filter(|_| flow_label.is_some()), flow_label);
}
