//! What processes have in common: they die or sleep between any two of their actions, and their
//! hosts' clocks go on.

use crate::clock::Clock;
use crate::world::MS;

/// One of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    Coordinator(usize),
    Agent(usize),
    Sink,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Up {
    Awake,
    Asleep,
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    Crash,
    Sleep,
}

pub struct Process<M, E, A> {
    pub machine: M,
    pub clock: Clock,
    pub up: Up,
    /// Grows with each time that it begins.
    pub life: u32,
    /// What came while it slept.
    pub inbox: Vec<E>,
    /// What it was about to do when it fell asleep.
    pub left: Vec<A>,
    /// After how many more actions something happens to it.
    fuse: Option<(u64, Trouble)>,
    /// When it is woken next, by true time.
    wake_ns: u64,
}

impl<M, E, A> Process<M, E, A> {
    pub fn new(machine: M, clock: Clock) -> Self {
        let (inbox, left) = (Vec::new(), Vec::new());
        let (up, life, fuse, wake_ns) = (Up::Awake, 0, None, u64::MAX);
        Process { machine, clock, up, life, inbox, left, fuse, wake_ns }
    }

    /// Something happens to it after so many more actions.
    pub fn light(&mut self, actions: u64, trouble: Trouble) {
        if self.up == Up::Awake {
            self.fuse = Some((actions, trouble));
        }
    }

    /// What happens to it before its next action.
    pub fn burn(&mut self) -> Option<Trouble> {
        match self.fuse? {
            (0, trouble) => {
                self.fuse = None;
                Some(trouble)
            }
            (left, trouble) => {
                self.fuse = Some((left - 1, trouble));
                None
            }
        }
    }

    pub fn sleep(&mut self, left: Vec<A>) {
        self.up = Up::Asleep;
        self.left = left;
    }

    pub fn die(&mut self) {
        self.up = Up::Down;
        self.life += 1;
        self.inbox.clear();
        self.left.clear();
        self.fuse = None;
    }

    /// It begins anew, or wakes up: what it was about to do, and what came meanwhile.
    pub fn rise(&mut self) -> (Vec<A>, Vec<E>) {
        self.up = Up::Awake;
        self.fuse = None;
        (std::mem::take(&mut self.left), std::mem::take(&mut self.inbox))
    }

    pub fn calm(&mut self) {
        self.fuse = None;
    }

    /// It wants to be woken at `at_ns`; in how long, if that is earlier than it is anyway.
    pub fn wake_at(&mut self, at_ns: u64, now_ns: u64) -> Option<u64> {
        let at_ns = at_ns.max(now_ns + MS);
        if self.up != Up::Awake || at_ns >= self.wake_ns || at_ns == u64::MAX {
            return None;
        }
        self.wake_ns = at_ns;
        Some(at_ns - now_ns)
    }

    /// Whether it is to be woken now.
    pub fn wakes(&mut self, now_ns: u64) -> bool {
        let now = self.wake_ns == now_ns;
        if now {
            self.wake_ns = u64::MAX;
        }
        now && self.up == Up::Awake
    }
}
