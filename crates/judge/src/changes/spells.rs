//! The history of a question as spells: visits between one change and the next, each with its mean
//! effect and a verdict by the range of that.

use super::{Change, Moment, Series};
use crate::analysis::effect::{missed, orientation};
use crate::analysis::{Qualifier, Verdict};
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_stats::Interval;
use v6gap_stats::change::{Point, Side, side};

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
    /// How strong it is.
    pub qualifier: Qualifier,
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
    let mut effect = side(&effects);
    effect.range = none_lost(asked, points).unwrap_or(effect.range);
    let means = Series { effect, families: PerFamily::from_fn(of_family) };
    let (verdict, qualifier) = ruling(asked, &effect);
    Some(Spell {
        from: *from,
        to: *to,
        visits: points.len(),
        means,
        verdict,
        qualifier,
        change: change.filter(|change| from.visit <= change.first.visit).cloned(),
    })
}

/// The range of a loss of which no visit saw any, without a scatter to make one of: a family may
/// have lost something in at most so many visits ([`missed`]), and all there. `None` until that is
/// within the margin, as before it decides nothing.
fn none_lost(asked: &Asked, points: &[(Moment, Series<Point>)]) -> Option<Interval> {
    let none =
        |(_, seen): &(Moment, Series<Point>)| seen.all().iter().all(|point| point.value == 0.0);
    let is_it = asked.metric.is_loss() && points.iter().all(none);
    let most = missed((0, 0), points.len() as u64, 1);
    (is_it && most < asked.margin).then(|| Interval::around(0.0, most))
}

/// As the rules of D.4 have it: within the margin first, then whether none is excluded. What has
/// no range, as values that are all alike, cannot be told.
fn ruling(asked: &Asked, mean: &Side) -> (Verdict, Qualifier) {
    let (range, margin) = (mean.range, asked.margin);
    let is_there = range.excludes(0.0);
    if range.within(-margin, margin) {
        let qualifier = if is_there { Qualifier::RealButTiny } else { Qualifier::Plain };
        return (Verdict::Same, qualifier);
    }
    if !is_there {
        return (Verdict::CannotTell, Qualifier::Plain);
    }
    let is_better = orientation(asked.metric) * mean.mean > 0.0;
    let verdict = if is_better { Verdict::Better } else { Verdict::Worse };
    let is_beyond = range.low >= margin || range.high <= -margin;
    (verdict, if is_beyond { Qualifier::Clear } else { Qualifier::SizeUnresolved })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    /// What is said of so many visits that had this effect, of IPv6 alone.
    fn spell_of(metric: Metric, visits: u64, value: f64, standard_error: Option<f64>) -> Spell {
        let asked = Asked {
            cell: "udp".to_owned(),
            metric,
            label: "UDP".to_owned(),
            margin: if metric.is_loss() { 0.001 } else { 0.05 },
        };
        let of = |value| Point { value, standard_error };
        let families = PerFamily { v4: of(0.0), v6: of(value) };
        let at = |visit| (Moment { visit, unix_ns: visit }, Series { effect: of(value), families });
        let points: Vec<(Moment, Series<Point>)> = (0..visits).map(at).collect();
        let mut all = Spells::of(asked, &points, &[]).all;
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    /// Values that are all alike show no scatter, and so nothing of how well they are known.
    #[test]
    fn without_a_range_nothing_is_told() {
        for value in [0.0, 0.2] {
            let spell = spell_of(Metric::Throughput, 500, value, None);
            assert_eq!(spell.verdict, Verdict::CannotTell);
            assert_eq!(spell.means.effect.range, Interval::WHOLE);
        }
        let known = |value| spell_of(Metric::Rtt, 4, value, Some(0.01)).verdict;
        assert_eq!([0.0, 0.2].map(known), [Verdict::Same, Verdict::Worse]);
        // Errors that are known are not left out because all visits say the same.
        assert_eq!(spell_of(Metric::Rtt, 4, 0.0, Some(0.1)).verdict, Verdict::CannotTell);
    }

    /// By four visits with a known error of 0.01, of which a mean has a range of 0.016.
    #[test]
    fn a_difference_within_the_margin_is_told_apart_from_none() {
        let told = |value| {
            let spell = spell_of(Metric::Rtt, 4, value, Some(0.01));
            (spell.verdict, spell.qualifier)
        };
        assert_eq!(told(0.01), (Verdict::Same, Qualifier::Plain));
        assert_eq!(told(-0.03), (Verdict::Same, Qualifier::RealButTiny));
        assert_eq!(told(0.04), (Verdict::Worse, Qualifier::SizeUnresolved));
        assert_eq!(told(-0.08), (Verdict::Better, Qualifier::Clear));
    }

    /// 1 - 0.025^(1/n) is less than a thousandth from n = 3688 on.
    #[test]
    fn that_nothing_was_lost_tells_after_many_visits() {
        let of = |visits| spell_of(Metric::Loss, visits, 0.0, None);
        let told = [3, 3687, 3688].map(|visits| of(visits).verdict);
        assert_eq!(told, [Verdict::CannotTell, Verdict::CannotTell, Verdict::Same]);
        let range = of(3688).means.effect.range;
        assert!(range.within(-0.001, 0.001) && range.high > 0.000_999, "{range:?}");
        // The same of something lost in each.
        assert_eq!(spell_of(Metric::Loss, 4000, 0.002, None).verdict, Verdict::CannotTell);
    }
}
