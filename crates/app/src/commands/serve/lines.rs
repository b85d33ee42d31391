//! Which of a server's events become lines of its log, and how they read.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use v6gap_core::session::throttle::Throttle;
use v6gap_core::wire::foreign;
use v6gap_perform::serve::{ServerEvent, TurnedAway};

/// Longest line, in bytes.
const LINE_BYTES_MAX: usize = 512;

/// Chooses, so that nobody fills a log by coming again and again.
#[derive(Debug, Default)]
pub struct Lines {
    throttle: Throttle,
    /// Sessions of which nothing is written until they measure.
    quiet: BTreeSet<u64>,
}

impl Lines {
    /// The line of an event at `now_ns`, if it gets one.
    pub fn of(&mut self, event: &ServerEvent, now_ns: u64) -> Option<String> {
        let line = match event {
            ServerEvent::TurnedAway { peer, why } => {
                let why = match why {
                    TurnedAway::NotServed => "not a network served".to_owned(),
                    TurnedAway::Crowded => "too many from its network".to_owned(),
                    TurnedAway::Stranger(public) => format!("no peer has its key, {public}"),
                };
                self.rarely(*peer, &format!("turned away: {why}"), now_ns)?
            }
            ServerEvent::Joined { session, peer, name } => {
                let who = name.iter().map(|name| format!(", {name}")).collect::<String>();
                let line = self.rarely(*peer, &format!("session {session}{who}"), now_ns);
                if line.is_none() {
                    self.quiet.insert(*session);
                }
                line?
            }
            ServerEvent::Admitted { session, by } => {
                self.said(*session, format!("measures, for {by}"))?
            }
            ServerEvent::Task { session, number } => {
                self.quiet.remove(session);
                format!("session {session}  trial {number}")
            }
            ServerEvent::Left { session, ending } => {
                let line = self.said(*session, format!("over: {ending}"));
                self.quiet.remove(session);
                line?
            }
            ServerEvent::Trouble { what } => format!("trouble: {what}"),
        };
        Some(foreign::line(&line, LINE_BYTES_MAX))
    }

    fn said(&self, session: u64, what: String) -> Option<String> {
        (!self.quiet.contains(&session)).then(|| format!("session {session}  {what}"))
    }

    fn rarely(&mut self, peer: SocketAddr, what: &str, now_ns: u64) -> Option<String> {
        let more = match self.throttle.may_tell(peer.ip(), now_ns)? {
            0 => String::new(),
            left_out => format!(" ({left_out} more from its network were not told)"),
        };
        Some(format!("{peer}  {what}{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::session::Ending;
    use v6gap_core::session::throttle::{TIMES_MAX, WHILE_NS};

    #[test]
    fn a_network_that_comes_again_and_again_fills_no_log() {
        let mut lines = Lines::default();
        let peer = SocketAddr::from(([192, 0, 2, 1], 9));
        let mut written = Vec::new();
        for session in 0..1000 {
            let events = [
                ServerEvent::Joined { session, peer, name: None },
                ServerEvent::Admitted { session, by: "lab-a".to_owned() },
                ServerEvent::Left { session, ending: Ending::PeerLeft },
            ];
            written.extend(events.iter().filter_map(|event| lines.of(event, 0)));
        }
        assert_eq!(written.len(), 3 * TIMES_MAX as usize);
        assert!(lines.quiet.is_empty());
        let away = ServerEvent::TurnedAway { peer, why: TurnedAway::Crowded };
        let line = lines.of(&away, WHILE_NS).unwrap();
        assert!(line.contains("too many from its network (980 more"), "{line}");
    }

    #[test]
    fn what_a_stranger_calls_itself_stays_on_its_line() {
        let by = "forged\nsession 77  measures, for you\x1b[2J".to_owned();
        let line = Lines::default().of(&ServerEvent::Admitted { session: 1, by }, 0).unwrap();
        assert_eq!(line, "session 1  measures, for forged?session 77  measures, for you?[2J");
    }

    #[test]
    fn a_session_that_measures_is_always_told_of() {
        let mut lines = Lines::default();
        let peer = SocketAddr::from(([192, 0, 2, 1], 9));
        for session in 0..=u64::from(TIMES_MAX) {
            lines.of(&ServerEvent::Joined { session, peer, name: None }, 0);
        }
        let session = u64::from(TIMES_MAX);
        assert_eq!(lines.of(&ServerEvent::Admitted { session, by: String::new() }, 0), None);
        assert!(lines.of(&ServerEvent::Task { session, number: 1 }, 0).is_some());
        assert!(lines.of(&ServerEvent::Left { session, ending: Ending::PeerLeft }, 0).is_some());
    }
}
