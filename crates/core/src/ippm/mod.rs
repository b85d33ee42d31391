//! The arithmetic of the IP performance metrics: from recorded arrivals to delay variation,
//! jitter, reordering, duplication and percentiles.
//!
//! Everything here is a function of numbers that were written down before, so each definition of an
//! RFC is tested with the vectors of its text. Times are nanoseconds; each end has a clock of its
//! own, so only differences of one-way delays mean anything, and what the two clocks drift apart is
//! taken out ([`skew`]).

pub mod order;
pub mod percentile;
pub mod skew;
pub mod stream;
pub mod variation;

#[cfg(test)]
mod tests;
