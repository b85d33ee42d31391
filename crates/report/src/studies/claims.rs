//! What a study said of the shape of its curves, and whether that holds here, in sentences.

use crate::words;
use std::collections::BTreeSet;
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::{TcpBulk, Workload};
use v6gap_judge::analysis::claims::{Claim, Holds, Shape};
use v6gap_judge::analysis::{Analysis, Question};

/// One statement with its range.
pub(crate) fn sentence(analysis: &Analysis, claim: &Claim) -> String {
    match claim.shape {
        Shape::Dip => dip(analysis, claim),
        Shape::Falls => falls(analysis, claim),
        Shape::Rises => rises(analysis, claim),
    }
}

fn questions<'a>(analysis: &'a Analysis, claim: &Claim) -> Vec<&'a Question> {
    let find = |cell: &String| {
        analysis.questions.iter().find(|q| q.cell == *cell && q.metric == claim.metric)
    };
    claim.cells.iter().filter_map(find).collect()
}

/// "+2.1 to +3.0 %", or that nothing is known.
fn range(claim: &Claim) -> String {
    words::signed_range(claim.metric, &claim.range)
}

/// Whether what the study saw is seen here, too.
const fn so_here(holds: Holds) -> &'static str {
    match holds {
        Holds::Yes => "so it does here",
        Holds::No => "it does not here",
        Holds::CannotTell => "whether it does here cannot be told",
    }
}

fn dip(analysis: &Analysis, claim: &Claim) -> String {
    let cells = questions(analysis, claim);
    let transport = cells.first().map_or("", |q| q.transport.name());
    let list = |of: &dyn Fn(&Question) -> Option<f64>| {
        let all: Vec<String> =
            cells.iter().filter_map(|q| Some(format!("{} %", words::sign(of(q)?)))).collect();
        all.join(", ")
    };
    let predicted = list(&|q| q.prediction.as_ref().map(|p| p.effect));
    let expected = match claim.predicted {
        Some(depth) if depth > 0.0 => {
            format!("The packets alone predict one, over {transport}: {predicted}")
        }
        Some(_) => format!("The packets alone predict none, over {transport}: {predicted}"),
        None => format!("Nothing is predicted of it, over {transport}"),
    };
    let measured = list(&|q| q.effect.as_ref().map(|e| e.estimate));
    let so = match claim.holds {
        Holds::Yes => "it is there",
        Holds::No => "it is not there",
        Holds::CannotTell => "whether it is there cannot be told",
    };
    format!(
        "The study saw, over TCP at 10 Mbit/s, a dip of the difference between 4 and 16 KB and \
         called it odd. {expected} \
         before, in and behind it. Measured: {measured}: {so} (depth {}).",
        range(claim)
    )
}

fn falls(analysis: &Analysis, claim: &Claim) -> String {
    let cells = questions(analysis, claim);
    let size = |q: Option<&&Question>| {
        format_bytes(q.and_then(|q| q.level_bytes).unwrap_or_default().into())
    };
    let (small, large) = (size(cells.first()), size(cells.last()));
    let so = so_here(claim.holds);
    let seen = match claim.estimate {
        Some(by) => {
            let by = words::sign(by);
            format!("at {small} it is larger than at {large} by {by} % ({})", range(claim))
        }
        None => format!("too few rounds have both {small} and {large}"),
    };
    format!(
        "The study's difference becomes smaller from small messages to large ones; {so}: {seen}."
    )
}

fn rises(analysis: &Analysis, claim: &Claim) -> String {
    let bulk = |q: &&Question| {
        let (_, cell) = analysis.run.plan.cell(&q.cell)?;
        let Workload::TcpBulk(bulk) = &cell.workload else { return None };
        Some(bulk)
    };
    let bulks: Vec<&TcpBulk> = questions(analysis, claim).iter().filter_map(bulk).collect();
    let windows = || bulks.iter().filter_map(|bulk| bulk.settings.buffer_bytes);
    let [low, high] =
        [windows().min(), windows().max()].map(|end| format_bytes(end.unwrap_or_default().into()));
    let name = claim.of.subject(&analysis.arm_names);
    let so = so_here(claim.holds);
    let sizes = bulks.iter().map(|bulk| bulk.bytes).collect::<BTreeSet<_>>().len();
    let is_other = |bulk: &&TcpBulk| bulks.first().is_some_and(|b| b.direction != bulk.direction);
    let ways = if bulks.iter().any(is_other) { " in both directions" } else { "" };
    let each = match (sizes, ways) {
        (0 | 1, "") => String::new(),
        (0 | 1, ways) => format!(", the lesser{ways}"),
        (n, ways) => format!(", the least of {n} amounts of data{ways}"),
    };
    let seen = match claim.estimate {
        Some(by) => {
            let by = words::sign(by);
            format!("from {low} to {high} by {by} % ({}){each}", range(claim))
        }
        None => format!("too few rounds have both {low} and {high}"),
    };
    format!("The study's throughput rises with the window; over {name} {so}: {seen}.")
}
