//! The result as one JSON document, `v6gap.result/1`: what scripts read instead of prose.
//!
//! SI base units and plain numbers; enum values are stable, texts are not; an end of a range that
//! is not finite is null. Fields are only ever added within `/1`.
//!
//! Where single times were taken, each family has all of them as a histogram, bucket by bucket as
//! the trials recorded it: `[highest value of the bucket in ns, count]`, ascending. A bucket is at
//! most 1/1024 of its value wide, and 1 ns up to 2 µs, so every quantile can be computed again from
//! them to that bound. What was lost has no bucket; it counts as infinite.

use crate::studies::claims;
use crate::{sentences, words};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::host::names::VIEW;
use v6gap_core::ladder::Rung;
use v6gap_core::metric::{Better, Metric};
use v6gap_core::observation::Times;
use v6gap_core::path_mtu::PathMtu;
use v6gap_core::plan::Stop;
use v6gap_core::record::Host;
use v6gap_judge::analysis::alike::AnyRun;
use v6gap_judge::analysis::beside::OctetsBeside;
use v6gap_judge::analysis::budget::{self, Budget};
use v6gap_judge::analysis::claims::Claim;
use v6gap_judge::analysis::compare::Of;
use v6gap_judge::analysis::costmodel::CostModel;
use v6gap_judge::analysis::discards::Discards;
use v6gap_judge::analysis::history::ChangePoint;
use v6gap_judge::analysis::sizes::SizeEffect;
use v6gap_judge::analysis::studies::{AsPublished, Published};
use v6gap_judge::analysis::{
    Analysis, Check, Diagnostics, Discarded, DrawnFact, Effect, Explained, Failures, HeldMemory,
    MeanBeside, NullResult, Prediction, ProcessorTime, Qualifier, Question, Race, Range,
    Sensitivity, Steadiness, Suspect, Unseen, Validity, Verdict,
};

/// The name and version of the document's form.
pub const SCHEMA: &str = "v6gap.result/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    id: &'a str,
    valid: bool,
    headline: String,
    code: Option<&'static str>,
    details: Vec<String>,
    predicted: String,
    stopped: Option<&'a str>,
    target: &'a str,
    started_unix_ns: u64,
    span_ns: u64,
    hosts: Hosts<'a>,
    plan: &'a str,
    design: Design<'a>,
    questions: Vec<Answer<'a>>,
    checks: Vec<Check>,
    steadiness: &'a Steadiness,
    nulls: &'a [NullResult],
    discarded: Vec<Lost<'a>>,
    sensitivity: Vec<Sensitive<'a>>,
    drawn: &'a [DrawnFact],
    failures: Option<Said<&'a Failures>>,
    discards: Option<Said<&'a Discards>>,
    cost_models: Vec<Said<&'a CostModel>>,
    transfer_sizes: Vec<Sizes<'a>>,
    processor_time: &'a [ProcessorTime],
    memory: &'a [HeldMemory],
    beside: &'a [OctetsBeside],
    as_published: &'a [AsPublished],
    published: Option<&'a Published>,
    claims: Vec<Said<&'a Claim>>,
    races: &'a [Race],
    hops: Option<&'a PerFamily<Vec<Rung>>>,
    path_mtu: Option<&'a PerFamily<PathMtu>>,
    notes: &'a [String],
    refused: &'a BTreeMap<String, String>,
    trials: usize,
    tool: Tool<'a>,
}

#[derive(Serialize)]
struct Hosts<'a> {
    client: &'a Host,
    server: Server<'a>,
    control: Option<Family>,
}

#[derive(Serialize)]
struct Server<'a> {
    #[serde(flatten)]
    host: &'a Host,
    v4: Option<String>,
    v6: Option<String>,
}

#[derive(Serialize)]
struct Design<'a> {
    arms: PerArm<Family>,
    arm_names: &'a PerArm<String>,
    pairs: u32,
    order: &'static str,
    stop: &'a Stop,
    seed: String,
    confidence: f64,
    null_blocks: u32,
    settle_ns: u64,
}

#[derive(Serialize)]
struct Tool<'a> {
    version: &'a str,
    protocol: Option<u32>,
    /// How the run was shown while it was measured, if that is known.
    live_view: Option<&'a str>,
}

/// What was found, and what that says.
#[derive(Serialize)]
struct Said<T> {
    #[serde(flatten)]
    found: T,
    sentence: String,
}

/// How a difference goes with what was drawn, and what that says.
#[derive(Serialize)]
struct Sensitive<'a> {
    #[serde(flatten)]
    found: &'a Sensitivity,
    text: Option<String>,
}

fn sensitive<'a>(analysis: &'a Analysis, found: &'a Sensitivity) -> Sensitive<'a> {
    let text = found.depends.then(|| sentences::sensitivity::text(analysis, found));
    Sensitive { found, text }
}

#[derive(Serialize)]
struct Lost<'a> {
    block: u32,
    cell: &'a str,
    kind: String,
    why: &'a str,
}

impl<'a> From<&'a Discarded> for Lost<'a> {
    fn from(d: &'a Discarded) -> Self {
        Lost { block: d.block, cell: &d.cell, kind: d.kind.to_string(), why: &d.why }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    cell: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
    label: &'a str,
    metric: Metric,
    protocol: v6gap_core::workload::Transport,
    level: Level,
    unit: &'static str,
    better: Better,
    #[serde(flatten)]
    values: ByArm<Value>,
    effect: Option<EffectOut>,
    mean: Option<MeanBeside>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_run: Option<AnyRun>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    change_points: &'a [ChangePoint],
    uncertainty: Option<Budget>,
    advantage_v6: Option<Advantage>,
    margin: f64,
    predicted: Option<f64>,
    predicted_uncertainty: Option<f64>,
    predicted_share: Option<Range>,
    explained: Option<Explained>,
    residual: Option<Residual>,
    verdict: Verdict,
    qualifier: Qualifier,
    beyond_margin: bool,
    why_none: Option<&'a str>,
    unseen: Option<Unseen>,
    answer: String,
    difference: Option<f64>,
    text: &'a str,
    range_text: &'a str,
    sentence: &'a str,
    pairs_to_settle: Option<u32>,
    out_of_reach: bool,
    caveats: &'a [String],
    suspects: &'a [Suspect],
    diagnostics: &'a Diagnostics,
}

#[derive(Serialize)]
struct Level {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u32>,
}

#[derive(Serialize)]
struct Value {
    estimate: Option<f64>,
    n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Distribution>,
}

#[derive(Serialize)]
struct Distribution {
    unit: &'static str,
    digits: u8,
    exchanges_each: u32,
    count: u64,
    lost: u64,
    /// On one line, because each number on a line of its own would be most of the document.
    buckets: Box<RawValue>,
}

impl Distribution {
    fn of(q: &Question, arm: Arm) -> Option<Self> {
        let histogram = Some(q.histograms.get(arm)).filter(|h| !h.is_empty())?;
        Some(Distribution {
            unit: "ns",
            digits: Times::DIGITS,
            exchanges_each: q.exchanges_each,
            count: histogram.iter().map(|(_, count)| *count).fold(0, u64::saturating_add),
            lost: *q.lost.get(arm),
            buckets: serde_json::value::to_raw_value(histogram).ok()?,
        })
    }
}

/// Two values under the names of their arms: the families, or the arms' names in a null run.
struct ByArm<T> {
    names: PerArm<String>,
    values: PerArm<T>,
}

impl<T: Serialize> Serialize for ByArm<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        for arm in Arm::BOTH {
            map.serialize_entry(self.names.get(arm), self.values.get(arm))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct EffectOut {
    kind: &'static str,
    estimate: f64,
    low: f64,
    high: f64,
    low90: f64,
    high90: f64,
    pairs: usize,
    sd: f64,
    together: usize,
    validity: Validity,
}

/// What the size of transfers does.
#[derive(Serialize)]
struct Sizes<'a> {
    effect: Option<EffectOut>,
    cells: &'a [String; 2],
    sizes_bytes: [u64; 2],
    of: Of,
    margin: f64,
    verdict: Verdict,
    qualifier: Qualifier,
    label: &'a str,
    text: &'a str,
    range_text: &'a str,
    sentence: &'a str,
}

impl<'a> From<&'a SizeEffect> for Sizes<'a> {
    fn from(found: &'a SizeEffect) -> Self {
        Sizes {
            effect: found.effect.as_ref().map(EffectOut::from),
            cells: &found.cells,
            sizes_bytes: found.sizes_bytes,
            of: found.of,
            margin: found.margin,
            verdict: found.verdict,
            qualifier: found.qualifier,
            label: &found.label,
            text: &found.text,
            range_text: &found.range_text,
            sentence: &found.sentence,
        }
    }
}

impl From<&Effect> for EffectOut {
    fn from(effect: &Effect) -> Self {
        EffectOut {
            kind: words::effect_kind(effect.scale),
            estimate: effect.estimate,
            low: effect.range95.low,
            high: effect.range95.high,
            low90: effect.range90.low,
            high90: effect.range90.high,
            pairs: effect.blocks,
            sd: effect.sd,
            together: effect.together,
            validity: effect.validity,
        }
    }
}

#[derive(Serialize)]
struct Advantage {
    estimate: f64,
    #[serde(flatten)]
    range: Range,
}

#[derive(Serialize)]
struct Residual {
    #[serde(flatten)]
    effect: EffectOut,
    margin: f64,
    verdict: Verdict,
}

impl From<&Prediction> for Residual {
    fn from(p: &Prediction) -> Self {
        Residual { effect: (&p.residual).into(), margin: p.residual_margin, verdict: p.verdict }
    }
}

/// The whole result as one JSON document with a line end.
///
/// `advantage_v6` is positive where IPv6 is better, whatever the metric; it is null in a run that
/// compares a family with itself.
pub fn json(analysis: &Analysis) -> String {
    // Plain data with string keys: nothing in it can fail to become JSON.
    let mut text =
        words::json_escaped(serde_json::to_string_pretty(&document(analysis)).unwrap_or_default());
    text.push('\n');
    text
}

/// The document of [`json`] on one line.
pub fn json_line(analysis: &Analysis) -> String {
    let mut text =
        words::json_escaped(serde_json::to_string(&document(analysis)).unwrap_or_default());
    text.push('\n');
    text
}

fn document(analysis: &Analysis) -> Document<'_> {
    let run = &analysis.run;
    let design = &run.plan.design;
    let address = |family| run.addresses.get(family).map(|a| a.to_string());
    Document {
        schema: SCHEMA,
        id: run.id.as_str(),
        valid: analysis.valid,
        headline: sentences::headline(analysis),
        code: words::code(analysis),
        details: sentences::details(analysis),
        predicted: sentences::predicted(analysis).unwrap_or_default(),
        stopped: analysis.stopped.as_deref(),
        target: &run.target,
        started_unix_ns: run.started_unix_ns,
        span_ns: analysis.span_ns,
        hosts: Hosts {
            client: &run.hosts.client,
            server: Server {
                host: &run.hosts.server,
                v4: address(Family::V4),
                v6: address(Family::V6),
            },
            control: run.session.seen().map(|session| session.control),
        },
        plan: &run.plan.name,
        design: Design {
            arms: design.arms,
            arm_names: &analysis.arm_names,
            pairs: analysis.rounds,
            order: design.order.name(),
            stop: &design.stop,
            // As text, because readers of JSON may keep only 53 bits of a number.
            seed: format!("{:#x}", run.plan.seed),
            confidence: design.confidence,
            null_blocks: design.null_blocks,
            settle_ns: design.settle_ns,
        },
        questions: analysis.questions.iter().map(|q| answer(analysis, q)).collect(),
        checks: sentences::checks::told(analysis),
        steadiness: &analysis.steadiness,
        nulls: &analysis.nulls,
        discarded: analysis.discarded.iter().map(Lost::from).collect(),
        sensitivity: analysis.sensitivity.iter().map(|s| sensitive(analysis, s)).collect(),
        drawn: &analysis.drawn,
        failures: failed(analysis),
        discards: analysis.discards.as_ref().and_then(|found| {
            Some(Said { found, sentence: sentences::discards::discards(analysis)? })
        }),
        cost_models: said(&analysis.cost_models, |cost| sentences::costs(analysis, cost)),
        transfer_sizes: analysis.transfer_sizes.iter().map(Sizes::from).collect(),
        processor_time: &analysis.processor_time,
        memory: &analysis.memory,
        beside: &analysis.beside,
        as_published: &analysis.as_published,
        published: analysis.published.as_ref(),
        claims: said(&analysis.claims, |claim| claims::sentence(analysis, claim)),
        races: &analysis.races,
        hops: run.hops.as_ref(),
        path_mtu: run.path_mtu.as_ref(),
        notes: &run.notes,
        refused: &run.refused,
        trials: analysis.trials,
        tool: Tool {
            version: &run.tool,
            protocol: run.session.seen().map(|session| session.protocol),
            live_view: run.hosts.client.facts.get(VIEW).map(String::as_str),
        },
    }
}

fn failed(analysis: &Analysis) -> Option<Said<&Failures>> {
    let found = analysis.failures.as_ref()?;
    Some(Said { found, sentence: sentences::failures(analysis)? })
}

fn said<T>(found: &[T], sentence: impl Fn(&T) -> String) -> Vec<Said<&T>> {
    found.iter().map(|found| Said { found, sentence: sentence(found) }).collect()
}

fn answer<'a>(analysis: &'a Analysis, q: &'a Question) -> Answer<'a> {
    let prediction = q.prediction.as_ref();
    let null = words::is_null(analysis);
    let counted = q.events.filter(|_| q.metric.is_loss());
    Answer {
        cell: &q.cell,
        place: q.place.as_deref(),
        label: &q.label,
        metric: q.metric,
        protocol: q.transport,
        level: Level { bytes: q.level_bytes },
        unit: q.metric.unit(),
        better: q.metric.better(),
        values: ByArm {
            names: PerArm::from_fn(|arm| match (null, analysis.family(arm)) {
                (true, _) => analysis.arm_names.get(arm).clone(),
                (false, Family::V4) => "v4".to_owned(),
                (false, Family::V6) => "v6".to_owned(),
            }),
            values: PerArm::from_fn(|arm| Value {
                estimate: *q.values.get(arm),
                n: q.pairs.iter().filter(|p| p.valid).count(),
                lost: counted.map(|e| e.get(arm).0),
                of: counted.map(|e| e.get(arm).1),
                histogram: Distribution::of(q, arm),
            }),
        },
        effect: q.effect.as_ref().map(EffectOut::from),
        mean: q.mean,
        any_run: q.any_run,
        change_points: &q.change_points,
        uncertainty: budget::of(analysis, q),
        advantage_v6: q.effect.as_ref().filter(|_| !null).map(|e| advantage(q.metric, e)),
        margin: q.margin,
        predicted: prediction.map(|p| p.effect),
        predicted_uncertainty: prediction.and_then(|p| p.uncertainty),
        predicted_share: prediction.filter(|p| p.verdict != Verdict::None).and_then(|p| p.share),
        explained: prediction.and_then(|p| p.explained),
        residual: prediction.map(Residual::from),
        verdict: q.verdict,
        qualifier: q.qualifier,
        beyond_margin: q.qualifier == Qualifier::Clear,
        why_none: q.why_none.as_deref(),
        unseen: q.unseen,
        answer: words::marked_answer(q),
        difference: q.effect.as_ref().and_then(|e| words::difference(q, e.estimate)),
        text: &q.text,
        range_text: &q.range_text,
        sentence: &q.sentence,
        pairs_to_settle: q.pairs_to_settle,
        out_of_reach: q.out_of_reach,
        caveats: &q.caveats,
        suspects: &q.suspects,
        diagnostics: &q.diagnostics,
    }
}

fn advantage(metric: Metric, effect: &Effect) -> Advantage {
    let of = |e| words::advantage(metric, e);
    let (a, b) = (of(effect.range95.low), of(effect.range95.high));
    Advantage { estimate: of(effect.estimate), range: Range { low: a.min(b), high: a.max(b) } }
}
