//! `export`: a stored result for other programs, to files or to standard output.

use super::stored::{self, Stored};
use crate::args::{ExportArgs, ExportFormat};
use crate::failure::{Failure, Outcome};
use crate::session;
use crate::settings::Context;
use std::path::Path;
use v6gap_core::record;
use v6gap_judge::analysis::analyse;
use v6gap_report::{csv_questions, csv_trials, json, json_escaped, latex, markdown, parquet};
use v6gap_store::RunName;

/// How files of tables end.
const PARQUET: &str = "parquet";

/// Writes a stored result.
///
/// # Errors
/// If it is not there, or a file cannot be written.
pub fn execute(args: &ExportArgs, context: &Context) -> Result<Outcome, Failure> {
    let output = args.output.as_deref();
    if !args.anonymise && matches!(args.format, ExportFormat::Jsonl) {
        stored::write(&as_it_is(&args.reference, context)?, output)?;
        return Ok(Outcome::Done);
    }
    let result = match (args.anonymise, args.format) {
        (true, format) => nameless(&stored::load(&args.reference, context)?, format)?,
        // What `show` says in these forms.
        (false, ExportFormat::Json | ExportFormat::Md) => {
            stored::load_told(&args.reference, context)?
        }
        (false, _) => stored::load(&args.reference, context)?,
    };
    let text = match args.format {
        ExportFormat::Jsonl => {
            let lines = result.lines.iter();
            lines.map(|line| json_escaped(record::encode(line)) + "\n").collect()
        }
        ExportFormat::Csv => csv_trials(&result.lines),
        ExportFormat::Json => json(&result.analysis),
        ExportFormat::Table => csv_questions(&result.analysis),
        ExportFormat::Md => markdown(&result.analysis),
        ExportFormat::Latex => latex(&result.analysis),
        ExportFormat::Plan => plan(&result, context)?,
        ExportFormat::Parquet => {
            tables(&result, output.filter(|path| *path != Path::new("-")).ok_or_else(nowhere)?)?;
            return Ok(Outcome::Done);
        }
    };
    stored::write(&text, output)?;
    Ok(Outcome::Done)
}

/// The journal of a result, which has to be one, also with what only a later program knows.
fn as_it_is(reference: &str, context: &Context) -> Result<String, Failure> {
    v6gap_sys::host::memory::expect_much();
    let (lines, text) = context.store.lines_and_text(&RunName::parse(reference))?;
    analyse(&lines)?;
    Ok(stored::for_others(text))
}

/// The result of hosts without names. A plan as somebody wrote it may name anything.
fn nameless(result: &Stored, format: ExportFormat) -> Result<Stored, Failure> {
    if matches!(format, ExportFormat::Plan) {
        let what = "a plan is given back as it was written: nothing is taken out of it";
        return Err(Failure::usage(what));
    }
    let lines = record::anonymise(&result.lines)
        .map_err(|error| Failure::unexpected(format!("what names hosts cannot go: {error}")))?;
    let analysis = analyse(&lines)?;
    Ok(Stored { lines, analysis, name: result.name.clone() })
}

/// The plan of a run: the file that was measured, or what comes with the program and the line that
/// measures it again.
fn plan(result: &Stored, context: &Context) -> Result<String, Failure> {
    let analysis = &result.analysis;
    if let Some(text) = context.store.written_plan(&analysis.run.id) {
        return Ok(text);
    }
    let again = session::repeat(analysis, None);
    match session::preset_of(analysis) {
        Some(preset) => Ok(format!("# {again}\n\n{}", preset.text)),
        None => {
            let what = format!("the plan of {} is not stored as a file", analysis.run.id);
            Err(Failure::usage(what)
                .seen("It was made of options, or comes from an older version or another computer.")
                .run(again, "measures the same again"))
        }
    }
}

fn nowhere() -> Failure {
    Failure::usage("Parquet is three tables in a folder, and standard output takes none")
        .run("v6gap export last --format parquet -o FOLDER", "trials, pairs and histograms")
        .run("v6gap export last --format parquet -o trials.parquet", "the trials alone")
}

/// All tables into a folder, or the trials into a file of that kind.
fn tables(result: &Stored, to: &Path) -> Result<(), Failure> {
    let trials_alone = to.extension().is_some_and(|end| end == PARQUET);
    let [trials, pairs, histograms] = parquet(&result.lines, &result.analysis)
        .map_err(|error| Failure::unexpected(format!("the tables cannot be made: {error}")))?;
    if trials_alone {
        return stored::write_file(to, trials.bytes);
    }
    for table in [trials, pairs, histograms] {
        let file = to.join(table.name).with_extension(PARQUET);
        stored::write_file(&file, table.bytes)?;
    }
    Ok(())
}
