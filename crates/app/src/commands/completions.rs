//! `completions`: what a shell needs to complete verbs and options.

use crate::args::{Cli, CompletionsArgs, Shell};
use crate::failure::{Failure, Outcome};
use crate::output;
use clap::CommandFactory;
use clap_complete::{generate, shells};
use clap_complete_nushell::Nushell;

/// Writes the completions for a shell.
///
/// # Errors
/// None.
pub fn execute(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    let (program, name) = (&mut Cli::command(), "v6gap");
    match args.shell {
        Shell::Bash => generate(shells::Bash, program, name, &mut script),
        Shell::Elvish => generate(shells::Elvish, program, name, &mut script),
        Shell::Fish => generate(shells::Fish, program, name, &mut script),
        Shell::Nushell => generate(Nushell, program, name, &mut script),
        Shell::Power => generate(shells::PowerShell, program, name, &mut script),
        Shell::Zsh => generate(shells::Zsh, program, name, &mut script),
    }
    output::to_stdout(&String::from_utf8_lossy(&script));
    Ok(Outcome::Done)
}
