//! `web`: the program in a browser.

mod demo;

use crate::args::WebArgs;
use crate::browser;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use std::io::IsTerminal;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_report::html::FLEET_STYLE;
use v6gap_serve::{Fleet, Keys, Options, Program};
use v6gap_store::{Store, read_mesh_file};

/// Serves pages until stopped.
///
/// # Errors
/// If it would listen to others without having been told so, or no port is free.
pub fn execute(args: &WebArgs, context: &Context) -> Result<Outcome, Failure> {
    let listen = listen(args)?;
    let recording = match args.demo.split_first() {
        Some((first, others)) => Some(demo::Recording::new(first, others, args, context)?),
        None => None,
    };
    let path = std::env::current_exe().map_err(|e| Failure::unexpected(e.to_string()))?;
    let keys = Arc::new(Keys::default());
    let names = args.listen.iter().map(IpAddr::to_string).chain(args.name.iter().cloned());
    let options = Options {
        listen,
        names: names.collect(),
        read_only: args.read_only,
        time_max: args.max_time.map(Duration::from_nanos),
        rate_bps_max: args.max_rate.and_then(|rate| rate.0),
        program: Program::new(path, recording.as_ref().map(demo::Recording::data)),
        keys: Arc::clone(&keys),
        demo: recording.as_ref().map(|recording| recording.demo.clone()),
        fleet: fleet(args)?,
        matrix_style: FLEET_STYLE,
    };
    let opens = !args.no_open && std::io::stdout().is_terminal();
    let told = Arc::clone(&keys);
    let door = opens.then_some(&context.store);
    let listening = move |addresses: &[SocketAddr]| opened(addresses, told, door);
    let stop = session::interruptible()?;
    let served = v6gap_serve::serve(options, listening, waits, &stop);
    if opens {
        // What is left leads nowhere any more.
        let _ = context.store.remove_door();
    }
    served.map_err(|error| {
        Failure::new("E111", Outcome::Usage, format!("cannot serve pages on port {}", args.port))
            .seen(format!("{error}."))
            .run("v6gap web -p 8080", "another port")
    })?;
    Ok(Outcome::Done)
}

/// The fleet that is to be shown, whose files are there.
fn fleet(args: &WebArgs) -> Result<Option<Fleet>, Failure> {
    let Some(runs) = &args.fleet else { return Ok(None) };
    if !Store::exists(runs) {
        let what = format!("there is no folder {}", output::shown(runs));
        return Err(Failure::usage(what)
            .seen("--fleet names a folder of runs between the hosts of a fleet.")
            .run("v6gap fleet matrix --runs FOLDER", "what is in one"));
    }
    if let Some(mesh) = &args.fleet_mesh {
        read_mesh_file(mesh)?;
    }
    Ok(Some(Fleet {
        runs: runs.clone(),
        mesh: args.fleet_mesh.clone(),
        credentials: args.fleet_creds.clone(),
        at_unix_ns: args.fleet_at_unix_ns,
    }))
}

fn listen(args: &WebArgs) -> Result<Vec<SocketAddr>, Failure> {
    let far = args.listen.iter().find(|address| !address.is_loopback());
    if let Some(far) = far.filter(|_| !args.allow_remote) {
        let what = format!("--listen {far} lets other computers in");
        return Err(Failure::usage(what)
            .seen("Whoever has the link can then measure from here and see every result.")
            .run(format!("v6gap web --listen {far} --allow-remote"), "if that is what you want"));
    }
    if far.is_some() {
        output::to_stderr(
            "note: pages and tokens go over the network in the clear; put TLS before it",
        );
    }
    let own = Family::BOTH.map(Family::loopback);
    let addresses = if args.listen.is_empty() { &own[..] } else { &args.listen };
    Ok(addresses.iter().map(|&address| SocketAddr::new(address, args.port)).collect())
}

/// Says where, and gives another link for each line that is typed. A browser is opened by a page in
/// `door`.
fn opened(addresses: &[SocketAddr], keys: Arc<Keys>, door: Option<&Store>) {
    let addresses = addresses.to_vec();
    let link = move || -> Option<String> {
        let key = keys.issue().ok()?;
        let first = addresses.first()?;
        let also: Vec<String> = addresses[1..].iter().map(|a| format!("http://{a}/")).collect();
        let also =
            if also.is_empty() { String::new() } else { format!("  (also {})", also.join(" ")) };
        let link = format!("http://{first}/#k={key}");
        output::to_stdout(&format!("Open  {link}{also}"));
        Some(link)
    };
    let first = link();
    output::to_stdout("The link works once; Enter prints another. Ctrl-C stops it.");
    if let (Some(first), Some(store)) = (first, door) {
        // Without it the link that was printed is there to be clicked.
        let _ = store.write_door(&page_to(&first)).map(|page| browser::open(&page));
    }
    session::at_each_line(move || link().is_some());
}

/// Says why it does not end yet.
fn waits() {
    output::to_stderr(
        "The measurement ends its present block, and what was measured is kept.\n  \
         Ctrl-C again ends it at once.",
    );
}

/// A page that leads to `link`. Arguments of a program can be read by everybody on this computer,
/// a file of one's own cannot, and whoever comes first with a key is let in.
fn page_to(link: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>v6gap</title>\n\
         <meta http-equiv=\"refresh\" content=\"0;url={link}\">\n\
         <p><a href=\"{link}\">v6gap in this browser</a></p>\n"
    )
}
