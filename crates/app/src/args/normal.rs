//! Short forms to full ones, before anything is parsed: `HOST` for `run HOST`, and iperf3's `-s`
//! and `-c HOST`.

use super::config::SHOW;

/// Every verb, as typed.
pub const VERBS: [&str; 29] = [
    "demo",
    "run",
    "probe",
    "watch",
    "fleet",
    "check",
    "doctor",
    "serve",
    "show",
    "replay",
    "report",
    "figures",
    "cite",
    "compare",
    "list",
    "note",
    "rm",
    "index",
    "export",
    "import",
    "plan",
    "lab",
    "web",
    "predict",
    "explain",
    "schema",
    "completions",
    "man",
    "help",
];

/// The whole help that fits one screen of 24 lines.
pub const SHORT_HELP: &str = "\
v6gap: how IPv6 performs against IPv4, how sure that is, and why

  v6gap demo           measure in a network made on this computer
  v6gap serve          answer measurements (on the other host)
  v6gap [run] HOST     compare IPv6 with IPv4 between here and HOST
  v6gap check HOST     can HOST be measured, and what will limit it
  v6gap show [RESULT]  a stored result again; `report` writes a page
  v6gap predict        what the headers alone cost; sends nothing

  --for TIME           longest time (75 s); --quick is 20 s, --thorough 10 min
  --pairs N            a fixed number of pairs instead
  --measure LIST       of throughput, rtt, connect, loss, tcp, udp
  --margin METRIC=P    smaller differences do not matter
  --precision P        until every range is as narrow as ±P
  -P -n -l -w -u -b …  as in iperf3; a list is a sweep; -t is of one trial
  --v4 ADDR --v6 ADDR  where names do not tell; -4 and -6: one family alone
  -p PORT              port of the server (4466, TCP and UDP)
  --fail-if worse      exit code for scripts; -J writes JSON

Examples:
  v6gap demo --quick
  v6gap lab-b --measure rtt,connect --pairs 40
  v6gap show last -V
  v6gap explain verdicts          `v6gap --help`, `v6gap VERB --help`: all";

/// Options before the verb that take a value of their own.
const GLOBAL_WITH_VALUE: [&str; 1] = ["--color"];
/// Options before the verb that take none.
const GLOBAL: [&str; 4] = ["--ascii", "--plain", "--json-errors", SHOW];

/// What was typed, in full form.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// Nothing at all.
    Nothing,
    /// `-h` alone: the short help.
    ShortHelp,
    /// A verb was given, or nothing that would need one.
    Verb(Vec<String>),
    /// No verb: `run` was put in, in front of this word.
    Implied(Vec<String>, String),
}

/// The full form of `typed`, which does not begin with the program's name.
pub fn normalise(typed: &[String]) -> Typed {
    let mut at = 0;
    while let Some(option) = typed.get(at) {
        match option.as_str() {
            o if GLOBAL_WITH_VALUE.contains(&o) => at += 2,
            o if GLOBAL.contains(&o) || o.starts_with("--color=") => at += 1,
            _ => break,
        }
    }
    let Some(first) = typed.get(at) else {
        return if typed.is_empty() { Typed::Nothing } else { Typed::Verb(typed.to_vec()) };
    };
    let with = |verb: &str, without: Option<usize>| {
        let mut full = typed.to_vec();
        if let Some(index) = without {
            full.remove(index);
        }
        full.insert(at, verb.to_owned());
        full
    };
    let position = |long: &str, short: &str| {
        let end = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
        typed[..end].iter().position(|word| word == long || word == short)
    };
    match first.as_str() {
        "-h" if typed.len() == at + 1 => Typed::ShortHelp,
        "-h" | "--help" | "-v" | "--version" => Typed::Verb(typed.to_vec()),
        verb if VERBS.contains(&verb) => Typed::Verb(typed.to_vec()),
        _ => match (position("--server", "-s"), position("--client", "-c")) {
            (Some(index), _) => Typed::Verb(with("serve", Some(index))),
            (None, Some(index)) => Typed::Verb(with("run", Some(index))),
            (None, None) => Typed::Implied(with("run", None), first.clone()),
        },
    }
}

/// Options with a value that nobody else may know, and what stands in its place in a record.
const SECRET: [&str; 3] = ["--key", "--key-of-environment", "--snmp-community"];
pub(super) const WITHHELD: &str = "WORD";

/// Whether nobody else may know the value of an option.
pub(super) fn is_secret(key: &str) -> bool {
    SECRET.iter().any(|option| option.strip_prefix("--") == Some(key))
}

/// What was typed, in full form and with the program's name, but without its secrets.
pub fn without_secrets(full: &[String]) -> Vec<String> {
    let mut kept = vec!["v6gap".to_owned()];
    let mut is_secret = false;
    for word in full {
        let option = word.split('=').next().unwrap_or_default();
        kept.push(match std::mem::take(&mut is_secret) {
            true => WITHHELD.to_owned(),
            false if !SECRET.contains(&option) => word.clone(),
            false if option.len() < word.len() => format!("{option}={WITHHELD}"),
            false => {
                is_secret = true;
                word.clone()
            }
        });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_kept() {
        let typed = "run lab-b --key tell-no-one -p 5 --snmp sw --snmp-community=no-one";
        let full: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        let kept = "v6gap run lab-b --key WORD -p 5 --snmp sw --snmp-community=WORD";
        assert_eq!(without_secrets(&full).join(" "), kept);
    }

    /// An option whose value is a word that two ends share is among those that are withheld.
    #[test]
    fn every_secret_is_known() {
        fn look(command: &clap::Command, found: &mut Vec<String>) {
            for option in command.get_arguments() {
                let names = option.get_value_names().unwrap_or_default();
                let variable = option.get_env().and_then(|name| name.to_str()).unwrap_or_default();
                let is_secret = names.iter().any(|name| name.as_str() == WITHHELD)
                    || variable.ends_with("_KEY")
                    || variable.ends_with("_COMMUNITY");
                found.extend(option.get_long().filter(|_| is_secret).map(|o| format!("--{o}")));
            }
            command.get_subcommands().for_each(|inner| look(inner, found));
        }
        let mut found = Vec::new();
        look(&<crate::args::Cli as clap::CommandFactory>::command(), &mut found);
        assert!(found.len() >= SECRET.len(), "{found:?}");
        assert!(found.iter().all(|option| SECRET.contains(&option.as_str())), "{found:?}");
    }

    fn full(line: &str) -> String {
        let typed: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match normalise(&typed) {
            Typed::Verb(full) | Typed::Implied(full, _) => full.join(" "),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_host_alone_is_run() {
        assert_eq!(full("lab-b"), "run lab-b");
        assert_eq!(full("--color never lab-b --pairs 8"), "--color never run lab-b --pairs 8");
        assert_eq!(full("--pairs 8 lab-b"), "run --pairs 8 lab-b");
    }

    #[test]
    fn verbs_and_help_stay() {
        for line in ["show last", "--ascii show last", "--help", "--version", "run serve"] {
            assert_eq!(full(line), line);
        }
        assert_eq!(full("-h"), "ShortHelp");
        assert_eq!(full(""), "Nothing");
        assert_eq!(full("run -h"), "run -h");
    }

    #[test]
    fn the_letters_of_iperf_are_understood() {
        assert_eq!(full("-s"), "serve");
        assert_eq!(full("-s -p 5000"), "serve -p 5000");
        assert_eq!(full("-c lab-b -J"), "run lab-b -J");
        assert_eq!(full("-p 5000 -c lab-b"), "run -p 5000 lab-b");
    }

    #[test]
    fn the_short_help_fits_a_screen() {
        assert!(SHORT_HELP.lines().count() <= 24);
        assert!(SHORT_HELP.lines().all(|line| line.chars().count() <= 80));
    }
}
