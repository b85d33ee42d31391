//! `serve`: answer measurements until stopped.

mod lines;
pub mod log;

use crate::args::ServeArgs;
use crate::failure::{Failure, Outcome};
use crate::key::{self, Reach};
use crate::limits;
use crate::output;
use crate::session;
use crate::settings::Settings;
use lines::Lines;
use log::Log;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::wire::whereabouts::ADDRESSES_MAX;
use v6gap_core::wire::{PORT, stamp};
use v6gap_perform::errors::{ErrorClass, SocketError};
use v6gap_perform::facts::this_host;
use v6gap_perform::serve::{
    HostDoor, Prefix, Server, ServerError, ServerEvent, ServerOptions, StampOptions, processors,
};
use v6gap_perform::{Key, tool};
use v6gap_sys::clock::now_ns;
use v6gap_sys::stop::signalled;

/// Serves until stopped, or until one session is over.
///
/// # Errors
/// If an address cannot be listened on.
pub fn execute(args: &ServeArgs, settings: &Settings) -> Result<Outcome, Failure> {
    if let Some(path) = &args.new_key {
        let make = if args.pinned { key::make_pinned } else { key::make };
        output::to_stdout(&make(path, args.port)?);
        return Ok(Outcome::Done);
    }
    let options = options(args)?;
    let server = Server::bind(&options).map_err(|e| bind_failure(&e, args))?;
    let stop = signalled(None).map_err(|e| session::unwatched(&e))?;
    let style = settings.output.results;
    let log = Log::start(move |text| output::to_stdout(&output::fit(&style, text)))
        .map_err(|e| Failure::unexpected(format!("cannot start a thread for the log: {e}")))?;
    if args.stop_at_eof {
        session::stop_at_end_of_input(&stop);
    }
    let door = HostDoor::new(settings.locks());
    let note = door.note().map(|note| format!("\n{note}")).unwrap_or_default();
    log.say(opening(&server, &options, args) + &note);
    let mut lines = Lines::default();
    let (one_off, quiet) = (args.one_off, args.quiet);
    let mut admitted = None;
    let ended = Arc::clone(&stop);
    let mut told = |event: ServerEvent| {
        let is_told = !quiet || matches!(event, ServerEvent::Trouble { .. });
        if let Some(line) = lines.of(&event, now_ns()).filter(|_| is_told) {
            log.say(line);
        }
        if measured(&mut admitted, &event) && one_off {
            ended.store(true, Ordering::Relaxed);
        }
    };
    let served = server.behind(Box::new(door)).run(&stop, &mut told);
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
    if args.announce.len() > ADDRESSES_MAX {
        let (count, most) = (args.announce.len(), ADDRESSES_MAX);
        return Err(Failure::usage(format!("--announce names {count} addresses; at most {most}")));
    }
    options.announce = args.announce.clone();
    options.processors = processors(args.processor);
    options.limits = limits::of(args, options.key.is_some());
    options.per_source = options.limits.per_source;
    options.stamp = args.stamp.then(|| stamp_options(args)).transpose()?;
    Ok(options)
}

fn stamp_options(args: &ServeArgs) -> Result<StampOptions, Failure> {
    let credentials = args.key.credentials.as_deref();
    let key = args.stamp_key_file.as_deref().map(|path| key::of_stamp(path, credentials));
    Ok(StampOptions { port: args.stamp_port.unwrap_or(stamp::PORT), key: key.transpose()? })
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
    let listening = in_words(server.addresses());
    let mut text = format!("Serving on {listening}, TCP and UDP. {}.\n", tool());
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
    let pinned = options.key.as_ref().and_then(Key::pinned);
    if let Some(pinned) = pinned {
        text.push_str(&format!("Its public key is {}.\n", pinned.public()));
    }
    let who = match (&options.key, options.allow.is_empty(), args.public) {
        (Some(_), _, _) if pinned.is_some() => "The peers in its file of keys can use it.",
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
    text + who + &stamp_in_words(&server.stamp_addresses(), options)
}

fn in_words(addresses: &PerFamily<Option<SocketAddr>>) -> String {
    let there = Family::BOTH.into_iter().filter_map(|family| *addresses.get(family));
    there.map(|address| address.to_string()).collect::<Vec<_>>().join(" and ")
}

/// Where test packets of STAMP are answered, and whose; nothing if they are not.
fn stamp_in_words(addresses: &PerFamily<Option<SocketAddr>>, options: &ServerOptions) -> String {
    let Some(stamp) = &options.stamp else { return String::new() };
    let whose = match (stamp.key, options.allow.is_empty(), options.public) {
        (Some(_), true, _) => "packets that the key authenticates",
        (Some(_), false, _) => "packets that the key authenticates, from the networks named",
        (None, false, _) => "open packets from the networks named",
        (None, true, true) => "open packets from everywhere",
        (None, true, false) => "open packets from private networks and this host",
    };
    format!("\nSTAMP on {}, UDP: {whose} are answered.", in_words(addresses))
}

fn bind_failure(error: &ServerError, args: &ServeArgs) -> Failure {
    if let ServerError::Stamp { source, .. } = error {
        return stamp_failure(error, source, args.stamp_port.unwrap_or(stamp::PORT));
    }
    let port = args.port;
    let failure = Failure::new("E111", Outcome::Usage, format!("cannot serve on port {port}"))
        .seen(format!("{error}."));
    let failure = match error {
        ServerError::NoFamily(_) => {
            let likely = match args.listen.is_empty() {
                true => "this computer has neither family.",
                false => "what --listen names is no address of this computer.",
            };
            return failure.likely(likely).run("ip addr", "shows its addresses");
        }
        ServerError::Bind { source, .. } if source.class() == ErrorClass::Permission => {
            failure.likely(PRIVILEGED)
        }
        _ => failure
            .likely("another v6gap serves already.")
            .run(format!("ss -lntup 'sport = {port}'"), "who has the port"),
    };
    let listen = args.listen.iter().map(|address| format!(" --listen {address}"));
    let (listen, other) = (listen.collect::<String>(), if port == PORT { PORT + 1 } else { PORT });
    failure.run(
        format!("v6gap serve{listen} -p {other}"),
        format!("another port; clients need -p {other} too"),
    )
}

/// Why a port is not granted.
const PRIVILEGED: &str = "ports below 1024 want a privilege, which a server should not have.";

fn stamp_failure(error: &ServerError, source: &SocketError, port: u16) -> Failure {
    let what = format!("cannot answer STAMP on port {port}");
    let failure = Failure::new("E111", Outcome::Usage, what).seen(format!("{error}."));
    let failure = if source.class() == ErrorClass::Permission {
        failure.likely(PRIVILEGED)
    } else {
        let holder = format!("ss -lnup 'sport = {port}'");
        failure.likely("another reflector answers already.").run(holder, "who has the port")
    };
    failure.run("v6gap serve --stamp --stamp-port 8620", "another port; senders need it too")
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

    #[test]
    fn whose_test_packets_are_answered_is_said() {
        let at = |text: &str| Some(text.parse().unwrap());
        let addresses = PerFamily { v4: at("192.0.2.7:862"), v6: at("[2001:db8::7]:862") };
        let mut options = ServerOptions::new(tool(), v6gap_core::record::Host::default());
        assert_eq!(stamp_in_words(&addresses, &options), "");
        options.stamp = Some(StampOptions { port: stamp::PORT, key: None });
        assert_eq!(
            stamp_in_words(&addresses, &options),
            "\nSTAMP on 192.0.2.7:862 and [2001:db8::7]:862, UDP: open packets from private \
             networks and this host are answered."
        );
        let key = v6gap_perform::serve::StampKey::of_text("word").ok();
        options.stamp = Some(StampOptions { port: stamp::PORT, key });
        let told = stamp_in_words(&addresses, &options);
        assert!(told.ends_with("packets that the key authenticates are answered."), "{told}");
    }
}
