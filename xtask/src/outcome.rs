//! How a step of the tests ended.

use std::fmt;

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything ran and passed.
    Passed,
    /// Everything ran; what is named could not be judged, because the machine disturbed it.
    Withheld(String),
    /// Something could not run here.
    Skipped(String),
    /// Something failed.
    Failed(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Outcome::Failed, |()| Outcome::Passed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Passed => f.write_str("passed"),
            Outcome::Withheld(what) => write!(f, "passed, WITHHELD: {what}"),
            Outcome::Skipped(why) => write!(f, "SKIPPED: {why}"),
            Outcome::Failed(_) => f.write_str("FAILED"),
        }
    }
}
