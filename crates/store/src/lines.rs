//! Lines of a file, read one after the other into room that is used again and again.

use crate::source::LINE_BYTES_MAX;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// Room for what is read from the file at once, in bytes: fits in a processor's cache.
pub(crate) const ROOM_BYTES: usize = 256 * 1024;

/// Where the last newline is looked for, in bytes at a time.
const TAIL_BYTES: usize = 1 << 16;

/// What was read of a file and not looked at yet.
#[derive(Default)]
pub(crate) struct Room {
    bytes: Vec<u8>,
    /// Where the part not looked at begins.
    start: usize,
    /// Where what was read ends.
    end: usize,
}

/// What comes next in a file of lines.
pub(crate) enum Next<'a> {
    /// A line without its newline.
    Line(&'a [u8]),
    /// No whole line is left.
    End,
    /// One that no file of this program has.
    TooLong,
}

impl Room {
    /// The next line.
    pub(crate) fn next_line(&mut self, file: &mut impl Read) -> io::Result<Next<'_>> {
        let mut looked = self.start;
        loop {
            let rest = &self.bytes[looked..self.end];
            if let Some(length) = newline(rest) {
                let line = self.start..looked + length;
                self.start = line.end + 1;
                return Ok(Next::Line(&self.bytes[line]));
            }
            looked = self.end - self.start;
            if looked > LINE_BYTES_MAX {
                return Ok(Next::TooLong);
            }
            if !self.read_more(file)? {
                return Ok(Next::End);
            }
        }
    }

    /// Moves what is left to the front and reads as much as fits; false at the end of the file. A
    /// line longer than the room gets more of it.
    fn read_more(&mut self, file: &mut impl Read) -> io::Result<bool> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.bytes.len() < self.end + ROOM_BYTES / 2 {
            self.bytes.resize((self.bytes.len() * 2).max(ROOM_BYTES), 0);
        }
        loop {
            match file.read(&mut self.bytes[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// Where the first newline stands. Looks at many bytes at once, which compilers turn into few
/// instructions.
fn newline(bytes: &[u8]) -> Option<usize> {
    let is_newline = |&byte: &u8| byte == b'\n';
    let chunks = bytes.chunks(64);
    let found = |chunk: &[u8]| chunk.iter().fold(false, |found, byte| found | is_newline(byte));
    let before = chunks.clone().take_while(|chunk| !found(chunk)).count() * 64;
    let length = bytes.get(before..)?.iter().position(is_newline)?;
    Some(before + length)
}

/// How many bytes lie before what follows the last newline.
pub(crate) fn whole_bytes(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut room = vec![0; TAIL_BYTES];
    while end > 0 {
        let start = end.saturating_sub(TAIL_BYTES as u64);
        let piece = &mut room[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(piece)?;
        if let Some(at) = piece.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
