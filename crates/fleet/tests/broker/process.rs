//! Parts of a fleet as processes of their own: this program again, with the name of a role. So one
//! can be killed and put to sleep by itself, and what memory it takes is its own.

use crate::figures;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use v6gap_sys::{apart, clock};

/// What stands before the name of a role among the arguments.
pub const ROLE: &str = "role";

/// A line that a process said, and when, in ns of the clock that nobody sets.
#[derive(Debug, Clone)]
pub struct Line {
    pub at_ns: u64,
    pub text: String,
}

/// A process that is killed when it goes out of sight.
pub struct Process {
    child: Child,
    said: Arc<Mutex<Vec<Line>>>,
    /// Largest resident memory that was seen, in bytes.
    memory: u64,
}

impl Process {
    /// Begins a role with its arguments.
    pub fn begin(role: &str, arguments: &[&str], folder: &Path) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([ROLE, role]).arg(folder).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        apart::bind(&mut command);
        let mut child = command.spawn().unwrap();
        let (output, said) = (child.stdout.take().unwrap(), Arc::default());
        let says: Arc<Mutex<Vec<Line>>> = Arc::clone(&said);
        std::thread::spawn(move || {
            for text in BufReader::new(output).lines().map_while(Result::ok) {
                says.lock().unwrap().push(Line { at_ns: clock::boot_ns(), text });
            }
        });
        Process { child, said, memory: 0 }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it said so far.
    pub fn said(&self) -> Vec<Line> {
        self.said.lock().unwrap().clone()
    }

    /// When it said a line that begins so for the last time, in ns.
    pub fn said_last(&self, start: &str) -> Option<u64> {
        let said = self.said.lock().unwrap();
        said.iter().rev().find(|line| line.text.starts_with(start)).map(|line| line.at_ns)
    }

    /// Largest resident memory until now, in bytes.
    pub fn memory(&mut self) -> u64 {
        self.memory = self.memory.max(figures::memory(self.id()));
        self.memory
    }

    /// Sends it a signal, as `STOP` and `CONT`.
    pub fn signal(&self, signal: &str) {
        figures::signal(self.id(), signal);
    }

    /// Kills it; its number and when it was certainly dead, in ns.
    pub fn kill(&mut self) -> (u32, u64) {
        self.memory();
        // It can only have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
        (self.id(), clock::boot_ns())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
