//! Whether packets of the two families came in over the same processors and queues of the hosts.
//!
//! A card spreads flows over its queues by a hash of their addresses and ports, and a queue has its
//! processor. If one family mostly meets another one than the other family does, part of their
//! difference is that of the processors.

use super::collect::Block;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::observation::{EndReport, Ends};

/// Pairs that both families must have told of before anything is said.
const PAIRS_MIN: usize = 4;

/// The number of a place where packets came in, if an end tells it.
type Place = fn(&EndReport) -> Option<u32>;

/// One of the ends.
type End = fn(&Ends) -> Option<&EndReport>;

/// Places of the families that differ.
pub(super) struct Apart {
    /// The end at which they do.
    pub end: End,
    /// What was seen, as a sentence.
    pub text: String,
}

/// What differs in more than half of the comparing blocks, one sentence for each end and kind of
/// place. New ports in every trial make chance differences, which even out, no rarer than half.
pub(super) fn differences(blocks: &[Block<'_>]) -> Vec<String> {
    among(&blocks.iter().collect::<Vec<_>>()).into_iter().map(|apart| apart.text).collect()
}

/// What differs in placement within some of the blocks.
pub(super) fn among(blocks: &[&Block<'_>]) -> Vec<Apart> {
    let ends: [(&str, End); 2] =
        [("the client", |ends| Some(&ends.client)), ("the server", |ends| ends.server.seen())];
    let places: [(&str, Place); 2] = [
        ("processors", |end| end.granted.incoming_processor),
        ("receive queues", |end| end.granted.incoming_queue),
    ];
    let is_null = blocks.iter().all(|b| b.trials.a.family == b.trials.b.family);
    let whose = if is_null { "both arms" } else { "the two families" };
    let mut found = Vec::new();
    for (who, end) in ends {
        for (what, place) in places {
            let pairs: Vec<(u32, u32)> = blocks
                .iter()
                .filter(|block| block.valid && block.kind() == BlockKind::Compare)
                .filter_map(|b| {
                    let PerArm { a, b } = b.trials;
                    Some((place(end(&a.ends)?)?, place(end(&b.ends)?)?))
                })
                .collect();
            let apart = pairs.iter().filter(|(a, b)| a != b).count();
            if pairs.len() >= PAIRS_MIN && 2 * apart > pairs.len() {
                let text = format!(
                    "packets of {whose} came in over different {what} of {who} in {apart} \
                     of {} blocks: part of a difference may be theirs",
                    pairs.len()
                );
                found.push(Apart { end, text });
            }
        }
    }
    found
}
