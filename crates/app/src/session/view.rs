//! The view that is redrawn in place: a few lines, at most four times in a second.
//!
//! It is drawn between trials, and by a thread of its own while a trial runs that is long enough
//! not to feel it. During a shorter one, or while both families take turns of milliseconds, that
//! thread sleeps until it is woken, so that it never shares a processor with such a trial.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use v6gap_report::text::{Live, Moment, Style};
use v6gap_sys::clock::now_ns;
use v6gap_sys::term::Keys;

/// Time from one drawing to the next at least, in ns: four in a second.
const EVERY_NS: u64 = 250_000_000;

/// Drawings in a second that the terminal's own limit lets pass; ours is lower.
const LIMIT_HZ: u8 = 20;

/// A trial during which the view goes on is at least so long, in ns.
pub const LONG_NS: u64 = 250_000_000;

/// The view and the thread that draws it.
pub struct View {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    drawn: Mutex<Drawn>,
    changed: Condvar,
}

struct Drawn {
    bar: ProgressBar,
    style: Style,
    live: Option<Live>,
    moment: Moment,
    started_ns: u64,
    last_ns: u64,
    /// Set by keys; also tells that someone else set it.
    stop: Arc<AtomicBool>,
    keys: Option<Keys>,
    asleep: Sleep,
    over: bool,
}

/// Whether the thread may draw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sleep {
    Awake,
    /// It is told to sleep.
    Told,
    /// It sleeps until it is woken.
    Sound,
}

impl View {
    /// A view without a run yet, on standard error.
    pub fn new(style: Style) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(LIMIT_HZ);
        let bar = ProgressBar::with_draw_target(None, target);
        // The template is a constant that a test reads, so the plain style is never needed.
        let plain = ProgressStyle::default_spinner();
        bar.set_style(ProgressStyle::with_template(TEMPLATE).unwrap_or(plain));
        let drawn = Drawn {
            bar,
            style,
            live: None,
            moment: Moment::default(),
            started_ns: now_ns(),
            last_ns: 0,
            stop: Arc::default(),
            keys: None,
            asleep: Sleep::Awake,
            over: false,
        };
        let shared = Arc::new(Shared { drawn: Mutex::new(drawn), changed: Condvar::new() });
        View { shared, thread: None }
    }

    /// Shows what is being done before the run.
    pub fn say(&self, text: &str) {
        let drawn = self.shared.lock();
        drawn.bar.set_message(drawn.style.fit(text));
    }

    /// Writes a line above the view, where it stays.
    pub fn print(&self, text: &str) {
        self.shared.lock().bar.println(text);
    }

    /// The measurement begins: from now on there is something to draw, and keys are read, if
    /// `keys` may be and this process owns a terminal. `stop` is set by the key that stops.
    pub fn begin(&mut self, live: Live, keys: bool, stop: &Arc<AtomicBool>) {
        let mut drawn = self.shared.lock();
        drawn.keys = if keys { Keys::read().ok() } else { None };
        drawn.moment.keys = drawn.keys.is_some();
        drawn.stop = Arc::clone(stop);
        drawn.live = Some(live);
        drawn.started_ns = now_ns();
        drop(drawn);
        let shared = Arc::clone(&self.shared);
        // Without one it is drawn when something happens.
        self.thread = std::thread::Builder::new().spawn(move || shared.watch()).ok();
    }

    /// A trial begins. The thread sleeps before this returns unless the trial is `long`.
    pub fn before(&self, long: bool) {
        let mut drawn = self.shared.lock();
        drawn.refresh();
        if long || self.thread.is_none() {
            drawn.asleep = Sleep::Awake;
            self.shared.changed.notify_all();
            return;
        }
        if drawn.asleep == Sleep::Awake {
            drawn.asleep = Sleep::Told;
        }
        self.shared.changed.notify_all();
        // A thread that panicked keeps nobody waiting.
        let lives = || self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        while drawn.asleep == Sleep::Told && lives() {
            let waited = self.shared.changed.wait_timeout(drawn, Duration::from_nanos(EVERY_NS));
            drawn = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Something is known that was not before; drawn soon.
    pub fn change(&self, change: impl FnOnce(&mut Live)) {
        let mut drawn = self.shared.lock();
        if let Some(live) = &mut drawn.live {
            change(live);
        }
        drawn.refresh();
    }

    /// The view goes, and the terminal is as it was.
    pub fn end(&mut self) {
        {
            let mut drawn = self.shared.lock();
            drawn.over = true;
            drawn.keys = None;
            drawn.bar.finish_and_clear();
            self.shared.changed.notify_all();
        }
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so by itself.
            let _ = thread.join();
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.end();
    }
}

/// What indicatif draws: the lines that we made.
const TEMPLATE: &str = "{msg}";

impl Shared {
    /// Nothing in here is left half done by a panic: each change is one assignment.
    fn lock(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does until the view goes.
    fn watch(&self) {
        let mut drawn = self.lock();
        while !drawn.over {
            if drawn.asleep == Sleep::Awake {
                drawn.refresh();
                let every = Duration::from_nanos(EVERY_NS);
                let waited = self.changed.wait_timeout(drawn, every);
                drawn = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                drawn.asleep = Sleep::Sound;
                self.changed.notify_all();
                drawn = self.changed.wait(drawn).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drawn {
    /// Reads keys and draws, unless that was done a moment ago.
    fn refresh(&mut self) {
        let now_ns = now_ns();
        if self.over || now_ns - self.last_ns < EVERY_NS {
            return;
        }
        self.last_ns = now_ns;
        self.listen();
        self.moment.elapsed_ns = now_ns - self.started_ns;
        if let Some(live) = &self.live {
            self.bar.set_message(live.frame(&self.moment, &self.style));
        }
    }

    fn listen(&mut self) {
        while let Some(key) = self.keys.as_ref().and_then(|keys| keys.next(Duration::ZERO)) {
            match key {
                b'q' | b'Q' => self.stop.store(true, Ordering::Relaxed),
                b'd' | b'D' => self.moment.details = !self.moment.details,
                b'?' | b'h' => self.moment.help = !self.moment.help,
                _ => {}
            }
        }
        // A second Ctrl-C ends the program at once: the terminal must be as it was by then.
        if self.stop.load(Ordering::Relaxed) {
            self.keys = None;
            self.moment.keys = false;
            self.moment.stopping = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_one() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    /// While a short trial runs, the thread waits without a time at which it would wake up.
    #[test]
    fn the_thread_sleeps_before_a_short_trial_begins() {
        let mut view = View::new(Style::default());
        let shared = Arc::clone(&view.shared);
        let thread = Arc::clone(&view.shared);
        view.thread = Some(std::thread::spawn(move || thread.watch()));
        for _ in 0..100 {
            view.before(false);
            assert!(shared.lock().asleep == Sleep::Sound);
            view.before(true);
            assert!(shared.lock().asleep == Sleep::Awake);
        }
        view.before(false);
        view.end();
        assert!(view.thread.is_none());
    }

    #[test]
    fn drawing_is_rare() {
        let view = View::new(Style::default());
        let mut drawn = view.shared.lock();
        drawn.refresh();
        let first_ns = drawn.last_ns;
        drawn.refresh();
        assert_eq!(drawn.last_ns, first_ns);
    }
}
