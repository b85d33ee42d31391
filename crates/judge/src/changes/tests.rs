//! What is said of paths whose history is known.

use super::*;
use alloc::string::ToString;
use alloc::vec;

const MARGIN: f64 = 0.05;
const MINUTE: u64 = 60_000_000_000;

/// What happens on a path.
#[derive(Debug, Clone, Copy, Default)]
struct World {
    /// How much longer each family takes from visit 60 on.
    by: PerFamily<f64>,
    /// What moves both families up and down from visit to visit.
    shared: f64,
}

/// A visit whose families go up and down by half a percent, not together.
fn visit(world: World, number: u64) -> Visit {
    let sign = |every: u64| if (number / every).is_multiple_of(2) { 1.0 } else { -1.0 };
    let point = |value| Point { value, standard_error: None };
    let later = |by: f64| if number >= 60 { by } else { 0.0 };
    let (shared, by) = (world.shared * sign(4), world.by);
    let families = PerFamily {
        v4: shared + 0.005 * sign(1) + later(by.v4),
        v6: shared + 0.005 * sign(2) + later(by.v6),
    };
    Visit {
        started_unix_ns: number * 15 * MINUTE,
        answered: PerFamily { v4: true, v6: true },
        questions: vec![Some(Series {
            effect: point(families.v6 - families.v4),
            families: families.map(point),
        })],
        facts: Vec::new(),
    }
}

fn visits(world: World) -> Vec<Visit> {
    (0..100).map(|number| visit(world, number)).collect()
}

/// All changes of a stored history, by the margin of each question.
fn changes(margins: &[f64], history: &[Visit]) -> Vec<Change> {
    let mut path = Path::new(margins);
    history.iter().flat_map(|visit| path.visit(visit).changes).collect()
}

#[track_caller]
fn one(history: &[Visit]) -> Change {
    let found = changes(&[MARGIN], history);
    let [found] = &found[..] else { panic!("{} changes", found.len()) };
    found.clone()
}

fn later(v4: f64, v6: f64) -> World {
    World { by: PerFamily { v4, v6 }, shared: 0.0 }
}

fn fact(name: &str, family: Option<Family>, value: &str) -> Fact {
    Fact { name: name.to_string(), family, value: value.to_string() }
}

#[test]
fn a_change_of_one_family_is_dated_and_told_once() {
    for family in Family::BOTH {
        let mut world = later(0.0, 0.0);
        *world.by.get_mut(family) = 0.08;
        let found = one(&visits(world));
        assert_eq!((found.who, found.first.visit), (Who::One(family), 60));
        assert_eq!((found.after.visit, found.by.visit), (59, 60));
        assert_eq!(found.first.unix_ns, 60 * 15 * MINUTE);
        assert!((68..80).contains(&found.found.visit), "{found:?}");
        let amounts = found.amounts;
        assert_eq!(amounts.families.get(family.other()).moved, Moved::No);
        let own = amounts.families.get(family).step;
        assert!(own.range.contains(0.08) && own.range.within(0.07, 0.09), "{own:?}");
        assert_eq!((own.before.n, amounts.effect.moved), (60, Moved::Yes));
    }
}

/// Values alike say nothing of their noise, nor does what rounding leaves of their mean.
#[test]
fn a_family_without_any_scatter_is_not_known_to_have_stayed() {
    let mut history = visits(later(0.0, 0.08));
    for seen in history.iter_mut().flat_map(|visit| &mut visit.questions).flatten() {
        seen.families.v4.value = 0.1;
    }
    let found = one(&history);
    let of_v4 = found.amounts.families.v4;
    assert_eq!((found.who, of_v4.moved), (Who::One(Family::V6), Moved::Unknown), "{of_v4:?}");
}

#[test]
fn what_moves_both_alike_leaves_the_effect() {
    let found = one(&visits(later(0.08, 0.08)));
    assert_eq!((found.who, found.amounts.effect.moved), (Who::Both, Moved::No));
    assert!(!found.shown.effect && found.shown.all().contains(&&true));
    assert_eq!(changes(&[MARGIN], &visits(later(0.04, 0.0))), []);
}

#[test]
fn families_that_scatter_leave_the_effect_alone() {
    let found = one(&visits(World { shared: 0.2, ..later(0.0, 0.08) }));
    assert_eq!((found.who, found.first.visit), (Who::Effect, 60));
    assert!(found.shown.effect);
}

#[test]
fn an_outage_is_told_by_the_next_visit_and_is_no_change() {
    let mut path = Path::new(&[MARGIN]);
    for number in 0..100 {
        let mut visit = visit(World::default(), number);
        let down = (40..45).contains(&number);
        if down {
            visit.answered.v6 = false;
            visit.questions = vec![None];
        }
        let told = path.visit(&visit);
        assert_eq!((told.changes, told.outages.v4), (vec![], None));
        let since = Moment { visit: 40, unix_ns: 40 * 15 * MINUTE };
        let expected = match number {
            40..45 => Some(Outage { since, visits: number - 39, over: false }),
            45 => Some(Outage { since, visits: 5, over: true }),
            _ => None,
        };
        assert_eq!(told.outages.v6, expected, "{number}");
    }
}

/// Positions are those of visits, also behind some that have no values.
#[test]
fn visits_without_values_are_left_out() {
    let mut history = visits(later(0.0, 0.08));
    history[10].questions = vec![None];
    history[11].questions = vec![];
    if let Some(Some(seen)) = history[12].questions.first_mut() {
        seen.effect.value = f64::INFINITY;
    }
    let found = one(&history);
    assert_eq!((found.first.visit, found.amounts.effect.step.before.n), (60, 57));
}

#[test]
fn what_else_changed_then_is_a_suspect() {
    let mut history = visits(later(0.0, 0.08));
    for (number, visit) in history.iter_mut().enumerate() {
        let from = |first, before: &str, after: &str| {
            if number < first { before.to_string() } else { after.to_string() }
        };
        let flaps = if number % 3 == 0 { "a" } else { "b" };
        visit.facts = vec![
            fact("route", Some(Family::V6), flaps),
            fact("path-mtu", Some(Family::V4), &from(60, "1500", "1400")),
            fact("certificate", None, &from(20, "x", "y")),
            fact("server", None, &from(61, "1.0", "1.1")),
            fact("hops", Some(Family::V6), &from(60, "9", "12")),
            fact("address", Some(Family::V6), if number == 60 { "::2" } else { "::1" }),
        ];
    }
    let found = one(&history);
    let names: Vec<&str> = found.suspects.iter().map(|suspect| suspect.name.as_str()).collect();
    // What changes all the time may or may not be another just then; what came back is none.
    let sure: Vec<&str> = names.iter().copied().filter(|name| *name != "route").collect();
    assert_eq!(sure, ["hops", "server", "path-mtu"]);
    let hops = &found.suspects[0];
    assert_eq!((hops.before.as_str(), hops.after.as_str()), ("9", "12"));
    assert_eq!((hops.last_before.visit, hops.first_after.visit), (59, 60));
    assert!(hops.lasting && hops.times == 1 && hops.chance < 0.05, "{hops:?}");
    let flapping = found.suspects.iter().find(|suspect| suspect.name == "route");
    assert!(flapping.is_none_or(|route| route.chance > 0.9), "{flapping:?}");
}

/// Throughput is asked at each fiftieth visit, so that its change is found a thousand later.
#[test]
fn what_else_changed_is_remembered_for_questions_that_are_rare() {
    const EVERY: u64 = 50;
    let visit = |number: u64| {
        let mut all = visit(World::default(), number);
        let rare = visit_of_rare(number / EVERY).filter(|_| number.is_multiple_of(EVERY));
        all.questions.push(rare);
        let bytes = if number < 60 * EVERY { "1500" } else { "1400" };
        all.facts = vec![fact("path-mtu", Some(Family::V6), bytes)];
        all
    };
    let history: Vec<Visit> = (0..100 * EVERY).map(visit).collect();
    let found = changes(&[MARGIN, MARGIN], &history);
    let [found] = &found[..] else { panic!("{} changes", found.len()) };
    assert_eq!((found.question, found.first.visit), (1, 60 * EVERY));
    assert!(found.found.visit > 60 * EVERY + 400, "{:?}", found.found);
    assert_eq!(found.suspects.len(), 1, "{:?}", found.suspects);
}

/// What a visit to a path whose IPv6 changes finds of its question.
fn visit_of_rare(number: u64) -> Option<Series<Point>> {
    visit(later(0.0, 0.08), number).questions.remove(0)
}

#[test]
fn the_margin_is_that_of_the_verdict() {
    assert_eq!(margin_default(Metric::Rtt), libm::log1p(0.05));
    assert_eq!(margin_default(Metric::Loss), 0.001);
}
