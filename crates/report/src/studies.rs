//! What the study that a plan repeats would have said of the same runs, and what it published, as
//! rows and as sentences.

pub(crate) mod claims;

use crate::number;
use crate::words;
use v6gap_core::metric::Metric;
use v6gap_core::published::{Kind, Value};
use v6gap_core::unit::significant;
use v6gap_judge::analysis::studies::{AsPublished, Beside, Combined, Comparison, Published};
use v6gap_judge::analysis::{Analysis, Question};

/// Rows under heads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Heads of the columns.
    pub heads: Vec<String>,
    /// One row for each question or value.
    pub rows: Vec<Vec<String>>,
    /// How to read it, and what is doubtful.
    pub notes: Vec<String>,
}

/// The runs combined as the study combined its own; nothing if the plan repeats none.
pub(crate) fn as_published(analysis: &Analysis) -> Option<Rows> {
    let first = analysis.as_published.first()?;
    let names = &analysis.arm_names;
    let (head, note) = words::rule(first.summary);
    let heads = [head, &names.a, &names.b, "difference", "our 95 % range"].map(str::to_owned);
    let row = |made: &AsPublished| {
        let question = question(analysis, &made.cell, made.metric);
        let unit = number::unit(made.metric, &[made.values.a.value, made.values.b.value]);
        let text = |of: &Combined| combined(of, unit.size);
        let label = question.map_or(&made.cell, |q| &q.label).replace(", ", " ");
        let ours = question.and_then(|q| q.effect.as_ref());
        vec![
            format!("{label}, {}", unit.symbol),
            text(&made.values.a),
            text(&made.values.b),
            effect(made),
            ours.map_or("–".to_owned(), |e| words::signed_range(made.metric, &e.range95)),
        ]
    };
    Some(Rows {
        heads: heads.to_vec(),
        rows: analysis.as_published.iter().map(row).collect(),
        notes: vec![note.to_owned()],
    })
}

/// The difference that the study would have named, with the range that it would not.
fn effect(made: &AsPublished) -> String {
    let effect = format!("{} %", words::sign(made.effect));
    match made.range.low.is_finite() && made.range.high.is_finite() {
        true => format!("{effect} ({})", words::signed(&made.range)),
        false => effect,
    }
}

fn combined(of: &Combined, size: f64) -> String {
    let mut text = significant(of.value / size, 4);
    let half = of.range.map(|range| (range.high - range.low) / 2.0).or(of.sd);
    if let Some(half) = half {
        text.push_str(&format!(" ± {}", significant(half / size, 2)));
    }
    if of.consistent == Some(false) {
        text.push_str(" inconsistent");
    }
    text
}

fn question<'a>(analysis: &'a Analysis, cell: &str, metric: Metric) -> Option<&'a Question> {
    analysis.questions.iter().find(|q| q.cell == cell && q.metric == metric)
}

/// What the study published beside what was measured; nothing if the plan repeats none or nothing
/// of it has a number that was measured.
pub(crate) fn beside(analysis: &Analysis) -> Option<Rows> {
    let published = analysis.published.as_ref()?;
    let heads = ["measured here", "published", "predicted", "measured", "so", "place"];
    let shown = |beside: &&Beside| beside.measured.is_some();
    let rows: Vec<_> = published.values.iter().filter(shown).map(|b| row(analysis, b)).collect();
    let mut notes = vec![
        "Published differences are compared with the measured range, which may be wide; published \
         values of other hosts are not."
            .to_owned(),
    ];
    notes.extend(analysis.claims.iter().map(|claim| claims::sentence(analysis, claim)));
    (!rows.is_empty()).then(|| Rows { heads: heads.map(str::to_owned).to_vec(), rows, notes })
}

fn row(analysis: &Analysis, beside: &Beside) -> Vec<String> {
    let value = &beside.published;
    let found = beside.cell.as_deref().zip(value.metric);
    let question = found.and_then(|(cell, metric)| question(analysis, cell, metric));
    let label = question.map_or("–".to_owned(), |q| q.label.replace(", ", " "));
    let label = match value.family {
        Some(family) => format!("{label} {family}"),
        None => label,
    };
    let (predicted, measured) = match value.kind {
        Kind::Effect => {
            let range = |(range, metric)| words::signed_range(metric, &range);
            let measured = beside.range.zip(value.metric).map_or("–".to_owned(), range);
            (beside.predicted.map(|p| words::sign(p) + " %"), measured)
        }
        _ => {
            let text = |v: f64| amount(value.metric, v);
            (beside.predicted.map(text), beside.measured.map_or("–".to_owned(), text))
        }
    };
    let so = match beside.comparison {
        Some(Comparison::Within) => "in our range",
        Some(Comparison::Above) => "ours is above",
        Some(Comparison::Below) => "ours is below",
        None => "",
    };
    vec![
        label,
        value.says.clone(),
        predicted.unwrap_or_else(|| "–".to_owned()),
        measured,
        so.to_owned(),
        place(value),
    ]
}

fn amount(metric: Option<Metric>, value: f64) -> String {
    let Some(metric) = metric else { return significant(value, 3) };
    let unit = number::unit(metric, &[value]);
    format!("{} {}", significant(value / unit.size, 3), unit.symbol)
}

fn place(value: &Value) -> String {
    match &value.system {
        Some(system) => format!("{}, {system}", value.place),
        None => value.place.clone(),
    }
}

/// Who published, in one sentence.
pub(crate) fn source(published: &Published) -> String {
    format!("Published: {}, “{}”.", published.authors, published.title)
}

/// What is doubtful about the study and its values, and what it says without a figure that was
/// measured; each once.
pub(crate) fn doubts(published: &Published) -> Vec<String> {
    let mut found: Vec<String> = published.cautions.clone();
    for beside in &published.values {
        let Value { place, says, caution, kind, .. } = &beside.published;
        let text = match (caution, beside.measured) {
            (Some(caution), _) => format!("{place}: “{says}”. {}", words::capital(caution)),
            (None, None) if *kind == Kind::Said => format!("{place}: “{says}”."),
            (None, _) => continue,
        };
        let text = words::sentence(&text);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}
