//! All questions of a run, decided together: the one rule behind both the stopping rule and the
//! final analysis.

use super::Verdict;
use super::effect::hosts::Hosts;
use super::effect::validity::Validity;
use super::effect::{self, Combined, Setting};
use super::verdict::{self, Adjusted, Ruling};
use crate::reach;
use alloc::vec::Vec;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::workload::Transport;
use v6gap_stats::multiplicity::holm;
use v6gap_stats::{sequence, summary};

/// What was measured for one question.
#[derive(Debug)]
pub struct Evidence {
    /// The metric.
    pub metric: Metric,
    /// Over which transport.
    pub transport: Transport,
    /// The margin, as the plan has it.
    pub margin: f64,
    /// Number of its cell: questions of one cell share their trials.
    pub cell: usize,
    /// When its ranges are to hold.
    pub validity: Validity,
    /// Effects of the valid blocks, in order of time.
    pub effects: Vec<f64>,
    /// Effects of the valid null blocks before the first comparison.
    pub nulls: Vec<f64>,
    /// Standard uncertainty by the hosts, see [`effect::hosts::share`]. 0 while a run goes on: more
    /// blocks do not narrow it.
    pub hosts: f64,
    /// What a share counts over the valid blocks, see [`v6gap_core::values::counted`]; `None` of
    /// other metrics.
    pub events: Option<PerArm<(u64, u64)>>,
}

impl Evidence {
    /// Whether the first look settles it, and would have whatever it had found near this.
    fn ends_at_once(&self) -> bool {
        self.effects.get(..sequence::LOOKS_MIN).is_some_and(|first| {
            effect::is_quiet(self.metric, summary::sd(first), self.margin)
                || effect::is_clear(self.metric, first, self.margin)
        })
    }
}

/// What it says.
#[derive(Debug)]
pub struct Decided {
    /// All blocks together; `None` with fewer than two.
    pub combined: Option<Combined>,
    /// p-values, corrected for the questions decided together.
    pub p: Adjusted,
    /// p-value of no difference, corrected for all questions of the run.
    pub p_run: f64,
    /// The answer; `None` where nothing was combined.
    pub ruling: Option<Ruling>,
}

impl Decided {
    /// Whether there is an answer, and `other` is the same.
    pub fn is_the_same(&self, other: &Decided) -> bool {
        let of =
            |decided: &Decided| decided.ruling.map(|ruling| (ruling.verdict, ruling.qualifier));
        of(self).is_some_and(|(verdict, _)| verdict != Verdict::None) && of(self) == of(other)
    }
}

/// Decides all questions. Those of one metric over one transport form a group: their p-values of
/// "different" and of "same" are corrected after Holm, each among themselves. What is said of the
/// run as a whole needs the correction over all questions, for which there is a p-value as well.
pub fn decide(evidence: &[Evidence]) -> Vec<Decided> {
    let decided = evidence.iter().map(|question| Decided {
        combined: combine(question, evidence, 1),
        p: Adjusted::NOTHING,
        p_run: 1.0,
        ruling: None,
    });
    let mut decided: Vec<Decided> = decided.collect();
    for (first, question) in evidence.iter().enumerate() {
        if evidence[..first].iter().any(|earlier| alike(question, earlier)) {
            continue;
        }
        let members: Vec<usize> =
            (first..evidence.len()).filter(|&i| alike(question, &evidence[i])).collect();
        let p = |of: fn(&Combined) -> f64| -> Vec<f64> {
            let raw = members.iter().map(|&i| decided[i].combined.as_ref().map_or(1.0, of));
            holm(&raw.collect::<Vec<f64>>())
        };
        let (different, same) = (p(|c| c.p), p(|c| c.p_same));
        let open = open(&different, &same);
        for (place, &member) in members.iter().enumerate() {
            let p = Adjusted { different: different[place], same: same[place], open };
            let question = &evidence[member];
            let margin = effect::margin(question.metric, question.margin);
            let found = decided[member].combined.take().map(|combined| {
                let wider = || combine(question, evidence, open);
                verdict::coherent(question.metric, combined, margin, p, wider)
            });
            let (combined, ruling) = found.unzip();
            decided[member] = Decided { combined, p, p_run: 1.0, ruling };
        }
    }
    let all: Vec<f64> = decided.iter().map(|d| d.combined.as_ref().map_or(1.0, |c| c.p)).collect();
    for (decided, p_run) in decided.iter_mut().zip(holm(&all)) {
        decided.p_run = p_run;
    }
    decided
}

/// One question with ranges that hold for so many together.
fn combine(question: &Evidence, all: &[Evidence], together: usize) -> Option<Combined> {
    let group = || all.iter().filter(|other| alike(question, other));
    let own = core::iter::once(question).chain(group());
    let nulls = own.map(|q| &q.nulls).find(|nulls| nulls.len() >= effect::NULLS_MIN);
    let mut of_cell = all.iter().filter(|other| other.cell == question.cell);
    let setting = Setting {
        validity: question.validity.at_once(of_cell.all(Evidence::ends_at_once)),
        levels: group().count(),
        together,
        questions: all.len(),
        margin: effect::margin(question.metric, question.margin),
        scale: question.metric.scale(),
        nulls: nulls.map_or(&[][..], |nulls| nulls),
    };
    let combined = effect::combine(&question.effects, &setting)?;
    Some(match &question.events {
        Some(events) => combined.bounded(events, setting.margin),
        None => combined.with_hosts(Hosts::of(question.hosts, &setting)),
    })
}

/// Of how many questions decided together the corrected p-values leave open whether they differ,
/// or whether they are the same, whichever are more: as many as Holm's last step had to take in.
pub(super) fn open(different: &[f64], same: &[f64]) -> usize {
    let count = |p: &[f64]| p.iter().filter(|p| **p > reach::ALPHA).count();
    count(different).max(count(same))
}

/// Whether two questions ask for one metric over one transport.
fn alike(a: &Evidence, b: &Evidence) -> bool {
    a.metric == b.metric && a.transport == b.transport
}

#[cfg(test)]
mod tests;
