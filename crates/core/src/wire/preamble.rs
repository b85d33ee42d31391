//! The first bytes of every TCP connection: what the connection is for.
//!
//! They go in the clear, so that a peer of another version, or no peer of ours at all, is told
//! apart before any key matters. Both ends of a control connection send one, the server with a
//! [`Nonce`] behind it; of a data connection, only the client.

use super::version::VersionRange;
use crate::arm::Arm;
use crate::task::Token;

const MAGIC_BYTES: usize = 4;
const CONTROL_MAGIC: [u8; MAGIC_BYTES] = *b"v6gC";
const DATA_MAGIC: [u8; MAGIC_BYTES] = *b"v6gD";

/// Opens a control connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Versions that the sender speaks.
    pub versions: VersionRange,
}

/// Random bytes that a server draws for each control connection and sends behind its preamble. The
/// handshake binds them, so that nothing recorded fits a later connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce(pub [u8; Self::BYTES]);

impl Nonce {
    /// Length, in bytes.
    pub const BYTES: usize = 16;
}

/// Opens a data connection of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// The task's secret.
    pub token: Token,
    /// The arm that the connection belongs to.
    pub arm: Arm,
    /// Number of the connection in its arm.
    pub connection: u16,
}

/// Either of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// See [`Control`].
    Control(Control),
    /// See [`Data`].
    Data(Data),
}

/// Why bytes are not the start of a preamble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PreambleError {
    /// They start otherwise.
    #[error("not v6gap: the connection starts with other bytes")]
    NotOurs,
    /// A control preamble whose lowest version is above its highest.
    #[error("preamble with an empty range of versions")]
    EmptyRange,
    /// A data preamble that names neither arm.
    #[error("preamble with unknown arm {0}")]
    UnknownArm(u8),
}

/// What can be said of the bytes that came so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// At least this many bytes are needed in all; reading more might take bytes of what follows.
    Needs(usize),
    /// The preamble is complete.
    Complete(Preamble),
}

impl Control {
    /// Length, in bytes.
    pub const BYTES: usize = 8;

    /// The preamble as it is sent.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let [a, b, c, d] = CONTROL_MAGIC;
        [a, b, c, d, self.versions.lowest(), self.versions.highest(), 0, 0]
    }
}

impl Data {
    /// Length, in bytes.
    pub const BYTES: usize = 24;

    /// The preamble as it is sent.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&DATA_MAGIC);
        bytes[4..20].copy_from_slice(&self.token.0);
        bytes[20] = arm_number(self.arm);
        bytes[21..23].copy_from_slice(&self.connection.to_be_bytes());
        bytes
    }
}

/// Length of the longest preamble, in bytes.
pub const BYTES_MAX: usize = Data::BYTES;

/// Judges the first bytes of a connection, as many as have come.
pub fn decode(bytes: &[u8]) -> Result<Progress, PreambleError> {
    let Some((magic, rest)) = bytes.split_first_chunk::<MAGIC_BYTES>() else {
        let possible = CONTROL_MAGIC.starts_with(bytes) || DATA_MAGIC.starts_with(bytes);
        return if possible {
            Ok(Progress::Needs(MAGIC_BYTES))
        } else {
            Err(PreambleError::NotOurs)
        };
    };
    match *magic {
        CONTROL_MAGIC => decode_control(rest),
        DATA_MAGIC => decode_data(rest),
        _ => Err(PreambleError::NotOurs),
    }
}

fn decode_control(rest: &[u8]) -> Result<Progress, PreambleError> {
    let [lowest, highest, _, _, ..] = *rest else {
        return Ok(Progress::Needs(Control::BYTES));
    };
    let versions = VersionRange::new(lowest, highest).ok_or(PreambleError::EmptyRange)?;
    Ok(Progress::Complete(Preamble::Control(Control { versions })))
}

fn decode_data(rest: &[u8]) -> Result<Progress, PreambleError> {
    let Some((token, rest)) = rest.split_first_chunk::<16>() else {
        return Ok(Progress::Needs(Data::BYTES));
    };
    let [arm, high, low, _, ..] = *rest else {
        return Ok(Progress::Needs(Data::BYTES));
    };
    let arm = arm_of(arm).ok_or(PreambleError::UnknownArm(arm))?;
    let connection = u16::from_be_bytes([high, low]);
    Ok(Progress::Complete(Preamble::Data(Data { token: Token(*token), arm, connection })))
}

/// An arm as one byte.
pub(super) const fn arm_number(arm: Arm) -> u8 {
    match arm {
        Arm::A => 0,
        Arm::B => 1,
    }
}

/// The arm of that byte.
pub(super) const fn arm_of(number: u8) -> Option<Arm> {
    match number {
        0 => Some(Arm::A),
        1 => Some(Arm::B),
        _ => None,
    }
}
