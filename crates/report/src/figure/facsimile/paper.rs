//! Which charts each study printed, and what of a run belongs into them.

use super::charts::{self, Chart, Form, Point};
use crate::figure::{series, size};
use v6gap_core::metric::Metric;
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::{Direction, TcpBulk, Transport, Workload};
use v6gap_judge::analysis::{Analysis, Question};

/// Every chart that the study of the plan printed of what the run measured.
pub(super) fn charts(analysis: &Analysis) -> Vec<Chart<'_>> {
    let reference = analysis.run.plan.reference.as_deref().unwrap_or_default();
    let (study, experiment) = reference.split_once('/').unwrap_or((reference, ""));
    match study {
        "raicu" => raicu(analysis, experiment),
        "goyal" => goyal(analysis),
        "soorty" => soorty(analysis),
        "manford" => manford(analysis),
        "sailan" => sailan(analysis),
        _ => Vec::new(),
    }
}

/// Sizes that a graph of Raicu's spans, and the distance of its marks: all, and three details.
const RAICU_PARTS: [(u32, u32, u32); 4] =
    [(0, 65_536, 8_192), (0, 1_024, 128), (1_024, 16_384, 2_048), (16_384, 65_536, 8_192)];

/// The buffers of the round trips that Raicu printed, in bytes.
const RAICU_BUFFER_BYTES: u32 = 61_440;

/// Graphs 1 to 16: round trips by size with the difference on a second scale.
fn raicu<'a>(analysis: &'a Analysis, experiment: &str) -> Vec<Chart<'a>> {
    let (first, transport) = match experiment {
        "tcp-100" => (1, Transport::Tcp),
        "tcp-10" => (5, Transport::Tcp),
        "udp-100" => (9, Transport::Udp),
        "udp-10" => (13, Transport::Udp),
        _ => return Vec::new(),
    };
    let own = |group: &BySize<'_>| group.questions.iter().all(|q| q.transport == transport);
    let groups = by_size(analysis, Metric::Rtt).into_iter().filter(own).collect();
    let buffer = |workload: &Workload| workload.settings().and_then(|s| s.buffer_bytes);
    let groups = printed(analysis, groups, |w| buffer(w) == Some(RAICU_BUFFER_BYTES));
    let mut found = Vec::new();
    for (variant, group) in groups.into_iter().enumerate() {
        let which = &group.which;
        for (part, (from, to, step)) in RAICU_PARTS.into_iter().enumerate() {
            let within = |q: &&Question| q.level_bytes.is_some_and(|n| (from..=to).contains(&n));
            let questions = group.questions.iter().copied().filter(within);
            let points: Vec<Point> = questions.filter_map(|q| sized(analysis, q)).collect();
            let mark = |at: u32| {
                let text = (at / step).is_multiple_of(2);
                (f64::from(at), if text { format_bytes(at.into()) } else { String::new() })
            };
            found.extend((points.len() > 1).then(|| Chart {
                id: format!("printed-raicu-{}-{}", first + part, variant + 1),
                title: format!("Raicu's graph {}, round trips by size{which}", first + part),
                metric: Metric::Rtt,
                form: Form::Dual,
                points,
                span: (f64::from(from), f64::from(to)),
                ticks:
                    (0..).map(|n| from + n * step).take_while(|at| *at <= to).map(mark).collect(),
                rule: charts::rule(analysis),
                instead: group.figure.clone(),
            }));
        }
    }
    found
}

/// Figures 1 to 3, throughput by data size on one system, and 7 to 9, ping by size.
fn goyal(analysis: &Analysis) -> Vec<Chart<'_>> {
    let mut found = Vec::new();
    let throughput = tcp_bulk(analysis).filter_map(|(q, bulk)| {
        let bytes = bulk.bytes?;
        charts::point(analysis, q, bytes as f64, format_bytes(bytes))
    });
    let points: Vec<Point> = throughput.collect();
    let title = "Goyal's figures 1 to 3, throughput by data size on this system";
    let metric = Metric::Throughput;
    found.extend(lines(analysis, "goyal-1".into(), title.into(), metric, points));
    for (variant, group) in by_size(analysis, Metric::Rtt).into_iter().enumerate() {
        let id = if variant == 0 { "goyal-7".into() } else { format!("goyal-7-{}", variant + 1) };
        let points = group.questions.iter().filter_map(|q| sized(analysis, q)).collect();
        let title = "Goyal's figures 7 to 9, round trips by size on this system";
        let chart = lines(analysis, id, title.into(), Metric::Rtt, points);
        found.extend(chart.map(|chart| Chart { instead: group.figure, ..chart }));
    }
    found
}

/// Figures 2 and 3: bars of throughput and round trips by packet length.
fn soorty(analysis: &Analysis) -> Vec<Chart<'_>> {
    let of_writes = |bulk: &TcpBulk| {
        let fixed = bulk.settings.mss_bytes.is_none() && !bulk.write_drawn;
        fixed.then_some(bulk.write_bytes)
    };
    let of_segments = |bulk: &TcpBulk| bulk.settings.mss_bytes;
    let throughput = |length: &dyn Fn(&TcpBulk) -> Option<u32>| -> Vec<(&Question, u32)> {
        tcp_bulk(analysis).filter_map(|(q, bulk)| Some((q, length(bulk)?))).collect()
    };
    let round_trips = analysis.questions.iter().filter(|q| q.metric == Metric::Rtt);
    let round_trips = round_trips.filter_map(|q| Some((q, q.level_bytes?))).collect();
    let all = [
        ("2-write", "figure 2, throughput by write", Metric::Throughput, throughput(&of_writes)),
        ("2-mss", "figure 2, throughput by segment", Metric::Throughput, throughput(&of_segments)),
        ("3", "figure 3, round trips by packet length", Metric::Rtt, round_trips),
    ];
    let chart = |(id, title, metric, found): (&str, &str, Metric, Vec<(&Question, u32)>)| {
        let place = |(at, (q, bytes)): (usize, &(&Question, u32))| {
            charts::point(analysis, q, at as f64, format_bytes((*bytes).into()))
        };
        let points: Vec<Point> = found.iter().enumerate().filter_map(place).collect();
        let last = points.last()?.x;
        Some(Chart {
            id: format!("printed-soorty-{id}"),
            title: format!("Soorty and Sarkar's {title}"),
            metric,
            form: Form::Bars,
            span: (-0.7, last + 0.7),
            ticks: marks(&points),
            points,
            rule: charts::rule(analysis),
            instead: String::new(),
        })
    };
    all.into_iter().filter_map(chart).collect()
}

/// Figures 2 and 3, and Tables I and II as the numbers behind them: round trips while the line was
/// full.
fn manford(analysis: &Analysis) -> Vec<Chart<'_>> {
    let mut found = Vec::new();
    for (metric, number, what) in [
        (Metric::Throughput, 2, "figure 2 and table I, throughput by payload"),
        (Metric::Rtt, 3, "figure 3 and table II, round trips by payload"),
    ] {
        let groups = printed(analysis, by_size(analysis, metric), is_loaded);
        for (variant, group) in groups.into_iter().enumerate() {
            let points = group.questions.iter().filter_map(|q| sized(analysis, q)).collect();
            let title = format!("Manford and others' {what}{}", group.which);
            let id = format!("manford-{number}-{}", variant + 1);
            let chart = lines(analysis, id, title, metric, points);
            found.extend(chart.map(|chart| Chart { instead: group.figure, ..chart }));
        }
    }
    found
}

/// Figures 3 to 12: throughput by window, one chart for each file size.
fn sailan(analysis: &Analysis) -> Vec<Chart<'_>> {
    let mut files: Vec<(Direction, u64)> = Vec::new();
    let cells = || {
        let of = |(q, bulk)| -> Option<(&Question, Direction, u64, u32)> {
            let bulk: &TcpBulk = bulk;
            Some((q, bulk.direction, bulk.bytes?, bulk.settings.buffer_bytes?))
        };
        tcp_bulk(analysis).filter_map(of)
    };
    for (_, direction, bytes, _) in cells() {
        if !files.contains(&(direction, bytes)) {
            files.push((direction, bytes));
        }
    }
    let chart = |(at, &(direction, bytes)): (usize, &(Direction, u64))| {
        let own = cells().filter(|cell| (cell.1, cell.2) == (direction, bytes));
        let point = |(q, _, _, window): (&Question, Direction, u64, u32)| {
            charts::point(analysis, q, window.into(), format_bytes(window.into()))
        };
        let points = own.filter_map(point).collect();
        let way = match direction {
            Direction::Send => "client to server",
            Direction::Receive => "server to client",
            Direction::Both => "both ways",
        };
        let file = format_bytes(bytes);
        let title =
            format!("Sailan and Hassan's figures 3 to 12, throughput by window, {file}, {way}");
        lines(analysis, format!("sailan-{}", at + 1), title, Metric::Throughput, points)
    };
    files.iter().enumerate().filter_map(chart).collect()
}

/// A chart of lines over all places that were measured; none of a single one.
fn lines<'a>(
    analysis: &Analysis,
    id: String,
    title: String,
    metric: Metric,
    points: Vec<Point>,
) -> Option<Chart<'a>> {
    let span = series::span(points.iter().map(|p| p.x), 0.05)?;
    (points.len() > 1).then(|| Chart {
        id: format!("printed-{id}"),
        title,
        metric,
        form: Form::Lines,
        span,
        ticks: marks(&points),
        points,
        rule: charts::rule(analysis),
        instead: String::new(),
    })
}

/// A mark at each point, and about six of them with words, none so near to another that they meet.
fn marks(points: &[Point]) -> Vec<(f64, String)> {
    let every = points.len().div_ceil(6).max(1);
    let ends = series::span(points.iter().map(|p| p.x), 0.0).unwrap_or_default();
    let apart = (ends.1 - ends.0) / 8.0;
    let mut last = f64::NEG_INFINITY;
    let mark = |(at, p): (usize, &Point)| {
        let shown = at % every == 0 && p.x - last >= apart;
        last = if shown { p.x } else { last };
        (p.x, if shown { p.name.clone() } else { String::new() })
    };
    points.iter().enumerate().map(mark).collect()
}

/// Questions by size, and the figure of the report that shows them.
struct BySize<'a> {
    questions: Vec<&'a Question>,
    figure: String,
    /// What tells them from others of their metric.
    which: String,
}

/// Those of the groups that were measured as what was printed was, or all if none was: what this
/// program measures beside that has no figure in the study.
fn printed<'a>(
    analysis: &Analysis,
    groups: Vec<BySize<'a>>,
    is_as_printed: impl Fn(&Workload) -> bool,
) -> Vec<BySize<'a>> {
    let is = |q: &&Question| {
        analysis.run.plan.cell(&q.cell).is_some_and(|(_, cell)| is_as_printed(&cell.workload))
    };
    let (own, others): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|group| group.questions.iter().all(is));
    if own.is_empty() { others } else { own }
}

fn is_loaded(workload: &Workload) -> bool {
    matches!(workload, Workload::Probe(probe) if probe.load.is_some())
}

fn by_size(analysis: &Analysis, metric: Metric) -> Vec<BySize<'_>> {
    let groups = size::groups(analysis);
    let names: Vec<_> = (0..groups.len()).map(|at| size::named(&groups, at)).collect();
    let own = groups.into_iter().zip(names).filter(|(group, _)| group.metric == metric);
    own.map(|(group, (figure, which))| BySize { questions: group.questions, figure, which })
        .collect()
}

fn sized(analysis: &Analysis, q: &Question) -> Option<Point> {
    let bytes = q.level_bytes?;
    charts::point(analysis, q, bytes.into(), format_bytes(bytes.into()))
}

/// Throughput over TCP, with the workload.
fn tcp_bulk(analysis: &Analysis) -> impl Iterator<Item = (&Question, &TcpBulk)> {
    let questions = analysis.questions.iter().filter(|q| q.metric == Metric::Throughput);
    questions.filter_map(|q| {
        let (_, cell) = analysis.run.plan.cell(&q.cell)?;
        let Workload::TcpBulk(bulk) = &cell.workload else { return None };
        Some((q, bulk))
    })
}
