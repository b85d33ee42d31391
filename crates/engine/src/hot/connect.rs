//! TCP connections opened one after the other, each timed and closed by a reset, so that none is
//! left in TIME_WAIT.

use super::Tally;
use std::net::SocketAddr;
use v6gap_sys::socket::{ErrorClass, SocketError, Stream, StreamOptions};

/// Failures in a row after which there is no use in going on.
const FAILURES_MAX: u32 = 3;

/// Opens `count` connections to `remote`, each from the next address of `locals`. Addresses in use
/// are passed over; other failures are counted as lost.
///
/// # Errors
/// The last of three failures in a row, or what the last address said if `locals` ends.
pub fn connect(
    remote: SocketAddr,
    options: &StreamOptions,
    timeout_ns: u64,
    count: u32,
    locals: &mut impl Iterator<Item = SocketAddr>,
    tally: &mut Tally,
) -> Result<(), SocketError> {
    let mut failures = 0;
    for _ in 0..count {
        match next(remote, options, timeout_ns, locals) {
            Ok((stream, time_ns)) => {
                stream.linger_zero()?;
                tally.times_ns.push(time_ns);
                failures = 0;
            }
            Err(error) => {
                tally.lost += 1;
                failures += 1;
                if failures == FAILURES_MAX {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// One connection from the first of `locals` that is free, and how long `connect` took, in ns.
///
/// # Errors
/// The system's answer; "address in use" only if `locals` ends. Without any address in `locals` the
/// system chooses.
pub fn next(
    remote: SocketAddr,
    options: &StreamOptions,
    timeout_ns: u64,
    locals: &mut impl Iterator<Item = SocketAddr>,
) -> Result<(Stream, u64), SocketError> {
    let mut local = locals.next();
    loop {
        match Stream::connect_timed(local, remote, options, timeout_ns) {
            Ok((stream, times)) => return Ok((stream, times.connect_ns)),
            // Another socket has the port, or this host still remembers a connection from it.
            Err(error) if error.class() == ErrorClass::AddressInUse => {
                local = Some(locals.next().ok_or(error)?);
            }
            Err(error) => return Err(error),
        }
    }
}
