//! What the suite is asked for on the command line.

use crate::{between, demos, known, speed, trouble};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The options of `suite`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// Rows, or beginnings of the names of cases; all if empty.
    pub rows: Vec<String>,
    /// At most so many runs of each case.
    pub runs: Option<usize>,
    /// Longest time.
    pub time: Option<Duration>,
    /// Where the results are.
    pub folder: PathBuf,
    /// Where the summary goes.
    pub report: Option<PathBuf>,
    /// Whether only the cases are listed.
    pub list: bool,
    /// Whether this is the process that builds labs.
    pub inside: bool,
    arguments: Vec<String>,
}

impl Asked {
    /// # Errors
    /// If an option means nothing.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut asked = Asked {
            folder: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/validate")),
            arguments: arguments.to_vec(),
            ..Asked::default()
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--list" => asked.list = true,
                "--inside" => asked.inside = true,
                "--rows" => asked.rows = value()?.split(',').map(str::to_owned).collect(),
                "--runs" => {
                    asked.runs = Some(value()?.parse().map_err(|_| "--runs needs a number")?);
                }
                "--for" => {
                    let ns = v6gap_core::unit::parse_span(value()?).map_err(|e| e.to_string())?;
                    asked.time = Some(Duration::from_nanos(ns));
                }
                "--folder" => asked.folder = PathBuf::from(value()?),
                "--report" => asked.report = Some(PathBuf::from(value()?)),
                other => return Err(format!("{other} means nothing here")),
            }
        }
        Ok(asked)
    }

    /// How many runs of a case there are to be that usually has `usual`.
    pub fn at_most(&self, usual: usize) -> usize {
        self.runs.map_or(usual, |runs| runs.min(usual))
    }

    /// Whether a row, or a case of it, is asked for.
    pub fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|wanted| wanted == row)
    }

    /// Whether a case is asked for by its row or its name; much of row d and all of row e is read
    /// from row c.
    pub fn wants_case(&self, row: &str, name: &str) -> bool {
        let means = |wanted: &str| match wanted {
            "d" => row == "c" || row == "d",
            "e" => row == "c",
            other => row == other,
        };
        self.rows.is_empty()
            || self.rows.iter().any(|w| means(w) || (w.len() > 1 && name.starts_with(w)))
    }

    /// Whether anything needs a lab.
    pub fn wants_lab(&self) -> bool {
        let cases = known::cases();
        cases.iter().any(|case| self.wants_case(case.row, &case.name))
            || self.wants("f")
            || self.wants("g")
    }

    /// Starts this program again for what needs labs, and waits.
    ///
    /// # Errors
    /// If that fails.
    pub fn again_inside(&self) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(program);
        command.arg("suite").args(&self.arguments).arg("--inside");
        let status = command.status().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the runs in labs ended with {status}")) }
    }
}

/// Rows, cases and how many runs of each there are to be.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for case in known::cases() {
        text.push_str(&format!("{}  {:16} {}\n", case.row, case.name, case.runs));
    }
    for (_, name) in trouble::Trouble::ALL {
        text.push_str(&format!("f  {name:16} {}\n", trouble::RUNS));
    }
    for (name, ..) in speed::CASES {
        text.push_str(&format!("g  {name:22} {}\n", speed::RUNS));
    }
    text.push_str("h  1e8-exchanges, 1e5-blocks\ni  three stored runs\n");
    for name in between::cases() {
        text.push_str(&format!("j  {name:22} {}\n", between::RUNS));
    }
    for (name, _) in demos::CASES {
        text.push_str(&format!("l  {name:22} {}\n", demos::RUNS));
    }
    text
}
