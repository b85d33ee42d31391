//! The command that adds pairs to a run, as far as what was typed tells it.

use v6gap_core::plan::Stop;
use v6gap_core::record::RunHeader;
use v6gap_core::via::words::quoted;
use v6gap_core::wire::foreign::is_unsafe;
use v6gap_judge::analysis::again::{With, with};

/// An option in its long form, and the letter of its short one.
type Named = (&'static str, Option<char>);

/// Options of `run` with a value without which the server would not be reached again.
pub const REACHING: [Named; 6] = [
    ("--port", Some('p')),
    ("--v4", None),
    ("--v6", None),
    ("--bind", Some('B')),
    ("--key-file", None),
    ("--key", None),
];

/// The lab, and what it is made with.
const IN_LAB: [Named; 4] = [("--lab", None), ("--from", None), ("--to", None), ("--kernel", None)];

/// Short options of `run` without a value: others may follow in the same word.
pub const FLAGS: &str = "46JNRVZqu";

/// The command that measures so many ns more of a run; nothing where nothing can be added, or it is
/// not known how its server was reached.
pub(crate) fn going_on(run: &RunHeader, time_ns: f64) -> Option<String> {
    let is_foreign = |text: &String| text.chars().any(is_unsafe);
    let in_fleet = run.between.is_some();
    let is_adaptive = matches!(run.plan.design.stop, Stop::Adaptive { .. });
    if in_fleet || !is_adaptive || run.argv.iter().chain([&run.target]).any(is_foreign) {
        return None;
    }
    let verb = run.argv.get(1)?;
    let words = match with(run) {
        With::Lab => in_lab(run),
        // The file of a plan may say how the server is reached.
        With::Server if verb == "plan" => return None,
        With::Server => to_server(run)?,
        With::Loopback | With::Ssh | With::Stranger => return None,
    };
    let seconds = (time_ns / 1e9).ceil() as u64;
    let time = match seconds % 60 {
        0 => format!("{}min", seconds / 60),
        _ => format!("{seconds}s"),
    };
    Some(format!("v6gap run {words} --continue {} --for {time}", run.id))
}

/// The lab as it was named, otherwise the node that was measured to: the stored plan has the world.
fn in_lab(run: &RunHeader) -> String {
    let options = typed(&run.argv, &IN_LAB);
    match options.iter().any(|option| option.starts_with("--lab ")) {
        true => options.join(" "),
        false => [vec![quoted(&run.target)], options].concat().join(" "),
    }
}

/// The host as it was typed, maybe with a port, and the options that lead to it.
fn to_server(run: &RunHeader) -> Option<String> {
    let names = |word: &&String| {
        let rest = word.strip_prefix(run.target.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let host = run.argv.iter().skip(2).find(names)?;
    Some([vec![quoted(host)], typed(&run.argv, &REACHING)].concat().join(" "))
}

/// Those of `wanted` that were typed, each with its value.
fn typed(argv: &[String], wanted: &[Named]) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = argv.iter().skip(2);
    while let Some(word) = words.next() {
        let Some((option, rest)) = long(word, wanted).or_else(|| short(word, wanted)) else {
            continue;
        };
        let value = match rest.strip_prefix('=').unwrap_or(rest) {
            "" => words.next().map(String::as_str),
            value => Some(value),
        };
        found.extend(value.map(|value| format!("{option} {}", quoted(value))));
    }
    found
}

/// The option that a word begins with, and what is behind it.
fn long<'a>(word: &'a str, wanted: &[Named]) -> Option<(&'static str, &'a str)> {
    wanted.iter().find_map(|(option, _)| {
        let rest = word.strip_prefix(*option)?;
        (rest.is_empty() || rest.starts_with('=')).then_some((*option, rest))
    })
}

fn short<'a>(word: &'a str, wanted: &[Named]) -> Option<(&'static str, &'a str)> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let letters = letters.trim_start_matches(|letter: char| FLAGS.contains(letter));
    wanted.iter().find_map(|(option, letter)| Some((*option, letters.strip_prefix((*letter)?)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::observation::Far;
    use v6gap_core::plan::preset;
    use v6gap_core::record::Session;

    fn run(line: &str) -> RunHeader {
        let plan = preset::first_look(PerArm::FAMILIES, None, 1);
        RunHeader {
            target: "lab-b".to_owned(),
            argv: line.split(' ').map(str::to_owned).collect(),
            session: Far::Seen(Session { protocol: 1, control: Family::V6, limits: None }),
            ..RunHeader::new("7k2f9q".parse().unwrap(), plan)
        }
    }

    fn said(line: &str) -> Option<String> {
        going_on(&run(line), 960e9)
    }

    #[test]
    fn a_server_is_asked_again_as_it_was_reached() {
        for (typed, again) in [
            ("", ""),
            ("--measure rtt --for 20s -t 5", ""),
            ("-p 5000 --v4=192.0.2.7 --quick", " --port 5000 --v4 192.0.2.7"),
            ("-qp5000 -B ::1 --bind=127.0.0.1", " --port 5000 --bind ::1 --bind 127.0.0.1"),
            ("--key-file it's -t 5", r" --key-file 'it'\''s'"),
            ("--key WORD -V", " --key WORD"),
        ] {
            let typed = format!("v6gap run lab-b {typed}");
            let command = format!("v6gap run lab-b{again} --continue 7k2f9q --for 16min");
            assert_eq!(said(typed.trim_end()).as_deref(), Some(command.as_str()), "{typed}");
        }
        let port = said("v6gap run lab-b:5000").unwrap();
        assert!(port.starts_with("v6gap run lab-b:5000 --continue "), "{port}");
        let short = going_on(&run("v6gap run lab-b"), 61.4e9).unwrap();
        assert!(short.ends_with(" --for 62s"), "{short}");
    }

    #[test]
    fn a_lab_is_made_again() {
        let in_lab = |line: &str| {
            let mut run = run(line);
            run.plan.parts_mut().world = Some(preset::demo_world());
            going_on(&run, 20e9).unwrap()
        };
        let end = "--continue 7k2f9q --for 20s";
        assert_eq!(in_lab("v6gap demo --rate 1G"), format!("v6gap run lab-b {end}"));
        let named = in_lab("v6gap run --lab two-routers --from a --kernel k --measure rtt");
        assert_eq!(named, format!("v6gap run --lab two-routers --from a --kernel k {end}"));
    }

    /// Nothing is said that would end in an error.
    #[test]
    fn what_cannot_go_on_is_given_no_command() {
        for line in [
            "v6gap probe lab-b",
            "v6gap run --via ssh --to lab-b",
            "v6gap demo --loopback",
            "v6gap plan run first-look lab-b",
            "v6gap run another",
            "v6gap run lab-b --label \u{1b}",
            "",
        ] {
            let mut run = run(line);
            if line.contains("probe") {
                run.session = Far::NotSeen("it is a web server".to_owned());
            }
            assert_eq!(going_on(&run, 60e9), None, "{line}");
        }
        let mut counted = run("v6gap run lab-b --pairs 9");
        counted.plan = counted.plan.ending(Stop::Pairs { pairs: 9 });
        assert_eq!(going_on(&counted, 60e9), None);
        let between = Some(["a/x", "a/lab-b"].map(str::to_owned));
        assert_eq!(going_on(&RunHeader { between, ..run("v6gap run lab-b") }, 60e9), None);
    }
}
