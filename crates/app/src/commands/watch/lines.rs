//! What a watch says as it goes: a line for each visit, with the time in UTC.

use v6gap_core::unit::{format_bytes, format_span};
use v6gap_core::watch::log::{Answer, Cause, Ended, Logged, Outcome, Watching};
use v6gap_judge::analysis::words;
use v6gap_perform::always::Tidings;
use v6gap_report::{changes, date};

/// What was said so far.
#[derive(Debug, Default)]
pub struct Lines {
    /// Whether it was said what is watched.
    is_begun: bool,
    /// Whether it was said when the first visit will be.
    is_told: bool,
}

impl Lines {
    /// The line for what happened, if there is one.
    pub fn of(&mut self, tidings: &Tidings<'_>) -> Option<String> {
        match tidings {
            Tidings::Rests(until_unix_ns) => {
                let first = !std::mem::replace(&mut self.is_told, true);
                first.then(|| format!("{}  the next visit (UTC)", date(*until_unix_ns)))
            }
            Tidings::Shown(event) => {
                let (when, path) = (date(event.at_unix_ns), &event.path);
                Some(format!("{when}  {path}  {}", changes::event(event)))
            }
            Tidings::Logged(Logged::Watching(watching)) => {
                let first = !std::mem::replace(&mut self.is_begun, true);
                first.then(|| opening(watching))
            }
            Tidings::Logged(Logged::Began(_) | Logged::Measures(_)) => None,
            Tidings::Logged(Logged::Ended(ended)) => {
                self.is_told = true;
                Some(of_end(ended))
            }
            Tidings::Logged(Logged::Missed(missed)) => {
                let (when, path) = (date(missed.at_unix_ns), &missed.path);
                let visits = counted(missed.visits, "visit");
                let verb = if missed.visits == 1 { "was" } else { "were" };
                let why = because(missed.why);
                Some(format!("{when}  {path}  {visits} {verb} due and not made: {why}"))
            }
            Tidings::Logged(Logged::Notified(notified)) => {
                let (when, path) = (date(notified.at_unix_ns), &notified.path);
                let (about, tries) = (notified.about.name(), notified.tries);
                let tries = if tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") };
                let told = |why| format!("{when}  {path}  {about} not told in {tries}: {why}");
                notified.why.as_ref().map(told)
            }
        }
    }
}

/// How many there are of something, as in "1 visit" and "12 visits".
pub fn counted(number: u64, noun: &str) -> String {
    words::counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

/// Why visits were not made.
pub fn because(why: Cause) -> &'static str {
    match why {
        Cause::Behind => "another visit went on, or this host slept",
        Cause::Budget => "the budget of the day does not allow it",
    }
}

fn opening(watching: &Watching) -> String {
    let path = |path: &v6gap_core::watch::log::Listed| {
        let every = |ns: Option<u64>, what: &str| {
            ns.map(|ns| format!("{what}every {}", format_span(ns as f64)))
        };
        let times = [every(path.every_ns, ""), every(path.throughput_every_ns, "throughput ")];
        let times: Vec<String> = times.into_iter().flatten().collect();
        format!("{} ({})", path.name, times.join(", "))
    };
    let paths: Vec<String> = watching.paths.iter().map(path).collect();
    let budget =
        watching.budget_bytes.map(|bytes| format!(" At most {} a day.", format_bytes(bytes)));
    format!("Watching {}.{} Ctrl-C ends it.", paths.join(", "), budget.unwrap_or_default())
}

fn of_end(ended: &Ended) -> String {
    let (when, path) = (date(ended.at_unix_ns), &ended.path);
    let what = match &ended.outcome {
        Outcome::Measured => found(ended),
        Outcome::Stopped => "stopped; what was complete is kept".to_owned(),
        Outcome::Taken => "given up: something else is being measured".to_owned(),
        Outcome::Refused { why } => format!("refused: {why}"),
        Outcome::Down { family: Some(family), why } => format!("{family} is down: {why}"),
        Outcome::Down { family: None, why } => format!("down: {why}"),
        Outcome::Failed { why } => format!("failed: {why}"),
        Outcome::BrokenOff => "was broken off when the watch ended".to_owned(),
    };
    format!("{when}  {path}  {what}")
}

/// What the run of a visit says since.
fn found(ended: &Ended) -> String {
    let differs = |answer: &&Answer| answer.verdict == "worse" || answer.verdict == "better";
    let said = |answer: &Answer| format!("{} {}, {}", answer.label, answer.answer, answer.text);
    let differences: Vec<String> = ended.answers.iter().filter(differs).map(said).collect();
    let what = match (differences.is_empty(), ended.answers.is_empty()) {
        (false, _) => differences.join("; "),
        (true, false) => "no difference that matters so far".to_owned(),
        (true, true) => "nothing that counts yet".to_owned(),
    };
    let run = ended.run.as_ref().map_or(String::new(), |run| format!(" in {run}"));
    format!("measured{run}: {what}")
}
