//! The program itself, run as a person would run it.

use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// Longest that anything but a measurement may take.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Runs of it at a time, measurements left out.
const RUNS_MAX: usize = 8;

/// How long a further one waits for its turn.
const TURN_TIME: Duration = Duration::from_secs(5);

/// Most that it may write.
const BYTES_MAX: u64 = 256 << 20;

/// How the program is run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program's file.
    pub path: PathBuf,
    /// Where it keeps results, if not where it usually does.
    pub data: Option<PathBuf>,
    /// Who may run it.
    turns: Arc<Semaphore>,
}

/// What a run of it gave.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error: a failure as JSON in its last line, if it failed.
    pub err: String,
}

impl Program {
    /// The program in that file, with the folder for its data if that is another than usual.
    pub fn new(path: PathBuf, data: Option<PathBuf>) -> Self {
        Program { path, data, turns: Arc::new(Semaphore::new(RUNS_MAX)) }
    }

    /// Runs it to its end.
    pub(crate) async fn run(&self, args: &[String]) -> io::Result<Ran> {
        self.run_with(args, Vec::new()).await
    }

    /// Runs it to its end; `input` is what it reads.
    pub(crate) async fn run_with(&self, args: &[String], input: Vec<u8>) -> io::Result<Ran> {
        let busy = |_| io::Error::from(io::ErrorKind::ResourceBusy);
        let turn = tokio::time::timeout(TURN_TIME, self.turns.acquire()).await.map_err(busy)?;
        // Nobody closes them.
        let _turn = turn.map_err(io::Error::other)?;
        let mut child = self.command(args).spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (out, err) = (read(out, BYTES_MAX), read(err, BYTES_MAX));
        let told = write(child.stdin.take(), input);
        let all = async { tokio::join!(out, err, told, child.wait()) };
        let (out, err, (), status) = tokio::time::timeout(TIME_MAX, all)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        let err = String::from_utf8_lossy(&err?).into_owned();
        let killed = || io::Error::other("the program was killed before it had written all");
        Ok(Ran { code: status?.code().ok_or_else(killed)?, out: out?, err })
    }

    /// Starts a measurement, which says what happens on its standard output and stops when its
    /// standard input is closed, also if this process should end without having told it.
    pub(crate) fn start(&self, args: &[String]) -> io::Result<Child> {
        self.command(args).args(["--json-stream", "--quiet", "--stop-at-eof"]).spawn()
    }

    /// Starts what goes on by itself and says on its standard output what it sees; it ends when its
    /// standard input is closed, or with what is given back. Its standard error has to be read.
    pub(crate) fn follow(&self, args: &[String]) -> io::Result<Child> {
        self.command(args).arg("--stop-at-eof").spawn()
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("--json-errors").args(args).kill_on_drop(true);
        command.envs(self.data.as_ref().map(|data| ("V6GAP_DATA", data)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// What the program does not want to read it need not.
async fn write(to: Option<impl AsyncWrite + Unpin>, input: Vec<u8>) {
    if let Some(mut to) = to {
        let _ = to.write_all(&input).await;
    }
}

/// All of it: a part would pass for the whole.
async fn read(from: Option<impl AsyncRead + Unpin>, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(bytes_max + 1).read_to_end(&mut bytes).await?;
    }
    match bytes.len() as u64 > bytes_max {
        true => Err(io::Error::from(io::ErrorKind::FileTooLarge)),
        false => Ok(bytes),
    }
}

impl Ran {
    /// What went wrong, as the program says it in JSON, or its last words.
    pub(crate) fn failure(&self) -> Value {
        failure(&self.err, self.code)
    }
}

/// The failure in the last line of what a program wrote to standard error.
pub(crate) fn failure(err: &str, code: i32) -> Value {
    let last = err.lines().next_back().unwrap_or_default();
    match serde_json::from_str::<Value>(last) {
        Ok(Value::Object(failure)) if failure.contains_key("title") => Value::Object(failure),
        _ => {
            let tail: Vec<&str> = err.lines().rev().take(20).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            json!({
                "code": null,
                "title": "the program ended unexpectedly",
                "why": [tail.join("\n")],
                "try": [],
                "exit": code,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_what_the_program_says_last() {
        let said = "waiting\n{\"code\":\"E203\",\"title\":\"no answer\",\"exit\":4}";
        assert_eq!(failure(said, 4)["code"], "E203");
        let crashed = failure("thread 'main' panicked\nat x", 101);
        assert_eq!(crashed["exit"], 101);
        assert!(crashed["why"][0].as_str().unwrap().contains("panicked"));
        assert_eq!(failure("[1]", 1)["code"], Value::Null);
    }

    #[tokio::test]
    async fn what_is_too_long_is_no_file() {
        let read = |bytes_max| read(Some(&b"0123456789"[..]), bytes_max);
        assert_eq!(read(10).await.unwrap().len(), 10);
        assert_eq!(read(9).await.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    /// Whoever finds all of them taken waits, and is told so in the end.
    #[tokio::test(start_paused = true)]
    async fn there_are_only_so_many_runs_at_a_time() {
        let program = Program::new(PathBuf::from("/no/such/program"), None);
        let turns = Arc::clone(&program.turns);
        let all = turns.acquire_many(RUNS_MAX as u32).await.unwrap();
        let kind = || async { program.run(&[]).await.unwrap_err().kind() };
        assert_eq!(kind().await, io::ErrorKind::ResourceBusy);
        drop(all);
        assert_eq!(kind().await, io::ErrorKind::NotFound);
    }
}
