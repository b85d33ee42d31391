//! The end of a measurement: the answer on the screen, the report on the disk, the exit code.

use super::repeat;
use crate::alike;
use crate::alone;
use crate::args::ResultArgs;
use crate::conditions;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::output;
use crate::settings::Context;
use v6gap_core::record::{Ending, Line, RunId};
use v6gap_judge::analysis::{self, Analysis};
use v6gap_report::html::{self, PageInfo};
use v6gap_report::stream;
use v6gap_report::text::{self, Style};
use v6gap_store::{Lagging, Store};

/// Reads the stored run again, so that what is shown now is what `show` will show, and writes it.
/// `port` is that of the server, for the command that repeats the run.
///
/// # Errors
/// If the run cannot be read or the report cannot be written.
pub fn conclude(
    id: &RunId,
    port: Option<u16>,
    result: &ResultArgs,
    context: &Context,
) -> Result<Outcome, Failure> {
    let lagging = context.store.lagging(id);
    let lines = context.store.read_run(id)?;
    say(&lines, lagging, port, result, context)
}

/// Analyses the lines of a run, and writes and says what came out; the summary too of one that is
/// stored and was looked at before its lines were read.
///
/// # Errors
/// If the report cannot be written.
pub fn say(
    lines: &[Line],
    lagging: Option<Lagging>,
    port: Option<u16>,
    result: &ResultArgs,
    context: &Context,
) -> Result<Outcome, Failure> {
    let mut analysis = analysis::analyse(lines).map_err(|e| Failure::unexpected(e.to_string()))?;
    index::keep(lagging, &analysis, lines, context);
    // What is stored beside it tells more, and keeps no answer back.
    let stored = index::all(&context.store).unwrap_or_default();
    alike::tell(&mut analysis, lines, &stored, &context.store);
    let report = (!result.no_report).then(|| report(lines, &analysis, port, result, context));
    let report = report.transpose();
    let for_programs = result.json || result.json_stream;
    let style = match for_programs {
        true => &context.output.errors,
        false => &context.output.results,
    };
    let mut said = in_words(&analysis, lines, result.verbose, style);
    if let Some(code) = v6gap_report::code(&analysis) {
        said.push_str(&output::fit(style, &format!("[{code}{}]\n", exit(lines))));
    }
    if let Ok(Some(path)) = &report {
        said.push_str(&output::fit(style, &format!("Report as a page: {path}\n")));
    }
    match for_programs {
        true if result.quiet => {}
        true => output::to_stderr(&said),
        false => output::to_stdout(&said),
    }
    if result.json {
        output::to_stdout(&v6gap_report::json(&analysis));
    }
    if result.json_stream {
        output::to_stdout(&stream::end(&analysis));
        output::to_stdout(&v6gap_report::json_line(&analysis));
    }
    // Whatever became of the page, the answer was told before.
    report.map(|_| conditions::outcome(result, &analysis)).map_err(|failure| {
        let id = &analysis.run.id;
        match stored.row(id) {
            Some(_) => failure
                .seen(format!("The result is kept as {id}."))
                .run(format!("v6gap report {id}"), "writes its page again"),
            None => failure,
        }
    })
}

/// How the program ends after a run whose check failed, as its code is told. What was stopped or
/// broken off ends otherwise.
fn exit(lines: &[Line]) -> &'static str {
    match lines.last() {
        Some(Line::End(Ending::Complete)) => ", exit 6",
        _ => "",
    }
}

/// The result as text. Of one family alone there are only values, with or without `verbose`.
pub fn in_words(analysis: &Analysis, lines: &[Line], verbose: bool, style: &Style) -> String {
    match (alone::single_family(analysis), verbose) {
        (Some(family), _) => output::fit(style, &alone::table(analysis, family)),
        (None, true) => text::verbose(analysis, lines, style),
        (None, false) => text::table(analysis, style),
    }
}

fn report(
    lines: &[Line],
    analysis: &Analysis,
    port: Option<u16>,
    result: &ResultArgs,
    context: &Context,
) -> Result<String, Failure> {
    let command = repeat(analysis, port);
    let sockets = v6gap_report::sockets(lines);
    let info = PageInfo { title: "", command: &command, sockets: &sockets, facsimile: false };
    let page = html::page(analysis, &info);
    let path = match &result.output {
        Some(path) => {
            Store::write_file(path, page)?;
            path.clone()
        }
        None => context.store.write_report(&analysis.run.id, &page)?,
    };
    Ok(output::shown(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_told_of_runs_that_end_with_it() {
        assert_eq!(exit(&[Line::End(Ending::Complete)]), ", exit 6");
        assert_eq!(exit(&[Line::End(Ending::Stopped)]), "");
        assert_eq!(exit(&[]), "");
    }
}
