//! Pictures that hold several systems, as studies printed them that compared systems: the same
//! chart of several results in one. Colour is the family; a letter at the end of each line, or
//! below each pair of bars, is the system.

use super::charts::{Chart, Form, Point};
use super::{BAR_SHARE, HEIGHT, average, key, paper, scale_of};
use crate::figure::drawing::{self, Frame, Ink, Panel, Stroke};
use crate::figure::series;
use crate::figure::{Figure, Kind, Paint, Table};
use crate::number::{self, Unit};
use crate::words;
use std::fmt;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_judge::analysis::Analysis;

/// Most systems in one picture: more lines cannot be told apart.
pub const SYSTEMS_MAX: usize = 6;

/// Height of a line of text below the axes.
const ROW: f64 = 17.0;

/// Least distance of two letters at the ends of lines.
const APART: f64 = 13.0;

/// As high as a letter goes: above it stands which colour is which family.
const HIGHEST: f64 = 28.0;

/// A result, and what its system is called.
#[derive(Debug, Clone, Copy)]
pub struct System<'a> {
    /// What it is called; its own name for itself where this is empty.
    pub label: &'a str,
    /// What its result says.
    pub analysis: &'a Analysis,
}

/// Why results do not belong into one picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JointError {
    /// One result twice.
    Twice(String),
    /// More than can be told apart.
    TooMany(usize),
    /// They compare other things: what each does, in words.
    Arms(Vec<String>),
    /// They do not repeat one experiment of a study: what each repeats, in words.
    Experiments(Vec<String>),
}

impl fmt::Display for JointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JointError::Twice(id) => write!(f, "the result {id} is named twice"),
            JointError::TooMany(count) => {
                write!(f, "one picture holds up to {SYSTEMS_MAX} systems, and {count} were given")
            }
            JointError::Arms(seen) => {
                write!(f, "the results do not compare the same: {}", seen.join(", "))
            }
            JointError::Experiments(seen) => {
                write!(f, "the results do not repeat the same experiment: {}", seen.join(", "))
            }
        }
    }
}

impl std::error::Error for JointError {}

/// One chart of several systems.
struct Joint<'a> {
    id: String,
    title: String,
    /// Which families it shows.
    arms: &'static [Arm],
    /// One for each system, in their order.
    charts: Vec<Chart<'a>>,
}

/// See [`crate::figure::joint`].
pub(in crate::figure) fn figures(
    systems: &[System<'_>],
    paint: Paint,
) -> Result<Vec<Figure>, JointError> {
    belong_together(systems)?;
    let [first, _, ..] = systems else { return Ok(Vec::new()) };
    let reference = first.analysis.run.plan.reference.as_deref().unwrap_or_default();
    let study = reference.split('/').next().unwrap_or_default();
    let all: Vec<Vec<Chart<'_>>> = systems.iter().map(|s| paper::charts(s.analysis)).collect();
    let mut drawn = Vec::new();
    for chart in &all[0] {
        // Of each system the chart of the same name, if all have it.
        let same = all.iter().map(|charts| charts.iter().find(|c| c.id == chart.id).cloned());
        let Some(charts) = same.collect::<Option<Vec<_>>>() else { continue };
        for (number, title, arms) in printed(study, chart, first.analysis) {
            let charts = charts.iter().cloned().map(|chart| as_printed(study, chart)).collect();
            let id = format!("printed-{study}-{number}-systems");
            let title = format!("As printed: {title}, {} systems", systems.len());
            drawn.push(draw(systems, &Joint { id, title, arms, charts }, paint));
        }
    }
    Ok(drawn)
}

fn belong_together(systems: &[System<'_>]) -> Result<(), JointError> {
    let told = |say: &dyn Fn(&Analysis) -> String| -> Vec<String> {
        systems.iter().map(|s| format!("{} {}", s.analysis.run.id, say(s.analysis))).collect()
    };
    let Some(first) = systems.first().map(|s| &s.analysis.run) else { return Ok(()) };
    for (place, system) in systems.iter().enumerate() {
        let id = &system.analysis.run.id;
        if systems[..place].iter().any(|earlier| earlier.analysis.run.id == *id) {
            return Err(JointError::Twice(id.to_string()));
        }
    }
    if systems.len() > SYSTEMS_MAX {
        return Err(JointError::TooMany(systems.len()));
    }
    if systems.iter().any(|s| s.analysis.run.plan.design.arms != first.plan.design.arms) {
        let arms = |a: &Analysis| format!("{} with {}", a.arm_names.b, a.arm_names.a);
        return Err(JointError::Arms(told(&|a| format!("compares {}", arms(a)))));
    }
    let reference = &first.plan.reference;
    let several = systems.len() > 1;
    let differ = systems.iter().any(|s| s.analysis.run.plan.reference != *reference);
    if several && (differ || reference.is_none()) {
        let repeats = |a: &Analysis| match &a.run.plan.reference {
            Some(reference) => format!("repeats {reference}"),
            None => "repeats no study".to_owned(),
        };
        return Err(JointError::Experiments(told(&repeats)));
    }
    Ok(())
}

/// The pictures of several systems that a study made of a chart of one: number, title, families.
fn printed(
    study: &str,
    chart: &Chart<'_>,
    analysis: &Analysis,
) -> Vec<(String, String, &'static [Arm])> {
    const BOTH: &[Arm] = &Arm::BOTH;
    let arms = &analysis.run.plan.design.arms;
    let of = |family| -> &'static [Arm] {
        match (arms.a == family, arms.b == family) {
            (true, _) => &[Arm::A],
            (false, true) => &[Arm::B],
            (false, false) => &[],
        }
    };
    let own = chart.id.trim_start_matches("printed-").trim_start_matches(study);
    let own = own.trim_start_matches('-');
    let one = |number: &str, what: &str, arms: &'static [Arm]| {
        (number.to_owned(), format!("Goyal's figure {number}, {what}"), arms)
    };
    let mut found = match (study, own) {
        ("goyal", "1") => vec![
            one("4", "throughput by data size over IPv4", of(Family::V4)),
            one("5", "throughput by data size over IPv6", of(Family::V6)),
            one("6", "throughput by data size", BOTH),
        ],
        ("goyal", "7") => vec![one("10", "round trips by size", BOTH)],
        ("raicu" | "soorty", _) => vec![(own.to_owned(), chart.title.clone(), BOTH)],
        ("manford", _) if own.starts_with("2-") => {
            vec![(own.to_owned(), chart.title.clone(), BOTH)]
        }
        _ => Vec::new(),
    };
    found.retain(|(_, _, arms)| !arms.is_empty());
    found
}

/// Soorty's bars are of 768 B alone, one pair for each system.
fn as_printed<'a>(study: &str, mut chart: Chart<'a>) -> Chart<'a> {
    const PRINTED: &str = "768 B";
    if study == "soorty" && chart.points.iter().any(|p| p.name == PRINTED) {
        chart.points.retain(|p| p.name == PRINTED);
    }
    chart
}

fn draw(systems: &[System<'_>], joint: &Joint<'_>, paint: Paint) -> Figure {
    let first = &joint.charts[0];
    let points = || joint.charts.iter().flat_map(|chart| &chart.points);
    let values = points().flat_map(|p| joint.arms.iter().map(move |arm| *p.values.get(*arm)));
    let unit = number::unit(first.metric, &values.collect::<Vec<f64>>());
    let names: Vec<String> = systems.iter().map(name).collect();
    let panel = match first.form {
        Form::Bars => bars(systems[0].analysis, joint, unit),
        Form::Lines | Form::Dual => lines(systems[0].analysis, joint, unit),
    };
    let height = HEIGHT + ROW * names.len() as f64 + 4.0;
    let panel = legend(panel, &names);
    let table = table(systems[0].analysis, joint, unit);
    let desc = describe(&table, &names);
    let drawn = drawing::draw(&joint.id, &joint.title, &desc, height, paint, vec![panel]);
    Figure {
        kind: Kind::Facsimile,
        id: joint.id.clone(),
        title: joint.title.clone(),
        desc,
        svg: drawn.svg,
        picture: drawn.picture,
        height,
        table,
        foot: foot(first, &names),
    }
}

/// What a system is called: as asked, or by distribution and kernel of its hosts.
fn name(system: &System<'_>) -> String {
    if !system.label.is_empty() {
        return system.label.to_owned();
    }
    let hosts = &system.analysis.run.hosts;
    let of = |host: &v6gap_core::record::Host| {
        let fact = |name: &str| host.facts.get(name).map(String::as_str);
        let both = [fact("distribution").or(fact("system")), fact("kernel")];
        let told: Vec<&str> = both.into_iter().flatten().collect();
        if told.is_empty() { host.name.clone() } else { told.join(", ") }
    };
    match (of(&hosts.client), of(&hosts.server)) {
        (client, server) if client == server || server.is_empty() => client,
        (client, server) => format!("{client} to {server}"),
    }
}

fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

/// Which letter is which system, below the axes.
fn legend(mut panel: Panel, names: &[String]) -> Panel {
    for (place, name) in names.iter().enumerate() {
        let y = HEIGHT + 12.0 + ROW * place as f64;
        panel.note((drawing::LEFT, y), &letter(place).to_string(), true);
        panel.note((drawing::LEFT + 18.0, y), &words::shortened(name, 66), false);
    }
    panel
}

/// The axes: from nothing to the greatest value.
fn axes(joint: &Joint<'_>, unit: Unit, span: (f64, f64), ticks: &[(f64, String)]) -> (Panel, f64) {
    let points = joint.charts.iter().flat_map(|chart| &chart.points);
    let values = points.flat_map(|p| joint.arms.iter().map(move |arm| *p.values.get(*arm)));
    let top = values.fold(0.0, f64::max) / unit.size * 1.1;
    let frame = Frame {
        top: 0.0,
        height: HEIGHT,
        x: span,
        y: (0.0, top),
        log_y: false,
        x_ticks: ticks,
        y_tick: &series::number_tick,
        y_title: format!("{}, {}", joint.charts[0].metric.noun(), unit.symbol),
    };
    (Panel::new(&frame), top)
}

fn lines(analysis: &Analysis, joint: &Joint<'_>, unit: Unit) -> Panel {
    let longest = joint.charts.iter().max_by_key(|chart| chart.points.len());
    let ticks = longest.map(|chart| chart.ticks.clone()).unwrap_or_default();
    let spans = || joint.charts.iter().map(|chart| chart.span);
    let low = spans().fold(f64::INFINITY, |low, span| low.min(span.0));
    let high = spans().fold(f64::NEG_INFINITY, |high, span| high.max(span.1));
    let (mut panel, top) = axes(joint, unit, (low, high), &ticks);
    let dual = joint.charts[0].form == Form::Dual;
    key(&mut panel, analysis, joint.arms, if dual { &[(Ink::Text, "difference, %")] } else { &[] });
    let mut ends = Vec::new();
    for (place, chart) in joint.charts.iter().enumerate() {
        for arm in joint.arms.iter().copied() {
            let points = chart.line(arm, unit.size);
            panel.line(&points, Ink::Arm(arm), Stroke::of(arm), 2.0);
            if dual {
                average(&mut panel, &points, Ink::Arm(arm));
            }
            points.iter().for_each(|at| panel.value(*at, arm, 3.5));
            ends.extend(points.last().map(|at| (*at, place, Ink::ArmText(arm))));
        }
    }
    if dual {
        let charts: Vec<&Chart<'_>> = joint.charts.iter().collect();
        let Some(scale) = scale_of(&charts, top) else { return panel };
        for chart in &joint.charts {
            let points = scale.points(chart);
            panel.line(&points, Ink::Text, Stroke::Dotted, 2.0);
            average(&mut panel, &points, Ink::Text);
            points.iter().for_each(|at| panel.dot(*at, Ink::Text));
        }
        panel.right_axis(&scale.ticks);
    }
    // The texts of a second scale stand where the letters would.
    letters(&mut panel, ends, dual);
    panel
}

/// The letters of the systems at the right ends of their lines, moved apart where they would meet.
fn letters(panel: &mut Panel, mut ends: Vec<((f64, f64), usize, Ink)>, inside: bool) {
    ends.sort_by(|x, y| y.0.1.total_cmp(&x.0.1));
    let heights: Vec<f64> = ends.iter().map(|(at, ..)| panel.height_of(at.1)).collect();
    let mut free = f64::NEG_INFINITY;
    let mut places = Vec::new();
    for height in &heights {
        let place = height.max(free);
        free = place + APART;
        places.push(place);
    }
    // What was pushed down is taken back half of the way: the letters lie round their lines.
    let pushed = places.iter().zip(&heights).map(|(place, at)| place - at).fold(0.0, f64::max);
    let room = places.first().map_or(0.0, |first| (first - HIGHEST).max(0.0));
    let back = (pushed / 2.0).min(room);
    for ((at, system, ink), (place, height)) in ends.into_iter().zip(places.iter().zip(&heights)) {
        let shift = place - height - back;
        panel.end_mark(at, &letter(system).to_string(), ink, shift, inside);
    }
}

/// A pair of bars for each system, by size where there are several.
fn bars(analysis: &Analysis, joint: &Joint<'_>, unit: Unit) -> Panel {
    let sizes: Vec<&Point> = joint.charts[0].points.iter().collect();
    let several = sizes.len() > 1;
    let mut places: Vec<(f64, String, &Point)> = Vec::new();
    for size in &sizes {
        for (system, chart) in joint.charts.iter().enumerate() {
            let Some(point) = chart.points.iter().find(|p| p.name == size.name) else { continue };
            let name = match several && system == 0 {
                true => format!("{} {}", letter(system), size.name),
                false => letter(system).to_string(),
            };
            places.push((places.len() as f64, name, point));
        }
    }
    let ticks: Vec<(f64, String)> = places.iter().map(|(x, name, _)| (*x, name.clone())).collect();
    let span = (-0.7, places.len() as f64 - 0.3);
    let (mut panel, _) = axes(joint, unit, span, &ticks);
    key(&mut panel, analysis, joint.arms, &[]);
    for (x, _, point) in &places {
        panel.bar((x - BAR_SHARE, *x), point.values.a / unit.size, Arm::A);
        panel.bar((*x, x + BAR_SHARE), point.values.b / unit.size, Arm::B);
    }
    panel
}

fn table(analysis: &Analysis, joint: &Joint<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let columns =
        || (0..joint.charts.len()).flat_map(|s| joint.arms.iter().map(move |arm| (s, *arm)));
    let mut heads = vec!["size".to_owned()];
    heads.extend(
        columns().map(|(s, arm)| format!("{} {}, {}", letter(s), names.get(arm), unit.symbol)),
    );
    let mut sizes: Vec<(f64, &str)> = Vec::new();
    for p in joint.charts.iter().flat_map(|chart| &chart.points) {
        if !sizes.iter().any(|(_, name)| *name == p.name) {
            sizes.push((p.x, &p.name));
        }
    }
    sizes.sort_by(|x, y| x.0.total_cmp(&y.0));
    let row = |(_, name): &(f64, &str)| -> Vec<String> {
        let cell = |(s, arm): (usize, Arm)| {
            let point = joint.charts[s].points.iter().find(|p| p.name == *name);
            series::cell(point.map(|p| *p.values.get(arm)), unit)
        };
        std::iter::once((*name).to_owned()).chain(columns().map(cell)).collect()
    };
    Table { heads, rows: sizes.iter().map(row).collect() }
}

/// The table in words.
fn describe(table: &Table, names: &[String]) -> String {
    let row = |cells: &Vec<String>| {
        let parts = table.heads.iter().zip(cells).skip(1);
        let parts: Vec<String> = parts.map(|(head, cell)| format!("{head} {cell}")).collect();
        format!("{}: {}", cells.first().map_or("", String::as_str), parts.join("; "))
    };
    let rows: Vec<String> = table.rows.iter().map(row).collect();
    format!("{}. {}.", told(names), rows.join(". "))
}

/// "A: Debian, B: Alpine".
fn told(names: &[String]) -> String {
    let one = |(place, name): (usize, &String)| format!("{}: {name}", letter(place));
    names.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

fn foot(chart: &Chart<'_>, names: &[String]) -> String {
    let more = match chart.form {
        Form::Dual => " Two scales in one chart can mislead, and straight averages hide the shape.",
        Form::Lines | Form::Bars => "",
    };
    format!(
        "Drawn as in the paper, from {}. It has no ranges; v6gap compare says what differs between \
         the systems, and how sure that is.{more} {}.",
        chart.rule,
        told(names)
    )
}
