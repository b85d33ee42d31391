//! The first screen: context, answer, table of questions, what one would notice, how sure it is.

use super::strip::{self, Axis, Shown};
use crate::number::shown;
use crate::sentences::{self, blocks, checks, details, failures, headline, other_runs};
use crate::words::{self, Told};
use maud::{Markup, PreEscaped, html};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Stop;
use v6gap_core::unit::{format_bytes, format_span};
use v6gap_core::workload::{Direction, Transport, Workload};
use v6gap_judge::analysis::{Analysis, CheckState, Question, Verdict};

pub(super) fn opening(analysis: &Analysis) -> Markup {
    let (client, server) = words::hosts(analysis);
    let plan = &analysis.run.plan.name;
    html! {
        p.context {
            b { (client) } " to " b { (server) }
            @if let Some(path) = words::path(analysis) { " · " (path) }
            @if !plan.is_empty() { " · plan “" (plan) "”" }
        }
        h1 { (headline(analysis)) }
        @if let Some(code) = words::code(analysis) { p.lede { "[" (code) "]" } }
        @let more = details(analysis);
        @if !more.is_empty() { p.lede { (more.join(" ")) } }
        @if let Some(failed) = failures(analysis) { p.lede { (failed) } }
        @if let Some(stopped) = &analysis.stopped { p.lede { (words::sentence(stopped)) } }
    }
}

pub(super) fn table(analysis: &Analysis) -> Markup {
    let axis = Axis::of(analysis);
    let names = &analysis.arm_names;
    html! {
        div.card.answer {
            table {
                caption.sr {
                    (names.b) " compared with " (names.a) ", one row for each question, with the \
                    difference, its 95 % range and the verdict"
                }
                thead { tr {
                    th scope="col" { "Question" }
                    th.num.arm-a scope="col" { "○ " (names.a) }
                    th.num.arm-b scope="col" { "◆ " (names.b) " " span.unit {} }
                    th.strip-cell scope="col" {
                        div.sides {
                            span { "◂ " (names.b) " worse" } span { (names.b) " better ▸" }
                        }
                    }
                    th scope="col" { (words::capital(&words::over(analysis))) " it is …" }
                    th.verdict scope="col" { "Verdict" }
                } }
                tbody { @for q in &analysis.questions { (row(analysis, q, axis)) } }
                tfoot { tr {
                    td colspan="3" {} td.strip-cell { (axis.scale()) } td colspan="2" {}
                } }
            }
            (legend(analysis))
            @for text in other_runs(analysis) { p { (text) } }
        }
    }
}

fn row(analysis: &Analysis, q: &Question, axis: Axis) -> Markup {
    let names = &analysis.arm_names;
    let values = shown(q);
    let class = strip::class(q.verdict);
    let range = match q.verdict == Verdict::CannotTell {
        // Its text is the range itself, in words.
        true => "that is the 95 % range".to_owned(),
        false => words::named_range(&q.range_text),
    };
    let difference = words::absolute_effect(q);
    html! {
        tr {
            th scope="row" {
                span.name { (q.label) } span.sub { (words::workload_of(analysis, q)) }
            }
            td.num data-arm=(names.a) { span.arm-a { (values.a) } }
            td.num data-arm=(names.b) {
                span.arm-b { (values.b) } " " span.unit { (values.unit) }
            }
            td.strip-cell { (strip::strip(Shown::of(q), axis)) }
            td.effect {
                @if q.effect.is_none() {
                    b class=(class) { (unanswered(q)) }
                    @if let Some(reason) = &q.why_none { span.range { (reason) } }
                } @else {
                    b class=(class) { (q.text) }
                    @if let Some(difference) = &difference { span.range { (difference) } }
                    @if !q.range_text.is_empty() { span.range { (range) } }
                }
            }
            td.verdict { (strip::chip(Told::of(q))) }
        }
    }
}

/// What stands in place of a difference.
fn unanswered(q: &Question) -> &'static str {
    match (q.values.a, q.values.b) {
        (None, _) | (_, None) => "not measured",
        (Some(_), Some(_)) => "no verdict",
    }
}

fn legend(analysis: &Analysis) -> Markup {
    let predicted = analysis.questions.iter().any(|q| q.prediction.is_some());
    let zone = "<rect width=\"26\" height=\"14\" rx=\"3\" fill=\"var(--zone)\"/>";
    let bar = "<path d=\"M2 7h30\" stroke=\"var(--same)\" stroke-width=\"3\" \
               stroke-linecap=\"round\"/>";
    let tick = "<path d=\"M3 0v14\" stroke=\"var(--ink3)\" stroke-width=\"2\" \
                stroke-dasharray=\"2 2.4\"/>";
    let swatch = |width: u32, shape: &str| {
        html! { svg width=(width) height="14" aria-hidden="true" { (PreEscaped(shape)) } }
    };
    html! {
        p.legend {
            span.narrow {
                "left of the line: " (analysis.arm_names.b) " worse; right: better"
            }
            span { (swatch(34, bar)) "the true difference is very likely (95 %) on this bar" }
            span { (swatch(26, zone)) "too small to matter, as chosen before the run" }
            @if predicted { span { (swatch(6, tick)) "what the longer header alone would cause" } }
        }
    }
}

pub(super) fn boxes(analysis: &Analysis) -> Markup {
    let notice = notice(analysis);
    html! {
        div class=(if notice.is_empty() { "boxes alone" } else { "boxes" }) {
            @if !notice.is_empty() {
                div.card.box {
                    h2 { "What you would notice" }
                    ul.notice {
                        @for (what, times) in &notice {
                            li {
                                span { (what) }
                                span {
                                    (times.a) " " span.sr { "over " (analysis.arm_names.a) ", " }
                                    span aria-hidden="true" { "→ " }
                                    b { (times.b) } span.sr { " over " (analysis.arm_names.b) }
                                }
                            }
                        }
                    }
                }
            }
            div.card.box { h2 { "How sure is this?" } (sure(analysis)) }
        }
    }
}

/// A file that is copied, in bytes.
const COPIED_BYTES: u64 = 1_000_000_000;

/// What the values mean in daily use, each named with the answer that their range gives; only from
/// what was measured, never beyond its sizes.
fn notice(analysis: &Analysis) -> Vec<(Markup, PerArm<String>)> {
    if words::is_null(analysis) || !analysis.valid {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let mut add = |q: Option<&Question>, what: String, time: fn(f64) -> f64| {
        let Some(q) = q else { return };
        let values = q.values.a.zip(q.values.b);
        if let Some((a, b)) = values.filter(|(a, b)| *a > 0.0 && *b > 0.0) {
            let named = html! { (what) " " (strip::chip(Told::of(q))) };
            rows.push((named, both(time(a), time(b))));
        }
    };
    let of = |metric| analysis.questions.iter().filter(move |q: &&Question| q.metric == metric);
    let over_tcp = |q: &&Question| q.transport == Transport::Tcp;
    // One way, and as long as the rate lasts: a short transfer is mostly its beginning.
    let is_copy = |q: &&Question| {
        let cell = analysis.run.plan.cell(&q.cell).map(|(_, cell)| &cell.workload);
        matches!(cell, Some(Workload::TcpBulk(bulk)) if bulk.direction != Direction::Both
            && bulk.bytes.is_none_or(|bytes| bytes >= COPIED_BYTES))
    };
    let bulk = of(Metric::Throughput).find(is_copy);
    add(bulk, "Copying a file of 1 GB".to_owned(), |rate| 8.0 * COPIED_BYTES as f64 / rate);
    let small = of(Metric::Rtt).filter(over_tcp).min_by_key(|q| q.level_bytes);
    let size =
        small.and_then(|q| q.level_bytes).map(|n| format_bytes(n.into())).unwrap_or_default();
    let requests = format!("1000 requests and answers of {size}, one after the other");
    add(small, requests, |delay| delay * 1000.0);
    let connect = of(Metric::Connect).next();
    let connections = "Opening 100 connections, one after the other".to_owned();
    add(connect, connections, |delay| delay * 100.0);
    rows
}

fn both(a: f64, b: f64) -> PerArm<String> {
    PerArm { a: format_span(a * 1e9), b: format_span(b * 1e9) }
}

fn sure(analysis: &Analysis) -> Markup {
    let names = &analysis.arm_names;
    let (summary, _) = checks::summary(analysis);
    let pairs = words::pairs(analysis);
    let stop = match analysis.run.plan.design.stop {
        Stop::Pairs { .. } => "Their number was fixed before the run.",
        Stop::Adaptive { .. } => "Looking at the result early did not change it.",
    };
    let scope = match &analysis.run.plan.world {
        Some(_) => "One run in a lab on one computer: it says nothing about other paths.",
        None => "One run on one path: it says nothing about other paths.",
    };
    html! {
        p {
            b { (pairs) } " of each question, " (names.a) " and " (names.b) " in turns, "
            (sentences::drawn::order(analysis)) ". " (stop)
            @if let Some(blocks) = blocks(analysis) { " " (blocks) }
        }
        p { b { "Checks: " (summary) "." } @if analysis.nulls_agree() {
            " Each family against itself showed no difference that matters."
        } }
        @for check in analysis.checks.iter().filter(|c| c.state == CheckState::Failed) {
            p.worse { b { "Failed: " } (words::sentence(&check.text)) }
        }
        @for text in words::to_settle(analysis) {
            p { (text) }
        }
        p { (scope) }
    }
}
