//! ICMP echo in turns over sockets of both arms. The far kernel answers, so only the client has a
//! loop; the order of turns is that of the other exchanges.

use super::echo::{Buffers, PATIENCE_NS_MAX, PATIENCE_NS_MIN, TRIES_MAX, is_answer, take_turns};
use super::turns::Turns;
use super::{Broken, Cause, TICK_NS, Tally, Watch};
use v6gap_core::arm::PerArm;
use v6gap_core::wire::datagram::Header;
use v6gap_sys::clock;
use v6gap_sys::socket::{ECHO_HEADER_BYTES, ErrorClass, Ping};

/// Takes all turns. `buffers.out` is the echo's header and the payload, `buffers.back` is longer by
/// what [`Ping::recv`] asks for. A lost exchange is repeated and only counts as lost.
pub fn client(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<Ping>>,
    buffers: &mut Buffers,
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let mut patience_ns = PATIENCE_NS_MIN;
    let exchange = |socket: &Ping, buffers: &mut Buffers, header: &mut Header| {
        ask(socket, buffers, header, &mut patience_ns, watch)
    };
    take_turns(turns, tag, sockets, buffers, tallies, exchange).map(drop)
}

/// Sends a request until one is answered, each time with a number of its own. `None` if the first
/// was not answered in time.
fn ask(
    socket: &Ping,
    buffers: &mut Buffers,
    header: &mut Header,
    patience_ns: &mut u64,
    watch: &Watch<'_>,
) -> Result<Option<u64>, Cause> {
    let mut wait_ns = *patience_ns;
    for tried in 0..TRIES_MAX {
        header.encode(&mut buffers.out[ECHO_HEADER_BYTES..]);
        let start_ns = clock::now_ns();
        // The number in the payload has 32 bits, its lower half is in the header too.
        match socket.send(header.sequence as u16, &mut buffers.out) {
            Ok(_) => {}
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                socket.wait_writable(TICK_NS)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        let sequence = header.sequence as u16;
        if let Some(end_ns) = answer(socket, sequence, buffers, start_ns + wait_ns, watch)? {
            let time_ns = end_ns - start_ns;
            *patience_ns = (4 * time_ns).clamp(*patience_ns, PATIENCE_NS_MAX);
            return Ok((tried == 0).then_some(time_ns));
        }
        wait_ns = (2 * wait_ns).min(PATIENCE_NS_MAX);
        header.sequence = header.sequence.wrapping_add(1);
    }
    Err(Cause::Silent)
}

/// When the answer to `buffers.out` came; `None` if it did not until `until_ns`. Other messages are
/// passed over.
fn answer(
    socket: &Ping,
    sequence: u16,
    buffers: &mut Buffers,
    until_ns: u64,
    watch: &Watch<'_>,
) -> Result<Option<u64>, Cause> {
    let sent = &buffers.out[ECHO_HEADER_BYTES..];
    let mut quiet = None;
    loop {
        match socket.recv(&mut buffers.back) {
            Ok(message) => {
                let now_ns = clock::now_ns();
                if let Some((number, payload)) = message
                    && number == sequence
                    && payload.len() == sent.len()
                    && is_answer(sent, payload)
                {
                    return Ok(Some(now_ns));
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
