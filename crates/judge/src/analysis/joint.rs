//! All questions of a run, decided together: the one rule behind both the stopping rule and the
//! final analysis.

use super::effect::{self, Combined, Setting};
use super::verdict::{self, Adjusted, Ruling};
use alloc::vec::Vec;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Stop;
use v6gap_core::workload::Transport;
use v6gap_stats::summary;

/// What was measured for one question.
#[derive(Debug)]
pub struct Evidence {
    /// The metric.
    pub metric: Metric,
    /// Over which transport.
    pub transport: Transport,
    /// The margin, as the plan has it.
    pub margin: f64,
    /// Effects of the valid blocks, in order of time.
    pub effects: Vec<f64>,
    /// Effects of the valid null blocks before the first comparison.
    pub nulls: Vec<f64>,
    /// What a share counts over the valid blocks, see [`v6gap_core::values::counted`]; `None` of
    /// other metrics.
    pub events: Option<PerArm<(u64, u64)>>,
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

/// Decides all questions. Those of one metric over one transport form a group: their p-values of
/// "different" and of "same" are corrected after Holm, each among themselves. What is said of the
/// run as a whole needs the correction over all questions, for which there is a p-value as well.
pub fn decide(evidence: &[Evidence], stop: &Stop) -> Vec<Decided> {
    let mut decided: Vec<Decided> = Vec::with_capacity(evidence.len());
    for question in evidence {
        let group = || evidence.iter().filter(|other| alike(question, other));
        let nulls = group().map(|q| &q.nulls).find(|nulls| nulls.len() >= effect::NULLS_MIN);
        let setting = Setting {
            stop,
            levels: group().count(),
            questions: evidence.len(),
            margin: effect::margin(question.metric, question.margin),
            noise: nulls.map(|nulls| summary::sd(nulls)),
        };
        let combined = effect::combine(&question.effects, &setting);
        let combined = match &question.events {
            Some(events) => combined.map(|c| c.bounded(events, setting.margin)),
            None => combined,
        };
        decided.push(Decided { combined, p: Adjusted::NOTHING, p_run: 1.0, ruling: None });
    }
    for (first, question) in evidence.iter().enumerate() {
        if evidence[..first].iter().any(|earlier| alike(question, earlier)) {
            continue;
        }
        let members: Vec<usize> =
            (first..evidence.len()).filter(|&i| alike(question, &evidence[i])).collect();
        let p = |of: fn(&Combined) -> f64| -> Vec<f64> {
            let raw = members.iter().map(|&i| decided[i].combined.as_ref().map_or(1.0, of));
            effect::holm(&raw.collect::<Vec<f64>>())
        };
        let (different, same) = (p(|c| c.p), p(|c| c.p_same));
        for (place, &member) in members.iter().enumerate() {
            decided[member].p = Adjusted { different: different[place], same: same[place] };
        }
    }
    let all: Vec<f64> = decided.iter().map(|d| d.combined.as_ref().map_or(1.0, |c| c.p)).collect();
    for (decided, p_run) in decided.iter_mut().zip(effect::holm(&all)) {
        decided.p_run = p_run;
    }
    for (question, decided) in evidence.iter().zip(&mut decided) {
        let margin = effect::margin(question.metric, question.margin);
        let combined = decided.combined.as_ref();
        decided.ruling = combined.map(|c| verdict::rule(question.metric, c, margin, decided.p));
    }
    decided
}

/// Whether two questions ask for one metric over one transport.
fn alike(a: &Evidence, b: &Evidence) -> bool {
    a.metric == b.metric && a.transport == b.transport
}

#[cfg(test)]
mod tests;
