//! Throughput by window and data size: a map of values for each arm and one of their differences,
//! and a small chart for each data size.

mod charts;

use super::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use super::series;
use super::{Figure, Kind, Paint, Table};
use crate::number::{self, Unit};
use crate::words;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::unit::{format_bytes, format_span, significant};
use v6gap_core::workload::{Direction, TcpBulk, Workload};
use v6gap_judge::analysis::breakdown::{Typical, Window};
use v6gap_judge::analysis::{Analysis, Question, Verdict};

/// Sizes beside each other in a map: more have no room for their values.
const COLUMNS_MOST: usize = 10;
/// Room for the windows at the left, and for the head of a map.
const LEFT: f64 = 4.0;
const LABELS: f64 = 104.0;
const HEAD: f64 = 44.0;
const ROW: f64 = 38.0;
/// Between maps, and below the last.
const GAP: f64 = 16.0;
const KEY: f64 = 30.0;
/// The second line of the key, where there is one.
const LINE: f64 = 16.0;
/// A scale of magnitudes that is read alike with every kind of sight, dark for little (cividis).
const SCALE: [&str; 10] = [
    "#00204D", "#00336F", "#39486B", "#575C6D", "#707173", "#8A8779", "#A69D75", "#C4B56C",
    "#E4CF5B", "#FFEA46",
];
const ON_DARK: &str = "#FFFFFF";
const ON_LIGHT: &str = "#14181F";

/// Transfers that differ in their window and their size alone.
pub(super) struct Grid<'a> {
    kind: TcpBulk,
    /// Sizes, the smallest first; nothing for a transfer for a time.
    sizes: Vec<Option<u64>>,
    rows: Vec<Row<'a>>,
}

/// One window.
struct Row<'a> {
    asked: u32,
    /// What was offered, else granted; the mean of both families, in bytes.
    got: Option<f64>,
    /// For each size.
    cells: Vec<Option<(&'a Question, Option<&'a Window>)>>,
}

impl<'a> Grid<'a> {
    fn questions(&self) -> Vec<&'a Question> {
        self.rows.iter().flat_map(|row| row.cells.iter().flatten().map(|(q, _)| *q)).collect()
    }

    fn size(&self, bytes: Option<u64>) -> String {
        bytes.map_or_else(|| format_span(self.kind.duration_ns as f64), format_bytes)
    }

    /// Whether a cell in these columns of the map of differences has nothing to say.
    fn has_gaps(&self, columns: usize) -> bool {
        let none = |cell: &Option<(&Question, Option<&Window>)>| {
            cell.is_none_or(|(q, _)| q.verdict == Verdict::None || q.effect.is_none())
        };
        self.rows.iter().flat_map(|row| row.cells.iter().take(columns)).any(none)
    }

    fn way(&self) -> &'static str {
        match self.kind.direction {
            Direction::Send => "",
            Direction::Receive => ", receiving",
            Direction::Both => ", both ways",
        }
    }
}

/// A question, its size and the window that was asked for.
type Found<'a> = (&'a Question, Option<u64>, u32);

/// Every grid of two windows or more.
fn grids(analysis: &Analysis) -> Vec<Grid<'_>> {
    let mut kinds: Vec<(TcpBulk, Vec<Found<'_>>)> = Vec::new();
    for q in analysis.questions.iter().filter(|q| q.metric == Metric::Throughput) {
        let cell = analysis.run.plan.cell(&q.cell).map(|(_, cell)| &cell.workload);
        let Some(Workload::TcpBulk(bulk)) = cell else { continue };
        let Some(asked) = bulk.settings.buffer_bytes.filter(|_| q.effect.is_some()) else {
            continue;
        };
        let mut kind = TcpBulk { bytes: None, ..bulk.clone() };
        kind.settings.buffer_bytes = None;
        let found = (q, bulk.bytes, asked);
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, all)) => all.push(found),
            None => kinds.push((kind, vec![found])),
        }
    }
    let grids = kinds.into_iter().map(|(kind, found)| grid(analysis, kind, &found));
    grids.filter(|grid| grid.rows.len() > 1).collect()
}

fn grid<'a>(analysis: &'a Analysis, kind: TcpBulk, found: &[Found<'a>]) -> Grid<'a> {
    let mut sizes: Vec<Option<u64>> = found.iter().map(|(_, size, _)| *size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut windows: Vec<u32> = found.iter().map(|(.., asked)| *asked).collect();
    windows.sort_unstable();
    windows.dedup();
    let row = |asked: u32| {
        let cell = |size: &Option<u64>| {
            let (q, ..) = found.iter().find(|(_, s, a)| s == size && *a == asked)?;
            Some((*q, analysis.windows.iter().find(|window| window.cell == q.cell)))
        };
        let cells: Vec<_> = sizes.iter().map(cell).collect();
        let got = |of: fn(&Window) -> &PerFamily<Option<Typical>>| {
            let known = cells.iter().flatten().filter_map(|(_, window)| *window);
            let all: Vec<f64> = known
                .flat_map(|window| [of(window).v4, of(window).v6])
                .flatten()
                .map(|typical| typical.value)
                .collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let got = got(|window| &window.offered_bytes).or_else(|| got(|w| &w.granted_bytes));
        Row { asked, got, cells }
    };
    let rows = windows.into_iter().map(row).collect();
    Grid { kind, sizes, rows }
}

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let grids = grids(analysis);
    let maps = |(at, grid): (usize, &Grid<'_>)| {
        let map = draw(analysis, grid, at + 1, paint)?;
        Some([map, charts::draw(analysis, grid, at + 1, paint)?])
    };
    grids.iter().enumerate().filter_map(maps).flatten().collect()
}

/// "57.9 KiB": a mean needs no whole number.
fn mean_bytes(bytes: f64) -> String {
    const MIB: f64 = 1_048_576.0;
    match bytes >= MIB {
        true => format!("{} MiB", significant(bytes / MIB, 3)),
        false => format!("{} KiB", significant(bytes / 1024.0, 3)),
    }
}

/// The lines of a row's label: what was had, and what was asked if that is not the same.
fn labels(row: &Row<'_>) -> (String, String) {
    let asked = format_bytes(row.asked.into());
    match row.got.map(mean_bytes) {
        Some(got) if got != asked => (got, format!("asked {asked}")),
        _ => (asked, String::new()),
    }
}

fn unit(grid: &Grid<'_>) -> Unit {
    let values = grid.questions();
    let all: Vec<f64> = values.iter().flat_map(|q| [q.values.a, q.values.b]).flatten().collect();
    number::unit(Metric::Throughput, &all)
}

/// Which of the three maps.
#[derive(Clone, Copy)]
enum Map {
    Of(Arm),
    Difference,
}

fn draw(analysis: &Analysis, grid: &Grid<'_>, number: usize, paint: Paint) -> Option<Figure> {
    let unit = unit(grid);
    let all = grid.questions().into_iter().flat_map(|q| [q.values.a, q.values.b]).flatten();
    // From nothing on, so that what is nearly alike looks alike.
    let top = all.fold(0.0, f64::max);
    let columns = grid.sizes.len().min(COLUMNS_MOST);
    let rows = grid.rows.len() as f64;
    let maps = [Map::Of(Arm::A), Map::Of(Arm::B), Map::Difference];
    // Few columns leave room for all three beside each other.
    let beside = columns <= 2;
    let wide = match beside {
        true => (WIDTH - LABELS - 2.0 * GAP) / 3.0,
        false => WIDTH - LABELS,
    };
    let one = HEAD + rows * ROW;
    let mut canvas = Canvas::default();
    for (place, map) in maps.into_iter().enumerate() {
        let at = match beside {
            true => (LABELS + place as f64 * (wide + GAP), 0.0),
            false => (LABELS, place as f64 * (one + GAP)),
        };
        if place == 0 || !beside {
            rows_of(&mut canvas, grid, at.1);
        }
        let sheet = Sheet { analysis, grid, map, unit, top, at, cell: wide / columns as f64 };
        sheet.draw(&mut canvas, columns);
    }
    let maps_end = if beside { one } else { 3.0 * one + 2.0 * GAP };
    let gaps = grid.has_gaps(columns);
    let height = maps_end + KEY + if gaps { LINE } else { 0.0 };
    key(&mut canvas, analysis, maps_end + KEY - 8.0, gaps);
    let id = format!("window-{number}");
    let questions = grid.questions();
    let found = series::finding(analysis, &questions);
    let title = format!("TCP throughput by window and data size{}: {found}", grid.way());
    let desc = describe(analysis, grid, unit);
    let drawn = drawing::draw(&id, &title, &desc, height, paint, vec![canvas]);
    let left_out = match grid.sizes.len() - columns {
        0 => String::new(),
        1 => " The last size is in the table only.".to_owned(),
        n => format!(" The last {n} sizes are in the table only."),
    };
    Some(Figure {
        kind: Kind::Window,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, grid, unit),
        foot: format!(
            "Each row is a window as the receiver offered it on average, which is what counts, \
             with what was asked for below; each column a size. Medians.{left_out}"
        ),
        id,
        title,
        desc,
    })
}

fn rows_of(canvas: &mut Canvas, grid: &Grid<'_>, top: f64) {
    canvas.text((LEFT, top + HEAD - 8.0), "window", Align::Start, Ink::Faint, false);
    for (at, row) in grid.rows.iter().enumerate() {
        let y = top + HEAD + at as f64 * ROW;
        let (had, asked) = labels(row);
        let first = if asked.is_empty() { 23.0 } else { 16.0 };
        canvas.text((LEFT, y + first), &had, Align::Start, Ink::Text, true);
        canvas.text((LEFT, y + 31.0), &asked, Align::Start, Ink::Faint, false);
    }
}

/// One map, and where it stands.
struct Sheet<'a> {
    analysis: &'a Analysis,
    grid: &'a Grid<'a>,
    map: Map,
    unit: Unit,
    /// The greatest value of all.
    top: f64,
    at: (f64, f64),
    /// Width of a cell.
    cell: f64,
}

impl Sheet<'_> {
    fn draw(&self, canvas: &mut Canvas, columns: usize) {
        let (left, top) = self.at;
        let names = &self.analysis.arm_names;
        let (name, ink) = match self.map {
            Map::Of(arm) => {
                (format!("{}, {}", names.get(arm), self.unit.symbol), Ink::ArmText(arm))
            }
            Map::Difference => ("difference, %".to_owned(), Ink::Text),
        };
        canvas.text((left, top + 14.0), &name, Align::Start, ink, true);
        for (column, size) in self.grid.sizes.iter().take(columns).enumerate() {
            let x = left + (column as f64 + 0.5) * self.cell;
            let text = self.grid.size(*size);
            let text = match drawing::width_of(&text, false) > self.cell {
                true => text.split(' ').next().unwrap_or_default().to_owned(),
                false => text,
            };
            canvas.text((x, top + HEAD - 8.0), &text, Align::Middle, Ink::Faint, false);
        }
        for (row, of) in self.grid.rows.iter().enumerate() {
            for (column, found) in of.cells.iter().take(columns).enumerate() {
                let x = left + column as f64 * self.cell;
                let at = (x + 1.0, top + HEAD + row as f64 * ROW + 1.0);
                let q = found.as_ref().map(|(q, _)| *q);
                match self.map {
                    Map::Of(arm) => self.value(canvas, at, q.and_then(|q| *q.values.get(arm))),
                    Map::Difference => self.difference(canvas, at, q),
                }
            }
        }
    }

    fn inner(&self) -> (f64, f64) {
        (self.cell - 2.0, ROW - 2.0)
    }

    fn middle(&self, at: (f64, f64)) -> (f64, f64) {
        (at.0 + self.inner().0 / 2.0, at.1 + ROW / 2.0 + 3.0)
    }

    fn value(&self, canvas: &mut Canvas, at: (f64, f64), value: Option<f64>) {
        let Some(value) = value else {
            canvas.text(self.middle(at), "–", Align::Middle, Ink::Faint, false);
            return;
        };
        let share = if self.top > 0.0 { value / self.top } else { 0.0 };
        let step = ((share * SCALE.len() as f64) as usize).min(SCALE.len() - 1);
        canvas.fill(at, self.inner(), Ink::Fixed(SCALE[step]));
        let ink = Ink::Fixed(if step < SCALE.len() / 2 { ON_DARK } else { ON_LIGHT });
        let text = significant(value / self.unit.size, 3);
        canvas.text(self.middle(at), &text, Align::Middle, ink, false);
    }

    fn difference(&self, canvas: &mut Canvas, at: (f64, f64), q: Option<&Question>) {
        let middle = self.middle(at);
        let found = q.and_then(|q| Some((q, q.effect.as_ref()?.estimate)));
        let Some((q, estimate)) = found else {
            canvas.text(middle, "–", Align::Middle, Ink::Faint, false);
            return;
        };
        canvas.fill(at, self.inner(), Ink::Soft(q.verdict));
        let text = v6gap_judge::analysis::words::figure(estimate);
        let ink = Ink::Verdict(q.verdict);
        match q.verdict {
            Verdict::Better | Verdict::Worse => {
                let half = (drawing::width_of(&text, true) + 11.0) / 2.0;
                canvas.triangle((middle.0 - half + 4.0, middle.1 - 4.0), q.verdict);
                canvas.text((middle.0 + half, middle.1), &text, Align::End, ink, true);
            }
            Verdict::Same => {
                canvas.text(middle, &words::sign(estimate), Align::Middle, ink, false);
            }
            Verdict::CannotTell => {
                canvas.edge(at, self.inner(), Ink::Axis, Stroke::Dotted);
                canvas.text(middle, "?", Align::Middle, ink, true);
            }
            Verdict::None => canvas.text(middle, "–", Align::Middle, Ink::Faint, false),
        }
    }
}

/// What the signs of the differences mean, with `gaps` also that of none.
fn key(canvas: &mut Canvas, analysis: &Analysis, y: f64, gaps: bool) {
    let over = words::over(analysis);
    let mut x = LEFT;
    let mut say = |canvas: &mut Canvas, text: &str| {
        canvas.text((x + 14.0, y), text, Align::Start, Ink::Faint, false);
        let at = x;
        x += 14.0 + drawing::width_of(text, false) + 16.0;
        at
    };
    for (verdict, word) in [(Verdict::Worse, "slower"), (Verdict::Better, "faster")] {
        let at = say(canvas, &format!("{word} {over}"));
        canvas.triangle((at + 5.0, y - 4.0), verdict);
    }
    let at = say(canvas, "too small to matter");
    canvas.fill((at, y - 9.0), (10.0, 10.0), Ink::Zone);
    let at = say(canvas, "could not tell");
    canvas.text((at + 2.0, y), "?", Align::Start, Ink::Text, true);
    if gaps {
        canvas.text((LEFT + 2.0, y + LINE), "–", Align::Start, Ink::Text, true);
        let text = "no verdict, or not measured";
        canvas.text((LEFT + 14.0, y + LINE), text, Align::Start, Ink::Faint, false);
    }
}

fn describe(analysis: &Analysis, grid: &Grid<'_>, unit: Unit) -> String {
    let names = &analysis.arm_names;
    let of = |arm: Arm| {
        let values = grid.questions().into_iter().filter_map(|q| *q.values.get(arm));
        let (low, high) = series::span(values, 0.0).unwrap_or_default();
        let [low, high] = [low, high].map(|v| series::cell(Some(v), unit));
        format!("{} from {low} to {high} {}", names.get(arm), unit.symbol)
    };
    let said: Vec<String> =
        grid.questions().iter().map(|q| format!("{}: {}", q.label, q.text)).collect();
    format!("{}, {}. {}.", of(Arm::A), of(Arm::B), said.join("; "))
}

fn table(analysis: &Analysis, grid: &Grid<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let named = PerArm::from_fn(|arm| names.get(arm).clone());
    let heads = vec![
        "window asked".to_owned(),
        "data".to_owned(),
        format!("granted, {}", named.a),
        format!("granted, {}", named.b),
        format!("offered, {}", named.a),
        format!("offered, {}", named.b),
        format!("{}, {}", named.a, unit.symbol),
        format!("{}, {}", named.b, unit.symbol),
        words::over(analysis),
        "95 % range".to_owned(),
        "verdict".to_owned(),
    ];
    let mut rows = Vec::new();
    for row in &grid.rows {
        for (size, found) in grid.sizes.iter().zip(&row.cells) {
            let Some((q, window)) = found else { continue };
            let had = |of: fn(&Window) -> &PerFamily<Option<Typical>>, arm: Arm| {
                let typical = window.and_then(|w| *of(w).get(analysis.family(arm)));
                typical.map_or("–".to_owned(), |typical| mean_bytes(typical.value))
            };
            rows.push(vec![
                format_bytes(row.asked.into()),
                grid.size(*size),
                had(|w| &w.granted_bytes, Arm::A),
                had(|w| &w.granted_bytes, Arm::B),
                had(|w| &w.offered_bytes, Arm::A),
                had(|w| &w.offered_bytes, Arm::B),
                series::cell(q.values.a, unit),
                series::cell(q.values.b, unit),
                q.text.clone(),
                if q.range_text.is_empty() { "–".to_owned() } else { q.range_text.clone() },
                words::marked_answer(q),
            ]);
        }
    }
    Table { heads, rows }
}
