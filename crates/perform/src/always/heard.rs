//! What a watch waits for, in one place: what its visit says, and that somebody stops it. It sleeps
//! until one of them comes, so that it wakes for nothing while others measure.

use std::io::{self, BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::Duration;
use v6gap_sys::stop::Stopper;

/// What a watch hears.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line of its visit.
    Line(String),
    /// Its visit says nothing more.
    Over,
    /// It is to stop.
    Stopped,
}

/// With what it hears.
#[derive(Debug)]
pub(super) struct Ears {
    says: Sender<Heard>,
    hears: Receiver<Heard>,
}

impl Ears {
    /// Ears that hear of it when `stop` is stopped.
    pub(super) fn new(stop: &Stopper) -> Self {
        let (says, hears) = channel();
        let tells = says.clone();
        // Nobody listens any more after the end.
        stop.then(move || drop(tells.send(Heard::Stopped)));
        Ears { says, hears }
    }

    /// What is heard next, if it is within that time, in ns.
    pub(super) fn next(&self, time_ns: u64) -> Option<Heard> {
        self.hears.recv_timeout(Duration::from_nanos(time_ns)).ok()
    }

    /// Has the lines of a process heard as they come, and that there are no more.
    ///
    /// # Errors
    /// If threads are short.
    pub(super) fn listen(&self, output: ChildStdout) -> io::Result<()> {
        let says = self.says.clone();
        let read = move || {
            for line in BufReader::new(output).lines() {
                // What is no text is no event either, and nobody listens any more after the end.
                let Ok(line) = line else { break };
                if says.send(Heard::Line(line)).is_err() {
                    break;
                }
            }
            let _ = says.send(Heard::Over);
        };
        Builder::new().spawn(read)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test may take.
    const LONG_NS: u64 = 3_600_000_000_000;

    #[test]
    fn a_stop_is_heard_by_who_waits_and_by_who_comes_later() {
        let stop = Stopper::default();
        let ears = Ears::new(&stop);
        assert_eq!(ears.next(0), None);
        stop.stop();
        assert_eq!(ears.next(LONG_NS), Some(Heard::Stopped));
        assert_eq!(ears.next(0), None);
        assert_eq!(Ears::new(&stop).next(0), Some(Heard::Stopped));
    }
}
