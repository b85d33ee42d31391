//! Changes of a series of which one value comes after the other, for ever: whether its mean is
//! another than it was, since when, and by how much.
//!
//! A confidence sequence ([`crate::sequence`]) starts at every value, and a change is proclaimed
//! once no mean lies in all of their ranges, by more than a margin. Each range ever misses with
//! probability alpha at most, so as long as nothing changes the first false alarm comes after
//! 1 / alpha values on average, or later (Shekhar and Ramdas, "Reducing sequential change detection
//! to sequential estimation", ICML 2024). So it does where the mean moves within a band as wide as
//! the margin: each range holds a mean of the band, and none lies further above another.
//!
//! Ranges are made of the scatter from value to value, so one value is all that was taken together,
//! and what makes it differ from the next is noise unless it lasts. Assumes values that are roughly
//! normal and independent but for their mean.

use crate::drift::{Moments, welch};
use crate::estimate::Interval;
use crate::paired_t;
use crate::sequence::t_sequence_radius;
use crate::special::t_upper;
use crate::summary::{mean, sd};
use alloc::vec::Vec;

/// The last values that a detector remembers, at each of which a range starts: they bound what it
/// holds and what a value costs.
pub const REMEMBERED_MAX: usize = 400;

/// Fewest values on either side of a split: fewer are wild values rather than a new mean.
pub const SIDE_MIN: usize = 3;

/// Error rate of the time of a change and of means and their difference; not of the alarm.
pub const RANGE_ALPHA: f64 = 0.05;

/// One value of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The value, in any unit.
    pub value: f64,
    /// Its standard error by what it was made of, at least 0, in the same unit; `None` where that
    /// is not known. Values are never taken to scatter less than their errors say.
    pub standard_error: Option<f64>,
}

/// When a change is proclaimed by a [`Detector`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Rate of false alarms: one in 1 / alpha values at most, on average. The t sequence is asked
    /// at it as it is: what [`crate::sequence::Looks`] adds is known of larger rates alone.
    pub alpha: f64,
    /// How far the mean may move without being said to have changed, at least 0, in the unit of the
    /// values.
    pub margin: f64,
}

/// Since when the mean is another, in values counted back from the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// How many of the last values are of the new mean: those after the split that leaves the least
    /// squares.
    pub since: usize,
    /// Fewest of them by a split that is not rejected.
    pub since_min: usize,
    /// Most of them by a split that is not rejected.
    pub since_max: usize,
}

/// The mean of some of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// The mean; NaN of none.
    pub mean: f64,
    /// Its range at [`RANGE_ALPHA`] by Student's t; the whole line below two values, and where
    /// neither their scatter nor their errors are known.
    pub range: Interval,
    /// How many values.
    pub n: usize,
}

/// What a change is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Before the split, as far back as is remembered.
    pub before: Side,
    /// From the split on.
    pub after: Side,
    /// Mean after less mean before.
    pub by: f64,
    /// Range of that at [`RANGE_ALPHA`], by Welch's t ([`welch`]); the whole line where there is
    /// none.
    pub range: Interval,
}

/// A change of a stored series, by positions in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The value that showed it.
    pub at: usize,
    /// The first value of the new mean.
    pub first: usize,
    /// The earliest that may be the first.
    pub earliest: usize,
    /// The latest that may be.
    pub latest: usize,
    /// What it is, as known at `at`.
    pub step: Step,
}

/// All changes of a series, each looked for from the one before it on.
pub fn changes(series: &[Point], rule: Rule) -> Vec<Found> {
    let mut detector = Detector::new(rule);
    let (mut places, mut found) = (Vec::new(), Vec::new());
    for (at, point) in series.iter().enumerate().filter(|(_, point)| point.value.is_finite()) {
        places.push(at);
        let Some(when) = detector.push(*point) else { continue };
        let place = |since: usize| places[places.len() - since];
        found.push(Found {
            at,
            first: place(when.since),
            earliest: place(when.since_max),
            latest: place(when.since_min),
            step: step(detector.points(), when.since),
        });
        detector.restart(when.since);
    }
    found
}

/// Looks for changes as values come. It holds [`REMEMBERED_MAX`] values at most, and each of them
/// costs as many steps.
#[derive(Debug, Clone)]
pub struct Detector {
    margin: f64,
    /// Radius of the t sequence by the number of values, for a standard deviation of 1.
    radii: Vec<f64>,
    points: Vec<Point>,
    /// A range for each of the points.
    starts: Vec<Start>,
}

/// What is known of the mean from one value on.
#[derive(Debug, Clone, Copy)]
struct Start {
    n: usize,
    mean: f64,
    /// Squares about the mean, summed.
    squares: f64,
    errors: Errors,
    /// The highest lower end and the lowest upper end that its range has ever had.
    low: f64,
    high: f64,
}

impl Detector {
    /// One that has seen nothing. Where alpha is no rate or the margin none, it finds nothing.
    pub fn new(rule: Rule) -> Self {
        let radius = |n| t_sequence_radius(n, 1.0, rule.alpha);
        Detector {
            margin: rule.margin,
            radii: (0..=REMEMBERED_MAX).map(radius).collect(),
            points: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Takes the next value, and says since when the mean is another, if it is: again after each
    /// value until [`restart`](Self::restart). A value that is not finite is left out.
    pub fn push(&mut self, point: Point) -> Option<When> {
        if !point.value.is_finite() {
            return None;
        }
        self.take(point);
        if self.apart() > self.margin { split(&self.points) } else { None }
    }

    /// Forgets all but the last `keep` values: those of the new mean.
    pub fn restart(&mut self, keep: usize) {
        let kept = self.points.split_off(self.points.len().saturating_sub(keep));
        self.points.clear();
        self.starts.clear();
        for point in kept {
            self.take(point);
        }
    }

    /// How far the ranges lie apart: the highest lower end less the lowest upper end. Negative
    /// while some mean lies in all of them.
    pub fn apart(&self) -> f64 {
        let low = self.starts.iter().map(|start| start.low).fold(f64::NEG_INFINITY, f64::max);
        let high = self.starts.iter().map(|start| start.high).fold(f64::INFINITY, f64::min);
        low - high
    }

    /// The values that it remembers.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    fn take(&mut self, point: Point) {
        if self.points.len() == REMEMBERED_MAX {
            self.points.remove(0);
            self.starts.remove(0);
        }
        self.points.push(point);
        self.starts.push(Start::NEW);
        for start in &mut self.starts {
            start.take(point, &self.radii);
        }
    }
}

impl Start {
    const NEW: Start = Start {
        n: 0,
        mean: 0.0,
        squares: 0.0,
        errors: Errors { squares: 0.0, known: 0 },
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    fn take(&mut self, point: Point, radii: &[f64]) {
        // Mean and squares grow with each value (Welford 1962).
        self.n += 1;
        let deviation = point.value - self.mean;
        self.mean += deviation / self.n as f64;
        self.squares += deviation * (point.value - self.mean);
        self.errors.add(point);
        let variance = if self.n < 2 { 0.0 } else { self.squares / (self.n - 1) as f64 };
        let spread = self.errors.spread(variance);
        // Values alike without a known error say nothing of their noise: no range is made of them,
        // or losses that are rare would start many ranges of no width at 0.
        if spread > 0.0 {
            let radius = radii[self.n] * spread;
            self.low = self.low.max(self.mean - radius);
            self.high = self.high.min(self.mean + radius);
        }
    }
}

/// The errors of some values, as far as they are known.
#[derive(Debug, Clone, Copy)]
struct Errors {
    /// Their squares, summed.
    squares: f64,
    known: usize,
}

impl Errors {
    fn add(&mut self, point: Point) {
        let usable = |error: &f64| error.is_finite() && *error >= 0.0;
        if let Some(error) = point.standard_error.filter(usable) {
            self.squares += error * error;
            self.known += 1;
        }
    }

    /// The standard deviation of values with this variance, at least what their errors explain.
    fn spread(&self, variance: f64) -> f64 {
        let explained = if self.known == 0 { 0.0 } else { self.squares / self.known as f64 };
        libm::sqrt(variance.max(explained))
    }
}

/// The split of the values that leaves the least squares about the means of its two sides (the
/// earliest, of equals), and those that are not rejected: `n / 2 ln(squares / least)`, by which
/// the best one is the likelier, is at most `x = -ln(1 - sqrt(1 - alpha))` of [`RANGE_ALPHA`].
/// With known means the likelihood of later splits over that of the true one is a martingale, and
/// so is that of earlier ones; each ever exceeds e^x with probability e^-x at most (Ville 1939;
/// Siegmund, "Confidence sets in change-point problems", 1988). `None` below twice [`SIDE_MIN`]
/// values, and where all are equal.
pub fn split(points: &[Point]) -> Option<When> {
    let n = points.len();
    let (_, values) = from_first(points);
    let centre = mean(&values);
    let total: f64 = values.iter().map(|x| (x - centre) * (x - centre)).sum();
    if n < 2 * SIDE_MIN || !total.is_normal() {
        return None;
    }
    let mut sum = 0.0;
    let mut left = Vec::new();
    for (index, x) in values.iter().enumerate().take(n - SIDE_MIN) {
        sum += x - centre;
        let (before, after) = (index + 1, n - index - 1);
        if before >= SIDE_MIN {
            let explained = sum * sum * n as f64 / (before as f64 * after as f64);
            // Sides without any scatter leave nothing but rounding.
            left.push((after, (total - explained).max(total * f64::EPSILON)));
        }
    }
    let least = left.iter().map(|(_, squares)| *squares).fold(f64::INFINITY, f64::min);
    let limit = -libm::log(1.0 - libm::sqrt(1.0 - RANGE_ALPHA));
    let kept = |squares: f64| 0.5 * n as f64 * libm::log(squares / least) <= limit;
    let mut possible = left.iter().filter(|(_, squares)| kept(*squares)).map(|(after, _)| *after);
    let since_max = possible.next()?;
    Some(When {
        since: left.iter().find(|(_, squares)| *squares <= least)?.0,
        since_min: possible.next_back().unwrap_or(since_max),
        since_max,
    })
}

/// Where each mean of a short series begins that is known whole: the first position, and those at
/// which it is another by more than the margin, at error rate `alpha` of the series.
///
/// All windows are asked, each at all of its splits: whether the difference lies beyond the margin
/// at `alpha` over their number (Bonferroni), by Student's t of a common variance. (Welch's finds
/// too much at such rates: three values alike by chance leave the degrees of freedom to the other
/// side.) The surest split parts the series, and both sides are asked again (wild binary
/// segmentation with all intervals, Fryzlewicz 2014).
///
/// What is told of a change is its [`step`] between the changes before and behind it, whose range
/// is Welch's, and whose values may scatter more than those of the window. Where that range does
/// not lie beyond the margin, there is no change, and both sides are one: the least sure first.
///
/// A [`Detector`] answers after each value, and for that needs some ten on either side at the rates
/// that are usual; this needs [`SIDE_MIN`]. It takes time by the fourth power of the number of
/// values, which are taken for independent.
pub fn begins(points: &[Point], rule: Rule) -> Vec<usize> {
    let mut begins = parted(points, rule);
    while let Some(at) = unsure(points, &begins, rule.margin) {
        begins.remove(at);
    }
    begins
}

/// The change of which the range that is told lies least far beyond the margin, by its place in
/// `begins`, if it does not lie beyond it at all.
fn unsure(points: &[Point], begins: &[usize], margin: f64) -> Option<usize> {
    let told = |at: usize| {
        let end = begins.get(at + 1).copied().unwrap_or(points.len());
        let range = step(&points[begins[at - 1]..end], end - begins[at]).range;
        (range.low.max(-range.high), at)
    };
    let (beyond, at) = (1..begins.len()).map(told).min_by(|x, y| x.0.total_cmp(&y.0))?;
    (beyond <= margin).then_some(at)
}

/// The same by Student's t alone.
fn parted(points: &[Point], rule: Rule) -> Vec<usize> {
    let (mut asked, mut surest) = (0_u32, (1.0, 0));
    for low in 0..points.len() {
        for high in low + 2 * SIDE_MIN..=points.len() {
            for split in low + SIDE_MIN..=high - SIDE_MIN {
                asked += 1;
                let p = beyond(&points[low..split], &points[split..high], rule.margin);
                if p < surest.0 {
                    surest = (p, split);
                }
            }
        }
    }
    let (p, split) = surest;
    if p * f64::from(asked) > rule.alpha || split == 0 {
        return Vec::from([0]);
    }
    let later = parted(&points[split..], rule).into_iter().map(|at| at + split);
    parted(&points[..split], rule).into_iter().chain(later).collect()
}

/// Two-sided p-value of "the means differ by no more than the margin", by Student's t of a common
/// variance; 1 where it is not known.
fn beyond(before: &[Point], after: &[Point], margin: f64) -> f64 {
    let (before, after) = (moments(before), moments(after));
    let squares = |side: Moments| side.sd * side.sd * (side.n - 1) as f64;
    let df = (before.n + after.n - 2) as f64;
    let each = 1.0 / before.n as f64 + 1.0 / after.n as f64;
    let error = libm::sqrt((squares(before) + squares(after)) / df * each);
    let further = (after.mean - before.mean).abs() - margin;
    let known = further > 0.0 && error > 0.0 && error.is_finite();
    if known { 2.0 * t_upper(further / error, df) } else { 1.0 }
}

/// The mean of some values with its range.
pub fn side(points: &[Point]) -> Side {
    let Moments { mean, sd, n } = moments(points);
    let known = n >= 2 && sd > 0.0;
    let radius = if known { paired_t::radius(n, sd, RANGE_ALPHA) } else { f64::INFINITY };
    let range = if known { Interval::around(mean, radius) } else { Interval::WHOLE };
    Side { mean, range, n }
}

/// What the last `since` of the values differ in from those before.
pub fn step(points: &[Point], since: usize) -> Step {
    let (before, after) = points.split_at(points.len().saturating_sub(since));
    let found = welch(moments(after), moments(before), RANGE_ALPHA);
    let range = found.map_or(Interval::WHOLE, |welch| welch.interval);
    let (before, after) = (side(before), side(after));
    Step { before, after, by: after.mean - before.mean, range }
}

/// The first of some values, and how far each lies from it: what rounding would leave of the mean
/// of values alike is no scatter.
fn from_first(points: &[Point]) -> (f64, Vec<f64>) {
    let first = points.first().map_or(0.0, |point| point.value);
    (first, points.iter().map(|point| point.value - first).collect())
}

fn moments(points: &[Point]) -> Moments {
    let (first, values) = from_first(points);
    let mut errors = Errors { squares: 0.0, known: 0 };
    points.iter().for_each(|point| errors.add(*point));
    let sd = if values.len() < 2 { 0.0 } else { sd(&values) };
    Moments { mean: first + mean(&values), sd: errors.spread(sd * sd), n: values.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { alpha: 1e-4, margin: 2.0 };

    fn points(values: impl IntoIterator<Item = f64>) -> Vec<Point> {
        values.into_iter().map(|value| Point { value, standard_error: None }).collect()
    }

    /// So many values that go up and down by 1 about a mean.
    fn about(mean: f64, n: usize) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| mean + if i % 2 == 0 { 1.0 } else { -1.0 })
    }

    #[test]
    fn a_step_is_found_and_dated() {
        let found = changes(&points(about(0.0, 40).chain(about(8.0, 40))), RULE);
        let [found] = found[..] else { panic!("{found:?}") };
        assert_eq!((found.first, found.earliest, found.latest), (40, 40, 40));
        assert!((48..54).contains(&found.at), "{found:?}");
        assert_eq!((found.step.before.n, found.step.after.n), (40, found.at - 39));
        assert!(found.step.range.contains(8.0) && found.step.range.within(6.0, 10.0));
    }

    #[test]
    fn what_lasts_for_few_values_or_stays_within_the_margin_is_no_change() {
        let gone = about(0.0, 40).chain(about(8.0, 4)).chain(about(0.0, 60));
        assert_eq!(changes(&points(gone), RULE), []);
        assert_eq!(changes(&points(about(0.0, 200).chain(about(2.0, 200))), RULE), []);
    }

    #[test]
    fn there_and_back_are_two_changes() {
        let series = points(about(0.0, 50).chain(about(8.0, 30)).chain(about(0.0, 30)));
        let firsts: Vec<usize> = changes(&series, RULE).iter().map(|found| found.first).collect();
        assert_eq!(firsts, [50, 80]);
    }

    /// Three values of a new mean are enough where nothing else can come; a step within the margin,
    /// a single wild value and noise are none.
    #[test]
    fn a_short_series_is_parted_at_each_step() {
        let rule = Rule { alpha: 0.002, margin: 1.0 };
        let begins = |values: &[&[f64]]| begins(&points(values.concat()), rule);
        let about = |mean: f64, n: usize| about(mean, n).collect::<Vec<_>>();
        assert_eq!(begins(&[&about(0.0, 9), &about(40.0, 3)]), [0, 9]);
        assert_eq!(begins(&[&about(0.0, 7), &about(20.0, 6), &about(0.0, 7)]), [0, 7, 13]);
        assert_eq!(begins(&[&about(0.0, 10), &about(0.9, 10)]), [0]);
        assert_eq!(begins(&[&about(0.0, 9), &[40.0], &about(0.0, 9)]), [0]);
        assert_eq!(begins(&[&about(0.0, 2), &about(40.0, 3)]), [0]);
        assert_eq!(begins(&[]), [0]);
    }

    /// By hand: Student's t of 17 values with a deviation of 1 and three with 3 that lie 6 further
    /// is 6.97, a p-value of 1.6e-6, which 680 splits make 0.0011; Welch's range is −1.3 to 13.3.
    /// And a window of six quiet values is sure of what the fourteen round it are not.
    #[test]
    fn what_is_told_of_a_change_holds_none() {
        let rule = Rule { alpha: 0.05, margin: 0.0 };
        let with = |after: [f64; 3]| points([0.0].into_iter().chain(about(0.0, 16)).chain(after));
        let wild = with([3.0, 6.0, 9.0]);
        let range = step(&wild, 3).range;
        assert!((range.low + 1.257).abs() < 0.001 && (range.high - 13.257).abs() < 0.001);
        let quiet = [8.0, -8.0, 8.0, -8.0, 0.0, 0.1, -0.1, 5.0, 5.1, 4.9, 13.0, -3.0, 13.0, -3.0];
        for (series, at) in [(wild, 17), (points(quiet), 7)] {
            assert_eq!(parted(&series, rule), [0, at]);
            assert_eq!(begins(&series, rule), [0]);
        }
        let calm = with([5.0, 6.0, 7.0]);
        assert_eq!(begins(&calm, rule), [0, 17]);
        assert!(step(&calm, 3).range.excludes(0.0));
    }

    /// One value in twelve is 30: the long run of zeros in the middle is no range of no width.
    #[test]
    fn values_alike_say_nothing_of_their_noise() {
        let rare = |from: i32, n| (from..from + n).map(|i| if i % 12 == 0 { 30.0 } else { 0.0 });
        let series = points(rare(0, 120).chain([0.0; 40]).chain(rare(0, 120)));
        assert_eq!(changes(&series, RULE), []);
        let mut detector = Detector::new(RULE);
        assert!(points([7.0; 50]).into_iter().all(|point| detector.push(point).is_none()));
        assert_eq!(detector.apart(), f64::NEG_INFINITY);
    }

    /// The same step with errors that explain more than is seen.
    #[test]
    fn a_value_is_no_better_known_than_its_error_says() {
        let doubtful = |standard_error| {
            let values = about(0.0, 40).chain(about(8.0, 20));
            let point = |value| Point { value, standard_error: Some(standard_error) };
            changes(&values.map(point).collect::<Vec<_>>(), RULE).len()
        };
        assert_eq!([0.0, 1.0, 8.0, f64::NAN].map(doubtful), [1, 1, 0, 1]);
    }

    /// Squares of 52 in all; the split in the middle leaves 2, its neighbours 17.9.
    #[test]
    fn the_split_by_hand() {
        let eight = points([0.0, 1.0, 0.0, 1.0, 5.0, 6.0, 5.0, 6.0]);
        assert_eq!(split(&eight), Some(When { since: 4, since_min: 4, since_max: 4 }));
        let step = step(&eight, 4);
        assert_eq!((step.before.mean, step.after.mean, step.by), (0.5, 5.5, 5.0));
        // t with six degrees of freedom is 2.4469 at 5 %, the error of the difference root 1/6.
        assert!((step.range.width() / 2.0 - 2.446_911_85 / libm::sqrt(6.0)).abs() < 1e-8);
        assert_eq!(split(&eight[..5]), None);
        assert_eq!(split(&points([3.0; 9])), None);
    }

    /// The mean of nine tenths is rounded, and is none of them.
    #[test]
    fn what_rounding_leaves_of_values_alike_is_no_scatter() {
        assert_ne!(mean(&[0.1; 9]), 0.1);
        let alike = points([0.1; 9]);
        assert_eq!((side(&alike).mean, side(&alike).range), (0.1, Interval::WHOLE));
        assert_eq!(split(&alike), None);
        for after in [0.1, 0.3] {
            let both = points([0.1; 9].into_iter().chain([after; 7]));
            assert_eq!(step(&both, 7).range, Interval::WHOLE);
        }
    }

    /// A small step leaves many splits.
    #[test]
    fn splits_that_are_as_likely_stay_possible() {
        let when = split(&points(about(0.0, 30).chain(about(0.8, 30)))).unwrap();
        assert!((20..=40).contains(&when.since), "{when:?}");
        assert!(when.since_min < when.since && when.since < when.since_max, "{when:?}");
    }

    #[test]
    fn bad_input_finds_nothing() {
        let series = points(about(0.0, 40).chain(about(8.0, 40)));
        for (alpha, margin) in [(0.0, 2.0), (1.0, 2.0), (f64::NAN, 2.0), (1e-4, f64::NAN)] {
            assert_eq!(changes(&series, Rule { alpha, margin }), []);
        }
        let holes = series.iter().flat_map(|point| [*point, Point { value: f64::NAN, ..*point }]);
        let found = changes(&holes.collect::<Vec<_>>(), RULE);
        assert_eq!((found.len(), found[0].first), (1, 80));
        for few in [&[][..], &series[..1]] {
            assert_eq!((side(few).range, step(few, 9).range), (Interval::WHOLE, Interval::WHOLE));
        }
    }
}
