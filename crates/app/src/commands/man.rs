//! `man`: manual pages, those of verbs made from the same definitions as the help.

use super::pages;
use crate::args::{Cli, ManArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::Path;
use v6gap_store::Store;

/// Writes the page of the program to standard output, or all pages into a folder.
///
/// # Errors
/// If the folder cannot be written.
pub fn execute(args: &ManArgs) -> Result<Outcome, Failure> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    match &args.dir {
        None => output::to_stdout(&page(program)?),
        Some(folder) => {
            write_all("v6gap".to_owned(), program, folder)?;
            for (name, section, text) in pages::all() {
                // As the folders are that `man` looks into.
                let beside = folder.parent().filter(|_| folder.ends_with("man1"));
                let of = beside.map(|above| above.join(format!("man{section}")));
                write(&of.as_deref().unwrap_or(folder).join(format!("{name}.{section}")), text)?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn write(path: &Path, text: String) -> Result<(), Failure> {
    Store::write_file(path, text)?;
    output::to_stdout(&path.display().to_string());
    Ok(())
}

/// The page of a command of that name and, since it refers to them, those of the commands below it.
fn write_all(name: String, command: Command, folder: &Path) -> Result<(), Failure> {
    let below = command.get_subcommands();
    let below: Vec<_> = below.map(|c| (format!("{name}-{}", c.get_name()), c.clone())).collect();
    let path = folder.join(format!("{name}.1"));
    write(&path, page(command.name(name.leak() as &'static str))?)?;
    below.into_iter().try_for_each(|(name, command)| write_all(name, command, folder))
}

fn page(command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let failed = |e: std::io::Error| Failure::unexpected(format!("cannot make the page: {e}"));
    Man::new(command).render(&mut page).map_err(failed)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
