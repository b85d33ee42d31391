//! What the other questions of a path say of a change. Facts name a router or an MTU; that a line
//! became slower, longer or worse is told by no fact, but by which figures moved together:
//!
//! * `delay`: short exchanges, too, take another time;
//! * `loss`: another share is lost;
//! * `rate`: short exchanges take as long as before, and something else that the rate decides, a
//!   transfer or a longer exchange, has moved as well, both to the better or both to the worse.
//!
//! Each is of one family and rests on a question other than the one that changed, so that no figure
//! is made its own reason.

use super::{Amount, Asked, Change, Moved, Series, Suspect, Who};
use crate::analysis::effect::orientation;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Quantity};
use v6gap_core::unit::{format_rate, format_share, format_span, significant};
use v6gap_stats::change::RANGE_ALPHA;

/// Seconds in ns.
const SECOND_NS: f64 = 1e9;

/// Another question, as one family sees it.
#[derive(Clone, Copy)]
struct Other<'a> {
    metric: Metric,
    amount: &'a Amount,
}

impl Other<'_> {
    fn has(self, moved: Moved) -> bool {
        self.amount.moved == moved
    }

    fn is_worse(self) -> bool {
        orientation(self.metric) * self.amount.step.by < 0.0
    }

    /// On the scale of the effect.
    fn before(self) -> f64 {
        self.amount.step.before.mean
    }
}

/// What moved with `change`, by what all questions did then (`beside`, in the order of `asked`).
/// Where neither family is known to have moved there is nothing to say.
pub(super) fn suspects(
    asked: &[Asked],
    beside: &[Option<Series<Amount>>],
    change: &Change,
) -> Vec<Suspect> {
    let moved = |family: &Family| match change.who {
        Who::One(of) => of == *family,
        Who::Both => true,
        Who::Effect => false,
    };
    let families = Family::BOTH.into_iter().filter(moved);
    families.flat_map(|family| of_family(asked, beside, change, family)).collect()
}

fn of_family(
    asked: &[Asked],
    beside: &[Option<Series<Amount>>],
    change: &Change,
    family: Family,
) -> Vec<Suspect> {
    let Some(own) = asked.get(change.question) else { return Vec::new() };
    let own = Other { metric: own.metric, amount: change.amounts.families.get(family) };
    let all = asked.iter().zip(beside).enumerate();
    let others: Vec<Other<'_>> = all
        .filter(|(number, _)| *number != change.question)
        .filter_map(|(_, (asked, series))| {
            let amount = series.as_ref()?.families.get(family);
            Some(Other { metric: asked.metric, amount })
        })
        .collect();
    let exchanges = others.iter().copied().filter(|other| is_exchange(other.metric));
    let shortest = exchanges.min_by(|a, b| a.before().total_cmp(&b.before()));
    let delay = shortest.filter(|other| other.has(Moved::Yes));
    let is_lost = |other: &Other<'_>| other.metric.is_loss() && other.has(Moved::Yes);
    let loss = others.iter().copied().find(is_lost);
    let still = shortest.filter(|short| short.has(Moved::No) && is_of_rate(own, *short));
    let rate = still.and_then(|short| {
        let with_it = |other: &&Other<'_>| {
            other.has(Moved::Yes)
                && is_of_rate(**other, short)
                && other.is_worse() == own.is_worse()
        };
        others.iter().find(with_it).copied()
    });
    let found = [("delay", delay), ("loss", loss), ("rate", rate)].into_iter();
    found.filter_map(|(name, other)| Some(suspect(name, family, other?, change))).collect()
}

/// Whether it is the time of one exchange, or of a few.
fn is_exchange(metric: Metric) -> bool {
    matches!(metric, Metric::Rtt | Metric::Connect)
}

/// Whether a rate decides it: a transfer, or an exchange longer than the shortest one.
fn is_of_rate(other: Other<'_>, shortest: Other<'_>) -> bool {
    let carries = matches!(other.metric, Metric::Throughput | Metric::Capacity);
    carries || is_exchange(other.metric) && other.before() > shortest.before()
}

/// A figure that moved. That it did not is as likely as its range allows, at most.
fn suspect(name: &str, family: Family, other: Other<'_>, change: &Change) -> Suspect {
    let step = &other.amount.step;
    Suspect {
        name: name.to_string(),
        family: Some(family),
        before: value(other.metric, step.before.mean),
        after: value(other.metric, step.after.mean),
        last_before: change.after,
        first_after: change.by,
        lasting: true,
        times: 1,
        chance: RANGE_ALPHA,
    }
}

/// A mean on the scale of the effect, in its own unit.
fn value(metric: Metric, mean: f64) -> String {
    match metric.quantity() {
        Quantity::Rate => format_rate(libm::exp(mean)),
        Quantity::Time => format_span(libm::exp(mean) * SECOND_NS),
        Quantity::Share => format_share(mean),
        Quantity::Frequency | Quantity::Cost => significant(libm::exp(mean), 3),
    }
}

#[cfg(test)]
mod tests;
