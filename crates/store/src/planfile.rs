//! Plan files: TOML text to a draft, with every problem placed at its line.

use crate::{StoreError, source};
use serde::de::DeserializeOwned;
use std::path::Path;
use toml::de::{DeTable, DeValue};
use v6gap_core::plan::Plan;
use v6gap_core::plan::check::{self, Problem, nearest};
use v6gap_core::plan::draft::{Draft, VERSION};

/// Keys of the plan language, to suggest the nearest one for an unknown key.
const KEYS: &[&str] = &[
    "v6gap",
    "name",
    "description",
    "reference",
    "small",
    "levels",
    "share",
    "hosts",
    "lab",
    "design",
    "measure",
    "server",
    "bind",
    "v4",
    "v6",
    "world",
    "from",
    "to",
    "topology",
    "model",
    "rate",
    "mtu",
    "delay",
    "loss",
    "pairs",
    "max_time",
    "precision",
    "arms",
    "null_blocks",
    "margin",
    "order",
    "summary",
    "seed",
    "metric",
    "protocol",
    "message",
    "payload",
    "parity",
    "bitrate",
    "direction",
    "time",
    "warmup",
    "write",
    "streams",
    "bytes",
    "window",
    "require_window",
    "mss",
    "no_delay",
    "dscp",
    "tos",
    "hop_limit",
    "flow_label",
    "dont_fragment",
    "pacing",
    "zero_copy",
    "truncate",
    "also",
    "congestion",
    "connections",
    "turn",
    "turns",
    "wait",
    "response",
    "outstanding",
    "method",
    "timing",
    "count",
    "interval",
    "load",
    "family",
    "lead",
    "timeout",
    "clock_error",
    "kernel_times",
    "concurrent",
    "hold",
    "packets",
    "batch",
    "offload",
    "law",
    "on",
    "off",
    "frame",
    "every",
    "sizes",
    "least",
    "step",
    "target_loss",
    "force",
    "different_links",
    "factor",
    "site",
    "url",
    "http",
    "plain",
    "download",
    "addresses",
    "resolvers",
];

/// A problem and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// Bytes of the text it concerns; empty if it is about something that is missing.
    pub span: std::ops::Range<usize>,
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What may be meant.
    pub help: Option<String>,
}

/// Why a plan file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is wrong in one or more places.
    #[error("{path}: {}", counted(problems.len()))]
    Wrong {
        /// The file as it was named.
        path: String,
        /// Text of the file.
        text: String,
        /// What is wrong.
        problems: Vec<PlanProblem>,
    },
}

fn counted(problems: usize) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        n => format!("{n} problems"),
    }
}

/// Reads and checks the plan in the file `path`; its text comes first. `seed` is used where the
/// plan names none, and `prepare` changes what was written before it is checked: it reads the world
/// that the lab names, and makes the plan smaller.
///
/// # Errors
/// If the file cannot be read, is not TOML, or does not describe a plan; all problems at once.
pub fn read_plan(
    path: &Path,
    seed: u64,
    prepare: &mut dyn FnMut(&mut Draft) -> Result<(), Problem>,
) -> Result<(String, Draft, Plan), PlanFileError> {
    let text = source::text(path)?;
    match parse_plan(&text, seed, prepare) {
        Ok((draft, plan)) => Ok((text, draft, plan)),
        Err(problems) => {
            Err(PlanFileError::Wrong { path: path.display().to_string(), text, problems })
        }
    }
}

/// Reads the text of a plan.
///
/// # Errors
/// If it is not TOML, or does not describe a plan; all problems at once.
pub fn parse_plan(
    text: &str,
    seed: u64,
    prepare: &mut dyn FnMut(&mut Draft) -> Result<(), Problem>,
) -> Result<(Draft, Plan), Vec<PlanProblem>> {
    let mut draft: Draft = written(text, KEYS)?;
    if let Err(problem) = prepare(&mut draft) {
        return Err(vec![place(text, problem)]);
    }
    match check::check(&draft, seed) {
        Ok(plan) => Ok((draft, plan)),
        Err(problems) => Err(problems.into_iter().map(|p| place(text, p)).collect()),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|&&b| b == b'\n').count() + 1
}

/// What is written, before it is checked; `keys` may stand in it.
pub(crate) fn written<T: DeserializeOwned>(
    text: &str,
    keys: &[&str],
) -> Result<T, Vec<PlanProblem>> {
    let wrong = |error| of_other_version(text).unwrap_or_else(|| syntax(text, &error, keys));
    toml::from_str(text).map_err(|error| vec![wrong(error)])
}

/// That a file is of a later version, of which this program need not know the keys.
fn of_other_version(text: &str) -> Option<PlanProblem> {
    let table: toml::Table = text.parse().ok()?;
    let version = table.get("v6gap")?.as_integer().filter(|of| *of != i64::from(VERSION))?;
    let what = format!("version {version} of this language is not known");
    Some(place(text, Problem { key: "v6gap".to_owned(), what, help: None }))
}

/// What the TOML reader says, with a suggestion for an unknown key.
fn syntax(text: &str, error: &toml::de::Error, keys: &[&str]) -> PlanProblem {
    let span = error.span().unwrap_or(0..0);
    let message = error.message().lines().next().unwrap_or_default();
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let (what, help) = match unknown {
        Some(key) => {
            let help = nearest(key, keys).map(|known| format!("did you mean \"{known}\"?"));
            (format!("unknown key \"{key}\""), help)
        }
        None => (message.to_owned(), None),
    };
    PlanProblem { line: line_of(text, span.start), span, what, help }
}

/// Finds the place of a key path such as `measure[1].message`; the nearest parent that exists.
pub(crate) fn place(text: &str, problem: Problem) -> PlanProblem {
    let span = find(text, &problem.key).unwrap_or_else(|| {
        // What is missing is missing in the nearest table that is there.
        let mut parents = std::iter::successors(Some(problem.key.as_str()), |key| {
            key.rsplit_once('.').map(|(parent, _)| parent)
        });
        let start = parents.find_map(|key| find(text, key)).map_or(0, |span| span.start);
        start..start
    });
    let what = format!("{}: {}", problem.key, problem.what);
    PlanProblem { line: line_of(text, span.start), span, what, help: problem.help }
}

fn find(text: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    let mut span = None;
    for part in key.split('.') {
        let (name, index) = match part.split_once('[') {
            Some((name, rest)) => (name, rest.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let (_, value) = table.iter().find(|(k, _)| k.get_ref() == name)?;
        span = Some(value.span());
        let value = match (value.get_ref(), index) {
            (DeValue::Array(items), Some(i)) => {
                let item = items.get(i)?;
                span = Some(item.span());
                item.get_ref()
            }
            (value, _) => value,
        };
        match value {
            DeValue::Table(inner) => table = inner,
            _ => return span,
        }
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_described() {
        let page = include_str!("../../../docs/plans.md");
        let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named =
            |key: &str| code.iter().any(|part| part.split(|c| !is_word(c)).any(|w| w == key));
        let missing: Vec<&&str> = KEYS.iter().filter(|key| !named(key)).collect();
        assert!(missing.is_empty(), "docs/plans.md lacks {missing:?}");
    }
}
