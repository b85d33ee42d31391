//! What writes results into tables and into a database: a process for each time that there is
//! something new. What one of them did not do, the next one does.

use super::Line;
use crate::complaint::said_of;
use crate::now::stopped;
use std::process::Stdio;
use std::time::Duration;
use tokio::sync::watch;

/// How long after something new it is written.
const EVERY: Duration = Duration::from_secs(60);

/// How long at most after something that could not be written; twice as long each time.
const EVERY_MAX: Duration = Duration::from_secs(3_600);

/// How long one may take; who is killed leaves whole results.
const LONGEST: Duration = Duration::from_secs(3_600);

/// How long the last one may take, for which the end of the hub waits.
const LAST: Duration = Duration::from_secs(60);

/// That something could not be written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unwritten {
    pub why: String,
    /// When it is tried again; not by this hub if it ends.
    pub again: Option<Duration>,
}

/// Writes whenever `fresh` is another, and what is left when `stop` says so.
pub(crate) async fn keep_writing(
    line: Line,
    mut fresh: watch::Receiver<u64>,
    says: impl Fn(Unwritten),
    mut stop: watch::Receiver<bool>,
) {
    let mut wait = EVERY;
    // An earlier hub may have left something.
    fresh.mark_changed();
    loop {
        tokio::select! {
            biased;
            changed = fresh.changed() => if changed.is_err() {
                return;
            },
            () = stopped(&mut stop) => return,
        }
        let is_last = tokio::select! {
            biased;
            () = stopped(&mut stop) => true,
            () = tokio::time::sleep(wait) => false,
        };
        // What comes from here on may not be in it.
        fresh.mark_unchanged();
        let written = once(&line, if is_last { LAST } else { LONGEST }).await;
        wait = if written.is_ok() { EVERY } else { (wait * 2).min(EVERY_MAX) };
        if let Err(why) = written {
            says(Unwritten { why, again: (!is_last).then_some(wait) });
            fresh.mark_changed();
        }
        if is_last {
            return;
        }
    }
}

/// Runs it to its end.
async fn once(line: &Line, longest: Duration) -> Result<(), String> {
    let mut command = line.command();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    // It is killed when it is waited for no more.
    match tokio::time::timeout(longest, child.wait_with_output()).await {
        Err(_) => Err(format!("it took longer than {} s", longest.as_secs())),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(output)) if output.status.success() => Ok(()),
        Ok(Ok(output)) => Err(said_of(&String::from_utf8_lossy(&output.stderr))),
    }
}
