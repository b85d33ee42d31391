//! Which path is next, and what is in the way of others.

use super::*;
use crate::fleet::id::JobId;
use crate::fleet::mesh::check::check;
use crate::fleet::mesh::draft::{Draft, GroupDraft, HostDraft, LinkDraft, MeasureDraft, VERSION};
use crate::fleet::work::{Now, Outcome, SentPlan, Timetable, Work};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::cell::Cell;

const MINUTE: u64 = 60;

/// Monday, 23 November 2026, 00:00 UTC, in s.
const MONDAY_S: u64 = 1_795_392_000;

fn at(seconds: u64) -> Moment {
    Moment { unix_ns: (MONDAY_S + seconds) * 1_000_000_000, offset_s: 0 }
}

fn measure(plan: &str, every: &str, class: &str) -> MeasureDraft {
    MeasureDraft {
        group: "all".to_owned(),
        plan: plan.to_owned(),
        every: Some(every.to_owned()),
        class: Some(class.to_owned()),
        ..MeasureDraft::default()
    }
}

fn mesh(hosts: &[&str], measures: &[MeasureDraft], change: impl FnOnce(&mut Draft)) -> Mesh {
    let group = GroupDraft {
        name: "all".to_owned(),
        kind: "mesh".to_owned(),
        hosts: ["*".to_owned()].to_vec(),
        ..GroupDraft::default()
    };
    let mut draft = Draft {
        v6gap: VERSION,
        hosts: hosts.iter().map(|name| (name.to_string(), HostDraft::default())).collect(),
        groups: [group].to_vec(),
        measure: measures.to_vec(),
        ..Draft::default()
    };
    change(&mut draft);
    check(&draft).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Visits of 28 s that move 1 GB.
fn order(mesh: &Mesh) -> Order {
    let slot = Slot { longest_ns: 28_000_000_000, bytes: 1_000_000_000 };
    Order::new(mesh, &vec![slot; mesh.measures.len()], at(0))
}

/// All that can begin at that time.
fn begun(order: &mut Order, seconds: u64) -> Vec<Visit> {
    core::iter::from_fn(|| order.next(at(seconds), &|_| true)).collect()
}

fn pairs(visits: &[Visit]) -> Vec<(usize, usize)> {
    visits.iter().map(|visit| (visit.pair.from, visit.pair.to)).collect()
}

const FOUR: [&str; 4] = ["a/a", "a/b", "b/a", "b/b"];

#[test]
fn a_tournament_has_everybody_meet_everybody_in_as_few_rounds_as_can_be() {
    for hosts in 2..12_usize {
        let rounds = hosts - usize::from(hosts % 2 == 0);
        let mut met = vec![BTreeSet::new(); rounds];
        for from in 0..hosts {
            for to in from + 1..hosts {
                let round = turn(Pair { from, to }, hosts) as usize;
                assert_eq!(turn(Pair { from: to, to: from }, hosts) as usize, round);
                assert!(met[round].insert(from) && met[round].insert(to), "{hosts} hosts");
            }
        }
        assert!(met.iter().all(|met| met.len() == hosts - hosts % 2), "{hosts}: {met:?}");
    }
}

#[test]
fn loads_are_told_apart_by_an_eighth() {
    for n in [0, 1, 15, 16, 17, 31, 1000, u64::MAX] {
        let told = about(n);
        assert!(told <= n && n - told <= n / 8, "{n}: {told}");
        assert_eq!(about(told), told);
    }
}

#[test]
fn all_are_due_at_once_and_a_host_is_in_one_at_a_time() {
    let mesh = mesh(&FOUR, &[measure("p", "10 min", "light")], |_| {});
    let mut order = order(&mesh);
    let mut seen = BTreeSet::new();
    for round in 0..3 {
        let visits = begun(&mut order, round * 28);
        assert_eq!(visits.len(), 2, "{visits:?}");
        let hosts: BTreeSet<usize> =
            pairs(&visits).into_iter().flat_map(|(from, to)| [from, to]).collect();
        assert_eq!(hosts.len(), 4);
        for visit in visits {
            assert!(seen.insert(visit));
            order.ended(visit, Ended::Measured);
        }
    }
    assert_eq!(begun(&mut order, 84), []);
    // From beginning to beginning.
    assert_eq!(order.wakes_unix_ns(at(84)), Some(at(10 * MINUTE).unix_ns));
    assert_eq!(begun(&mut order, 10 * MINUTE - 1), []);
    assert_eq!(begun(&mut order, 10 * MINUTE).len(), 2);
}

#[test]
fn the_most_overdue_is_first_as_a_share_of_its_period() {
    let measures = [measure("often", "1 h", "light"), measure("seldom", "8 h", "light")];
    let mesh = mesh(&FOUR[..2], &measures, |_| {});
    let visit = |measure| Visit { measure, pair: Pair { from: 0, to: 1 } };
    for (often_h, seldom_h, first) in [(2, 9, 0), (2, 15, 0), (2, 18, 1), (20, 80, 0)] {
        let mut order = order(&mesh);
        let now = at(100 * 60 * MINUTE);
        for (measure, hours) in [(0, often_h), (1, seldom_h)] {
            order.measured(visit(measure), now.unix_ns - hours * 3_600_000_000_000);
        }
        let next = order.next(now, &|_| true).map(|visit| visit.measure);
        assert_eq!(next, Some(first), "{often_h} h, {seldom_h} h");
        assert_eq!(order.overdue(0, now.unix_ns), Some(often_h as f64));
    }
}

#[test]
fn links_are_taken_by_what_is_exclusive_alone() {
    let measures = [measure("heavy", "1 h", "exclusive"), measure("light", "1 h", "light")];
    let uplink = |draft: &mut Draft| {
        let site = Some("a".to_owned());
        draft.links = [LinkDraft { name: "up".to_owned(), site, ..Default::default() }].to_vec();
    };
    let between =
        |visits: &[Visit]| pairs(visits).iter().filter(|(from, to)| *from < 2 && *to >= 2).count();
    let mut heavy = order(&mesh(&FOUR, &measures[..1], uplink));
    for round in 0..6 {
        let visits = begun(&mut heavy, round * 28);
        assert!(between(&visits) <= 1, "{visits:?}");
        visits.iter().for_each(|visit| heavy.ended(*visit, Ended::Measured));
    }
    let mut light = order(&mesh(&FOUR, &measures[1..], uplink));
    let mut rounds = (0..3).map(|round| {
        let visits = begun(&mut light, round * 28);
        visits.iter().for_each(|visit| light.ended(*visit, Ended::Measured));
        between(&visits)
    });
    assert!(rounds.any(|between| between == 2));
}

#[test]
fn a_budget_ends_what_a_link_carries_until_the_next_day() {
    let mesh = mesh(&FOUR, &[measure("p", "1 h", "light")], |draft| {
        draft.links = [LinkDraft {
            name: "up".to_owned(),
            site: Some("a".to_owned()),
            budget: Some("3 GB/day".to_owned()),
            ..LinkDraft::default()
        }]
        .to_vec();
    });
    let mut order = order(&mesh);
    let mut crossed = 0;
    for now in (0..24 * 60).map(|minute| minute * MINUTE) {
        for visit in begun(&mut order, now) {
            let (from, to) = pairs(&[visit])[0];
            crossed += usize::from(from < 2 && to >= 2);
            order.ended(visit, Ended::Measured);
        }
    }
    assert_eq!(crossed, 3);
    let wakes = order.wakes_unix_ns(at(23 * 3600 + 3599));
    assert_eq!(wakes, Some(at(86_400).unix_ns));
    assert!(!begun(&mut order, 86_400).is_empty());
}

#[test]
fn a_day_that_the_clock_shows_again_has_carried_what_it_had() {
    const DAY: u64 = 86_400;
    let mesh = mesh(&["a/a", "b/b"], &[measure("p", "1 h", "light")], |draft| {
        let (site, budget) = (Some("a".to_owned()), Some("1 GB/day".to_owned()));
        let link = LinkDraft { name: "up".to_owned(), site, budget, ..Default::default() };
        draft.links = [link].to_vec();
    });
    let mut order = order(&mesh);
    for seconds in [DAY - 60, DAY + 7_200] {
        let visits = begun(&mut order, seconds);
        assert_eq!(visits.len(), 1, "{seconds} s");
        order.ended(visits[0], Ended::Measured);
    }
    // Back to the evening before: the path is due again two hours later, and its link is not free.
    assert_eq!(begun(&mut order, DAY - 14_400), []);
    assert_eq!(begun(&mut order, DAY - 7_200), []);
    assert_eq!(begun(&mut order, DAY + 36_000), []);
    let visits = begun(&mut order, 2 * DAY);
    assert_eq!(visits.len(), 1);
    // What was not begun is given back to the day that it was taken from.
    assert_eq!(begun(&mut order, 2 * DAY - 7_200), []);
    let again_unix_ns = at(2 * DAY - 7_200).unix_ns;
    order.ended(visits[0], Ended::Failed { again_unix_ns, began: false });
    assert_eq!(begun(&mut order, 2 * DAY - 7_199), []);
    assert_eq!(begun(&mut order, 2 * DAY).len(), 1);
}

#[test]
fn in_its_quiet_hours_a_measurement_waits_and_others_do_not() {
    let mut quiet = measure("quiet", "1 h", "light");
    quiet.quiet = ["00:00-01:00 UTC".to_owned()].to_vec();
    let mesh = mesh(&FOUR[..2], &[quiet, measure("other", "1 h", "light")], |_| {});
    let mut order = order(&mesh);
    let visits = begun(&mut order, 0);
    assert_eq!(visits.iter().map(|visit| visit.measure).collect::<Vec<_>>(), [1]);
    order.ended(visits[0], Ended::Measured);
    assert_eq!(begun(&mut order, 1), []);
    assert_eq!(order.wakes_unix_ns(at(1)), Some(at(60).unix_ns));
    let visits = begun(&mut order, 3600);
    assert_eq!(visits[0].measure, 0, "as overdue as can be");
    // It would not be over before the hour is quiet.
    order.ended(visits[0], Ended::Failed { again_unix_ns: 0, began: true });
    assert!(begun(&mut order, 86_400 - 20).iter().all(|visit| visit.measure == 1));
}

#[test]
fn what_failed_is_tried_again_when_it_may_be_and_is_no_less_overdue() {
    let mesh = mesh(&FOUR[..2], &[measure("p", "1 h", "light")], |_| {});
    let mut order = order(&mesh);
    let visit = begun(&mut order, 0)[0];
    order.ended(visit, Ended::Failed { again_unix_ns: at(90).unix_ns, began: true });
    assert_eq!(begun(&mut order, 89), []);
    assert!(order.overdue(0, at(89).unix_ns).unwrap() > 1.0);
    assert_eq!(begun(&mut order, 90), [visit]);
}

#[test]
fn a_path_is_overdue_once_a_whole_period_was_not_enough_and_in_quiet_hours_none_is() {
    let mut quiet = measure("quiet", "1 h", "light");
    quiet.quiet = ["02:00-03:00 UTC".to_owned()].to_vec();
    let mesh = mesh(&FOUR[..2], &[quiet, measure("other", "2 h", "light")], |_| {});
    let mut order = order(&mesh);
    let visit = |measure| Visit { measure, pair: Pair { from: 0, to: 1 } };
    (0..2).for_each(|measure| order.measured(visit(measure), at(0).unix_ns));
    let overdue = |order: &Order, seconds| {
        let Standing { paths, overdue } = order.standing(at(seconds));
        assert_eq!(paths, 2);
        overdue
    };
    // The one of an hour would be overdue from 02:00 on, and is from 03:00 on.
    let hours = [7_199, 7_200, 10_799, 10_800, 14_399, 14_400];
    assert_eq!(hours.map(|seconds| overdue(&order, seconds)), [0, 0, 0, 1, 1, 2]);
    order.measured(visit(0), at(14_400).unix_ns);
    assert_eq!(overdue(&order, 14_400), 1);
    // What is no part of the mesh any more is not counted while it runs.
    assert!(order.next(at(14_400), &|_| true).is_some());
    order.set_paths(1, &[], at(14_400));
    assert_eq!(order.standing(at(14_400)), Standing { paths: 1, overdue: 0 });
}

#[test]
fn what_others_keep_from_being_made_is_asked_for_again() {
    let mesh = mesh(&FOUR, &[measure("p", "1 h", "light")], |_| {});
    let mut order = order(&mesh);
    let asked = Cell::new(0);
    let may = |visit: Visit| {
        asked.set(asked.get() + 1);
        visit.pair.from != 0
    };
    let visits: Vec<Visit> = core::iter::from_fn(|| order.next(at(0), &may)).collect();
    assert!(visits.iter().all(|visit| visit.pair.from != 0) && !visits.is_empty());
    assert!(asked.get() <= 6, "{}", asked.get());
    assert_eq!(order.wakes_unix_ns(at(0)), Some(at(0).unix_ns + AGAIN_NS));
    visits.iter().for_each(|visit| order.ended(*visit, Ended::Measured));
    let again = at(0).unix_ns + AGAIN_NS;
    let visit = order.next(Moment { unix_ns: again, offset_s: 0 }, &|_| true).unwrap();
    assert!(!visits.contains(&visit));
}

/// Light visits that want every host all the time leave some for what takes two hosts and their
/// links at once.
#[test]
fn what_takes_much_is_not_starved_by_what_takes_little() {
    let names: Vec<String> = (0..10).map(|at| alloc::format!("s{at}/h")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let measures = [measure("light", "2 min", "light"), measure("heavy", "30 min", "exclusive")];
    let mesh = mesh(&names, &measures, |draft| {
        let site = |at: usize| alloc::format!("s{at}");
        let link = |at| LinkDraft { name: site(at), site: Some(site(at)), ..Default::default() };
        draft.links = (0..10).map(link).collect();
    });
    let slots = [20, 40].map(|s| Slot { longest_ns: s * 1_000_000_000, bytes: 0 });
    let mut order = Order::new(&mesh, &slots, at(0));
    let mut running: BTreeSet<(u64, Visit)> = BTreeSet::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut most = 0.0_f64;
    for now in 0..6 * 3600 {
        while let Some((_, visit)) = running.first().copied().filter(|(ends, _)| *ends <= now) {
            running.pop_first();
            [visit.pair.from, visit.pair.to].iter().for_each(|host| {
                taken.remove(host);
            });
            order.ended(visit, Ended::Measured);
        }
        for visit in begun(&mut order, now) {
            assert!(taken.insert(visit.pair.from) && taken.insert(visit.pair.to), "{visit:?}");
            // Lengths that never end together.
            let length = [13, 31][visit.measure] + (now + visit.pair.to as u64) % 7;
            running.insert((now + length, visit));
        }
        most = most.max(order.overdue(1, at(now).unix_ns).unwrap());
    }
    assert!(most < 2.5, "{most} periods");
}

#[test]
fn paths_come_and_go_and_what_is_known_of_the_others_stays() {
    let mesh = mesh(&FOUR, &[measure("p", "1 h", "light")], |_| {});
    let mut order = order(&mesh);
    let first = begun(&mut order, 0);
    let [stays, goes] = first[..] else { panic!("{first:?}") };
    let is_other = |pair: &Pair| first.iter().all(|visit| visit.pair != *pair);
    let other = mesh.paths(0, 0).into_iter().find(is_other).unwrap();
    let paths = [stays.pair, other];
    order.set_paths(0, &paths, at(10));
    assert!(order.has(goes), "while it is made its hosts are taken");
    order.ended(goes, Ended::Measured);
    order.ended(stays, Ended::Measured);
    assert!(!order.has(goes));
    assert_eq!(pairs(&begun(&mut order, 11)), [(paths[1].from, paths[1].to)]);
    assert_eq!(order.visits().count(), 2);
    order.set_paths(0, &[goes.pair, stays.pair], at(12));
    assert_eq!(pairs(&begun(&mut order, 12)).len(), 0, "a host of it is taken");
    assert_eq!(order.visits().count(), 3);
}

fn planned(name: &str) -> Planned {
    let plan = SentPlan {
        name: name.to_owned(),
        text: String::new(),
        hash: String::new(),
        needs: Vec::new(),
    };
    Planned { plan: Arc::new(plan), longest_ns: 20_000_000_000, bytes: 0 }
}

#[test]
fn a_coordinator_is_given_work_and_says_what_came_of_it() {
    let measures = [measure("heavy", "1 h", "exclusive"), measure("light", "1 h", "light")];
    let mesh = mesh(&["a/a", "b/b"], &measures, |draft| {
        let site = Some("a".to_owned());
        draft.links = [LinkDraft { name: "up".to_owned(), site, ..Default::default() }].to_vec();
        draft.hosts.insert(
            "b/b".to_owned(),
            HostDraft { agent: Some(false), port: Some(5000), ..HostDraft::default() },
        );
    });
    let mut timetable =
        MeshTimetable::new(mesh, [planned("heavy"), planned("light")].to_vec(), at(0));
    let now = |seconds: u64| Now { ns: seconds * 1_000_000_000, wall: at(seconds) };
    let job = JobId::from_bits(1);
    let next = |timetable: &mut MeshTimetable, seconds: u64| {
        timetable.next(now(seconds), &|_: &Work| true)
    };
    assert_eq!(timetable.works().count(), 2);
    assert!(timetable.next(now(0), &|_: &Work| false).is_none());
    let work = next(&mut timetable, 5).unwrap();
    assert_eq!((work.from.as_str(), work.to.as_str()), ("a/a", "b/b"));
    assert_eq!((work.to_is_agent, work.port), (false, Some(5000)));
    assert_eq!((work.plan.name.as_str(), work.links.len()), ("heavy", 1));
    assert!(next(&mut timetable, 6).is_none());
    let run: crate::record::RunId = "7k2f9q".parse().unwrap();
    let given_up = |lasting| Outcome::GivenUp {
        why: String::new(),
        attempts: 3,
        lasting,
        began: true,
        run: Some(run.clone()),
    };
    timetable.came(&work, &job, &given_up(false), now(7));
    let light = next(&mut timetable, 7).unwrap();
    assert_eq!((light.plan.name.as_str(), light.links.len()), ("light", 0));
    timetable.came(&light, &job, &given_up(true), now(8));
    assert!(next(&mut timetable, 9).is_none());
    // What broke off is tried again after a part of its period, and its run goes on.
    assert_eq!(timetable.wakes_unix_ns(at(9)), Some(at(7 + 15 * MINUTE).unix_ns));
    let again = next(&mut timetable, 7 + 15 * MINUTE).unwrap();
    assert_eq!(again.continued, Some(run));
    timetable.came(&again, &job, &Outcome::Measured { run: None }, now(1000));
    // From when it began.
    let due = 7 + 15 * MINUTE + 3600;
    assert!(next(&mut timetable, 8 + 3599).is_none());
    assert_eq!(next(&mut timetable, 8 + 3600).unwrap().plan.name, "light");
    timetable.came(&light, &job, &Outcome::Lost { began: false }, now(due - 1));
    let whole = next(&mut timetable, due).unwrap();
    assert_eq!((whole.continued.clone(), whole.failed), (None, 0));
    timetable.measured(light.key(), at(due).unix_ns);
}

#[test]
fn a_path_that_waits_for_another_attempt_holds_nobody_up() {
    let hosts = ["a/a", "b/b", "c/c"];
    let mesh = mesh(&hosts, &[measure("p", "1 h", "light")], |_| {});
    let mut timetable = MeshTimetable::new(mesh, [planned("p")].to_vec(), at(0));
    let now = |seconds: u64| Now { ns: seconds * 1_000_000_000, wall: at(seconds) };
    let job = JobId::from_bits(1);
    let next = |timetable: &mut MeshTimetable, seconds: u64| {
        timetable.next(now(seconds), &|_: &Work| true)
    };
    let first = next(&mut timetable, 0).unwrap();
    let run: crate::record::RunId = "7k2f9q".parse().unwrap();
    let (why, run) = (String::new(), Some(run));
    let (again_ns, began) = (15_000_000_000, true);
    let failed = Outcome::Failed { why, again_ns, began, run: run.clone() };
    timetable.came(&first, &job, &failed, now(10));
    // Both its hosts are free for others, and it is not asked for before it is time.
    let mut others = Vec::new();
    while let Some(work) = next(&mut timetable, 24) {
        assert_ne!(work.key(), first.key());
        timetable.came(&work, &job, &Outcome::Measured { run: None }, now(24));
        others.push(work);
    }
    assert_eq!(others.len(), 2);
    let second = next(&mut timetable, 25).unwrap();
    assert_eq!((second.key(), second.failed, &second.continued), (first.key(), 1, &run));
    // Of one that was not granted all stays as it was.
    timetable.came(&second, &job, &Outcome::Lost { began: false }, now(25));
    let third = next(&mut timetable, 25).unwrap();
    assert_eq!((third.failed, &third.continued), (1, &run));
    timetable.came(&third, &job, &failed, now(26));
    let fourth = next(&mut timetable, 41).unwrap();
    assert_eq!(fourth.failed, 2);
    timetable.came(&fourth, &job, &failed, now(42));
    // That it was measured before it failed changes nothing; that another coordinator had it
    // measured since, much.
    timetable.measured(first.key(), at(41).unix_ns);
    assert_eq!(timetable.wakes_unix_ns(at(42)), Some(at(57).unix_ns));
    timetable.measured(first.key(), at(50).unix_ns);
    assert_eq!(timetable.wakes_unix_ns(at(50)), Some(at(24 + 60 * MINUTE).unix_ns));
    let later = next(&mut timetable, 50 + 60 * MINUTE).unwrap();
    assert_eq!((later.key(), later.failed, &later.continued), (first.key(), 0, &None));
}

#[test]
fn what_was_not_begun_is_taken_from_no_budget() {
    let mesh = mesh(&["a/a", "b/b"], &[measure("p", "1 h", "light")], |draft| {
        let (site, budget) = (Some("a".to_owned()), Some("1 GB/day".to_owned()));
        let link = LinkDraft { name: "up".to_owned(), site, budget, ..Default::default() };
        draft.links = [link].to_vec();
    });
    let planned = Planned { bytes: 1_000_000_000, ..planned("p") };
    let mut timetable = MeshTimetable::new(mesh, [planned].to_vec(), at(0));
    let now = |seconds: u64| Now { ns: seconds * 1_000_000_000, wall: at(seconds) };
    let job = JobId::from_bits(1);
    let mut next = |seconds: u64, came: Outcome| {
        let work = timetable.next(now(seconds), &|_: &Work| true);
        work.inspect(|work| timetable.came(work, &job, &came, now(seconds))).is_some()
    };
    let failed = |began| Outcome::Failed { why: String::new(), again_ns: 0, began, run: None };
    for s in 0..5 {
        assert!(next(s, Outcome::Lost { began: false }) && next(s, failed(false)), "{s}");
    }
    assert!(next(9, failed(true)));
    assert!(!next(10, failed(true)), "more than the link may carry");
}

#[test]
fn a_path_that_two_groups_measure_by_one_plan_is_free_when_it_ended_and_counts_for_both() {
    const HOUR: u64 = 60 * MINUTE;
    let mut often = measure("p", "1 h", "light");
    often.group = "core".to_owned();
    let mesh = mesh(&["a/a", "b/b"], &[measure("p", "6 h", "light"), often], |draft| {
        let core = GroupDraft { name: "core".to_owned(), ..draft.groups[0].clone() };
        draft.groups.push(core);
    });
    let mut timetable = MeshTimetable::new(mesh, [planned("p"), planned("p")].to_vec(), at(0));
    let now = |seconds: u64| Now { ns: seconds * 1_000_000_000, wall: at(seconds) };
    let job = JobId::from_bits(1);
    for hour in 0..8 {
        let begins = hour * HOUR;
        let work = timetable.next(now(begins), &|_: &Work| true);
        let work = work.unwrap_or_else(|| panic!("nothing is free after {hour} h"));
        assert!(hour == 0 || work.every_ns == HOUR * 1_000_000_000, "{work:?}");
        let measured = Outcome::Measured { run: None };
        timetable.came(&work, &job, &measured, now(begins + 20));
        assert_eq!(timetable.next(now(begins + 20), &|_: &Work| true), None, "{hour} h");
    }
    // One attempt for both: what fails for the one is not tried for the other meanwhile.
    let work = timetable.next(now(8 * HOUR), &|_: &Work| true).unwrap();
    let (why, run) = (String::new(), Some("7k2f9q".parse().unwrap()));
    let failed = Outcome::Failed { why, again_ns: 15_000_000_000, began: true, run: run.clone() };
    timetable.came(&work, &job, &failed, now(8 * HOUR));
    assert_eq!(timetable.next(now(8 * HOUR + 14), &|_: &Work| true), None);
    let again = timetable.next(now(8 * HOUR + 15), &|_: &Work| true).unwrap();
    assert_eq!((again.failed, again.continued.clone()), (1, run));
    timetable.came(&again, &job, &Outcome::Measured { run: None }, now(8 * HOUR + 20));
    let mut whole = timetable.next(now(10 * HOUR), &|_: &Work| true).unwrap();
    assert_eq!((whole.failed, whole.continued.clone()), (0, None));
    // Whichever of them it was given out for.
    whole.every_ns = 6 * HOUR * 1_000_000_000;
    let (why, began) = (String::new(), false);
    let refused = Outcome::GivenUp { why, attempts: 1, lasting: true, began, run: None };
    timetable.came(&whole, &job, &refused, now(10 * HOUR));
    assert_eq!(timetable.wakes_unix_ns(at(10 * HOUR)), Some(at(11 * HOUR).unix_ns));
    let whole = timetable.next(now(11 * HOUR), &|_: &Work| true).unwrap();
    timetable.came(&whole, &job, &Outcome::Measured { run: None }, now(11 * HOUR));
    // As it is told from the archive.
    let (from, to) = ("a/a".parse().unwrap(), "b/b".parse().unwrap());
    timetable.measured((&from, &to, "p", ""), at(100 * HOUR).unix_ns);
    assert_eq!(timetable.wakes_unix_ns(at(100 * HOUR)), Some(at(101 * HOUR).unix_ns));
    assert_eq!(timetable.next(now(100 * HOUR), &|_: &Work| true), None);
}

/// A clock that was a month ahead keeps nothing waiting for a month once it was set.
#[test]
fn a_clock_that_was_ahead_holds_nothing_up() {
    const MONTH: u64 = 30 * 86_400;
    let mesh = mesh(&FOUR, &[measure("p", "1 h", "light")], |_| {});
    let mut order = Order::new(&mesh, &[Slot { longest_ns: 28_000_000_000, bytes: 0 }], at(MONTH));
    let first = begun(&mut order, MONTH);
    let (measured, failed, running) = (first[0], first[1], begun(&mut order, MONTH));
    assert!(running.is_empty());
    order.ended(measured, Ended::Measured);
    order.ended(failed, Ended::Failed { again_unix_ns: at(MONTH + 5).unix_ns, began: true });
    let second = begun(&mut order, MONTH);
    let count = |order: &mut Order, seconds: u64| {
        core::iter::from_fn(|| {
            let visit = order.next(at(seconds), &|_| true)?;
            order.ended(visit, Ended::Measured);
            Some(visit)
        })
        .count()
    };
    // What began while the clock was ahead ends after it was set.
    assert_eq!(count(&mut order, 0), 0);
    second.iter().for_each(|visit| order.ended(*visit, Ended::Measured));
    assert_eq!(count(&mut order, 1), 2, "those that had never been measured");
    assert_eq!(count(&mut order, 3_700), 6, "all are due after an hour");
}

#[test]
fn what_another_timetable_had_measured_counts_for_the_path_and_for_the_budget() {
    let with = |afresh: bool| {
        let mesh = mesh(&["a/a", "b/b"], &[measure("p", "1 h", "light")], |draft| {
            let (site, budget) = (Some("a".to_owned()), Some("2 GB/day".to_owned()));
            let link = LinkDraft { name: "up".to_owned(), site, budget, ..Default::default() };
            draft.links = [link].to_vec();
        });
        let planned = Planned { bytes: 1_000_000_000, ..planned("p") };
        let table = MeshTimetable::new(mesh, [planned].to_vec(), at(10));
        if afresh { table.afresh() } else { table }
    };
    let now = |seconds: u64| Now { ns: seconds * 1_000_000_000, wall: at(seconds) };
    let next = |table: &mut MeshTimetable, seconds: u64| {
        table.next(now(seconds), &|_: &Work| true).is_some()
    };
    // Given out by the timetable before.
    let work = with(false).next(now(10), &|_: &Work| true).unwrap();
    let job = JobId::from_bits(1);
    for afresh in [false, true] {
        let mut table = with(afresh);
        table.came(&work, &job, &Outcome::Measured { run: None }, now(40));
        // One that measures afresh begins the path itself.
        assert_eq!(next(&mut table, 41), afresh);
    }
    // As the archive has it, twice: the link has carried one of its two today.
    let mut table = with(false);
    table.measured(work.key(), at(5).unix_ns);
    table.measured(work.key(), at(6).unix_ns);
    assert!(!next(&mut table, 7) && next(&mut table, 2 * 3600));
    table.came(&work, &job, &Outcome::Measured { run: None }, now(2 * 3600));
    assert!(!next(&mut table, 4 * 3600), "it has carried both");
    assert!(next(&mut table, 86_400));
}
