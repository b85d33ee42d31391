//! The page of a fleet: its matrix, and what the worse paths share.

use super::Page;
use super::fleet_links::Links;
use super::fleet_words::{difference, headline, told};
use super::fleet_worst::worst_first;
use crate::fleet::{is_by_hosts, said, summed, worst};
use crate::number::count;
use crate::words::{self, Told};
use maud::{Markup, html};
use v6gap_core::fleet::names::HostName;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::matrix::{Between, Matrix, Sites};

/// Styles of the matrix, for pages that have those of a report as well.
pub const FLEET_STYLE: &str = include_str!("fleet.css");

/// Up to so many hosts a cell has the difference in it as well.
const IN_WORDS_MAX: usize = 12;

/// Pairs of sites in a table, the worst first.
const SITES_MAX: usize = 400;

/// The whole page, which loads nothing; `name` is that of the fleet, and `tool` the version that
/// writes it.
pub fn fleet_page(name: &str, of: &Matrix, links: &Links<'_>, tool: &str) -> String {
    let main = html! {
        h1 { (headline(of)) }
        (matrix_fragment(of, links))
    };
    let (date, time) = crate::number::utc(of.now_unix_ns);
    let when = Some(format!("{date}, {time} UTC"));
    let origin = format!("Written by v6gap {tool}");
    let page = Page { kind: "fleet", when, main, origin, style: FLEET_STYLE };
    super::document(&format!("{name}: {}", of.measure), tool, &page)
}

/// The matrix and what is said of it, as a part of a page.
pub fn matrix_fragment(of: &Matrix, links: &Links<'_>) -> Markup {
    let by_hosts = is_by_hosts(of);
    html! {
        @for line in summed(of) { p.context { (line) } }
        @let said = said(of);
        @if let Some((first, others)) = said.split_first() {
            p { (first) }
            @if !others.is_empty() { ul { @for line in others { li { (line.trim_start()) } } } }
        }
        @if by_hosts { (worst_first(of, links)) }
        (legend(of))
        @if by_hosts { (self::by_hosts(of, links)) }
        @else { (by_sites(&of.sites(), of.metric, links)) }
    }
}

fn legend(of: &Matrix) -> Markup {
    let verdicts =
        [Verdict::Worse, Verdict::Better, Verdict::Same, Verdict::CannotTell, Verdict::None];
    let nearly = of.cells.values().any(|cell| cell.within.is_some());
    html! {
        ul.legend.matrix {
            @for verdict in verdicts {
                li {
                    i class=(class(verdict)) { (words::glyph(verdict)) }
                    (words::verdict(verdict))
                }
            }
            @if nearly { li { i.same { (words::NEARLY) } "within the margin" } }
            li { i.stale { "=" } "stale" }
        }
    }
}

fn by_hosts(of: &Matrix, links: &Links<'_>) -> Markup {
    let in_words = of.hosts.len() <= IN_WORDS_MAX;
    html! {
        div.card.matrix tabindex="0" role="region" aria-label="Matrix of paths" {
            table {
                caption.sr { "The newest answer of each path, from the rows to the columns" }
                thead {
                    tr {
                        td { span.sr { "from, to" } }
                        @for host in &of.hosts {
                            th scope="col" {
                                @if in_words { (host) } @else { span.up { (host) } }
                            }
                        }
                    }
                }
                tbody {
                    @for (from, host) in of.hosts.iter().enumerate() {
                        tr {
                            th scope="row" { (host) }
                            @for (to, other) in of.hosts.iter().enumerate() {
                                (cell(of, (from, host), (to, other), links))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(
    of: &Matrix,
    (from, host): (usize, &HostName),
    (to, other): (usize, &HostName),
    links: &Links<'_>,
) -> Markup {
    if from == to {
        return html! { td class="self" { "·" } };
    }
    let Some(found) = of.cell(from, to) else {
        return html! { td { span.sr { "not measured" } } };
    };
    let in_words = of.hosts.len() <= IN_WORDS_MAX;
    let stale = if found.stale { " stale" } else { "" };
    let wide = if in_words { " wide" } else { "" };
    let class = format!("{}{stale}{wide}", class(found.verdict));
    let told = told(of, found);
    let glyph = Told::path(of, found).map_or(words::glyph(found.verdict), Told::glyph);
    let text = match difference(found, of.metric).filter(|_| in_words) {
        Some(difference) => format!("{glyph} {difference}"),
        None => glyph.to_owned(),
    };
    let whole = format!("{host} to {other}: {told}");
    html! {
        td class=(class) {
            @if let Some(href) = (links.path)(host, other) {
                a href=(href) title=(whole) aria-label=(whole) { (text) }
            } @else {
                span.cell title=(whole) { span aria-hidden="true" { (text) } span.sr { (told) } }
            }
        }
    }
}

/// Sites with the worst first.
fn by_sites(sites: &Sites, metric: Option<Metric>, links: &Links<'_>) -> Markup {
    let more = sites.between.len().saturating_sub(SITES_MAX);
    let name = |at: usize| sites.names.get(at).map_or("", String::as_str);
    let cells = |of: &Between| [of.worse, of.better, of.same, of.open, of.stale];
    html! {
        div.card.matrix tabindex="0" role="region" aria-label="Paths between sites" {
            table {
                caption.sr { "Paths between each two sites, the worst first" }
                thead {
                    tr {
                        @for head in ["Sites", "Answer", "Worse", "Better", "Same", "Can't tell",
                            "Stale", "The worst by"] {
                            th.wide scope="col" { (head) }
                        }
                    }
                }
                tbody {
                    @for of in sites.between.iter().take(SITES_MAX) {
                        @let verdict = of.verdict();
                        @let (one, other) = (name(of.sites.0), name(of.sites.1));
                        tr {
                            th scope="row" {
                                @if let Some(href) = (links.sites)(one, other) {
                                    a href=(href) { (one) " – " (other) }
                                } @else { (one) " – " (other) }
                            }
                            td class={ (class(verdict)) " wide" } {
                                (words::glyph(verdict)) " " (words::verdict(verdict))
                            }
                            @for count in cells(of) { td.wide { (count) } }
                            td.wide { (worst(of, metric).unwrap_or_default()) }
                        }
                    }
                }
            }
        }
        @if more > 0 {
            p.context { "… and " (count(more as u64)) " more, none of them worse than these." }
        }
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Same => "same",
        Verdict::CannotTell => "open",
        Verdict::None => "nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::{fleet, small};

    #[test]
    fn a_cell_has_its_verdict_by_colour_sign_and_word() {
        let page = fleet_page("backbone", &small(), &Links::NONE, "0.1.0");
        assert!(page.contains("<title>backbone: rtt-tcp-64</title>"), "{page}");
        assert!(page.contains("<h1>1 path of 2 is worse over IPv6 (rtt-tcp-64)</h1>"), "{page}");
        assert!(page.contains("class=\"worse wide\""), "{page}");
        assert!(page.contains("title=\"oslo/a to rome/a: worse, +8.9 %, 5 min ago\""), "{page}");
        assert!(page.contains("class=\"open stale wide\""), "{page}");
        assert!(page.contains("can't tell, +2.1 %, 41 min ago, stale"), "{page}");
        assert!(page.contains("▼ +8.9 %"), "{page}");
        assert!(!page.contains('≈'), "{page}");
    }

    #[test]
    fn what_is_there_and_does_not_matter_has_a_sign_of_its_own() {
        let mut of = small();
        of.cells.get_mut(&(1, 2)).unwrap().within = Some(0.05);
        let page = matrix_fragment(&of, &Links::NONE).into_string();
        let told = "title=\"rome/a to rome/b: within 5 %, +0.10 %, 10 min ago\"";
        assert!(page.contains(told), "{page}");
        assert!(page.contains("≈ +0.10 %"), "{page}");
        assert!(page.contains("<i class=\"same\">≈</i>within the margin"), "{page}");
    }

    #[test]
    fn fifty_hosts_are_one_table_of_signs_that_lead_somewhere() {
        let page = matrix_fragment(&fleet(10), &Links::OF_PAGES).into_string();
        let (worst, table) = page.split_once("<table>").unwrap();
        assert_eq!(table.matches("<a href=\"/fleet/").count(), 50 * 49);
        // Beside the table stand the worst alone.
        assert_eq!(worst.matches("<a href=\"/fleet/s0/").count(), 10);
        assert!(page.contains("<a href=\"/fleet/s0/h0/s1/h2\""), "{page}");
        assert!(page.contains("<li>hop 2, 2001:db8::4 (IPv6): 25 of 25 worse paths"), "{page}");
        // Small enough for a page that is looked at all day.
        assert!(page.len() < 700_000, "{}", page.len());
    }

    #[test]
    fn more_hosts_are_told_by_their_sites() {
        let page = matrix_fragment(&fleet(13), &Links::NONE).into_string();
        assert_eq!(page.matches("<th scope=\"row\">").count(), 91);
        let first = page.split("<tbody>").nth(1).unwrap();
        assert!(first.starts_with("<tr><th scope=\"row\">s0 – s1</th>"), "{first}");
        // And lead to the hosts of both.
        let page = matrix_fragment(&fleet(13), &Links::OF_PAGES).into_string();
        assert!(page.contains("<a href=\"/fleet?sites=s0,s1\">s0 – s1</a>"), "{page}");
        assert!(!page.contains("Worst first"), "{page}");
    }
}
