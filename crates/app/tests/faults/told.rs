//! Programs under test: what they say line by line with the time of each line, signals, and an end
//! that is waited for no longer than it may take.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A line and when it came.
pub type Line = (Instant, String);

#[derive(Default)]
struct Heard {
    lines: Vec<Line>,
    over: bool,
}

/// What comes out of a stream, read by a thread of its own.
#[derive(Clone)]
pub struct Told(Arc<(Mutex<Heard>, Condvar)>);

impl Told {
    pub fn of(stream: impl Read + Send + 'static) -> Self {
        let told = Told(Arc::default());
        let hearing = told.clone();
        std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut bytes = Vec::new();
            while stream.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                hearing.change(|heard| heard.lines.push((Instant::now(), text)));
                bytes.clear();
            }
            hearing.change(|heard| heard.over = true);
        });
        told
    }

    fn change(&self, change: impl FnOnce(&mut Heard)) {
        let (heard, changed) = &*self.0;
        change(&mut heard.lock().unwrap());
        changed.notify_all();
    }

    /// The first line from number `from` on that is `wanted`, with its number; `None` if none came
    /// within `limit` or before the end.
    pub fn find(
        &self,
        from: usize,
        limit: Duration,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<(usize, Line)> {
        let (heard, changed) = &*self.0;
        let start = Instant::now();
        let mut heard = heard.lock().unwrap();
        let mut next = from;
        loop {
            if let Some(at) = (next..heard.lines.len()).find(|&at| wanted(&heard.lines[at].1)) {
                return Some((at, heard.lines[at].clone()));
            }
            next = heard.lines.len().max(from);
            let left = limit.checked_sub(start.elapsed())?;
            if heard.over {
                return None;
            }
            heard = changed.wait_timeout(heard, left).unwrap().0;
        }
    }

    /// Whether the stream ended within `limit`.
    fn ends(&self, limit: Duration) -> bool {
        let (heard, changed) = &*self.0;
        let heard = heard.lock().unwrap();
        let (heard, _) = changed.wait_timeout_while(heard, limit, |heard| !heard.over).unwrap();
        heard.over
    }

    /// What came until now.
    pub fn lines(&self) -> Vec<Line> {
        self.0.0.lock().unwrap().lines.clone()
    }

    /// The same as one text.
    pub fn text(&self) -> String {
        let lines = self.lines();
        lines.iter().map(|(_, line)| format!("{line}\n")).collect()
    }
}

/// A process whose outputs are heard. It does not outlive this value.
pub struct Program {
    child: Child,
    pub out: Told,
    pub err: Told,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` after a signal.
    pub code: Option<i32>,
    /// What it wrote to standard error, in one line, however it was wrapped.
    pub said: String,
    /// When it had ended.
    pub at: Instant,
}

impl Program {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = Told::of(child.stdout.take().unwrap());
        let err = Told::of(child.stderr.take().unwrap());
        Program { child, out, err }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, named as in `STOP`; whether the process was still there.
    pub fn signal(&self, name: &str) -> bool {
        signal(self.child.id(), name)
    }

    /// Stops it for so long.
    pub fn pause(&self, time: Duration) {
        self.signal("STOP");
        std::thread::sleep(time);
        self.signal("CONT");
    }

    /// Kills it, and waits until it is gone.
    pub fn kill(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
        self.out.ends(Duration::from_secs(5));
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// If it takes longer than `limit`.
    #[track_caller]
    pub fn end(&mut self, limit: Duration) -> Ended {
        let over = self.out.ends(limit);
        assert!(over, "no end within {limit:?}: {}{}", self.out.text(), self.err.text());
        let status = self.child.wait().unwrap();
        self.err.ends(Duration::from_secs(5));
        let said = self.err.text();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        Ended { code: status.code(), said, at: Instant::now() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process; whether there is one.
pub fn signal(id: u32, name: &str) -> bool {
    // The shell's own, since not every host has the program.
    let line = format!("kill -{name} {id} 2>/dev/null");
    Command::new("sh").args(["-c", &line]).status().unwrap().success()
}
