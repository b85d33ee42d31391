//! Processor time of transfers by place: sender and receiver, program, kernel and interrupts. Both
//! families on one line with their ranges.

use super::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use super::{Figure, Kind, Paint, Table, series};
use crate::{number, words};
use v6gap_core::arm::Arm;
use v6gap_core::metric::Metric;
use v6gap_core::unit::significant;
use v6gap_core::workload::{Cell, Workload};
use v6gap_judge::analysis::breakdown::{Place, PlaceCost, Role, Typical};
use v6gap_judge::analysis::{Analysis, Question};

const LEFT: f64 = 138.0;
const RIGHT: f64 = 74.0;
const ROW: f64 = 30.0;
const TOP: f64 = 34.0;
const BELOW: f64 = 34.0;
/// More figures of this kind say little more; all numbers are in the table of the hosts.
const MOST: usize = 4;

/// The cells that are shown: those whose cost was asked for, else the first transfer of each
/// transport.
fn cells(analysis: &Analysis) -> Vec<&Cell> {
    let has = |cell: &&Cell| analysis.places.iter().any(|place| place.cell == cell.id);
    let all = || analysis.run.plan.cells.iter().filter(has);
    let asked = |cell: &&Cell| matches!(&cell.workload, Workload::TcpBulk(bulk) if bulk.cpu);
    let mut found: Vec<&Cell> = all().filter(asked).take(MOST).collect();
    if found.is_empty() {
        for cell in all() {
            let transport = cell.workload.transport();
            if !found.iter().any(|known| known.workload.transport() == transport) {
                found.push(cell);
            }
        }
    }
    found
}

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    // Both arms of one family are together there.
    if words::is_null(analysis) {
        return Vec::new();
    }
    let cells = cells(analysis);
    let own = |cell: &Cell| -> Vec<&PlaceCost> {
        analysis.places.iter().filter(|place| place.cell == cell.id).collect()
    };
    // All figures share a scale.
    let ends = cells.iter().flat_map(|cell| own(cell)).flat_map(|place| {
        let both = [place.ns_per_byte.v4, place.ns_per_byte.v6].into_iter().flatten();
        both.map(|t| t.range.map_or(t.value, |range| range.high.max(t.value)))
    });
    let top = ends.fold(0.0, f64::max) * 1.05;
    if top <= 0.0 {
        return Vec::new();
    }
    cells.iter().map(|cell| draw(analysis, cell, &own(cell), top, paint)).collect()
}

/// "sender, program".
fn name(place: &PlaceCost) -> String {
    let role = match place.role {
        Role::Sender => "sender",
        Role::Receiver => "receiver",
        Role::Client => "client",
        Role::Server => "server",
        Role::Both => "both ends",
    };
    let place = match place.place {
        Place::Program => "program",
        Place::Kernel => "kernel",
        Place::Interrupts => "interrupts",
    };
    format!("{role}, {place}")
}

fn of(analysis: &Analysis, place: &PlaceCost, arm: Arm) -> Option<Typical> {
    *place.ns_per_byte.get(analysis.family(arm))
}

/// What the transfers of a cell are called: the name of a question about them.
fn subject(analysis: &Analysis, cell: &Cell) -> String {
    let rank = |q: &&Question| u8::from(q.metric != Metric::Cpu);
    let own = analysis.questions.iter().filter(|q| q.cell == cell.id).min_by_key(rank);
    let label = own.map_or_else(|| cell.id.clone(), |q| q.label.clone());
    match label.strip_prefix("Processor time, ").or_else(|| label.strip_prefix("Throughput, ")) {
        Some(rest) => rest.to_owned(),
        None => label,
    }
}

/// The answer where processor time was a question, else where most of the time goes.
fn finding(analysis: &Analysis, cell: &Cell, places: &[&PlaceCost]) -> String {
    let asked = |q: &&Question| q.cell == cell.id && q.metric == Metric::Cpu;
    if let Some(q) = analysis.questions.iter().find(asked).filter(|q| q.effect.is_some()) {
        return series::finding(analysis, &[q]);
    }
    let known: Vec<(&PlaceCost, Typical)> =
        places.iter().filter_map(|place| Some((*place, of(analysis, place, Arm::B)?))).collect();
    match largest(&known) {
        Some(place) => format!("most in “{}”", name(place)),
        None => "where most goes cannot be told".to_owned(),
    }
}

/// The place with the largest value, if its range lies above all others.
fn largest<'a>(places: &[(&'a PlaceCost, Typical)]) -> Option<&'a PlaceCost> {
    let value = |place: &&(&PlaceCost, Typical)| place.1.value;
    let (most, typical) = places.iter().max_by(|x, y| value(x).total_cmp(&value(y)))?;
    let low = typical.range?.low;
    let others = || places.iter().filter(|(place, _)| !std::ptr::eq(*place, *most));
    let below = |other: &Typical| other.range.is_some_and(|range| range.high < low);
    others().all(|(_, other)| below(other)).then_some(*most)
}

fn draw(analysis: &Analysis, cell: &Cell, places: &[&PlaceCost], top: f64, paint: Paint) -> Figure {
    let height = TOP + places.len() as f64 * ROW + BELOW;
    let x = |value: f64| LEFT + value.clamp(0.0, top) / top * (WIDTH - LEFT - RIGHT);
    let foot = height - BELOW;
    let mut canvas = Canvas::default();
    key(&mut canvas, analysis);
    for tick in drawing::ticks((0.0, top)) {
        canvas.stroke((x(tick), TOP - 6.0), (x(tick), foot), Ink::Grid, 1.0, Stroke::Solid);
        let text = series::number_tick(tick);
        canvas.text((x(tick), foot + 16.0), &text, Align::Middle, Ink::Faint, false);
    }
    canvas.stroke((LEFT, TOP - 6.0), (LEFT, foot), Ink::Axis, 1.0, Stroke::Solid);
    canvas.text((WIDTH, foot + 30.0), "s per GB (ns per byte)", Align::End, Ink::Faint, false);
    for (at, place) in places.iter().enumerate() {
        let y = TOP + (at as f64 + 0.5) * ROW;
        canvas.text((LEFT - 10.0, y + 4.0), &name(place), Align::End, Ink::Text, false);
        let values = Arm::BOTH.map(|arm| of(analysis, place, arm));
        if let [Some(a), Some(b)] = values {
            canvas.stroke((x(a.value), y), (x(b.value), y), Ink::Axis, 3.0, Stroke::Solid);
            let text = words::sign(b.value / a.value - 1.0);
            if a.value > 0.0 {
                let at = (WIDTH, y + 4.0);
                canvas.text(at, &format!("{text} %"), Align::End, Ink::Text, false);
            }
        }
        for (arm, value) in Arm::BOTH.into_iter().zip(values) {
            let Some(value) = value else { continue };
            // One range above the line and one below, so that neither hides the other.
            let off = if arm == Arm::A { -6.0 } else { 6.0 };
            if let Some(range) = value.range {
                let (low, high) = (x(range.low), x(range.high));
                canvas.stroke((low, y + off), (high, y + off), Ink::Arm(arm), 2.0, Stroke::Solid);
            }
            canvas.value((x(value.value), y), arm, 4.2);
        }
    }
    let id: String = format!("cost-{}", cell.id);
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let found = finding(analysis, cell, places);
    let title = format!("Processor time by place, {}: {found}", subject(analysis, cell));
    let desc = describe(analysis, places);
    let drawn = drawing::draw(&id, &title, &desc, height, paint, vec![canvas]);
    Figure {
        kind: Kind::Cost,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, places),
        foot: foot_of(analysis, places),
        id,
        title,
        desc,
    }
}

fn foot_of(analysis: &Analysis, places: &[&PlaceCost]) -> String {
    let known = |place| places.iter().any(|one| one.place == place);
    let mut text = format!(
        "Medians with their 95 % ranges, from 0 on. At the right: the difference {}, + is more. \
         Program and kernel are the measuring threads.",
        words::over(analysis)
    );
    text.push_str(match known(Place::Interrupts) {
        true => " Interrupts are those of the whole machine beyond what it has when idle.",
        false => " Interrupts are not in it: the idle machine was not watched (also = [\"cpu\"]).",
    });
    text
}

fn key(canvas: &mut Canvas, analysis: &Analysis) {
    let names = &analysis.arm_names;
    let mut x = 0.0;
    for arm in Arm::BOTH {
        canvas.value((x + 6.0, 10.0), arm, 4.2);
        canvas.text((x + 16.0, 14.0), names.get(arm), Align::Start, Ink::ArmText(arm), true);
        x += 16.0 + drawing::width_of(names.get(arm), true) + 18.0;
    }
}

fn figure(value: f64) -> String {
    significant(value, 3)
}

fn describe(analysis: &Analysis, places: &[&PlaceCost]) -> String {
    let names = &analysis.arm_names;
    let said = |place: &&PlaceCost| {
        let value = |arm| of(analysis, place, arm).map_or("–".to_owned(), |t| figure(t.value));
        let (a, b) = (value(Arm::A), value(Arm::B));
        format!("{}: {} {a}, {} {b} s per GB", name(place), names.a, names.b)
    };
    places.iter().map(said).collect::<Vec<_>>().join("; ") + "."
}

fn table(analysis: &Analysis, places: &[&PlaceCost]) -> Table {
    let names = &analysis.arm_names;
    let heads = vec![
        "place".to_owned(),
        format!("{}, s per GB", names.a),
        format!("{}, 95 % range", names.a),
        format!("{}, s per GB", names.b),
        format!("{}, 95 % range", names.b),
        format!("difference {}", words::over(analysis)),
    ];
    let range = |typical: Option<Typical>| {
        let Some((value, range)) = typical.and_then(|t| Some((t.value, t.range?))) else {
            return "–".to_owned();
        };
        let [_, low, high] = number::ranged(value, range.low, range.high);
        format!("{low} to {high}")
    };
    let row = |place: &&PlaceCost| {
        let [a, b] = Arm::BOTH.map(|arm| of(analysis, place, arm));
        let value = |t: Option<Typical>| t.map_or("–".to_owned(), |t| figure(t.value));
        let difference = a.zip(b).filter(|(a, _)| a.value > 0.0);
        let difference = difference
            .map_or("–".to_owned(), |(a, b)| words::effect(Metric::Cpu, b.value / a.value - 1.0));
        vec![name(place), value(a), range(a), value(b), range(b), difference]
    };
    Table { heads, rows: places.iter().map(row).collect() }
}
