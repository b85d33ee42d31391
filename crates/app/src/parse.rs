//! From what was typed to a command, help, or an error that says what was meant.

use crate::args::{self, Cli, ConfigFile, SHORT_HELP, Typed, VERBS, Variables};
use crate::failure::{Failure, Outcome};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use v6gap_core::plan::check::nearest;

/// What was asked for.
#[derive(Debug)]
pub enum Parsed {
    /// A command.
    Run {
        /// What it is.
        cli: Box<Cli>,
        /// How it was typed, in full form and without secrets.
        typed: Vec<String>,
    },
    /// Help or the version.
    Help {
        /// What to print.
        text: String,
        /// How the program then ends.
        outcome: Outcome,
    },
}

/// Reads what was typed behind the program's name, and what variables and files of options add, the
/// nearest first.
///
/// # Errors
/// What does not fit, with the nearest thing that would.
pub fn parse(
    typed: impl Iterator<Item = OsString>,
    variables: &Variables,
    files: &[ConfigFile],
) -> Result<Parsed, Failure> {
    let mut words = Vec::new();
    for word in typed {
        let lossy = |word: OsString| {
            Failure::usage(format!("{word:?} is not valid text"))
                .seen("What is typed, names of files among it, has to be UTF-8.")
        };
        words.push(word.into_string().map_err(lossy)?);
    }
    let short = |outcome| Ok(Parsed::Help { text: SHORT_HELP.to_owned(), outcome });
    let (full, implied) = match args::normalise(&words) {
        Typed::Nothing => return short(Outcome::Usage),
        Typed::ShortHelp => return short(Outcome::Done),
        Typed::Verb(full) => (full, None),
        Typed::Implied(full, first) => (full, Some(first)),
    };
    if args::asks_for_options(&full) {
        let text = args::shown(&full, variables, files).map_err(Failure::usage)?;
        return Ok(Parsed::Help { text, outcome: Outcome::Done });
    }
    let (full, from) = args::with_added(&full, variables, files).map_err(Failure::usage)?;
    let kept = args::without_secrets(&full);
    let is_resume = full.windows(2).any(|two| two == ["plan", "resume"]);
    let with_name = std::iter::once("v6gap".to_owned()).chain(full);
    match Cli::try_parse_from(with_name) {
        Ok(cli) => Ok(Parsed::Run { cli: Box::new(cli), typed: kept }),
        Err(error) => explain(&error, implied.as_deref(), is_resume).map_err(|failure| {
            let added = from.iter().map(|(key, from)| format!("--{key} is from {from}."));
            added.fold(failure, Failure::seen)
        }),
    }
}

fn explain(error: &clap::Error, implied: Option<&str>, is_resume: bool) -> Result<Parsed, Failure> {
    let help = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Some(Outcome::Done),
        // A verb without the one that belongs behind it: what there is, and no error beside it.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Some(Outcome::Usage),
        _ => None,
    };
    if let Some(outcome) = help {
        return Ok(Parsed::Help { text: error.render().to_string(), outcome });
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::UnknownArgument
        && let Some(failure) = unknown(word, implied)
    {
        return Err(failure);
    }
    if is_resume && error.kind() == ErrorKind::InvalidSubcommand {
        let what = "a run goes on with --continue, whatever plan it has";
        return Err(Failure::usage(what).run("v6gap run HOST --continue last", ""));
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (what, rest) = text.split_once('\n').unwrap_or((text, ""));
    Err(Failure::usage(what).verbatim(rest.trim_end()))
}

/// What to say to a word that does not fit: an option of iperf3, or one behind a mistyped verb,
/// which was taken for a host.
fn unknown(word: &str, implied: Option<&str>) -> Option<Failure> {
    if word.starts_with('-') {
        let sentence = args::foreign_sentence(word)?;
        let option = word.split('=').next().unwrap_or(word);
        return Some(Failure::usage(format!("{option}: {sentence}")));
    }
    let first = implied.filter(|first| first.bytes().all(|b| b.is_ascii_lowercase()))?;
    let verb = nearest(first, &VERBS)?;
    let failure = Failure::usage(format!("\"{first}\" is no verb of v6gap"));
    Some(failure.likely(format!("\"{verb}\" was meant.")).run("v6gap --help", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Parsed, Failure> {
        parse(line.split_whitespace().map(OsString::from), &Variables::new(), &[])
    }

    fn wrong(line: &str) -> String {
        parsed(line).unwrap_err().render(&Default::default())
    }

    #[test]
    fn the_definition_holds_together() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
        let verbs: Vec<String> =
            Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        assert_eq!(verbs, VERBS[..VERBS.len() - 1]);
    }

    #[test]
    fn unknown_options_bring_the_nearest() {
        assert!(wrong("lab-b --pair 3").contains("'--pairs'"), "{}", wrong("lab-b --pair 3"));
        assert!(wrong("lab-b --sctp").contains("--sctp: v6gap does not measure SCTP."));
        assert!(wrong("-c lab-b -k 10").contains("-n SIZE"));
        assert!(wrong("shwo last").contains("\"show\" was meant"));
        assert!(wrong("plan resume last").contains("v6gap run HOST --continue last"));
        assert!(wrong("--color=never plan resume last").contains("v6gap run HOST --continue"));
        assert!(!wrong("lab resume").contains("--continue"));
    }

    #[test]
    fn what_a_file_adds_is_parsed_and_named_where_it_does_not_fit() {
        let of = |text: &str| {
            let files = [ConfigFile::parse("./v6gap.toml", text, false).unwrap()];
            parse(["lab-b"].into_iter().map(OsString::from), &Variables::new(), &files)
        };
        let Ok(Parsed::Run { typed, .. }) = of("[run]\npairs = 8\n") else { panic!("it fits") };
        assert_eq!(typed.join(" "), "v6gap run --pairs=8 lab-b");
        let wrong = of("[run]\npairs = \"x\"\n").unwrap_err().render(&Default::default());
        assert!(wrong.contains("--pairs is from ./v6gap.toml."), "{wrong}");
    }

    #[test]
    fn verbs_that_need_another_show_what_there_is() {
        for verb in ["lab", "plan", "fleet", "fleet hub", "index"] {
            let Ok(Parsed::Help { text, outcome }) = parsed(verb) else { panic!("{verb}") };
            assert_eq!(outcome, Outcome::Usage, "{verb}");
            assert!(text.contains("Usage: v6gap ") && !text.starts_with("error"), "{text}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for line in ["lab-b -4 -6", "lab-b --quick --pairs 6", "lab-b --for 0"] {
            assert_eq!(parsed(line).unwrap_err().outcome, Outcome::Usage, "{line}");
        }
    }
}
