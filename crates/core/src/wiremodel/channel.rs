//! The channel formula of Goyal et al.: throughput at a layer from the rates that the layers below
//! consume.
//!
//! q_L = (Q/K − Σ θ_i)·d with Q the gross rate of the medium, K the streams that share it, θ_i the
//! rate that layer i's headers consume of one stream's part, and d the duplex factor. The paper
//! gives d no number; here it is 1, for one direction.

use super::frame::{
    FRAME_CHECK_BYTES, Framing, INTER_PACKET_GAP_BYTES, PREAMBLE_BYTES, wire_bytes,
};
use super::segment::{TCP_HEADER_BYTES, TcpOptions};
use crate::family::Family;

/// A medium and how it is shared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Channel {
    /// Gross rate of the medium in bit/s (Q).
    pub gross_bps: f64,
    /// Streams that share it evenly (K), at least 1.
    pub streams: u32,
}

impl Channel {
    /// One stream's part of one direction, in bit/s: Q/K.
    pub fn share_bps(&self) -> f64 {
        self.gross_bps / f64::from(self.streams)
    }

    /// Throughput of one stream above layers that consume `overheads_bps` (θ_1 to θ_L), in bit/s.
    pub fn throughput_bps(&self, overheads_bps: &[f64]) -> f64 {
        self.share_bps() - overheads_bps.iter().sum::<f64>()
    }
}

/// One layer of a full TCP segment on the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Name of the layer as people write it.
    pub name: &'static str,
    /// Rate that its headers consume of one stream's part, in bit/s (θ).
    pub overhead_bps: f64,
    /// Throughput above it, in bit/s (q).
    pub throughput_bps: f64,
}

/// The layers of full TCP segments from the line up; the last throughput is the goodput.
pub fn tcp_layers(
    channel: &Channel,
    mtu: u32,
    family: Family,
    options: TcpOptions,
    framing: Framing,
) -> [Layer; 4] {
    let wire = f64::from(wire_bytes(mtu, framing));
    let headers = [
        ("preamble and gap", PREAMBLE_BYTES + INTER_PACKET_GAP_BYTES),
        ("Ethernet", framing.header_bytes().saturating_add(FRAME_CHECK_BYTES)),
        ("IP", family.header_bytes()),
        ("TCP", TCP_HEADER_BYTES.saturating_add(options.bytes)),
    ];
    let overheads = headers.map(|(_, bytes)| channel.share_bps() * f64::from(bytes) / wire);
    core::array::from_fn(|layer| Layer {
        name: headers[layer].0,
        overhead_bps: overheads[layer],
        throughput_bps: channel.throughput_bps(&overheads[..=layer]),
    })
}
