//! One visit: this program in a process of its own, heard until it ends.

use super::heard::{Ears, Heard};
use super::{Going, OfPath, WatchTrouble, now};
use crate::perform::{PATIENCE_NS, STOP_NS};
use std::path::Path;
use v6gap_core::watch::log::Outcome;
use v6gap_core::watch::machine::Visit;
use v6gap_core::watch::said::{Came, Expected, How, Said};
use v6gap_sys::apart::{self, Apart};
use v6gap_sys::clock;

/// What has a process tell what happens as it happens, and stop when its input is closed. No report
/// is written: that of the day is made when somebody asks for it. Errors are for this program, and
/// so files of options are no matter.
const HEARD: [&str; 5] =
    ["--json-stream", "--quiet", "--stop-at-eof", "--no-report", "--json-errors"];

/// By how much its end may be late, in ns; one that does not end is ended anew as often.
const TURN_NS: u64 = 500_000_000;

/// A process that makes a visit, on its way to its end.
struct Process {
    apart: Apart,
    /// When it is asked to stop, and when it is ended, by the monotonic clock.
    stop_at_ns: u64,
    end_at_ns: u64,
    /// Whether it was asked to stop.
    is_asked: bool,
    /// Whether it was asked to because it took too long.
    is_late: bool,
}

impl Going<'_> {
    /// Makes a visit.
    pub(super) fn visit(&mut self, visit: &Visit) -> Result<Came, WatchTrouble> {
        let path = &self.machine.watch().paths[visit.path];
        let time_ns = path.time_ns;
        let mut words = path.line(visit.kind, visit.continued.as_ref());
        words.extend(HEARD.map(str::to_owned));
        let trouble = |source| WatchTrouble::Program { program: self.program.to_owned(), source };
        // Processes are short for a moment, or a package puts another program in its place: the
        // next visit is begun all the same.
        let apart = match start(self.program, &words, &self.ears) {
            Ok(apart) => apart,
            Err(source) => return Ok(Came::failed(trouble(source).to_string())),
        };
        let now_ns = clock::now_ns();
        // A run may take twice its time where its rounds are long, but not into quiet hours.
        let most_ns = 2 * time_ns + PATIENCE_NS;
        let quiet_ns = self.machine.watch().quiet.begins(now(), most_ns);
        let stop_at_ns = now_ns.saturating_add(quiet_ns.unwrap_or(most_ns));
        let mut process = Process::new(apart, stop_at_ns);
        let mut is_quiet = quiet_ns.is_some();
        let mut said = Said::new(&self.expected_of(visit));
        loop {
            match self.ears.next(process.left_ns()) {
                Some(Heard::Line(line)) => {
                    let is_named = said.run().is_some();
                    said.line(&line);
                    if let Some(run) = said.run().filter(|_| !is_named) {
                        self.machine.measures(run, now());
                        self.keep()?;
                    }
                }
                Some(Heard::Over) => break,
                Some(Heard::Stopped) | None => {}
            }
            // A host that slept meanwhile, or whose clock was set, may be in the middle of them.
            if self.machine.watch().quiet.touches(now(), 0) {
                is_quiet = true;
                process.stop_at_ns = process.stop_at_ns.min(clock::now_ns());
            }
            process.look(self.stop.is_stopped());
        }
        let is_late = process.is_late;
        let exit = process
            .apart
            .wait()
            .map_err(|source| WatchTrouble::Program { program: self.program.to_owned(), source })?;
        let mut came = said.came(exit, visit.continued.is_some());
        // Nobody who watches did that.
        if is_late && !is_quiet && came.how == How::Ended(Outcome::Stopped) {
            let why = "it took too long and was stopped".to_owned();
            came.how = How::Ended(Outcome::Failed { why });
        }
        Ok(came)
    }

    fn expected_of(&self, visit: &Visit) -> Expected {
        let is_it = |of: &&OfPath| (of.path, of.kind) == (visit.path, visit.kind);
        self.expected.iter().find(is_it).map(|of| of.expected.clone()).unwrap_or_default()
    }
}

impl Process {
    fn new(apart: Apart, stop_at_ns: u64) -> Self {
        let end_at_ns = stop_at_ns.saturating_add(STOP_NS);
        Process { apart, stop_at_ns, end_at_ns, is_asked: false, is_late: false }
    }

    /// How long it need not be looked at if nothing is heard, in ns.
    fn left_ns(&self) -> u64 {
        let due_ns = if self.is_asked { self.end_at_ns } else { self.stop_at_ns };
        due_ns.saturating_sub(clock::now_ns()).max(TURN_NS)
    }

    /// Asks it to stop if it is time to, or `stopped` says so; ends it if it does not.
    fn look(&mut self, stopped: bool) {
        let now_ns = clock::now_ns();
        self.is_late |= !stopped && now_ns >= self.stop_at_ns;
        if stopped || self.is_late {
            self.is_asked = true;
            self.apart.stop();
            self.end_at_ns = self.end_at_ns.min(now_ns.saturating_add(STOP_NS));
        }
        if now_ns >= self.end_at_ns {
            self.apart.kill();
        }
    }
}

/// Starts the program, and has its lines heard as they come.
fn start(program: &Path, words: &[String], ears: &Ears) -> std::io::Result<Apart> {
    let (mut apart, output) = apart::start(program, words)?;
    match ears.listen(output) {
        Ok(()) => Ok(apart),
        Err(error) => {
            apart.kill();
            // The system tells of it or has forgotten it.
            let _ = apart.wait();
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests;
