//! `report`: writes the page of stored results and says where.

use super::stored;
use crate::args::ReportArgs;
use crate::failure::{Failure, Outcome};
use crate::session;
use crate::settings::Context;
use v6gap_report::html::{self, PageInfo};
use v6gap_report::sockets;

/// Writes the report of each result, beside it or where `-o` says.
///
/// # Errors
/// If a result is not there, or the page cannot be written.
pub fn execute(args: &ReportArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.output.is_some() && args.references.len() > 1 {
        return Err(Failure::usage("-o names one file, and more than one result was asked for"));
    }
    for reference in &args.references {
        let result = stored::load(reference, context)?;
        let id = &result.analysis.run.id;
        let path = args.output.clone().unwrap_or_else(|| context.store.report_path(id));
        let command = session::repeat(&result.analysis, None);
        let (sockets, facsimile) = (sockets(&result.lines), args.facsimile);
        let info = PageInfo { title: "", command: &command, sockets: &sockets, facsimile };
        stored::write(&html::page(&result.analysis, &info), Some(&path))?;
        if facsimile {
            stored::note_facsimile(&result.analysis);
        }
    }
    Ok(Outcome::Done)
}
