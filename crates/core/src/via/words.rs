//! The lines that ssh and the hosts are given. Those for hosts are understood by any shell that a
//! user may have there: what needs a real one is given to `sh`.
//!
//! What is printed for this program begins with [`MARK`], so that what else a shell says when it
//! begins is told from it. Everything lies below [`CACHE`], from the folder in which ssh begins.

use super::Host;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Folder of this program on a host.
pub const CACHE: &str = ".cache/v6gap";

/// How lines for this program begin.
pub const MARK: &str = "v6gap:";

/// The line behind which a result is printed.
pub const RESULT: &str = "v6gap:result";

/// How the commands of a run share a connection to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharing {
    /// One of their own, by this socket.
    Own(String),
    /// One that the user has open already.
    Users,
    /// They do not.
    Apart,
}

/// How long after its last command a connection stays open that nobody closed, in seconds.
const PERSIST_S: u32 = 60;

/// How long a host has to answer, in seconds.
const CONNECT_S: u32 = 20;

/// What no command here wants, whatever the user's configuration has for others, and no messages
/// that keep a connection alive: it shall idle while a trial is measured.
const NEVER: [&str; 5] = [
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "ServerAliveInterval=0",
];

/// What ssh is given to run `command` at `host`. Only one that `asks` may want a password.
pub fn ssh(host: &Host, sharing: &Sharing, asks: bool, command: &str) -> Vec<String> {
    let mut words = Vec::from(["-T".to_owned()]);
    let mut set = |option: String| words.extend(["-o".to_owned(), option]);
    NEVER.iter().for_each(|option| set((*option).to_owned()));
    set(format!("ConnectTimeout={CONNECT_S}"));
    if !asks {
        set("BatchMode=yes".to_owned());
    }
    match sharing {
        Sharing::Own(socket) => {
            set("ControlMaster=auto".to_owned());
            set(control_path(socket));
            set(format!("ControlPersist={PERSIST_S}"));
        }
        Sharing::Users => {}
        Sharing::Apart => {
            set("ControlMaster=no".to_owned());
            set("ControlPath=none".to_owned());
        }
    }
    words.extend([host.to_string(), command.to_owned()]);
    words
}

/// What ssh is given to find out whether the user has a connection open to `host`.
pub fn is_open(host: &Host) -> Vec<String> {
    ["-O", "check", host.as_str()].map(str::to_owned).to_vec()
}

/// What ssh is given to close the connection to `host`.
pub fn close(host: &Host, socket: &str) -> Vec<String> {
    ["-o", &control_path(socket), "-O", "exit", host.as_str()].map(str::to_owned).to_vec()
}

/// In it ssh puts other things in place of what follows a %.
fn control_path(socket: &str) -> String {
    format!("ControlPath={}", socket.replace('%', "%%"))
}

/// Says what a host is, who reached it from where, and what is there already.
pub fn look() -> String {
    sh(&format!(
        "echo \"{MARK}system $(uname -sm)\"; echo \"{MARK}between $SSH_CONNECTION\"; \
         for p in {CACHE}/bin/*; do test -x \"$p\" && echo \"{MARK}has ${{p##*/}}\"; done; \
         {}echo {MARK}over",
        kept()
    ))
}

/// The program on a host, and the folder of one run there. Both are names of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    hash: String,
    job: String,
}

impl Cached {
    /// The program of this hash, used for this job; both in hexadecimal digits.
    pub fn new(hash: &str, job: &str) -> Cached {
        let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
        Cached { hash: digits(hash), job: digits(job) }
    }

    /// Its name there.
    pub fn name(&self) -> &str {
        &self.hash
    }

    /// Where the program is.
    pub fn program(&self) -> String {
        format!("{CACHE}/bin/{}", self.hash)
    }

    /// The folder for what the run stores.
    pub fn data(&self) -> String {
        format!("{CACHE}/jobs/{}", self.job)
    }

    /// Stores what comes on standard input as the program, whole or not at all, and says how far
    /// it came. The shell goes on when the connection ends, and removes what is not whole.
    pub fn copy(&self) -> String {
        let Cached { hash, job } = self;
        sh(&format!(
            "umask 077; d={CACHE}/bin; f=$d/{hash}.{job}; s=; \
             mkdir -p $d && echo {MARK}made && cat > $f && echo {MARK}whole && \
             s=$( (sha256sum $f || shasum -a 256 $f || sha256 -q $f) 2>/dev/null); \
             case \"$s\" in {hash}*) chmod 700 $f && mv -f $f $d/{hash} && echo {MARK}kept;; \
             \"\") echo {MARK}unchecked;; *) echo {MARK}differs;; esac; rm -f $f"
        ))
    }

    /// Has the program say its version.
    pub fn version(&self) -> String {
        format!("exec {} --json-errors --version", self.program())
    }

    /// Runs the program with these words, which read nothing but their input and store in the
    /// folder of the job.
    pub fn run(&self, words: &[String]) -> String {
        let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
        format!("exec env V6GAP_DATA={} {}{words}", self.data(), self.program())
    }

    /// The same for one that prints what is stored: it begins behind a line of [`RESULT`].
    pub fn print(&self, words: &[String]) -> String {
        sh(&format!("echo {RESULT}; {}", self.run(words)))
    }

    /// Removes what the run stored.
    pub fn tidy(&self) -> String {
        let data = self.data();
        sh(&format!("rm -rf {data} && echo {MARK}tidy; rmdir {CACHE}/jobs 2>/dev/null"))
    }
}

/// Removes everything of this program, unless results are there that nobody fetched.
pub fn forget() -> String {
    sh(&format!(
        "k=$(ls {CACHE}/jobs 2>/dev/null); {}if test -z \"$k\"; then rm -rf {CACHE} && \
         echo {MARK}forgot; fi",
        kept()
    ))
}

/// Lists the folders of runs whose results were not fetched.
fn kept() -> String {
    format!("for j in {CACHE}/jobs/*; do test -d \"$j\" && echo \"{MARK}kept ${{j##*/}}\"; done; ")
}

fn sh(script: &str) -> String {
    format!("sh -c {}", quoted(script))
}

/// A word as any shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/@+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host::parse("ops@rome1").unwrap()
    }

    #[test]
    fn only_the_first_command_may_ask_and_all_share_a_connection() {
        let own = Sharing::Own("/tmp/a%b".to_owned());
        let first = ssh(&host(), &own, true, "uname").join(" ");
        assert!(first.starts_with("-T -o ") && first.ends_with(" ops@rome1 uname"), "{first}");
        assert!(!first.contains("BatchMode"), "{first}");
        assert!(first.contains("-o ControlMaster=auto -o ControlPath=/tmp/a%%b "), "{first}");
        let later = ssh(&host(), &own, false, "uname").join(" ");
        assert!(later.contains("-o BatchMode=yes"), "{later}");
        let users = ssh(&host(), &Sharing::Users, false, "uname").join(" ");
        assert!(!users.contains("Control"), "{users}");
        assert!(ssh(&host(), &Sharing::Apart, false, "x").join(" ").contains("ControlPath=none"));
        assert_eq!(close(&host(), "/tmp/s").join(" "), "-o ControlPath=/tmp/s -O exit ops@rome1");
    }

    #[test]
    fn names_of_files_are_digits_whatever_they_are_made_of() {
        let cached = Cached::new("5f/../1c; rm", "a b'c");
        assert_eq!(cached.program(), ".cache/v6gap/bin/5f1c");
        assert_eq!(cached.data(), ".cache/v6gap/jobs/abc");
    }

    #[test]
    fn a_result_is_printed_behind_its_line() {
        let line = Cached::new("5f", "a").print(&["export".to_owned(), "x1".to_owned()]);
        assert!(RESULT.starts_with(MARK));
        assert_eq!(
            line,
            "sh -c 'echo v6gap:result; exec env V6GAP_DATA=.cache/v6gap/jobs/a \
             .cache/v6gap/bin/5f export x1'"
        );
    }

    #[test]
    fn words_reach_the_program_as_they_are() {
        let words = ["run", "--margin=rtt=5%", "it's $HOME", ""].map(str::to_owned);
        let line = Cached::new("5f", "a").run(&words);
        let expected = "exec env V6GAP_DATA=.cache/v6gap/jobs/a .cache/v6gap/bin/5f run \
                        --margin=rtt=5% 'it'\\''s $HOME' ''";
        assert_eq!(line, expected);
    }

    /// Nothing of a script is another one's quote, and none has what shells that are no sh would
    /// take for theirs in quotes.
    #[test]
    fn scripts_are_one_word() {
        let cached = Cached::new("5f", "a");
        for line in [look(), cached.copy(), cached.tidy(), forget()] {
            let script = line.strip_prefix("sh -c '").and_then(|rest| rest.strip_suffix('\''));
            assert!(script.is_some_and(|s| !s.contains(['\'', '!', '\n', '\\'])), "{line}");
        }
    }
}
