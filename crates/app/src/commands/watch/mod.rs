//! `watch`: measure paths again and again, and look at what was found.

mod history;
mod lines;
mod metrics;
mod status;
mod strips;
mod unit;

use crate::args::{WatchArgs, WatchCommand, WatchedArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use lines::Lines;
use metrics::Told;
use v6gap_core::watch::Watch;
use v6gap_core::watch::check::check;
use v6gap_core::watch::draft::{Draft, PathDraft, VERSION};
use v6gap_perform::always;
use v6gap_perform::always::teller::{Hearer, OnChange};
use v6gap_report::changes;
use v6gap_store::read_watch_file;

/// Watches, or does what is asked with a watch.
///
/// # Errors
/// If it cannot be begun, or what it finds cannot be stored.
pub fn execute(args: &WatchArgs, context: &Context) -> Result<Outcome, Failure> {
    match &args.command {
        Some(WatchCommand::Status(args)) => status::execute(args, context),
        Some(WatchCommand::History(args)) => history::execute(args, context),
        None => go_on(&args.watched, context),
    }
}

fn go_on(args: &WatchedArgs, context: &Context) -> Result<Outcome, Failure> {
    let watch = described(args)?;
    let on_change = hearer(args, &watch)?.map(|to| OnChange { to, document: changes::event_json });
    let program = std::env::current_exe().map_err(|e| Failure::unexpected(e.to_string()))?;
    if args.unit {
        output::to_stdout(&unit::text(&program, args, &context.typed)?);
        return Ok(Outcome::Done);
    }
    let stop = session::stopper()?;
    let listen = watch.listen.map(|listen| Told::start(listen, &watch, &context.store));
    let mut metrics = listen.transpose()?;
    let mut lines = Lines::default();
    let mut told = |tidings: &always::Tidings<'_>| {
        // Before it is said, so that whoever read of it can ask.
        if let Some(metrics) = &mut metrics {
            metrics.take(tidings);
        }
        if let Some(line) = lines.of(tidings) {
            output::to_stdout(&output::fit(&context.output.results, &line));
        }
    };
    always::watch(watch, &program, &context.store, on_change, &mut told, &stop)?;
    Ok(Outcome::Done)
}

/// Who is told of changes: as it was typed, or else as it is written.
fn hearer(args: &WatchedArgs, watch: &Watch) -> Result<Option<Hearer>, Failure> {
    if args.on_change.is_some() {
        return Ok(args.on_change.clone());
    }
    let written = watch.on_change.as_deref().map(Hearer::parse).transpose();
    written.map_err(|why| Failure::usage(format!("on_change: {why}")))
}

/// The watch of the file or of the options.
fn described(args: &WatchedArgs) -> Result<Watch, Failure> {
    if let Some(file) = &args.config {
        return Ok(read_watch_file(file, &mut |draft| overall(args, draft))?);
    }
    if let Some(file) = args.targets.iter().find(|target| target.ends_with(".toml")) {
        let what = format!("{file} is called as a file is, and no host");
        return Err(Failure::usage(what).run(format!("v6gap watch --config {file}"), ""));
    }
    let key_file = args.key_file.as_ref().map(|path| path.display().to_string());
    let path = |host: &String| PathDraft {
        host: host.clone(),
        with: args.with.clone(),
        time: args.time.clone(),
        measure: args.measure.clone(),
        port: args.port,
        key_file: key_file.clone(),
        mine: args.mine,
        ..PathDraft::default()
    };
    let paths = args.targets.iter().map(path).collect();
    let mut draft = Draft { v6gap: VERSION, paths, ..Draft::default() };
    overall(args, &mut draft);
    check(&draft).map_err(|problems| {
        let mut said = problems.into_iter().map(|problem| {
            let of = typed(&problem.key);
            let help = problem.help.map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{of}{}{help}", problem.what)
        });
        let what = said.next().unwrap_or_default();
        said.fold(Failure::usage(what), Failure::seen)
    })
}

/// What was typed that a problem is of, in front of what is wrong with it; nothing where that says
/// so itself.
fn typed(key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or_default();
    match name.split('[').next().unwrap_or_default() {
        "paths" | "name" => String::new(),
        "host" => "TARGET: ".to_owned(),
        name => format!("--{}: ", name.replace('_', "-")),
    }
}

/// What options say of all paths, in place of what is written.
fn overall(args: &WatchedArgs, draft: &mut Draft) {
    let replace = |written: &mut Option<String>, typed: &Option<String>| {
        if typed.is_some() {
            written.clone_from(typed);
        }
    };
    replace(&mut draft.every, &args.every);
    replace(&mut draft.throughput_every, &args.throughput_every);
    replace(&mut draft.budget, &args.budget);
    replace(&mut draft.listen, &args.listen);
    if !args.quiet.is_empty() {
        draft.quiet.clone_from(&args.quiet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use v6gap_core::watch::Kind;

    fn typed(line: &str) -> WatchArgs {
        let words = format!("v6gap watch {line}");
        match Cli::try_parse_from(words.split_whitespace()).unwrap().command {
            Command::Watch(args) => *args,
            _ => panic!("watch was typed"),
        }
    }

    #[test]
    fn what_is_typed_becomes_paths() {
        let args = typed("lab-b nas --every 30min --throughput-every 6h --budget 5GB/day -p 5000");
        let watch = described(&args.watched).unwrap();
        assert_eq!(watch.paths.len(), 2);
        assert_eq!(watch.paths[1].period_ns(Kind::Throughput), Some(6 * 3_600_000_000_000));
        assert_eq!(
            (watch.paths[0].reach.port, watch.budget_bytes),
            (Some(5000), Some(5_000_000_000))
        );
    }

    #[test]
    fn a_host_may_be_called_as_a_verb_where_another_one_is_named_first() {
        assert!(typed("status").command.is_some());
        assert!(typed("history lab-b --since 2d").command.is_some());
        assert_eq!(typed("lab-b status").watched.targets, ["lab-b", "status"]);
        for line in ["", "lab-b --config a.toml", "--config a.toml --port 1"] {
            let words = format!("v6gap watch {line}");
            assert!(Cli::try_parse_from(words.split_whitespace()).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        let text = |line: &str| described(&typed(line).watched).unwrap_err().what().to_owned();
        assert!(text("lab-b --every 10s").contains("apart"));
        assert!(text("lab-b --with prob").contains("did you mean \"probe\"?"));
        assert!(text("lab-b --budget 5GB").contains("5 GB/day"));
        assert!(text("lab-b lab-b").contains("two paths are called \"lab-b\""));
        assert!(text("lab-b watch.toml").contains("watch.toml is called as a file is"));
    }

    #[test]
    fn who_is_told_of_changes_is_written_or_typed() {
        let told = |line: &str, written: Option<&str>| {
            let args = typed(line).watched;
            let watch =
                Watch { on_change: written.map(str::to_owned), ..described(&args).unwrap() };
            hearer(&args, &watch).map_err(|failure| failure.what().to_owned())
        };
        let program = |name: &str| Ok(Some(Hearer::Program(name.into(), Vec::new())));
        assert_eq!(told("lab-b", None), Ok(None));
        assert_eq!(told("lab-b", Some("page")), program("page"));
        assert_eq!(told("lab-b --on-change mail", Some("page")), program("mail"));
        let service = told("lab-b", Some("https://hooks.example.net/v6gap"));
        assert!(matches!(service, Ok(Some(Hearer::Service(_)))), "{service:?}");
        let wrong = told("lab-b", Some("https://")).unwrap_err();
        assert!(wrong.starts_with("on_change: "), "{wrong}");
    }

    /// The words of every visit are understood by this program's own parser.
    #[test]
    fn visits_are_commands_of_this_program() {
        let id = "7k2f9q".parse().unwrap();
        for with in ["run", "probe", "stamp", "iperf3"] {
            let watch = described(&typed(&format!("lab-b --with {with}")).watched).unwrap();
            for kind in [Kind::Light, Kind::Throughput] {
                for continued in [None, Some(&id)] {
                    let words = watch.paths[0].line(kind, continued);
                    let heard = ["--json-stream", "--quiet", "--stop-at-eof", "--no-report"];
                    let all = std::iter::once("v6gap").chain(words.iter().map(String::as_str));
                    let parsed = Cli::try_parse_from(all.chain(heard));
                    assert!(parsed.is_ok(), "{words:?}: {parsed:?}");
                }
            }
        }
    }
}
