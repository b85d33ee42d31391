//! The record format: what a run folder holds, one self-contained line for each trial.
//!
//! Every version that was ever written stays readable: [`decode`] takes a line of any version and
//! returns the current types. docs/record.md describes the format; a test keeps its hash.

mod anonymise;
mod id;
mod line;
mod v1;

pub use crate::host::Host;
pub use anonymise::anonymise;
pub use id::{NotAnId, RunId};
pub(crate) use line::Mark;
pub use line::{
    Allotment, Allotted, BlockRecord, Drawn, Ending, FailedAttempt, GateFinding, GaveUp, Line,
    RunHeader, Session, TrialRecord,
};

use crate::plan::check::{CELLS_MAX, NULL_BLOCKS_MAX};
use crate::plan::defaults::BLOCKS_MAX;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a line of a journal could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The line is not JSON of the expected form.
    #[error("not a record: {0}")]
    Malformed(String),
    /// The line was written by a later version of the program.
    #[error("record format {found} is newer than this program, which reads up to {known}")]
    TooNew {
        /// Version found.
        found: u32,
        /// Newest version known here.
        known: u32,
    },
}

/// The version that is written.
pub const VERSION: u32 = 2;

#[derive(Serialize)]
struct Versioned<T> {
    v: u32,
    #[serde(flatten)]
    line: T,
}

/// One line as text, without the newline.
pub fn encode(line: &Line) -> String {
    // Plain data with string keys: the only error serde_json knows here is a non-string map key.
    serde_json::to_string(&Versioned { v: VERSION, line }).unwrap_or_default()
}

/// A line of any known version.
///
/// # Errors
/// If it is none, or of a later version.
pub fn decode(text: &str) -> Result<Line, RecordError> {
    let head = Head::of(text)?;
    match head.v {
        VERSION => of_kind(&head.line, text),
        1 => {
            let mut line = parse(text)?;
            v1::bring_up(&mut line);
            // Through text once more, as a value may stay where it is in text alone.
            of_kind(&head.line, &Value::Object(line).to_string())
        }
        0 => Err(RecordError::Malformed("version 0, which never was".into())),
        found => Err(RecordError::TooNew { found, known: VERSION }),
    }
}

/// The beginning of a line, whatever version it has.
#[derive(Deserialize)]
struct Head<'a> {
    v: u32,
    #[serde(default, borrow)]
    line: Cow<'a, str>,
}

impl<'a> Head<'a> {
    /// Looks at the beginning alone if the line was written by this program: a journal may be long.
    fn of(text: &'a str) -> Result<Self, RecordError> {
        let written = || {
            let (v, rest) = text.strip_prefix(r#"{"v":"#)?.split_once(r#","line":""#)?;
            let (line, _) = rest.split_once('"').filter(|(line, _)| !line.contains('\\'))?;
            Some(Head { v: v.parse().ok()?, line: line.into() })
        };
        written().map_or_else(|| parse(text), Ok)
    }
}

/// Reads the whole line as what it is: the derived form of a tagged enum would build a tree of it
/// in between, which takes several times as long.
fn of_kind(kind: &str, text: &str) -> Result<Line, RecordError> {
    Ok(match kind {
        "run" => Line::Run(possible(parse(text)?)?),
        "trial" => Line::Trial(parse(text)?),
        "block" => Line::Block(parse(text)?),
        "failed" => Line::Failed(parse(text)?),
        "allotted" => Line::Allotted(few(parse(text)?)?),
        "gave-up" => Line::GaveUp(parse(text)?),
        "end" => Line::End(parse(text)?),
        other => return Err(RecordError::Malformed(format!("no such line: {other:?}"))),
    })
}

/// The facts of a run that there can have been: the analysis looks at each cell for each other one,
/// and whoever follows a journal makes as many blocks as it says.
fn possible(header: Box<RunHeader>) -> Result<Box<RunHeader>, RecordError> {
    let (cells, design) = (header.plan.cells.len(), &header.plan.design);
    let (nulls, most) = (design.null_blocks, design.blocks_max);
    let why = if cells > CELLS_MAX {
        format!("{cells} cells; a plan has up to {CELLS_MAX}")
    } else if nulls > NULL_BLOCKS_MAX {
        format!("{nulls} null blocks of a cell; a plan has up to {NULL_BLOCKS_MAX}")
    } else if most > BLOCKS_MAX {
        format!("{most} blocks of a cell in a round; a plan has up to {BLOCKS_MAX}")
    } else if design.null_cells.len() > cells || design.null_cells.iter().any(|at| *at >= cells) {
        "null blocks of a cell that the plan does not have".into()
    } else {
        return Ok(header);
    };
    Err(RecordError::Malformed(why))
}

/// No more blocks of a cell in a round than there can be.
fn few(allotted: Allotted) -> Result<Allotted, RecordError> {
    let Some(of) = allotted.cells.values().find(|of| of.blocks > BLOCKS_MAX) else {
        return Ok(allotted);
    };
    let why = format!("{} blocks of a cell in a round; there are up to {BLOCKS_MAX}", of.blocks);
    Err(RecordError::Malformed(why))
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|e| RecordError::Malformed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Arm, BlockKind, PerArm, TurnOrder};
    use crate::family::Family;
    use crate::metric::Metric;
    use crate::observation::{EndReport, Far, Lateness, Measured, PerEnd, Times};
    use crate::plan::{Design, preset};
    use alloc::vec;
    use proptest::prelude::*;

    fn trial(value: f64, count: u64, family: Family) -> TrialRecord {
        let times = Times {
            count,
            trimmed_mean_ns: value,
            histogram: [(count, 1), (u64::MAX, count)].into_iter().collect(),
            turns_ns: vec![value; 3],
            ..Times::default()
        };
        let mut client = EndReport { measured: Measured::Times(times), ..EndReport::default() };
        client.counters.insert("Ip6.InReceives", -1);
        TrialRecord {
            block: 3,
            cell: "rtt-udp-64".into(),
            kind: BlockKind::Null(family),
            round: 1,
            arm: Arm::B,
            family,
            order: TurnOrder::Ba,
            attempt: 2,
            started_unix_ns: u64::MAX,
            started_ns: 0,
            duration_ns: 1,
            values: [(Metric::Rtt, value)].into(),
            ends: PerEnd { client, server: Far::Seen(EndReport::default()) },
            findings: vec![GateFinding { gate: "x".into(), fatal: true, seen: "\"\n".into() }],
            link: Some(Lateness::default()),
            beside: None,
        }
    }

    const DRAWN: Drawn = Drawn {
        seed: u64::MAX,
        order: TurnOrder::Ba,
        write_bytes: Some(50_001),
        read_bytes: Some(200_003),
        lab: Some(2),
    };

    fn failed_attempt() -> FailedAttempt {
        FailedAttempt {
            block: 7,
            cell: "loss".into(),
            kind: BlockKind::Compare,
            round: 2,
            attempt: 1,
            family: Some(Family::V6),
            error: "io".into(),
            why: "no \"route\"".into(),
            drawn: DRAWN,
        }
    }

    proptest! {
        /// What is written is read again to the last bit.
        #[test]
        fn encode_then_decode_is_identity(value in any::<f64>(), count: u64, v6: bool) {
            prop_assume!(value.is_finite());
            let family = if v6 { Family::V6 } else { Family::V4 };
            let line = Line::Trial(Box::new(trial(value, count, family)));
            let text = encode(&line);
            prop_assert!(!text.contains('\n'));
            prop_assert_eq!(decode(&text), Ok(line));
        }

        /// Any text is a line or an error.
        #[test]
        fn any_text_is_a_line_or_an_error(text in ".*") {
            let _ = decode(&text);
        }
    }

    #[test]
    fn later_versions_are_named() {
        let error = decode(r#"{"v":7,"line":"block","block":0,"valid":true}"#).unwrap_err();
        assert_eq!(error, RecordError::TooNew { found: 7, known: VERSION });
    }

    #[test]
    fn every_kind_of_line_is_read_again() {
        let gave_up = GaveUp { cell: "loss".into(), why: "no".into() };
        let failed = Ending::Failed { error: "\u{e9}\n".into() };
        let mut allotted = Allotted::default();
        for (cell, noise) in [("connect", Some(1.7)), ("loss", None)] {
            let allotment = Allotment { blocks: 7, block_ns: u64::MAX, noise };
            allotted.cells.insert(cell.into(), allotment);
        }
        let lines = [
            Line::Allotted(allotted),
            Line::Block(BlockRecord { block: 1, valid: false, drawn: Some(DRAWN) }),
            Line::Failed(failed_attempt()),
            Line::GaveUp(gave_up),
            Line::End(failed),
            Line::End(Ending::Complete),
        ];
        for line in lines {
            assert_eq!(decode(&encode(&line)), Ok(line));
        }
        for none in [r#"{"v":1,"line":"other"}"#, r#"{"v":1}"#, r#"{"v":0,"line":"end"}"#] {
            assert!(decode(none).is_err(), "{none}");
        }
    }

    #[test]
    fn more_blocks_than_there_can_be_are_refused() {
        let refused = |line: Line, why: &str| match decode(&encode(&line)) {
            Err(RecordError::Malformed(told)) => assert!(told.starts_with(why), "{told}"),
            other => panic!("{why}: {other:?}"),
        };
        let allotted = |blocks| {
            let allotment = Allotment { blocks, block_ns: 1, noise: None };
            Line::Allotted(Allotted { cells: [("loss".into(), allotment)].into() })
        };
        assert!(decode(&encode(&allotted(BLOCKS_MAX))).is_ok());
        refused(allotted(BLOCKS_MAX + 1), "25 blocks of a cell in a round");
        refused(allotted(u32::MAX), "4294967295 blocks of a cell in a round");
        let header = |change: &dyn Fn(&mut Design)| {
            let plan = preset::first_look(PerArm::FAMILIES, None, 1);
            let mut header = RunHeader::new("x1".parse().unwrap(), plan);
            change(&mut header.plan.parts_mut().design);
            Line::Run(Box::new(header))
        };
        assert!(decode(&encode(&header(&|of| of.null_blocks = NULL_BLOCKS_MAX))).is_ok());
        refused(header(&|of| of.null_blocks = NULL_BLOCKS_MAX + 1), "101 null blocks");
        refused(header(&|of| of.blocks_max = BLOCKS_MAX + 1), "25 blocks of a cell in a round");
        refused(header(&|of| of.null_cells = vec![0; CELLS_MAX]), "null blocks of a cell that");
        refused(header(&|of| of.null_cells = vec![CELLS_MAX]), "null blocks of a cell that");
    }

    /// Whoever writes a line in another way than this program may.
    #[test]
    fn fields_stand_in_any_order_and_with_white_space() {
        let written =
            encode(&Line::Block(BlockRecord { block: 1, valid: true, drawn: Some(DRAWN) }));
        let value: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(decode(&serde_json::to_string_pretty(&value).unwrap()), decode(&written));
    }

    /// A far end that does not run this program leaves a reason, and no figures.
    #[test]
    fn a_far_end_may_not_be_seen() {
        let mut trial = trial(1.0, 2, Family::V6);
        trial.ends.server = Far::NotSeen("it is a web server".into());
        let text = encode(&Line::Trial(Box::new(trial.clone())));
        assert!(text.contains(r#""server":{"not-seen":"it is a web server"}"#), "{text}");
        assert_eq!(decode(&text), Ok(Line::Trial(Box::new(trial))));
    }

    /// Fields of a later minor change are passed over.
    #[test]
    fn unknown_fields_are_tolerated() {
        let text = r#"{"v":2,"line":"block","block":4,"valid":true,"colour":"blue"}"#;
        let block = BlockRecord { block: 4, valid: true, drawn: None };
        assert_eq!(decode(text), Ok(Line::Block(block)));
    }
}
