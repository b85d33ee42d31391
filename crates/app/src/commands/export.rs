//! `export`: a stored result for other programs, to a file or to standard output.

use super::stored;
use crate::args::{ExportArgs, ExportFormat};
use crate::failure::{Failure, Outcome};
use crate::settings::Context;
use v6gap_core::record;
use v6gap_report::{csv_questions, csv_trials, json, latex, markdown};

/// Writes a stored result.
///
/// # Errors
/// If it is not there, or the file cannot be written.
pub fn execute(args: &ExportArgs, context: &Context) -> Result<Outcome, Failure> {
    let result = stored::load(&args.reference, context)?;
    let text = match args.format {
        ExportFormat::Jsonl => {
            result.lines.iter().map(|line| record::encode(line) + "\n").collect()
        }
        ExportFormat::Csv => csv_trials(&result.lines),
        ExportFormat::Json => json(&result.analysis),
        ExportFormat::Table => csv_questions(&result.analysis),
        ExportFormat::Md => markdown(&result.analysis),
        ExportFormat::Latex => latex(&result.analysis),
    };
    stored::write(&text, args.output.as_deref())?;
    Ok(Outcome::Done)
}
