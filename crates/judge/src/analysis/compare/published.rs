//! What a study published of one system against another, beside the changes of the same questions.
//! It is shown and not compared: those systems are not these.

use super::{Compared, Of, Row};
use crate::analysis::words::directions;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::Arm;
use v6gap_core::metric::Better;
use v6gap_core::published::{self, Kind, Value};
use v6gap_core::unit::significant;

/// What the study that all runs repeat published of two systems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Systems {
    /// Short name of the study.
    pub study: String,
    /// Authors of the study.
    pub authors: String,
    /// Title of the study.
    pub title: String,
    /// What is doubtful about the values.
    pub cautions: Vec<String>,
    /// The values of questions that the runs ask, in the order of the questions.
    pub values: Vec<Elsewhere>,
}

/// One published value, and the change that it stands beside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Elsewhere {
    /// Identifier of the cell that measures the same.
    pub cell: String,
    /// Of which arm.
    pub of: Of,
    /// What was published.
    pub published: Value,
    /// The published change in words, as in "3.72 % longer".
    pub text: String,
}

/// What was published of the questions of a comparison; nothing unless all runs repeat the same
/// experiment of a study that set systems against each other.
pub(super) fn beside(compared: &[Compared<'_>], rows: &[Row]) -> Option<Systems> {
    let plan = &compared.first()?.analysis.run.plan;
    let reference = plan.reference.as_deref()?;
    let same = |run: &Compared<'_>| run.analysis.run.plan.reference.as_deref() == Some(reference);
    if !compared.iter().all(same) {
        return None;
    }
    let (study, experiment) = published::find(reference)?;
    let own = |value: &&Value| value.of.contains(&experiment);
    let systems: Vec<&Value> =
        study.values.iter().filter(own).filter(|v| v.kind == Kind::Systems).collect();
    let of_row = |row: &Row| -> Vec<Elsewhere> {
        let Some((_, cell)) = plan.cell(&row.cell) else { return Vec::new() };
        let found = systems.iter().filter(|value| value.is_of(cell, row.metric));
        let beside = |value: &&Value, arm: Arm| {
            let family = *plan.design.arms.get(arm);
            value.family.is_none_or(|of| of == family).then_some(())?;
            Some(Elsewhere {
                cell: row.cell.clone(),
                of: if arm == Arm::A { Of::First } else { Of::Second },
                text: in_words(value)?,
                published: (*value).clone(),
            })
        };
        found.flat_map(|value| Arm::BOTH.into_iter().filter_map(|arm| beside(value, arm))).collect()
    };
    let values: Vec<Elsewhere> = rows.iter().flat_map(of_row).collect();
    let places: Vec<&str> = values.iter().map(|v| v.published.place.as_str()).collect();
    // A sentence on the table as a whole carries the doubts about its values.
    let doubts = study.values.iter().filter(own).filter(|v| places.contains(&v.place.as_str()));
    let mut cautions = study.cautions;
    for caution in doubts.filter_map(|value| value.caution.clone()) {
        if !cautions.contains(&caution) {
            cautions.push(caution);
        }
    }
    let (authors, title) = (study.authors, study.title);
    (!values.is_empty()).then_some(Systems { study: study.study, authors, title, cautions, values })
}

/// A share by which a system was better, in the words of a change of the metric; with the digits
/// that were printed.
fn in_words(value: &Value) -> Option<String> {
    let (metric, gain) = (value.metric?, value.low?);
    let change = match metric.better() {
        Better::Higher => gain,
        Better::Lower => -gain,
    };
    if change == 0.0 {
        return Some("no difference".to_string());
    }
    let words = directions(metric);
    let word = if change < 0.0 { words.less } else { words.more };
    Some(format!("{} % {word}", significant(change.abs() * 100.0, 3)))
}
