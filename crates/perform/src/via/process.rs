//! Processes whose outputs are read by threads, bounded in what they may say and in how long they
//! may be silent: ssh, or this program itself.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use v6gap_sys::apart::{self, Apart, Heard};
use v6gap_sys::clock;

/// Bytes that are read and written at once.
const PIECE_BYTES: usize = 64 << 10;

/// Pieces that may wait to be looked at; who says more has to wait.
pub(super) const PIECES_MAX: usize = 64;

/// What is kept of standard error, in bytes: its end.
const ERRORS_BYTES_MAX: usize = 16 << 10;

/// How soon it is noticed that time is over, or that somebody stops it.
pub(super) const TURN: Duration = Duration::from_millis(200);

/// How long a process may live whose output is over, in ns.
pub(super) const END_NS: u64 = 5_000_000_000;

/// How long the rest of standard error may take: who shares its connection keeps that open.
const REST: Duration = Duration::from_millis(300);

/// What a process writes to standard output; nothing is its end.
pub(super) type Piece = Vec<u8>;

/// A process; it is killed when it is dropped.
pub(super) struct Process {
    apart: Option<Apart>,
    input: Option<ChildStdin>,
    errors: Arc<Mutex<Vec<u8>>>,
    errors_over: Receiver<()>,
}

/// How a process ended.
pub(super) struct Answer {
    /// Its exit code; `None` if it was killed.
    pub(super) exit: Option<i32>,
    /// What it wrote to standard error, or the end of it.
    pub(super) errors: Vec<u8>,
}

impl Process {
    /// Starts `program`, what it writes being told as `tag`.
    pub(super) fn start<T: Copy + Send + 'static>(
        program: &Path,
        words: &[String],
        asks: bool,
        says: &SyncSender<(T, Piece)>,
        tag: T,
    ) -> io::Result<Process> {
        let Heard { apart, input, output, errors: mut from } =
            apart::start_heard(program, words, asks)?;
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (over, errors_over) = channel();
        let kept = Arc::clone(&errors);
        // Made before anything can fail, so that it is killed then.
        let process = Process { apart: Some(apart), input: Some(input), errors, errors_over };
        Builder::new().spawn(move || {
            read(&mut from, &mut |piece| {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece);
                let too_many = kept.len().saturating_sub(ERRORS_BYTES_MAX);
                kept.drain(..too_many);
                true
            });
            // Nobody may be waiting for it.
            let _ = over.send(());
        })?;
        let says = says.clone();
        let mut output = output;
        Builder::new().spawn(move || {
            read(&mut output, &mut |piece| says.send((tag, piece)).is_ok());
            let _ = says.send((tag, Piece::new()));
        })?;
        Ok(process)
    }

    /// Writes to its standard input, which is short and so never waited for.
    pub(super) fn give(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(bytes).and_then(|()| input.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes its standard input, which asks it to stop.
    pub(super) fn stop(&mut self) {
        self.input = None;
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) {
        self.input = None;
        if let Some(apart) = &mut self.apart {
            apart.kill();
        }
    }

    /// Waits for its end, which is near: its output is over.
    pub(super) fn end(mut self) -> io::Result<Answer> {
        self.input = None;
        let Some(mut apart) = self.apart.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let end_ns = clock::now_ns().saturating_add(END_NS);
        while !apart.is_over()? {
            if clock::now_ns() >= end_ns {
                apart.kill();
                break;
            }
            clock::rest(Duration::from_millis(5));
        }
        let exit = apart.wait()?;
        let _ = self.errors_over.recv_timeout(REST);
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Answer { exit, errors })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut apart) = self.apart.take() {
            apart.kill();
            // The system tells of it or has forgotten it.
            let _ = apart.wait();
        }
    }
}

/// Reads to the end, or until nobody wants more.
fn read(from: &mut dyn Read, piece: &mut dyn FnMut(Piece) -> bool) {
    let mut room = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut room) {
            Ok(0) => return,
            Ok(bytes) => {
                if !piece(room[..bytes].to_vec()) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What cannot be read is over.
            Err(_) => return,
        }
    }
}

/// A command that is run to its end.
pub(super) struct Question<'a> {
    pub(super) program: &'a Path,
    pub(super) words: &'a [String],
    /// Whether it may ask a person for a password.
    pub(super) asks: bool,
    /// What it is given.
    pub(super) input: Option<Arc<Vec<u8>>>,
    /// How long neither may anything come nor go, in ns.
    pub(super) silence_ns: u64,
    /// What ends it at once, if it may be stopped.
    pub(super) stop: Option<&'a AtomicBool>,
}

impl Question<'_> {
    /// Runs it. `heard` gets what it writes and says whether it wants more; `sent` how many bytes
    /// of the input have gone.
    pub(super) fn ask(
        &self,
        heard: &mut dyn FnMut(&[u8]) -> bool,
        sent: &mut dyn FnMut(u64),
    ) -> io::Result<Answer> {
        let (says, hears) = sync_channel(PIECES_MAX);
        let mut process = Process::start(self.program, self.words, self.asks, &says, ())?;
        drop(says);
        let gone = Arc::new(AtomicU64::new(0));
        self.feed(&mut process, &gone)?;
        let (mut last_ns, mut last_gone) = (clock::now_ns(), 0);
        let mut killed_ns = None;
        loop {
            match hears.recv_timeout(TURN) {
                Ok(((), piece)) if piece.is_empty() => break,
                Ok(((), piece)) => {
                    last_ns = clock::now_ns();
                    if !heard(&piece) {
                        process.kill();
                        killed_ns.get_or_insert(last_ns);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now_gone = gone.load(Ordering::Relaxed);
            if now_gone != last_gone {
                (last_ns, last_gone) = (clock::now_ns(), now_gone);
                sent(now_gone);
            }
            let stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
            let now_ns = clock::now_ns();
            if stopped || now_ns.saturating_sub(last_ns) > self.silence_ns {
                process.kill();
                killed_ns.get_or_insert(now_ns);
            }
            // What a wrapper started that asks lives on, and may hold its pipes.
            if killed_ns.is_some_and(|at_ns| now_ns.saturating_sub(at_ns) > END_NS) {
                break;
            }
        }
        process.end()
    }

    /// Has a thread write the input, and then close it.
    fn feed(&self, process: &mut Process, gone: &Arc<AtomicU64>) -> io::Result<()> {
        let taken = process.input.take();
        let (Some(mut input), Some(bytes)) = (taken, self.input.clone()) else { return Ok(()) };
        let gone = Arc::clone(gone);
        Builder::new().spawn(move || {
            for piece in bytes.chunks(PIECE_BYTES) {
                // Who reads no more says why.
                if input.write_all(piece).is_err() {
                    return;
                }
                gone.fetch_add(piece.len() as u64, Ordering::Relaxed);
            }
        })?;
        Ok(())
    }
}
