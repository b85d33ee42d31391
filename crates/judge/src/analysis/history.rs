//! What the runs of one set-up show in the order of time: where their mean became another, and so
//! which of them scatter about one mean (docs/method.md section C.10).

use super::Range;
use super::compare::Of;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::metric::Scale;
use v6gap_core::record::RunId;
use v6gap_stats::between::Found;
use v6gap_stats::change::{self, Point, Rule};

/// A change between runs of one set-up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangePoint {
    /// What changed.
    pub of: Of,
    /// The first run after it: the likeliest.
    pub first: RunId,
    /// Runs before, back to an earlier change.
    pub before: usize,
    /// Runs from it on, up to a later change.
    pub since: usize,
    /// What the later runs found against the earlier, as the effect is given.
    pub by: f64,
    /// Its 95 % range by Welch's t, which lies beyond the margin.
    pub range: Range,
}

/// What runs of one set-up found of one thing, in the order of time.
#[derive(Debug)]
pub(super) struct History<'a> {
    runs: Vec<(&'a RunId, Found)>,
    /// Where a mean begins, the first run included, and the end of all.
    bounds: Vec<usize>,
}

impl<'a> History<'a> {
    /// Of `runs` in the order of time, with the changes that `rule` finds.
    pub(super) fn new(runs: Vec<(&'a RunId, Found)>, rule: Rule) -> Self {
        let points: Vec<Point> = runs.iter().map(|(_, found)| point(found)).collect();
        let mut bounds = change::begins(&points, rule);
        bounds.push(runs.len());
        History { runs, bounds }
    }

    /// Its changes, the earliest first.
    pub(super) fn change_points(&self, of: Of, scale: Scale) -> Vec<ChangePoint> {
        let change = |bounds: &[usize]| {
            let (before, since) = (bounds[1] - bounds[0], bounds[2] - bounds[1]);
            let runs = &self.runs[bounds[0]..bounds[2]];
            let points: Vec<Point> = runs.iter().map(|(_, found)| point(found)).collect();
            let step = change::step(&points, since);
            let (low, high) = (scale.shown(step.range.low), scale.shown(step.range.high));
            ChangePoint {
                of,
                first: self.runs[bounds[1]].0.clone(),
                before,
                since,
                by: scale.shown(step.by),
                range: Range { low, high },
            }
        };
        self.bounds.windows(3).map(change).collect()
    }

    /// What the runs found between the same two changes as `run`.
    pub(super) fn around(&self, run: &RunId) -> Vec<Found> {
        let has = |part: &&[(&RunId, Found)]| part.iter().any(|(id, _)| *id == run);
        self.parts().find(has).map(found).unwrap_or_default()
    }

    /// What the newest runs between two changes found that are at least so many; if there are not
    /// as many between any, what the newest did.
    pub(super) fn newest(&self, enough: usize) -> Vec<Found> {
        let parts: Vec<_> = self.parts().collect();
        let long = parts.iter().rev().find(|part| part.len() >= enough);
        long.or(parts.last()).map(|part| found(part)).unwrap_or_default()
    }

    fn parts(&self) -> impl Iterator<Item = &[(&'a RunId, Found)]> {
        self.bounds.windows(2).map(|bounds| &self.runs[bounds[0]..bounds[1]])
    }
}

fn found(part: &[(&RunId, Found)]) -> Vec<Found> {
    part.iter().map(|(_, found)| *found).collect()
}

fn point(found: &Found) -> Point {
    Point { value: found.estimate, standard_error: Some(found.standard_error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::alike::{self, Known};
    use crate::analysis::tests::{EVEN, Truth, plan, run};
    use crate::analysis::{Analysis, analyse};
    use alloc::vec;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::record::Line;
    use v6gap_core::workload::Cell;

    const RULE: Rule = Rule { alpha: 0.002, margin: 0.05 };

    fn ids(count: u32) -> Vec<RunId> {
        (0..count).map(RunId::from_bits).collect()
    }

    /// Estimates around these means, each with an error of 0.2 %.
    fn history<'a>(ids: &'a [RunId], means: &[f64]) -> History<'a> {
        let of = |(at, mean): (usize, &f64)| {
            let estimate = mean + [0.002, -0.001, -0.001][at % 3];
            Found { estimate, standard_error: 0.002 }
        };
        let found = means.iter().enumerate().map(of);
        History::new(ids.iter().zip(found).collect(), RULE)
    }

    #[test]
    fn a_change_parts_the_runs_before_from_those_since() {
        let ids = ids(13);
        let means = [[0.0; 7].as_slice(), &[0.2; 6]].concat();
        let history = history(&ids, &means);
        let changes = history.change_points(Of::Second, Scale::Ratio);
        let [change] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((&change.first, change.before, change.since), (&ids[7], 7, 6));
        // Of logarithms, as ratios are shown.
        assert!((change.by - libm::expm1(0.2)).abs() < 0.002, "{change:?}");
        assert!(change.range.low < change.by && change.by < change.range.high);
        assert!(change.range.high - change.range.low < 0.01, "{change:?}");
        assert_eq!(history.around(&ids[6]).len(), 7);
        assert_eq!(history.around(&ids[7]).len(), 6);
        // Where few are of the new mean, how runs scatter is known from those before.
        assert_eq!(history.newest(6).len(), 6);
        assert_eq!(history.newest(7).len(), 7);
        assert_eq!(history.newest(8).len(), 6);
    }

    /// Nine runs, and four from the day on which IPv6 became another: where the next will be is not
    /// known by four, and one of before is none of its like.
    #[test]
    fn a_run_is_told_what_changed_and_is_like_those_since() {
        let of = |number: u32| -> (Analysis, Vec<Line>) {
            let factor: fn(&Cell, Family) -> f64 =
                |_, family| if family == Family::V6 { 1.3 } else { 1.0 };
            let truth = if number < 9 { EVEN } else { Truth { factor, ..EVEN } };
            let mut lines = run(&plan(PerArm::FAMILIES, u64::from(number)), 12, &truth);
            if let Line::Run(header) = &mut lines[0] {
                header.id = RunId::from_bits(number);
                header.started_unix_ns = u64::from(number);
            }
            (analyse(&lines).unwrap(), lines)
        };
        let runs: Vec<_> = (0..13).map(of).collect();
        let known: Vec<Known> =
            runs.iter().rev().filter_map(|(a, lines)| Known::of(a, lines)).collect();
        for (number, like) in [(0, Some(9)), (8, Some(9)), (9, None), (12, None)] {
            let (mut analysis, lines) = runs[number].clone();
            alike::tell(&mut analysis, &lines, &known);
            let q = &analysis.questions[0];
            assert_eq!(q.any_run.map(|any| any.runs), like, "run {number}: {q:?}");
            let told = q.change_points.iter().map(|change| (change.of, &change.first));
            let ninth = RunId::from_bits(9);
            assert!(told.eq([(Of::Difference, &ninth), (Of::Second, &ninth)]), "{q:?}");
        }
    }

    #[test]
    fn without_a_change_all_runs_are_of_one_mean() {
        let ids = ids(20);
        let within_the_margin = [[0.0; 10].as_slice(), &[0.04; 10]].concat();
        // Student's t parts the last three, but the range that would be told of it holds none.
        let unsure = [[0.0].as_slice(), &[1.0, -1.0].repeat(8), &[3.0, 6.0, 9.0]].concat();
        for means in [vec![0.03; 20], within_the_margin, unsure, Vec::new()] {
            let history = history(&ids, &means);
            assert_eq!(history.change_points(Of::First, Scale::Ratio), []);
            assert_eq!(history.newest(1).len(), means.len());
            assert_eq!(history.around(&ids[2]).len(), means.len());
        }
    }
}
