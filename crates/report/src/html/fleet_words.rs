//! What is said of a fleet and of a path in a few words.

use crate::fleet::age;
use crate::words::{self, Told};
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::matrix::{Cell, Matrix};

/// "25 of 1225 paths are worse over IPv6 (rtt-tcp-64)".
pub(super) fn headline(of: &Matrix) -> String {
    let (worse, fresh) = (of.count(Verdict::Worse), of.fresh());
    let measure = &of.measure;
    match worse {
        0 if fresh == 0 => format!("No path has an answer that is not stale ({measure})"),
        0 => format!("No path of {fresh} is worse over IPv6 ({measure})"),
        1 => format!("1 path of {fresh} is worse over IPv6 ({measure})"),
        _ => format!("{worse} of {fresh} paths are worse over IPv6 ({measure})"),
    }
}

/// "worse, +8.9 %, 5 min ago".
pub(super) fn told(of: &Matrix, cell: &Cell) -> String {
    let ago = age(of.now_unix_ns.saturating_sub(cell.began_unix_ns));
    let word = Told::path(of, cell).map(Told::word);
    let mut said = vec![word.unwrap_or_else(|| words::verdict(cell.verdict).to_owned())];
    said.extend(difference(cell, of.metric));
    said.push(format!("{ago} ago"));
    if cell.stale {
        said.push("stale".to_owned());
    }
    said.join(", ")
}

/// "+8.9 %", of an answer that has one.
pub(super) fn difference(cell: &Cell, metric: Option<Metric>) -> Option<String> {
    let metric = metric?;
    match (cell.verdict, cell.within) {
        (Verdict::Worse | Verdict::Better | Verdict::CannotTell, _) | (_, Some(_)) => {
            let [effect, ..] = cell.effect?;
            Some(words::signed_amount(metric, effect?))
        }
        (Verdict::Same | Verdict::None, None) => None,
    }
}
