//! `watch status`: how all paths do, from the log of the watch.

use super::lines::{because, counted};
use crate::args::WatchStatusArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::unit::{format_bytes, format_span};
use v6gap_core::watch::Kind;
use v6gap_core::watch::known::{Known, Notices, Past, Silent};
use v6gap_core::watch::log::{Answer, Cause, Listed, Outcome as Ended};
use v6gap_perform::always::{self, Lately};
use v6gap_report::{changes, date, json_escaped};

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.watch.status/1";

/// Says how all paths do.
///
/// # Errors
/// If the log cannot be read.
pub fn execute(args: &WatchStatusArgs, context: &Context) -> Result<Outcome, Failure> {
    if !args.follow {
        let lately = always::lately(&context.store, args.at_unix_ns)?;
        output::to_stdout(&said(args, context, &lately));
        return Ok(Outcome::Done);
    }
    let stop = session::interruptible()?;
    if args.stop_at_eof {
        session::stop_at_end_of_input(&stop);
    }
    let mut first = true;
    let mut look = |lately: &Lately| {
        let text = said(args, context, lately);
        // What is read by people has an empty line between two times.
        let gap = if args.json || std::mem::take(&mut first) { "" } else { "\n" };
        output::to_stdout(&format!("{gap}{text}"));
        if output::is_lost() {
            stop.store(true, Ordering::Relaxed);
        }
    };
    always::log::follow(&context.store, args.at_unix_ns, &stop, &mut look)?;
    Ok(Outcome::Done)
}

/// How all paths do, as it is to be written.
fn said(args: &WatchStatusArgs, context: &Context, lately: &Lately) -> String {
    let known = &lately.known;
    let now_ns = args.at_unix_ns.unwrap_or_else(|| always::now().unix_ns);
    let text = match (args.json, args.follow) {
        (true, true) => return json_escaped(document(lately, now_ns).to_string()),
        (true, false) => return output::document(&document(lately, now_ns)),
        (false, _) if known.watching.is_none() => {
            "Nothing is watched yet.  v6gap watch HOST --every 15min".to_owned()
        }
        (false, _) => table(lately, now_ns, args.verbose) + &notes(known, now_ns),
    };
    output::fit(&context.output.results, &text)
}

/// The paths that are watched, as the watch was begun last.
fn listed(known: &Known) -> &[Listed] {
    known.watching.as_ref().map_or(&[][..], |watching| &watching.paths[..])
}

/// Every kind of visit that is made to a path and of which something is known.
fn pasts<'a>(known: &'a Known, path: &'a Listed) -> impl Iterator<Item = (Kind, &'a Past)> {
    let kinds = known.paths.get(&path.name).into_iter().flatten();
    // What was found by visits that are made no more is nothing that is so now.
    let made = kinds.filter(move |(kind, _)| path.period_ns(**kind).is_some());
    made.map(|(kind, past)| (*kind, past))
}

/// A line for each question of each path; without `verbose` one for each metric.
fn table(lately: &Lately, now_ns: u64, verbose: bool) -> String {
    let known = &lately.known;
    let heads = ["PATH", "EVERY", "LAST", "QUESTION", "ANSWER", "", "CHANGED"];
    let mut rows = vec![heads.map(str::to_owned)];
    for path in listed(known) {
        let mut first = true;
        for (kind, past) in pasts(known, path) {
            let every = path.period_ns(kind).map_or("–".to_owned(), |ns| format_span(ns as f64));
            let last = past.measured_unix_ns.map_or("–".to_owned(), |at| ago(now_ns, at));
            let name = if std::mem::take(&mut first) { path.name.clone() } else { String::new() };
            let mut head = [name, every, last];
            let shown = shown(&past.answers, verbose);
            let answer = |a: &&Answer| {
                let changed = lately.followed.last(&path.name, &a.cell, a.metric);
                let changed = changed.map_or("–".to_owned(), |l| date(l.change.first.unix_ns));
                [a.label.clone(), a.answer.clone(), a.text.clone(), changed]
            };
            let mut answers: Vec<[String; 4]> = shown.iter().map(answer).collect();
            if answers.is_empty() {
                answers.push(["–", "–", "", "–"].map(str::to_owned));
            }
            for [label, answer, text, changed] in answers {
                let [name, every, last] = std::mem::take(&mut head);
                rows.push([name, every, last, label, answer, text, changed]);
            }
        }
        if first {
            let every = path.every_ns.or(path.throughput_every_ns).unwrap_or(0);
            let every = format_span(every as f64);
            let none = || "–".to_owned();
            rows.push([path.name.clone(), every, none(), none(), none(), String::new(), none()]);
        }
    }
    let width = |column: usize| output::column(rows.iter().map(|row| row[column].as_str()));
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// The answers that are shown: the first of each metric, or all.
fn shown(answers: &[Answer], verbose: bool) -> Vec<&Answer> {
    let mut metrics: Vec<Metric> = Vec::new();
    let mut shown = Vec::new();
    for answer in answers {
        if verbose || !metrics.contains(&answer.metric) {
            metrics.push(answer.metric);
            shown.push(answer);
        }
    }
    shown
}

/// What is down, what failed, and how many visits there were.
fn notes(known: &Known, now_ns: u64) -> String {
    let mut out = String::new();
    for path in listed(known) {
        let name = &path.name;
        let outage = together(pasts(known, path).map(|(_, past)| past));
        out.extend(down(name, &outage).map(|text| text + "\n"));
        let others = pasts(known, path).filter(|(_, past)| past.down().is_none());
        out.extend(others.filter_map(|(_, past)| failed(name, past)).map(|text| text + "\n"));
    }
    out.push_str(&counts(known, now_ns));
    let Notices { told, lost, why } = &known.notices;
    if *lost > 0 {
        let all = told + lost;
        let events = if all == 1 { "change or outage" } else { "changes and outages" };
        out.push_str(&format!("{lost} of {all} {events} could not be told: {why}\n"));
    }
    out
}

/// The outage that visits of all kinds to a path found.
fn together<'a>(pasts: impl Iterator<Item = &'a Past>) -> Past {
    let mut all = Past::default();
    let mut pasts: Vec<&Past> = pasts.collect();
    // The last of them says why.
    pasts.sort_by_key(|past| past.ended_unix_ns);
    for past in pasts {
        for family in Family::BOTH {
            let Some(silent) = past.silent.get(family) else { continue };
            let known =
                all.silent.get_mut(family).get_or_insert(Silent { visits: 0, ..silent.clone() });
            known.visits += silent.visits;
            known.why.clone_from(&silent.why);
            if silent.since_unix_ns < known.since_unix_ns {
                known.since_unix_ns = silent.since_unix_ns;
            }
        }
    }
    all
}

/// What keeps a path from being measured now, if something does.
fn trouble(name: &str, past: &Past) -> Option<String> {
    down(name, past).or_else(|| failed(name, past))
}

fn down(name: &str, past: &Past) -> Option<String> {
    let (family, silent) = past.down()?;
    let (since, visits) = (date(silent.since_unix_ns), counted(silent.visits, "visit"));
    let what = family.map_or(String::new(), |family| format!("{family} to "));
    let why = &silent.why;
    Some(format!("{what}\"{name}\" has not answered since {since} ({visits}): {why}"))
}

fn failed(name: &str, past: &Past) -> Option<String> {
    let times = counted(past.failures, "time");
    (past.failures > 0).then(|| format!("\"{name}\" was not measured {times}: {}", past.why))
}

/// "12 of 1344 visits since 2026-11-09 00:00 were given up: …".
fn counts(known: &Known, now_ns: u64) -> String {
    let all = || known.paths.values().flat_map(BTreeMap::values);
    let begun: u64 = all().map(Past::begun).sum();
    let taken: u64 = all().map(|past| past.count(&Ended::Taken)).sum();
    let mut missed: BTreeMap<Cause, u64> = BTreeMap::new();
    for (why, count) in all().flat_map(|past| &past.missed) {
        *missed.entry(*why).or_default() += *count;
    }
    let given_up = taken + missed.values().sum::<u64>();
    let due = begun + missed.values().sum::<u64>();
    let since = date(known.since_unix_ns.unwrap_or(now_ns));
    let due = counted(due, "visit");
    let verb = if given_up == 1 { "was" } else { "were" };
    let mut out = format!("{given_up} of {due} since {since} (UTC) {verb} given up");
    let mut reasons: Vec<String> = Vec::new();
    if taken > 0 {
        reasons.push(format!("{taken} because something else was being measured"));
    }
    reasons
        .extend(missed.into_iter().map(|(why, count)| format!("{count} because {}", because(why))));
    if !reasons.is_empty() {
        out.push_str(&format!(": {}", reasons.join(", ")));
    }
    let spent = &known.spent;
    let budget = known.watching.as_ref().and_then(|watching| watching.budget_bytes);
    let budget = budget.map(|bytes| format!(" of {}", format_bytes(bytes))).unwrap_or_default();
    let today = format_bytes(spent.on(always::at(now_ns).day()));
    out + &format!(".\n{today}{budget} were moved today (UTC).\n")
}

/// How long ago something was: "4 min".
fn ago(now_ns: u64, at_ns: u64) -> String {
    let seconds = now_ns.saturating_sub(at_ns) / 1_000_000_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn document(lately: &Lately, now_ns: u64) -> Value {
    let known = &lately.known;
    let paths = listed(known).iter().map(|path| {
        let kinds = known.paths.get(&path.name).into_iter().flatten();
        let kinds = kinds.map(|(kind, past)| of_kind(path, *kind, past));
        json!({
            "name": path.name,
            "host": path.host,
            "with": path.with,
            "every_ns": path.every_ns,
            "throughput_every_ns": path.throughput_every_ns,
            "visits": kinds.collect::<Vec<_>>(),
            "changes": changes_of(lately, &path.name),
        })
    });
    json!({
        "schema": SCHEMA,
        "since_unix_ns": known.since_unix_ns,
        "budget_bytes": known.watching.as_ref().and_then(|watching| watching.budget_bytes),
        "moved_today_bytes": known.spent.on(always::at(now_ns).day()),
        "notified": {
            "told": known.notices.told,
            "lost": known.notices.lost,
            "why": known.notices.why,
        },
        "paths": paths.collect::<Vec<_>>(),
    })
}

/// The last change of each question of a path.
fn changes_of(lately: &Lately, path: &str) -> Vec<Value> {
    let last = lately.followed.of_path(path);
    last.map(|last| changes::change_json(path, &last.asked, &last.change)).collect()
}

fn of_kind(path: &Listed, kind: Kind, past: &Past) -> Value {
    let missed: BTreeMap<&str, u64> =
        past.missed.iter().map(|(why, count)| (why.name(), *count)).collect();
    let down = past.down().map(|(family, silent)| {
        json!({
            "family": family,
            "since_unix_ns": silent.since_unix_ns,
            "visits": silent.visits,
            "why": silent.why,
        })
    });
    json!({
        "kind": kind,
        "begun": past.begun(),
        "ended": past.ended,
        "missed": missed,
        "due_unix_ns": past.due_unix_ns,
        "measured_unix_ns": past.measured_unix_ns,
        "ended_unix_ns": past.ended_unix_ns,
        "failures": past.failures,
        "why": past.why,
        "down": down,
        "trouble": path.period_ns(kind).and_then(|_| trouble(&path.name, past)),
        "run": past.run.as_ref().map(|(_, run)| run),
        "answers": past.answers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::PerFamily;
    use v6gap_core::watch::With;
    use v6gap_core::watch::log::Watching;

    /// A watch of one path, with what is known of its light visits.
    fn known(past: Past) -> Known {
        let path = Listed {
            name: "lab-b".to_owned(),
            host: "lab-b".to_owned(),
            with: With::Run,
            every_ns: Some(1),
            throughput_every_ns: Some(1),
            time_ns: None,
            measure: Vec::new(),
            margins: BTreeMap::new(),
        };
        let watching = Watching { at_unix_ns: 0, budget_bytes: None, paths: vec![path] };
        let paths = [("lab-b".to_owned(), [(Kind::Light, past)].into())].into();
        Known { since_unix_ns: Some(0), watching: Some(watching), paths, ..Known::default() }
    }

    #[test]
    fn one_is_told_as_one_and_several_as_several() {
        let of = |n: u64| {
            let (ended, missed) = ([("taken", n)].into(), BTreeMap::new());
            let why = "no".to_owned();
            let mut known = known(Past { ended, missed, failures: n, why, ..Past::default() });
            known.notices = Notices { told: 0, lost: n, why: "gone".to_owned() };
            notes(&known, 0)
        };
        let (one, two) = (of(1), of(2));
        assert!(one.contains("was not measured 1 time: no\n"), "{one}");
        assert!(one.contains("\n1 of 1 visit since 1970-01-01 00:00 (UTC) was given up"), "{one}");
        assert!(one.contains("\n1 of 1 change or outage could not be told: gone\n"), "{one}");
        assert!(two.contains("was not measured 2 times: no\n"), "{two}");
        assert!(
            two.contains("\n2 of 2 visits since 1970-01-01 00:00 (UTC) were given up"),
            "{two}"
        );
        assert!(two.contains("\n2 of 2 changes and outages could not be told: gone\n"), "{two}");
        let silent = Silent { since_unix_ns: 0, visits: 1, why: "no route".to_owned() };
        let silent = PerFamily::from_fn(|_| Some(silent.clone()));
        let down = notes(&known(Past { silent, why: "no".to_owned(), ..Past::default() }), 0);
        let said = "\"lab-b\" has not answered since 1970-01-01 00:00 (1 visit): no route\n";
        assert!(down.contains(said), "{down}");
    }

    /// Visits of both kinds find IPv6 down: since the first of them, in all of them.
    #[test]
    fn an_outage_that_both_kinds_of_visits_find_is_one() {
        let silent = |since_unix_ns, visits| {
            let silent = Silent { since_unix_ns, visits, why: "no route".to_owned() };
            let silent = PerFamily { v4: None, v6: Some(silent) };
            Past { silent, failures: visits, ..Past::default() }
        };
        let mut known = known(silent(0, 8));
        let kinds = known.paths.get_mut("lab-b").unwrap();
        kinds.insert(Kind::Throughput, silent(7_200_000_000_000, 1));
        let said = notes(&known, 0);
        let one =
            "IPv6 to \"lab-b\" has not answered since 1970-01-01 00:00 (9 visits): no route\n";
        assert!(said.starts_with(one) && said.matches("lab-b").count() == 1, "{said}");
    }

    #[test]
    fn visits_that_are_made_no_more_are_counted_and_no_trouble() {
        let silent = Silent { since_unix_ns: 0, visits: 1, why: "no route".to_owned() };
        let of_throughput = Past {
            silent: PerFamily::from_fn(|_| Some(silent.clone())),
            ended: [("down", 1)].into(),
            failures: 1,
            why: "no".to_owned(),
            ..Past::default()
        };
        let said = |throughput_every_ns| {
            let mut known = known(Past::default());
            known.watching.as_mut().unwrap().paths[0].throughput_every_ns = throughput_every_ns;
            let kinds = known.paths.get_mut("lab-b").unwrap();
            kinds.insert(Kind::Throughput, of_throughput.clone());
            let lately = Lately { known, ..Lately::default() };
            let visits = document(&lately, 0)["paths"][0]["visits"].clone();
            (notes(&lately.known, 0), table(&lately, 0, false).lines().count(), visits)
        };
        let ((made, two, of_both), (left, one, of_one)) = (said(Some(1)), said(None));
        assert!(made.contains("has not answered since"), "{made}");
        assert!(!left.contains("lab-b") && left.contains("0 of 1 visit since"), "{left}");
        assert_eq!((two, one), (3, 2));
        assert!(of_both[1]["trouble"].is_string(), "{of_both:#}");
        assert!(of_one[1]["trouble"].is_null() && of_one[1]["begun"] == 1, "{of_one:#}");
    }

    #[test]
    fn how_long_ago_is_told_in_one_unit() {
        let told = |seconds: u64| ago(seconds * 1_000_000_000, 0);
        assert_eq!([0, 59, 60, 3599].map(told), ["0 s", "59 s", "1 min", "59 min"]);
        assert_eq!([3600, 172_799, 172_800].map(told), ["1 h", "47 h", "2 d"]);
        assert_eq!(ago(0, 5), "0 s");
    }
}
