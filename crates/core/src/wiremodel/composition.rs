//! What one packet is made of, as in Raicu's Table 1, with the base of each percentage named.
//!
//! The table's "overhead" is headers per payload, without frame check sequence, preamble and gap.
//! The same bytes are a smaller share of the frame and, with the line's own bytes, a larger share
//! of the wire; all are given so that nobody has to guess which one a figure is.

use super::fragment::UDP_HEADER_BYTES;
use super::frame::{Framing, wire_bytes};
use super::segment::{TCP_HEADER_BYTES, TcpOptions};
use crate::family::Family;
use crate::transport::Transport;

/// The parts of one unfragmented packet on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Composition {
    /// Application bytes.
    pub payload_bytes: u32,
    /// Ethernet header with its tags, in bytes; without the frame check sequence.
    pub link_header_bytes: u32,
    /// IP header, in bytes.
    pub ip_header_bytes: u32,
    /// TCP header with options or UDP header, in bytes.
    pub transport_header_bytes: u32,
    /// Line time of it all, in bytes: padding, frame check sequence, preamble and gap included.
    pub wire_bytes: u32,
}

impl Composition {
    /// Ethernet, IP and transport headers together, in bytes.
    pub fn headers_bytes(&self) -> u32 {
        let above = self.ip_header_bytes.saturating_add(self.transport_header_bytes);
        self.link_header_bytes.saturating_add(above)
    }

    /// Headers over payload, as a share: the "overhead" of Raicu's Table 1.
    pub fn headers_per_payload(&self) -> f64 {
        f64::from(self.headers_bytes()) / f64::from(self.payload_bytes)
    }

    /// Headers over frame without check sequence (the "1514" of the table), as a share.
    pub fn headers_share_of_frame(&self) -> f64 {
        let headers = f64::from(self.headers_bytes());
        headers / (headers + f64::from(self.payload_bytes))
    }

    /// Everything on the line that is not payload over payload, as a share.
    pub fn line_overhead_per_payload(&self) -> f64 {
        self.line_overhead_bytes() / f64::from(self.payload_bytes)
    }

    /// Everything on the line that is not payload over line time, as a share.
    pub fn line_overhead_share(&self) -> f64 {
        self.line_overhead_bytes() / f64::from(self.wire_bytes)
    }

    fn line_overhead_bytes(&self) -> f64 {
        f64::from(self.wire_bytes) - f64::from(self.payload_bytes)
    }
}

/// The parts of one packet with `payload` application bytes; `options` matter to TCP only.
///
/// The packet is not fragmented; the largest payload for which that is so is
/// [`packet_payload_max`]. Shares per payload are infinite for a payload of 0.
pub fn header_composition(
    transport: Transport,
    family: Family,
    payload: u32,
    options: TcpOptions,
    framing: Framing,
) -> Composition {
    let transport_header_bytes = transport_header_bytes(transport, options);
    let ip_bytes =
        family.header_bytes().saturating_add(transport_header_bytes).saturating_add(payload);
    Composition {
        payload_bytes: payload,
        link_header_bytes: framing.header_bytes(),
        ip_header_bytes: family.header_bytes(),
        transport_header_bytes,
        wire_bytes: wire_bytes(ip_bytes, framing),
    }
}

/// Largest payload of one unfragmented packet, in bytes; 0 if there is no room for any.
pub fn packet_payload_max(
    transport: Transport,
    family: Family,
    mtu: u32,
    options: TcpOptions,
) -> u32 {
    let headers = family.header_bytes().saturating_add(transport_header_bytes(transport, options));
    mtu.saturating_sub(headers)
}

fn transport_header_bytes(transport: Transport, options: TcpOptions) -> u32 {
    match transport {
        Transport::Tcp => TCP_HEADER_BYTES.saturating_add(options.bytes),
        // The header of an echo is as long.
        Transport::Udp | Transport::Icmp => UDP_HEADER_BYTES,
    }
}
