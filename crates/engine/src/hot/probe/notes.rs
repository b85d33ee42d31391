//! What both ends of a trial of probes note, in memory taken beforehand.

use super::DEPARTING;
use std::net::SocketAddr;
use v6gap_core::wire::probe::{Marks, Times};

/// A packet that was sent. Times are those of the monotonic clock unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// When it was due, in ns.
    pub due_ns: u64,
    /// When it was handed to the kernel, in ns.
    pub sent_ns: u64,
    /// When the kernel handed it to the interface, by the wall clock; 0 if it did not tell.
    pub departed_wall_ns: u64,
    /// Turn of the packet.
    pub turn: u16,
}

/// A packet that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Back {
    /// Number of the packet.
    pub sequence: u32,
    /// Turn of the packet.
    pub turn: u16,
    /// When it came, in ns.
    pub came_ns: u64,
    /// When it came by the clock whose times the packets carry, in ns.
    pub stamp_ns: u64,
    /// When it came back by the wall clock, in ns, if the kernel told its time; else 0.
    pub wall_ns: u64,
    /// When the kernel had it, by the wall clock; 0 if it did not tell.
    pub kernel_wall_ns: u64,
    /// What the server wrote into it.
    pub times: Times,
    /// How it was marked when it came.
    pub marks: Marks,
}

/// What the client notes of one arm, in memory taken beforehand.
#[derive(Debug, Clone, Default)]
pub struct ClientNotes {
    /// Packets sent; their numbers are their places.
    pub sent: Vec<Sent>,
    /// What came back, in the order in which it came.
    pub back: Vec<Back>,
    /// Packets left out because the sender was held up.
    pub skipped: u64,
    /// Arrivals for which there was no room.
    pub beyond: u64,
    pub(super) answered: Numbers,
}

impl ClientNotes {
    /// Room for `packets` packets and half as many copies.
    pub fn with_room(packets: u64) -> Self {
        let packets = packets as usize;
        ClientNotes {
            sent: Vec::with_capacity(packets),
            back: Vec::with_capacity(packets + packets / 2 + DEPARTING),
            answered: Numbers::with_room(packets),
            ..ClientNotes::default()
        }
    }
}

/// A packet that reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct There {
    /// Number of the packet.
    pub sequence: u32,
    /// Turn of the packet.
    pub turn: u16,
    /// When the client sent it, by the client's clock, in ns.
    pub sent_ns: u64,
    /// When it came, by the clock whose times the packets carry, in ns.
    pub stamp_ns: u64,
    /// When it came by the wall clock, in ns, if the kernel told its time; else 0.
    pub wall_ns: u64,
    /// When the kernel had it, by the wall clock; 0 if it did not tell.
    pub kernel_wall_ns: u64,
    /// When the kernel handed the answer to the interface, by the wall clock; 0 if it did not tell.
    pub departed_wall_ns: u64,
    /// How it was marked when it came.
    pub marks: Marks,
}

/// What the server notes of one arm, in memory taken beforehand.
#[derive(Debug, Clone, Default)]
pub struct ServerNotes {
    /// What came, in the order in which it came.
    pub there: Vec<There>,
    /// Packets sent back: the first copy of each.
    pub returned: u32,
    /// Packets that the system did not take back.
    pub refused: u64,
    /// Arrivals for which there was no room.
    pub beyond: u64,
    /// The first source that sent a packet of the arm.
    pub peer: Option<SocketAddr>,
    pub(super) seen: Numbers,
}

impl ServerNotes {
    /// Room for `packets` packets and half as many copies.
    pub fn with_room(packets: u64) -> Self {
        let packets = packets as usize;
        ServerNotes {
            there: Vec::with_capacity(packets + packets / 2 + DEPARTING),
            seen: Numbers::with_room(packets),
            ..ServerNotes::default()
        }
    }
}

/// A set of numbers from 0 to a bound.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    bits: Vec<u64>,
    bound: u32,
    pub(super) count: u32,
}

impl Numbers {
    fn with_room(bound: usize) -> Self {
        // The bound of packets of an arm is far below 2^32.
        Numbers { bits: vec![0; bound.div_ceil(64)], bound: bound as u32, count: 0 }
    }

    /// Whether the number was not there before; `None` if it is out of bounds.
    #[inline]
    pub(super) fn add(&mut self, number: u32) -> Option<bool> {
        if number >= self.bound {
            return None;
        }
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += u32::from(new);
        Some(new)
    }
}

/// Adds to a list without ever asking for memory; `false` if it is full.
#[inline]
pub(super) fn push<T>(list: &mut Vec<T>, item: T) -> bool {
    let room = list.len() < list.capacity();
    if room {
        list.push(item);
    }
    room
}
