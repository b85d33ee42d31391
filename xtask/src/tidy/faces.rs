//! The program has no logic: what measures or decides cannot be named in it. Whoever has a plan
//! must be able to have it performed and judged without a command line.

use super::Finding;
use super::source::{Source, items};

/// Where this holds. Tests may name what they test with.
const APP: &str = "crates/app/src/";

/// What may be named of our crates, with all that is below it. Of these, `sys` and parts of `core`
/// act or decide; the others are made to be called, or show.
const MAY: [(&str, &[&str]); 8] = [
    (
        "v6gap_core",
        &[
            "arm",
            "family",
            "fleet::estimate",
            "fleet::mesh",
            "fleet::names",
            "host::names",
            "metric",
            "observation::Lateness",
            "plan",
            "published",
            "record",
            "run::Attempt",
            "run::Event",
            "session::throttle",
            "unit",
            "watch::Kind",
            "watch::Watch",
            "watch::check",
            "watch::draft",
            "watch::known",
            "watch::log",
            "watch::metrics",
            "wire",
            "wiremodel",
            "workload",
            "world",
        ],
    ),
    ("v6gap_fleet", &[""]),
    ("v6gap_judge", &["analysis", "fitness", "matrix", "planning"]),
    ("v6gap_perform", &[""]),
    ("v6gap_report", &[""]),
    ("v6gap_serve", &[""]),
    ("v6gap_store", &[""]),
    (
        "v6gap_sys",
        &[
            "Unavailable",
            "clock::now_ns",
            "clock::wall_ns",
            "entropy",
            "host::memory",
            "secrets",
            "stop",
            "term",
        ],
    ),
];

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    if !source.path.starts_with(APP) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, _) in source.code.match_indices("v6gap_") {
        let line = source.code[..at].matches('\n').count() + 1;
        if source.is_test(line) {
            continue;
        }
        for path in paths(&source.code[at..]) {
            if !may(&path) {
                let message = format!(
                    "names {path}: what measures or decides belongs into perform or judge, where \
                     it can be called without a command line"
                );
                findings.push(Finding::new(&source.path, line, message));
            }
        }
    }
    findings
}

fn may(path: &str) -> bool {
    let (of, path) = path.split_once("::").unwrap_or((path, ""));
    let below = |name: &str| {
        let rest = path.strip_prefix(name);
        name.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    MAY.iter().any(|(known, names)| *known == of && names.iter().any(|name| below(name)))
}

/// Every path that the path at the beginning of `code` stands for: one, or those of its list.
fn paths(code: &str) -> Vec<String> {
    let end = code.find(|c: char| c != '_' && c != ':' && !c.is_alphanumeric());
    let (first, rest) = code.split_at(end.unwrap_or(code.len()));
    let Some(list) = rest.strip_prefix('{').filter(|_| first.ends_with("::")) else {
        return vec![first.trim_end_matches(':').to_owned()];
    };
    let inner = items(list).into_iter().flat_map(paths).filter(|path| !path.is_empty());
    let whole = inner.map(|path| match path.as_str() {
        "self" => first.trim_end_matches(':').to_owned(),
        path => format!("{first}{path}"),
    });
    whole.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let named = |f: Finding| f.message[6..].split(": ").next().unwrap_or("").to_owned();
        check(&Source::new(path, text)).into_iter().map(named).collect()
    }

    #[test]
    fn lists_are_read_to_their_ends() {
        let list = "v6gap_core::{arm::{Arm, PerArm}, run::{self, Event},\n    unit};\nuse x::{y};";
        let paths = paths(list);
        let expected = ["arm::Arm", "arm::PerArm", "run", "run::Event", "unit"];
        assert_eq!(paths, expected.map(|path| format!("v6gap_core::{path}")));
        assert_eq!(super::paths("v6gap_sys::clock::now_ns();"), ["v6gap_sys::clock::now_ns"]);
    }

    #[test]
    fn what_measures_or_decides_is_not_named_in_the_program() {
        let app = "crates/app/src/commands/x.rs";
        for (text, name) in [
            ("use v6gap_engine::run;\n", "v6gap_engine::run"),
            ("use v6gap_core::run::{Event, Machine};\n", "v6gap_core::run::Machine"),
            ("use v6gap_core::{run, unit};\n", "v6gap_core::run"),
            ("use v6gap_judge::stopping::Interim;\n", "v6gap_judge::stopping::Interim"),
            (
                "fn f() { v6gap_sys::socket::Datagram::bind() }\n",
                "v6gap_sys::socket::Datagram::bind",
            ),
            ("use v6gap_sys::clock::{self, now_ns};\n", "v6gap_sys::clock"),
            ("use v6gap_stats::mean;\n", "v6gap_stats::mean"),
        ] {
            assert_eq!(found(app, text), [name], "{text}");
            assert_eq!(found("crates/perform/src/x.rs", text), Vec::<String>::new());
            let test = format!("#[cfg(test)]\nmod tests {{\n    {text}}}\n");
            assert_eq!(found(app, &test), Vec::<String>::new(), "{test}");
        }
        let named = "use v6gap_core::run::{Attempt, Event};\nuse v6gap_perform::perform;\n\
                     use v6gap_sys::Unavailable;\nuse v6gap_judge::analysis::{self, Analysis};\n";
        assert_eq!(found(app, named), Vec::<String>::new());
    }
}
