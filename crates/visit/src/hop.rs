//! Asking a distance on the way to a host: a SYN to the service itself, which is what its users
//! send and takes their way, with a hop limit that ends there. Needs no privilege.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use v6gap_core::family::PerFamily;
use v6gap_core::ladder::{Heard, Ladder, Next, Rung};
use v6gap_sys::Unavailable;
use v6gap_sys::clock;
use v6gap_sys::socket::{Marks, SocketError, Stream, StreamOptions};

/// "Time exceeded" of ICMP (RFC 792) and of ICMPv6 (RFC 4443).
const EXCEEDED: [u8; 2] = [11, 3];

/// The port that is asked on the way to a host of one's own, that of the discard service (RFC 863):
/// nobody listens there, so no server takes the question for a client.
const NOBODY: u16 = 9;

/// Longest wait for an answer on that way, in ns: five routers that say nothing are the last ones.
const WAIT_NS: u64 = 500_000_000;

/// The way to a host of one's own, each distance asked once; the ports of `there` do not matter.
/// `None` where the system does not tell what routers say.
pub fn way(
    there: PerFamily<Option<SocketAddr>>,
    local: PerFamily<Option<SocketAddr>>,
) -> Option<PerFamily<Vec<Rung>>> {
    let mut climbs = there.map(|address| address.is_some());
    let (mut ladder, mut asked) = (Ladder::new(), BTreeSet::new());
    while let Next::Ask(question) = ladder.next(climbs, clock::now_ns()) {
        let family = question.family;
        if !asked.insert(question) {
            *climbs.get_mut(family) = false;
            continue;
        }
        let Some(mut remote) = *there.get(family) else { continue };
        remote.set_port(NOBODY);
        let asked_ns = clock::now_ns();
        let heard = match ask(remote, *local.get(family), question.distance, WAIT_NS) {
            Ok(Ok(heard)) => heard,
            Ok(Err(_unavailable)) => return None,
            // A packet that the system does not send is one that nobody answers.
            Err(_) => Heard::Nothing,
        };
        ladder.heard(question, heard, asked_ns);
    }
    Some(ladder.into_rungs())
}

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

    #[test]
    fn the_way_to_a_host_of_ones_own_is_climbed_once() {
        let there = PerFamily { v4: Family::V4, v6: Family::V6 };
        let there = there.map(|family| Some(SocketAddr::new(family.loopback(), 1)));
        let local = PerFamily::default();
        // Where the system does not tell, there is nothing to look at.
        let Some(rungs) = way(there, local) else { return };
        for family in Family::BOTH {
            let [rung] = rungs.get(family).as_slice() else { panic!("{rungs:?}") };
            assert!(rung.is_host && rung.asked == 1, "{rungs:?}");
        }
        let four = PerFamily { v6: None, ..there };
        assert!(way(four, local).is_some_and(|rungs| rungs.v6.is_empty()));
    }

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
