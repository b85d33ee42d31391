//! Runs like a given one, and what they say of the next: a range of one run holds what was drawn
//! anew within it, and only other runs show what differs from one to the next by itself
//! (docs/method.md sections C.10 and D.6).
//!
//! Like means that nothing of the set-up differs: hosts, versions, target, plan, and what sockets
//! were granted. Whoever finds the runs looks for the [`word`] of their set-up, and keeps a
//! [`Known`] of each that has the same.

use super::compare::Of;
use super::compare::set_up;
use super::effect::{self, Setting, hosts};
use super::history::History;
use super::summary::Summary;
use super::{Analysis, Effect, Question, Range, Validity, conditions, guard};
use crate::reach::{self, level};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::Arm;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Stop;
use v6gap_core::record::{Line, RunHeader, RunId};
use v6gap_stats::between::{self, Between, Found};
use v6gap_stats::change::Rule;
use v6gap_stats::drift::Moments;
use v6gap_stats::{Interval, loss, signed_rank, summary};

/// Fewest runs of one set-up, from which how they scatter is told.
pub const RUNS_MIN: usize = 5;

/// So many runs of one set-up are looked at, those nearest in time.
pub const RUNS_MAX: usize = 20;

/// Error rate of the range of the next run; and of the changes of a set-up, all that is asked of
/// its runs together.
const ALPHA: f64 = 0.05;

/// What is kept of a run to hold others against.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    id: RunId,
    /// Start, in ns since the Unix epoch.
    started_unix_ns: u64,
    /// The word of its set-up.
    word: String,
    /// What its sockets were granted, as in [`Summary::granted`].
    granted: Vec<Option<String>>,
    found: Vec<(Asked, Found)>,
}

/// What a run was asked: cell, metric, and whether of the difference or of a family.
type Asked = (String, Metric, Of);

/// Where the estimate of any run like this one lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AnyRun {
    /// 95 % range of its estimate, as the effect is given.
    pub range: Range,
    /// Standard deviation from run to run beyond what the blocks explain, on the scale of single
    /// effects (logarithm of the ratio, or difference).
    pub tau: f64,
    /// Runs that say so, this one among them.
    pub runs: usize,
}

/// How much the estimates of one set-up scatter from run to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// Standard deviation beyond what the blocks explain.
    pub tau: f64,
    /// Runs that say so.
    pub runs: usize,
    /// The smallest standard error of theirs that is positive; 0 if none is.
    pub least: f64,
}

/// A word that stands for the set-up of a run, as far as the first line of its journal tells. Runs
/// that have the same one are alike unless their sockets were granted other things.
pub fn word(run: &RunHeader) -> String {
    set_up::word(run)
}

impl Known {
    /// What is kept of a run; `None` if a failed check took its verdicts.
    pub fn of(analysis: &Analysis, lines: &[Line]) -> Option<Known> {
        if !analysis.valid {
            return None;
        }
        let found = analysis.questions.iter().flat_map(|q| {
            let asked = Of::ALL.map(|of| (q.cell.clone(), q.metric, of));
            asked.into_iter().zip(all_found(analysis, q))
        });
        let found = found.filter_map(|(asked, found)| Some((asked, found?))).collect();
        let granted = set_up::told(&set_up::granted(lines));
        let run = &analysis.run;
        let (id, started_unix_ns) = (run.id.clone(), run.started_unix_ns);
        Some(Known { id, started_unix_ns, word: word(run), granted, found })
    }

    /// The same by the summary of a run that was `started` (its identifier, and when in ns since
    /// the Unix epoch) and whose set-up has that word; `None` also if another version of this
    /// program judged it.
    pub fn read(started: (&RunId, u64), word: &str, summary: &Summary) -> Option<Known> {
        if !summary.valid || !summary.is_ours() {
            return None;
        }
        let found = summary.questions.iter().flat_map(|q| {
            let asked = Of::ALL.map(|of| (q.cell.clone(), q.metric, of));
            asked.into_iter().zip(q.found())
        });
        let found = found.filter_map(|(asked, found)| Some((asked, found?))).collect();
        let (word, granted) = (word.to_string(), summary.granted.clone());
        let (id, started_unix_ns) = started;
        Some(Known { id: id.clone(), started_unix_ns, word, granted, found })
    }

    /// Whether nothing of the set-up differs. What is not told of sockets is no difference.
    pub fn is_like(&self, other: &Known) -> bool {
        let differs = |(one, other): (&Option<String>, &Option<String>)| {
            one.is_some() && other.is_some() && one != other
        };
        self.word == other.word && !self.granted.iter().zip(&other.granted).any(differs)
    }

    /// This run and those nearest to it of `others` that are like it, each once, in the order of
    /// time.
    fn with_like<'a>(&'a self, others: &'a [Known]) -> Vec<&'a Known> {
        let mut nearest: Vec<&Known> = others.iter().filter(|run| self.is_like(run)).collect();
        nearest.sort_by_key(|run| run.started_unix_ns.abs_diff(self.started_unix_ns));
        let mut alike = vec![self];
        for other in nearest {
            let known = alike.iter().any(|run| run.id == other.id);
            if !known && alike.len() < RUNS_MAX {
                alike.push(other);
            }
        }
        alike.sort_by_key(|run| run.started_unix_ns);
        alike
    }

    fn found(&self, q: &Question, of: Of) -> Option<Found> {
        let asked = |((cell, metric, whose), _): &&(Asked, Found)| {
            *cell == q.cell && *metric == q.metric && *whose == of
        };
        self.found.iter().find(asked).map(|(_, found)| *found)
    }
}

/// A set-up: a run and those like it.
#[derive(Debug, Clone, Default)]
pub(super) struct SetUp<'a>(Vec<&'a Known>);

impl<'a> SetUp<'a> {
    /// That of a run; empty where a failed check took its verdicts.
    pub(super) fn of(run: Option<&'a Known>, others: &'a [Known]) -> Self {
        SetUp(run.map(|run| run.with_like(others)).unwrap_or_default())
    }

    /// What each of its runs found, but for those in `left_out`.
    fn history(&self, q: &Question, of: Of, left_out: &[&RunId]) -> History<'a> {
        let counted = self.0.iter().filter(|run| !left_out.contains(&&run.id));
        let runs = counted.filter_map(|run| Some((&run.id, run.found(q, of)?))).collect();
        let series = self.0.iter().map(|run| run.found.len()).max().unwrap_or_default().max(1);
        let (alpha, margin) = (ALPHA / series as f64, effect::margin(q.metric, q.margin));
        History::new(runs, Rule { alpha, margin })
    }

    /// What its runs found about one mean, the newest, but for those that are compared: a change
    /// between them is no scatter.
    pub(super) fn others_found(&self, q: &Question, of: Of, compared: [&RunId; 2]) -> Vec<Found> {
        self.history(q, of, &compared).newest(RUNS_MIN)
    }
}

/// How much estimates scatter from run to run; `None` for fewer than [`RUNS_MIN`].
pub(super) fn scatter(found: &[Found]) -> Option<Scatter> {
    if found.len() < RUNS_MIN {
        return None;
    }
    let (tau, least) = match between::between(found, ALPHA) {
        Some(between) => (between.tau, between.least),
        // Blocks that do not differ at all say nothing of their error: all scatter is between runs.
        None => (summary::sd(&found.iter().map(|run| run.estimate).collect::<Vec<_>>()), 0.0),
    };
    Some(Scatter { tau, runs: found.len(), least })
}

/// Where the next run like `analysis` will be, question by question, where `others` are enough, and
/// what changed from run to run.
pub fn tell(analysis: &mut Analysis, lines: &[Line], others: &[Known]) {
    let Some(own) = Known::of(analysis, lines) else { return };
    let set_up = SetUp::of(Some(&own), others);
    // What bursts may have hidden scatters by no such law.
    for q in analysis.questions.iter_mut().filter(|q| q.unseen.is_none()) {
        let scale = q.metric.scale();
        let histories = Of::ALL.map(|of| (of, set_up.history(q, of, &[])));
        let changes = histories.iter().map(|(of, history)| history.change_points(*of, scale));
        q.change_points = changes.flatten().collect();
        let Some(this) = own.found(q, Of::Difference) else { continue };
        let found = histories[0].1.around(&own.id);
        q.any_run = next(&found, this).map(|(between, range)| AnyRun {
            range: Range { low: scale.shown(range.low), high: scale.shown(range.high) },
            tau: between.tau,
            runs: between.runs,
        });
    }
}

/// What like runs have in common, and where another lies that is as sure as `this`; `None` for
/// fewer than [`RUNS_MIN`].
pub fn next(found: &[Found], this: Found) -> Option<(Between, Interval)> {
    let between = between::between(found, ALPHA).filter(|_| found.len() >= RUNS_MIN)?;
    Some((between, between.next(this.standard_error, ALPHA)))
}

/// What a run found of a question and of each arm by itself, in the order of [`Of::ALL`]; nothing
/// where there is no verdict, or where it stands although too many blocks were discarded.
pub(super) fn all_found(analysis: &Analysis, q: &Question) -> [Option<Found>; 3] {
    let series = analysis.questions.len() * Of::ALL.len();
    let stop = &analysis.run.plan.design.stop;
    let decided = conditions::is_whole(&analysis.discarded, q);
    Of::ALL.map(|of| moments(q, of, stop, series).filter(|_| decided).map(found))
}

/// The estimate and its standard error by the run's own blocks.
pub fn found(moments: Moments) -> Found {
    let standard_error = moments.sd / libm::sqrt(moments.n as f64);
    Found { estimate: moments.mean, standard_error }
}

/// What a run says of a question, on the scale of single effects: the estimate that it prints, the
/// standard deviation of normal values whose range would be as wide as its own, and how many
/// values there are. Of a family by itself the same is made of the logarithms of its values, or of
/// the values where the scale is a difference. `series` is the number of sequences that the guards
/// look at.
pub fn moments(q: &Question, of: Of, stop: &Stop, series: usize) -> Option<Moments> {
    let effect = q.effect.as_ref()?;
    let values = values(q, of);
    let margin = effect::margin(q.metric, q.margin);
    let guard = guard::examine(&values, margin, series);
    let units = guard.units(&values);
    let plain = Moments { mean: summary::mean(units), sd: summary::sd(units), n: units.len() };
    let validity = if of == Of::Difference { effect.validity } else { Validity::looked_at(stop) };
    let of_range = |centre: f64, half_width: f64, n: usize, alpha: f64| {
        let sd = effect::noise(q.metric.scale(), n, half_width, alpha, validity);
        Moments { mean: centre, sd: if sd.is_finite() { sd } else { plain.sd }, n }
    };
    Some(match (q.metric.scale(), of.arm()) {
        (Scale::Difference, of) => {
            let mean = if of.is_none() { effect.estimate } else { plain.mean };
            let blocks = match guard.holds_all {
                Some(all) => of_range(mean, all.width() / 2.0, units.len(), reach::ALPHA),
                None => Moments { mean, ..plain },
            };
            let (half_width, alpha) = of_counts(q, effect, of);
            let counts = of_range(mean, half_width, units.len(), alpha);
            Moments { sd: blocks.sd.max(counts.sd), ..blocks }
        }
        (Scale::Ratio, None) => {
            let n = effect.blocks / (q.diagnostics.merged.max(1) as usize);
            let alpha = level(reach::ALPHA, effect.together);
            let centre = libm::log1p(effect.estimate);
            let [low, high] = [effect.range95.low, effect.range95.high].map(libm::log1p);
            // The blocks' own.
            let of_hosts = hosts::reach(hosts::share(q.metric, q.values), alpha);
            let Interval { low, high } = hosts::without(centre, &Interval { low, high }, of_hosts);
            // With the mean in it a range reaches far to one side.
            let half_width = match q.mean.as_ref().is_some_and(|mean| mean.speaks_against) {
                true => (high - centre).max(centre - low),
                false => (high - low) / 2.0,
            };
            of_range(centre, half_width, n, alpha)
        }
        (Scale::Ratio, Some(_)) => {
            let scale = Scale::Ratio;
            let setting = Setting {
                validity,
                levels: 1,
                together: 1,
                questions: series,
                margin,
                scale,
                nulls: &[],
            };
            match effect::combine(&values, &setting) {
                Some(c) => of_range(c.centre, c.i95.width() / 2.0, units.len(), reach::ALPHA),
                None => Moments { mean: signed_rank::centre(units), ..plain },
            }
        }
    })
}

/// How far a share may lie from what was seen by its few events, however alike trials are, and at
/// which error rate: as two counts tell, or of an arm its own. What bursts may have hidden beyond
/// that reaches to one side alone and is no scatter.
fn of_counts(q: &Question, effect: &Effect, of: Option<Arm>) -> (f64, f64) {
    let alpha = level(reach::ALPHA, if of.is_none() { effect.together } else { 1 });
    let Some(events) = q.events.filter(|events| events.a.1.min(events.b.1) > 0) else {
        return (0.0, alpha);
    };
    let share = |(seen, all): (u64, u64)| seen as f64 / all as f64;
    let (seen, counts) = match of {
        None if q.unseen.is_some() => return (0.0, alpha),
        None => {
            let counts = loss::difference(events.a, events.b, 1.0 - alpha);
            (share(events.b) - share(events.a), counts)
        }
        Some(arm) => {
            let (seen, all) = *events.get(arm);
            // None that was seen is a bound, which is added to a change by itself.
            if seen == 0 {
                return (0.0, alpha);
            }
            (share((seen, all)), loss::interval(seen, all, 1.0 - alpha))
        }
    };
    ((counts.high - seen).max(seen - counts.low), alpha)
}

/// The values of the valid pairs that an estimate is made of.
pub(super) fn values(q: &Question, of: Of) -> Vec<f64> {
    let valid = q.pairs.iter().filter(|pair| pair.valid);
    let one = |pair: &super::Pair| match of.arm() {
        None => effect::of_block(q.metric, pair.values.a, pair.values.b),
        Some(arm) => q.metric.scale().of_value(*pair.values.get(arm)),
    };
    valid.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(number: u32) -> Known {
        Known {
            id: RunId::from_bits(number),
            started_unix_ns: u64::from(number),
            word: String::new(),
            granted: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Of two runs that are compared each has its own neighbours, in whatever order all are given.
    #[test]
    fn of_like_runs_those_nearest_to_the_run_itself_count() {
        let others: Vec<Known> = (0..100).map(known).collect();
        for (number, nearest) in [(5, 0..20), (50, 40..60), (90, 80..100)] {
            let own = known(number);
            let like = own.with_like(&others).into_iter().map(|run| run.started_unix_ns);
            assert!(like.clone().eq(nearest), "{number}: {:?}", like.collect::<Vec<_>>());
        }
    }
}
