//! Goodput: application bits per second of a full line (RFC 2647 section 3.17), and what bounds it.

use super::fragment::{Unsendable, udp_packets};
use super::frame::{Framing, wire_bytes, wire_bytes_total};
use super::segment::{TcpOptions, tcp_mss};
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

/// The most that a TCP window allows, in bit/s: 8·W / RTT (RFC 6349 section 3.3).
pub fn window_limited_bps(window_bytes: f64, round_trip_ns: f64) -> f64 {
    window_bytes * 8e9 / round_trip_ns
}
