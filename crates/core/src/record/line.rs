//! The lines of a journal, as the current version has them.

use super::RunId;
use crate::arm::{Arm, BlockKind, PerArm, TurnOrder};
use crate::family::{Family, PerFamily};
use crate::host::Host;
use crate::ladder::Rung;
use crate::metric::Metric;
use crate::observation::{Beside, Ends, Far, Lateness, PerEnd};
use crate::path_mtu::PathMtu;
use crate::plan::Plan;
use crate::wire::control::Limits;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use serde::{Deserialize, Serialize};

/// The first line of a journal: everything the analysis needs besides the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Identifier of the run.
    pub id: RunId,
    /// Version of the program that measured.
    pub tool: String,
    /// What was typed, without secrets, one word each, as from `v6gap`; empty if nobody typed it or
    /// it was not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// What the run is part of, in the words of whoever asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The names of both hosts in their fleet, as SITE/HOST, the client's first; none outside of
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// Start, in ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// What the server was called by the person who asked.
    pub target: String,
    /// Addresses measured, client's side unknown until a trial has shown it.
    pub addresses: PerFamily<Option<IpAddr>>,
    /// The pairs of addresses that are visited, where there are several; `addresses` are the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address_pairs: Vec<PerFamily<IpAddr>>,
    /// The name servers that are asked, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolvers: Vec<SocketAddr>,
    /// Addresses of the client that were asked for; those used are in every trial.
    #[serde(default)]
    pub bind: PerFamily<Option<IpAddr>>,
    /// The way to the far end, by the distance of its routers: where that does not run this
    /// program, or is of the same fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<PerFamily<Vec<Rung>>>,
    /// How large packets may be on that way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_mtu: Option<PerFamily<PathMtu>>,
    /// The session with the far end, or why there was none.
    pub session: Far<Session>,
    /// What is known of both hosts: of a far end without a session next to nothing.
    pub hosts: PerEnd<Host>,
    /// The checked plan.
    pub plan: Plan,
    /// What was noticed before the first trial, in words, as in "namespaces refused: …".
    pub notes: Vec<String>,
    /// Figures that the lab's self-test refused, with the reason, by cell id.
    pub refused: BTreeMap<String, String>,
}

/// What two ends that run this program agreed on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Version of the control protocol spoken.
    pub protocol: u32,
    /// Family that the control connection used.
    pub control: Family,
    /// What the server said that it allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

impl RunHeader {
    /// The facts of a run of which only the plan is known so far: nobody has connected.
    pub fn new(id: RunId, plan: Plan) -> Self {
        RunHeader {
            id,
            tool: String::new(),
            argv: Vec::new(),
            job: None,
            between: None,
            started_unix_ns: 0,
            target: String::new(),
            addresses: PerFamily::default(),
            address_pairs: Vec::new(),
            resolvers: Vec::new(),
            bind: PerFamily::default(),
            hops: None,
            path_mtu: None,
            session: Far::NotSeen("nobody connected".to_string()),
            hosts: PerEnd::default(),
            plan,
            notes: Vec::new(),
            refused: BTreeMap::new(),
        }
    }

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
    pub ends: Ends,
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
    /// What was drawn for it, if that was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
}

impl BlockRecord {
    /// Which of the trials since the last line of another kind are its own, one of each arm: a
    /// process that was killed leaves trials of an attempt that was made again.
    pub fn own(&self, trials: &[&TrialRecord]) -> Option<PerArm<usize>> {
        let of = |arm| trials.iter().rposition(|t| t.arm == arm && t.block == self.block);
        let (a, b) = (of(Arm::A)?, of(Arm::B)?);
        (trials[a].cell == trials[b].cell).then_some(PerArm { a, b })
    }
}

/// What chance decided for an attempt at a block, so that it can be seen that chance did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// Seed of its ports and payload.
    pub seed: u64,
    /// Which arm went first.
    pub order: TurnOrder,
    /// Bytes of each of its writes, where the plan leaves them open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u32>,
    /// Bytes that the ends of this program ask for in each read of a transfer, which no plan fixes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u32>,
    /// Number of the lab that it was measured in, counted from 1 over the whole run; none where the
    /// program that measures did not make the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<u32>,
}

/// Which attempt at which block a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    pub block: u32,
    pub cell: &'a str,
    pub kind: BlockKind,
    pub round: u32,
    pub order: TurnOrder,
    pub attempt: u32,
}

impl TrialRecord {
    pub(crate) fn mark(&self) -> Mark<'_> {
        let Self { block, kind, round, order, attempt, .. } = *self;
        Mark { block, cell: &self.cell, kind, round, order, attempt }
    }
}

impl FailedAttempt {
    pub(crate) fn mark(&self) -> Mark<'_> {
        let Self { block, kind, round, attempt, drawn: Drawn { order, .. }, .. } = *self;
        Mark { block, cell: &self.cell, kind, round, order, attempt }
    }
}

/// An attempt at a block that gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAttempt {
    /// Number of the block.
    pub block: u32,
    /// Identifier of the cell.
    pub cell: String,
    /// What the block is for.
    pub kind: BlockKind,
    /// Number of the round.
    pub round: u32,
    /// How many times the block had been tried before.
    pub attempt: u32,
    /// The family of the trial that failed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Stable word for what failed, as in `server`.
    pub error: String,
    /// What failed, in words.
    pub why: String,
    /// What was drawn for it.
    pub drawn: Drawn,
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

/// How many blocks each cell has in a round, and what that was chosen from: once in a run, after
/// the null blocks and before the first comparison.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Allotted {
    /// By cell id; a cell that is not among them has one block.
    pub cells: BTreeMap<String, Allotment>,
}

/// The blocks of one cell in a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Allotment {
    /// How many there are.
    pub blocks: u32,
    /// What a block of it takes, in ns, by the null blocks.
    pub block_ns: u64,
    /// The standard deviation of a null block's effect, in margins of its metric, and of the metric
    /// for which that is most; none where too few null blocks were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
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
    /// An attempt at a block gave nothing.
    Failed(FailedAttempt),
    /// How many blocks each cell has in a round.
    Allotted(Allotted),
    /// A cell is not measured any more.
    GaveUp(GaveUp),
    /// The end of a session; measuring may go on later.
    End(Ending),
}
