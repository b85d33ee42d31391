//! What iperf3's client and server say to each other, as far as a client needs it: states of one
//! octet, JSON with its length in front, and the head of a datagram. The protocol has no document
//! but its source (esnet/iperf, `iperf_api.h` and `iperf_api.c`; versions 3.1 to 3.21).

use crate::wire::foreign;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// The port that its server has unless it is told otherwise.
pub const PORT: u16 = 5201;

/// Octets that each connection of a test begins with.
pub const COOKIE_BYTES: usize = 37;

/// Longest JSON that is read, in octets: results have the server's own text in them.
pub const JSON_BYTES_MAX: u32 = 1 << 20;

/// Octets in front of a datagram's padding: seconds, microseconds and number.
pub const HEAD_BYTES: usize = 12;

/// By which a flow of datagrams begins, in the order of the octets that little-endian hosts send.
pub const HELLO: [u8; 4] = *b"9876";

/// What its server answers to [`HELLO`]; before version 3.12 it was [`HELLO_BEFORE`].
pub const HELLO_BACK: [u8; 4] = *b"6789";

/// The number 987654321, as [`HELLO_BACK`].
pub const HELLO_BEFORE: [u8; 4] = 987_654_321_u32.to_le_bytes();

/// Longest text of the server that is looked at, in bytes.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// Letters of a cookie: base 32 without what is easily taken for another.
const LETTERS: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";

/// What tells the server that connections belong together.
pub fn cookie(random: &[u8; COOKIE_BYTES - 1]) -> [u8; COOKIE_BYTES] {
    let mut cookie = [0; COOKIE_BYTES];
    for (letter, drawn) in cookie.iter_mut().zip(random) {
        *letter = LETTERS[usize::from(drawn % 32)];
    }
    cookie
}

/// Where a test stands, as one end tells the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The test begins.
    TestStart,
    /// It is under way.
    TestRunning,
    /// The client has done its part.
    TestEnd,
    /// The server asks for what is to be done.
    ParamExchange,
    /// It asks for the connections.
    CreateStreams,
    /// The server is about to end.
    ServerTerminate,
    /// The client gives up.
    ClientTerminate,
    /// The server asks for what the client counted, and tells what it did.
    ExchangeResults,
    /// The server is done.
    DisplayResults,
    /// The client is done.
    Done,
    /// The server is busy with another client.
    AccessDenied,
    /// Something is wrong at the server; two numbers follow.
    ServerError,
}

/// The octets that stand for them (`iperf_api.h`): signed ones, of which two are below 0.
const OCTETS: [(State, u8); 12] = [
    (State::TestStart, 1),
    (State::TestRunning, 2),
    (State::TestEnd, 4),
    (State::ParamExchange, 9),
    (State::CreateStreams, 10),
    (State::ServerTerminate, 11),
    (State::ClientTerminate, 12),
    (State::ExchangeResults, 13),
    (State::DisplayResults, 14),
    (State::Done, 16),
    (State::AccessDenied, 0xff),
    (State::ServerError, 0xfe),
];

impl State {
    /// The state that an octet stands for.
    pub fn of(octet: u8) -> Option<State> {
        OCTETS.into_iter().find(|(_, known)| *known == octet).map(|(state, _)| state)
    }

    /// The octet that stands for it.
    pub fn octet(self) -> u8 {
        OCTETS.into_iter().find(|(known, _)| *known == self).map_or(0, |(_, octet)| octet)
    }
}

/// What is to be done, as its server reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Params {
    /// Whether over TCP.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub tcp: bool,
    /// Whether over UDP.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub udp: bool,
    /// Seconds at the start that are left out; this end does that itself.
    pub omit: u32,
    /// Seconds that it lasts; the client ends it earlier.
    pub time: u32,
    /// Bytes and blocks that end it; 0 is none.
    pub num: u64,
    /// As `num`.
    pub blockcount: u64,
    /// Connections.
    pub parallel: u32,
    /// Bytes of a write, or of a datagram.
    pub len: u32,
    /// Whether the server sends.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub reverse: bool,
    /// Longest segment, in bytes.
    #[serde(rename = "MSS", skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Whether small segments are sent at once.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub nodelay: bool,
    /// Bytes of both buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Pace of each connection, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<u64>,
    /// Congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Traffic class.
    #[serde(rename = "TOS", skip_serializing_if = "Option::is_none")]
    pub tos: Option<u8>,
    /// Steps of the pace, in µs.
    pub pacing_timer: u32,
    /// Whether the server's own text is wanted.
    pub get_server_output: u32,
    /// Version of the client.
    pub client_version: &'static str,
}

/// The version that a client of these messages has.
pub const VERSION: &str = "3.12";

/// What one end counted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Results {
    /// Share of processors that its process took, in percent. Not used.
    #[serde(default)]
    pub cpu_util_total: f64,
    /// As `cpu_util_total`.
    #[serde(default)]
    pub cpu_util_user: f64,
    /// As `cpu_util_total`.
    #[serde(default)]
    pub cpu_util_system: f64,
    /// Whether repeats are counted. Servers that do not know say −1, or 2⁶⁴ − 1, so it is not read.
    #[serde(default, skip_deserializing)]
    pub sender_has_retransmits: i64,
    /// Each connection.
    #[serde(default)]
    pub streams: Vec<Stream>,
    /// The server's own text.
    #[serde(default, skip_serializing)]
    pub server_output_text: Option<String>,
}

/// What one end counted of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stream {
    /// Its number: 1, 3, 4, 5 and on.
    pub id: i64,
    /// Bytes sent or received.
    pub bytes: u64,
    /// Segments sent again; not read, as [`Results::sender_has_retransmits`].
    #[serde(default, skip_deserializing)]
    pub retransmits: i64,
    /// Variation of delay, in s.
    #[serde(default)]
    pub jitter: f64,
    /// Datagrams that the receiver missed.
    #[serde(default)]
    pub errors: i64,
    /// Datagrams sent, or the highest number that came.
    #[serde(default)]
    pub packets: i64,
    /// When it began, in s. Servers of before 3.1 do not say.
    #[serde(default)]
    pub start_time: f64,
    /// When it ended, in s.
    #[serde(default)]
    pub end_time: f64,
}

impl Params {
    /// As it is sent.
    pub fn json(&self) -> Vec<u8> {
        written(self)
    }
}

/// Plain data of this module always become JSON.
fn written(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// The number of a connection, counted from 0.
pub const fn stream_id(number: u32) -> i64 {
    match number {
        0 => 1,
        later => later as i64 + 2,
    }
}

impl Results {
    /// As it is sent.
    pub fn json(&self) -> Vec<u8> {
        written(self)
    }

    /// Reads what the server sent.
    ///
    /// # Errors
    /// If it is none, in words.
    pub fn read(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json).map_err(|why| foreign::line(&alloc::format!("{why}"), 200))
    }

    /// Bytes of all connections together.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().fold(0, |sum, stream| sum.saturating_add(stream.bytes))
    }

    /// Datagrams of all connections together: sent, or the highest number that came.
    pub fn packets(&self) -> u64 {
        let of = |stream: &Stream| u64::try_from(stream.packets).unwrap_or(0);
        self.streams.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Datagrams that the receiver missed.
    pub fn missed(&self) -> u64 {
        let of = |stream: &Stream| u64::try_from(stream.errors).unwrap_or(0);
        self.streams.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The longest time that a connection lasted, in s.
    pub fn seconds(&self) -> f64 {
        let span = |stream: &Stream| stream.end_time - stream.start_time;
        self.streams.iter().map(span).fold(0.0, f64::max)
    }

    /// From which address the server says that it was asked.
    pub fn accepted_from(&self) -> Option<IpAddr> {
        let (_, rest) = self.text()?.split_once("Accepted connection from ")?;
        let (address, _) = rest.split_once(',')?;
        let address: IpAddr = address.trim().parse().ok()?;
        Some(address.to_canonical())
    }

    /// The number that the server gives to the test: it counts them from 1 on, and what it says
    /// before its first is not yet kept for a client.
    pub fn test_number(&self) -> Option<u32> {
        let Some((_, rest)) = self.text()?.split_once("(test #") else {
            return self.accepted_from().map(|_| 1);
        };
        rest.split_once(')')?.0.parse().ok()
    }

    fn text(&self) -> Option<&str> {
        self.server_output_text.as_deref().filter(|text| text.len() <= TEXT_BYTES_MAX)
    }
}

/// Writes the head of a datagram: seconds, µs and number, counted from 1.
pub fn head(ns: u64, number: u32, datagram: &mut [u8]) -> Option<()> {
    let (seconds, us) = (ns / 1_000_000_000, ns % 1_000_000_000 / 1_000);
    let place = datagram.get_mut(..HEAD_BYTES)?;
    for (part, value) in place.chunks_exact_mut(4).zip([seconds as u32, us as u32, number]) {
        part.copy_from_slice(&value.to_be_bytes());
    }
    Some(())
}

/// The number in the head of a datagram.
pub fn number(datagram: &[u8]) -> Option<u32> {
    let (_, number) = datagram.get(..HEAD_BYTES)?.split_last_chunk()?;
    Some(u32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What iperf3 3.12 sent, shortened: a number of repeats that does not fit, and its own text.
    const TOLD: &str = r#"{"cpu_util_total":4.7,"cpu_util_user":0.6,"cpu_util_system":4.1,
        "sender_has_retransmits":18446744073709551615,"streams":[{"id":1,"bytes":11534336,
        "retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,
        "end_time":1.000116}],"server_output_text":
        "Server listening on 5201 (test #7)\nAccepted connection from ::ffff:192.0.2.1, port 40\n"
        }"#;

    #[test]
    fn results_of_a_server_are_read() {
        let results = Results::read(TOLD.as_bytes()).unwrap();
        assert_eq!((results.bytes(), results.seconds()), (11_534_336, 1.000_116));
        assert_eq!(results.accepted_from(), Some("192.0.2.1".parse().unwrap()));
        assert_eq!(results.test_number(), Some(7));
        let first = TOLD.replace("Server listening on 5201 (test #7)\\n", "");
        assert_eq!(Results::read(first.as_bytes()).unwrap().test_number(), Some(1));
        let datagrams = r#"{"streams":[{"id":1,"bytes":10,"errors":3,"packets":100},
                            {"id":3,"bytes":5,"errors":-1,"packets":50}]}"#;
        let results = Results::read(datagrams.as_bytes()).unwrap();
        assert_eq!((results.packets(), results.missed(), results.bytes()), (150, 3, 15));
    }

    #[test]
    fn states_come_back_and_others_are_none() {
        for octet in 0..=255 {
            assert!(State::of(octet).is_none_or(|state| state.octet() == octet));
        }
        assert_eq!(OCTETS.into_iter().filter_map(|(_, octet)| State::of(octet)).count(), 12);
    }

    #[test]
    fn what_is_to_be_done_has_only_the_keys_that_are_set() {
        let params = Params { tcp: true, time: 2, parallel: 1, len: 131_072, ..Params::default() };
        let text = String::from_utf8(params.json()).unwrap();
        assert!(text.starts_with(r#"{"tcp":true,"omit":0,"time":2,"num":0,"#), "{text}");
        assert!(!text.contains("udp") && !text.contains("MSS"), "{text}");
        assert_eq!([0, 1, 2].map(stream_id), [1, 3, 4]);
        let cookie = cookie(&[0xff; 36]);
        assert_eq!((cookie[0], cookie[36]), (b'7', 0));
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_trouble(
            octets in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            if let Ok(results) = Results::read(&octets) {
                let _ = (results.bytes(), results.accepted_from(), results.test_number());
            }
            prop_assert_eq!(number(&octets).is_some(), octets.len() >= HEAD_BYTES);
        }

        #[test]
        fn heads_come_back(ns in 0_u64..4_000_000_000_000_000_000, of: u32) {
            let mut datagram = [0; 20];
            head(ns, of, &mut datagram).unwrap();
            prop_assert_eq!(number(&datagram), Some(of));
        }
    }
}
