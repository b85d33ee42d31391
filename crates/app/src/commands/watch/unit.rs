//! A unit that has systemd watch: that of the packages, with what was typed in it.

use crate::args::WatchedArgs;
use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// The unit of the packages, which watches what /etc/v6gap/watch.toml describes.
const UNIT: &str = include_str!("../../../../../packaging/v6gap-watch.service");

/// How the line begins that says what is started.
const START: &str = "ExecStart=";

/// How the line begins that hands the description of the paths to the service.
const CREDENTIAL: &str = "LoadCredential=watch.toml:";

/// Where that is found then.
const HANDED: &str = "${CREDENTIALS_DIRECTORY}/watch.toml";

/// The line that hands over the keys that a description may name, and their folder, which is there
/// if the description is in it.
const KEYS: (&str, &str) = ("LoadCredential=key:/etc/v6gap", "/etc/v6gap");

/// How the line begins that hands over the key that was named, and where that is found then: the
/// service is nobody who could read the file, and sees no home.
const KEY: (&str, &str) = ("LoadCredential=host.key:", "${CREDENTIALS_DIRECTORY}/host.key");

/// Where a service with `ProtectHome=yes` sees no program.
const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];

/// The unit that does what was typed with the program in that file.
///
/// # Errors
/// If a file that was named has no absolute name.
pub fn text(program: &Path, args: &WatchedArgs, typed: &[String]) -> Result<String, Failure> {
    let absolute = |path: &PathBuf| {
        let wrong = |e: std::io::Error| Failure::usage(format!("{}: {e}", path.display()));
        std::path::absolute(path).map_err(wrong)
    };
    let config = args.config.as_ref().map(absolute).transpose()?;
    let key_file = args.key_file.as_ref().map(absolute).transpose()?;
    let exchanged = [
        (args.config.as_ref(), config.as_ref().map(|_| HANDED.to_owned())),
        (args.key_file.as_ref(), key_file.as_ref().map(|_| KEY.1.to_owned())),
    ];
    let started = |typed: &String| {
        for (named, put) in &exchanged {
            let (Some(named), Some(put)) = (named, put) else { continue };
            let named = named.display().to_string();
            if *typed == named {
                return put.clone();
            }
            if let Some(option) = typed.strip_suffix(&named).filter(|rest| rest.ends_with('=')) {
                return format!("{option}{put}");
            }
        }
        word(typed)
    };
    let words = typed.iter().skip(1).filter(|typed| *typed != "--unit").map(started);
    let keys_are_there = config.as_ref().is_some_and(|path| path.starts_with(KEYS.1));
    let hidden = HOMES.iter().any(|home| program.starts_with(home));
    let program = word(&program.display().to_string());
    let hint = format!(
        "# A service sees no home: sudo install -m 755 {program} /usr/local/bin/, and name that."
    );
    let line: Vec<String> = std::iter::once(program).chain(words).collect();
    let line = line.join(" ");
    // What stands behind a % would be a specifier (systemd.unit(5)).
    let handed = |head: &str, path: &PathBuf| {
        format!("{head}{}", path.display().to_string().replace('%', "%%"))
    };
    let lines = UNIT.lines().flat_map(|text| match text {
        _ if text.starts_with(START) => {
            let key = key_file.as_ref().map(|path| handed(KEY.0, path));
            let hint = hidden.then(|| hint.clone());
            hint.into_iter().chain([format!("{START}{line}")]).chain(key).collect()
        }
        _ if text.starts_with(CREDENTIAL) => {
            config.iter().map(|path| handed(CREDENTIAL, path)).collect()
        }
        _ if text == KEYS.0 && !keys_are_there => Vec::new(),
        _ => vec![text.to_owned()],
    });
    Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// A word of a command line as systemd reads it (systemd.service(5)).
fn word(text: &str) -> String {
    let text = text.replace('%', "%%").replace('$', "$$");
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%$[]".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn unit(words: &[&str]) -> String {
        let typed: Vec<String> =
            ["v6gap", "watch"].iter().chain(words).map(|w| (*w).into()).collect();
        match Cli::try_parse_from(&typed).unwrap().command {
            Command::Watch(args) => {
                text(Path::new("/opt/v 6/v6gap"), &args.watched, &typed).unwrap()
            }
            _ => panic!("watch was typed"),
        }
    }

    fn line<'a>(unit: &'a str, head: &str) -> Option<&'a str> {
        unit.lines().find_map(|line| line.strip_prefix(head))
    }

    #[test]
    fn what_was_typed_is_what_is_started() {
        let text = unit(&["lab-b", "--quiet", "Mon-Fri 08:00-18:00", "--unit"]);
        let expected = "\"/opt/v 6/v6gap\" watch lab-b --quiet \"Mon-Fri 08:00-18:00\"";
        assert_eq!(line(&text, START), Some(expected));
        assert_eq!(line(&text, CREDENTIAL), None);
        assert!(text.contains("[Service]\n") && text.contains("StateDirectory=v6gap\n"), "{text}");
    }

    #[test]
    fn a_file_is_handed_to_the_service() {
        for words in
            [vec!["--config", "/tmp/w.toml", "--unit"], vec!["--config=/tmp/w.toml", "--unit"]]
        {
            let text = unit(&words);
            assert_eq!(line(&text, CREDENTIAL), Some("/tmp/w.toml"));
            let started = line(&text, START).unwrap();
            assert!(started.ends_with(HANDED), "{started}");
        }
        let text = unit(&["--config", "/tmp/a%h b.toml", "--unit"]);
        assert_eq!(line(&text, CREDENTIAL), Some("/tmp/a%%h b.toml"));
    }

    #[test]
    fn a_key_is_handed_to_the_service() {
        let text = unit(&["lab-b", "--key-file", "/srv/k", "--unit"]);
        assert_eq!(line(&text, KEY.0), Some("/srv/k"));
        let started = line(&text, START).unwrap();
        assert!(started.ends_with(&format!("watch lab-b --key-file {}", KEY.1)), "{started}");
        assert_eq!(line(&unit(&["lab-b", "--unit"]), KEY.0), None);
        // systemd does not start a unit that is handed what is not there.
        let with_keys = unit(&["--config", "/etc/v6gap/watch.toml", "--unit"]);
        assert!(with_keys.contains(KEYS.0) && !text.contains(KEYS.0), "{with_keys}");
    }

    #[test]
    fn a_program_that_no_service_sees_is_told() {
        let typed = ["v6gap", "watch", "lab-b", "--unit"].map(str::to_owned);
        let Command::Watch(args) = Cli::try_parse_from(&typed).unwrap().command else {
            panic!("watch was typed")
        };
        let program = Path::new(HOMES[0]).join("v6gap");
        let hint = format!("sudo install -m 755 {} /usr/local/bin/", program.display());
        let hidden = text(&program, &args.watched, &typed).unwrap();
        assert!(hidden.contains(&hint), "{hidden}");
        assert!(!unit(&["lab-b", "--unit"]).contains("sudo install"));
    }

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        assert_eq!(word("100%$x"), "100%%$$x");
        assert_eq!(word("a b\"c"), "\"a b\\\"c\"");
        assert_eq!(word(""), "\"\"");
    }
}
