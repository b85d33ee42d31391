//! One direction of the path: delay for all, order kept for the control stream, loss, duplication
//! and reordering for datagrams, and the two ways in which a control connection is lost.

use crate::ring::{Node, Output, Parcel};
use crate::{MS, SECOND};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// What a link does to what passes.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Delay of everything.
    pub delay: u64,
    /// Further delay, drawn for each parcel; datagrams overtake each other by it.
    pub jitter: u64,
    /// Per cent of datagrams lost.
    pub loss: u64,
    /// Per cent of datagrams doubled.
    pub doubled: u64,
    /// From then on both ends are told that the connection is gone.
    pub cut_at: Option<u64>,
    /// From then on nothing arrives any more, and nobody is told.
    pub silent_from: Option<u64>,
}

impl Trouble {
    /// Delay only.
    pub fn delay(delay: u64) -> Self {
        Trouble { delay, jitter: 0, loss: 0, doubled: 0, cut_at: None, silent_from: None }
    }

    /// Anything.
    pub fn any(rng: &mut ChaCha12Rng) -> Self {
        let mut trouble = Trouble::delay(rng.next_u64() % (2 * SECOND));
        trouble.disturb_datagrams(rng);
        let at = rng.next_u64() % (30 * SECOND);
        match rng.next_u64() % 4 {
            0 => trouble.cut_at = Some(at),
            1 => trouble.silent_from = Some(at),
            _ => {}
        }
        trouble
    }

    /// Loss of up to everything, jitter and duplication.
    pub fn disturb_datagrams(&mut self, rng: &mut ChaCha12Rng) {
        self.jitter = rng.next_u64() % (500 * MS);
        self.loss = rng.next_u64() % 101;
        self.doubled = rng.next_u64() % 50;
    }
}

/// A link in motion.
pub struct Link {
    trouble: Trouble,
    rng: ChaCha12Rng,
    /// What is under way, by arrival and order of entry.
    under_way: BTreeMap<(u64, u64), Parcel>,
    entered: u64,
    /// When the last piece of the stream arrives; the next one may not overtake it.
    stream_at: u64,
    cut_told: bool,
}

impl Link {
    /// An empty link.
    pub fn new(trouble: Trouble, seed: u64) -> Self {
        Link {
            trouble,
            rng: ChaCha12Rng::seed_from_u64(seed),
            under_way: BTreeMap::new(),
            entered: 0,
            stream_at: 0,
            cut_told: false,
        }
    }

    fn enter(&mut self, parcel: Parcel, now: u64) {
        let silent = self.trouble.silent_from.is_some_and(|at| now >= at);
        match parcel {
            _ if silent => {}
            Parcel::Stream(_) | Parcel::End => {
                self.stream_at = self.stream_at.max(self.arrival(now));
                self.push(self.stream_at, parcel);
            }
            Parcel::Datagram(_) => {
                if self.percent() < self.trouble.loss {
                    return;
                }
                let copies = if self.percent() < self.trouble.doubled { 2 } else { 1 };
                for _ in 0..copies {
                    let arrival = self.arrival(now);
                    self.push(arrival, parcel.clone());
                }
            }
        }
    }

    fn push(&mut self, arrival: u64, parcel: Parcel) {
        self.under_way.insert((arrival, self.entered), parcel);
        self.entered += 1;
    }

    fn arrival(&mut self, now: u64) -> u64 {
        now + self.trouble.delay + self.rng.next_u64() % (self.trouble.jitter + 1)
    }

    fn percent(&mut self) -> u64 {
        self.rng.next_u64() % 100
    }
}

impl Node for Link {
    fn process(&mut self, input: Option<Parcel>, now: u64) -> Output {
        if let Some(parcel) = input {
            self.enter(parcel, now);
        }
        if let Some(cut_at) = self.trouble.cut_at.filter(|_| !self.cut_told) {
            if now >= cut_at {
                self.cut_told = true;
                self.under_way.retain(|_, parcel| matches!(parcel, Parcel::Datagram(_)));
                return Output::Parcel(Parcel::End);
            }
            let next = self.under_way.first_key_value().map_or(u64::MAX, |((at, _), _)| *at);
            if next > now {
                return Output::CallAt(cut_at.min(next));
            }
        }
        match self.under_way.first_entry() {
            Some(first) if first.key().0 <= now => Output::Parcel(first.remove()),
            Some(first) => Output::CallAt(first.key().0),
            None => Output::Nothing,
        }
    }
}
