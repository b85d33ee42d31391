//! From the lines of a journal to an answer: effects, verdicts, checks and sentences.
//!
//! [`analyse`] is a pure function of what was stored, so analysing a run again gives the same
//! bytes. Doubt travels with each value, and a failed check takes the place of the verdict.

pub mod again;
pub mod alike;
pub mod beside;
pub mod breakdown;
pub mod budget;
mod checks;
pub mod claims;
mod collect;
pub mod compare;
pub(crate) mod conditions;
pub mod costmodel;
pub(crate) mod counted;
mod diagnostics;
pub mod discards;
mod drawn;
pub mod effect;
mod explained;
pub(crate) mod failures;
pub mod guard;
mod held;
pub mod history;
pub mod joint;
mod limited;
mod links;
pub(crate) mod nulls;
pub(crate) mod offloads;
mod pace;
pub mod path;
mod placement;
pub mod places;
mod predict;
mod questions;
mod races;
mod resources;
pub mod rounds;
mod routes;
mod sensitivity;
pub mod sizes;
pub mod steadiness;
pub mod studies;
pub mod summary;
mod suspects;
mod tally;
mod translation;
pub mod verdict;
mod windows;
pub mod words;

pub use counted::Counted;
pub use diagnostics::{Diagnostics, Modes, OrderEffect, Outlier, order_mattered};
pub use drawn::{Anew, DrawnFact, Nuisance};
pub use effect::validity::Validity;
pub use failures::{Exchanges, Failures};
pub use nulls::{NullResult, NullTold};
pub use races::Race;
pub use resources::{HeldMemory, ProcessorTime};
pub use sensitivity::{Choice, Part, Sensitivity};
pub use steadiness::Steadiness;
pub use suspects::Suspect;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use v6gap_core::arm::{Arm, BlockKind, PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::observation::Histogram;
use v6gap_core::record::{Ending, Line, RunHeader};
use v6gap_core::workload::Transport;

/// What can be said about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The second arm (IPv6) is better.
    Better,
    /// The second arm (IPv6) is worse.
    Worse,
    /// No difference that matters.
    Same,
    /// The range holds both a difference that matters and none.
    #[serde(rename = "inconclusive")]
    CannotTell,
    /// A check failed or nothing was measured; the reason stands in [`Question::why_none`].
    None,
}

/// How strong a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Qualifier {
    /// Better or worse, and the whole range lies beyond the margin.
    Clear,
    /// Better or worse, perhaps by less than the margin.
    SizeUnresolved,
    /// Same, although the range excludes no difference at all.
    RealButTiny,
    /// Nothing to add.
    Plain,
}

/// How much of an effect the wire model predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explained {
    /// The range of the residual holds none.
    All,
    /// Something is left, and the prediction is at least four fifths.
    NearlyAll,
    /// Three tenths to four fifths.
    Part,
    /// Less than three tenths.
    Little,
    /// IPv6 does better than predicted.
    BetterThanPredicted,
}

/// A closed range of a relative difference (ratio − 1) or of a difference in SI units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// Lower end; may be minus infinity, which JSON shows as null.
    pub low: f64,
    /// Upper end; may be infinity.
    pub high: f64,
}

/// A measured difference of the second arm against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// Ratio: all figures are `b/a − 1`. Difference: `b − a` in the metric's unit.
    pub scale: Scale,
    /// The estimate.
    pub estimate: f64,
    /// The 95 % range, which is shown.
    pub range95: Range,
    /// The 90 % range, by which "same" is decided.
    pub range90: Range,
    /// Rounds with a valid block behind it.
    pub blocks: usize,
    /// Standard deviation of one round's effect (logarithm of the ratio, or difference).
    pub sd: f64,
    /// Questions for which the ranges hold together: more than 1 where questions decided together
    /// stay open although each by itself would not.
    pub together: usize,
    /// When its ranges hold.
    pub validity: Validity,
}

/// The mean of a lopsided law beside its centre, which [`Effect::estimate`] is: what lies far off
/// counts in full.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanBeside {
    /// The mean, as the effect is given.
    pub estimate: f64,
    /// Its 95 % range, for nearly normal effects.
    pub range95: Range,
    /// Its 90 % range.
    pub range90: Range,
    /// Whether it would give another verdict, so that the range of the effect reaches over its own.
    pub speaks_against: bool,
}

/// What the wire model says about a question, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Predicted effect: `b/a − 1`.
    pub effect: f64,
    /// Predicted value of each arm in SI units, where the rate of the link is known.
    pub values: Option<PerArm<f64>>,
    /// Effect that remains after the prediction: `(b/a) / (predicted b/a) − 1`.
    pub residual: Effect,
    /// Margin of the verdict on the residual.
    pub residual_margin: f64,
    /// Verdict on the residual.
    pub verdict: Verdict,
    /// How far the prediction may be off (k = 2), as a share of the value, which the range of the
    /// residual holds; `None` where that is not known.
    pub uncertainty: Option<f64>,
    /// The part of the effect that is predicted, over its 95 % range; `None` where that holds no
    /// difference.
    pub share: Option<Range>,
    /// How much the prediction explains; `None` where there is nothing to explain, or that cannot
    /// be told.
    pub explained: Option<Explained>,
}

/// The values of a cell in one round, for figures and exports; or those of a discarded block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Number of the first block.
    pub block: u32,
    /// How many blocks there are.
    pub blocks: u32,
    /// Number of the round.
    pub round: u32,
    /// Which arm went first, in most blocks.
    pub order: TurnOrder,
    /// Value of each arm, in SI units; of several blocks those with the middle and the effect of
    /// all, of ratios the centres (docs/method.md B.1).
    pub values: PerArm<f64>,
    /// Start of the first block since the start of the run, in ns of the wall clock.
    pub at_ns: u64,
    /// Whether it passed all gates; only valid pairs count.
    pub valid: bool,
}

impl Pair {
    /// Its effect, on the scale of [`effect::of_block`].
    pub fn effect(&self, metric: Metric) -> f64 {
        effect::of_block(metric, self.values.a, self.values.b)
    }
}

/// What is not known of a share of which nothing was seen, or too little.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Unseen {
    /// Trials of each arm.
    pub trials: usize,
    /// Events of both arms.
    pub seen: u64,
    /// Packets, or whatever is counted, of the arm with fewer.
    pub of: u64,
    /// By how much the share may be larger than what was seen (95 %) if events come singly.
    pub singly: f64,
    /// The same if they come in bursts of up to [`burst_max`](Self::burst_max).
    pub in_bursts: f64,
    /// Packets of the longest burst that is thought of.
    pub burst_max: u64,
}

/// One question and its answer: a metric in a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Identifier of the cell.
    pub cell: String,
    /// Where its trials went, of a run that went to several places: see [`places::place`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What was measured.
    pub metric: Metric,
    /// Over which transport.
    pub transport: Transport,
    /// Message or payload size in bytes, where the cell has one.
    pub level_bytes: Option<u32>,
    /// Median over the valid blocks of each arm's value, in SI units.
    pub values: PerArm<Option<f64>>,
    /// The difference.
    pub effect: Option<Effect>,
    /// The mean of the pairs beside it, where that is not the same.
    pub mean: Option<MeanBeside>,
    /// Where the estimate of any run like this one lies, where other runs tell
    /// ([`alike::tell`]): no journal by itself does.
    pub any_run: Option<alike::AnyRun>,
    /// What changed between runs like this one, where other runs tell.
    pub change_points: Vec<history::ChangePoint>,
    /// The margin, fixed before the run.
    pub margin: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// How strong it is.
    pub qualifier: Qualifier,
    /// Why there is no verdict, in words.
    pub why_none: Option<String>,
    /// What the headers alone predict.
    pub prediction: Option<Prediction>,
    /// Further pairs that would settle it, if it is open and they are within reach.
    pub pairs_to_settle: Option<u32>,
    /// Whether it is open and would take far more than the plan allows; see
    /// [`is_out_of_reach`](crate::reach::is_out_of_reach).
    pub out_of_reach: bool,
    /// Every comparing block.
    pub pairs: Vec<Pair>,
    /// Distribution of the single times over all valid blocks, where the workload has them.
    pub histograms: PerArm<Histogram>,
    /// Those that were lost or failed beside them: they took longer than any (RFC 6673 section
    /// 5.1), and have no bucket.
    pub lost: PerArm<u64>,
    /// Exchanges that one of those times stands for: more than 1 if whole turns were timed.
    pub exchanges_each: u32,
    /// Packets counted over all valid blocks, for shares: (lost or otherwise as they should not be,
    /// of so many).
    pub events: Option<PerArm<(u64, u64)>>,
    /// What a share may be although too little of it was seen to say "same".
    pub unseen: Option<Unseen>,
    /// Reasons for doubt, in words.
    pub caveats: Vec<String>,
    /// What may lie behind a difference that the headers do not explain.
    pub suspects: Vec<Suspect>,
    /// What else the blocks say, and the p-values.
    pub diagnostics: Diagnostics,
    /// Name of the question, as in "Round trip 64 B, TCP".
    pub label: String,
    /// The effect in words, as in "1.4 % slower"; carries its direction.
    pub text: String,
    /// The 95 % range in words, as in "1.3 – 1.5 %".
    pub range_text: String,
    /// The answer as a sentence.
    pub sentence: String,
}

/// State of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// Passed.
    Ok,
    /// Worth knowing; the verdict stands.
    Note,
    /// Failed: there is no verdict.
    Failed,
}

/// A check of validity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name, as in `family-proved`.
    pub id: String,
    /// Its state.
    pub state: CheckState,
    /// What was seen, in words; empty where `report` words the values themselves.
    pub text: String,
}

/// A block that was discarded, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Discarded {
    /// Number of the block.
    pub block: u32,
    /// Identifier of the cell.
    pub cell: String,
    /// What the block was for.
    pub kind: BlockKind,
    /// The gates it failed, in words.
    pub why: String,
}

/// What a run says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// The first line of the journal.
    pub run: RunHeader,
    /// False if a failed check took the place of the verdicts.
    pub valid: bool,
    /// The questions, in the order of the plan.
    pub questions: Vec<Question>,
    /// The checks.
    pub checks: Vec<Check>,
    /// What all questions say together of drift and of the order.
    pub steadiness: Steadiness,
    /// The null blocks.
    pub nulls: Vec<NullResult>,
    /// Discarded blocks.
    pub discarded: Vec<Discarded>,
    /// Whether differences go with what was drawn, where that was looked at.
    pub sensitivity: Vec<Sensitivity>,
    /// What was drawn anew within the run and what was not: what its ranges hold.
    pub drawn: Vec<DrawnFact>,
    /// What failed or was lost where families were compared; `None` if nothing was.
    pub failures: Option<Failures>,
    /// Questions of which this arm alone never came through.
    pub unreached: PerArm<usize>,
    /// What was discarded there, by family, and what it could change; `None` if nothing was.
    pub discards: Option<discards::Discards>,
    /// What messages cost by constant, packets and bytes, where several sizes were measured.
    pub cost_models: Vec<costmodel::CostModel>,
    /// Whether the size of transfers matters, where several sizes were measured.
    pub transfer_sizes: Vec<sizes::SizeEffect>,
    /// What transfers took of the processors.
    pub processor_time: Vec<ProcessorTime>,
    /// What connections that were held open took of the kernel's memory.
    pub memory: Vec<HeldMemory>,
    /// The windows of TCP transfers.
    pub windows: Vec<breakdown::Window>,
    /// Where transfers took processor time.
    pub places: Vec<breakdown::PlaceCost>,
    /// What is known of the path.
    pub path: path::Path,
    /// The stages of opening connections.
    pub openings: Vec<breakdown::Opening>,
    /// Octets of the trials as captures and managed devices counted them, beside this program's own
    /// count; empty without any.
    pub beside: Vec<beside::OctetsBeside>,
    /// The runs as the study that the plan repeats combined its own.
    pub as_published: Vec<studies::AsPublished>,
    /// What that study published, beside what was measured.
    pub published: Option<studies::Published>,
    /// What it said of the shape of its curves, asked of this run.
    pub claims: Vec<claims::Claim>,
    /// Which family programs choose that try both, by how they do; empty where no site was
    /// visited.
    pub races: Vec<Race>,
    /// Complete rounds in which families were compared.
    pub rounds: u32,
    /// Trials stored, discarded ones included.
    pub trials: usize,
    /// From the first trial to the end of the last, in ns.
    pub span_ns: u64,
    /// Time that a round takes while the run goes on, in ns.
    pub round_ns: f64,
    /// How the run ended, in words, if it is not complete.
    pub stopped: Option<String>,
    /// What the two arms are called: the families, or "first" and "second" in a null run.
    pub arm_names: PerArm<String>,
}

impl Analysis {
    /// Blocks in which a family was compared with itself; those of several metrics count once.
    pub fn null_blocks(&self) -> usize {
        let mut of_cells: BTreeMap<(&str, Family), usize> = BTreeMap::new();
        for null in &self.nulls {
            let most = of_cells.entry((&null.cell, null.family)).or_default();
            *most = null.blocks.max(*most);
        }
        of_cells.values().sum()
    }

    /// Whether the run went its own way to its end, so that ranges are those of that end.
    pub fn ended_by_itself(&self) -> bool {
        let effects = self.questions.iter().filter_map(|q| q.effect.as_ref());
        effects.map(|effect| effect.validity).any(|by| matches!(by, Validity::AtEnd { .. }))
    }

    /// Whether each family agrees with itself, in all in which it could be seen.
    pub fn nulls_agree(&self) -> bool {
        nulls::agree(&self.nulls)
    }

    /// The family of an arm.
    pub fn family(&self, arm: Arm) -> Family {
        *self.run.plan.design.arms.get(arm)
    }
}

/// Why a journal cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// The first line is not a run header.
    #[error("the journal does not begin with the facts of the run")]
    NoHeader,
    /// A second header stands inside.
    #[error("the journal holds two runs")]
    TwoHeaders,
    /// A trial names a cell that the plan does not have.
    #[error("a trial names the cell {0}, which the plan does not have")]
    UnknownCell(String),
}

/// What the lines of a journal say.
///
/// # Errors
/// If they are not the journal of one run.
pub fn analyse(lines: &[Line]) -> Result<Analysis, AnalysisError> {
    let found = collect::collect(lines)?;
    let names = arm_names(&found);
    let nulls = nulls::judge(&found.run.plan, &found.blocks);
    let discarded = discarded(&found);
    let mut questions = questions::answer(&found, &names, &discarded);
    failing(&found, &mut questions, &names);
    let mut checks = checks::judge(&found, &nulls, &discarded, &questions);
    let valid = checks.iter().all(|c| c.state != CheckState::Failed);
    let steadiness = Steadiness::of(&questions, &found.blocks, found.run.plan.design.order);
    checks::steadiness(&mut checks, &questions, &steadiness);
    checks.extend(limited::notes(&found, &questions));
    for question in &mut questions {
        checks.extend(checks::condition(question, &nulls, &discarded, valid));
    }
    if valid {
        suspects::name(&found, &mut questions);
    }
    let asked = questions.len();
    for question in questions.iter_mut().filter(|q| q.may_be_chance()) {
        question.caveats.push(words::chance(asked));
    }
    Ok(Analysis {
        valid,
        sensitivity: sensitivity::judge(&found),
        drawn: drawn::facts(&found),
        failures: failures::judge(&found),
        unreached: failures::unreached(&found),
        discards: discards::judge(&found, &questions),
        cost_models: costmodel::models(&found).into_iter().map(|model| model.cost).collect(),
        transfer_sizes: sizes::judge(&found.run.plan, &questions, &discarded, &names),
        processor_time: resources::processor_time(&found),
        memory: resources::memory(&found),
        windows: breakdown::windows(&found),
        places: breakdown::places(&found),
        openings: breakdown::openings(&found),
        path: path::path(&found),
        beside: beside::octets(&found),
        as_published: studies::as_published(&found.run.plan, &questions),
        published: studies::published(&found.run.plan, &questions),
        claims: claims::judge(&found.run.plan, &questions, &discarded),
        races: races::reckon(&found),
        rounds: rounds(&found),
        trials: found.trials.len(),
        span_ns: span_ns(&found),
        round_ns: pace::round_ns(&found),
        stopped: stopped(&found),
        arm_names: names,
        run: found.run.clone(),
        questions,
        checks,
        steadiness,
        nulls,
        discarded,
    })
}

/// Takes the verdicts of cells of which too much failed, before anything else is said of them.
fn failing(found: &collect::Collected<'_>, questions: &mut [Question], names: &PerArm<String>) {
    let too_many = failures::too_many(found);
    for question in questions.iter_mut().filter(|q| q.why_none.is_none()) {
        if let Some(arm) = too_many.get(question.cell.as_str()) {
            // Attempts tell their family, not their arm.
            let arms = found.run.plan.design.arms;
            let name = if arms.is_null() { &names.a } else { names.get(*arm) };
            let why = format!("{name} failed too often to compare what is left");
            checks::withdraw(question, why);
        }
    }
}

/// The cost models of a journal, ready to be carried to other paths (docs/method.md section A.8).
///
/// # Errors
/// If the lines are not the journal of one run.
pub fn models(lines: &[Line]) -> Result<Vec<costmodel::Model>, AnalysisError> {
    Ok(costmodel::models(&collect::collect(lines)?))
}

/// A family that is translated on the way is not called by its name alone.
fn arm_names(found: &collect::Collected<'_>) -> PerArm<String> {
    let arms = found.run.plan.design.arms;
    let name = |family| match translation::of(found, family) {
        Some(translated) => format!("{family} by {}", translated.by),
        None => family.to_string(),
    };
    let PerArm { a, b } = arms.map(name);
    let b = if arms.is_null() { format!("{b} again") } else { b };
    PerArm { a, b }
}

fn discarded(found: &collect::Collected<'_>) -> Vec<Discarded> {
    let why = |block: &collect::Block<'_>| {
        let findings = Arm::BOTH.into_iter().flat_map(|arm| &block.trials.get(arm).findings);
        let fatal = findings.into_iter().find(|f| f.fatal);
        fatal.map_or_else(|| "a gate".to_string(), |f| format!("{}: {}", f.gate, f.seen))
    };
    let block = |block: &collect::Block<'_>| Discarded {
        block: block.number,
        cell: block.cell().to_string(),
        kind: block.kind(),
        why: why(block),
    };
    found.blocks.iter().filter(|b| !b.valid).map(block).collect()
}

/// Rounds in which every cell has a comparing block that does not rest at the end.
fn rounds(found: &collect::Collected<'_>) -> u32 {
    let compares = || found.blocks.iter().filter(|b| b.kind() == BlockKind::Compare);
    let last = compares().map(collect::Block::round).max().unwrap_or(0);
    let count = |cell: &str| {
        let own = || compares().filter(move |b| b.cell() == cell);
        let valid = self::rounds::count(own().filter(|b| b.valid).map(collect::Block::round));
        // Cells rest for two rounds: one that has none in both rests, unless it never had enough.
        let ends = own().map(collect::Block::round).max().is_some_and(|own| own + 1 < last);
        (!ends || valid < effect::BLOCKS_MIN).then_some(valid)
    };
    let cells = found.run.plan.cells.iter();
    let measured = cells.filter(|c| !found.unmeasured.contains_key(c.id.as_str()));
    let fewest = measured.filter_map(|c| count(&c.id)).min();
    fewest.unwrap_or(0) as u32
}

fn span_ns(found: &collect::Collected<'_>) -> u64 {
    let start = found.trials.iter().map(|t| t.started_unix_ns).min();
    let end = found.trials.iter().map(|t| t.started_unix_ns.saturating_add(t.duration_ns)).max();
    end.zip(start).map_or(0, |(end, start)| end.saturating_sub(start))
}

fn stopped(found: &collect::Collected<'_>) -> Option<String> {
    match found.ending {
        Some(Ending::Complete) => None,
        Some(Ending::Stopped) => Some("stopped by hand".to_string()),
        Some(Ending::Failed { error }) => Some(format!("broken off: {error}")),
        None => Some("broken off".to_string()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
