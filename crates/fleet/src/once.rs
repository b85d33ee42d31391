//! A mesh plan of which each path is measured once: which are still waited for, and why others
//! cannot be measured.

use crate::coordinator::{Known, Missed, Visited};
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::fleet::clock::Clocks;
use v6gap_core::fleet::coordinator::{Obstacle, unfit};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::work::{Key, Work};
use v6gap_core::fleet::{HEARTBEAT_NS, SECOND_NS, SILENT_NS};

/// How long something may be in the way of a path, in ns: by then an agent that is there was heard.
const PATIENCE_NS: u64 = SILENT_NS + HEARTBEAT_NS;

/// How long something else may be measured at a host, in ns: that ends by itself.
const TAKEN_NS: u64 = 1_800 * SECOND_NS;

/// Random bytes in what a run is called.
const NAME_BYTES: usize = 4;

/// What a run of the mesh plan `name` is applied as: beside the one that is measured for good, and
/// beside other runs, none of which ends it.
pub(crate) fn called(name: &str, random: [u8; NAME_BYTES]) -> String {
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name} (once {digits})")
}

/// Whether what is applied is a run of the mesh plan `name`; those of older programs have no
/// digits.
pub(crate) fn is_run_of(name: &str, applied: &str) -> bool {
    let rest = applied.strip_prefix(name).and_then(|rest| rest.strip_prefix(" (once"));
    let is_random = |digits: &str| {
        digits.len() == 2 * NAME_BYTES && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    rest.and_then(|rest| rest.strip_suffix(')'))
        .is_some_and(|rest| rest.is_empty() || rest.strip_prefix(' ').is_some_and(is_random))
}

/// What is in the way of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// No coordinator answers, or none can lead.
    Nobody,
    /// A host.
    Host(HostName, Obstacle),
}

/// A path that was not measured yet.
#[derive(Debug)]
struct Path {
    work: Work,
    /// Why it was given up, if it was.
    given_up: Option<String>,
    /// What is in the way, and since when, in ns.
    way: Option<(Way, u64)>,
}

/// Paths that were not measured yet.
#[derive(Debug)]
pub(crate) struct Waiting {
    all: usize,
    paths: Vec<Path>,
}

/// The key that an older program has down for that work, which does not tell which text of the plan
/// it was.
fn untold((from, to, plan, _): Key<'_>) -> Key<'_> {
    (from, to, plan, "")
}

impl Waiting {
    /// For all of them.
    pub fn new(works: impl Iterator<Item = Work>) -> Self {
        let path = |work| Path { work, given_up: None, way: None };
        let paths: Vec<Path> = works.map(path).collect();
        Waiting { all: paths.len(), paths }
    }

    /// How many were measured, and of how many.
    pub fn measured(&self) -> (usize, usize) {
        (self.all - self.paths.len(), self.all)
    }

    /// Takes note of what came out since it began.
    pub fn came(&mut self, visits: &[&Visited], missed: &[&Missed]) {
        let visits: BTreeSet<_> = visits.iter().map(|visit| visit.of()).collect();
        self.paths.retain(|path| {
            let key = path.work.key();
            !visits.contains(&key) && !visits.contains(&untold(key))
        });
        let missed: BTreeMap<_, &str> =
            missed.iter().map(|missed| (missed.of(), missed.why.as_str())).collect();
        for path in &mut self.paths {
            let key = path.work.key();
            if let Some(why) = missed.get(&key).or_else(|| missed.get(&untold(key))) {
                path.given_up = Some((*why).to_owned());
            }
        }
    }

    /// Takes note of what is known of agents at that time; nothing if no coordinator answers.
    pub fn known(&mut self, known: Option<&Known>, now_ns: u64) {
        for path in &mut self.paths {
            let found = match known {
                Some(known) => obstacle(&path.work, known),
                None => Some(Way::Nobody),
            };
            let before = path.way.take();
            path.way = found.map(|found| match before {
                Some((before, since_ns)) if before == found => (found, since_ns),
                Some(_) | None => (found, now_ns),
            });
        }
    }

    /// From now on only these are among what is measured, as a sample is another one each day.
    pub fn turn(&mut self, today: &[Work]) {
        let today: BTreeSet<_> = today.iter().map(Work::key).collect();
        for path in &mut self.paths {
            if !today.contains(&path.work.key()) {
                path.given_up.get_or_insert_with(|| {
                    "a new day began, whose sample does not have it".to_owned()
                });
            }
        }
    }

    /// The mesh plan is applied no more, so that nobody measures what is left of it.
    pub fn taken_away(&mut self) {
        for path in &mut self.paths {
            path.given_up.get_or_insert_with(|| "its mesh plan was taken away".to_owned());
        }
    }

    /// Whether nothing of it is waited for any more.
    pub fn is_over(&self, now_ns: u64) -> bool {
        self.paths.iter().all(|path| path.given_up.is_some() || path.is_barred(now_ns))
    }

    /// What was not measured, each with why not as far as that is known.
    pub fn into_missing(self) -> Vec<(Work, Option<String>)> {
        let words = |path: Path| {
            let way = path.way.map(|(way, _)| words(&way));
            (path.work, path.given_up.or(way))
        };
        self.paths.into_iter().map(words).collect()
    }
}

impl Path {
    /// Whether what is in the way has been there too long.
    fn is_barred(&self, now_ns: u64) -> bool {
        let Some((way, since_ns)) = &self.way else { return false };
        let most_ns = match way {
            Way::Host(_, Obstacle::Taken | Obstacle::Busy) => TAKEN_NS,
            Way::Nobody | Way::Host(..) => PATIENCE_NS,
        };
        now_ns.saturating_sub(*since_ns) >= most_ns
    }
}

/// What keeps work from being given to its agents, by what they said.
fn obstacle(work: &Work, known: &Known) -> Option<Way> {
    let ends = [(&work.from, true), (&work.to, work.to_is_agent)];
    let agents = ends.into_iter().filter(|(_, is_agent)| *is_agent);
    agents.map(|(host, _)| host).find_map(|host| {
        let found = match known.agent(host) {
            None => Some(Obstacle::Silent),
            Some(heard) => {
                let clocks = Clocks::of(heard.clock_ahead_ns);
                unfit(&heard.said, heard.ago_ns, clocks, &work.plan.needs)
            }
        };
        found.map(|found| Way::Host(host.clone(), found))
    })
}

fn words(way: &Way) -> String {
    let Way::Host(host, obstacle) = way else {
        return "no coordinator leads; is the hub run?".to_owned();
    };
    match obstacle {
        Obstacle::Silent => format!("nothing is heard of {host}"),
        Obstacle::Busy => format!("{host} takes part in another job"),
        Obstacle::Taken => format!("something else is measured at {host}"),
        Obstacle::Closed(why) => format!("{host} takes no jobs: {why}"),
        Obstacle::Version => format!("the program at {host} is too old or too new for the hub's"),
        Obstacle::Feature(name) => format!("the program at {host} cannot do \"{name}\""),
        Obstacle::Clock => format!("the clock of {host} is more than a minute off the hub's"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::Heard;
    use crate::fixtures::work;

    /// Agents that were just heard, in the order of their names.
    fn known(agents: &[(&str, &str)]) -> Known {
        let heard = |(name, state): &(&str, &str)| {
            let said = serde_json::json!({
                "from": name, "version_lowest": 1, "version_highest": 1, "program": "",
                "unix_ns": 0, "state": state, "highest": 0, "free_bytes": 0, "unarchived": 0,
                "trouble": "the disk is full",
            });
            Heard { said: serde_json::from_value(said).unwrap(), ago_ns: 0, clock_ahead_ns: 0 }
        };
        Known { leads: true, agents: agents.iter().map(heard).collect() }
    }

    fn waiting() -> Waiting {
        Waiting::new([work("rome/a", "oslo/b"), work("oslo/b", "bern/c")].into_iter())
    }

    fn visited(work: &Work) -> Visited {
        Visited::new(work, None, 7)
    }

    fn whys(waiting: Waiting) -> Vec<Option<String>> {
        waiting.into_missing().into_iter().map(|(_, why)| why).collect()
    }

    #[test]
    fn what_is_measured_is_waited_for_no_more_and_what_is_given_up_neither() {
        let mut waiting = waiting();
        assert_eq!(waiting.measured(), (0, 2));
        let (first, second) = (work("rome/a", "oslo/b"), work("oslo/b", "bern/c"));
        let Work { from, to, plan, .. } = second.clone();
        let why = "bern/c: its owner does not allow it: rtt".to_owned();
        let (plan, hash) = (plan.name.clone(), plan.hash.clone());
        let missed = Missed { from, to, plan, hash, why: why.clone(), missed_unix_ns: 7 };
        waiting.came(&[], &[&missed]);
        assert!(!waiting.is_over(0), "one is still waited for");
        waiting.came(&[&visited(&first)], &[&missed]);
        assert!(waiting.is_over(0));
        assert_eq!(waiting.measured(), (1, 2));
        // Another one is, and may be measured after all.
        let mut again = Waiting { all: 2, paths: waiting.paths };
        again.came(&[&visited(&second)], &[&missed]);
        assert_eq!((again.measured(), again.is_over(0)), ((2, 2), true));
        let mut given_up = Waiting::new([second].into_iter());
        given_up.came(&[], &[&missed]);
        assert_eq!(whys(given_up), [Some(why)]);
    }

    #[test]
    fn what_stays_in_the_way_ends_it_and_what_passes_does_not() {
        let all = [("bern/c", "idle"), ("oslo/b", "idle"), ("rome/a", "idle")];
        let mut waiting = waiting();
        waiting.known(Some(&known(&all)), 0);
        assert!(!waiting.is_over(u64::MAX), "nothing is in the way");
        let without = known(&[("bern/c", "closed"), ("rome/a", "idle")]);
        waiting.known(Some(&without), 10);
        // It was heard meanwhile.
        waiting.known(Some(&known(&all)), 20);
        waiting.known(Some(&without), 30);
        assert!(!waiting.is_over(29 + PATIENCE_NS));
        waiting.known(Some(&without), 30 + PATIENCE_NS);
        assert!(waiting.is_over(30 + PATIENCE_NS));
        let silent = Some("nothing is heard of oslo/b".to_owned());
        assert_eq!(whys(waiting), [silent.clone(), silent]);
    }

    #[test]
    fn what_else_is_measured_is_waited_for_longer_and_a_hub_that_is_gone_is_not() {
        let taken = known(&[("bern/c", "closed"), ("oslo/b", "idle"), ("rome/a", "taken")]);
        let mut waiting = waiting();
        waiting.known(Some(&taken), 0);
        assert!(!waiting.is_over(PATIENCE_NS) && waiting.is_over(TAKEN_NS));
        let taken = Some("something else is measured at rome/a".to_owned());
        let closed = Some("bern/c takes no jobs: the disk is full".to_owned());
        assert_eq!(whys(waiting), [taken, closed]);
        let mut gone = Waiting::new([work("rome/a", "oslo/b")].into_iter());
        gone.known(None, 5);
        assert!(!gone.is_over(4 + PATIENCE_NS) && gone.is_over(5 + PATIENCE_NS));
        assert!(whys(gone)[0].as_ref().unwrap().starts_with("no coordinator"));
    }

    #[test]
    fn a_run_is_known_by_its_name_and_is_no_other_ones() {
        let (one, other) = (called("two", [1, 2, 3, 255]), called("two", [0; NAME_BYTES]));
        assert_eq!(one, "two (once 010203ff)");
        for run in [&*one, &*other, "two (once)"] {
            assert!(is_run_of("two", run), "{run}");
            assert!(!is_run_of("tw", run) && !is_run_of("two (once)", run), "{run}");
        }
        for another in ["two", "two (once more)", "two (once 010203ff) b", "two (once0)"] {
            assert!(!is_run_of("two", another), "{another}");
        }
    }

    #[test]
    fn what_is_taken_away_is_not_waited_for() {
        let mut waiting = waiting();
        waiting.came(&[&visited(&work("rome/a", "oslo/b"))], &[]);
        waiting.taken_away();
        assert!(waiting.is_over(0));
        assert_eq!(waiting.measured(), (1, 2));
        assert_eq!(whys(waiting), [Some("its mesh plan was taken away".to_owned())]);
    }

    #[test]
    fn a_sample_of_another_day_is_not_waited_for() {
        let mut waiting = waiting();
        waiting.turn(&[work("rome/a", "oslo/b")]);
        assert!(!waiting.is_over(0));
        waiting.came(&[&visited(&work("rome/a", "oslo/b"))], &[]);
        assert!(waiting.is_over(0) && whys(waiting)[0].is_some());
    }
}
