//! What the suite is asked for on the command line.

use crate::bystander::Kind;
use crate::{between, demos, idle, known, speed, trouble};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// When a program is idle of which nothing else is known.
const IDLE_AFTER: Duration = Duration::from_secs(5);

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
    /// The program of row m in place of a watch, with its words, and when it is idle.
    program: Vec<String>,
    idle_after: Option<Duration>,
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
                "--for" => asked.time = Some(span(value()?)?),
                "--idle" => {
                    asked.program = value()?.split_whitespace().map(str::to_owned).collect();
                }
                "--idle-after" => asked.idle_after = Some(span(value()?)?),
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

    /// What is idle in row m.
    pub fn idle(&self) -> Kind {
        let (words, after) = (self.program.clone(), self.idle_after.unwrap_or(IDLE_AFTER));
        if words.is_empty() { Kind::Watch } else { Kind::Program { words, after } }
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
            || self.wants("m")
    }

    /// Starts this program again for what needs labs, and waits. It ends with this one.
    ///
    /// # Errors
    /// If that fails.
    pub fn again_inside(&self) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(program);
        command.arg("suite").args(&self.arguments).arg("--inside");
        let mut inside = command.stdin(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        // Waiting would close it, and the system does when this process ends.
        let input = inside.stdin.take();
        let status = inside.wait().map_err(|e| e.to_string())?;
        drop(input);
        if status.success() { Ok(()) } else { Err(format!("the runs in labs ended with {status}")) }
    }
}

/// Ends this process when the one that started it has ended, however that did: what this one
/// measures with ends with it. Of several threads none can enter a user namespace any more.
pub(crate) fn end_with_the_other() {
    std::thread::spawn(|| {
        // Nothing is ever written there, so that this is its end.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
}

fn span(text: &str) -> Result<Duration, String> {
    v6gap_core::unit::parse_span(text).map(Duration::from_nanos).map_err(|e| e.to_string())
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
    text.push_str(&format!("m  {:22} {}\n", Kind::Watch.name(), idle::RUNS));
    text
}
