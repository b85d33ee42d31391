//! The wire model: what the headers alone predict.
//!
//! IPv6 carries 20 more header bytes than IPv4 in every packet. How much that costs follows from
//! arithmetic, with no free parameter: bytes on the line (IEEE 802.3 framing), packets per message
//! (TCP segments, IP fragments), goodput of a full line, and the time that back-to-back packets
//! take through store-and-forward links. A measured difference is judged beside this prediction:
//! what agrees with it is the price of the header, what does not has another cause.
//!
//! Lengths are in bytes, rates in bit/s on the line, times in ns. A rate of infinity is a link
//! without serialisation time. What the hosts themselves cost is left out.

mod channel;
mod composition;
mod fragment;
mod frame;
mod goodput;
mod round_trip;
mod segment;
mod tunnel;

pub use channel::{Channel, Layer, tcp_layers};
pub use composition::{Composition, header_composition, packet_payload_max};
pub use fragment::{UDP_HEADER_BYTES, Unsendable, fragments, udp_packets};
pub use frame::{
    ETHERNET_HEADER_BYTES, FRAME_BYTES_MIN, FRAME_CHECK_BYTES, Framing, INTER_PACKET_GAP_BYTES,
    PREAMBLE_BYTES, frame_bytes, wire_bytes, wire_bytes_total,
};
pub use goodput::{tcp_goodput_bps, udp_goodput_bps, window_limited_bps};
pub use round_trip::{LinkTiming, exchange_ns, one_way_ns, round_trip_ns};
pub use segment::{
    TCP_HEADER_BYTES, TcpOptions, header_bytes as tcp_header_bytes, tcp_mss, tcp_packets,
};
pub use tunnel::{Carried, Encapsulation, translated_bytes};
