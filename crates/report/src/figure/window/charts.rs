//! A small chart for each data size: throughput of both arms by window, all on one scale.

use super::{Grid, Row, mean_bytes, unit};
use crate::figure::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use crate::figure::{Figure, Kind, Paint, Table, series};
use crate::number::Unit;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Analysis;

/// The plane of a chart, and what stands around it.
const PLANE: (f64, f64) = (196.0, 132.0);
const LEFT: f64 = 50.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 26.0;
/// Width of the plane of a chart that stands alone.
const ALONE: f64 = 380.0;
const TOP: f64 = 24.0;

/// The scales that all charts share.
struct Scales {
    /// Logarithms of windows.
    x: (f64, f64),
    /// The end of the scale of values.
    top: f64,
    unit: Unit,
    width: f64,
}

/// What was had of a window, or asked for where nothing is known.
fn window(row: &Row<'_>) -> f64 {
    row.got.unwrap_or(f64::from(row.asked))
}

pub(super) fn draw(
    analysis: &Analysis,
    grid: &Grid<'_>,
    number: usize,
    paint: Paint,
) -> Option<Figure> {
    let unit = unit(grid);
    let values = grid.questions().into_iter().flat_map(|q| [q.values.a, q.values.b]).flatten();
    let top = values.fold(0.0, f64::max) / unit.size * 1.08;
    let x = series::span(grid.rows.iter().map(|row| window(row).log2()), 0.06)?;
    let alone = grid.sizes.len() == 1;
    let scales = Scales { x, top, unit, width: if alone { ALONE } else { PLANE.0 } };
    let each = ABOVE + PLANE.1 + BELOW;
    let mut canvas = Canvas::default();
    key(&mut canvas, analysis, unit);
    for (at, _) in grid.sizes.iter().enumerate() {
        let place = ((at % 2) as f64 * (WIDTH / 2.0) + LEFT, TOP + (at / 2) as f64 * each + ABOVE);
        chart(&mut canvas, grid, at, place, &scales);
    }
    let height = TOP + grid.sizes.len().div_ceil(2) as f64 * each;
    let id = format!("window-{number}-charts");
    let title = format!("TCP throughput by window, a chart for each data size{}", grid.way());
    let desc = describe(analysis, grid, unit);
    let drawn = drawing::draw(&id, &title, &desc, height, paint, vec![canvas]);
    Some(Figure {
        kind: Kind::Window,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, grid, unit),
        foot: "Medians; every chart has the same scales, the upright one from 0 on, the other by \
               factors. Windows are those that the receiver offered on average."
            .to_owned(),
        id,
        title,
        desc,
    })
}

fn key(canvas: &mut Canvas, analysis: &Analysis, unit: Unit) {
    let names = &analysis.arm_names;
    canvas.text(
        (4.0, 14.0),
        &format!("throughput, {}", unit.symbol),
        Align::Start,
        Ink::Text,
        true,
    );
    let mut x = WIDTH - 8.0;
    for arm in [Arm::B, Arm::A] {
        canvas.text((x, 14.0), names.get(arm), Align::End, Ink::ArmText(arm), true);
        x -= drawing::width_of(names.get(arm), true) + 10.0;
        canvas.value((x, 10.0), arm, 4.0);
        x -= 22.0;
    }
}

fn chart(canvas: &mut Canvas, grid: &Grid<'_>, at: usize, place: (f64, f64), scales: &Scales) {
    let (left, top) = place;
    let (right, foot) = (left + scales.width, top + PLANE.1);
    let x = |row: &Row<'_>| {
        let share = (window(row).log2() - scales.x.0) / (scales.x.1 - scales.x.0);
        left + share * scales.width
    };
    let y = |value: f64| foot - value / scales.unit.size / scales.top * PLANE.1;
    canvas.text((left, top - 8.0), &grid.size(grid.sizes[at]), Align::Start, Ink::Text, true);
    for tick in drawing::ticks((0.0, scales.top)) {
        let height = y(tick * scales.unit.size);
        canvas.stroke((left, height), (right, height), Ink::Grid, 1.0, Stroke::Solid);
        let text = series::number_tick(tick);
        canvas.text((left - 6.0, height + 4.0), &text, Align::End, Ink::Faint, false);
    }
    canvas.stroke((left, top), (left, foot), Ink::Axis, 1.0, Stroke::Solid);
    canvas.stroke((left, foot), (right, foot), Ink::Axis, 1.0, Stroke::Solid);
    let mut last = f64::NEG_INFINITY;
    for row in &grid.rows {
        let (at, text) = (x(row), mean_bytes(window(row)));
        canvas.stroke((at, foot), (at, foot + 4.0), Ink::Axis, 1.0, Stroke::Solid);
        let half = drawing::width_of(&text, false) / 2.0;
        if at - half > last + 8.0 && at + half < right + 12.0 {
            canvas.text((at, foot + 18.0), &text, Align::Middle, Ink::Faint, false);
            last = at + half;
        }
    }
    for arm in Arm::BOTH {
        let point = |row: &Row<'_>| {
            let (q, _) = row.cells[at].as_ref()?;
            Some((x(row), y((*q.values.get(arm))?)))
        };
        let points: Vec<(f64, f64)> = grid.rows.iter().filter_map(point).collect();
        canvas.line(&points, Ink::Arm(arm), Stroke::of(arm));
        points.iter().for_each(|point| canvas.value(*point, arm, 3.6));
    }
}

fn describe(analysis: &Analysis, grid: &Grid<'_>, unit: Unit) -> String {
    let names = &analysis.arm_names;
    let of_size = |(at, size): (usize, &Option<u64>)| {
        let ends = [grid.rows.first(), grid.rows.last()].into_iter().flatten().filter_map(|row| {
            let (q, _) = row.cells[at].as_ref()?;
            let value = |arm| series::cell(*q.values.get(arm), unit);
            let (a, b) = (value(Arm::A), value(Arm::B));
            let window = mean_bytes(window(row));
            Some(format!("at {window} {} {a}, {} {b} {}", names.a, names.b, unit.symbol))
        });
        format!("{}: {}", grid.size(*size), ends.collect::<Vec<_>>().join("; "))
    };
    grid.sizes.iter().enumerate().map(of_size).collect::<Vec<_>>().join(". ") + "."
}

fn table(analysis: &Analysis, grid: &Grid<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let heads = vec![
        "data".to_owned(),
        "window had".to_owned(),
        format!("{}, {}", names.a, unit.symbol),
        format!("{}, {}", names.b, unit.symbol),
    ];
    let mut rows = Vec::new();
    for (at, size) in grid.sizes.iter().enumerate() {
        for row in &grid.rows {
            let Some((q, _)) = &row.cells[at] else { continue };
            rows.push(vec![
                grid.size(*size),
                mean_bytes(window(row)),
                series::cell(q.values.a, unit),
                series::cell(q.values.b, unit),
            ]);
        }
    }
    Table { heads, rows }
}
