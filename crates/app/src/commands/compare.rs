//! `compare`: stored results against each other, the first for the reference.

use super::stored;
use crate::alike;
use crate::args::{CompareArgs, CompareFormat};
use crate::conditions;
use crate::failure::{Failure, Outcome};
use crate::settings::Context;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::compare::{CompareError, Compared, Comparison, compare};
use v6gap_report::figure::{Figure, Paint};
use v6gap_report::html::comparison_page;
use v6gap_report::text;
use v6gap_report::{csv_comparison, json_comparison, latex_comparison, markdown_comparison};

/// Compares stored results.
///
/// # Errors
/// If one is not there, or they have nothing in common.
pub fn execute(args: &CompareArgs, context: &Context) -> Result<Outcome, Failure> {
    let results = stored::load_all(&args.references, context)?;
    let compared: Vec<Compared<'_>> = results
        .iter()
        .map(|result| Compared { analysis: &result.analysis, lines: &result.lines })
        .collect();
    let stored = alike::of_any(&compared, &context.store);
    let comparison =
        compare(&compared, &stored).map_err(|error| refused(error, &args.references))?;
    let printed = printed(args, &compared)?;
    let text = render(args, &comparison, &printed, context);
    stored::write(&text, args.output.as_deref())?;
    if let Some(metric) = conditions::never_compared(args, &comparison) {
        let what = format!("--fail-if: {metric} is not compared, so nothing could fail");
        return Err(Failure::usage(what));
    }
    let outcome = conditions::outcome_of_comparison(args, &comparison);
    // The program ends here; giving long journals back piece by piece would only take time.
    std::mem::forget(results);
    Ok(outcome)
}

/// Pictures of the systems as the study printed its own, if they were asked for.
fn printed(args: &CompareArgs, compared: &[Compared<'_>]) -> Result<Vec<Figure>, Failure> {
    if !args.facsimile {
        return Ok(Vec::new());
    }
    if args.json || args.format != CompareFormat::Html {
        let figures = format!("v6gap figures {} --facsimile", args.references.join(" "));
        return Err(Failure::usage("--facsimile adds pictures to a page: --format html")
            .run(figures, "writes them as files"));
    }
    let analyses: Vec<&Analysis> = compared.iter().map(|run| run.analysis).collect();
    stored::joint(&analyses, &args.label, Paint::Page)
}

fn render(
    args: &CompareArgs,
    comparison: &Comparison,
    printed: &[Figure],
    context: &Context,
) -> String {
    match if args.json { CompareFormat::Json } else { args.format } {
        CompareFormat::Text => text::comparison(comparison, &context.output.results),
        CompareFormat::Html => comparison_page(comparison, printed, v6gap_perform::VERSION),
        CompareFormat::Md => markdown_comparison(comparison),
        CompareFormat::Latex => latex_comparison(comparison),
        CompareFormat::Csv => csv_comparison(comparison),
        CompareFormat::Json => json_comparison(comparison),
    }
}

/// What could not be compared, why, and what to do about it.
fn refused(error: CompareError, references: &[String]) -> Failure {
    let what = error.to_string();
    let first = references.first().map_or("last", String::as_str);
    match error {
        CompareError::TooFew(_) => {
            let reference = if first == "last" { "last~1" } else { first };
            Failure::usage(what)
                .run(format!("v6gap compare {reference} last"), "the reference first")
                .run("v6gap list", "shows what is stored")
        }
        CompareError::TooMany(_) => Failure::usage(what),
        CompareError::Twice(_) => Failure::usage(what)
            .seen("A result cannot differ from itself; a second run of the same set-up can.")
            .run("v6gap list", "shows what is stored"),
        CompareError::Arms { .. } => Failure::new("V602", Outcome::NotValid, what)
            .seen("A change can only be told between results that compare the same."),
        CompareError::NothingAlike { seen } => {
            let failure = Failure::new("V602", Outcome::NotValid, what);
            let compared = seen.into_iter().take(REASONS_MAX);
            compared
                .fold(failure, |failure, seen| failure.seen(format!("{seen}.")))
                .run(format!("v6gap report {first}"), "its last part repeats the run")
        }
    }
}

/// Most reasons that a refusal lists.
const REASONS_MAX: usize = 6;
