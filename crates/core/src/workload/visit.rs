//! Visits to a service that does not run this program, and questions to name servers.

use super::feature::Needed;
use super::impossible::{Impossible, range};
use super::kind::{Cost, HOSTS_NS, Kind, Path};
use super::limits::{Limits, Objection};
use super::{Marking, TIME_BYTES};
use crate::metric::Metric;
use crate::transport::Transport;
use alloc::format;
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Http {
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2.
    #[serde(rename = "2")]
    Two,
    /// HTTP/3, over QUIC.
    #[serde(rename = "3")]
    Three,
}

impl Http {
    /// All of them.
    pub const ALL: [Http; 3] = [Http::One, Http::Two, Http::Three];

    /// Its number, as on the command line.
    pub const fn number(self) -> &'static str {
        match self {
            Http::One => "1.1",
            Http::Two => "2",
            Http::Three => "3",
        }
    }

    /// Its name where TLS agrees on a protocol (ALPN).
    pub const fn alpn(self) -> &'static [u8] {
        match self {
            Http::One => b"http/1.1",
            Http::Two => b"h2",
            Http::Three => b"h3",
        }
    }
}

impl fmt::Display for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP/{}", self.number())
    }
}

/// One visit: a connection of its own through its phases, which ends with a reset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// What is asked for with; `None` is a connection alone.
    pub http: Option<Http>,
    /// Whether over TLS; QUIC always is.
    pub secure: bool,
    /// Whether connecting and TLS are questions as well, as of one version of several.
    pub phases: bool,
    /// Most bytes of the body that are read.
    pub body_bytes: u64,
}

impl Default for Visit {
    /// HTTP/2, with all phases.
    fn default() -> Self {
        Visit { http: Some(Http::Two), secure: true, phases: true, body_bytes: Self::BODY_BYTES }
    }
}

impl Visit {
    /// Bytes of a body that are read where nothing else is asked for.
    pub const BODY_BYTES: u64 = 64 << 10;

    /// Most that may be asked for.
    pub const BODY_BYTES_MAX: u64 = 10_000_000_000;

    /// Round trips until the first byte of the answer.
    fn trips(&self) -> f64 {
        match (self.http, self.secure) {
            (None, _) => 1.0,
            (Some(Http::Three), _) | (Some(_), false) => 2.0,
            (Some(_), true) => 3.0,
        }
    }
}

/// Time between the visits of a block, in ns: they are a stranger's to answer.
const PAUSE_NS: f64 = 150_000_000.0;

impl Kind for Visit {
    fn metrics(&self) -> &'static [Metric] {
        match (self.http, self.phases, self.secure) {
            (None, _, _) => &[Metric::Connect],
            (Some(Http::Three), _, _) => &[Metric::FirstByte, Metric::Quic],
            (Some(_), false, _) => &[Metric::FirstByte, Metric::Response],
            (Some(_), true, false) => &[Metric::FirstByte, Metric::Connect, Metric::Response],
            (Some(_), true, true) => {
                &[Metric::FirstByte, Metric::Connect, Metric::Tls, Metric::Response]
            }
        }
    }

    fn transport(&self) -> Transport {
        if self.http == Some(Http::Three) { Transport::Udp } else { Transport::Tcp }
    }

    fn need(&self, _needed: &mut Needed) {}

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        range("bytes of a body", self.body_bytes, 0..=Self::BODY_BYTES_MAX)
    }

    fn check_limits(&self, _limits: &Limits) -> Result<(), Objection> {
        Ok(())
    }

    fn keep_to(&mut self, _limits: &Limits, _told: &mut dyn FnMut(String)) {}

    fn cost(&self, path: Path) -> Cost {
        /// Bytes of certificates and heads, about.
        const HEAD_BYTES: f64 = 8_000.0;
        let time_ns = self.trips() * path.round_trip_ns + HOSTS_NS + PAUSE_NS;
        Cost { time_ns, bytes: HEAD_BYTES + self.body_bytes.min(Self::BODY_BYTES) as f64 }
    }

    fn suffix(&self) -> String {
        let secure = if self.secure { "" } else { "-plain" };
        self.http.map_or_else(String::new, |http| format!("-http-{}{secure}", http.number()))
    }

    fn suffix_words(&self, metric: Metric) -> String {
        let is_of_version = matches!(metric, Metric::FirstByte | Metric::Response);
        let http = self.http.filter(|_| is_of_version);
        http.map(|http| format!(", {http}")).unwrap_or_default()
    }

    fn marking(&self) -> Marking {
        Marking::default()
    }

    fn mark(&mut self, _marking: Marking) {}

    fn rate_bps_most(&self) -> Option<u64> {
        Some(0)
    }

    fn longest_ns(&self) -> Option<u64> {
        None
    }

    fn exchanges_in_all(&self) -> u64 {
        1
    }

    fn notes_bytes(&self) -> u64 {
        TIME_BYTES
    }

    fn is_of_strangers(&self) -> bool {
        true
    }
}

/// A question to a name server: for IPv4 the A record of the name, for IPv6 its AAAA record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lookup {}

impl Kind for Lookup {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric::Lookup]
    }

    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn need(&self, _needed: &mut Needed) {}

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        Ok(())
    }

    fn check_limits(&self, _limits: &Limits) -> Result<(), Objection> {
        Ok(())
    }

    fn keep_to(&mut self, _limits: &Limits, _told: &mut dyn FnMut(String)) {}

    fn cost(&self, path: Path) -> Cost {
        /// Bytes of a question and its answer, about.
        const BYTES: f64 = 200.0;
        Cost { time_ns: path.round_trip_ns + HOSTS_NS + PAUSE_NS, bytes: BYTES }
    }

    fn suffix(&self) -> String {
        String::new()
    }

    fn suffix_words(&self, _metric: Metric) -> String {
        String::new()
    }

    fn marking(&self) -> Marking {
        Marking::default()
    }

    fn mark(&mut self, _marking: Marking) {}

    fn rate_bps_most(&self) -> Option<u64> {
        Some(0)
    }

    fn longest_ns(&self) -> Option<u64> {
        None
    }

    fn exchanges_in_all(&self) -> u64 {
        1
    }

    fn notes_bytes(&self) -> u64 {
        TIME_BYTES
    }

    fn is_of_strangers(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Cell, Workload};
    use alloc::vec::Vec;

    #[test]
    fn one_version_of_several_has_the_phases() {
        let cell =
            |http, phases| Cell::named(Workload::Visit(Visit { http, phases, ..Visit::default() }));
        let cells = [
            cell(Some(Http::Two), true),
            cell(Some(Http::One), false),
            cell(Some(Http::Three), true),
            cell(None, true),
        ];
        let ids: Vec<&str> = cells.iter().map(|cell| &*cell.id).collect();
        let named = [
            "first-byte-tcp-http-2",
            "first-byte-tcp-http-1.1",
            "first-byte-udp-http-3",
            "connect-tcp",
        ];
        assert_eq!(ids, named);
        let connects =
            cells.iter().filter(|cell| cell.workload.metrics().contains(&Metric::Connect));
        assert_eq!(connects.count(), 2);
        assert_eq!(cells[0].workload.suffix_words(Metric::Response), ", HTTP/2");
        assert_eq!(cells[0].workload.suffix_words(Metric::Tls), "");
    }
}
