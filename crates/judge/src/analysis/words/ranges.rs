//! Ranges in words: as many digits as their width has, and ends rounded outwards.

use super::{amount, directions};
use crate::analysis::Range;
use alloc::format;
use alloc::string::{String, ToString};
use v6gap_core::metric::Metric;

/// Most decimals of a percentage: finer ones tell nobody anything.
const DECIMALS_MAX: usize = 2;

/// A range as it is told: its ends stay on the side of the margin that they are on.
#[derive(Debug, Clone, Copy)]
pub struct Sided<'a> {
    /// What is told.
    pub range: &'a Range,
    /// Size that was chosen to be ignored.
    pub margin: Option<f64>,
}

impl<'a> From<&'a Range> for Sided<'a> {
    fn from(range: &'a Range) -> Sided<'a> {
        Sided { range, margin: None }
    }
}

/// Both ends of a range times a factor, 100 for percentages, and how many decimals they are told
/// with (docs/method.md section D.4): the half-width has one digit from 2 on, two below, and there
/// are no more than `most`; up to 6 where a range that holds no zero would touch it, or one on one
/// side of its margin would pass that. The ends are rounded away from what is inside, so that
/// nothing in it is left out.
pub fn outwards<'a>(told: impl Into<Sided<'a>>, times: f64, most: usize) -> ([f64; 2], usize) {
    let Sided { range, margin } = told.into();
    let half = (range.high - range.low) * (times / 2.0);
    let needed = if half > 0.0 { -libm::floor(libm::log10(half / 2.0)) } else { 1.0 };
    let ends = |places: usize| {
        let scale = libm::pow(10.0, places as f64);
        // What is a round number but for the last bits is one.
        let low = libm::floor(range.low * times * scale + 1e-6) / scale;
        [low, libm::ceil(range.high * times * scale - 1e-6) / scale]
    };
    let misleads = |places: &usize| {
        let [low, high] = ends(*places);
        let touches = (range.low > 0.0 && low <= 0.0) || (range.high < 0.0 && high >= 0.0);
        let passes = |bound: f64| {
            let [least, most] = [bound * times - 1e-9, bound * times + 1e-9];
            (range.low >= bound && low < least) || (range.high <= bound && high > most)
        };
        touches || margin.is_some_and(|margin| passes(margin) || passes(-margin))
    };
    let needed = needed.clamp(0.0, most as f64) as usize;
    let places = (needed..6).find(|places| !misleads(places)).unwrap_or(6);
    (ends(places), places)
}

/// The same as percentages.
fn percentages(told: Sided<'_>) -> ([f64; 2], usize) {
    outwards(told, 100.0, DECIMALS_MAX)
}

/// What one of the last digit is worth that a difference with this range is printed with; `None` of
/// one without a width.
pub(in crate::analysis) fn last_digit(told: Sided<'_>) -> Option<f64> {
    let Range { low, high } = *told.range;
    let has_width = low.is_finite() && high.is_finite() && low < high;
    has_width.then(|| libm::pow(10.0, -(percentages(told).1 as f64)) / 100.0)
}

/// The sizes of both ends as percentages.
fn ends(told: Sided<'_>) -> [String; 2] {
    let (ends, places) = percentages(told);
    ends.map(|end| format!("{:.places$}", libm::fabs(end)))
}

/// Both ends as percentages with their signs, as in "−0.5" and "+0.2".
pub fn signed_ends<'a>(told: impl Into<Sided<'a>>) -> [String; 2] {
    let (ends, places) = percentages(told.into());
    ends.map(|end| {
        let sign = if end < 0.0 { "−" } else { "+" };
        let sign = if end == 0.0 { "" } else { sign };
        format!("{sign}{:.places$}", libm::fabs(end))
    })
}

/// The larger end of a range, as in "1.4 %".
pub(in crate::analysis) fn most(metric: Metric, told: Sided<'_>) -> String {
    let ([low, high], range) = (ends(told), told.range);
    let end = if range.high.abs() > range.low.abs() { high } else { low };
    format!("{end} {}", metric.scale().unit())
}

/// Whether a range says nothing: it lacks an end, or reaches from none to more than a hundredfold.
pub fn is_open(range: &Range) -> bool {
    let ends = range.low.is_finite() && range.high.is_finite();
    !ends || (range.low <= 0.0 && range.high > 100.0)
}

/// A difference with as many digits as its range has: one that is smaller than the last of them is
/// told to be.
pub fn amount_within<'a>(metric: Metric, x: f64, told: impl Into<Sided<'a>>) -> String {
    let told = told.into();
    let range = told.range;
    if !range.low.is_finite() || !range.high.is_finite() || range.low == range.high {
        return amount(metric, x);
    }
    let words = directions(metric);
    let word = if x < 0.0 { words.less } else { words.more };
    let unit = metric.scale().unit();
    let (_, places) = percentages(told);
    let figure = format!("{:.places$}", libm::fabs(x) * 100.0);
    match figure.trim_matches(['0', '.']).is_empty() {
        true if x == 0.0 => amount(metric, x),
        true => format!("< {:.places$} {unit} {word}", libm::pow(10.0, -(places as f64))),
        false => format!("{figure} {unit} {word}"),
    }
}

/// A range that may hold both directions, as in "8 % longer to 4 % shorter".
pub fn span_in_words<'a>(metric: Metric, told: impl Into<Sided<'a>>) -> String {
    let told = told.into();
    let (words, range) = (directions(metric), told.range);
    if is_open(range) {
        return "anything".to_string();
    }
    let ([low, high], unit) = (ends(told), metric.scale().unit());
    if range.low >= 0.0 {
        return format!("{low} to {high} {unit} {}", words.more);
    }
    if range.high < 0.0 {
        return format!("{high} to {low} {unit} {}", words.less);
    }
    format!("{high} {unit} {} to {low} {unit} {}", words.more, words.less)
}

/// A range for a table: figures without words where the direction is clear.
pub fn range_in_words<'a>(metric: Metric, told: impl Into<Sided<'a>>) -> String {
    let told = told.into();
    if is_open(told.range) {
        return "unbounded".to_string();
    }
    let ([low, high], unit) = (ends(told), metric.scale().unit());
    if told.range.low >= 0.0 {
        return format!("{low} – {high} {unit}");
    }
    if told.range.high < 0.0 {
        return format!("{high} – {low} {unit}");
    }
    format!("−{low} – +{high} {unit}")
}
