//! Days and weeks of watches in simulated time: how many visits there are, that no two are made at
//! once, that budgets and quiet hours hold, that no phase drifts, and that a watch which is killed
//! goes on from its log.

#[path = "../../tests/common/splitmix.rs"]
mod splitmix;

mod remembered;

use super::check::check;
use super::draft::{Draft, PathDraft, VERSION};
use super::known::{Known, Past};
use super::log::{Began, Cause, Ended, Logged, Noted, Outcome};
use super::machine::{Action, Machine, TAKEN_NS, Visit};
use super::said::{Came, How};
use super::{DAY_NS, Kind, Moment, SECOND_NS, Watch, day_of};
use crate::family::Family;
use crate::record::RunId;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Monday, 23 November 2026, 09:30 UTC.
const START_NS: u64 = 1_795_426_200 * SECOND_NS;

const MINUTE_NS: u64 = 60 * SECOND_NS;

/// How long a visit of these tests takes.
const VISIT_NS: u64 = 20 * SECOND_NS;

/// What a host makes of a visit: how long it takes, and what comes of it.
type Host<'a> = dyn FnMut(&Visit, Moment) -> (u64, Came) + 'a;

/// A watch on a simulated host.
struct Sim {
    machine: Machine,
    now: Moment,
    log: Vec<Logged>,
    runs: u32,
}

fn draft(paths: &[(&str, &str, Option<&str>)]) -> Draft {
    let path = |&(host, every, throughput): &(&str, &str, Option<&str>)| PathDraft {
        host: host.to_owned(),
        every: Some(every.to_owned()),
        throughput_every: throughput.map(ToOwned::to_owned),
        ..PathDraft::default()
    };
    Draft { v6gap: VERSION, paths: paths.iter().map(path).collect(), ..Draft::default() }
}

fn at(unix_ns: u64) -> Moment {
    Moment { unix_ns, offset_s: 3600 }
}

fn ended(outcome: Outcome, bytes: u64) -> Came {
    Came {
        how: How::Ended(outcome),
        bytes,
        seen: Vec::new(),
        answers: Vec::new(),
        noted: Noted::default(),
        facts: Vec::new(),
    }
}

fn measured(bytes: u64) -> (u64, Came) {
    (VISIT_NS, ended(Outcome::Measured, bytes))
}

fn taken() -> (u64, Came) {
    (SECOND_NS / 10, Came { how: How::Taken, ..ended(Outcome::Taken, 0) })
}

fn folded(log: &[Logged]) -> Known {
    let mut known = Known::default();
    log.iter().for_each(|entry| known.take(entry));
    known
}

impl Sim {
    fn new(watch: Watch) -> Self {
        Self::resumed(watch, Vec::new(), START_NS)
    }

    /// The watch that goes on from a log.
    fn resumed(watch: Watch, log: Vec<Logged>, now_ns: u64) -> Self {
        Self::expecting(&[], watch, log, now_ns)
    }

    /// The same with what visits are expected to take.
    fn expecting(
        expected: &[(usize, Kind, u64)],
        watch: Watch,
        log: Vec<Logged>,
        now_ns: u64,
    ) -> Self {
        let now = at(now_ns);
        let machine = Machine::new(watch, expected, folded(&log), "this host", now);
        let mut sim = Sim { machine, now, log, runs: 0 };
        sim.keep();
        sim
    }

    fn keep(&mut self) {
        self.log.extend(self.machine.unsaved());
    }

    /// Goes on until `end_ns`, or until a visit is to be killed.
    fn until(&mut self, end_ns: u64, kill: &mut dyn FnMut() -> bool, host: &mut Host<'_>) {
        while self.now.unix_ns < end_ns {
            let action = self.machine.next(self.now, false);
            self.keep();
            match action {
                Action::Wait(until_ns) => {
                    assert!(until_ns > self.now.unix_ns, "it waits for nothing");
                    self.now.unix_ns = until_ns;
                }
                Action::Start(visit) => {
                    let (took_ns, came) = host(&visit, self.now);
                    if matches!(came.how, How::Ended(Outcome::Measured)) {
                        self.name_run(&visit);
                    }
                    assert_eq!(self.machine.next(self.now, false), Action::Visiting);
                    self.now = self.now.later(took_ns);
                    if kill() {
                        return;
                    }
                    self.machine.ended(came, self.now);
                    self.keep();
                }
                Action::Visiting | Action::End => panic!("{action:?} between visits"),
            }
        }
    }

    fn name_run(&mut self, visit: &Visit) {
        let run = visit.continued.clone().unwrap_or_else(|| {
            self.runs += 1;
            RunId::from_bits(self.runs)
        });
        self.machine.measures(&run, self.now);
        self.keep();
    }

    fn run_for(&mut self, ns: u64, host: &mut Host<'_>) {
        let end_ns = self.now.unix_ns + ns;
        self.until(end_ns, &mut || false, host);
    }

    fn past(&self, path: &str, kind: Kind) -> Past {
        self.machine.known().past(path, kind).cloned().unwrap_or_default()
    }
}

fn begun(log: &[Logged]) -> Vec<&Began> {
    let entries = log.iter().filter_map(|entry| match entry {
        Logged::Began(began) => Some(began),
        _ => None,
    });
    entries.collect()
}

fn over(log: &[Logged]) -> Vec<&Ended> {
    let entries = log.iter().filter_map(|entry| match entry {
        Logged::Ended(ended) => Some(&**ended),
        _ => None,
    });
    entries.collect()
}

/// Each visit ends before another one begins, and each that began has one end.
fn one_at_a_time(log: &[Logged]) {
    let mut open: Option<(String, Kind, u64)> = None;
    for entry in log {
        match entry {
            Logged::Began(began) => {
                assert_eq!(open, None, "{began:?}");
                open = Some((began.path.clone(), began.kind, began.at_unix_ns));
            }
            Logged::Ended(ended) => {
                let of = (ended.path.clone(), ended.kind, ended.began_unix_ns);
                assert_eq!(open.take(), Some(of));
            }
            Logged::Watching(_) | Logged::Measures(_) | Logged::Missed(_) | Logged::Notified(_) => {
            }
        }
    }
}

/// When the visits of each path and kind were due.
fn dues(log: &[Logged]) -> BTreeMap<(String, Kind), Vec<u64>> {
    let mut dues: BTreeMap<(String, Kind), Vec<u64>> = BTreeMap::new();
    for began in begun(log) {
        dues.entry((began.path.clone(), began.kind)).or_default().push(began.due_unix_ns);
    }
    dues
}

fn three() -> Watch {
    let paths = [("a", "15 min", None), ("b", "15 min", Some("6 h")), ("c", "30 min", None)];
    check(&draft(&paths)).unwrap()
}

#[test]
fn seven_days_have_exactly_their_visits_and_no_phase_drifts() {
    let mut sim = Sim::new(three());
    sim.run_for(7 * DAY_NS + 5 * MINUTE_NS, &mut |_, _| measured(1));
    one_at_a_time(&sim.log);
    let week = START_NS..START_NS + 7 * DAY_NS;
    let counts: Vec<(String, Kind, usize)> = dues(&sim.log)
        .into_iter()
        .map(|((path, kind), dues)| {
            (path, kind, dues.into_iter().filter(|due| week.contains(due)).count())
        })
        .collect();
    let expected = [("a", Kind::Light, 672), ("b", Kind::Light, 672), ("b", Kind::Throughput, 28)];
    let expected = expected.into_iter().chain([("c", Kind::Light, 336)]);
    let expected: Vec<_> = expected.map(|(p, kind, n)| (p.to_string(), kind, n)).collect();
    assert_eq!(counts, expected);
    for ((path, kind), dues) in dues(&sim.log) {
        let steps: BTreeSet<u64> = dues.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(steps.len(), 1, "{path} {kind:?}: {steps:?}");
    }
    // At most the three other visits may stand before one that is due.
    let late = begun(&sim.log).into_iter().map(|b| b.at_unix_ns - b.due_unix_ns).max();
    assert!(late.is_some_and(|ns| ns <= 3 * VISIT_NS), "{late:?}");
    assert_eq!(folded(&sim.log), *sim.machine.known());
}

#[test]
fn the_visits_of_a_day_continue_one_run() {
    let mut sim = Sim::new(three());
    sim.run_for(3 * DAY_NS, &mut |_, _| measured(1));
    let mut runs: BTreeMap<(String, Kind, u64), BTreeSet<String>> = BTreeMap::new();
    for ended in over(&sim.log) {
        let run = ended.run.as_ref().map(ToString::to_string).unwrap_or_default();
        let day = day_of(ended.began_unix_ns);
        runs.entry((ended.path.clone(), ended.kind, day)).or_default().insert(run);
    }
    assert!(runs.values().all(|runs| runs.len() == 1 && !runs.contains("")), "{runs:?}");
    let all: BTreeSet<&String> = runs.values().flatten().collect();
    assert_eq!(all.len(), runs.len(), "no run is of two days or paths");
    // From Monday morning on for three days: four days of UTC, four tracks.
    assert_eq!(runs.len(), 16);
}

#[test]
fn what_is_in_the_way_is_waited_for_once_and_counted() {
    let mut sim = Sim::new(three());
    let busy = |now: Moment| now.unix_ns % DAY_NS < 60 * MINUTE_NS;
    sim.run_for(7 * DAY_NS, &mut |_, now| if busy(now) { taken() } else { measured(1) });
    one_at_a_time(&sim.log);
    let mut given_up = 0;
    for ended in over(&sim.log) {
        let second_ns = ended.began_unix_ns + SECOND_NS / 10 + TAKEN_NS;
        let in_the_way = busy(at(ended.began_unix_ns)) && busy(at(second_ns));
        let expected = if in_the_way { Outcome::Taken } else { Outcome::Measured };
        assert_eq!(ended.outcome, expected, "{ended:?}");
        given_up += u64::from(in_the_way);
    }
    assert!(given_up > 7 * 8, "{given_up}");
    let paths = [("a", Kind::Light), ("b", Kind::Light), ("b", Kind::Throughput)];
    let counted = paths.into_iter().chain([("c", Kind::Light)]);
    let counted: u64 = counted.map(|(path, kind)| sim.past(path, kind).given_up()).sum();
    assert_eq!(counted, given_up);
}

#[test]
fn quiet_hours_are_empty_and_all_others_are_full() {
    let mut draft = draft(&[("a", "15 min", None)]);
    draft.quiet = vec!["Mon-Fri 08:00-18:00".to_owned(), "Sun 23:00-01:30".to_owned()];
    let watch = check(&draft).unwrap();
    let quiet = watch.quiet.clone();
    let mut sim = Sim::new(watch);
    sim.run_for(14 * DAY_NS, &mut |_, _| measured(1));
    for ended in over(&sim.log) {
        let length_ns = ended.at_unix_ns - ended.began_unix_ns;
        assert!(!quiet.touches(at(ended.began_unix_ns), length_ns), "{ended:?}");
    }
    let made = dues(&sim.log).remove(&("a".to_owned(), Kind::Light)).unwrap();
    let (first, period_ns) = (made[0], 15 * MINUTE_NS);
    // The same phase before and behind all that is looked at.
    let before = START_NS / period_ns * period_ns + first % period_ns - period_ns;
    let all = (0..=14 * 96 + 1).map(|slot| before + slot * period_ns);
    let fortnight = START_NS..START_NS + 14 * DAY_NS;
    let loud = |due: &u64| fortnight.contains(due) && !quiet.touches(at(*due), VISIT_NS);
    let expected: Vec<u64> = all.filter(loud).collect();
    assert_eq!(made, expected);
}

#[test]
fn a_host_that_slept_made_no_visits_and_knows_it() {
    let mut sim = Sim::new(three());
    sim.run_for(DAY_NS, &mut |_, _| measured(1));
    let before = sim.past("a", Kind::Light).begun();
    sim.now = sim.now.later(8 * 3600 * SECOND_NS);
    sim.run_for(10 * MINUTE_NS, &mut |_, _| measured(1));
    let past = sim.past("a", Kind::Light);
    // 32 were due, of which the last is made late and the others never.
    assert!((31..=32).contains(&past.missed[&Cause::Behind]), "{past:?}");
    assert!(past.begun() - before <= 2);
    one_at_a_time(&sim.log);
}

#[test]
fn a_visit_that_was_broken_off_counts_as_the_largest_before_it() {
    let watch = check(&draft(&[("a", "15 min", None)])).unwrap();
    let mut sim = Sim::new(watch.clone());
    let mut visits = 0;
    let kill = &mut || {
        visits += 1;
        visits == 3
    };
    sim.until(START_NS + 120 * MINUTE_NS, kill, &mut |_, _| measured(7));
    let sim = Sim::resumed(watch, sim.log, sim.now.unix_ns);
    assert_eq!(sim.machine.known().spent.on(sim.now.day()), 21);
}

#[test]
fn a_clock_that_is_set_back_stops_nothing() {
    let mut sim = Sim::new(three());
    sim.run_for(DAY_NS, &mut |_, _| measured(1));
    let before = sim.past("a", Kind::Light).begun();
    sim.now.unix_ns -= 10 * DAY_NS;
    sim.run_for(DAY_NS, &mut |_, _| measured(1));
    let made = sim.past("a", Kind::Light).begun() - before;
    assert!((95..=97).contains(&made), "{made}");
}

#[test]
fn an_outage_is_known_from_its_first_visit_to_its_last() {
    let mut sim = Sim::new(three());
    let down = |family| {
        let why = "no answer".to_owned();
        (VISIT_NS, ended(Outcome::Down { family, why }, 0))
    };
    sim.run_for(DAY_NS, &mut |_, _| measured(1));
    sim.run_for(DAY_NS, &mut |visit, _| match visit.path {
        0 => down(Some(Family::V6)),
        _ => measured(1),
    });
    let past = sim.past("a", Kind::Light);
    let (family, found) = past.down().unwrap();
    assert_eq!((family, found.visits), (Some(Family::V6), past.failures));
    assert!((95..=97).contains(&found.visits), "{found:?}");
    let since = found.since_unix_ns - (START_NS + DAY_NS);
    assert!(since <= 15 * MINUTE_NS + 6 * VISIT_NS, "{since}");
    assert_eq!(sim.past("b", Kind::Light).down(), None);
    sim.run_for(20 * MINUTE_NS, &mut |_, _| measured(1));
    let past = sim.past("a", Kind::Light);
    assert_eq!((past.down(), past.failures, past.why.as_str()), (None, 0, ""));
}

#[test]
fn a_family_that_answers_any_visit_is_down_for_none() {
    let mut sim = Sim::new(check(&draft(&[("a", "15 min", Some("6 h"))])).unwrap());
    let lost = |family| {
        let why = "no answer".to_owned();
        (VISIT_NS, ended(Outcome::Down { family, why }, 0))
    };
    let down = |sim: &Sim, kind| sim.past("a", kind).down().map(|(family, _)| family);
    // Only visits of throughput meet with it, which are hours apart.
    sim.run_for(7 * 60 * MINUTE_NS, &mut |visit, _| match visit.kind {
        Kind::Throughput => lost(None),
        Kind::Light => lost(Some(Family::V6)),
    });
    assert_eq!(down(&sim, Kind::Throughput), Some(Some(Family::V6)));
    let since = sim.past("a", Kind::Light).silent.v6.unwrap().since_unix_ns;
    sim.run_for(20 * MINUTE_NS, &mut |_, _| lost(None));
    // IPv6 has been away for longer than IPv4.
    let past = sim.past("a", Kind::Light);
    assert_eq!(past.silent.v6.as_ref().unwrap().since_unix_ns, since);
    assert_eq!(past.down().map(|(family, _)| family), Some(None));
    assert!(past.silent.v4.unwrap().since_unix_ns > since);
    sim.run_for(20 * MINUTE_NS, &mut |_, _| {
        (VISIT_NS, ended(Outcome::Failed { why: "killed".to_owned() }, 0))
    });
    let past = sim.past("a", Kind::Light);
    assert_eq!((past.down().unwrap().1.why.as_str(), past.why.as_str()), ("no answer", "killed"));
    sim.run_for(20 * MINUTE_NS, &mut |_, _| measured(1));
    assert_eq!([Kind::Light, Kind::Throughput].map(|kind| down(&sim, kind)), [None, None]);
}

#[test]
fn what_is_watched_is_said_again_each_week() {
    let mut sim = Sim::new(three());
    sim.run_for(60 * DAY_NS, &mut |_, _| measured(1));
    let said = sim.log.iter().filter(|entry| matches!(entry, Logged::Watching(_)));
    let said: Vec<u64> = said.map(Logged::at_unix_ns).collect();
    assert_eq!(said.len(), 9);
    assert!(said.windows(2).all(|two| two[1] - two[0] <= 8 * DAY_NS), "{said:?}");
}

#[test]
fn a_path_that_is_asked_for_something_else_begins_another_run() {
    let (sim, _) = begun_again("a", &["rtt"], Vec::new());
    let (sim, same) = begun_again("a", &["rtt"], sim.log);
    let (_, other) = begun_again("a", &["rtt", "connect"], sim.log);
    assert!(same && !other);
}

/// A watch of that path that goes on from a log, asked for these for a while, and whether its first
/// visit went on with the run of the one before.
fn begun_again(host: &str, measure: &[&str], log: Vec<Logged>) -> (Sim, bool) {
    let mut draft = draft(&[(host, "15 min", None)]);
    draft.paths[0].measure = measure.iter().map(|name| (*name).to_owned()).collect();
    let now_ns = log.last().map_or(START_NS, |last: &Logged| last.at_unix_ns());
    let mut sim = Sim::resumed(check(&draft).unwrap(), log, now_ns);
    let mut continued = Vec::new();
    sim.run_for(20 * MINUTE_NS, &mut |visit, _| {
        continued.push(visit.continued.is_some());
        measured(1)
    });
    (sim, continued[0])
}

#[test]
fn who_refuses_is_left_alone_for_longer_and_longer() {
    let mut sim = Sim::new(check(&draft(&[("a", "15 min", None)])).unwrap());
    let refused = || (VISIT_NS, ended(Outcome::Refused { why: "429".to_owned() }, 0));
    sim.run_for(10 * DAY_NS, &mut |_, _| refused());
    let past = sim.past("a", Kind::Light);
    assert_eq!(u64::from(past.refusals), past.begun());
    assert!((13..=16).contains(&past.begun()), "{past:?}");
    sim.run_for(2 * DAY_NS, &mut |_, _| measured(1));
    assert_eq!(sim.past("a", Kind::Light).refusals, 0);
    assert!(sim.past("a", Kind::Light).count(&Outcome::Measured) > 90);
}

#[test]
fn a_run_that_cannot_be_continued_gives_way_to_another_at_once() {
    let mut sim = Sim::new(check(&draft(&[("a", "15 min", None)])).unwrap());
    let moved_ns = START_NS + 6 * 3600 * SECOND_NS;
    let mut refused = 0;
    sim.run_for(DAY_NS / 2, &mut |visit, now| {
        if visit.continued.is_some() && now.unix_ns > moved_ns && refused == 0 {
            refused += 1;
            return (SECOND_NS, Came { how: How::NotContinued, ..ended(Outcome::Measured, 0) });
        }
        measured(1)
    });
    assert_eq!(refused, 1);
    assert_eq!(sim.past("a", Kind::Light).count(&Outcome::Measured), 48);
    let runs: BTreeSet<&str> =
        over(&sim.log).iter().filter_map(|e| e.run.as_ref()).map(RunId::as_str).collect();
    assert_eq!(runs.len(), 2);
}

#[test]
fn two_hosts_that_watch_the_same_begin_at_other_times() {
    let due = |watcher: &str| {
        let mut machine = Machine::new(three(), &[], Known::default(), watcher, at(START_NS));
        let Action::Wait(until_ns) = machine.next(at(START_NS), false) else { panic!("{watcher}") };
        until_ns
    };
    assert_eq!(due("one"), due("one"));
    let all: BTreeSet<u64> = ["one", "two", "three", "four"].into_iter().map(due).collect();
    assert_eq!(all.len(), 4);
}

#[test]
fn whoever_stops_it_between_visits_or_waiting_ends_it() {
    let mut sim = Sim::new(three());
    assert_eq!(sim.machine.next(sim.now, true), Action::End);
    let mut sim = Sim::new(three());
    while !matches!(sim.machine.next(sim.now, false), Action::Start(_)) {
        sim.now = sim.now.later(SECOND_NS);
        sim.keep();
    }
    sim.machine.ended(taken().1, sim.now);
    assert_eq!(sim.machine.next(sim.now, true), Action::End);
    sim.keep();
    one_at_a_time(&sim.log);
    assert_eq!(over(&sim.log).last().unwrap().outcome, Outcome::Stopped);
}

/// Nobody counts what a visit moves that is killed, and of the first ones nothing is known but what
/// was expected.
#[test]
fn visits_that_are_killed_from_the_first_one_on_keep_the_budget() {
    let mut draft = draft(&[("a", "15 min", None)]);
    draft.budget = Some("10 MB/day".to_owned());
    let watch = check(&draft).unwrap();
    let expected = [(0, Kind::Light, 3_000_000)];
    let (mut log, mut now_ns, end_ns) = (Vec::new(), START_NS, START_NS + DAY_NS / 2);
    while now_ns < end_ns {
        let mut sim = Sim::expecting(&expected, watch.clone(), log, now_ns);
        sim.until(end_ns, &mut || true, &mut |_, _| measured(3_000_000));
        (log, now_ns) = (sim.log, sim.now.unix_ns + SECOND_NS);
    }
    assert_eq!(begun(&log).len(), 3);
    assert!(over(&log).iter().all(|ended| ended.outcome == Outcome::BrokenOff));
    let known = folded(&log);
    assert_eq!(known.spent.on(day_of(START_NS)), 9_000_000);
    // A watch that expects less from then on is not held to what no visit ever took.
    assert_eq!(known.past("a", Kind::Light).unwrap().bytes_most, 0);
}

/// A generator for the tests below, whose seeds proptest prints.
struct Chance(u64);

impl Chance {
    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        splitmix::next(&mut self.0) % n
    }
}

/// What a host does that is not always well.
fn any_end(chance: &mut Chance) -> (u64, Came) {
    let took_ns = chance.below(90) * SECOND_NS;
    let why = "so".to_owned();
    let family = [None, Some(Family::V4), Some(Family::V6)][chance.below(3) as usize];
    let how = match chance.below(12) {
        0 => How::Taken,
        1 => How::NotContinued,
        2 => How::Ended(Outcome::Down { family, why }),
        3 => How::Ended(Outcome::Refused { why }),
        4 => How::Ended(Outcome::Failed { why }),
        5 => How::Ended(Outcome::Stopped),
        _ => How::Ended(Outcome::Measured),
    };
    let bytes = chance.below(1000);
    (took_ns, Came { how, ..ended(Outcome::Measured, bytes) })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever hosts do and whenever the watch is killed, its log says all that it knew: no visit
    /// is made twice or without an end, and no two at once.
    #[test]
    fn a_watch_that_is_killed_goes_on_from_its_log(seed: u64) {
        let mut chance = Chance(seed);
        let mut deaths = Chance(seed ^ 1);
        let mut sim = Sim::new(three());
        let end_ns = START_NS + 3 * DAY_NS;
        while sim.now.unix_ns < end_ns {
            let kill = &mut || deaths.below(20) == 0;
            sim.until(end_ns, kill, &mut |_, _| any_end(&mut chance));
            prop_assert_eq!(&folded(&sim.log), sim.machine.known());
            let later_ns = sim.now.unix_ns + chance.below(3600) * SECOND_NS;
            sim = Sim::resumed(three(), core::mem::take(&mut sim.log), later_ns);
        }
        one_at_a_time(&sim.log);
        for (of, dues) in dues(&sim.log) {
            prop_assert!(dues.windows(2).all(|two| two[0] < two[1]), "{:?}: {:?}", of, dues);
        }
    }

    /// No day moves more than its budget, whichever visit takes how much.
    #[test]
    fn budgets_hold(seed: u64, budget_mb in 1_u64..40) {
        let mut draft = draft(&[("a", "15 min", None), ("b", "20 min", Some("2 h"))]);
        draft.budget = Some(alloc::format!("{budget_mb} MB/day"));
        let most = |kind| match kind { Kind::Light => 100_000, Kind::Throughput => 5_000_000 };
        let kinds = [(0, Kind::Light), (1, Kind::Light), (1, Kind::Throughput)];
        let expected = kinds.map(|(path, kind)| (path, kind, most(kind)));
        let watch = check(&draft).unwrap();
        let mut sim = Sim::expecting(&expected, watch, Vec::new(), START_NS);
        let mut chance = Chance(seed);
        sim.run_for(3 * DAY_NS, &mut |visit, _| measured(chance.below(most(visit.kind) + 1)));
        let mut days: BTreeMap<u64, u64> = BTreeMap::new();
        for ended in over(&sim.log) {
            *days.entry(day_of(ended.at_unix_ns)).or_default() += ended.bytes;
        }
        let budget = budget_mb * 1_000_000;
        prop_assert!(days.values().all(|bytes| *bytes <= budget), "{:?}", days);
        let missed = sim.past("b", Kind::Throughput).missed.get(&Cause::Budget).copied();
        if budget < 5_000_000 {
            prop_assert!(missed.is_some_and(|n| n >= 35), "{:?}", missed);
        }
    }
}
