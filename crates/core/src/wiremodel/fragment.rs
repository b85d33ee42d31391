//! A datagram as IP packets: whole if it fits the MTU, else in fragments (RFC 791 section 3.2,
//! RFC 8200 section 4.5).

use crate::family::Family;
use alloc::vec;
use alloc::vec::Vec;

/// Length of a UDP header, in bytes (RFC 768).
pub const UDP_HEADER_BYTES: u32 = 8;

/// Why a datagram cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsendable {
    /// Longer than the length field of the header can say.
    #[error("a payload of {payload} bytes does not fit one {family} datagram; at most {max} do")]
    TooLarge {
        /// Payload asked for, in bytes.
        payload: u32,
        /// Family it was to travel in.
        family: Family,
        /// Largest payload of that family, in bytes.
        max: u32,
    },
    /// The MTU has no room for a fragment's headers and eight bytes of data.
    #[error("an MTU of {mtu} bytes is too small to carry fragments in {family}")]
    MtuTooSmall {
        /// MTU given, in bytes.
        mtu: u32,
        /// Family it was given for.
        family: Family,
    },
}

/// How many IP packets carry one UDP or ICMP datagram of `payload` bytes; `None` if none can.
pub fn fragments(payload: u32, family: Family, mtu: u32) -> Option<usize> {
    udp_packets(payload, family, mtu).ok().map(|packets| packets.len())
}

/// IP lengths of the packets that carry one UDP datagram of `payload` bytes, in sending order.
///
/// An ICMP or ICMPv6 echo has a header of the same 8 bytes, so this holds for it as well. Every
/// fragment but the last carries a multiple of 8 bytes, and the last one as Linux cuts
/// (docs/method.md section A.2).
///
/// # Errors
/// [`Unsendable`] if the payload is above the family's limit (65507 bytes for IPv4, 65527 for
/// IPv6), or if it needs fragments and the MTU leaves no room for any.
pub fn udp_packets(payload: u32, family: Family, mtu: u32) -> Result<Vec<u32>, Unsendable> {
    let max = family.udp_payload_bytes_max();
    if payload > max {
        return Err(Unsendable::TooLarge { payload, family, max });
    }
    let datagram = payload + UDP_HEADER_BYTES;
    if family.header_bytes() + datagram <= mtu {
        return Ok(vec![family.header_bytes() + datagram]);
    }
    let headers = family.header_bytes() + family.fragment_header_bytes();
    let room = mtu.saturating_sub(headers);
    if room < 8 {
        return Err(Unsendable::MtuTooSmall { mtu, family });
    }
    let full = room / 8 * 8;
    let last_max = match family {
        Family::V4 => room,
        Family::V6 => full,
    };
    let fragments_before_last = (datagram - last_max).div_ceil(full);
    let last = datagram - fragments_before_last * full;
    let mut packets = vec![headers + full; fragments_before_last as usize];
    packets.push(headers + last);
    Ok(packets)
}
