//! What a visit to a service of a stranger saw, and what a name server answered.

use crate::metric::Metric;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// One visit. Times are in ns; what the visit had not is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Visited {
    /// Establishing the TCP connection, as `connect` sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<u64>,
    /// Whether this end sent its SYN again, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syn_again: Option<bool>,
    /// The handshake of TLS over TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ns: Option<u64>,
    /// The handshake of QUIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic_ns: Option<u64>,
    /// From the request to the first byte of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<u64>,
    /// Version of TLS, as in `TLS 1.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
    /// Whether the server asked for another key share, which takes a round trip more.
    #[serde(default)]
    pub hello_retry: bool,
    /// Status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Headers of the answer that tell of the machine that gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Bytes that came in all.
    pub bytes: u64,
}

impl Visited {
    /// The time of what `metric` is about, in ns.
    pub fn phase_ns(&self, metric: Metric) -> Option<u64> {
        let phases = [
            (Metric::Connect, self.connect_ns),
            (Metric::Tls, self.tls_ns),
            (Metric::Quic, self.quic_ns),
            (Metric::Response, self.response_ns),
            (Metric::FirstByte, self.first_byte_ns()),
        ];
        phases.into_iter().find(|(of, _)| *of == metric)?.1
    }

    /// From the start of connecting to the first byte of the answer, in ns: the sum of the phases
    /// of this visit (docs/method.md B.15).
    pub fn first_byte_ns(&self) -> Option<u64> {
        let over_tcp = || Some(self.connect_ns? + self.tls_ns.unwrap_or(0));
        Some(self.quic_ns.or_else(over_tcp)? + self.response_ns?)
    }
}

/// An answer of a name server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LookedUp {
    /// From the query to the answer, in ns.
    pub ns: u64,
    /// What was asked for, as in `AAAA`.
    pub record: String,
    /// As in `NOERROR`.
    pub code: String,
    /// The addresses, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<IpAddr>,
    /// Time for which the first to go may be kept, in s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u32>,
    /// Asking again over TCP took so long, in ns, because the answer did not fit a datagram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_tcp_ns: Option<u64>,
}
