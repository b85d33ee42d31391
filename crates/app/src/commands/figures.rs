//! `figures`: every figure of stored results as files for a paper.

use super::stored::{self, Stored};
use crate::args::{FigureFormat, FiguresArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use std::path::Path;
use v6gap_core::record::RunId;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::compare::{Compared, compare};
use v6gap_report::figure::{self, Figure, Paint};
use v6gap_report::paper;

/// Points in a millimetre.
const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// Smallest text that is read in print, in points; what is shown as that is that.
const TEXT_PT_MIN: f64 = 7.95;

/// Writes the figures and says where.
///
/// # Errors
/// If a result is not there, none has figures, they do not belong into one picture, or a file
/// cannot be written.
pub fn execute(args: &FiguresArgs, context: &Context) -> Result<Outcome, Failure> {
    let results = stored::load_all(&args.references, context)?;
    let analyses: Vec<&Analysis> = results.iter().map(|result| &result.analysis).collect();
    // What is refused is refused before anything is written.
    let joint = match args.facsimile {
        true => stored::joint(&analyses, &args.label, Paint::Paper)?,
        false => Vec::new(),
    };
    let mut of_all = joint;
    of_all.extend(beside(&results));
    if args.list {
        output::to_stdout(&list(&analyses, &of_all, args));
        return Ok(Outcome::Done);
    }
    if args.output == Path::new("-") {
        return to_stdout(&analyses, args);
    }
    if let Some(only) = &args.only {
        of_all.retain(|figure| figure.id == *only);
    }
    let figures: Vec<Vec<Figure>> = match args.only.is_some() && !of_all.is_empty() {
        true => Vec::new(),
        false => analyses.iter().map(|one| chosen(one, args)).collect::<Result<_, _>>()?,
    };
    for (analysis, figures) in analyses.iter().zip(&figures) {
        write(figures, &[*analysis], args)?;
        if args.facsimile {
            stored::note_facsimile(analysis);
        }
    }
    write(&of_all, &analyses, args)?;
    if figures.iter().all(Vec::is_empty) && of_all.is_empty() {
        return Err(nothing(&analyses));
    }
    let width_mm = args.width_mm();
    let text_pt = figure::TEXT_SIZE * width_mm / figure::WIDTH * POINTS_PER_MM;
    if text_pt < TEXT_PT_MIN {
        output::to_stderr(&format!(
            "note: at {width_mm} mm the text is {text_pt:.1} points; --for lncs and wider have 8 \
             and more"
        ));
    }
    Ok(Outcome::Done)
}

/// What several results have beside each other, where they can be compared.
fn beside(results: &[Stored]) -> Vec<Figure> {
    let compared: Vec<Compared<'_>> = results
        .iter()
        .map(|result| Compared { analysis: &result.analysis, lines: &result.lines })
        .collect();
    compare(&compared, &[]).map(|found| figure::systems(&found, Paint::Paper)).unwrap_or_default()
}

/// All figures of a result, or the one that was asked for.
fn chosen(analysis: &Analysis, args: &FiguresArgs) -> Result<Vec<Figure>, Failure> {
    let mut figures = figure::all(analysis, Paint::Paper, args.facsimile);
    let Some(only) = &args.only else { return Ok(figures) };
    let by_name = figures.iter().position(|figure| figure.id == *only);
    let by_number = || only.parse::<usize>().ok()?.checked_sub(1).filter(|&n| n < figures.len());
    match by_name.or_else(by_number) {
        Some(at) => Ok(vec![figures.swap_remove(at)]),
        None => {
            let id = &analysis.run.id;
            let what = format!("{id} has no figure \"{only}\"");
            let list = format!("v6gap figures {id} --list");
            Err(Failure::usage(what).run(list, "names them"))
        }
    }
}

/// Run, number, name and title of every figure, as JSON; those of all results together have
/// neither run nor number.
fn list(analyses: &[&Analysis], of_all: &[Figure], args: &FiguresArgs) -> String {
    let mut entries: Vec<Value> = Vec::new();
    for analysis in analyses {
        let figures = figure::all(analysis, Paint::Paper, args.facsimile);
        let own =
            |(at, figure): (usize, &Figure)| entry(Some(&analysis.run.id), Some(at + 1), figure);
        entries.extend(figures.iter().enumerate().map(own));
    }
    entries.extend(of_all.iter().map(|figure| entry(None, None, figure)));
    output::document(&Value::from(entries))
}

fn entry(run: Option<&RunId>, number: Option<usize>, figure: &Figure) -> Value {
    json!({"run": run, "number": number, "name": figure.id, "title": figure.title})
}

/// One figure in one form, and nothing else.
fn to_stdout(analyses: &[&Analysis], args: &FiguresArgs) -> Result<Outcome, Failure> {
    let ([analysis], [format], Some(_)) = (analyses, &args.format[..], &args.only) else {
        let what = "standard output holds one figure of one result in one form";
        let example = "v6gap figures last --only 1 --format pdf -o -";
        return Err(Failure::usage(what).run(example, ""));
    };
    for figure in chosen(analysis, args)? {
        let (_, content) = drawn(&figure, &[*analysis], args.width_mm(), *format)?;
        output::bytes_to_stdout(&content);
    }
    Ok(Outcome::Done)
}

fn nothing(analyses: &[&Analysis]) -> Failure {
    let ids: Vec<&str> = analyses.iter().map(|analysis| analysis.run.id.as_str()).collect();
    let what = match &ids[..] {
        [one] => format!("the result {one} has nothing to draw"),
        all => format!("the results {} have nothing to draw", all.join(", ")),
    };
    let failure = Failure::new("V603", Outcome::NotValid, what)
        .seen("A figure needs pairs that count, or several sizes of one question.");
    ids.into_iter().fold(failure, |failure, id| {
        failure.run(format!("v6gap show {id}"), "shows what was measured")
    })
}

/// Writes figures of these results in every form that was asked for, with their captions.
fn write(figures: &[Figure], runs: &[&Analysis], args: &FiguresArgs) -> Result<(), Failure> {
    let ids: Vec<&str> = runs.iter().map(|analysis| analysis.run.id.as_str()).collect();
    for figure in figures {
        let name = format!("{}-{}", ids.join("-"), figure.id);
        for format in &args.format {
            let (ending, content) = drawn(figure, runs, args.width_mm(), *format)?;
            stored::write_file(&args.output.join(format!("{name}.{ending}")), content)?;
        }
        let caption = paper::caption(figure, runs);
        stored::write_file(&args.output.join(format!("{name}.caption.txt")), caption)?;
    }
    Ok(())
}

/// The ending of a file and what is in it.
fn drawn(
    figure: &Figure,
    runs: &[&Analysis],
    width_mm: f64,
    format: FigureFormat,
) -> Result<(&'static str, Vec<u8>), Failure> {
    let (ending, content) = match format {
        FigureFormat::Svg => ("svg", Some(paper::svg(figure, runs, width_mm).into_bytes())),
        FigureFormat::Pdf => ("pdf", paper::pdf(figure, runs, width_mm)),
        FigureFormat::Png => ("png", paper::png(figure, runs, width_mm)),
        FigureFormat::Csv => ("csv", Some(paper::csv(figure).into_bytes())),
        FigureFormat::Json => ("json", Some(paper::json(figure).into_bytes())),
    };
    let content = content.ok_or_else(|| {
        let what = format!("the figure {} cannot be written as {ending}", figure.id);
        Failure::new("V603", Outcome::NotValid, what)
    })?;
    Ok((ending, content))
}
