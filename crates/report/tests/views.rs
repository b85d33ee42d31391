//! The figures of windows, amounts, processor time, connections and the path.

use crate::fixtures::views::varied;
use crate::fixtures::{hostile, lab};
use v6gap_core::analysis::path::Path;
use v6gap_core::family::PerFamily;
use v6gap_core::fitness::names;
use v6gap_report::figure::{Figure, Kind, Paint, all};
use v6gap_report::html::{PageInfo, page};

fn of(kind: Kind) -> Vec<Figure> {
    all(&varied(), Paint::Paper, false).into_iter().filter(|f| f.kind == kind).collect()
}

/// The texts of a figure, in order.
fn texts(figure: &Figure) -> Vec<&str> {
    let parts = figure.svg.split("<text ").skip(1);
    let between = |part: &'_ str| -> Option<(usize, usize)> {
        Some((part.find('>')? + 1, part.find("</text>")?))
    };
    parts.filter_map(|part| between(part).map(|(from, to)| &part[from..to])).collect()
}

#[test]
fn a_map_has_the_windows_that_were_offered_and_a_value_in_every_cell() {
    let figures = of(Kind::Window);
    let [map, charts] = &figures[..] else { panic!("{} figures", figures.len()) };
    let said = texts(map);
    // Asked and offered: a window of 64 KiB was granted as 48, and offered as a little more.
    for part in ["8.32 KiB", "asked 8 KiB", "49.9 KiB", "asked 64 KiB", "100 MB", "1 GB"] {
        assert!(said.contains(&part), "{part}: {said:?}");
    }
    // Values of both arms, a difference with a sign inside of the margin and without one beyond.
    for part in ["20", "94.1", "−1.4", "5.0", "?"] {
        assert!(said.contains(&part), "{part}: {said:?}");
    }
    assert_eq!(map.table.rows.len(), 6);
    assert_eq!(map.table.rows[5][..3], ["64 KiB", "1 GB", "48 KiB"]);
    let found =
        "slower over IPv6 in 1 of 6, faster over IPv6 in 1, no difference that matters in 3";
    assert!(map.title.contains(found), "{}", map.title);
    assert!(texts(charts).contains(&"49.9 KiB") && charts.table.rows.len() == 6);
    // Nothing is said of words for a difference that could not be told.
    let open: Vec<_> = map.table.rows.iter().filter(|row| row[9].contains("can't tell")).collect();
    assert_eq!(open.len(), 1);
    assert!(open[0][7].contains(" to "), "{open:?}");
}

#[test]
fn amounts_have_the_line_as_their_ceiling() {
    let figures = of(Kind::Amount);
    let [figure] = &figures[..] else { panic!("{} figures", figures.len()) };
    assert_eq!(figure.table.rows[0][0], "125 KiB");
    assert!(figure.foot.contains("the dotted lines are what the line carries"), "{}", figure.foot);
    assert_eq!(figure.table.rows[0][3], "61");
    assert!(texts(figure).contains(&"0"), "values begin at 0");
}

#[test]
fn processor_time_stands_by_place_with_its_answer() {
    let figures = of(Kind::Cost);
    let [figure] = &figures[..] else { panic!("{} figures", figures.len()) };
    assert!(figure.title.ends_with("more over IPv6"), "{}", figure.title);
    let rows = &figure.table.rows;
    assert_eq!(rows.len(), 5);
    assert_eq!(
        rows[1],
        ["sender, kernel", "0.21", "0.206 to 0.214", "0.24", "0.235 to 0.245", "14 % more",]
    );
    assert!(texts(figure).contains(&"+14 %") && texts(figure).contains(&"both ends, interrupts"));
    assert!(figure.foot.contains("whole machine"), "{}", figure.foot);
    // Without the machine, the missing part is said.
    let mut analysis = varied();
    analysis.places.pop();
    let all = all(&analysis, Paint::Page, false);
    let figure = all.iter().find(|figure| figure.kind == Kind::Cost).unwrap();
    assert!(figure.foot.contains("Interrupts are not in it"), "{}", figure.foot);
}

#[test]
fn a_connection_is_opened_stage_after_stage() {
    let figures = of(Kind::Opening);
    let [figure] = &figures[..] else { panic!("{} figures", figures.len()) };
    let rows = &figure.table.rows;
    assert_eq!(rows.len(), 6);
    // The first byte is counted from the call of connect: its own stage is what is left.
    assert_eq!(rows[2], ["To the first byte", "IPv4", "418", "839", "822 to 856"]);
    assert_eq!(rows[3], ["Socket", "IPv6", "10", "10", "9.8 to 10.2"]);
    assert!(figure.title.ends_with("slower over IPv6"), "{}", figure.title);
}

#[test]
fn the_path_of_a_lab_and_that_between_two_hosts_are_drawn() {
    let drawn = |analysis| {
        let figures = all(&analysis, Paint::Paper, false);
        figures.into_iter().find(|figure| figure.kind == Kind::Path).unwrap()
    };
    let figure = drawn(lab());
    let said = texts(&figure).join("|");
    assert!(said.contains("client|host|link 1|100 Mbit/s"), "{said}");
    assert_eq!(figure.table.rows.len(), 2);
    let mut analysis = lab();
    analysis.run.plan.world = None;
    analysis
        .run
        .hosts
        .client
        .facts
        .insert(names::way_out(v6gap_core::family::Family::V4).into(), "eth0".into());
    analysis.path = Path {
        mtu: PerFamily { v4: Some(1500), v6: Some(1480) },
        routers: PerFamily { v4: Some([3, 3]), v6: Some([4, 5]) },
    };
    let figure = drawn(analysis);
    let way = &figure.table.rows[0][3];
    let said = "IPv4: by eth0, path MTU 1500, 3 routers, to 10.46.2.2; IPv6: path MTU 1480, 4 to 5 \
                routers, to fd46:2::2";
    assert_eq!(way, said);
    assert!(!drawn(hostile()).svg.contains("<script"));
}

#[test]
fn sections_are_headed_by_what_was_found() {
    let html = page(&varied(), &PageInfo::default());
    for head in [
        "<h2>Throughput by window and data size: slower over IPv6 in 1 of 6",
        "<h2>Throughput by amount of data: ",
        "<h2>Processor cost: more over IPv6</h2>",
        "<h2>Opening connections: slower over IPv6</h2>",
    ] {
        assert!(html.contains(head), "{head}");
    }
    assert!(html.len() < 400_000);
}
