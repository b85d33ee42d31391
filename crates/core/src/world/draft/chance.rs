//! What a link does at random, as a person writes it.

use crate::problem::Problems;
use crate::unit;
use crate::world::{Bursts, Jitter, Reordering, Spread};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Distributions of jitter by the names that people write.
const SHAPES: [(&str, Spread); 2] = [("uniform", Spread::Uniform), ("normal", Spread::Normal)];

/// Jitter: `{ spread = "2 ms", shape = "normal", reorders = true }`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterDraft {
    /// Half-width or standard deviation.
    pub spread: String,
    /// `uniform`, unless told, or `normal`.
    #[serde(default)]
    pub shape: Option<String>,
    /// Whether frames may overtake others; they do not unless told.
    #[serde(default)]
    pub reorders: bool,
}

impl JitterDraft {
    pub(super) fn read(&self, key: &str, problems: &mut Problems) -> Option<Jitter> {
        let shape = self.shape.as_deref().unwrap_or("uniform");
        let known = SHAPES.iter().find(|(name, _)| *name == shape);
        if known.is_none() {
            problems.one_of(format!("{key}.jitter.shape"), shape, &SHAPES.map(|(name, _)| name));
        }
        let spread_key = format!("{key}.jitter.spread");
        let spread_ns = problems.read(&spread_key, &self.spread, unit::parse_span)?;
        known.map(|(_, spread)| Jitter { spread_ns, spread: *spread, reorders: self.reorders })
    }
}

/// Bursts of loss: `{ begin = "0.5 %", end = "20 %", loss = "80 %" }`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstsDraft {
    /// Probability that a frame outside a burst is the last before one.
    pub begin: String,
    /// Probability that a frame inside a burst is its last.
    pub end: String,
    /// Share of frames lost inside bursts; all unless told.
    #[serde(default)]
    pub loss: Option<String>,
}

impl BurstsDraft {
    pub(super) fn read(&self, key: &str, problems: &mut Problems) -> Option<Bursts> {
        let mut share = |name: &str, text: &str| {
            problems.read(&format!("{key}.bursts.{name}"), text, unit::parse_share)
        };
        let (begin, end) = (share("begin", &self.begin), share("end", &self.end));
        let loss = self.loss.as_ref().map_or(Some(1.0), |text| share("loss", text));
        Some(Bursts { begin: begin?, end: end?, loss: loss? })
    }
}

/// Frames held back: `{ share = "1 %", by = "5 ms" }`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderingDraft {
    /// Share of frames held back.
    pub share: String,
    /// For how long.
    pub by: String,
}

impl ReorderingDraft {
    pub(super) fn read(&self, key: &str, problems: &mut Problems) -> Option<Reordering> {
        let sub = |name: &str| format!("{key}.reordering.{name}");
        let share = problems.read(&sub("share"), &self.share, unit::parse_share);
        let by_ns = problems.read(&sub("by"), &self.by, unit::parse_span);
        Some(Reordering { share: share?, by_ns: by_ns? })
    }
}
