//! Time through store-and-forward links: exact, for packets that leave back to back.

use super::frame::{Framing, INTER_PACKET_GAP_BYTES, PREAMBLE_BYTES, frame_bytes, wire_bytes};
use super::tunnel::Carried;
use alloc::vec::Vec;

/// What one direction of a link adds in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkTiming {
    /// Line rate in bit/s, above 0; infinity for no serialisation time.
    pub rate_bps: f64,
    /// Time after the last bit was sent until it arrives, in ns; a device's constant delay belongs
    /// here too.
    pub propagation_ns: f64,
    /// What packets are on this link: as they were sent, in a tunnel or translated.
    pub carried: Carried,
}

impl LinkTiming {
    /// A link that packets cross as they are.
    pub const fn plain(rate_bps: f64, propagation_ns: f64) -> Self {
        LinkTiming { rate_bps, propagation_ns, carried: Carried::Plain }
    }

    /// Line time that a packet takes, in bytes: preamble, frame and inter-packet gap.
    pub fn wire_bytes(&self, ip_bytes: u32, framing: Framing) -> u32 {
        wire_bytes(self.carried.link_bytes(ip_bytes), framing)
    }
}

/// Time from the first bit of the first packet sent until the last bit of the last packet has
/// arrived, in ns; 0 without packets.
///
/// Each link sends first in, first out; a packet is sent on when all of it has arrived and the gap
/// behind the one before has passed. The gap behind the last packet delays nobody and is left out.
pub fn one_way_ns(packets: &[u32], links: &[LinkTiming], framing: Framing) -> f64 {
    pass(packets, links.iter(), framing)
}

/// Time of a request and an echo of equal size over the same links back, in ns.
///
/// The echo starts when the last bit of the request has arrived.
pub fn round_trip_ns(packets: &[u32], links: &[LinkTiming], framing: Framing) -> f64 {
    pass(packets, links.iter(), framing) + pass(packets, links.iter().rev(), framing)
}

/// Time of a request and an answer of another size over the same links back, in ns.
///
/// The answer starts when the last bit of the request has arrived.
pub fn exchange_ns(request: &[u32], answer: &[u32], links: &[LinkTiming], framing: Framing) -> f64 {
    pass(request, links.iter(), framing) + pass(answer, links.iter().rev(), framing)
}

fn pass<'a>(packets: &[u32], links: impl Iterator<Item = &'a LinkTiming>, framing: Framing) -> f64 {
    let mut arrivals: Vec<f64> = packets.iter().map(|_| 0.0).collect();
    for link in links {
        let line_ns = |bytes: u32| f64::from(bytes) * 8e9 / link.rate_bps;
        let mut line_free = 0.0;
        for (arrival, &ip_bytes) in arrivals.iter_mut().zip(packets) {
            let frame = frame_bytes(link.carried.link_bytes(ip_bytes), framing);
            let sent_bytes = frame.saturating_add(PREAMBLE_BYTES);
            let sent = arrival.max(line_free) + line_ns(sent_bytes);
            line_free = sent + line_ns(INTER_PACKET_GAP_BYTES);
            *arrival = sent + link.propagation_ns;
        }
    }
    arrivals.last().copied().unwrap_or(0.0)
}
