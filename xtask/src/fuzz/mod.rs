//! Fuzzing: the targets of `crates/fuzz` under libFuzzer, faults that they must find, and the
//! unsafe code under tools that see what it does to memory.
//!
//! That takes a nightly compiler; all else in this repository does not. Where it is missing, this
//! verb and the night say so and fail, and the tests only play the stored corpora.

mod duration;
mod faults;
mod memory;
mod run;
mod toolchain;

use crate::outcome::Outcome;
use run::Sanitizer;
use std::time::Duration;

/// How long the night gives each target.
const NIGHT_EACH: Duration = Duration::from_secs(30);

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    total: Option<Duration>,
    runs: Option<u64>,
    targets: Vec<String>,
    report: Option<String>,
    setup: bool,
    minimise: bool,
    faults: bool,
    memory: bool,
    fast: bool,
}

/// The verb with its options.
pub fn verb(args: &[&str]) -> Result<(), String> {
    let options = parse(args)?;
    if options.setup {
        toolchain::install()?;
    }
    let tools = toolchain::find()?;
    let sanitizer = if options.fast { Sanitizer::None } else { Sanitizer::Address };
    let mut summaries = Vec::new();
    let mut failed = Vec::new();
    if options.faults {
        let (summary, outcome) = faults::all(&tools, &options.targets, sanitizer)?;
        summaries.push(summary);
        failed.extend(outcome.err());
    }
    if options.memory {
        let (summary, outcome) = memory::all(&tools);
        summaries.push(summary);
        if let Outcome::Failed(why) | Outcome::Skipped(why) = outcome {
            failed.push(why);
        }
    }
    let searches = options.total.is_some() || options.runs.is_some() || options.minimise;
    if searches {
        run::build(&tools, "", sanitizer)?;
        let targets = run::targets(&options.targets)?;
        if options.minimise {
            return targets.iter().try_for_each(|name| run::minimise(name));
        }
        let each = options.total.map(|total| total / targets.len() as u32);
        let (summary, outcome) = run::all(&targets, each, options.runs);
        summaries.push(summary);
        failed.extend(outcome.err());
    }
    let summary = summaries.join("\n");
    print!("\n{summary}");
    if let Some(path) = &options.report {
        std::fs::write(path, &summary).map_err(|e| format!("{path}: {e}"))?;
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// The night's share: a short search by each target, and the unsafe code under its tools. With
/// `setup` what they need is installed first.
pub fn night(setup: bool) -> Outcome {
    let installed = if setup { toolchain::install() } else { Ok(()) };
    let tools = match installed.and_then(|()| toolchain::find()) {
        Ok(tools) => tools,
        // Said by the day's tests no word of, so it is a failure here.
        Err(why) => return Outcome::Failed(why),
    };
    let search = || -> Result<(), String> {
        run::build(&tools, "", Sanitizer::Address)?;
        let (summary, outcome) = run::all(&run::targets(&[])?, Some(NIGHT_EACH), None);
        print!("\n{summary}");
        outcome
    };
    let searched = search();
    let (summary, looked) = memory::all(&tools);
    print!("\n{summary}");
    match (searched, looked) {
        (Err(why), Outcome::Failed(more)) => Outcome::Failed(format!("{why}\n{more}")),
        (Err(why), _) => Outcome::Failed(why),
        (Ok(()), looked) => looked,
    }
}

fn parse(args: &[&str]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        let mut value = || rest.next().copied().ok_or(format!("{option} needs a value"));
        match *option {
            "--for" => options.total = Some(duration::parse(value()?)?),
            "--runs" => {
                let text = value()?;
                let runs = text.parse().map_err(|_| format!("--runs: {text:?} is no number"))?;
                options.runs = Some(runs);
            }
            "--target" => options.targets.push(value()?.to_owned()),
            "--report" => options.report = Some(value()?.to_owned()),
            "--setup" => options.setup = true,
            "--minimise" => options.minimise = true,
            "--faults" => options.faults = true,
            "--memory" => options.memory = true,
            "--fast" => options.fast = true,
            other => return Err(format!("fuzz knows no option {other}")),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let options = parse(&["--for", "2 min", "--target", "header", "--target", "status"]);
        let expected = Options {
            total: Some(Duration::from_secs(120)),
            targets: vec!["header".to_owned(), "status".to_owned()],
            ..Options::default()
        };
        assert_eq!(options, Ok(expected));
        assert!(parse(&["--for"]).is_err());
        assert!(parse(&["--runs", "many"]).is_err());
        assert!(parse(&["--verbose"]).is_err());
    }
}
