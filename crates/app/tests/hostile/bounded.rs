//! The program with a bound on its memory and its time, and what may be wrong with how it ended.

use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_v6gap");

/// Processor time that a command may take, in seconds: that does not depend on what else the
/// computer does. What is compiled for debugging draws ten times as long.
const PROCESSOR_S_MAX: u64 = if cfg!(debug_assertions) { 100 } else { 10 };

/// Longest that a command may take if it only waits.
const TIME_MAX: Duration = Duration::from_secs(20 * PROCESSOR_S_MAX);

/// Address space of a command, in KiB as a shell counts it.
const ROOM_KIB: u32 = 2 << 20;

/// Most that is kept of what it says, in bytes.
const SAID_MAX: u64 = 64 << 20;

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    /// How it ended; nothing if it had to be ended.
    status: Option<ExitStatus>,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub seconds: f64,
}

impl Ran {
    pub fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// What is wrong with how it ended and what it said.
    pub fn wrong(&self) -> Option<String> {
        let err = String::from_utf8_lossy(&self.err);
        let code = match self.status {
            None => return Some(format!("it had not ended after {} s", TIME_MAX.as_secs())),
            Some(status) => status.code(),
        };
        if code.is_none_or(|code| code == 101) || err.contains("panicked") {
            return Some(format!("it ended with {:?}: {}", self.status, shortened(&err)));
        }
        if code != Some(0) && self.err.is_empty() && self.out.is_empty() {
            return Some(format!("it ended with {code:?} and said nothing"));
        }
        for (stream, said) in [("output", &self.out), ("error", &self.err)] {
            let Ok(text) = str::from_utf8(said) else {
                return Some(format!("its standard {stream} is no text"));
            };
            // Lines of CSV end so.
            let text = text.replace("\r\n", "\n");
            let breaks = |c: char| matches!(c, '\n' | '\t');
            if let Some(at) = text.find(|c: char| c.is_control() && !breaks(c)) {
                let near: String = text[at..].chars().take(30).collect();
                return Some(format!("a control character on its standard {stream}: {near:?}"));
            }
        }
        None
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Runs `v6gap` with these arguments in `folder`, with `data` for its results. Where `until` is not
/// empty, it is ended as soon as a line of its standard output begins so.
pub fn run(args: &[&str], folder: &Path, data: &Path, until: &str) -> Ran {
    let mut command = Command::new("/bin/sh");
    let limited = format!("ulimit -v {ROOM_KIB} && ulimit -t {PROCESSOR_S_MAX} && exec \"$@\"");
    command.args(["-c", &limited, "sh", PROGRAM]).args(args);
    command.env_clear().env("V6GAP_DATA", data).env("LANG", "C.UTF-8").current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let (told, heard) = mpsc::channel();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = (&mut err).take(SAID_MAX).read_to_end(&mut said);
        said
    });
    let until = until.to_owned();
    let ends_early = !until.is_empty();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut some = [0; 65_536];
        while let Ok(count @ 1..) = out.read(&mut some) {
            said.extend_from_slice(&some[..count]);
            let there = !until.is_empty() && said.starts_with(until.as_bytes());
            if there || said.len() as u64 > SAID_MAX {
                break;
            }
        }
        // It may have been given up by now.
        let _ = told.send(said);
    });
    let said = heard.recv_timeout(TIME_MAX);
    let in_time = said.is_ok();
    if !in_time || ends_early {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().unwrap();
    let early = ends_early && status.code().is_none();
    Ran {
        // What was ended as soon as it had begun has begun.
        status: in_time.then(|| if early { ExitStatus::default() } else { status }),
        out: said.unwrap_or_default(),
        err: reader.join().unwrap(),
        seconds: start.elapsed().as_secs_f64(),
    }
}
