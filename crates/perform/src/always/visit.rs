//! One visit: this program in a process of its own, heard until it ends.

use super::{Going, OfPath, TURN_NS, WatchTrouble, now};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;
use v6gap_core::watch::log::Outcome;
use v6gap_core::watch::machine::Visit;
use v6gap_core::watch::said::{Came, Expected, How, Said};
use v6gap_sys::apart::{self, Apart};
use v6gap_sys::clock;

/// What has a process tell what happens as it happens, and stop when its input is closed. No report
/// is written: that of the day is made when somebody asks for it.
const HEARD: [&str; 4] = ["--json-stream", "--quiet", "--stop-at-eof", "--no-report"];

/// How much longer than it measures a visit may take, in ns: to connect, to look at the path, and
/// to analyse its day. It is asked to stop then.
const PATIENCE_NS: u64 = 180_000_000_000;

/// How long it may take to stop, in ns, before it is ended.
const STOP_NS: u64 = 60_000_000_000;

/// A process that makes a visit, on its way to its end.
struct Process {
    apart: Apart,
    /// When it is asked to stop, and when it is ended, by the monotonic clock.
    stop_at_ns: u64,
    end_at_ns: u64,
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
        let (apart, heard) = match start(self.program, &words) {
            Ok(started) => started,
            Err(source) => return Ok(Came::failed(trouble(source).to_string())),
        };
        let now_ns = clock::now_ns();
        // A run may take twice its time where its rounds are long.
        let stop_at_ns = now_ns.saturating_add(2 * time_ns + PATIENCE_NS);
        let end_at_ns = stop_at_ns.saturating_add(STOP_NS);
        let mut process = Process { apart, stop_at_ns, end_at_ns, is_late: false };
        let mut said = Said::new(&self.expected_of(visit));
        loop {
            match heard.recv_timeout(Duration::from_nanos(TURN_NS)) {
                Ok(line) => {
                    let is_named = said.run().is_some();
                    said.line(&line);
                    if let Some(run) = said.run().filter(|_| !is_named) {
                        self.machine.measures(run, now());
                        self.keep()?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            process.look(self.stopped());
        }
        let is_late = process.is_late;
        let exit = process
            .apart
            .wait()
            .map_err(|source| WatchTrouble::Program { program: self.program.to_owned(), source })?;
        let mut came = said.came(exit, visit.continued.is_some());
        // Nobody who watches did that.
        if is_late && came.how == How::Ended(Outcome::Stopped) {
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
    /// Asks it to stop if it is time to, or `stopped` says so; ends it if it does not.
    fn look(&mut self, stopped: bool) {
        let now_ns = clock::now_ns();
        self.is_late |= !stopped && now_ns >= self.stop_at_ns;
        if stopped || self.is_late {
            self.apart.stop();
            self.end_at_ns = self.end_at_ns.min(now_ns.saturating_add(STOP_NS));
        }
        if now_ns >= self.end_at_ns {
            self.apart.kill();
        }
    }
}

/// Starts the program, with its lines as they come.
fn start(program: &Path, words: &[String]) -> std::io::Result<(Apart, Receiver<String>)> {
    let (mut apart, output) = apart::start(program, words)?;
    match listen(output) {
        Ok(heard) => Ok((apart, heard)),
        Err(error) => {
            apart.kill();
            // The system tells of it or has forgotten it.
            let _ = apart.wait();
            Err(error)
        }
    }
}

/// The lines of a process as they come, to its end.
fn listen(output: ChildStdout) -> std::io::Result<Receiver<String>> {
    let (says, heard) = channel();
    let read = move || {
        for line in BufReader::new(output).lines() {
            // What is no text is no event either, and nobody listens any more after the end.
            let Ok(line) = line else { break };
            if says.send(line).is_err() {
                break;
            }
        }
    };
    Builder::new().spawn(read)?;
    Ok(heard)
}

#[cfg(test)]
mod tests;
