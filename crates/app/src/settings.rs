//! What the environment and the flags say about where results lie and how text is written. The
//! environment is read once, here.

use crate::args::{Color, Live, StyleArgs};
use crate::failure::Failure;
use crate::key::SnmpKeys;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use v6gap_perform::turn::Locks;
use v6gap_report::text::{Glyphs, Style};
use v6gap_store::{Store, StoreError};
use v6gap_sys::term::{self, Output};

/// Columns where the terminal does not tell.
const WIDTH: usize = 80;

/// The variables that this program looks at.
const NAMES: [&str; 17] = [
    "V6GAP_SNMP_AUTH_KEY",
    "V6GAP_SNMP_PRIV_KEY",
    "V6GAP_DATA",
    "V6GAP_LOCKS",
    "V6GAP_SSH",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HOME",
    "APPDATA",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "CI",
    "COLUMNS",
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
];

/// The part of the process's environment that counts, and its terminal.
#[derive(Debug, Default)]
pub struct Environment {
    /// Variables that are set and not empty.
    variables: BTreeMap<&'static str, String>,
    /// Whether standard output is a terminal, and how wide it is.
    stdout: Terminal,
    /// What standard error is connected to.
    stderr: Terminal,
}

/// One output of the process.
#[derive(Debug, Default, Clone, Copy)]
struct Terminal {
    is_tty: bool,
    width: Option<usize>,
}

impl Terminal {
    fn of(output: Output) -> Self {
        Terminal { is_tty: term::is_tty(output), width: term::width(output).map(usize::from) }
    }
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let value = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let variables = NAMES.into_iter().filter_map(|name| Some((name, value(name)?))).collect();
        Environment {
            variables,
            stdout: Terminal::of(Output::Stdout),
            stderr: Terminal::of(Output::Stderr),
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The folder for this program's data, if the environment tells of any.
    fn data(&self) -> Option<PathBuf> {
        self.get("V6GAP_DATA")
            .map(PathBuf::from)
            .or_else(|| self.below("XDG_DATA_HOME", "v6gap"))
            .or_else(|| self.below("HOME", ".local/share/v6gap"))
            .or_else(|| self.below("APPDATA", "v6gap"))
    }

    fn below(&self, name: &str, rest: &str) -> Option<PathBuf> {
        self.get(name).map(|base| Path::new(base).join(rest))
    }

    /// Files of options that may be there, the nearest first, and whether each is the user's own.
    pub fn config(&self) -> Vec<(PathBuf, bool)> {
        let own = self
            .below("XDG_CONFIG_HOME", "v6gap")
            .or_else(|| self.below("HOME", ".config/v6gap"))
            .or_else(|| self.below("APPDATA", "v6gap"));
        let own = own.map(|folder| (folder.join("config.toml"), true));
        [(PathBuf::from("./v6gap.toml"), false)].into_iter().chain(own).collect()
    }

    /// An explicit locale that is not UTF-8 asks for ASCII; none at all says nothing.
    fn glyphs(&self) -> Glyphs {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| self.get(name));
        let utf8 = |locale: &str| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        };
        if locale.is_none_or(utf8) { Glyphs::Unicode } else { Glyphs::Ascii }
    }

    fn colour(&self, terminal: Terminal) -> bool {
        if self.get("NO_COLOR").is_some() || self.get("TERM") == Some("dumb") {
            return false;
        }
        terminal.is_tty || self.get("CLICOLOR_FORCE").is_some_and(|value| value != "0")
    }

    fn style(&self, flags: &StyleArgs, terminal: Terminal) -> Style {
        let columns = self.get("COLUMNS").and_then(|text| text.parse().ok());
        Style {
            width: columns.or(terminal.width).filter(|&w| w > 0).unwrap_or(WIDTH),
            glyphs: if flags.ascii { Glyphs::Ascii } else { self.glyphs() },
            plain: flags.plain,
            colour: match flags.color {
                Color::Auto => self.colour(terminal),
                Color::Always => true,
                Color::Never => false,
            },
        }
    }

    /// Redrawing in place needs a terminal that a person watches; to one who listens it is noise.
    fn live(&self, plain: bool) -> Live {
        let watched = self.stderr.is_tty && self.get("CI").is_none();
        let able = self.get("TERM") != Some("dumb");
        if watched && able && !plain { Live::Inline } else { Live::Line }
    }
}

/// How text is written.
#[derive(Debug, Clone)]
pub struct OutputStyle {
    /// Results, on standard output.
    pub results: Style,
    /// Progress and errors, on standard error.
    pub errors: Style,
    /// How progress is shown if no flag says otherwise.
    pub live: Live,
}

/// Everything that flags and environment settle before a command runs.
#[derive(Debug)]
pub struct Settings {
    /// Where results lie; `None` if nothing tells.
    pub data: Option<PathBuf>,
    /// How text is written.
    pub output: OutputStyle,
    /// The folder in which this host is claimed, if it is another than that of all users.
    pub locks: Option<PathBuf>,
    /// How ssh is called, if otherwise than everywhere.
    pub ssh: Option<PathBuf>,
    /// Keys for managed devices.
    pub keys: SnmpKeys,
    /// What was typed, without secrets; empty if it is not known.
    pub typed: Vec<String>,
}

impl Settings {
    /// From flags and environment; flags win.
    pub fn new(flags: &StyleArgs, environment: &Environment) -> Self {
        let output = OutputStyle {
            results: environment.style(flags, environment.stdout),
            errors: environment.style(flags, environment.stderr),
            live: environment.live(flags.plain),
        };
        let key = |name| environment.get(name).map(str::to_owned);
        let keys = SnmpKeys {
            authentication: key("V6GAP_SNMP_AUTH_KEY"),
            privacy: key("V6GAP_SNMP_PRIV_KEY"),
        };
        let locks = environment.get("V6GAP_LOCKS").map(PathBuf::from);
        let ssh = environment.get("V6GAP_SSH").map(PathBuf::from);
        Settings { data: environment.data(), output, locks, ssh, keys, typed: Vec::new() }
    }

    /// From the environment alone, for errors in what was typed.
    pub fn of_environment(environment: &Environment) -> Self {
        Settings::new(&StyleArgs::default(), environment)
    }

    /// How the turn of this host is asked for.
    pub fn locks(&self) -> Locks {
        locks(self.locks.as_ref(), &self.typed)
    }
}

/// What commands work with.
#[derive(Debug)]
pub struct Context {
    /// Stored results.
    pub store: Store,
    /// How text is written.
    pub output: OutputStyle,
    /// The folder in which this host is claimed, if it is another than that of all users.
    locks: Option<PathBuf>,
    /// How ssh is called.
    pub ssh: PathBuf,
    /// Keys for managed devices.
    pub keys: SnmpKeys,
    /// What was typed, without secrets.
    pub typed: Vec<String>,
}

impl Context {
    /// The context of these settings.
    ///
    /// # Errors
    /// If no folder for results is known.
    pub fn new(settings: &Settings) -> Result<Self, Failure> {
        let data = settings.data.as_ref().ok_or(StoreError::NoHome)?;
        let output = settings.output.clone();
        let keys = settings.keys.clone();
        let typed = settings.typed.clone();
        let locks = settings.locks.clone();
        let ssh = settings.ssh.clone().unwrap_or_else(|| PathBuf::from("ssh"));
        Ok(Context { store: Store::at(data), output, locks, ssh, keys, typed })
    }

    /// The folder in which this host is claimed, if it is another than that of all users.
    pub fn locks_folder(&self) -> Option<&Path> {
        self.locks.as_deref()
    }

    /// The same with other results.
    pub fn of(&self, store: Store) -> Self {
        let Context { output, locks, ssh, keys, typed, .. } = self;
        let (output, keys) = (output.clone(), keys.clone());
        let (locks, ssh, typed) = (locks.clone(), ssh.clone(), typed.clone());
        Context { store, output, locks, ssh, keys, typed }
    }

    /// The same where these words were typed in place of those that this process was given.
    pub fn typed_as(self, words: &[String]) -> Self {
        let typed = if words.is_empty() { self.typed } else { words.to_vec() };
        Context { typed, ..self }
    }

    /// How the turn of this host is asked for.
    pub fn locks(&self) -> Locks {
        locks(self.locks.as_ref(), &self.typed)
    }
}

/// Others are told what was typed here.
fn locks(folder: Option<&PathBuf>, typed: &[String]) -> Locks {
    Locks { folder: folder.cloned(), what: typed.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&'static str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
        Environment { variables: variables.collect(), ..Environment::default() }
    }

    #[test]
    fn results_lie_where_the_environment_says() {
        let all = [("V6GAP_DATA", "a"), ("XDG_DATA_HOME", "b"), ("HOME", "c")];
        let expected = ["a", "b/v6gap", "c/.local/share/v6gap"];
        for (skip, expected) in expected.into_iter().enumerate() {
            assert_eq!(environment(&all[skip..]).data(), Some(PathBuf::from(expected)));
        }
        assert_eq!(environment(&[]).data(), None);
    }

    #[test]
    fn colour_follows_the_conventions() {
        let tty = Terminal { is_tty: true, width: None };
        let pipe = Terminal::default();
        assert!(environment(&[]).colour(tty));
        assert!(!environment(&[]).colour(pipe));
        assert!(!environment(&[("NO_COLOR", "1")]).colour(tty));
        assert!(!environment(&[("TERM", "dumb")]).colour(tty));
        assert!(environment(&[("CLICOLOR_FORCE", "1")]).colour(pipe));
        assert!(!environment(&[("CLICOLOR_FORCE", "0")]).colour(pipe));
    }

    #[test]
    fn a_locale_without_utf8_gets_ascii() {
        assert_eq!(environment(&[]).glyphs(), Glyphs::Unicode);
        assert_eq!(environment(&[("LANG", "C.UTF-8")]).glyphs(), Glyphs::Unicode);
        assert_eq!(environment(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]).glyphs(), Glyphs::Ascii);
    }
}
