//! Going before others: a thread that ordinary ones of its processor do not interrupt.
//!
//! What emulates a link must be there when a frame is due. A kernel shares a processor among
//! ordinary threads in turns of milliseconds, which is many times a round trip.

use crate::Unavailable;
use std::io;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
#[cfg(target_os = "linux")]
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

/// What is asked for.
const WHAT: &str = "real-time priority";
/// The lowest of the real-time priorities, which goes before all ordinary threads (sched(7)).
#[cfg(target_os = "linux")]
const LOWEST: libc::c_int = 1;
/// Starts the threads that have the right to [`set_real_time`] where this process has it no more.
#[cfg(target_os = "linux")]
static STARTER: OnceLock<Sender<Box<dyn FnOnce() + Send>>> = OnceLock::new();

/// Lets the calling thread go before every ordinary one of its processor (SCHED_FIFO); threads that
/// it starts are ordinary. It should have the processor to itself, wait when it has no work and
/// leave others some time: Linux stops who uses more than 950 ms of a second for the rest of it.
///
/// # Errors
/// Where the platform has no such thing, and without the right to it (CAP_SYS_NICE, or a limit of
/// the priority).
pub fn set_real_time() -> Result<(), Unavailable> {
    #[cfg(target_os = "linux")]
    {
        ask(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, LOWEST)
            .map_err(|error| Unavailable::new(WHAT, error))
    }
    #[cfg(not(target_os = "linux"))]
    {
        Err(Unavailable::here(WHAT))
    }
}

/// Makes the calling thread an ordinary one.
pub fn set_ordinary() {
    // Everybody may, and where nothing else can be there is nothing to do.
    #[cfg(target_os = "linux")]
    let _ = ask(libc::SCHED_OTHER, 0);
}

/// Starts a thread that has the right to [`set_real_time`] if this process had it before it entered
/// a user namespace, and may have real-time priority from its beginning.
///
/// # Errors
/// If the system starts no thread.
pub fn start_thread<T: Send + 'static>(
    named: Builder,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    #[cfg(target_os = "linux")]
    if let Some(starter) = STARTER.get() {
        let (answer, started) = mpsc::channel();
        let start = move || drop(answer.send(named.spawn(body)));
        let gone = || io::Error::other("the thread that starts others has ended");
        starter.send(Box::new(start)).map_err(|_| gone())?;
        return started.recv().map_err(|_| gone())?;
    }
    named.spawn(body)
}

/// Does `enter`, which takes this process's rights away, and keeps the right to real-time priority
/// if it has that: a thread inherits the priority of the one that starts it, without being asked
/// for a right. To be called with one thread.
#[cfg(target_os = "linux")]
pub(crate) fn keeping_the_right<E>(enter: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    // Somebody may have given this process another policy, which its threads inherit as well.
    let has = policy() == libc::SCHED_OTHER && ask(libc::SCHED_FIFO, LOWEST).is_ok();
    let entered = enter();
    if has && entered.is_ok() {
        let (starter, asked) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let begins = Builder::new().spawn(move || asked.into_iter().for_each(|start| start()));
        if begins.is_ok() {
            let _ = STARTER.set(starter);
        }
    }
    if has {
        set_ordinary();
    }
    entered
}

/// The policy of the calling thread.
#[cfg(target_os = "linux")]
fn policy() -> libc::c_int {
    // SAFETY: 0 is the calling thread, and nothing is written.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    libc::c_int::try_from(policy).unwrap_or(-1)
}

/// Asks for a policy and a priority of the calling thread.
#[cfg(target_os = "linux")]
fn ask(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // The kernel's parameters are that one number; musl's function of this name only refuses.
    // SAFETY: 0 is the calling thread; the parameters live through the call.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_may_is_in_real_time_and_those_that_it_starts_are_not() {
        std::thread::spawn(|| match set_real_time() {
            Ok(()) => {
                assert_eq!(policy(), libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK);
                let started = std::thread::spawn(policy).join().expect("the call cannot panic");
                assert_eq!(started, libc::SCHED_OTHER);
                set_ordinary();
                assert_eq!(policy() & !libc::SCHED_RESET_ON_FORK, libc::SCHED_OTHER);
            }
            Err(unavailable) => {
                assert_eq!(unavailable.what, WHAT);
                assert_eq!(policy(), libc::SCHED_OTHER, "{unavailable}");
            }
        })
        .join()
        .expect("the assertions hold");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_right_outlives_what_takes_it_away() {
        let (has, after) = std::thread::spawn(|| {
            let mut has = false;
            let entered = keeping_the_right(|| {
                has = policy() == libc::SCHED_FIFO;
                Ok::<(), ()>(())
            });
            assert_eq!(entered, Ok(()));
            (has, policy())
        })
        .join()
        .expect("the assertions hold");
        assert_eq!(after, libc::SCHED_OTHER);
        let started = start_thread(Builder::new(), policy)
            .and_then(|thread| thread.join().map_err(|_| io::Error::other("it panicked")));
        assert_eq!(started.ok(), Some(if has { libc::SCHED_FIFO } else { libc::SCHED_OTHER }));
    }
}
