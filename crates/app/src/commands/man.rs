//! `man`: manual pages, made from the same definitions as the help.

use crate::args::{Cli, ManArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::Path;
use v6gap_store::Store;

/// Writes the page of the program to standard output, or those of all verbs into a folder.
///
/// # Errors
/// If the folder cannot be written.
pub fn execute(args: &ManArgs) -> Result<Outcome, Failure> {
    let mut program = Cli::command();
    program.build();
    match &args.dir {
        None => output::to_stdout(&page(program)?),
        Some(folder) => write_all(program, folder)?,
    }
    Ok(Outcome::Done)
}

fn write_all(program: Command, folder: &Path) -> Result<(), Failure> {
    let verbs: Vec<Command> =
        program.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect();
    let named = verbs.into_iter().map(|verb| (format!("v6gap-{}", verb.get_name()), verb));
    for (name, command) in std::iter::once(("v6gap".to_owned(), program)).chain(named) {
        let path = folder.join(format!("{name}.1"));
        let command = command.name(name.leak() as &'static str);
        Store::write_file(&path, page(command)?)?;
        output::to_stdout(&path.display().to_string());
    }
    Ok(())
}

fn page(command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let failed = |e: std::io::Error| Failure::unexpected(format!("cannot make the page: {e}"));
    Man::new(command).render(&mut page).map_err(failed)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
