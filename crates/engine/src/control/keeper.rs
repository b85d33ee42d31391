//! Keeps a session alive while the caller is busy with other things: a thread that sleeps until the
//! server says something, and lets the machine answer.
//!
//! A server asks only between tasks. During a task it says nothing unless the task has failed, so
//! the thread sleeps while anything is measured.

use super::client::Driver;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use v6gap_sys::socket::Waker;

/// The thread, and the way to it and back.
pub(super) struct Keeper {
    give: Option<Sender<Box<Driver>>>,
    back: Receiver<Box<Driver>>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// A keeper that keeps nothing yet.
    pub(super) fn start() -> io::Result<Keeper> {
        let (give, given) = mpsc::channel::<Box<Driver>>();
        let (return_to, back) = mpsc::channel();
        let waker = Arc::new(Waker::new()?);
        let wakes = Arc::clone(&waker);
        let body = move || {
            for mut driver in given {
                driver.keep(&wakes);
                wakes.clear();
                if return_to.send(driver).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("control".to_string()).spawn(body)?;
        Ok(Keeper { give: Some(give), back, waker, thread: Some(thread) })
    }

    /// Leaves the session to the thread.
    pub(super) fn keep(&self, driver: Box<Driver>) {
        if let Some(give) = &self.give {
            // If the thread has died, the session is over, which is noticed when it is taken back.
            let _ = give.send(driver);
        }
    }

    /// Takes the session back; `None` if it was not kept.
    pub(super) fn take(&self) -> Option<Box<Driver>> {
        self.waker.wake();
        self.back.recv().ok()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.give = None;
        self.waker.wake();
        // What the thread keeps is closed with it, at once and not some time later.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
