//! Whose turn it is: one session measures at a time, the others wait in the order in which they
//! came.

use crate::wire::control::Queued;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};

/// A session in the queue, named by whatever the caller tells sessions apart with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting<Id> {
    id: Id,
    by: String,
    since_ns: u64,
}

/// The session that is served, at the front, and those that wait.
#[derive(Debug, Clone)]
pub struct Queue<Id> {
    sessions: VecDeque<Waiting<Id>>,
    waiting_max: usize,
}

/// The queue's answer to who asks to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// It is served from now on.
    Now,
    /// It waits.
    Later(Queued),
    /// It may or would not wait.
    Never(Queued),
}

impl<Id: Copy + PartialEq> Queue<Id> {
    /// An empty queue in which at most so many may wait.
    pub fn new(waiting_max: u32) -> Self {
        Queue { sessions: VecDeque::new(), waiting_max: waiting_max as usize }
    }

    /// Asks for the turn of session `id`, measuring for the host `by`; may be repeated at any time.
    /// Who waits already keeps its place.
    pub fn ask(&mut self, id: Id, by: &str, wait: bool, now_ns: u64) -> Turn {
        let place = match self.sessions.iter().position(|session| session.id == id) {
            Some(place) => place,
            None => {
                let place = self.sessions.len();
                if place > 0 && (!wait || place > self.waiting_max) {
                    return Turn::Never(self.place(place, now_ns));
                }
                self.sessions.push_back(Waiting { id, by: by.to_string(), since_ns: now_ns });
                place
            }
        };
        if place == 0 { Turn::Now } else { Turn::Later(self.place(place, now_ns)) }
    }

    /// Session `id` is over, whether it was served or waited.
    pub fn leave(&mut self, id: Id, now_ns: u64) {
        let served = self.served();
        self.sessions.retain(|session| session.id != id);
        if self.served() != served
            && let Some(next) = self.sessions.front_mut()
        {
            next.since_ns = now_ns;
        }
    }

    /// The session that is served.
    pub fn served(&self) -> Option<Id> {
        self.sessions.front().map(|session| session.id)
    }

    fn place(&self, place: usize, now_ns: u64) -> Queued {
        let (by, since_ns) = match self.sessions.front() {
            Some(first) => (first.by.clone(), first.since_ns),
            None => (String::new(), now_ns),
        };
        let seconds = now_ns.saturating_sub(since_ns) / super::SECOND_NS;
        Queued { place: u32::try_from(place).unwrap_or(u32::MAX), seconds, by }
    }
}
