//! Delay variation as RTP filters it (RFC 3550).

/// Weight of the newest difference in the jitter of RFC 3550.
const JITTER_PARTS: f64 = 16.0;

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

    /// The filtered jitter, in the unit of the transit times; 0 before the second packet.
    pub fn value(&self) -> f64 {
        self.value
    }
}
