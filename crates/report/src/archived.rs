//! What is kept of a run elsewhere than in its folder, as rows of named cells: for the archive and
//! for a database alike, so that the two cannot differ.

use crate::rows::{self, Row};
use crate::words;
use serde::Serialize;
use serde_json::Value;
use v6gap_core::record::{BlockRecord, Line, TrialRecord};
use v6gap_judge::analysis::summary::{Answer, Summary};
use v6gap_judge::analysis::{Analysis, Question};

/// A run as rows of named cells, which are called as the columns of the archive.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedRows {
    /// The run itself.
    pub run: Row,
    /// One for each question, in their order.
    pub answers: Vec<Row>,
    /// Of each of these questions its pairs, in their order.
    pub pairs: Vec<Vec<Row>>,
    /// The trials, in the order of the journal; without histograms.
    pub trials: Vec<Row>,
}

impl ArchivedRows {
    /// The rows of a run whose journal has so many bytes.
    pub fn of(analysis: &Analysis, lines: &[Line], journal_bytes: u64) -> Self {
        let known = Summary::of(analysis, lines, String::new()).questions;
        let questions = &analysis.questions;
        let pairs = |q: &Question| -> Vec<Row> {
            (0..q.pairs.len()).map(|at| pair(analysis, q, at)).collect()
        };
        ArchivedRows {
            run: of_run(analysis, journal_bytes),
            answers: questions.iter().zip(&known).map(|(q, known)| of_question(q, known)).collect(),
            pairs: questions.iter().map(pairs).collect(),
            trials: rows::trials(lines).into_iter().map(|(t, block)| trial(t, block)).collect(),
        }
    }
}

/// A number for a column of whole numbers, which end at 63 bits.
pub(crate) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Of which run a row is, and between which hosts that was: those of a fleet as they are called
/// there, others as they call themselves. Outside a fleet there are no sites.
pub(crate) fn whose(analysis: &Analysis) -> Row {
    let run = &analysis.run;
    let (hosts, between) = (&run.hosts, run.between.as_ref());
    let [from, to] = between.map_or_else(
        || [hosts.client.name.as_str(), hosts.server.name.as_str()],
        |names| names.each_ref().map(String::as_str),
    );
    let [from_site, to_site] = [from, to].map(|name| between.and_then(|_| site(name)));
    named([
        ("run", run.id.as_str().into()),
        ("from", from.into()),
        ("to", to.into()),
        ("from_site", from_site.into()),
        ("to_site", to_site.into()),
        ("target", run.target.as_str().into()),
    ])
}

/// The site of a host of a fleet, which is called `SITE/HOST`.
fn site(name: &str) -> Option<&str> {
    name.split_once('/').map(|(site, _)| site)
}

/// What the answers of a run have in common.
pub(crate) fn of_run(analysis: &Analysis, journal_bytes: u64) -> Row {
    let run = &analysis.run;
    let design = &run.plan.design;
    let mut row = named([
        ("started_unix_ns", whole(run.started_unix_ns).into()),
        ("journal_bytes", whole(journal_bytes).into()),
        ("plan", run.plan.name.as_str().into()),
        ("lab", run.plan.world.is_some().into()),
        ("judged_by", env!("CARGO_PKG_VERSION").into()),
        ("valid", analysis.valid.into()),
        ("stop", plain(design.stop)["kind"].clone()),
        ("family_a", plain(design.arms.a)),
        ("family_b", plain(design.arms.b)),
    ]);
    row.extend(whose(analysis));
    row
}

/// A question and its answer; `known` is what its summary says. An end of a range that is not
/// finite is empty, as it is in JSON.
pub(crate) fn of_question(q: &Question, known: &Answer) -> Row {
    let effect = q.effect.as_ref();
    let found = known.found()[0];
    let mut row = named([
        ("cell", q.cell.as_str().into()),
        ("place", q.place.as_deref().into()),
        ("question", q.label.as_str().into()),
        ("metric", q.metric.to_string().into()),
        ("protocol", plain(q.transport)),
        ("level_bytes", q.level_bytes.into()),
        ("unit", q.metric.unit().into()),
        ("value_a", q.values.a.into()),
        ("value_b", q.values.b.into()),
        ("pairs", q.pairs.iter().filter(|pair| pair.valid).count().into()),
        ("effect_kind", effect.map(|effect| words::effect_kind(effect.scale)).into()),
        ("effect", effect.map(|effect| effect.estimate).into()),
        ("low95", effect.map(|effect| effect.range95.low).into()),
        ("high95", effect.map(|effect| effect.range95.high).into()),
        ("low90", effect.map(|effect| effect.range90.low).into()),
        ("high90", effect.map(|effect| effect.range90.high).into()),
        ("sd", effect.map(|effect| effect.sd).into()),
        ("standard_error", found.map(|found| found.standard_error).into()),
        ("together", effect.map(|effect| effect.together).into()),
        ("merged", q.diagnostics.merged.into()),
        ("margin", q.margin.into()),
        ("predicted", q.prediction.as_ref().map(|predicted| predicted.effect).into()),
        ("verdict", plain(q.verdict)),
        ("qualifier", plain(q.qualifier)),
        ("why_none", q.why_none.as_deref().into()),
    ]);
    if !q.caveats.is_empty() {
        row.insert("caveats".to_owned(), q.caveats.join("\n").into());
    }
    row
}

fn named<const N: usize>(cells: [(&str, Value); N]) -> Row {
    cells.map(|(name, value)| (name.to_owned(), value)).into()
}

/// A name or a choice, as it is written in JSON.
fn plain(value: impl Serialize) -> Value {
    // Plain data with string keys always becomes a value.
    serde_json::to_value(value).unwrap_or_default()
}

/// A pair of a question, the one of that number.
pub(crate) fn pair(analysis: &Analysis, q: &Question, at: usize) -> Row {
    let pair = &q.pairs[at];
    let arms = analysis.run.plan.design.arms;
    let values = [pair.values.a, pair.values.b];
    named([
        ("cell", q.cell.as_str().into()),
        ("question", q.label.as_str().into()),
        ("metric", q.metric.to_string().into()),
        ("unit", q.metric.unit().into()),
        ("block", pair.block.into()),
        ("round", pair.round.into()),
        ("order", plain(pair.order)),
        ("block_valid", pair.valid.into()),
        ("at_ns", pair.at_ns.into()),
        ("family_a", plain(arms.a)),
        ("family_b", plain(arms.b)),
        ("value_a", values[0].into()),
        ("value_b", values[1].into()),
        ("effect", pair.effect(q.metric).into()),
    ])
}

/// A trial with what is drawn for its block, without histograms.
pub(crate) fn trial(trial: &TrialRecord, block: Option<&BlockRecord>) -> Row {
    let mut row = rows::row(trial, block);
    row.retain(|name, _| !rows::is_histogram(name));
    row
}
