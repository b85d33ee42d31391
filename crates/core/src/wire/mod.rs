//! Bytes ⇄ values for everything that the two ends say to each other, and for test packets of
//! STAMP, which a server answers for senders of any make.
//!
//! Pure and total: any bytes decode to a value or an error, never to a panic, because what arrives
//! on an open port may come from anyone. docs/protocol.md describes the same in prose and keeps a
//! hash of this folder, so neither changes without the other.

pub mod control;
pub mod datagram;
pub mod foreign;
pub mod frame;
pub mod preamble;
pub mod probe;
pub mod stamp;
pub mod status;
pub mod version;
pub mod whereabouts;

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

/// The one port of the service, TCP and UDP alike.
pub const PORT: u16 = 4466;
