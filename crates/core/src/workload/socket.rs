//! What is asked of the sockets of a workload, alike for both families and both ends.

use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Congestion control of the lab: what it does depends on loss alone, so a computed link is filled
/// evenly.
pub const LAB_CONGESTION: &str = "cubic";

/// Settings of TCP sockets, made before connecting and listening. `None` leaves the system's
/// default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamSettings {
    /// Congestion control.
    #[serde(default)]
    pub congestion: Option<String>,
    /// Send and receive buffer in bytes, which bounds the window (`SO_SNDBUF`, `SO_RCVBUF`).
    #[serde(default)]
    pub buffer_bytes: Option<u32>,
    /// The trial fails if the system grants other buffers than asked for. The double that Linux
    /// reports for what it grants is no other.
    #[serde(default)]
    pub require_buffer: bool,
    /// Largest segment in bytes of payload and TCP options (`TCP_MAXSEG`, RFC 9293 section 3.7.1).
    #[serde(default)]
    pub mss_bytes: Option<u32>,
    /// Whether small segments are sent at once (`TCP_NODELAY`) or collected.
    #[serde(default)]
    pub no_delay: bool,
}

impl StreamSettings {
    /// Largest socket buffer that can be asked for, in bytes.
    pub const BUFFER_BYTES_MAX: u32 = 1 << 30;

    /// Segment sizes that can be asked for, in bytes: what Linux takes.
    pub const MSS_BYTES: core::ops::RangeInclusive<u32> = 88..=32_767;
}

/// How the packets of a workload are marked. What is `None` is left as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Marking {
    /// Differentiated services field (RFC 2474) with the two bits of ECN (RFC 3168): the whole
    /// octet, `TOS` of IPv4 and traffic class of IPv6.
    #[serde(default)]
    pub traffic_class: Option<u8>,
    /// Time to live or hop limit.
    #[serde(default)]
    pub hop_limit: Option<u8>,
    /// Flow label of IPv6 (RFC 6437), 20 bits; means nothing to IPv4.
    #[serde(default)]
    pub flow_label: Option<u32>,
    /// Whether datagrams beyond the path MTU are refused instead of fragmented, by IPv4's "don't
    /// fragment" and by the hosts; TCP has no fragments anyway.
    #[serde(default)]
    pub dont_fragment: bool,
}

impl Marking {
    /// Largest flow label: 20 bits.
    pub const FLOW_LABEL_MAX: u32 = 0xf_ffff;

    /// What a marking adds to the id of its cell; empty without one.
    pub fn suffix(&self) -> String {
        let knobs = [
            ("class", self.traffic_class.map(u32::from)),
            ("hops", self.hop_limit.map(u32::from)),
            ("label", self.flow_label),
        ];
        let given = knobs.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let whole = self.dont_fragment.then(|| String::from("-whole"));
        given.map(|(name, value)| format!("-{name}-{value}")).chain(whole).collect()
    }
}
