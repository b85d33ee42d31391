//! Weeks of three paths that are visited every quarter of an hour: on one of them IPv6 takes 2 %
//! longer from some visit on, on another it does not answer for three hours, on the third nothing
//! happens. The figures are those of docs/method.md, section C.15.

use super::runs::Source;
use v6gap_core::family::{Family, PerFamily};
use v6gap_judge::changes::{ALPHA, Change, Path, Series, Told, Visit, Who};
use v6gap_stats::change::Point;

const DAY: u64 = 96;
const WEEK: u64 = 7 * DAY;

/// Standard deviation of the effect from visit to visit, and the amplitude of its daily wave.
const SD: f64 = 0.005;
const WAVE: f64 = 0.7 * SD;

/// What both families have in common from visit to visit.
const SHARED: f64 = 0.005;

/// Margin and step: 1 % and 2 %.
const MARGIN: f64 = 1.01;
const STEP: f64 = 1.02;

/// Questions of each path; what is simulated is the first.
const QUESTIONS: usize = 3;

/// Visits of an outage.
const OUTAGE: u64 = 12;

/// Visits within which half, 95 of 100 and all of the changes are found, with room for chance.
const HALF: u64 = 25;
const MOST: u64 = 42;
const ALL: u64 = 60;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Happens {
    Nothing,
    Step(u64),
    Outage(u64),
}

/// What is said of a path at each visit of a week.
fn week(source: &mut Source, happens: Happens) -> Vec<Told> {
    let mut path = Path::new(&[MARGIN.ln(); QUESTIONS]);
    let phase = source.uniform();
    (0..WEEK)
        .map(|number| {
            let wave = (std::f64::consts::TAU * (number as f64 / DAY as f64 + phase)).sin();
            let shared = SHARED * source.normal();
            let mut families = PerFamily::from_fn(|_| shared + SD / 2_f64.sqrt() * source.normal());
            families.v6 += WAVE * wave;
            if matches!(happens, Happens::Step(at) if number >= at) {
                families.v6 += STEP.ln();
            }
            let down =
                matches!(happens, Happens::Outage(at) if (at..at + OUTAGE).contains(&number));
            let point = |value| Point { value, standard_error: None };
            let effect = point(families.v6 - families.v4);
            let seen = Series { effect, families: families.map(point) };
            path.visit(&Visit {
                started_unix_ns: number,
                answered: PerFamily { v4: true, v6: !down },
                questions: vec![(!down).then_some(seen)],
                facts: Vec::new(),
            })
        })
        .collect()
}

fn changes(told: &[Told]) -> Vec<Change> {
    told.iter().flat_map(|told| told.changes.clone()).collect()
}

/// Some visit from the third day to the fifth.
fn some_visit(source: &mut Source) -> u64 {
    2 * DAY + (source.uniform() * 3.0 * DAY as f64) as u64
}

#[test]
fn a_change_and_an_outage_in_a_week_of_three_paths() {
    let weeks = super::count(10, 200);
    let (mut delays, mut dated, mut of_ipv6, mut alarms) = (Vec::new(), 0, 0, 0);
    for seed in 0..weeks {
        let mut source = Source::new(u64::from(seed));
        let at = some_visit(&mut source);
        let found = changes(&week(&mut source, Happens::Step(at)));
        let (early, true_ones): (Vec<_>, Vec<_>) =
            found.iter().partition(|change| change.found.visit < at);
        alarms += early.len() + true_ones.len().saturating_sub(1);
        if let Some(change) = true_ones.first() {
            delays.push(change.found.visit + 1 - at);
            dated += u32::from(change.first.visit.abs_diff(at) <= 2);
            of_ipv6 += u32::from(change.who == Who::One(Family::V6));
        }
        let at = some_visit(&mut source);
        let told = week(&mut source, Happens::Outage(at));
        alarms += changes(&told).len();
        for (number, told) in (0..).zip(&told) {
            let visits = told.outages.v6.map(|outage| (outage.visits, outage.over));
            let since_down = (at..=at + OUTAGE).contains(&number).then(|| number + 1 - at);
            let expected = since_down.map(|n| (n.min(OUTAGE), n > OUTAGE));
            assert_eq!((visits, told.outages.v4), (expected, None), "{seed}: {number}");
        }
        alarms += changes(&week(&mut source, Happens::Nothing)).len();
    }
    delays.sort_unstable();
    assert_eq!(delays.len(), weeks as usize, "not all are found");
    let quantile = |share: f64| delays[(share * (delays.len() - 1) as f64) as usize];
    let (half, most, all) = (quantile(0.5), quantile(0.95), quantile(1.0));
    let visits = u64::from(weeks) * 3 * WEEK;
    println!("found after {half}, {most}, {all}; {dated} within two visits, {of_ipv6} of IPv6");
    println!("{alarms} false alarms in {visits} visits");
    assert!(half <= HALF && most <= MOST && all <= ALL, "{delays:?}");
    assert!(dated * 10 >= weeks * 9 && of_ipv6 * 10 >= weeks * 9, "{dated} {of_ipv6}");
    // None by day: less than one is allowed.
    let allowed = ALPHA * visits as f64 / (3 * QUESTIONS) as f64;
    assert!(alarms as f64 <= allowed, "{alarms} in {visits}");
}
