//! What hosts answer, read as what may be anything: lines are short or left out, and no character
//! of them drives a terminal.

use super::words::MARK;
use super::{Host, NotCopied, Trouble};
use crate::record::RunId;
use crate::wire::foreign;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;
use core::net::IpAddr;
use serde_json::Value;

/// Longest line that is read, in bytes; the event of a trial of 128 connections has 16 kB.
pub const LINE_BYTES_MAX: usize = 256 << 10;

/// Longest text that is shown of what a host says, in bytes.
pub const SAID_BYTES_MAX: usize = 400;

/// Most things of one kind that are read of an answer.
const MANY_MAX: usize = 16;

/// Most programs of other versions that a host is taken to have.
const PROGRAMS_MAX: usize = 256;

/// Exit code of ssh when it is ssh that failed.
const SSH_FAILED: i32 = 255;

/// Bytes as they come, into lines. One that is too long is left out as a whole.
#[derive(Debug, Default)]
pub struct Lines {
    open: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// The lines that are complete with these bytes.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let ends = pieces.peek().is_some();
            if self.open.len() + piece.len() > LINE_BYTES_MAX {
                self.too_long = true;
                self.open.clear();
            }
            if !self.too_long {
                self.open.extend_from_slice(piece);
            }
            if ends {
                lines.extend(self.end());
            }
        }
        lines
    }

    /// The line that has no end, when nothing more comes.
    pub fn rest(&mut self) -> Option<String> {
        self.end().filter(|line| !line.is_empty())
    }

    fn end(&mut self) -> Option<String> {
        let bytes = mem::take(&mut self.open);
        let text = String::from_utf8_lossy(&bytes);
        let line = foreign::line(text.trim_end_matches('\r'), LINE_BYTES_MAX);
        (!mem::take(&mut self.too_long)).then_some(line)
    }
}

/// The lines of a whole answer.
pub fn lines(bytes: &[u8]) -> Vec<String> {
    let mut open = Lines::default();
    let mut lines = open.take(bytes);
    lines.extend(open.rest());
    lines
}

/// What a host said to a person, on one line and short: its end, which tells why it ended.
pub fn said(bytes: &[u8]) -> String {
    let lines = lines(bytes);
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|l| !l.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" ");
    foreign::line(&last, SAID_BYTES_MAX)
}

/// What a host is, and what is there already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// Kernel and architecture, as in "Linux x86_64".
    pub system: String,
    /// The address that it was reached from.
    pub peer: Option<IpAddr>,
    /// The address that it was reached at.
    pub address: Option<IpAddr>,
    /// The programs that are there.
    pub programs: Vec<String>,
    /// Folders of runs whose results were not fetched.
    pub kept: Vec<String>,
}

/// What [`super::words::look`] prints; `None` if it did not come to its end.
pub fn seen(bytes: &[u8]) -> Option<Seen> {
    let mut seen = Seen::default();
    let lines = lines(bytes);
    let mut marked = lines.iter().filter_map(|line| line.strip_prefix(MARK));
    let is_over = marked.any(|line| {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name {
            "system" => seen.system = foreign::line(rest, foreign::NAME_BYTES_MAX),
            "between" => {
                let mut words = rest.split(' ');
                seen.peer = words.next().and_then(|word| word.parse().ok());
                seen.address = words.nth(1).and_then(|word| word.parse().ok());
            }
            "has" if seen.programs.len() < PROGRAMS_MAX => {
                seen.programs.push(foreign::line(rest, foreign::NAME_BYTES_MAX));
            }
            "kept" if seen.kept.len() < MANY_MAX => {
                seen.kept.push(foreign::line(rest, foreign::NAME_BYTES_MAX));
            }
            _ => {}
        }
        name == "over"
    });
    is_over.then_some(seen)
}

/// How far copying came, from what [`super::words::Cached::copy`] prints.
///
/// # Errors
/// If the program is not there.
pub fn copied(bytes: &[u8]) -> Result<(), NotCopied> {
    let lines = lines(bytes);
    let is_said = |word: &str| lines.iter().any(|line| line.strip_prefix(MARK) == Some(word));
    if is_said("kept") {
        return Ok(());
    }
    Err(match (is_said("made"), is_said("whole"), is_said("unchecked")) {
        (false, _, _) => NotCopied::NoFolder,
        (true, false, _) => NotCopied::NotWhole,
        (true, true, true) => NotCopied::Unchecked,
        (true, true, false) => NotCopied::Differs,
    })
}

/// Whether a host forgot this program.
///
/// # Errors
/// The folders of results that were not fetched, if there are any, or none if it did neither.
pub fn forgot(bytes: &[u8]) -> Result<(), Vec<String>> {
    let lines = lines(bytes);
    let marked = || lines.iter().filter_map(|line| line.strip_prefix(MARK));
    if marked().any(|line| line == "forgot") {
        return Ok(());
    }
    let kept = marked().filter_map(|line| line.strip_prefix("kept ")).take(MANY_MAX);
    Err(kept.map(|job| foreign::line(job, foreign::NAME_BYTES_MAX)).collect())
}

/// Whether a host said its version as this program does.
pub fn is_ours(bytes: &[u8]) -> bool {
    lines(bytes).iter().any(|line| line.starts_with("v6gap "))
}

/// Kernel and architecture that a program is for, as `uname -sm` has them.
fn system_of(program: &[u8]) -> Option<(&'static str, &'static [&'static str])> {
    let head = program.get(..20).filter(|head| head.starts_with(b"\x7fELF"))?;
    let kernel = match head[7] {
        0 | 3 => "Linux",
        9 => "FreeBSD",
        _ => return None,
    };
    let machine = match head[5] {
        1 => u16::from_le_bytes([head[18], head[19]]),
        _ => u16::from_be_bytes([head[18], head[19]]),
    };
    // The numbers of elf(5).
    let names: &[&str] = match machine {
        3 => &["i386", "i486", "i586", "i686"],
        22 => &["s390x"],
        40 => &["armv6l", "armv7l", "armv8l", "arm"],
        62 => &["x86_64", "amd64"],
        183 => &["aarch64", "arm64"],
        243 => &["riscv64", "riscv"],
        _ => return None,
    };
    Some((kernel, names))
}

/// Whether a program is for a system that `uname -sm` calls so.
pub fn fits(program: &[u8], system: &str) -> bool {
    let (kernel, machine) = system.split_once(' ').unwrap_or((system, ""));
    system_of(program).is_some_and(|(of, names)| of == kernel && names.contains(&machine))
}

/// What is wrong where ssh itself says so; `None` if it was the command that failed.
pub fn of_ssh(host: &Host, exit: Option<i32>, errors: &[u8]) -> Option<Trouble> {
    if exit.is_some_and(|exit| exit != SSH_FAILED) {
        return None;
    }
    let (host, said) = (host.clone(), said(errors));
    let text = String::from_utf8_lossy(errors);
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    Some(
        if has(&["Permission denied", "Host key verification failed", "Too many authentication"]) {
            Trouble::NotLetIn { host, said }
        } else if exit.is_none() || has(&["closed by remote", "Broken pipe", "not responding"]) {
            Trouble::Lost { host, said }
        } else {
            Trouble::Unreachable { host, said }
        },
    )
}

/// Why the program at an end did not do its part, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Complaint {
    /// Code of the error; empty if it has none.
    pub code: String,
    /// What happened.
    pub title: String,
    /// What was seen.
    pub why: Vec<String>,
    /// Commands to try, and what each does.
    pub tries: Vec<(String, String)>,
    /// How the program ended.
    pub exit: Option<i32>,
}

/// What a line of an end says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It serves.
    Serves,
    /// The run has this name.
    Begins(RunId),
    /// It is doing this.
    State(String),
    /// So many pairs were measured in so many seconds.
    Pairs(u64, u64),
    /// It cannot.
    Fails(Complaint),
    /// Anything else that programs are told while it goes on.
    Other,
}

/// The event of a line, if it is one that is of use before the result is there.
pub fn event(line: &str) -> Option<Event> {
    if line.starts_with("Serving on ") {
        return Some(Event::Serves);
    }
    // The result itself is fetched; its last line is long and no event.
    if !line.starts_with('{') || line.starts_with("{\"schema\"") {
        return None;
    }
    let told: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| foreign::line(told[name].as_str().unwrap_or_default(), SAID_BYTES_MAX);
    Some(match told["event"].as_str() {
        Some("begin") => Event::Begins(told["id"].as_str()?.parse().ok()?),
        Some("state") => Event::State(text("text")),
        Some("pair") => {
            let elapsed_s = told["elapsed_s"].as_f64().unwrap_or(0.0);
            Event::Pairs(told["pairs"].as_u64()?, elapsed_s as u64)
        }
        Some("block" | "trial") => Event::Other,
        Some("error") => Event::Fails(complaint(&told)),
        None if told["title"].is_string() && told["exit"].is_u64() => {
            Event::Fails(complaint(&told))
        }
        _ => return None,
    })
}

fn complaint(told: &Value) -> Complaint {
    let text = |value: &Value| foreign::line(value.as_str().unwrap_or_default(), SAID_BYTES_MAX);
    let many = |name: &str| told[name].as_array().into_iter().flatten().take(MANY_MAX);
    let exit = told["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok());
    Complaint {
        code: text(&told["code"]),
        title: text(&told["title"]),
        why: many("why").map(text).collect(),
        tries: many("try").map(|one| (text(&one["run"]), text(&one["does"]))).collect(),
        exit,
    }
}

/// What is said where a program ended and said nothing that this one understands.
pub fn silent(exit: Option<i32>, errors: &[u8]) -> Complaint {
    let said = said(errors);
    let title = match exit {
        Some(exit) => "the program ended with ".to_owned() + &exit.to_string(),
        None => "the program was ended".to_owned(),
    };
    let why = Vec::from([said]).into_iter().filter(|said| !said.is_empty()).collect();
    Complaint { title, why, exit, ..Complaint::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    #[test]
    fn lines_come_in_any_pieces_and_none_is_too_long() {
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        let text = format!("one\r\ntw\u{1b}o\n{long}\nthree\nfour");
        for size in [1, 7, 4096, text.len()] {
            let mut open = Lines::default();
            let pieces = text.as_bytes().chunks(size);
            let mut found: Vec<String> = pieces.flat_map(|piece| open.take(piece)).collect();
            found.extend(open.rest());
            assert_eq!(found, ["one", "tw?o", "three", "four"], "{size}");
        }
    }

    #[test]
    fn what_a_host_is_stands_among_what_else_its_shell_says() {
        let text = b"Welcome to rome1\nv6gap:system Linux x86_64\n\
                     v6gap:between 192.0.2.1 50000 2001:db8::7 22\nv6gap:has 5f1c\n\
                     v6gap:kept 00ff\nv6gap:over\nbye\n";
        let expected = Seen {
            system: "Linux x86_64".to_owned(),
            peer: "192.0.2.1".parse().ok(),
            address: "2001:db8::7".parse().ok(),
            programs: Vec::from(["5f1c".to_owned()]),
            kept: Vec::from(["00ff".to_owned()]),
        };
        assert_eq!(seen(text), Some(expected));
        assert_eq!(seen(b"v6gap:system Linux x86_64\n"), None);
        let odd = seen(b"v6gap:between fe80::1%eth0 1 fe80::2%eth0 22\nv6gap:over\n").unwrap();
        assert_eq!((odd.peer, odd.address), (None, None));
    }

    #[test]
    fn how_far_copying_came_is_told() {
        let stages = [
            ("", Err(NotCopied::NoFolder)),
            ("made ", Err(NotCopied::NotWhole)),
            ("made whole differs", Err(NotCopied::Differs)),
            ("made whole unchecked", Err(NotCopied::Unchecked)),
            ("made whole kept", Ok(())),
        ];
        for (words, expected) in stages {
            let text: String =
                words.split_whitespace().map(|word| format!("{MARK}{word}\n")).collect();
            assert_eq!(copied(text.as_bytes()), expected, "{words}");
        }
        assert_eq!(forgot(b"v6gap:forgot\n"), Ok(()));
        assert_eq!(forgot(b"v6gap:kept 5f\n"), Err(Vec::from(["5f".to_owned()])));
        assert_eq!(forgot(b""), Err(Vec::new()));
    }

    #[test]
    fn programs_are_told_apart_by_their_heads() {
        let elf = |class: u8, order: u8, system: u8, machine: [u8; 2]| {
            let mut head = Vec::from(*b"\x7fELF");
            head.extend([class, order, 1, system]);
            head.extend([0; 10]);
            head.extend(machine);
            head
        };
        assert!(fits(&elf(2, 1, 0, [62, 0]), "Linux x86_64"));
        assert!(!fits(&elf(2, 1, 0, [62, 0]), "Linux aarch64"));
        assert!(!fits(&elf(2, 1, 0, [62, 0]), "FreeBSD amd64"));
        assert!(fits(&elf(2, 1, 9, [62, 0]), "FreeBSD amd64"));
        assert!(fits(&elf(2, 2, 3, [0, 22]), "Linux s390x"));
        assert!(!fits(b"#!/bin/sh\necho I am a script\n", "Linux x86_64"));
    }

    #[test]
    fn it_is_ssh_that_fails_with_its_own_code() {
        let host = Host::parse("ops@rome1").unwrap();
        let of = |exit, text: &str| of_ssh(&host, exit, text.as_bytes());
        assert_eq!(of(Some(1), "Permission denied"), None);
        let refused = of(Some(255), "ops@rome1: Permission denied (publickey).\r\n");
        assert!(matches!(refused, Some(Trouble::NotLetIn { .. })), "{refused:?}");
        let changed = of(Some(255), "Host key verification failed.");
        assert!(matches!(changed, Some(Trouble::NotLetIn { .. })));
        let gone = of(Some(255), "ssh: connect to host rome1 port 22: Connection refused");
        assert!(matches!(gone, Some(Trouble::Unreachable { .. })));
        assert!(matches!(of(None, ""), Some(Trouble::Lost { .. })));
    }

    #[test]
    fn events_are_read_and_nothing_else_is_taken_for_one() {
        assert_eq!(
            event("Serving on 0.0.0.0:4466, TCP and UDP. v6gap 0.1.0."),
            Some(Event::Serves)
        );
        let begin = event(r#"{"event":"begin","id":"7k2f9q"}"#);
        assert_eq!(begin, Some(Event::Begins("7k2f9q".parse().unwrap())));
        assert_eq!(event(r#"{"event":"begin","id":"../../etc"}"#), None);
        let pair = event(r#"{"event":"pair","pairs":4,"elapsed_s":12.5}"#);
        assert_eq!(pair, Some(Event::Pairs(4, 12)));
        assert_eq!(event(r#"{"schema":"v6gap.result/1","event":"trial"}"#), None);
        let error = r#"{"code":"E209","title":"no\u001b[2J","why":["a"],
            "try":[{"run":"x","does":"y"}],"exit":2}"#;
        let Some(Event::Fails(said)) = event(error) else { panic!("{error}") };
        assert_eq!((said.code.as_str(), said.title.as_str()), ("E209", "no?[2J"));
        assert_eq!((said.exit, said.tries.len()), (Some(2), 1));
    }

    proptest! {
        /// Whatever comes, reading it neither fails nor gives what could drive a terminal.
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let lines = lines(&bytes);
            prop_assert!(lines.iter().all(|line| !line.contains(foreign::is_unsafe)));
            lines.iter().for_each(|line| drop(event(line)));
            let _ = (seen(&bytes), copied(&bytes), forgot(&bytes), fits(&bytes, "Linux x86_64"));
            prop_assert!(said(&bytes).len() <= SAID_BYTES_MAX);
        }
    }
}
