//! Version 1 of the record format.

use super::{RecordError, RunId, plain};
use crate::arm::{Arm, BlockKind, TurnOrder};
use crate::family::{Family, PerFamily};
use crate::host::Host;
use crate::metric::Metric;
use crate::observation::{Beside, EndReport, Lateness, PerEnd};
use crate::plan::Plan;
use crate::plan::check::CELLS_MAX;
use crate::wire::control::Limits;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// The version that this module writes.
pub const VERSION: u32 = 1;

/// The first line of a journal: everything the analysis needs besides the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Identifier of the run.
    pub id: RunId,
    /// Version of the program that measured.
    pub tool: String,
    /// Version of the control protocol spoken.
    pub protocol: u32,
    /// Start, in ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// What the server was called by the person who asked.
    pub target: String,
    /// Addresses measured, client's side unknown until a trial has shown it.
    pub addresses: PerFamily<Option<IpAddr>>,
    /// Addresses of the client that were asked for; those used are in every trial.
    #[serde(default)]
    pub bind: PerFamily<Option<IpAddr>>,
    /// Family that the control connection used.
    pub control: Family,
    /// Both hosts.
    pub hosts: PerEnd<Host>,
    /// The checked plan.
    pub plan: Plan,
    /// What was noticed before the first trial, in words, as in "namespaces refused: …".
    pub notes: Vec<String>,
    /// Figures that the lab's self-test refused, with the reason, by cell id.
    pub refused: BTreeMap<String, String>,
    /// What the server said that it allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

impl RunHeader {
    /// Indices of the cells that are refused.
    pub fn left_out(&self) -> Vec<usize> {
        let cells = self.plan.cells.iter().enumerate();
        cells.filter(|(_, cell)| self.refused.contains_key(&cell.id)).map(|(i, _)| i).collect()
    }
}

/// A condition that a trial did not meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateFinding {
    /// Stable name of the gate, as in `family-proved`.
    pub gate: String,
    /// Whether it makes the block invalid; otherwise it is a caveat.
    pub fatal: bool,
    /// What was seen, in words.
    pub seen: String,
}

/// One trial of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Number of the block, counted from 0 over the whole run.
    pub block: u32,
    /// Identifier of the cell.
    pub cell: String,
    /// What the block is for.
    pub kind: BlockKind,
    /// Number of the round.
    pub round: u32,
    /// Which arm.
    pub arm: Arm,
    /// Which family.
    pub family: Family,
    /// Which arm of the block went first.
    pub order: TurnOrder,
    /// How many times the block had been tried before.
    pub attempt: u32,
    /// Start by the client's wall clock, in ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// Start by the client's monotonic clock since the start of this session, in ns.
    pub started_ns: u64,
    /// How long it took, in ns.
    pub duration_ns: u64,
    /// The trial's value of each metric of the cell, in SI units.
    pub values: BTreeMap<Metric, f64>,
    /// What both ends saw.
    pub ends: PerEnd<EndReport>,
    /// Gates that it did not pass.
    pub findings: Vec<GateFinding>,
    /// How late the lab's user-space link was, if there was one.
    pub link: Option<Lateness>,
    /// What others saw of it, if they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Box<Beside>>,
}

/// Marks a block as complete; trials without it are not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// Number of the block.
    pub block: u32,
    /// Whether both trials passed all fatal gates.
    pub valid: bool,
}

/// A cell that was given up because its trials failed again and again, as where a firewall lets
/// nothing of its kind through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaveUp {
    /// Identifier of the cell.
    pub cell: String,
    /// What failed, in words.
    pub why: String,
}

/// Why a session of measuring ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Ending {
    /// The stopping rule was met.
    Complete,
    /// The user stopped it.
    Stopped,
    /// The other end was lost or something failed.
    Failed {
        /// What happened.
        error: String,
    },
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first line.
    Run(Box<RunHeader>),
    /// A trial.
    Trial(Box<TrialRecord>),
    /// The end of a block.
    Block(BlockRecord),
    /// A cell is not measured any more.
    GaveUp(GaveUp),
    /// The end of a session; measuring may go on later.
    End(Ending),
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u32,
    #[serde(flatten)]
    line: T,
}

pub(super) fn encode(line: &Line) -> String {
    // Plain data with string keys: the only error serde_json knows here is a non-string map key.
    serde_json::to_string(&Versioned { v: VERSION, line }).unwrap_or_default()
}

/// The beginning of a line, whatever version it has.
#[derive(Deserialize)]
struct Head<'a> {
    v: u32,
    #[serde(default, borrow)]
    line: Cow<'a, str>,
}

/// Reads what kind of line it is and then the whole line as that: the derived form of a tagged
/// enum would build a tree of it in between, which takes several times as long, and a journal may
/// be long.
pub(super) fn decode(text: &str) -> Result<Line, RecordError> {
    if let Some(line) = as_written(text) {
        return Ok(line);
    }
    let head: Head<'_> = parse(text)?;
    if head.v > VERSION {
        return Err(RecordError::TooNew { found: head.v, known: VERSION });
    }
    Ok(match &*head.line {
        "run" => Line::Run(possible(parse(text)?)?),
        "trial" => Line::Trial(parse(text)?),
        "block" => Line::Block(parse(text)?),
        "gave-up" => Line::GaveUp(parse(text)?),
        "end" => Line::End(parse(text)?),
        other => return Err(RecordError::Malformed(format!("no such line: {other:?}"))),
    })
}

/// The facts of a run that there can have been: the analysis looks at each cell for each other one.
fn possible(header: Box<RunHeader>) -> Result<Box<RunHeader>, RecordError> {
    match header.plan.cells.len() {
        0..=CELLS_MAX => Ok(header),
        n => Err(RecordError::Malformed(format!("{n} cells; a plan has up to {CELLS_MAX}"))),
    }
}

/// A trial or the end of a block in the very form in which this program writes it. Anything else is
/// `None`, and read the longer way.
fn as_written(text: &str) -> Option<Line> {
    let (kind, _) = text.strip_prefix(r#"{"v":1,"line":""#)?.split_once('"')?;
    match kind {
        "trial" => plain::read(text).map(Line::Trial),
        "block" => plain::read(text).map(Line::Block),
        _ => None,
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|e| RecordError::Malformed(e.to_string()))
}
