//! A process that is on the host and idle while others measure: `v6gap watch` between two visits,
//! or any other program. It is in the client's namespace, may run on every processor that this one
//! was given, and the kernel ends it with this process, however that ends.

use crate::site::Site;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::watch::check::check;
use v6gap_core::watch::draft::Draft;
use v6gap_core::watch::known::Known;
use v6gap_core::watch::log::{Logged, Outcome};
use v6gap_core::watch::machine::{Action, Machine};
use v6gap_perform::always;
use v6gap_perform::facts::this_host;
use v6gap_store::Store;
use v6gap_sys::{child, clock, cpu};

/// The watch: one visit of a second, and the next one in an hour.
const WATCH: &str = r#"
v6gap = 1
every = "1 h"
listen = "LISTEN"
[[paths]]
name = "NAME"
host = "server"
v4 = "ADDRESS-4"
v6 = "ADDRESS-6"
time = "1 s"
measure = ["rtt"]
"#;

/// Where its metrics are told.
const METRICS_PORT: u16 = 9466;

/// When its visit is due, in ns after it is started: later, if it was not ready in time.
const DUE_NS: [u64; 3] = [1_000_000_000, 2_000_000_000, 4_000_000_000];

/// How much later it may be due, in ns.
const WINDOW_NS: u64 = 500_000_000;

/// Names that are tried for the path: one in 7,200 has its visit within the window.
const NAMES_MAX: u32 = 200_000;

/// A visit has begun so long after it was due, in ns, or never will.
const BEGUN_NS: u64 = 2_000_000_000;

/// It has ended then, in ns after it was due.
const ENDED_NS: u64 = 30_000_000_000;

/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(50);

/// What is idle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `v6gap watch` that has made a visit, with its page of metrics.
    Watch,
    /// A program with its words, so long after it was started.
    Program { words: Vec<String>, after: Duration },
}

impl Kind {
    /// What results call it: the program's file and its words up to the first option.
    pub(crate) fn name(&self) -> String {
        let Kind::Program { words, .. } = self else { return "watch".to_owned() };
        let mut plain = words.iter().take_while(|word| !word.starts_with('-'));
        let file = plain.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let name: Vec<&str> = std::iter::once(file).chain(plain.map(String::as_str)).collect();
        name.join("-").replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    }
}

/// A process that is idle; it ends with this.
pub(crate) struct Bystander {
    child: Child,
    /// Where the log of a watch is.
    log: Option<Store>,
}

impl Drop for Bystander {
    fn drop(&mut self) {
        // It can only have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Bystander {
    /// Starts it with `folder` for what it stores, and waits until it is idle.
    ///
    /// # Errors
    /// If it cannot be started, or does not become idle.
    pub(crate) fn start(kind: &Kind, site: &Site<'_>, folder: &Path) -> Result<Self, String> {
        match kind {
            Kind::Watch => Self::watch(site, folder),
            Kind::Program { words, after } => {
                let (program, rest) = words.split_first().ok_or("no program is named")?;
                make(folder)?;
                let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
                let mut started = Self::spawn(program, &rest, folder)?;
                clock::rest(*after);
                started.is_there()?;
                Ok(started)
            }
        }
    }

    /// Ends it, now that what was to be measured beside it is.
    ///
    /// # Errors
    /// If it had ended before, or was not idle.
    pub(crate) fn end(mut self) -> Result<(), String> {
        self.is_there()?;
        match self.visits()? {
            None | Some(Visits { begun: 1, .. }) => Ok(()),
            Some(visits) => Err(format!("the watch began {} visits", visits.begun)),
        }
    }

    fn watch(site: &Site<'_>, folder: &Path) -> Result<Self, String> {
        let mut why = String::new();
        for due_ns in DUE_NS {
            let due_ns = clock::wall_ns() + due_ns;
            let listen = SocketAddr::new(Family::V6.loopback(), METRICS_PORT);
            let text = described(site, listen, due_ns)?;
            make(folder)?;
            let file = folder.join("watch.toml");
            std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
            let file = file.to_string_lossy();
            let words = ["watch", "--config", &*file];
            let mut started = Self::spawn(env!("CARGO_BIN_EXE_v6gap"), &words, folder)?;
            started.log = Some(Store::at(folder));
            match started.until_visited(due_ns).and_then(|()| scraped(listen)) {
                Ok(()) => return Ok(started),
                Err(said) => why = said,
            }
        }
        Err(why)
    }

    fn spawn(program: &str, words: &[&str], folder: &Path) -> Result<Self, String> {
        // The thread that measures is held on a processor, which what it starts would inherit:
        // there is no processor of this number to keep off.
        cpu::keep_off(usize::MAX);
        let (data, locks) = (folder.to_string_lossy(), folder.join("locks"));
        let (locks, path) = (locks.to_string_lossy(), std::env::var("PATH").unwrap_or_default());
        let environment = [("PATH", &*path), ("V6GAP_DATA", &*data), ("V6GAP_LOCKS", &*locks)];
        let child = child::spawn(program, words, &environment, b"");
        let child = child.map_err(|e| format!("{program}: {e}"))?;
        Ok(Bystander { child, log: None })
    }

    fn is_there(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("what was to be idle ended with {status}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Waits until its visit has measured.
    fn until_visited(&mut self, due_ns: u64) -> Result<(), String> {
        loop {
            self.is_there()?;
            let visits = self.visits()?.unwrap_or_default();
            let late_ns = clock::wall_ns().saturating_sub(due_ns + WINDOW_NS);
            match visits.ended {
                Some(Outcome::Measured) => return Ok(()),
                Some(other) => return Err(format!("the visit of the watch was no use: {other:?}")),
                None if visits.begun == 0 && late_ns > BEGUN_NS => {
                    return Err("the watch began too late for its visit".to_owned());
                }
                None if late_ns > ENDED_NS => return Err("the visit has no end".to_owned()),
                None => clock::rest(LOOK),
            }
        }
    }

    /// What a watch has logged of its visits; `None` of any other program.
    fn visits(&self) -> Result<Option<Visits>, String> {
        let Some(log) = &self.log else { return Ok(None) };
        let mut visits = Visits::default();
        let read = log.read_watch_log(0, &mut |entry| match entry {
            Logged::Began(_) => visits.begun += 1,
            Logged::Ended(ended) => visits.ended = Some(ended.outcome),
            Logged::Watching(_) | Logged::Measures(_) | Logged::Missed(_) | Logged::Notified(_) => {
            }
        });
        read.map_err(|e| e.to_string())?;
        Ok(Some(visits))
    }
}

/// Visits of a watch.
#[derive(Debug, Default)]
struct Visits {
    begun: u32,
    /// How the last one ended.
    ended: Option<Outcome>,
}

/// A folder without anything in it.
fn make(folder: &Path) -> Result<(), String> {
    let made = match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => std::fs::create_dir_all(folder),
    };
    made.map_err(|e| format!("{}: {e}", folder.display()))
}

/// A watch of the site's server whose visit is due within the window from `due_ns` on: when that
/// is follows from the names of this host and of the path, of which the latter is free.
fn described(site: &Site<'_>, listen: SocketAddr, due_ns: u64) -> Result<String, String> {
    let mut text = WATCH.replace("LISTEN", &listen.to_string());
    for (family, key) in Family::BOTH.into_iter().zip(["ADDRESS-4", "ADDRESS-6"]) {
        text = text.replace(key, &site.server(family)?.ip().to_string());
    }
    let mut draft: Draft = toml::from_str(&text).map_err(|e| e.to_string())?;
    let (host, now) = (this_host().name, always::now());
    for number in 0..NAMES_MAX {
        let name = format!("idle-{number}");
        draft.paths[0].name = Some(name.clone());
        let watch = check(&draft).map_err(|problems| format!("{problems:?}"))?;
        let mut machine = Machine::new(watch, &[], Known::default(), &host, now);
        if let Action::Wait(at_ns) = machine.next(now, false)
            && (due_ns..due_ns + WINDOW_NS).contains(&at_ns)
        {
            return Ok(text.replace("NAME", &name));
        }
    }
    Err("no name of a path has its visit then".to_owned())
}

/// Whether the page of metrics is told at once.
fn scraped(listen: SocketAddr) -> Result<(), String> {
    let asked = || {
        let mut stream = TcpStream::connect(listen)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let question = format!("GET /metrics HTTP/1.1\r\nHost: {listen}\r\n");
        stream.write_all(format!("{question}Connection: close\r\n\r\n").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<String, std::io::Error>(answer)
    };
    let answer = asked().map_err(|e| format!("metrics of the watch: {e}"))?;
    match answer.starts_with("HTTP/1.1 200 ") && answer.contains("idle-") {
        true => Ok(()),
        false => Err(format!("metrics of the watch: {}", answer.lines().next().unwrap_or("none"))),
    }
}
