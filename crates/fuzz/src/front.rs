//! Many connections at the door: who is let go, and whose turn it is.
//!
//! A flood comes from one /24 and one /48, and does what it likes: it comes, says much or little,
//! goes on or not, waits for a turn or leaves. Beside it are honest ones from elsewhere that go on
//! in a few steps. Whatever the flood does, what is kept is bounded, no honest one is sent away for
//! it, and the queue serves in the order in which was asked.

use arbitrary::{Result, Unstructured};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use v6gap_core::session::lobby::{Lobby, WEIGHT_MAX};
use v6gap_core::session::origin::Origin;
use v6gap_core::session::queue::{OWED_NS, Queue, Room, Turn};

/// Most events of a sequence; one of them may bring many connections.
const EVENTS_MAX: usize = 128;

/// Connections of the flood in a sequence: the lobby is full several times over.
const FLOOD_MAX: u32 = 4 * WEIGHT_MAX as u32;

/// Bytes that an honest client has kept for it at most: its greeting.
const GREETING_BYTES: usize = 16 << 10;

/// Honest clients at a time; their greetings weigh less than the flood must to crowd.
const HONEST_MAX: usize = 4;

/// Places for those who wait.
const WAITING_MAX: u32 = 5;

/// Places of a near network.
const PER_SOURCE: u32 = 2;

/// Plays the events.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut door = Door { lobby: Lobby::default(), guests: BTreeMap::new(), next: 0 };
    let queue = Queue::new(WAITING_MAX, PER_SOURCE);
    let mut line = Line { queue, model: Vec::new(), now: 0 };
    for _ in 0..EVENTS_MAX {
        let Ok(at_the_door) = bytes.arbitrary::<bool>() else { break };
        let outcome = if at_the_door { door.event(&mut bytes) } else { line.event(&mut bytes) };
        if bytes.is_empty() || outcome.is_err() {
            break;
        }
    }
}

/// The lobby, and what is known of those in it.
struct Door {
    lobby: Lobby<u32>,
    guests: BTreeMap<u32, (IpAddr, bool)>,
    next: u32,
}

impl Door {
    fn event(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let kind: u8 = bytes.arbitrary()?;
        let which: u8 = bytes.arbitrary()?;
        let id = self.guests.keys().nth(usize::from(which) % self.guests.len().max(1)).copied();
        match (kind % 6, id) {
            (0, _) if self.next < FLOOD_MAX => {
                for more in 0..=which {
                    self.enter(flood(kind, which.wrapping_add(more)), false);
                }
            }
            (1, _) if self.honest() < HONEST_MAX => self.enter(honest(which), true),
            (2, Some(id)) => self.lobby.advance(id),
            (3, Some(id)) => {
                let honest = self.guests.get(&id).is_some_and(|guest| guest.1);
                let most = if honest { GREETING_BYTES } else { usize::MAX };
                let kept = usize::from(bytes.arbitrary::<u16>()?) << (which % 8);
                self.lobby.keeps(id, kept.min(most));
            }
            (4, Some(id)) => {
                self.lobby.leave(id);
                self.guests.remove(&id);
            }
            _ => {}
        }
        self.let_go();
        Ok(())
    }

    fn honest(&self) -> usize {
        self.guests.values().filter(|(_, honest)| *honest).count()
    }

    fn enter(&mut self, address: IpAddr, honest: bool) {
        self.lobby.enter(self.next, address);
        self.guests.insert(self.next, (address, honest));
        self.next += 1;
        self.let_go();
    }

    fn let_go(&mut self) {
        while let Some(id) = self.lobby.crowded_out() {
            let guest = self.guests.remove(&id);
            let (address, honest) = guest.expect("who is let go was there, and once");
            assert!(!honest, "{address} had to go for a flood from elsewhere");
        }
        assert!(self.guests.len() <= WEIGHT_MAX, "{} in the lobby", self.guests.len());
    }
}

/// An address of the flood: of one /24 or one /48, as many of it as there are.
fn flood(kind: u8, host: u8) -> IpAddr {
    match kind & 0x80 {
        0 => IpAddr::V4(Ipv4Addr::new(203, 0, 113, host)),
        _ => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, host.into(), 0, 0, 0, kind.into())),
    }
}

/// Each from a network of its own.
fn honest(which: u8) -> IpAddr {
    match which & 0x80 {
        0 => IpAddr::V4(Ipv4Addr::new(198, 51, which, 7)),
        _ => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0x100 | u16::from(which), 0, 0, 0, 0, 7)),
    }
}

/// A session in the queue, as the front knows it.
struct Session {
    id: u8,
    origin: Origin,
    spoke: bool,
    owes_ns: Option<u64>,
}

/// The queue, and who is in it by what was asked.
struct Line {
    queue: Queue<u8>,
    model: Vec<Session>,
    now: u64,
}

impl Line {
    fn event(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let kind: u8 = bytes.arbitrary()?;
        let id: u8 = bytes.arbitrary()?;
        match kind % 8 {
            0 => self.now += u64::from(id) << 23,
            1 => self.leave(id % 32),
            2 | 3 => {
                self.queue.heard(id % 32);
                self.of(id % 32, |session| (session.spoke, session.owes_ns) = (true, None));
            }
            4 => {
                let now = self.now;
                self.queue.asked(id % 32, now);
                self.of(id % 32, |session| session.owes_ns = session.owes_ns.or(Some(now)));
            }
            _ => self.ask(id % 32, address(id), kind & 0x80 == 0),
        }
        while let Some(id) = self.queue.overdue(self.now) {
            let first = self.model.first().expect("who is overdue is there");
            assert_eq!(first.id, id);
            assert!(!first.spoke && self.model.len() > 1, "{id} does its part");
            self.leave(id);
        }
        assert_eq!(self.queue.served(), self.model.first().map(|session| session.id));
        Ok(())
    }

    fn of(&mut self, id: u8, change: impl FnOnce(&mut Session)) {
        if let Some(session) = self.model.iter_mut().find(|session| session.id == id) {
            change(session);
        }
    }

    fn leave(&mut self, id: u8) {
        self.queue.leave(id, self.now);
        self.model.retain(|session| session.id != id);
    }

    /// As the front does it: who comes for the first time needs room among those of its network.
    fn ask(&mut self, id: u8, address: IpAddr, wait: bool) {
        let origin = Origin::of(address);
        let place = self.model.iter().position(|session| session.id == id);
        if place.is_none() && !self.make_room(address) {
            return;
        }
        let before = self.model.len();
        let turn = self.queue.ask(id, address, "lab-b", wait, self.now);
        let place = place.unwrap_or(before);
        match turn {
            Turn::Now => assert_eq!(place, 0, "{id} is served out of turn"),
            Turn::Later(queued) => {
                assert!(wait && place > 0);
                assert_eq!(usize::try_from(queued.place), Ok(place));
            }
            // The one before it owes an answer by then, or has to go now.
            Turn::Soon(at_ns) => {
                assert!(place > 0, "who is served need not ask again");
                let goes = self.queue.overdue(self.now).is_some();
                assert!(at_ns > self.now || goes, "asks again at once, for nothing");
            }
            Turn::Never(_) => {
                let full = place == before && before > WAITING_MAX as usize;
                assert!(!wait || full, "{id} is sent away from a free place");
                self.model.retain(|session| session.id != id);
                return;
            }
        }
        if place == before {
            self.model.push(Session { id, origin, spoke: false, owes_ns: None });
        }
        assert!(self.model.len() <= 1 + WAITING_MAX as usize, "more than may wait");
        assert!(self.alike(|other| other.near == origin.near) <= PER_SOURCE as usize);
        assert!(self.alike(|other| other.wide == origin.wide) <= 2 * PER_SOURCE as usize);
    }

    fn alike(&self, alike: impl Fn(&Origin) -> bool) -> usize {
        self.model.iter().filter(|session| alike(&session.origin)).count()
    }

    fn make_room(&mut self, address: IpAddr) -> bool {
        let origin = Origin::of(address);
        match self.queue.room(address, self.now) {
            Room::Free => true,
            Room::Crowded => {
                let near = self.alike(|other| other.near == origin.near);
                let wide = self.alike(|other| other.wide == origin.wide);
                assert!(near >= PER_SOURCE as usize || wide >= 2 * PER_SOURCE as usize);
                false
            }
            Room::Instead(id) => {
                let goes = self.model.iter().find(|session| session.id == id);
                let goes = goes.expect("who has to go is there");
                assert_eq!(goes.origin.wide, origin.wide, "{id} goes for another network");
                let owed_ns = goes.owes_ns.map_or(0, |since| self.now.saturating_sub(since));
                assert!(owed_ns >= OWED_NS, "{id} owes nothing");
                self.leave(id);
                assert_eq!(self.queue.room(address, self.now), Room::Free);
                true
            }
        }
    }
}

/// Few networks, so that they get crowded: two /24 of four addresses, two /48 of four /64; the near
/// ones have more places together than the wide one.
fn address(id: u8) -> IpAddr {
    let [near, wide] = [id & 3, id >> 2 & 1].map(u16::from);
    match id >> 3 & 1 {
        0 => IpAddr::V4(Ipv4Addr::new(198, 51, wide as u8, near as u8)),
        _ => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, wide, near, 0, 0, 0, id.into())),
    }
}
