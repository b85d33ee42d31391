//! Questions to name servers, each over a socket of its own and timed from the query to the answer
//! that belongs to it.

use super::fill::fill;
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use std::io;
use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::Family;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, SocketError, Stream, StreamOptions};

/// Longest answer over UDP that is read, in bytes: nobody was told of a longer one (RFC 6891).
const ANSWER_BYTES_MAX: usize = 4096;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Record {
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
    /// How its service is to be reached (RFC 9460).
    Https,
    /// The name of an address, which is asked for by [`reverse_name`].
    Ptr,
}

impl Record {
    /// That of an address of a family.
    pub const fn of(family: Family) -> Self {
        match family {
            Family::V4 => Record::A,
            Family::V6 => Record::Aaaa,
        }
    }

    /// As DNS calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Record::A => Family::V4.record(),
            Record::Aaaa => Family::V6.record(),
            Record::Https => "HTTPS",
            Record::Ptr => "PTR",
        }
    }

    const fn kind(self) -> RecordType {
        match self {
            Record::A => RecordType::A,
            Record::Aaaa => RecordType::AAAA,
            Record::Https => RecordType::HTTPS,
            Record::Ptr => RecordType::PTR,
        }
    }
}

/// A question.
#[derive(Debug, Clone)]
pub struct Lookup<'a> {
    /// The name server.
    pub server: SocketAddr,
    /// Address to ask from, where the system is not to choose.
    pub local: Option<SocketAddr>,
    /// The name.
    pub name: &'a str,
    /// What of it.
    pub record: Record,
    /// Number of the question, drawn by the caller.
    pub id: u16,
    /// Longest wait for the answer, in ns.
    pub timeout_ns: u64,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// From the query to the answer, in ns.
    pub ns: u64,
    /// As in `NOERROR`.
    pub code: String,
    /// The addresses, in their order.
    pub addresses: Vec<IpAddr>,
    /// The names of an address, in their order.
    pub names: Vec<String>,
    /// Whether another version of HTTP is offered (an HTTPS record with ALPN).
    pub offers: Vec<String>,
    /// The shortest time for which a record may be kept, in s.
    pub ttl_s: Option<u32>,
    /// Whether there was more than fits a datagram.
    pub cut: bool,
    /// Asking again over TCP took so long, in ns, because of that.
    pub over_tcp_ns: Option<u64>,
}

/// A question as it is sent.
#[derive(Debug, Clone)]
pub struct Question {
    query: Query,
    id: u16,
    /// Its octets.
    pub bytes: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The system said so.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The system said so in the middle of it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no name.
    #[error("{0} is no name of DNS")]
    Name(String),
    /// No answer came in time.
    #[error("no answer came in {} ms", .0 / 1_000_000)]
    Silent(u64),
    /// What came is no message of DNS.
    #[error("what came is no answer: {0}")]
    Malformed(String),
    /// The answer was cut, and its whole is not to be had.
    #[error("the answer is cut (TC), and over TCP there is none: {why}")]
    Cut {
        /// What came, without its records.
        answer: Box<Answer>,
        /// Why there is no whole.
        why: Box<LookupError>,
    },
}

/// Whether a question was asked again over TCP.
pub(crate) fn is_asked_again(outcome: &Result<Answer, LookupError>) -> bool {
    match outcome {
        Ok(answer) => answer.over_tcp_ns.is_some(),
        Err(why) => matches!(why, LookupError::Cut { .. }),
    }
}

impl LookupError {
    /// What the server answered all the same; `None` if it did not.
    pub fn into_answer(self) -> Option<Answer> {
        match self {
            LookupError::Cut { answer, .. } => Some(*answer),
            LookupError::Socket(_)
            | LookupError::Io(_)
            | LookupError::Name(_)
            | LookupError::Silent(_)
            | LookupError::Malformed(_) => None,
        }
    }
}

impl Lookup<'_> {
    /// Asks by a datagram, and waits for the answer; for the whole of one that is cut, over TCP.
    ///
    /// # Errors
    /// If none comes, or if the whole does not ([`LookupError::Cut`]).
    pub fn ask(&self) -> Result<Answer, LookupError> {
        let answer = self.over_udp()?;
        if answer.cut { self.ask_again(answer) } else { Ok(answer) }
    }

    fn over_udp(&self) -> Result<Answer, LookupError> {
        let question = Question::new(self.name, self.record, self.id)?;
        let family = Family::of(&self.server.ip()).unwrap_or(Family::V4);
        let any = SocketAddr::new(family.unspecified(), 0);
        let socket = Datagram::bind(self.local.unwrap_or(any))?;
        socket.connect(self.server)?;
        let mut buffer = vec![0; ANSWER_BYTES_MAX];
        let start_ns = clock::now_ns();
        socket.send(&question.bytes)?;
        let until_ns = start_ns.saturating_add(self.timeout_ns);
        loop {
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 || !socket.wait_readable(left_ns)? {
                return Err(LookupError::Silent(self.timeout_ns));
            }
            let read = socket.recv(&mut buffer)?;
            let ns = clock::now_ns() - start_ns;
            if let Some(answer) = question.answered(&buffer[..read], ns) {
                return Ok(answer);
            }
        }
    }

    fn ask_again(&self, cut: Answer) -> Result<Answer, LookupError> {
        self.over_tcp(cut.ns).map_err(|why| {
            // The records of a part are not to be used (RFC 2181 section 9).
            let (addresses, names, offers) = (Vec::new(), Vec::new(), Vec::new());
            let answer = Answer { addresses, names, offers, ttl_s: None, ..cut };
            LookupError::Cut { answer: Box::new(answer), why: Box::new(why) }
        })
    }

    /// The same question over TCP: two octets of length, and the message (RFC 7766).
    fn over_tcp(&self, ns: u64) -> Result<Answer, LookupError> {
        let question = Question::new(self.name, self.record, self.id)?;
        let options = StreamOptions { no_delay: true, ..StreamOptions::default() };
        let start_ns = clock::now_ns();
        let stream = Stream::connect(self.local, self.server, &options, self.timeout_ns)?;
        let until_ns = start_ns.saturating_add(self.timeout_ns);
        let length = (question.bytes.len() as u16).to_be_bytes();
        stream.write_all(&[&length[..], &question.bytes].concat())?;
        let mut length = [0; 2];
        fill(&stream, &mut length, until_ns)?;
        let mut long = vec![0; usize::from(u16::from_be_bytes(length))];
        fill(&stream, &mut long, until_ns)?;
        let over_tcp_ns = clock::now_ns() - start_ns;
        let answer = question.answered(&long, ns);
        let answer = answer.ok_or_else(|| LookupError::Malformed("over TCP".to_owned()))?;
        Ok(Answer { over_tcp_ns: Some(over_tcp_ns), ..answer })
    }
}

impl Question {
    /// A question with that number about a name.
    ///
    /// # Errors
    /// If it is no name.
    pub fn new(name: &str, record: Record, id: u16) -> Result<Self, LookupError> {
        let no_name = || LookupError::Name(name.to_owned());
        let mut fqdn = Name::from_ascii(name).map_err(|_| no_name())?;
        fqdn.set_fqdn(true);
        let query = Query::query(fqdn, record.kind());
        let mut message = Message::new();
        message.set_id(id).set_message_type(MessageType::Query).set_op_code(OpCode::Query);
        message.set_recursion_desired(true).add_query(query.clone());
        let bytes = message.to_vec().map_err(|_| no_name())?;
        Ok(Question { query, id, bytes })
    }

    /// What `bytes`, which came after so many ns, answer; `None` if they do not answer this.
    pub fn answered(&self, bytes: &[u8], ns: u64) -> Option<Answer> {
        let message = Message::from_vec(bytes).ok()?;
        let is_it = message.id() == self.id
            && message.message_type() == MessageType::Response
            && message.queries().first() == Some(&self.query);
        is_it.then(|| answer(&message, ns))
    }
}

fn answer(message: &Message, ns: u64) -> Answer {
    let data = message.answers().iter().map(|record| record.data());
    let address = |data: &RData| match data {
        RData::A(address) => Some(IpAddr::V4(address.0)),
        RData::AAAA(address) => Some(IpAddr::V6(address.0)),
        _ => None,
    };
    Answer {
        ns,
        code: mnemonic(message.response_code()),
        addresses: data.clone().filter_map(address).collect(),
        names: data.clone().filter_map(name).collect(),
        offers: data.filter_map(offers).flatten().collect(),
        ttl_s: message.answers().iter().map(|record| record.ttl()).min(),
        cut: message.truncated(),
        over_tcp_ns: None,
    }
}

/// As the registry of DNS calls a code (RFC 6895 section 2.3); others by their number.
fn mnemonic(code: ResponseCode) -> String {
    let known = match code {
        ResponseCode::NoError => "NOERROR",
        ResponseCode::FormErr => "FORMERR",
        ResponseCode::ServFail => "SERVFAIL",
        ResponseCode::NXDomain => "NXDOMAIN",
        ResponseCode::NotImp => "NOTIMP",
        ResponseCode::Refused => "REFUSED",
        other => return format!("RCODE {}", u16::from(other)),
    };
    known.to_owned()
}

/// The name in a PTR record, as far as it is made of what names of hosts are made of.
fn name(data: &RData) -> Option<String> {
    let RData::PTR(name) = data else { return None };
    let text = name.0.to_ascii();
    let text = text.strip_suffix('.').unwrap_or(&text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_owned())
}

/// The name under which DNS keeps the name of an address (RFC 1035 section 3.5, RFC 3596 section
/// 2.5).
pub fn reverse_name(address: &IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, d] = v4.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(v6) => {
            let halves = |octet: &u8| format!("{:x}.{:x}.", octet & 0xf, octet >> 4);
            let nibbles: String = v6.octets().iter().rev().map(halves).collect();
            format!("{nibbles}ip6.arpa")
        }
    }
}

/// The protocols that an HTTPS record names.
fn offers(data: &RData) -> Option<Vec<String>> {
    let RData::HTTPS(https) = data else { return None };
    https.svc_params().iter().find_map(|(_, value)| match value {
        hickory_proto::rr::rdata::svcb::SvcParamValue::Alpn(alpn) => Some(alpn.0.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 1035 section 3.5 and RFC 3596 section 2.5.
    #[test]
    fn known_answers_of_names_of_addresses() {
        let of = |text: &str| reverse_name(&text.parse().unwrap());
        assert_eq!(of("10.2.0.52"), "52.0.2.10.in-addr.arpa");
        let six = "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa";
        assert_eq!(of("4321::567:89ab"), six);
    }
}
