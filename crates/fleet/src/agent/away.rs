//! An agent whose hub is gone, or lets it in no more.
//!
//! Whatever it says then would wait in the client until that is full, so it says nothing: what must
//! be known is said when it is back, and results are sent again.

use super::Options;
use crate::error::FleetError;
use crate::letter::Letter;
use crate::nats::connect::{Link, Way, connect};
use tokio::sync::mpsc::UnboundedSender;

/// How long the hub may be gone before anything is ended for it, in ns: its nodes are begun anew
/// within that time.
const SHORT_NS: u64 = 30_000_000_000;

/// What an agent does with a measurement when the hub is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Offline {
    /// It is measured to its end, and kept until the archive has it.
    #[default]
    Finish,
    /// It is stopped; what is whole of it is kept until the archive has it.
    Stop,
}

/// Whether the hub is gone.
#[derive(Debug)]
pub(super) struct Away {
    offline: Offline,
    /// Since when, by the clock of deadlines in ns.
    since_ns: Option<u64>,
    /// Whether that was long enough to end what is measured.
    is_long: bool,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The hub is gone.
    Gone,
    /// It is back.
    Back,
}

impl Away {
    pub(super) fn new(offline: Offline) -> Self {
        Away { offline, since_ns: None, is_long: false }
    }

    /// Whether the hub is gone.
    pub(super) fn is_it(&self) -> bool {
        self.since_ns.is_some()
    }

    /// Takes note of what became of the connection.
    pub(super) fn link(&mut self, link: Link, now_ns: u64) -> Option<Change> {
        match link {
            Link::Gone if self.since_ns.is_none() => {
                self.since_ns = Some(now_ns);
                Some(Change::Gone)
            }
            Link::There => {
                self.is_long = false;
                self.since_ns.take().map(|_| Change::Back)
            }
            Link::Gone | Link::Refused => None,
        }
    }

    /// When to ask whether anything is to be ended, by the clock of deadlines in ns; none if
    /// nothing will be.
    pub(super) fn wake_ns(&self) -> Option<u64> {
        let ends = self.offline == Offline::Stop && !self.is_long;
        self.since_ns.filter(|_| ends).map(|since| since.saturating_add(SHORT_NS + 1))
    }

    /// Whether what is measured is to be ended now, once for each time that the hub is gone.
    pub(super) fn ends(&mut self, now_ns: u64) -> bool {
        let long = self.since_ns.is_some_and(|since| now_ns.saturating_sub(since) > SHORT_NS);
        let ends = long && !self.is_long && self.offline == Offline::Stop;
        self.is_long |= long;
        ends
    }
}

/// Says that the agent is let in no more, if that is so when it is asked once more: one node may
/// know less than the others.
pub(super) async fn ask_again(options: Options, letter: Letter, ends: UnboundedSender<FleetError>) {
    let way = Way {
        letter: &letter,
        file: &options.credentials,
        hubs: &options.hubs,
        plaintext: options.plaintext,
    };
    if let Err(error) = connect(&way).await
        && !error.may_pass()
    {
        // Nobody listens any more if it has ended.
        let _ = ends.send(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_ended_once_when_the_hub_is_gone_for_long() {
        let mut away = Away::new(Offline::Stop);
        // The first connection is no return.
        assert_eq!(away.link(Link::There, 0), None);
        for begin_ns in [0, 10 * SHORT_NS] {
            assert_eq!(away.link(Link::Gone, begin_ns), Some(Change::Gone));
            // It is tried again, and is still gone since then.
            assert_eq!(away.link(Link::Refused, begin_ns + 1), None);
            assert_eq!(away.link(Link::Gone, begin_ns + 2), None);
            assert!(away.is_it() && !away.ends(begin_ns + SHORT_NS));
            assert_eq!(away.wake_ns(), Some(begin_ns + SHORT_NS + 1));
            assert!(away.ends(begin_ns + SHORT_NS + 1) && !away.ends(begin_ns + SHORT_NS + 2));
            // What is ended once is not waited for.
            assert_eq!(away.wake_ns(), None);
            assert_eq!(away.link(Link::There, begin_ns + 2 * SHORT_NS), Some(Change::Back));
            assert!(!away.is_it() && !away.ends(begin_ns + 3 * SHORT_NS));
        }
        let mut away = Away::new(Offline::Finish);
        away.link(Link::Gone, 0);
        assert!(away.wake_ns().is_none() && !away.ends(SHORT_NS + 1));
    }
}
