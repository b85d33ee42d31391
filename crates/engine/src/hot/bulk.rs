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

/// Most bytes for which a receiver should sleep: more would outgrow the processor's cache.
pub const LOW_WATER_BYTES_MAX: u64 = 256 * 1024;

/// The low-water mark of a receiver follows the rate by this many steps a second.
const LOW_WATER_STEP_NS: u64 = 10_000_000;

/// Time between two looks at the round-trip time, in ns (RFC 6349 section 3.3.3 asks for one each
/// second).
const ROUND_TRIP_STEP_NS: u64 = 100_000_000;

/// Keeps a receiver asleep until about [`WAKE_NS`] worth of data are there.
struct LowWater {
    bytes: u32,
    bytes_max: u64,
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
        let due = (self.seen_bytes.saturating_mul(WAKE_NS) / span_ns).min(self.bytes_max).max(1);
        let due = due as u32;
        if due > self.bytes.saturating_mul(2) || due < self.bytes / 2 {
            // Where the system has no such mark it wakes the receiver for every segment.
            let _ = stream.set_receive_low_water(due);
            self.bytes = due;
        }
        (self.since_ns, self.seen_bytes) = (now_ns, 0);
    }
}

/// How long a transfer over one connection goes on: whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Longest time, in ns.
    pub duration_ns: u64,
    /// Most bytes.
    pub bytes: u64,
}

/// The smoothed round-trip time that the kernel tells, looked at now and then.
struct RoundTrips {
    due_ns: u64,
    sum_us: u64,
    count: u32,
}

impl RoundTrips {
    fn look(&mut self, stream: &Stream, now_ns: u64) {
        if now_ns < self.due_ns {
            return;
        }
        // Where the system does not tell it is not asked again.
        self.due_ns = match stream.info() {
            Ok(info) => {
                self.sum_us += u64::from(info.rtt_us);
                self.count += 1;
                now_ns + ROUND_TRIP_STEP_NS
            }
            Err(_) => u64::MAX,
        };
    }

    fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_us as f64 / f64::from(self.count))
    }
}

/// Writes `chunk` again and again until the end of `extent`. The stream blocks and has a write
/// timeout. Returns with what was sent the mean of the round-trip times that the kernel gave
/// meanwhile, in µs.
pub fn send(
    arm: Arm,
    stream: &Stream,
    chunk: &[u8],
    extent: Extent,
    watch: &Watch<'_>,
) -> Result<(Sent, Option<f64>), Broken> {
    let broken = Broken::at(arm, "sending bulk data");
    let start_ns = clock::now_ns();
    let mut trips = RoundTrips { due_ns: start_ns + ROUND_TRIP_STEP_NS, sum_us: 0, count: 0 };
    let (mut bytes, mut quiet) = (0, None);
    loop {
        let left = extent.bytes - bytes;
        let part = if left < chunk.len() as u64 { &chunk[..left as usize] } else { chunk };
        match stream.write(part) {
            Ok(count) => {
                bytes += count as u64;
                quiet = None;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                watch.idle(&mut quiet).map_err(&broken)?;
            }
            Err(error) => return Err(broken(error.into())),
        }
        let now_ns = clock::now_ns();
        trips.look(stream, now_ns);
        let span_ns = now_ns - start_ns;
        if span_ns >= extent.duration_ns || bytes >= extent.bytes {
            return Ok((Sent { bytes, span_ns, ..Sent::default() }, trips.mean_us()));
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

/// Reads into `buffer` until the sender ends, all bytes of `extent` have come, or its time and that
/// for emptying queues are over. The stream blocks and has a read timeout.
///
/// It sleeps until about half a millisecond's worth of data is there, at most `low_water_max`
/// bytes; up to 1 it wakes for whatever comes.
pub fn receive(
    arm: Arm,
    stream: &Stream,
    buffer: &mut [u8],
    series: &mut Series,
    extent: Extent,
    low_water_max: u64,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(arm, "receiving bulk data");
    let until_ns = extent.duration_ns.saturating_add(DRAIN_NS_MAX);
    let start_ns = clock::now_ns();
    let mut low_water =
        LowWater { bytes: 1, bytes_max: low_water_max, since_ns: start_ns, seen_bytes: 0 };
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
                let over = series.elapsed_ns(now_ns) >= until_ns;
                if over || series.bytes() >= extent.bytes {
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
