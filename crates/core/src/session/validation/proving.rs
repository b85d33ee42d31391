//! The client's side: all sockets of a task prove themselves side by side, each message repeated
//! until it is answered.

use super::PROOF;
use crate::arm::Arm;
use crate::wire::datagram::{End, Flags, HEADER_BYTES, Header};
use alloc::vec::Vec;

/// Time until a message is sent again that was not answered, in ns; it doubles each time.
const PATIENCE_NS: u64 = 100_000_000;

/// Longest time for all of it, in ns. Where datagrams are thrown away on the way, it is over.
pub const PATIENCE_NS_MAX: u64 = 2_500_000_000;

/// A socket that got no answer in time: its number among those of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silent(pub usize);

/// The sockets of a task that prove themselves.
#[derive(Debug)]
pub struct Proving {
    tag: [u8; 8],
    give_up_ns: u64,
    sockets: Vec<Socket>,
}

#[derive(Debug)]
struct Socket {
    arm: Arm,
    step: Step,
    due_ns: u64,
    wait_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Introducing,
    /// Challenged with this.
    Challenged(u64),
    Proved,
}

impl Proving {
    /// Sockets of these arms in the task of `tag`, from `now_ns` on, for at most `patience_ns` and
    /// never longer than [`PATIENCE_NS_MAX`].
    pub fn new(
        tag: [u8; 8],
        arms: impl IntoIterator<Item = Arm>,
        now_ns: u64,
        patience_ns: u64,
    ) -> Self {
        let socket =
            |arm| Socket { arm, step: Step::Introducing, due_ns: now_ns, wait_ns: PATIENCE_NS };
        let give_up_ns = now_ns.saturating_add(patience_ns.min(PATIENCE_NS_MAX));
        Proving { tag, give_up_ns, sockets: arms.into_iter().map(socket).collect() }
    }

    /// What is to be sent now, and over which socket; to be called until there is nothing.
    pub fn poll(&mut self, now_ns: u64) -> Option<(usize, [u8; HEADER_BYTES])> {
        let tag = self.tag;
        let is_due = |socket: &Socket| socket.step != Step::Proved && socket.due_ns <= now_ns;
        let number = self.sockets.iter().position(is_due)?;
        let socket = self.sockets.get_mut(number)?;
        socket.due_ns = now_ns.saturating_add(socket.wait_ns);
        socket.wait_ns = socket.wait_ns.saturating_mul(2);
        let (flags, challenge) = match socket.step {
            Step::Challenged(challenge) => (PROOF, challenge),
            Step::Introducing | Step::Proved => (Flags::INTRODUCTION, 0),
        };
        let flags = End::Client.says(flags);
        let header = Header { tag, sequence: 0, turn: 0, next: 0, arm: socket.arm, flags };
        Some((number, header.with_challenge(challenge).alone()))
    }

    /// Takes what came over socket `number`.
    pub fn on_message(&mut self, number: usize, bytes: &[u8], now_ns: u64) {
        let (Some(socket), Some(header)) =
            (self.sockets.get_mut(number), End::Client.heard(bytes, self.tag))
        else {
            return;
        };
        if header.arm != socket.arm {
            return;
        }
        match (socket.step, header.flags) {
            (Step::Introducing, Flags::INTRODUCTION) => {
                socket.step = Step::Challenged(header.challenge());
                (socket.due_ns, socket.wait_ns) = (now_ns, PATIENCE_NS);
            }
            (Step::Challenged(challenge), PROOF) if header.challenge() == challenge => {
                socket.step = Step::Proved;
            }
            // The server says more than that only to who has proved itself: its answer was lost.
            (Step::Challenged(_), flags) if !flags.contains(Flags::INTRODUCTION) => {
                socket.step = Step::Proved;
            }
            _ => {}
        }
    }

    /// Whether all sockets have proved themselves.
    ///
    /// # Errors
    /// The first one that has not, when the time for it is over.
    pub fn is_complete(&self, now_ns: u64) -> Result<bool, Silent> {
        match self.sockets.iter().position(|socket| socket.step != Step::Proved) {
            Some(number) if now_ns >= self.give_up_ns => Err(Silent(number)),
            first => Ok(first.is_none()),
        }
    }

    /// Whether socket `number` still waits for something.
    pub fn awaits(&self, number: usize) -> bool {
        self.sockets.get(number).is_some_and(|socket| socket.step != Step::Proved)
    }

    /// When there will be something to send, or it will be over, unless something comes before.
    pub fn deadline(&self) -> u64 {
        let open = self.sockets.iter().filter(|socket| socket.step != Step::Proved);
        open.map(|socket| socket.due_ns).fold(self.give_up_ns, u64::min)
    }
}
