//! `cite`: what a paper says of a stored result.

use super::stored;
use crate::args::{CiteArgs, CiteFormat};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use v6gap_report::{CiteForm, bibtex, cite};

/// Widest line of the paragraph.
const WIDTH: usize = 78;

/// Writes the paragraph or its sources.
///
/// # Errors
/// If the result is not there or cannot be read.
pub fn execute(args: &CiteArgs, context: &Context) -> Result<Outcome, Failure> {
    let analysis = stored::load(&args.reference, context)?.analysis;
    let command = session::repeat(&analysis, None);
    let text = match args.format {
        CiteFormat::Text => output::wrap(&cite(&analysis, &command, CiteForm::Text), WIDTH, ""),
        CiteFormat::Latex => cite(&analysis, &command, CiteForm::Latex),
        CiteFormat::Bibtex => bibtex(&analysis),
    };
    let style = &context.output.results;
    output::to_stdout(&match args.format {
        CiteFormat::Text => output::fit(style, &text),
        CiteFormat::Latex | CiteFormat::Bibtex => text,
    });
    Ok(Outcome::Done)
}
