//! Whose turn it is: one session measures at a time, the others wait in the order in which they
//! came.
//!
//! A place is worth something, so nobody has many: from one network only a few sessions are served
//! or wait. And nobody keeps one by silence alone. The caller asks who waits whether he is still
//! there; a session that owes an answer loses its place to one that comes from its own network, and
//! one that was welcomed at once and has said nothing since loses its turn to whoever wants it.

use super::origin::Origin;
use crate::wire::control::Queued;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use core::net::IpAddr;

/// How long a session that was welcomed may say nothing while others want the turn, in ns.
pub const WELCOMED_NS: u64 = 800_000_000;

/// How long a session may owe an answer before its place goes to another of its network, in ns.
pub const OWED_NS: u64 = 1_000_000_000;

/// A session in the queue, named by whatever the caller tells sessions apart with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting<Id> {
    id: Id,
    origin: Origin,
    by: String,
    /// Since when it is served, if it is.
    since_ns: u64,
    /// Since when it owes an answer.
    owes_ns: Option<u64>,
    /// Whether it said anything after its greeting.
    spoke: bool,
    /// Whether it has the turn and has to wait for the host all the same.
    is_held_up: bool,
}

/// The session that is served, at the front, and those that wait.
#[derive(Debug, Clone)]
pub struct Queue<Id> {
    sessions: VecDeque<Waiting<Id>>,
    waiting_max: usize,
    per_source: usize,
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
    /// Nothing can be said before that time, in ns; ask again then.
    Soon(u64),
}

/// Whether there is a place for one more session of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room<Id> {
    /// There is.
    Free,
    /// There is once this session has gone, which owes an answer.
    Instead(Id),
    /// The client's network has as many sessions as it may have.
    Crowded,
}

impl<Id: Copy + PartialEq> Queue<Id> {
    /// An empty queue in which at most so many may wait, and in which a near network has at most
    /// `per_source` places, a wide one twice as many.
    pub fn new(waiting_max: u32, per_source: u32) -> Self {
        let (waiting_max, per_source) = (waiting_max as usize, per_source as usize);
        Queue { sessions: VecDeque::new(), waiting_max, per_source }
    }

    /// Whether a session from `address` may ask. To be called before it does for the first time.
    pub fn room(&self, address: IpAddr, now_ns: u64) -> Room<Id> {
        let origin = Origin::of(address);
        let near = self.room_among(self.per_source, now_ns, |other| other.near == origin.near);
        let most = self.per_source.saturating_mul(2);
        let wide = self.room_among(most, now_ns, |other| other.wide == origin.wide);
        match (near, wide) {
            (Room::Crowded, _) | (_, Room::Crowded) => Room::Crowded,
            // One that is near makes room in both networks.
            (Room::Instead(id), _) | (Room::Free, Room::Instead(id)) => Room::Instead(id),
            (Room::Free, Room::Free) => Room::Free,
        }
    }

    /// Whether there is a place for one more of those that are alike.
    fn room_among(&self, most: usize, now_ns: u64, alike: impl Fn(&Origin) -> bool) -> Room<Id> {
        let among = || self.sessions.iter().filter(|session| alike(&session.origin));
        if among().count() < most {
            return Room::Free;
        }
        let overdue = among().filter(|session| session.owes(now_ns) >= OWED_NS);
        let longest = overdue.max_by_key(|session| session.owes(now_ns));
        longest.map_or(Room::Crowded, |session| Room::Instead(session.id))
    }

    /// Asks for the turn of session `id`, from `address`, measuring for the host `by`; may be
    /// repeated at any time. Who waits already keeps its place.
    pub fn ask(&mut self, id: Id, address: IpAddr, by: &str, wait: bool, now_ns: u64) -> Turn {
        let place = match self.sessions.iter().position(|session| session.id == id) {
            Some(place) => place,
            None => {
                let place = self.sessions.len();
                let (origin, by) = (Origin::of(address), by.to_string());
                let since_ns = now_ns;
                if place > self.waiting_max {
                    return Turn::Never(self.place(place, now_ns));
                }
                let (owes_ns, spoke, is_held_up) = (None, false, false);
                let session = Waiting { id, origin, by, since_ns, owes_ns, spoke, is_held_up };
                self.sessions.push_back(session);
                place
            }
        };
        if place == 0 {
            return Turn::Now;
        }
        match self.deadline() {
            Some(at) => Turn::Soon(at),
            None if wait => Turn::Later(self.place(place, now_ns)),
            None => {
                self.sessions.remove(place);
                Turn::Never(self.place(place, now_ns))
            }
        }
    }

    /// A session said something.
    pub fn heard(&mut self, id: Id) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) {
            session.owes_ns = None;
            session.spoke = true;
        }
    }

    /// A session was asked whether it is still there.
    pub fn asked(&mut self, id: Id, now_ns: u64) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) {
            session.owes_ns.get_or_insert(now_ns);
        }
    }

    /// A session has the turn, but something else is measured on the host, for which it waits.
    pub fn held_up(&mut self, id: Id) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) {
            session.is_held_up = true;
        }
    }

    /// A session that has the turn is served.
    pub fn entered(&mut self, id: Id, now_ns: u64) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id == id)
            && core::mem::take(&mut session.is_held_up)
        {
            session.since_ns = now_ns;
        }
    }

    /// The session that has to give way to those that wait, if it is time.
    pub fn overdue(&self, now_ns: u64) -> Option<Id> {
        self.deadline().filter(|deadline| now_ns >= *deadline).and_then(|_| self.served())
    }

    /// When [`Queue::overdue`] may have to be asked.
    pub fn deadline(&self) -> Option<u64> {
        let is_awaited = |first: &&Waiting<Id>| !first.spoke && !first.is_held_up;
        let first = self.sessions.front().filter(|_| self.sessions.len() > 1).filter(is_awaited);
        first.map(|first| first.since_ns.saturating_add(WELCOMED_NS))
    }

    /// Session `id` is over, whether it was served or waited.
    pub fn leave(&mut self, id: Id, now_ns: u64) {
        let served = self.served();
        self.sessions.retain(|session| session.id != id);
        if self.served() != served
            && let Some(next) = self.sessions.front_mut()
        {
            // It waited and was heard of meanwhile, so it need not hurry now.
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

impl<Id> Waiting<Id> {
    /// How long it has owed an answer, in ns.
    fn owes(&self, now_ns: u64) -> u64 {
        self.owes_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns))
    }
}
