//! Both ends in this process: a server thread beside the measuring one, in a lab or on loopback.

use crate::tool;
use crate::world::RealWorld;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use v6gap_core::family::PerFamily;
use v6gap_core::record::Host;
use v6gap_engine::server::{Server, ServerOptions};

/// Where the threads of a measurement on one computer run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placement {
    /// Processor of both ends: on one, so that no wake-up between processors is in the path.
    pub ends: Option<usize>,
    /// Processor of the lab's user-space link.
    pub link: Option<usize>,
}

impl Placement {
    /// The ends on the first allowed processor, the link on the last.
    pub fn choose() -> Self {
        let allowed = v6gap_sys::cpu::allowed().unwrap_or_default();
        let ends = allowed.first().copied();
        Placement { ends, link: allowed.last().copied().filter(|_| allowed.len() > 1) }
    }
}

/// Runs `work` while a server answers at `addresses`, in `lab`'s server node if there is a lab.
/// `work` is told where the server listens.
///
/// # Errors
/// If the server cannot start, in words; otherwise what `work` returns.
pub fn with_server<T>(
    lab: Option<&RealWorld>,
    addresses: PerFamily<Option<SocketAddr>>,
    processor: Option<usize>,
    host: Host,
    work: impl FnOnce(PerFamily<Option<SocketAddr>>) -> T,
) -> Result<T, String> {
    let stop = AtomicBool::new(false);
    let options = ServerOptions { addresses, processor, ..ServerOptions::new(tool(), host) };
    std::thread::scope(|scope| {
        let (ready, listening) = mpsc::channel();
        let serving = || serve(lab, &options, ready, &stop);
        let thread = std::thread::Builder::new()
            .spawn_scoped(scope, serving)
            .map_err(|e| format!("cannot start a thread for the server: {e}"))?;
        // The scope waits for the thread, so it must end even if `work` panics.
        let stopping = Stopping(&stop);
        let outcome = match listening.recv() {
            Ok(addresses) => Some(work(addresses)),
            Err(_) => None,
        };
        drop(stopping);
        let served = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        served.and_then(|()| outcome.ok_or_else(|| "the server ended at once".to_owned()))
    })
}

/// Tells the server to stop when it is dropped.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn serve(
    lab: Option<&RealWorld>,
    options: &ServerOptions,
    ready: mpsc::Sender<PerFamily<Option<SocketAddr>>>,
    stop: &AtomicBool,
) -> Result<(), String> {
    if let Some(lab) = lab {
        lab.go_to(&lab.server())?;
    }
    let server = Server::bind(options).map_err(|e| e.to_string())?;
    // The other thread waits for this; if it is gone, there is nobody to serve.
    if ready.send(*server.addresses()).is_err() {
        return Ok(());
    }
    server.run(stop, &mut |_| ()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::Family;

    #[test]
    fn a_panic_beside_the_server_ends_it_too() {
        let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
        let panicked = std::panic::catch_unwind(|| {
            with_server(None, listen, None, Host::default(), |_| {
                std::panic::resume_unwind(Box::new(7))
            })
            .map(|(): ()| ())
        });
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&7));
    }
}
