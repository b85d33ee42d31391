//! What a range holds: what was drawn anew within the run, and what was not.

use v6gap_core::plan::Order;
use v6gap_core::unit::format_share;
use v6gap_judge::analysis::{Analysis, Anew, Nuisance};

/// In one line; `None` where nothing was compared.
pub fn drawn(analysis: &Analysis) -> Option<String> {
    let of = |anew: Anew| {
        let those = analysis.drawn.iter().filter(|fact| fact.anew == anew);
        let names: Vec<&str> = those.map(|fact| name(fact.what)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let [block, round, never] = [Anew::Block, Anew::Round, Anew::Never].map(of);
    let mut parts = Vec::new();
    match (block, round) {
        (Some(block), Some(round)) => {
            parts.push(format!("drawn anew in each block: {block}, and in each round: {round}"));
        }
        (Some(block), None) => parts.push(format!("drawn anew in each block: {block}")),
        (None, Some(round)) => parts.push(format!("drawn anew in each round: {round}")),
        (None, None) => {}
    }
    parts.extend(never.map(|never| format!("the same all through: {never}")));
    let confidence = format_share(analysis.run.plan.design.confidence);
    (!parts.is_empty()).then(|| format!("{confidence}, this run: {}.", parts.join("; ")))
}

/// In which order the arms of a block were measured.
pub(crate) fn order(analysis: &Analysis) -> String {
    match analysis.run.plan.design.order {
        Order::Random => "in random order balanced over every two rounds".to_owned(),
        Order::Sequential => format!(
            "{} always first, so that what changes with time passes for a difference",
            analysis.arm_names.a
        ),
    }
}

fn name(what: Nuisance) -> &'static str {
    match what {
        Nuisance::Ports => "ports",
        Nuisance::Writes => "sizes of writes",
        Nuisance::Order => "order",
        Nuisance::Lab => "lab",
        Nuisance::Processes => "processes",
        Nuisance::Processors => "processors",
        Nuisance::Boot => "boot",
        Nuisance::Path => "path",
    }
}
