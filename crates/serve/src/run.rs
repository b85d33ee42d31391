//! The one measurement that may be going on, and everything it has said, so that a page that is
//! opened or reloaded later sees all of it.

use crate::Shared;
use crate::program::failure;
use axum::response::sse;
use futures_util::Stream;
use futures_util::stream::{once, unfold};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;

/// Pages are told at most so often.
const EVERY: Duration = Duration::from_millis(250);

/// Events that are kept; of a longer run the newest trials are not told, its pairs and end are.
const EVENTS_MAX: usize = 100_000;

/// The last measurement that was started here.
#[derive(Debug, Default)]
pub(crate) struct Current(Mutex<Option<Arc<Live>>>);

/// A measurement that was started here.
#[derive(Debug)]
pub(crate) struct Live {
    /// As it would be typed.
    pub command: String,
    /// Which one it is of those that were started here.
    serial: u64,
    input: Mutex<Input>,
    said: Mutex<Output>,
    /// How many events there are, and whether there will be more.
    told: watch::Sender<(usize, bool)>,
}

/// What a measurement reads; it stops when that is closed.
#[derive(Debug, Default)]
struct Input {
    pipe: Option<ChildStdin>,
    stopped: bool,
}

#[derive(Debug, Default)]
struct Output {
    id: Option<String>,
    events: Vec<Arc<str>>,
}

impl Current {
    /// The last measurement.
    pub(crate) fn get(&self) -> Option<Arc<Live>> {
        self.slot().clone()
    }

    /// The measurement of that name, or the last for `live`.
    pub(crate) fn named(&self, id: &str) -> Option<Arc<Live>> {
        self.get().filter(|live| id == "live" || live.id().as_deref() == Some(id))
    }

    /// Starts one, which reads `input`; `Ok(None)` if one is going on.
    pub(crate) fn start(
        &self,
        shared: &Shared,
        args: &[String],
        input: Vec<u8>,
        command: String,
    ) -> io::Result<Option<Arc<Live>>> {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|live| !live.is_over()) {
            return Ok(None);
        }
        let mut child = shared.program.start(args)?;
        let (told, _) = watch::channel((0, false));
        let (pipe, said) = (child.stdin.take(), Mutex::default());
        let serial = slot.as_ref().map_or(0, |before| before.serial + 1);
        let live = Arc::new(Live { command, serial, input: Mutex::default(), said, told });
        tokio::spawn(tell(Arc::clone(&live), pipe, input));
        tokio::spawn(follow(Arc::clone(&live), child));
        *slot = Some(Arc::clone(&live));
        Ok(Some(live))
    }

    /// Stops what is going on, says so by `waiting`, and waits until it is stored. A trial may last
    /// an hour and a block has several, so that only a person can know what is too long: a second
    /// Ctrl-C ends this program.
    pub(crate) async fn stop_and_wait(&self, waiting: impl FnOnce()) {
        let Some(live) = self.get().filter(|live| !live.is_over()) else { return };
        live.stop();
        waiting();
        let mut told = live.told.subscribe();
        // It cannot fail: what tells of the end is kept by `live`.
        let _ = told.wait_for(|(_, over)| *over).await;
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Live>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Identifier of the run, once it has one.
    pub(crate) fn id(&self) -> Option<String> {
        self.said().id.clone()
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.told.borrow().1
    }

    /// Asks it to stop after the present block, as Ctrl-C does; asking again changes nothing.
    pub(crate) fn stop(&self) {
        let mut input = self.input();
        input.stopped = true;
        drop(input.pipe.take());
    }

    fn input(&self) -> MutexGuard<'_, Input> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> MutexGuard<'_, Output> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, line: &str) {
        // The result itself is asked for by its name.
        if line.is_empty() || line.starts_with("{\"schema\"") {
            return;
        }
        let mut said = self.said();
        if line.starts_with("{\"event\":\"begin\"") {
            let begin: Option<Value> = serde_json::from_str(line).ok();
            said.id = begin.and_then(|b| Some(b.get("id")?.as_str()?.to_owned()));
        }
        let trial =
            line.starts_with("{\"event\":\"trial\"") || line.starts_with("{\"event\":\"block\"");
        if said.events.len() < EVENTS_MAX || !trial {
            said.events.push(line.into());
        }
        let count = said.events.len();
        drop(said);
        self.told.send_replace((count, false));
    }

    fn end(&self, exit: i32) {
        self.tell(&json!({"event": "closed", "exit": exit}).to_string());
        self.told.send_modify(|(_, over)| *over = true);
    }
}

/// Gives the measurement what it reads, and keeps its input open until it shall stop.
async fn tell(live: Arc<Live>, pipe: Option<ChildStdin>, text: Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    // One that ended before it had read everything says why by itself.
    let _ = pipe.write_all(&text).await;
    let mut input = live.input();
    if !input.stopped {
        input.pipe = Some(pipe);
    }
}

/// Keeps what the measurement says until it ends.
async fn follow(live: Arc<Live>, mut child: Child) {
    let errors = child.stderr.take();
    let errors = tokio::spawn(async move {
        let mut text = Vec::new();
        if let Some(errors) = errors {
            // What is beyond this nobody reads; the pipe must not fill.
            let mut errors = BufReader::new(errors);
            let _ = (&mut errors).take(1 << 20).read_to_end(&mut text).await;
            let _ = tokio::io::copy(&mut errors, &mut tokio::io::sink()).await;
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut failed = false;
    if let Some(out) = child.stdout.take() {
        let mut lines = BufReader::new(out).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            failed |= line.starts_with("{\"event\":\"error\"");
            live.tell(&line);
        }
    }
    let code = child.wait().await.ok().and_then(|status| status.code()).unwrap_or(1);
    let errors = errors.await.unwrap_or_default();
    let measured = matches!(code, 0 | 6 | 10 | 11 | 130);
    if !failed && !measured {
        let mut line = failure(&errors, code);
        line["event"] = "error".into();
        live.tell(&line.to_string());
    }
    live.end(code);
}

/// What is asked for: everything behind the event of that name, or from the beginning; `None` if it
/// is one of another measurement, which is over for whoever followed it.
pub(crate) fn behind(live: &Live, seen: Option<&str>) -> Option<usize> {
    let Some((serial, place)) = seen.and_then(|seen| seen.split_once('-')) else { return Some(0) };
    let is_it = serial.parse() == Ok(live.serial);
    is_it.then(|| place.parse::<usize>().map_or(0, |place| place.saturating_add(1)))
}

/// Everything from event `next` on, as it happens. An event is named after its measurement and its
/// place.
pub(crate) fn events(
    live: Arc<Live>,
    next: usize,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    let told = live.told.subscribe();
    unfold((live, told, next), |(live, mut told, next)| async move {
        loop {
            let line = live.said().events.get(next).cloned();
            if let Some(line) = line {
                let id = format!("{}-{next}", live.serial);
                let event = sse::Event::default().id(id).event(kind(&line)).data(&*line);
                return Some((Ok(event), (live, told, next + 1)));
            }
            let (count, over) = *told.borrow_and_update();
            if count > next {
                continue;
            }
            if over || told.changed().await.is_err() {
                return None;
            }
            tokio::time::sleep(EVERY).await;
        }
    })
}

/// The end of a measurement that was followed and is another one now.
pub(crate) fn gone() -> impl Stream<Item = Result<sse::Event, Infallible>> {
    let line = json!({"event": "closed", "exit": null}).to_string();
    once(async { Ok(sse::Event::default().event("closed").data(line)) })
}

/// What an event is called, which every line begins with.
fn kind(line: &str) -> String {
    let event: Option<Value> = serde_json::from_str(line).ok();
    event.and_then(|e| Some(e.get("event")?.as_str()?.to_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn live(serial: u64) -> Live {
        let (told, _) = watch::channel((0, false));
        let (input, said) = (Mutex::default(), Mutex::default());
        Live { command: String::new(), serial, input, said, told }
    }

    /// A page that comes back goes on with what it followed, and never with another measurement.
    #[test]
    fn whoever_comes_back_goes_on_with_the_same_measurement() {
        let live = live(7);
        for (seen, next) in [(None, 0), (Some("7-250"), 251), (Some("7-x"), 0), (Some("250"), 0)] {
            assert_eq!(behind(&live, seen), Some(next), "{seen:?}");
        }
        assert_eq!(behind(&live, Some("6-250")), None);
    }

    /// Who measures is killed when nobody waits for it any more, and its block is lost.
    #[tokio::test(start_paused = true)]
    async fn a_block_is_waited_for_until_it_is_over() {
        let (live, said) = (Arc::new(live(0)), Cell::new(0));
        let current = Current(Mutex::new(Some(Arc::clone(&live))));
        let waiting = || said.set(said.get() + 1);
        let mut waits = std::pin::pin!(current.stop_and_wait(waiting));
        let hours = Duration::from_secs(3 * 3600);
        assert!(tokio::time::timeout(hours, waits.as_mut()).await.is_err());
        assert_eq!((live.input().stopped, said.get()), (true, 1));
        live.end(130);
        waits.await;
        // Where nothing is going on there is nothing to say.
        current.stop_and_wait(waiting).await;
        Current::default().stop_and_wait(waiting).await;
        assert_eq!(said.get(), 1);
    }
}
