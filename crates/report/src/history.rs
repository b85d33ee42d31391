//! What runs answered, a line for each: the history of a path.

use crate::words::{self, Told};
use v6gap_judge::analysis::Range;
use v6gap_judge::analysis::summary::Answer;

/// The question, the answer, the difference and its 95 % range, as in "rtt-tcp-64 rtt", "▼ worse",
/// "+8.9 %", "+8.6 to +9.2".
pub fn answer_in_words(answer: &Answer) -> [String; 4] {
    let Answer { metric, verdict, within, .. } = *answer;
    let (effect, range) = match answer.effect {
        Some([Some(estimate), low, high]) => {
            let low = low.unwrap_or(f64::NEG_INFINITY);
            let range = Range { low, high: high.unwrap_or(f64::INFINITY) };
            (words::signed_amount(metric, estimate), words::signed(&range))
        }
        _ => (String::new(), String::new()),
    };
    let told = Told { metric, verdict, within };
    [format!("{} {metric}", answer.cell), told.marked(), effect, range]
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::metric::Metric;
    use v6gap_judge::analysis::Verdict;

    #[test]
    fn an_answer_is_a_line() {
        let mut answer = Answer {
            cell: "rtt-tcp-64".to_owned(),
            metric: Metric::Rtt,
            verdict: Verdict::Worse,
            within: None,
            effect: Some([Some(0.089), Some(-0.002), None]),
            values: [None; 2],
            found: [None; 3],
        };
        let line = answer_in_words(&answer);
        assert_eq!(line, ["rtt-tcp-64 rtt", "▼ worse", "+8.9 %", "unbounded"]);
        // As wide as to say nothing.
        answer.effect = Some([0.089, -0.6, 4e5].map(Some));
        assert_eq!(answer_in_words(&answer)[3], "unbounded");
        // What is there and too small to matter is not the same.
        (answer.verdict, answer.within) = (Verdict::Same, Some(0.05));
        answer.effect = Some([0.007, 0.0069, 0.0071].map(Some));
        let line = answer_in_words(&answer);
        assert_eq!(line[1..], ["≈ within 5 %", "+0.70 %", "+0.69 to +0.71"]);
        (answer.metric, answer.effect) = (Metric::Loss, None);
        assert_eq!(answer_in_words(&answer)[2..], ["", ""]);
    }
}
