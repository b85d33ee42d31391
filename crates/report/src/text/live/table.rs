//! The view of a plan that asks one thing at several levels: a row for each, with the means of both
//! families so far.

use super::Live;
use super::frame::{blank, cut, range};
use crate::number;
use crate::text::style::{Style, Tone};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::plan::Stop;
use v6gap_core::run::SoFar;

/// Fewest levels that make a table.
const LEVELS_MIN: usize = 3;

/// Levels that are shown unless all are asked for.
const SHOWN: usize = 6;

/// Columns of a level's name, of a value and its unit, of a difference with its range, of pairs.
const LEVEL: usize = 24;
const VALUE: usize = 12;
const OVER: usize = 24;
const PAIRS: usize = 6;

/// Narrower than this there are neither ranges nor pairs.
const WITH_PAIRS: usize = 80;

/// From here on the verdicts have a column, which is empty until the end.
const WITH_VERDICT: usize = 92;

/// Narrower than this there are no values.
const WITH_VALUES: usize = 63;

/// The sum of a family's valid values of one level, and how many they are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    pub(super) fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Live {
    /// The metric of all levels, if the plan asks for one at several.
    pub(super) fn of_levels(&self) -> Option<Metric> {
        let mut firsts = self.plan.cells.iter().map(|cell| cell.workload.metrics().first());
        let first = *firsts.next()??;
        let same = firsts.all(|other| other == Some(&first));
        (same && self.plan.cells.len() >= LEVELS_MIN).then_some(first)
    }

    /// The table, most of it left out unless `all` is asked for.
    pub(super) fn table(&self, metric: Metric, all: bool, style: &Style) -> Vec<(Tone, String)> {
        let columns = style.columns();
        let [a, b] = [format!("○ {}", self.arms.a), format!("◆ {}", self.arms.b)];
        let mut head = format!("{:<LEVEL$}", "So far (not final)");
        if columns >= WITH_VALUES {
            head.push_str(&format!("{a:>VALUE$}{b:>VALUE$}"));
        }
        let over = format!("over {}", self.arms.b);
        head.push_str(&match columns {
            WITH_VERDICT.. => format!("  {over:<OVER$}{:>PAIRS$}  verdict", "pairs"),
            WITH_PAIRS.. => format!("  {over:<OVER$}{:>PAIRS$}", "pairs"),
            _ => format!("  {over}"),
        });
        let mut lines = vec![(Tone::Strong, head)];
        let shown = if all { usize::MAX } else { SHOWN };
        let rows = 0..self.plan.cells.len();
        lines.extend(rows.take(shown).map(|at| (Tone::Plain, self.level(at, metric, style))));
        let hidden = self.plan.cells.len().saturating_sub(shown);
        if hidden > 0 {
            lines.push((Tone::Plain, format!("… {hidden} more (d shows all)")));
        }
        lines.push(blank());
        lines
    }

    /// The row of one level.
    fn level(&self, at: usize, metric: Metric, style: &Style) -> String {
        let columns = style.columns();
        let cell = &self.plan.cells[at];
        let found = self.so_far.iter().find(|q| q.cell == cell.id && q.metric == metric);
        let none =
            || SoFar { cell: cell.id.clone(), metric, blocks: 0, text: String::new(), range: None };
        let question = found.cloned().unwrap_or_else(none);
        let turn = if self.under_way == Some(at) { '>' } else { ' ' };
        let label = cut(&style.clean(&self.label(&question)), LEVEL - 2);
        let mut line = format!("{label:<0$}{turn} ", LEVEL - 2);
        if columns >= WITH_VALUES {
            let means = self.means.get(at).map_or(PerArm::default(), |m| m.map(Mean::value));
            let (texts, unit) = number::series(metric, &[means.a, means.b]);
            for text in &texts {
                line.push_str(&format!("{:>VALUE$}", format!("{text} {unit}")));
            }
        }
        let text = if question.text.is_empty() { "no range yet" } else { question.text.as_str() };
        line.push_str("  ");
        if columns < WITH_PAIRS {
            return line + text;
        }
        let range = range(&question).unwrap_or_default();
        let both = format!("{text}  {}", range.trim_end_matches(" %"));
        let fits = both.trim_end().chars().count() <= OVER;
        let pairs = match self.plan.design.stop {
            Stop::Pairs { pairs } => format!("{}/{pairs}", question.blocks),
            Stop::Adaptive { .. } => question.blocks.to_string(),
        };
        let said = if fits { both.trim_end() } else { text };
        line.push_str(&format!("{said:<OVER$}{pairs:>PAIRS$}"));
        if columns >= WITH_VERDICT && at == 0 {
            line.push_str("  at the end");
        }
        line
    }

    /// A valid trial of a level.
    pub(super) fn add_to_level(&mut self, at: usize, arm: Arm, value: f64) {
        if self.means.len() <= at {
            self.means.resize(at + 1, PerArm::default());
        }
        self.means[at].get_mut(arm).add(value);
    }
}
