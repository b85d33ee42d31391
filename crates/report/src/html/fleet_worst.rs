//! The paths that are worse by most, for screens on which a matrix is a keyhole.

use super::fleet_links::Links;
use super::fleet_words::told;
use crate::words;
use maud::{Markup, html};
use v6gap_core::fleet::names::HostName;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::matrix::{Cell, Matrix};

/// Paths in the list.
const WORST_MAX: usize = 10;

/// The worst first; nothing if none is worse.
pub(super) fn worst_first(of: &Matrix, links: &Links<'_>) -> Markup {
    let worse = worse(of);
    let more = worse.len().saturating_sub(WORST_MAX);
    html! {
        @if !worse.is_empty() {
            section.worst {
                h2 { "Worst first" }
                ol {
                    @for (from, to, cell) in worse.iter().take(WORST_MAX) {
                        @let name = format!("{from} to {to}");
                        li {
                            @if let Some(href) = (links.path)(from, to) {
                                a href=(href) { (name) }
                            } @else { (name) }
                            ": " (told(of, cell))
                        }
                    }
                }
                @if more > 0 { p { "… and " (more) " more in the matrix." } }
            }
        }
    }
}

/// The paths that are worse and not stale, that by most first.
fn worse(of: &Matrix) -> Vec<(&HostName, &HostName, &Cell)> {
    let advantage = |cell: &Cell| {
        let effect = cell.effect.and_then(|[effect, ..]| effect);
        // What has no figure comes last.
        let by = of.metric.zip(effect).map(|(metric, effect)| words::advantage(metric, effect));
        by.unwrap_or(0.0)
    };
    let is_worse = |cell: &Cell| !cell.stale && cell.verdict == Verdict::Worse;
    let mut worse: Vec<_> = of.cells.iter().filter(|(_, cell)| is_worse(cell)).collect();
    // Those alike stay in the order of their hosts.
    worse.sort_by(|a, b| advantage(a.1).total_cmp(&advantage(b.1)));
    let host = |at: usize| of.hosts.get(at);
    worse
        .into_iter()
        .filter_map(|((from, to), cell)| Some((host(*from)?, host(*to)?, cell)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::{fleet, small};

    #[test]
    fn what_is_worse_is_listed_by_how_much() {
        let mut of = fleet(10);
        of.cells.get_mut(&(2, 7)).unwrap().effect = Some([Some(0.5), Some(0.4), Some(0.6)]);
        of.cells.get_mut(&(0, 5)).unwrap().stale = true;
        of.cells.get_mut(&(0, 6)).unwrap().effect = None;
        let list = worst_first(&of, &Links::NONE).into_string();
        let told = |text: &str| list.find(text);
        assert!(list.contains("<li>s0/h2 to s1/h2: worse, +50 %, 5 min ago</li>"), "{list}");
        assert!(told("s0/h2 to s1/h2") < told("s0/h0 to s1/h2"), "{list}");
        assert!(list.contains("… and 14 more in the matrix."), "{list}");
        for hidden in ["s0/h0 to s1/h0", "s0/h0 to s1/h1"] {
            assert_eq!(told(hidden), None, "{list}");
        }
    }

    #[test]
    fn without_anything_worse_there_is_no_list() {
        let mut of = small();
        assert!(!worst_first(&of, &Links::NONE).into_string().is_empty());
        of.cells.values_mut().for_each(|cell| cell.verdict = Verdict::Same);
        assert_eq!(worst_first(&of, &Links::NONE).into_string(), "");
    }
}
