//! What a printed chart holds: points of both families over something that was varied.

use crate::words;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::{Analysis, Question};

/// How a chart was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines of both families.
    Lines,
    /// Lines with their difference on a second scale, and a straight line through each.
    Dual,
    /// A pair of bars for each size.
    Bars,
}

/// Both families' values of one size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    /// Place on the axis.
    pub x: f64,
    /// What was varied, in words.
    pub name: String,
    /// In SI units.
    pub values: PerArm<f64>,
    /// Standard deviations of one run, where the study gives them.
    pub sds: Option<PerArm<f64>>,
}

/// One printed chart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart<'a> {
    pub id: String,
    /// The study's number for it, and what it shows.
    pub title: String,
    pub metric: Metric,
    pub form: Form,
    pub points: Vec<Point>,
    /// The least and the greatest place on the axis.
    pub span: (f64, f64),
    pub ticks: Vec<(f64, String)>,
    /// What each value is made of.
    pub rule: &'a str,
    /// The figure of the report that shows the same with ranges.
    pub instead: String,
}

impl Chart<'_> {
    /// The line of one family, in the unit of the chart.
    pub fn line(&self, arm: Arm, unit: f64) -> Vec<(f64, f64)> {
        self.points.iter().map(|p| (p.x, p.values.get(arm) / unit)).collect()
    }
}

/// The point of a question at `x`: the runs combined as the study combined them, or their medians
/// where the plan names no rule.
pub(super) fn point(analysis: &Analysis, q: &Question, x: f64, name: String) -> Option<Point> {
    let combined =
        analysis.as_published.iter().find(|made| made.cell == q.cell && made.metric == q.metric);
    let (values, sds) = match combined {
        Some(made) => {
            let sds = made.values.a.sd.zip(made.values.b.sd);
            (made.values.map(|of| of.value), sds.map(|(a, b)| PerArm { a, b }))
        }
        None => (PerArm { a: q.values.a?, b: q.values.b? }, None),
    };
    Some(Point { x, name, values, sds })
}

/// What the values of an analysis' charts are made of.
pub(super) fn rule(analysis: &Analysis) -> &'static str {
    analysis.as_published.first().map_or("medians", |made| words::rule(made.summary).0)
}

/// The straight line of least squares through points: its height at 0 and its slope; `None` for
/// fewer than two places.
pub(super) fn straight(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x_mean, y_mean) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let together: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let slope = together / spread;
    Some((y_mean - slope * x_mean, slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found_again() {
        let points: Vec<(f64, f64)> = [1.0, 4.0, 16.0].map(|x| (x, 3.0 - 0.5 * x)).to_vec();
        let (base, slope) = straight(&points).unwrap();
        assert!((base - 3.0).abs() < 1e-12 && (slope + 0.5).abs() < 1e-12, "{base} {slope}");
        assert_eq!(straight(&points[..1]), None);
        assert_eq!(straight(&[]), None);
    }
}
