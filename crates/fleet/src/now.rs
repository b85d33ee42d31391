//! The time, as the machines want it.

use v6gap_core::fleet::work::Now;
use v6gap_core::watch::Moment;
use v6gap_sys::clock;

/// The time by both clocks of this host.
pub(crate) fn now() -> Now {
    let unix_ns = clock::wall_ns();
    let wall = Moment { unix_ns, offset_s: clock::local_offset_s(unix_ns) };
    Now { ns: clock::boot_ns(), wall }
}
