//! Errors as a person reads them: what happened, what was seen, what is likely, what to try, and a
//! code that `v6gap explain` knows.

mod connect;
mod of_fleet;
mod of_perform;
mod of_postgres;
mod of_store;
mod of_via;
pub mod texts;

pub use of_via::results;

use crate::output;
use serde_json::json;
use std::borrow::Cow;
use std::process::ExitCode;
use v6gap_core::family::Family;
use v6gap_report::text::Style;

/// Columns that errors fill at most, on however wide a terminal.
const WIDTH: usize = 80;

/// How the program ends, by exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done, whatever the verdict.
    Done = 0,
    /// Something unexpected: a full disk, a defect.
    Unexpected = 1,
    /// What was typed, or a plan file, is wrong.
    Usage = 2,
    /// One family cannot be measured.
    OneFamily = 3,
    /// Trouble with the other end.
    Peer = 4,
    /// Something is not permitted.
    Permission = 5,
    /// Measured, but a check failed: no verdict.
    NotValid = 6,
    /// The far end is asked for no more: it asks to be left alone, or was asked for enough.
    Declined = 7,
    /// A condition of `--require` or `--fail-if` is broken.
    NotMet = 10,
    /// A condition of `--require` could not be decided.
    Undecided = 11,
    /// Interrupted; what was complete is kept.
    Interrupted = 130,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(outcome as u8)
    }
}

/// An error for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Code of the error, if there is more to say about it.
    pub code: Option<&'static str>,
    /// How the program ends.
    pub outcome: Outcome,
    /// Boxed, so that what succeeds carries no room for it.
    said: Box<Said>,
}

/// The parts of an error's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Said {
    what: String,
    seen: Vec<String>,
    verbatim: String,
    likely: Option<String>,
    commands: Vec<(String, String)>,
    family: Option<Family>,
}

impl Failure {
    /// That `what` happened.
    pub fn new(code: &'static str, outcome: Outcome, what: impl Into<String>) -> Self {
        Failure { code: Some(code), ..Failure::uncoded(outcome, what) }
    }

    /// That what was typed cannot be done.
    pub fn usage(what: impl Into<String>) -> Self {
        Failure::uncoded(Outcome::Usage, what)
    }

    /// That something went wrong which has no better words than the system's.
    pub fn unexpected(what: impl Into<String>) -> Self {
        Failure::uncoded(Outcome::Unexpected, what)
    }

    fn uncoded(outcome: Outcome, what: impl Into<String>) -> Self {
        let said = Said { what: what.into(), ..Said::default() };
        Failure { code: None, outcome, said: Box::new(said) }
    }

    /// Adds a paragraph on what was seen.
    pub fn seen(mut self, text: impl Into<String>) -> Self {
        self.said.seen.push(text.into());
        self
    }

    /// Adds lines that stay as they are.
    pub fn verbatim(mut self, lines: impl Into<String>) -> Self {
        self.said.verbatim = lines.into();
        self
    }

    /// Says what the cause likely is, the most likely first.
    pub fn likely(mut self, text: impl Into<String>) -> Self {
        self.said.likely = Some(text.into());
        self
    }

    /// Adds a command to try and what it does, which may be empty.
    pub fn run(mut self, command: impl Into<String>, purpose: impl Into<String>) -> Self {
        self.said.commands.push((command.into(), purpose.into()));
        self
    }

    /// The same with each command to try as `change` makes it.
    pub fn with_commands(mut self, change: impl Fn(String) -> String) -> Self {
        for (command, _) in &mut self.said.commands {
            *command = change(std::mem::take(command));
        }
        self
    }

    /// Says which family it is about, where the other one is well.
    pub fn of(mut self, family: Family) -> Self {
        self.said.family = Some(family);
        self
    }

    /// What failed, in one line.
    pub fn what(&self) -> &str {
        &self.said.what
    }

    /// The whole text, ending with a newline.
    pub fn render(&self, style: &Style) -> String {
        let width = style.width.clamp(Style::WIDTH_MIN, WIDTH);
        let paragraph = |text: &str| format!("  {}\n", output::wrap(text, width - 2, "  "));
        let mut out = output::wrap(&format!("error: {}", self.said.what), width, "  ");
        out.push('\n');
        for text in &self.said.seen {
            out.push_str(&paragraph(text));
        }
        if !self.said.verbatim.is_empty() {
            out.push_str(&self.said.verbatim);
            out.push('\n');
        }
        if let Some(likely) = &self.said.likely {
            out.push_str(&paragraph(&format!("Likely: {likely}")));
        }
        out.push_str(&self.tries());
        if let Some(code) = self.code {
            out.push_str(&format!("  [{code}, exit {}]\n", self.outcome as u8));
        }
        output::fit(style, &out)
    }

    /// The error as JSON: code, title, why, what to try, and how the program ends.
    pub fn json(&self) -> serde_json::Value {
        let said = &self.said;
        let likely = said.likely.iter().map(|text| format!("Likely: {text}"));
        let verbatim = Some(said.verbatim.clone()).filter(|text| !text.is_empty());
        let why: Vec<String> = said.seen.iter().cloned().chain(verbatim).chain(likely).collect();
        let commands = self.commands();
        let tries: Vec<_> =
            commands.iter().map(|(run, does)| json!({"run": run, "does": does})).collect();
        let mut told = json!({
            "code": self.code,
            "title": said.what,
            "why": why,
            "try": tries,
            "exit": self.outcome as u8,
        });
        if let Some(family) = said.family {
            told["family"] = json!(family);
        }
        told
    }

    /// What to try; what the code means if nothing else is said, nor shown in its place.
    fn commands(&self) -> Cow<'_, [(String, String)]> {
        let said = &self.said;
        match self.code.filter(|_| said.commands.is_empty() && said.verbatim.is_empty()) {
            Some(code) => {
                Cow::Owned(vec![(format!("v6gap explain {code}"), "says more of it".to_owned())])
            }
            None => Cow::Borrowed(&self.said.commands),
        }
    }

    /// The commands below each other, their purposes aligned.
    fn tries(&self) -> String {
        let commands = self.commands();
        let explained = commands.iter().filter(|c| !c.1.is_empty());
        let pad = output::column(explained.map(|(command, _)| command.as_str()));
        let line = |(i, (command, purpose)): (usize, &(String, String))| {
            let lead = if i == 0 { "  Try:    " } else { "          " };
            match purpose.as_str() {
                "" => format!("{lead}{command}\n"),
                purpose => format!("{lead}{command:pad$}   {purpose}\n"),
            }
        };
        commands.iter().enumerate().map(line).collect()
    }
}

#[cfg(test)]
mod tests;
