//! What a peer that does not know the secrets of a connection can make of it: nothing but its end.
//!
//! Behind a true handshake one end seals messages; what arrives at the other is changed, cut,
//! repeated, left out or put in. Only what was sealed is read, in order, and never after damage.

use crate::templates::hello;
use arbitrary::{Result, Unstructured};
use v6gap_core::wire::control::{Message, TaskFailure};
use v6gap_engine::control::Key;
use v6gap_engine::control::memory::{End, ends};

/// Most things that are done to the bytes.
const DEEDS_MAX: usize = 24;

/// The bytes say what is done with those on the way.
pub fn run(data: &[u8]) {
    let (mut from, mut to) = ends(&Key::none()).expect("random numbers");
    let mut bytes = Unstructured::new(data);
    let mut way = Way::default();
    for _ in 0..DEEDS_MAX {
        if bytes.is_empty() || way.deed(&mut bytes, &mut from).is_err() || way.hand_over(&mut to) {
            break;
        }
    }
}

/// What is on the way.
#[derive(Default)]
struct Way {
    /// What was sealed, one after the other, and where each of the messages ends in it.
    truth: Vec<u8>,
    sent: Vec<(Message, usize)>,
    /// What waits to be handed over, and what was.
    waiting: Vec<u8>,
    arrived: Vec<u8>,
    read: usize,
}

impl Way {
    fn deed(&mut self, bytes: &mut Unstructured<'_>, from: &mut End) -> Result<()> {
        let kind: u8 = bytes.arbitrary()?;
        let place = usize::from(bytes.arbitrary::<u16>()?);
        let at = place % (self.waiting.len() + 1);
        match kind % 8 {
            0..=3 => self.send(message(kind / 8), from),
            4 => self.waiting.iter_mut().skip(at).take(1).for_each(|b| *b ^= 1 << (kind / 8 % 8)),
            5 => self.waiting.truncate(at),
            // Bytes that came before come again.
            6 => self.waiting.splice(at..at, self.truth.iter().copied()).for_each(drop),
            _ => {
                let length = usize::from(kind).min(bytes.len());
                self.waiting.splice(at..at, bytes.bytes(length)?.iter().copied()).for_each(drop);
            }
        }
        Ok(())
    }

    fn send(&mut self, message: Message, from: &mut End) {
        let record = from.seal(&message).expect("a short message can be sealed");
        self.waiting.extend_from_slice(&record);
        self.truth.extend_from_slice(&record);
        self.sent.push((message, self.truth.len()));
    }

    /// Hands over all but the last byte now and then, and looks at what is read; whether that was
    /// the end of the connection.
    fn hand_over(&mut self, to: &mut End) -> bool {
        let kept = usize::from(self.waiting.len() % 3 == 2);
        let now = self.waiting.len().saturating_sub(kept);
        let bytes: Vec<u8> = self.waiting.drain(..now).collect();
        let taken = to.take(&bytes);
        self.arrived.extend_from_slice(&bytes);
        let same = self.truth.iter().zip(&self.arrived).take_while(|(a, b)| a == b).count();
        let whole = self.sent.iter().filter(|(_, end)| *end <= same).count();
        if same == self.arrived.len() {
            taken.as_ref().expect("what was sealed is taken");
        }
        if taken.is_err() {
            return true;
        }
        while let Some(message) = to.next().expect("what was sealed is whole") {
            assert!(self.read < whole, "{message:?} was read, and not sealed");
            assert_eq!(self.sent[self.read].0, message, "out of order");
            self.read += 1;
        }
        assert_eq!(self.read, whole, "a message is missing");
        false
    }
}

/// Short ones: before it trusts, an end takes no others.
fn message(kind: u8) -> Message {
    match kind % 4 {
        0 => Message::Hello(hello()),
        1 => Message::Clock { asked_ns: u64::from(kind) },
        2 => Message::Failed { number: 1, failure: TaskFailure::passing("x".repeat(100)) },
        _ => Message::Bye,
    }
}
