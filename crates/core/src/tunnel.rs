//! Tunnels of a lab: what an IP packet is put into between two nodes, as plain data. What they cost
//! is said by [`Encapsulation`].

use crate::family::Family;
use crate::wiremodel::Encapsulation;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Largest packet that strongSwan's own ESP reads from its interface, in bytes (version 5.9.8,
/// `TUN_DEFAULT_MTU` of its plugin kernel-libipsec); the rest of a longer one is lost.
const ESP_INNER_MTU_MAX: u32 = 1400;

/// How packets are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelKind {
    /// An IP packet in an IP packet: 6in4 (RFC 4213), 4in6 as of DS-Lite (RFC 2473, RFC 6333), and
    /// each family in itself.
    IpInIp,
    /// Generic Routing Encapsulation without options (RFC 2784).
    Gre,
    /// Ethernet frames in UDP (RFC 7348).
    Vxlan,
    /// Segment routing over IPv6 with one segment (RFC 8754, RFC 8986 H.Encaps).
    SegmentRouting,
    /// WireGuard.
    #[serde(rename = "wireguard")]
    WireGuard,
    /// IPsec ESP around whole packets, in UDP (RFC 4303, RFC 3948), with AES-CBC and HMAC-SHA-256.
    Esp,
}

impl TunnelKind {
    /// All of them.
    pub const ALL: [TunnelKind; 6] = [
        TunnelKind::IpInIp,
        TunnelKind::Gre,
        TunnelKind::Vxlan,
        TunnelKind::SegmentRouting,
        TunnelKind::WireGuard,
        TunnelKind::Esp,
    ];

    /// Name of the kind in a world file.
    pub const fn name(self) -> &'static str {
        match self {
            TunnelKind::IpInIp => "ip-in-ip",
            TunnelKind::Gre => "gre",
            TunnelKind::Vxlan => "vxlan",
            TunnelKind::SegmentRouting => "segment-routing",
            TunnelKind::WireGuard => "wireguard",
            TunnelKind::Esp => "esp",
        }
    }

    /// What it is, in a few words, with its standard.
    pub const fn what(self) -> &'static str {
        match self {
            TunnelKind::IpInIp => {
                "6in4, 4in6 as of DS-Lite, each family in itself (RFC 4213, 2473)"
            }
            TunnelKind::Gre => "Generic Routing Encapsulation (RFC 2784)",
            TunnelKind::Vxlan => "Ethernet in UDP (RFC 7348)",
            TunnelKind::SegmentRouting => "SRv6 with one segment (RFC 8754, RFC 8986)",
            TunnelKind::WireGuard => "WireGuard, by the program wireguard-go",
            TunnelKind::Esp => "IPsec ESP in UDP (RFC 4303, RFC 3948), by strongSwan",
        }
    }

    /// What it is called in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            TunnelKind::IpInIp => "IP in IP",
            TunnelKind::Gre => "GRE",
            TunnelKind::Vxlan => "VXLAN",
            TunnelKind::SegmentRouting => "segment routing",
            TunnelKind::WireGuard => "WireGuard",
            TunnelKind::Esp => "IPsec ESP",
        }
    }

    /// Families that the packet outside may have.
    pub fn outer(self) -> impl Iterator<Item = Family> {
        let any = self != TunnelKind::SegmentRouting;
        Family::BOTH.into_iter().filter(move |&family| any || family == Family::V6)
    }
}

impl fmt::Display for TunnelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tunnel between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunnel {
    /// How packets are wrapped.
    pub kind: TunnelKind,
    /// Family of the packet outside.
    pub outer: Family,
}

impl Tunnel {
    /// The tunnel that leaves packets of `inner_mtu` bytes on a path of `outer_mtu`, if one of
    /// these kinds does: several may, and the first is the simplest.
    pub fn that_leaves(inner_mtu: u32, outer_mtu: u32) -> Option<Tunnel> {
        let of_kind = |kind: TunnelKind| kind.outer().map(move |outer| Tunnel { kind, outer });
        let leaves = |tunnel: &Tunnel| tunnel.inner_mtu(outer_mtu) == inner_mtu;
        TunnelKind::ALL.into_iter().flat_map(of_kind).find(leaves)
    }

    /// What it does to a packet on a path of `outer_mtu` bytes.
    pub fn encapsulation(self, outer_mtu: u32) -> Encapsulation {
        let outer = self.outer;
        match self.kind {
            TunnelKind::IpInIp => Encapsulation::IpInIp { outer },
            TunnelKind::Gre => Encapsulation::Gre { outer },
            TunnelKind::Vxlan => Encapsulation::Vxlan { outer },
            TunnelKind::SegmentRouting => Encapsulation::SegmentRouting,
            TunnelKind::WireGuard => {
                let unpadded = Encapsulation::WireGuard { outer, interface_mtu: 0 };
                let interface_mtu = outer_mtu.saturating_sub(unpadded.overhead_bytes(0));
                Encapsulation::WireGuard { outer, interface_mtu }
            }
            TunnelKind::Esp => Encapsulation::EspTunnel { outer },
        }
    }

    /// Largest packet inside on a path of `outer_mtu` bytes.
    pub fn inner_mtu(self, outer_mtu: u32) -> u32 {
        let left = self.encapsulation(outer_mtu).inner_mtu(outer_mtu);
        match self.kind {
            TunnelKind::Esp => left.min(ESP_INNER_MTU_MAX),
            _ => left,
        }
    }
}

impl fmt::Display for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {}", self.kind, self.outer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4213 3.2, RFC 2784, RFC 7348 4.3 (without the inner check sequence), RFC 8754 section
    /// 4.1, WireGuard's 60 and 80 bytes, and of ESP's 1422 and 1406 what strongSwan reads.
    #[test]
    fn what_is_left_of_1500_bytes() {
        let left = |kind| {
            let mtu = |outer| Tunnel { kind, outer }.inner_mtu(1500);
            Family::BOTH.map(mtu)
        };
        assert_eq!(left(TunnelKind::IpInIp), [1480, 1460]);
        assert_eq!(left(TunnelKind::Gre), [1476, 1456]);
        assert_eq!(left(TunnelKind::Vxlan), [1450, 1430]);
        assert_eq!(left(TunnelKind::SegmentRouting)[1], 1436);
        assert_eq!(left(TunnelKind::WireGuard), [1440, 1420]);
        assert_eq!(left(TunnelKind::Esp), [1400, 1400]);
        assert_eq!(Tunnel { kind: TunnelKind::Esp, outer: Family::V6 }.inner_mtu(1400), 1310);
        let known = |mtu| Tunnel::that_leaves(mtu, 1500).map(|tunnel| (tunnel.kind, tunnel.outer));
        assert_eq!(known(1480), Some((TunnelKind::IpInIp, Family::V4)));
        assert_eq!(known(1476), Some((TunnelKind::Gre, Family::V4)));
        assert_eq!(known(1420), Some((TunnelKind::WireGuard, Family::V6)));
        assert_eq!(known(1499), None);
    }

    #[test]
    fn names_are_those_of_the_record() {
        for kind in TunnelKind::ALL {
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(written, alloc::format!("\"{kind}\""));
        }
    }
}
