//! What goes on elsewhere: a program says it line by line, and every page that asks for the same is
//! told by one of them, as long as there is one that wants to know.

use crate::Shared;
use crate::passed::broken;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use futures_util::stream::unfold;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::watch;

/// Programs that follow something at a time.
const FOLLOWED_MAX: usize = 8;

/// What the program said last; nothing before its first line.
type Line = Option<Arc<str>>;

/// Who is told of the lines of a program.
type Sender = Arc<watch::Sender<Line>>;

/// The programs that follow something, by their words.
#[derive(Debug, Default)]
pub(crate) struct Following(Mutex<BTreeMap<Vec<String>, Sender>>);

/// Every line of the program that these words are given to, as an event of that name, beginning
/// with the last one.
pub(crate) fn events(shared: &Arc<Shared>, words: Vec<String>, name: &'static str) -> Response {
    match shared.following.told(shared, words) {
        Ok(told) => Sse::new(lines(told, name)).keep_alive(KeepAlive::default()).into_response(),
        Err(error) => broken(&error),
    }
}

impl Following {
    /// Who is told of every line, beginning with the last one.
    fn told(&self, shared: &Arc<Shared>, words: Vec<String>) -> io::Result<watch::Receiver<Line>> {
        let mut all = self.all();
        if let Some(sender) = all.get(&words) {
            return Ok(sender.subscribe());
        }
        if all.len() >= FOLLOWED_MAX {
            return Err(io::Error::from(io::ErrorKind::ResourceBusy));
        }
        let child = shared.program.follow(&words)?;
        let (sender, told) = watch::channel(None);
        let sender = Arc::new(sender);
        all.insert(words.clone(), Arc::clone(&sender));
        tokio::spawn(follow(Arc::clone(shared), words, child, sender));
        Ok(told)
    }

    /// Forgets a program if it ended or nobody is told any more; else it goes on.
    fn ends(&self, words: &[String], sender: &Sender, has_ended: bool) -> bool {
        let mut all = self.all();
        let ends = has_ended || sender.receiver_count() == 0;
        if ends {
            all.remove(words);
        }
        ends
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Vec<String>, Sender>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what the program says, until it ends or nobody wants to know.
async fn follow(shared: Arc<Shared>, words: Vec<String>, mut child: Child, sender: Sender) {
    let Some(out) = child.stdout.take() else {
        shared.following.ends(&words, &sender, true);
        return;
    };
    let mut lines = BufReader::new(out).lines();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line,
            () = sender.closed() => match shared.following.ends(&words, &sender, false) {
                true => return,
                // Somebody came at the last moment.
                false => continue,
            },
        };
        match line {
            Ok(Some(line)) => drop(sender.send_replace(Some(line.into()))),
            Ok(None) | Err(_) => {
                shared.following.ends(&words, &sender, true);
                return;
            }
        }
    }
}

/// The last line, and each that follows it.
fn lines(
    mut told: watch::Receiver<Line>,
    name: &'static str,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    told.mark_changed();
    unfold(told, move |mut told| async move {
        loop {
            told.changed().await.ok()?;
            let line = told.borrow_and_update().clone();
            if let Some(line) = line {
                let event = sse::Event::default().event(name).data(&*line);
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
        let words = ["watch".to_owned(), "status".to_owned()];
        let (sender, first) = watch::channel::<Line>(None);
        let sender = Arc::new(sender);
        let begin = || drop(following.all().insert(words.to_vec(), Arc::clone(&sender)));
        let is_known = || following.all().contains_key(&words[..]);
        begin();
        sender.send_replace(Some("one".into()));
        let mut late = sender.subscribe();
        late.mark_changed();
        assert!(late.has_changed().is_ok_and(|changed| changed));
        assert_eq!(late.borrow_and_update().as_deref(), Some("one"));
        drop(first);
        assert!(!following.ends(&words, &sender, false) && is_known());
        drop(late);
        assert!(following.ends(&words, &sender, false) && !is_known());
        begin();
        let _still = sender.subscribe();
        assert!(!following.ends(&words[..1], &sender, false) && is_known());
        assert!(following.ends(&words, &sender, true) && !is_known());
    }
}
