//! The levels of a factor: one value, a list or a range, each as text.

use super::draft::{self, Levels};
use crate::problem::Problems;
use crate::unit;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most cells of one plan, and most levels of one factor.
pub const CELLS_MAX: usize = 256;

/// The levels that `levels` stands for, each as text, for one key.
pub(super) fn expand(key: &str, levels: &Levels, problems: &mut Problems) -> Vec<String> {
    match levels {
        Levels::One(text) => alloc::vec![text.clone()],
        Levels::Many(texts) => {
            if texts.is_empty() {
                problems.add(key, "an empty list has no level");
            }
            texts.clone()
        }
        Levels::Range(range) => expand_range(key, range, problems),
    }
}

/// [`expand`] without a place for problems: `None` if there are any.
pub(super) fn expand_levels(levels: &Levels) -> Option<Vec<String>> {
    let mut problems = Problems::default();
    let found = expand("", levels, &mut problems);
    problems.is_empty().then_some(found)
}

fn expand_range(key: &str, range: &draft::Range, problems: &mut Problems) -> Vec<String> {
    let from = problems.read(key, &range.from, unit::parse_bytes);
    let to = problems.read(key, &range.to, unit::parse_bytes);
    let step = problems.read_optional(key, range.step.as_ref(), unit::parse_bytes);
    let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
    let next = |level: u64| match (range.factor, step) {
        (Some(factor @ 2..), None) => level.checked_mul(u64::from(factor)),
        (None, Some(step @ 1..)) => level.checked_add(step),
        _ => None,
    };
    if from == 0 || from > to || next(from).is_none() {
        problems.add(key, "a range needs from ≤ to and either a factor ≥ 2 or a step > 0");
        return Vec::new();
    }
    let mut levels = Vec::new();
    let mut level = Some(from);
    while let Some(bytes) = level.filter(|&bytes| bytes <= to) {
        if levels.len() == CELLS_MAX {
            problems.add(key, format!("the range has more than {CELLS_MAX} levels"));
            return levels;
        }
        levels.push(bytes.to_string());
        level = next(bytes);
    }
    levels
}
