//! Asking a distance on the way to a host: a SYN to the service itself, which is what its users
//! send and takes their way, with a hop limit that ends there. Needs no privilege.

use std::net::SocketAddr;
use v6gap_core::ladder::Heard;
use v6gap_sys::Unavailable;
use v6gap_sys::clock;
use v6gap_sys::socket::{Marks, SocketError, Stream, StreamOptions};

/// "Time exceeded" of ICMP (RFC 792) and of ICMPv6 (RFC 4443).
const EXCEEDED: [u8; 2] = [11, 3];

/// Asks once, and waits no longer than `timeout_ns`.
///
/// # Errors
/// If the system does not let it be sent; `Ok(Err(..))` where it does not tell what routers say.
pub(crate) fn ask(
    remote: SocketAddr,
    local: Option<SocketAddr>,
    distance: u8,
    timeout_ns: u64,
) -> Result<Result<Heard, Unavailable>, SocketError> {
    let marks = Marks { hop_limit: Some(distance), ..Marks::default() };
    let options = StreamOptions { marks, ..StreamOptions::default() };
    let begun = match Stream::begin_hearing(local, remote, &options)? {
        Ok(begun) => begun,
        Err(unavailable) => return Ok(Err(unavailable)),
    };
    let stream = begun.stream;
    let woke = stream.wait_writable(timeout_ns).unwrap_or(false);
    let ns = clock::now_ns().saturating_sub(begun.start_ns);
    Ok(Ok(match stream.heard() {
        Ok(Some(told)) if EXCEEDED.contains(&told.kind) => Heard::Router { by: told.by, ns },
        Ok(Some(told)) if told.by == remote.ip() => Heard::End { by: told.by, ns },
        Ok(Some(told)) => Heard::Barred { by: told.by, ns },
        _ if !woke => Heard::Nothing,
        // It stands, or is refused: either way the host itself has answered.
        _ => {
            let _ = stream.linger_zero();
            Heard::End { by: remote.ip(), ns }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use v6gap_core::family::Family;

    /// On loopback there is no router: the host answers from the first distance on, whether
    /// somebody listens or not.
    #[test]
    fn the_host_itself_answers_behind_the_last_router() {
        for family in Family::BOTH {
            let listener = TcpListener::bind((family.loopback(), 0)).unwrap();
            let address = listener.local_addr().unwrap();
            for listens in [true, false] {
                let remote = match listens {
                    true => address,
                    false => {
                        let other = TcpListener::bind((family.loopback(), 0)).unwrap();
                        other.local_addr().unwrap()
                    }
                };
                // Where the system does not tell, there is nothing to look at.
                let Ok(heard) = ask(remote, None, 1, 1_000_000_000).unwrap() else { return };
                let Heard::End { by, ns } = heard else { panic!("{heard:?}") };
                assert!(by == family.loopback() && ns < 1_000_000_000);
            }
        }
    }
}
