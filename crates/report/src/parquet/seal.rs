//! A sum of all bytes of a table, by which one that a disk or a person changed is known before
//! anybody takes it apart: what reads Parquet trusts the lengths in a file, and may panic at wrong
//! ones or ask for as much memory as they say.
//!
//! It stands right before the footer, where no program that reads Parquet looks: each finds the
//! footer from the end, and everything else by what that says.

use super::ParquetError;
use parquet::file::reader::ChunkReader;
use std::io::{ErrorKind, Read};

/// What stands before the sum.
const MARK: [u8; 8] = *b"v6gapsum";

/// Bytes of the sum.
const SUM_BYTES: usize = 8;

/// What a table ends with: the length of its footer, and the mark of the format.
const TAIL_BYTES: usize = 8;

/// The mark of the format.
const FORMAT: [u8; 4] = *b"PAR1";

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 16;

/// Puts the sum into a table that is whole.
///
/// # Errors
/// If it is no table.
pub(super) fn sealed(mut table: Vec<u8>) -> Result<Vec<u8>, ParquetError> {
    let tail = table.last_chunk::<TAIL_BYTES>().and_then(|tail| behind(*tail));
    let at = tail.and_then(|bytes| table.len().checked_sub(usize::try_from(bytes).ok()?));
    let footer = table.split_off(at.ok_or_else(damaged)?);
    table.extend_from_slice(&MARK);
    let mut sum = Sum::default();
    sum.add(&table);
    sum.add(&footer);
    table.extend_from_slice(&sum.0.to_le_bytes());
    table.extend_from_slice(&footer);
    Ok(table)
}

/// Reads all of a table, a piece at a time.
///
/// # Errors
/// If it is not as it was sealed, or cannot be read.
pub(super) fn check(table: &impl ChunkReader) -> Result<(), ParquetError> {
    let tail_at = table.len().checked_sub(TAIL_BYTES as u64).ok_or_else(damaged)?;
    let mut tail = [0; TAIL_BYTES];
    table.get_read(tail_at)?.read_exact(&mut tail)?;
    let footer_bytes = behind(tail).ok_or_else(damaged)?;
    let before = table.len().checked_sub(footer_bytes + SUM_BYTES as u64);
    let (mut whole, mut sum, mut told) = (table.get_read(0)?, Sum::default(), [0; SUM_BYTES]);
    sum.read(&mut whole, before.ok_or_else(damaged)?)?;
    whole.read_exact(&mut told)?;
    sum.read(&mut whole, footer_bytes)?;
    match sum.0.to_le_bytes() == told {
        true => Ok(()),
        false => Err(damaged()),
    }
}

/// How many bytes the footer has with what follows it; `None` if it is no end of a table.
fn behind(tail: [u8; TAIL_BYTES]) -> Option<u64> {
    let [a, b, c, d, mark @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    (mark == FORMAT).then_some(footer + TAIL_BYTES as u64)
}

fn damaged() -> ParquetError {
    ParquetError::General("it is not as it was written".to_owned())
}

/// FNV-1a with 64 bits: one byte that is another always makes another sum.
struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Sum(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, step);
    }

    /// Adds the next so many bytes.
    fn read(&mut self, from: &mut impl Read, bytes: u64) -> Result<(), ParquetError> {
        let mut room = vec![0; PIECE_BYTES];
        let mut from = from.take(bytes);
        while from.limit() > 0 {
            match from.read(&mut room) {
                Ok(0) => return Err(damaged()),
                Ok(count) => self.add(&room[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
