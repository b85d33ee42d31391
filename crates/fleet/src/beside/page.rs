//! The page beside a hub.

use super::Line;
use crate::complaint::said_of;
use crate::hub::server::end;
use crate::now::stopped;
use crate::pause::Pause;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::time::Instant;

/// How soon a page that ended is begun again the first time, and at most.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// How long the last words of one that ended are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// With what it says where it is.
const OPEN: &str = "Open ";

/// What became of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Did {
    /// It can be opened by this link, once.
    Opened(String),
    /// It ended by itself, or could not be begun, with the reason.
    Ended(String),
}

/// Keeps the page up until `stop` says so; each time that `asks` has something it gives another
/// link.
pub(crate) async fn keep_up(
    line: Line,
    mut asks: UnboundedReceiver<()>,
    says: impl Fn(Did),
    mut stop: watch::Receiver<bool>,
) {
    let [first, most] = AGAIN;
    let mut pause = Pause::new(first, most);
    while !*stop.borrow() {
        let began = Instant::now();
        let why = once(&line, &mut asks, &says, &mut stop).await;
        if *stop.borrow() {
            return;
        }
        says(Did::Ended(why));
        if pause.pass(began.elapsed(), &mut stop).await {
            return;
        }
    }
}

/// Runs it until it ends, and gives its last words.
async fn once(
    line: &Line,
    asks: &mut UnboundedReceiver<()>,
    says: &impl Fn(Did),
    stop: &mut watch::Receiver<bool>,
) -> String {
    let mut command = line.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return error.to_string(),
    };
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut input), Some(output), Some(errors)) = (input, output, errors) else {
        return "it cannot be heard".to_owned();
    };
    let mut lines = BufReader::new(output).lines();
    let mut errors = BufReader::new(errors).lines();
    let (mut speaks, mut complains, mut last) = (true, true, String::new());
    loop {
        tokio::select! {
            line = lines.next_line(), if speaks => match line {
                Ok(Some(line)) => {
                    if let Some(link) = link(&line) {
                        says(Did::Opened(link));
                    }
                }
                Ok(None) | Err(_) => speaks = false,
            },
            line = errors.next_line(), if complains => match line {
                Ok(Some(line)) => last = line,
                Ok(None) | Err(_) => complains = false,
            },
            // It ends if it does not read any more.
            Some(()) = asks.recv() => drop(input.write_all(b"\n").await),
            ended = child.wait() => {
                let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                let rest = async {
                    while let Ok(Some(line)) = errors.next_line().await {
                        last = line;
                    }
                };
                let _ = tokio::time::timeout(LAST_WORDS, rest).await;
                return format!("{how}: {}", said_of(&last));
            }
            () = stopped(stop) => {
                end(child).await;
                return String::new();
            }
        }
    }
}

/// The link in a line that has one.
fn link(line: &str) -> Option<String> {
    line.strip_prefix(OPEN)?.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_in_the_line_that_says_where_to_open_the_page() {
        let host = std::net::Ipv6Addr::LOCALHOST;
        let line = format!("Open  http://[{host}]:4466/#k=0a1b  (also http://[{host}]:4467/)");
        assert_eq!(link(&line), Some(format!("http://[{host}]:4466/#k=0a1b")));
        assert_eq!(link("The link works once; Enter prints another. Ctrl-C stops it."), None);
        assert_eq!(link("Open  "), None);
    }
}
