//! A visit to a host, phase after phase: looking up its name, connecting, TLS or QUIC, the answer.

use super::stages::{self, Bars, Stage};
use super::{Figure, Kind, Paint, Table, drawing, series};
use crate::number::Unit;
use crate::words;
use v6gap_core::arm::Arm;
use v6gap_core::metric::Metric;
use v6gap_core::workload::{Cell, Http, Workload};
use v6gap_judge::analysis::{Analysis, Question, places};

/// The phases in their order; looking up comes before the visit and is measured apart from it.
const PHASES: [Metric; 5] =
    [Metric::Lookup, Metric::Connect, Metric::Tls, Metric::Quic, Metric::Response];

/// The questions about the visits of a cell.
struct Visits<'a> {
    http: Option<Http>,
    /// Where to, of a run that visited several pairs of addresses.
    place: Option<String>,
    /// In the order of [`PHASES`].
    phases: Vec<&'a Question>,
    /// The whole visit until then.
    first_byte: Option<&'a Question>,
}

impl Visits<'_> {
    fn has(&self, metric: Metric) -> bool {
        self.phases.iter().any(|q| q.metric == metric)
    }
}

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let all = analysis.run.plan.cells.iter().filter_map(|cell| visits(analysis, cell));
    all.enumerate().filter_map(|(at, visits)| draw(analysis, &visits, at + 1, paint)).collect()
}

/// What was asked of a cell whose phases are questions: of several versions over TCP one has them.
fn visits<'a>(analysis: &'a Analysis, cell: &Cell) -> Option<Visits<'a>> {
    let Workload::Visit(visit) = &cell.workload else { return None };
    let of = |metric: Metric| {
        let own = |q: &&Question| q.cell == cell.id || q.metric == Metric::Lookup;
        analysis.questions.iter().filter(own).find(|q| q.metric == metric)
    };
    of(Metric::Connect).or_else(|| of(Metric::Quic))?;
    let phases = PHASES.into_iter().filter_map(of).collect();
    let place = places::place(&analysis.run, &cell.workload);
    Some(Visits { http: visit.http, place, phases, first_byte: of(Metric::FirstByte) })
}

/// The medians over an arm, each from where the one before it ended.
fn over(visits: &Visits<'_>, arm: Arm) -> Vec<Stage> {
    let mut found = Vec::new();
    let (mut from, mut began) = (0.0, 0.0);
    for q in &visits.phases {
        let Some(takes) = *q.values.get(arm) else { continue };
        found.push(Stage { name: q.metric.noun(), from, to: from + takes, range: None });
        from += takes;
        if q.metric == Metric::Lookup {
            began = from;
        }
    }
    // Without a response of its own what is left until the first byte stands in its place.
    let first_byte = visits.first_byte.filter(|_| !visits.has(Metric::Response));
    if let Some(first_byte) = first_byte.and_then(|q| *q.values.get(arm)) {
        let to = (began + first_byte).max(from);
        found.push(Stage { name: "to the first byte", from, to, range: None });
    }
    found
}

fn draw(analysis: &Analysis, visits: &Visits<'_>, number: usize, paint: Paint) -> Option<Figure> {
    let arms = Arm::BOTH.map(|arm| (arm, over(visits, arm)));
    let is_named = visits.has(Metric::Lookup);
    let since = if is_named { "its name was asked for" } else { "connecting began" };
    let Bars { canvas, height, unit } = stages::bars(analysis, &arms, since)?;
    let id = format!("visit-{number}");
    let subject = match visits.http {
        Some(http) => format!("A visit by {http}"),
        None => "A connection".to_owned(),
    };
    let subject = places::named(&subject, visits.place.as_deref());
    let last = visits.first_byte.or_else(|| visits.phases.last().copied())?;
    let found = series::finding(analysis, &[last]);
    let title = format!("{subject}, phase after phase: {found}");
    let desc = stages::describe(analysis, &arms, unit);
    let drawn = drawing::draw(&id, &title, &desc, height, paint, vec![canvas]);
    let apart = match is_named {
        true => " Names are looked up apart from the visits.",
        false => "",
    };
    Some(Figure {
        kind: Kind::Visit,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, visits, unit),
        foot: format!(
            "Medians, each from where the one before it ends: added up they need not be the \
             median of the whole.{apart}"
        ),
        id,
        title,
        desc,
    })
}

fn table(analysis: &Analysis, visits: &Visits<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let heads = vec![
        "phase".to_owned(),
        format!("{}, {}", names.a, unit.symbol),
        format!("{}, {}", names.b, unit.symbol),
        words::over(analysis),
        "95 % range".to_owned(),
        "verdict".to_owned(),
    ];
    let row = |q: &Question| {
        vec![
            words::capital(q.metric.noun()),
            series::cell(q.values.a, unit),
            series::cell(q.values.b, unit),
            q.text.clone(),
            if q.range_text.is_empty() { "–".to_owned() } else { q.range_text.clone() },
            words::marked_answer(q),
        ]
    };
    let all = visits.phases.iter().copied().chain(visits.first_byte);
    Table { heads, rows: all.map(row).collect() }
}
