//! Runs against each other: did the difference between the families change, and did each family?
//!
//! Pure as the analysis of one run: everything follows from the analyses of the runs. The first run
//! is the reference; every other is compared with it, cell by cell (docs/method.md sections C.10
//! and D.7). Cells that are not the same workload in both are not compared, and the reason is told.

mod change;
mod failing;
mod published;
pub(super) mod set_up;
#[cfg(test)]
mod tests;
mod words;

pub use failing::FailureChange;
pub use published::{Elsewhere, Systems};

use super::alike::{Known, SetUp};
use super::{Analysis, CheckState, Effect, Qualifier, Question, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::record::{Line, RunHeader, RunId};
use v6gap_core::workload::Transport;

/// Most runs in one comparison: each is named by a letter.
pub const RUNS_MAX: usize = 26;

/// What a change is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The difference of the second arm against the first.
    Difference,
    /// The first arm (IPv4) by itself.
    First,
    /// The second arm (IPv6) by itself.
    Second,
}

impl Of {
    /// All three, the difference first.
    pub const ALL: [Of; 3] = [Of::Difference, Of::First, Of::Second];

    /// The arm, unless it is the difference of both.
    pub const fn arm(self) -> Option<Arm> {
        match self {
            Of::Difference => None,
            Of::First => Some(Arm::A),
            Of::Second => Some(Arm::B),
        }
    }

    /// What a change is one of, as the subject of a sentence: "IPv6 against IPv4", "IPv4".
    pub fn subject(self, names: &PerArm<String>) -> String {
        match self.arm() {
            None => format!("{} against {}", names.b, names.a),
            Some(arm) => names.get(arm).clone(),
        }
    }
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The letter that names it here: A for the reference.
    pub letter: char,
    /// Identifier of the run.
    pub id: RunId,
    /// Names of client and server.
    pub hosts: [String; 2],
    /// Start, in ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// Complete rounds in which families were compared.
    pub pairs: u32,
    /// The check that took the place of its verdicts, in words.
    pub failed: Option<String>,
}

/// Something of the set-up that the runs do not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Differs {
    /// What it is, as in "kernel of the server".
    pub what: String,
    /// What it is in each run, in their order; a dash where it is not told.
    pub values: Vec<String>,
}

/// A question that not all runs ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Apart {
    /// Name of the question.
    pub label: String,
    /// Letters of the runs that ask it.
    pub letters: Vec<char>,
}

/// What one run says of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Median over the valid blocks of each arm's value, in SI units.
    pub values: PerArm<Option<f64>>,
    /// The difference of the arms.
    pub effect: Option<Effect>,
    /// The run's own margin.
    pub margin: f64,
    /// The run's own verdict on it.
    pub verdict: Verdict,
    /// How strong it is.
    pub qualifier: Qualifier,
    /// The difference in words.
    pub text: String,
    /// Range of the value in words.
    pub range_text: String,
}

/// What changed of one thing from the reference to another run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Of what.
    pub of: Of,
    /// The change; of a difference, how much the ratio of the arms grew (ratio of ratios − 1), or
    /// their difference.
    pub effect: Option<Effect>,
    /// Better or worse is that of the later run, of the second arm against the first for a
    /// difference.
    pub verdict: Verdict,
    /// How strong it is.
    pub qualifier: Qualifier,
    /// Why there is no verdict, in words.
    pub why_none: Option<String>,
    /// p-value of no change.
    pub p_different: f64,
    /// p-value of no change, corrected for the questions decided together.
    pub p_different_adjusted: f64,
    /// p-value of a change as large as the margin.
    pub p_same: f64,
    /// p-value of a change as large as the margin, corrected for the questions decided together.
    pub p_same_adjusted: f64,
    /// Other runs like each of the two that say how much runs scatter, which the range holds then:
    /// the fewer of both; `None` where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_like: Option<usize>,
    /// Reasons for doubt, in words.
    pub caveats: Vec<String>,
    /// The change in words, as in "1.4 % slower".
    pub text: String,
    /// 95 % range of the change in words.
    pub range_text: String,
    /// The answer as a sentence.
    pub sentence: String,
}

/// All changes of one question from the reference to one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// Letter of the run.
    pub letter: char,
    /// In the order of [`Of::ALL`].
    pub changes: Vec<Change>,
}

/// One question, asked of all runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Identifier of the cell.
    pub cell: String,
    /// What was measured.
    pub metric: Metric,
    /// Over which transport.
    pub transport: Transport,
    /// Message or payload size in bytes, where the cell has one.
    pub level_bytes: Option<u32>,
    /// Name of the question.
    pub label: String,
    /// The margin: the smallest that the runs had.
    pub margin: f64,
    /// What each run says, in their order; nothing where it does not ask.
    pub standings: Vec<Option<Standing>>,
    /// The changes, for each run but the first that asks the question.
    pub against: Vec<Changes>,
}

/// What runs say against each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The runs, the reference first.
    pub runs: Vec<Side>,
    /// What the two arms are called.
    pub arm_names: PerArm<String>,
    /// The questions that the reference and at least one other run ask, in the order of its plan.
    pub rows: Vec<Row>,
    /// How failures changed, where runs measured the same cells and anything failed.
    pub failures: Vec<FailureChange>,
    /// The questions that not all runs ask.
    pub apart: Vec<Apart>,
    /// What differs in the set-up.
    pub set_up: Vec<Differs>,
    /// What the study that all runs repeat published of other systems.
    pub published: Option<Systems>,
}

impl Comparison {
    /// All changes with the question that they belong to.
    pub fn changes(&self) -> impl Iterator<Item = (&Row, &Change)> {
        let against = self.rows.iter().flat_map(|row| row.against.iter().map(move |a| (row, a)));
        against.flat_map(|(row, against)| against.changes.iter().map(move |c| (row, c)))
    }

    /// False if a failed check of a run took the place of the verdicts, or no change was measured.
    pub fn valid(&self) -> bool {
        self.runs.iter().all(|run| run.failed.is_none())
            && self.changes().any(|(_, change)| change.effect.is_some())
    }
}

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// There is nothing to compare with.
    #[error("a comparison needs two results or more, and {0} was given")]
    TooFew(usize),
    /// There are more runs than letters.
    #[error("a comparison takes up to {RUNS_MAX} results, and {0} were given")]
    TooMany(usize),
    /// One run twice: it cannot differ from itself, and is not independent of itself.
    #[error("the result {0} is named twice")]
    Twice(String),
    /// The arms are not the same.
    #[error("{letter} compares {there}, and A compares {here}")]
    Arms {
        /// The run that differs from the reference.
        letter: char,
        /// Arms of the run, in words.
        there: String,
        /// Arms of the reference, in words.
        here: String,
    },
    /// Not one cell is the same.
    #[error("the results measured nothing alike")]
    NothingAlike {
        /// What each measured, or in what the cells differ, in words.
        seen: Vec<String>,
    },
}

/// A run to compare: its journal and what that says.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// What it says.
    pub analysis: &'a Analysis,
    /// Journal of the run, for what sockets were granted.
    pub lines: &'a [Line],
}

/// The letter of the run at that place.
fn letter(place: usize) -> char {
    char::from(b'A' + (place % RUNS_MAX) as u8)
}

/// Compares runs with the first of them. How much runs of one set-up scatter is told by those
/// compared, and by `stored`, other runs that may be like them.
///
/// # Errors
/// If they cannot be compared at all: fewer than two, other arms, no cell in common. Cells that
/// alone cannot be compared stay, without a verdict and with the reason.
pub fn compare(compared: &[Compared<'_>], stored: &[Known]) -> Result<Comparison, CompareError> {
    if compared.len() < 2 {
        return Err(CompareError::TooFew(compared.len()));
    }
    if compared.len() > RUNS_MAX {
        return Err(CompareError::TooMany(compared.len()));
    }
    alike_in_kind(compared)?;
    let reference = compared[0].analysis;
    let granted: Vec<set_up::Granted> =
        compared.iter().map(|run| set_up::granted(run.lines)).collect();
    let runs: Vec<Side> =
        compared.iter().enumerate().map(|(i, run)| side(i, run.analysis)).collect();
    let own: Vec<Option<Known>> =
        compared.iter().map(|run| Known::of(run.analysis, run.lines)).collect();
    let known: Vec<Known> = own.iter().flatten().chain(stored).cloned().collect();
    let set_ups: Vec<SetUp<'_>> = own.iter().map(|run| SetUp::of(run.as_ref(), &known)).collect();
    let mut rows = Vec::new();
    for question in &reference.questions {
        let asked: Vec<Option<&Question>> =
            compared.iter().map(|run| find(run.analysis, question)).collect();
        if asked.iter().skip(1).any(Option::is_some) {
            rows.push(change::Open::new(compared, &granted, &set_ups, question, asked));
        }
    }
    if rows.iter().all(|row| row.is_refused()) {
        let mut seen: Vec<String> = Vec::new();
        for why in rows.iter().flat_map(|row| row.refusals()) {
            if !seen.contains(&why) {
                seen.push(why);
            }
        }
        if rows.is_empty() {
            seen = compared.iter().enumerate().map(|(i, run)| measured(i, run.analysis)).collect();
        }
        return Err(CompareError::NothingAlike { seen });
    }
    let same = compared.iter().all(|run| run.analysis.arm_names == reference.arm_names);
    // What is translated in one run and not in another has the name of its family.
    let names = match same {
        true => reference.arm_names.clone(),
        false => reference.run.plan.design.arms.map(|family| family.to_string()),
    };
    let names = &names;
    let rows = change::decide(rows, names);
    Ok(Comparison {
        failures: failing::changes(compared),
        apart: apart(compared),
        set_up: set_up::differences(&headers(compared, &granted)),
        published: published::beside(compared, &rows),
        arm_names: names.clone(),
        runs,
        rows,
    })
}

/// Each run as what is told of its set-up.
fn headers<'a>(
    compared: &'a [Compared<'_>],
    granted: &'a [set_up::Granted],
) -> Vec<(&'a RunHeader, &'a set_up::Granted)> {
    compared.iter().map(|run| &run.analysis.run).zip(granted).collect()
}

fn alike_in_kind(compared: &[Compared<'_>]) -> Result<(), CompareError> {
    let arms = |run: &Compared<'_>| run.analysis.run.plan.design.arms;
    let words = |run: &Compared<'_>| {
        let names = &run.analysis.arm_names;
        format!("{} with {}", names.b, names.a)
    };
    for (place, run) in compared.iter().enumerate().skip(1) {
        let id = &run.analysis.run.id;
        if compared[..place].iter().any(|earlier| earlier.analysis.run.id == *id) {
            return Err(CompareError::Twice(id.to_string()));
        }
        if arms(run) != arms(&compared[0]) {
            let (there, here) = (words(run), words(&compared[0]));
            return Err(CompareError::Arms { letter: letter(place), there, here });
        }
    }
    Ok(())
}

fn side(place: usize, analysis: &Analysis) -> Side {
    let run = &analysis.run;
    let server = match run.hosts.server.name.as_str() {
        "" => run.target.clone(),
        name => name.to_string(),
    };
    let failed = analysis.checks.iter().find(|c| c.state == CheckState::Failed);
    Side {
        letter: letter(place),
        id: run.id.clone(),
        hosts: [run.hosts.client.name.clone(), server],
        started_unix_ns: run.started_unix_ns,
        pairs: analysis.rounds,
        failed: (!analysis.valid)
            .then(|| failed.map_or_else(|| "a check".to_string(), |c| c.text.clone())),
    }
}

fn find<'a>(analysis: &'a Analysis, like: &Question) -> Option<&'a Question> {
    analysis.questions.iter().find(|q| q.cell == like.cell && q.metric == like.metric)
}

/// What a run measured, as in "A: throughput-tcp, rtt-tcp-64".
fn measured(place: usize, analysis: &Analysis) -> String {
    let cells: Vec<&str> = analysis.run.plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    format!("{}: {}", letter(place), cells.join(", "))
}

/// The questions that not all runs ask, each once, in the order of the runs.
fn apart(compared: &[Compared<'_>]) -> Vec<Apart> {
    let mut apart: Vec<(&Question, Apart)> = Vec::new();
    for run in compared {
        for question in &run.analysis.questions {
            let known = |(other, _): &(&Question, Apart)| {
                other.cell == question.cell && other.metric == question.metric
            };
            if apart.iter().any(known) {
                continue;
            }
            let asks = |(place, other): (usize, &Compared<'_>)| {
                find(other.analysis, question).map(|_| letter(place))
            };
            let letters: Vec<char> = compared.iter().enumerate().filter_map(asks).collect();
            apart.push((question, Apart { label: question.label.clone(), letters }));
        }
    }
    let all = compared.len();
    apart.into_iter().map(|(_, apart)| apart).filter(|apart| apart.letters.len() < all).collect()
}
