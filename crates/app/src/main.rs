//! The program `v6gap`: parse what was typed, read the settings, do what the verb says, and end
//! with the exit code that says how it went.
//!
//! No thread is started before the verb runs: the lab enters a user namespace, which Linux allows a
//! process with one thread only.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod alike;
mod alone;
mod args;
mod browser;
mod commands;
mod conditions;
mod database;
mod diag;
mod failure;
mod index;
mod key;
mod limits;
mod output;
mod parse;
mod presets;
mod session;
mod settings;
mod shipped;
mod target;
mod worlds;

use args::{ConfigFile, Variables};
use failure::{Failure, Outcome};
use parse::Parsed;
use settings::{Environment, Settings};
use std::ffi::OsString;
use std::process::ExitCode;
use v6gap_perform::{worker, world};
use v6gap_store::{StoreError, read_config};

/// What the system's loader heeds when it starts a program: a worker is the same program.
const LOADER: [&str; 2] = ["LD_LIBRARY_PATH", "LD_PRELOAD"];

fn main() -> ExitCode {
    if world::is_first(std::env::args_os().nth(1).as_deref()) {
        return first_process();
    }
    if worker::is_word(std::env::args_os().nth(1).as_deref())
        && let Some(outcome) = worker::serve()
    {
        return outcome.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    start_workers();
    let environment = Environment::of_process();
    let words = || std::env::args_os().skip(1);
    // Programs say all themselves.
    let for_programs = words().any(|word| word == "--json-errors");
    let files = if for_programs { Ok(Vec::new()) } else { config_files(&environment) };
    let variables = if for_programs { Variables::new() } else { variables() };
    let outcome = match files.and_then(|files| parse::parse(words(), &variables, &files)) {
        Ok(Parsed::Help { text, outcome }) => {
            output::to_stdout(&text);
            outcome
        }
        Ok(Parsed::Run { cli, typed }) => {
            let settings = Settings { typed, ..Settings::new(&cli.style, &environment) };
            let done = commands::execute(&cli.command, &settings).and_then(written);
            done.unwrap_or_else(|failure| {
                output::to_stderr(&match cli.style.json_errors {
                    true => failure.json().to_string(),
                    false => failure.render(&settings.output.errors),
                });
                failure.outcome
            })
        }
        Err(failure) => {
            let settings = Settings::of_environment(&environment);
            output::to_stderr(&match for_programs {
                true => failure.json().to_string(),
                false => failure.render(&settings.output.errors),
            });
            failure.outcome
        }
    };
    outcome.into()
}

/// Variables that may be of options.
fn variables() -> Variables {
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, _)| name.starts_with(args::PREFIX)).collect()
}

/// The files of options that there are, the nearest first.
fn config_files(environment: &Environment) -> Result<Vec<ConfigFile>, Failure> {
    let mut files = Vec::new();
    for (path, is_own) in environment.config() {
        match read_config(&path) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let file = ConfigFile::parse(&path.display().to_string(), &text, is_own);
                files.push(file.map_err(Failure::usage)?);
            }
            // Anybody may leave one in a folder of all.
            Err(StoreError::Unfit { path, why }) if !is_own => {
                output::to_stderr(&format!("note: {} {why}: it is passed over", path.display()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(files)
}

/// Lets rounds be measured by workers. Where that cannot be, records tell that threads did it.
fn start_workers() {
    let environment: Vec<(&str, OsString)> =
        LOADER.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    let _ = worker::enable(std::env::args_os().next().as_deref(), &environment);
}

/// What this program does as the first one of an emulated system, which ends with it.
fn first_process() -> ExitCode {
    if let Err(why) = world::serve(output::to_stdout) {
        // The kernel ends with its first process, and the lab shows what was said last.
        output::to_stderr(&why);
    }
    ExitCode::FAILURE
}

/// What was asked for is done only if all of it could be written.
fn written(outcome: Outcome) -> Result<Outcome, Failure> {
    match output::trouble() {
        Some(error) => Err(Failure::refused(format!("cannot write to standard output: {error}"))),
        None => Ok(outcome),
    }
}
