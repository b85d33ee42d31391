//! What is remembered of a path, and of which host, and what is forgotten.

use super::*;
use alloc::boxed::Box;

fn refused() -> (u64, Came) {
    (VISIT_NS, ended(Outcome::Refused { why: "429".to_owned() }, 0))
}

/// Six refusals, then visits that fail for another reason: none of those is a refusal.
#[test]
fn what_is_no_refusal_makes_no_rest_longer() {
    let mut sim = Sim::new(check(&draft(&[("a", "15 min", None)])).unwrap());
    let down = Outcome::Down { family: Some(Family::V6), why: "no route".to_owned() };
    for then in [Outcome::Failed { why: "no name".to_owned() }, down] {
        let mut refusals = 0;
        let mut since = None;
        sim.run_for(5 * DAY_NS, &mut |_, now| {
            if refusals < 6 {
                refusals += 1;
                return refused();
            }
            since.get_or_insert(now.unix_ns);
            (VISIT_NS, ended(then.clone(), 0))
        });
        let rested = begun(&sim.log).iter().rev().take(50).map(|b| b.at_unix_ns).min().unwrap();
        let now_ns = sim.now.unix_ns;
        assert!(now_ns - rested <= 51 * 15 * MINUTE_NS, "{then:?}: {}", now_ns - rested);
        sim.run_for(DAY_NS, &mut |_, _| measured(1));
    }
}

/// Of a night with quiet hours in which a host slept nothing was due.
#[test]
fn quiet_hours_of_a_host_that_slept_are_not_given_up() {
    let mut quiet = draft(&[("a", "15 min", None)]);
    quiet.quiet = vec!["22:00-08:00".to_owned()];
    let mut sim = Sim::new(check(&quiet).unwrap());
    let is_quiet = |sim: &Sim| sim.machine.watch().quiet.touches(sim.now, 0);
    sim.run_for(DAY_NS, &mut |_, _| measured(1));
    while !is_quiet(&sim) {
        sim.run_for(MINUTE_NS, &mut |_, _| measured(1));
    }
    while is_quiet(&sim) {
        sim.now = sim.now.later(MINUTE_NS);
    }
    sim.run_for(30 * MINUTE_NS, &mut |_, _| measured(1));
    let missed = sim.past("a", Kind::Light).missed.get(&Cause::Behind).copied().unwrap_or(0);
    assert!(missed <= 1, "{missed}");
}

/// Another watch in between changes nothing of what a path was asked for, nor of which host it is.
#[test]
fn a_path_is_known_over_other_watches_and_not_over_another_host() {
    let (sim, _) = begun_again("a", &["rtt"], Vec::new());
    let (sim, _) = begun_again("nas", &["rtt"], sim.log);
    let (sim, other) = begun_again("a", &["connect"], sim.log);
    assert!(!other, "what it is asked for is another thing");
    let (sim, _) = begun_again("nas", &["rtt"], sim.log);
    let (sim, same) = begun_again("a", &["connect"], sim.log);
    assert!(same);
    let answered = sim.past("a", Kind::Light).measured_unix_ns;
    let mut sim = Sim::resumed(sim.machine.watch().clone(), sim.log, sim.now.unix_ns);
    assert_eq!(sim.past("a", Kind::Light).measured_unix_ns, answered);
    sim.run_for(20 * MINUTE_NS, &mut |_, _| refused());
    assert!(sim.past("a", Kind::Light).refusals > 0);
    let mut moved = draft(&[("b", "15 min", None)]);
    moved.paths[0].name = Some("a".to_owned());
    let sim = Sim::resumed(check(&moved).unwrap(), sim.log, sim.now.unix_ns);
    let past = sim.past("a", Kind::Light);
    assert_eq!((past.refusals, past.measured_unix_ns, past.run), (0, None, None));
    assert!(past.ended.values().sum::<u64>() > 0);
}

/// Visits become shorter: what the longer ones took is nothing to these.
#[test]
fn shorter_visits_are_made_within_a_budget_that_longer_ones_would_break() {
    let made = |time: &str, log: Vec<Logged>| {
        let mut draft = draft(&[("a", "15 min", None)]);
        draft.budget = Some("100 B/day".to_owned());
        draft.paths[0].time = Some(time.to_owned());
        let now_ns = log.last().map_or(START_NS, |last: &Logged| last.at_unix_ns());
        let mut sim = Sim::resumed(check(&draft).unwrap(), log, now_ns);
        let mut continued = Vec::new();
        sim.run_for(20 * MINUTE_NS, &mut |visit, _| {
            continued.push(visit.continued.is_some());
            measured(if time == "60 s" { 60 } else { 5 })
        });
        (sim.log, continued)
    };
    let (log, first) = made("60 s", Vec::new());
    assert_eq!(first, [false]);
    let (log, same) = made("60 s", log);
    assert!(same.is_empty(), "a second one would be over the budget");
    let (_, shorter) = made("20 s", log);
    assert!(shorter.starts_with(&[true]), "{shorter:?}");
}

/// A clock is days ahead for a visit, and at the beginning of 1970 for another one.
#[test]
fn what_a_day_took_is_known_whatever_a_clock_showed_since() {
    let mut sim = Sim::new(check(&draft(&[("a", "15 min", None)])).unwrap());
    sim.run_for(60 * MINUTE_NS, &mut |_, _| measured(10));
    let last: Ended = (*over(&sim.log).last().unwrap()).clone();
    let (mut known, today) = (folded(&sim.log), sim.now.day());
    let spent = known.spent.on(today);
    assert!(spent >= 30, "{spent}");
    for at_unix_ns in [START_NS + 7 * DAY_NS, 1] {
        let ended = Ended { at_unix_ns, began_unix_ns: at_unix_ns, ..last.clone() };
        known.take(&Logged::Ended(Box::new(ended)));
        assert_eq!(known.spent.on(day_of(at_unix_ns)), 10);
    }
    assert_eq!(known.spent.on(today), spent);
}

#[test]
fn what_was_broken_off_is_of_the_day_on_which_it_began() {
    let watch = check(&draft(&[("a", "15 min", None)])).unwrap();
    let mut sim = Sim::new(watch.clone());
    sim.until(START_NS + 120 * MINUTE_NS, &mut || true, &mut |_, _| measured(7));
    let (began, later_ns) = (sim.now.day(), sim.now.unix_ns + DAY_NS);
    let expected = [(0, Kind::Light, 9)];
    let sim = Sim::expecting(&expected, watch, sim.log, later_ns);
    let spent = &sim.machine.known().spent;
    assert_eq!([began, sim.now.day()].map(|day| spent.on(day)), [9, 0]);
}

/// What waits for a minute while its host sleeps for a night is given up, as after that minute.
#[test]
fn what_waited_while_its_host_slept_is_not_made_under_that_time() {
    let mut sim = Sim::new(check(&draft(&[("a", "15 min", None)])).unwrap());
    let mut first = true;
    while first {
        sim.run_for(SECOND_NS, &mut |_, _| {
            first = false;
            taken()
        });
    }
    sim.now = sim.now.later(8 * 3600 * SECOND_NS);
    let woke_ns = sim.now.unix_ns;
    sim.run_for(10 * MINUTE_NS, &mut |_, _| measured(1));
    let ended = over(&sim.log);
    assert_eq!(ended[0].outcome, Outcome::Taken, "{ended:?}");
    assert!(ended.len() > 1 && ended[1..].iter().all(|of| of.began_unix_ns >= woke_ns));
}
