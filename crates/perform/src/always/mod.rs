//! Watching paths for ever: each visit is a process of this program, so that the one that goes on
//! all the time is small and idle while another measures.
//!
//! [`watch`] drives the machine of [`v6gap_core::watch`]; [`history`] reads what it left. What its
//! visits show of each path is followed as they come ([`followed`]), and somebody may be told of
//! changes and outages ([`teller`]). [`log`] tells when another process has gone on. Runs of a
//! fleet have a history by the same rules ([`fleet`]).

pub mod fleet;
pub mod followed;
mod heard;
pub mod history;
pub mod log;
pub mod teller;
mod visit;

use crate::facts::this_host;
use followed::Followed;
use heard::Ears;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use teller::{OnChange, Teller};
use v6gap_core::watch::known::Known;
use v6gap_core::watch::log::{Logged, Watching};
use v6gap_core::watch::machine::{Action, Machine};
use v6gap_core::watch::metrics::Metrics;
use v6gap_core::watch::said::Expected;
use v6gap_core::watch::{DAY_NS, Kind, Moment, Watch, WatchedPath};
use v6gap_judge::changes::Event;
use v6gap_store::{Reached, Store, StoreError, WatchLog};
use v6gap_sys::stop::Stopper;
use v6gap_sys::{apart, clock};

/// The wall clock is looked at so often, as it may be set, in ns. A watch wakes for nothing else
/// between two visits: something else may be measured on this host.
const LOOK_NS: u64 = 60_000_000_000;

/// How far back a watch looks when it is begun, in ns.
const BACK_NS: u64 = 56 * DAY_NS;

/// Why a watch ended that nobody stopped, or was not begun.
#[derive(Debug, thiserror::Error)]
pub enum WatchTrouble {
    /// Its log cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This program cannot be started again.
    #[error("cannot start {}: {source}", program.display())]
    Program {
        /// Its file.
        program: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Nobody can be had who tells of changes.
    #[error("cannot start a thread: {0}")]
    Teller(io::Error),
    /// The words that would measure a path make no sense to the program.
    #[error("the path \"{path}\" cannot be measured as it is described")]
    Path {
        /// What it is called.
        path: String,
        /// What the program says.
        said: String,
    },
}

/// What happens in a watch.
#[derive(Debug)]
pub enum Tidings<'a> {
    /// Something that the log has now.
    Logged(&'a Logged),
    /// What that shows.
    Shown(&'a Event),
    /// Nothing is due before this time, in ns since the Unix epoch.
    Rests(u64),
}

/// The moment by the clocks of this host.
pub fn now() -> Moment {
    at(clock::wall_ns())
}

/// That time, in ns since the Unix epoch, in the zone of this host.
pub fn at(unix_ns: u64) -> Moment {
    Moment { unix_ns, offset_s: clock::local_offset_s(unix_ns) }
}

/// What the log of a watch tells.
#[derive(Debug, Default)]
pub struct Lately {
    /// What is known of it.
    pub known: Known,
    /// What its paths do.
    pub followed: Followed,
}

/// What is known lately of the watch of this store, or what was at a time, in ns since the Unix
/// epoch.
///
/// # Errors
/// If its log cannot be read.
pub fn lately(store: &Store, at_unix_ns: Option<u64>) -> Result<Lately, StoreError> {
    let mut lately = Lately::default();
    lately.read_on(store, &lately_span(at_unix_ns), &mut Reached::default())?;
    Ok(lately)
}

/// From when to when entries are lately, in ns since the Unix epoch.
fn lately_span(at_unix_ns: Option<u64>) -> RangeInclusive<u64> {
    let since = |unix_ns: u64| unix_ns.saturating_sub(BACK_NS);
    match at_unix_ns {
        Some(at) => since(at)..=at,
        // Where a clock was set back, what came before that is later than now.
        None => since(clock::wall_ns())..=u64::MAX,
    }
}

impl Lately {
    /// Takes what the log has of that time behind what was `reached` of it; whether there was any.
    fn read_on(
        &mut self,
        store: &Store,
        span: &RangeInclusive<u64>,
        reached: &mut Reached,
    ) -> Result<bool, StoreError> {
        let mut any = false;
        store.read_watch_log_on(*span.start(), reached, &mut |entry| {
            if span.contains(&entry.at_unix_ns()) {
                any = true;
                self.known.take(&entry);
                // What it showed was told when it was new.
                self.followed.take(&entry);
            } else if let Logged::Watching(watching) = &entry
                && watching.at_unix_ns < *span.start()
            {
                // The first visits are of paths as they were listed before: hosts and margins.
                self.known.watching(watching);
                self.followed.take(&entry);
            }
        })?;
        Ok(any)
    }
}

/// What metrics tell of a watch before anything happens: its paths, what was found of them lately,
/// and no count.
///
/// # Errors
/// As [`lately`].
pub fn metrics(watch: &Watch, store: &Store) -> Result<Metrics, StoreError> {
    let mut metrics = Metrics::new(&this_host().name, crate::VERSION);
    let now_unix_ns = clock::wall_ns();
    let since_unix_ns = now_unix_ns.saturating_sub(BACK_NS);
    store.read_watch_log(since_unix_ns, &mut |entry| metrics.recall(&entry))?;
    metrics.recall(&Logged::Watching(Watching::of(watch, now_unix_ns)));
    Ok(metrics)
}

/// Watches until it is stopped, which ends a visit after its present block. `program` is the file
/// of this program; `told` hears what happens, and whoever `on_change` names what changes.
///
/// # Errors
/// If it cannot be begun, or what happens cannot be stored.
pub fn watch(
    watch: Watch,
    program: &Path,
    store: &Store,
    on_change: Option<OnChange>,
    told: &mut dyn FnMut(&Tidings<'_>),
    stop: &Stopper,
) -> Result<(), WatchTrouble> {
    let log = store.open_watch_log()?;
    let expected = expected(&watch, program)?;
    let Lately { known, followed } = lately(store, None)?;
    let bytes: Vec<(usize, Kind, u64)> =
        expected.iter().map(|of| (of.path, of.kind, of.expected.bytes)).collect();
    let machine = Machine::new(watch, &bytes, known, &this_host().name, now());
    let teller = on_change.map(Teller::start).transpose().map_err(WatchTrouble::Teller)?;
    let ears = Ears::new(stop);
    let mut going = Going { machine, expected, program, log, followed, teller, told, ears, stop };
    going.keep()?;
    let ended = going.go_on();
    let kept = going.end_telling();
    ended.and(kept)
}

/// What a visit of a kind to a path is expected to take.
struct OfPath {
    path: usize,
    kind: Kind,
    expected: Expected,
}

/// What all visits are expected to take, which also tells that the program understands each.
fn expected(watch: &Watch, program: &Path) -> Result<Vec<OfPath>, WatchTrouble> {
    let mut all = Vec::new();
    for (number, path) in watch.paths.iter().enumerate() {
        for kind in Kind::ALL.into_iter().filter(|kind| path.period_ns(*kind).is_some()) {
            let expected = asked(path, kind, program)?;
            all.push(OfPath { path: number, kind, expected });
        }
    }
    Ok(all)
}

fn asked(path: &WatchedPath, kind: Kind, program: &Path) -> Result<Expected, WatchTrouble> {
    let mut words = path.line(kind, None);
    words.extend(["--dry-run", "--json", "--json-errors"].map(str::to_owned));
    let said = apart::ask(program, &words)
        .map_err(|source| WatchTrouble::Program { program: program.to_owned(), source })?;
    let expected = Expected::of(&said.out).filter(|_| said.exit == Some(0));
    expected.ok_or_else(|| WatchTrouble::Path { path: path.name.clone(), said: said.err })
}

/// A watch that goes on.
struct Going<'a> {
    machine: Machine,
    expected: Vec<OfPath>,
    program: &'a Path,
    log: WatchLog,
    followed: Followed,
    teller: Option<Teller>,
    told: &'a mut dyn FnMut(&Tidings<'_>),
    ears: Ears,
    stop: &'a Stopper,
}

impl Going<'_> {
    fn go_on(&mut self) -> Result<(), WatchTrouble> {
        let mut rests = None;
        loop {
            self.hear();
            let action = self.machine.next(now(), self.stop.is_stopped());
            self.keep()?;
            match action {
                Action::Start(visit) => {
                    let came = self.visit(&visit)?;
                    self.machine.ended(came, now());
                    self.keep()?;
                }
                Action::Wait(until_unix_ns) => {
                    if rests != Some(until_unix_ns) {
                        (self.told)(&Tidings::Rests(until_unix_ns));
                        rests = Some(until_unix_ns);
                    }
                    self.rest(until_unix_ns);
                }
                // Visits are made by this loop itself, so that there is none to wait for.
                Action::Visiting | Action::End => return Ok(()),
            }
        }
    }

    /// Stores what happened, and tells it then.
    fn keep(&mut self) -> Result<(), WatchTrouble> {
        for entry in self.machine.unsaved() {
            self.log.append(&entry)?;
            (self.told)(&Tidings::Logged(&entry));
            for event in self.followed.take(&entry) {
                (self.told)(&Tidings::Shown(&event));
                if let Some(teller) = &mut self.teller {
                    teller.tell(&event);
                }
            }
        }
        Ok(())
    }

    /// Notes what became of telling others.
    fn hear(&mut self) {
        let heard = self.teller.as_mut().map(Teller::heard).unwrap_or_default();
        heard.into_iter().for_each(|notified| self.machine.notified(notified));
    }

    /// Tells what still waits, and notes what became of it.
    fn end_telling(&mut self) -> Result<(), WatchTrouble> {
        let heard = self.teller.take().map(Teller::end).unwrap_or_default();
        heard.into_iter().for_each(|notified| self.machine.notified(notified));
        self.keep()
    }

    /// Waits until that time, or until somebody stops it or the clock has to be looked at.
    fn rest(&self, until_unix_ns: u64) {
        // A stop that was heard in a visit is not heard again.
        if !self.stop.is_stopped() {
            let left_ns = until_unix_ns.saturating_sub(clock::wall_ns());
            let _ = self.ears.next(left_ns.min(LOOK_NS));
        }
    }
}

#[cfg(test)]
mod tests;
