//! A body while it is read: how much of it came, and with which reads. Nothing of it is kept.

use super::stamped::Stamps;
use super::visit::{Limits, since};
use v6gap_core::observation::Body;

/// A body that is being read.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    limits: &'a Limits,
    stamps: &'a Stamps,
    /// The read that brought the head of the answer, in ns.
    begun_ns: Option<u64>,
    /// The first read that brought some of the body, in ns.
    first_ns: Option<u64>,
    body: Body,
}

impl<'a> Reading<'a> {
    /// The head of the answer is there.
    pub fn new(limits: &'a Limits, stamps: &'a Stamps) -> Self {
        let begun_ns = stamps.last_read_ns();
        Reading { limits, stamps, begun_ns, first_ns: None, body: Body::default() }
    }

    /// Whether more of it is read: not if enough is there, or its time is over. The time is looked
    /// at when something came; where nothing comes, the wait for it ends.
    pub fn goes_on(&self) -> bool {
        let took_ns = since(self.begun_ns, self.stamps.last_read_ns()).unwrap_or(0);
        self.body.bytes < self.limits.body_bytes && took_ns <= self.limits.body_ns
    }

    /// So many bytes more are there, the last of them by the last read.
    pub fn came(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let read_ns = self.stamps.last_read_ns().unwrap_or(0);
        let first_ns = *self.first_ns.get_or_insert(read_ns);
        self.body.bytes += bytes;
        self.body.span_ns = read_ns.saturating_sub(first_ns);
        if self.body.span_ns > 0 {
            self.body.later_bytes += bytes;
        }
    }

    /// Nothing more will come.
    pub fn ended(&mut self) {
        self.body.is_whole = true;
    }

    /// What was read.
    pub fn body(self) -> Body {
        self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::workload::Visit;

    /// Parts of one read are one, and all that came later is in the rate.
    #[test]
    fn what_came_with_the_first_read_is_before_the_clock() {
        let visit = Visit { body_bytes: 1_000, ..Visit::default() };
        let limits = Limits { body_ns: u64::MAX, ..Limits::of(&visit, 1) };
        let stamps = Stamps::default();
        let read = |bytes| {
            let before_ns = stamps.last_read_ns();
            while stamps.last_read_ns() == before_ns {
                stamps.read(bytes);
            }
        };
        read(700);
        let mut reading = Reading::new(&limits, &stamps);
        reading.came(300);
        reading.came(200);
        read(400);
        reading.came(0);
        assert!(reading.goes_on());
        reading.came(400);
        reading.came(150);
        assert!(!reading.goes_on(), "enough is there");
        let body = reading.body();
        assert_eq!((body.bytes, body.later_bytes, body.is_whole), (1_050, 550, false));
        assert!(body.span_ns > 0);
    }

    #[test]
    fn a_body_that_trickles_is_read_for_its_time() {
        let limits = Limits { body_ns: 0, ..Limits::of(&Visit::default(), 1) };
        let stamps = Stamps::default();
        stamps.read(1);
        let reading = Reading::new(&limits, &stamps);
        assert!(reading.goes_on());
        while stamps.last_read_ns() == reading.begun_ns {
            stamps.read(1);
        }
        assert!(!reading.goes_on());
    }
}
