//! How the numbers were made, and what the words mean: for readers who want to judge by
//! themselves.

use super::sections::data_table;
use crate::plan;
use crate::sentences;
use crate::uncertainty;
use crate::words;
use maud::{Markup, html};
use v6gap_core::plan::Stop;
use v6gap_core::unit::format_share;
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::effect::SCORES_MIN;

/// Ranges at the end that a run's own rule has set.
const BY_ITSELF: &str = " This run ended by its own rule, so ranges are those of one look at \
    the end, Student’s (1908) or that of signed ranks (Wilcoxon 1945), as wide as the noise of \
    the first pairs asks for (Stein 1945), and at a lower error rate where the estimate may have \
    had a part in when it ended. Questions whose pairs resemble their neighbours, gather round \
    two values, have one far off among the first or are fewer than 8 keep ranges that hold at \
    any time, and so do those of which a precision was asked for.";

/// Design, estimator, ranges, margins, wire model.
pub(super) fn method(analysis: &Analysis) -> Markup {
    let design = &analysis.run.plan.design;
    let names = &analysis.arm_names;
    let confidence = format_share(design.confidence);
    let ranges = match design.stop {
        Stop::Pairs { pairs } => format!(
            "The number of pairs ({pairs}) was fixed before the run. Estimates are the centre of \
             the pairs (Hodges and Lehmann 1963), and ranges those of signed ranks (Wilcoxon \
             1945), exact for any symmetric law; where so few pairs can never decide by ranks, and \
             for loss, those of Student’s t (1908), for nearly normal values."
        ),
        Stop::Adaptive { .. } => format!(
            "The run stops when every question is answered or its time is over. Estimates are the \
             centre of the pairs (Hodges and Lehmann 1963). While it goes on, and where somebody \
             stops it or goes on with it, ranges come from a confidence sequence, which holds at \
             any stopping time, so looking early does not make a result look surer than it is: \
             from {SCORES_MIN} pairs on by bets on scores (Waudby-Smith and Ramdas 2024), for \
             which the law need only be symmetric; with fewer, and for loss, by one for nearly \
             normal values (Wang and Ramdas 2023).{}",
            if analysis.ended_by_itself() { BY_ITSELF } else { "" }
        ),
    };
    let until = if plan::rests(&analysis.run.plan.design) { " until it is answered" } else { "" };
    html! {
        h2 { "Method" }
        details.card.text {
            summary { "How these numbers were made" }
            p {
                b { "Design. " } "In each block both arms, " (names.a) " and " (names.b) ", are \
                measured next to each other in time, " (sentences::drawn::order(analysis)) ". A \
                question takes part in every round" (until) ". Blocks that compare a family with \
                itself show what the instrument itself would add."
            }
            p {
                b { "Effect. " } "The logarithm of the ratio of both values of a block, shown as \
                a difference in per cent; for loss, the difference itself in percentage points. \
                What a question’s blocks in one round say together (of ratios their \
                Hodges-Lehmann centre, of shares their mean) makes one pair; estimates and ranges \
                are taken from the pairs."
            }
            p {
                b { "Ranges. " } (ranges)
                @match sentences::drawn(analysis) {
                    Some(drawn) => { " " (drawn) }
                    None => { " Confidence: " (confidence) "." }
                }
            }
            p {
                b { "Verdicts. " } "Worse or better: the range lies on one side of no difference. \
                Same: the 90 % range lies within the margin. Otherwise it cannot be told. "
                @if let Some(margins) = words::margins(analysis) { (margins) }
                " The margins were fixed before the run."
            }
            p {
                b { "Predicted. " } "From the lengths of headers and the packets that a message \
                takes (RFC 791, RFC 8200, RFC 9293, RFC 768), without any measurement. An IPv6 \
                header is 20 bytes longer than an IPv4 header without options."
            }
            @if let Some(table) = uncertainty::table(analysis) {
                p { b { "Budget of uncertainty. " } (uncertainty::SAY) }
                (data_table(&table, "Budget of uncertainty"))
            }
            p {
                b { "Terms. " } "Delay, loss and throughput are meant as in RFC 2681, RFC 7680 and \
                RFC 2647."
            }
        }
    }
}

/// What the words on the page mean.
pub(super) fn glossary() -> Markup {
    let entries = [
        (
            "Round trip",
            "Time from sending a message to having the whole answer of equal size: the mean \
             without the quickest twentieth and the slowest tenth, which --tails asks for.",
        ),
        ("Throughput", "Bytes of the application that arrive per time; headers do not count."),
        ("Connecting", "Time until a TCP connection is open, as a program sees it."),
        ("Lost", "Datagrams that were sent and never arrived."),
        ("Block", "One trial of each arm, next to each other in time."),
        ("Pair", "What the blocks of a question in one round say together; mostly one block."),
        (
            "95 % range",
            "Where the true difference of this run very likely is: made this way, 95 of 100 hold \
             it. Another run may find another one.",
        ),
        (
            "Too small to matter",
            "The margin: a difference within it changes nothing for most uses.",
        ),
        ("Same", "If there is a difference, it is too small to matter."),
        (
            "Within … (≈)",
            "There is a difference, since the range does not hold 0, and it is too small to \
             matter: smaller than the margin that is named.",
        ),
        ("Can’t tell", "The range holds a difference that matters and none; more pairs help."),
        ("Predicted", "What the lengths of the headers alone would cause."),
    ];
    html! {
        h2 { "Words used" }
        div.card.text { dl {
            @for (word, meaning) in entries { dt { (word) } dd { (meaning) } }
        } }
    }
}
