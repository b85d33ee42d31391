//! Identifiers: of jobs, of what stands behind an order, and of who gives it.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// Letters that are chosen from: none that is mistaken for another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Letters of the identifier of a job.
const JOB_LETTERS: usize = 12;

/// A job: one attempt to measure one path. Twelve letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(Arc<str>);

/// The text is no identifier of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the identifier of a job has {} letters and digits", JOB_LETTERS)]
pub struct NotAJob;

impl JobId {
    /// From sixty random bits; the four highest count for nothing.
    pub fn from_bits(random: u64) -> JobId {
        let letter = |at| char::from(ALPHABET[(random >> (5 * at)) as usize & 31]);
        JobId((0..JOB_LETTERS).map(letter).collect::<String>().into())
    }

    /// Its letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for JobId {
    type Err = NotAJob;

    fn from_str(text: &str) -> Result<Self, NotAJob> {
        let known = text.len() == JOB_LETTERS && text.bytes().all(|b| ALPHABET.contains(&b));
        if known { Ok(JobId(text.into())) } else { Err(NotAJob) }
    }
}

impl TryFrom<String> for JobId {
    type Error = NotAJob;

    fn try_from(text: String) -> Result<Self, NotAJob> {
        text.parse()
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> String {
        id.as_str().to_owned()
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What stands behind an order: the sequence number that the broker gave to the record of a job
/// when it was granted. A later grant has a higher one, so a host knows an order of the past.
///
/// Whoever makes the bucket anew after a loss gives it a first sequence above all that were; the
/// time in ms since the Unix epoch is such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many coordinators there were before: grows by one with each that takes the lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

/// A number that nobody used before: an agent says it with *ready*, and *start* repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(pub u64);

/// The word for one job alone, by which its client is let in by its server.
///
/// The machines have it in plain text. Whoever sends an order puts in its place what is sealed for
/// the host that the order goes to, before the order is signed; whoever receives one opens it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Word(String);

impl Word {
    /// A word of 26 letters from 130 of the 192 random bits.
    pub fn from_bits(random: [u64; 3]) -> Word {
        let letters = random.into_iter().flat_map(|bits| {
            (0..JOB_LETTERS).map(move |at| char::from(ALPHABET[(bits >> (5 * at)) as usize & 31]))
        });
        Word(letters.take(26).collect())
    }

    /// No word: of a job whose far end has no agent, and so knows none.
    pub fn none() -> Word {
        Word(String::new())
    }

    /// Whether it is no word.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// What is written, plain or sealed.
    pub fn new(text: String) -> Word {
        Word(text)
    }

    /// The text, plain or sealed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Word(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_job_is_twelve_letters_and_nothing_else() {
        let id = JobId::from_bits(u64::MAX);
        assert_eq!(id.as_str(), "zzzzzzzzzzzz");
        assert_eq!(id.as_str().parse::<JobId>(), Ok(id));
        for text in ["", "../../../../", "zzzzzzzzzzz", "zzzzzzzzzzzzz", "ZZZZZZZZZZZZ"] {
            assert_eq!(text.parse::<JobId>(), Err(NotAJob), "{text}");
        }
    }

    #[test]
    fn a_word_is_not_shown_by_accident() {
        let word = Word::from_bits([0, 1, 2]);
        assert_eq!(word.as_str().len(), 26);
        assert!(!format!("{word:?}").contains("000"));
    }
}
