//! Answers of name servers, which anybody can send who guesses a port: what is taken for one
//! answers the question, and holds no more than its octets.

use v6gap_visit::{Question, Record};

/// The number of the question.
const ID: u16 = 0x1234;

/// What is asked for; the first octet of an input chooses.
const RECORDS: [Record; 4] = [Record::A, Record::Aaaa, Record::Https, Record::Ptr];

/// Octets of the shortest record with an address: a name that is elsewhere, ten of the head, and an
/// IPv4 address (RFC 1035 section 4.1.3).
const RECORD_BYTES_MIN: usize = 1 + 10 + 4;

/// The rest of an input is the answer.
pub fn answer(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let record = RECORDS[usize::from(choice) % RECORDS.len()];
    let question = Question::new("www.example.org", record, ID).expect("a name");
    assert!(question.answered(&question.bytes, 0).is_none(), "a question is no answer");
    let Some(answer) = question.answered(bytes, 7) else { return };
    assert_eq!(bytes[..2], ID.to_be_bytes());
    assert!(bytes[2] & 0x80 != 0 && answer.ns == 7 && answer.over_tcp_ns.is_none());
    assert_eq!(answer.cut, bytes[2] & 2 != 0);
    assert!(answer.addresses.len() * RECORD_BYTES_MIN <= bytes.len());
    assert!(answer.ttl_s.is_some() || answer.addresses.is_empty());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    assert!(answer.names.iter().all(|name| !name.is_empty() && name.chars().all(plain)));
    assert!(answer.offers.iter().map(String::len).sum::<usize>() <= 3 * bytes.len());
}
