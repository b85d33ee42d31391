//! What has something end: Ctrl-C, a request of the system, or whoever has had enough of it. Who
//! waits for it is told, and need not wake up to look.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Signals that ask a program to end: Ctrl-C at its terminal, and the one of the system.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Set by the first signal that asks this program to end. With `again` a second one ends it at
/// once, with that exit code.
///
/// # Errors
/// If the system does not let the program watch for them.
pub fn signalled(again: Option<i32>) -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        if let Some(status) = again {
            // Before the flag is set by the same signal.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&stop))?;
        }
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// What is called when it is stopped.
type Hearer = Box<dyn FnOnce() + Send>;

/// Has something end. Its clones are one: who stops one stops all.
#[derive(Clone, Default)]
pub struct Stopper(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// A signal sets it before anybody is told.
    flag: Arc<AtomicBool>,
    hearers: Mutex<Vec<Hearer>>,
    stopped: Condvar,
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stopper").field(&self.is_stopped()).finish()
    }
}

impl Stopper {
    /// One that the first signal stops, as [`signalled`] has it.
    ///
    /// # Errors
    /// As [`signalled`], or if threads are short.
    pub fn by_signals(again: Option<i32>) -> io::Result<Self> {
        let stopper = Stopper(Arc::new(Inner { flag: signalled(again)?, ..Inner::default() }));
        heed(stopper.clone())?;
        Ok(stopper)
    }

    /// Stops it, and tells whoever waits. Once more changes nothing.
    pub fn stop(&self) {
        self.0.flag.store(true, Ordering::SeqCst);
        let hearers = std::mem::take(&mut *self.lock());
        self.0.stopped.notify_all();
        hearers.into_iter().for_each(|hear| hear());
    }

    /// Whether it is stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.flag.load(Ordering::SeqCst)
    }

    /// Calls `hear` once it is stopped, in another thread; here and now if it is already.
    pub fn then(&self, hear: impl FnOnce() + Send + 'static) {
        let mut hearers = self.lock();
        if !self.is_stopped() {
            hearers.push(Box::new(hear));
            return;
        }
        drop(hearers);
        hear();
    }

    /// Rests for that time, or until it is stopped; whether it is.
    pub fn rest(&self, time: Duration) -> bool {
        let goes_on = |_: &mut Vec<Hearer>| !self.is_stopped();
        drop(self.0.stopped.wait_timeout_while(self.lock(), time, goes_on));
        self.is_stopped()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Hearer>> {
        // Nothing is done under the lock that could leave half of it.
        self.0.hearers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops it when a signal came: a handler may do little more than write to a pipe, at whose other
/// end a thread sleeps until then.
#[cfg(unix)]
fn heed(stopper: Stopper) -> io::Result<()> {
    use std::io::Read;
    let (mut hears, says) = std::os::unix::net::UnixStream::pair()?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, says.try_clone()?)?;
    }
    let sleep = move || {
        if hears.read_exact(&mut [0]).is_ok() {
            stopper.stop();
        }
    };
    Builder::new().name("signals".to_owned()).spawn(sleep)?;
    // One may have come before there was a pipe; whoever asks is told of it by the flag.
    Ok(())
}

/// Where a handler can wake nobody, a thread looks.
#[cfg(not(unix))]
fn heed(stopper: Stopper) -> io::Result<()> {
    /// How often.
    const LOOK: Duration = Duration::from_millis(200);
    let look = move || {
        while !stopper.is_stopped() {
            std::thread::sleep(LOOK);
        }
        stopper.stop();
    };
    Builder::new().name("signals".to_owned()).spawn(look)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Longer than any test may take: who waits so long was not told.
    const LONG: Duration = Duration::from_secs(3_600);

    #[test]
    fn all_who_wait_are_told_once_and_who_comes_later_at_once() {
        let stopper = Stopper::default();
        let (says, hears) = channel();
        for number in [1, 2] {
            let says = says.clone();
            stopper.then(move || says.send(number).unwrap());
        }
        assert!(!stopper.is_stopped() && hears.try_recv().is_err());
        let other = stopper.clone();
        let resting = std::thread::spawn(move || other.rest(LONG));
        stopper.stop();
        stopper.stop();
        assert!(resting.join().unwrap());
        stopper.then(move || says.send(3).unwrap());
        assert_eq!(hears.iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(stopper.rest(LONG));
    }

    #[test]
    fn a_rest_that_nobody_ends_is_over_in_its_time() {
        assert!(!Stopper::default().rest(Duration::from_millis(1)));
    }
}
