//! Programs that go on, heard as they speak and ended with the suite.

#[path = "../common/waiting.rs"]
mod waiting;

pub use waiting::until;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;
use waiting::PATIENCE;

/// Where `cargo xtask truth --setup` installs the server.
const INSTALLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/nats/bin/nats-server");

/// A program that is killed when it goes out of sight.
pub struct Running {
    name: String,
    child: Child,
    /// What it says on standard error, in a file without a name.
    errors: File,
    lines: Receiver<String>,
    said: Vec<String>,
}

/// The server, if there is one that answers.
pub fn server() -> Option<PathBuf> {
    let is_one = |program: &PathBuf| {
        let said = Command::new(program).arg("--version").output();
        said.is_ok_and(|said| said.stdout.starts_with(b"nats-server: v2."))
    };
    [PathBuf::from(INSTALLED), PathBuf::from("nats-server")].into_iter().find(is_one)
}

impl Running {
    /// Starts a program and calls it `name`.
    pub fn start(name: &str, command: &mut Command) -> Running {
        let path = std::env::temp_dir().join(format!("v6gap-{}-{name}.err", std::process::id()));
        let written = File::create(&path).unwrap();
        let errors = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(written);
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (says, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if says.send(line).is_err() {
                    break;
                }
            }
        });
        Running { name: name.to_owned(), child, errors, lines, said: Vec::new() }
    }

    /// What it has said from its beginning until now.
    pub fn said(&mut self) -> &[String] {
        self.said.extend(self.lines.try_iter());
        &self.said
    }

    /// The first line from now on that has `text` in it.
    #[track_caller]
    pub fn until_said(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let errors = self.errors();
                    panic!("{} did not say \"{text}\" but: {:#?}\n{errors}", self.name, self.said)
                }
            }
        }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Leaves what it said until now.
    pub fn forget(&mut self) {
        let lines: Vec<String> = self.lines.try_iter().collect();
        self.said.extend(lines);
    }

    /// Ends it as a service manager does, and expects that it ends well.
    #[track_caller]
    pub fn stop(mut self) {
        if self.child.try_wait().unwrap().is_some() {
            return;
        }
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let (child, name) = (&mut self.child, &self.name);
        let status = until("its end", || child.try_wait().unwrap());
        assert!(status.success(), "{name}: {status}");
    }

    /// Waits until it ends by itself: its exit code, and what it said on standard error.
    #[track_caller]
    pub fn ended(&mut self) -> (Option<i32>, String) {
        let child = &mut self.child;
        let status = until("its end", || child.try_wait().unwrap());
        (status.code(), self.errors())
    }

    fn errors(&mut self) -> String {
        let mut said = String::new();
        self.errors.rewind().unwrap();
        self.errors.read_to_string(&mut said).unwrap();
        said
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It can only have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}
