//! Which path is visited when: a machine that is told the time and says what is to be done.
//!
//! Every path has a phase of its own, a hash of who watches and what; a visit is due at whole
//! periods from there by the wall clock, so that hosts of a site do not begin together and no
//! phase drifts. One visit is made at a time. One that finds something else being measured waits a
//! minute, and is given up then.
//!
//! Whoever drives it asks [`Machine::next`] what is to be done, tells with [`Machine::measures`]
//! and [`Machine::ended`] what came of a visit, and after each of these calls stores what
//! [`Machine::unsaved`] gives before anything else: the machine keeps nothing that its log does
//! not hold.

use super::known::{Known, Past};
use super::log::{
    Began, Cause, Ended, Logged, Measures, Missed, Noted, Notified, Outcome, Watching,
};
use super::said::{Came, How};
use super::{DAY_NS, Kind, Moment, SECOND_NS, Watch, day_of};
use crate::record::RunId;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use siphasher::sip::SipHasher24;

/// How long a visit waits that finds something else being measured, in ns.
pub const TAKEN_NS: u64 = 60 * SECOND_NS;

/// Longest time for which a far end is left alone that refused, in ns.
pub const REST_NS_MAX: u64 = DAY_NS;

/// Visits that were not made and are looked at one by one, whether they were due.
const PASSED_MAX: u64 = 10_000;

/// What is watched is said so often, in ns: whoever reads the log begins some weeks ago, and a
/// watch goes on for longer.
const LISTED_NS: u64 = 7 * DAY_NS;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Make this visit now, and tell what came of it.
    Start(Visit),
    /// Wait for the visit that is going on.
    Visiting,
    /// Nothing before this time, in ns since the Unix epoch. The clock may be set meanwhile, so it
    /// should be asked again after a while.
    Wait(u64),
    /// Nothing any more.
    End,
}

/// A visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The path, by its number in the watch.
    pub path: usize,
    /// What it is for.
    pub kind: Kind,
    /// The run of the day, if there is one to continue.
    pub continued: Option<RunId>,
    /// When it began, in ns since the Unix epoch.
    began_unix_ns: u64,
    /// Whether it has waited already.
    again: bool,
}

/// Visits of one kind to a path.
#[derive(Debug)]
struct Track {
    path: usize,
    kind: Kind,
    period_ns: u64,
    /// When visits are due: so long after whole periods since the Unix epoch, in ns.
    phase_ns: u64,
    /// When the next one is due, in ns since the Unix epoch.
    due_ns: u64,
    /// What a visit is expected to take at most, in bytes.
    expected_bytes: u64,
}

impl Track {
    /// The last time at or before `unix_ns` at which a visit is due.
    fn before(&self, unix_ns: u64) -> u64 {
        let since = unix_ns.saturating_sub(self.phase_ns);
        since / self.period_ns * self.period_ns + self.phase_ns
    }

    /// The first such time after it.
    fn after(&self, unix_ns: u64) -> u64 {
        match unix_ns < self.phase_ns {
            true => self.phase_ns,
            false => self.before(unix_ns).saturating_add(self.period_ns),
        }
    }
}

/// Whose turn it is.
#[derive(Debug)]
enum Turn {
    /// Nobody's.
    Free,
    /// A visit is going on.
    Visiting(Visit),
    /// A visit waits until that time, in ns since the Unix epoch.
    Waiting(Visit, u64),
}

/// A watch that goes on.
#[derive(Debug)]
pub struct Machine {
    watch: Watch,
    tracks: Vec<Track>,
    known: Known,
    turn: Turn,
    unsaved: Vec<Logged>,
}

impl Machine {
    /// A watch that goes on from what is known of it, at `now`. `expected` has what the visits of a
    /// kind to a path, by its number, are expected to take at most, in bytes. `watcher` is who
    /// watches: two that watch the same path have other phases.
    pub fn new(
        watch: Watch,
        expected: &[(usize, Kind, u64)],
        known: Known,
        watcher: &str,
        now: Moment,
    ) -> Self {
        let mut tracks = Vec::new();
        for (path, of) in watch.paths.iter().enumerate() {
            for kind in Kind::ALL {
                let Some(period_ns) = of.period_ns(kind) else { continue };
                let name = format!("{watcher}\n{}\n{}", of.name, kind.name());
                let hash = SipHasher24::new_with_key(&[0; 16]).hash(name.as_bytes());
                let phase_ns = hash % period_ns;
                let is_it = |of: &&(usize, Kind, u64)| (of.0, of.1) == (path, kind);
                let expected_bytes = expected.iter().find(is_it).map_or(0, |of| of.2);
                let due_ns = 0;
                tracks.push(Track { path, kind, period_ns, phase_ns, due_ns, expected_bytes });
            }
        }
        let mut machine = Machine { watch, tracks, known, turn: Turn::Free, unsaved: Vec::new() };
        machine.begin(now);
        machine
    }

    /// What is watched.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// What is known so far.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// What happened since the last call, for the log.
    pub fn unsaved(&mut self) -> Vec<Logged> {
        core::mem::take(&mut self.unsaved)
    }

    /// What is to be done at `now`; `stop` if somebody asked for the end.
    pub fn next(&mut self, now: Moment, stop: bool) -> Action {
        match core::mem::replace(&mut self.turn, Turn::Free) {
            Turn::Visiting(visit) => {
                self.turn = Turn::Visiting(visit);
                Action::Visiting
            }
            Turn::Waiting(visit, _) if stop => {
                self.over(&visit, now, Outcome::Stopped, None);
                Action::End
            }
            // A clock that was set back is no reason to wait longer.
            Turn::Waiting(visit, until)
                if now.unix_ns < until && until - now.unix_ns <= TAKEN_NS =>
            {
                self.turn = Turn::Waiting(visit, until);
                Action::Wait(until)
            }
            // The host slept meanwhile: what was to be made then is not made now under that time.
            Turn::Waiting(visit, until) if now.unix_ns.saturating_sub(until) > TAKEN_NS => {
                self.over(&visit, now, Outcome::Taken, None);
                self.start_next(now)
            }
            Turn::Waiting(visit, _) => self.start_late(visit, now),
            Turn::Free if stop => Action::End,
            Turn::Free => {
                self.list_again(now);
                self.start_next(now)
            }
        }
    }

    /// The visit that is going on measures into this run.
    pub fn measures(&mut self, run: &RunId, now: Moment) {
        let Turn::Visiting(visit) = &self.turn else { return };
        let (path, kind) = (self.watch.paths[visit.path].name.clone(), visit.kind);
        let known = self.known.past(&path, kind).and_then(|past| past.run.as_ref());
        if known.is_some_and(|(_, known)| known == run) {
            return;
        }
        let entry = Measures { at_unix_ns: now.unix_ns, path, kind, run: run.clone() };
        self.log(Logged::Measures(entry));
    }

    /// The visit that was going on came out so.
    pub fn ended(&mut self, came: Came, now: Moment) {
        let Turn::Visiting(visit) = core::mem::replace(&mut self.turn, Turn::Free) else { return };
        match came.how.clone() {
            How::Taken if !visit.again => {
                let until = now.unix_ns.saturating_add(TAKEN_NS);
                self.turn = Turn::Waiting(Visit { again: true, ..visit }, until);
            }
            How::NotContinued if visit.continued.is_some() => {
                self.turn = Turn::Waiting(Visit { continued: None, ..visit }, now.unix_ns);
            }
            How::Taken => self.over(&visit, now, Outcome::Taken, None),
            How::NotContinued => {
                let why = "there is nothing to continue".into();
                self.over(&visit, now, Outcome::Failed { why }, None);
            }
            How::Ended(outcome) => self.over(&visit, now, outcome, Some(came)),
        }
    }

    /// Somebody was told of something, or could not be.
    pub fn notified(&mut self, entry: Notified) {
        self.log(Logged::Notified(entry));
    }

    /// Goes on from the log: what was under way was broken off.
    fn begin(&mut self, now: Moment) {
        let mut open = Vec::new();
        for (path, kinds) in &self.known.paths {
            let begun = kinds.iter().filter_map(|(kind, past)| Some((*kind, past.open_unix_ns?)));
            open.extend(begun.map(|(kind, began_unix_ns)| (path.clone(), kind, began_unix_ns)));
        }
        for (path, kind, began_unix_ns) in open {
            // What it measured is in the run of its day, if that had begun.
            let run = self.known.past(&path, kind).and_then(|past| past.run.clone());
            let run = run.filter(|(day, _)| *day == day_of(began_unix_ns)).map(|(_, run)| run);
            let is_it = |of: &&Track| of.kind == kind && self.watch.paths[of.path].name == path;
            // Nobody counted what it moved, which may be as much as was expected.
            let bytes = self.tracks.iter().find(is_it).map_or(0, |track| track.expected_bytes);
            self.log(Logged::Ended(Box::new(Ended {
                at_unix_ns: now.unix_ns,
                began_unix_ns,
                path,
                kind,
                outcome: Outcome::BrokenOff,
                run,
                bytes,
                seen: Vec::new(),
                answers: Vec::new(),
                noted: Noted::default(),
                facts: Vec::new(),
            })));
        }
        self.log(Logged::Watching(Watching::of(&self.watch, now.unix_ns)));
        for at in 0..self.tracks.len() {
            let last = self.past(at).and_then(|past| past.due_unix_ns);
            let track = &mut self.tracks[at];
            // One that lies far ahead is of a clock that was wrong then.
            let last = last.filter(|last| *last <= now.unix_ns.saturating_add(track.period_ns));
            let last = last.unwrap_or(0).max(now.unix_ns.saturating_sub(1));
            track.due_ns = track.after(last);
        }
    }

    /// Says again what is watched, if that was long ago.
    fn list_again(&mut self, now: Moment) {
        let listed = self.known.watching.as_ref();
        let is_old = |listed: &Watching| listed.at_unix_ns.abs_diff(now.unix_ns) >= LISTED_NS;
        if listed.is_none_or(is_old) {
            self.log(Logged::Watching(Watching::of(&self.watch, now.unix_ns)));
        }
    }

    /// Starts what is due longest, or says when something will be.
    fn start_next(&mut self, now: Moment) -> Action {
        let ready: Vec<usize> =
            (0..self.tracks.len()).filter(|&at| self.is_ready(at, now)).collect();
        let Some(at) = ready.into_iter().min_by_key(|&at| (self.tracks[at].due_ns, at)) else {
            let next = self.tracks.iter().map(|track| track.due_ns).min();
            // Without a path there is nothing to wait for.
            return next.map_or(Action::End, Action::Wait);
        };
        let track = &mut self.tracks[at];
        let (path, kind, due_unix_ns) = (track.path, track.kind, track.due_ns);
        track.due_ns = due_unix_ns.saturating_add(track.period_ns);
        let of = &self.watch.paths[path];
        let today = |past: &Past| {
            let run = past.run.as_ref().filter(|(day, _)| *day == now.day());
            run.map(|(_, run)| run.clone())
        };
        let past = self.known.past(&of.name, kind).filter(|_| of.with.continues());
        let continued = past.and_then(today);
        let entry = Began { at_unix_ns: now.unix_ns, due_unix_ns, path: of.name.clone(), kind };
        self.log(Logged::Began(entry));
        let visit = Visit { path, kind, continued, began_unix_ns: now.unix_ns, again: false };
        self.turn = Turn::Visiting(visit.clone());
        Action::Start(visit)
    }

    /// Starts a visit that has waited, unless its hour is over.
    fn start_late(&mut self, visit: Visit, now: Moment) -> Action {
        let length_ns = self.watch.paths[visit.path].time_ns;
        if self.watch.quiet.touches(now, length_ns) {
            self.over(&visit, now, Outcome::Taken, None);
            return self.start_next(now);
        }
        self.turn = Turn::Visiting(visit.clone());
        Action::Start(visit)
    }

    /// Whether a visit of this track may begin now. What is due and may not is passed over.
    fn is_ready(&mut self, at: usize, now: Moment) -> bool {
        let track = &mut self.tracks[at];
        if now.unix_ns < track.due_ns {
            if track.due_ns - now.unix_ns > track.period_ns {
                // The clock was set back.
                track.due_ns = track.after(now.unix_ns);
            }
            return false;
        }
        let due_ns = track.before(now.unix_ns).max(track.due_ns);
        let (from_ns, period_ns) = (track.due_ns, track.period_ns);
        track.due_ns = due_ns;
        let (path, next_ns) = (track.path, due_ns.saturating_add(period_ns));
        let passed = self.passed(at, (from_ns, due_ns), now);
        if passed > 0 {
            self.missed(at, Cause::Behind, passed, now);
        }
        let length_ns = self.watch.paths[path].time_ns;
        let quiet = self.watch.quiet.touches(now, length_ns);
        let resting = !quiet && self.rests(at, now);
        let dear = !quiet && !resting && !self.is_within_budget(at, now);
        if dear {
            self.missed(at, Cause::Budget, 1, now);
        }
        if quiet || resting || dear {
            self.tracks[at].due_ns = next_ns;
            return false;
        }
        true
    }

    /// How many visits were due from one time to before another, but for quiet hours and rests.
    fn passed(&self, at: usize, (from_ns, to_ns): (u64, u64), now: Moment) -> u64 {
        let Track { path, period_ns, .. } = self.tracks[at];
        let length_ns = self.watch.paths[path].time_ns;
        let times = (to_ns - from_ns) / period_ns;
        // Of a very long time the last visits tell how many there were.
        let looked = times.min(PASSED_MAX);
        let was_due = |back: &u64| {
            let then = Moment { unix_ns: to_ns - back * period_ns, ..now };
            !self.watch.quiet.touches(then, length_ns) && !self.rests(at, then)
        };
        let due = (1..=looked).filter(was_due).count() as u64;
        if looked < times { due.saturating_mul(times) / looked } else { due }
    }

    /// Whether the far end is left alone because it refused: longer each time.
    fn rests(&self, at: usize, now: Moment) -> bool {
        let Some(past) = self.past(at).filter(|past| past.refusals > 0) else { return false };
        let times = 1_u64 << past.refusals.min(16);
        let rest_ns = self.tracks[at].period_ns.saturating_mul(times).min(REST_NS_MAX);
        let last = past.refused_unix_ns.unwrap_or(0);
        // A clock that was set back leaves it alone for no longer.
        now.unix_ns.saturating_sub(last) < rest_ns && last <= now.unix_ns
    }

    fn is_within_budget(&self, at: usize, now: Moment) -> bool {
        let Some(budget) = self.watch.budget_bytes else { return true };
        let seen = self.past(at).map_or(0, |past| past.bytes_most);
        let most = self.tracks[at].expected_bytes.max(seen);
        self.known.spent.on(now.day()).saturating_add(most) <= budget
    }

    fn past(&self, at: usize) -> Option<&Past> {
        let track = &self.tracks[at];
        self.known.past(&self.watch.paths[track.path].name, track.kind)
    }

    fn missed(&mut self, at: usize, why: Cause, visits: u64, now: Moment) {
        let Track { path, kind, .. } = self.tracks[at];
        let path = self.watch.paths[path].name.clone();
        let entry = Missed { at_unix_ns: now.unix_ns, path, kind, why, visits };
        self.log(Logged::Missed(entry));
    }

    /// A visit is over.
    fn over(&mut self, visit: &Visit, now: Moment, outcome: Outcome, came: Option<Came>) {
        let path = self.watch.paths[visit.path].name.clone();
        let run = self.known.past(&path, visit.kind).and_then(|past| past.run.clone());
        let (bytes, seen, answers, noted, facts) = came.map_or_else(Default::default, |came| {
            (came.bytes, came.seen, came.answers, came.noted, came.facts)
        });
        // One that measured nothing belongs to no run.
        let run = run.map(|(_, run)| run).filter(|_| outcome == Outcome::Measured || bytes > 0);
        self.log(Logged::Ended(Box::new(Ended {
            at_unix_ns: now.unix_ns,
            began_unix_ns: visit.began_unix_ns,
            path,
            kind: visit.kind,
            outcome,
            run,
            bytes,
            seen,
            answers,
            noted,
            facts,
        })));
    }

    /// What is stored is known, and nothing else is.
    fn log(&mut self, entry: Logged) {
        self.known.take(&entry);
        self.unsaved.push(entry);
    }
}
