//! Does what the machine asks for: one command after the other, and while it is measured, hearing
//! both ends.

use super::process::{Answer, END_NS, PIECES_MAX, Piece, Process, Question, TURN};
use super::{ASKED_NS, Asked, Done, Drawn, Program, SILENCE_NS, Tidings, answered, no_ssh};
use crate::facts::this_host;
use crate::perform::{PATIENCE_NS, STOP_NS};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::record::RunId;
use v6gap_core::via::machine::{Came, Do, Machine};
use v6gap_core::via::told::{self, Complaint, Event, Lines, Seen};
use v6gap_core::via::words::{self, Cached, RESULT, Sharing};
use v6gap_core::via::{Host, NotCopied, PerSide, Side, Trouble};
use v6gap_store::{Imported, Store};
use v6gap_sys::clock;

/// Longest name of a socket that ssh can make, which adds to it while it does, in bytes.
const SOCKET_BYTES_MAX: usize = 80;

/// Exit codes of a run that has a result, whatever that says.
const MEASURED: [i32; 5] = [0, 6, 10, 11, 130];

/// What is known of an end, and what runs there.
#[derive(Default)]
struct End {
    seen: Seen,
    sharing: Option<Sharing>,
    program: Option<Program>,
    process: Option<Process>,
    lines: Lines,
    complaint: Option<Complaint>,
    /// When its connection is cut, by the monotonic clock.
    cut_at_ns: Option<u64>,
}

/// A measurement that goes on.
pub(super) struct Going<'a> {
    asked: &'a Asked,
    store: &'a Store,
    told: &'a mut dyn FnMut(&Tidings<'_>),
    stop: &'a AtomicBool,
    drawn: Drawn,
    machine: Machine,
    ends: PerSide<End>,
    says: SyncSender<(Side, Piece)>,
    hears: Receiver<(Side, Piece)>,
    stop_at_ns: u64,
}

impl<'a> Going<'a> {
    pub(super) fn new(
        asked: &'a Asked,
        store: &'a Store,
        told: &'a mut dyn FnMut(&Tidings<'_>),
        stop: &'a AtomicBool,
        drawn: Drawn,
    ) -> Self {
        let machine = Machine::new(asked.hosts.clone());
        let ends = PerSide { from: End::default(), to: End::default() };
        let (says, hears) = sync_channel(PIECES_MAX);
        let stop_at_ns = u64::MAX;
        Going { asked, store, told, stop, drawn, machine, ends, says, hears, stop_at_ns }
    }

    pub(super) fn go_on(mut self) -> Done {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                self.machine.came(Came::Stop);
            }
            let what = self.machine.next();
            let came = match what {
                Do::Look(side) => self.look(side),
                Do::Copy(side) => self.copy(side),
                Do::Try(side) => self.try_out(side),
                Do::Serve => self.serve(),
                Do::Measure => self.begin(),
                Do::Hear => {
                    self.hear();
                    continue;
                }
                Do::Stop(side) => {
                    self.ask_to_stop(side);
                    continue;
                }
                Do::Fetch(run) => self.fetch(&run),
                Do::Tidy => self.tidy(),
                Do::Leave => {
                    self.leave();
                    Ok(Came::Closed)
                }
                Do::End => return self.done(),
            };
            // What fails because it was stopped is no trouble.
            let came = match came {
                Err(_) if self.stop.load(Ordering::Relaxed) && is_ahead(&self.machine.next()) => {
                    Came::Stop
                }
                Err(trouble) => Came::Failed(trouble),
                Ok(came) => came,
            };
            self.machine.came(came);
        }
    }

    fn done(self) -> Done {
        let cached = self.cached(Side::From);
        let ended = self.machine.ended();
        let words = |run: &RunId| ["export", run.as_str(), "--json-errors"].map(str::to_owned);
        let export = ended.left.as_ref().map(|left| cached.print(&words(&left.run)));
        Done { ended, export }
    }

    fn end(&mut self, side: Side) -> &mut End {
        self.ends.get_mut(side)
    }

    /// The host of that end, which is asked for only where there is one.
    fn host(&self, side: Side) -> Result<Host, Trouble> {
        let none = || Trouble::Here { why: "this host is not reached by ssh".to_owned() };
        self.asked.hosts.get(side).clone().ok_or_else(none)
    }

    fn cached(&self, side: Side) -> Cached {
        let program = self.ends.get(side).program.as_ref();
        Cached::new(program.map_or("", |program| &program.hash), &self.drawn.job)
    }

    /// Words for ssh that run `command` at that end.
    fn ssh(&self, side: Side, asks: bool, command: &str) -> Result<Vec<String>, Trouble> {
        let sharing = self.ends.get(side).sharing.clone().unwrap_or(Sharing::Users);
        Ok(words::ssh(&self.host(side)?, &sharing, asks, command))
    }

    /// Runs a command there whose answer is short.
    fn ask(&self, side: Side, command: &str) -> Result<(Answer, Vec<u8>), Trouble> {
        let words = self.ssh(side, false, command)?;
        let question = self.question(&words);
        answered(&question, &self.host(side)?)
    }

    fn question<'q>(&'q self, words: &'q [String]) -> Question<'q> {
        Question {
            program: &self.asked.ssh,
            words,
            asks: false,
            input: None,
            silence_ns: SILENCE_NS,
            stop: None,
        }
    }

    fn look(&mut self, side: Side) -> Result<Came, Trouble> {
        let host = self.host(side)?;
        let sharing = self.sharing(&host)?;
        self.end(side).sharing = Some(sharing);
        let words = self.ssh(side, true, &words::look())?;
        let asks = Question {
            asks: true,
            silence_ns: ASKED_NS,
            stop: Some(self.stop),
            ..self.question(&words)
        };
        let (answer, out) = answered(&asks, &host)?;
        let seen = told::seen(&out).ok_or_else(|| {
            let said = told::said(&answer.errors);
            Trouble::NotRun { host: host.clone(), said }
        })?;
        let files = self.asked.binaries.iter().chain([&self.asked.program]);
        let files: Vec<&Path> = files.map(PathBuf::as_path).collect();
        let program = Program::of(&files, &seen.system)?.ok_or_else(|| {
            let system = seen.system.clone();
            Trouble::OtherSystem { host: host.clone(), system }
        })?;
        let name = Cached::new(&program.hash, "").name().to_owned();
        let has_program = seen.programs.contains(&name);
        (self.told)(&Tidings::Reached { host: &host, system: &seen.system, has_program });
        if !seen.kept.is_empty() {
            (self.told)(&Tidings::Kept { host: &host, jobs: &seen.kept });
        }
        let end = self.end(side);
        (end.seen, end.program) = (seen, Some(program));
        Ok(Came::Seen(side, has_program))
    }

    /// The user's own connection if one is open, otherwise one for this run.
    fn sharing(&self, host: &Host) -> Result<Sharing, Trouble> {
        let words = words::is_open(host);
        let answer = self.question(&words).ask(&mut |_| true, &mut |_| {});
        let answer = answer.map_err(|error| no_ssh(&self.asked.ssh, &error))?;
        if answer.exit == Some(0) {
            return Ok(Sharing::Users);
        }
        let place = self.store.socket_place();
        let place = place.map_err(|error| Trouble::Here { why: error.to_string() })?;
        let place = place.display().to_string();
        Ok(if place.len() <= SOCKET_BYTES_MAX { Sharing::Own(place) } else { Sharing::Apart })
    }

    fn copy(&mut self, side: Side) -> Result<Came, Trouble> {
        let host = self.host(side)?;
        let Some(program) = self.ends.get(side).program.clone() else {
            return Err(Trouble::Here { why: "no program was chosen".to_owned() });
        };
        let cached = self.cached(side);
        let words = self.ssh(side, false, &cached.copy())?;
        let (began_ns, of) = (clock::now_ns(), program.bytes.len() as u64);
        let mut out = Vec::new();
        let asks = Question {
            program: &self.asked.ssh,
            words: &words,
            asks: false,
            input: Some(Arc::clone(&program.bytes)),
            silence_ns: SILENCE_NS,
            stop: Some(self.stop),
        };
        let told = &mut self.told;
        let answer = asks.ask(&mut |piece| short(&mut out, piece), &mut |bytes| {
            told(&Tidings::Copies { host: &host, bytes, of });
        });
        let answer = answer.map_err(|error| no_ssh(&self.asked.ssh, &error))?;
        if let Some(trouble) = told::of_ssh(&host, answer.exit, &answer.errors) {
            return Err(trouble);
        }
        told::copied(&out).map_err(|why: NotCopied| {
            let said = told::said(&answer.errors);
            Trouble::NotCopied { host: host.clone(), why, said }
        })?;
        let took_ns = clock::now_ns().saturating_sub(began_ns);
        let place = cached.program();
        (self.told)(&Tidings::Copied { host: &host, bytes: of, took_ns, place: &place });
        Ok(Came::Copied(side))
    }

    fn try_out(&mut self, side: Side) -> Result<Came, Trouble> {
        let (answer, out) = self.ask(side, &self.cached(side).version())?;
        match told::is_ours(&out) {
            true => Ok(Came::Runs(side)),
            false => {
                let said = told::said(&answer.errors);
                Err(Trouble::NotRun { host: self.host(side)?, said })
            }
        }
    }

    fn serve(&mut self) -> Result<Came, Trouble> {
        let port = self.asked.port.to_string();
        let words = ["serve", "-1", "--quiet", "--stop-at-eof", "--key-of-input", "--json-errors"];
        let words = words.iter().copied().chain(["--port", &port]).map(str::to_owned).collect();
        self.start(Side::To, words)
    }

    fn begin(&mut self) -> Result<Came, Trouble> {
        let mut words = vec!["run".to_owned(), self.name()];
        let address = self.address()?;
        // A name that is not known there is only a name.
        if let Some(family) = Family::of(&address).filter(|family| !self.asked.given.get(*family)) {
            let options = PerFamily { v4: "--v4", v6: "--v6" };
            words.push(format!("{}={address}", options.get(family)));
        }
        words.extend(self.asked.words.iter().cloned());
        let told = ["--json-stream", "--quiet", "--stop-at-eof", "--no-report", "--json-errors"];
        words.extend(told.iter().copied().chain(["--key-of-input"]).map(str::to_owned));
        words.extend(self.asked.typed.iter().map(|word| format!("--typed={word}")));
        (self.told)(&Tidings::Begins);
        self.start(Side::From, words)
    }

    /// What the end that serves is called.
    fn name(&self) -> String {
        let host = self.asked.hosts.to.as_ref();
        host.map_or_else(|| this_host().name, |host| host.name().to_owned())
    }

    /// Where the end that serves is reached from the other one, as far as ssh tells.
    fn address(&self) -> Result<IpAddr, Trouble> {
        let from = &self.ends.from.seen;
        let address = match &self.asked.hosts.to {
            Some(_) => self.ends.to.seen.address,
            None => from.peer,
        };
        // Who reached it over its own loopback is there; the other end may be elsewhere.
        let near = self.asked.hosts.from.is_none()
            || from.address.is_some_and(|address| address.is_loopback());
        match address {
            Some(address) if near || !address.is_loopback() => Ok(address),
            other => {
                let said = other.map(|address| address.to_string()).unwrap_or_default();
                Err(Trouble::NoAddress { said })
            }
        }
    }

    /// Starts the program at an end, and gives it the key.
    fn start(&mut self, side: Side, words: Vec<String>) -> Result<Came, Trouble> {
        let (program, words) = match self.asked.hosts.get(side) {
            Some(_) => (&self.asked.ssh, self.ssh(side, false, &self.cached(side).run(&words))?),
            None => (&self.asked.program, words),
        };
        let key = format!("{}\n", self.drawn.key);
        let started = Process::start(program, &words, false, &self.says, side);
        let given = started.and_then(|mut process| {
            process.give(key.as_bytes())?;
            Ok(process)
        });
        let process = given.map_err(|error| no_ssh(program, &error))?;
        self.end(side).process = Some(process);
        Ok(Came::Begun(side))
    }

    fn ask_to_stop(&mut self, side: Side) {
        let end = self.end(side);
        if let Some(process) = &mut end.process {
            process.stop();
        }
        end.cut_at_ns = Some(clock::now_ns().saturating_add(STOP_NS));
        self.machine.asked_to_stop(side);
    }

    /// Hears both ends for a moment, or until one says something.
    fn hear(&mut self) {
        let now_ns = clock::now_ns();
        if now_ns >= self.stop_at_ns && self.machine.is_there(Side::From) {
            self.stop_at_ns = u64::MAX;
            self.machine.came(Came::Late);
        }
        self.end_mute(now_ns);
        for side in Side::BOTH {
            let end = self.end(side);
            if let (Some(process), Some(at_ns)) = (&mut end.process, end.cut_at_ns)
                && now_ns >= at_ns
            {
                process.kill();
                // Whoever left its group may hold its pipes.
                if now_ns.saturating_sub(at_ns) > END_NS {
                    self.over(side);
                }
            }
        }
        match self.hears.recv_timeout(TURN) {
            Ok((side, piece)) if piece.is_empty() => self.over(side),
            Ok((side, piece)) => {
                for line in self.end(side).lines.take(&piece) {
                    self.line(side, &line);
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    /// Ends what shall serve and does not say in time that it does. Its host may have lost its
    /// power, which ssh does not notice: no message keeps its connection alive.
    fn end_mute(&mut self, now_ns: u64) {
        if !self.machine.is_mute(now_ns, SILENCE_NS) {
            return;
        }
        if let Some(process) = &mut self.end(Side::To).process {
            process.kill();
        }
        self.over(Side::To);
    }

    /// What a line says; each end is believed of its own part alone.
    fn line(&mut self, side: Side, line: &str) {
        let Some(event) = told::event(line) else { return };
        match (side, event) {
            (_, Event::Fails(complaint)) => self.end(side).complaint = Some(complaint),
            (Side::To, Event::Serves) => self.machine.came(Came::Serves),
            (Side::To, _) | (Side::From, Event::Serves) => {}
            (Side::From, event) => {
                (self.told)(&Tidings::Line(line));
                match event {
                    Event::Begins(run) => {
                        // Until then it may have waited for its turn.
                        let time_ns = self.asked.time_ns.saturating_mul(2);
                        let most_ns = time_ns.saturating_add(PATIENCE_NS);
                        self.stop_at_ns = clock::now_ns().saturating_add(most_ns);
                        self.machine.came(Came::Named(run));
                    }
                    Event::State(text) => (self.told)(&Tidings::State(&text)),
                    Event::Pairs(pairs, seconds) => (self.told)(&Tidings::Pairs(pairs, seconds)),
                    Event::Serves | Event::Fails(_) | Event::Other => {}
                }
            }
        }
    }

    /// What ran at an end is over.
    fn over(&mut self, side: Side) {
        if let Some(line) = self.end(side).lines.rest() {
            self.line(side, &line);
        }
        let Some(process) = self.end(side).process.take() else { return };
        let Answer { exit, errors } =
            process.end().unwrap_or(Answer { exit: None, errors: Vec::new() });
        for line in told::lines(&errors) {
            if let Some(Event::Fails(complaint)) = told::event(&line) {
                self.end(side).complaint.get_or_insert(complaint);
            }
        }
        let complaint = self.end(side).complaint.take();
        let lost = self.asked.hosts.get(side).as_ref();
        let lost = lost.and_then(|host| told::of_ssh(host, exit, &errors));
        let has_result = exit.is_some_and(|exit| MEASURED.contains(&exit));
        self.machine.came(match (complaint, lost) {
            (Some(complaint), _) => Came::Over(side, Some(Box::new(complaint))),
            (None, Some(trouble)) => Came::Lost(side, trouble),
            (None, None) if has_result => Came::Over(side, None),
            (None, None) => Came::Over(side, Some(Box::new(told::silent(exit, &errors)))),
        });
    }

    fn fetch(&mut self, run: &RunId) -> Result<Came, Trouble> {
        let words = ["export", run.as_str(), "--format", "jsonl", "--json-errors"];
        let words = words.map(str::to_owned);
        let words = self.ssh(Side::From, false, &self.cached(Side::From).print(&words))?;
        let here = |error: v6gap_store::StoreError| Trouble::Here { why: error.to_string() };
        let mut received = self.store.receive().map_err(here)?;
        let mut wrong = None;
        let mut behind = Behind::default();
        let mut heard = |piece: &[u8]| match received.add(behind.line(piece)) {
            Ok(()) => true,
            Err(error) => {
                wrong.get_or_insert(error);
                false
            }
        };
        let answer = self.question(&words).ask(&mut heard, &mut |_| {});
        let answer = answer.map_err(|error| no_ssh(&self.asked.ssh, &error))?;
        if let Some(error) = wrong {
            return Err(here(error));
        }
        let host = self.host(Side::From)?;
        if let Some(trouble) = told::of_ssh(&host, answer.exit, &answer.errors) {
            return Err(trouble);
        }
        if answer.exit != Some(0) {
            return Err(Trouble::NotRun { host, said: told::said(&answer.errors) });
        }
        let (Imported::Stored(id) | Imported::Known(id)) = received.import().map_err(here)?;
        if id != *run {
            let why = format!("{host} said that it measured {run}, and gave {id}, which is stored");
            return Err(Trouble::Here { why });
        }
        (self.told)(&Tidings::Fetched);
        Ok(Came::Fetched)
    }

    fn tidy(&mut self) -> Result<Came, Trouble> {
        self.ask(Side::From, &self.cached(Side::From).tidy())?;
        Ok(Came::Tidied)
    }

    /// Closes the connections of this run. Those that do not close end by themselves.
    fn leave(&mut self) {
        for side in Side::BOTH {
            let Some(Sharing::Own(socket)) = self.end(side).sharing.take() else { continue };
            if let Ok(host) = self.host(side) {
                let words = words::close(&host, &socket);
                // One that is closed already is no trouble.
                let _ = self.question(&words).ask(&mut |_| true, &mut |_| {});
            }
        }
    }
}

/// What comes behind the line of a result; before it a shell may greet its user.
#[derive(Debug, Default)]
struct Behind {
    /// What came so far, until that line was in it.
    before: Vec<u8>,
    found: bool,
    rest: Vec<u8>,
}

impl Behind {
    /// What of a piece is behind the line.
    fn line<'a>(&'a mut self, piece: &'a [u8]) -> &'a [u8] {
        if self.found {
            return piece;
        }
        self.before.extend_from_slice(piece);
        let line = format!("{RESULT}\n");
        let at = self.before.windows(line.len()).position(|part| part == line.as_bytes());
        let Some(at) = at else {
            // What a shell says before is short, or else no shell's.
            let most = self.before.len().min(GREETING_BYTES_MAX);
            self.before.drain(..self.before.len() - most);
            return &[];
        };
        self.found = true;
        self.rest = self.before.split_off(at + line.len());
        &self.rest
    }
}

/// Most that is kept of what comes before a result.
const GREETING_BYTES_MAX: usize = 1 << 16;

/// Whether it would bring the measurement on.
fn is_ahead(what: &Do) -> bool {
    matches!(what, Do::Look(_) | Do::Copy(_) | Do::Try(_) | Do::Serve | Do::Measure)
}

/// Keeps a piece of an answer; whether more is wanted.
fn short(out: &mut Vec<u8>, piece: &[u8]) -> bool {
    out.extend_from_slice(piece);
    out.len() <= super::ANSWER_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_begins_behind_its_line_wherever_that_is_cut() {
        let whole = b"Welcome to rome1\nv6gap:result\n{\"v\":1}\nv6gap:result\n";
        for cut in 0..whole.len() {
            let mut behind = Behind::default();
            let (one, other) = whole.split_at(cut);
            let found = [behind.line(one).to_vec(), behind.line(other).to_vec()].concat();
            assert_eq!(found, b"{\"v\":1}\nv6gap:result\n", "{cut}");
        }
        let mut behind = Behind::default();
        assert!((0..100).all(|_| behind.line(&[b'x'; 5000]).is_empty()));
        assert!(behind.before.len() <= GREETING_BYTES_MAX);
    }

    #[test]
    fn what_never_says_that_it_serves_is_killed_and_its_host_is_lost() {
        let host = Host::parse("ops@oslo1").unwrap();
        let asked = Asked {
            hosts: PerSide { from: None, to: Some(host.clone()) },
            ssh: PathBuf::from("/no/such/ssh"),
            program: PathBuf::from("/no/such/program"),
            binaries: Vec::new(),
            port: 4466,
            given: PerFamily { v4: false, v6: false },
            words: Vec::new(),
            typed: Vec::new(),
            time_ns: 0,
        };
        let (store, stop) = (Store::at(Path::new("/no/such/folder")), AtomicBool::new(false));
        let mut told = |_: &Tidings<'_>| {};
        let drawn = Drawn { key: String::new(), job: String::new() };
        let mut going = Going::new(&asked, &store, &mut told, &stop, drawn);
        // It goes on for as long as its input is open.
        let words = ["-c", "exec cat"].map(str::to_owned);
        let shell = Path::new("/bin/sh");
        let process = Process::start(shell, &words, false, &going.says, Side::To).unwrap();
        going.end(Side::To).process = Some(process);
        for came in [Came::Seen(Side::To, true), Came::Runs(Side::To), Came::Begun(Side::To)] {
            going.machine.came(came);
        }
        for now_ns in [5, 5 + SILENCE_NS] {
            going.end_mute(now_ns);
            assert_eq!(going.machine.next(), Do::Hear);
        }
        going.end_mute(6 + SILENCE_NS);
        assert!(going.ends.to.process.is_none());
        assert_eq!(going.machine.next(), Do::Leave);
        // One that had ended by itself would not be lost.
        let lost = Trouble::Lost { host, said: String::new() };
        assert_eq!(going.machine.ended().trouble, Some(lost));
    }
}
