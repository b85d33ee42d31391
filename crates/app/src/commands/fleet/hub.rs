//! `fleet hub`: makes a hub, runs it, invites and revokes agents.

use super::until_stopped;
use crate::args::{HubCommand, HubInitArgs, HubInviteArgs, HubRevokeArgs, HubRunArgs};
use crate::commands::scraped;
use crate::commands::serve::log::Log;
use crate::database::access;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use v6gap_fleet::beside::{Beside, Page};
use v6gap_fleet::coordinator::Told as OfCoordinator;
use v6gap_fleet::hub::server::Did;
use v6gap_fleet::hub::{Hub, nodes};
use v6gap_fleet::sink::Told as OfSink;
use v6gap_fleet::supervise::{self, Options, Told};
use v6gap_fleet::{Ended, Metrics, Role};
use v6gap_report::fleet::metrics as metrics_text;
use v6gap_report::text::Style;

/// Does what is asked with a hub.
///
/// # Errors
/// Whatever keeps it from being done.
pub fn execute(command: &HubCommand, style: &Style) -> Result<Outcome, Failure> {
    match command {
        HubCommand::Init(args) => init(args),
        HubCommand::Run(args) => run(args, style),
        HubCommand::Invite(args) => invite(args),
        HubCommand::Revoke(args) => revoke(args),
    }
}

fn init(args: &HubInitArgs) -> Result<Outcome, Failure> {
    let hub = Hub::init(&args.folder, nodes::parse(&args.nodes)?, !args.plaintext)?;
    let folder = args.folder.display();
    let nodes: Vec<String> = hub.nodes.iter().map(ToString::to_string).collect();
    let how = if hub.encrypted { "by TLS" } else { "without encryption" };
    output::to_stdout(&format!(
        "A hub is in {folder}; agents reach it at {}, {how}. Only you can read its keys.\n\n\
         v6gap fleet hub run {folder}\n\
         v6gap fleet hub invite SITE/HOST --hub {folder} -o HOST.creds    for each host\n\
         v6gap fleet apply mesh.toml --creds {}\n",
        nodes.join(", "),
        hub.part(Role::Operator).display()
    ));
    Ok(Outcome::Done)
}

fn invite(args: &HubInviteArgs) -> Result<Outcome, Failure> {
    let hub = Hub::open(&args.hub)?;
    match &args.output {
        Some(path) => {
            hub.invite_to(&args.name, path)?;
            let path = path.display();
            output::to_stdout(&format!(
                "The credentials of {} are in {path}; only you can read them. On that host:\n\
                 v6gap fleet agent --creds {path}",
                args.name
            ));
        }
        None => output::to_stdout(hub.invite(&args.name)?.text().trim_end()),
    }
    Ok(Outcome::Done)
}

fn revoke(args: &HubRevokeArgs) -> Result<Outcome, Failure> {
    Hub::open(&args.hub)?.revoke(&args.name)?;
    output::to_stdout(&format!("{} is let in no more.", args.name));
    Ok(Outcome::Done)
}

fn run(args: &HubRunArgs, style: &Style) -> Result<Outcome, Failure> {
    let hub = Hub::open(&args.folder)?;
    let beside = beside(args)?;
    let stop = session::stopper()?;
    let node = args.node.map(|node| usize::from(node) - 1);
    let (asks, asked) = supervise::asks();
    if beside.page.is_some() {
        // Each line asks for another link to the page.
        session::at_each_line(move || asks.ask());
    }
    let options =
        Options { server: args.nats_server.clone(), node, beside, metrics: args.metrics.is_some() };
    let scraped = args.metrics.map(told_metrics).transpose()?;
    let addresses = hub.addresses().join(", ");
    let lines = *style;
    // Who reads it slowly or not at all holds up no part of the hub.
    let log = Log::start(move |text| output::to_stdout(&output::fit(&lines, text)))
        .map_err(|e| Failure::unexpected(format!("cannot start a thread for the log: {e}")))?;
    let mut told = |what: Told| {
        if let (Told::Metrics(metrics), Some(page)) = (&what, &scraped) {
            page.put(metrics_text(metrics));
        }
        if let Some(line) = line(&what, &addresses) {
            // Agents may say anything.
            log.say(line);
        }
    };
    let outcome = until_stopped(&stop, async |stop| {
        supervise::run(&hub, &options, &mut told, asked, stop).await
    });
    log.finish();
    outcome
}

/// Tells collectors of metrics how the hub does.
fn told_metrics(listen: SocketAddr) -> Result<Arc<v6gap_serve::Page>, Failure> {
    let other = |other: SocketAddr| format!("v6gap fleet hub run DIR --metrics {other}");
    let text = metrics_text(&Metrics::default());
    scraped::told(listen, text, &other, "the names of all agents and how they do")
}

/// What runs beside the hub.
fn beside(args: &HubRunArgs) -> Result<Beside, Failure> {
    let far = args.listen.iter().find(|address| !address.is_loopback());
    if let Some(far) = far.filter(|_| !args.allow_remote) {
        let what = format!("--listen {far} lets other computers in");
        return Err(Failure::usage(what)
            .seen("Whoever has the link can then see every result.")
            .run("v6gap fleet hub run DIR --listen … --allow-remote", "if that is what you want"));
    }
    if let Some(database) = &args.postgres {
        // What is wrong with it is said now, and not in a minute.
        access(database, &args.variables)?;
    }
    let program = std::env::current_exe().map_err(|e| Failure::unexpected(e.to_string()))?;
    let page =
        Page { listen: args.listen.clone(), port: args.port, allow_remote: args.allow_remote };
    let page = (!args.no_page).then_some(page);
    Ok(Beside { program, page, postgres: args.postgres.clone() })
}

/// What is said of what happened, if it is of use to somebody.
fn line(what: &Told, addresses: &str) -> Option<String> {
    Some(match what {
        Told::Ready { page: None } => {
            format!("Ready: agents reach the hub at {addresses}. Ctrl-C stops it.")
        }
        Told::Ready { page: Some(link) } => format!(
            "Ready: agents reach the hub at {addresses}, browsers at {link} once; Enter prints \
             another link. Ctrl-C stops it."
        ),
        Told::Page(link) => format!("Open  {link}"),
        Told::Metrics(_) => return None,
        Told::Unwritten { to, why, again } => {
            let when = match again {
                Some(again) => format!("again in {} s", again.as_secs()),
                None => "when the hub is run again".to_owned(),
            };
            format!("{to} was not written, and is {when}: {why}")
        }
        Told::Server(index, Did::Ended(why)) => {
            format!("nats-server {} ended and is begun again: {why}", index + 1)
        }
        Told::Server(index, Did::Reloaded) => {
            format!("nats-server {} knows who is let in no more.", index + 1)
        }
        Told::Server(_, Did::Began) => return None,
        Told::Trouble { part, why } => format!("{part} ended and is begun again: {why}"),
        Told::Coordinator(told) => return of_coordinator(told),
        Told::Sink(told) => return of_sink(told),
    })
}

fn of_coordinator(told: &OfCoordinator) -> Option<String> {
    Some(match told {
        OfCoordinator::Ready
        | OfCoordinator::Heard(_)
        | OfCoordinator::Stands { .. }
        | OfCoordinator::Answered { .. } => return None,
        OfCoordinator::Leads(true) => "This coordinator leads.".to_owned(),
        OfCoordinator::Leads(false) => "This coordinator leads no more.".to_owned(),
        OfCoordinator::Silent(true) => {
            "The broker does not answer: most nodes of the hub are gone, or its streams are."
                .to_owned()
        }
        OfCoordinator::Silent(false) => "The broker answers again.".to_owned(),
        OfCoordinator::Came { work, outcome } => {
            let path = format!("{} to {} ({})", work.from, work.to, work.plan.name);
            match outcome {
                Ended::Measured { run: Some(run) } => format!("{path}: measured, {run}"),
                Ended::Measured { run: None } => format!("{path}: measured"),
                Ended::Failed { why, again_ns, .. } => {
                    let again_s = Duration::from_nanos(*again_ns).as_secs();
                    format!("{path}: failed, and is tried again in {again_s} s or later: {why}")
                }
                Ended::GivenUp { why, attempts, .. } => {
                    format!("{path}: given up after {attempts} attempts: {why}")
                }
                Ended::Lost { .. } => return None,
            }
        }
        OfCoordinator::Applied { name, paths: Some(paths) } => {
            format!("The mesh plan {name} is applied: {paths} paths.")
        }
        OfCoordinator::Applied { name, paths: None } => {
            format!("The mesh plan {name} is applied no more.")
        }
        OfCoordinator::NoList { why } => {
            format!("Who was invited before is, as the list cannot be read: {why}")
        }
        OfCoordinator::NoMesh { name, why } => {
            format!("The mesh plan {name} cannot be applied: {why}")
        }
    })
}

fn of_sink(told: &OfSink) -> Option<String> {
    Some(match told {
        OfSink::Ready | OfSink::Has { .. } => return None,
        OfSink::NoPart { subject, why, left_out } => {
            let more = match left_out {
                0 => String::new(),
                more => format!(", after {more} more that were not told"),
            };
            format!("{subject}: no part of a result ({why:?}){more}")
        }
        OfSink::Unwritten(why) => format!("The archive cannot be written: {why}"),
    })
}
