//! How large a packet may be on the way to a host: which size is tried next, and what came of it. A
//! pure machine after the search of RFC 8899 (section 5.3), whose driver sends the packets. It does
//! not rely on what routers say, which on many paths is thrown away.

use serde::{Deserialize, Serialize};

/// The smallest size that is looked for, in bytes of IP packet: what every link of IPv6 carries
/// (RFC 8200 section 5).
pub const FLOOR_BYTES: u32 = 1280;

/// The largest, in bytes of IP packet: the MTU of Ethernet.
pub const CEILING_BYTES: u32 = 1500;

/// So many sizes without an answer, and the smallest is tried: it may be that nothing is answered.
const SILENT_MAX: u8 = 2;

/// So many packets find any limit; the rest of them confirms it.
const USUAL: u8 = 10;

/// No more packets than this are sent, whatever comes of them.
const MOST: u8 = 24;

/// What is known of one family's way. Sizes are those of IP packets, in bytes, and no larger than
/// [`CEILING_BYTES`], which stands for "as large or larger".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PathMtu {
    /// The largest that came back as large as it went (echoes of ICMP); `None` if none did.
    pub both_ways: Option<u32>,
    /// The largest that arrived, whatever size the answer had (version negotiation of QUIC).
    pub there: Option<u32>,
    /// What this system takes for the path MTU, which routers may have told it since.
    pub told: Option<u32>,
}

impl PathMtu {
    /// The largest that is known to pass, of what was found.
    pub fn found(&self) -> Option<u32> {
        self.both_ways.or(self.there)
    }

    /// Whether packets vanish that this system believes to fit: a black hole (RFC 2923). What came
    /// back by echoes has passed; a server that leaves questions of that size unanswered is no
    /// hole.
    pub fn is_hole(&self) -> bool {
        let told = self.told.map(|told| told.min(CEILING_BYTES));
        self.found().zip(told).is_some_and(|(found, told)| found < told)
    }

    /// Whether what comes back is more limited than what goes there.
    pub fn is_narrower_back(&self) -> bool {
        self.both_ways.zip(self.there).is_some_and(|(both_ways, there)| both_ways < there)
    }
}

/// A search for the largest size that passes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search {
    /// The largest that passed.
    passed: Option<u32>,
    /// The smallest that did not.
    vanished: Option<u32>,
    asked: u8,
    confirmed: bool,
}

impl Search {
    /// The size that is to be tried next; `None` if all is known that can be.
    pub fn next(&self) -> Option<u32> {
        let Some(vanished) = self.vanished else {
            return self.passed.is_none().then_some(CEILING_BYTES);
        };
        if self.asked >= MOST || vanished <= FLOOR_BYTES {
            return None;
        }
        if self.passed.is_none() && self.asked >= SILENT_MAX {
            return Some(FLOOR_BYTES);
        }
        let least = self.passed.unwrap_or(FLOOR_BYTES);
        match vanished.saturating_sub(least) {
            // Loss by chance is no limit: what did not pass is tried once more.
            0 | 1 => (!self.confirmed && self.asked < USUAL).then_some(vanished),
            apart => Some(least + apart / 2),
        }
    }

    /// Takes note of whether a packet of that size passed.
    pub fn heard(&mut self, bytes: u32, passes: bool) {
        self.asked = self.asked.saturating_add(1);
        if !passes {
            self.confirmed = self.vanished == Some(bytes);
            self.vanished = Some(self.vanished.map_or(bytes, |known| known.min(bytes)));
            return;
        }
        self.passed = Some(self.passed.map_or(bytes, |known| known.max(bytes)));
        if self.vanished.is_some_and(|vanished| bytes >= vanished) {
            // It was lost by chance before.
            self.vanished = (bytes < CEILING_BYTES).then_some(CEILING_BYTES);
        }
    }

    /// The largest size that passed, in bytes; `None` if none did.
    pub fn found(&self) -> Option<u32> {
        self.passed
    }

    /// How many packets were sent.
    pub fn asked(&self) -> u8 {
        self.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search(mut passes: impl FnMut(u32) -> bool) -> Search {
        let mut search = Search::default();
        while let Some(bytes) = search.next() {
            search.heard(bytes, passes(bytes));
        }
        search
    }

    #[test]
    fn every_limit_is_found_in_ten_packets() {
        for limit in FLOOR_BYTES..=9_000 {
            let found = search(|bytes| bytes <= limit);
            assert_eq!(found.found(), Some(limit.min(CEILING_BYTES)));
            assert!(found.asked() <= 10, "{limit}: {}", found.asked());
        }
        assert_eq!(search(|_| true).asked(), 1);
    }

    #[test]
    fn who_answers_nothing_is_asked_three_times() {
        let found = search(|_| false);
        assert_eq!((found.found(), found.asked()), (None, 3));
    }

    #[test]
    fn a_limit_that_nobody_tells_is_a_hole() {
        let of = |both_ways, there, told| PathMtu { both_ways, there, told };
        assert!(of(Some(1400), None, Some(1500)).is_hole());
        assert!(!of(Some(1400), None, Some(1400)).is_hole());
        // Loopback has 65,536 bytes; more than Ethernet's is not looked for.
        assert!(!of(Some(1500), Some(1500), Some(65_536)).is_hole());
        assert!(!of(None, None, Some(1500)).is_hole());
        assert!(of(None, Some(1400), Some(1500)).is_hole());
        // Echoes pass, so the server answers no long questions.
        assert!(!of(Some(1500), Some(1400), Some(1500)).is_hole());
        let back = of(Some(1400), Some(1500), Some(1500));
        assert!(back.is_hole() && back.is_narrower_back());
    }

    proptest! {
        /// Never is more found than passes, whatever is lost by chance.
        #[test]
        fn loss_by_chance_never_makes_it_larger(limit in 1280_u32..1501, lost in any::<u32>()) {
            let mut number = 0;
            let found = search(|bytes| {
                number += 1;
                bytes <= limit && lost >> (number % 32) & 1 == 0
            });
            prop_assert!(found.found().is_none_or(|found| found <= limit));
            prop_assert!(found.asked() <= MOST);
        }
    }
}
