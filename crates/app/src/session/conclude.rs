//! The end of a measurement: the answer on the screen, the report on the disk, the exit code.

use crate::args::ResultArgs;
use crate::conditions;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use v6gap_core::analysis::{self, Analysis};
use v6gap_core::record::Line;
use v6gap_report::html::{self, PageInfo};
use v6gap_report::text;
use v6gap_store::{Reference, Store};

/// Reads the stored run again, so that what is shown now is what `show` will show, and writes it.
///
/// # Errors
/// If the run cannot be read or the report cannot be written.
pub fn conclude(id: &str, result: &ResultArgs, context: &Context) -> Result<Outcome, Failure> {
    let lines = context.store.read(&Reference::Id(id.to_owned()))?;
    let analysis = analysis::analyse(&lines).map_err(|e| Failure::unexpected(e.to_string()))?;
    let report = (!result.no_report).then(|| report(&lines, &analysis, result, context));
    let report = report.transpose()?;
    let style = match result.json {
        true => &context.output.errors,
        false => &context.output.results,
    };
    let mut said = match result.verbose {
        true => text::verbose(&analysis, &lines, style),
        false => text::table(&analysis, style),
    };
    if let Some(path) = &report {
        said.push_str(&output::fit(style, &format!("Report as a page: {path}\n")));
    }
    match (result.json, result.quiet) {
        (true, quiet) => {
            if !quiet {
                output::to_stderr(&said);
            }
            output::to_stdout(&v6gap_report::json(&analysis));
        }
        (false, _) => output::to_stdout(&said),
    }
    Ok(conditions::outcome(result, &analysis))
}

fn report(
    lines: &[Line],
    analysis: &Analysis,
    result: &ResultArgs,
    context: &Context,
) -> Result<String, Failure> {
    let path = match &result.output {
        Some(path) => path.clone(),
        None => context.store.report_path(&analysis.run.id),
    };
    let command = repeat(analysis);
    let sockets = v6gap_report::sockets(lines);
    let info = PageInfo { title: "", command: &command, sockets: &sockets };
    Store::write_file(&path, &html::page(analysis, &info))?;
    Ok(path.display().to_string())
}

/// The command that repeats a run with the same choices.
pub fn repeat(analysis: &Analysis) -> String {
    let run = &analysis.run;
    match &run.plan.world {
        Some(_) => format!("v6gap demo --seed {}", run.plan.seed),
        None => format!("v6gap run {} --seed {}", run.target, run.plan.seed),
    }
}
