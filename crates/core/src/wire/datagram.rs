//! The header that every echo message, over TCP and UDP, and every bulk datagram starts with.
//!
//! It is written and read in the hot loops, so it is fixed in size and works on the caller's
//! buffer. There is no checksum: the transports have theirs.

use super::preamble::{arm_number, arm_of};
use crate::arm::Arm;

/// Length of the header, in bytes; all numbers in it are big-endian.
pub const HEADER_BYTES: usize = 20;

/// The header of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The task's tag, by which strays of other tasks and strangers are recognised.
    pub tag: [u8; 8],
    /// Number of the message in its arm.
    pub sequence: u32,
    /// Number of the turn, for slices.
    pub turn: u16,
    /// Connection over which the next exchange of the arm goes, for slices.
    pub next: u16,
    /// The arm.
    pub arm: Arm,
    /// What else holds for the message.
    pub flags: Flags,
}

/// A set of properties of a message. Unknown ones are kept and mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No property.
    pub const NONE: Flags = Flags(0);
    /// The last exchange of a turn.
    pub const LAST_OF_TURN: Flags = Flags(1);
    /// Part of the warm-up, not counted.
    pub const WARMUP: Flags = Flags(1 << 1);
    /// The last message of the task.
    pub const END: Flags = Flags(1 << 2);
    /// A report of a receiver, or the request for one.
    pub const STATUS: Flags = Flags(1 << 3);
    /// A source shows that it gets what is sent to its address: the first message of each, and what
    /// follows from it ([`crate::session::validation`]).
    pub const INTRODUCTION: Flags = Flags(1 << 4);
    /// Of an introduction: it repeats what it was challenged with.
    pub const PROOF: Flags = Flags(1 << 5);
    /// From the server. What carries it is never answered by a server.
    pub const ANSWER: Flags = Flags(1 << 7);

    /// Both sets together.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// True if every property of `other` is in this set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// An end of a task, by what its messages carry. Those of the two ends can be told apart, so that
/// no message of a server is taken for one that is to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Who opened the session.
    Client,
    /// Who does as the client asks.
    Server,
}

impl End {
    /// What a message of this end with these properties carries.
    #[inline]
    pub const fn says(self, flags: Flags) -> Flags {
        match self {
            End::Client => flags,
            End::Server => flags.with(Flags::ANSWER),
        }
    }

    /// The properties of a message that came to this end; `None` if it was not sent by the other.
    #[inline]
    pub const fn hears(self, flags: Flags) -> Option<Flags> {
        match (self, flags.contains(Flags::ANSWER)) {
            (End::Server, false) => Some(flags),
            (End::Client, true) => Some(Flags(flags.0 & !Flags::ANSWER.0)),
            (End::Server, true) | (End::Client, false) => None,
        }
    }

    /// The header of a message of the task of `tag` that came to this end, with the properties that
    /// the other end gave it.
    #[inline]
    pub fn heard(self, bytes: &[u8], tag: [u8; 8]) -> Option<Header> {
        let header = Header::decode(bytes).filter(|header| header.tag == tag)?;
        self.hears(header.flags).map(|flags| Header { flags, ..header })
    }
}

impl Header {
    /// Writes the header to the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`HEADER_BYTES`]; message sizes are checked long before.
    pub fn encode(&self, buffer: &mut [u8]) {
        let buffer = &mut buffer[..HEADER_BYTES];
        buffer[..8].copy_from_slice(&self.tag);
        buffer[8..12].copy_from_slice(&self.sequence.to_be_bytes());
        buffer[12..14].copy_from_slice(&self.turn.to_be_bytes());
        buffer[14..16].copy_from_slice(&self.next.to_be_bytes());
        buffer[16] = arm_number(self.arm);
        buffer[17] = self.flags.0;
        buffer[18..20].fill(0);
    }

    /// What stands in place of number, turn and next in a message that challenges a source, or that
    /// repeats the challenge.
    pub const fn challenge(&self) -> u64 {
        (self.sequence as u64) << 32 | (self.turn as u64) << 16 | self.next as u64
    }

    /// The header with `challenge` in place of its numbers.
    pub const fn with_challenge(self, challenge: u64) -> Header {
        // Each takes its own bits.
        let (sequence, turn, next) =
            ((challenge >> 32) as u32, (challenge >> 16) as u16, challenge as u16);
        Header { sequence, turn, next, ..self }
    }

    /// A message of nothing but the header.
    pub fn alone(&self) -> [u8; HEADER_BYTES] {
        let mut message = [0; HEADER_BYTES];
        self.encode(&mut message);
        message
    }

    /// Writes the number alone into a message that has a header already.
    ///
    /// # Panics
    /// As [`encode`](Self::encode).
    #[inline]
    pub fn encode_sequence(sequence: u32, buffer: &mut [u8]) {
        buffer[8..12].copy_from_slice(&sequence.to_be_bytes());
    }

    /// Makes an encoded message of the client that of the server which answers it.
    ///
    /// # Panics
    /// As [`encode`](Self::encode).
    #[inline]
    pub fn make_answer(buffer: &mut [u8]) {
        buffer[17] |= Flags::ANSWER.0;
    }

    /// Reads the header at the start of `bytes`; `None` if they are too few or name no arm. Whether
    /// the message belongs to a task is told by its tag alone, which the caller compares.
    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let [t0, t1, t2, t3, t4, t5, t6, t7, s0, s1, s2, s3, u0, u1, n0, n1, arm, flags, _, _] =
            *bytes;
        Some(Header {
            tag: [t0, t1, t2, t3, t4, t5, t6, t7],
            sequence: u32::from_be_bytes([s0, s1, s2, s3]),
            turn: u16::from_be_bytes([u0, u1]),
            next: u16::from_be_bytes([n0, n1]),
            arm: arm_of(arm)?,
            flags: Flags(flags),
        })
    }
}
