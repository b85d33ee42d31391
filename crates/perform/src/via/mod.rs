//! Measuring between two hosts that are reached by ssh: the program is brought there, serves at one
//! end and measures at the other one, and the result is stored here.
//!
//! What runs there is this program with words that could be typed, its events are those of
//! `--json-stream`, and it ends with its input, which ends with the connection. Nothing is spoken
//! that is not spoken otherwise: both ends are the same program, so a protocol for this alone would
//! only be one more thing to fail.

mod going;
mod process;

use going::Going;
use process::Question;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::PerFamily;
use v6gap_core::via::told;
use v6gap_core::via::words::{self, Sharing};
use v6gap_store::Store;
use v6gap_sys::entropy;

pub use v6gap_core::via::machine::Ended;
pub use v6gap_core::via::told::Complaint;
pub use v6gap_core::via::words::{CACHE, RESULT, quoted};
pub use v6gap_core::via::{Host, Left, NotCopied, PerSide, Side, Trouble};

/// How long a host may be silent, in ns; one that a person is asked about has longer.
const SILENCE_NS: u64 = 60_000_000_000;
const ASKED_NS: u64 = 300_000_000_000;

/// What is to be measured, and between whom.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The hosts, `None` being this one.
    pub hosts: PerSide<Option<Host>>,
    /// How ssh is called.
    pub ssh: PathBuf,
    /// The file of this program.
    pub program: PathBuf,
    /// Programs for hosts that this one does not fit.
    pub binaries: Vec<PathBuf>,
    /// Port of the server.
    pub port: u16,
    /// The families for which `words` have an address.
    pub given: PerFamily<bool>,
    /// What is to be measured, in words of `run`.
    pub words: Vec<String>,
    /// What was typed, for the record.
    pub typed: Vec<String>,
    /// Longest time that it measures, in ns.
    pub time_ns: u64,
}

/// What happens meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub enum Tidings<'a> {
    /// The host is reached.
    Reached {
        /// The host.
        host: &'a Host,
        /// Kernel and architecture.
        system: &'a str,
        /// Whether the program is there already.
        has_program: bool,
    },
    /// So many bytes of the program have gone there.
    Copies {
        /// The host.
        host: &'a Host,
        /// Bytes that have gone.
        bytes: u64,
        /// Bytes of all of it.
        of: u64,
    },
    /// The program is there.
    Copied {
        /// The host.
        host: &'a Host,
        /// Its bytes.
        bytes: u64,
        /// How long it took, in ns.
        took_ns: u64,
        /// Where it is, from the user's folder.
        place: &'a str,
    },
    /// Results of runs that were broken off lie there.
    Kept {
        /// The host.
        host: &'a Host,
        /// In these folders.
        jobs: &'a [String],
    },
    /// The server is there, and who measures is about to begin.
    Begins,
    /// What who measures says to programs, a line.
    Line(&'a str),
    /// What it says to people.
    State(&'a str),
    /// So many pairs were measured in so many seconds.
    Pairs(u64, u64),
    /// The result is stored here.
    Fetched,
}

/// How it came out.
#[derive(Debug)]
pub struct Done {
    /// What there is and what went wrong.
    pub ended: Ended,
    /// The line that writes the result, for a shell of the host where it is left.
    pub export: Option<String>,
}

/// Measures until it is over or `stop` is set, which ends it after the present block. What was
/// measured is stored here, whatever went wrong, unless the end says where it is.
pub fn measure(
    asked: &Asked,
    store: &Store,
    told: &mut dyn FnMut(&Tidings<'_>),
    stop: &AtomicBool,
) -> Done {
    match drawn() {
        Ok(drawn) => Going::new(asked, store, told, stop, drawn).go_on(),
        Err(why) => {
            let trouble = Some(Trouble::Here { why });
            let ended = Ended { run: None, left: None, trouble, stopped: false };
            Done { ended, export: None }
        }
    }
}

/// Removes everything of this program from a host.
///
/// # Errors
/// If it cannot be reached, or holds results that were not fetched.
pub fn forget(ssh: &Path, host: &Host, stop: &AtomicBool) -> Result<(), Trouble> {
    let words = words::ssh(host, &Sharing::Users, true, &words::forget());
    let question = Question {
        program: ssh,
        words: &words,
        asks: true,
        input: None,
        silence_ns: ASKED_NS,
        stop: Some(stop),
    };
    let (answer, out) = answered(&question, host)?;
    told::forgot(&out).map_err(|jobs| match jobs.is_empty() {
        true => {
            let said = told::said(&answer.errors);
            Trouble::NotRun { host: host.clone(), said }
        }
        false => Trouble::Kept { host: host.clone(), jobs },
    })
}

/// Longest answer that is kept in memory, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// The answer to a question that is short.
fn answered(question: &Question<'_>, host: &Host) -> Result<(process::Answer, Vec<u8>), Trouble> {
    let mut out = Vec::new();
    let mut heard = |piece: &[u8]| {
        out.extend_from_slice(piece);
        out.len() <= ANSWER_BYTES_MAX
    };
    let answer = question.ask(&mut heard, &mut |_| {});
    let answer = answer.map_err(|error| no_ssh(question.program, &error))?;
    match told::of_ssh(host, answer.exit, &answer.errors) {
        Some(trouble) => Err(trouble),
        None => Ok((answer, out)),
    }
}

fn no_ssh(program: &Path, error: &std::io::Error) -> Trouble {
    Trouble::NoSsh { program: program.display().to_string(), why: error.to_string() }
}

/// A program that can be sent.
#[derive(Clone)]
struct Program {
    bytes: Arc<Vec<u8>>,
    hash: String,
}

impl Program {
    /// The first of the files that fits the system; `None` if none does.
    fn of(files: &[&Path], system: &str) -> Result<Option<Program>, Trouble> {
        for file in files {
            let read = Store::read_program(file);
            let bytes = read.map_err(|error| Trouble::Here { why: error.to_string() })?;
            if told::fits(&bytes, system) {
                let hash = hexadecimal(&Sha256::digest(&bytes));
                return Ok(Some(Program { bytes: Arc::new(bytes), hash }));
            }
        }
        Ok(None)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What nobody can know beforehand: the key and the name of the job.
struct Drawn {
    key: String,
    job: String,
}

fn drawn() -> Result<Drawn, String> {
    let random: [u8; 24] = entropy::bytes().map_err(|error| error.to_string())?;
    let (key, job) = random.split_at(16);
    Ok(Drawn { key: hexadecimal(key), job: hexadecimal(job) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of FIPS 180-2, appendix B.1, which `sha256sum` gives as well.
    #[test]
    fn the_hash_is_the_one_that_hosts_compute() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hexadecimal(&Sha256::digest(b"abc")), expected);
    }

    #[test]
    fn no_key_is_drawn_twice() {
        let (one, other) = (drawn().unwrap(), drawn().unwrap());
        assert_eq!((one.key.len(), one.job.len()), (32, 16));
        assert!(one.key != other.key && one.job != other.job);
    }
}
