//! History of one path: the difference of the families in each run with its range, in the order of
//! time, and where it is another one than in the first run.

use super::drawing::{self, Frame, Ink, Panel, Stroke};
use super::series::{self, hundredfold};
use super::{Figure, Kind, Paint, Table};
use crate::number::utc;
use crate::words::Told;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::compare::{Change, Comparison, Of, Row, Side, Standing};

const HEIGHT: f64 = 230.0;
/// Fewer are no history, and more questions than this are in the tables.
const RUNS_MIN: usize = 3;
const MOST: usize = 4;

/// One run of a question, and its change against the first run.
struct Point<'a> {
    run: &'a Side,
    standing: &'a Standing,
    change: Option<&'a Change>,
}

/// A figure for each question that three runs or more between the same hosts have asked.
pub(super) fn figures(found: &Comparison, paint: Paint) -> Vec<Figure> {
    let first = found.runs.first().map(|run| &run.hosts);
    if found.runs.len() < RUNS_MIN || found.runs.iter().any(|run| Some(&run.hosts) != first) {
        return Vec::new();
    }
    found.rows.iter().filter_map(|row| draw(found, row, paint)).take(MOST).collect()
}

fn points<'a>(found: &'a Comparison, row: &'a Row) -> Vec<Point<'a>> {
    let runs = found.runs.iter().zip(&row.standings);
    let point = |(run, standing): (&'a Side, &'a Option<Standing>)| {
        let standing = standing.as_ref().filter(|standing| standing.effect.is_some())?;
        let against = row.against.iter().find(|against| against.letter == run.letter);
        let change = against.and_then(|a| a.changes.iter().find(|c| c.of == Of::Difference));
        Some(Point { run, standing, change })
    };
    let mut points: Vec<Point<'_>> = runs.filter_map(point).collect();
    points.sort_by_key(|point| point.run.started_unix_ns);
    points
}

fn changed(point: &Point<'_>) -> Option<Verdict> {
    let verdict = point.change?.verdict;
    matches!(verdict, Verdict::Better | Verdict::Worse).then_some(verdict)
}

fn draw(found: &Comparison, row: &Row, paint: Paint) -> Option<Figure> {
    let points = points(found, row);
    if points.len() < RUNS_MIN {
        return None;
    }
    let ends = points.iter().filter_map(|p| p.standing.effect.as_ref());
    let ends = ends.flat_map(series::ends);
    let margins = [row.margin * 1.2, -row.margin * 1.2];
    let y = series::span(ends.chain(margins).map(hundredfold), 0.08)?;
    let ticks: Vec<(f64, String)> =
        points.iter().enumerate().map(|(at, p)| (at as f64, p.run.letter.to_string())).collect();
    let frame = Frame {
        top: 0.0,
        height: HEIGHT,
        x: (-0.6, points.len() as f64 - 0.4),
        y,
        log_y: false,
        x_ticks: &ticks,
        y_tick: &series::effect_tick(row.metric),
        y_title: Of::Difference.subject(&found.arm_names),
    };
    let mut panel = Panel::new(&frame);
    panel.zone(row.metric.scale().within(row.margin).map(hundredfold));
    panel.level(0.0, Ink::Axis, Stroke::Solid);
    let mut before = None;
    for (at, point) in points.iter().enumerate() {
        let Some(effect) = &point.standing.effect else { continue };
        let now = changed(point);
        if at > 0 && now != before {
            panel.upright(at as f64 - 0.5, Ink::Faint);
        }
        before = now;
        let ink = Ink::Verdict(point.standing.verdict);
        let range = effect.range95;
        panel.range(at as f64, hundredfold(range.low), hundredfold(range.high), ink);
        panel.verdict((at as f64, hundredfold(effect.estimate)), point.standing.verdict);
    }
    let id: String = format!("history-{}-{}", row.metric, row.cell);
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let moved = points.iter().filter(|point| changed(point).is_some()).count();
    let so = match moved {
        0 => "no change against the first run was found".to_owned(),
        n => format!("another difference than in A in {n} of {}", points.len() - 1),
    };
    let title = format!("{}, run after run: {so}", row.label);
    let said = points.iter().map(|p| format!("{}: {}", p.run.letter, p.standing.text));
    let desc = said.collect::<Vec<_>>().join("; ") + ".";
    let drawn = drawing::draw(&id, &title, &desc, HEIGHT, paint, vec![panel]);
    Some(Figure {
        kind: Kind::History,
        height: HEIGHT,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(row, &points),
        foot: "The difference of each run with its 95 % range, in the order of time, not to its \
               scale; the grey band is too small to matter. A dotted line stands where the answer \
               to “is it another difference than in A?” changes."
            .to_owned(),
        id,
        title,
        desc,
    })
}

fn table(row: &Row, points: &[Point<'_>]) -> Table {
    let heads = ["run", "began, UTC", "difference", "95 % range", "verdict", "against A"];
    let cells = |point: &Point<'_>| {
        let Standing { text, range_text, .. } = point.standing;
        let (date, time) = utc(point.run.started_unix_ns);
        let against = point.change.map_or("–".to_owned(), |change| {
            format!("{}: {}", Told::change(row, change).word(), change.text)
        });
        vec![
            point.run.letter.to_string(),
            format!("{date}, {time}"),
            text.clone(),
            range_text.clone(),
            Told::standing(row, point.standing).marked(),
            against,
        ]
    };
    Table { heads: heads.map(str::to_owned).to_vec(), rows: points.iter().map(cells).collect() }
}
