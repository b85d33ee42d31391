//! What a server allows: what its options make of it, and in words.

use crate::args::ServeArgs;
use v6gap_core::unit::{format_bytes, format_rate, format_span};
use v6gap_core::wire::control::Limits;

/// The limits that the options of a server set; `keyed`: whether clients have to know a key.
pub fn of(args: &ServeArgs, keyed: bool) -> Limits {
    let usual = if args.public && !keyed { Limits::strict() } else { Limits::default() };
    Limits {
        rate_bps: args.max_rate.map_or(usual.rate_bps, |rate| rate.0),
        task_bytes: args.max_bytes.map_or(usual.task_bytes, |bytes| bytes.0),
        task_ns: args.max_time.unwrap_or(usual.task_ns),
        session_ns: args.max_session.unwrap_or(usual.session_ns),
        per_source: args.max_per_source.unwrap_or(usual.per_source),
        // Without either, a stranger would have the processors of whoever else is on this host.
        spin: keyed || args.processor.is_some(),
        marking: usual.marking && !args.no_marking,
        ..usual
    }
}

/// What is allowed, as in "50 Mbit/s, 200 MB and 30 s a task; 5 min a session".
pub fn in_words(limits: &Limits) -> String {
    let rate = limits.rate_bps.map_or("any rate".to_owned(), |bps| format_rate(bps as f64));
    let bytes = limits.task_bytes.map(|bytes| format!("{}, ", format_bytes(bytes)));
    let bytes = bytes.unwrap_or_default();
    let task = format_span(limits.task_ns as f64);
    let session = format_span(limits.session_ns as f64);
    let mut text = format!("{rate}, {bytes}{task} a task; {session} a session");
    if limits.per_source > 0 {
        text.push_str(&format!(", {} of an address", limits.per_source));
    }
    if !limits.marking {
        text.push_str("; no marks of packets, no choice of congestion control");
    }
    if !limits.spin {
        text.push_str("; no spinning");
    }
    text
}

/// Whether something is not allowed that a usual measurement asks for.
pub fn are_felt(limits: &Limits) -> bool {
    let usual = Limits::default();
    limits.rate_bps.is_some()
        || limits.task_bytes.is_some()
        || limits.task_ns < usual.task_ns
        || limits.session_ns < usual.session_ns
        || !limits.marking
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn told(line: &str, keyed: bool) -> String {
        let words = format!("v6gap serve {line}");
        let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
        let Command::Serve(args) = cli.command else { panic!("{line}") };
        in_words(&of(&args, keyed))
    }

    #[test]
    fn a_server_for_everybody_is_strict_unless_it_is_told_otherwise() {
        assert_eq!(
            told("", false),
            "any rate, 10 min a task; 24 h a session, 4 of an address; no spinning"
        );
        let free = "any rate, 10 min a task; 24 h a session, 4 of an address";
        assert_eq!(told("", true), free);
        assert_eq!(told("--public", true), free);
        assert_eq!(told("-A 0", false), free);
        assert_eq!(
            told("--public", false),
            "50 Mbit/s, 200 MB, 30 s a task; 5 min a session, 1 of an address; no marks of \
             packets, no choice of congestion control; no spinning"
        );
        assert_eq!(
            told(
                "--public --max-rate none --max-bytes none --max-time 1h --max-session 2h \
                  --max-per-source 9 -A 1",
                false
            ),
            "any rate, 1 h a task; 2 h a session, 9 of an address; no marks of packets, no choice \
             of congestion control"
        );
        assert_eq!(
            told("--max-rate 200M --max-bytes 1G --no-marking", true),
            "200 Mbit/s, 1 GiB, 10 min a task; 24 h a session, 4 of an address; no marks of \
             packets, no choice of congestion control"
        );
    }
}
