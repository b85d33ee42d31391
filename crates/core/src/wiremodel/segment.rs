//! A TCP message as segments (RFC 9293 section 3.7).

use crate::family::Family;
use alloc::vec;
use alloc::vec::Vec;

/// Length of the TCP header without options, in bytes (RFC 9293 section 3.1).
pub const TCP_HEADER_BYTES: u32 = 20;

/// Options that every segment of a connection carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions {
    /// Length of the options with padding, in bytes; a multiple of 4, at most 40.
    pub bytes: u32,
}

impl TcpOptions {
    /// No options, as on hosts that do not use timestamps.
    pub const NONE: TcpOptions = TcpOptions { bytes: 0 };
    /// Timestamps (RFC 7323 section 3.2): 10 bytes and two of padding.
    pub const TIMESTAMPS: TcpOptions = TcpOptions { bytes: 12 };
    /// What Linux puts into a SYN: maximum segment size 4, SACK permitted 2, timestamps 10, padding
    /// 1, window scale 3.
    pub const SYN: TcpOptions = TcpOptions { bytes: 20 };
}

/// Length of a segment's IP and TCP headers, in bytes.
pub fn header_bytes(family: Family, options: TcpOptions) -> u32 {
    (family.header_bytes() + TCP_HEADER_BYTES).saturating_add(options.bytes)
}

/// Payload of a full segment, in bytes; 0 if the MTU has no room for any.
///
/// This is the effective send size that takes the options into account, not the value of the MSS
/// option, which leaves them out (RFC 6691 section 2).
pub fn tcp_mss(mtu: u32, family: Family, options: TcpOptions) -> u32 {
    mtu.saturating_sub(header_bytes(family, options))
}

/// IP lengths of the segments that carry one message, in sending order; full ones first.
///
/// Empty if there is nothing to send or the MTU has no room for payload.
pub fn tcp_packets(message: u32, family: Family, mtu: u32, options: TcpOptions) -> Vec<u32> {
    let mss = tcp_mss(mtu, family, options);
    if mss == 0 || message == 0 {
        return Vec::new();
    }
    let before_last = (message - 1) / mss;
    let mut packets = vec![mtu; before_last as usize];
    packets.push(header_bytes(family, options).saturating_add(message - before_last * mss));
    packets
}
