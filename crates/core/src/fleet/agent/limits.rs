//! What the owner of a host allows a fleet: no order goes beyond it.

use crate::fleet::SECOND_NS;
use crate::fleet::names::{HostName, NotAName};
use crate::problem::{Problem, Problems};
use crate::unit::{format_bytes, format_rate, format_span, parse_bytes, parse_rate, parse_span};
use crate::watch::Moment;
use crate::watch::quiet::Quiet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The file as a person writes it: what is not said is not limited. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsDraft {
    /// Version of the language: 1.
    pub v6gap: u32,
    /// Hosts that may be at the other end: `SITE/HOST`, `SITE/*` or `*`.
    pub peers: Option<Vec<String>>,
    /// Highest rate that may be asked of the path, as in `100 Mbit/s`. What sends as fast as it can
    /// is then not allowed.
    pub rate: Option<String>,
    /// Most bytes of a day of UTC, sent and received, as in `5 GB`.
    pub bytes_a_day: Option<String>,
    /// Longest time of one job, as in `5 min`.
    pub time: Option<String>,
    /// Spans of local time in which nothing is measured, as in `Mon-Fri 08:00-18:00`.
    #[serde(default)]
    pub quiet: Vec<String>,
    /// Kinds of measurements that are allowed, by name, as in `rtt`.
    pub kinds: Option<Vec<String>>,
    /// How long a run stays here once the archive has all of it, as in `30 d`; for ever if it is
    /// not said.
    pub keep: Option<String>,
}

/// Shortest time that a run stays, in ns: what failed is gone on with by other attempts.
const KEEP_NS_MIN: u64 = 3_600 * SECOND_NS;

/// Why bytes of a day cannot be kept to.
const NO_SPEED: &str = "it has bytes a day, but nothing tells how fast it sends, and this sends as \
                        fast as it can: give it a rate in the plan, or leave bytes_a_day out";

/// Who may be at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Peers {
    All,
    Site(String),
    One(HostName),
}

impl Peers {
    fn parse(text: &str) -> Result<Peers, NotAName> {
        match text.strip_suffix("/*") {
            _ if text == "*" => Ok(Peers::All),
            // A site is checked by giving it a host.
            Some(site) => HostName::new(site, "x").map(|name| Peers::Site(name.site().to_string())),
            None => text.parse().map(Peers::One),
        }
    }

    fn holds(&self, name: &HostName) -> bool {
        match self {
            Peers::All => true,
            Peers::Site(site) => name.site() == site,
            Peers::One(one) => name == one,
        }
    }
}

/// What is allowed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    peers: Option<Vec<Peers>>,
    rate_bps: Option<u64>,
    bytes_a_day: Option<u64>,
    time_ns: Option<u64>,
    quiet: Quiet,
    kinds: Option<Vec<String>>,
    keep_ns: Option<u64>,
}

/// What a plan takes, as the host itself works it out from the plan's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Kinds of its measurements, by name.
    pub kinds: Vec<String>,
    /// Highest rate that it asks of the path, in bit/s; `None` if something in it sends as fast as
    /// it can.
    pub rate_bps: Option<u64>,
    /// Most bytes that it sends and receives; `None` if it sends as fast as it can, and nothing
    /// tells how fast that is here.
    pub bytes: Option<u64>,
    /// Longest time that it takes by itself, in ns.
    pub time_ns: u64,
}

/// A checked value from a draft.
///
/// # Errors
/// All that is wrong, each with its key.
pub fn check(draft: &LimitsDraft) -> Result<Limits, Vec<Problem>> {
    let mut problems = Problems::default();
    if draft.v6gap != 1 {
        problems.add("v6gap", format!("version {} is not known: 1 is", draft.v6gap));
    }
    let mut quiet = Quiet::default();
    for (at, text) in draft.quiet.iter().enumerate() {
        problems.read(&format!("quiet[{at}]"), text, |text| quiet.add(text));
    }
    let peers = draft.peers.as_ref().map(|texts| {
        let read = |(at, text): (usize, &String)| {
            problems.read(&format!("peers[{at}]"), text, Peers::parse)
        };
        texts.iter().enumerate().filter_map(read).collect()
    });
    let limits = Limits {
        peers,
        rate_bps: problems.read_optional("rate", draft.rate.as_ref(), parse_rate),
        bytes_a_day: problems.read_optional("bytes_a_day", draft.bytes_a_day.as_ref(), parse_bytes),
        time_ns: problems.read_optional("time", draft.time.as_ref(), parse_span),
        quiet,
        kinds: draft.kinds.clone(),
        keep_ns: problems.read_optional("keep", draft.keep.as_ref(), parse_span),
    };
    if limits.keep_ns.is_some_and(|keep_ns| keep_ns < KEEP_NS_MIN) {
        problems
            .add("keep", "another attempt goes on with a run: an hour is the least".to_string());
    }
    if problems.is_empty() { Ok(limits) } else { Err(problems.into_found()) }
}

impl Limits {
    /// How long a run stays once the archive has all of it, in ns; for ever if it is `None`.
    pub fn keep_ns(&self) -> Option<u64> {
        self.keep_ns
    }

    /// Whether a job with `peer` that takes `asked`, and `longest_ns` at most, is allowed at `now`
    /// on a day of which `spent_bytes` are spent.
    ///
    /// # Errors
    /// What is not allowed, in words.
    pub fn allow(
        &self,
        peer: &HostName,
        asked: &Asked,
        longest_ns: u64,
        spent_bytes: u64,
        now: Moment,
    ) -> Result<(), String> {
        if self.peers.as_ref().is_some_and(|peers| !peers.iter().any(|one| one.holds(peer))) {
            return Err(format!("{peer} is not one of its peers"));
        }
        let known = |kind: &&String| self.kinds.as_ref().is_none_or(|all| all.contains(*kind));
        if let Some(kind) = asked.kinds.iter().find(|kind| !known(kind)) {
            return Err(format!("{kind} is not one of its kinds of measurement"));
        }
        if let Some(most) = self.rate_bps {
            let rate = asked.rate_bps.ok_or("it has a highest rate, and this asks for more")?;
            if rate > most {
                let (rate, most) = (format_rate(rate as f64), format_rate(most as f64));
                return Err(format!("{rate} is more than {most}"));
            }
        }
        if let Some(most) = self.time_ns.filter(|most| longest_ns > *most) {
            let (longest, most) = (format_span(longest_ns as f64), format_span(most as f64));
            return Err(format!("{longest} is longer than {most}"));
        }
        if let Some(most) = self.bytes_a_day {
            let bytes = asked.bytes.ok_or(NO_SPEED)?;
            let total = spent_bytes.saturating_add(bytes);
            if total > most {
                let (total, most) = (format_bytes(total), format_bytes(most));
                return Err(format!("{total} would be more than its {most} a day"));
            }
        }
        // What takes as long as it may must not last into quiet hours either.
        match self.quiet.touches(now, longest_ns.min(86_400 * SECOND_NS)) {
            true => Err("these are its quiet hours".to_string()),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(change: impl FnOnce(&mut LimitsDraft)) -> Limits {
        let mut draft = LimitsDraft { v6gap: 1, ..LimitsDraft::default() };
        change(&mut draft);
        check(&draft).unwrap()
    }

    fn asked() -> Asked {
        let kinds = ["rtt".to_string()].into();
        Asked { kinds, rate_bps: Some(1_000_000), bytes: Some(1_000), time_ns: 20 * SECOND_NS }
    }

    fn allows(limits: &Limits, asked: &Asked) -> Result<(), String> {
        // Monday, 23 November 2026, 10:00 UTC.
        let now = Moment { unix_ns: 1_795_428_000 * SECOND_NS, offset_s: 0 };
        limits.allow(&"rome/a".parse().unwrap(), asked, 60 * SECOND_NS, 500, now)
    }

    #[test]
    fn what_is_not_said_is_not_limited() {
        for bytes in [Some(u64::MAX), None] {
            let most = Asked { rate_bps: None, bytes, ..asked() };
            assert_eq!(allows(&limits(|_| {}), &most), Ok(()));
        }
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_string())
    }

    fn list(text: &str) -> Option<Vec<String>> {
        Some([text.to_string()].into())
    }

    /// Sets a limit to what is just within it, or just beyond.
    type Change = fn(&mut LimitsDraft, bool);

    const CHANGES: [Change; 7] = [
        |draft, within| draft.peers = list(if within { "rome/*" } else { "oslo/*" }),
        |draft, within| draft.peers = list(if within { "rome/a" } else { "rome/b" }),
        |draft, within| draft.kinds = list(if within { "rtt" } else { "loss" }),
        |draft, within| draft.rate = text(if within { "1 Mbit/s" } else { "999 kbit/s" }),
        |draft, within| draft.bytes_a_day = text(if within { "1500 B" } else { "1499 B" }),
        |draft, within| draft.time = text(if within { "60 s" } else { "59 s" }),
        |draft, within| {
            let span = if within { "Sun 08:00-18:00" } else { "Mon 10:01-18:00" };
            draft.quiet = [span.to_string()].into();
        },
    ];

    #[test]
    fn each_limit_refuses_what_is_beyond_it_and_nothing_else() {
        for (at, change) in CHANGES.into_iter().enumerate() {
            assert_eq!(allows(&limits(|draft| change(draft, true)), &asked()), Ok(()), "{at}");
            assert!(allows(&limits(|draft| change(draft, false)), &asked()).is_err(), "{at}");
        }
        let slow = limits(|draft| draft.rate = text("1 Gbit/s"));
        assert!(allows(&slow, &Asked { rate_bps: None, ..asked() }).is_err());
        let few = limits(|draft| draft.bytes_a_day = text("1 TB"));
        let why = allows(&few, &Asked { rate_bps: None, bytes: None, ..asked() }).unwrap_err();
        assert!(why.contains("rate in the plan"), "{why}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let mut draft = LimitsDraft { v6gap: 2, ..LimitsDraft::default() };
        draft.peers = Some(["Rome/a".to_string(), "*/a".to_string()].into());
        draft.rate = Some("fast".to_string());
        draft.quiet = ["never".to_string()].into();
        draft.keep = text("59 min");
        let keys: Vec<String> = check(&draft).unwrap_err().into_iter().map(|p| p.key).collect();
        assert_eq!(keys, ["v6gap", "quiet[0]", "peers[0]", "peers[1]", "rate", "keep"]);
    }
}
