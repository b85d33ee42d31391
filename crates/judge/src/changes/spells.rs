//! The history of a question as spells: visits between one change and the next, each with its mean
//! effect and a verdict by the range of that.

use super::{Change, Moment, Series};
use crate::analysis::Verdict;
use crate::analysis::effect::orientation;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_stats::change::{Point, SIDE_MIN, Side, side};

/// A question of a path that is watched.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// What it is called, as in "Round trip 64 B, TCP".
    pub label: String,
    /// How far it may move without having changed, on the scale of the effect.
    pub margin: f64,
}

/// The spells of a question, in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Spells {
    /// The question.
    pub asked: Asked,
    /// They follow each other without a gap; the last one goes on.
    pub all: Vec<Spell>,
}

/// Visits of a question between one change and the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Spell {
    /// Its first visit.
    pub from: Moment,
    /// Its last one.
    pub to: Moment,
    /// Visits that measured the question.
    pub visits: usize,
    /// Means over these visits, on the scale of the effect.
    pub means: Series<Side>,
    /// By the range of the mean effect and the margin.
    pub verdict: Verdict,
    /// The change that it begins with, unless it began before the history does.
    pub change: Option<Change>,
}

impl Spells {
    /// Those of a question that had these values, by its changes in the order of time.
    pub(super) fn of(asked: Asked, points: &[(Moment, Series<Point>)], changes: &[Change]) -> Self {
        let (mut all, mut rest, mut began) = (Vec::new(), points, None);
        for change in changes {
            let at = rest.partition_point(|(at, _)| at.visit < change.first.visit);
            let (before, after) = rest.split_at(at);
            all.extend(spell(&asked, before, began));
            (rest, began) = (after, Some(change));
        }
        all.extend(spell(&asked, rest, began));
        Spells { asked, all }
    }
}

fn spell(
    asked: &Asked,
    points: &[(Moment, Series<Point>)],
    change: Option<&Change>,
) -> Option<Spell> {
    let ((from, _), (to, _)) = (points.first()?, points.last()?);
    let effects: Vec<Point> = points.iter().map(|(_, series)| series.effect).collect();
    let of_family = |family| {
        let own: Vec<Point> = points.iter().map(|(_, all)| *all.families.get(family)).collect();
        side(&own)
    };
    let means = Series { effect: side(&effects), families: PerFamily::from_fn(of_family) };
    Some(Spell {
        from: *from,
        to: *to,
        visits: points.len(),
        means,
        verdict: verdict(asked, &effects, &means.effect),
        change: change.filter(|change| from.visit <= change.first.visit).cloned(),
    })
}

/// As the rules of D.4 have it: within the margin first, then whether none is excluded.
fn verdict(asked: &Asked, effects: &[Point], mean: &Side) -> Verdict {
    // Values alike have no range and are what they are, as losses of none.
    let alike = effects.len() >= SIDE_MIN && effects.windows(2).all(|w| w[0].value == w[1].value);
    let (low, high) = match alike {
        true => (mean.mean, mean.mean),
        false => (mean.range.low, mean.range.high),
    };
    if -asked.margin < low && high < asked.margin {
        return Verdict::Same;
    }
    if low <= 0.0 && high >= 0.0 {
        return Verdict::CannotTell;
    }
    let is_better = orientation(asked.metric) * mean.mean > 0.0;
    if is_better { Verdict::Better } else { Verdict::Worse }
}
