//! Measuring between two hosts without anything installed there: the program is brought to each by
//! ssh, one of them serves and the other one measures, and the result is fetched.
//!
//! [`machine`] says what is done next and how everything that was begun ends; [`words`] has the
//! lines that the hosts are given, and [`told`] reads what they answer, which may be anything.

pub mod machine;
pub mod told;
pub mod words;

use crate::record::RunId;
use crate::wire::foreign::is_unsafe;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use told::Complaint;

/// An end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that measures.
    From,
    /// The one that serves.
    To,
}

impl Side {
    /// Both, in the order in which they are prepared.
    pub const BOTH: [Side; 2] = [Side::From, Side::To];
}

/// Something of each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerSide<T> {
    /// Of the one that measures.
    pub from: T,
    /// Of the one that serves.
    pub to: T,
}

impl<T> PerSide<T> {
    /// That of `side`.
    pub fn get(&self, side: Side) -> &T {
        match side {
            Side::From => &self.from,
            Side::To => &self.to,
        }
    }

    /// That of `side`, to be changed.
    pub fn get_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::From => &mut self.from,
            Side::To => &mut self.to,
        }
    }
}

/// A host as ssh is told it: `USER@HOST`, or a name of its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host(String);

impl Host {
    /// The host that a text names.
    ///
    /// # Errors
    /// In words, if ssh could take it for something else.
    pub fn parse(text: &str) -> Result<Host, &'static str> {
        match text {
            "" => Err("names no host"),
            _ if text.starts_with('-') => Err("begins with -, as options do"),
            _ if text.contains("://") => {
                Err("is a URL: write USER@HOST, and its Port into the configuration of ssh")
            }
            _ if text.chars().any(|c| c.is_whitespace() || is_unsafe(c)) => {
                Err("holds a blank or a character that cannot be seen")
            }
            _ => Ok(Host(text.to_owned())),
        }
    }

    /// As it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that names the host, without the user.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('@').map_or(self.as_str(), |(_, name)| name)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why the program is not on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCopied {
    /// Its folder cannot be made.
    NoFolder,
    /// Not all of it could be written.
    NotWhole,
    /// What was written is not what was sent.
    Differs,
    /// The host has nothing to find that out with.
    Unchecked,
}

/// Why nothing was measured, or not to the end. What hosts said is harmless to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// ssh cannot be started.
    NoSsh {
        /// How it is called.
        program: String,
        /// The system's words.
        why: String,
    },
    /// ssh did not get to the host.
    Unreachable {
        /// The host.
        host: Host,
        /// What ssh said.
        said: String,
    },
    /// The host does not let the user in, or cannot prove that it is the one it was.
    NotLetIn {
        /// The host.
        host: Host,
        /// What ssh said.
        said: String,
    },
    /// The connection ended, or nothing came over it in time.
    Lost {
        /// The host.
        host: Host,
        /// What ssh said.
        said: String,
    },
    /// There is no program for the host.
    OtherSystem {
        /// The host.
        host: Host,
        /// Its kernel and architecture.
        system: String,
    },
    /// The program could not be brought there.
    NotCopied {
        /// The host.
        host: Host,
        /// How far it came.
        why: NotCopied,
        /// What was said.
        said: String,
    },
    /// The program is there and does not run.
    NotRun {
        /// The host.
        host: Host,
        /// What was said.
        said: String,
    },
    /// It is not known where the end that serves can be reached from the other one.
    NoAddress {
        /// Which host ssh went to, as its side of the connection tells; may be empty.
        said: String,
    },
    /// The program at an end says why not.
    Complaint {
        /// Which end.
        side: Side,
        /// The host; `None` is this one.
        host: Option<Host>,
        /// What it says.
        said: Box<Complaint>,
    },
    /// This host cannot do its part.
    Here {
        /// In words.
        why: String,
    },
    /// It took minutes longer than it was to measure, and was stopped.
    Late {
        /// The host that measured; `None` is this one.
        host: Option<Host>,
    },
    /// Somebody stopped it before anything was measured.
    Stopped,
    /// Results lie there that were never fetched.
    Kept {
        /// The host.
        host: Host,
        /// The folders that they are in.
        jobs: Vec<String>,
    },
}

/// A result that is still where it was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The run.
    pub run: RunId,
    /// Why it was not fetched.
    pub why: Trouble,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_never_an_option_or_two_words() {
        for text in ["", "-oProxyCommand=x", "a b", "a\nb", "a\u{202e}b"] {
            assert!(Host::parse(text).is_err(), "{text:?}");
        }
        let host = Host::parse("ops@rome1").unwrap();
        assert_eq!((host.as_str(), host.name()), ("ops@rome1", "rome1"));
        assert_eq!(Host::parse("rome1").unwrap().name(), "rome1");
    }
}
