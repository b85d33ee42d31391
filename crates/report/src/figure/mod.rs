//! Figures: each an SVG with title and description, and the table of the numbers behind it.
//!
//! One code path draws them for the page and for files; only the paint differs. What stands alone
//! has its marks as a list, too, from which the other forms of a file are made.

mod amount;
pub(crate) mod drawing;
mod facsimile;
pub(crate) mod font;
mod history;
mod ladder;
mod opening;
mod path;
pub(crate) mod pdf;
pub(crate) mod picture;
mod place;
pub(crate) mod png;
mod series;
mod size;
mod spread;
mod stages;
mod strip;
mod systems;
mod trials;
mod visit;
mod window;

pub use facsimile::joint::{JointError, SYSTEMS_MAX, System};
pub use picture::Picture;
pub use strip::{Course, Strip, silences_in_words, strip};

use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::compare::Comparison;

/// Where the colours of a figure come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// From CSS variables of the page that the figure stands in, so that it follows its theme.
    Page,
    /// Fixed colours for white paper: the figure stands alone.
    Paper,
}

/// A table of numbers: heads and rows, all of the same length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Heads of the columns, with units.
    pub heads: Vec<String>,
    /// Rows; the first cell names the row.
    pub rows: Vec<Vec<String>>,
}

/// What a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Values and differences by message or payload size.
    Size,
    /// Values and differences by window and data size.
    Window,
    /// Values and differences by the amount of data.
    Amount,
    /// Every pair in the order of time.
    Trials,
    /// Distribution of the single delays.
    Spread,
    /// Stages of opening a connection.
    Opening,
    /// Phases of a visit to a host that does not run this program.
    Visit,
    /// Routers on the ways to such a host.
    Ladder,
    /// Processor time by place.
    Cost,
    /// Values of several systems beside each other.
    Systems,
    /// The difference of the families in run after run.
    History,
    /// The measured path.
    Path,
    /// As the study printed it that the plan repeats.
    Facsimile,
}

/// A figure with everything that makes it readable without being seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it is about.
    pub kind: Kind,
    /// Unique among the figures of a run; letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What a reader would see in it.
    pub desc: String,
    /// The picture, as an SVG element.
    pub svg: String,
    /// The figure as plain marks, if it stands alone ([`Paint::Paper`]).
    pub picture: Option<Picture>,
    /// Height of the figure where it is [`WIDTH`] wide.
    pub height: f64,
    /// The numbers behind it.
    pub table: Table,
    /// What was left out or how to read it, in one or two sentences.
    pub foot: String,
}

/// Width of every figure in its own units.
pub const WIDTH: f64 = drawing::WIDTH;

/// Height of its text in the same units.
pub const TEXT_SIZE: f64 = drawing::TICK as f64;

/// Whether the plan repeats a study that printed figures of what was measured.
pub fn has_facsimile(analysis: &Analysis) -> bool {
    facsimile::any(analysis)
}

/// All figures that the run has data for, in the order of the report; with `facsimile` those as
/// printed by the study that its plan repeats come after them.
pub fn all(analysis: &Analysis, paint: Paint, facsimile: bool) -> Vec<Figure> {
    let mut figures = size::figures(analysis, paint);
    figures.extend(amount::figures(analysis, paint));
    figures.extend(window::figures(analysis, paint));
    figures.extend(trials::figures(analysis, paint));
    figures.extend(spread::figures(analysis, paint));
    figures.extend(opening::figures(analysis, paint));
    figures.extend(visit::figures(analysis, paint));
    figures.extend(ladder::figure(analysis, paint));
    figures.extend(place::figures(analysis, paint));
    if facsimile {
        figures.extend(facsimile::figures(analysis, paint, &figures));
    }
    // Where nothing was measured there is nothing to ask about the path.
    if !figures.is_empty() {
        figures.push(path::figure(analysis, paint));
    }
    figures
}

/// The figures of several systems beside each other, one for each metric that has a true zero, and
/// the history of a path of three runs or more.
pub fn systems(found: &Comparison, paint: Paint) -> Vec<Figure> {
    let mut figures = systems::figures(found, paint);
    figures.extend(history::figures(found, paint));
    figures
}

/// The pictures of several systems that the study printed whose experiment all results repeat; none
/// of fewer than two results, and none if it printed no such picture.
///
/// # Errors
/// If the results do not belong together.
pub fn joint(systems: &[System<'_>], paint: Paint) -> Result<Vec<Figure>, JointError> {
    facsimile::joint::figures(systems, paint)
}
