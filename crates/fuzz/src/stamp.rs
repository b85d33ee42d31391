//! Test packets of STAMP, which come from anybody: what is answered was a question, its answer is
//! as long, and says what was asked.

use v6gap_core::wire::stamp::{
    Answer, OPEN_BYTES, Question, SEAL_BYTES, SEALED_BYTES, Seal, answer, answered, ask, asked,
};

/// The time that a packet is said to have come, and the time left, in ns since 1970.
const TIMES_NS: [u64; 2] = [1_700_000_000_000_000_000, 1_700_000_000_000_000_001];

/// What a packet is said to have come with.
const HOPS: u8 = 61;

/// Something that depends on each octet.
fn seal(octets: &[u8]) -> [u8; SEAL_BYTES] {
    let mix = |sum: u8, octet: &u8| sum.wrapping_mul(31).wrapping_add(*octet);
    [octets.iter().fold(7, mix); SEAL_BYTES]
}

/// A packet, open and authenticated: as it came, and made a true question.
pub fn run(data: &[u8]) {
    let both: [(Seal<'_>, usize); 2] = [(None, OPEN_BYTES), (Some(&seal), SEALED_BYTES)];
    for (seal, length) in both {
        judge(data, seal, length);
        let mut packet = data.to_vec();
        let mix = |sum: u32, octet: &u8| sum.rotate_left(5) ^ u32::from(*octet);
        let sequence = data.iter().fold(0, mix);
        let question = Question { sequence, sent_ns: TIMES_NS[0], session: data.len() as u16 };
        let written = ask(&question, &mut packet, seal);
        assert_eq!(written, (data.len() >= length).then_some(length));
        if written.is_some() {
            assert_eq!(asked(&packet, seal), Some(question));
            assert_eq!(packet[length..], data[length..]);
            judge(&packet, seal, length);
        }
    }
}

fn judge(packet: &[u8], seal: Seal<'_>, length: usize) {
    let question = asked(packet, seal);
    assert!(question.is_none() || packet.len() >= length);
    let mut answer_to = packet.to_vec();
    let [received_ns, sent_ns] = TIMES_NS;
    let made = answer(&mut answer_to, received_ns, sent_ns, HOPS, seal);
    assert_eq!(made.is_some(), question.is_some());
    let Some(Question { sequence, session, .. }) = question else {
        return assert_eq!(answer_to, packet);
    };
    assert_eq!(answer_to.len(), packet.len());
    assert_eq!(answer_to[length..], packet[length..]);
    let asked = sequence;
    let said = Answer { sequence, received_ns, sent_ns, session, asked, hops_left: HOPS };
    assert_eq!(answered(&answer_to, seal), Some(said));
}
