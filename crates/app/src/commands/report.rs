//! `report`: writes the page of stored results and says where.

use super::stored;
use crate::args::ReportArgs;
use crate::browser;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use std::path::{Path, PathBuf};
use v6gap_report::html::{self, PageInfo};
use v6gap_report::sockets;
use v6gap_store::RunName;

/// Writes the report of each result, beside it or where `-o` says, and shows it if asked to.
///
/// # Errors
/// If a result is not there, or the page cannot be written, or not be shown from where it is.
pub fn execute(args: &ReportArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.output.is_some() && args.references.len() > 1 {
        return Err(Failure::usage("-o names one file, and more than one result was asked for"));
    }
    if args.open && args.output.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage("--open shows a file, and -o - writes none"));
    }
    for reference in &args.references {
        let result = stored::load_told(reference, context)?;
        let command = session::repeat(&result.analysis, None);
        let (sockets, facsimile) = (sockets(&result.lines), args.facsimile);
        let info = PageInfo { title: "", command: &command, sockets: &sockets, facsimile };
        let page = html::page(&result.analysis, &info);
        let written = match &args.output {
            Some(path) => stored::write(&page, Some(path)).map(|()| path.clone())?,
            None => beside(&result.name, &page, context)?,
        };
        if args.open {
            browser::open(&written);
        }
        if facsimile {
            stored::note_facsimile(&result.analysis);
        }
    }
    Ok(Outcome::Done)
}

/// Writes the page to where the result lies, whatever the result calls itself.
fn beside(result: &RunName, page: &str, context: &Context) -> Result<PathBuf, Failure> {
    let path = context.store.write_report_of(result, page)?;
    output::to_stdout(&output::shown(&path));
    Ok(path)
}
