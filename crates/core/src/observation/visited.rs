//! What a visit to a service of a stranger saw, and what a name server answered.

use crate::metric::Metric;
use crate::workload::Visit;
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
    /// How the body came, of a download.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// How the body of an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Body {
    /// Bytes of it that were read.
    pub bytes: u64,
    /// Those of them that came after the first read that brought some.
    pub later_bytes: u64,
    /// From that read to the last one that brought some, in ns.
    pub span_ns: u64,
    /// Whether that was all of it.
    pub is_whole: bool,
}

impl Body {
    /// Application bit/s: what came after the first read, over the time from that to the last.
    /// `None` of a body that is shorter than what every visit reads, or came at once.
    pub fn rate_bps(&self) -> Option<f64> {
        let is_enough = self.bytes >= Visit::BODY_BYTES && self.span_ns > 0;
        is_enough.then(|| self.later_bytes as f64 * 8e9 / self.span_ns as f64)
    }

    /// Whether the whole of it is known to have another length than the whole of `other`.
    pub fn differs_in_length(&self, other: &Body) -> bool {
        let ends_before = |one: &Body, other: &Body| one.is_whole && one.bytes < other.bytes;
        ends_before(self, other) || ends_before(other, self)
    }
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

impl LookedUp {
    /// From the query to the whole answer, in ns: over TCP (RFC 7766) where it did not fit a
    /// datagram.
    pub fn whole_ns(&self) -> u64 {
        self.ns.saturating_add(self.over_tcp_ns.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(bytes: u64, is_whole: bool) -> Body {
        Body { bytes, is_whole, later_bytes: bytes, span_ns: 8_000_000 }
    }

    #[test]
    fn a_rate_takes_enough_of_a_body_and_two_reads() {
        assert_eq!(body(100_000, true).rate_bps(), Some(1e8));
        assert_eq!(body(Visit::BODY_BYTES - 1, true).rate_bps(), None);
        assert_eq!(Body { span_ns: 0, ..body(100_000, true) }.rate_bps(), None);
    }

    /// Where neither end was reached, or the longer one was not, nothing is known.
    #[test]
    fn lengths_differ_where_one_body_ends_before_the_other() {
        for (one, other, differs) in [
            (body(900, true), body(1_000, true), true),
            (body(900, true), body(1_000, false), true),
            (body(900, true), body(900, true), false),
            (body(900, true), body(800, false), false),
            (body(900, false), body(1_000, false), false),
        ] {
            assert_eq!(one.differs_in_length(&other), differs, "{one:?} {other:?}");
            assert_eq!(other.differs_in_length(&one), differs, "{one:?} {other:?}");
        }
    }
}
