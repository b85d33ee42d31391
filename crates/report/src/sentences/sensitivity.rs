//! Whether a difference goes with what was drawn for its blocks, in sentences.

use crate::words;
use v6gap_core::unit::format_bytes;
use v6gap_judge::analysis::words::span_in_words;
use v6gap_judge::analysis::{Analysis, Choice, Part, Question, Sensitivity, again};

/// The questions whose difference depends on something, each with how to test it.
pub(crate) fn depending(analysis: &Analysis) -> Vec<String> {
    let found = analysis.sensitivity.iter().filter(|found| found.depends);
    let say = |found: &Sensitivity| {
        let (label, text) = (label(analysis, found), text(analysis, found));
        format!("Suspect ({label}): {text}. To test it: {}", test(analysis, found))
    };
    found.map(say).collect()
}

/// Those of which that cannot be told, for whoever wants to know all.
pub(crate) fn open(analysis: &Analysis) -> Vec<String> {
    let found = analysis.sensitivity.iter().filter(|found| !found.depends);
    let say = |found: &Sensitivity| {
        let (label, draws, what) = (label(analysis, found), found.draws, what(analysis, found));
        let drawn = match found.to {
            Choice::ClientProcessor | Choice::ServerProcessor => "rounds",
            _ => "blocks",
        };
        format!(
            "{label}: whether the difference depends on {what} cannot be told from {draws} {drawn} \
             ({}).",
            p(found)
        )
    };
    found.map(say).collect()
}

/// How the difference goes with a choice, as part of a sentence.
pub(crate) fn text(analysis: &Analysis, found: &Sensitivity) -> String {
    let what = what(analysis, found);
    let parts = found.extremes().map(|ends| ends.map(|part| at(found, part)));
    let parts = parts.map(|[one, other]| format!(": {one}, {other}")).unwrap_or_default();
    format!("the difference depends on {what}{parts} ({})", p(found))
}

/// What it may depend on.
fn what(analysis: &Analysis, found: &Sensitivity) -> String {
    let names = &analysis.arm_names;
    let left_over = |name: &str| {
        let segment = found.segment_bytes.unwrap_or_default();
        format!("what writes leave over of a segment of {segment} B of {name}")
    };
    match found.to {
        Choice::Writes => "the size of writes".to_owned(),
        Choice::Reads => "the size of reads".to_owned(),
        Choice::FirstSegments => left_over(&names.a),
        Choice::SecondSegments => left_over(&names.b),
        Choice::ClientProcessor => "the processor of the client".to_owned(),
        Choice::ServerProcessor => "the processor of the server".to_owned(),
    }
}

/// The difference in a part, with its range.
fn at(found: &Sensitivity, part: &Part) -> String {
    let range = span_in_words(found.metric, &part.range);
    let [first, last] = part.chosen;
    let bytes = |bytes: f64| format_bytes(kibibytes(bytes as u32).into());
    let share = |share: f64| format!("{:.0}", share * 100.0);
    let place = match found.to {
        Choice::Writes => format!("in writes of {} to {}", bytes(first), bytes(last)),
        Choice::Reads => format!("in reads of {} to {}", bytes(first), bytes(last)),
        Choice::FirstSegments | Choice::SecondSegments => {
            format!("at {} to {} %", share(first), share(last))
        }
        Choice::ClientProcessor | Choice::ServerProcessor => format!("on processor {first:.0}"),
    };
    format!("{range} {place}")
}

/// A command that would show it.
fn test(analysis: &Analysis, found: &Sensitivity) -> String {
    let again = again::command(&analysis.run);
    let processor = found.extremes().map_or(0.0, |[part, _]| part.chosen[0]);
    match found.to {
        Choice::Writes => format!("{again} --length 32K,256K"),
        // No option fixes them: other draws show it again, or do not.
        Choice::Reads => again,
        // As long segments over both families and a hundred whole ones in every write, timestamps
        // taken off.
        Choice::FirstSegments | Choice::SecondSegments => {
            format!("{again} --set-mss 1400 --length 138800")
        }
        Choice::ClientProcessor => format!("taskset -c {processor:.0} {again}"),
        // Both ends are of one program in a lab.
        Choice::ServerProcessor if analysis.run.plan.world.is_some() => {
            format!("taskset -c {processor:.0} {again}")
        }
        Choice::ServerProcessor => {
            format!("on the server taskset -c {processor:.0} v6gap serve, then {again}")
        }
    }
}

fn label<'a>(analysis: &'a Analysis, found: &'a Sensitivity) -> &'a str {
    let of = |q: &&Question| q.cell == found.cell && q.metric == found.metric;
    analysis.questions.iter().find(of).map_or(&found.cell, |q| &q.label)
}

/// A drawn size as a person would say it: in whole KiB.
fn kibibytes(bytes: u32) -> u32 {
    if bytes < 1024 { bytes } else { (bytes.saturating_add(512) / 1024).saturating_mul(1024) }
}

fn p(found: &Sensitivity) -> String {
    words::p_value(found.p_adjusted)
}
