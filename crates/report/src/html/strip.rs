//! The small pictures inside the table of answers: one axis for all rows, worse left, better right.
//!
//! They are decoration for those who see: the same row says everything in words.

use crate::words::{self, Told};
use maud::{Markup, PreEscaped, html};
use v6gap_core::metric::Metric;
use v6gap_core::unit::format_share;
use v6gap_judge::analysis::compare::{Change, Row};
use v6gap_judge::analysis::{Analysis, Effect, Question, Verdict};

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 30.0;
/// Room at the ends for arrows.
const EDGE: f64 = 8.0;

/// The axis: the greatest difference it shows, in either direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    pub most: f64,
}

/// What a strip shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    metric: Metric,
    margin: f64,
    effect: Option<&'a Effect>,
    predicted: Option<f64>,
    verdict: Verdict,
}

impl<'a> Shown<'a> {
    /// A question of a run.
    pub(super) fn of(q: &'a Question) -> Self {
        Shown {
            metric: q.metric,
            margin: q.margin,
            effect: q.effect.as_ref(),
            predicted: q.prediction.as_ref().map(|p| p.effect),
            verdict: q.verdict,
        }
    }

    /// A change between runs.
    pub(super) fn change(row: &'a Row, change: &'a Change) -> Self {
        Shown {
            metric: row.metric,
            margin: row.margin,
            effect: change.effect.as_ref(),
            predicted: None,
            verdict: change.verdict,
        }
    }
}

const STEPS: [f64; 12] = [0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0];

impl Axis {
    /// Wide enough for every estimate and margin; ranges far wider than that get arrows.
    pub(super) fn of(analysis: &Analysis) -> Self {
        Axis::over(analysis.questions.iter().map(Shown::of))
    }

    /// An axis for anything that strips show.
    pub(super) fn over<'a>(shown: impl Iterator<Item = Shown<'a>>) -> Self {
        let need = shown.map(need).fold(0.0, f64::max);
        let most = STEPS.into_iter().find(|step| *step >= need * 1.05).unwrap_or(2.0);
        Axis { most }
    }

    fn x(self, advantage: f64) -> f64 {
        let half = WIDTH / 2.0 - EDGE;
        WIDTH / 2.0 + (advantage / self.most).clamp(-1.0, 1.0) * half
    }

    /// Marks of the axis below the last row.
    pub(super) fn scale(self) -> Markup {
        let marks = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|share| {
            let text = match share {
                0.0 => "0".to_owned(),
                _ => format_share(self.most * f64::abs(share)),
            };
            (format!("{:.1}", self.x(self.most * share)), text)
        });
        html! {
            svg.scale viewBox="0 0 300 22" aria-hidden="true" {
                @for (x, text) in &marks {
                    path d={ "M" (x) " 0v4" } stroke="var(--axis)" {}
                    text x=(x) y="18" text-anchor="middle" { (text) }
                }
            }
        }
    }
}

fn need(q: Shown<'_>) -> f64 {
    let estimate = q.effect.map_or(0.0, |e| e.estimate.abs());
    let usual = q.margin.max(if estimate.is_finite() { estimate } else { 0.0 });
    let ends = q.effect.map_or(0.0, |e| e.range95.low.abs().max(e.range95.high.abs()));
    let predicted = q.predicted.map_or(0.0, f64::abs);
    usual.max(ends.min(usual * 2.5)).max(predicted.min(usual * 2.5))
}

/// The picture of one row; rows without a verdict get a hollow mark.
pub(super) fn strip(q: Shown<'_>, axis: Axis) -> Markup {
    let of = |effect: f64| words::advantage(q.metric, effect);
    let mut d = String::new();
    let [one, other] = q.metric.scale().within(q.margin).map(|end| axis.x(of(end)));
    let (left, right) = (one.min(other), one.max(other));
    d.push_str(&format!(
        "<rect x=\"{left:.1}\" y=\"2\" width=\"{:.1}\" height=\"26\" rx=\"3\" \
         fill=\"var(--zone)\"/>\
         <path d=\"M150 0v{HEIGHT}\" stroke=\"var(--ink3)\"/>",
        right - left
    ));
    // Beyond the axis it has no place: an axis that held it would show nothing else.
    if let Some(predicted) = q.predicted.filter(|p| of(*p).abs() <= axis.most) {
        d.push_str(&format!(
            "<path d=\"M{:.1} 4v22\" stroke=\"var(--ink3)\" stroke-width=\"2\" \
             stroke-dasharray=\"2 2.4\" fill=\"none\"/>",
            axis.x(of(predicted))
        ));
    }
    if let Some(effect) = q.effect {
        let ends = [of(effect.range95.low), of(effect.range95.high)];
        d.push_str(&bar(axis, ends, colour(q.verdict)));
        if effect.estimate.is_finite() {
            d.push_str(&mark(axis.x(of(effect.estimate)), q.verdict));
        }
    }
    html! {
        svg.strip viewBox="0 0 300 30" aria-hidden="true" {
            (PreEscaped(d))
        }
    }
}

/// A bar between two ends; an arrow where it goes on beyond the axis.
fn bar(axis: Axis, ends: [f64; 2], colour: &str) -> String {
    let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let (from, to) = (axis.x(low), axis.x(high));
    let mut d = format!("M{from:.1} 15H{to:.1}");
    if low < -axis.most {
        d.push_str(&format!("M{:.1} 10l-5 5l5 5", from + 5.0));
    }
    if high > axis.most {
        d.push_str(&format!("M{:.1} 10l5 5l-5 5", to - 5.0));
    }
    format!(
        "<path d=\"{d}\" stroke=\"{colour}\" stroke-width=\"3.2\" stroke-linecap=\"round\" \
         fill=\"none\"/>"
    )
}

const fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "var(--better)",
        Verdict::Worse => "var(--worse)",
        Verdict::Same | Verdict::CannotTell | Verdict::None => "var(--same)",
    }
}

fn mark(x: f64, verdict: Verdict) -> String {
    let ink = colour(verdict);
    let solid = |d: String| format!("<path d=\"{d}\" fill=\"{ink}\"/>");
    match verdict {
        Verdict::Worse => solid(format!("M{:.1} 10h13l-6.5 11.5z", x - 6.5)),
        Verdict::Better => solid(format!("M{:.1} 20h13l-6.5-11.5z", x - 6.5)),
        Verdict::Same => solid(format!("M{:.1} 10h10v10h-10z", x - 5.0)),
        Verdict::CannotTell => ring(x, ink, " stroke-dasharray=\"2.5 2\""),
        Verdict::None => ring(x, ink, ""),
    }
}

fn ring(x: f64, ink: &str, dashes: &str) -> String {
    format!(
        "<circle cx=\"{x:.1}\" cy=\"15\" r=\"5.5\" fill=\"var(--card)\" stroke=\"{ink}\" \
         stroke-width=\"2\"{dashes}/>"
    )
}

/// The name of a verdict's class and the shape inside its chip.
pub(super) const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::CannotTell => "open",
        Verdict::None => "none",
    }
}

/// An answer as shape and word.
pub(super) fn chip(told: Told) -> Markup {
    let shape = if told.within.is_some() { NEARLY } else { shape(told.verdict) };
    let word = told.word();
    let (first, rest) = word.split_at(1);
    html! {
        span class={ "chip " (class(told.verdict)) } {
            svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" {
                (PreEscaped(shape))
            }
            (first.to_uppercase()) (rest)
        }
    }
}

/// The shape of what is there and does not matter.
const NEARLY: &str = "<path d=\"M1 4.6q2.5-3 5 0t5 0M1 8.6q2.5-3 5 0t5 0\" fill=\"none\" \
                      stroke=\"currentColor\" stroke-width=\"1.7\"/>";

const fn shape(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "<path d=\"M1 2.5h10L6 10.5z\" fill=\"currentColor\"/>",
        Verdict::Better => "<path d=\"M1 9.5h10L6 1.5z\" fill=\"currentColor\"/>",
        Verdict::Same => "<path d=\"M1 3h10v2.2H1zM1 7h10v2.2H1z\" fill=\"currentColor\"/>",
        Verdict::CannotTell => {
            "<circle cx=\"6\" cy=\"6\" r=\"4.6\" fill=\"none\" stroke=\"currentColor\" \
             stroke-width=\"1.6\" stroke-dasharray=\"2.4 1.8\"/>"
        }
        Verdict::None => "<path d=\"M1 5h10v2H1z\" fill=\"currentColor\"/>",
    }
}
