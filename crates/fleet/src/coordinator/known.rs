//! What a coordinator answers to who asks how the fleet does: the agents that it has heard, in
//! parts, since a message has an end and a fleet need not have one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Bound;
use v6gap_core::fleet::PART_BYTES;
use v6gap_core::fleet::clock::ahead_ns;
use v6gap_core::fleet::message::Heartbeat;
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::work::Now;

/// An agent as it was heard last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// What it said.
    pub said: Heartbeat,
    /// How long ago that was, in ns.
    pub ago_ns: u64,
    /// How far its wall clock was ahead of the hub's when it came, in ns.
    #[serde(default)]
    pub clock_ahead_ns: i64,
}

/// What is known of a fleet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Known {
    /// Whether one that answered leads.
    pub leads: bool,
    /// The agents that were heard, in the order of their names.
    pub agents: Vec<Heard>,
}

/// What is asked for; nothing at all asks for the first part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The agents behind that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<HostName>,
}

/// A part of what is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Whether the one that answers leads.
    leads: bool,
    /// Agents in the order of their names.
    agents: Vec<Heard>,
    /// Behind which the next part begins; none if this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<HostName>,
}

impl Part {
    /// The part that is asked for, of those that were `heard` with when that was.
    pub(super) fn of(
        heard: &BTreeMap<HostName, (Heartbeat, Now)>,
        asked: &Asked,
        leads: bool,
        now_ns: u64,
    ) -> Part {
        let from = asked.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut part = Part { leads, agents: Vec::new(), next: None };
        let mut bytes = 0;
        for (said, at) in heard.range::<HostName, _>((from, Bound::Unbounded)).map(|(_, of)| of) {
            let agent = Heard {
                said: said.clone(),
                ago_ns: now_ns.saturating_sub(at.ns),
                clock_ahead_ns: ahead_ns(said.unix_ns, at.wall.unix_ns),
            };
            // What came as JSON can be written so.
            bytes += serde_json::to_string(&agent).map_or(0, |text| text.len() + 1);
            // A single one is a part, however long.
            if bytes > PART_BYTES
                && let Some(last) = part.agents.last()
            {
                part.next = Some(last.said.from.clone());
                return part;
            }
            part.agents.push(agent);
        }
        part
    }
}

impl Known {
    /// Puts a part behind those before it, and says what to ask for next; nothing if it was the
    /// last.
    pub(crate) fn add(&mut self, part: Part) -> Option<Asked> {
        self.leads |= part.leads;
        let last = self.agents.last().map(|heard| heard.said.from.clone());
        // Another one may answer than before: none comes twice, and there is an end.
        let is_behind = |name: &HostName| last.as_ref().is_none_or(|last| name > last);
        self.agents.extend(part.agents.into_iter().filter(|heard| is_behind(&heard.said.from)));
        let after = part.next.filter(is_behind)?;
        Some(Asked { after: Some(after) })
    }

    /// The agent of that host.
    pub(crate) fn agent(&self, host: &HostName) -> Option<&Heard> {
        let at = self.agents.binary_search_by(|heard| heard.said.from.cmp(host)).ok()?;
        self.agents.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::watch::Moment;

    /// What a broker takes at most, in bytes.
    const MESSAGE_BYTES_MAX: usize = 1 << 20;

    fn now() -> Now {
        Now { ns: 7, wall: Moment { unix_ns: 9, offset_s: 0 } }
    }

    /// So many agents, each with so much trouble.
    fn heard(count: usize, letters: usize) -> BTreeMap<HostName, (Heartbeat, Now)> {
        let one = |number: usize| {
            let name: HostName = format!("site-{}/h{number}", number % 40).parse().unwrap();
            let said = serde_json::json!({
                "from": name, "version_lowest": 1, "version_highest": 1, "program": "v6gap 1.2.3",
                "addresses": ["2001:db8::1", "192.0.2.1"], "unix_ns": 8, "state": "idle",
                "highest": number, "free_bytes": 1, "unarchived": 0, "trouble": "x".repeat(letters),
            });
            (name, (serde_json::from_value(said).unwrap(), now()))
        };
        (0..count).map(one).collect()
    }

    /// All parts as they come and go over the broker, with how many there were.
    fn asked(heard: &BTreeMap<HostName, (Heartbeat, Now)>) -> (Known, usize) {
        let (mut known, mut asked, mut parts) = (Known::default(), Some(Asked::default()), 0);
        while let Some(next) = asked {
            let question = serde_json::to_vec(&next).unwrap();
            let question = serde_json::from_slice(&question).unwrap();
            let answer = serde_json::to_vec(&Part::of(heard, &question, true, 9)).unwrap();
            assert!(answer.len() < MESSAGE_BYTES_MAX, "{} bytes", answer.len());
            asked = known.add(serde_json::from_slice(&answer).unwrap());
            parts += 1;
        }
        (known, parts)
    }

    #[test]
    fn ten_thousand_agents_are_told_in_parts_each_once() {
        for (count, letters, least) in [(10_000, 0, 4), (10_000, 300, 8), (60, 16_000, 2)] {
            let heard = heard(count, letters);
            let (known, parts) = asked(&heard);
            let names: Vec<&HostName> = known.agents.iter().map(|of| &of.said.from).collect();
            assert_eq!(names, heard.keys().collect::<Vec<_>>());
            assert!(parts >= least && known.leads, "{parts} parts");
            let agent = known.agent(names[count / 2]).unwrap();
            assert_eq!((&agent.said.from, agent.ago_ns), (names[count / 2], 2));
            assert_eq!(agent.clock_ahead_ns, -1);
        }
        assert_eq!(asked(&BTreeMap::new()), (Known { leads: true, agents: Vec::new() }, 1));
    }

    #[test]
    fn an_answer_that_leads_back_ends() {
        let heard = heard(3, 0);
        let first = heard.keys().next().cloned();
        let mut known = Known::default();
        let part = Part::of(&heard, &Asked::default(), false, 9);
        assert_eq!(known.add(Part { next: first.clone(), ..part.clone() }).unwrap().after, first);
        assert_eq!(known.add(Part { next: first, ..part }), None);
        assert_eq!((known.agents.len(), known.leads), (3, false));
        // What a coordinator said that knew no parts.
        let whole = serde_json::json!({ "leads": true, "agents": [] });
        assert_eq!(known.add(serde_json::from_value(whole).unwrap()), None);
    }
}
