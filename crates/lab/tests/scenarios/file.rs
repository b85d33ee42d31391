//! A scenario as a file: a world, a plan and what must be found, shared by the simulated and the
//! real network.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use v6gap_core::family::Family;

/// Where the scenarios are.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");

/// A scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name: that of the file.
    #[serde(skip)]
    pub name: String,
    /// What happens, in a sentence.
    pub what: String,
    /// Which levels of tests it is for (CONTRIBUTING.md); both if empty.
    #[serde(default)]
    pub levels: Vec<u8>,
    /// What goes wrong with the hosts.
    #[serde(default)]
    pub trouble: Option<Trouble>,
    /// The error with which the program stops before it measures; a simulated run has none.
    #[serde(default)]
    pub error: Option<String>,
    /// The world, as in a world file.
    pub world: toml::Table,
    /// The plan, as in a plan file.
    pub plan: toml::Table,
    /// What must be found.
    pub expect: Vec<Expected>,
}

/// What goes wrong with the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// Other work takes the processors for most of the time.
    Overload,
    /// The server's clock is set in every third trial.
    ClockSteps,
    /// Trials of this family are refused, in so many of a hundred.
    Refuses {
        /// The family.
        family: Family,
        /// Of a hundred trials.
        percent: u8,
    },
}

/// What must be found for one question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Cell of the plan.
    pub cell: String,
    /// Metric.
    pub metric: String,
    /// Verdicts that are right.
    pub verdict: Vec<String>,
    /// The true effect of IPv6 against IPv4: a share, of loss points.
    #[serde(default)]
    pub truth: Option<f64>,
    /// How far beyond the range the truth may lie, since the hosts add what no world says.
    #[serde(default)]
    pub allow: f64,
    /// The least and the most that the value of each family may be, in SI units, on real links.
    #[serde(default)]
    pub each: Option<[f64; 2]>,
    /// Words that must stand in the sentence, the caveats, the checks or the reason for no answer.
    #[serde(default)]
    pub says: Vec<String>,
}

impl Scenario {
    fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let scenario: Scenario = toml::from_str(&text).map_err(|e| e.to_string())?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Scenario { name, ..scenario })
    }

    /// Those for a level of tests, by name.
    pub fn of_level(level: u8) -> Vec<Scenario> {
        let folder = std::fs::read_dir(FOLDER).unwrap_or_else(|e| panic!("{FOLDER}: {e}"));
        let mut paths: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        let read = |path: &PathBuf| {
            Scenario::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let mut scenarios: Vec<Scenario> = paths.iter().map(read).collect();
        scenarios.retain(|s| s.levels.is_empty() || s.levels.contains(&level));
        assert!(!scenarios.is_empty(), "no scenario in {FOLDER}");
        scenarios
    }
}
