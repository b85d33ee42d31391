//! One module for each verb. Each takes what was typed and the context, writes what it has to say,
//! and returns how the program ends.

mod archived;
mod check;
mod cite;
mod compare;
mod completions;
pub mod demo;
mod doctor;
mod explain;
mod export;
mod figures;
mod fleet;
mod import;
mod index;
pub mod lab;
mod list;
mod man;
mod note;
mod pages;
pub mod plan;
mod predict;
mod probe;
mod replay;
mod report;
mod rm;
pub mod run;
mod schema;
mod scraped;
pub mod serve;
mod show;
mod stored;
mod strips;
mod watch;
mod web;

use crate::args::{Asked, Command};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::{Context, Settings};

/// Does what the verb says.
///
/// # Errors
/// Whatever keeps it from being done.
pub fn execute(command: &Command, settings: &Settings) -> Result<Outcome, Failure> {
    let done = answerable(command).and_then(|()| perform(command, settings));
    if let Err(failure) = &done
        && command.result().is_some_and(|result| result.json_stream)
    {
        let mut line = failure.json();
        line["event"] = "error".into();
        output::to_stdout(&line.to_string());
    }
    done
}

/// Refuses to wait for what nobody would tell: only a probe takes the first look that finds a
/// family broken.
fn answerable(command: &Command) -> Result<(), Failure> {
    let waits = command.result().is_some_and(|result| {
        result.fail_if.iter().any(|condition| condition.asked == Asked::Broken)
    });
    if !waits || matches!(command, Command::Probe(_)) {
        return Ok(());
    }
    Err(Failure::usage("--fail-if broken is asked of probe alone")
        .seen("Elsewhere a family that cannot be measured ends with exit code 3, and both with 4.")
        .run("v6gap probe HOST --fail-if broken", "a first look over each family, then visits"))
}

fn perform(command: &Command, settings: &Settings) -> Result<Outcome, Failure> {
    let context = || Context::new(settings);
    match command {
        Command::Demo(args) => demo::execute(args, &context()?),
        Command::Run(args) => run::execute(args, &context()?.typed_as(&args.ssh.typed)),
        Command::Probe(args) => probe::execute(args, &context()?),
        Command::Watch(args) => watch::execute(args, &context()?),
        Command::Fleet(args) => fleet::execute(args, settings),
        Command::Check(args) => check::execute(args, &context()?),
        Command::Doctor(args) => doctor::execute(args, &context()?),
        Command::Show(args) => show::execute(args, &context()?),
        Command::Replay(args) => replay::execute(args, &context()?),
        Command::Report(args) => report::execute(args, &context()?),
        Command::Figures(args) => figures::execute(args, &context()?),
        Command::Cite(args) => cite::execute(args, &context()?),
        Command::Compare(args) => compare::execute(args, &context()?),
        Command::List(args) => list::execute(args, &context()?),
        Command::Note(args) => note::execute(args, &context()?),
        Command::Rm(args) => rm::execute(args, &context()?),
        Command::Index(args) => index::execute(args, &context()?),
        Command::Export(args) => export::execute(args, &context()?),
        Command::Import(args) => import::execute(args, &context()?),
        Command::Plan(args) => plan::execute(args, &context()?),
        Command::Lab(args) => lab::execute(args, &context()?),
        Command::Web(args) => web::execute(args, &context()?),
        Command::Predict(args) if args.from.is_some() => predict::from::execute(args, &context()?),
        // These work wherever the program is, without a folder for results.
        Command::Serve(args) => serve::execute(args, settings),
        Command::Predict(args) => predict::execute(args, &settings.output),
        Command::Explain(args) => explain::execute(args, &settings.output),
        Command::Schema(args) => schema::execute(args),
        Command::Completions(args) => completions::execute(args),
        Command::Man(args) => man::execute(args),
    }
}
