//! Identifiers of runs. A run is kept in a folder of that name, and files with runs come from
//! elsewhere: so one that could be a path, an option or markup cannot be made at all.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// Letters that are chosen from: none that is mistaken for another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The identifier of a run: 1 to [`RunId::LETTERS_MAX`] ASCII letters and digits, but not
/// [`RunId::LATEST`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// The text is no identifier of a run. It is not repeated: it may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the identifier of a run has 1 to {} letters and digits, and nothing else, and is not \"{}\"",
    RunId::LETTERS_MAX,
    RunId::LATEST
)]
pub struct NotAnId;

impl RunId {
    /// Longest identifier that is read; ours have six letters.
    pub const LETTERS_MAX: usize = 32;

    /// What a person calls the latest run by, and so no identifier: it would name two runs.
    pub const LATEST: &str = "last";

    /// One of six letters from thirty random bits; the two highest count for nothing.
    pub fn from_bits(random: u32) -> Self {
        RunId((0..6).map(|i| ALPHABET[(random >> (5 * i)) as usize & 31] as char).collect())
    }

    /// Its letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_one(text: &str) -> bool {
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        letters && (1..=Self::LETTERS_MAX).contains(&text.len()) && text != Self::LATEST
    }
}

impl FromStr for RunId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if Self::is_one(text) { Ok(RunId(text.to_owned())) } else { Err(NotAnId) }
    }
}

impl TryFrom<String> for RunId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        if Self::is_one(&text) { Ok(RunId(text)) } else { Err(NotAnId) }
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> String {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn six_letters_come_from_random_bits() {
        assert_eq!(RunId::from_bits(0).as_str(), "000000");
        assert_eq!(RunId::from_bits(u32::MAX).as_str(), "zzzzzz");
        assert_eq!(RunId::from_bits(0b00001_00010).as_str(), "210000");
    }

    #[test]
    fn what_could_be_more_than_a_name_is_none() {
        let long = "x".repeat(RunId::LETTERS_MAX + 1);
        for text in [
            "", ".", "..", "../x", "/tmp/x", "a/b", "a\\b", "C:x", "a b", "-x", "a\0", "a\n",
            "\u{e9}", "<b>", "a.b", &long, "last",
        ] {
            assert_eq!(text.parse::<RunId>(), Err(NotAnId), "{text:?}");
            let json = serde_json::to_string(text).unwrap();
            assert!(serde_json::from_str::<RunId>(&json).is_err(), "{text:?}");
        }
        assert_eq!("7k2f9q".parse::<RunId>().unwrap().as_str(), "7k2f9q");
        assert!(long[1..].parse::<RunId>().is_ok() && "lasts".parse::<RunId>().is_ok());
    }

    proptest! {
        /// Whatever is taken is one harmless part of a path, and is written as it was read.
        #[test]
        fn what_is_taken_is_written_again(text in ".{0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            match serde_json::from_str::<RunId>(&json) {
                Ok(id) => {
                    prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric()));
                    prop_assert_eq!(serde_json::to_string(&id).unwrap(), json);
                }
                Err(_) => prop_assert_eq!(text.parse::<RunId>(), Err(NotAnId)),
            }
        }
    }
}
