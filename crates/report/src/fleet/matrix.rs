//! The matrix as text: hosts against hosts where that fits, a sign for each path where it nearly
//! does, and sites with the worst first where it cannot.

use super::counted;
use crate::number::count;
use crate::text::Style;
use crate::words::{self, Told};
use v6gap_core::metric::Metric;
use v6gap_core::unit::format_span;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::matrix::{Between, Cell, Matrix, Shared, Sites, What};

/// More hosts are told by their sites.
const HOSTS_MAX: usize = 60;

/// Hosts of so few sites are told by themselves, however many they are.
const SITES_MIN: usize = 3;

/// Site pairs that are told.
const SITES_TOLD: usize = 40;

/// What is shared, told.
const SHARED_TOLD: usize = 5;

/// Longest name of a host at the head of a row or column.
const NAME_CHARS: usize = 24;

/// A path with a stale answer, where there is room for one sign.
const STALE: &str = "~";

/// The matrix in the characters and the width of the style.
pub fn matrix(of: &Matrix, style: &Style) -> String {
    let mut out = String::new();
    if of.cells.is_empty() {
        return format!("No run between hosts of a fleet answers {}.\n", of.measure);
    }
    let wide = wide(of);
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= style.width);
    if style.plain || !is_by_hosts(of) {
        out.push_str(&by_sites(&of.sites(), of.metric));
    } else if fits(&wide) {
        out.push_str(&wide);
    } else {
        out.push_str(&narrow(of));
    }
    for line in summed(of) {
        out.push_str(&line);
        out.push('\n');
    }
    for line in said(of) {
        out.push_str(&line);
        out.push('\n');
    }
    style.fit(&out)
}

/// Whether hosts are told, and not their sites.
pub(crate) fn is_by_hosts(of: &Matrix) -> bool {
    // They are in the order of their sites.
    let sites = || of.hosts.chunk_by(|a, b| a.site() == b.site()).count();
    of.hosts.len() <= HOSTS_MAX || sites() < SITES_MIN
}

/// Each path in words: "▼ +8.9".
fn wide(of: &Matrix) -> String {
    let heads: Vec<String> = of.hosts.iter().map(|host| short(host.as_str())).collect();
    let text = |from: usize, to: usize| match of.cell(from, to) {
        _ if from == to => "·".to_owned(),
        Some(cell) => in_words(of, cell),
        None => String::new(),
    };
    let all = 0..of.hosts.len();
    let widest = |to: usize| {
        let cells = all.clone().map(|from| text(from, to).chars().count());
        cells.chain([heads.get(to).map_or(0, |head| head.chars().count())]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = all.clone().map(widest).collect();
    let names = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
    let mut out = line(names, "", &heads, &widths);
    for (from, head) in heads.iter().enumerate() {
        let cells: Vec<String> = all.clone().map(|to| text(from, to)).collect();
        out.push_str(&line(names, head, &cells, &widths));
    }
    out
}

fn line(names: usize, head: &str, cells: &[String], widths: &[usize]) -> String {
    let cells = cells.iter().zip(widths).map(|(cell, &width)| format!("  {cell:<width$}"));
    let line = format!("{head:<names$}{}", cells.collect::<String>());
    line.trim_end().to_owned() + "\n"
}

/// A verdict with its difference; in brackets if it is stale.
fn in_words(of: &Matrix, cell: &Cell) -> String {
    let told = Told::path(of, cell).map(Told::marked);
    let text = match (cell.verdict, cell.effect) {
        (Verdict::Same, _) => told.unwrap_or_default(),
        (Verdict::None, _) | (_, None | Some([None, ..])) => words::glyph(cell.verdict).to_owned(),
        (Verdict::Better | Verdict::Worse | Verdict::CannotTell, Some([Some(effect), ..])) => {
            format!("{} {}", words::glyph(cell.verdict), words::sign(effect))
        }
    };
    if cell.stale { format!("({text})") } else { text }
}

/// A sign for each path, the columns by numbers.
fn narrow(of: &Matrix) -> String {
    let count = of.hosts.len();
    let head = |at: usize| {
        let name = of.hosts.get(at).map_or(String::new(), |host| short(host.as_str()));
        format!("{name} {:2}", at + 1)
    };
    let names = (0..count).map(|at| head(at).chars().count()).max().unwrap_or(0);
    let digits = |digit: &dyn Fn(usize) -> String| {
        let all: String = (1..=count).map(digit).collect();
        format!("{:names$} {all}\n", "")
    };
    // The tens where they begin, and the ones below.
    let tens =
        |n: usize| if n.is_multiple_of(10) { (n / 10 % 10).to_string() } else { " ".to_owned() };
    let mut out = digits(&tens) + &digits(&|n| (n % 10).to_string());
    for from in 0..count {
        let sign = |to: usize| match of.cell(from, to) {
            _ if from == to => "·",
            Some(cell) if cell.stale => STALE,
            Some(cell) => Told::path(of, cell).map_or(words::glyph(cell.verdict), Told::glyph),
            None => " ",
        };
        let signs: String = (0..count).map(sign).collect();
        out.push_str(format!("{:>names$} {signs}", head(from)).trim_end());
        out.push('\n');
    }
    out + "▼ worse, ▲ better, = same, ≈ within margin, ? can't tell, – no verdict, ~ stale\n"
}

/// A line for each two sites, the worst first.
fn by_sites(sites: &Sites, metric: Option<Metric>) -> String {
    let mut out = String::new();
    for between in sites.between.iter().take(SITES_TOLD) {
        let [one, other] = [between.sites.0, between.sites.1]
            .map(|at| sites.names.get(at).map_or("", String::as_str));
        let verdict = between.verdict();
        let (glyph, word) = (words::glyph(verdict), words::verdict(verdict));
        let place =
            if one == other { format!("within {one}") } else { format!("{one} – {other}") };
        out.push_str(&format!("{glyph} {word:<10}  {place}: {}\n", counts(between, metric)));
    }
    let more = sites.between.len().saturating_sub(SITES_TOLD);
    if more > 0 {
        out.push_str(&format!(
            "… and {} more, none of them worse than these\n",
            count(more as u64)
        ));
    }
    out
}

/// "24 of 25 paths worse, the worst by +9.1 %; 1 stale".
fn counts(between: &Between, metric: Option<Metric>) -> String {
    let paths = counted(between.paths(), "path");
    let counts = [
        (between.worse, "worse"),
        (between.better, "better"),
        (between.same, "same"),
        (between.open, "can't tell"),
        (between.stale, "stale"),
    ];
    let told = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let told: Vec<String> = told.collect();
    let worst = worst(between, metric).map_or(String::new(), |by| format!("; the worst by {by}"));
    format!("{paths}, {}{worst}", told.join(", "))
}

/// The difference of the path that is worse by most: "+9.1 %".
pub(crate) fn worst(between: &Between, metric: Option<Metric>) -> Option<String> {
    Some(words::signed_amount(metric?, between.worst?))
}

/// What the matrix is of, and how whole it is.
pub(crate) fn summed(of: &Matrix) -> Vec<String> {
    let within = format_span(of.stale_ns as f64);
    let oldest = of.oldest_ns().map_or(String::new(), |ns| format!("; oldest {}", age(ns)));
    let (fresh, expected) = (count(of.fresh() as u64), count(of.expected as u64));
    let n = |verdict| words::number(of.count(verdict));
    vec![
        format!("{}: measured {fresh} of {expected} within {within}{oldest}.", of.measure),
        format!(
            "Worse {}, better {}, same {}, can't tell {}, no verdict {}.",
            n(Verdict::Worse),
            n(Verdict::Better),
            n(Verdict::Same) + &tiny(of),
            n(Verdict::CannotTell),
            n(Verdict::None),
        ),
    ]
}

/// How many of those that are the same differ by what is there and does not matter: " (2 within
/// the margin)"; nothing if none do.
fn tiny(of: &Matrix) -> String {
    match of.tiny() {
        0 => String::new(),
        n => format!(" ({n} within the margin)"),
    }
}

/// How long ago, in one unit: "41 min".
pub(crate) fn age(ns: u64) -> String {
    match ns / 1_000_000_000 {
        s @ 0..60 => format!("{s} s"),
        s @ 60..7200 => format!("{} min", s / 60),
        s @ 7200..172_800 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86_400),
    }
}

/// What worse paths share, a sentence for each thing.
pub(crate) fn said(of: &Matrix) -> Vec<String> {
    if of.count(Verdict::Worse) == 0 {
        return Vec::new();
    }
    let shared = of.shared();
    if shared.is_empty() {
        return vec!["The worse paths share nothing that others do not have, too.".to_owned()];
    }
    let told = shared.iter().take(SHARED_TOLD).map(|shared| sentence(of, shared));
    let head = "What the worse paths share and others do not:".to_owned();
    std::iter::once(head).chain(told).collect()
}

/// "  hop 4, 2001:db8:4::1 (IPv6): 25 of 25 worse paths, 0 of 1200 others (p < 0.001)".
fn sentence(of: &Matrix, shared: &Shared) -> String {
    let what = match &shared.what {
        What::Hop { family, address } => match shared.distance {
            Some((least, most)) if least < most => {
                format!("hop {least} to {most}, {address} ({family})")
            }
            Some((least, _)) => format!("hop {least}, {address} ({family})"),
            None => format!("{address} ({family})"),
        },
        What::Sites([one, other]) if one == other => format!("both ends at {one}"),
        What::Sites([one, other]) => format!("{one} – {other}"),
        What::Site(site) => format!("they leave {site}"),
        What::Host(at) => of.hosts.get(*at).map_or_else(String::new, |host| format!("host {host}")),
    };
    let ((bad, all_bad), (good, all_good)) = (shared.bad, shared.good);
    let p = words::p_value(shared.p);
    format!("  {what}: {bad} of {all_bad} worse paths, {good} of {all_good} others ({p})")
}

/// A name as long as a column bears.
fn short(name: &str) -> String {
    words::shortened(name, NAME_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::{fleet, small};
    use crate::text::Glyphs;

    #[test]
    fn a_few_hosts_are_told_in_words() {
        let expected = "\
        oslo/a  rome/a  rome/b
oslo/a  ·       ▼ +8.9  (? +2.1)
rome/a  ▼ +8.9  ·       = same
rome/b  (? +2.1)  = same  ·
";
        let text = matrix(&small(), &Style::default());
        let head: String = text.lines().take(4).map(|line| format!("{line}\n")).collect();
        let squeezed = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!(squeezed(&head), squeezed(expected));
        let below: Vec<&str> = text.lines().skip(4).collect();
        let whole = "rtt-tcp-64: measured 2 of 3 within 30 min; oldest 41 min.";
        assert_eq!(below[0], whole);
        assert_eq!(below[1], "Worse 1, better none, same 1, can't tell none, no verdict none.");
        assert_eq!(below[2], "The worse paths share nothing that others do not have, too.");
    }

    #[test]
    fn what_is_there_and_does_not_matter_is_not_the_same() {
        let mut of = small();
        of.cells.get_mut(&(1, 2)).unwrap().within = Some(0.05);
        let text = matrix(&of, &Style::default());
        assert!(text.contains("≈ within 5 %") && !text.contains("= same"), "{text}");
        assert!(text.contains(", same 1 (1 within the margin), can't tell"), "{text}");
    }

    #[test]
    fn fifty_hosts_have_a_sign_for_each_path_in_80_columns() {
        let text = matrix(&fleet(10), &Style::default());
        let table = text.lines().take_while(|line| !line.starts_with("rtt-tcp-64"));
        assert!(table.clone().count() > 50, "{text}");
        assert!(table.clone().all(|line| line.chars().count() <= 80), "{text}");
        let row = text.lines().find(|line| line.trim_start().starts_with("s0/h0 ")).unwrap();
        let signs = row.trim_start().strip_prefix("s0/h0  1 ").unwrap();
        assert_eq!(signs, format!("·===={}{}", "▼".repeat(5), "=".repeat(40)));
        assert!(text.contains("measured 1225 of 1225"), "{text}");
        let shared = "  hop 2, 2001:db8::4 (IPv6): 25 of 25 worse paths, 0 of 1200 others \
                      (p < 0.001)";
        assert!(text.contains(shared), "{text}");
        assert!(text.contains("  s0 – s1: 25 of 25 worse paths, 0 of 1200 others"), "{text}");
        let ascii = Style { glyphs: Glyphs::Ascii, ..Style::default() };
        assert!(matrix(&fleet(10), &ascii).is_ascii());
    }

    #[test]
    fn more_hosts_are_told_by_their_sites_with_the_worst_first() {
        let text = matrix(&fleet(13), &Style::default());
        let first = text.lines().next().unwrap();
        assert_eq!(first, "▼ worse       s0 – s1: 25 paths, 25 worse; the worst by +8.9 %");
        assert!(text.contains("… and 51 more, none of them worse than these"), "{text}");
        // And for who listens.
        let plain = Style { plain: true, ..Style::default() };
        assert!(matrix(&small(), &plain).starts_with("▼ worse       oslo – rome: 2 paths"));
    }

    #[test]
    fn hosts_of_two_sites_are_told_however_many() {
        let mut of = fleet(13);
        assert!(!is_by_hosts(&of));
        of.hosts = (0..80).map(|at| format!("s{}/h{at}", at % 2).parse().unwrap()).collect();
        of.hosts.sort_by(|a, b| (a.site(), a.host()).cmp(&(b.site(), b.host())));
        assert!(is_by_hosts(&of));
    }

    #[test]
    fn ages_are_told_in_one_unit() {
        let told = |seconds: u64| age(seconds * 1_000_000_000);
        assert_eq!([0, 59, 60, 7199].map(told), ["0 s", "59 s", "1 min", "119 min"]);
        assert_eq!([7200, 172_799, 172_800].map(told), ["2 h", "47 h", "2 d"]);
        assert!(matrix(&Matrix::default(), &Style::default()).starts_with("No run"));
    }
}
