//! Running the program and reading what it says.

use super::tier::is_night;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_v6gap");

/// A folder for the claims of one program, which stands for a host of its own: programs of a test
/// measure beside each other, and so do tests.
pub fn host_of_its_own(home: &Path) -> PathBuf {
    static HOSTS: AtomicU32 = AtomicU32::new(0);
    home.join("hosts-of-their-own").join(HOSTS.fetch_add(1, Ordering::Relaxed).to_string())
}

/// A data folder of its own, removed at the end.
pub struct Home(PathBuf);

impl Home {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("v6gap-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Home(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The program with this data folder, ready to be given arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env("V6GAP_DATA", &self.0).env_remove("XDG_DATA_HOME").stdin(Stdio::null());
        command.env("V6GAP_LOCKS", host_of_its_own(&self.0));
        command
    }

    /// Runs the program to its end.
    pub fn v6gap(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// Runs a plan given as text and returns the result document.
    pub fn plan_run(&self, plan: &str) -> Value {
        let file = self.0.join("plan.toml");
        std::fs::write(&file, plan).unwrap();
        let output = self.v6gap(&["plan", "run", file.to_str().unwrap(), "--json", "-q"]);
        measured(&output);
        document(&output)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A folder that cannot be removed is no reason to hide a failure.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Fails unless a document fits a schema of docs/schema.
#[track_caller]
pub fn fits(schema: &str, document: &Value) {
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{}: {document:#}", errors.join("\n"));
}

/// How a program ended and all that it said, for whoever reads why a test failed: with `--json` and
/// `-q` a run without a verdict says so in its document alone, of which these are the headline and
/// the checks.
pub fn told(output: &Output) -> String {
    let said = match serde_json::from_slice::<Value>(&output.stdout) {
        Ok(result) if result["headline"].is_string() => {
            format!("{}\n{:#}", result["headline"], result["checks"])
        }
        _ => text(&output.stdout),
    };
    format!("{}\n{}{said}", output.status, text(&output.stderr))
}

/// Fails, with all that was said, unless a program ended with this exit code.
#[track_caller]
pub fn ended(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", told(output));
}

/// The result document of a run; fails, with all that was said, where there is none.
#[track_caller]
pub fn document(output: &Output) -> Value {
    match serde_json::from_slice(&output.stdout) {
        Ok(result) => result,
        Err(why) => panic!("{why}: {}", told(output)),
    }
}

/// Fails, with what it said, if a program has ended that was to go on until something has come.
#[track_caller]
pub fn goes_on(child: &mut Child, until: &str) {
    let Some(status) = child.try_wait().unwrap() else { return };
    let mut said = Vec::new();
    if let Some(stderr) = &mut child.stderr {
        stderr.read_to_end(&mut said).unwrap();
    }
    panic!("it ended before {until}: {status}\n{}", text(&said));
}

/// Fails unless a run measured to its end. By day other work may have taken its verdict, if that is
/// the reason it gives: what it measured is judged all the same.
#[track_caller]
pub fn measured(output: &Output) {
    assert!(output.status.success() || is_spoiled(output), "{}", told(output));
}

/// Whether a run ended without a verdict because the machine disturbed it, which it may by day, and
/// says so in its document or its text. What it did is judged all the same.
pub fn is_spoiled(output: &Output) -> bool {
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let headline = result["headline"].as_str().map(str::to_owned);
    let headline = headline.unwrap_or_else(|| words(&output.stdout));
    let why = headline.split_once("No verdict: ").map_or("", |(_, why)| why);
    output.status.code() == Some(6) && is_disturbance(why) && !is_night()
}

/// What takes a verdict back because the machine disturbed the run or its link: from the run, from
/// a question of which blocks were discarded, or from one with too few pairs or none. A test of one
/// in a hundred also finds two groups of pairs where there is nothing but chance.
const DISTURBANCES: [&str; 6] = [
    "blocks discarded",
    "blocks were discarded",
    "valid pair",
    "missed the model",
    "compared with itself differed",
    "the pairs fall into two groups",
];

/// Whether a verdict is taken back because the machine disturbed the run or its link.
pub fn is_disturbance(why: &str) -> bool {
    DISTURBANCES.iter().any(|disturbance| why.contains(disturbance))
}

/// The answer to one question of a result.
pub fn question<'a>(result: &'a Value, cell: &str, metric: &str) -> &'a Value {
    let questions = result["questions"].as_array().unwrap();
    let found = questions.iter().find(|q| q["cell"] == cell && q["metric"] == metric);
    found.unwrap_or_else(|| panic!("{cell} {metric} is not in {result:#}"))
}

/// What a result says of programs that choose by a policy.
pub fn race<'a>(result: &'a Value, policy: &str) -> &'a Value {
    let races = result["races"].as_array().unwrap_or_else(|| panic!("{result:#}"));
    let found = races.iter().find(|race| race["policy"] == policy);
    found.unwrap_or_else(|| panic!("{policy} is not in {races:#?}"))
}

/// Whether a check or a note of a result has these words.
pub fn noted(result: &Value, words: &str) -> bool {
    let checks = result["checks"].as_array().unwrap();
    checks.iter().any(|check| check["text"].as_str().unwrap_or_default().contains(words))
}

/// What was said, in one line.
pub fn words(said: &[u8]) -> String {
    text(said).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number in a document.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// How often statistical scenarios repeat: (quick, full).
pub fn times(quick: usize, full: usize) -> usize {
    if is_night() { full } else { quick }
}

/// Prints a measured figure in the form that docs/validation quotes.
pub fn figure(what: &str, value: impl std::fmt::Display) {
    println!("    {what}: {value}");
}
