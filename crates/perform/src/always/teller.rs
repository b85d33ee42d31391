//! Telling somebody of changes and outages: a program that reads the event, or a service that is
//! handed it. Whoever it is may be slow or away, so a thread of its own waits, with few events in
//! line and growing pauses between tries, and no visit does.

use crate::target::{Target, Unfit, resolve};
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::watch::log::{About, Notified};
use v6gap_judge::changes::{Event, What};
use v6gap_sys::stop::Stopper;
use v6gap_sys::{apart, clock};
use v6gap_visit::{Site, post};

/// Events that wait to be told at most; what comes then is lost.
const WAITING_MAX: usize = 64;

/// How often an event is tried to be told.
const TRIES_MAX: u32 = 8;

/// Pause behind the first try, in ns; behind each other one it is twice the last.
const PAUSE_NS: u64 = 1_000_000_000;

/// Longest time of a try: of a program to its end, of a service until it has answered.
const LIMIT: Duration = Duration::from_secs(10);

/// What waits when the watch ends has so much time, in ns, and one try each.
const GRACE_NS: u64 = 10_000_000_000;

/// The watch goes on.
const GOES_ON: u64 = u64::MAX;

/// Who is told of changes, and in which form.
#[derive(Debug, Clone)]
pub struct OnChange {
    /// Who.
    pub to: Hearer,
    /// An event as what is told.
    pub document: fn(&Event) -> String,
}

/// Who is told of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hearer {
    /// A program with its words, which reads the event.
    Program(PathBuf, Vec<String>),
    /// A service, which is handed it with a POST.
    Service(Site),
}

impl Hearer {
    /// Who a text names: a URL, or a program with its words, with blanks between and no shell to
    /// read them.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Hearer, String> {
        if text.contains("://") {
            return Site::parse(text).map(Hearer::Service).map_err(|error| error.to_string());
        }
        let mut words = text.split_whitespace().map(str::to_owned);
        let program = words.next().ok_or("it names neither a program nor a URL")?;
        Ok(Hearer::Program(PathBuf::from(program), words.collect()))
    }

    /// Tells it once, in that time; what went wrong in words.
    fn tell(&self, document: &str, limit: Duration) -> Result<(), String> {
        match self {
            Hearer::Program(program, words) => {
                let text = format!("{document}\n");
                match apart::feed(program, words, &text, limit) {
                    Ok(Some(0)) => Ok(()),
                    Ok(Some(exit)) => Err(format!("{} ended with {exit}", program.display())),
                    Ok(None) => Err(format!("{} was killed, or took too long", program.display())),
                    Err(error) => Err(format!("{}: {error}", program.display())),
                }
            }
            Hearer::Service(site) => hand_over(site, document, limit, addresses),
        }
    }
}

/// The addresses of a service.
fn addresses(site: &Site) -> Result<Target, Unfit> {
    resolve(&site.host, site.port, None, None)
}

/// Hands it to a service, at its address of the one family, or of the other if the way there does
/// not lead so far that it may have been heard: nobody is told a thing twice in one try. What
/// `look_up` takes is of that time, too.
fn hand_over(
    site: &Site,
    document: &str,
    limit: Duration,
    look_up: impl FnOnce(&Site) -> Result<Target, Unfit> + Send + 'static,
) -> Result<(), String> {
    let begun = clock::now_ns();
    // What is asked for may be a secret, as in URLs of chats, and this is shown and stored.
    let place = format!("{}://{}", site.scheme.name(), site.authority());
    let told = |error: &dyn Display| format!("{place}: {error}");
    let asked = site.clone();
    let found = within(limit, move || look_up(&asked)).map_err(|error| told(&error))?;
    let found = found.ok_or_else(|| told(&"looking up its name took too long"))?;
    let found = found.map_err(|error| told(&error))?;
    let agent = format!("v6gap/{}", crate::VERSION);
    let of = |family: &Family| *found.addresses.get(*family);
    // IPv6 first, as programs do (RFC 8305).
    let addresses: Vec<SocketAddr> = Family::BOTH.iter().rev().filter_map(of).collect();
    let mut why = told(&"it has no address");
    for address in addresses {
        let gone = Duration::from_nanos(clock::now_ns().saturating_sub(begun));
        match post(site, address, &agent, document, limit.saturating_sub(gone)) {
            Ok(()) => return Ok(()),
            Err(error) if error.may_be_heard() => return Err(told(&error)),
            Err(error) => why = told(&error),
        }
    }
    Err(why)
}

/// What `work` gives in that time. The system's resolver can be told neither to hurry nor to stop,
/// so what takes longer goes on by itself, and nobody hears of it.
fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (gives, came) = channel();
    // Whoever waited may have gone.
    let _thread = Builder::new().spawn(move || drop(gives.send(work())))?;
    Ok(came.recv_timeout(limit).ok())
}

/// An event on its way.
struct Waiting {
    path: String,
    about: About,
    document: String,
}

/// A thread that tells, and what becomes of it.
pub(super) struct Teller {
    document: fn(&Event) -> String,
    line: SyncSender<Waiting>,
    came: Receiver<Notified>,
    /// What was lost before it was in line.
    lost: Vec<Notified>,
    /// When all ends, by the monotonic clock in ns, or [`GOES_ON`].
    end_ns: Arc<AtomicU64>,
    /// Ends a pause then.
    over: Stopper,
    thread: JoinHandle<()>,
}

impl Teller {
    /// One that begins at once.
    ///
    /// # Errors
    /// If threads are short.
    pub(super) fn start(on_change: OnChange) -> io::Result<Self> {
        Self::with_pause(on_change, PAUSE_NS)
    }

    fn with_pause(on_change: OnChange, pause_ns: u64) -> io::Result<Self> {
        let OnChange { to, document } = on_change;
        let (line, waiting) = sync_channel(WAITING_MAX);
        let (tells, came) = channel();
        let (end_ns, over) = (Arc::new(AtomicU64::new(GOES_ON)), Stopper::default());
        let work =
            Work { to, waiting, tells, end_ns: end_ns.clone(), over: over.clone(), pause_ns };
        let thread = Builder::new().spawn(move || work.go_on())?;
        Ok(Teller { document, line, came, lost: Vec::new(), end_ns, over, thread })
    }

    /// Puts an event in line, without waiting.
    pub(super) fn tell(&mut self, event: &Event) {
        let about = match event.what {
            What::Changed { .. } => About::Change,
            What::Outage { .. } => About::Outage,
        };
        let document = (self.document)(event);
        let waiting = Waiting { path: event.path.clone(), about, document };
        let (waiting, why) = match self.line.try_send(waiting) {
            Ok(()) => return,
            Err(TrySendError::Full(waiting)) => (waiting, "too many others wait to be told"),
            Err(TrySendError::Disconnected(waiting)) => (waiting, "nobody tells any more"),
        };
        self.lost.push(waiting.notified(0, Some(why.to_owned())));
    }

    /// What became of events since the last call.
    pub(super) fn heard(&mut self) -> Vec<Notified> {
        let lost = std::mem::take(&mut self.lost);
        lost.into_iter().chain(self.came.try_iter()).collect()
    }

    /// Has what waits told in the time that is left, and says what became of it.
    pub(super) fn end(self) -> Vec<Notified> {
        let Teller { line, came, lost, end_ns, over, thread, .. } = self;
        end_ns.store(clock::now_ns().saturating_add(GRACE_NS), Ordering::Relaxed);
        over.stop();
        drop(line);
        // A thread that panicked has told what it could.
        let _ = thread.join();
        lost.into_iter().chain(came.try_iter()).collect()
    }
}

impl Waiting {
    fn notified(self, tries: u32, why: Option<String>) -> Notified {
        let Waiting { path, about, .. } = self;
        Notified { at_unix_ns: clock::wall_ns(), path, about, tries, why }
    }
}

/// What the thread works with.
struct Work {
    to: Hearer,
    waiting: Receiver<Waiting>,
    tells: Sender<Notified>,
    end_ns: Arc<AtomicU64>,
    over: Stopper,
    pause_ns: u64,
}

impl Work {
    fn go_on(self) {
        while let Ok(waiting) = self.waiting.recv() {
            let (tries, why) = self.tell(&waiting.document);
            // Nobody listens any more when the watch has gone.
            if self.tells.send(waiting.notified(tries, why)).is_err() {
                return;
            }
        }
    }

    /// How often it was tried, and why it was not told in the end.
    fn tell(&self, document: &str) -> (u32, Option<String>) {
        let mut pause_ns = self.pause_ns;
        for tries in 1.. {
            let left_ns = self.end_ns().saturating_sub(clock::now_ns());
            if left_ns == 0 {
                return (tries - 1, Some("the watch ended before".to_owned()));
            }
            match self.to.tell(document, LIMIT.min(Duration::from_nanos(left_ns))) {
                Ok(()) => return (tries, None),
                Err(why) if tries == TRIES_MAX || self.end_ns() != GOES_ON => {
                    return (tries, Some(why));
                }
                Err(_) => {
                    // The end of the watch ends the pause, too.
                    let _ = self.over.rest(Duration::from_nanos(pause_ns));
                }
            }
            pause_ns = pause_ns.saturating_mul(2);
        }
        (0, None)
    }

    fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
