//! Parts of journals as they travel: a line that says what it is, and the bytes behind it,
//! deflated.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use sha2::{Digest, Sha256};
use v6gap_core::fleet::PART_BYTES;
use v6gap_core::fleet::message::{ChunkHeader, SPOKEN};
use v6gap_core::fleet::subject;
use v6gap_store::JOURNAL_BYTES_MAX;

/// How hard it is tried to make them small: of 0 to 10; what 6 gains over 4 takes twice the time.
const LEVEL: u8 = 4;

/// Why a message is no part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPart {
    /// It is not of this form, or of a later version.
    Unreadable,
    /// It says that it is of another host than its subject does, which proves whose it is.
    Foreign,
    /// Its bytes are not those that it says.
    Broken,
}

/// The hash by which a part is known.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A message with `bytes`.
///
/// # Errors
/// Never for a header of this program.
pub fn write(header: &ChunkHeader, bytes: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let mut message = serde_json::to_vec(header)?;
    message.push(b'\n');
    message.extend(compress_to_vec(bytes, LEVEL));
    Ok(message)
}

/// What is in a message that came under `subject`.
///
/// # Errors
/// Why it is no part. Not more is inflated than a part has.
pub fn read(subject: &str, message: &[u8]) -> Result<(ChunkHeader, Vec<u8>), NoPart> {
    let end = message.iter().position(|&byte| byte == b'\n').ok_or(NoPart::Unreadable)?;
    let (line, rest) = message.split_at(end);
    let header: ChunkHeader = serde_json::from_slice(line).map_err(|_| NoPart::Unreadable)?;
    if !(SPOKEN.lowest()..=SPOKEN.highest()).contains(&header.version) {
        return Err(NoPart::Unreadable);
    }
    // No journal is as long, and none that is can be read.
    if header.end() > JOURNAL_BYTES_MAX {
        return Err(NoPart::Unreadable);
    }
    if subject::host(subject).as_ref() != Some(&header.from) {
        return Err(NoPart::Foreign);
    }
    let deflated = rest.get(1..).unwrap_or_default();
    let bytes = decompress_to_vec_with_limit(deflated, PART_BYTES).map_err(|_| NoPart::Broken)?;
    match bytes.len() as u64 == header.bytes && hash(&bytes) == header.hash {
        true => Ok((header, bytes)),
        false => Err(NoPart::Broken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::record::RunId;

    fn header(bytes: &[u8]) -> ChunkHeader {
        ChunkHeader {
            version: 1,
            from: "rome/a".parse().unwrap(),
            run: RunId::from_bits(0),
            job: None,
            at: 0,
            bytes: bytes.len() as u64,
            hash: hash(bytes),
        }
    }

    const OWN: &str = "v6gap.res.rome.a.000000.0";

    #[test]
    fn parts_come_as_they_were_sent_and_are_small() {
        let bytes = b"{\"trial\":1}\n".repeat(1000);
        let message = write(&header(&bytes), &bytes).unwrap();
        assert!(message.len() < bytes.len() / 10);
        assert_eq!(read(OWN, &message), Ok((header(&bytes), bytes)));
    }

    #[test]
    fn what_is_not_what_it_says_is_refused() {
        let bytes = b"abc";
        let message = write(&header(bytes), bytes).unwrap();
        assert_eq!(read("v6gap.res.rome.b.000000.0", &message), Err(NoPart::Foreign));
        let other = write(&header(b"abd"), bytes).unwrap();
        assert_eq!(read(OWN, &other), Err(NoPart::Broken));
        let later = ChunkHeader { version: 2, ..header(bytes) };
        assert_eq!(read(OWN, &write(&later, bytes).unwrap()), Err(NoPart::Unreadable));
        let long = ChunkHeader { at: JOURNAL_BYTES_MAX - 2, ..header(bytes) };
        assert_eq!(read(OWN, &write(&long, bytes).unwrap()), Err(NoPart::Unreadable));
        for end in 0..message.len() {
            assert!(read(OWN, &message[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn what_would_become_endless_is_not_inflated() {
        let bytes = vec![0; PART_BYTES + 1];
        let message = write(&header(&bytes), &bytes).unwrap();
        assert_eq!(read(OWN, &message), Err(NoPart::Broken));
    }

    /// The least that can be gained is little: even then a message of the broker holds a part.
    #[test]
    fn what_gives_way_to_nothing_fits_into_a_message() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let bytes: Vec<u8> = (0..PART_BYTES).map(|_| next()).collect();
        assert!(write(&header(&bytes), &bytes).unwrap().len() < 1 << 20);
    }
}
