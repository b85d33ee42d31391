//! `figures`: every figure of a stored result as files for a paper.

use super::stored;
use crate::args::{FigureFormat, FiguresArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Context;
use v6gap_core::analysis::Analysis;
use v6gap_report::figure::{self, Figure, Paint};
use v6gap_report::paper;

/// Points in a millimetre.
const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// Smallest text that is read in print, in points; what is shown as that is that.
const TEXT_PT_MIN: f64 = 7.95;

/// Writes the figures and says where.
///
/// # Errors
/// If the result is not there, has no figures, or a file cannot be written.
pub fn execute(args: &FiguresArgs, context: &Context) -> Result<Outcome, Failure> {
    let result = stored::load(&args.reference, context)?;
    let analysis = &result.analysis;
    let figures = figure::all(analysis, Paint::Paper, args.facsimile);
    if figures.is_empty() {
        let what = format!("the result {} has nothing to draw", analysis.run.id);
        return Err(Failure::new("V603", Outcome::NotValid, what)
            .seen("A figure needs pairs that count, or several sizes of one question.")
            .run(format!("v6gap show {}", analysis.run.id), "shows what was measured"));
    }
    let width_mm = args.width_mm();
    for figure in &figures {
        let name = format!("{}-{}", analysis.run.id, figure.id);
        for format in &args.format {
            let (ending, content) = drawn(figure, analysis, width_mm, *format)?;
            stored::write_file(&args.output.join(format!("{name}.{ending}")), content)?;
        }
        let caption = paper::caption(figure, analysis);
        stored::write_file(&args.output.join(format!("{name}.caption.txt")), caption)?;
    }
    if args.facsimile {
        stored::note_facsimile(analysis);
    }
    let text_pt = figure::TEXT_SIZE * width_mm / figure::WIDTH * POINTS_PER_MM;
    if text_pt < TEXT_PT_MIN {
        output::to_stderr(&format!(
            "note: at {width_mm} mm the text is {text_pt:.1} points; --for lncs and wider have 8 \
             and more"
        ));
    }
    Ok(Outcome::Done)
}

/// The ending of a file and what is in it.
fn drawn(
    figure: &Figure,
    analysis: &Analysis,
    width_mm: f64,
    format: FigureFormat,
) -> Result<(&'static str, Vec<u8>), Failure> {
    let (ending, content) = match format {
        FigureFormat::Svg => ("svg", Some(paper::svg(figure, analysis, width_mm).into_bytes())),
        FigureFormat::Pdf => ("pdf", paper::pdf(figure, analysis, width_mm)),
        FigureFormat::Png => ("png", paper::png(figure, analysis, width_mm)),
        FigureFormat::Csv => ("csv", Some(paper::csv(figure).into_bytes())),
    };
    let content = content.ok_or_else(|| {
        let what = format!("the figure {} cannot be written as {ending}", figure.id);
        Failure::new("V603", Outcome::NotValid, what)
    })?;
    Ok((ending, content))
}
