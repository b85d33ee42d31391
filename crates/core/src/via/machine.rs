//! What is done next, and how everything that was begun ends: a machine that asks for one thing
//! after the other, and is told what came of each.
//!
//! Whatever goes wrong wherever, it goes on with what is left to do: what measures is stopped and
//! waited for, then what serves, then the result is fetched, and only then is it removed there.

use super::told::Complaint;
use super::{Host, Left, PerSide, Side, Trouble};
use crate::record::RunId;
use alloc::boxed::Box;
use core::mem::replace;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Do {
    /// Find out what the host is.
    Look(Side),
    /// Bring the program there.
    Copy(Side),
    /// See whether it runs there.
    Try(Side),
    /// Have the one end serve.
    Serve,
    /// Have the other one measure.
    Measure,
    /// Wait until one of them says something or ends.
    Hear,
    /// Ask what runs at an end to stop, by closing its input.
    Stop(Side),
    /// Store the run that was measured there.
    Fetch(RunId),
    /// Remove what was stored there.
    Tidy,
    /// Close the connections.
    Leave,
    /// Nothing more.
    End,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// The host is known, and so is whether it has the program.
    Seen(Side, bool),
    /// The program is there.
    Copied(Side),
    /// It runs there.
    Runs(Side),
    /// What was begun at an end goes on.
    Begun(Side),
    /// It can be measured to.
    Serves,
    /// The run has a name.
    Named(RunId),
    /// What ran at an end is over, in these words if it did not do its part.
    Over(Side, Option<Box<Complaint>>),
    /// The connection to what ran at an end is lost, and so it ends.
    Lost(Side, Trouble),
    /// The result is here.
    Fetched,
    /// Nothing of it is there any more.
    Tidied,
    /// The connections are closed.
    Closed,
    /// It cannot be done.
    Failed(Trouble),
    /// Somebody wants it to stop.
    Stop,
    /// It takes longer than it may, and is stopped for that.
    Late,
}

/// How it came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The run, if it is stored here.
    pub run: Option<RunId>,
    /// The run that is still there, and why.
    pub left: Option<Left>,
    /// What went wrong first.
    pub trouble: Option<Trouble>,
    /// Whether somebody stopped it.
    pub stopped: bool,
}

/// How far a host is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Prepared {
    Not,
    Seen,
    Copied,
    Runs,
}

/// How far what runs at an end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Process {
    NotYet,
    Goes,
    /// It was asked to stop.
    Stops,
    Over,
}

impl Process {
    fn is_there(self) -> bool {
        matches!(self, Process::Goes | Process::Stops)
    }
}

/// Measuring from one host to the other.
#[derive(Debug)]
pub struct Machine {
    hosts: PerSide<Option<Host>>,
    prepared: PerSide<Prepared>,
    process: PerSide<Process>,
    serves: bool,
    /// Since when it is waited for that it serves, in ns.
    awaited_since_ns: Option<u64>,
    run: Option<RunId>,
    is_here: bool,
    not_fetched: Option<Trouble>,
    is_tidy: bool,
    is_closed: bool,
    stopped: bool,
    trouble: Option<Trouble>,
}

impl Machine {
    /// Between these hosts, `None` being this one.
    pub fn new(hosts: PerSide<Option<Host>>) -> Machine {
        Machine {
            hosts,
            prepared: PerSide { from: Prepared::Not, to: Prepared::Not },
            process: PerSide { from: Process::NotYet, to: Process::NotYet },
            serves: false,
            awaited_since_ns: None,
            run: None,
            is_here: false,
            not_fetched: None,
            is_tidy: false,
            is_closed: false,
            stopped: false,
            trouble: None,
        }
    }

    /// What is to be done now.
    pub fn next(&self) -> Do {
        match self.ahead() {
            Some(ahead) => ahead,
            None => self.back(),
        }
    }

    /// What brings the measurement on, while there is such.
    fn ahead(&self) -> Option<Do> {
        if self.stopped || self.trouble.is_some() {
            return None;
        }
        for side in Side::BOTH.into_iter().filter(|side| self.hosts.get(*side).is_some()) {
            match self.prepared.get(side) {
                Prepared::Not => return Some(Do::Look(side)),
                Prepared::Seen => return Some(Do::Copy(side)),
                Prepared::Copied => return Some(Do::Try(side)),
                Prepared::Runs => {}
            }
        }
        match (self.process.to, self.process.from) {
            (Process::NotYet, _) => Some(Do::Serve),
            (_, Process::NotYet) if self.serves => Some(Do::Measure),
            (Process::Goes, Process::NotYet) | (_, Process::Goes) => Some(Do::Hear),
            _ => None,
        }
    }

    /// What brings everything to its end. Who serves is asked last: who measures then has all.
    fn back(&self) -> Do {
        for side in Side::BOTH {
            match self.process.get(side) {
                Process::Goes => return Do::Stop(side),
                Process::Stops => return Do::Hear,
                Process::NotYet | Process::Over => {}
            }
        }
        match &self.run {
            Some(run) if !self.is_here && self.not_fetched.is_none() => Do::Fetch(run.clone()),
            // What was not fetched stays there.
            _ if self.may_tidy() => Do::Tidy,
            _ if !self.is_closed => Do::Leave,
            _ => Do::End,
        }
    }

    fn may_tidy(&self) -> bool {
        let was_there = self.hosts.from.is_some() && self.process.from == Process::Over;
        was_there && !self.is_tidy && (self.run.is_none() || self.is_here)
    }

    /// Takes note of what came of it, or of what was heard.
    pub fn came(&mut self, came: Came) {
        match came {
            Came::Seen(side, has_program) => {
                let there = if has_program { Prepared::Copied } else { Prepared::Seen };
                *self.prepared.get_mut(side) = there;
            }
            Came::Copied(side) => *self.prepared.get_mut(side) = Prepared::Copied,
            Came::Runs(side) => *self.prepared.get_mut(side) = Prepared::Runs,
            Came::Begun(side) => *self.process.get_mut(side) = Process::Goes,
            Came::Serves => self.serves = true,
            Came::Named(run) => {
                // The near end of this host stores here. A second name would be another run's.
                if self.run.is_none() {
                    self.is_here = self.hosts.from.is_none();
                    self.run = Some(run);
                }
            }
            Came::Over(side, said) => self.over(side, said),
            Came::Lost(side, trouble) => {
                let was = replace(self.process.get_mut(side), Process::Over);
                // Who served and was asked to stop has done its part.
                if (side, was) != (Side::To, Process::Stops) {
                    self.fail(trouble);
                }
            }
            Came::Fetched => self.is_here = true,
            Came::Tidied => self.is_tidy = true,
            Came::Closed => self.is_closed = true,
            Came::Failed(trouble) => self.failed(trouble),
            Came::Stop => self.stopped = true,
            Came::Late => self.late(),
        }
    }

    fn over(&mut self, side: Side, said: Option<Box<Complaint>>) {
        let was = replace(self.process.get_mut(side), Process::Over);
        let host = self.hosts.get(side).clone();
        match (side, said) {
            // One that was asked to stop has done its part, and so has one that served.
            (Side::To, _) if was == Process::Stops || self.process.from != Process::NotYet => {}
            (_, Some(said)) => self.fail(Trouble::Complaint { side, host, said }),
            (Side::To, None) => {
                self.fail(Trouble::Complaint { side, host, said: Box::default() });
            }
            (Side::From, None) => {}
        }
    }

    /// What failed is what is done at present.
    fn failed(&mut self, trouble: Trouble) {
        match self.next() {
            Do::Serve => self.process.to = Process::Over,
            Do::Measure => self.process.from = Process::Over,
            Do::Fetch(_) => self.not_fetched = Some(trouble.clone()),
            // What stays there is in the cache, and the result is here.
            Do::Tidy => {
                self.is_tidy = true;
                return;
            }
            Do::Leave => {
                self.is_closed = true;
                return;
            }
            Do::Look(_) | Do::Copy(_) | Do::Try(_) | Do::Hear | Do::Stop(_) | Do::End => {}
        }
        self.fail(trouble);
    }

    /// Who was stopped by somebody is late for no reason of its own.
    fn late(&mut self) {
        if !self.stopped {
            let host = self.hosts.from.clone();
            self.fail(Trouble::Late { host });
        }
    }

    /// The first trouble is the cause of others.
    fn fail(&mut self, trouble: Trouble) {
        self.trouble.get_or_insert(trouble);
    }

    /// What runs at an end was asked to stop.
    pub fn asked_to_stop(&mut self, side: Side) {
        let process = self.process.get_mut(side);
        if process.is_there() {
            *process = Process::Stops;
        }
    }

    /// Whether what runs at an end is still there.
    pub fn is_there(&self, side: Side) -> bool {
        self.process.get(side).is_there()
    }

    /// Whether what shall serve has had more than `most_ns` to say that it does, since this was
    /// asked first while it was there; it waits for no turn before. `now_ns` is by a clock that
    /// never goes back.
    pub fn is_mute(&mut self, now_ns: u64, most_ns: u64) -> bool {
        if self.serves || self.process.to != Process::Goes {
            return false;
        }
        let since_ns = *self.awaited_since_ns.get_or_insert(now_ns);
        now_ns.saturating_sub(since_ns) > most_ns
    }

    /// How it came out, at its end.
    pub fn ended(self) -> Ended {
        let left = self.run.clone().zip(self.not_fetched).map(|(run, why)| Left { run, why });
        let nothing = self.run.is_none() && self.trouble.is_none() && self.stopped;
        Ended {
            run: self.run.filter(|_| self.is_here),
            left,
            trouble: self.trouble.or(nothing.then_some(Trouble::Stopped)),
            stopped: self.stopped,
        }
    }
}

#[cfg(test)]
mod tests;
