//! Visits to a service that does not run this program, and questions to name servers.

use super::feature::Needed;
use super::impossible::{Impossible, range};
use super::kind::{Cost, HOSTS_NS, Kind, Path};
use super::limits::{Limits, Objection};
use super::{Marking, TIME_BYTES};
use crate::metric::Metric;
use crate::transport::Transport;
use crate::unit::format_bytes;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::net::SocketAddr;
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
    /// Most bytes of the body that are read; above [`Visit::BODY_BYTES`] it is a download.
    pub body_bytes: u64,
    /// Which pair of the host's addresses is visited, counted from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub pair: u8,
}

impl Default for Visit {
    /// HTTP/2, with all phases.
    fn default() -> Self {
        let body_bytes = Self::BODY_BYTES;
        Visit { http: Some(Http::Two), secure: true, phases: true, body_bytes, pair: 0 }
    }
}

impl Visit {
    /// Bytes of a body that are read where nothing else is asked for.
    pub const BODY_BYTES: u64 = 64 << 10;

    /// Most that may be asked for.
    pub const BODY_BYTES_MAX: u64 = 10_000_000_000;

    /// Most pairs of addresses of a host that are visited.
    pub const PAIRS_MAX: u8 = 4;

    /// Longest time for which a body is read, in ns.
    pub const BODY_NS_MAX: u64 = 60_000_000_000;

    /// What a byte takes on the slowest line that has time for all of a short body, in ns: 100
    /// kbit/s.
    const BYTE_NS: u64 = 80_000;

    /// Whether more of the body is read than by every visit, so that its rate is a question.
    pub fn downloads(&self) -> bool {
        self.http.is_some() && self.body_bytes > Self::BODY_BYTES
    }

    /// Time after which no more of the body is read, in ns: what all of it takes at 100 kbit/s, and
    /// at most [`Visit::BODY_NS_MAX`].
    pub fn body_ns(&self) -> u64 {
        self.body_bytes.saturating_mul(Self::BYTE_NS).min(Self::BODY_NS_MAX)
    }

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
        use Metric::{Connect, FirstByte, Quic, Response, Throughput, Tls};
        let all: &'static [Metric] = match (self.http, self.phases, self.secure) {
            (None, _, _) => return &[Connect],
            (Some(Http::Three), _, _) => &[FirstByte, Quic, Throughput],
            (Some(_), false, _) => &[FirstByte, Response, Throughput],
            (Some(_), true, false) => &[FirstByte, Connect, Response, Throughput],
            (Some(_), true, true) => &[FirstByte, Connect, Tls, Response, Throughput],
        };
        // The last is a question of downloads alone.
        if self.downloads() { all } else { &all[..all.len() - 1] }
    }

    fn transport(&self) -> Transport {
        if self.http == Some(Http::Three) { Transport::Udp } else { Transport::Tcp }
    }

    fn need(&self, _needed: &mut Needed) {}

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        range("bytes of a body", self.body_bytes, 0..=Self::BODY_BYTES_MAX)?;
        range("number of a pair of addresses", self.pair, 0..=u64::from(Self::PAIRS_MAX) - 1)
    }

    fn check_limits(&self, _limits: &Limits) -> Result<(), Objection> {
        Ok(())
    }

    fn keep_to(&mut self, _limits: &Limits, _told: &mut dyn FnMut(String)) {}

    fn cost(&self, path: Path) -> Cost {
        /// Bytes of certificates and heads, about.
        const HEAD_BYTES: f64 = 8_000.0;
        // What every visit reads of a body is there nearly at once.
        let (body_bytes, body_ns) = match self.downloads() {
            true => (self.body_bytes as f64, self.body_bytes as f64 * 8e9 / path.rate_bps),
            false => (self.body_bytes.min(Self::BODY_BYTES) as f64, 0.0),
        };
        let time_ns = self.trips() * path.round_trip_ns + HOSTS_NS + PAUSE_NS + body_ns;
        Cost { time_ns, bytes: HEAD_BYTES + body_bytes }
    }

    fn suffix(&self) -> String {
        let secure = if self.secure { "" } else { "-plain" };
        let http = self.http.map(|http| format!("-http-{}{secure}", http.number()));
        let body = self.downloads().then(|| format!("-body-{}", self.body_bytes));
        let pair = counted_on("addresses", self.pair);
        [http, body, pair].into_iter().flatten().collect()
    }

    fn suffix_words(&self, metric: Metric) -> String {
        let is_rate = metric == Metric::Throughput;
        let is_of_version = is_rate || matches!(metric, Metric::FirstByte | Metric::Response);
        let http = self.http.filter(|_| is_of_version).map(|http| format!(", {http}"));
        let body = is_rate.then(|| format!(", {}", format_bytes(self.body_bytes)));
        [http, body].into_iter().flatten().collect()
    }

    fn marking(&self) -> Marking {
        Marking::default()
    }

    fn mark(&mut self, _marking: Marking) {}

    fn rate_bps_most(&self) -> Option<u64> {
        if self.downloads() { None } else { Some(0) }
    }

    fn runs_ahead(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        // It ends with a reset and a pause of its own.
        false
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
pub struct Lookup {
    /// Which of the name servers is asked, counted from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub server: u8,
}

impl Lookup {
    /// Most name servers that are asked.
    pub const SERVERS_MAX: u8 = 4;

    /// The port of name servers (RFC 1035 section 4.2).
    pub const PORT: u16 = 53;

    /// What a name server is called: its address, and its port if that is another than usual.
    pub fn called(server: &SocketAddr) -> String {
        match server.port() {
            Self::PORT => server.ip().to_string(),
            _ => server.to_string(),
        }
    }
}

/// Whether it is the first one, of which journals of before there were several say nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_first(index: &u8) -> bool {
    *index == 0
}

/// The end of the name of a cell that is not the first of its kind.
fn counted_on(what: &str, index: u8) -> Option<String> {
    (index > 0).then(|| format!("-{what}-{}", u16::from(index) + 1))
}

impl Kind for Lookup {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric::Lookup]
    }

    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn need(&self, _needed: &mut Needed) {}

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        range("number of a name server", self.server, 0..=u64::from(Self::SERVERS_MAX) - 1)
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
        counted_on("server", self.server).unwrap_or_default()
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

    fn runs_ahead(&self) -> bool {
        false
    }

    fn lingers(&self) -> bool {
        false
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

    /// Cells and journals of runs to one place are as they were before there were several.
    #[test]
    fn the_first_place_is_not_written() {
        let visit = |pair| Workload::Visit(Visit { pair, ..Visit::default() });
        let connect = |pair| Workload::Visit(Visit { pair, http: None, ..Visit::default() });
        let lookup = |server| Workload::Lookup(Lookup { server });
        let named = [
            (visit(0), "first-byte-tcp-http-2"),
            (visit(1), "first-byte-tcp-http-2-addresses-2"),
            (connect(3), "connect-tcp-addresses-4"),
            (lookup(0), "lookup-udp"),
            (lookup(2), "lookup-udp-server-3"),
        ];
        for (workload, id) in named {
            let written = serde_json::to_string(&workload).unwrap();
            let places = written.contains("pair") || written.contains("server");
            assert_eq!(places, id.contains("addresses") || id.contains("server"), "{written}");
            assert_eq!(serde_json::from_str::<Workload>(&written).unwrap(), workload);
            assert_eq!(Cell::named(workload).id, id);
        }
        assert_eq!(serde_json::to_string(&lookup(0)).unwrap(), r#"{"kind":"lookup"}"#);
        assert!(visit(Visit::PAIRS_MAX).check_numbers(1).is_err());
        assert!(lookup(Lookup::SERVERS_MAX - 1).check_numbers(1).is_ok());
    }

    #[test]
    fn name_servers_are_called_by_what_is_special_of_them() {
        let called = |text: &str| Lookup::called(&text.parse().unwrap());
        assert_eq!(called("192.0.2.53:53"), "192.0.2.53");
        assert_eq!(called("[2001:db8::53]:53"), "2001:db8::53");
        assert_eq!(called("[2001:db8::53]:5300"), "[2001:db8::53]:5300");
    }

    #[test]
    fn a_download_has_a_rate_beside_its_phases() {
        let of = |http, body_bytes| Visit { http, body_bytes, ..Visit::default() };
        let download = of(Some(Http::Two), 20_000_000);
        for (visit, downloads) in [
            (&download, true),
            (&of(Some(Http::One), Visit::BODY_BYTES + 1), true),
            (&of(Some(Http::One), Visit::BODY_BYTES), false),
            (&of(None, 20_000_000), false),
        ] {
            assert_eq!(visit.downloads(), downloads, "{visit:?}");
            let has_rate = visit.metrics().contains(&Metric::Throughput);
            assert_eq!((has_rate, visit.rate_bps_most().is_none()), (downloads, downloads));
        }
        assert_eq!(download.suffix(), "-http-2-body-20000000");
        assert_eq!(download.suffix_words(Metric::Throughput), ", HTTP/2, 20 MB");
        assert_eq!(download.suffix_words(Metric::FirstByte), ", HTTP/2");
        let more = download.cost(Path::USUAL).time_ns - Visit::default().cost(Path::USUAL).time_ns;
        assert!((more - 1.6e9).abs() < 1.0, "{more}");
    }

    #[test]
    fn the_time_of_a_body_is_bounded() {
        let of = |body_bytes| Visit { body_bytes, ..Visit::default() }.body_ns();
        // 100 kbit/s, and a minute.
        assert_eq!([of(0), of(100_000), of(750_000)], [0, 8_000_000_000, 60_000_000_000]);
        assert_eq!(of(u64::MAX), Visit::BODY_NS_MAX);
    }
}
