//! From a draft to a checked watch: all problems at once, each with the key it concerns.

use super::draft::{self, Draft, PathDraft};
use super::quiet::Quiet;
use super::{Kind, Reach, SECOND_NS, Watch, WatchedPath, With};
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use crate::plan::check::share;
use crate::problem::{Problem, Problems};
use crate::unit::{format_span, parse_bytes, parse_span};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

/// Most paths of a watch.
pub const PATHS_MAX: usize = 100;

/// Time between light visits where nothing is said, in ns.
pub const EVERY_NS: u64 = 15 * 60 * SECOND_NS;

/// Time between visits to a server that measures throughput alone, in ns.
pub const THROUGHPUT_EVERY_NS: u64 = 6 * 3600 * SECOND_NS;

/// Shortest time between visits to another host, in ns.
pub const EVERY_NS_MIN: u64 = 60 * SECOND_NS;

/// Shortest time between visits to a host of one's own, in ns.
pub const EVERY_NS_MIN_MINE: u64 = 10 * SECOND_NS;

/// Shortest time between visits to this host itself, in ns: nobody else is disturbed.
pub const EVERY_NS_MIN_HERE: u64 = SECOND_NS;

/// Longest time between visits, in ns.
const EVERY_NS_MAX: u64 = 7 * super::DAY_NS;

/// Longest time that a visit measures where nothing is said, in ns.
pub const TIME_NS: u64 = 20 * SECOND_NS;

/// The same of a site, whose visits keep to the rates of a guest.
pub const SITE_TIME_NS: u64 = 60 * SECOND_NS;

/// Longest time that a visit may measure, in ns.
const TIME_NS_MAX: u64 = 600 * SECOND_NS;

/// Longest name, host or other text, in characters.
const CHARS_MAX: usize = 200;

/// Longest description of who is told of changes, in characters.
const HEARER_CHARS_MAX: usize = 2000;

/// What light visits may measure beside metrics: all over a transport.
const TRANSPORTS: [&str; 3] = ["tcp", "udp", "icmp"];

/// The watch that `draft` describes, with every default explicit.
///
/// # Errors
/// Every problem found, in the order of the keys.
pub fn check(draft: &Draft) -> Result<Watch, Vec<Problem>> {
    let mut problems = Problems::default();
    if draft.v6gap != draft::VERSION {
        let what = format!("version {} of the language of watches is not known", draft.v6gap);
        problems.add("v6gap", what);
    }
    let common = Common {
        every_ns: period("every", draft.every.as_ref(), &mut problems),
        throughput_every_ns: period(
            "throughput_every",
            draft.throughput_every.as_ref(),
            &mut problems,
        ),
    };
    let budget_bytes = problems.read_optional("budget", draft.budget.as_ref(), budget);
    let mut quiet = Quiet::default();
    for (at, text) in draft.quiet.iter().enumerate() {
        problems.read(&format!("quiet[{at}]"), text, |text| quiet.add(text));
    }
    let listen = problems.read_optional("listen", draft.listen.as_ref(), |text| {
        text.parse::<SocketAddr>().map_err(|_| {
            "it must be an address and a port, as in \"[2001:db8::1]:9466\"".to_string()
        })
    });
    let on_change = problems.read_optional("on_change", draft.on_change.as_ref(), hearer);
    match draft.paths.len() {
        0 => problems.add("paths", "there is no path to watch"),
        1..=PATHS_MAX => {}
        more => problems.add("paths", format!("{more} paths are more than {PATHS_MAX}")),
    }
    let mut paths: Vec<WatchedPath> = Vec::new();
    for (at, draft) in draft.paths.iter().enumerate() {
        let path = path(&format!("paths[{at}]"), draft, common, &mut problems);
        if paths.iter().any(|other| other.name == path.name) {
            let what = format!("two paths are called \"{}\": give one a name", path.name);
            problems.add(format!("paths[{at}].name"), what);
        }
        paths.push(path);
    }
    if problems.is_empty() {
        keep_up(&paths, &mut problems);
    }
    let watch = Watch { paths, budget_bytes, quiet, listen, on_change };
    if problems.is_empty() { Ok(watch) } else { Err(problems.into_found()) }
}

/// What holds for paths that say nothing else.
#[derive(Debug, Clone, Copy)]
struct Common {
    every_ns: Option<u64>,
    throughput_every_ns: Option<u64>,
}

fn path(key: &str, draft: &PathDraft, common: Common, problems: &mut Problems) -> WatchedPath {
    let of = |name: &str| format!("{key}.{name}");
    let texts = [
        ("host", Some(&draft.host)),
        ("name", draft.name.as_ref()),
        ("key_file", draft.key_file.as_ref()),
        ("contact", draft.contact.as_ref()),
    ];
    for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
        let blanks = name == "host" || name == "name";
        if let Some(wrong) = wrong_text(text, blanks) {
            problems.add(of(name), wrong);
        }
    }
    let with = draft.with.as_deref().map_or(With::Run, |name| {
        let found = With::ALL.into_iter().find(|with| with.name() == name);
        found.unwrap_or_else(|| {
            problems.one_of(of("with"), name, &With::ALL.map(With::name));
            With::Run
        })
    });
    let addresses = PerFamily { v4: draft.v4.clone(), v6: draft.v6.clone() };
    for family in Family::BOTH {
        let text = addresses.get(family).as_deref();
        if let Some(wrong) = text.and_then(|text| wrong_address(text, family)) {
            problems.add(of(if family == Family::V4 { "v4" } else { "v6" }), wrong);
        }
    }
    let least_ns = match (is_here(draft), draft.mine) {
        (true, _) => EVERY_NS_MIN_HERE,
        (false, true) => EVERY_NS_MIN_MINE,
        (false, false) => EVERY_NS_MIN,
    };
    let periods = periods(&of, draft, common, with, problems);
    for (name, period_ns) in ["every", "throughput_every"].into_iter().zip(periods) {
        if period_ns.is_some_and(|ns| ns < least_ns) {
            let least = format_span(least_ns as f64);
            problems.add(of(name), format!("visits of this path are at least {least} apart"));
        }
    }
    let given = [("port", draft.port.is_some()), ("key_file", draft.key_file.is_some())];
    for (name, _) in given.into_iter().filter(|(_, given)| *given && with == With::Probe) {
        problems.add(of(name), "a site is named with its port, as HOST:PORT, and takes no key");
    }
    let time_ns = problems.read_optional(&of("time"), draft.time.as_ref(), time);
    if with == With::Probe && draft.time.is_some() {
        problems.add(of("time"), "a visit to a site is 8 pairs, however long they take");
    }
    let usual_ns = if with == With::Probe { SITE_TIME_NS } else { TIME_NS };
    WatchedPath {
        name: draft.name.clone().unwrap_or_else(|| draft.host.clone()),
        host: draft.host.clone(),
        with,
        every_ns: periods[0],
        throughput_every_ns: periods[1],
        time_ns: time_ns.unwrap_or(usual_ns),
        measure: measured(&of, draft, with, problems),
        margins: margins(&of, &draft.margin, problems),
        reach: Reach {
            port: draft.port,
            addresses,
            key_file: draft.key_file.clone(),
            mine: draft.mine,
            contact: draft.contact.clone(),
        },
    }
}

/// Times between light visits and between those of throughput.
fn periods(
    of: &impl Fn(&str) -> String,
    draft: &PathDraft,
    common: Common,
    with: With,
    problems: &mut Problems,
) -> [Option<u64>; 2] {
    let light = period(&of("every"), draft.every.as_ref(), problems);
    let own = period(&of("throughput_every"), draft.throughput_every.as_ref(), problems);
    match with {
        With::Run => {
            [light.or(common.every_ns).or(Some(EVERY_NS)), own.or(common.throughput_every_ns)]
        }
        With::Probe | With::Stamp => {
            if own.is_some() {
                let what = format!("there are no visits of throughput with \"{}\"", with.name());
                problems.add(of("throughput_every"), what);
            }
            [light.or(common.every_ns).or(Some(EVERY_NS)), None]
        }
        With::Iperf3 => {
            if light.is_some() {
                let what = "a server of iperf3 measures throughput alone: throughput_every";
                problems.add(of("every"), what);
            }
            [None, own.or(common.throughput_every_ns).or(Some(THROUGHPUT_EVERY_NS))]
        }
    }
}

fn measured(
    of: &impl Fn(&str) -> String,
    draft: &PathDraft,
    with: With,
    problems: &mut Problems,
) -> Vec<String> {
    if with == With::Iperf3 && !draft.measure.is_empty() {
        problems.add(of("measure"), "a server of iperf3 measures throughput alone");
    }
    for (at, name) in draft.measure.iter().enumerate() {
        if Metric::from_name(name).is_none() && !TRANSPORTS.contains(&name.as_str()) {
            let metrics = Metric::ALL.map(Metric::name);
            let known = [&metrics[..], &TRANSPORTS[..]].concat();
            problems.one_of(format!("{}[{at}]", of("measure")), name, &known);
        }
    }
    draft.measure.clone()
}

fn margins(
    of: &impl Fn(&str) -> String,
    written: &BTreeMap<String, String>,
    problems: &mut Problems,
) -> BTreeMap<Metric, String> {
    let mut margins = BTreeMap::new();
    for (name, text) in written {
        let key = format!("{}.{name}", of("margin"));
        let Some(metric) = Metric::from_name(name) else {
            problems.one_of(key, name, &Metric::ALL.map(Metric::name));
            continue;
        };
        if problems.read(&key, text, |text| share("margin", text)).is_some() {
            margins.insert(metric, text.clone());
        }
    }
    margins
}

/// Visits one after the other must leave time for each other.
fn keep_up(paths: &[WatchedPath], problems: &mut Problems) {
    let share = |path: &WatchedPath| -> f64 {
        let periods = Kind::ALL.into_iter().filter_map(|kind| path.period_ns(kind));
        periods.map(|period_ns| path.time_ns as f64 / period_ns as f64).sum()
    };
    let all: f64 = paths.iter().map(share).sum();
    if all > 1.0 {
        let what = format!(
            "the visits of all paths, one at a time, would take {all:.1} times the time that there \
             is: fewer paths, a shorter time, or more time between visits"
        );
        problems.add("every", what);
    }
}

fn period(key: &str, text: Option<&String>, problems: &mut Problems) -> Option<u64> {
    problems.read_optional(key, text, |text| {
        let ns = parse_span(text).map_err(|e| e.to_string())?;
        match (EVERY_NS_MIN_HERE..=EVERY_NS_MAX).contains(&ns) {
            true => Ok(ns),
            false => {
                let what = "time between visits is from 1 min (10 s to a host of one's own, 1 s to \
                        this one) to 7 d";
                Err(what.to_string())
            }
        }
    })
}

fn time(text: &str) -> Result<u64, String> {
    match parse_span(text).map_err(|e| e.to_string())? {
        ns @ SECOND_NS..=TIME_NS_MAX => Ok(ns),
        _ => Err("a visit measures for 1 s to 10 min".to_string()),
    }
}

/// The bytes of `5 GB/day`.
pub(crate) fn budget(text: &str) -> Result<u64, String> {
    let of_day =
        text.trim_end().strip_suffix("/day").or_else(|| text.trim_end().strip_suffix("/d"));
    let size = of_day.ok_or("a budget is that of a day, as in \"5 GB/day\"")?;
    match parse_bytes(size.trim_end()).map_err(|e| e.to_string())? {
        0 => Err("a budget must be above 0".to_string()),
        bytes => Ok(bytes),
    }
}

/// Who is told of changes, as far as a text alone tells whether that can be.
fn hearer(text: &str) -> Result<String, String> {
    let is_url = text.contains("://");
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err("it names a program, or a URL, on one line".to_string());
    }
    if text.chars().count() > HEARER_CHARS_MAX {
        return Err(format!("it has at most {HEARER_CHARS_MAX} characters"));
    }
    match is_url && !text.starts_with("http://") && !text.starts_with("https://") {
        true => Err("a URL begins with http:// or https://".to_string()),
        false => Ok(text.to_string()),
    }
}

/// What is wrong with a text that becomes a word of a command line; `whole` is one without blanks.
pub(crate) fn wrong_text(text: &str, whole: bool) -> Option<String> {
    let blank = |c: char| c.is_control() || whole && c.is_whitespace();
    if text.is_empty() || text.chars().count() > CHARS_MAX || text.chars().any(blank) {
        let blanks = if whole { ", none of them blank" } else { "" };
        return Some(format!("it has 1 to {CHARS_MAX} characters{blanks}"));
    }
    text.starts_with('-').then(|| "it begins with -, as options do".to_string())
}

/// What is wrong with an address of a family, which may name its interface.
pub(crate) fn wrong_address(text: &str, family: Family) -> Option<String> {
    let address = text.split('%').next().unwrap_or_default().parse::<IpAddr>();
    let fits = address.is_ok_and(|address| Family::of(&address) == Some(family));
    (!fits || wrong_text(text, true).is_some()).then(|| format!("it is no {family} address"))
}

/// Whether the host is this one over both families: one without an address is that of the name.
fn is_here(draft: &PathDraft) -> bool {
    let loops = |text: &str| text.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let host = draft.host == "localhost" || loops(&draft.host);
    let given = [draft.v4.as_deref(), draft.v6.as_deref()];
    given.into_iter().all(|address| address.map_or(host, loops))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn draft(hosts: &[&str]) -> Draft {
        let path = |host: &&str| PathDraft { host: host.to_string(), ..PathDraft::default() };
        let paths = hosts.iter().map(path).collect();
        Draft { v6gap: draft::VERSION, paths, ..Draft::default() }
    }

    /// The keys of what is wrong after `change`.
    fn wrong(change: impl FnOnce(&mut Draft)) -> Vec<String> {
        let mut draft = draft(&["lab-b"]);
        change(&mut draft);
        check(&draft).unwrap_err().into_iter().map(|problem| problem.key).collect()
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_string())
    }

    #[test]
    fn defaults_are_explicit() {
        let watch = check(&draft(&["lab-b", "nas"])).unwrap();
        let path = &watch.paths[1];
        assert_eq!((path.name.as_str(), path.with), ("nas", With::Run));
        assert_eq!((path.every_ns, path.throughput_every_ns), (Some(EVERY_NS), None));
        assert_eq!((path.time_ns, watch.budget_bytes, watch.listen), (TIME_NS, None, None));
    }

    #[test]
    fn a_path_says_what_differs_from_all_others() {
        let mut draft = draft(&["lab-b", "https://example.org/", "iperf.example"]);
        draft.every = text("30 min");
        draft.throughput_every = text("12 h");
        draft.budget = text("5 GB/day");
        draft.quiet = vec!["Mon-Fri 08:00-18:00".to_string()];
        draft.listen = text("[::1]:9466");
        draft.paths[0].every = text("1 h");
        draft.paths[1].with = text("probe");
        draft.paths[1].name = text("site");
        draft.paths[2].with = text("iperf3");
        let watch = check(&draft).unwrap();
        let periods: Vec<[Option<u64>; 2]> =
            watch.paths.iter().map(|p| [p.every_ns, p.throughput_every_ns]).collect();
        let minutes = |n: u64| Some(n * 60 * SECOND_NS);
        let expected = [[minutes(60), minutes(720)], [minutes(30), None], [None, minutes(720)]];
        assert_eq!(periods, expected);
        assert_eq!(watch.budget_bytes, Some(5_000_000_000));
        assert_eq!((watch.paths[1].name.as_str(), watch.paths[1].time_ns), ("site", SITE_TIME_NS));
        assert!(watch.listen.is_some_and(|at| at.port() == 9466));
    }

    #[test]
    fn all_problems_are_found_at_once_with_their_keys() {
        let found = wrong(|draft| {
            draft.v6gap = 7;
            draft.budget = text("5 GB");
            draft.quiet = vec!["22:00-06:00".to_string(), "always".to_string()];
            draft.listen = text("9466");
            draft.on_change = text("ftp://example.net/");
            draft.paths[0].with = text("runs");
            draft.paths[0].time = text("1 h");
            draft.paths[0].measure = vec!["rtt".to_string(), "speed".to_string()];
            draft.paths[0].margin.insert("rtt".to_string(), "200 %".to_string());
            draft.paths[0].v6 = text("192.0.2.7");
        });
        let expected = [
            "v6gap",
            "budget",
            "quiet[1]",
            "listen",
            "on_change",
            "paths[0].with",
            "paths[0].v6",
            "paths[0].time",
            "paths[0].measure[1]",
            "paths[0].margin.rtt",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(wrong(|draft| draft.paths.clear()), ["paths"]);
        assert_eq!(wrong(|draft| draft.paths[0].host = "--mine".to_string()), ["paths[0].host"]);
        assert_eq!(wrong(|draft| draft.paths[0].host = "a b".to_string()), ["paths[0].host"]);
        assert_eq!(wrong(|draft| draft.paths.push(draft.paths[0].clone())), ["paths[1].name"]);
        assert_eq!(wrong(|draft| draft.paths[0].every = text("59 s")), ["paths[0].every"]);
        assert_eq!(wrong(|draft| draft.every = text("8 d")), ["every"]);
        assert_eq!(wrong(|draft| draft.budget = text("0 B/day")), ["budget"]);
        let of_iperf = wrong(|draft| {
            draft.paths[0].with = text("iperf3");
            draft.paths[0].every = text("5 min");
        });
        assert_eq!(of_iperf, ["paths[0].every"]);
        let of_stamp = wrong(|draft| {
            draft.paths[0].with = text("stamp");
            draft.paths[0].throughput_every = text("6 h");
        });
        assert_eq!(of_stamp, ["paths[0].throughput_every"]);
    }

    #[test]
    fn visits_to_this_host_may_follow_each_other_closely() {
        for host in ["localhost", "127.0.0.1", "::1"] {
            let mut draft = draft(&[host]);
            (draft.paths[0].every, draft.paths[0].time) = (text("1 s"), text("1 s"));
            assert!(check(&draft).is_ok(), "{host}");
        }
        let is_here = |host: &str, v4: Option<&str>, v6: Option<&str>| {
            let mut draft = draft(&[host]);
            (draft.paths[0].every, draft.paths[0].time) = (text("1 s"), text("1 s"));
            (draft.paths[0].v4, draft.paths[0].v6) = (v4.and_then(text), v6.and_then(text));
            check(&draft).is_ok()
        };
        assert!(!is_here("localhost", Some("192.0.2.7"), None));
        assert!(is_here("localhost", Some("127.0.0.1"), None));
        assert!(is_here("a", Some("127.0.0.1"), Some("::1")));
        // Over the other family it is whoever has that name.
        assert!(!is_here("example.org", Some("127.0.0.1"), None));
        assert!(!is_here("example.org", None, Some("::1")));
    }

    #[test]
    fn a_host_of_ones_own_may_be_visited_more_often() {
        let found = |every: &str| {
            let mut draft = draft(&["lab-b"]);
            (draft.paths[0].every, draft.paths[0].time) = (text(every), text("4 s"));
            draft.paths[0].mine = true;
            check(&draft).is_ok()
        };
        assert_eq!(["30 s", "10 s", "9 s"].map(found), [true, true, false]);
    }

    #[test]
    fn more_visits_than_there_is_time_for_are_refused() {
        let found = wrong(|draft| {
            (draft.every, draft.paths[0].time) = (text("2 min"), text("1 min"));
            for name in ["b", "c"] {
                let path = PathDraft { host: name.to_string(), ..draft.paths[0].clone() };
                draft.paths.push(path);
            }
        });
        assert_eq!(found, ["every"]);
    }
}
