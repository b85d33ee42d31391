//! `run --via ssh`: between two hosts on which nothing is installed.

use super::plan;
use crate::args::{Cli, RunArgs};
use crate::commands::plan::expect;
use crate::failure::{Failure, Outcome, results};
use crate::index;
use crate::output::{self, LINE_EVERY_NS};
use crate::session;
use crate::settings::Context;
use clap::CommandFactory;
use clap::parser::ValueSource;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::PerFamily;
use v6gap_core::plan::Stop;
use v6gap_core::unit::{format_bytes, format_span};
use v6gap_perform::via::{self, Asked, Done, Ended, Host, PerSide, Tidings};
use v6gap_sys::clock::now_ns;

/// Longest time of a run whose pairs are counted, in ns: no server allows more.
const COUNTED_NS: u64 = 86_400_000_000_000;

/// Options that are for this host: those of `--via` itself, of the result and of its text, and
/// keys, as one is made for the job alone.
const HERE: [&str; 23] = [
    "via",
    "from",
    "to",
    "remote_binary",
    "forget",
    "typed",
    "lab",
    "kernel",
    "json",
    "json_stream",
    "stop_at_eof",
    "dry_run",
    "quiet",
    "verbose",
    "live",
    "fail_if",
    "require",
    "output",
    "no_report",
    "color",
    "key_of_input",
    "key_of_environment",
    "credentials",
];

/// Measures between the hosts that were named, or forgets them.
///
/// # Errors
/// If a host cannot do its part, or is lost. What was measured until then is stored and shown.
pub fn execute(args: &RunArgs, context: &Context) -> Result<Outcome, Failure> {
    if !args.ssh.forget.is_empty() {
        return forget(args, context);
    }
    let end = |option: &str, typed: &Option<String>| {
        typed.as_deref().map(|text| host(option, text)).transpose()
    };
    let hosts = PerSide { from: end("--from", &args.lab.from)?, to: end("--to", &args.lab.to)? };
    let named = hosts.to.as_ref().or(hosts.from.as_ref()).map(Host::to_string);
    let Some(named) = named else {
        let what = "--via ssh measures between --from USER@HOST and --to USER@HOST, or one of them";
        return Err(Failure::usage(what).run("v6gap run --help", "shows examples"));
    };
    let plan = plan(&args.design, None, args.only())?;
    if args.result.dry_run {
        return expect::dry_run(&plan, Some(&named), true, args.result.json, context);
    }
    let asked = Asked {
        hosts,
        ssh: context.ssh.clone(),
        program: std::env::current_exe().map_err(|e| Failure::unexpected(e.to_string()))?,
        binaries: args.ssh.remote_binary.clone(),
        port: args.connect.port,
        given: PerFamily { v4: args.connect.four.is_some(), v6: args.connect.six.is_some() },
        words: words(&context.typed)?,
        typed: context.typed.clone(),
        time_ns: match plan.design.stop {
            Stop::Adaptive { time_ns_max, .. } => time_ns_max,
            Stop::Pairs { .. } => COUNTED_NS,
        },
    };
    let stop = session::interruptible()?;
    if args.result.stop_at_eof {
        session::stop_at_end_of_input(&stop);
    }
    measured(args, &asked, &stop, context)
}

fn measured(
    args: &RunArgs,
    asked: &Asked,
    stop: &AtomicBool,
    context: &Context,
) -> Result<Outcome, Failure> {
    let mut shown = Shown::new(args);
    let mut told = |tidings: &Tidings<'_>| shown.told(tidings);
    let Done { ended, export } = via::measure(asked, &context.store, &mut told, stop);
    let Ended { run, left, trouble, stopped } = ended;
    let concluded = run.as_ref().map(|id| {
        index::settle(&context.store, id);
        session::conclude(id, Some(asked.port), &args.result, context)
    });
    if let Some(trouble) = trouble {
        let failure = Failure::from(trouble);
        return Err(match (&left, &run) {
            (Some(left), _) => failure.left(left, asked.hosts.from.as_ref(), export.as_deref()),
            (None, Some(id)) => failure
                .seen(format!("What was measured until then is kept as {id}."))
                .run(format!("v6gap show {id}"), "shows it again"),
            (None, None) => failure,
        });
    }
    match concluded {
        Some(concluded) if stopped => concluded.map(|_| Outcome::Interrupted),
        Some(concluded) => concluded,
        None => Err(Failure::unexpected("nothing was measured, and nobody said why")),
    }
}

fn forget(args: &RunArgs, context: &Context) -> Result<Outcome, Failure> {
    let stop = session::interruptible()?;
    for text in &args.ssh.forget {
        let host = host("--forget", text)?;
        via::forget(&context.ssh, &host, &stop)?;
        output::to_stdout(&format!("{host}: nothing of v6gap is there"));
    }
    Ok(Outcome::Done)
}

fn host(option: &str, text: &str) -> Result<Host, Failure> {
    Host::parse(text).map_err(|why| Failure::usage(format!("{option} {text:?} {why}")))
}

/// What was typed for whoever measures, each option in its long form.
fn words(typed: &[String]) -> Result<Vec<String>, Failure> {
    let unexpected = |e: clap::Error| Failure::unexpected(e.to_string());
    let matches = Cli::command().try_get_matches_from(typed).map_err(unexpected)?;
    let command = Cli::command();
    let run = command.find_subcommand("run").zip(matches.subcommand_matches("run"));
    let Some((command, matches)) = run else { return Ok(Vec::new()) };
    let mut words = Vec::new();
    for option in command.get_arguments() {
        let id = option.get_id().as_str();
        let Some(long) = option.get_long().filter(|_| !HERE.contains(&id)) else { continue };
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if !option.get_action().takes_values() {
            words.push(format!("--{long}"));
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            words.push(format!("--{long}={}", value.to_string_lossy()));
        }
    }
    Ok(words)
}

/// What is shown meanwhile.
struct Shown {
    quiet: bool,
    streams: bool,
    last_ns: u64,
}

impl Shown {
    fn new(args: &RunArgs) -> Self {
        Shown { quiet: args.result.quiet, streams: args.result.json_stream, last_ns: 0 }
    }

    fn told(&mut self, tidings: &Tidings<'_>) {
        match tidings {
            Tidings::Reached { host, system, has_program: true } => {
                self.say(&format!("{host}: {system}, this program is there"));
            }
            Tidings::Reached { host, system, .. } => {
                self.say(&format!("{host}: {system}, copying this program"));
            }
            Tidings::Copies { host, bytes, of } => {
                let (bytes, of) = (format_bytes(*bytes), format_bytes(*of));
                self.now_and_then(&format!("{host}: {bytes} of {of} copied"));
            }
            Tidings::Copied { host, bytes, took_ns, place } => {
                let (bytes, took) = (format_bytes(*bytes), format_span(*took_ns as f64));
                self.say(&format!(
                    "{host}: copied ({bytes}, {took}), kept as ~/{place}; --forget {host} \
                     removes it"
                ));
            }
            Tidings::Kept { host, jobs } => {
                let (many, list) = (results(jobs.len()), "ls .cache/v6gap/jobs");
                self.say(&format!("note: {host} holds {many} that were not fetched: {list}"));
            }
            Tidings::Begins => self.say("measuring"),
            Tidings::Line(line) if self.streams => output::to_stdout(line),
            Tidings::Line(_) => {}
            Tidings::State(text) => self.say(text),
            Tidings::Pairs(pairs, seconds) => {
                self.now_and_then(&format!("{pairs} pairs, {seconds} s"));
            }
            Tidings::Fetched => self.say("the result is here"),
        }
    }

    fn say(&mut self, text: &str) {
        if !self.quiet {
            output::to_stderr(text);
        }
    }

    fn now_and_then(&mut self, text: &str) {
        let now_ns = now_ns();
        if self.last_ns == 0 || now_ns.saturating_sub(self.last_ns) >= LINE_EVERY_NS {
            self.last_ns = now_ns;
            self.say(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(line: &str) -> String {
        let typed = format!("v6gap run --via ssh --from a --to b {line}");
        let typed: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
        words(&typed).unwrap().join(" ")
    }

    #[test]
    fn what_is_measured_is_passed_on_and_what_becomes_of_it_is_not() {
        assert_eq!(passed(""), "");
        assert_eq!(passed("-Jq --fail-if worse -o a.html --color never"), "");
        let words = passed("--measure rtt,connect --pairs 8 -4 -p 5000 --margin rtt=5%");
        for word in ["--measure=rtt", "--measure=connect", "--pairs=8", "--ipv4", "--port=5000"] {
            assert!(words.split(' ').any(|found| found == word), "{words}");
        }
        assert!(words.contains("--margin=rtt=5%"), "{words}");
    }

    /// The words of an end are understood by this program's own parser.
    #[test]
    fn ends_are_commands_of_this_program() {
        use clap::Parser;
        let run = format!(
            "v6gap run rome1 --v4=192.0.2.1 {} --json-stream --quiet --stop-at-eof --no-report \
             --json-errors --key-of-input --typed=v6gap --typed=run --typed=--via",
            passed("--measure rtt --pairs 8")
        );
        let serve = "v6gap serve -1 --quiet --stop-at-eof --key-of-input --json-errors --port 5000";
        for line in [run.as_str(), serve] {
            let parsed = Cli::try_parse_from(line.split_whitespace());
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }
}
