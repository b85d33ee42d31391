//! The budget of uncertainty of an estimate (JCGM 100:2008, "GUM", sections 4, 5 and 6.2): each
//! known source of doubt as a standard uncertainty, and all together (docs/method.md section C.14).

use super::compare::Of;
use super::effect::hosts;
use super::words::{self, Sided};
use super::{Analysis, NullResult, Question, alike};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::metric::Scale;

/// Coverage factor of the expanded uncertainty.
pub const COVERAGE: f64 = 2.0;

/// Standard uncertainty of a time between two readings of a clock that counts whole nanoseconds,
/// in s: each is anywhere within one (GUM 4.3.7).
const CLOCK_S: f64 = 1e-9 * 0.408_248_290_463_863;

/// Where a doubt comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The scatter of this run's blocks, with all that is drawn anew in them.
    Blocks,
    /// What differs from one run to the next by itself.
    Runs,
    /// The hosts' own speed, where other runs do not say what that is here.
    Hosts,
    /// What the instrument adds where nothing differs, as far as null blocks show.
    Instrument,
    /// How far the links of the lab may be off their model.
    Model,
    /// The clock counts whole nanoseconds.
    Clock,
    /// The estimate is printed with few digits.
    Rounding,
}

impl Source {
    /// All of them, in the order of a budget.
    pub const ALL: [Source; 7] = [
        Source::Blocks,
        Source::Runs,
        Source::Hosts,
        Source::Instrument,
        Source::Model,
        Source::Clock,
        Source::Rounding,
    ];
}

/// One source, with its standard uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Part {
    /// Where it comes from.
    pub source: Source,
    /// Standard uncertainty on the scale of single effects: of the logarithm of the ratio, or of
    /// the difference.
    pub standard: f64,
}

/// All sources of an estimate that are known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Budget {
    /// Each source; one that is not there is not known, or does not apply.
    pub parts: Vec<Part>,
    /// Root of the sum of their squares (GUM equation 10).
    pub combined: f64,
    /// [`COVERAGE`] times that.
    pub expanded: f64,
}

impl Budget {
    /// Standard uncertainty by a source, where that is known.
    pub fn by(&self, source: Source) -> Option<f64> {
        self.parts.iter().find(|part| part.source == source).map(|part| part.standard)
    }
}

/// The budget of a question's estimate; `None` where there is none or its range has no ends, or
/// where what was not seen is not described by any spread.
pub fn of(analysis: &Analysis, q: &Question) -> Option<Budget> {
    let stop = &analysis.run.plan.design.stop;
    let series = analysis.questions.len() * Of::ALL.len();
    let range = q.effect.as_ref().map(|effect| effect.range95)?;
    let is_known = q.unseen.is_none() && range.low.is_finite() && range.high.is_finite();
    let moments = alike::moments(q, Of::Difference, stop, series).filter(|_| is_known)?;
    let standard = |source| match source {
        Source::Blocks => Some(alike::found(moments).standard_error),
        Source::Runs => q.any_run.map(|any| any.tau),
        Source::Hosts => {
            let share = hosts::share(q.metric, q.values);
            let is_asked = q.any_run.is_none() && share > 0.0;
            is_asked.then(|| libm::fabs(share * alike::found(moments).estimate))
        }
        Source::Instrument => instrument(q, &analysis.nulls),
        Source::Model => {
            q.prediction.as_ref().and_then(|p| p.uncertainty).map(|twice| twice / COVERAGE)
        }
        Source::Clock => clock(q),
        Source::Rounding => {
            // Half of the last digit either way, anywhere within; of a ratio less 1.
            let one = match q.metric.scale() {
                Scale::Ratio => 1.0 + q.effect.as_ref()?.estimate,
                Scale::Difference => 1.0,
            };
            let told = Sided { range: &range, margin: Some(q.margin) };
            Some(words::last_digit(told)? / one / libm::sqrt(12.0))
        }
    };
    let part = |source| {
        let standard = standard(source).filter(|u| u.is_finite())?;
        Some(Part { source, standard })
    };
    let parts: Vec<Part> = Source::ALL.into_iter().filter_map(part).collect();
    let combined = libm::sqrt(parts.iter().map(|part| part.standard * part.standard).sum());
    Some(Budget { parts, combined, expanded: COVERAGE * combined })
}

/// What the second arm's place adds, seen with either family: its mean over all null blocks, for
/// which nothing is corrected, and how well that is known.
fn instrument(q: &Question, nulls: &[NullResult]) -> Option<f64> {
    let own = |n: &&NullResult| n.cell == q.cell && n.metric == q.metric;
    // Where blocks are too few to know their noise, nothing is known of it.
    let of_question = || nulls.iter().filter(own).filter(|n| n.seen_from.is_finite());
    let blocks: usize = of_question().map(|n| n.blocks).sum();
    let scale = q.metric.scale();
    let sum: f64 = of_question().map(|n| n.blocks as f64 * scale.single(n.estimate)).sum();
    let squares: f64 = of_question().map(|n| n.blocks as f64 * n.sd * n.sd).sum();
    let all = blocks as f64;
    (blocks > 0).then(|| libm::hypot(sum / all, libm::sqrt(squares) / all))
}

/// At most, since a value is the mean of many times.
fn clock(q: &Question) -> Option<f64> {
    let (a, b) = q.values.a.zip(q.values.b).filter(|_| hosts::is_of_exchanges(q.metric))?;
    Some(libm::hypot(CLOCK_S / a, CLOCK_S / b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::alike::AnyRun;
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run};
    use v6gap_core::arm::PerArm;
    use v6gap_core::metric::Metric;

    #[test]
    fn a_budget_holds_what_is_known_and_no_more() {
        let plan = plan(PerArm::FAMILIES, 3);
        let mut analysis = analyse(&run(&plan, 16, &EVEN)).unwrap();
        let at = analysis.questions.iter().position(|q| q.metric == Metric::Rtt).unwrap();
        let found = |analysis: &Analysis| of(analysis, &analysis.questions[at]).unwrap();
        let one = found(&analysis);
        assert!(one.by(Source::Runs).is_none() && one.by(Source::Instrument).unwrap() > 0.0);
        assert!(one.by(Source::Clock).unwrap() < 1e-4, "{one:?}");
        let range = analysis.questions[at].effect.as_ref().unwrap().range95;
        assert!(one.by(Source::Blocks).unwrap() < (range.high - range.low) / 2.0, "{one:?}");
        let squares: f64 = one.parts.iter().map(|part| part.standard.powi(2)).sum();
        assert!((one.combined.powi(2) - squares).abs() < 1e-15);
        assert!((one.expanded - 2.0 * one.combined).abs() < 1e-15);
        // What other runs tell is added.
        let tau = one.combined;
        analysis.questions[at].any_run = Some(AnyRun { range, tau, runs: 6 });
        let more = found(&analysis);
        assert_eq!(more.by(Source::Runs), Some(tau));
        // They know the hosts as well.
        let hosts = one.by(Source::Hosts).unwrap();
        assert!(hosts > 0.0 && more.by(Source::Hosts).is_none(), "{more:?}");
        let expected = 2.0 * one.combined.powi(2) - hosts.powi(2);
        assert!((more.combined.powi(2) - expected).abs() < 1e-15);
    }
}
