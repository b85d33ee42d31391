//! What goes on elsewhere: a program says it line by line, and every page that asks for the same is
//! told by one of them, as long as there is one that wants to know.

use crate::passed::broken;
use crate::{Shared, program};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use futures_util::stream::unfold;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Programs that follow something at a time.
const FOLLOWED_MAX: usize = 8;

/// Bytes that are kept of what a program says to standard error: its last words.
const WORDS_BYTES: usize = 16 << 10;

/// How long a program may take to end once it has said everything.
const END_TIME: Duration = Duration::from_secs(5);

/// What a program said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    /// A line.
    Line(Arc<str>),
    /// Why it ended, as the failure that it is in the terminal.
    Failed(Arc<str>),
}

/// What the program said last; nothing before its first line.
type Last = Option<Said>;

/// Who is told of what a program says.
type Sender = Arc<watch::Sender<Last>>;

/// The programs that follow something, by their words.
#[derive(Debug, Default)]
pub(crate) struct Following(Mutex<BTreeMap<Vec<String>, Sender>>);

/// Every line of the program that these words are given to, as an event of that name, beginning
/// with the last one; an event `error` if it fails.
pub(crate) fn events(shared: &Arc<Shared>, words: Vec<String>, name: &'static str) -> Response {
    match shared.following.told(shared, words) {
        Ok(told) => Sse::new(lines(told, name)).keep_alive(KeepAlive::default()).into_response(),
        Err(error) => broken(&error),
    }
}

impl Following {
    /// Who is told of every line, beginning with the last one.
    fn told(&self, shared: &Arc<Shared>, words: Vec<String>) -> io::Result<watch::Receiver<Last>> {
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
    let errors = tokio::spawn(last_words(child.stderr.take()));
    if let Some(out) = child.stdout.take() {
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
                Ok(Some(line)) => drop(sender.send_replace(Some(Said::Line(line.into())))),
                Ok(None) | Err(_) => break,
            }
        }
    }
    let failure = failure(child, errors).await;
    // Who comes from now on has it tried again.
    shared.following.ends(&words, &sender, true);
    if let Some(why) = failure {
        sender.send_replace(Some(Said::Failed(why.into())));
    }
}

/// Why a program that has said everything ended; `None` if it is well, or does not end.
async fn failure(mut child: Child, errors: JoinHandle<String>) -> Option<String> {
    let all = async { (child.wait().await, errors.await) };
    let (status, said) = tokio::time::timeout(END_TIME, all).await.ok()?;
    let code = status.ok()?.code().unwrap_or(1);
    // Ctrl-C where this server runs reaches the program as well.
    let is_well = matches!(code, 0 | 130);
    (!is_well).then(|| program::failure(&said.unwrap_or_default(), code).to_string())
}

/// The end of what a program says to standard error. It is read all the while: the pipe must not
/// fill.
async fn last_words(from: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut from) = from else { return String::new() };
    let (mut kept, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut part).await {
        kept.extend_from_slice(&part[..count]);
        let beyond = kept.len().saturating_sub(WORDS_BYTES);
        kept.drain(..beyond);
    }
    let harmless = |c: char| if c.is_control() && c != '\n' { '?' } else { c };
    String::from_utf8_lossy(&kept).chars().map(harmless).collect()
}

/// What was said last, and all that follows it.
fn lines(
    mut told: watch::Receiver<Last>,
    name: &'static str,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    told.mark_changed();
    unfold(told, move |mut told| async move {
        loop {
            told.changed().await.ok()?;
            let said = told.borrow_and_update().clone();
            let (name, text) = match said {
                Some(Said::Line(line)) => (name, line),
                Some(Said::Failed(why)) => ("error", why),
                None => continue,
            };
            let event = sse::Event::default().event(name).data(&*text);
            return Some((Ok(event), told));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a program that does not know such words is told in its own.
    #[tokio::test]
    async fn a_program_that_fails_has_its_last_words() {
        const SHELL: &str = "/bin/sh";
        if !std::path::Path::new(SHELL).exists() {
            return println!("not tested: there is no {SHELL} here");
        }
        let shared = Arc::new(Shared {
            names: Vec::new(),
            read_only: false,
            time_max: None,
            rate_bps_max: None,
            program: program::Program::new(SHELL.into(), None),
            keys: Arc::default(),
            demo: None,
            fleet: None,
            matrix_style: "",
            run: crate::run::Current::default(),
            following: Following::default(),
        });
        let mut told = shared.following.told(&shared, vec!["watch".to_owned()]).unwrap();
        told.changed().await.unwrap();
        let last = told.borrow_and_update().clone();
        let Some(Said::Failed(why)) = &last else { panic!("{last:?}") };
        let why: serde_json::Value = serde_json::from_str(why).unwrap();
        assert_eq!(why["title"], "the program ended unexpectedly");
        assert!(why["why"][0].as_str().unwrap().contains("ption"), "{why}");
        assert!(shared.following.all().is_empty());
    }

    #[tokio::test]
    async fn last_words_are_bounded_and_harmless() {
        let said = [&b"x".repeat(WORDS_BYTES)[..], b"\x1b[2Jgone\n"].concat();
        let kept = last_words(Some(&said[..])).await;
        assert_eq!(kept.len(), WORDS_BYTES);
        assert!(kept.ends_with("x?[2Jgone\n"), "{}", &kept[WORDS_BYTES - 20..]);
        assert_eq!(last_words(None::<&[u8]>).await, "");
    }

    /// Who comes late is told the last line, and the program is forgotten with the last page.
    #[test]
    fn a_program_is_followed_as_long_as_somebody_is_told() {
        let following = Following::default();
        let words = ["watch".to_owned(), "status".to_owned()];
        let (sender, first) = watch::channel::<Last>(None);
        let sender = Arc::new(sender);
        let begin = || drop(following.all().insert(words.to_vec(), Arc::clone(&sender)));
        let is_known = || following.all().contains_key(&words[..]);
        begin();
        sender.send_replace(Some(Said::Line("one".into())));
        let mut late = sender.subscribe();
        late.mark_changed();
        assert!(late.has_changed().is_ok_and(|changed| changed));
        assert_eq!(*late.borrow_and_update(), Some(Said::Line("one".into())));
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
