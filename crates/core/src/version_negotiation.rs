//! Version negotiation of QUIC as an echo: a packet of a version that nobody speaks is answered
//! with the connection identifiers exchanged (RFC 9000 section 6.1, RFC 8999), by a server that
//! keeps nothing of it. Only the question is padded, so its size is that of the way there alone.

/// Octets of each connection identifier.
pub const ID_BYTES: usize = 8;

/// Octets of the shortest question that is answered (RFC 9000 section 14.1).
pub const BYTES_MIN: usize = 1200;

/// First octet of a long header with its fixed bit (RFC 9000 section 17.2).
const LONG: u8 = 0xc0;

/// Only this bit of it means something whatever the version is (RFC 8999 section 5.1).
const IS_LONG: u8 = 0x80;

/// A version that is reserved to be refused (RFC 9000 section 15: `0x?a?a?a?a`).
const REFUSED: [u8; 4] = [0x1a, 0x2a, 0x3a, 0x4a];

/// The version of an answer that negotiates (RFC 8999 section 6).
const NEGOTIATES: [u8; 4] = [0; 4];

/// Identifiers of a question, drawn by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids {
    /// Whom it goes to.
    pub to: [u8; ID_BYTES],
    /// Whom it comes from.
    pub from: [u8; ID_BYTES],
}

/// Writes a question over the beginning of `packet`, whose rest pads it; `None` if that is shorter
/// than [`BYTES_MIN`], which nobody answers.
pub fn ask(ids: &Ids, packet: &mut [u8]) -> Option<()> {
    if packet.len() < BYTES_MIN {
        return None;
    }
    let length = [ID_BYTES as u8];
    let parts: [&[u8]; 6] = [&[LONG], &REFUSED, &length, &ids.to, &length, &ids.from];
    let mut rest = packet;
    for part in parts {
        let (head, tail) = rest.split_at_mut_checked(part.len())?;
        head.copy_from_slice(part);
        rest = tail;
    }
    Some(())
}

/// Whether `packet` is the answer to the question with these identifiers.
pub fn answers(ids: &Ids, packet: &[u8]) -> bool {
    let answer = || {
        let (first, rest) = packet.split_first()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let (to, rest) = id(rest)?;
        let (from, versions) = id(rest)?;
        let negotiates = first & IS_LONG != 0 && *version == NEGOTIATES && !versions.is_empty();
        // What came from us goes to us now.
        (negotiates && *to == ids.from && *from == ids.to).then_some(())
    };
    answer().is_some()
}

/// An identifier of our length, with its length in front.
fn id(bytes: &[u8]) -> Option<(&[u8; ID_BYTES], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    (usize::from(*length) == ID_BYTES).then_some(())?;
    rest.split_first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const IDS: Ids = Ids { to: [1; ID_BYTES], from: [2; ID_BYTES] };

    fn answer() -> Vec<u8> {
        let one = [0, 0, 0, 1];
        [&[0x9f][..], &NEGOTIATES, &[8], &IDS.from, &[8], &IDS.to, &one].concat()
    }

    #[test]
    fn a_question_has_its_octets_where_the_rfc_has_them() {
        let mut packet = [0xee; BYTES_MIN];
        ask(&IDS, &mut packet).unwrap();
        assert_eq!(packet[..6], [0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8]);
        assert_eq!((&packet[6..14], packet[14], &packet[15..23]), (&[1; 8][..], 8, &[2; 8][..]));
        assert_eq!(packet[23..], [0xee; BYTES_MIN - 23]);
        assert_eq!(ask(&IDS, &mut packet[1..]), None);
    }

    #[test]
    fn only_the_answer_to_the_question_is_one() {
        assert!(answers(&IDS, &answer()));
        for cut in 0..answer().len() - 3 {
            assert!(!answers(&IDS, &answer()[..cut]), "{cut}");
        }
        for changed in 0..23 {
            let mut other = answer();
            other[changed] ^= 0x80;
            assert!(!answers(&IDS, &other), "{changed}");
        }
        let mut question = [0; BYTES_MIN];
        ask(&IDS, &mut question).unwrap();
        assert!(!answers(&IDS, &question));
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_trouble(
            packet in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            prop_assert!(!answers(&IDS, &packet));
        }
    }
}
