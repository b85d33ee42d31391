//! ICMP echo in turns over sockets of both arms. The far kernel answers, so only the client has a
//! loop; the order of turns is that of the other exchanges. What a kernel answers with is the
//! request's own payload.

use super::echo::{Answered, Buffers, Lossy, lossy_client};
use super::turns::Turns;
use super::{Broken, Cause, Tally, Watch};
use std::io;
use v6gap_core::arm::PerArm;
use v6gap_core::wire::datagram::{HEADER_BYTES, Header};
use v6gap_sys::clock;
use v6gap_sys::socket::{ECHO_HEADER_BYTES, ErrorClass, Ping};

/// Takes all turns. What is sent is the echo's header and the payload, and the room for answers is
/// longer by what [`Ping::recv`] asks for. A lost exchange is repeated and only counts as lost.
pub fn client(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<Ping>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    lossy_client(turns, tag, sockets, buffers, tallies, watch).map(drop)
}

impl Lossy for Ping {
    fn encode(&self, header: &Header, buffers: &mut Buffers) {
        header.encode(&mut buffers.out()[ECHO_HEADER_BYTES..]);
    }

    /// The number in the payload has 32 bits, its lower half is in the header of ICMP too.
    fn send_request(&self, header: &Header, buffers: &mut Buffers) -> io::Result<usize> {
        self.send(header.sequence as u16, buffers.out())
    }

    fn wait_to_send(&self, timeout_ns: u64) -> io::Result<bool> {
        self.wait_writable(timeout_ns)
    }

    fn answer(
        &self,
        header: &Header,
        buffers: &mut Buffers,
        until_ns: u64,
        watch: &Watch<'_>,
    ) -> Result<Option<Answered>, Cause> {
        let (sent, back) = buffers.both();
        let sent = &sent[ECHO_HEADER_BYTES..];
        let mut quiet = None;
        loop {
            match self.recv(back) {
                Ok(message) => {
                    let now_ns = clock::now_ns();
                    if let Some((number, payload)) = message
                        && number == header.sequence as u16
                        && payload.len() == sent.len()
                        && payload[..HEADER_BYTES] == sent[..HEADER_BYTES]
                    {
                        return Ok(Some(Answered::at(now_ns)));
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
