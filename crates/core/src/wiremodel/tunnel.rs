//! Tunnels and translation: what they add to a packet and leave of the MTU.

use super::fragment::UDP_HEADER_BYTES;
use super::frame::ETHERNET_HEADER_BYTES;
use crate::family::Family;

/// What ESP adds besides padding and its trailer: index and sequence number (RFC 4303 section 2),
/// the initialisation vector of AES-CBC (RFC 3602) and the check of HMAC-SHA-256-128 (RFC 4868).
const ESP_FIXED: u32 = 8 + 16 + 16;
/// Block of AES, to which the packet is padded with its trailer.
const ESP_BLOCK: u32 = 16;
/// Pad length and next header, inside the padded part (RFC 4303 section 2).
const ESP_TRAILER: u32 = 2;

/// A way to carry an IP packet in something else; `outer` is the family of the packet outside.
///
/// Lengths "outside" are those of the Ethernet payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encapsulation {
    /// An IP packet in an IP packet: 6in4 (RFC 4213), DS-Lite and 6in6 (RFC 2473).
    ///
    /// An IPv6 header outside has no Tunnel Encapsulation Limit option (RFC 2473 section 4.1.1).
    IpInIp {
        /// Family outside.
        outer: Family,
    },
    /// Generic Routing Encapsulation (RFC 2784) without key, sequence number and checksum.
    Gre {
        /// Family outside.
        outer: Family,
    },
    /// Ethernet in UDP with an 8-byte header (RFC 7348); the inner frame has no check sequence.
    Vxlan {
        /// Family outside.
        outer: Family,
    },
    /// ESP around the whole packet, with AES-CBC and HMAC-SHA-256-128, in UDP to pass address
    /// translators (RFC 3948).
    EspTunnel {
        /// Family outside.
        outer: Family,
    },
    /// WireGuard data messages: UDP, header 16, tag 16; the packet is padded to 16 bytes, but not
    /// above the MTU of the tunnel's interface.
    WireGuard {
        /// Family outside.
        outer: Family,
        /// MTU of the tunnel's interface, in bytes; 1420 unless set.
        interface_mtu: u32,
    },
    /// Segment routing over IPv6, H.Encaps (RFC 8986 section 5.1, RFC 8754), with one segment of 16
    /// bytes in its list.
    SegmentRouting,
}

impl Encapsulation {
    /// Length outside of an inner IP packet, in bytes.
    pub fn outer_bytes(self, inner_bytes: u32) -> u32 {
        self.fixed_bytes().saturating_add(self.padded_bytes(inner_bytes))
    }

    /// Bytes added to an inner IP packet of that length, padding included.
    pub fn overhead_bytes(self, inner_bytes: u32) -> u32 {
        self.outer_bytes(inner_bytes) - inner_bytes
    }

    /// Largest inner IP packet that needs no more than `outer_mtu` bytes outside; 0 if none does.
    pub fn inner_mtu(self, outer_mtu: u32) -> u32 {
        let room = outer_mtu.saturating_sub(self.fixed_bytes());
        match self {
            Self::EspTunnel { .. } => (room / ESP_BLOCK * ESP_BLOCK).saturating_sub(ESP_TRAILER),
            Self::WireGuard { interface_mtu, .. } if interface_mtu <= room => interface_mtu,
            Self::WireGuard { .. } => room / 16 * 16,
            _ => room,
        }
    }

    /// What every packet gets, in bytes, padding apart.
    fn fixed_bytes(self) -> u32 {
        match self {
            Self::IpInIp { outer } => outer.header_bytes(),
            Self::Gre { outer } => outer.header_bytes() + 4,
            Self::Vxlan { outer } => {
                outer.header_bytes() + UDP_HEADER_BYTES + 8 + ETHERNET_HEADER_BYTES
            }
            Self::EspTunnel { outer } => outer.header_bytes() + UDP_HEADER_BYTES + ESP_FIXED,
            Self::WireGuard { outer, .. } => outer.header_bytes() + UDP_HEADER_BYTES + 16 + 16,
            Self::SegmentRouting => Family::V6.header_bytes() + 8 + 16,
        }
    }

    /// The inner packet with its padding, in bytes.
    fn padded_bytes(self, inner_bytes: u32) -> u32 {
        match self {
            Self::EspTunnel { .. } => round_up(inner_bytes.saturating_add(ESP_TRAILER), ESP_BLOCK),
            Self::WireGuard { interface_mtu, .. } => {
                round_up(inner_bytes, 16).min(interface_mtu).max(inner_bytes)
            }
            _ => inner_bytes,
        }
    }
}

/// What became of a packet on a link of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carried {
    /// It is as it was sent.
    #[default]
    Plain,
    /// It is inside of another.
    In(Encapsulation),
    /// It has a header of the other family; `from` is that in which it was sent. Fragments, whose
    /// headers differ by more, are not meant.
    Translated {
        /// Family in which it was sent.
        from: Family,
    },
}

impl Carried {
    /// Length on the link of a packet that was sent with `ip_bytes`, in bytes.
    pub fn link_bytes(self, ip_bytes: u32) -> u32 {
        match self {
            Carried::Plain => ip_bytes,
            Carried::In(encapsulation) => encapsulation.outer_bytes(ip_bytes),
            Carried::Translated { from } => translated_bytes(ip_bytes, from, false),
        }
    }

    /// Largest packet that can be sent to be no longer than `link_mtu` on the link, in bytes.
    pub fn mtu(self, link_mtu: u32) -> u32 {
        match self {
            Carried::Plain => link_mtu,
            Carried::In(encapsulation) => encapsulation.inner_mtu(link_mtu),
            Carried::Translated { from } => translated_bytes(link_mtu, from.other(), false),
        }
    }
}

/// Length of a packet after stateless or stateful translation into the other family, in bytes
/// (RFC 7915 sections 4.1 and 5.1): the header is exchanged, and a fragment's header comes or goes.
pub fn translated_bytes(ip_bytes: u32, from: Family, fragment: bool) -> u32 {
    let header = |family: Family| {
        family.header_bytes() + if fragment { family.fragment_header_bytes() } else { 0 }
    };
    ip_bytes.saturating_sub(header(from)).saturating_add(header(from.other()))
}

fn round_up(bytes: u32, multiple: u32) -> u32 {
    bytes.checked_next_multiple_of(multiple).unwrap_or(u32::MAX)
}
