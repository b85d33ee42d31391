//! The figures of windows, amounts, processor time, connections and the path.

use crate::fixtures::runs::{another_day, comparison};
use crate::fixtures::views::{varied, visited};
use crate::fixtures::{Spec, from_specs, hostile, lab, udp};
use v6gap_core::family::PerFamily;
use v6gap_core::host::names;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::path::Path;
use v6gap_judge::analysis::{Analysis, Verdict};
use v6gap_report::figure::{Figure, Kind, Paint, all, systems};
use v6gap_report::html::{PageInfo, comparison_page, page};

fn of(kind: Kind) -> Vec<Figure> {
    among(&varied(), kind)
}

fn among(analysis: &Analysis, kind: Kind) -> Vec<Figure> {
    all(analysis, Paint::Paper, false).into_iter().filter(|f| f.kind == kind).collect()
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
    assert_eq!(map.table.rows[5][..4], ["64 KiB", "1 GB", "48 KiB", "48 KiB"]);
    let found =
        "slower over IPv6 in 1 of 6, faster over IPv6 in 1, no difference that matters in 3";
    assert!(map.title.contains(found), "{}", map.title);
    assert!(texts(charts).contains(&"49.9 KiB") && charts.table.rows.len() == 6);
    // Nothing is said of words for a difference that could not be told.
    let open: Vec<_> = map.table.rows.iter().filter(|row| row[10].contains("can't tell")).collect();
    assert_eq!(open.len(), 1);
    assert!(open[0][8].contains(" to "), "{open:?}");
}

/// A window that each family was granted for itself has both.
#[test]
fn what_was_granted_is_told_of_both_families() {
    let mut analysis = varied();
    if let Some(granted) = analysis.windows.last_mut().and_then(|w| w.granted_bytes.v6.as_mut()) {
        granted.value /= 2.0;
    }
    let map = &among(&analysis, Kind::Window)[0];
    assert_eq!(map.table.heads[2..4], ["granted, IPv4", "granted, IPv6"]);
    assert_eq!(map.table.rows[5][2..4], ["48 KiB", "24 KiB"]);
}

/// What has no verdict is not what could not be told.
#[test]
fn a_map_tells_no_verdict_from_one_that_is_open() {
    let signs = |analysis: &Analysis| {
        let maps = among(analysis, Kind::Window);
        let count = |sign: &str| texts(&maps[0]).iter().filter(|text| **text == sign).count();
        (count("?"), count("–"), count("no verdict, or not measured"))
    };
    let mut analysis = varied();
    // One of each is in the key.
    assert_eq!(signs(&analysis), (2, 0, 0));
    let mut windows = analysis.questions[..6].iter_mut();
    if let Some(open) = windows.find(|q| q.verdict == Verdict::CannotTell) {
        open.verdict = Verdict::None;
    }
    assert_eq!(signs(&analysis), (1, 2, 1));
}

/// A scale by factors has no place for a loss of none, and its line would pass it by.
#[test]
fn a_loss_of_none_stands_on_its_axis() {
    let loss = |bytes, a, effect| Spec {
        workload: udp(bytes),
        metric: Metric::Loss,
        a,
        effect,
        half: 0.005,
        predicted: None,
    };
    let drawn = |specs: &[Spec]| among(&from_specs(specs), Kind::Size);
    let figures = drawn(&[loss(256, 0.01, 0.02), loss(512, 0.0, 0.0), loss(1408, 0.02, 0.03)]);
    let [figure] = &figures[..] else { panic!("{} figures", figures.len()) };
    assert!(figure.foot.contains("medians, from 0 on"), "{}", figure.foot);
    assert!(texts(figure).contains(&"0"), "{:?}", texts(figure));
    assert!(drawn(&[loss(512, 0.0, 0.0), loss(1408, 0.0, 0.0)]).is_empty(), "nothing to see");
    let by_factors = &among(&lab(), Kind::Size)[0];
    assert!(by_factors.foot.contains("on a scale by factors"), "{}", by_factors.foot);
}

/// Half of what was mostly lost was never finished, and what was lost is not what is left out.
#[test]
fn a_spread_says_where_more_than_half_was_lost() {
    let mut analysis = lab();
    let named = |analysis: &Analysis| {
        let figures = among(analysis, Kind::Spread);
        figures.into_iter().find(|figure| figure.id == "spread-rtt-tcp-64").unwrap()
    };
    let whole = named(&analysis);
    assert!(whole.foot.contains(" The longest 0.5 % are not drawn."), "{}", whole.foot);
    let q = analysis.questions.iter_mut().find(|q| q.cell == "rtt-tcp-64").unwrap();
    q.lost.b = 5000;
    let lost = named(&analysis);
    assert!(lost.desc.starts_with("Half of all delays were shorter than 14"), "{}", lost.desc);
    assert!(lost.desc.ends_with(" µs (IPv4); more than half were lost (IPv6)."), "{}", lost.desc);
    assert!(!lost.foot.contains("0.5 %"), "{}", lost.foot);
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
        ["sender, kernel", "0.21", "0.205 to 0.215", "0.24", "0.235 to 0.245", "14 % more",]
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
fn a_visit_is_drawn_phase_after_phase() {
    let figures = among(&visited(), Kind::Visit);
    let [tcp, quic] = &figures[..] else { panic!("{} figures", figures.len()) };
    let phases: Vec<&str> = tcp.table.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(phases, ["Looking up", "Connecting", "TLS", "Response", "First byte"]);
    assert_eq!(tcp.table.rows[1][..4], ["Connecting", "12.1", "15.1", "25 % slower"]);
    assert_eq!(tcp.title, "A visit by HTTP/2, phase after phase: slower over IPv6");
    assert!(texts(tcp).contains(&"13.3 ms"), "{:?}", texts(tcp));
    // What QUIC leaves of the first byte is the answer's: 30.4 − 14 ms.
    assert!(quic.title.starts_with("A visit by HTTP/3, "), "{}", quic.title);
    let said = texts(quic);
    assert!(said.contains(&"to the first byte") && said.contains(&"16.4 ms"), "{said:?}");
    // A version without phases of its own has no figure, and a host without a name no look-up.
    let mut analysis = visited();
    analysis.questions.retain(|q| !matches!(q.metric, Metric::Lookup | Metric::Quic));
    let figures = among(&analysis, Kind::Visit);
    assert_eq!(figures.len(), 1);
    assert!(texts(&figures[0]).contains(&"ms since connecting began"), "{:?}", figures[0].svg);
}

#[test]
fn both_ways_stand_side_by_side() {
    let figures = among(&visited(), Kind::Ladder);
    let [figure] = &figures[..] else { panic!("{} figures", figures.len()) };
    let found = "router by router: 1 router over IPv4, 2 routers over IPv6";
    assert!(figure.title.ends_with(found), "{}", figure.title);
    assert_eq!(figure.table.rows[1], ["2", "192.0.2.10", "12.1 ms", "no answer", "–"]);
    assert_eq!(figure.table.rows[2], ["3", "–", "–", "2001:db8:10::10", "15.3 ms"]);
    let said = texts(figure);
    for part in ["2001:db8::1", "330 µs", "no answer", "15.3 ms"] {
        assert!(said.contains(&part), "{part}: {said:?}");
    }
    // Past whom nobody heard the line is dotted.
    assert_eq!(figure.svg.matches("stroke-dasharray=\"2 4\"").count(), 1);
    let mut analysis = visited();
    if let Some(hops) = &mut analysis.run.hops {
        hops.v6.pop();
    }
    let cut = among(&analysis, Kind::Ladder);
    assert!(cut[0].title.ends_with("not seen to its end over IPv6"), "{}", cut[0].title);
    analysis.run.hops = None;
    assert!(among(&analysis, Kind::Ladder).is_empty());
    let html = page(&visited(), &PageInfo::default());
    let told = "<h2>The ways there: 1 router over IPv4, 2 routers over IPv6</h2>";
    assert!(html.contains(told) && html.contains("IPv6 in 24 of 24 visits by RFC 8305"));
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
    analysis.run.plan.parts_mut().world = None;
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

#[test]
fn compared_systems_stand_beside_each_other() {
    let two = comparison(&[lab(), another_day("8m1c3e")]);
    let figures = systems(&two, Paint::Paper);
    assert!(figures.iter().all(|figure| figure.kind == Kind::Systems), "two runs are no history");
    let throughput = figures.iter().find(|f| f.id == "systems-throughput").unwrap();
    let rows = &throughput.table.rows;
    assert_eq!(rows.len(), 4);
    assert_eq!((&rows[0][1..4], &*rows[0][4]), (&["A", "IPv4", "94.1"].map(String::from)[..], "–"));
    assert!(rows[2][4].starts_with("96."), "by the change against A: {:?}", rows[2]);
    let html = comparison_page(&two, &[], "0.1.0");
    assert!(html.contains("Systems compared: 2 worse, 2 better, 10 same, 1 can't tell"));
    let heat = html.split("data heat").nth(1).unwrap().split("</table>").next().unwrap();
    for (class, cells) in [("worse", 2), ("better", 2), ("same", 10), ("open", 1)] {
        assert_eq!(heat.matches(&format!("<td class=\"{class}\">")).count(), cells, "{class}");
    }
    assert_eq!(heat.matches("can’t tell: ").count(), 1);
}

#[test]
fn runs_between_the_same_hosts_have_a_history() {
    let mut last = another_day("9x2d4f");
    last.run.started_unix_ns += 86_400_000_000_000;
    let three = comparison(&[lab(), last.clone(), another_day("8m1c3e")]);
    let history = |found| {
        let figures = systems(&found, Paint::Paper);
        figures.into_iter().filter(|f| f.kind == Kind::History).collect::<Vec<_>>()
    };
    let found = history(three);
    assert_eq!(found.len(), 4);
    let moved = found.iter().find(|f| f.id == "history-rtt-rtt-tcp-64").unwrap();
    assert!(moved.title.ends_with("another difference than in A in 2 of 2"), "{}", moved.title);
    let runs: Vec<&str> = moved.table.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(runs, ["A", "C", "B"], "in the order of time");
    assert_eq!(moved.svg.matches("2 4").count(), 1, "one change, after the first run");
    assert!(found[0].title.ends_with("no change against the first run was found"));
    // Other hosts are another path.
    last.run.hosts.server.name = "elsewhere".into();
    assert!(history(comparison(&[lab(), last, another_day("8m1c3e")])).is_empty());
}
