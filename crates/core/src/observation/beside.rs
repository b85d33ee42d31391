//! What stood beside a trial and saw it from outside: captures at nodes of the path, and counters
//! of devices on it.
//!
//! Neither is needed for a verdict. They are readings of the same octets by others, so they can
//! show that this program's own count is right, or what else was on the line.

use crate::family::{Family, PerFamily};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Length of an Ethernet header without tag, in bytes.
pub const ETHERNET_BYTES: usize = 14;

/// Length of a VLAN tag, in bytes (IEEE 802.1Q).
pub const TAG_BYTES: usize = 4;

/// EtherType of ARP, which does for IPv4 what neighbour discovery does for IPv6 (RFC 826).
const ARP: u16 = 0x0806;

/// Hop-by-hop options (RFC 8200 section 4.3), which multicast listener discovery stands behind.
const HOP_BY_HOP: u8 = 0;

/// Messages of ICMPv6 that keep a link in order: multicast listeners (RFC 2710, RFC 3810) and
/// neighbour discovery (RFC 4861).
const UPKEEP: [core::ops::RangeInclusive<u8>; 3] = [130..=132, 133..=137, 143..=143];

/// What others saw of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Beside {
    /// Whether both arms were measured in turns meanwhile, so that it is of both together. It
    /// stands with the first arm then.
    pub shared: bool,
    /// What passed the interfaces that were captured at.
    #[serde(default)]
    pub taps: Vec<Tapped>,
    /// What managed devices on the path counted.
    #[serde(default)]
    pub devices: Vec<DeviceCount>,
    /// What could not be read or stored, and why.
    #[serde(default)]
    pub troubles: Vec<String>,
}

/// What passed one interface while a trial ran, all frames that the filter took.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tapped {
    /// Whose interface it is: client, server or another node of the lab.
    pub node: String,
    /// Name of the interface at the node.
    pub interface: String,
    /// What the node sent.
    pub sent: Traffic,
    /// What it received.
    pub received: Traffic,
    /// Frames that the kernel could not keep, and that are missing above.
    pub dropped: u64,
    /// Frames of the above that stand in the file.
    pub written: u64,
}

/// What a managed device counted between two readings by SNMP, one before and one after a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceCount {
    /// What it is called by who asked.
    pub device: String,
    /// What it calls itself.
    pub name: String,
    /// Time between the readings by its own clock, in ns.
    pub span_ns: u64,
    /// Interfaces that counted anything.
    pub ports: Vec<PortCount>,
    /// Counters of IP that moved, for each version, by the names of IP-MIB.
    pub ip: PerFamily<BTreeMap<String, u64>>,
    /// Counters of TCP and UDP that moved, both versions of IP together.
    pub transport: BTreeMap<String, u64>,
    /// Why something is missing.
    pub doubts: Vec<String>,
}

/// What one interface of a device counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PortCount {
    /// Number of the interface in the device (`ifIndex`).
    pub index: u32,
    /// Name of the interface in the device.
    pub name: String,
    /// Octets that it received, with the Ethernet header, and with or without frame check sequence
    /// as its maker chose.
    pub received_octets: u64,
    /// Octets that it sent.
    pub sent_octets: u64,
    /// Other counters of the port that moved, by the names of IF-MIB, IP-MIB and EtherLike-MIB.
    pub others: BTreeMap<String, u64>,
}

/// Frames of one direction by what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Packets of each family.
    pub packets: PerFamily<Frames>,
    /// What keeps the link in order for each family: ARP and IGMP, neighbour and multicast
    /// listener discovery.
    pub upkeep: PerFamily<Frames>,
    /// All else.
    pub other: Frames,
}

/// A number of frames and their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Frames {
    /// How many.
    pub frames: u64,
    /// Octets from the destination address on, without frame check sequence.
    pub octets: u64,
}

impl Frames {
    /// One more of so many octets.
    pub fn add(&mut self, octets: u64) {
        self.frames += 1;
        self.octets += octets;
    }

    /// Both together.
    pub fn and(self, other: Frames) -> Frames {
        Frames { frames: self.frames + other.frames, octets: self.octets + other.octets }
    }
}

impl Traffic {
    /// Everything.
    pub fn all(&self) -> Frames {
        let PerFamily { v4, v6 } = self.packets;
        let upkeep = self.upkeep.v4.and(self.upkeep.v6);
        v4.and(v6).and(upkeep).and(self.other)
    }

    /// Counts a frame whose packet begins with `packet` and is of this EtherType.
    pub fn count(&mut self, ethertype: u16, packet: &[u8], octets: u64) {
        let class = match classify(ethertype, packet) {
            Some((family, false)) => self.packets.get_mut(family),
            Some((family, true)) => self.upkeep.get_mut(family),
            None => &mut self.other,
        };
        class.add(octets);
    }
}

/// The family that a packet belongs to and whether it only keeps the link in order.
fn classify(ethertype: u16, packet: &[u8]) -> Option<(Family, bool)> {
    if ethertype == ARP {
        return Some((Family::V4, true));
    }
    let family = Family::BOTH.into_iter().find(|family| family.ethertype() == ethertype)?;
    let header = family.header_bytes() as usize;
    let protocol = packet.get(family.protocol_at())?;
    let first = match *protocol {
        HOP_BY_HOP if family == Family::V6 => packet.get(header + 8),
        _ => packet.get(header),
    };
    let keeps = match family {
        // IGMP (RFC 3376).
        Family::V4 => *protocol == 2,
        Family::V6 => {
            let behind = packet.get(header).copied();
            let icmp = |number: u8| number == family.icmp();
            let inside = icmp(*protocol) || (*protocol == HOP_BY_HOP && behind.is_some_and(icmp));
            inside && first.is_some_and(|kind| UPKEEP.iter().any(|range| range.contains(kind)))
        }
    };
    Some((family, keeps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn packet(family: Family, protocol: u8, behind: &[u8]) -> (u16, Vec<u8>) {
        let mut packet = vec![0; family.header_bytes() as usize];
        packet[family.protocol_at()] = protocol;
        packet.extend(behind);
        (family.ethertype(), packet)
    }

    #[test]
    fn each_frame_is_counted_once_and_where_it_belongs() {
        let (tcp, icmp) = (6, Family::V6.icmp());
        let mut expected = Traffic::default();
        let mut counted = Traffic::default();
        let mut frame = |(ethertype, packet): (u16, Vec<u8>), octets| {
            counted.count(ethertype, &packet, octets);
        };
        frame(packet(Family::V4, tcp, &[0; 4]), 1000);
        frame(packet(Family::V6, tcp, &[0; 4]), 1020);
        frame(packet(Family::V6, icmp, &[128, 0]), 118);
        expected.packets.v4.add(1000);
        expected.packets.v6 = Frames { frames: 2, octets: 1138 };
        frame((ARP, vec![0; 28]), 42);
        frame(packet(Family::V4, 2, &[0x22]), 54);
        expected.upkeep.v4 = Frames { frames: 2, octets: 96 };
        frame(packet(Family::V6, icmp, &[135, 0]), 86);
        frame(packet(Family::V6, HOP_BY_HOP, &[icmp, 0, 5, 2, 0, 0, 1, 0, 143, 0]), 90);
        expected.upkeep.v6 = Frames { frames: 2, octets: 176 };
        frame((0x88cc, vec![1; 60]), 74);
        // Too short to tell.
        frame((Family::V6.ethertype(), vec![0; 3]), 60);
        expected.other = Frames { frames: 2, octets: 134 };
        assert_eq!(counted, expected);
        assert_eq!(counted.all(), Frames { frames: 9, octets: 2544 });
    }
}
