//! `watch --listen`: what collectors of metrics scrape of a watch, made when something happened.

use crate::commands::scraped;
use crate::failure::Failure;
use std::net::SocketAddr;
use std::sync::Arc;
use v6gap_core::watch::Watch;
use v6gap_core::watch::metrics::Metrics;
use v6gap_perform::always::{self, Tidings};
use v6gap_report::metrics::text;
use v6gap_serve::Page;
use v6gap_store::Store;

/// What is told of a watch that goes on.
pub struct Told {
    metrics: Metrics,
    page: Arc<Page>,
}

impl Told {
    /// Listens there and says so, with the paths and what is known of before.
    ///
    /// # Errors
    /// If the address cannot be listened on, or the log cannot be read.
    pub fn start(listen: SocketAddr, watch: &Watch, store: &Store) -> Result<Self, Failure> {
        let metrics = always::metrics(watch, store)?;
        let other = |other: SocketAddr| format!("v6gap watch lab-b --listen {other}");
        let readable = "the paths and what was found of them";
        let page = scraped::told(listen, text(&metrics), &other, readable)?;
        Ok(Told { metrics, page })
    }

    /// Takes note of what happened.
    pub fn take(&mut self, tidings: &Tidings<'_>) {
        match tidings {
            Tidings::Logged(entry) => self.metrics.take(entry),
            Tidings::Shown(event) => {
                let Some(asked) = event.changed() else { return };
                self.metrics.changed(&event.path, &asked.cell, asked.metric);
            }
            Tidings::Rests(_) => return,
        }
        self.page.put(text(&self.metrics));
    }
}

#[cfg(test)]
#[path = "../../../../core/tests/common/visit.rs"]
mod made;

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::watch::log::{Ended, Logged, Outcome as How};
    use v6gap_perform::always::followed::Followed;

    /// A visit; from number 60 on round trips over IPv6 take longer, and the last one is down.
    fn visit(number: u64) -> Logged {
        let visit = made::visit(number, if number >= 60 { 1.089 } else { 1.007 }, 1e-4);
        let (outcome, seen) = match number {
            100 => (How::Down { family: None, why: String::new() }, Vec::new()),
            _ => (How::Measured, visit.seen),
        };
        Logged::Ended(Box::new(Ended { outcome, seen, ..visit }))
    }

    #[test]
    fn a_change_that_is_shown_is_counted_once_and_no_outage_is() {
        let mut told = Told { metrics: Metrics::new("lab-a", "1.0"), page: Arc::default() };
        let (mut followed, mut shown) = (Followed::default(), 0);
        for entry in (0..=100).map(visit) {
            told.take(&Tidings::Logged(&entry));
            for event in followed.take(&entry) {
                told.take(&Tidings::Shown(&event));
                shown += 1;
            }
        }
        let counted = &told.metrics.paths["lab-b"].counted;
        // The change, and an outage of each family.
        assert_eq!((shown, counted.changes.values().sum::<u64>()), (3, 1));
        assert_eq!(counted.changes["rtt-tcp-64"], 1);
    }
}
