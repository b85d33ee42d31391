//! What is said of a path whose log is known.

use super::*;
use crate::analysis::Verdict;
use crate::changes::Who;
use alloc::borrow::ToOwned;
use alloc::vec;
use v6gap_core::watch::Kind;
use v6gap_core::watch::With;
use v6gap_core::watch::log::{Answer, Errors, Fact, Noted, Outcome};

const QUARTER_NS: u64 = 900_000_000_000;

/// The first visit over IPv6 that takes longer.
const FIRST: u64 = 60;

/// A visit whose round trips go up and down by half a percent, over both families by themselves.
fn visit(number: u64, longer: f64) -> Ended {
    let sign = |every: u64| if (number / every).is_multiple_of(2) { 1.0 } else { -1.0 };
    let factor = if number >= FIRST { longer } else { 1.0 };
    let rtt = PerFamily {
        v4: 145e-6 * libm::exp(0.005 * sign(1)),
        v6: 146e-6 * factor * libm::exp(0.005 * sign(2)),
    };
    let errors = Some(Errors { effect: 1e-3, families: PerFamily { v4: 1e-3, v6: 1e-3 } });
    let seen = |metric, values, errors| Seen {
        cell: "rtt-tcp-64".to_owned(),
        metric,
        blocks: 8,
        values,
        errors,
    };
    let routers = if number >= FIRST { "12" } else { "9" };
    Ended {
        at_unix_ns: number * QUARTER_NS + 20,
        began_unix_ns: number * QUARTER_NS,
        path: "lab-b".to_owned(),
        kind: Kind::Light,
        outcome: Outcome::Measured,
        run: None,
        bytes: 0,
        seen: vec![
            seen(Metric::Rtt, rtt, errors),
            seen(Metric::Loss, PerFamily { v4: 0.0, v6: 0.0 }, None),
        ],
        answers: vec![Answer {
            cell: "rtt-tcp-64".to_owned(),
            metric: Metric::Rtt,
            label: "Round trip 64 B, TCP".to_owned(),
            verdict: "same".to_owned(),
            answer: "= same".to_owned(),
            text: String::new(),
            range: None,
            margin: None,
            predicted: None,
        }],
        noted: Noted::default(),
        facts: vec![Fact {
            name: "routers".to_owned(),
            family: Some(Family::V6),
            value: routers.to_owned(),
        }],
    }
}

fn listed(margin: f64) -> Listed {
    Listed {
        name: "lab-b".to_owned(),
        host: "lab-b".to_owned(),
        with: With::Run,
        every_ns: Some(QUARTER_NS),
        throughput_every_ns: None,
        time_ns: None,
        measure: Vec::new(),
        margins: BTreeMap::from([(Metric::Rtt, margin)]),
    }
}

fn down(number: u64, family: Option<Family>) -> Ended {
    let outcome = Outcome::Down { family, why: "no answer".to_owned() };
    Ended { outcome, seen: Vec::new(), answers: Vec::new(), ..visit(number, 1.0) }
}

#[test]
fn a_log_with_one_change_has_two_spells() {
    let mut path = Watched::keeping(0);
    let events: Vec<Event> = (0..100).flat_map(|number| path.take(&visit(number, 1.08))).collect();
    let [Event { what: What::Changed { asked, change }, at_unix_ns, .. }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(events[0].changed(), Some(asked));
    assert_eq!((asked.cell.as_str(), asked.label.as_str()), ("rtt-tcp-64", "Round trip 64 B, TCP"));
    assert_eq!(*at_unix_ns, change.found.unix_ns + 20);
    assert_eq!((change.who, change.first.visit), (Who::One(Family::V6), FIRST));
    assert_eq!(change.suspects[0].name, "routers");

    let all = path.spells();
    let [rtt, loss] = &all[..] else { panic!("{all:?}") };
    let [before, since] = &rtt.all[..] else { panic!("{rtt:?}") };
    assert_eq!((before.from.visit, before.to.visit, before.visits), (0, FIRST - 1, 60));
    assert_eq!((since.from.visit, since.to.visit, since.visits), (FIRST, 99, 40));
    assert_eq!((before.verdict, since.verdict), (Verdict::Same, Verdict::Worse));
    assert_eq!((&before.change, since.change.as_ref()), (&None, Some(&**change)));
    let effect = libm::expm1(since.means.effect.mean);
    assert!((effect - (1.08 * 146.0 / 145.0 - 1.0)).abs() < 1e-3, "{effect}");
    assert!(since.means.effect.range.within(0.07, 0.10), "{since:?}");
    // Nothing was ever lost, of which there is no scatter: so few visits do not tell.
    assert_eq!((loss.asked.label.as_str(), loss.all.len()), ("rtt-tcp-64 loss", 1));
    assert_eq!(loss.all[0].verdict, Verdict::CannotTell);
}

#[test]
fn a_history_may_begin_behind_the_change() {
    let mut path = Watched::keeping(70 * QUARTER_NS);
    (0..100).for_each(|number| drop(path.take(&visit(number, 1.08))));
    let [rtt, _] = &path.spells()[..] else { panic!("two questions") };
    let [since] = &rtt.all[..] else { panic!("{rtt:?}") };
    assert_eq!((since.from.visit, since.visits, &since.change), (70, 30, &None));
    assert!(Watched::default().spells().is_empty());
}

#[test]
fn the_margin_is_that_of_the_path() {
    let mut path = Watched::default();
    path.listed(&listed(0.5));
    assert!((0..100).all(|number| path.take(&visit(number, 1.08)).is_empty()));
    // With another one it begins anew, and the same margin changes nothing.
    path.listed(&listed(0.02));
    let again = |number| {
        let mut path = path.clone();
        path.listed(&listed(0.02));
        (FIRST - 40..number).flat_map(|number| path.take(&visit(number, 1.08))).count()
    };
    assert_eq!([again(FIRST), again(FIRST + 40)], [0, 1]);
}

#[test]
fn an_outage_is_told_twice_whatever_comes_between() {
    let mut path = Watched::default();
    let stopped = Ended { outcome: Outcome::Stopped, ..down(12, None) };
    let log = [
        visit(10, 1.0),
        down(11, Some(Family::V6)),
        stopped,
        down(13, None),
        down(14, Some(Family::V6)),
        visit(15, 1.0),
    ];
    let told = |event: Event| match event.what {
        What::Outage { family, outage } => (event.at_unix_ns / QUARTER_NS, family, outage.over),
        What::Changed { .. } => panic!("{event:?}"),
    };
    let events: Vec<_> = log.iter().flat_map(|ended| path.take(ended)).map(told).collect();
    let expected = [
        (11, Family::V6, false),
        (13, Family::V4, false),
        (14, Family::V4, true),
        (15, Family::V6, true),
    ];
    assert_eq!(events, expected);
}
