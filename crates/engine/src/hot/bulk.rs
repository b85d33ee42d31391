//! TCP bulk transfer: one end writes for a time, the other reads and counts.

use super::series::Series;
use super::{Broken, Cause, Watch};
use v6gap_core::arm::Arm;
use v6gap_core::observation::Sent;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, Stream};

/// Longest time that a receiver reads after the sender's time is over, in ns. What is then still in
/// queues would keep the next trial waiting.
const DRAIN_NS_MAX: u64 = 300_000_000;

/// Time between two wake-ups of a receiver that data reach without pause, in ns. Waking for every
/// segment costs the sender an interrupt of the other processor each time, and makes fast links
/// slow.
const WAKE_NS: u64 = 500_000;

/// Most bytes for which a receiver sleeps: more would outgrow the processor's cache.
const LOW_WATER_BYTES_MAX: u64 = 256 * 1024;

/// The low-water mark of a receiver follows the rate by this many steps a second.
const LOW_WATER_STEP_NS: u64 = 10_000_000;

/// Keeps a receiver asleep until about [`WAKE_NS`] worth of data are there.
struct LowWater {
    bytes: u32,
    since_ns: u64,
    seen_bytes: u64,
}

impl LowWater {
    fn add(&mut self, stream: &Stream, now_ns: u64, count: u64) {
        self.seen_bytes += count;
        let span_ns = now_ns - self.since_ns;
        if span_ns < LOW_WATER_STEP_NS {
            return;
        }
        let due = (self.seen_bytes.saturating_mul(WAKE_NS) / span_ns).clamp(1, LOW_WATER_BYTES_MAX);
        let due = due as u32;
        if due > self.bytes.saturating_mul(2) || due < self.bytes / 2 {
            // Where the system has no such mark it wakes the receiver for every segment.
            let _ = stream.set_receive_low_water(due);
            self.bytes = due;
        }
        (self.since_ns, self.seen_bytes) = (now_ns, 0);
    }
}

/// Writes `chunk` again and again for `duration_ns`. The stream blocks and has a write timeout.
pub fn send(
    arm: Arm,
    stream: &Stream,
    chunk: &[u8],
    duration_ns: u64,
    watch: &Watch<'_>,
) -> Result<Sent, Broken> {
    let broken = Broken::at(arm, "sending bulk data");
    let start_ns = clock::now_ns();
    let (mut bytes, mut quiet) = (0, None);
    loop {
        match stream.write(chunk) {
            Ok(count) => {
                bytes += count as u64;
                quiet = None;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                watch.idle(&mut quiet).map_err(&broken)?;
            }
            Err(error) => return Err(broken(error.into())),
        }
        let span_ns = clock::now_ns() - start_ns;
        if span_ns >= duration_ns {
            return Ok(Sent { bytes, span_ns, ..Sent::default() });
        }
    }
}

/// Waits until the peer closes the connection, in order or by a reset, or until told that nothing
/// more will come. What still arrives is passed over.
pub fn await_close(arm: Arm, stream: &Stream, watch: &Watch<'_>) -> Result<(), Broken> {
    let broken = Broken::at(arm, "waiting for the end of a connection");
    let mut rest = [0; 16];
    let mut quiet = None;
    loop {
        match stream.read(&mut rest) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) => match ErrorClass::of(&error) {
                ErrorClass::Closed => return Ok(()),
                class if class.is_timeout() => {}
                _ => return Err(broken(error.into())),
            },
        }
        // What is passed over is as good as nothing: it must not keep the end waiting for ever.
        match watch.idle(&mut quiet) {
            Err(Cause::Finished) => return Ok(()),
            other => other.map_err(&broken)?,
        }
    }
}

/// Reads into `buffer` until the sender ends, or until its `duration_ns` and the time for emptying
/// queues are over. The stream blocks and has a read timeout.
pub fn receive(
    arm: Arm,
    stream: &Stream,
    buffer: &mut [u8],
    series: &mut Series,
    duration_ns: u64,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(arm, "receiving bulk data");
    let until_ns = duration_ns.saturating_add(DRAIN_NS_MAX);
    let mut low_water = LowWater { bytes: 1, since_ns: clock::now_ns(), seen_bytes: 0 };
    let mut quiet = None;
    loop {
        match stream.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                let now_ns = clock::now_ns();
                series.add(now_ns, count as u64);
                low_water.add(stream, now_ns, count as u64);
                quiet = None;
                watch.busy(now_ns).map_err(&broken)?;
                if series.elapsed_ns(now_ns) >= until_ns {
                    return Ok(());
                }
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => match watch.idle(&mut quiet) {
                Err(Cause::Finished) => return Ok(()),
                other => other.map_err(&broken)?,
            },
            Err(error) => return Err(broken(error.into())),
        }
    }
}
