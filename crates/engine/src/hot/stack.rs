//! Request and answer with both ends in one thread.
//!
//! Virtual cables deliver within the call that sends. So nothing of an exchange's time is a
//! scheduler's: four calls, and what the kernel does for the packets there and back. Whatever was
//! not delivered so is waited for as between processes.

use super::echo::{self, Answered, Buffers, Lap, Lossy, take_turns};
use super::turns::Turns;
use super::{Broken, Cause, Tally, Watch};
use std::cell::RefCell;
use std::io;
use v6gap_core::arm::PerArm;
use v6gap_core::wire::datagram::{End, Header};
use v6gap_sys::clock;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, ErrorClass, Stream};

/// Memory of the far end, which both arms share.
#[derive(Debug)]
pub struct Far {
    tag: [u8; 8],
    request: Bytes,
    answer: Bytes,
}

impl Far {
    /// Of a task with that tag: `request` is as long as the longest request, and `answer` as the
    /// longest answer, whose payload it holds.
    pub fn new(tag: [u8; 8], request: Bytes, answer: Bytes) -> Self {
        Far { tag, request, answer }
    }

    /// The answer of so many bytes to a request of so many that has come, if it is one.
    #[inline]
    fn answer(&mut self, asked: usize, bytes: usize) -> Option<&[u8]> {
        let header = End::Server.heard(&self.request[..asked], self.tag)?;
        let answer = &mut self.answer[..bytes];
        Header { flags: End::Server.says(header.flags), ..header }.encode(answer);
        Some(answer)
    }
}

/// Both ends of a connection, or sockets of which the near one has the far one as peer.
#[derive(Debug)]
pub struct Pair<'a, S> {
    /// The end that asks.
    pub near: S,
    /// The end that answers.
    pub far: S,
    /// What that one reads into, and writes from.
    pub memory: &'a RefCell<Far>,
}

/// Takes all turns over TCP. `tallies` get the times of the counted exchanges.
///
/// # Errors
/// What the system says, or what else ends a block before its time.
pub fn streams(
    turns: &Turns,
    tag: [u8; 8],
    pairs: &PerArm<Vec<Pair<'_, Stream>>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let exchange =
        |pair: &Pair<'_, Stream>, buffers: &mut Buffers, header: &mut Header, lap: &mut Lap| {
            header.encode(buffers.out());
            let far = &mut *pair.memory.borrow_mut();
            let (asked, bytes) = (buffers.out().len(), buffers.back().len());
            carry(&pair.near, buffers.out(), &pair.far, &mut far.request[..asked], watch)?;
            let answer = far.answer(asked, bytes).ok_or(Cause::Foreign)?;
            carry(&pair.far, answer, &pair.near, buffers.back(), watch)?;
            lap.answered(buffers)
        };
    take_turns(turns, tag, pairs, buffers, tallies, exchange).map(drop)
}

/// Takes all turns over UDP. An exchange that was lost is repeated and only counts as lost.
///
/// # Errors
/// As [`streams`].
pub fn datagrams(
    turns: &Turns,
    tag: [u8; 8],
    pairs: &PerArm<Vec<Pair<'_, Datagram>>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    echo::lossy_client(turns, tag, pairs, buffers, tallies, watch).map(drop)
}

/// Takes `bytes` from one end to the other, in pieces where not all has room on the way.
#[inline]
fn carry(
    from: &Stream,
    bytes: &[u8],
    to: &Stream,
    into: &mut [u8],
    watch: &Watch<'_>,
) -> Result<(), Cause> {
    let (mut sent, mut came, mut quiet) = (0, 0, None);
    while came < into.len() {
        if sent < bytes.len() {
            match from.write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if ErrorClass::of(&error).is_timeout() => {}
                Err(error) => return Err(error.into()),
            }
        }
        match to.read(&mut into[came..]) {
            Ok(0) => return Err(Cause::Closed),
            Ok(count) => {
                came += count;
                quiet = None;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => watch.idle(&mut quiet)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl Pair<'_, Datagram> {
    /// Answers a request that has come, if one has. What cannot be sent is as good as lost on the
    /// way, but for what does not fit the path.
    #[inline]
    fn answer_next(&self, asked: usize, bytes: usize) -> io::Result<()> {
        let far = &mut *self.memory.borrow_mut();
        let (count, source) = match self.far.recv_from(&mut far.request[..asked]) {
            Err(error) if ErrorClass::of(&error).is_timeout() => return Ok(()),
            came => came?,
        };
        let answer = if count == asked { far.answer(asked, bytes) } else { None };
        match answer.map(|answer| self.far.send_to(answer, source)) {
            Some(Err(error)) if ErrorClass::of(&error) == ErrorClass::TooBig => Err(error),
            _ => Ok(()),
        }
    }
}

impl Lossy for Pair<'_, Datagram> {
    fn encode(&self, header: &Header, buffers: &mut Buffers) {
        header.encode(buffers.out());
    }

    fn send_request(&self, _: &Header, buffers: &mut Buffers) -> io::Result<usize> {
        self.near.send(buffers.out())
    }

    fn wait_to_send(&self, timeout_ns: u64) -> io::Result<bool> {
        self.near.wait_writable(timeout_ns)
    }

    fn answer(
        &self,
        _: &Header,
        buffers: &mut Buffers,
        until_ns: u64,
        watch: &Watch<'_>,
    ) -> Result<Option<Answered>, Cause> {
        let (asked, bytes) = (buffers.out().len(), buffers.back().len());
        let mut quiet = None;
        loop {
            self.answer_next(asked, bytes)?;
            match self.near.recv(buffers.back()) {
                Ok(count) => {
                    if let Some(answered) = Answered::by(count, buffers, watch)? {
                        return Ok(Some(answered));
                    }
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => watch.idle(&mut quiet)?,
                Err(error) => return Err(error.into()),
            }
            if clock::now_ns() >= until_ns {
                return Ok(None);
            }
        }
    }
}
