//! What a page asks to be measured, as the line that a person would type.
//!
//! A field becomes one argument `--name=value`, and only names in the table below are known, so
//! that nothing that was typed into a page can become another option.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Longest value of a field, in bytes.
const VALUE_MAX: usize = 200;

/// Options that a page may set, for measurements that are no plan.
const QUICK: [&str; 23] = [
    "for",
    "pairs",
    "precision",
    "measure",
    "margin",
    "seed",
    "time",
    "omit",
    "parallel",
    "length",
    "window",
    "set-mss",
    "congestion",
    "bitrate",
    "fq-rate",
    "bytes",
    "dscp",
    "tos",
    "hop-limit",
    "flowlabel",
    "port",
    "v4",
    "v6",
];

/// Options without a value.
const SWITCHES: [&str; 6] = ["quick", "thorough", "udp", "reverse", "bidir", "no-delay"];

/// What stands before the name of a plan or world that comes with the program; without it a file of
/// that name would be read.
const SHIPPED: &str = "preset:";

/// Options that a plan leaves open.
const OF_PLAN: [&str; 5] = ["scale", "port", "seed", "v4", "v6"];

/// Options of visits. That a host is one's own, which lifts what may be asked of it, is not among
/// them.
const OF_SITE: [&str; 7] = ["http", "measure", "pairs", "margin", "seed", "v4", "v6"];

/// What is to be measured.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// Where.
    pub place: Target,
    /// By which plan; otherwise the first look with what the options change.
    #[serde(default)]
    pub plan: Option<String>,
    /// By this plan, as TOML, in place of one that comes with the program.
    #[serde(default)]
    pub toml: Option<String>,
    /// Names and values of options; of a switch the value is `true`.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// That a person was told how much it sends and wants it.
    #[serde(default)]
    pub confirm: bool,
}

/// Where something is measured.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Target {
    /// Against a server.
    Host(String),
    /// At a host that does not run this program, by its name or URL.
    Site(String),
    /// In a network made on this computer.
    Demo,
    /// In the world of that name, or where the plan says for an empty one.
    Lab(String),
}

impl Form {
    /// The first look there.
    pub fn at(place: Target) -> Self {
        Form { place, plan: None, toml: None, options: BTreeMap::new(), confirm: false }
    }

    /// Whether it makes this computer connect to a host that did not agree to it.
    pub fn is_of_stranger(&self) -> bool {
        matches!(self.place, Target::Site(_))
    }

    /// The arguments of the program.
    ///
    /// # Errors
    /// In words, if a field is not one that a page may set.
    pub fn arguments(&self) -> Result<Vec<String>, String> {
        self.line(SHIPPED)
    }

    /// The words of the command, with `before` the names of what comes with the program.
    fn line(&self, before: &str) -> Result<Vec<String>, String> {
        let shipped = |text: &str, what| name(text, what).map(|name| format!("{before}{name}"));
        // What is read from standard input; a person would save it to a file.
        let named = self.plan.as_deref().map(|plan| shipped(plan, "the plan"));
        let named = named.transpose()?;
        let plan = self.toml.as_ref().map(|_| "-".to_owned()).or(named);
        let mut args = match (&plan, &self.place) {
            (None, Target::Demo) => vec!["demo".to_owned()],
            (None, Target::Host(host)) => vec!["run".to_owned(), word(host, "the host")?],
            (None, Target::Site(site)) => vec!["probe".to_owned(), word(site, "the host")?],
            (None, Target::Lab(lab)) => {
                vec!["run".to_owned(), format!("--lab={}", shipped(lab, "the lab")?)]
            }
            (Some(plan), place) => {
                let mut args = vec!["plan".to_owned(), "run".to_owned(), plan.clone()];
                match place {
                    Target::Host(host) => args.push(word(host, "the host")?),
                    Target::Site(_) => return Err("no plan is of visits".to_owned()),
                    Target::Lab(lab) if !lab.is_empty() => {
                        args.push(format!("--lab={}", shipped(lab, "the lab")?));
                    }
                    Target::Lab(_) | Target::Demo => {}
                }
                args
            }
        };
        let (known, switches): (&[&str], &[&str]) = match (&plan, self.is_of_stranger()) {
            (Some(_), _) => (&OF_PLAN, &[]),
            (None, true) => (&OF_SITE, &[]),
            (None, false) => (&QUICK, &SWITCHES),
        };
        for (name, text) in &self.options {
            let switch = switches.contains(&name.as_str());
            match text.as_str() {
                "true" if switch => args.push(format!("--{name}")),
                "false" if switch => {}
                _ if known.contains(&name.as_str()) => {
                    args.push(format!("--{name}={}", value(text, name)?));
                }
                _ => return Err(format!("\"{name}\" is nothing that a page can set")),
            }
        }
        Ok(args)
    }

    /// What the program reads: the plan, and a zero byte at its end.
    pub fn input(&self) -> Vec<u8> {
        let text = self.toml.as_deref().map(|toml| toml.bytes().filter(|&byte| byte != 0));
        text.map(|text| text.chain([0]).collect()).unwrap_or_default()
    }

    /// The line as a person would type it; a plan that was written in a page would be in a file.
    ///
    /// # Errors
    /// As [`Form::arguments`].
    pub fn command(&self) -> Result<String, String> {
        // A person has no file of such a name.
        let mut args = self.line("")?;
        if self.toml.is_some() {
            args.iter_mut().filter(|arg| *arg == "-").for_each(|arg| *arg = "FILE".to_owned());
        }
        Ok(typed(&args))
    }
}

/// Arguments as a line for a shell.
pub(crate) fn typed(args: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/%+@[]~".contains(c);
    let quoted = |arg: &String| match arg.chars().all(plain) && !arg.is_empty() {
        true => arg.clone(),
        false => format!("'{}'", arg.replace('\'', "'\\''")),
    };
    let words = std::iter::once("v6gap".to_owned()).chain(args.iter().map(quoted));
    words.collect::<Vec<_>>().join(" ")
}

/// An argument that is no option.
pub(crate) fn word(text: &str, what: &str) -> Result<String, String> {
    let text = value(text, what)?;
    if text.is_empty() {
        return Err(format!("{what} is missing"));
    }
    if text.starts_with('-') || text.chars().any(char::is_whitespace) {
        return Err(format!("{what}: \"{text}\" is no name"));
    }
    Ok(text)
}

/// A name that is no path. Of a plan or world it may still be that of a file, hence [`SHIPPED`]: a
/// person at this computer may name files and a page may not.
pub(crate) fn name(text: &str, what: &str) -> Result<String, String> {
    let text = word(text, what)?;
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return Err(format!("{what}: \"{text}\" is no name"));
    }
    Ok(text)
}

/// A text as a person types it into a field: one line, and no longer than that.
pub(crate) fn value(text: &str, what: &str) -> Result<String, String> {
    let text = text.trim();
    if text.len() > VALUE_MAX || text.chars().any(char::is_control) {
        return Err(format!("{what}: too long, or not text"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Form {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_form_is_the_line_that_a_person_would_type() {
        for (text, line) in [
            (r#"{"place":"demo"}"#, "v6gap demo"),
            (r#"{"place":{"host":"lab-b"},"options":{"quick":"true"}}"#, "v6gap run lab-b --quick"),
            (
                r#"{"place":{"lab":"cable"},"options":{"for":"20 s","udp":"false"}}"#,
                "v6gap run --lab=cable '--for=20 s'",
            ),
            (r#"{"place":{"host":"lab-b"},"toml":"v6gap = 1"}"#, "v6gap plan run FILE lab-b"),
            (
                r#"{"place":{"lab":""},"plan":"sizes","options":{"scale":"small"}}"#,
                "v6gap plan run sizes --scale=small",
            ),
            (r#"{"place":{"host":"fd00::7"},"plan":"sizes"}"#, "v6gap plan run sizes fd00::7"),
            (
                r#"{"place":{"site":"https://a.example/x?y=1"},"options":{"pairs":"6"}}"#,
                "v6gap probe 'https://a.example/x?y=1' --pairs=6",
            ),
        ] {
            assert_eq!(form(text).command().unwrap(), line);
        }
    }

    #[test]
    fn nothing_typed_into_a_page_becomes_another_option() {
        for text in [
            r#"{"place":{"host":"--output=/etc/passwd"}}"#,
            r#"{"place":{"host":"a b"}}"#,
            r#"{"place":{"host":""}}"#,
            r#"{"place":{"lab":"-x"}}"#,
            r#"{"place":{"site":"--mine"}}"#,
            r#"{"place":{"site":"a.example --mine"}}"#,
            r#"{"place":{"site":""}}"#,
            r#"{"place":{"site":"a.example"},"options":{"mine":"true"}}"#,
            r#"{"place":{"site":"a.example"},"options":{"quick":"true"}}"#,
            r#"{"place":{"site":"a.example"},"options":{"contact":"x"}}"#,
            r#"{"place":{"site":"a.example"},"plan":"sizes"}"#,
            r#"{"place":{"host":"lab-b"},"options":{"http":"2"}}"#,
            r#"{"place":"demo","options":{"output":"/etc/passwd"}}"#,
            r#"{"place":"demo","options":{"capture":"true"}}"#,
            r#"{"place":"demo","options":{"quick":"--output=x"}}"#,
            r#"{"place":"demo","plan":"--help"}"#,
            r#"{"place":"demo","plan":"../plan.toml"}"#,
            r#"{"place":{"lab":"/tmp/world.toml"}}"#,
            r#"{"place":"demo","options":{"key-file":"/etc/passwd"}}"#,
            r#"{"place":"demo","plan":"sizes","options":{"measure":"rtt"}}"#,
            "{\"place\":\"demo\",\"options\":{\"for\":\"1\\u00002\"}}",
        ] {
            assert!(form(text).arguments().is_err(), "{text}");
        }
        let odd = form(r#"{"place":"demo","options":{"measure":"x; rm -rf / #'"}}"#);
        assert_eq!(odd.arguments().unwrap()[1], "--measure=x; rm -rf / #'");
        assert_eq!(odd.command().unwrap(), r"v6gap demo '--measure=x; rm -rf / #'\'''");
        let unknown = serde_json::from_str::<Form>(r#"{"place":"demo","more":1}"#);
        assert!(unknown.is_err());
    }
}
