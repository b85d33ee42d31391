//! The hosts' own speed, which is another one in the next run, and what that does to a ratio of
//! times (docs/method.md section C.3).
//!
//! If hosts take longer for an exchange over either family, what one has beyond the other stays and
//! the ratio comes nearer to 1. So this doubt is a share of the difference: none where there is
//! none, and it makes no difference of what is none.

use super::{Combined, Mean, Rates, Setting};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::{Metric, Quantity};
use v6gap_stats::Interval;

/// Standard uncertainty of what hosts take for an exchange, from one run to the next, as a share of
/// it (docs/validation/2026-11-28.md).
const OF_HOSTS: f64 = 0.01;

/// Runs that say so.
pub const RUNS: usize = 120;

/// How much of a time is taken for the hosts', in s: what short round trips take over links that
/// add little is below 75 µs, but hosts that wait longer wake later, by 0.3 to 4 % of what a link
/// adds to them, another share in each hour (docs/validation/2026-11-29.md).
const HOSTS_S: f64 = 300e-6;

/// Standard uncertainty by the hosts of a difference, as a share of it: of its logarithm, by the
/// values of both arms. 0 of what is no time of exchanges.
pub fn share(metric: Metric, values: PerArm<Option<f64>>) -> f64 {
    match (values.a, values.b) {
        (Some(a), Some(b)) if is_of_exchanges(metric) && a.min(b) > 0.0 => {
            OF_HOSTS * (HOSTS_S / a.min(b)).min(1.0)
        }
        _ => 0.0,
    }
}

/// Whether its values are times between two readings of one clock.
pub fn is_of_exchanges(metric: Metric) -> bool {
    metric.quantity() == Quantity::Time
        && !matches!(metric, Metric::Ipdv | Metric::Pdv | Metric::FrameLateness)
}

/// How far a difference may be off by the hosts, as a share of it, at the error rates of the three
/// ranges of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hosts {
    /// At that of the range that is shown.
    pub i95: f64,
    /// At that of the one by which "same" is decided.
    pub i90: f64,
    /// At that of the one by which it is decided for the residual.
    pub equivalence: f64,
}

impl Hosts {
    /// They are in no doubt.
    pub const NOTHING: Hosts = Hosts { i95: 0.0, i90: 0.0, equivalence: 0.0 };

    /// With that standard uncertainty, see [`share`], at the rates of a question.
    pub fn of(standard: f64, setting: &Setting<'_>) -> Hosts {
        let Rates { shown, same, levels } = Rates::of(setting);
        let [i95, i90, equivalence] = [shown, same, levels].map(|rate| reach(standard, rate));
        Hosts { i95, i90, equivalence }
    }
}

/// Half-width of the range of a normal value with that standard deviation.
pub fn reach(standard: f64, alpha: f64) -> f64 {
    Interval::normal(0.0, standard, alpha).high
}

/// A range around `centre` that was made without the hosts, with them: all `x` that are no farther
/// from the centre than the root of the sum of the squares of its half-width and of `of` times x.
fn wider(centre: f64, i: &Interval, of: f64) -> Interval {
    let rest = 1.0 - of * of;
    let root = |r: f64| libm::hypot(of * centre, libm::sqrt(rest) * r);
    let Interval { low, high } = *i;
    // Values that are all alike have no range that could be wider.
    let is_none = low == high;
    Interval {
        low: if low <= centre && !is_none { (centre - root(centre - low)) / rest } else { low },
        high: if high >= centre && !is_none { (centre + root(high - centre)) / rest } else { high },
    }
}

/// The inverse.
pub fn without(centre: f64, i: &Interval, of: f64) -> Interval {
    let r = |x: f64| libm::sqrt(((centre - x) * (centre - x) - of * of * x * x).max(0.0));
    let Interval { low, high } = *i;
    let is_open = |x: f64| of == 0.0 || x.is_infinite();
    Interval {
        low: if is_open(low) || low >= centre { low } else { centre - r(low) },
        high: if is_open(high) || high <= centre { high } else { centre + r(high) },
    }
}

impl Combined {
    /// With the hosts' part in its ranges.
    pub fn with_hosts(&self, hosts: Hosts) -> Combined {
        if hosts == Hosts::NOTHING {
            return self.clone();
        }
        Combined { hosts, ..self.changed(hosts, wider) }
    }

    /// Without it.
    pub fn without_hosts(&self) -> Combined {
        Combined { hosts: Hosts::NOTHING, ..self.changed(self.hosts, without) }
    }

    fn changed(&self, by: Hosts, change: fn(f64, &Interval, f64) -> Interval) -> Combined {
        Combined {
            i95: change(self.centre, &self.i95, by.i95),
            i90: change(self.centre, &self.i90, by.i90),
            equivalence: change(self.centre, &self.equivalence, by.equivalence),
            mean: self.mean.map(|mean| Mean {
                i95: change(mean.centre, &mean.i95, by.i95),
                i90: change(mean.centre, &mean.i90, by.i90),
                ..mean
            }),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests;
