//! Delay variation: between consecutive packets (RFC 3393), above the smallest (RFC 5481), and the
//! filtered value of RTP (RFC 3550).

/// Weight of the newest difference in the jitter of RFC 3550.
const JITTER_PARTS: f64 = 16.0;

/// Differences between each packet's delay and that of the one sent before it; the first has none,
/// and a lost packet leaves two without (RFC 3393 section 2.4: undefined). In the order of sending.
pub fn ipdv(delays: &[Option<i64>]) -> impl Iterator<Item = Option<i64>> {
    let before = core::iter::once(None).chain(delays.iter().copied());
    before.zip(delays).map(|(before, &delay)| Some(delay? - before?))
}

/// Each delay above the smallest (RFC 5481 section 4.2); none for a lost packet.
pub fn pdv(delays: &[Option<i64>]) -> impl Iterator<Item = Option<i64>> {
    let least = delays.iter().flatten().min().copied();
    delays.iter().map(move |&delay| Some(delay? - least?))
}

/// The interarrival jitter of RFC 3550 section 6.4.1, for comparing with other programs only: it
/// depends on the order of arrival and is ruled by the last few packets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Jitter {
    transit: Option<i64>,
    value: f64,
}

impl Jitter {
    /// Takes the transit time of the next packet to arrive.
    pub fn add(&mut self, transit: i64) {
        if let Some(before) = self.transit.replace(transit) {
            let difference = transit.abs_diff(before) as f64;
            self.value += (difference - self.value) / JITTER_PARTS;
        }
    }

    /// Its value, in the unit of the transit times; 0 before the second packet.
    pub fn value(&self) -> f64 {
        self.value
    }
}
