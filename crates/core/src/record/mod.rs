//! The record format: what a run folder holds, one self-contained line for each trial.
//!
//! Every version that was ever written stays readable: [`decode`] takes a line of any version and
//! returns the current types. docs/record.md describes the format; a test keeps its hash.

mod id;
mod plain;
mod v1;

pub use crate::host::Host;
pub use id::{NotAnId, RunId};
pub use v1::{BlockRecord, Ending, GateFinding, GaveUp, Line, RunHeader, TrialRecord, VERSION};

use alloc::string::String;

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

/// One line as text, without the newline.
pub fn encode(line: &Line) -> String {
    v1::encode(line)
}

/// A line of any known version.
pub fn decode(text: &str) -> Result<Line, RecordError> {
    v1::decode(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Arm, BlockKind, TurnOrder};
    use crate::family::Family;
    use crate::metric::Metric;
    use crate::observation::{EndReport, Lateness, Measured, PerEnd, Times};
    use alloc::boxed::Box;
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
            ends: PerEnd { client, server: EndReport::default() },
            findings: vec![GateFinding { gate: "x".into(), fatal: true, seen: "\"\n".into() }],
            link: Some(Lateness::default()),
            beside: None,
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

    /// A long journal is read the short way.
    #[test]
    fn a_trial_is_in_the_plain_form() {
        let mut trial = trial(0.5, 3, Family::V6);
        trial.findings.clear();
        let text = encode(&Line::Trial(Box::new(trial.clone())));
        assert_eq!(plain::read::<TrialRecord>(&text), Some(trial));
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
        let lines = [
            Line::Block(BlockRecord { block: 1, valid: false }),
            Line::GaveUp(gave_up),
            Line::End(failed),
            Line::End(Ending::Complete),
        ];
        for line in lines {
            assert_eq!(decode(&encode(&line)), Ok(line));
        }
        assert!(decode(r#"{"v":1,"line":"other"}"#).is_err());
        assert!(decode(r#"{"v":1}"#).is_err());
    }

    /// Fields of a later minor change are passed over.
    #[test]
    fn unknown_fields_are_tolerated() {
        let text = r#"{"v":1,"line":"block","block":4,"valid":true,"colour":"blue"}"#;
        assert_eq!(decode(text), Ok(Line::Block(BlockRecord { block: 4, valid: true })));
    }
}
