//! Streams that fill the path while something else measures it: one end writes until told to stop,
//! the other reads. Datagrams go as those of a bulk transfer do, each stream from a source that has
//! shown that it gets what is sent to it.

use super::datagram_bulk::{Line, challenge_of, challenging, until_answered};
use super::{Broken, Cause, TICK_NS, Watch};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::arm::Arm;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, ErrorClass, Stream};

/// What a source proves itself with; a knock has the second flag alone.
const PROOF: Flags = Flags::LAST_OF_TURN.with(Flags::WARMUP);

/// Messages of one source that are looked at before the next source is.
const AGAIN_MAX: u32 = 8;

/// Writes `chunk` again and again until `over`, and returns how many bytes went. The stream blocks
/// and has a write timeout.
pub fn send(
    stream: &Stream,
    chunk: &[u8],
    over: &AtomicBool,
    watch: &Watch<'_>,
) -> Result<u64, (Cause, u64)> {
    move_until(over, watch, || stream.write(chunk))
}

/// Reads into `buffer` until `over`, and returns how many bytes came. The stream blocks and has a
/// read timeout.
pub fn receive(
    stream: &Stream,
    buffer: &mut [u8],
    over: &AtomicBool,
    watch: &Watch<'_>,
) -> Result<u64, (Cause, u64)> {
    move_until(over, watch, || match stream.read(buffer) {
        Ok(0) => Err(std::io::ErrorKind::ConnectionReset.into()),
        outcome => outcome,
    })
}

/// Moves bytes until `over`. A stream that ends before is an error, told with the bytes until then:
/// the path was not full from there on.
fn move_until(
    over: &AtomicBool,
    watch: &Watch<'_>,
    mut step: impl FnMut() -> std::io::Result<usize>,
) -> Result<u64, (Cause, u64)> {
    let (mut bytes, mut quiet) = (0, None);
    while !over.load(Ordering::Relaxed) {
        match step() {
            Ok(count) => {
                bytes += count as u64;
                quiet = None;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => match watch.idle(&mut quiet) {
                Err(Cause::Finished) => break,
                other => other.map_err(|cause| (cause, bytes))?,
            },
            // The other end was told first.
            Err(_) if over.load(Ordering::Relaxed) => break,
            Err(error) => return Err((error.into(), bytes)),
        }
    }
    Ok(bytes)
}

/// Sends back what the server challenged this end with, as [`super::datagram_bulk::ask`] returned
/// it, until the server has taken it: it answers, or data come.
pub fn prove(
    line: Line<'_>,
    message: &mut [u8],
    challenged: Header,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let proof = Header { flags: PROOF, ..challenged };
    let taken =
        |back: &Header, _: &[u8]| (*back == proof || back.flags == Flags::NONE).then_some(());
    until_answered(line, message, proof, watch, taken)
}

/// Waits for a source that is not `known` and repeats `challenge` (not 0), which is what knocks are
/// answered with, and returns it; its proof is left in `buffer`, with its length. What comes again
/// of those that are known is answered over the socket of each. No socket blocks.
pub fn await_another(
    arm: Arm,
    service: &Datagram,
    known: &[(SocketAddr, Datagram)],
    (tag, challenge): ([u8; 8], u64),
    buffer: &mut [u8],
    watch: &Watch<'_>,
) -> Result<(SocketAddr, usize), Broken> {
    let broken = Broken::at(arm, "waiting for who sends or gets the load");
    let mut quiet = None;
    loop {
        for (_, socket) in known {
            for _ in 0..AGAIN_MAX {
                let Ok(count) = socket.recv(buffer) else { break };
                if of_task(&buffer[..count], tag).is_some_and(|header| header.flags == PROOF) {
                    // As good as lost on the way if it cannot be sent; it will come again.
                    let _ = socket.send(&buffer[..count]);
                }
            }
        }
        let (count, source) = match service.recv_from(buffer) {
            Ok(came) => came,
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                if !service.wait_readable(TICK_NS).map_err(|e| broken(e.into()))? {
                    watch.idle(&mut quiet).map_err(&broken)?;
                }
                continue;
            }
            Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => continue,
            Err(error) => return Err(broken(error.into())),
        };
        let is_new = known.iter().all(|(address, _)| *address != source);
        let header = of_task(&buffer[..count], tag).filter(|_| is_new);
        match header {
            Some(header) if header.flags == PROOF && challenge_of(&header) == challenge => {
                return Ok((source, count));
            }
            Some(header) if header.flags == Flags::WARMUP => {
                watch.busy(clock::now_ns()).map_err(&broken)?;
                challenging(header, challenge).encode(&mut buffer[..count]);
                let _ = service.send_to(&buffer[..count], source);
            }
            _ => watch.idle(&mut quiet).map_err(&broken)?,
        }
    }
}

fn of_task(bytes: &[u8], tag: [u8; 8]) -> Option<Header> {
    Header::decode(bytes).filter(|header| header.tag == tag)
}
