//! What the sending end saw of a search for the rate that a path carries.

use super::Sent;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A search as its sender saw it. Rates that were asked for are IP-layer bits per second.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Searched {
    /// All datagrams of the search.
    pub sent: Sent,
    /// From when on, in ns since the start, at which rate, in bit/s, of a search by load.
    pub rates: Vec<(u64, u64)>,
    /// Reports that came.
    pub reports: u64,
    /// Times that a report was missing for so long that it counted as congestion.
    pub silences: u64,
    /// Trials of a search by halving, in their order.
    pub trials: Vec<RateTrial>,
    /// What a search by halving found: payload bit/s; 0 if no rate was carried.
    pub found_bps: Option<f64>,
}

/// One trial at a constant rate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RateTrial {
    /// Rate that was tried, in bit/s of the IP layer.
    pub rate_bps: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that were due and could not be sent in time.
    pub skipped: u64,
    /// Datagrams that arrived.
    pub arrived: u64,
    /// Datagrams that the receiving host dropped after they had arrived.
    pub dropped: u64,
    /// Rate at which they arrived, in payload bit/s, if enough did to tell.
    pub arrived_bps: Option<f64>,
    /// Whether the path carried them as it was asked to.
    pub carried: bool,
}

impl RateTrial {
    /// Share of the datagrams that were due and did not arrive, 0 to 1. What the receiving host
    /// dropped had arrived (RFC 7680); what could not be sent was not carried.
    pub fn loss(&self) -> f64 {
        let due = self.sent.saturating_add(self.skipped);
        let came = self.arrived.saturating_add(self.dropped);
        due.saturating_sub(came) as f64 / due.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_what_was_due_and_did_not_come() {
        let trial =
            RateTrial { sent: 90, skipped: 10, arrived: 80, dropped: 5, ..RateTrial::default() };
        assert_eq!(trial.loss(), 0.15);
        assert_eq!(RateTrial::default().loss(), 0.0);
        assert_eq!(RateTrial { arrived: 9, ..RateTrial::default() }.loss(), 0.0);
    }
}
