//! The way to a host, router by router, over both families: which distance is asked next, and what
//! came of it. A pure machine, which is told the time; who asks is its driver's business.
//!
//! Routers answer few questions: Linux gives one IPv4 address six answers at once and then one a
//! second. So no distance is asked twice in a second, no answer that did not come is taken for a
//! loss, and what is kept of a router is its address and the shortest of its times.

use crate::family::{Family, PerFamily};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// The greatest distance that is asked.
pub const DISTANCE_MAX: u8 = 32;

/// How often each distance is asked.
pub const ROUNDS: u8 = 3;

/// So many distances in a row without an answer, and those behind them are not asked.
const SILENT_MAX: u8 = 5;

/// No distance is asked again before this time has passed, in ns.
const AGAIN_NS: u64 = 1_000_000_000;

/// Somebody who answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Whose address the answer had.
    pub address: IpAddr,
    /// The name that a name server gives for it (a PTR record).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The shortest time to an answer, in ns.
    pub best_ns: u64,
}

/// What is at a distance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rung {
    /// Who answered.
    pub by: Vec<Answered>,
    /// How often it was asked.
    pub asked: u8,
    /// Whether the host itself answered.
    pub is_host: bool,
}

impl Rung {
    /// The shortest time to an answer, in ns.
    pub fn best_ns(&self) -> Option<u64> {
        self.by.iter().map(|answered| answered.best_ns).min()
    }
}

/// What came of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A router let the packet end there.
    Router {
        /// Its address.
        by: IpAddr,
        /// From the question to the answer, in ns.
        ns: u64,
    },
    /// The host answered.
    End {
        /// Its address.
        by: IpAddr,
        /// From the question to the answer, in ns.
        ns: u64,
    },
    /// Somebody before the host says that the way ends there, as a firewall does.
    Barred {
        /// Who.
        by: IpAddr,
        /// From the question to the answer, in ns.
        ns: u64,
    },
    /// Nothing came in time.
    Nothing,
}

/// A question: a packet of a family that ends at this distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The family.
    pub family: Family,
    /// Time to live or hop limit, from 1 on.
    pub distance: u8,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Ask, and tell what came of it.
    Ask(Question),
    /// Nothing before this time, in ns.
    Rest(u64),
    /// The way is known as far as it can be.
    Over,
}

/// The rungs of both families, and where asking stands.
#[derive(Debug, Clone, Default)]
pub struct Ladder {
    rungs: PerFamily<Vec<Rung>>,
    asked_ns: BTreeMap<Question, u64>,
    /// Whose turn it is not.
    last: Option<Family>,
    /// Whether somebody before the host ends the way there.
    barred: PerFamily<bool>,
}

impl Ladder {
    /// The ladder of a host with an address of these families.
    pub fn new() -> Self {
        Ladder::default()
    }

    /// What was found.
    pub fn into_rungs(self) -> PerFamily<Vec<Rung>> {
        self.rungs
    }

    /// What is to be done next over the families that `there` is true of, which alternate. The
    /// first time distances are asked one after the other; then those that were asked least.
    pub fn next(&self, there: PerFamily<bool>, now_ns: u64) -> Next {
        let first = self.last.map_or(Family::V4, Family::other);
        let mut earliest = None;
        for family in [first, first.other()] {
            if !*there.get(family) {
                continue;
            }
            let Some(question) = self.question(family) else { continue };
            let from_ns = self.asked_ns.get(&question).map_or(0, |ns| ns.saturating_add(AGAIN_NS));
            if from_ns <= now_ns {
                return Next::Ask(question);
            }
            earliest = Some(earliest.map_or(from_ns, |ns: u64| ns.min(from_ns)));
        }
        earliest.map_or(Next::Over, Next::Rest)
    }

    /// The distance of a family that is due.
    fn question(&self, family: Family) -> Option<Question> {
        let rungs = self.rungs.get(family);
        let distance = |index: usize| u8::try_from(index + 1).ok();
        let is_over = rungs.last().is_some_and(|rung| rung.is_host)
            || *self.barred.get(family)
            || rungs.len() >= usize::from(DISTANCE_MAX)
            || silent(rungs) >= SILENT_MAX.into();
        if !is_over {
            return Some(Question { family, distance: distance(rungs.len())? });
        }
        // Behind the last answer nothing is asked again.
        let known =
            rungs.len() - if rungs.last().is_some_and(|r| r.is_host) { 0 } else { silent(rungs) };
        let least = rungs[..known].iter().enumerate().min_by_key(|(_, rung)| rung.asked);
        let (index, rung) = least?;
        (rung.asked < ROUNDS).then_some(Question { family, distance: distance(index)? })
    }

    /// Takes note of what came of a question that was asked at `asked_ns`.
    pub fn heard(&mut self, question: Question, heard: Heard, asked_ns: u64) {
        self.last = Some(question.family);
        self.asked_ns.insert(question, asked_ns);
        let rungs = self.rungs.get_mut(question.family);
        let index = usize::from(question.distance.max(1)) - 1;
        if index > rungs.len() {
            return;
        }
        if index == rungs.len() {
            rungs.push(Rung::default());
        }
        let rung = &mut rungs[index];
        rung.asked = rung.asked.saturating_add(1);
        let (by, ns, is_host) = match heard {
            Heard::Router { by, ns } => (by, ns, false),
            Heard::End { by, ns } => (by, ns, true),
            Heard::Barred { by, ns } => {
                *self.barred.get_mut(question.family) = true;
                (by, ns, false)
            }
            Heard::Nothing => return,
        };
        rung.is_host |= is_host;
        match rung.by.iter_mut().find(|answered| answered.address == by) {
            Some(known) => known.best_ns = ns.min(known.best_ns),
            None => rung.by.push(Answered { address: by, name: None, best_ns: ns }),
        }
    }
}

/// Where the ways of both families part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parting {
    /// The first distance that is not the same for both, from 1 on.
    pub distance: usize,
    /// What tells.
    pub by: Told,
}

/// What tells that routers of both families are not the same machine: their addresses cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Their names.
    Names,
    /// The times to their answers.
    Times,
}

/// Times to two routers that are apart by less than this, in ns, and by less than a tenth, may be
/// those of one: each is the shortest of three.
const APART_NS: u64 = 1_000_000;

/// Where the ways part, as far as can be told: at the first distance whose routers have names of
/// different machines, or, where one has no name, answer at different times. Nothing is told of
/// the hosts themselves.
pub fn parting(rungs: &PerFamily<Vec<Rung>>) -> Option<Parting> {
    let steps = rungs.v4.iter().zip(&rungs.v6).enumerate();
    for (index, (four, six)) in steps {
        if four.is_host && six.is_host {
            return None;
        }
        let (Some(v4), Some(v6)) = (four.by.first(), six.by.first()) else { continue };
        let found = match (&v4.name, &v6.name) {
            (Some(one), Some(other)) if one.eq_ignore_ascii_case(other) => None,
            (Some(_), Some(_)) => Some(Told::Names),
            (_, _) if are_apart(v4.best_ns, v6.best_ns) => Some(Told::Times),
            (_, _) => None,
        };
        if let Some(by) = found {
            return Some(Parting { distance: index + 1, by });
        }
    }
    None
}

fn are_apart(one_ns: u64, other_ns: u64) -> bool {
    one_ns.abs_diff(other_ns) >= APART_NS.max(one_ns.max(other_ns) / 10)
}

/// How many of the last rungs nobody answered from.
fn silent(rungs: &[Rung]) -> usize {
    rungs.iter().rev().take_while(|rung| rung.by.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const BOTH: PerFamily<bool> = PerFamily { v4: true, v6: true };

    /// Asks routers, of which those without an address are silent, until the ladder is over.
    fn climb(ways: &PerFamily<Vec<Option<u8>>>) -> (Ladder, Vec<(u64, Question)>) {
        let (mut ladder, mut now_ns, mut asked) = (Ladder::new(), 0, Vec::new());
        loop {
            match ladder.next(BOTH, now_ns) {
                Next::Ask(question) => {
                    asked.push((now_ns, question));
                    let way = ways.get(question.family);
                    let index = usize::from(question.distance) - 1;
                    let by = |last: u8| match question.family {
                        Family::V4 => IpAddr::from([10, 0, 0, last]),
                        Family::V6 => IpAddr::from([0xfd, 0, 0, 0, 0, 0, 0, u16::from(last)]),
                    };
                    let ns = u64::from(question.distance) * 1_000;
                    let heard = match way.get(index) {
                        Some(Some(last)) if index + 1 == way.len() => {
                            Heard::End { by: by(*last), ns }
                        }
                        Some(Some(last)) => Heard::Router { by: by(*last), ns },
                        _ => Heard::Nothing,
                    };
                    ladder.heard(question, heard, now_ns);
                    now_ns += 1_000_000;
                }
                Next::Rest(until_ns) => now_ns = until_ns,
                Next::Over => return (ladder, asked),
            }
            assert!(asked.len() < 1_000);
        }
    }

    #[test]
    fn every_rung_is_asked_three_times_and_never_twice_in_a_second() {
        let ways = PerFamily {
            v4: vec![Some(1), Some(2), Some(9)],
            v6: vec![Some(1), None, Some(3), Some(9)],
        };
        let (ladder, asked) = climb(&ways);
        let lengths = ladder.rungs.as_ref().map(Vec::len);
        assert_eq!(lengths, PerFamily { v4: 3, v6: 4 });
        assert_eq!(asked.len(), 3 * 7);
        for family in Family::BOTH {
            for distance in 1..5 {
                let question = Question { family, distance };
                let times: Vec<u64> =
                    asked.iter().filter(|(_, q)| *q == question).map(|(ns, _)| *ns).collect();
                assert!(times.windows(2).all(|two| two[1] - two[0] >= AGAIN_NS), "{times:?}");
            }
        }
        // Families alternate as long as both have something to ask.
        assert!(asked[..6].windows(2).all(|two| two[0].1.family != two[1].1.family));
        assert!(ladder.rungs.v6[1].by.is_empty() && ladder.rungs.v6[3].is_host);
        assert_eq!(ladder.rungs.v4[1].best_ns(), Some(2_000));
    }

    #[test]
    fn a_way_that_falls_silent_is_over_five_rungs_later() {
        let silent = vec![Some(1), None, None, None, None, None, None, Some(9)];
        let (ladder, asked) = climb(&PerFamily { v4: silent, v6: vec![Some(9)] });
        assert_eq!(ladder.rungs.v4.len(), 6);
        let of_four = asked.iter().filter(|(_, q)| q.family == Family::V4);
        assert_eq!(of_four.count(), 6 + 2);
        assert_eq!(ladder.rungs.v6.len(), 1);
    }

    /// A firewall that says that nothing may pass is not the host.
    #[test]
    fn a_way_that_is_barred_is_over_and_not_seen_to_its_end() {
        let mut ladder = Ladder::new();
        let six = PerFamily { v4: false, v6: true };
        let (mut asked, mut now_ns) = (0, 0);
        let by = IpAddr::from([0xfd, 0, 0, 0, 0, 0, 0, 1]);
        loop {
            match ladder.next(six, now_ns) {
                Next::Ask(question) => {
                    let heard = match question.distance {
                        1 => Heard::Router { by, ns: 1_000 },
                        _ => Heard::Barred { by, ns: 2_000 },
                    };
                    ladder.heard(question, heard, now_ns);
                    asked += 1;
                }
                Next::Rest(until_ns) => now_ns = until_ns,
                Next::Over => break,
            }
            assert!(asked < 100);
        }
        let rungs = ladder.into_rungs().v6;
        assert_eq!((rungs.len(), asked), (2, 2 * usize::from(ROUNDS)));
        assert!(rungs.iter().all(|rung| !rung.is_host && rung.by.len() == 1));
    }

    #[test]
    fn ways_part_where_names_or_times_do() {
        let rung = |last: u8, name: Option<&str>, best_ns| Rung {
            by: vec![Answered {
                address: core::net::Ipv4Addr::new(192, 0, 2, last).into(),
                name: name.map(Into::into),
                best_ns,
            }],
            asked: 3,
            is_host: false,
        };
        let ms = 1_000_000;
        let of = |v4: Vec<Rung>, v6: Vec<Rung>| parting(&PerFamily { v4, v6 });
        let first = rung(1, Some("r1.example"), ms);
        let named = |name| rung(2, Some(name), 9 * ms);
        assert_eq!(of(vec![first.clone(), named("a")], vec![first.clone(), named("A")]), None);
        let names = Some(Parting { distance: 2, by: Told::Names });
        assert_eq!(of(vec![first.clone(), named("a")], vec![first.clone(), named("b")]), names);
        let times = Some(Parting { distance: 2, by: Told::Times });
        let silent = || Rung { asked: 3, ..Rung::default() };
        let at = |best_ns| rung(3, None, best_ns);
        assert_eq!(of(vec![silent(), at(9 * ms)], vec![first.clone(), at(10 * ms)]), times);
        assert_eq!(of(vec![first.clone(), at(30 * ms)], vec![first, at(32 * ms)]), None);
    }

    #[test]
    fn a_family_without_an_address_is_not_asked() {
        let ladder = Ladder::new();
        let six = PerFamily { v4: false, v6: true };
        let expected = Question { family: Family::V6, distance: 1 };
        assert_eq!(ladder.next(six, 0), Next::Ask(expected));
        assert_eq!(ladder.next(PerFamily { v4: false, v6: false }, 0), Next::Over);
    }
}
