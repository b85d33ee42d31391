//! Streams that fill the path while something else measures it: one end writes until told to stop,
//! the other reads. Datagrams go as those of a bulk transfer do.

use super::bulk::{chunk_bytes, paced_ns};
use super::{Cause, TICK_NS, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, Stream};

/// Writes `chunk` again and again until `over`, at most `pace` bytes per second if there is one,
/// and returns how many bytes went. The stream blocks and has a write timeout.
pub fn send(
    stream: &Stream,
    chunk: &[u8],
    pace: Option<u64>,
    over: &AtomicBool,
    watch: &Watch<'_>,
) -> Result<u64, (Cause, u64)> {
    let chunk = &chunk[..chunk_bytes(chunk.len(), pace)];
    move_until(over, watch, pace, || stream.write(chunk))
}

/// Reads into `buffer` until `over`, at most `pace` bytes per second if there is one, and returns
/// how many bytes came. The stream blocks and has a read timeout.
pub fn receive(
    stream: &Stream,
    buffer: &mut [u8],
    pace: Option<u64>,
    over: &AtomicBool,
    watch: &Watch<'_>,
) -> Result<u64, (Cause, u64)> {
    move_until(over, watch, pace, || match stream.read(buffer) {
        Ok(0) => Err(std::io::ErrorKind::ConnectionReset.into()),
        outcome => outcome,
    })
}

/// Moves bytes until `over`. A stream that ends before is an error, told with the bytes until then:
/// the path was not full from there on.
fn move_until(
    over: &AtomicBool,
    watch: &Watch<'_>,
    pace: Option<u64>,
    mut step: impl FnMut() -> std::io::Result<usize>,
) -> Result<u64, (Cause, u64)> {
    let (mut bytes, mut quiet) = (0, None);
    let start_ns = clock::now_ns();
    while !over.load(Ordering::Relaxed) {
        if let Some(pace) = pace {
            let now_ns = clock::now_ns();
            let due_ns = start_ns.saturating_add(paced_ns(bytes, pace));
            if due_ns > now_ns {
                watch.busy(now_ns).map_err(|cause| (cause, bytes))?;
                clock::rest(Duration::from_nanos((due_ns - now_ns).min(TICK_NS)));
                continue;
            }
        }
        match step() {
            Ok(count) => {
                bytes += count as u64;
                quiet = None;
                // However much moves: whether it goes on is in the peer's hands.
                watch.busy(clock::now_ns()).map_err(|cause| (cause, bytes))?;
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
