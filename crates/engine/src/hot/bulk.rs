//! TCP bulk transfer: one end writes for a time, the other reads and counts.

use super::series::Series;
use super::{Broken, Cause, TICK_NS, Watch};
use std::io;
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::observation::Sent;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, MemoryFile, Reaped, Stream, is_out_of_room};

/// Longest time that a receiver reads after the sender's time is over, in ns. What is then still in
/// queues would keep the next trial waiting.
const DRAIN_NS_MAX: u64 = 300_000_000;

/// Time between two wake-ups of a receiver that data reach without pause, in ns. Waking for every
/// segment costs the sender an interrupt of the other processor each time, and makes fast links
/// slow.
const WAKE_NS: u64 = 500_000;

/// The low-water mark of a receiver follows the rate by this many steps a second.
const LOW_WATER_STEP_NS: u64 = 10_000_000;

/// Writes in place after which the kernel is asked which of them it has finished.
const WRITES_PER_REAP: u32 = 16;

/// A receiver with a pace takes this part of a second's data ahead of it: a sender that keeps the
/// same pace hands its data over in steps, and is not to be slowed down.
const BURSTS_PER_SECOND: u64 = 50;

/// A transfer that this program paces itself is handed over in steps of at most this time, in ns.
const PACE_STEP_NS: u64 = 2_000_000;

/// Time between two looks at the round-trip time, in ns (RFC 6349 section 3.3.3 asks for one each
/// second), and at the window.
const LOOK_STEP_NS: u64 = 100_000_000;

/// Time between two looks at what was acknowledged, in ns.
const ACKNOWLEDGED_STEP_NS: u64 = 1_000_000;

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

/// How long a transfer over one connection goes on, whichever comes first, and how fast at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Longest time, in ns.
    pub duration_ns: u64,
    /// Most bytes.
    pub bytes: u64,
    /// Most bytes per second, if there is a limit.
    pub pace: Option<u64>,
}

/// What a sender sends again and again, and how.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Copied into the kernel.
    Copied(&'a [u8]),
    /// From a file of so many bytes, without copying.
    File(&'a MemoryFile, usize),
    /// From where it lies, without copying; the stream must allow it. It must not change before the
    /// transfer is over.
    InPlace(&'a [u8]),
}

impl Source<'_> {
    fn bytes(&self) -> usize {
        match self {
            Source::Copied(chunk) | Source::InPlace(chunk) => chunk.len(),
            Source::File(_, bytes) => *bytes,
        }
    }

    /// Hands at most `most` bytes to the kernel.
    #[inline]
    fn write(&self, stream: &Stream, most: usize) -> io::Result<usize> {
        match self {
            Source::Copied(chunk) => stream.write(&chunk[..most]),
            Source::File(file, _) => stream.send_file(file, most),
            Source::InPlace(chunk) => stream.write_in_place(&chunk[..most]),
        }
    }
}

/// What a sender has to tell.
#[derive(Debug, Clone, Default)]
pub struct Sending {
    /// What was sent.
    pub sent: Sent,
    /// Mean of the round-trip times that the kernel gave meanwhile, in µs.
    pub rtt_mean_us: Option<f64>,
    /// Mean of the windows that the peer offered meanwhile, in bytes.
    pub window_mean_bytes: Option<f64>,
    /// Writes in place that the kernel had finished by then, and those that it copied all the same.
    pub reaped: Reaped,
}

/// What the kernel tells of a connection that sends, looked at now and then.
struct Looks {
    due_ns: u64,
    round_trips_us: Mean,
    windows_bytes: Mean,
}

/// A mean in the making.
#[derive(Default)]
struct Mean {
    sum: u64,
    count: u32,
}

impl Looks {
    fn new(start_ns: u64) -> Looks {
        let due_ns = start_ns + LOOK_STEP_NS;
        Looks { due_ns, round_trips_us: Mean::default(), windows_bytes: Mean::default() }
    }

    fn look(&mut self, stream: &Stream, now_ns: u64) {
        if now_ns < self.due_ns {
            return;
        }
        // Where the system does not tell it is not asked again.
        self.due_ns = match stream.info() {
            Ok(info) => {
                self.round_trips_us.add(info.rtt_us);
                if let Some(bytes) = info.snd_wnd {
                    self.windows_bytes.add(bytes);
                }
                now_ns + LOOK_STEP_NS
            }
            Err(_) => u64::MAX,
        };
    }
}

impl Mean {
    fn add(&mut self, value: u32) {
        self.sum += u64::from(value);
        self.count += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / f64::from(self.count))
    }
}

/// What the peer has acknowledged, looked at every [`ACKNOWLEDGED_STEP_NS`] at most.
#[derive(Debug)]
pub struct Acknowledged {
    /// The bytes over time.
    pub series: Series,
    /// The kernel's count at the last look.
    counted: Option<u64>,
    due_ns: u64,
}

impl Acknowledged {
    /// Nothing so far, in this series.
    pub fn new(series: Series) -> Self {
        Acknowledged { series, counted: None, due_ns: 0 }
    }

    /// Where the system does not tell, nothing is known to have arrived.
    fn look(&mut self, stream: &Stream, now_ns: u64) {
        if now_ns < self.due_ns {
            return;
        }
        self.due_ns = now_ns + ACKNOWLEDGED_STEP_NS;
        let Some(bytes) = stream.info().ok().and_then(|info| info.bytes_acked) else { return };
        // What was acknowledged before the data is not of them.
        let before = self.counted.replace(bytes).unwrap_or(bytes);
        self.series.add(now_ns, bytes.saturating_sub(before));
    }
}

/// Waits until the peer has acknowledged all of `bytes` that were written since the first look.
pub fn await_acknowledged(
    arm: Arm,
    stream: &Stream,
    bytes: u64,
    acknowledged: &mut Acknowledged,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = Broken::at(arm, "waiting for acknowledgements");
    let mut quiet = None;
    loop {
        let before = acknowledged.series.bytes();
        acknowledged.look(stream, clock::now_ns());
        if acknowledged.series.bytes() >= bytes {
            return Ok(());
        }
        if acknowledged.series.bytes() > before {
            quiet = None;
        } else {
            watch.idle(&mut quiet).map_err(&broken)?;
        }
        clock::rest(Duration::from_nanos(ACKNOWLEDGED_STEP_NS));
    }
}

/// Sends `source` again and again until the end of `extent`. The stream blocks and has a write
/// timeout. What the peer acknowledges meanwhile is added to `acknowledged`, if it is asked for:
/// that tells what arrives where nobody at the other end does.
pub fn send(
    arm: Arm,
    stream: &Stream,
    source: Source<'_>,
    extent: Extent,
    watch: &Watch<'_>,
    mut acknowledged: Option<&mut Acknowledged>,
) -> Result<Sending, Broken> {
    let broken = Broken::at(arm, "sending bulk data");
    let start_ns = clock::now_ns();
    let mut looks = Looks::new(start_ns);
    if let Some(acknowledged) = &mut acknowledged {
        acknowledged.look(stream, start_ns);
    }
    let (mut bytes, mut quiet, mut writes, mut reaped) = (0, None, 0_u32, Reaped::default());
    let in_place = matches!(source, Source::InPlace(_));
    let most = chunk_bytes(source.bytes(), extent.pace);
    loop {
        let left = extent.bytes - bytes;
        match source.write(stream, most.min(usize::try_from(left).unwrap_or(most))) {
            Ok(count) => {
                bytes += count as u64;
                writes = writes.wrapping_add(1);
                quiet = None;
            }
            Err(error) if in_place && is_out_of_room(&error) => {
                reap(stream, &mut reaped).map_err(|e| broken(e.into()))?;
                watch.idle(&mut quiet).map_err(&broken)?;
            }
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                watch.idle(&mut quiet).map_err(&broken)?;
            }
            Err(error) => return Err(broken(error.into())),
        }
        if in_place && writes.is_multiple_of(WRITES_PER_REAP) {
            reap(stream, &mut reaped).map_err(|e| broken(e.into()))?;
        }
        let now_ns = clock::now_ns();
        looks.look(stream, now_ns);
        if let Some(acknowledged) = &mut acknowledged {
            acknowledged.look(stream, now_ns);
        }
        let span_ns = now_ns - start_ns;
        if span_ns >= extent.duration_ns || bytes >= extent.bytes {
            let sent = Sent { bytes, span_ns, ..Sent::default() };
            return Ok(Sending {
                sent,
                rtt_mean_us: looks.round_trips_us.value(),
                window_mean_bytes: looks.windows_bytes.value(),
                reaped,
            });
        }
        if let Some(pace) = extent.pace {
            let end_ns = start_ns.saturating_add(extent.duration_ns);
            keep_pace((start_ns, end_ns), bytes, pace, watch).map_err(&broken)?;
        }
    }
}

/// Bytes of one write; of a paced transfer no more than its pace in [`PACE_STEP_NS`].
pub(super) fn chunk_bytes(bytes: usize, pace: Option<u64>) -> usize {
    let of_step = |pace: u64| u128::from(pace) * u128::from(PACE_STEP_NS) / 1_000_000_000;
    pace.map_or(bytes, |pace| bytes.min(usize::try_from(of_step(pace)).unwrap_or(bytes).max(1)))
}

/// Time in which `bytes` are moved at `pace` bytes per second, in ns.
pub(super) fn paced_ns(bytes: u64, pace: u64) -> u64 {
    let ns = u128::from(bytes) * 1_000_000_000 / u128::from(pace.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Rests until `bytes` are due at `pace` bytes per second, but not beyond the end.
fn keep_pace(
    (start_ns, end_ns): (u64, u64),
    bytes: u64,
    pace: u64,
    watch: &Watch<'_>,
) -> Result<(), Cause> {
    let due_ns = start_ns.saturating_add(paced_ns(bytes, pace)).min(end_ns);
    loop {
        let now_ns = clock::now_ns();
        if now_ns >= due_ns {
            return Ok(());
        }
        watch.busy(now_ns)?;
        clock::rest(Duration::from_nanos((due_ns - now_ns).min(TICK_NS)));
    }
}

fn reap(stream: &Stream, reaped: &mut Reaped) -> io::Result<()> {
    let more = stream.reap()?;
    reaped.writes += more.writes;
    reaped.copied += more.copied;
    Ok(())
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

/// Where received data go.
#[derive(Debug)]
pub enum Sink<'a> {
    /// Into a buffer, again and again.
    Buffer(&'a mut [u8]),
    /// Nowhere: so many bytes at a time are taken off without copying.
    Nowhere(usize),
}

impl Sink<'_> {
    #[inline]
    fn read(&mut self, stream: &Stream) -> io::Result<usize> {
        match self {
            Sink::Buffer(buffer) => stream.read(buffer),
            Sink::Nowhere(bytes) => stream.discard(*bytes),
        }
    }
}

/// Reads into `sink` until the sender ends, all bytes of `extent` have come, or its time and that
/// for emptying queues are over. The stream blocks and has a read timeout.
///
/// It sleeps until about half a millisecond's worth of data is there, at most `low_water_max`
/// bytes; up to 1 it wakes for whatever comes. What comes faster than the pace stays in the
/// kernel's buffer, whose end holds the sender up.
pub fn receive(
    arm: Arm,
    stream: &Stream,
    mut sink: Sink<'_>,
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
        match sink.read(stream) {
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
                if let Some(pace) = extent.pace {
                    // From the first data on: waiting for them earns nothing.
                    let first_ns = now_ns - series.elapsed_ns(now_ns);
                    let due = series.bytes().saturating_sub(pace / BURSTS_PER_SECOND);
                    let end_ns = first_ns.saturating_add(until_ns);
                    keep_pace((first_ns, end_ns), due, pace, watch).map_err(&broken)?;
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
