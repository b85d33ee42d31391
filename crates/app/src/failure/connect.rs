//! Errors on the way to a server: names, routes, firewalls, strangers, keys.

use super::{Failure, Outcome};
use std::net::{IpAddr, SocketAddr};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::wire::PORT;
use v6gap_core::wire::control::{RefusalCode, Refused};
use v6gap_core::wire::version::VersionMismatch;
use v6gap_core::workload::Feature;
use v6gap_perform::errors::{ConnectError, ErrorClass, FamilyProblem, SocketError, Trouble};
use v6gap_perform::target::Asked;
use v6gap_perform::via::quoted;

/// The option that measures one family alone.
fn only(family: Family) -> &'static str {
    match family {
        Family::V4 => "-4",
        Family::V6 => "-6",
    }
}

/// The option that gives an address of the family.
fn option(family: Family) -> &'static str {
    match family {
        Family::V4 => "--v4",
        Family::V6 => "--v6",
    }
}

impl Failure {
    /// The name has no address of one family, and the server there, if it was asked, tells none
    /// that leads to it.
    pub fn no_address(name: &str, missing: Family, found: IpAddr, asked: Option<&Asked>) -> Self {
        let other = missing.other();
        let what = match name.parse::<IpAddr>() {
            Ok(_) => format!("{name} is an {other} address; an {missing} address is missing"),
            Err(_) => format!("{name} has an {other} address but no {missing} address in DNS"),
        };
        let example = match missing {
            Family::V4 => "192.0.2.20",
            Family::V6 => "2001:db8::20",
        };
        let give = format!("v6gap run {name} {} {example}", option(missing));
        let alone = format!("v6gap run {name} {}", only(other));
        let seen = format!("{} {found}; no {}.", other.record(), missing.record());
        let failure = Failure::new("E102", Outcome::OneFamily, what).seen(seen);
        let failure = match asked {
            Some(asked) => asked_in_vain(failure, name, missing, asked),
            None => failure,
        };
        failure
            .of(missing)
            .run(give, "give the address yourself")
            .run(alone, format!("measure {other} alone, no comparison"))
    }

    /// The name has no address at all.
    pub fn unknown_name(name: &str, system: &str) -> Self {
        let failure = Failure::new("E103", Outcome::Usage, format!("no host is called {name}"));
        let failure = match system {
            "" => failure,
            system => failure.seen(format!("The system says: {system}.")),
        };
        failure
            .likely("a slip of the pen, or the name is known on another network only.")
            .run(format!("getent ahosts {}", quoted(name)), "what the system knows")
            .run("v6gap run NAME --v4 ADDR --v6 ADDR", "give the addresses yourself")
    }

    /// A link-local address without its interface.
    pub fn needs_zone(address: &str, interfaces: &[String]) -> Self {
        let what = format!("{address} needs the interface it is on");
        let known = match interfaces {
            [] => String::new(),
            names => format!("({} exist)", names.join(", ")),
        };
        let example = interfaces.iter().find(|name| *name != "lo");
        let zone = example.map_or("eth0", String::as_str);
        Failure::new("E104", Outcome::Usage, what)
            .run(format!("v6gap run HOST --v6 {address}%{zone}"), known)
    }

    /// A text that should be an address and is not one that can be measured.
    pub fn bad_address(text: &str, why: &str) -> Self {
        Failure::new("E106", Outcome::Usage, format!("{text} cannot be measured: {why}"))
    }

    /// An address to measure from that this host does not have, or that it does not let this
    /// program use.
    pub fn not_here(text: &str, error: &SocketError) -> Self {
        let what = match error.class() {
            ErrorClass::AddressUnavailable => format!("{text} is no address of this computer"),
            _ => format!("cannot measure from {text}"),
        };
        Failure::new("E107", Outcome::Usage, what)
            .seen(format!("The system says: {error}."))
            .run("ip addr", "shows the addresses of this computer")
    }

    /// This host cannot send to the server in one family.
    pub fn no_route(name: &str, address: SocketAddr, family: Family, system: &str) -> Self {
        let what = format!("this computer has no {family} route to {name} ({})", address.ip());
        let (likely, look) = match family {
            Family::V4 => {
                ("no IPv4 from the provider or router; the interface is down.", "ip -4 route")
            }
            Family::V6 => (
                "no IPv6 from the provider or router; router advertisements blocked.",
                "ip -6 addr;  ip -6 route",
            ),
        };
        let other = family.other();
        Failure::new("E101", Outcome::OneFamily, what)
            .of(family)
            .seen(format!("{family}: {system}."))
            .likely(likely)
            .run(look, "")
            .run(format!("v6gap check {name}"), "")
            .run(format!("v6gap run {name} {}", only(other)), format!("measures {other} alone"))
            .run("v6gap demo", "compares both on this computer")
    }

    /// There is no session with the server at all.
    pub fn of_connect(name: &str, error: &ConnectError) -> Self {
        let PerFamily { v4, v6 } = &*error.problems;
        match (v4, v6) {
            (Some(four), Some(six)) => both(name, [four, six]),
            (Some(one), None) | (None, Some(one)) => Failure::of_problem(name, one),
            (None, None) => Failure::unexpected(error.to_string()),
        }
    }

    /// The trouble with one family. If the other one answered, [`Failure::one_family`] says more.
    pub fn of_problem(name: &str, problem: &FamilyProblem) -> Self {
        let family = problem.family;
        let port = problem.address.port();
        match &problem.trouble {
            Trouble::Refused => not_running(name, &[problem]),
            Trouble::NoAnswer { waited_ns } => {
                let seconds = waited_ns.div_ceil(1_000_000_000);
                Failure::new(
                    "E203",
                    Outcome::OneFamily,
                    format!(
                        "{name} does not answer on port {port} within {seconds} s over {family}"
                    ),
                )
                .of(family)
                .seen(format!(
                    "{family} {}: nothing came back, not even a refusal. That is what a dropping \
                     firewall looks like.",
                    problem.address.ip()
                ))
                .run(format!("nft list ruleset | grep -n {port}"), format!("on {name}"))
            }
            Trouble::NoRoute { system } => Failure::no_route(name, problem.address, family, system),
            Trouble::NotOurs { answered } => not_ours(name, port, answered),
            Trouble::TurnedAway => Failure::new(
                "E208",
                Outcome::Peer,
                format!("the server on {name} turned this computer away"),
            )
            .seen("It closed the connection without a word.")
            .likely("it serves other networks only, or too many connections are open.")
            .run("v6gap serve --allow NET", format!("on {name}, with this computer's network"))
            .run("v6gap serve --key-file FILE", format!("on {name}, and the same file here")),
            Trouble::Version(mismatch) => version(name, *mismatch),
            Trouble::Key | Trouble::Unpinned { .. } | Trouble::Stranger { .. } => {
                of_key(name, &problem.trouble)
            }
            Trouble::Busy { why } => Failure::new(
                "E204",
                Outcome::Peer,
                format!("{name} measures for somebody else and was not to be waited for"),
            )
            .seen(format!("It says: {why}."))
            .run(format!("v6gap run {name}"), "waits its turn"),
            Trouble::Crowded { why } => Failure::new(
                "E213",
                Outcome::Peer,
                format!("{name} has as many clients from this network as it bears"),
            )
            .seen(format!("It says: {why}."))
            .likely("others of this network measure or wait there.")
            .run(format!("v6gap run {name}"), "later")
            .run("v6gap serve --max-per-source 8", format!("on {name}: more from each network")),
            Trouble::GaveUp => Failure {
                outcome: Outcome::Interrupted,
                ..Failure::usage(format!("gave up waiting for {name}"))
            },
            Trouble::Session(refused) => session(name, refused),
            Trouble::Ended { .. } | Trouble::System(_) => Failure::lost(name, &problem.trouble),
        }
    }

    /// The server answered over one family and not over the other.
    pub fn one_family(name: &str, problem: &FamilyProblem) -> Self {
        let family = problem.family;
        match &problem.trouble {
            Trouble::Refused => {}
            Trouble::Ended { .. } => return Failure::of_problem(name, problem).of(family),
            _ => return Failure::of_problem(name, problem),
        }
        let (other, port) = (family.other(), problem.address.port());
        let what = format!("the server on {name} answers over {other} but not over {family}");
        let any = family.unspecified();
        let expected = SocketAddr::new(any, port);
        let filter = format!("ss -ltn 'sport = {port}'");
        Failure::new("E202", Outcome::OneFamily, what)
            .of(family)
            .seen(format!("{family} {}: connection refused.", problem.address.ip()))
            .likely(format!("server started with --listen for {other} only, or a firewall rule."))
            .run(filter, format!("on {name}: expect a line with {expected}"))
            .run(format!("v6gap run {name} {}", only(other)), format!("measures {other} alone"))
    }

    /// The session ended before it was complete.
    pub fn lost(name: &str, trouble: &Trouble) -> Self {
        let what = format!("the connection to the server on {name} was lost");
        Failure::new("E210", Outcome::Peer, what)
            .seen(format!("{trouble}."))
            .run(format!("v6gap check {name}"), "")
    }

    /// Datagrams of one family do not come through, and nothing else was to be measured.
    pub fn udp_blocked(name: &str, family: Family, address: SocketAddr) -> Self {
        let port = address.port();
        let what = format!("UDP over {family} does not come through to {name}");
        Failure::new("E402", Outcome::Peer, what)
            .likely("a firewall, here, on the way or there, lets TCP pass and not UDP.")
            .run(format!("nft list ruleset | grep -n {port}"), format!("on {name}"))
            .run(format!("v6gap run {name} --measure tcp"), "measures what goes over TCP")
    }

    /// Large packets of one family vanish on the way.
    pub fn black_hole(name: &str, family: Family, passes: u32) -> Self {
        let vanishes = passes + 1;
        // Of an echo: IP and ICMP.
        let (message, rule, headers) = match family {
            Family::V4 => ("fragmentation needed", "ICMP type 3 code 4", 28),
            Family::V6 => ("packet too big", "ICMPv6 type 2", 48),
        };
        Failure::new(
            "E401",
            Outcome::NotValid,
            format!("large {family} packets vanish on the way to {name}"),
        )
        .of(family)
        .seen(format!(
            "{passes}-byte packets pass, {vanishes}-byte ones vanish; no \"{message}\" came back."
        ))
        .likely(format!(
            "a tunnel or PPPoE link with a smaller MTU and a firewall that drops {rule}. Everyone \
             using this path over {family} sees stalls, not only v6gap."
        ))
        .run(
            format!("ping {} -M do -s {} {name}", only(family), vanishes.saturating_sub(headers)),
            "gets no answer; with a byte less it does",
        )
    }
}

/// Adds what the server told that was asked for its address, and how it could tell one.
fn asked_in_vain(failure: Failure, name: &str, missing: Family, asked: &Asked) -> Failure {
    let failure = match (asked.wanted, asked.passed_over.as_slice()) {
        (None, []) => failure
            .seen(format!("The server there was asked for its {missing} address and tells none."))
            .likely(format!(
                "it has none, listens on {} only, or is public and was given no --announce.",
                missing.other()
            )),
        (Some(wanted), []) => failure.seen(format!(
            "The server there was asked, and does not tell {wanted}, with which the run began."
        )),
        (_, passed_over) => {
            let tried = passed_over.iter().map(|(address, why)| format!("{address}: {why}"));
            let tried = tried.collect::<Vec<_>>().join("; ");
            failure
                .seen(format!(
                    "The server there was asked for its {missing} address. What it tells did not \
                     prove to lead to it: {tried}."
                ))
                .likely(format!("a firewall lets no {missing} through, or a NAT is on the way."))
        }
    };
    failure.run("v6gap serve --announce ADDR", format!("on {name}: tells this address"))
}

fn both(name: &str, problems: [&FamilyProblem; 2]) -> Failure {
    let rank = |p: &FamilyProblem| match p.trouble {
        // What a server said weighs more than that nothing answered.
        Trouble::Refused => 2,
        Trouble::NoAnswer { .. } | Trouble::NoRoute { .. } | Trouble::System(_) => 3,
        _ => 1,
    };
    let [four, six] = problems;
    let first = if rank(six) < rank(four) { six } else { four };
    match (&first.trouble, rank(first)) {
        (Trouble::Refused, _) => not_running(name, &problems),
        (_, 3) => {
            let what = format!("{name} cannot be reached over either family");
            let text =
                |p: &FamilyProblem| format!("{} {}: {}.", p.family, p.address.ip(), p.trouble);
            Failure::new("E203", Outcome::Peer, what)
                .seen(text(four))
                .seen(text(six))
                .likely("the computer is off, or a firewall drops the packets.")
                .run(format!("ping {name}"), "")
                .run(serve(first.address.port()), format!("on {name}"))
        }
        _ => Failure::of_problem(name, first),
    }
}

fn not_running(name: &str, problems: &[&FamilyProblem]) -> Failure {
    let port = problems.first().map_or(0, |p| p.address.port());
    let seen: Vec<String> = problems
        .iter()
        .map(|p| format!("{} {}: {}.", p.family, p.address.ip(), p.trouble))
        .collect();
    let what = format!("no v6gap server answers on {name}, port {port}");
    Failure::new("E201", Outcome::Peer, what)
        .seen(seen.join(" "))
        .seen("The computer is up; nothing listens on that port.")
        .run(serve(port), format!("on {name}"))
}

/// The command that serves on a port.
fn serve(port: u16) -> String {
    let port = if port == PORT { String::new() } else { format!(" -p {port}") };
    format!("v6gap serve{port}")
}

/// The ends know other keys.
fn of_key(name: &str, trouble: &Trouble) -> Failure {
    let of = |what: String| Failure::new("E207", Outcome::Peer, what);
    match trouble {
        Trouble::Unpinned { public } => {
            of(format!("what answers as {name} has a key that is none of your peers'"))
                .seen(format!("Its public key is {public}. It was not told who asked."))
                .likely(format!(
                    "another host answers, the server has a new key, or its line is missing here: \
                     \"peer {name} {public}\", if who runs the server says that it is its key."
                ))
        }
        Trouble::Stranger { why } => {
            of(format!("the server on {name} does not know the key of this computer"))
                .seen(format!("It says: {why}."))
                .likely(format!(
                    "the file of keys there has no line \"peer THIS-HOST THAT-KEY\", or the server \
                     on {name} was started before it had."
                ))
        }
        _ => of(format!("the server on {name} does not accept the key"))
            .seen("Both ends must be given the same word, or none, or both files of pinned keys.")
            .run(format!("v6gap run {name} --key-file FILE"), "the word that the server was given"),
    }
}

fn not_ours(name: &str, port: u16, answered: &str) -> Failure {
    // iperf3 says nothing first and answers an unknown cookie with a state byte or silence; a port
    // of 5201 is its own.
    let what = match port {
        5201 => format!("port {port} on {name} is an iperf3 server or the like, not v6gap"),
        _ => format!("port {port} on {name} is not a v6gap server"),
    };
    let seen = match answered {
        "" => "It accepted the connection and did not answer as v6gap does.".to_owned(),
        text => format!("It answered {text:?}."),
    };
    let failure = Failure::new("E206", Outcome::Peer, what)
        .seen(seen)
        .seen("Both ends are seen only with v6gap's own server at the other one.")
        .run("v6gap serve", format!("on {name}"));
    match port {
        5201 => failure.run(
            format!("v6gap run {name} --against iperf3"),
            "measures with that server, and sees half as much",
        ),
        _ => failure,
    }
}

fn version(name: &str, mismatch: VersionMismatch) -> Failure {
    let (words, here, there, old) = match mismatch {
        VersionMismatch::PeerTooOld { here, peer } => ("old", here, peer, name),
        VersionMismatch::PeerTooNew { here, peer } => ("new", here, peer, "this computer"),
    };
    let what = format!("the server on {name} is too {words} for this program");
    Failure::new("E205", Outcome::Peer, what)
        .seen(format!("Protocol here: {here}. There: {there}. Update v6gap on {old}."))
        .run("v6gap --version", "on both")
}

fn session(name: &str, refused: &Refused) -> Failure {
    if refused.code == RefusalCode::TooOld {
        let what = format!("the server on {name} is too old for this measurement");
        let failure = Failure::new("E205", Outcome::Peer, what)
            .seen(format!("It says: {}. Update v6gap on {name}.", refused.why))
            .run("v6gap --version", "on both");
        // What one address alone asks for, and nothing else does.
        return match refused.why.contains(Feature::Whereabouts.name()) {
            true => failure.run(
                format!("v6gap run {name} --v4 ADDR --v6 ADDR"),
                "gives both addresses, so that it need not be asked",
            ),
            false => failure,
        };
    }
    Failure::new("E209", Outcome::Peer, format!("the server on {name} refused the measurement"))
        .seen(format!("It says: {}.", refused.why))
        .run(format!("v6gap check {name}"), "shows what it can do")
}
