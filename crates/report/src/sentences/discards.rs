//! What gates discarded, by family, and what the discarded blocks would have to be to change an
//! answer, in sentences.

use crate::{number, words};
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::discards::{Discards, Tipping};
use v6gap_judge::analysis::words::counted;
use v6gap_judge::analysis::{Analysis, Counted, Range, Verdict};

/// Answers of which the text says what would change them.
const TIPPING_MAX: usize = 3;

/// What was discarded by family, and whether that is alike; `None` if nothing was.
pub(crate) fn discards(analysis: &Analysis) -> Option<String> {
    let found = analysis.discards.as_ref()?;
    let Discards { blocks, alone, both, counted, .. } = found;
    let Counted { more, p, range, verdict, .. } = counted;
    let names = &analysis.arm_names;
    let of = |arm: Arm| format!("{} for {} alone", words::number(*alone.get(arm)), names.get(arm));
    let Range { low, high } = range;
    // Outwards, and so finely that what lies to one side of a half does so in words.
    let [low, high] = [(1000.0 * low).floor(), (1000.0 * high).ceil()];
    let [low, high] = [low / 10.0, high / 10.0];
    let so = match verdict {
        Verdict::Worse => format!("{} was discarded more often", names.b),
        Verdict::Better => format!("{} was discarded more often", names.a),
        _ if alone.a + alone.b == 0 => "neither family was discarded more often".to_owned(),
        _ => "whether one family was discarded more often cannot be told".to_owned(),
    };
    let test = match more.a + more.b {
        0 => String::new(),
        _ => format!(
            " ({} {low} – {high} % of the rounds in which one family lost more, {})",
            names.b,
            words::p_value(*p)
        ),
    };
    let all = alone.a + alone.b + both;
    Some(format!(
        "Discarded: {all} of {blocks} blocks, {}, {} and {} for both: {so}{test}.",
        of(Arm::A),
        of(Arm::B),
        words::number(*both)
    ))
}

/// What would change the answers, those that need least first.
pub(crate) fn tipping(analysis: &Analysis) -> Vec<String> {
    let Some(found) = &analysis.discards else { return Vec::new() };
    let mut all: Vec<&Tipping> = found.tipping.iter().collect();
    all.sort_by(|x, y| (!x.changes).cmp(&!y.changes).then(x.differ.total_cmp(&y.differ)));
    let say = |tipping: &&Tipping| {
        let Tipping { cell, metric, discarded, differ, changes, .. } = tipping;
        let question = analysis.questions.iter().find(|q| q.cell == *cell && q.metric == *metric);
        let label = question.map_or(cell.as_str(), |q| q.label.as_str());
        let blocks = match discarded {
            1 => "its discarded block".to_owned(),
            n => format!("its {n} discarded blocks"),
        };
        let by = number::at_least(*metric, *differ);
        let so = match (changes, discarded) {
            (true, 1) => "; as it was measured, it does",
            (false, 1) => "; as it was measured, it does not",
            (true, _) => "; as they were measured, they do",
            (false, _) => "; as they were measured, they do not",
        };
        format!("{label}: the answer could change if {blocks} had differed by more than {by}{so}.")
    };
    all.iter().map(say).collect()
}

/// The first few of [`tipping`], for a terminal.
pub(crate) fn few_tipping(analysis: &Analysis) -> Vec<String> {
    let mut all = tipping(analysis);
    let more = all.len().saturating_sub(TIPPING_MAX);
    all.truncate(TIPPING_MAX);
    if more > 0 {
        let answers = counted(more, "more answer");
        all.push(format!("What would change {answers} stands in the report."));
    }
    all
}
