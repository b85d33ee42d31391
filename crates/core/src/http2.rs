//! Where the answer begins in what a server of HTTP/2 sends: settings and the like come first.
//! Only heads of frames are read (RFC 9113 section 4.1); the library reads the rest.

/// Bytes of the head of a frame: length, type, flags, stream.
const HEAD_BYTES: usize = 9;

/// A frame that begins an answer (HEADERS).
const HEADERS: u8 = 1;

/// The stream of the first request of a client.
const FIRST_STREAM: u32 = 1;

/// Reads along.
#[derive(Debug, Default)]
pub struct Frames {
    head: [u8; HEAD_BYTES],
    /// Bytes of the head that are there.
    had: usize,
    /// Bytes of the frame at hand that are still to come.
    rest: usize,
    found: bool,
}

impl Frames {
    /// Whether the head of the answer's first frame was complete with these bytes or before.
    pub fn hold_answer(&mut self, mut bytes: &[u8]) -> bool {
        while !self.found && !bytes.is_empty() {
            let skipped = self.rest.min(bytes.len());
            self.rest -= skipped;
            bytes = &bytes[skipped..];
            let taken = (HEAD_BYTES - self.had).min(bytes.len());
            self.head[self.had..self.had + taken].copy_from_slice(&bytes[..taken]);
            self.had += taken;
            bytes = &bytes[taken..];
            if self.had == HEAD_BYTES {
                self.head_over();
            }
        }
        self.found
    }

    fn head_over(&mut self) {
        let [a, b, c, kind, _, stream @ ..] = self.head;
        let stream = u32::from_be_bytes(stream) & (u32::MAX >> 1);
        self.found = kind == HEADERS && stream == FIRST_STREAM;
        self.rest = u32::from_be_bytes([0, a, b, c]) as usize;
        self.had = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn frame(kind: u8, stream: u8, bytes: usize) -> Vec<u8> {
        let head = [0, (bytes >> 8) as u8, bytes as u8, kind, 0, 0, 0, 0, stream];
        head.into_iter().chain(core::iter::repeat_n(0xff, bytes)).collect()
    }

    /// Settings, a window and headers of another stream come before.
    #[test]
    fn the_answer_begins_with_headers_of_the_first_stream() {
        let before = [frame(4, 0, 18), frame(8, 0, 4), frame(1, 3, 400)].concat();
        let all = [&before[..], &frame(1, 1, 7)].concat();
        for step in [1, 2, 9, 10, 64, all.len()] {
            let mut frames = Frames::default();
            let mut at = 0;
            for part in all.chunks(step) {
                at += part.len();
                assert_eq!(
                    frames.hold_answer(part),
                    at >= before.len() + HEAD_BYTES,
                    "{step} {at}"
                );
            }
        }
        assert!(!Frames::default().hold_answer(&before));
    }
}
