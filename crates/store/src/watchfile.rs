//! Watch files: TOML text to a watch, with every problem placed at its line.

use crate::planfile::{PlanFileError, PlanProblem, place, written};
use crate::source;
use std::path::Path;
use v6gap_core::watch::Watch;
use v6gap_core::watch::check::check;
use v6gap_core::watch::draft::Draft;

/// Keys of the language of watches, to suggest the nearest one for an unknown key.
const KEYS: &[&str] = &[
    "v6gap",
    "every",
    "throughput_every",
    "budget",
    "quiet",
    "listen",
    "on_change",
    "paths",
    "name",
    "host",
    "with",
    "time",
    "measure",
    "margin",
    "port",
    "v4",
    "v6",
    "key_file",
    "mine",
    "contact",
];

/// Reads and checks the watch in the file `path`; `prepare` changes what was written before it is
/// checked.
///
/// # Errors
/// If the file cannot be read, is not TOML, or does not describe a watch; all problems at once.
pub fn read_watch_file(
    path: &Path,
    prepare: &mut dyn FnMut(&mut Draft),
) -> Result<Watch, PlanFileError> {
    let text = source::text(path)?;
    parse_watch(&text, prepare).map_err(|problems| PlanFileError::Wrong {
        path: path.display().to_string(),
        text,
        problems,
    })
}

/// The watch that a text describes, as [`read_watch_file`].
///
/// # Errors
/// Every problem, with its line.
pub fn parse_watch(
    text: &str,
    prepare: &mut dyn FnMut(&mut Draft),
) -> Result<Watch, Vec<PlanProblem>> {
    let mut draft: Draft = written(text, KEYS)?;
    prepare(&mut draft);
    check(&draft).map_err(|problems| problems.into_iter().map(|p| place(text, p)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::watch::With;

    const TEXT: &str = "\
v6gap = 1
every = \"15 min\"
budget = \"5 GB/day\"
quiet = [\"Mon-Fri 08:00-18:00\"]

[[paths]]
host = \"lab-b\"
throughput_every = \"6 h\"

[[paths]]
name = \"site\"
host = \"https://example.org/\"
with = \"probe\"
";

    fn refused(text: &str) -> Vec<(usize, String)> {
        let problems = parse_watch(text, &mut |_| {}).unwrap_err();
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn a_file_becomes_the_watch_that_it_describes() {
        let watch = parse_watch(TEXT, &mut |_| {}).unwrap();
        let names: Vec<&str> = watch.paths.iter().map(|path| path.name.as_str()).collect();
        assert_eq!(names, ["lab-b", "site"]);
        assert_eq!((watch.paths[1].with, watch.budget_bytes), (With::Probe, Some(5_000_000_000)));
        let other = parse_watch(TEXT, &mut |draft| draft.every = Some("1 h".to_owned())).unwrap();
        assert_eq!(other.paths[0].every_ns, Some(3_600_000_000_000));
    }

    #[test]
    fn problems_stand_at_their_lines() {
        let found = refused(&TEXT.replace("5 GB/day", "5 GB").replace("\"probe\"", "\"prob\""));
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 13]);
        assert!(found[0].1.starts_with("budget: "), "{found:?}");
        assert!(found[1].1.starts_with("paths[1].with: "), "{found:?}");
    }

    #[test]
    fn an_unknown_key_brings_the_nearest_and_all_keys_are_known() {
        let text = TEXT.replace("quiet =", "quite =");
        let problem = parse_watch(&text, &mut |_| {}).unwrap_err().remove(0);
        assert_eq!((problem.line, problem.what.as_str()), (4, "unknown key \"quite\""));
        assert_eq!(problem.help.as_deref(), Some("did you mean \"quiet\"?"));
        let path = "host = \"a\"\nname = \"a\"\nwith = \"run\"\nevery = \"1 h\"\n\
                    throughput_every = \"1 h\"\ntime = \"10 s\"\nmeasure = [\"rtt\"]\n\
                    margin = { rtt = \"2 %\" }\nport = 4466\nv4 = \"192.0.2.7\"\n\
                    v6 = \"2001:db8::7\"\nkey_file = \"k\"\nmine = true\ncontact = \"me\"\n";
        let whole = format!(
            "v6gap = 1\nevery = \"1 h\"\nthroughput_every = \"6 h\"\nbudget = \"1 GB/day\"\n\
             quiet = []\nlisten = \"[::1]:9466\"\non_change = \"page me\"\n[[paths]]\n{path}"
        );
        assert!(parse_watch(&whole, &mut |_| {}).is_ok(), "{:?}", refused(&whole));
        for key in KEYS {
            assert!(whole.contains(&format!("{key} = ")) || *key == "paths", "{key}");
        }
    }
}
