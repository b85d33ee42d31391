//! Options of the verbs that serve papers: figures and the paragraph on the method.

use super::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Write the figures of stored results, for papers and slides
///
/// Every figure becomes files of the width asked for, in fixed colours that also differ in shape,
/// with its letters inside, so that it looks the same everywhere; beside them stands its caption.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap figures last
  v6gap figures 7k2f9q --for lncs --format pdf,csv -o paper/figures
  v6gap figures last --width 120 --format png
  v6gap figures last --list                             their numbers, names and titles
  v6gap figures last --only 2 --format pdf -o - > 2.pdf
  v6gap figures 5hd02w 7m1c3e --facsimile --label Debian --label Alpine")]
pub struct FiguresArgs {
    /// Identifiers or starts of them, last, last~1, last:HOST, or files
    #[arg(value_name = "RESULT", default_value = "last")]
    pub references: Vec<String>,
    /// Which files to write of each figure, besides its caption
    #[arg(short, long, value_name = "FORMATS", value_delimiter = ',', default_value = "svg,csv")]
    pub format: Vec<FigureFormat>,
    /// What they are for, which sets their width
    #[arg(long = "for", value_name = "WHAT", default_value = "a4")]
    pub target: FigureTarget,
    /// Width in mm, from 40 to 500, in place of --for
    #[arg(long, value_name = "MM", value_parser = values::width_mm, conflicts_with = "target")]
    pub width: Option<f64>,
    /// Folder to write into; - is standard output, for one figure in one form
    #[arg(short, long, value_name = "FOLDER", default_value = "figures")]
    pub output: PathBuf,
    /// Write this figure alone: its number or its name, as --list tells
    #[arg(long, value_name = "N|NAME")]
    pub only: Option<String>,
    /// Write no figure, but run, number, name and title of each, as JSON
    #[arg(long)]
    pub list: bool,
    /// Draw figures as the study printed them that the plan repeats, too; of several results also
    /// those that hold several systems
    #[arg(long)]
    pub facsimile: bool,
    /// What a result's system is called in pictures of several, once for each result [distribution
    /// and kernel of its hosts]
    #[arg(long, value_name = "NAME", requires = "facsimile")]
    pub label: Vec<String>,
}

impl FiguresArgs {
    /// The width in mm.
    pub fn width_mm(&self) -> f64 {
        self.width.unwrap_or_else(|| self.target.width_mm())
    }
}

/// A form of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    /// For web pages and drawing programs
    Svg,
    /// For LaTeX; one page of the figure's size
    Pdf,
    /// Pixels, 300 in an inch, for slides
    Png,
    /// The numbers behind it
    Csv,
    /// The same with its name, its title and what stands under it
    Json,
}

/// What figures are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FigureTarget {
    /// One column of an IEEE paper, 88.9 mm
    #[value(name = "ieee-1col")]
    IeeeColumn,
    /// Both columns of an IEEE paper, 181 mm
    #[value(name = "ieee-2col")]
    IeeePage,
    /// Lecture Notes in Computer Science, 122 mm
    Lncs,
    /// The text of an A4 page, 160 mm
    A4,
    /// A slide of 16:9, 254 mm
    Slides,
}

impl FigureTarget {
    /// The width in mm.
    pub const fn width_mm(self) -> f64 {
        match self {
            FigureTarget::IeeeColumn => 88.9,
            FigureTarget::IeeePage => 181.0,
            FigureTarget::Lncs => 122.0,
            FigureTarget::A4 => 160.0,
            FigureTarget::Slides => 254.0,
        }
    }
}

/// Write a paragraph on the method of a stored result, and its sources
///
/// Hosts, path, design, statistics, margins, versions, seed, and the command that repeats it; all
/// of it from the record.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  v6gap cite last
  v6gap cite 7k2f9q --format latex >> paper.tex
  v6gap cite 7k2f9q --format bibtex >> paper.bib")]
pub struct CiteArgs {
    /// Identifier or the start of it, last, last~1, last:HOST, or a file
    #[arg(value_name = "RESULT", default_value = "last")]
    pub reference: String,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CiteFormat,
}

/// How the paragraph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiteFormat {
    /// Plain text
    Text,
    /// LaTeX that cites the sources
    Latex,
    /// The sources, for BibTeX
    Bibtex,
}
