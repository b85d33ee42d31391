//! The program under attack: as a server whose memory and log are watched, and as the honest client
//! of the same version.

use crate::field::Field;
use crate::support::{Home, PROGRAM, host_of_its_own, text};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;
use v6gap_lab::Node;

/// The path of the program under attack.
pub fn program() -> OsString {
    std::env::var_os("V6GAP_ATTACKED").unwrap_or_else(|| PROGRAM.into())
}

/// The program with a data folder, nothing of the user's environment that concerns it.
pub fn command(home: &Home) -> Command {
    let mut command = Command::new(program());
    command.env("V6GAP_DATA", home.path()).env_remove("V6GAP_KEY").stdin(Stdio::null());
    command.env("V6GAP_LOCKS", host_of_its_own(home.path()));
    command
}

/// A server, killed at the end.
pub struct Serving {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Serving {
    /// Starts one at a node and reads its log.
    pub fn start(node: &Node, args: &[&str]) -> Self {
        let (serving, Unread { reader, .. }) = Self::unread(node, args);
        let lines = Arc::clone(&serving.lines);
        std::thread::spawn(move || {
            for line in reader.split(b'\n').map_while(Result::ok) {
                lines.lock().unwrap().push(String::from_utf8_lossy(&line).into_owned());
            }
        });
        serving
    }

    /// Starts one and reads no more than the first line of what it says.
    pub fn unread(node: &Node, args: &[&str]) -> (Self, Unread) {
        let (output, reader) = UnixStream::pair().unwrap();
        let stdout = OwnedFd::from(output.try_clone().unwrap());
        let start = || {
            let mut command = Command::new(program());
            command.arg("serve").args(args).env_remove("V6GAP_KEY").stdin(Stdio::null());
            // Two nodes are two hosts, of which neither waits for the other.
            let claims =
                Path::new(env!("CARGO_TARGET_TMPDIR")).join(std::process::id().to_string());
            command.env("V6GAP_LOCKS", host_of_its_own(&claims));
            command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut child = node.run(start).unwrap();
        reader.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut reader = BufReader::with_capacity(256, reader);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        reader.get_ref().set_read_timeout(None).unwrap();
        if !line.contains("Serving") {
            let _ = child.kill();
            let mut said = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
            panic!("no server with {args:?}: {line}{said}");
        }
        (Serving { child, lines: Arc::default() }, Unread { reader, output })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged since the start.
    pub fn log(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Its resident memory, in kB.
    pub fn memory_kb(&self) -> u64 {
        self.status("VmRSS:")
    }

    #[allow(dead_code, reason = "the soak looks at threads, attacks do not")]
    pub fn threads(&self) -> u64 {
        self.status("Threads:")
    }

    fn status(&self, key: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// Processor time that it has taken.
    pub fn processor_time(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        // Behind the name, which may hold blanks: user and system time are the 14th and 15th.
        let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = [11, 12].map(|at: usize| fields[at].parse::<u64>().unwrap()).iter().sum();
        Duration::from_millis(ticks * 10)
    }

    /// Asks it to end, and whether it did in that time.
    pub fn ends(&mut self, patience: Duration) -> bool {
        signal(self.id(), "TERM");
        let give_up = Instant::now() + patience;
        while Instant::now() < give_up {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

/// What a server says and nobody has read.
pub struct Unread {
    reader: BufReader<UnixStream>,
    output: UnixStream,
}

impl Unread {
    /// Fills it, so that it takes nothing more until this is dropped.
    #[allow(dead_code, reason = "the soak reads all, an attack does not")]
    pub fn fill(&self) {
        self.output.set_nonblocking(true).unwrap();
        while (&self.output).write(&[b'\n'; 256]).is_ok() {}
        // The mode is that of the server's end, too.
        self.output.set_nonblocking(false).unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process of ours.
pub fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// A server of the field at its usual port.
pub fn serve(field: &Field, args: &[&str]) -> Serving {
    Serving::start(field.node("server"), args)
}

/// How an honest client fared.
#[derive(Debug)]
pub struct Checked {
    pub took: Duration,
    pub good: bool,
    pub said: String,
}

/// `v6gap check` of the server, from a node.
pub fn check(field: &Field, from: &str, args: &[&str]) -> Checked {
    let home = Home::new("attack-check");
    let [four, six] = Family::BOTH.map(|family| field.address("server", family).to_string());
    let run = || {
        let mut command = command(&home);
        command.args(["check", &four, "--v6", &six]).args(args).output().unwrap()
    };
    let start = Instant::now();
    let output = field.node(from).run(run).unwrap();
    let took = start.elapsed();
    Checked { took, good: output.status.success(), said: words(&output) }
}

/// All that a program said.
pub fn words(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}
