//! The worker itself: it listens to its parent, and a thread of its own does the half at hand.

use super::frame::{self, Reports, Setup, Told};
use crate::trial::server::{DataFlows, Strangers};
use crate::trial::{self, TrialError};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{Builder, JoinHandle};
use v6gap_core::wire::preamble::Data;
use v6gap_sys::socket::{Stream, Waker};
use v6gap_sys::worker::Conduit;
use v6gap_sys::{entropy, placed};

/// Does what the parent says until that ends; `None` if this process has none, because it was not
/// started as a worker.
///
/// # Errors
/// If something comes that is nothing of a parent's, or the system refuses what it needs.
pub fn serve() -> Option<io::Result<()>> {
    let conduit = Conduit::inherited()?;
    // Without random bytes nothing is drawn, which the number below meets as well.
    let _ = placed::draw();
    Some(attend(conduit))
}

/// Does what comes through `conduit` until its other end ends.
pub(super) fn attend(conduit: Conduit) -> io::Result<()> {
    let number = entropy::bytes().map_err(|missing| io::Error::other(missing.to_string()))?;
    let number = u32::from_ne_bytes(number);
    let conduit = Arc::new(conduit);
    let mut running: Option<Running> = None;
    while let Some((frame, sockets)) = conduit.receive(u64::MAX)? {
        match frame::told(&frame, sockets).ok_or(io::ErrorKind::InvalidData)? {
            Told::Measure(half) => {
                finished(running.take())?;
                let work = move |_: &Conduit| {
                    let (task, context) = *half;
                    trial::client::run(&task, &context)
                };
                running = Some(Running::start(&conduit, number, Flags::default(), None, work)?);
            }
            Told::Serve(setup) => {
                finished(running.take())?;
                running = Some(start_server(&conduit, number, *setup)?);
            }
            Told::Stream(data, stream) => {
                if let Some(half) = &running {
                    half.offer(data, stream);
                }
            }
            Told::Finish => running.iter().for_each(|half| half.flags.finish()),
            Told::Abort => running.iter().for_each(|half| half.flags.abort()),
        }
    }
    Ok(())
}

/// What was done before must be over: there is one task at a time.
fn finished(running: Option<Running>) -> io::Result<()> {
    match running {
        // Its last act was to tell of its end, so that this does not wait.
        Some(half) => half.thread.join().map_err(|_| io::ErrorKind::Other.into()),
        None => Ok(()),
    }
}

/// What may end a half from outside.
#[derive(Debug, Clone, Default)]
struct Flags {
    abort: Arc<AtomicBool>,
    finish: Arc<AtomicBool>,
}

impl Flags {
    fn finish(&self) {
        self.finish.store(true, Ordering::Release);
    }

    fn abort(&self) {
        self.abort.store(true, Ordering::Release);
    }
}

/// The half at hand.
struct Running {
    flags: Flags,
    streams: Option<SyncSender<(Data, Stream)>>,
    thread: JoinHandle<()>,
}

impl Running {
    /// Does `work` on a thread of its own, which tells how it ended.
    fn start(
        conduit: &Arc<Conduit>,
        number: u32,
        flags: Flags,
        streams: Option<SyncSender<(Data, Stream)>>,
        work: impl FnOnce(&Conduit) -> Result<Reports, TrialError> + Send + 'static,
    ) -> io::Result<Self> {
        let conduit = Arc::clone(conduit);
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&conduit)));
            let mut outcome = outcome.unwrap_or_else(|_| Err(TrialError::panicked()));
            for (_, report) in outcome.iter_mut().flatten() {
                report.process = Some(number);
            }
            if let Err(error) = frame::ended(&conduit, &outcome) {
                let why = format!("what it measured cannot be told: {error}");
                // Where nobody hears that either, this process ends.
                let _ = frame::ended(&conduit, &Err(TrialError::of_worker(why)));
            }
        };
        let thread = Builder::new().name("trial".to_owned()).spawn(body)?;
        Ok(Running { flags, streams, thread })
    }

    /// Hands over a data connection; one too many is closed.
    fn offer(&self, data: Data, stream: Stream) {
        if let Some(streams) = &self.streams {
            let _ = streams.try_send((data, stream));
        }
    }
}

fn start_server(conduit: &Arc<Conduit>, number: u32, setup: Setup) -> io::Result<Running> {
    let (streams, receiver) = mpsc::sync_channel(trial::server::uncollected_max(&setup.task));
    let flags = Flags::default();
    let outside = flags.clone();
    let (strangers, arrivals) = Strangers::new(Arc::new(Waker::new()?));
    let passing = Arc::clone(conduit);
    let pass = Builder::new().name("strangers".to_owned()).spawn(move || {
        for arrival in arrivals {
            let _ = frame::stranger(&passing, &arrival);
        }
    })?;
    let work = move |conduit: &Conduit| {
        let outcome = half(conduit, setup, receiver, strangers, &outside);
        // Nobody listens to what comes behind the end, so all of them go before it.
        let _ = pass.join();
        outcome
    };
    Running::start(conduit, number, flags, Some(streams), work)
}

/// The server's half; nobody is passed on any more when it returns.
fn half(
    conduit: &Conduit,
    setup: Setup,
    streams: Receiver<(Data, Stream)>,
    strangers: Strangers,
    flags: &Flags,
) -> Result<Reports, TrialError> {
    let Setup { task, access, processor, limits, listeners, datagrams } = setup;
    let flows = DataFlows {
        streams,
        strangers: &strangers,
        listeners: &listeners,
        datagrams: &datagrams,
        access: &access,
        abort: &flags.abort,
        finish: &flags.finish,
        processor,
        limits,
    };
    // A parent that does not hear it does not hear of the end either, and this process ends.
    trial::server::run(&task, flows, || drop(frame::ready(conduit)))
}
