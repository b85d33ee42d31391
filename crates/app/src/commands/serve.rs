//! `serve`: answer measurements until stopped.

mod lines;
mod log;

use crate::args::ServeArgs;
use crate::failure::{Failure, Outcome};
use crate::key::{self, Reach};
use crate::limits;
use crate::output;
use crate::settings::OutputStyle;
use lines::Lines;
use log::Log;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::family::Family;
use v6gap_perform::facts::this_host;
use v6gap_perform::serve::{Prefix, Server, ServerError, ServerEvent, ServerOptions, processors};
use v6gap_perform::tool;
use v6gap_sys::clock::now_ns;

/// Serves until stopped, or until one session is over.
///
/// # Errors
/// If an address cannot be listened on.
pub fn execute(args: &ServeArgs, output: &OutputStyle) -> Result<Outcome, Failure> {
    if let Some(path) = &args.new_key {
        output::to_stdout(&key::make(path, args.port)?);
        return Ok(Outcome::Done);
    }
    let options = options(args)?;
    let server = Server::bind(&options).map_err(|e| bind_failure(&e, args.port))?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|e| Failure::unexpected(format!("cannot watch for Ctrl-C: {e}")))?;
    }
    let style = output.results;
    let log = Log::start(move |text| output::to_stdout(&output::fit(&style, text)))
        .map_err(|e| Failure::unexpected(format!("cannot start a thread for the log: {e}")))?;
    log.say(opening(&server, &options, args));
    let mut lines = Lines::default();
    let one_off = args.one_off;
    let mut admitted = None;
    let ended = Arc::clone(&stop);
    let mut told = |event: ServerEvent| {
        if let Some(line) = lines.of(&event, now_ns()) {
            log.say(line);
        }
        if measured(&mut admitted, &event) && one_off {
            ended.store(true, Ordering::Relaxed);
        }
    };
    let served = server.run(&stop, &mut told);
    log.finish();
    served.map_err(|e| Failure::unexpected(e.to_string()))?;
    Ok(Outcome::Done)
}

/// Whether a session that had its turn is over; one that left the queue has measured nothing.
fn measured(admitted: &mut Option<u64>, event: &ServerEvent) -> bool {
    match event {
        ServerEvent::Admitted { session, .. } => *admitted = Some(*session),
        ServerEvent::Left { session, .. } => return *admitted == Some(*session),
        _ => {}
    }
    false
}

fn options(args: &ServeArgs) -> Result<ServerOptions, Failure> {
    let mut options = ServerOptions::new(tool(), this_host());
    options.addresses = args.addresses().map_err(Failure::usage)?;
    options.key = key::of_server(&args.key, reach(args))?;
    options.allow = args.allow.clone();
    options.public = args.public;
    options.processors = processors(args.processor);
    options.limits = limits::of(args, options.key.is_some());
    options.per_source = options.limits.per_source;
    Ok(options)
}

/// Who can try words; a key alone serves every address.
fn reach(args: &ServeArgs) -> Reach {
    match (args.public, args.allow.is_empty()) {
        (true, _) => Reach::Public,
        (false, true) => Reach::Far,
        (false, false) if args.allow.iter().all(Prefix::is_near) => Reach::Near,
        (false, false) => Reach::Far,
    }
}

fn opening(server: &Server, options: &ServerOptions, args: &ServeArgs) -> String {
    let listening: Vec<String> = Family::BOTH
        .into_iter()
        .filter_map(|family| server.addresses().get(family).map(|a| a.to_string()))
        .collect();
    let mut text = format!("Serving on {}, TCP and UDP. {}.\n", listening.join(" and "), tool());
    for family in Family::BOTH {
        if let Some(why) = server.missing().get(family) {
            text.push_str(&format!("Not over {family}: {why}. No client can compare.\n"));
        }
    }
    let allowed = &options.limits;
    text.push_str(&format!(
        "Limits: 1 measurement at a time, {} may wait; {}.\n",
        allowed.waiting,
        limits::in_words(allowed)
    ));
    let who = match (&options.key, options.allow.is_empty(), args.public) {
        (Some(_), _, _) => "Who knows the key can use it.",
        (None, false, _) => "The networks named can use it; --key-file asks for a word as well.",
        (None, true, true) => {
            "Anyone who can reach this port can use it and have this host send them traffic within \
             these limits. --key-file restricts that to who knows the key."
        }
        (None, true, false) => {
            "Private networks and this host can use it. --key-file, --allow or --public widen that."
        }
    };
    text + who
}

fn bind_failure(error: &ServerError, port: u16) -> Failure {
    Failure::new("E209", Outcome::Usage, format!("cannot serve on port {port}"))
        .seen(format!("{error}."))
        .likely("another v6gap serves already.")
        .run(format!("ss -lntup 'sport = {port}'"), "who has the port")
        .run("v6gap serve -p 4467", "another port; clients need -p 4467 too")
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::session::Ending;

    #[test]
    fn only_a_session_that_was_admitted_ends_a_server_for_one() {
        let left = |session| ServerEvent::Left { session, ending: Ending::PeerLeft };
        let mut admitted = None;
        assert!(!measured(&mut admitted, &left(1)));
        let by = "lab-a".to_owned();
        assert!(!measured(&mut admitted, &ServerEvent::Admitted { session: 2, by }));
        assert!(!measured(&mut admitted, &left(3)));
        assert!(measured(&mut admitted, &left(2)));
    }
}
