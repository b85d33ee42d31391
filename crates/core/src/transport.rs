//! Transport protocols.

use serde::{Deserialize, Serialize};

/// A transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// TCP (RFC 9293).
    Tcp,
    /// UDP (RFC 768).
    Udp,
    /// ICMP (RFC 792) or ICMPv6 (RFC 4443) echo, which the far kernel answers.
    Icmp,
}

impl Transport {
    /// The name as people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "TCP",
            Transport::Udp => "UDP",
            Transport::Icmp => "ICMP",
        }
    }

    /// Name of the transport in identifiers.
    pub const fn key(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
            Transport::Icmp => "icmp",
        }
    }

    /// Whether its messages travel as datagrams, in fragments where they do not fit a packet.
    pub const fn is_datagram(self) -> bool {
        matches!(self, Transport::Udp | Transport::Icmp)
    }
}
