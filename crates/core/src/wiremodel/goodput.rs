//! Goodput: application bits per second of a full line (RFC 2647 section 3.17), and what bounds it.

use super::fragment::{Unsendable, udp_packets};
use super::frame::{Framing, frame_bytes, wire_bytes, wire_bytes_total};
use super::segment::{TcpOptions, header_bytes, tcp_mss};
use crate::family::Family;

/// TCP goodput of a line of `rate_bps` filled with full segments, in bit/s: R·MSS / wire(MTU).
///
/// Acknowledgements travel the other way and cost nothing on a full-duplex line.
pub fn tcp_goodput_bps(
    rate_bps: f64,
    mtu: u32,
    family: Family,
    options: TcpOptions,
    framing: Framing,
) -> f64 {
    rate_bps * f64::from(tcp_mss(mtu, family, options)) / f64::from(wire_bytes(mtu, framing))
}

/// TCP goodput of a line that data and acknowledgements share, in bit/s.
///
/// `segments_per_ack` is 2 with delayed acknowledgements (RFC 9293 section 3.8.6.3).
pub fn half_duplex_tcp_goodput_bps(
    rate_bps: f64,
    mtu: u32,
    family: Family,
    options: TcpOptions,
    framing: Framing,
    segments_per_ack: u32,
) -> f64 {
    let segments = f64::from(segments_per_ack);
    let ack = f64::from(wire_bytes(header_bytes(family, options), framing));
    let data = segments * f64::from(wire_bytes(mtu, framing));
    rate_bps * segments * f64::from(tcp_mss(mtu, family, options)) / (data + ack)
}

/// UDP goodput of a line of `rate_bps` filled with datagrams of `payload` bytes, in bit/s.
///
/// # Errors
/// [`Unsendable`] if such a datagram does not exist; see [`udp_packets`].
pub fn udp_goodput_bps(
    rate_bps: f64,
    payload: u32,
    family: Family,
    mtu: u32,
    framing: Framing,
) -> Result<f64, Unsendable> {
    let wire = wire_bytes_total(&udp_packets(payload, family, mtu)?, framing);
    Ok(rate_bps * f64::from(payload) / wire as f64)
}

/// IPv6 TCP goodput over IPv4 TCP goodput on the same line: (MTU−60−opt) / (MTU−40−opt).
///
/// Rate and framing cancel. Not a number if the MTU has no room for payload in either family.
pub fn tcp_goodput_ratio(mtu: u32, options: TcpOptions) -> f64 {
    f64::from(tcp_mss(mtu, Family::V6, options)) / f64::from(tcp_mss(mtu, Family::V4, options))
}

/// IPv6 UDP goodput over IPv4 UDP goodput for the same payload on the same line.
///
/// # Errors
/// [`Unsendable`] if the datagram cannot be sent in one of the families.
pub fn udp_goodput_ratio(payload: u32, mtu: u32, framing: Framing) -> Result<f64, Unsendable> {
    let wire = |family| {
        udp_packets(payload, family, mtu).map(|packets| wire_bytes_total(&packets, framing) as f64)
    };
    Ok(wire(Family::V4)? / wire(Family::V6)?)
}

/// The part of a full line's rate that the IP layer has, headers included, where the line carries
/// `packets` (lengths in bytes) over and over: their bytes over those of their frames (RFC 5136
/// section 2.3).
pub fn ip_share(packets: &[u32], framing: Framing) -> f64 {
    let ip_bytes: u64 = packets.iter().map(|&bytes| u64::from(bytes)).sum();
    ip_bytes as f64 / wire_bytes_total(packets, framing) as f64
}

/// What a counter of IP octets shows while full packets fill the line, in bit/s; the same for both
/// families (the IP-layer capacity of RFC 5136 section 2.3).
pub fn ip_level_bps(rate_bps: f64, mtu: u32, framing: Framing) -> f64 {
    rate_bps * f64::from(mtu) / f64::from(wire_bytes(mtu, framing))
}

/// What an interface octet counter shows while full packets fill the line, in bit/s; it counts
/// whole frames (ifOutOctets, RFC 2863), hence more than the goodput.
pub fn frame_level_bps(rate_bps: f64, mtu: u32, framing: Framing) -> f64 {
    rate_bps * f64::from(frame_bytes(mtu, framing)) / f64::from(wire_bytes(mtu, framing))
}

/// The most that a TCP window allows, in bit/s: 8·W / RTT (RFC 6349 section 3.3).
pub fn window_limited_bps(window_bytes: f64, round_trip_ns: f64) -> f64 {
    window_bytes * 8e9 / round_trip_ns
}

/// Ideal transfer time of RFC 6349 section 4.1, in ns, from the goodput of the connection's own
/// family.
///
/// The RFC computes with IPv4 only; one ideal for both families would turn the longer header into
/// lost efficiency.
pub fn ideal_transfer_ns(transfer_bytes: u64, goodput_bps: f64) -> f64 {
    transfer_bytes as f64 * 8e9 / goodput_bps
}
