//! `fleet agent`: has this host take part in a fleet.

use super::until_stopped;
use crate::args::{FleetAgentArgs, OfflineArg};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use v6gap_fleet::agent::{self, Files, Offline, Options, Program, Told};
use v6gap_fleet::{Heartbeat, State};

/// Takes part until stopped.
///
/// # Errors
/// If the credentials cannot be used, the hub refuses, or the disk is full.
pub fn execute(args: &FleetAgentArgs, context: &Context) -> Result<Outcome, Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::unexpected(e.to_string()))?;
    let stop = session::stopper()?;
    let files = Files::open(&context.store)?;
    let measures = Program::new(&program, &context.store, &files, context.locks_folder());
    let options = Options {
        credentials: args.creds.clone(),
        service: args.credentials.clone(),
        hubs: args.hub.clone(),
        plaintext: args.plaintext,
        limits: args.limits.clone(),
        offline: args.offline.into(),
        addresses: args.address.clone(),
        program: concat!("v6gap ", env!("CARGO_PKG_VERSION")).to_owned(),
        features: Vec::new(),
    };
    let mut last = None;
    let quiet = args.quiet;
    let mut told = |what: Told| {
        if let Some(line) = line(&what, quiet).filter(|line| last.as_ref() != Some(line)) {
            output::to_stdout(&output::fit(&context.output.results, &line));
            last = Some(line);
        }
    };
    until_stopped(&stop, async |stop| {
        agent::go_on(&options, files, measures, &mut told, stop).await
    })
}

fn line(what: &Told, quiet: bool) -> Option<String> {
    match what {
        Told::Waits(why) => Some(format!("Waiting: {why}")),
        Told::Ready(name) => Some(format!("Ready: {name} takes orders. Ctrl-C stops it.")),
        Told::Does(_) | Told::NoOrder(_) | Told::Gone(_) | Told::Back if quiet => None,
        Told::Gone(unarchived) => Some(format!(
            "The hub is gone. What was measured is kept until the archive has it; {unarchived} \
             runs are only here."
        )),
        Told::Unwritten(why) => Some(format!("An order is refused: {why}.")),
        Told::Back => Some("At the hub again.".to_owned()),
        Told::Does(beat) => Some(does(beat)),
        Told::NoOrder(why) => Some(format!("An order came that is none ({why:?}).")),
    }
}

impl From<OfflineArg> for Offline {
    fn from(arg: OfflineArg) -> Self {
        match arg {
            OfflineArg::Finish => Offline::Finish,
            OfflineArg::Stop => Offline::Stop,
        }
    }
}

fn does(beat: &Heartbeat) -> String {
    match beat.state {
        State::Idle => "Idle.".to_owned(),
        State::Ready { .. } => "Ready for a job.".to_owned(),
        State::Measuring { .. } => "Measuring.".to_owned(),
        State::Taken => "Something else is measured here.".to_owned(),
        State::Closed => {
            format!("It takes no jobs: {}.", beat.trouble.as_deref().unwrap_or("unknown"))
        }
    }
}
