//! The file in which the owner of a host says what a fleet may do with it.

use crate::planfile::{PlanFileError, PlanProblem, place, written};
use crate::source;
use std::path::Path;
use v6gap_core::fleet::agent::limits::{Limits, LimitsDraft, check};

/// Keys that may stand in one.
const KEYS: &[&str] = &["v6gap", "peers", "rate", "bytes_a_day", "time", "quiet", "kinds", "keep"];

/// Reads and checks the limits in the file `path`.
///
/// # Errors
/// If the file cannot be read, is not TOML, or holds something else; all problems at once.
pub fn read_limits(path: &Path) -> Result<Limits, PlanFileError> {
    let text = source::text(path)?;
    parse_limits(&text).map_err(|problems| PlanFileError::Wrong {
        path: path.display().to_string(),
        text,
        problems,
    })
}

fn parse_limits(text: &str) -> Result<Limits, Vec<PlanProblem>> {
    let draft: LimitsDraft = written(text, KEYS)?;
    check(&draft).map_err(|problems| problems.into_iter().map(|p| place(text, p)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_what_is_wrong_is_found_in_its_line() {
        let text = "v6gap = 1\npeers = [\"rome/*\"]\nbytes_a_day = \"5 GB\"\n";
        assert_ne!(parse_limits(text).unwrap(), Limits::default());
        assert_eq!(parse_limits("v6gap = 1\n").unwrap(), Limits::default());
        let problems = parse_limits("v6gap = 1\npeer = [\"rome/*\"]\n").unwrap_err();
        assert_eq!(problems[0].line, 2);
        assert_eq!(problems[0].help.as_deref(), Some("did you mean \"peers\"?"));
        assert_eq!(parse_limits("v6gap = 1\nrate = \"x\"\n").unwrap_err()[0].line, 2);
        let later = parse_limits("v6gap = 2\nof_later = 1\n").unwrap_err();
        assert!(later[0].what.contains("version 2") && later[0].line == 1, "{later:?}");
    }
}
