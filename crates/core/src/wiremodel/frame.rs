//! Ethernet framing: from the length of an IP packet to bytes of line time (IEEE 802.3 clause 3).

/// Preamble and start frame delimiter, in bytes (IEEE 802.3 clauses 3.2.1 and 3.2.2).
pub const PREAMBLE_BYTES: u32 = 8;
/// Destination, source and type, in bytes.
pub const ETHERNET_HEADER_BYTES: u32 = 14;
/// Frame check sequence, in bytes.
pub const FRAME_CHECK_BYTES: u32 = 4;
/// Inter-packet gap, in bytes of line time (96 bit times).
pub const INTER_PACKET_GAP_BYTES: u32 = 12;
/// Shortest frame with its check sequence, in bytes; shorter ones are padded to it.
pub const FRAME_BYTES_MIN: u32 = 64;

const VLAN_TAG_BYTES: u32 = 4;

/// What is added to the plain Ethernet frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Framing {
    /// IEEE 802.1Q tags per frame, 4 bytes each.
    pub vlan_tags: u32,
}

impl Framing {
    /// Length of the Ethernet header with its tags, in bytes.
    pub const fn header_bytes(self) -> u32 {
        ETHERNET_HEADER_BYTES.saturating_add(VLAN_TAG_BYTES.saturating_mul(self.vlan_tags))
    }
}

/// Length of the frame around an IP packet: header, tags, padding and check sequence, in bytes.
pub fn frame_bytes(ip_bytes: u32, framing: Framing) -> u32 {
    let unpadded =
        framing.header_bytes().saturating_add(ip_bytes).saturating_add(FRAME_CHECK_BYTES);
    unpadded.max(FRAME_BYTES_MIN)
}

/// Line time that an IP packet takes, in bytes: preamble, frame and inter-packet gap.
pub fn wire_bytes(ip_bytes: u32, framing: Framing) -> u32 {
    frame_bytes(ip_bytes, framing).saturating_add(PREAMBLE_BYTES + INTER_PACKET_GAP_BYTES)
}

/// Line time that several IP packets take, in bytes.
pub fn wire_bytes_total(packets: &[u32], framing: Framing) -> u64 {
    packets.iter().map(|&ip_bytes| u64::from(wire_bytes(ip_bytes, framing))).sum()
}
