//! Measures by running this program, each end in a process of its own, which can be typed and seen.

use super::Measures;
use super::files::{Files, Runs};
use super::speed::fastest_bps;
use crate::complaint::said_of;
use crate::plans;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use v6gap_core::family::Family;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::fleet::agent::{Ended, Event, Trouble};
use v6gap_core::fleet::id::Word;
use v6gap_core::fleet::message::{Measured, Prepare};
use v6gap_core::fleet::names::HostName;
use v6gap_core::record::RunId;
use v6gap_core::watch::log::Outcome;
use v6gap_core::watch::said::{Expected, How, Said};
use v6gap_store::{Claims, Store};
use v6gap_sys::{apart, clock};

/// The plan of the job at hand, beside the log.
const PLAN: &str = "fleet/plan.toml";

/// With what a server says that it is one.
const LISTENS: &str = "Serving on";

/// Most that is kept of what a process complains of, in bytes.
const COMPLAINT_BYTES_MAX: u64 = 64 << 10;

/// Most of that which the coordinator is told.
const WHY_CHARS_MAX: usize = 500;

/// What has a client tell what happens as it happens, and stop when its input is closed.
const HEARD: [&str; 6] =
    ["--json-errors", "--json-stream", "--quiet", "--stop-at-eof", "--no-report", "--no-wait"];

/// What has an end take its key from the first line of its input.
const KEY: &str = "--key-of-input";

/// This program.
#[derive(Debug)]
pub struct Program {
    runner: Runner,
    claims: Option<Claims>,
    /// What has the process at hand killed.
    kill: Arc<Notify>,
}

/// What a process is begun with.
#[derive(Debug, Clone)]
struct Runner {
    program: PathBuf,
    store: Store,
    runs: Runs,
}

impl Program {
    /// The program in the file `program`, which keeps its runs where `files` are; `locks` is the
    /// folder of claims of this host, if it is another than usual.
    pub fn new(program: &Path, store: &Store, files: &Files, locks: Option<&Path>) -> Self {
        let runner =
            Runner { program: program.to_owned(), store: store.clone(), runs: files.runs() };
        // Where there are no claims, nothing else is known to measure.
        Program { runner, claims: Claims::open(locks).ok(), kill: Arc::default() }
    }

    /// Begins something that can be killed and whatever it is says how it ended.
    fn begin<F>(&mut self, says: UnboundedSender<Event>, run: impl FnOnce(Runner, Arc<Notify>) -> F)
    where
        F: Future<Output = Ended> + Send + 'static,
    {
        // A new one: what is killed late is not the next.
        self.kill = Arc::default();
        let ended = run(self.runner.clone(), Arc::clone(&self.kill));
        tokio::spawn(async move {
            let ended = ended.await;
            // Nobody listens any more once the agent ends.
            let _ = says.send(Event::Ended(Box::new(ended)));
        });
    }
}

impl Measures for Program {
    fn serve(&mut self, prepare: &Prepare, says: UnboundedSender<Event>) {
        let (prepare, tells) = (prepare.clone(), says.clone());
        self.begin(says, |runner, kill| async move { runner.serve(&prepare, &kill, &tells).await });
    }

    fn measure(
        &mut self,
        me: &HostName,
        prepare: &Prepare,
        until_ns: u64,
        says: UnboundedSender<Event>,
    ) {
        let (me, prepare) = (me.clone(), prepare.clone());
        self.begin(says, move |runner, kill| async move {
            runner.measure(&me, &prepare, until_ns, &kill).await
        });
    }

    fn kill(&mut self) {
        self.kill.notify_one();
    }

    fn is_taken(&self) -> bool {
        let found = self.claims.as_ref().map(Claims::found);
        found.is_some_and(|found| found.is_ok_and(|found| !found.is_empty()))
    }

    fn asked(&self, plan: &str) -> Result<Asked, String> {
        plans::asked_at(plan, fastest_bps())
    }
}

/// A process at work.
struct Process {
    child: Child,
    /// Closed, it stops; it is closed when the agent dies, too.
    _input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    errors: ChildStderr,
}

impl Runner {
    async fn serve(
        &self,
        prepare: &Prepare,
        kill: &Notify,
        says: &UnboundedSender<Event>,
    ) -> Ended {
        let mut words: Vec<String> =
            ["serve", "-1", "--quiet", "--stop-at-eof", KEY].map(str::to_owned).into();
        words.push("--json-errors".to_owned());
        words.extend(port(prepare));
        // It does not say what it moves, which may be as much.
        let asked = plans::asked_at(&prepare.plan, fastest_bps());
        let bytes = asked.ok().and_then(|asked| asked.bytes).unwrap_or(0);
        let mut tell = |line: &str| {
            if line.starts_with(LISTENS) {
                let _ = says.send(Event::Listens);
            }
        };
        let failure = match self.run(&words, prepare, kill, &mut tell).await {
            Err(error) => Some(trouble(error.to_string(), true)),
            Ok((Some(0), _)) => None,
            Ok((_, complaint)) => Some(trouble(said_of(&complaint), false)),
        };
        Ended { measured: Measured::default(), bytes, failure }
    }

    async fn measure(
        &self,
        me: &HostName,
        prepare: &Prepare,
        until_ns: u64,
        kill: &Notify,
    ) -> Ended {
        let fastest_bps = fastest_bps();
        let none = |why: String, lasting| Ended {
            measured: Measured::default(),
            bytes: 0,
            failure: Some(trouble(why, lasting)),
        };
        let asked = match plans::asked_at(&prepare.plan, fastest_bps) {
            Ok(asked) => asked,
            Err(why) => return none(why, true),
        };
        if clock::boot_ns().saturating_add(asked.time_ns) > until_ns {
            return none("too little of its time was left".to_owned(), false);
        }
        // One of another plan would go beyond what the owner's limits were held against.
        let is_of_plan = |run: &RunId| {
            let header = self.store.header(run);
            header.is_ok_and(|header| plans::takes(&header.plan, &asked, fastest_bps))
        };
        let continued = prepare.continued.clone().filter(is_of_plan);
        let prepare = &Prepare { continued, ..prepare.clone() };
        let plan = self.store.data().join(PLAN);
        if let Err(error) = Store::write_file(&plan, &prepare.plan) {
            return none(error.to_string(), false);
        }
        let expected = plans::expected(&prepare.plan, fastest_bps);
        let mut said = Said::new(&expected);
        let mut unwritten = None;
        let mut tell = |line: &str| {
            let is_named = said.run().is_some();
            said.line(line);
            if let Some(run) = said.run().filter(|_| !is_named) {
                unwritten = self.runs.add(run).err();
            }
        };
        let words = client_words(me, prepare, &plan);
        let ended = self.run(&words, prepare, kill, &mut tell).await;
        let run = said.run().cloned();
        let whole = |run| Store::whole_bytes(&self.store.journal_path(run)).unwrap_or(0);
        let measured = Measured { bytes: run.as_ref().map_or(0, whole), run };
        let (exit, complaint) = match ended {
            Ok(ended) => ended,
            // What was measured before is measured.
            Err(error) => return Ended { measured, ..none(error.to_string(), true) },
        };
        let came = said.came(exit, prepare.continued.is_some());
        let failure = match unwritten {
            Some(error) => Some(trouble(error.to_string(), false)),
            None => failure(&came.how, measured.run.is_some(), &complaint),
        };
        let bytes = came.bytes.saturating_add(at_hand(&came.how, &expected));
        Ended { measured, bytes, failure }
    }

    /// Runs the program, gives it the word of the job if there is one, and hears it to its end: its
    /// exit code, `None` if it was killed, and what it complained of.
    async fn run(
        &self,
        words: &[String],
        prepare: &Prepare,
        kill: &Notify,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> io::Result<(Option<i32>, String)> {
        let process = self.start(words, &prepare.word).await?;
        // The input is kept open until it has ended.
        let Process { mut child, _input, mut lines, errors } = process;
        let mut complaint = Vec::new();
        let read = read_start(errors, &mut complaint);
        let heard = async {
            // What is no text is no event either.
            while let Ok(Some(line)) = lines.next_line().await {
                tell(&line);
            }
        };
        // One that says nothing more may still be there, and is killed as well.
        let ended = async {
            tokio::join!(read, heard);
            child.wait().await
        };
        let ended = tokio::select! {
            ended = ended => Some(ended),
            () = kill.notified() => None,
        };
        let exit = match ended {
            Some(exit) => exit?,
            None => {
                child.start_kill()?;
                child.wait().await?
            }
        };
        Ok((exit.code(), String::from_utf8_lossy(&complaint).into_owned()))
    }

    async fn start(&self, words: &[String], word: &Word) -> io::Result<Process> {
        let mut command = Command::new(&self.program);
        command.args(words).env("V6GAP_DATA", self.store.data()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        apart::bind(command.as_std_mut());
        let mut child = command.spawn()?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut input), Some(output), Some(errors)) = (input, output, errors) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if !word.is_none() {
            input.write_all(format!("{}\n", word.as_str()).as_bytes()).await?;
            input.flush().await?;
        }
        let lines = BufReader::new(output).lines();
        Ok(Process { child, _input: input, lines, errors })
    }
}

/// Reads all that a process complains of, so that it never waits for a reader, and keeps the start.
async fn read_start(mut errors: ChildStderr, start: &mut Vec<u8>) {
    // A pipe that cannot be read has nothing more to say.
    if (&mut errors).take(COMPLAINT_BYTES_MAX).read_to_end(start).await.is_ok() {
        let _ = tokio::io::copy(&mut errors, &mut tokio::io::sink()).await;
    }
}

/// What a client is run with.
fn client_words(me: &HostName, prepare: &Prepare, plan: &Path) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Without a word no agent is there that would tell addresses, and the name may be looked up.
    let peer = match prepare.word.is_none() {
        true => prepare.peer.name.host().to_owned(),
        false => prepare.peer.name.to_string(),
    };
    match &prepare.continued {
        Some(run) => words.extend(["run".to_owned(), peer, format!("--continue={run}")]),
        None => {
            words.extend(["plan".to_owned(), "run".to_owned(), plan.display().to_string(), peer])
        }
    }
    let addresses = prepare.peer.addresses.iter().filter_map(|text| text.parse().ok());
    let addresses: Vec<std::net::IpAddr> = addresses.collect();
    for (family, option) in [(Family::V4, "--v4"), (Family::V6, "--v6")] {
        let first = addresses.iter().find(|address| Family::of(address) == Some(family));
        words.extend(first.map(|address| format!("{option}={address}")));
    }
    words.extend(port(prepare));
    // What the matrix of the fleet reads.
    words.push(format!("--between={me},{}", prepare.peer.name));
    words.extend(HEARD.map(str::to_owned));
    words.extend((!prepare.word.is_none()).then(|| KEY.to_owned()));
    words
}

fn port(prepare: &Prepare) -> Option<String> {
    prepare.port.map(|port| format!("--port={port}"))
}

fn trouble(why: String, lasting: bool) -> Trouble {
    Trouble { why: why.chars().take(WHY_CHARS_MAX).collect(), lasting }
}

/// Most bytes of a block that may have been under way when a client ended, which says what it moved
/// of those that are over alone.
fn at_hand(how: &How, expected: &Expected) -> u64 {
    match how {
        How::Taken
        | How::NotContinued
        | How::Ended(Outcome::Measured | Outcome::Refused { .. } | Outcome::Taken) => 0,
        How::Ended(
            Outcome::Down { .. } | Outcome::Failed { .. } | Outcome::Stopped | Outcome::BrokenOff,
        ) => expected.cells.values().fold(0.0, |most: f64, bytes| most.max(*bytes)) as u64,
    }
}

/// Why a client did not do its part. That a family is down is what it found, if a run says so:
/// where it is found before there is one, nothing was measured.
fn failure(how: &How, has_run: bool, complaint: &str) -> Option<Trouble> {
    match how {
        How::Ended(Outcome::Measured) => None,
        How::Ended(Outcome::Down { .. }) if has_run => None,
        How::Ended(Outcome::Refused { why }) => Some(trouble(why.clone(), true)),
        How::Ended(Outcome::Down { why, .. } | Outcome::Failed { why }) => {
            Some(trouble(why.clone(), false))
        }
        How::Ended(Outcome::Stopped | Outcome::BrokenOff) => {
            Some(trouble("it was stopped".to_owned(), false))
        }
        How::Taken | How::Ended(Outcome::Taken) => {
            Some(trouble("something else is measured here".to_owned(), false))
        }
        How::NotContinued => Some(trouble(said_of(complaint), false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::fleet::id::{JobId, Token};
    use v6gap_core::fleet::message::{Peer, Role};

    fn me() -> HostName {
        "rome/a".parse().unwrap()
    }

    fn prepare() -> Prepare {
        let addresses = ["2001:db8::1", "192.0.2.1", "2001:db8::2", "rome"].map(str::to_owned);
        let name = "oslo/b".parse().unwrap();
        Prepare {
            job: JobId::from_bits(1),
            token: Token(7),
            attempt: 0,
            role: Role::Client,
            peer: Peer { name, addresses: addresses.into() },
            port: Some(5000),
            word: Word::from_bits([1, 2, 3]),
            longest_ns: 1,
            plan: String::new(),
            needs: Vec::new(),
            continued: None,
        }
    }

    #[test]
    fn a_client_is_a_line_that_could_be_typed_and_has_no_word_in_it() {
        let words = client_words(&me(), &prepare(), Path::new("plan.toml")).join(" ");
        let start = "plan run plan.toml oslo/b --v4=192.0.2.1 --v6=2001:db8::1 --port=5000 \
                     --between=rome/a,oslo/b --json";
        assert!(words.starts_with(start), "{words}");
        assert!(words.ends_with(" --key-of-input"), "{words}");
        assert!(!words.contains(prepare().word.as_str()));
        let run = v6gap_core::record::RunId::from_bits(0);
        let again = Prepare { continued: Some(run), ..prepare() };
        let words = client_words(&me(), &again, Path::new("plan.toml")).join(" ");
        assert!(words.starts_with("run oslo/b --continue=000000 --v4"), "{words}");
    }

    #[test]
    fn what_was_under_way_when_a_client_ended_counts_as_well() {
        let cells = [("a".to_owned(), 7.0), ("b".to_owned(), 5.0)].into();
        let expected = Expected { bytes: 100, cells };
        assert_eq!(at_hand(&How::Ended(Outcome::Measured), &expected), 0);
        let why = String::new();
        assert_eq!(at_hand(&How::Ended(Outcome::Failed { why }), &expected), 7);
        assert_eq!(at_hand(&How::Ended(Outcome::Stopped), &Expected::default()), 0);
    }

    #[test]
    fn a_host_without_an_agent_is_looked_up_by_its_own_name_and_asked_without_a_word() {
        let peer = Peer { name: "ext/nas".parse().unwrap(), addresses: Vec::new() };
        let prepare = Prepare { peer, word: Word::none(), port: None, ..prepare() };
        let words = client_words(&me(), &prepare, Path::new("plan.toml")).join(" ");
        let start = "plan run plan.toml nas --between=rome/a,ext/nas --json-errors";
        assert!(words.starts_with(start), "{words}");
        assert!(!words.contains("--key"), "{words}");
    }

    #[test]
    fn a_family_that_is_down_is_a_finding_if_a_run_says_so_and_else_a_failure() {
        let why = "no answer [E202]".to_owned();
        let down = How::Ended(Outcome::Down { family: Some(Family::V6), why: why.clone() });
        assert_eq!(failure(&down, true, ""), None);
        assert_eq!(failure(&down, false, ""), Some(Trouble { why, lasting: false }));
        let refused = Outcome::Refused { why: "no".to_owned() };
        assert!(failure(&How::Ended(refused), false, "").unwrap().lasting);
    }
}
