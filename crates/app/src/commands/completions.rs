//! `completions`: what a shell needs to complete verbs and options.

use crate::args::{Cli, CompletionsArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use clap::CommandFactory;

/// Writes the completions for a shell.
///
/// # Errors
/// None.
pub fn execute(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "v6gap", &mut script);
    output::to_stdout(&String::from_utf8_lossy(&script));
    Ok(Outcome::Done)
}
