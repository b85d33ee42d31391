//! What stood beside the trials: that somebody captured, what they missed, and the readings of
//! captures and managed devices beside this program's own count (docs/method.md section B.16).

use super::collect::Collected;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::capacity::PATH_MTU_USUAL;
use v6gap_core::family::Family;
use v6gap_core::observation::{Beside, EndReport, TcpAccount};
use v6gap_core::plan::Plan;
use v6gap_core::record::TrialRecord;
use v6gap_core::wiremodel::{self, ETHERNET_HEADER_BYTES, TcpOptions, tcp_header_bytes};
use v6gap_core::workload::{Transport, Workload};

/// Octets of the trials of one cell and family as everybody counted them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OctetsBeside {
    /// The cell.
    pub cell: String,
    /// Family of the trials; `None` if both arms were measured in turns.
    pub family: Option<Family>,
    /// How many trials.
    pub trials: u32,
    /// What the client's own interface counted: the reference of the ratios. Without frame check
    /// sequence.
    pub own: Way<u64>,
    /// What everybody else counted.
    pub others: Vec<OctetsOf>,
}

/// A value for each direction of the client's interface.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Way<T> {
    /// From the client towards the server.
    pub sent: T,
    /// The other way.
    pub received: T,
}

/// What one other counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OctetsOf {
    /// Who: `sockets`, `capture at NODE, INTERFACE` or `SNMP of DEVICE, INTERFACE`.
    pub who: String,
    /// Trials that it counted.
    pub trials: u32,
    /// Octets.
    pub octets: Way<u64>,
    /// Of these, what keeps links in order (ARP, neighbour discovery), where it is known.
    pub upkeep: Option<Way<u64>>,
    /// Octets counted there over those of the client's interface in the same trials; `None` where
    /// that counted nothing.
    pub ratio: Way<Option<f64>>,
}

/// Everybody's counts by cell and family, in the order of the plan.
pub(super) fn octets(found: &Collected<'_>) -> Vec<OctetsBeside> {
    let plan = &found.run.plan;
    let mut groups: Vec<Group> = Vec::new();
    for trial in &found.trials {
        let Some(beside) = trial.beside.as_deref() else { continue };
        let family = (!beside.shared).then_some(trial.family);
        let Some(own) = own(&trial.ends.client) else { continue };
        let same = |group: &Group| group.cell == trial.cell && group.family == family;
        let index = groups.iter().position(same).unwrap_or_else(|| {
            groups.push(Group { cell: trial.cell.clone(), family, ..Group::default() });
            groups.len() - 1
        });
        groups[index].add(trial, plan, beside, own);
    }
    let place = |cell: &str| plan.cells.iter().position(|known| known.id == cell);
    groups.sort_by_key(|group| (place(&group.cell), group.family));
    groups.into_iter().map(Group::finish).collect()
}

/// The trials of one cell and family.
#[derive(Default)]
struct Group {
    cell: String,
    family: Option<Family>,
    trials: u32,
    own: Way<u64>,
    others: BTreeMap<String, Sum>,
}

/// What one other counted so far, and the client's interface in the same trials.
#[derive(Default)]
struct Sum {
    trials: u32,
    octets: Way<u64>,
    upkeep: Option<Way<u64>>,
    own: Way<u64>,
}

impl Group {
    fn add(&mut self, trial: &TrialRecord, plan: &Plan, beside: &Beside, own: Way<u64>) {
        self.trials += 1;
        self.own = self.own.and(own);
        let cell = plan.cells.iter().find(|cell| cell.id == trial.cell);
        let told = cell
            .filter(|_| !beside.shared)
            .and_then(|cell| by_sockets(&cell.workload, trial.family, &trial.ends.client));
        if let Some(octets) = told {
            self.count("sockets".to_string(), octets, None, own);
        }
        for tap in &beside.taps {
            let upkeep = |traffic: &v6gap_core::observation::Traffic| {
                traffic.upkeep.v4.octets + traffic.upkeep.v6.octets
            };
            let (octets, turned) =
                Way { sent: tap.sent.all().octets, received: tap.received.all().octets }
                    .beside(own);
            let kept = Way { sent: upkeep(&tap.sent), received: upkeep(&tap.received) };
            let kept = if turned { kept.turned() } else { kept };
            let who = format!("capture at {}, {}", tap.node, tap.interface);
            self.count(who, octets, Some(kept), own);
        }
        for device in &beside.devices {
            for port in &device.ports {
                let read = Way { sent: port.sent_octets, received: port.received_octets };
                let who = format!("SNMP of {}, {}", device.device, port.name);
                self.count(who, read.beside(own).0, None, own);
            }
        }
    }

    fn count(&mut self, who: String, octets: Way<u64>, upkeep: Option<Way<u64>>, own: Way<u64>) {
        let sum = self.others.entry(who).or_default();
        sum.trials += 1;
        sum.octets = sum.octets.and(octets);
        sum.own = sum.own.and(own);
        if let Some(upkeep) = upkeep {
            sum.upkeep = Some(sum.upkeep.unwrap_or_default().and(upkeep));
        }
    }

    fn finish(self) -> OctetsBeside {
        let ratio = |of: u64, own: u64| (own > 0).then(|| of as f64 / own as f64);
        let one = |(who, sum): (String, Sum)| OctetsOf {
            who,
            trials: sum.trials,
            octets: sum.octets,
            upkeep: sum.upkeep,
            ratio: Way {
                sent: ratio(sum.octets.sent, sum.own.sent),
                received: ratio(sum.octets.received, sum.own.received),
            },
        };
        let Group { cell, family, trials, own, others } = self;
        let mut others: Vec<OctetsOf> = others.into_iter().map(one).collect();
        others.sort_by_key(|other| other.who != "sockets");
        OctetsBeside { cell, family, trials, own, others }
    }
}

impl Way<u64> {
    fn and(self, other: Self) -> Self {
        Way {
            sent: self.sent.saturating_add(other.sent),
            received: self.received.saturating_add(other.received),
        }
    }

    fn turned(self) -> Self {
        Way { sent: self.received, received: self.sent }
    }

    /// What an interface somewhere on the path sent and received, as ways of the client's: what a
    /// router's interface towards the client receives is what the client sends. Of the two readings
    /// the nearer one is taken; says whether it was turned.
    fn beside(self, own: Self) -> (Self, bool) {
        let off = |way: &Self| way.sent.abs_diff(own.sent) + way.received.abs_diff(own.received);
        let turned = self.turned();
        if off(&turned) < off(&self) { (turned, true) } else { (self, false) }
    }
}

/// What the client's interface counted.
fn own(client: &EndReport) -> Option<Way<u64>> {
    let interface = client.interface()?;
    let count = |name: &str| u64::try_from(client.counter(&format!("if.{interface}.{name}"))).ok();
    Some(Way { sent: count("tx_bytes")?, received: count("rx_bytes")? })
}

/// Octets computed from what the client's sockets say: payload, and headers of each segment or
/// datagram. `None` where they do not say enough.
fn by_sockets(workload: &Workload, family: Family, client: &EndReport) -> Option<Way<u64>> {
    match workload.transport() {
        Transport::Tcp if !client.connections.is_empty() => {
            let options = match client.granted.timestamps? {
                true => TcpOptions::TIMESTAMPS,
                false => TcpOptions::NONE,
            };
            let each = u64::from(ETHERNET_HEADER_BYTES + tcp_header_bytes(family, options));
            let of = |account: &TcpAccount| {
                let segments = |count: Option<u32>| count.map(|n| u64::from(n) * each);
                Some(Way {
                    sent: account.bytes_sent? + segments(account.segments_out)?,
                    received: account.bytes_received? + segments(account.segments_in)?,
                })
            };
            let all = client.connections.iter().map(|one| of(one.account.as_ref()?));
            all.sum::<Option<Way<u64>>>()
        }
        Transport::Udp => {
            let bulk = workload.datagrams()?.over(family);
            let v6gap_core::observation::Measured::Sent(sent) = &client.measured else {
                return None;
            };
            let mtu = client.granted.path_mtu.unwrap_or(PATH_MTU_USUAL);
            let packets = wiremodel::udp_packets(bulk.payload_bytes, family, mtu).ok()?;
            let header = u64::from(ETHERNET_HEADER_BYTES);
            let each: u64 = packets.iter().map(|&bytes| u64::from(bytes) + header).sum();
            let even = sent.bytes == sent.packets * u64::from(bulk.payload_bytes);
            even.then(|| Way { sent: sent.packets * each, received: 0 })
        }
        _ => None,
    }
}

impl core::iter::Sum for Way<u64> {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Way::default(), Way::and)
    }
}

/// What is to be known of captures: that there were any, which costs time of the processors that
/// measure; what they lost; and what could not be written.
pub(super) fn notes(trials: &[&TrialRecord]) -> Vec<String> {
    let all: Vec<&Beside> = trials.iter().filter_map(|trial| trial.beside.as_deref()).collect();
    let mut dropped: BTreeMap<&str, u64> = BTreeMap::new();
    let mut nodes: Vec<&str> = Vec::new();
    for tap in all.iter().flat_map(|beside| &beside.taps) {
        if !nodes.contains(&tap.node.as_str()) {
            nodes.push(&tap.node);
        }
        let dropped: &mut u64 = dropped.entry(&tap.node).or_default();
        *dropped = dropped.saturating_add(tap.dropped);
    }
    let mut notes = Vec::new();
    for doubt in all.iter().flat_map(|beside| &beside.devices).flat_map(|device| &device.doubts) {
        if !notes.contains(doubt) {
            notes.push(doubt.to_string());
        }
    }
    if !nodes.is_empty() {
        let nodes = nodes.join(" and ");
        notes.push(format!(
            "packets were captured at {nodes} while trials ran; that takes processor time, so \
             times may be longer and rates lower than without"
        ));
    }
    for (node, count) in dropped.into_iter().filter(|(_, count)| *count > 0) {
        notes.push(format!("the capture at {node} missed {count} frames: it could not keep up"));
    }
    for trouble in all.iter().flat_map(|beside| &beside.troubles) {
        if !notes.contains(trouble) {
            notes.push(trouble.to_string());
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::blank;
    use alloc::boxed::Box;
    use alloc::vec;
    use v6gap_core::family::Family;
    use v6gap_core::observation::Tapped;

    fn trial(beside: Option<Beside>) -> TrialRecord {
        TrialRecord { beside: beside.map(Box::new), ..blank("x", Family::V4) }
    }

    #[test]
    fn everybody_s_octets_stand_beside_the_client_s_own() {
        use v6gap_core::arm::PerArm;
        use v6gap_core::observation::{DeviceCount, Frames, PortCount};
        use v6gap_core::plan::preset;
        use v6gap_core::record::{BlockRecord, Line};
        let plan = preset::first_look(PerArm::FAMILIES, None, 1);
        let cell = plan.cells.iter().find(|cell| cell.id == "throughput-tcp").unwrap();
        let mut tap = Tapped { node: "router".into(), interface: "a".into(), ..Tapped::default() };
        // Towards the client: it receives what the client sends.
        tap.received.packets.v4 = Frames { frames: 10, octets: 9_958 };
        tap.received.upkeep.v4 = Frames { frames: 1, octets: 42 };
        tap.sent.packets.v4 = Frames { frames: 5, octets: 330 };
        let port = |name: &str, received_octets, sent_octets| PortCount {
            name: name.into(),
            received_octets,
            sent_octets,
            ..PortCount::default()
        };
        let device = DeviceCount {
            device: "sw".into(),
            ports: vec![port("p1", 10_040, 350), port("p2", 330, 10_000)],
            ..DeviceCount::default()
        };
        let beside = Beside { taps: vec![tap], devices: vec![device], ..Beside::default() };
        let mut one = trial(Some(beside));
        one.cell = cell.id.clone();
        let counters = [("if.eth0.tx_bytes", 10_000), ("if.eth0.rx_bytes", 330)];
        one.ends.client.counters =
            counters.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let lines = [
            Line::Run(Box::new(crate::analysis::tests::header(plan))),
            Line::Trial(Box::new(one.clone())),
            Line::Trial(Box::new(one)),
            Line::Block(BlockRecord { block: 0, valid: true, drawn: None }),
        ];
        let found = crate::analysis::collect::collect(&lines).unwrap();
        let groups = octets(&found);
        assert_eq!(groups.len(), 1, "{groups:?}");
        assert_eq!(
            (groups[0].trials, groups[0].own.sent, groups[0].own.received),
            (2, 20_000, 660)
        );
        let of = |who: &str| groups[0].others.iter().find(|other| other.who == who).unwrap();
        let capture = of("capture at router, a");
        assert_eq!((capture.octets.sent, capture.octets.received), (20_000, 660));
        assert_eq!(capture.upkeep, Some(Way { sent: 84, received: 0 }));
        assert_eq!(capture.ratio, Way { sent: Some(1.0), received: Some(1.0) });
        assert_eq!(of("SNMP of sw, p1").ratio.sent, Some(1.004));
        assert_eq!(of("SNMP of sw, p2").ratio, Way { sent: Some(1.0), received: Some(1.0) });
    }

    #[test]
    fn sockets_tell_octets_with_headers() {
        use v6gap_core::observation::{Connection, Endpoints};
        let address = "192.0.2.1:1".parse().unwrap();
        let account = TcpAccount {
            bytes_sent: Some(14_480),
            segments_out: Some(12),
            bytes_received: Some(0),
            segments_in: Some(5),
            ..TcpAccount::default()
        };
        let connection = Connection {
            endpoints: Endpoints { domain: Family::V6, local: address, peer: address },
            sent_bytes: 0,
            received_bytes: 0,
            rtt_mean_us: None,
            window_mean_bytes: None,
            processor: None,
            account: Some(account),
        };
        let mut client = EndReport { connections: vec![connection], ..EndReport::default() };
        client.granted.timestamps = Some(true);
        let workload = Workload::TcpBulk(Default::default());
        let octets = by_sockets(&workload, Family::V6, &client).unwrap();
        assert_eq!((octets.sent, octets.received), (14_480 + 12 * 86, 5 * 86));
        client.granted.timestamps = None;
        assert_eq!(by_sockets(&workload, Family::V6, &client), None);
    }

    #[test]
    fn a_capture_is_a_caveat_and_so_is_what_it_missed() {
        let tap = |node: &str, dropped| Tapped { node: node.into(), dropped, ..Tapped::default() };
        let beside = Beside {
            taps: vec![tap("client", 0), tap("server", 7)],
            troubles: vec!["capture at client: full".into()],
            ..Beside::default()
        };
        let (with, without) = (trial(Some(beside)), trial(None));
        assert_eq!(notes(&[&without]), Vec::<String>::new());
        let told = notes(&[&with, &without, &with]);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("packets were captured at client and server"), "{told:?}");
        assert_eq!(told[1], "the capture at server missed 14 frames: it could not keep up");
        assert_eq!(told[2], "capture at client: full");
    }
}
