//! Blocks by number or count, for those who ask for them.

use std::collections::BTreeMap;
use v6gap_judge::analysis::{Analysis, Question};

/// The blocks of each cell in a round, where a cell has several; `None` where each has one.
pub(crate) fn blocks(analysis: &Analysis) -> Option<String> {
    let mut cells: Vec<(&Question, u32)> = Vec::new();
    for question in &analysis.questions {
        if !cells.iter().any(|(known, _)| known.cell == question.cell) {
            cells.push((question, in_a_round(question)));
        }
    }
    let several: Vec<String> = cells
        .iter()
        .filter(|(_, blocks)| *blocks > 1)
        .map(|(question, blocks)| format!("{blocks} of {}", question.label))
        .collect();
    let ones = cells.iter().filter(|(_, blocks)| *blocks == 1).count();
    let others = match ones {
        0 => "",
        _ => "; one of each other cell",
    };
    let said = || format!("Blocks in a round: {}{others}.", several.join("; "));
    (!several.is_empty()).then(said)
}

/// The most blocks that a cell had in one round, discarded ones among them.
fn in_a_round(question: &Question) -> u32 {
    let mut rounds: BTreeMap<u32, u32> = BTreeMap::new();
    for pair in &question.pairs {
        *rounds.entry(pair.round).or_default() += pair.blocks;
    }
    rounds.into_values().max().unwrap_or(0)
}

/// The numbers of the blocks far from the others; `None` if there are none.
pub(crate) fn far(analysis: &Analysis) -> Option<String> {
    let of = |q: &Question| {
        let far: Vec<String> = q.diagnostics.far().map(|block| block.to_string()).collect();
        (!far.is_empty()).then(|| format!("{} ({})", far.join(", "), q.label))
    };
    let all: Vec<String> = analysis.questions.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| format!("Blocks far from the others: {}.", all.join("; ")))
}
