//! `fleet`: many hosts, all the time: plan what is measured, run a hub and agents, and look at what
//! they found.

mod agent;
mod apply;
mod archive;
mod hub;
mod matrix;
mod mesh;
mod path;
mod status;
mod strips;

use crate::args::{FleetArgs, FleetCommand};
use crate::failure::{Failure, Outcome};
use crate::settings::{Context, Settings};
use v6gap_fleet::FleetError;
use v6gap_sys::stop::Stopper;

/// Does what is asked with a fleet.
///
/// # Errors
/// Whatever keeps it from being done.
pub fn execute(args: &FleetArgs, settings: &Settings) -> Result<Outcome, Failure> {
    let context = || Context::new(settings);
    match &args.command {
        // A hub has a folder of its own.
        FleetCommand::Hub(command) => hub::execute(command, &settings.output.results),
        FleetCommand::Agent(args) => agent::execute(args, &context()?),
        FleetCommand::Apply(args) => apply::execute(args),
        FleetCommand::Run(args) => apply::once(args),
        FleetCommand::Status(args) => status::execute(args, &settings.output.results),
        FleetCommand::Check(args) => mesh::check(args, &context()?),
        FleetCommand::Estimate(args) => mesh::estimate(args, &context()?),
        FleetCommand::Matrix(args) => matrix::execute(args, &context()?),
        FleetCommand::History(args) => path::history(args, &context()?),
        FleetCommand::Report(args) => path::report(args, &context()?),
        FleetCommand::Export(args) => path::export(args, &context()?),
    }
}

/// Performs a part of a fleet until it ends, or until Ctrl-C has it end.
fn until_stopped(
    stop: &Stopper,
    perform: impl AsyncFnOnce(v6gap_fleet::Stop) -> Result<(), FleetError>,
) -> Result<Outcome, Failure> {
    let done = v6gap_fleet::block_on(stop, perform);
    done.map_err(|error| Failure::unexpected(error.to_string()))??;
    Ok(Outcome::Done)
}

/// Performs what ends by itself; Ctrl-C ends the program.
fn to_its_end<T>(
    perform: impl AsyncFnOnce(v6gap_fleet::Stop) -> Result<T, FleetError>,
) -> Result<T, Failure> {
    let done = v6gap_fleet::block_on(&Stopper::default(), perform);
    Ok(done.map_err(|error| Failure::unexpected(error.to_string()))??)
}
