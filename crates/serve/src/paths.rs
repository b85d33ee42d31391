//! The paths that are watched: how each does, also as the watch goes on, and the history of one.
//!
//! The watch is a process of its own, which these pages neither start nor stop. One program follows
//! its log for all pages, as long as there is one that wants to know.

use crate::answer::{misasked, plain};
use crate::passed::{as_json, broken};
use crate::{Shared, form};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Deserialize;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::watch;

/// What the program said last; nothing before its first line.
type Line = Option<Arc<str>>;

/// The program that follows the log, if a page is told of it.
#[derive(Debug, Default)]
pub(crate) struct Following(Mutex<Option<Arc<watch::Sender<Line>>>>);

/// Everything below `/api/v1` that is of paths.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/paths", get(list))
        .route("/paths/events", get(events))
        .route("/paths/{name}/strips", get(strips))
}

/// How all paths do.
async fn list(State(shared): State<Arc<Shared>>) -> Response {
    let words = ["watch", "status", "--json"].map(str::to_owned).to_vec();
    as_json(shared.program.run(&as_it_was(&shared, words)).await)
}

/// The same now and each time that the watch has gone on.
async fn events(State(shared): State<Arc<Shared>>) -> Response {
    match shared.paths.told(&shared) {
        Ok(told) => Sse::new(lines(told)).keep_alive(KeepAlive::default()).into_response(),
        Err(error) => broken(&error),
    }
}

#[derive(Deserialize)]
struct Back {
    since: Option<String>,
}

/// The history of a path, as pictures and in words.
async fn strips(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    back: Result<Query<Back>, QueryRejection>,
) -> Response {
    let Back { since } = match back {
        Ok(Query(back)) => back,
        Err(error) => return misasked(&error),
    };
    let name = match form::value(&name, "the path") {
        Ok(name) => name,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let since = match since.map(|since| form::word(&since, "the time")).transpose() {
        Ok(since) => since,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let words = ["watch", "history", "--format=strips"].map(str::to_owned).into_iter();
    let words = words.chain(since.map(|since| format!("--since={since}"))).collect();
    let mut words = as_it_was(&shared, words);
    // Whatever it begins with, it is no option.
    words.extend(["--".to_owned(), name]);
    as_json(shared.program.run(&words).await)
}

/// A log that was recorded shows what it showed then.
fn as_it_was(shared: &Shared, mut words: Vec<String>) -> Vec<String> {
    let at = shared.demo.as_ref().and_then(|demo| demo.at_unix_ns);
    words.extend(at.map(|at| format!("--at-unix-ns={at}")));
    words
}

impl Following {
    /// Who is told of every line, beginning with the last one.
    fn told(&self, shared: &Arc<Shared>) -> io::Result<watch::Receiver<Line>> {
        let mut slot = self.slot();
        if let Some(sender) = &*slot {
            return Ok(sender.subscribe());
        }
        let words = ["watch", "status", "--follow", "--json"].map(str::to_owned).to_vec();
        let child = shared.program.follow(&as_it_was(shared, words))?;
        let (sender, told) = watch::channel(None);
        let sender = Arc::new(sender);
        *slot = Some(Arc::clone(&sender));
        tokio::spawn(follow(Arc::clone(shared), child, sender));
        Ok(told)
    }

    /// Forgets the program if it ended or nobody is told any more; else it goes on.
    fn ends(&self, sender: &watch::Sender<Line>, has_ended: bool) -> bool {
        let mut slot = self.slot();
        let ends = has_ended || sender.receiver_count() == 0;
        if ends {
            *slot = None;
        }
        ends
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<watch::Sender<Line>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what the program says, until it ends or nobody wants to know.
async fn follow(shared: Arc<Shared>, mut child: Child, sender: Arc<watch::Sender<Line>>) {
    let Some(out) = child.stdout.take() else {
        shared.paths.ends(&sender, true);
        return;
    };
    let mut lines = BufReader::new(out).lines();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line,
            () = sender.closed() => match shared.paths.ends(&sender, false) {
                true => return,
                // Somebody came at the last moment.
                false => continue,
            },
        };
        match line {
            Ok(Some(line)) => drop(sender.send_replace(Some(line.into()))),
            Ok(None) | Err(_) => {
                shared.paths.ends(&sender, true);
                return;
            }
        }
    }
}

/// The last line, and each that follows it.
fn lines(mut told: watch::Receiver<Line>) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    told.mark_changed();
    unfold(told, |mut told| async move {
        loop {
            told.changed().await.ok()?;
            let line = told.borrow_and_update().clone();
            if let Some(line) = line {
                let event = sse::Event::default().event("status").data(&*line);
                return Some((Ok(event), told));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who comes late is told the last line, and the program is forgotten with the last page.
    #[test]
    fn a_program_is_followed_as_long_as_somebody_is_told() {
        let following = Following::default();
        let (sender, first) = watch::channel::<Line>(None);
        let sender = Arc::new(sender);
        *following.slot() = Some(Arc::clone(&sender));
        sender.send_replace(Some("one".into()));
        let mut late = sender.subscribe();
        late.mark_changed();
        assert!(late.has_changed().is_ok_and(|changed| changed));
        assert_eq!(late.borrow_and_update().as_deref(), Some("one"));
        drop(first);
        assert!(!following.ends(&sender, false) && following.slot().is_some());
        drop(late);
        assert!(following.ends(&sender, false) && following.slot().is_none());
        *following.slot() = Some(Arc::clone(&sender));
        let _still = sender.subscribe();
        assert!(following.ends(&sender, true) && following.slot().is_none());
    }
}
