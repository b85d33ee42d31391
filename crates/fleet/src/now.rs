//! The time, as the machines want it, and when it is over.

use tokio::sync::watch;
use v6gap_core::fleet::work::Now;
use v6gap_core::watch::Moment;
use v6gap_sys::clock;

/// The time by both clocks of this host.
pub(crate) fn now() -> Now {
    let unix_ns = clock::wall_ns();
    let wall = Moment { unix_ns, offset_s: clock::local_offset_s(unix_ns) };
    Now { ns: clock::boot_ns(), wall }
}

/// Waits until `stop` says so, or nobody can say so any more.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
