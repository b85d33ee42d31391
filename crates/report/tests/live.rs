//! The view of a run that is being measured: every width, ASCII, sentences, and what stands in it.

use crate::fixtures::{header, long};
use crate::snapshots::check;
use v6gap_core::arm::{Arm, BlockKind};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Stop;
use v6gap_core::record::{Line, RunHeader, TrialRecord};
use v6gap_core::run::SoFar;
use v6gap_report::text::{Glyphs, Live, Moment, Style};

const SECOND: u64 = 1_000_000_000;

fn so_far(cell: &str, metric: Metric, text: &str, range: Option<(f64, f64, f64)>) -> SoFar {
    SoFar { cell: cell.into(), metric, blocks: 8, text: text.into(), range }
}

/// In the middle of a run, IPv6 having its turn.
fn measuring() -> Live {
    let lines = long::lines(360);
    let Line::Run(header) = &lines[0] else { unreachable!("the first line is the header") };
    let mut live = Live::new(header);
    let trials: Vec<&TrialRecord> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Trial(trial) => Some(&**trial),
            _ => None,
        })
        .collect();
    for pair in trials.chunks(2) {
        let [first, second] = pair else { unreachable!("two trials in each block") };
        let (a, b) = if first.arm == Arm::A { (first, second) } else { (second, first) };
        live.block(a.round, &a.cell, a.kind, (1, 12));
        live.turn(Some(first.family));
        live.trials(a, b, true);
    }
    live.round(
        11,
        &[
            so_far(
                "throughput-tcp",
                Metric::Throughput,
                "1.4 % slower",
                Some((-0.014, -0.015, -0.013)),
            ),
            so_far("rtt-tcp-64", Metric::Rtt, "5.3 % longer", Some((0.053, 0.02, 0.08))),
            so_far("rtt-tcp-256", Metric::Rtt, "0.3 % shorter", Some((-0.003, -0.01, 0.004))),
            so_far("rtt-tcp-1024", Metric::Rtt, "2.0 % longer", Some((0.02, -0.04, 0.09))),
            so_far("rtt-tcp-4096", Metric::Rtt, "", None),
            so_far("connect-tcp", Metric::Connect, "6.1 % quicker", Some((-0.061, -0.09, -0.03))),
            so_far("rtt-udp-64", Metric::Rtt, "40 % longer", Some((0.4, 0.1, 3.0))),
        ],
    );
    live.block(12, "throughput-tcp", BlockKind::Compare, (3, 12));
    live.turn(Some(Family::V6));
    live
}

fn moment() -> Moment {
    Moment { elapsed_ns: 212 * SECOND, keys: true, ..Moment::default() }
}

#[test]
fn the_view_at_every_width() {
    let live = measuring();
    for width in [80, 72, 60, 40] {
        let style = Style { width, ..Style::default() };
        let frame = live.frame(&moment(), &style);
        check(&format!("live-{width}.txt"), &frame);
        let strips = frame.contains('░');
        assert_eq!(strips, width >= 72, "{frame}");
        for number in ["1.4 % slower", "5.3 % longer", "Mbit/s", "µs"] {
            assert!(frame.contains(number), "{number} at {width}:\n{frame}");
        }
    }
}

/// A plan that asks for one thing at several sizes, in the middle of it.
fn levels(pairs: Option<u32>) -> Live {
    let lines = long::lines(360);
    let Line::Run(header) = &lines[0] else { unreachable!("the first line is the header") };
    let mut header = header.clone();
    header.plan.parts_mut().cells.retain(|cell| cell.id.starts_with("rtt-"));
    header.plan.parts_mut().design.stop =
        pairs.map_or(header.plan.design.stop, |pairs| Stop::Pairs { pairs });
    let mut live = Live::new(&header);
    let trials = lines.iter().filter_map(|line| match line {
        Line::Trial(trial) => Some(&**trial),
        _ => None,
    });
    let trials: Vec<&TrialRecord> = trials.collect();
    for pair in trials.chunks(2).filter(|pair| pair[0].cell.starts_with("rtt-")) {
        let (a, b) = if pair[0].arm == Arm::A { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
        live.block(a.round, &a.cell, a.kind, (1, 10));
        live.trials(a, b, true);
    }
    let some =
        |size: u32, text: &str, range| so_far(&format!("rtt-tcp-{size}"), Metric::Rtt, text, range);
    live.round(
        8,
        &[
            some(64, "5.3 % longer", Some((0.053, 0.02, 0.08))),
            some(256, "0.3 % shorter", Some((-0.003, -0.01, 0.004))),
            some(1024, "", None),
        ],
    );
    live.block(9, "rtt-tcp-256", BlockKind::Compare, (2, 10));
    live
}

#[test]
fn a_plan_of_levels_has_a_row_for_each() {
    let live = levels(Some(10));
    for width in [100, 80, 64, 40] {
        let style = Style { width, ..Style::default() };
        let frame = live.frame(&moment(), &style);
        check(&format!("live-levels-{width}.txt"), &frame);
        assert!(frame.contains("Round trip 16 KiB TCP"), "{frame}");
        assert_eq!(frame.contains("2 – 8       8/10"), width >= 80, "{frame}");
        assert!(frame.contains("… 4 more (d shows all)"), "{frame}");
        assert_eq!(frame.contains("8/10"), width >= 80, "{frame}");
        assert_eq!(frame.contains("at the end"), width >= 92, "{frame}");
        assert_eq!(frame.contains(" µs"), width >= 63, "{frame}");
        let marked: Vec<&str> = frame.lines().filter(|line| line.contains('>')).collect();
        assert!(matches!(marked[..], [one] if one.contains("256 B")), "{frame}");
    }
    let all = live.frame(&Moment { details: true, ..moment() }, &Style::default());
    assert_eq!(all.matches("Round trip ").count(), 10, "{all}");
    assert!(all.contains("Now: rtt-tcp-256"), "{all}");
    let open = levels(None).frame(&moment(), &Style::default());
    assert!(!open.contains("8/") && open.contains("  8\n"), "{open}");
    for width in 20..130 {
        let style = Style { width, ..Style::default() };
        let frame = live.frame(&Moment { details: true, ..moment() }, &style);
        assert!(frame.lines().all(|line| line.chars().count() <= width), "{width}:\n{frame}");
    }
}

#[test]
fn the_view_in_other_forms() {
    let live = measuring();
    let style = Style::default();
    let ascii = live.frame(&moment(), &Style { glyphs: Glyphs::Ascii, ..style });
    assert!(ascii.is_ascii(), "{ascii}");
    check("live-ascii.txt", &ascii);
    check("live-colour.txt", &live.frame(&moment(), &Style { colour: true, ..style }));
    let plain = live.frame(&moment(), &Style { plain: true, ..style });
    assert!(!plain.contains(['▼', '○', '█', '░', '│']), "{plain}");
    check("live-plain.txt", &plain);
    let all = Moment { details: true, help: true, ..moment() };
    check("live-details.txt", &live.frame(&all, &style));
    check("live-line.txt", &live.line(212 * SECOND, &style));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let live = measuring();
    for width in 20..130 {
        for plain in [false, true] {
            let style = Style { width, plain, ..Style::default() };
            let all = Moment { details: true, help: true, ..moment() };
            let frame = live.frame(&all, &style);
            let longest = frame.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{longest:?} of {width}:\n{frame}");
        }
    }
}

#[test]
fn before_the_first_pair_there_is_a_view_too() {
    let frame = Live::new(&empty()).frame(&Moment::default(), &Style::default());
    assert!(frame.contains("Before the pairs") && frame.contains("Ctrl-C"), "{frame}");
    let line = Live::new(&empty()).line(0, &Style::default());
    assert!(line.contains("round 0") && line.contains("not final"), "{line}");
}

fn empty() -> RunHeader {
    header(Vec::new())
}

#[test]
fn pairs_that_are_fixed_are_counted_down() {
    let mut fixed = empty();
    fixed.plan.parts_mut().design.stop = Stop::Pairs { pairs: 10 };
    let mut live = Live::new(&fixed);
    live.block(6, "x", BlockKind::Compare, (1, 1));
    let frame =
        live.frame(&Moment { elapsed_ns: 50 * SECOND, ..Moment::default() }, &Style::default());
    assert!(frame.starts_with("Pair 6 of 10"), "{frame}");
    assert!(frame.lines().next().is_some_and(|line| line.ends_with("about 50 s left")), "{frame}");
}

/// What a peer says cannot drive the terminal.
#[test]
fn foreign_text_stays_text() {
    let mut live = measuring();
    live.block(1, "\u{1b}[2J\u{202e}", BlockKind::Compare, (1, 1));
    let frame = live.frame(&Moment { details: true, ..moment() }, &Style::default());
    assert!(!frame.contains(['\u{1b}', '\u{202e}']), "{frame}");
}
