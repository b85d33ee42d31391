//! What a message costs: round trips of several sizes taken apart into a constant, a cost for each
//! packet and a cost for each byte on the line (docs/method.md section A.7).
//!
//! ```text
//! RTT(size) = constant + per packet · packets(size) + per byte · bytes(size)
//! ```
//!
//! Packets and bytes are those of the wire model, both ways together; bytes are counted one after
//! the other, so a packet that is stored and forwarded by a router counts on each link. Where the
//! rate of the line is known, the cost per byte must be that of the line, and what IPv6 takes
//! longer can be told apart into its header and the rest.

mod carry;
mod fit;
mod sweep;
#[cfg(test)]
mod tests;

pub use carry::{Carried, MtuOf, Target, Transfers, transfers};
pub use fit::Model;

use super::collect::Collected;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::PerArm;
use v6gap_core::workload::Transport;

/// Fewest sizes for three terms.
pub const SIZES_MIN: usize = 3;

/// A figure with its 95 % range, from a bootstrap over the rounds of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ranged {
    /// The estimate.
    pub estimate: f64,
    /// Lower end; may be minus infinity, which JSON shows as null.
    pub low: f64,
    /// Upper end; may be infinity.
    pub high: f64,
}

impl Ranged {
    /// Whether the range excludes 0.
    pub fn differs(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// The same with the other sign.
    fn negated(&self) -> Ranged {
        Ranged { estimate: -self.estimate, low: -self.high, high: -self.low }
    }
}

/// The terms of a family, or the differences of the second arm's from the first's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Terms {
    /// What every exchange takes whatever its size, in ns: hosts, routers and distance.
    pub constant_ns: Ranged,
    /// What each packet adds, in ns; `None` where it cannot be told from the other terms.
    pub per_packet_ns: Option<Ranged>,
    /// What each byte on the line adds, in ns.
    pub per_byte_ns: Ranged,
}

/// The fitted terms and how well they describe what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Of each arm.
    pub arms: PerArm<Terms>,
    /// The second arm's minus the first's, from the same resampled rounds.
    pub difference: Terms,
    /// The rate of one line that would cost as much per byte, in bit/s.
    pub apparent_rate_bps: PerArm<Ranged>,
    /// Largest deviation of a measured round trip from the fit, as a share of it.
    pub misfit: f64,
    /// The size at which it is, in bytes.
    pub misfit_bytes: u32,
}

/// What one size takes longer over the second arm, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// Size of the message, in bytes.
    pub bytes: u32,
    /// How much longer it takes over the second arm, in ns.
    pub difference_ns: Ranged,
    /// The part that its longer header and further packets take on the line, in ns: by the known
    /// rate of the line, or by the fitted cost per byte of the first arm. Negative where they are
    /// the first arm's.
    pub line_ns: Ranged,
    /// What is left for the hosts and, where the families do not share it, the path, in ns.
    pub rest_ns: Ranged,
}

impl Share {
    /// The same of the first arm against the second.
    pub fn of_the_first(&self) -> Share {
        let [difference_ns, line_ns, rest_ns] =
            [self.difference_ns, self.line_ns, self.rest_ns].map(|part| part.negated());
        Share { bytes: self.bytes, difference_ns, line_ns, rest_ns }
    }
}

/// The cost model of one sweep of sizes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostModel {
    /// Over which transport.
    pub transport: Transport,
    /// Cells of the sweep, by size.
    pub cells: Vec<String>,
    /// Their sizes, in bytes, ascending.
    pub sizes_bytes: Vec<u32>,
    /// Rounds behind it.
    pub rounds: usize,
    /// Links that a packet passes one after the other, as far as they count.
    pub links: u32,
    /// Whether that is known, or what fits best.
    pub links_known: bool,
    /// Rate of the slowest link of each arm, in bit/s, where it is known.
    pub line_rate_bps: Option<PerArm<f64>>,
    /// The part of the constant that the links are known to delay, in ns.
    pub delay_ns: Option<PerArm<f64>>,
    /// The terms, if they could be fitted.
    pub fitted: Option<Fitted>,
    /// Why they could not, in words.
    pub why_none: Option<String>,
    /// The smallest size, taken apart.
    pub smallest: Option<Share>,
    /// Reasons for doubt, in words.
    pub caveats: Vec<String>,
}

/// The cost models of all sweeps of a run, ready to be carried to other paths; none for a run that
/// compares a family with itself.
pub(super) fn models(found: &Collected<'_>) -> Vec<Model> {
    match found.run.plan.design.arms.is_null() {
        true => Vec::new(),
        false => sweep::sweeps(found).iter().map(|sweep| fit::model(found.run, sweep)).collect(),
    }
}
