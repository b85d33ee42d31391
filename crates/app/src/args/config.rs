//! Options that somebody always types, from variables of the environment and from files:
//! `./v6gap.toml`, then the user's own `config.toml`. A variable is called as its option,
//! `V6GAP_NO_WAIT`; a table of a file has the name of a verb, and its keys those of the verb's
//! options. What is typed wins, and so does what a stored run has decided.

use super::Cli;
use super::normal::{WITHHELD, is_secret};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, Parser};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use toml::{Table, Value};
use v6gap_core::plan::check::nearest;

/// Asks which options hold, and where each is from.
pub const SHOW: &str = "--show-config";

/// What is said of one call and of no other.
const OF_ONE_CALL: [&str; 4] = ["help", "version", "json-errors", "show-config"];

/// What lets others in or goes to other hosts: a folder from elsewhere may have a file of options,
/// which says nothing of these.
const OF_ONESELF: [&str; 8] =
    ["allow", "allow-remote", "announce", "forget", "listen", "public", "stamp", "via"];

/// Parts of names of values that are files, programs or services, of which it says nothing either.
const PLACES: [&str; 9] =
    ["ADDRESS", "CMD", "DIR", "FILE", "FOLDER", "LOG", "PROGRAM", "RESULT", "URL"];

/// Headings of options that a plan decides, so that a run that goes on has them already.
const OF_PLAN: [&str; 3] =
    ["Measuring", "Lab", "Trials (letters as in iperf3; a list makes a sweep)"];

/// Variables of the environment that may be of options, by their names.
pub type Variables = BTreeMap<String, String>;

/// What the name of each of them begins with.
pub const PREFIX: &str = "V6GAP_";

/// A file of options.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigFile {
    /// What it is called where something is wrong with it.
    pub name: String,
    /// Its tables.
    pub verbs: Table,
    /// Whether it is the user's own, and none that a folder has.
    pub is_own: bool,
}

impl ConfigFile {
    /// The file of that name with that text.
    ///
    /// # Errors
    /// If it is no TOML, or has a table of no verb, in words.
    pub fn parse(name: &str, text: &str, is_own: bool) -> Result<Self, String> {
        let verbs: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            format!("{name}, line {line}: {}", error.message())
        })?;
        let program = Cli::command();
        let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        match verbs.iter().find(|(verb, of)| !known.contains(&verb.as_str()) || !of.is_table()) {
            None => Ok(ConfigFile { name: name.to_owned(), verbs, is_own }),
            Some((verb, _)) => {
                let meant = nearest(verb, &known).map(|verb| format!("; [{verb}] is"));
                Err(format!("{name}: [{verb}] is no table of a verb{}", meant.unwrap_or_default()))
            }
        }
    }

    /// What is said of a verb, by the names that lead to it.
    fn of(&self, path: &[&str]) -> Option<&Table> {
        path.iter().try_fold(&self.verbs, |table, name| table.get(*name)?.as_table())
    }
}

/// A command as it was typed, in full form, as far as it can be understood.
struct Typed<'a> {
    program: &'a Command,
    /// The names that lead to the verb.
    path: Vec<&'a str>,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl<'a> Typed<'a> {
    fn of(program: &'a Command, matches: &'a ArgMatches) -> Self {
        let mut typed = Typed { program, path: Vec::new(), command: program, matches };
        while let Some((name, below)) = typed.matches.subcommand()
            && let Some(command) = typed.command.find_subcommand(name)
        {
            typed.path.push(command.get_name());
            (typed.command, typed.matches) = (command, below);
        }
        typed
    }

    fn has(&self, arg: &Arg) -> bool {
        let source = self.matches.value_source(arg.get_id().as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    }

    /// Whether two options cannot stand beside each other.
    fn exclude(&self, one: &Arg, other: &Arg) -> bool {
        let excludes = |one: &Arg, other: &Arg| {
            let conflicts = self.command.get_arg_conflicts_with(one);
            conflicts.iter().any(|found| found.get_id() == other.get_id())
        };
        excludes(one, other) || excludes(other, one)
    }

    /// Whether what was typed leaves no room for an option.
    fn rules_out(&self, arg: &Arg) -> bool {
        let goes_on = self.matches.try_contains_id("continued").unwrap_or(false);
        let of_plan = arg.get_help_heading().is_some_and(|heading| OF_PLAN.contains(&heading));
        let mut typed = self.command.get_arguments().filter(|other| self.has(other));
        self.has(arg) || goes_on && of_plan || typed.any(|other| self.exclude(arg, other))
    }

    fn arg(&self, key: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(key))
    }

    /// What variables add. Those of other options, and of other programs, are passed over.
    fn of_environment(&self, variables: &Variables) -> Result<Vec<Added>, String> {
        let mut added = Vec::new();
        for arg in self.command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let Some(key) = arg.get_long().filter(|key| !OF_ONE_CALL.contains(key)) else {
                continue;
            };
            let name = format!("{PREFIX}{}", key.to_uppercase().replace('-', "_"));
            let value = variables.get(&name).filter(|value| !value.is_empty());
            let Some(value) = value.filter(|_| !is_of_one_verb(arg, key)) else { continue };
            // Some options have one of their own, by which they are something else to other verbs.
            if has_variable(self.program, &name) {
                continue;
            }
            let is_switch = |arg: &Arg| !arg.get_action().takes_values() || may_be_alone(arg);
            let value = match value.as_str() {
                "1" | "true" if is_switch(arg) => Value::Boolean(true),
                "0" | "false" if is_switch(arg) => Value::Boolean(false),
                text => Value::String(text.to_owned()),
            };
            let words =
                words(arg, key, &value).map_err(|why| format!("the variable {name} {why}"))?;
            if !self.rules_out(arg) {
                added.push(Added { key: key.to_owned(), words, from: name });
            }
        }
        Ok(added)
    }

    /// What a file adds, by the option's name; what it says of options that hold already is passed
    /// over.
    fn added(&self, file: &ConfigFile) -> Result<BTreeMap<String, Vec<String>>, String> {
        let mut added = BTreeMap::new();
        for (key, value) in file.of(&self.path).into_iter().flatten() {
            if value.is_table() && self.command.find_subcommand(key).is_some() {
                continue;
            }
            let place = format!("{}: {key} of [{}]", file.name, self.path.join("."));
            if OF_ONE_CALL.contains(&key.as_str()) {
                return Err(format!("{place} is typed, and said in no file"));
            }
            let Some(arg) = self.arg(key) else {
                let known: Vec<&str> =
                    self.command.get_arguments().filter_map(Arg::get_long).collect();
                let meant = nearest(key, &known).map(|key| format!("; \"{key}\" is"));
                return Err(format!("{place} is no option{}", meant.unwrap_or_default()));
            };
            if !file.is_own && is_of_oneself(arg, key) {
                return Err(format!("{place} stands in your own file of options alone"));
            }
            let words = words(arg, key, value).map_err(|why| format!("{place} {why}"))?;
            if !self.rules_out(arg) {
                added.insert(key.clone(), words);
            }
        }
        Ok(added)
    }
}

/// Whether an option is another thing to each verb, or does harm where it was meant for another: a
/// variable has no verb.
fn is_of_one_verb(arg: &Arg, key: &str) -> bool {
    is_of_oneself(arg, key) || ["format", "older-than", "port", "stamp-port"].contains(&key)
}

/// Whether a command of the program reads that variable itself.
fn has_variable(command: &Command, name: &str) -> bool {
    let reads = |arg: &Arg| arg.get_env().is_some_and(|own| own == name);
    command.get_arguments().any(reads)
        || command.get_subcommands().any(|below| has_variable(below, name))
}

/// Whether an option takes a value and needs none.
fn may_be_alone(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.min_values() == 0)
}

/// Whether an option is said by nobody but the user: what comes with a folder must not choose which
/// program runs, what is written or read, or who is let in.
fn is_of_oneself(arg: &Arg, key: &str) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    let mut parts = names.iter().flat_map(|name| name.split(|c: char| !c.is_ascii_alphabetic()));
    OF_ONESELF.contains(&key) || parts.any(|part| PLACES.contains(&part))
}

/// An option with its value as it would be typed; nothing for one that is off.
fn words(arg: &Arg, key: &str, value: &Value) -> Result<Vec<String>, String> {
    let takes_value = arg.get_action().takes_values();
    let with = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => return Err("is a text, a number, or a list of them".to_owned()),
        };
        Ok(format!("--{key}={text}"))
    };
    match value {
        Value::Boolean(is_on) if !takes_value || may_be_alone(arg) => {
            Ok(if *is_on { vec![format!("--{key}")] } else { Vec::new() })
        }
        _ if !takes_value => Err("is true or false".to_owned()),
        Value::Array(all) => all.iter().map(with).collect(),
        one => Ok(vec![with(one)?]),
    }
}

/// What was typed, in full form, with what variables and files add, the nearest first; and of each
/// option that was added where it is from.
///
/// # Errors
/// If a file says of the verb what it has no option for, or a variable is no value of its option,
/// in words.
pub fn with_added(
    full: &[String],
    variables: &Variables,
    files: &[ConfigFile],
) -> Result<(Vec<String>, BTreeMap<String, String>), String> {
    let program = program();
    let Some(matches) = understood(&program, full) else {
        return Ok((full.to_vec(), BTreeMap::new()));
    };
    let typed = Typed::of(&program, &matches);
    let mut each = typed.of_environment(variables)?;
    for file in files {
        let of_file = typed.added(file)?.into_iter();
        each.extend(of_file.map(|(key, words)| Added { key, words, from: file.name.clone() }));
    }
    let mut all = Vec::<Added>::new();
    for one in each {
        let arg = typed.arg(&one.key);
        let nearer = |added: &Added| {
            let other = typed.arg(&added.key);
            // What is off stands beside everything.
            let is_on = !added.words.is_empty();
            other == arg
                || is_on && other.zip(arg).is_some_and(|(one, other)| typed.exclude(one, other))
        };
        if !all.iter().any(nearer) {
            all.push(one);
        }
    }
    leave_out_what_lacks(&mut all, full, &typed.path);
    let words = merged(full, &typed.path, &all);
    Ok((words, all.into_iter().map(|added| (added.key, added.from)).collect()))
}

/// An option that was not typed.
#[derive(Debug, Clone)]
struct Added {
    key: String,
    words: Vec<String>,
    /// The variable or the file that says so.
    from: String,
}

/// What was typed with what is added, behind the verb.
fn merged(full: &[String], path: &[&str], added: &[Added]) -> Vec<String> {
    let mut at = 0;
    for name in path {
        at += full[at..].iter().position(|word| word == name).map_or(0, |before| before + 1);
    }
    let mut all = full.to_vec();
    all.splice(at..at, added.iter().flat_map(|added| added.words.clone()));
    all
}

/// Leaves out options that need another one which is not there, as a node of a lab does
/// where a host was typed.
fn leave_out_what_lacks(added: &mut Vec<Added>, full: &[String], path: &[&str]) {
    let lacks = |added: &[Added]| {
        let with_name = std::iter::once("v6gap".to_owned()).chain(merged(full, path, added));
        let error = Cli::try_parse_from(with_name).err();
        error.filter(|error| error.kind() == ErrorKind::MissingRequiredArgument)
    };
    // What is missing without any of them is missing in what was typed.
    if lacks(added).is_none() || lacks(&[]).is_some() {
        return;
    }
    let mut kept = Vec::new();
    for one in added.drain(..) {
        kept.push(one);
        if lacks(&kept).is_some() {
            kept.pop();
        }
    }
    *added = kept;
}

/// Whether the options are asked for and nothing else.
pub fn asks_for_options(full: &[String]) -> bool {
    let program = program();
    let matches = understood(&program, full);
    matches.is_some_and(|matches| {
        let Typed { matches, .. } = Typed::of(&program, &matches);
        matches.try_get_one::<bool>("show_config").ok().flatten().is_some_and(|asked| *asked)
    })
}

/// The program's own grammar, of which what is missing in words is no matter.
fn program() -> Command {
    let mut program = Cli::command().ignore_errors(true);
    program.build();
    program
}

/// Which options hold, one on each line, and where each is from.
///
/// # Errors
/// As [`with_added`].
pub fn shown(
    full: &[String],
    variables: &Variables,
    files: &[ConfigFile],
) -> Result<String, String> {
    let (all, from) = with_added(full, variables, files)?;
    let program = program();
    let Some(matches) = understood(&program, &all) else { return Ok(String::new()) };
    let Typed { path, command, matches, .. } = Typed::of(&program, &matches);
    let mut text = format!("v6gap {}\n", path.join(" "));
    for arg in command.get_arguments() {
        let (Some(key), id) = (arg.get_long(), arg.get_id().as_str()) else { continue };
        if arg.is_hide_set() || OF_ONE_CALL.contains(&key) {
            continue;
        }
        let origin = match matches.value_source(id) {
            Some(ValueSource::DefaultValue) if arg.get_action().takes_values() => "default",
            Some(ValueSource::EnvVariable) => "environment",
            Some(ValueSource::CommandLine) => from.get(key).map_or("typed", String::as_str),
            _ => continue,
        };
        let raw =
            matches.get_raw(id).into_iter().flatten().filter(|_| arg.get_action().takes_values());
        let is_secret = is_secret(key) || arg.is_hide_env_values_set();
        let told = |value: &OsStr| match is_secret {
            true => WITHHELD.to_owned(),
            false => value.to_string_lossy().into_owned(),
        };
        let values: Vec<String> = raw.map(told).collect();
        text.push_str(&format!("  {:<32}  {origin}\n", format!("--{key} {}", values.join(","))));
    }
    Ok(text)
}

/// What is meant by words in full form; nothing where that is help.
fn understood(program: &Command, full: &[String]) -> Option<ArgMatches> {
    let with_name = std::iter::once("v6gap".to_owned()).chain(full.iter().cloned());
    program.clone().try_get_matches_from(with_name).ok()
}

#[cfg(test)]
mod tests;
