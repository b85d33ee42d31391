//! Strips of a history whose truth is known: a change, an outage of either family, and one visit.

use super::*;
use crate::made::{self, QUARTER_NS};
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::watch::log::Ended;
use v6gap_judge::analysis::effect;
use v6gap_judge::changes::Watched;

/// Visits, and the first of them over whose IPv6 a round trip takes 8.9 % longer.
const VISITS: u64 = 400;
const FIRST: u64 = 200;

fn visit(number: u64) -> Ended {
    made::visit(number, if number >= FIRST { 1.089 } else { 1.007 }, 1e-3)
}

/// The strip of the first visits, with these outages.
fn drawn(visits: u64, silences: &[(Family, u64, Option<u64>)], path: &str) -> Strip {
    let mut watched = Watched::keeping(0);
    (0..visits).for_each(|number| drop(watched.take(&visit(number))));
    let spells = watched.spells();
    let of_visit = |number: u64| {
        let PerFamily { v4, v6 } = visit(number).seen[0].values;
        (number * QUARTER_NS, Metric::Rtt.scale().shown(effect::of_block(Metric::Rtt, v4, v6)))
    };
    let all: Vec<(u64, f64)> = (0..visits).map(of_visit).collect();
    let to_unix_ns = visits * QUARTER_NS;
    let course = Course { path, spells: &spells[0], visits: &all, silences, to_unix_ns };
    strip(&course).unwrap()
}

/// Whether everything that is drawn lies within the picture.
fn is_within(svg: &str) -> bool {
    let paths = svg.split(" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut numbers = paths.flat_map(|data| {
        let points = data.split(['M', 'L', 'C', 'Z']).filter(|point| !point.is_empty());
        points.flat_map(|point| {
            let xy: Vec<f64> = point.split(' ').map(|number| number.parse().unwrap()).collect();
            xy.chunks(2).map(|xy| (xy[0], xy[1])).collect::<Vec<_>>()
        })
    });
    // A column of one visit at the edge reaches half its height beyond.
    numbers.all(|(x, y)| (0.0..=WIDTH).contains(&x) && (-2.0..=HEIGHT + 2.0).contains(&y))
}

#[test]
fn a_change_is_marked_and_said() {
    let strip = drawn(VISITS, &[], "lab-b");
    let title = "lab-b, rtt-tcp-64 rtt: over IPv6 8.9 % longer since 1970-01-03 02:00 (UTC), \
                 ▼ worse";
    assert_eq!(strip.title, title);
    let rows: Vec<[&str; 3]> = strip
        .table
        .rows
        .iter()
        .map(|row| [row[0].as_str(), row[2].as_str(), row[5].as_str()])
        .collect();
    let expected =
        [["1970-01-01 00:00", "200", "≈ within 5 %"], ["1970-01-03 02:00", "200", "▼ worse"]];
    assert_eq!(rows, expected);
    assert!(strip.desc.contains("200 visits: +8.9 % ("), "{}", strip.desc);
    // One dotted line, where the change is, and both shapes.
    assert_eq!(strip.svg.matches("stroke-dasharray").count(), 1, "{}", strip.svg);
    assert!(strip.svg.contains("M260 0L260 96"), "{}", strip.svg);
    assert!(strip.foot.contains("1 change, each"), "{}", strip.foot);
    assert_eq!(strip.ends, ["1970-01-01 00:00", "1970-01-05 04:00"]);
    assert!(is_within(&strip.svg), "{}", strip.svg);
}

/// Several visits share a column, so that a long history costs no more than a short one.
#[test]
fn a_strip_has_no_more_columns_than_can_be_seen() {
    let columns = |visits: u64| {
        drawn(visits, &[], "lab-b").svg.matches("stroke-width=\"2.4\"").count() as u64
    };
    assert_eq!(columns(20), 20);
    assert!((100..=COLUMNS).contains(&columns(VISITS)), "{}", columns(VISITS));
}

#[test]
fn an_outage_is_hatched_and_said() {
    let since = 100 * QUARTER_NS;
    let whole = drawn(VISITS, &[], "lab-b");
    let over = drawn(VISITS, &[(Family::V6, since, Some(since + 40 * QUARTER_NS))], "lab-b");
    let slanted = |strip: &Strip| {
        strip.svg.matches("stroke-width=\"1.2\"").count()
            - whole.svg.matches("stroke-width=\"1.2\"").count()
    };
    // 52 wide, a line each 6, and both its ends.
    assert_eq!(slanted(&over), 9 + 2);
    let said = "IPv6 did not answer from 1970-01-02 01:00 to 1970-01-02 11:00 (UTC).";
    assert!(over.desc.ends_with(said), "{}", over.desc);
    let now = drawn(VISITS, &[(Family::V4, 399 * QUARTER_NS, None)], "lab-b");
    assert!(now.desc.ends_with("IPv4 has not answered since 1970-01-05 03:45 (UTC)."));
    assert!(slanted(&now) > 2 && now.foot.contains("Hatched"), "{}", now.foot);
    assert!(is_within(&over.svg) && is_within(&now.svg));
    // What was over before the strip begins is neither drawn nor said.
    assert_eq!(drawn(VISITS, &[(Family::V6, 0, Some(0))], "lab-b"), whole);
}

/// A path that comes and goes for weeks makes no larger a strip than one that is down for long.
#[test]
fn outages_close_to_each_other_are_drawn_as_one_and_the_latest_said() {
    let (minute_ns, from) = (60_000_000_000, 100 * QUARTER_NS);
    let down = |number: u64| {
        let since = from + number * minute_ns;
        (Family::V6, since, Some(since + minute_ns / 2))
    };
    let many: Vec<(Family, u64, Option<u64>)> = (0..600).map(down).collect();
    let one = [(Family::V6, from, many[599].2)];
    let (many_drawn, one_drawn) = (drawn(VISITS, &many, "lab-b"), drawn(VISITS, &one, "lab-b"));
    let lines = |strip: &Strip| strip.svg.matches("stroke-width=\"1.2\"").count();
    assert_eq!(lines(&many_drawn), lines(&one_drawn));
    let said = |strip: &Strip| strip.desc.matches("did not answer").count();
    assert_eq!((said(&many_drawn), said(&one_drawn)), (SAID_MAX, 1));
    assert!(many_drawn.desc.contains(" 550 outages before that are left out. IPv6 did not"));
    assert!(many_drawn.foot.contains("(600)"), "{}", many_drawn.foot);
    // Those of another family, and those far apart, are drawn for themselves.
    let apart = [many[0], (Family::V4, many[1].1, many[1].2), (Family::V6, 300 * QUARTER_NS, None)];
    assert!(lines(&drawn(VISITS, &apart, "lab-b")) > lines(&drawn(VISITS, &apart[..2], "lab-b")));
    assert!(
        lines(&drawn(VISITS, &apart[..2], "lab-b")) > lines(&drawn(VISITS, &apart[..1], "lab-b"))
    );
}

#[test]
fn one_visit_is_a_strip_and_none_is_not() {
    let one = drawn(1, &[], "lab-b");
    assert!(is_within(&one.svg), "{}", one.svg);
    assert_eq!((one.table.rows.len(), one.table.rows[0][2].as_str()), (1, "1"));
    assert!(one.desc.contains("1 visit: "), "{}", one.desc);
    let mut spells = Watched::keeping(0);
    drop(spells.take(&visit(0)));
    let empty = Spells { all: Vec::new(), ..spells.spells().remove(0) };
    let course =
        Course { path: "lab-b", spells: &empty, visits: &[], silences: &[], to_unix_ns: 5 };
    assert_eq!(strip(&course), None);
}

#[test]
fn names_are_never_marks_and_strips_of_two_paths_have_two_names() {
    let hostile = drawn(2, &[], "<b>&");
    assert!(hostile.svg.contains("&lt;b&gt;&amp;, rtt") && !hostile.svg.contains("<b>"));
    let name = |path: &str| {
        let svg = drawn(2, &[], path).svg;
        svg.split("aria-labelledby=\"")
            .nth(1)
            .and_then(|rest| rest.split(' ').next().map(str::to_owned))
    };
    assert_ne!(name("a.b"), name("a-b"));
    assert_ne!(name("a_b"), name("a b"));
}
