//! Round trips with a reflector of STAMP (RFC 8762) in turns over sockets of both arms: requests
//! and answers have its form, and the time for which the reflector held a packet, by its own
//! stamps, is no part of the round trip and kept beside it.

use super::echo::{Answered, Buffers, Lossy, lossy_client};
use super::turns::Turns;
use super::{Broken, Cause, TICK_NS, Tally, Watch};
use crate::stamp::Sealer;
use std::io;
use v6gap_core::arm::PerArm;
use v6gap_core::wire::datagram::Header;
use v6gap_core::wire::stamp::{self, Question, Seal};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, ErrorClass};

/// A socket whose peer is a reflector.
pub struct Reflected {
    /// The socket.
    pub socket: Datagram,
    /// What authenticates packets, if anything does.
    pub sealer: Option<Sealer>,
    /// Pause before each request, in ns.
    pub pause_ns: u64,
}

impl Reflected {
    /// Does something with what authenticates packets.
    fn sealing<T>(&self, work: impl FnOnce(Seal<'_>) -> T) -> T {
        match &self.sealer {
            Some(sealer) => work(Some(&|octets: &[u8]| sealer.seal(octets))),
            None => work(None),
        }
    }
}

/// Takes all turns. What is sent is a request with its padding, and what comes back as long. A lost
/// exchange is repeated and only counts as lost.
pub fn client(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<Reflected>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    lossy_client(turns, tag, sockets, buffers, tallies, watch).map(drop)
}

impl Lossy for Reflected {
    fn pause_ns(&self) -> u64 {
        self.pause_ns
    }

    fn encode(&self, header: &Header, buffers: &mut Buffers) {
        let (sequence, sent_ns, session) = (header.sequence, clock::wall_ns(), 0);
        let question = Question { sequence, sent_ns, session };
        // Buffers are as long as a packet: who asks for shorter ones is refused before.
        let _ = self.sealing(|seal| stamp::ask(&question, buffers.out(), seal));
    }

    /// Writing and authenticating is no part of the round trip.
    fn begins(&self, _: u64) -> u64 {
        clock::now_ns()
    }

    fn send_request(&self, _: &Header, buffers: &mut Buffers) -> io::Result<usize> {
        self.socket.send(buffers.out())
    }

    fn wait_to_send(&self, timeout_ns: u64) -> io::Result<bool> {
        self.socket.wait_writable(timeout_ns)
    }

    fn answer(
        &self,
        header: &Header,
        buffers: &mut Buffers,
        until_ns: u64,
        watch: &Watch<'_>,
    ) -> Result<Option<Answered>, Cause> {
        let mut quiet = None;
        loop {
            match self.socket.recv(buffers.back()) {
                Ok(count) => {
                    let ns = clock::now_ns();
                    let packet = &buffers.back()[..count];
                    let answer = self.sealing(|seal| stamp::answered(packet, seal));
                    if let Some(answer) = answer.filter(|answer| answer.asked == header.sequence) {
                        return Ok(Some(Answered { ns, held_ns: Some(answer.held_ns()) }));
                    }
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => {
                    watch.idle(&mut quiet)?;
                    if watch.asks {
                        let left_ns = until_ns.saturating_sub(clock::now_ns());
                        self.socket.wait_readable(TICK_NS.min(left_ns))?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
            if clock::now_ns() >= until_ns {
                return Ok(None);
            }
        }
    }
}
