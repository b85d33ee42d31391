//! Quantities as people write them: sizes, rates, spans of time and shares.
//!
//! One place reads and writes them, so that a flag, a plan and a report cannot disagree on what
//! "64K" means. What is written can be read back to three significant figures; hours come back
//! to the minute.
//!
//! ```
//! use v6gap_core::unit::{format_span, parse_bytes, parse_rate};
//! assert_eq!(parse_bytes("64 KiB"), Ok(65_536));
//! assert_eq!(parse_rate("100 Mbit/s"), Ok(100_000_000));
//! assert_eq!(format_span(145_400.0), "145 µs");
//! ```

mod dscp;
mod format;
mod parse;
#[cfg(test)]
mod tests;

pub use dscp::{parse_dscp, parse_whole};
pub use format::{format_bytes, format_rate, format_share, format_span, significant};
pub use parse::{parse_bytes, parse_rate, parse_share, parse_span};

use alloc::string::String;
use core::fmt;

/// A kind of quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A number of bytes.
    Size,
    /// Bits per second.
    Rate,
    /// A span of time.
    Span,
    /// A part of a whole.
    Share,
}

impl Quantity {
    /// What may be written for it.
    pub const fn accepted(self) -> &'static str {
        match self {
            Quantity::Size => {
                "B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB, TB (powers of 1000), \
                 or K, M, G, T alone (powers of 1024), as in \"64 KiB\""
            }
            Quantity::Rate => {
                "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, or K, M, G, T alone (powers of 1000), \
                 as in \"100 Mbit/s\""
            }
            Quantity::Span => {
                "ns, µs, ms, s, min, h, d, or a number alone (seconds), as in \"200 ms\" or \
                 \"1 h 30 min\""
            }
            Quantity::Share => {
                "a percentage from 0 to 100 %, percentage points (pp), or a number from 0 to 1, \
                 as in \"2 %\""
            }
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Size => "size",
            Quantity::Rate => "rate",
            Quantity::Span => "time",
            Quantity::Share => "share",
        })
    }
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// It does not begin with a decimal number.
    #[error(
        "\"{typed}\" is not a {quantity}: a decimal number is missing; accepted: {}",
        quantity.accepted()
    )]
    NotANumber {
        /// The whole text.
        typed: String,
        /// What was expected.
        quantity: Quantity,
    },
    /// The number is followed by something else than a unit of this quantity.
    #[error(
        "\"{typed}\" is not a {quantity}: unknown unit \"{unit}\"; accepted: {}",
        quantity.accepted()
    )]
    UnknownUnit {
        /// The whole text.
        typed: String,
        /// The part that is no unit.
        unit: String,
        /// What was expected.
        quantity: Quantity,
    },
    /// The value is above what can be held, or not 0 and yet below half of the smallest unit.
    #[error(
        "\"{typed}\" is too large or too small for a {quantity}; accepted: {}",
        quantity.accepted()
    )]
    OutOfRange {
        /// The whole text.
        typed: String,
        /// What was expected.
        quantity: Quantity,
    },
}
