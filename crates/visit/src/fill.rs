//! Reading so many bytes before a time. A wait for each read alone has no end: who sends a byte now
//! and then keeps its reader for as long as it likes.

use std::io;
use v6gap_sys::clock;
use v6gap_sys::socket::Stream;

/// Fills `bytes` before `until_ns`.
///
/// # Errors
/// The system's, that the peer ended before, or that it is too late.
pub(crate) fn fill(stream: &Stream, mut bytes: &mut [u8], until_ns: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let left_ns = until_ns.saturating_sub(clock::now_ns());
        if left_ns == 0 || !stream.wait_readable(left_ns)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match stream.read(bytes)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes = &mut bytes[count..],
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use v6gap_core::family::Family;
    use v6gap_sys::socket::StreamOptions;

    const LONG_NS: u64 = 5_000_000_000;

    /// What is there is not taken when it is too late, however little is missing.
    #[test]
    fn bytes_have_a_time_in_all() {
        for family in Family::BOTH {
            let listener = TcpListener::bind((family.loopback(), 0)).unwrap();
            let remote = listener.local_addr().unwrap();
            let stream = Stream::connect(None, remote, &StreamOptions::default(), LONG_NS).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            peer.write_all(b"abc").unwrap();
            let mut bytes = [0; 2];
            let late = fill(&stream, &mut bytes, clock::now_ns()).unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut, "{family}");
            fill(&stream, &mut bytes, clock::now_ns() + LONG_NS).unwrap();
            assert_eq!(&bytes, b"ab");
            drop(peer);
            let over = fill(&stream, &mut bytes, clock::now_ns() + LONG_NS).unwrap_err();
            assert_eq!(over.kind(), io::ErrorKind::UnexpectedEof, "{family}");
        }
    }
}
