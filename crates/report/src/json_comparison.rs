//! A comparison as one JSON document, `v6gap.comparison/1`: what scripts read instead of prose.
//!
//! SI base units and plain numbers; enum values are stable, texts are not; an end of a range that
//! is not finite is null. Fields are only ever added within `/1`.

use crate::sentences::comparison as said;
use serde::Serialize;
use v6gap_core::arm::PerArm;
use v6gap_judge::analysis::compare::{
    Apart, Comparison, Differs, FailureChange, Row, Side, Systems,
};

/// The name and version of the document's form.
pub const COMPARISON_SCHEMA: &str = "v6gap.comparison/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    valid: bool,
    headline: String,
    details: Vec<String>,
    arm_names: &'a PerArm<String>,
    runs: &'a [Side],
    questions: Vec<Asked<'a>>,
    failures: &'a [FailureChange],
    apart: &'a [Apart],
    set_up: &'a [Differs],
    published: Option<&'a Systems>,
}

#[derive(Serialize)]
struct Asked<'a> {
    unit: &'static str,
    better: v6gap_core::metric::Better,
    #[serde(flatten)]
    row: &'a Row,
}

impl<'a> Asked<'a> {
    fn of(row: &'a Row) -> Self {
        Asked { unit: row.metric.unit(), better: row.metric.better(), row }
    }
}

/// The whole comparison as one JSON document with a line end.
pub fn json_comparison(comparison: &Comparison) -> String {
    let document = Document {
        schema: COMPARISON_SCHEMA,
        valid: comparison.valid(),
        headline: said::headline(comparison),
        details: said::details(comparison),
        arm_names: &comparison.arm_names,
        runs: &comparison.runs,
        questions: comparison.rows.iter().map(Asked::of).collect(),
        failures: &comparison.failures,
        apart: &comparison.apart,
        set_up: &comparison.set_up,
        published: comparison.published.as_ref(),
    };
    // Plain data with string keys: nothing in it can fail to become JSON.
    let mut text =
        crate::words::json_escaped(serde_json::to_string_pretty(&document).unwrap_or_default());
    text.push('\n');
    text
}
