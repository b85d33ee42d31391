//! The page of a fleet: its matrix, and what the worse paths share.

use super::Page;
use crate::fleet::{HOSTS_MAX, age, said, summed, worst};
use crate::words;
use maud::{Markup, html};
use v6gap_core::fleet::names::HostName;
use v6gap_core::metric::{Metric, Scale};
use v6gap_judge::analysis::Verdict;
use v6gap_judge::matrix::{Between, Cell, Matrix, Sites};

/// Styles of the matrix, for pages that have those of a report as well.
pub const FLEET_STYLE: &str = include_str!("fleet.css");

/// Up to so many hosts a cell has the difference in it as well.
const IN_WORDS_MAX: usize = 12;

/// Where the answer to a path leads, if anywhere: to its history, or its report.
pub type Links<'a> = &'a dyn Fn(&HostName, &HostName) -> Option<String>;

/// The whole page, which loads nothing; `name` is that of the fleet, and `tool` the version that
/// writes it.
pub fn fleet_page(name: &str, of: &Matrix, links: Links<'_>, tool: &str) -> String {
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

/// "25 of 1225 paths are worse over IPv6 (rtt-tcp-64)".
fn headline(of: &Matrix) -> String {
    let (worse, fresh) = (of.count(Verdict::Worse), of.fresh());
    let measure = &of.measure;
    match worse {
        0 if fresh == 0 => format!("No path has an answer that is not stale ({measure})"),
        0 => format!("No path of {fresh} is worse over IPv6 ({measure})"),
        1 => format!("1 path of {fresh} is worse over IPv6 ({measure})"),
        _ => format!("{worse} of {fresh} paths are worse over IPv6 ({measure})"),
    }
}

/// The matrix and what is said of it, as a part of a page.
pub fn matrix_fragment(of: &Matrix, links: Links<'_>) -> Markup {
    html! {
        @for line in summed(of) { p.context { (line) } }
        @let said = said(of);
        @if let Some((first, others)) = said.split_first() {
            p { (first) }
            @if !others.is_empty() { ul { @for line in others { li { (line.trim_start()) } } } }
        }
        (legend())
        @if of.hosts.len() > HOSTS_MAX { (by_sites(&of.sites(), of.metric)) }
        @else { (by_hosts(of, links)) }
    }
}

fn legend() -> Markup {
    let verdicts =
        [Verdict::Worse, Verdict::Better, Verdict::Same, Verdict::CannotTell, Verdict::None];
    html! {
        ul.legend.matrix {
            @for verdict in verdicts {
                li {
                    i class=(class(verdict)) { (words::glyph(verdict)) }
                    (words::verdict(verdict))
                }
            }
            li { i.stale { "=" } "stale" }
        }
    }
}

fn by_hosts(of: &Matrix, links: Links<'_>) -> Markup {
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
    links: Links<'_>,
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
    let text = match difference(found, of.metric).filter(|_| in_words) {
        Some(difference) => format!("{} {difference}", words::glyph(found.verdict)),
        None => words::glyph(found.verdict).to_owned(),
    };
    let whole = format!("{host} to {other}: {told}");
    html! {
        td class=(class) {
            @if let Some(href) = links(host, other) {
                a href=(href) title=(whole) aria-label=(whole) { (text) }
            } @else {
                span.cell title=(whole) { span aria-hidden="true" { (text) } span.sr { (told) } }
            }
        }
    }
}

/// "worse, +8.9 %, 5 min ago".
fn told(of: &Matrix, cell: &Cell) -> String {
    let ago = age(of.now_unix_ns.saturating_sub(cell.began_unix_ns));
    let mut said = vec![words::verdict(cell.verdict).to_owned()];
    said.extend(difference(cell, of.metric));
    said.push(format!("{ago} ago"));
    if cell.stale {
        said.push("stale".to_owned());
    }
    said.join(", ")
}

/// "+8.9 %", of a verdict that has one.
fn difference(cell: &Cell, metric: Option<Metric>) -> Option<String> {
    let unit = match metric?.scale() {
        Scale::Ratio => "%",
        Scale::Difference => "points",
    };
    match cell.verdict {
        Verdict::Worse | Verdict::Better | Verdict::CannotTell => {
            let [effect, ..] = cell.effect?;
            Some(format!("{} {unit}", words::sign(effect?)))
        }
        Verdict::Same | Verdict::None => None,
    }
}

/// Sites with the worst first.
fn by_sites(sites: &Sites, metric: Option<Metric>) -> Markup {
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
                            th scope="col" { (head) }
                        }
                    }
                }
                tbody {
                    @for of in &sites.between {
                        @let verdict = of.verdict();
                        tr {
                            th scope="row" { (name(of.sites.0)) " – " (name(of.sites.1)) }
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
        let page = fleet_page("backbone", &small(), &|_, _| None, "0.1.0");
        assert!(page.contains("<title>backbone: rtt-tcp-64</title>"), "{page}");
        assert!(page.contains("<h1>1 path of 2 is worse over IPv6 (rtt-tcp-64)</h1>"), "{page}");
        assert!(page.contains("class=\"worse wide\""), "{page}");
        assert!(page.contains("title=\"oslo/a to rome/a: worse, +8.9 %, 5 min ago\""), "{page}");
        assert!(page.contains("class=\"open stale wide\""), "{page}");
        assert!(page.contains("can't tell, +2.1 %, 41 min ago, stale"), "{page}");
        assert!(page.contains("▼ +8.9 %"), "{page}");
    }

    #[test]
    fn fifty_hosts_are_one_table_of_signs_that_lead_somewhere() {
        let links = |from: &HostName, to: &HostName| Some(format!("/fleet/{from}/{to}"));
        let page = matrix_fragment(&fleet(10), &links).into_string();
        assert_eq!(page.matches("<a href=\"/fleet/").count(), 50 * 49);
        assert!(page.contains("<a href=\"/fleet/s0/h0/s1/h2\""), "{page}");
        assert!(page.contains("<li>hop 2, 2001:db8::4 (IPv6): 25 of 25 worse paths"), "{page}");
        // Small enough for a page that is looked at all day.
        assert!(page.len() < 700_000, "{}", page.len());
    }

    #[test]
    fn more_hosts_are_told_by_their_sites() {
        let page = matrix_fragment(&fleet(13), &|_, _| None).into_string();
        assert_eq!(page.matches("<th scope=\"row\">").count(), 91);
        let first = page.split("<tbody>").nth(1).unwrap();
        assert!(first.starts_with("<tr><th scope=\"row\">s0 – s1</th>"), "{first}");
    }
}
