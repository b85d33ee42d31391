//! The user-space link: one thread that carries the frames of all links and delivers each when its
//! last bit would arrive.
//!
//! Every decision is [`LinkClock`]'s; this is only the carrying. The kernel stamps arrivals, so a
//! late wake-up delays a frame but does not accumulate, on one line or over several: the mean rate
//! stays exact, and the lateness is recorded. The thread spins while there is traffic, because a
//! sleeping one wakes tens of microseconds late, and sleeps between trials.

mod carrier;
mod forwarded;
mod rests;

use crate::LabError;
use crate::lateness::{Lateness, Recorder};
use carrier::Carrier;
use rests::Rests;
use std::io::PipeWriter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use v6gap_core::family::PerFamily;
use v6gap_core::world::{Conditions, Link};
use v6gap_sys::packet::Port;
use v6gap_sys::{Unavailable, clock, cpu};

/// A link with the ports at its two ends.
pub(crate) struct Cable {
    pub link: Link,
    pub vlan_tags: u32,
    /// The code points that have priority, one bit each.
    pub priority: u64,
    /// The nodes at its ends, by number, where they do nothing but forward.
    pub forwarders: [Option<usize>; 2],
    pub ports: [Port; 2],
}

/// New conditions for links, by number, until the thread has taken them.
#[derive(Debug, Default)]
struct Orders {
    any: AtomicBool,
    list: Mutex<Vec<(usize, Ways)>>,
}

/// Conditions there and back.
pub(crate) type Ways = [PerFamily<Conditions>; 2];

impl Orders {
    fn put(&self, link: usize, ways: Ways) {
        // A list is whole at any time, whatever became of who held it.
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push((link, ways));
        self.any.store(true, Ordering::Release);
    }

    /// Nothing, nearly always, and that without a lock.
    fn take(&self) -> Vec<(usize, Ways)> {
        if !self.any.load(Ordering::Relaxed) || !self.any.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        std::mem::take(&mut *self.list.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The running thread; it ends and the ports close on drop.
#[derive(Debug)]
pub(crate) struct Wire {
    recorder: Arc<Recorder>,
    orders: Arc<Orders>,
    stop: Arc<AtomicBool>,
    /// Whether the thread goes before all others of its processor.
    pub ahead: Result<(), Unavailable>,
    /// Closing it wakes the thread.
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Starts carrying, on processor `cpu` if one is given, and ahead of all others there where the
    /// system allows it. `seed` decides which frames are lost.
    pub fn start(cables: Vec<Cable>, cpu: Option<usize>, seed: u64) -> Result<Self, LabError> {
        let recorder = Arc::new(Recorder::new(cables.len()));
        let orders = Arc::new(Orders::default());
        let stop = Arc::new(AtomicBool::new(false));
        let (sleep, wake) = std::io::pipe().map_err(LabError::system("make a pipe"))?;
        let carrier = Carrier::new(cables, seed, Arc::clone(&recorder), Arc::clone(&orders));
        let stopped = Arc::clone(&stop);
        let (report, reported) = std::sync::mpsc::channel();
        let body = move || {
            let placed = place(cpu);
            let ahead = placed.as_ref().map(Result::is_ok).ok();
            // The receiver waits for exactly this message.
            let _ = report.send(placed);
            if let Some(ahead) = ahead {
                carrier.run(Rests::new(ahead, clock::now_ns()), &stopped, &sleep);
            }
        };
        let named = std::thread::Builder::new().name("v6gap-wire".to_owned());
        let thread =
            cpu::start_thread(named, body).map_err(LabError::system("start the wire's thread"))?;
        let placed = reported.recv().map_err(|_| "the thread ended at once".to_owned());
        match placed.and_then(|placed| placed.map_err(|unavailable| unavailable.to_string())) {
            Ok(ahead) => {
                let (wake, thread) = (Some(wake), Some(thread));
                Ok(Self { recorder, orders, stop, ahead, wake, thread })
            }
            // The thread has ended.
            Err(reason) => {
                Err(LabError::Kernel { operation: "place the wire's thread".to_owned(), reason })
            }
        }
    }

    /// Link `link` (from 0) has other conditions from its next frame on.
    pub fn alter(&self, link: usize, ways: Ways) {
        self.orders.put(link, ways);
    }

    pub fn lateness(&self) -> Lateness {
        self.recorder.read()
    }

    /// Processor time of the thread until now, in ns, at most 10 ms old while it is busy.
    pub fn used_ns(&self) -> u64 {
        self.recorder.used_ns.load(Ordering::Relaxed)
    }

    pub fn reset(&self) {
        self.recorder.reset();
    }
}

/// Puts the calling thread on its processor and, if it has one to itself, ahead of all others
/// there. Whether it is ahead; an error if it cannot be put there.
fn place(cpu: Option<usize>) -> Result<Result<(), Unavailable>, Unavailable> {
    let ahead = match cpu {
        Some(cpu) => {
            cpu::pin_thread(cpu)?;
            cpu::set_real_time()
        }
        None => Err(Unavailable::new("real-time priority", "the link has no processor to itself")),
    };
    if ahead.is_err() {
        cpu::set_ordinary();
    }
    Ok(ahead)
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has been printed already; there is nothing to save here.
            let _ = thread.join();
        }
    }
}
