//! Ends the waits of a thread from time to time, so that calls without a time limit of their own
//! are bounded. A limit on a socket takes calls on each of them, which counts where thousands are
//! made.

use crate::Unavailable;

/// What is missing without one.
const WHAT: &str = "a timer that interrupts waits";

/// As long as it lives, system calls in which the thread that made it waits end every so often with
/// [`Interrupted`](crate::socket::ErrorClass::Interrupted), unless they are repeated.
#[derive(Debug)]
pub struct Interrupter {
    #[cfg(target_os = "linux")]
    timer: libc::timer_t,
}

#[cfg(target_os = "linux")]
impl Interrupter {
    /// Interrupts the calling thread every `period_ns`, from 1 on.
    ///
    /// # Errors
    /// If the system has no timer for it, or is not to give one (it may be barred in a container).
    pub fn every(period_ns: u64) -> Result<Self, Unavailable> {
        let failed = || Unavailable::new(WHAT, std::io::Error::last_os_error());
        ignore()?;
        let step = libc::timespec {
            tv_sec: (period_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (period_ns.max(1) % 1_000_000_000) as libc::c_long,
        };
        let times = libc::itimerspec { it_interval: step, it_value: step };
        // SAFETY: all of the structure's fields may be zero; the calls read what lives here, and
        // write the timer's name.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGALRM;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer: libc::timer_t = std::ptr::null_mut();
            if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) != 0 {
                return Err(failed());
            }
            let interrupter = Interrupter { timer };
            match libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut()) {
                0 => Ok(interrupter),
                _ => Err(failed()),
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Interrupter {
    fn drop(&mut self) {
        // SAFETY: the timer is this value's own and was not deleted before.
        unsafe { libc::timer_delete(self.timer) };
    }
}

/// Has the signal do nothing but end a wait, where it would end the process.
#[cfg(target_os = "linux")]
fn ignore() -> Result<(), Unavailable> {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: the handler does nothing, so it is safe at any time; without SA_RESTART the calls
    // that it interrupts are not taken up again.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut())
    };
    match set {
        0 => Ok(()),
        _ => Err(Unavailable::new(WHAT, std::io::Error::last_os_error())),
    }
}

#[cfg(not(target_os = "linux"))]
impl Interrupter {
    /// Interrupts the calling thread every so often.
    ///
    /// # Errors
    /// Off Linux.
    pub fn every(_period_ns: u64) -> Result<Self, Unavailable> {
        Err(Unavailable::here(WHAT))
    }
}
