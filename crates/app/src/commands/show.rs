//! `show`: a stored result again, as text, Markdown, LaTeX, Org, CSV or JSON.

use super::stored::{self, Stored};
use crate::args::{ShowArgs, ShowFormat};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use v6gap_report::text::Style;
use v6gap_report::{csv_questions, csv_trials, json, latex, markdown, org};

/// Shows a stored result.
///
/// # Errors
/// If it is not there or cannot be read.
pub fn execute(args: &ShowArgs, context: &Context) -> Result<Outcome, Failure> {
    let result = stored::load_told(&args.reference, context)?;
    let style = &context.output.results;
    let format = if args.json { ShowFormat::Json } else { args.format };
    output::to_stdout(&match format {
        ShowFormat::Text => in_words(&result, args.verbose, style),
        ShowFormat::Md => markdown(&result.analysis),
        ShowFormat::Latex => latex(&result.analysis),
        ShowFormat::Org => org(&result.analysis),
        ShowFormat::Table => csv_questions(&result.analysis),
        ShowFormat::Csv => csv_trials(&result.lines),
        ShowFormat::Json => json(&result.analysis),
    });
    // The program ends here; giving a long journal back piece by piece would only take time.
    std::mem::forget(result);
    Ok(Outcome::Done)
}

/// The text, and where a check took the place of the verdicts the code of that.
fn in_words(result: &Stored, verbose: bool, style: &Style) -> String {
    let text = session::in_words(&result.analysis, &result.lines, verbose, style);
    let code = v6gap_report::code(&result.analysis);
    text + &code.map(|code| output::fit(style, &format!("[{code}]\n"))).unwrap_or_default()
}
