//! `fleet`: many hosts, all the time.

mod agent;
mod apply;
mod hub;
mod status;

use crate::args::{FleetArgs, FleetCommand};
use crate::failure::{Failure, Outcome};
use crate::settings::{Context, Settings};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use v6gap_fleet::FleetError;

/// Does what is asked with a fleet.
///
/// # Errors
/// Whatever keeps it from being done.
pub fn execute(args: &FleetArgs, settings: &Settings) -> Result<Outcome, Failure> {
    match &args.command {
        FleetCommand::Hub(command) => hub::execute(command),
        FleetCommand::Agent(args) => agent::execute(args, &Context::new(settings)?),
        FleetCommand::Apply(args) => apply::execute(args),
        FleetCommand::Status(args) => status::execute(args, &settings.output.results),
    }
}

/// Performs a part of a fleet until it ends, or until Ctrl-C has it end.
fn until_stopped(
    stop: &Arc<AtomicBool>,
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
    let done = v6gap_fleet::block_on(&Arc::default(), perform);
    Ok(done.map_err(|error| Failure::unexpected(error.to_string()))??)
}
