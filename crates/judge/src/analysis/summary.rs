//! What is kept of what a run says where its journal is not read again: enough for a list, for a
//! history of a path, for changes, and to hold other runs against it ([`super::alike`]). The store
//! keeps it as text, and does not know what it says (docs/record.md).

use super::compare::set_up;
use super::{Analysis, Question, Verdict, alike};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use v6gap_core::family::PerFamily;
use v6gap_core::ladder::Rung;
use v6gap_core::metric::Metric;
use v6gap_core::record::{Line, RunHeader};
use v6gap_stats::between::Found;

/// The form of a summary. One of another form is none, and is made anew.
pub const SCHEMA: &str = "v6gap.summary/1";

/// Version of this program.
const BY: &str = env!("CARGO_PKG_VERSION");

/// What a run says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The form, [`SCHEMA`].
    pub schema: String,
    /// Version of the program that judged.
    pub by: String,
    /// False if a failed check took the place of the verdicts.
    pub valid: bool,
    /// The answer in a sentence.
    pub headline: String,
    /// What sockets were granted, where that is told and the same all through: client and server,
    /// each setting over both families.
    pub granted: Vec<Option<String>>,
    /// The questions, in the order of the plan.
    pub questions: Vec<Answer>,
    /// Who answered on the way to the far end over each family, by distance; nothing where that was
    /// not asked.
    #[serde(default, skip_serializing_if = "no_hops")]
    pub hops: PerFamily<Vec<Vec<IpAddr>>>,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Identifier of the cell.
    pub cell: String,
    /// What was measured.
    pub metric: Metric,
    /// The verdict.
    pub verdict: Verdict,
    /// The margin, of a difference that is there and lies within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The effect and both ends of its 95 % range, to six digits; an end may be endless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<[Option<f64>; 3]>,
    /// Median of each arm, in SI units to six digits.
    pub values: [Option<f64>; 2],
    /// Estimate and its standard error by the run's own blocks, on the scale of single effects: of
    /// the difference, and of each arm by itself. Nothing where there is no verdict.
    pub found: [Option<[Option<f64>; 2]>; 3],
}

impl Summary {
    /// What is kept of a run; `headline` is its answer in words.
    pub fn of(analysis: &Analysis, lines: &[Line], headline: String) -> Summary {
        Summary {
            schema: SCHEMA.to_string(),
            by: BY.to_string(),
            valid: analysis.valid,
            headline,
            granted: set_up::told(&set_up::granted(lines)),
            questions: analysis.questions.iter().map(|q| Answer::of(analysis, q)).collect(),
            hops: hops(&analysis.run),
        }
    }

    /// As one line of JSON.
    pub fn encode(&self) -> String {
        // Plain data with string keys always becomes JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A summary of this form.
    pub fn decode(text: &str) -> Option<Summary> {
        serde_json::from_str(text).ok().filter(|summary: &Summary| summary.schema == SCHEMA)
    }

    /// Whether this version of the program judged.
    pub fn is_ours(&self) -> bool {
        self.by == BY
    }
}

impl Answer {
    fn of(analysis: &Analysis, q: &Question) -> Answer {
        let effect = q
            .effect
            .as_ref()
            .map(|effect| [effect.estimate, effect.range95.low, effect.range95.high].map(short));
        let found = alike::all_found(analysis, q);
        Answer {
            cell: q.cell.clone(),
            metric: q.metric,
            verdict: q.verdict,
            within: q.qualifier.within(q.margin),
            effect,
            values: [q.values.a, q.values.b].map(|value| value.and_then(short)),
            // To the last digit: what is told from it must not depend on where it was kept.
            found: found.map(|f| f.map(|f| [f.estimate, f.standard_error].map(finite))),
        }
    }

    /// What was found of the difference and of each arm.
    pub fn found(&self) -> [Option<Found>; 3] {
        self.found.map(|found| {
            let [estimate, standard_error] = found?.map(|x| x.unwrap_or(f64::NAN));
            Some(Found { estimate, standard_error })
        })
    }
}

fn hops(run: &RunHeader) -> PerFamily<Vec<Vec<IpAddr>>> {
    let answered = |rungs: &Vec<Rung>| {
        // The host itself is no part of the way to it.
        let routers = rungs.iter().take_while(|rung| !rung.is_host);
        routers.map(|rung| rung.by.iter().map(|by| by.address).collect()).collect()
    };
    run.hops.as_ref().map(|hops| hops.as_ref().map(answered)).unwrap_or_default()
}

fn no_hops(hops: &PerFamily<Vec<Vec<IpAddr>>>) -> bool {
    hops.v4.is_empty() && hops.v6.is_empty()
}

/// To six digits, which is more than any run knows.
fn short(x: f64) -> Option<f64> {
    format!("{x:.5e}").parse().ok().and_then(finite)
}

/// JSON has no other numbers.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
