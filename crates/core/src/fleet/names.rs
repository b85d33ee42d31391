//! Names of hosts, sites and links. They become parts of subjects, keys, paths of files and names
//! in pages, so one that could be more than a name there cannot be made at all.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// Longest part of a name.
pub const LETTERS_MAX: usize = 32;

/// The text is no name. It is not repeated: it may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAName {
    /// A part has another letter, none or too many.
    #[error("a name has 1 to {} of a-z, 0-9 and -, its first and last no -", LETTERS_MAX)]
    Part,
    /// A host's name has two parts.
    #[error("a host is called SITE/HOST, as in rome/lab-a")]
    Parts,
}

/// Whether it is one part of a name. Letters are small ones: there are systems of files to which
/// `A` and `a` are the same.
fn is_part(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let edge = text.starts_with('-') || text.ends_with('-');
    (1..=LETTERS_MAX).contains(&text.len()) && !edge && text.bytes().all(letter)
}

fn part(text: &str) -> Result<Arc<str>, NotAName> {
    if is_part(text) { Ok(Arc::from(text)) } else { Err(NotAName::Part) }
}

/// A host of a fleet, as its agent is called: `SITE/HOST`. It is cheap to copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(Arc<str>);

impl HostName {
    /// The host `host` of the site `site`.
    ///
    /// # Errors
    /// If one of them is no part of a name.
    pub fn new(site: &str, host: &str) -> Result<HostName, NotAName> {
        match is_part(site) && is_part(host) {
            true => Ok(HostName(format!("{site}/{host}").into())),
            false => Err(NotAName::Part),
        }
    }

    /// `SITE/HOST`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its site.
    pub fn site(&self) -> &str {
        self.0.split_once('/').map_or(self.as_str(), |(site, _)| site)
    }

    /// What it is called at its site.
    pub fn host(&self) -> &str {
        self.0.split_once('/').map_or(self.as_str(), |(_, host)| host)
    }
}

impl FromStr for HostName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let (site, host) = text.split_once('/').ok_or(NotAName::Parts)?;
        HostName::new(site, host)
    }
}

impl TryFrom<String> for HostName {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> String {
        name.as_str().to_owned()
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What carries one exclusive measurement at a time, as a plan of a mesh names it: one part of a
/// name, as in `rome-uplink`. It is cheap to copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinkName(Arc<str>);

impl LinkName {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LinkName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        part(text).map(LinkName)
    }
}

impl TryFrom<String> for LinkName {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}

impl From<LinkName> for String {
    fn from(name: LinkName) -> String {
        name.as_str().to_owned()
    }
}

impl fmt::Display for LinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn what_could_be_more_than_a_name_is_none() {
        let long = "x".repeat(LETTERS_MAX + 1);
        let parts = [
            "", ".", "..", "a.b", "*", ">", "A", "-a", "a-", "a b", "a/b", "a\\b", "\u{e9}", &long,
        ];
        for text in parts {
            assert_eq!(text.parse::<LinkName>(), Err(NotAName::Part), "{text:?}");
            assert!(HostName::new(text, "a").is_err(), "{text:?}");
            assert!(HostName::new("a", text).is_err(), "{text:?}");
        }
        assert_eq!("rome".parse::<HostName>(), Err(NotAName::Parts));
        assert_eq!("rome/a/b".parse::<HostName>(), Err(NotAName::Part));
        let host: HostName = "rome/lab-a".parse().unwrap();
        assert_eq!((host.site(), host.host()), ("rome", "lab-a"));
        assert!(serde_json::from_str::<HostName>("\"rome/..\"").is_err());
        assert!(long[1..].parse::<LinkName>().is_ok());
    }

    proptest! {
        #[test]
        fn what_is_taken_is_written_again(text in "[a-z0-9./*> -]{0,9}") {
            if let Ok(host) = text.parse::<HostName>() {
                prop_assert_eq!(host.to_string(), text.clone());
                let json = serde_json::to_string(&host).unwrap();
                prop_assert_eq!(serde_json::from_str::<HostName>(&json).unwrap(), host);
                prop_assert!(!text.contains(['.', '*', '>', ' ']));
            }
        }
    }
}
