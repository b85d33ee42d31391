//! nats-server, as a process beside this one.

use super::config::{ENVIRONMENT, Places};
use crate::error::{FleetError, SERVER_MIN};
use crate::now::stopped;
use crate::pause::Pause;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::time::Instant;
use v6gap_store::Store;
use v6gap_sys::apart::{self, Ask};

/// How soon a server that ended is begun again the first time, and at most.
const AGAIN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];

/// How long a server may take to end in good order.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked whether the configuration is another one.
const LOOK: Duration = Duration::from_secs(2);

/// What a server's process did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// It was begun.
    Began,
    /// It was told that somebody is let in no more.
    Reloaded,
    /// It ended by itself, or could not be begun, with its last words.
    Ended(String),
}

/// Makes sure that there is a server that is new enough.
///
/// # Errors
/// If there is none, or an older one.
pub async fn check(program: &Path) -> Result<(), FleetError> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let said = command.output().await;
    let said = said.map_err(|e| FleetError::NoServer(format!("{}: {e}", program.display())))?;
    let text = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    match version(&text) {
        Some(found) if found >= SERVER_MIN => Ok(()),
        Some(_) => Err(FleetError::ServerOld(text)),
        None => Err(FleetError::NoServer(format!("{} is another program", program.display()))),
    }
}

/// Of a text such as `nats-server: v2.15.1`.
fn version(text: &str) -> Option<(i64, i64, i64)> {
    let mut parts = text.strip_prefix("nats-server: v")?.split(['.', '-']);
    let mut part = || parts.next()?.parse().ok();
    Some((part()?, part()?, part()?))
}

/// Keeps the server of a node up until `stop` says so, and ends it in good order then.
pub async fn keep_up(
    program: PathBuf,
    places: Places,
    says: UnboundedSender<Did>,
    mut stop: watch::Receiver<bool>,
) {
    let [first, most] = AGAIN;
    let mut pause = Pause::new(first, most);
    while !*stop.borrow() {
        let began = Instant::now();
        let ended = once(&program, &places, &says, &mut stop).await;
        if *stop.borrow() {
            return;
        }
        let _ = says.send(Did::Ended(ended));
        if pause.pass(began.elapsed(), &mut stop).await {
            return;
        }
    }
}

/// Runs the server until it ends, and gives its last words.
async fn once(
    program: &Path,
    places: &Places,
    says: &UnboundedSender<Did>,
    stop: &mut watch::Receiver<bool>,
) -> String {
    let mut child = match begin(program, places) {
        Ok(child) => child,
        Err(error) => return error.to_string(),
    };
    let _ = says.send(Did::Began);
    let mut lines = child.stderr.take().map(|errors| BufReader::new(errors).lines());
    let mut known = Store::read_list(&places.config).ok();
    let mut look = tokio::time::interval(LOOK);
    let mut last = String::new();
    loop {
        tokio::select! {
            line = next(&mut lines) => match line {
                // What is not of use to anybody but one who looks for a fault: faults are told.
                Some(line) if line.contains("[ERR]") || line.contains("[FTL]") => last = line,
                Some(line) => last = if last.is_empty() { line } else { last },
                None => lines = None,
            },
            ended = child.wait() => {
                let how = ended.map_or_else(|e| e.to_string(), |status| status.to_string());
                return format!("{how}: {last}");
            }
            _ = look.tick() => {
                let found = Store::read_list(&places.config).ok();
                if found.is_some() && found != known {
                    known = found;
                    if child.id().is_some_and(|id| apart::tell(id, Ask::Reload).is_ok()) {
                        let _ = says.send(Did::Reloaded);
                    }
                }
            }
            () = stopped(stop) => {
                end(child).await;
                return String::new();
            }
        }
    }
}

/// The next line that a server says, if it still says any.
async fn next(lines: &mut Option<Lines<BufReader<ChildStderr>>>) -> Option<String> {
    match lines {
        Some(lines) => lines.next_line().await.ok().flatten(),
        None => std::future::pending().await,
    }
}

fn begin(program: &Path, places: &Places) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("-c").arg(&places.config).env(ENVIRONMENT.0, ENVIRONMENT.1).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    apart::bind(command.as_std_mut());
    command.spawn()
}

/// Ends a server in good order, or at once if it takes too long.
pub(crate) async fn end(mut child: Child) {
    let told = child.id().is_some_and(|id| apart::tell(id, Ask::End).is_ok());
    if told && tokio::time::timeout(PATIENCE, child.wait()).await.is_ok() {
        return;
    }
    // It can only have ended before.
    let _ = child.start_kill();
    let _ = child.wait().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_how_new_it_is() {
        assert_eq!(version("nats-server: v2.15.1"), Some((2, 15, 1)));
        assert_eq!(version("nats-server: v2.15.0-RC.1"), Some((2, 15, 0)));
        for old in ["nats-server: v2.9.10", "nats-server: v2.12.5"] {
            assert!(version(old).is_some_and(|found| found < SERVER_MIN), "{old}");
        }
        for text in ["", "nats-server", "nats-server: 2.15.1", "nats-server: vx.1", "other: v2.15"]
        {
            assert_eq!(version(text), None, "{text}");
        }
    }
}
