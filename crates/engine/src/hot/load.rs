//! Streams that fill the path while something else measures it: one end writes until told to stop,
//! the other reads.

use super::{Cause, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_sys::socket::{ErrorClass, Stream};

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
