//! Frames of a video, each of several datagrams at once: what a trial of them is, and what its
//! receiver counts.
//!
//! A frame can be shown once all of its datagrams have come. So it is lost if one of them is, and
//! as late as the latest of them.

use super::feature::{Feature, Needed};
use super::impossible::{self, Impossible, range};
use super::kind::{self, Cost, Kind, Path};
use super::law::Law;
use super::limits::{Limits, Objection};
use super::{Direction, Marking, UdpBulk};
use crate::metric::Metric;
use crate::transport::Transport;
use crate::unit::{format_bytes, format_span};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Frames one way at a steady rate, as in a video conference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frames {
    /// Payload of a frame in all its datagrams, in bytes.
    pub frame_bytes: u32,
    /// Largest UDP payload of a datagram, in bytes.
    pub payload_bytes: u32,
    /// Time from one frame to the next, in ns.
    pub every_ns: u64,
    /// Time that frames are sent, in ns.
    pub duration_ns: u64,
    /// Which way.
    pub direction: Direction,
    /// How its packets are marked.
    pub marking: Marking,
}

impl Frames {
    /// Shortest time from one frame to the next, in ns.
    pub const EVERY_NS_MIN: u64 = 1_000_000;

    /// Most datagrams of a trial.
    pub const DATAGRAMS_MAX: u64 = 1_000_000;

    /// Datagrams of each frame.
    pub fn datagrams_each(&self) -> u32 {
        self.frame_bytes.div_ceil(self.payload_bytes.max(1)).max(1)
    }

    /// Frames of a trial.
    pub fn count(&self) -> u64 {
        self.duration_ns.div_ceil(self.every_ns.max(1))
    }

    /// Datagrams of a trial.
    pub fn datagrams_in_all(&self) -> u64 {
        self.count().saturating_mul(self.datagrams_each().into())
    }

    /// The stream that its datagrams are.
    pub fn stream(&self) -> UdpBulk {
        UdpBulk {
            payload_bytes: self.payload_bytes,
            rate_bps: None,
            duration_ns: self.duration_ns,
            warmup_ns: 0,
            marking: self.marking,
            direction: self.direction,
            law: Law::Frames { frame_bytes: self.frame_bytes, every_ns: self.every_ns },
            ..UdpBulk::default()
        }
    }
}

impl Default for Frames {
    /// 30 frames a second for 2 s, each of 6 datagrams of 1200 B, client to server.
    fn default() -> Self {
        Frames {
            frame_bytes: 7200,
            payload_bytes: 1200,
            every_ns: 33_333_334,
            duration_ns: 2_000_000_000,
            direction: Direction::Send,
            marking: Marking::default(),
        }
    }
}

impl Kind for Frames {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric::FrameLoss, Metric::FrameLateness]
    }

    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn need(&self, needed: &mut Needed) {
        // All of it has been there from the beginning.
        let Frames {
            frame_bytes: _,
            payload_bytes: _,
            every_ns: _,
            duration_ns: _,
            direction: _,
            marking,
        } = self;
        needed.add(true, Feature::Frames);
        needed.marking(marking);
    }

    fn check_numbers(&self, datagram_bytes_max: u32) -> Result<(), Impossible> {
        impossible::times(self.duration_ns, 0)?;
        range("ns from one frame to the next", self.every_ns, Self::EVERY_NS_MIN..=u64::MAX)?;
        self.stream().check_numbers(datagram_bytes_max)?;
        range("datagrams in all", self.datagrams_in_all(), 1..=Self::DATAGRAMS_MAX)
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        self.stream().check_limits(limits)
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        kind::cut(&mut self.duration_ns, &mut 0, limits, told);
    }

    fn cost(&self, path: Path) -> Cost {
        self.stream().cost(path)
    }

    fn suffix(&self) -> String {
        let usual = Frames::default();
        let mut text = String::new();
        if self.payload_bytes != usual.payload_bytes {
            text.push_str(&format!("-payload{}", self.payload_bytes));
        }
        if self.every_ns != usual.every_ns {
            text.push_str(&format!("-every{}us", self.every_ns / 1000));
        }
        if self.direction == Direction::Receive {
            text.push_str("-receive");
        }
        text
    }

    fn suffix_words(&self, _metric: Metric) -> String {
        let usual = Frames::default();
        let mut text = String::new();
        if self.payload_bytes != usual.payload_bytes {
            let each = format_bytes(self.payload_bytes.into());
            text.push_str(&format!(", datagrams of {each}"));
        }
        if self.every_ns != usual.every_ns {
            text.push_str(&format!(", every {}", format_span(self.every_ns as f64)));
        }
        if self.direction == Direction::Receive {
            text.push_str(", from the server");
        }
        text
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn mark(&mut self, marking: Marking) {
        self.marking = marking;
    }

    fn rate_bps_most(&self) -> Option<u64> {
        self.stream().asked_bps()
    }

    fn runs_ahead(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        true
    }

    fn longest_ns(&self) -> Option<u64> {
        Some(self.duration_ns)
    }

    fn notes_bytes(&self) -> u64 {
        self.count().saturating_mul(size_of::<Noted>() as u64)
    }

    fn datagrams(&self) -> Option<UdpBulk> {
        Some(self.stream())
    }

    fn level_bytes(&self) -> Option<u32> {
        Some(self.frame_bytes)
    }

    fn take_level(&mut self) {
        self.frame_bytes = 0;
    }

    fn shorten(&mut self, part: f64) {
        kind::shorten(&mut self.duration_ns, &mut 0, part);
    }
}

/// Frames as their receiver saw them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FrameArrivals {
    /// Datagrams of a frame.
    pub datagrams_each: u32,
    /// Frames of which all datagrams came.
    pub whole: u64,
    /// Lateness of these: median, in ns.
    pub late_p50_ns: u64,
    /// 95th percentile, in ns.
    pub late_p95_ns: u64,
    /// Largest, in ns.
    pub late_max_ns: u64,
}

/// What the receiver of frames notes of each, in memory taken beforehand.
#[derive(Debug, Clone)]
pub struct FrameCount {
    datagrams_each: u32,
    every_ns: u64,
    noted: Vec<Noted>,
}

/// What came of a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Noted {
    datagrams: u32,
    last_ns: u64,
}

impl FrameCount {
    /// Nothing so far of a trial of `frames`, whose numbers have been checked.
    pub fn new(frames: &Frames) -> Self {
        let count = frames.count().min(Frames::DATAGRAMS_MAX) as usize;
        FrameCount {
            datagrams_each: frames.datagrams_each(),
            every_ns: frames.every_ns,
            noted: alloc::vec![Noted::default(); count],
        }
    }

    /// Notes that the datagram of this number came, for the first time, at `now_ns`.
    #[inline]
    pub fn note(&mut self, number: u32, now_ns: u64) {
        let Some(frame) = self.noted.get_mut((number / self.datagrams_each) as usize) else {
            return;
        };
        frame.datagrams += 1;
        frame.last_ns = frame.last_ns.max(now_ns);
    }

    /// What came in all. A frame is as late as the time between its last datagram and its own time
    /// on the schedule is longer than that of the least delayed whole frame.
    pub fn arrivals(&self) -> FrameArrivals {
        let whole = self.noted.iter().zip(0_u64..);
        let whole = whole.filter(|(frame, _)| frame.datagrams >= self.datagrams_each);
        // The two clocks have no common origin: only differences of these mean something.
        let delay = |(frame, number): (&Noted, u64)| {
            i128::from(frame.last_ns) - i128::from(number) * i128::from(self.every_ns)
        };
        let mut delays: Vec<i128> = whole.map(delay).collect();
        delays.sort_unstable();
        // The smallest value that so many per cent do not exceed (RFC 2330 section 11.3).
        let late_ns = |percent: usize| {
            let least = delays.first()?;
            let delay = delays.get((delays.len() * percent).div_ceil(100).max(1) - 1)?;
            u64::try_from(delay - least).ok()
        };
        FrameArrivals {
            datagrams_each: self.datagrams_each,
            whole: delays.len() as u64,
            late_p50_ns: late_ns(50).unwrap_or(0),
            late_p95_ns: late_ns(95).unwrap_or(0),
            late_max_ns: late_ns(100).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn numbers_are_those_of_a_conference() {
        let usual = Frames::default();
        assert_eq!((usual.datagrams_each(), usual.count(), usual.datagrams_in_all()), (6, 60, 360));
        assert_eq!(usual.rate_bps_most(), Some(1_727_999));
        assert_eq!(usual.suffix(), "");
        let other = Frames {
            payload_bytes: 1000,
            every_ns: 40 * MS,
            direction: Direction::Receive,
            ..usual
        };
        assert_eq!(other.datagrams_each(), 8);
        assert_eq!(other.suffix(), "-payload1000-every40000us-receive");
        let words = ", datagrams of 1000 B, every 40 ms, from the server";
        assert_eq!(other.suffix_words(Metric::FrameLoss), words);
    }

    #[test]
    fn what_cannot_be_sent_is_a_problem() {
        let good = Frames::default();
        assert_eq!(good.check_numbers(65_507), Ok(()));
        let wrong = [
            Frames { frame_bytes: 0, ..good.clone() },
            Frames { frame_bytes: 1201, ..good.clone() },
            Frames { payload_bytes: 65_508, ..good.clone() },
            Frames { every_ns: 0, ..good.clone() },
            Frames { every_ns: MS - 1, ..good.clone() },
            Frames { duration_ns: 0, ..good.clone() },
            Frames { duration_ns: u64::MAX, ..good.clone() },
            Frames { direction: Direction::Both, ..good.clone() },
        ];
        for frames in wrong {
            assert!(frames.check_numbers(65_507).is_err(), "{frames:?}");
        }
    }

    /// Ten frames of two datagrams every 10 ms, of which frame n is n ms late and frame 3 lacks a
    /// datagram.
    #[test]
    fn a_frame_is_as_late_as_its_last_datagram_and_lost_without_one() {
        let frames = Frames {
            frame_bytes: 2400,
            every_ns: 10 * MS,
            duration_ns: 100 * MS,
            ..Frames::default()
        };
        let mut count = FrameCount::new(&frames);
        for number in (0..20_u32).rev().filter(|&number| number != 6) {
            let frame = u64::from(number / 2);
            // The even one is the last to come.
            let late_ns = if number % 2 == 0 { frame * MS } else { 0 };
            count.note(number, 5_000_000 * MS + frame * 10 * MS + late_ns);
        }
        // Beyond the end, as somebody might send.
        count.note(u32::MAX, 0);
        let found = count.arrivals();
        assert_eq!((found.datagrams_each, found.whole), (2, 9));
        // Of 0, 1, 2, 4, 5, 6, 7, 8 and 9 ms.
        assert_eq!(
            (found.late_p50_ns, found.late_p95_ns, found.late_max_ns),
            (5 * MS, 9 * MS, 9 * MS)
        );
        let nothing = FrameCount::new(&frames).arrivals();
        assert_eq!(nothing, FrameArrivals { datagrams_each: 2, ..FrameArrivals::default() });
    }
}
