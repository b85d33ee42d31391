//! Whether a difference goes with the size of writes, in sentences.

use crate::words;
use v6gap_core::unit::format_bytes;
use v6gap_judge::analysis::{Analysis, ByWrites};

/// The questions whose difference depends on the size of writes, each with how to test it.
pub(crate) fn depending(analysis: &Analysis) -> Vec<String> {
    let found = analysis.by_writes.iter().filter(|found| found.depends);
    let say = |found: &ByWrites| {
        let test = format!("v6gap run {} --length 32K,256K", analysis.run.target);
        format!("Suspect ({}): {}. To test it: {test}", label(analysis, found), text(found))
    };
    found.map(say).collect()
}

/// Those of which that cannot be told, for whoever wants to know all.
pub(crate) fn open(analysis: &Analysis) -> Vec<String> {
    let found = analysis.by_writes.iter().filter(|found| !found.depends);
    let say = |found: &ByWrites| {
        let (label, blocks) = (label(analysis, found), found.blocks);
        format!(
            "{label}: whether the difference depends on the size of writes cannot be told from \
             {blocks} blocks ({}).",
            p(found)
        )
    };
    found.map(say).collect()
}

/// How the difference goes with the size, as part of a sentence.
pub(crate) fn text(found: &ByWrites) -> String {
    let [small, _, large] = found.thirds;
    let effect = |effect| words::effect(found.metric, effect);
    let bytes = |bytes: u32| format_bytes(kibibytes(bytes).into());
    format!(
        "the difference depends on the size of writes: {} up to {}, {} from {} on ({})",
        effect(small.effect),
        bytes(small.bytes[1]),
        effect(large.effect),
        bytes(large.bytes[0]),
        p(found)
    )
}

fn label<'a>(analysis: &'a Analysis, found: &'a ByWrites) -> &'a str {
    let of =
        |q: &&v6gap_judge::analysis::Question| q.cell == found.cell && q.metric == found.metric;
    analysis.questions.iter().find(of).map_or(&found.cell, |q| &q.label)
}

/// A drawn size as a person would say it: in whole KiB.
fn kibibytes(bytes: u32) -> u32 {
    if bytes < 1024 { bytes } else { (bytes.saturating_add(512) / 1024).saturating_mul(1024) }
}

fn p(found: &ByWrites) -> String {
    let p = found.p_adjusted;
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}
